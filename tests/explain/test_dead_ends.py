"""Where no single limit can be named, the message names the fabric, the link or the keys, and what would help.

Each small case has no design for another reason. The message is compared as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fabopt.explain import clashes, conflicts
from fabopt.explain.what_if import Inquiry, Watch
from fabopt.output.terminal.answer import infeasible_lines
from fabopt.schema.design import Conflict
from tests.samples.random_cases import generate
from tests.samples.small import Json, case, catalog, product, solved, usd

NO_CHANGE = "  no single change to the case gives a design; "


def told(content: Json, parts: Json | None = None) -> list[str]:
    """The message of a case without a design, but for its headline."""
    design = solved(content, parts)
    assert design.status == "infeasible"
    return infeasible_lines(design)[1:]


def without(ids: tuple[str, ...], key: str, value: object = None, parts: Json | None = None) -> Json:
    """The catalog with a key of some products changed, at each of their lengths where they have some."""
    parts = catalog() if parts is None else parts
    for id_ in ids:
        entry = product(parts, id_)
        for sold in entry.get("lengths", [entry]) if key == "price_usd" else [entry]:
            sold[key] = value
    return parts


SWITCHES = ("large", "lean", "small")


def test_switches_without_a_price() -> None:
    assert told(case(), without(SWITCHES, "price_usd")) == [
        NO_CHANGE + "fabric compute: no ethernet switch on sale may be a leaf; what would help: "
        "`catalog.large.price_usd` (large has no price, so it is listed, never chosen), or `catalog.lean.price_usd` "
        "(lean has no price, so it is listed, never chosen), or `catalog.small.price_usd` (small has no price, so it "
        "is listed, never chosen)"
    ]


def test_nics_without_a_power_figure() -> None:
    assert told(case(), without(("nic-200", "nic-400"), "power_w")) == [
        NO_CHANGE + "fabric compute: no ethernet NIC on sale that the case allows gives gpu-4 its 200 Gb/s per GPU; "
        "what would help: `catalog.nic-200.power_w` (nic-200 has no power figure, so it is listed, never chosen), or "
        "`catalog.nic-400.power_w` (nic-400 has no power figure, so it is listed, never chosen)"
    ]


def test_a_basis_of_prices_is_a_lever() -> None:
    (line,) = told(case(price_basis=["list"]))
    assert line.startswith(
        "  price_basis: is list; needs any, at $107,520 (without price_basis there is a design; fabric compute: no "
        "ethernet NIC on sale that the case allows gives gpu-4 its 200 Gb/s per GPU; what would help: without "
        "`price_basis`, which rules out nic-200, nic-400, or `catalog.nic-200.price_usd` (nic-200 has a price of "
        "unknown source, which `price_basis` leaves out)"
    )


def test_a_cable_without_a_price() -> None:
    """Spines are reached by active cables alone, and these have no price: one tier is a way around that."""
    parts = without(("aoc",), "price_usd")
    parts["transceivers"] = []
    gap = (
        "fabric compute: no ethernet parts on sale join leaf and spine at 200 or 400 Gb/s "
        "over the 30 m of a leaf-spine run; what would help: `catalog.aoc.price_usd` (aoc has no price, so "
        "it is listed, never chosen)"
    )
    assert told(case(), parts) == [
        f"  fabrics.compute.tiers: is 2; needs any, at $43,800 (with tiers: any there is a design; {gap})"
    ]
    assert told(case({"tiers": "any"}, servers=30), parts)[0].endswith(
        f"(with 6 servers there is a design; with one more there is none; {gap})"
    )


def test_a_quote_without_one_module() -> None:
    """All else of these links is quoted, the fibre in one length: the module is named before a cable, which stands
    alone, and the fibre is not.
    """
    parts = catalog()
    prices = {"small": 16000, "nic-400": 1400, "dr4": 900, "mpo": {10: 60}}
    parts["prices"] = [{"name": "offer", "source": {"kind": "quote"}, "prices": prices}]
    unpriced = "has no price in offer, and `only_priced_by` lets nothing else price it"
    assert told(case(only_priced_by=["offer"]), parts) == [
        "  only_priced_by: is offer; needs none, at $106,320 (without only_priced_by there is a design; fabric "
        "compute: no ethernet parts on sale join server and leaf at 400 Gb/s over the 3 m of a server-leaf run; what "
        "would help: without `only_priced_by`, which rules out dac, dr4-hot, dr4-nic and 1 more, or "
        f"`catalog.dr4-nic.price_usd` (dr4-nic {unpriced}), or `catalog.dac.price_usd` (dac {unpriced}))"
    ]


def test_cables_that_work_with_another_vendor() -> None:
    parts = without(("dac", "splitter"), "works_with", ["Other"])
    parts["transceivers"] = []
    for id_ in (*SWITCHES, "nic-200", "nic-400"):
        product(parts, id_)["vendor"] = "Acme"
    assert told(case(), parts) == [
        NO_CHANGE + "fabric compute: no ethernet parts on sale join server and leaf at 200 or 400 Gb/s "
        "over the 3 m of a server-leaf run; what would help: `catalog.dac.works_with` (dac works "
        "with other vendors only), or `catalog.splitter.works_with` (splitter works with other vendors only)"
    ]


def test_two_runs_that_are_too_long() -> None:
    """Neither run can be had, so neither alone is the limit; a way around the second is one tier."""
    content = case(site={"distances_m": {"server-leaf": 600, "leaf-spine": 700}})
    leaf = "QSFP-DD 1x400 (large, lean and 1 more)"
    assert told(content) == [
        "  fabrics.compute.tiers: is 2; needs any, at $58,320, together with site.distances_m.server-leaf 50 (no "
        "single change to the case gives a design; these together do, and no fewer; fabric compute: no ethernet parts "
        "on sale join server and leaf at 200 or 400 Gb/s over the 600 m of a server-leaf run; the longest are 50 m; "
        f"nothing on sale joins QSFP112 1x400 (nic-400) to {leaf}: optics that reach 600 m would; nothing "
        f"on sale joins {leaf} to {leaf}: optics that reach 700 m would; what would help: a shorter "
        "`site.distances_m.server-leaf` (dac, dr4, dr4-hot and 3 more))"
    ]


@pytest.mark.long(but=("2",))
@pytest.mark.parametrize("answered", [1, 2])
def test_changes_that_may_be_to_spare_are_told_as_such(answered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first question is whether all changes would do; where others are not asked, some may not be needed."""
    joint = clashes.joint_conflicts

    def in_time(inquiry: Inquiry) -> Iterator[Conflict]:
        return joint(replace(inquiry, clock=Watch(60, inquiry.clock, answered)))

    monkeypatch.setattr(conflicts, "joint_conflicts", in_time)
    content = case(site={"distances_m": {"server-leaf": 600, "leaf-spine": 700}})
    (line,) = told(content)
    assert "; these together do; whether fewer, or smaller ones, would was not settled; " in line
    (conflict,) = solved(content).conflicts
    assert conflict.minimal is False and len(conflict.together) > 2


def test_switches_of_another_protocol() -> None:
    parts = without(SWITCHES, "protocol", "infiniband")
    assert told(case({"protocol": "ethernet"}), parts) == [
        NO_CHANGE + "fabric compute: no ethernet switch on sale may be a leaf; no key of the case alone would help; "
        "large is not for ethernet; lean is not for ethernet; small is not for ethernet"
    ]


def test_speeds_that_never_meet() -> None:
    """Leaves have ports of 800 Gb/s alone: the catalog lacks a part, and no key would help."""
    parts = catalog()
    for id_ in SWITCHES:
        product(parts, id_)["cages"][0]["splits"] = ["1x800"]
    assert told(case(), parts) == [
        NO_CHANGE + "fabric compute: no ethernet parts on sale join server (ports of 200 or 400 Gb/s) and leaf (ports "
        "of 800 Gb/s) over the 3 m of a server-leaf run; the catalog has no ports of one speed at both ends; no key of "
        "the case alone would help"
    ]


def test_one_fabric_of_two_fails() -> None:
    """The storage fabric names a switch that has no price; the other fabric is not to blame."""
    parts = without(("lean",), "price_usd")
    content = case(servers=3)
    only = {"leaf": ["lean"], "spine": ["lean"]}
    storage = {"name": "storage", "role": "storage", "min_gbps_per_gpu": 50, "tiers": 2, "switches": only}
    content["fabrics"] = [{**content["fabrics"][0], "nics_per_server": 2}, storage]
    assert told(content, parts) == [
        "  fabrics.storage.tiers: is 2; needs any, at $84,800, together with fabrics.storage.switches.leaf any "
        "(no single change to the case gives a design; these together do, and no fewer; fabric storage: no ethernet "
        "switch on sale may be a leaf; what would help: `fabrics.storage.switches.leaf: any` (large, small), or "
        "`catalog.lean.price_usd` (lean has no price, so it is listed, never chosen))"
    ]


def test_keys_that_clash() -> None:
    """Every part is there, but one switch is too few, and two tiers of it carry too little."""
    only = {"leaf": ["small"], "spine": ["small"]}
    fabric = {"tiers": 1, "planes": 3, "switches": only, "nics_per_server": 4, "min_gbps_per_gpu": 400}
    content = case(fabric, servers=30)
    (conflict,) = solved(content).conflicts
    changes = {change.limit: change.needed for change in conflict.together}
    assert changes == {"fabrics.compute.tiers": "any", "fabrics.compute.planes": "any"} and conflict.minimal
    opened = solved(case({**fabric, "tiers": "any", "planes": "any"}, servers=30))
    assert opened.status == "optimal" and usd(opened) == conflict.capex_usd


def test_a_named_switch_that_is_never_chosen() -> None:
    """Any other leaf would do; the message says what is wrong with the one that is named."""
    line = told(case({"switches": {"leaf": ["lean"]}}), without(("lean",), "price_usd"))[0]
    why = "listed, never chosen"
    assert line == (
        "  fabrics.compute.switches.leaf: is lean; needs any, at $107,520 (with any leaf switch there is a design; "
        f"lean has no price_usd (`catalog.lean`): it is {why}; fabric compute: no ethernet switch on sale may be a "
        "leaf; what would help: `fabrics.compute.switches.leaf: any` (large, small), or `catalog.lean.price_usd` "
        f"(lean has no price, so it is {why}))"
    )


@pytest.mark.long
def test_supply_says_what_is_short() -> None:
    """Three large ones do, or two below one of each other product, and each is said with what can be had."""
    for rules, needed in (({"interchangeable": False}, 3), ({}, 2)):
        lines = told(case(rules=rules), without(SWITCHES, "supply", 1))
        told_of = next(line for line in lines if line.startswith("  catalog.large.supply"))
        assert told_of.startswith(f"  catalog.large.supply: is 1; needs {needed}, at ")
        assert "(1 x large can be had by month 0; " in told_of


@pytest.mark.long
@pytest.mark.parametrize("family", ["linear", "attached", "three_tier"])
def test_no_message_is_a_dead_end(family: str) -> None:
    """No message of a random case says that the case is not set, or that no value of nothing would do."""
    infeasible = 0
    for seed in range(14):
        parts, content = generate(family, seed)
        content = {**content, "limits": {}}
        design = solved(content, parts)
        if design.status != "infeasible":
            continue
        infeasible += 1
        message = "\n".join(infeasible_lines(design))
        assert "is not set; no value" not in message, (family, seed)
        assert "case:" not in message, (family, seed)
        if design.conflicts[0].limit == "case":
            assert "`" in design.conflicts[0].detail or "fabric " in design.conflicts[0].detail, (family, seed)
    assert infeasible
