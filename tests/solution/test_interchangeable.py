"""Rule ``interchangeable``: switches with the same ports in one tier, where some cannot be had in number or in time."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.parts.offering import offering_of
from fabopt.rules.defaults import DEFAULT_RULES, INTERCHANGEABLE
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.oracles.brute_interchangeable import Product, least_usd, tiers_usd
from tests.samples.small import Json, assert_proven

MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
END = {"form_factor": "QSFP-DD", "split": "1x400"}
CAGE = {"form_factor": "QSFP-DD", "splits": ["1x400"]}
NEAR_USD, FAR_USD, PORTS, MONTHS = 60, 20, 4, (6, 12)


def switch(id_: str, usd: Any, count: int = PORTS, **terms: Any) -> Json:
    """A switch of so many ports."""
    cages = [{"count": count, **CAGE}]
    return {"id": id_, "protocol": "ethernet", "power_w": 100, "price_usd": usd, "cages": cages, "vendor": id_.upper(),
            **terms}  # fmt: skip


def parts_with(*switches: Json) -> Json:
    """Servers of one NIC with one port, and cables."""
    return {
        "switches": list(switches),
        "nics": [{"id": "nic", "protocols": ["ethernet"], "power_w": 1, "price_usd": NEAR_USD - 10,
                  "cages": [{"count": 1, **CAGE}]}],
        "servers": [{"id": "box", "gpus": 1, "nic_slots": 1, "power_w": 100, "price_usd": 0}],
        "cables": [{"id": "dac", "medium": "DAC", "power_w": 0, "ends": [END, END],
                    "lengths": [{"m": 3, "price_usd": 10}, {"m": 30, "price_usd": FAR_USD}]}],
    }  # fmt: skip


def wanted(*servers: int, mixed: bool = True, switches: Json | None = None, **keys: Any) -> Json:
    """A case of two tiers in which no other default rule holds."""
    fabric = {"name": "compute", "tiers": 2, "groups": "equal", "nics_per_server": 1, "switches": switches or {}}
    stages = [
        {"name": f"s{number}", "month": month, "servers": count}
        for number, (month, count) in enumerate(zip(MONTHS, servers, strict=False))
    ]
    rules = dict.fromkeys(DEFAULT_RULES, False) | {INTERCHANGEABLE: mixed}
    site = {"distances_m": {"server-leaf": 3, "leaf-spine": 30, "spine-core": 50}}
    return {"name": "mixed", "server": "box", "stages": stages, "fabrics": [fabric], "site": site, "rules": rules,
            "start": "2027-01", "resilience": "none", **keys}  # fmt: skip


def solved(case: Json, parts: Json, **keys: Any) -> Design:
    """The design, without a look at alternatives."""
    return optimize.solve(inputs_from_objects(case, parts), **{"alternatives_s": 0, **keys})


def products(design: Design) -> dict[str, dict[str, int]]:
    """How many of each product a tier has."""
    return {tier.role: {own.id: own.count for own in tier.types} for tier in design.fabrics[0].tiers}


def capex(design: Design) -> float | None:
    return None if design.totals is None else design.totals.capex_usd


def test_an_offering_is_not_taken_over_from_a_case_that_mixes_nothing() -> None:
    """`x` dominates `b` where nothing is mixed; beside the four of `a` either may be needed."""
    parts = parts_with(switch("a", 100, supply=4), switch("b", 1500), switch("x", 1400))
    mixed, apart = (inputs_from_objects(wanted(8, mixed=mixed), parts) for mixed in (True, False))
    offered, alone = (offering_of(inputs.case, inputs.catalog) for inputs in (mixed, apart))
    assert alone.item_table.item("b") is None
    assert offered.item_table.item("b") is not None
    assert offered.decided_by != alone.decided_by


def test_by_hand() -> None:
    """Eight servers in twos: four leaves and two spines, of which four can be had of the cheaper product.

    A leaf of 2 + 2 ports, so 8 uplinks: two spines of 4. Four of `a` at $1,000 and two of `b` at $1,500.
    """
    parts = parts_with(switch("a", 1000, supply=4), switch("b", 1500))
    design = solved(wanted(8), parts)
    assert_proven(design)
    assert capex(design) == 8 * NEAR_USD + 8 * FAR_USD + 4 * 1000 + 2 * 1500
    assert products(design) == {"leaf": {"a": 4}, "spine": {"b": 2}}
    design = solved(wanted(8), parts_with(switch("a", 1000, supply=3), switch("b", 1500)))
    assert products(design) == {"leaf": {"b": 3, "a": 1}, "spine": {"a": 2}}
    assert capex(design) == 8 * NEAR_USD + 8 * FAR_USD + 3 * 1000 + 3 * 1500
    leaf = design.fabrics[0].tiers[0]
    assert [(one.stage, one.id, one.count) for one in leaf.stand_ins] == [("s0", "a", 1)]
    assert any(
        note.startswith("compute: rule `interchangeable`: a tier has one switch product") for note in design.notes
    )
    wiring = wiring_of(design).devices
    named = list(zip(wiring.name, wiring.product, strict=True))
    assert [product for name, product in named if "leaf" in name] == ["b", "b", "b", "a"]
    bill = {(row.id, row.quantity, row.total_usd) for row in design.bom if row.kind == "switch"}
    assert bill == {("a", 3, 3000), ("b", 3, 4500)}


def test_one_product_is_kept_where_it_can_be_had() -> None:
    """A cheaper price for a few is no reason to mix: both can be had in any number."""
    parts = parts_with(switch("a", 1000, pack_size=4), switch("b", 1010))
    design = solved(wanted(8), parts)
    assert all(len(of_tier) == 1 for of_tier in products(design).values())


@pytest.mark.long
def test_without_the_rule() -> None:
    parts = parts_with(switch("a", 1000, supply=3), switch("b", 1500, supply=3))
    assert solved(wanted(8, mixed=False), parts).status == "infeasible"
    design = solved(wanted(8), parts)
    assert_proven(design)
    assert sum(products(design)["leaf"].values()) == 4
    parts = parts_with(switch("a", 1000, supply=3), switch("b", 1500))
    rows = {
        row.value: row for row in solved(wanted(8), parts, alternatives_s=20).alternatives if row.what == "switches"
    }
    alone = capex(solved(wanted(8, mixed=False), parts))
    assert alone is not None
    assert rows["one product a tier"].capex_usd == alone
    assert rows["one product a tier"].capex_delta_usd == 500


@pytest.mark.parametrize(
    "change",
    [
        {"rack_units": 2}, {"power_supplies": 1}, {"features": ["roce"]}, {"airflows": {"port-side-intake": None}},
        {"accepts_coding": ["Acme"]}, {"max_ports": 5},
        {"cages": [{"count": PORTS, "form_factor": "QSFP-DD", "splits": ["2x200", "1x400"]}]},
    ],
)  # fmt: skip
def test_what_is_not_alike(change: Json) -> None:
    """Switches that a rack, a part or a rule tells apart are not mixed."""
    parts = parts_with(switch("a", 1000, supply=3), switch("b", 1500, **change))
    if "accepts_coding" in change:
        parts["cables"][0]["coded_for"] = ["Acme"]
    design = solved(wanted(8), parts)
    assert all(len(of_tier) == 1 for of_tier in products(design).values())


def test_what_a_maker_supplies_in_a_quarter() -> None:
    parts = parts_with(switch("a", 1000), switch("b", 1500))
    design = solved(wanted(8, procurement={"quarterly_supply": {"A": [5, 5, 5]}}), parts)
    assert_proven(design)
    assert capex(design) == 8 * NEAR_USD + 8 * FAR_USD + 5 * 1000 + 1500


def test_a_later_stage_takes_what_came_too_late_for_the_first() -> None:
    """`a` takes 30 weeks, seven months: too long for the first stage, and in time for the second."""
    parts = parts_with(
        switch("a", 1000, lead_time_weeks=30), switch("b", 1500, lead_time_weeks=10), switch("big", 900, 12)
    )
    case = wanted(4, 8, switches={"leaf": ["a", "b"], "spine": ["big"]})
    design = solved(case, parts)
    assert_proven(design)
    assert products(design)["leaf"] == {"a": 2, "b": 2}
    assert [(one.stage, one.id, one.count) for one in design.fabrics[0].tiers[0].stand_ins] == [("s0", "b", 2)]
    rows = [(row.stage, row.id, row.quantity) for row in design.bom if row.kind == "switch"]
    assert rows == [("s0", "b", 2), ("s0", "big", 1), ("s1", "a", 2)]
    assert capex(design) == 8 * NEAR_USD + 8 * FAR_USD + 900 + 2 * 1000 + 2 * 1500
    of_stage = wiring_of(design).devices
    kinds = zip(of_stage.product, of_stage.stage.tolist(), strict=True)
    assert sorted((product, stage) for product, stage in kinds if product in "ab") == [("a", 1)] * 2 + [("b", 0)] * 2


def random_product(draw: random.Random, staged: bool) -> Product:
    """A switch that may be short in any way."""
    usd = draw.randint(400, 900)
    breaks = ((1, usd),) if draw.random() < 0.6 else ((1, usd), (draw.randint(2, 5), usd - draw.randint(20, 200)))
    kind = draw.choice(("plain", "supply", "supply", "stock", "late"))
    if kind == "supply":
        first = draw.randint(0, 5)
        return Product(breaks, (first, first + draw.randint(0, 3)) if staged else (first, first))
    if kind == "late":
        return Product(breaks, late=(True, draw.random() < 0.3), stock=draw.randint(0, 2))
    return Product(breaks, stock=draw.randint(1, 4) if kind == "stock" else 0)


def as_switch(id_: str, sold: Product, ports: int) -> Json:
    """The same as a catalog has it."""
    terms: Json = {"stock": sold.stock}
    if sold.supply != (None, None):
        terms["supply"] = [
            {"from_month": month, "quantity": most} for month, most in zip((0, 9), sold.supply, strict=True)
        ]
    if sold.late[0]:
        terms["lead_time_weeks"] = 60 if sold.late[1] else 30
    return switch(id_, [{"from": start, "usd": usd} for start, usd in sold.breaks], ports, **terms)


@pytest.mark.long("0", "2")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize("seed", range(6))
def test_brute_force_agrees_on_one_stage(seed: int) -> None:
    """Leaves and spines of two or three products, whatever is short; and one product a tier, which is never cheaper."""
    for number in range(seed, seed + 100 * MORE_SEEDS, 100):
        draw = random.Random(number)
        kinds = tuple(random_product(draw, staged=False) for _ in range(draw.choice((2, 3))))
        ports, servers = draw.choice((4, 5, 6)), draw.randint(3, 8)
        parts = parts_with(*(as_switch(f"s{place}", one, ports) for place, one in enumerate(kinds)))
        for mixed in (True, False):
            design = solved(wanted(servers, mixed=mixed), parts)
            assert capex(design) == least_usd(kinds, ports, servers, NEAR_USD, FAR_USD, mixed), (number, mixed)
            assert [check for check in design.checks if not check.ok] == []
        assert capex(solved(wanted(servers), parts, prune=False)) == least_usd(kinds, ports, servers, NEAR_USD, FAR_USD)


@pytest.mark.long(but=("2",))
@pytest.mark.parametrize("seed", range(6))
def test_brute_force_agrees_on_two_stages(seed: int) -> None:
    """Leaves of several products below one spine that has room for all: half the ports of a leaf are for servers."""
    for number in range(seed, seed + 100 * MORE_SEEDS, 100):
        draw = random.Random(1000 + number)
        kinds = tuple(random_product(draw, staged=True) for _ in range(draw.choice((2, 3))))
        first = draw.randint(1, 3)
        added = draw.randint(int(first == 1), 3)
        parts = parts_with(
            *(as_switch(f"s{place}", one, 4) for place, one in enumerate(kinds)), switch("big", 5000, 12)
        )
        switches = {"leaf": [f"s{place}" for place in range(len(kinds))], "spine": ["big"]}
        servers = 2 * first, 2 * (first + added)
        fixed = servers[1] * NEAR_USD + 2 * (first + added) * FAR_USD + 5000
        for mixed in (True, False):
            least = tiers_usd(kinds, ((first, added),), mixed)
            design = solved(wanted(*servers, mixed=mixed, switches=switches), parts)
            assert capex(design) == (None if least is None else fixed + least), (number, mixed)
            assert [check for check in design.checks if not check.ok] == []


def edited(design: Design, change: Any) -> list[str]:
    """Names of the checks that fail once a file is changed."""
    content = design.model_dump(mode="json", by_alias=True)
    change(content)
    return [check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok]


def test_a_design_that_is_changed_fails() -> None:
    design = solved(wanted(8), parts_with(switch("a", 1000, supply=3), switch("b", 1500)))

    def leaf(content: Json) -> Json:
        tier: Json = content["fabrics"][0]["tiers"][0]
        return tier

    def other_ports(content: Json) -> None:
        content["parts"]["a"]["rack_units"] = 2

    rule = "switches_are_interchangeable"
    assert edited(design, lambda _: None) == []
    assert "bom_covers_parts" in edited(design, lambda content: leaf(content)["stand_ins"][0].update(count=2))
    assert rule in edited(design, other_ports)
    assert rule in edited(design, lambda content: content["parts"]["a"].pop("supply"))
    assert rule in edited(design, lambda content: content["case"]["content"]["rules"].update(interchangeable=False))
    assert rule in edited(design, lambda content: leaf(content)["stand_ins"].append(leaf(content)["stand_ins"][0]))
