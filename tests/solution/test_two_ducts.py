"""Two halls joined by two ducts: rule ``two-ducts`` deals the cables over both; links, parts and losses by hand."""

from __future__ import annotations

from functools import cache

import pytest
import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.io.library import data_folder
from fabopt.rules.defaults import DEFAULT_RULES
from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from fabopt.verify.checks import verify
from tests.samples.shipped import shipped
from tests.samples.small import assert_proven, inputs, usd
from tests.solution.test_halls import cut_off_without, lost_with, over_route, parts
from tests.solution.test_second_route import NORTH, SOUTH, by_route, of_plugs, told, two_ducts

CHECK = "ducts_share_links"
# All but the rule of ducts.
OTHERS = dict.fromkeys(DEFAULT_RULES.keys() - {"two-ducts"}, False)


@cache
def dealt(m: float, north: int | None = None, south: int | None = None, is_on: bool = True) -> Design:
    content = two_ducts(m, (north, south)) | {"rules": {**OTHERS, "two-ducts": is_on}}
    return solve(inputs(content, of_plugs()), alternatives_s=0)


def note(design: Design) -> str:
    (found,) = (note for note in design.notes if note.startswith("rule `two-ducts`"))
    return found


def test_half_of_the_cables_is_in_either_duct() -> None:
    """Two racks in WEST, each with two links to the spines in a rack of EAST: two are in either duct, at no cost."""
    design, off = dealt(380), dealt(380, is_on=False)
    assert_proven(design)
    assert usd(design) == usd(off)
    assert [len(rows) for rows in by_route(design).values()] == [2, 2]
    assert [len(rows) for rows in by_route(off).values()] == [4, 0]
    assert "2 links in north, 2 links in south" in told(design, CHECK)
    assert "compute has 2 links in north, 2 links in south; at no more cost" in note(design)
    assert CHECK not in {check.name for check in off.checks}
    for one, north, south in ((design, 2, 2), (off, 4, 0)):
        assert cut_off_without(one, lambda row: "north" in row["route"]) == north
        assert cut_off_without(one, lambda row: "south" in row["route"]) == south
        assert lost_with(one, "duct") == {"north": north}


def test_a_longer_duct_has_parts_of_its_own_and_the_rule_says_what_that_costs() -> None:
    design, off = dealt(1200), dealt(1200, is_on=False)
    for route, optic, length_m in ((NORTH, "dr4", 400), (SOUTH, "fr4", 1500)):
        rows = by_route(design)[route]
        assert {(row["from_optic"], row["to_optic"], float(row["length_m"])) for row in rows} == {
            (optic, optic, length_m)
        }
    dearer = 2 * (2 * (700 - 400) + 1500 - 400)
    assert usd(design) - usd(off) == dearer
    assert (design.status, design.objective.bound) == ("feasible", off.objective.value)
    assert f"that costs ${dearer:,}.00 more than the shortest ways" in note(design)


def test_a_duct_without_room_for_its_half_leaves_all_in_the_other_one() -> None:
    """The cables of two racks have 24 fibres: a duct of 23 has no room for any."""
    for m, fibres in ((380, (None, 23)), (1200, (None, 23)), (380, (23, None))):
        design = dealt(m, *fibres)
        assert_proven(design)
        assert sorted(len(rows) for rows in by_route(design).values()) == [0, 4]
        assert "3 hang on one duct" in told(design, CHECK)
        assert "3 of 3 devices, fabrics, planes and pods hang on one duct" in note(design)
    assert [len(rows) for rows in by_route(dealt(380, None, 24)).values()] == [2, 2]


def test_cables_of_two_racks_are_in_one_duct_and_a_note_says_so() -> None:
    """All four servers of WEST are in one rack."""
    content = two_ducts(380, (None, None)) | {"rules": {**OTHERS, "two-ducts": True}}
    content["servers"] = 8
    content["site"]["halls"][1]["server_racks"] = ["A01"]
    content["site"]["halls"][1]["racks_per_row"] = 3
    design = solve(inputs(content, of_plugs()), alternatives_s=0)
    assert_proven(design)
    assert sorted(len(rows) > 0 for rows in by_route(design).values()) == [False, True]
    assert "all is between two racks" in note(design)


def test_a_duct_that_no_part_reaches_through_names_the_rule() -> None:
    none = dealt(9000)
    assert none.totals is None and none.status == "unknown"
    (conflict,) = none.conflicts
    assert (conflict.limit, conflict.value, conflict.needed) == ("rules.two-ducts", "true", "false")
    assert conflict.capex_usd == usd(dealt(9000, is_on=False))


def test_halls_in_a_line_hang_on_no_duct_where_another_way_to_the_next_one_is_free() -> None:
    """A leaf in NORD has a link to WEST, and one through it to EAST, the shortest way: the other duct is for WEST."""
    content = two_ducts(370, (None, None)) | {"rules": {**OTHERS, "two-ducts": True}, "servers": 14}
    content["site"]["halls"].append({"name": "NORD", "rows": 1, "racks_per_row": 5, "server_racks": ["A01", "A02"]})
    for hall in content["site"]["halls"]:
        hall["racks_per_row"] = 5
    ends = {"between": ["WEST", "NORD"]}
    content["site"]["routes"] += [
        {**ends, "m": 300, "duct": "near"}, {**ends, "m": 320, "duct": "far", "exits": ["A05", "A05"]}
    ]  # fmt: skip
    content["site"]["spread"] = "halls"
    content["fabrics"][0] |= {"max_oversubscription": {"leaf": 2}}
    del content["fabrics"][0]["racks"]
    design = solve(inputs(content, parts()), alternatives_s=0)
    assert all(check.ok for check in design.checks)
    assert lost_with(design, "duct") == {}
    for duct in ("north", "south", "near", "far"):
        assert cut_off_without(design, lambda row, duct=duct: duct in row["route"]) == 0


def test_racks_that_the_case_lists_stay_at_their_route() -> None:
    listed = [[f"A0{east}", f"A0{west}"] for east in (1, 2, 3, 4) for west in (1, 2, 3)]
    content = two_ducts(380, (None, None), pairs=listed) | {"rules": {**OTHERS, "two-ducts": True}}
    design = solve(inputs(content, of_plugs()), alternatives_s=0)
    assert [len(rows) for rows in by_route(design).values()] == [0, 4]
    assert CHECK not in {check.name for check in design.checks}


def test_cables_that_hang_on_one_duct_are_found() -> None:
    design = dealt(380)
    content = design.case.content
    routes = [{**route, "pairs": []} for route in content["site"]["routes"]]
    record = design.case.model_copy(update={"content": {**content, "site": {**content["site"], "routes": routes}}})
    failed = {check.name: check for check in verify(design.model_copy(update={"case": record})) if not check.ok}
    assert "over EAST-A04 to WEST-A03, south 3 fewer hang on one duct" in failed[CHECK].detail


@pytest.mark.parametrize("same", [True, False])
def test_routes_in_one_duct_are_no_two_ducts(same: bool) -> None:
    content = two_ducts(380, (None, None))
    content["site"]["routes"][1]["duct"] = "north" if same else None
    content["rules"] = OTHERS
    case = inputs(content, of_plugs()).case
    assert case.deals_ducts is not same


@pytest.mark.long
@pytest.mark.parametrize("m", [420, 1200])
def test_a_shipped_case_with_another_duct_loses_nobody_with_either(m: float) -> None:
    case = yaml.safe_load((data_folder("cases") / "two-halls-320.yaml").read_text())
    north, south = {"m": 350, "duct": "north"}, {"m": m, "duct": "south", "exits": ["A05", "A04"]}
    case["site"]["routes"] = [{"between": ["EAST", "WEST"], **route} for route in (north, south)]
    design = solve(inputs_from_objects(case), alternatives_s=0)
    assert all(check.ok for check in design.checks)
    rows = over_route(design)
    in_north = sum("north" in row["route"] for row in rows)
    assert 2 * in_north == len(rows)
    assert "0 hang on one duct" in told(design, CHECK)
    assert lost_with(design, "duct") == {}
    for duct in ("north", "south"):
        assert cut_off_without(design, lambda row, duct=duct: duct in row["route"]) == 0
    assert usd(design) >= usd(shipped("two-halls-320"))
