"""Two halls with two routes: what does not fit the shorter one takes the other; runs, parts and losses by hand."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import ceil
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.io.library import data_folder
from fabopt.problem.problem import problem_of
from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from fabopt.solution.other_routes import fitting
from fabopt.topology.clos.between_halls import fibres_needed
from fabopt.verify.evidence import Evidence
from tests.samples.shipped import shipped
from tests.samples.small import Json, assert_proven, inputs, usd
from tests.solution.test_halls import campus, cut_off_without, lost_with, over_route, parts, with_plugs

NORTH, SOUTH = "EAST-A01 to WEST-A01, north", "EAST-A04 to WEST-A03, south"


def two_ducts(m: float, fibres: tuple[int | None, int | None], **south: Any) -> Json:
    """The campus with a duct of 350 m at one end of its rows, and another of ``m`` at the other end."""
    return campus(350, routes=[
        {"between": ["EAST", "WEST"], "m": 350, "duct": "north", "fibres": fibres[0]},
        {"between": ["EAST", "WEST"], "m": m, "duct": "south", "fibres": fibres[1], "exits": ["A04", "A03"], **south},
    ])  # fmt: skip


def of_plugs() -> Json:
    """The parts with twelve fibres behind every plug."""
    content = with_plugs(parts())
    for optic in content["transceivers"]:
        optic["connector"] = "MPO-12"
    return content


@cache
def designed(m: float, north: int | None, south: int | None) -> Design:
    return solve(inputs(two_ducts(m, (north, south)), of_plugs()), alternatives_s=0)


def told(design: Design, name: str) -> str:
    (check,) = (check for check in design.checks if check.name == name)
    assert check.ok
    return check.detail


def by_route(design: Design) -> dict[str, list[dict[str, str]]]:
    rows = over_route(design)
    return {route: [row for row in rows if row["route"] == route] for route in (NORTH, SOUTH)}


def test_what_does_not_fit_the_first_duct_takes_the_second() -> None:
    """Four links of twelve fibres, two to each rack of servers in WEST: each duct has room for two of them."""
    free, design = designed(380, 48, 1), designed(380, 24, 24)
    assert_proven(free)
    assert [len(rows) for rows in by_route(free).values()] == [4, 0]
    # in 400 m of fibre too, so that it costs as much and is proven
    assert_proven(design)
    assert usd(design) == usd(free)
    assert [len(rows) for rows in by_route(design).values()] == [2, 2]
    held = told(design, "routes_hold_fibres")
    assert "EAST-A01 to WEST-A01: 24 of 24 fibres" in held and "EAST-A04 to WEST-A03: 24 of 24 fibres" in held
    assert any("cables between 1 pair of racks take EAST-A04 to WEST-A03, south" in note for note in design.notes)


@pytest.mark.parametrize(("m", "optic", "length_m"), [(380, "dr4", 400), (1200, "fr4", 1500)])
def test_runs_and_parts_over_both_ducts_by_hand(m: float, optic: str, length_m: float) -> None:
    design = designed(m, 24, 24)
    ends = {NORTH: (350, 1, 1), SOUTH: (m, 4, 3)}
    for route, rows in by_route(design).items():
        assert len(rows) == 2
        metres, east, west = ends[route]
        for row in rows:
            units = {end: int(float(row[f"{end}_unit"])) for end in ("from", "to")}
            sizes = {"from": 4 if row["from_device"].startswith("server") else 1, "to": 1}
            heights = [0.1 + (units[end] - 1 + sizes[end] / 2) * 0.04445 for end in units]
            racks = {row["from_rack"][:4]: row["from_rack"], row["to_rack"][:4]: row["to_rack"]}
            trays = 0.6 * (abs(int(racks["EAST"][-2:]) - east) + abs(int(racks["WEST"][-2:]) - west))
            by_hand = metres + trays + 2 * (2.6 + 0.3) - sum(heights) + 0.5
            assert float(row["run_m"]) == pytest.approx(by_hand, abs=1e-6)
        parts_of = {(row["from_optic"], row["to_optic"], float(row["length_m"])) for row in rows}
        assert parts_of == {("dr4", "dr4", 400.0) if route == NORTH else (optic, optic, length_m)}
    # over 1.2 km two links have other optics and more glass: no part has fewer fibres
    dearer = 2 * (2 * (700 - 400) + 1500 - 400) if m > 500 else 0
    assert usd(design) - usd(designed(380, 48, 1)) == dearer
    assert "4 links between EAST and WEST" in told(design, "routes_join_halls")


def test_parts_with_fewer_fibres_are_taken_where_they_cost_less_than_the_way_round() -> None:
    """A pair of fibres behind plugs of LC: four of those cost 2,400 usd more, two links over 1.2 km 3,400."""
    design = solve(inputs(two_ducts(1200, (24, 24)), with_plugs(parts())), alternatives_s=0)
    assert [len(rows) for rows in by_route(design).values()] == [4, 0]
    assert {row["from_optic"] for row in over_route(design)} == {"fr4"}
    assert "8 of 24 fibres" in told(design, "routes_hold_fibres")


def test_the_loss_of_either_duct_equals_a_count_on_the_schedule() -> None:
    design = designed(380, 24, 24)
    assert cut_off_without(design, lambda row: "north" in row["route"]) == 2
    assert cut_off_without(design, lambda row: "south" in row["route"]) == 2
    (point,) = (point for point in design.single_points_of_failure or () if point.device == "duct")
    assert (point.count, point.servers, point.fewest_servers, point.degraded) == (2, 2, 2, False)
    assert lost_with(designed(380, 48, 1), "duct") == {"north": 4}


@pytest.mark.long
def test_two_ducts_that_are_too_small_are_named_with_the_fibres_needed() -> None:
    none = designed(380, 24, 23)
    assert none.totals is None and none.status != "optimal"
    conflicts = {one.limit: (one.value, one.needed) for one in none.conflicts}
    assert conflicts in ({"site.routes[0].fibres": (24, 48)}, {"site.routes[1].fibres": (23, 24)})
    for limit, (_, needed) in conflicts.items():
        wide = [24, 23]
        wide[int("[1]" in limit)] = int(str(needed))
        assert designed(380, *wide).totals is not None


def test_a_case_may_list_racks_at_a_route() -> None:
    content = two_ducts(1200, (None, None), pairs=[[f"A0{a}", f"A0{b}"] for a in (1, 2, 3, 4) for b in (1, 2, 3)])
    design = solve(inputs(content, of_plugs()), alternatives_s=0)
    assert_proven(design)
    assert [len(rows) for rows in by_route(design).values()] == [0, 4]
    assert lost_with(design, "duct") == {"south": 4}


def test_racks_of_routes_that_do_not_exist_or_are_listed_twice_are_refused() -> None:
    content = two_ducts(380, (None, None), pairs=[["A09", "A01"], ["A04", "A01"]])
    content["site"]["routes"][0]["pairs"] = [["A04", "A01"]]
    with pytest.raises(InputError) as refused:
        inputs(content, of_plugs())
    text = str(refused.value)
    assert "site.routes[1].pairs[0]: EAST has no such rack; found 'A09'; allowed: A01 to A04" in text
    assert "site.routes[1].pairs[1]: `site.routes[0].pairs[0]` lists them too" in text


@pytest.mark.parametrize(("duct", "between"), [(None, ["WEST", "EAST"]), ("north", ["EAST", "WEST"])])
def test_a_route_that_is_named_twice_is_refused(duct: str | None, between: list[str]) -> None:
    content = two_ducts(380, (None, None))
    content["site"]["routes"] = [
        {"between": ["EAST", "WEST"], "m": 350, "duct": duct}, {"between": between, "m": 400, "duct": duct}
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"site\.routes\[1\]: `site\.routes\[0\]` has the same ends and duct"):
        inputs(content, of_plugs())


@pytest.mark.parametrize("room", range(-1, 24))
def test_as_many_fibres_as_fit_stay(room: int) -> None:
    fibres = {("a", "x"): 8, ("a", "y"): 6, ("b", "x"): 4, ("b", "y"): 2, ("c", "x"): 2}
    taken = fitting(fibres, room)
    most = max(
        total for count in range(6) for some in combinations(fibres.values(), count)
        if (total := sum(some)) <= max(0, room)
    )  # fmt: skip
    assert sum(fibres[pair] for pair in taken) == most
    assert taken == [pair for pair in fibres if pair in taken]


@pytest.mark.long
def test_a_shipped_case_is_solved_with_half_of_its_fibres_in_another_duct() -> None:
    case = yaml.safe_load((data_folder("cases") / "two-halls-320.yaml").read_text())
    case["site"]["routes"] = [
        {"between": ["EAST", "WEST"], "m": 350, "fibres": 192, "duct": "north"},
        {"between": ["EAST", "WEST"], "m": 420, "fibres": 192, "duct": "south", "exits": ["A05", "A04"]},
    ]
    design = solve(inputs_from_objects(case), alternatives_s=0)
    assert_proven(design)
    held = told(design, "routes_hold_fibres")
    assert "EAST-A01 to WEST-A01: 192 of 192 fibres; EAST-A05 to WEST-A04: 192 of 192 fibres" in held
    assert design.totals == shipped("two-halls-320").totals
    # each spine has cores left over the other duct
    assert lost_with(design, "duct") == {}
    assert cut_off_without(design, lambda row: "north" in row["route"]) == 0
    assert cut_off_without(design, lambda row: "south" in row["route"]) == 0


# -- fibres that a ratio between halls takes at least ------------------------------------------------------------------


def of_ratio(hall: float, *fibres: int | None) -> Design:
    content = two_ducts(380, fibres[:2] if len(fibres) == 2 else (fibres[0], None))
    if len(fibres) == 1:
        del content["site"]["routes"][1]
    content["fabrics"][0]["max_oversubscription"] = {"leaf": 2, "hall": hall}
    return solve(inputs(content, parts()), alternatives_s=0)


@pytest.mark.parametrize("fibres", [(39,), (20, 19)])
def test_too_few_fibres_for_a_ratio_between_halls_are_a_proven_no_before_any_search(fibres: tuple[int, ...]) -> None:
    """Four servers of 400 Gb/s at 1:5: 8,000 Gb/s, at 200 Gb/s of a fibre of LC 40 fibres."""
    none = of_ratio(0.2, *fibres)
    assert none.status == "infeasible" and none.objective.candidates == 0
    (conflict,) = none.conflicts
    needed = fibres[0] + 40 - sum(fibres)
    assert (conflict.limit, conflict.value, conflict.needed) == ("site.routes[0].fibres", fibres[0], needed)
    assert "takes 40 fibres out of" in conflict.detail


@pytest.mark.long
@pytest.mark.parametrize("hall", [0.5, 1, 2])
def test_no_design_of_a_ratio_has_fewer_fibres_than_are_needed_at_least(hall: float) -> None:
    design = of_ratio(hall, 1000)
    assert_proven(design)
    least = ceil(4 * 400 / hall / 200)
    problem = problem_of(Evidence(design).case, inputs(campus(350), parts()).catalog)
    assert fibres_needed(problem) == {"EAST": least, "WEST": least}
    assert 2 * len(over_route(design)) >= least
    # with just as many it is not refused before the search
    assert of_ratio(hall, least).objective.candidates > 0


@pytest.mark.long(but=("2-any-2",))
@pytest.mark.parametrize("tiers", [2, 3])
@pytest.mark.parametrize("spread", ["any", "halls"])
@pytest.mark.parametrize("leaf", [1, 2, 4])
def test_no_design_of_tiers_ratios_has_fewer_fibres_than_are_needed_at_least(
    leaf: int, spread: str, tiers: int
) -> None:
    """Four servers of 400 Gb/s send what the ratios leave to four in the other hall, at 200 Gb/s of a fibre of LC."""
    content = campus(350, spread=spread)
    del content["fabrics"][0]["racks"]
    content["fabrics"][0] |= {"tiers": tiers, "max_oversubscription": {"leaf": leaf, "spine": 1}}
    given = inputs(content, parts())
    design = solve(given, alternatives_s=0)
    least = ceil(4 * 400 / leaf / 200)
    assert fibres_needed(problem_of(given.case, given.catalog)) == {"EAST": least, "WEST": least}
    assert 2 * len(over_route(design)) >= least
    content["site"]["routes"][0]["fibres"] = least - 1
    none = solve(inputs(content, parts()), alternatives_s=0)
    assert (none.status, none.conflicts[0].needed) == ("infeasible", 2 * len(over_route(design)))
    content["site"]["routes"][0]["fibres"] = none.conflicts[0].needed
    assert usd(solve(inputs(content, parts()), alternatives_s=0)) == usd(design)


@pytest.mark.long
def test_a_shipped_case_with_a_duct_that_is_too_small_for_its_tiers_names_the_fibres() -> None:
    """Sixteen DGX H100 of 8 x 400 Gb/s in the smaller hall at 1:1: 51,200 Gb/s over fibres of 200; pods take more."""
    case = yaml.safe_load((data_folder("cases") / "two-halls-320.yaml").read_text())
    case["site"]["routes"][0]["fibres"] = 12
    none = solve(inputs_from_objects(case), alternatives_s=0)
    assert (none.status, none.objective.candidates) == ("infeasible", 0)
    (conflict,) = none.conflicts
    assert (conflict.limit, conflict.value, conflict.needed) == ("site.routes[0].fibres", 12, 384)
    assert "takes 256 fibres out of EAST at least" in conflict.detail
    assert conflict.capex_usd == usd(shipped("two-halls-320"))


def test_a_shipped_case_with_a_duct_that_is_too_small_for_its_ratio_names_the_fibres() -> None:
    """Sixteen DGX H100 of 8 x 400 Gb/s in the smaller hall at 1:5: 256,000 Gb/s over fibres of 200."""
    case = yaml.safe_load((data_folder("cases") / "two-halls-320.yaml").read_text())
    case["fabrics"][0]["max_oversubscription"] = {"leaf": 1, "spine": 1, "hall": 0.2}
    none = solve(inputs_from_objects(case), alternatives_s=0)
    assert none.status == "infeasible"
    assert [(one.limit, one.value, one.needed) for one in none.conflicts] == [("site.routes[0].fibres", 1152, 1280)]
