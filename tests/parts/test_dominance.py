"""Products that others dominate: makers are compared but where a rule of buying or a product asks who they are."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from fabopt.parts.offering import offering_of
from fabopt.problem.problem import problem_of
from fabopt.search.price_ends import at_factor
from tests.oracles.brute_force import solve
from tests.samples.adapter import assert_agrees, run
from tests.samples.random_cases import VENDORS, Dice, generate
from tests.samples.small import Json, case, catalog, comparable, inputs, product, solved

KINDS = {"switches": "small", "nics": "nic-400", "transceivers": "dr4-hot", "cables": "dac", "fibres": "mpo"}


def _with_twins(**changes: Any) -> Json:
    """The catalog of a maker with a dearer twin by another maker of one product of every kind; with changed twins."""
    parts = catalog()
    for kind, id_ in KINDS.items():
        own = product(parts, id_)
        own["vendor"] = "acme"
        twin = json.loads(json.dumps({**own, "id": f"{id_}-twin", "vendor": "bolt"})) | changes.get(kind, {})
        for sold in twin.get("lengths", [twin]):
            sold["price_usd"] += 1
        parts[kind].append(twin)
    return parts


def _left_out(parts: Json, **rules: Any) -> set[str]:
    """Kinds of which the twin is left out."""
    given = inputs(case(**rules), parts)
    table = problem_of(given.case, given.catalog).item_table
    on_offer = {*table.single, *table.by_length}
    return {kind for kind, id_ in KINDS.items() if f"{id_}-twin" not in on_offer}


def test_a_dearer_twin_is_left_out_whoever_makes_it() -> None:
    assert _left_out(_with_twins()) == {*KINDS}


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        ({"max_vendors": {"switch": 1}}, {"switches"}),
        ({"min_sources": {"leaf": 1}}, {"switches"}),
        ({"min_sources": {"transceiver": 2}}, {"transceivers"}),
        ({"max_vendors": {"fibre": 1}}, {"fibres"}),
        ({"single_vendor": {"compute": "optics"}}, {"transceivers", "cables"}),
        ({"single_vendor": {"compute": "both"}}, {"switches", "transceivers", "cables"}),
        ({"quarterly_supply": {"acme": 10}}, {*KINDS}),
        ({"quarterly_supply": {"acme": {"nic": 10}}}, {"nics"}),
        ({"approved_vendors": {"leaf": ["bolt"]}}, {"switches", "nics"}),
        ({"forbidden_vendors": {"compute": ["acme"]}}, {"switches", "nics"}),
        ({"approved_vendors": ["acme", "bolt"]}, set()),
        ({"forbidden_vendors": {"cable": ["bolt"]}, "approved_vendors": {"nic": ["acme"]}}, set()),
    ],
)
def test_rules_of_buying_keep_the_makers_that_they_ask_for(rules: Json, kept: set[str]) -> None:
    assert {*KINDS} - _left_out(_with_twins(), procurement=rules) == kept


@pytest.mark.parametrize(
    ("kind", "id_", "asks", "kept"),
    [
        ("transceivers", "dr4", {"works_with": ["bolt"]}, {"switches", "nics"}),
        ("transceivers", "dr4", {"works_with": ["other"]}, set()),
        ("switches", "large", {"works_with": ["bolt"]}, {"transceivers", "cables"}),
        ("nics", "nic-200", {"works_with": ["other"]}, set()),
    ],
)
def test_products_keep_the_makers_that_they_work_with(kind: str, id_: str, asks: Json, kept: set[str]) -> None:
    parts = _with_twins()
    product(parts, id_).update(asks)
    assert {*KINDS} - _left_out(parts) == kept


@pytest.mark.parametrize(
    ("kind", "own", "twin", "site"),
    [
        ("switches", {}, {"features": ["sharp"]}, {}),
        ("switches", {"power_supplies": 1}, {"power_supplies": 2}, {}),
        ("switches", {"power_max_w": 900}, {"power_max_w": 800}, {"floor": {"rows": 2, "racks_per_row": 4}}),
        ("nics", {}, {"forwards": True}, {}),
        ("cables", {"medium": "AOC"}, {"medium": "DAC"}, {}),
        ("switches", {}, {"vendor": None}, {}),
    ],
)
def test_what_else_tells_two_products_apart(kind: str, own: Json, twin: Json, site: Json) -> None:
    """What a rule may ask of one keeps it, and a maker that is not known where a part asks for makers."""
    parts = _with_twins(**{kind: twin})
    product(parts, KINDS[kind]).update(own)
    if twin.get("vendor", "") is None:
        assert kind in _left_out(parts)
        product(parts, "dr4")["works_with"] = ["other"]
    more = {"site": {**site, "servers_per_rack": 2}} if site else {}
    if site:
        product(parts, "gpu-4").update(rack_units=4)
    assert kind not in _left_out(parts, **more)


def test_an_approved_part_is_kept_where_its_maker_is_not_approved() -> None:
    parts = _with_twins(switches={"vendor": "acme"})
    lists = {"approved_vendors": {"switch": ["acme", "bolt"], "spine": ["bolt"]}}
    assert "switches" in _left_out(parts, procurement=lists)
    assert "switches" not in _left_out(parts, procurement={**lists, "approved_parts": ["small-twin"]})


def test_other_prices_leave_no_part_out_that_a_device_is_qualified_for() -> None:
    """Where prices are moved, to see up to which one an answer stays."""
    given = inputs(case(procurement={"qualified": {"small": ["dr4-hot-twin"]}}), _with_twins())
    whole = offering_of(given.case, given.catalog, whole=True)
    moved = at_factor(problem_of(given.case, given.catalog, offering=whole), frozenset(), Fraction(1)).problem
    assert moved.item_table.item("dr4-hot-twin") is not None
    assert moved.item_table.item("nic-400-twin") is None


def test_offers_of_a_vendor_stay_beside_the_price_of_the_catalog() -> None:
    """Awards may be split over offers, and notes say what each vendor is paid."""
    parts = _with_twins(switches={"sold_by": "shop"})
    assert "switches" not in _left_out(parts)


@pytest.mark.long(but=("rules1",))
@pytest.mark.parametrize(
    "rules",
    [
        {"approved_vendors": {"spine": ["bolt"]}},
        {"forbidden_vendors": {"compute": ["acme"]}},
        {"min_sources": {"switch": 2}},
        {"min_sources": {"transceiver": 2}},
        {"quarterly_supply": {"acme": {"switch": 3}}},
        {"single_vendor": {"compute": "both"}},
    ],
)
def test_answers_have_the_makers_that_rules_ask_for(rules: Json) -> None:
    """The same design without anything left out."""
    parts = _with_twins()
    for one in (one for kind in KINDS for one in parts[kind]):
        one.setdefault("vendor", "bolt")
    content = case({"nics": ["nic-400", "nic-400-twin"], "nics_per_server": 2}, servers=4, procurement=rules)
    pruned, whole = solved(content, parts), solved(content, parts, prune=False)
    assert pruned.status == whole.status
    assert comparable(pruned) == comparable(whole)


def _with_makers(parts: Json, seed: int) -> Json:
    """The catalog with a twin of some products that another maker sells, at nearly the same price."""
    dice, parts = Dice(f"makers-{seed}"), json.loads(json.dumps(parts))
    for kind in ("switches", "nics", "transceivers", "cables", "fibres"):
        for one in dice.some(parts[kind], 0, 1):
            twin = json.loads(json.dumps(one)) | {"id": f"{one['id']}-{dice.one('abz')}", "vendor": dice.one(VENDORS)}
            for sold in twin.get("lengths", [twin]):
                if isinstance(sold.get("price_usd"), int | float):
                    sold["price_usd"] += dice.one([-1, 0, 1, 5])
            if "power_w" in twin:
                twin["power_w"] = max(0, twin["power_w"] + dice.one([-1, 0, 0, 1]))
            parts[kind].append(twin)
    return parts


@pytest.mark.long(but=("linear-10", "ruled-16"))
@pytest.mark.usefixtures("unadvised")
@pytest.mark.parametrize(("family", "seed"), [(f, s) for s in range(20) for f in ("linear", "procurement", "ruled")])
def test_no_design_is_lost(family: str, seed: int) -> None:
    """Cost, ties, structure and bill are those of all designs, under every rule about makers."""
    parts, wanted = generate(family, seed)
    parts = _with_makers(parts, seed)
    text = json.dumps({"catalog": parts, "case": wanted})
    assert_agrees(solve(parts, wanted), run(parts, wanted), text)
