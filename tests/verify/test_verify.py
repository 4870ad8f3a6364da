"""``fabopt.verify``: accepts what is right, and rejects every single number that is changed."""

from __future__ import annotations

import ast
import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

import fabopt.verify
from fabopt.network.attached_ports import dealt_over_leaves
from fabopt.network.clos_links import ClosNumbers
from fabopt.schema.design import Check
from fabopt.verify import verified_in_turn, verify
from fabopt.verify.clos_counts import ClosCounts
from fabopt.verify.proof import BROUGHT, QUESTIONS
from fabopt.verify.rules import DESIGN_RULES, FABRIC_RULES, FILE_RULES, MONEY_RULES, WIRING_RULES
from tests.oracles import brute_dealt_ports as brute
from tests.paths import few_or_many
from tests.samples.older import as_written_by
from tests.samples.verify_fixtures import (
    DESIGNS,
    PARTS,
    SPLITTER,
    TWIN_DAC,
    Json,
    digest,
    joinings,
    read,
    three_tiers,
    two_tiers,
)

SECTIONS = ("fabrics", "stages", "bom", "totals")
Path_ = tuple[str | int, ...]
Edit = Callable[[Json], None]
JOININGS = joinings()


def leaves(node: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every value that is not a list or a mapping, with where it is."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from leaves(value, (*path, index))
    else:
        yield path, node


def claims(kind: type | tuple[type, ...]) -> list[Any]:
    """(design, path) of every value of a kind that a design claims, as pytest parameters."""
    return [
        pytest.param(name, path, id=f"{name}-{'.'.join(map(str, path))}")
        for name, build in DESIGNS.items()
        for section in SECTIONS
        for path, value in leaves(build()[section], (section,))
        if isinstance(value, kind) and not isinstance(value, bool)
    ]


def changed(document: Json, path: Path_, change: Callable[[Any], Any]) -> Json:
    """A copy with one value changed."""
    document = copy.deepcopy(document)
    node: Any = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = change(node[path[-1]])
    return document


def broken(document: Json) -> list[Check]:
    """The checks that fail."""
    return [check for check in verify(read(document)) if not check.ok]


def is_caught(document: Json) -> bool:
    """True if the file is refused when it is read, or a check fails and says why."""
    try:
        design = read(document)
    except ValidationError:
        return True
    return any(check.detail for check in verified_in_turn(design) if not check.ok)


@pytest.mark.parametrize("name", DESIGNS)
def test_accepts_a_design_worked_out_by_hand(name: str) -> None:
    checks = verify(read(DESIGNS[name]()))
    assert [check for check in checks if not check.ok] == []
    assert {check.name for check in checks} == {
        rule.__name__
        for rules in (FILE_RULES, DESIGN_RULES, FABRIC_RULES, WIRING_RULES, MONEY_RULES)
        for rule in rules
        if rule not in QUESTIONS
    } - set().union(*BROUGHT.values())
    assert all(check.detail for check in checks)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "one more": lambda value: value + 1,
    "one less": lambda value: value - 1,
    "a half more": lambda value: value + 0.5,
    "a cent more": lambda value: value + 0.01,
    "twice": lambda value: value * 2 or 7,
    "nothing": lambda value: 0 if value else 3,
}
# Those that are the hardest to notice.
FEW_CHANGES = ("one less", "a cent more")


@pytest.mark.long(but_every=3)
@pytest.mark.parametrize(
    "ways", [FEW_CHANGES, pytest.param(tuple(CHANGES), marks=pytest.mark.long)], ids=["few", "all"]
)
@pytest.mark.parametrize(("name", "path"), claims((int, float)))
def test_rejects_any_number_that_is_changed(name: str, path: Path_, ways: Sequence[str]) -> None:
    document = DESIGNS[name]()
    for what in ways:
        assert is_caught(changed(document, path, CHANGES[what])), what


@pytest.mark.long(but_every=3)
@pytest.mark.parametrize(("name", "path"), claims(str))
def test_rejects_any_word_that_is_changed(name: str, path: Path_) -> None:
    document = DESIGNS[name]()
    for change in (lambda word: word + "x", lambda word: "", lambda word: word.upper() + " 2"):
        mutant = changed(document, path, change)
        assert mutant == document or is_caught(mutant)


@pytest.mark.long("bom-three_tiers", "bom-two_tiers")
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("section", SECTIONS)
def test_rejects_a_design_with_a_part_missing_or_twice(name: str, section: str) -> None:
    document = DESIGNS[name]()
    if section == "totals":
        assert is_caught(document | {"totals": None})
        return
    for index in range(len(document[section])):
        rows = document[section]
        assert is_caught(document | {section: rows[:index] + rows[index + 1 :]})
        assert is_caught(document | {section: rows[: index + 1] + rows[index:]})


@pytest.mark.parametrize("name", DESIGNS)
def test_rejects_a_design_whose_parts_are_not_embedded(name: str) -> None:
    document = DESIGNS[name]()
    needed = set(document["parts"]) - ({"facts"} if name != "three_tiers" else set())  # only there slots limit cards
    for part in needed:
        kept = {key: value for key, value in document["parts"].items() if key != part}
        assert is_caught(document | {"parts": kept}), part


def test_the_name_of_the_broken_rule_says_what_is_wrong() -> None:
    document = changed(two_tiers(), ("fabrics", 0, "tiers", 1, "count"), lambda count: 3)
    found = {check.name: check.detail for check in broken(document)}
    assert found["switch_counts_close"] == "compute: spine count is 3, recomputed 2"


def test_the_detail_of_a_rule_that_holds_names_the_numbers() -> None:
    details = {check.name: check.detail for check in verify(read(two_tiers()))}
    assert details["ports_fit_radix"] == (
        "compute: leaf twin8: 2+2 of 8 cages, 8 of 16 ports; spine twin8: 8+0 of 8 cages, 16 of 16 ports"
    )


def part(document: Json, name: str) -> Json:
    """An embedded part, to be changed in place."""
    return document["parts"][name]


def fabric(document: Json) -> Json:
    """The case's only fabric, to be changed in place."""
    return document["case"]["content"]["fabrics"][0]


# Each changes a proper design (its parts or its case) so that one rule does not hold any more.
BREAKS: dict[str, tuple[str, str, Edit]] = {
    "hash": ("one_tier", "content_matches_hash", lambda d: d["case"].update(sha256="0" * 64)),
    "case name": ("one_tier", "content_matches_hash", lambda d: d["case"].update(name="other")),
    "kind": ("one_tier", "parts_are_known", lambda d: part(d, "t16").update(kind="nic")),
    "part body": ("one_tier", "parts_are_known", lambda d: part(d, "t16").update(colour="red")),
    "part id": ("one_tier", "parts_are_known", lambda d: part(d, "t16").update(id="t32")),
    "slots": ("one_tier", "nics_fit_slots", lambda d: part(d, "box2").update(nic_slots=1)),
    "topology": ("one_tier", "tiers_match_case", lambda d: fabric(d).update(topologies=["torus"])),
    "tiers": ("one_tier", "tiers_match_case", lambda d: fabric(d).update(tiers=[2, 3])),
    "planes": ("one_tier", "tiers_match_case", lambda d: fabric(d).update(planes=[2, 4])),
    "protocol": ("one_tier", "tiers_match_case", lambda d: fabric(d).update(protocol="infiniband")),
    "striping": ("one_tier", "tiers_match_case", lambda d: fabric(d).update(striping="any")),
    "switch ids": ("one_tier", "products_are_offered", lambda d: fabric(d)["switches"].update(leaf=["t8"])),
    "nic ids": ("one_tier", "products_are_offered", lambda d: fabric(d).update(nics=["fixed"])),
    "switch power": ("one_tier", "products_are_offered", lambda d: part(d, "t16").pop("power_w")),
    "old switch": ("one_tier", "products_are_offered", lambda d: part(d, "t16").update(end_of_life=True)),
    "switch protocol": ("one_tier", "protocols_agree", lambda d: part(d, "t16").update(protocol="infiniband")),
    "nic protocol": ("one_tier", "protocols_agree", lambda d: part(d, "card").update(protocols=["infiniband"])),
    "nic splits": ("one_tier", "ports_fit_nics", lambda d: part(d, "card")["cages"][0].update(splits=["2x200"])),
    "nics per server": ("one_tier", "ports_fit_nics", lambda d: fabric(d).update(nics_per_server=[1])),
    "built in": ("one_tier", "ports_fit_nics", lambda d: part(d, "box2").update(nics=[{"id": "card", "count": 2}])),
    "built-in count": ("two_tiers", "ports_fit_nics", lambda d: part(d, "box4")["nics"][0].update(count=2)),
    "built-in cages": ("two_tiers", "ports_fit_nics", lambda d: part(d, "box4")["nics"][0]["cages"][0].update(count=3)),
    "demand": ("one_tier", "injection_meets_demand", lambda d: fabric(d).update(min_gbps_per_gpu=400.5)),
    "slot speed": ("three_tiers", "injection_meets_demand", lambda d: part(d, "box1")["pcie"].update(generation=3)),
    "card lanes": ("three_tiers", "injection_meets_demand", lambda d: part(d, "card")["pcie"].update(lanes=8)),
    "facts": ("three_tiers", "metrics_are_recomputed", lambda d: part(d, "facts")["pcie_x16_gbps"].update({"4": 250})),
    "rack": ("two_tiers", "groups_cover_servers", lambda d: rack(d, 3)),
    "rails": ("two_tiers", "rails_are_aligned", lambda d: pair_rails(d)),
    "reserve": ("one_tier", "reserve_is_kept", lambda d: fabric(d).update(reserve_ports=0.5)),
    "attachment ports": ("two_tiers", "links_close", lambda d: fabric(d)["attachments"][0].update(ports=3)),
    "attachment speed": ("two_tiers", "speeds_agree", lambda d: slow_attachment(d)),
    "cages": ("two_tiers", "ports_fit_radix", lambda d: part(d, "twin8")["cages"][0].update(count=7)),
    "max_ports": ("two_tiers", "ports_fit_radix", lambda d: part(d, "twin8").update(max_ports=15)),
    "switch splits": ("two_tiers", "ports_fit_radix", lambda d: part(d, "twin8")["cages"][0].update(splits=["1x400"])),
    "leaf ratio": ("three_tiers", "uplinks_carry_demand", lambda d: ratio(d, leaf=1.99)),
    "spine ratio": ("three_tiers", "uplinks_carry_demand", lambda d: ratio(d, spine=1.99)),
    "run": ("one_tier", "links_close", lambda d: distance(d, "server-leaf", 2)),
    "buys": ("two_tiers", "assemblies_are_complete", lambda d: fabric(d)["attachments"][0].update(buys="near")),
    "shorter on offer": ("one_tier", "cables_fit_reach", lambda d: shorter_on_offer(d)),
    "card splits": ("one_tier", "ports_fit_nics", lambda d: part(d, "card")["cages"][0].update(splits=["2x200"])),
    "cable price": ("one_tier", "cables_fit_reach", lambda d: part(d, "dac")["lengths"].pop(2)),
    "cable power": ("one_tier", "parts_are_offered", lambda d: part(d, "dac").pop("power_w")),
    "module price": ("two_tiers", "parts_are_offered", lambda d: part(d, "twin-fin").pop("price_usd")),
    "old fibre": ("two_tiers", "parts_are_offered", lambda d: part(d, "mpo").update(end_of_life=True)),
    "head form": ("one_tier", "parts_fit_cages", lambda d: part(d, "t16")["cages"][0].update(accepts=[])),
    "other lanes": ("one_tier", "parts_fit_cages", lambda d: eight_lanes(d, 100)),
    "head split": ("one_tier", "parts_fit_cages", lambda d: [e.update(split="2x200") for e in part(d, "dac")["ends"]]),
    "head lane": ("one_tier", "parts_fit_cages", lambda d: part(d, "dac").update(lane_gbps=50)),
    "cage lanes": ("one_tier", "parts_fit_cages", lambda d: part(d, "card")["cages"][0].update(lane_gbps=50)),
    "cable protocol": ("one_tier", "parts_fit_cages", lambda d: part(d, "dac").update(protocols=["infiniband"])),
    "cable vendor": ("one_tier", "parts_fit_cages", lambda d: part(d, "dac").update(works_with=["Bolt"])),
    "box vendor": ("three_tiers", "parts_fit_cages", lambda d: part(d, "t8").update(works_with=["Acme"])),
    "flat in finned": ("two_tiers", "parts_fit_cages", lambda d: part(d, "twin-fin").update(form_factor="OSFP-RHS")),
    "module lane": ("two_tiers", "parts_fit_cages", lambda d: module_lane(d)),
    "standard": (
        "two_tiers",
        "optics_speak_alike",
        lambda d: part(d, "twin-flat")["standards"].update({"2x400": "FR4"}),
    ),
    "module fibre": ("two_tiers", "optics_speak_alike", lambda d: part(d, "twin-flat").update(fibre="om4")),
    "connector": ("two_tiers", "optics_speak_alike", lambda d: part(d, "twin-flat").update(connector="LC")),
    "breakout": ("two_tiers", "optics_speak_alike", lambda d: part(d, "twin-flat").update(connectors=1)),
    "reach": ("two_tiers", "cables_fit_reach", lambda d: part(d, "twin-fin").update(reach_m=29)),
    "cable reach": ("one_tier", "cables_fit_reach", lambda d: part(d, "dac").update(reach_m=2)),
    "shorter": ("one_tier", "cables_fit_reach", lambda d: distance(d, "server-leaf", 1)),
    "dearer": ("one_tier", "prices_are_applied", lambda d: part(d, "t16").update(price_usd=5000.01)),
    "break": ("three_tiers", "prices_are_applied", lambda d: part(d, "card")["price_usd"][1].update({"from": 9})),
    "break not worth it": ("three_tiers", "purchases_cover_use", lambda d: dearer_break(d)),
    "stock": ("three_tiers", "purchases_cover_use", lambda d: part(d, "t8").update(stock=1)),
    "more stock": ("three_tiers", "purchases_cover_use", lambda d: part(d, "t8").update(stock=3)),
    "supply": ("three_tiers", "supply_lasts", lambda d: part(d, "aoc")["lengths"][0].update(supply=2)),
    "power": ("one_tier", "power_adds_up", lambda d: part(d, "t16").update(power_w=200.001)),
    "rack units": ("one_tier", "totals_add_up", lambda d: part(d, "t16").update(rack_units=2)),
    "server power": ("one_tier", "totals_add_up", lambda d: part(d, "box2").pop("power_w")),
    "finance": ("one_tier", "energy_is_paid", lambda d: d["case"]["content"]["finance"].update(pue=1.5)),
    "description": ("one_tier", "bom_names_products", lambda d: part(d, "card").update(description="a card")),
    "stage": ("two_tiers", "stages_add_up", lambda d: d["case"]["content"]["stages"][0].update(month=24)),
    "budget": ("three_tiers", "limits_hold", lambda d: d["case"]["content"]["limits"].update(budget_usd=49373.49)),
    "power limit": ("three_tiers", "limits_hold", lambda d: d["case"]["content"]["limits"].update(power_w=1624.6)),
    "height": ("three_tiers", "limits_hold", lambda d: d["case"]["content"]["limits"].update(rack_units=6)),
    "metric": ("one_tier", "objective_matches_totals", lambda d: d["objective"].update(metric="power_w")),
    "value": ("one_tier", "objective_matches_totals", lambda d: d["objective"].update(value=1)),
    "bound": ("one_tier", "status_is_honest", lambda d: d["objective"].update(bound=15239.99)),
    "no bound": ("one_tier", "status_is_honest", lambda d: d["objective"].update(bound=None)),
    "gap": ("one_tier", "status_is_honest", lambda d: d["objective"].update(gap=0.01)),
    "feasible below bound": (
        "one_tier",
        "status_is_honest",
        lambda d: d.update(status="feasible", objective=d["objective"] | {"bound": 15241}),
    ),
    "infeasible": ("one_tier", "status_is_honest", lambda d: d.update(status="infeasible")),
    "earlier cage group": ("one_tier", "cage_groups_come_first", lambda d: second_group(d)),
}


def rack(document: Json, servers: int) -> None:
    fabric(document).update(group_by="rack")
    document["case"]["content"]["site"].update(servers_per_rack=servers)


def pair_rails(document: Json) -> None:
    document["fabrics"][0]["structure"].update(ports_per_server_per_leaf=2)


def slow_attachment(document: Json) -> None:
    fabric(document)["attachments"][0].update(split="1x200")


def ratio(document: Json, **limits: float) -> None:
    fabric(document)["max_oversubscription"].update(limits)


def distance(document: Json, kind: str, metres: float) -> None:
    document["case"]["content"]["site"]["distances_m"].update({kind: metres})
    for row in document["fabrics"][0]["links"]:
        if f"{row['from']}-{row['to']}" == kind and metres != 2:
            row["length_m"] = metres


def shorter_on_offer(document: Json) -> None:
    """A run for which a cable is sold that is shorter than the one bought, and cheaper."""
    document["case"]["content"]["site"]["distances_m"].update({"server-leaf": 2.5})
    part(document, "dac")["lengths"][1].update(price_usd=60)


def module_lane(document: Json) -> None:
    part(document, "twin-fin").update(lane_gbps=50)
    part(document, "twin8")["cages"][0].update(lane_gbps=100)


def eight_lanes(document: Json, lane_gbps: int | None) -> None:
    """A cable with QSFP-DD ends, from a QSFP-DD cage to one of QSFP112-DD, both of which state the same lanes."""
    part(document, "dac")["ends"] = [{"form_factor": "QSFP-DD", "split": "1x400"} for _ in range(2)]
    for device, form_factor in (("card", "QSFP112-DD"), ("t16", "QSFP-DD")):
        part(document, device)["cages"][0].update(form_factor=form_factor, lane_gbps=lane_gbps)


def dearer_break(document: Json) -> None:
    part(document, "card")["price_usd"][1].update(usd=1400)  # 8 x 1400 > 7 x 1500
    document["bom"][1].update(unit_price_usd=1400, total_usd=11200)


def second_group(document: Json) -> None:
    cages = part(document, "t16")["cages"]
    cages.append(copy.deepcopy(cages[0]))
    document["fabrics"][0]["tiers"][0]["down"]["cage_group"] = 1


@pytest.mark.parametrize("what", BREAKS)
def test_rejects_what_breaks_a_rule(what: str) -> None:
    name, rule, edit = BREAKS[what]
    document = DESIGNS[name]()
    edit(document)
    if rule != "content_matches_hash":
        document["case"]["sha256"] = digest(document["case"]["content"])
    assert rule in {check.name for check in broken(document)}


# Changes after which every rule still holds: the twins of some of those above.
KEEPS: dict[str, tuple[str, Edit]] = {
    "any topology": ("one_tier", lambda d: fabric(d).update(topologies=["any"])),
    "listed tiers": ("one_tier", lambda d: fabric(d).update(tiers=[1, 3], planes="any", nics_per_server=[1, 2])),
    "named and old": (
        "one_tier",
        lambda d: (fabric(d)["switches"].update(leaf=["t16"]), part(d, "t16").update(end_of_life=True)),
    ),
    "vendors agree": ("one_tier", lambda d: part(d, "dac").update(works_with=["Acme"])),
    "vendor unknown": ("two_tiers", lambda d: part(d, "twin-fin").update(works_with=["Acme"])),
    "lane agrees": ("one_tier", lambda d: part(d, "dac").update(lane_gbps=100)),
    "QSFP-DD in QSFP112-DD": ("one_tier", lambda d: eight_lanes(d, None)),
    "lanes of QSFP-DD": ("one_tier", lambda d: eight_lanes(d, 50)),
    "plain OSFP": ("two_tiers", lambda d: part(d, "twin-fin").update(form_factor="OSFP")),
    "whole rack": ("one_tier", lambda d: rack(d, 18)),
    "exact rack": ("two_tiers", lambda d: rack(d, 4)),
    "supply in full": ("three_tiers", lambda d: part(d, "card").update(supply=8)),
    "feasible": (
        "one_tier",
        lambda d: d.update(status="feasible", objective=d["objective"] | {"bound": 7620, "gap": 0.5}),
    ),
    "no bound known": ("one_tier", lambda d: d.update(status="feasible", objective=d["objective"] | {"bound": None})),
    "not claimed optimal": (
        "one_tier",
        lambda d: (
            second_group(d),
            d.update(status="feasible", objective=d["objective"] | dict.fromkeys(("bound", "gap"))),
        ),
    ),
    "other cage first": (
        "one_tier",
        lambda d: (second_group(d), part(d, "t16")["cages"][0].update(form_factor="SFP28", accepts=[])),
    ),
}


@pytest.mark.parametrize("what", KEEPS)
def test_accepts_what_the_rules_leave_open(what: str) -> None:
    name, edit = KEEPS[what]
    document = DESIGNS[name]()
    edit(document)
    document["case"]["sha256"] = digest(document["case"]["content"])
    assert broken(document) == []


LINK_RULES = {
    "ports_fit_radix",
    "links_close",
    "cages_close",
    "assemblies_are_complete",
    "parts_are_offered",
    "parts_fit_cages",
    "optics_speak_alike",
    "cables_fit_reach",
    "bundles_join_boxes",
    "parts_cover_links",
    "cage_groups_come_first",
}


def broken_links(document: Json) -> set[str]:
    """Rules about links that fail."""
    return LINK_RULES & {check.name for check in broken(document)}


def breaks_links(document: Json) -> bool:
    """True if a rule about links fails."""
    return any(check.name in LINK_RULES for check in verified_in_turn(read(document)) if not check.ok)


@pytest.mark.parametrize("how", JOININGS)
def test_accepts_every_way_to_join_cages_with_several_ports(how: str) -> None:
    found = [check for check in broken(JOININGS[how]) if check.name in {rule.__name__ for rule in FABRIC_RULES}]
    assert found == []


@pytest.mark.long(but=("splitter at the leaf", "splitter at the server", "twin copper"))
@pytest.mark.parametrize("how", JOININGS)
def test_rejects_any_count_of_such_links_that_is_changed(how: str) -> None:
    for path, value in leaves(JOININGS[how]["fabrics"][0]["links"], ("fabrics", 0, "links")):
        if isinstance(value, int):
            for change in (value + 1, value - 1, value * 2 or 5):
                assert breaks_links(changed(JOININGS[how], path, lambda _, change=change: change)), path


def move(document: Json, links: int, cages: int, cables: int = 0) -> Json:
    """Move links, leaf cages and what they take from the first row of a kind to its last."""
    document = copy.deepcopy(document)
    rows = document["fabrics"][0]["links"]
    for sign, made in ((-1, rows[-2]), (1, rows[-1])):
        made["count"] += sign * links
        made["to_cages"] += sign * cages
        made["from_cages"] += sign * (cages if made["from"] == "leaf" else links)
        for used in made["parts"]:
            ends = {
                "from": made["from_cages"],
                "to": made["to_cages"],
                None: used["quantity"] + sign * (cables or cages),
            }
            used["quantity"] = ends[used.get("end")]
    return document


def attached(row: Json, **attachment: Any) -> Json:
    """``two_tiers`` with another attachment and row of its links."""
    document = two_tiers()
    fabric(document)["attachments"] = [{"name": "manager", "ports": 2} | attachment]
    document["case"]["sha256"] = digest(document["case"]["content"])
    document["fabrics"][0]["links"][1] |= row
    document["parts"]["other-fin"] = document["parts"]["twin-fin"] | {"id": "other-fin"}
    return document


FLAT = {"form_factor": "OSFP-RHS", "split": "1x400"}
MPO = {"id": "mpo", "quantity": 2, "length_m": 5}
OWN = {"id": "other-fin", "quantity": 2, "end": "to"}
ATTACHED: dict[str, Json] = {
    "nothing bought": attached({"parts": [], "medium": "none"}, buys="none"),
    "the leaf's end, cage unknown": attached({"parts": [MPO]}, buys="near"),
    "the leaf's end": attached({"parts": [MPO]}, buys="near", **FLAT),
    "a module of their own": attached({"parts": [MPO, OWN], "to_cages": 2}, buys="near", gbps=400),
}


@pytest.mark.parametrize("how", ATTACHED)
def test_accepts_attachments_however_much_is_bought(how: str) -> None:
    assert broken_links(ATTACHED[how]) == set()


@pytest.mark.parametrize("how", ATTACHED)
def test_rejects_any_count_of_attachments_that_is_changed(how: str) -> None:
    for path, value in leaves(ATTACHED[how]["fabrics"][0]["links"][1], ("fabrics", 0, "links", 1)):
        if isinstance(value, int):
            for change in (value + 1, value - 1):
                assert breaks_links(changed(ATTACHED[how], path, lambda _, change=change: change)), path


@pytest.mark.parametrize("up_cages", [1, 2])
def test_uplinks_may_have_cages_of_their_own(up_cages: int) -> None:
    document = two_tiers()
    cages = part(document, "twin8")["cages"]
    cages.append(cages[0] | {"count": up_cages})
    for tier in document["fabrics"][0]["tiers"][:1]:
        tier["up"]["cage_group"] = 1
    document["status"] = "feasible"  # the first group would do as well
    assert ("ports_fit_radix" in broken_links(document)) == (up_cages < 2)


def test_rows_mix_in_whole_cages_only() -> None:
    mixed = JOININGS["bundles mixed"]
    assert "cages_close" in broken_links(move(mixed, links=1, cages=1))
    assert "cages_close" in broken_links(move(JOININGS["cages mixed"], links=2, cages=0))
    assert "cages_close" in broken_links(move(JOININGS["connectors mixed"], links=2, cages=0))


def test_a_head_of_two_ports_does_not_go_to_two_leaves() -> None:
    """Aligned rails put the ports of a twin cage on different leaves: copper cannot follow."""
    document = two_tiers()
    document["parts"]["splitter"] = SPLITTER
    document["fabrics"][0]["links"][0]["parts"] = [{"id": "splitter", "quantity": 14, "length_m": 3}]
    assert "bundles_join_boxes" in broken_links(document)
    document["parts"]["twin-dac"] = TWIN_DAC
    document["fabrics"][0]["links"][0]["parts"] = [{"id": "twin-dac", "quantity": 28, "length_m": 3}]
    assert "bundles_join_boxes" in broken_links(document)


def test_ports_of_one_card_do_not_share_a_head_with_those_of_another() -> None:
    """Two cards with one port each on one leaf: two cables, although a head has two ports."""
    document = copy.deepcopy(JOININGS["twin copper"])
    fabric_ = document["fabrics"][0]
    fabric_["nic"].update(per_server=2, ports_per_nic=1)
    assert "parts_cover_links" in broken_links(document)


@pytest.mark.parametrize("status", ["infeasible", "unknown"])
def test_a_file_without_a_design_has_only_the_rules_of_the_file(status: str) -> None:
    document = two_tiers()
    empty = {key: document[key] for key in ("fabopt", "case")} | {
        "status": status,
        "objective": {"metric": "capex_usd"},
    }
    assert [(check.name, check.ok) for check in verify(read(empty))] == [
        ("content_matches_hash", True),
        ("status_is_honest", True),
        ("rules_are_named", True),
    ]


@pytest.mark.parametrize(
    ("name", "every"), [("one_tier", 5), *(pytest.param(name, 1, marks=pytest.mark.long) for name in DESIGNS)]
)
def test_never_raises_on_garbage(name: str, every: int) -> None:
    """In any place, or in one of so many."""
    document = DESIGNS[name]()
    assert is_caught(document | {"case": document["case"] | {"content": {}}})
    assert is_caught(document | {"fabrics": []})
    assert is_caught(document | {"parts": {part: {} for part in PARTS}})
    assert is_caught(changed(document, ("fabrics", 0, "structure", "servers_per_group"), lambda _: 0))
    assert is_caught(changed(document, ("fabrics", 0, "planes"), lambda _: -3))
    assert is_caught(changed(document, ("fabrics", 0, "nic", "ports_per_nic"), lambda _: 10**15))
    assert is_caught(changed(document, ("fabrics", 0, "nic", "split"), lambda _: "two by four"))
    assert is_caught(changed(document, ("fabrics", 0, "tiers"), lambda tiers: tiers[::-1] + tiers))
    for path, _ in list(leaves(document["parts"], ("parts",)))[::every]:
        for junk in (None, -1, "junk", [], {}):
            verify(read(changed(document, path, partial(always, junk))))


def always(junk: object, _: object) -> object:
    """Junk, whatever was there."""
    return junk


def test_knows_no_solver() -> None:
    """The package imports what reads a case, a design file and a table in it, and nothing of the search that it proves.

    What packet memory holds is a table of makers, which tests hold against theirs row by row; how makers write
    lengths in order codes is another.
    """
    allowed = (
        "errors", "units", "rules", "schema", "network", "floor", "workload", "problem.demand", "wiring",
        "verify", "parts.lookup", "parts.switches", "parts.pools", "parts.names", "io.keys",
        "io.tables",
    )  # fmt: skip
    for file in Path(fabopt.verify.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if names == ["fabopt"]:
                names = [f"fabopt.{one.name}" for one in node.names]
            for name in names:
                ours, flows = name.startswith("fabopt"), name.startswith("ortools.graph")
                known = flows or name.split(".")[0] not in ("pulp", "ortools")
                assert name.startswith(tuple(f"fabopt.{one}" for one in allowed)) if ours else known


def test_a_hundred_thousand_gpus_are_few_classes() -> None:
    clos = a_clos(servers=100_000, nics=8, g=63, groups_per_pod=3, attached=(999_983,))
    assert len(clos.leaf_classes) <= 3
    assert len(set(clos.spine_downlinks.tolist())) <= 4


def test_a_damaged_file_is_not_counted_switch_by_switch() -> None:
    with pytest.raises(ValueError, match="are counted at the most"):
        len(a_clos(servers=10**12, g=1, attached=()).leaf_classes)


# -- counts by classes against counts one by one ------------------------------------------------------------------


def a_clos(planes: int = 1, nics: int = 1, **given: Any) -> ClosCounts:
    """Three tiers with some numbers given; NICs of one port in each plane."""
    base = ClosCounts(
        tiers=3, servers=8, ports=nics, planes=planes, g=2, k=1, attached=(), u=4, spines=4, groups_per_pod=2, x=2, q=1,
        m2=1, nics=nics, ports_per_nic=planes, shared_cages=False,
    )  # fmt: skip
    return replace(base, **given)


@pytest.mark.long
@settings(max_examples=few_or_many(30, 100))
@pytest.mark.drawn_longer
@given(
    st.integers(1, 12),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 2),
    st.lists(st.integers(1, 40), max_size=3),
)
def test_attachments_dealt_by_classes_are_those_dealt_one_by_one(
    servers: int, group: int, rails: int, planes: int, attached: list[int]
) -> None:
    group = min(group, servers)
    clos = a_clos(servers=servers, nics=rails, planes=planes, g=group, attached=tuple(attached))
    sizes = [min(group, servers - first) for first in range(0, servers, group)]
    dealt = [[size, *[0] * len(attached)] for size in sorted(sizes * rails * planes)]
    ports = [index for index, count in enumerate(attached) for _ in range(count)]
    for turn, index in enumerate(ports):
        dealt[turn % len(dealt)][index + 1] += 1
    counted: Counter[tuple[int, ...]] = Counter()
    for one in clos.leaf_classes:
        counted[one.ports, *one.attached] += one.count
    assert counted == Counter(map(tuple, dealt))
    assert clos.most_endpoints == max(map(sum, dealt))


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=3),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 2),
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=3),
    st.booleans(),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_ports_in_racks_are_on_the_leaves_of_the_wiring(
    steps: list[int],
    group: int,
    rails: int,
    planes: int,
    adds: list[list[int]],
    grows: bool,
    paired: bool,
    rng: random.Random,
) -> None:
    """Leaf by leaf as they are dealt one by one, in one stage or several, whatever rack each leaf is in; where leaves
    are in pairs, those of every two neighbouring ports of an even number are on one. The verifier counts the same.
    """
    sizes = tuple(accumulate(steps)) if grows else ()
    adds = [own[: max(1, len(sizes))] for own in adds]
    servers, group = sum(steps), min(group, sum(steps))
    given: dict[str, Any] = {"servers": servers, "planes": planes, "sizes": sizes}
    numbers = ClosNumbers(ports=rails, k=1, g=group, nics=rails, ports_per_nic=planes, shared_cages=False, **given)
    racks = [str(rng.randrange(3)) for _ in range(planes * numbers.leaves)]
    cabled = [[0] * len(adds) for _ in racks]
    dealt = dealt_over_leaves(numbers, adds, racks, paired)
    for port in dealt:
        cabled[port.leaf][port.owner] += 1
    if paired and rails % 2 == 0 and not grows:
        owners = [port.owner for port in dealt]
        for first, second in zip(dealt[::2], dealt[1::2], strict=False):
            is_even = all(owners.count(owner) % 2 == 0 for owner in range(first.owner + 1))
            assert not is_even or (first.leaf // 2 == second.leaf // 2 and first.leaf != second.leaf)
    clos = a_clos(
        nics=rails, g=group, attached=tuple(map(sum, adds)), adds=tuple(map(tuple, adds)),
        leaf_racks=tuple(racks), paired=paired, **given,
    )  # fmt: skip
    assert [list(own) for _, own in clos.dealt_leaves] == cabled
    group_of = numbers.group_of_leaf(np.arange(len(racks)))
    at_stages = [numbers.servers_of_groups(group_of, size).tolist() for size in sizes or (servers,)]
    leaves = [brute.LeafKind(of_leaf, of_leaf[-1], False) for of_leaf in zip(*at_stages, strict=True)]
    in_pairs = paired and rails % 2 == 0
    assert list(map(list, brute.dealt_over_leaves(leaves, adds, grows, racks, in_pairs))) == cabled


@given(st.integers(1, 20), st.integers(1, 4), st.integers(1, 3), st.booleans(), st.integers(1, 9), st.integers(1, 9))
def test_spines_counted_by_classes_are_those_cabled_one_by_one(
    groups: int, per_pod: int, rails: int, rail_pods: bool, uplinks: int, spines: int
) -> None:
    spines = min(spines, uplinks)
    clos = a_clos(
        servers=groups,
        g=1,
        nics=rails,
        rail_pods=rail_pods,
        groups_per_pod=per_pod,
        u=uplinks,
        spines=spines,
    )
    pods = [
        min(per_pod, groups - first) * (1 if rail_pods else rails)
        for _ in range(rails if rail_pods else 1)
        for first in range(0, groups, per_pod)
    ]
    cabled = []
    for leaves_of_pod in pods:
        ends = [turn % spines for turn in range(leaves_of_pod * uplinks)]  # leaf after leaf, in rotation
        cabled += [ends.count(spine) for spine in range(spines)]
    assert Counter(clos.spine_downlinks.tolist()) == Counter(cabled)
    assert clos.pods == len(pods)
    assert clos.most_spine_downlinks == max(cabled)
    of_pods = [sum(leaves for _, leaves in pod) for pod in clos.pod_ports]
    assert sorted(of_pods) == sorted(pods) and sum(of_pods) == clos.leaves
    assert sum(ports * leaves for pod in clos.pod_ports for ports, leaves in pod) == groups * rails


def test_a_design_survives_its_own_json() -> None:
    document = three_tiers()
    again = json.loads(read(document).model_dump_json(by_alias=True))
    as_written_by("0.1.0", again)
    assert broken(again) == []
