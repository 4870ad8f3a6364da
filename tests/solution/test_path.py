"""One way from a case to its design: whatever is asked, the same notes and the same proof come with the answer."""

from __future__ import annotations

from math import floor

import pytest

from fabopt.problem import site as sites
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import FrontPoint
from fabopt.study.front.fronts import objectives_of, pareto_front
from fabopt.study.sensitivity.ranges import Asked, sensitivity
from fabopt.study.sweep.sweep import Execution, grid_of, sweep
from tests.floor.test_appliances import PORT, STORES, case, parts
from tests.samples.small import Json, assert_proven, case as small_case, catalog as small_catalog, inputs, solved
from tests.topology.test_server_torus import case as torus_case, catalog as torus_catalog

STORAGE: Json = {"name": "storage", "role": "storage", "min_gbps_per_gpu": 25, "tiers": 1}


def on_a_floor(separation: str, rows: int = 1) -> Json:
    """Stores that are bought with cables of a metre, whatever stands between them and their leaf."""
    content = case(STORES | {"boxes": 1, "ports": 2, "buys": "both"} | PORT, floor={"rows": rows})
    content["site"]["distances_m"] = {"attachment-leaf": 1}
    content["fabrics"][0]["tiers"] = "any"
    content["rules"] = "none"
    content["fabrics"].append(STORAGE | {"separation": separation})
    return content


def test_cables_that_are_too_short_are_told_of_any_separation() -> None:
    chosen = solved(on_a_floor("any"), parts())
    assert_proven(chosen)
    assert chosen.notes[0] == "separation: storage physical, the cheapest of 2 that are possible"
    too_short = [note for note in chosen.notes if "attachment-leaf" in note]
    assert len(too_short) == 1 and too_short[0].startswith("compute stores: its cables are planned for 1 m")
    assert solved(on_a_floor("physical"), parts()).notes == tuple(too_short)


def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every floor count as too large for proofs."""
    for most in ("MOST_SERVERS_PROVEN_ON_FLOOR", "MOST_SERVERS_OF_SEVERAL_FABRICS", "MOST_SERVERS_ANYWHERE"):
        monkeypatch.setattr(sites, most, 0)


@pytest.mark.long
def test_a_separation_that_is_not_ruled_out_says_what_stands_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    large(monkeypatch)
    content = case(floor={"rack_units": 20})
    content["fabrics"].append(STORAGE | {"separation": "any"})
    best = solved(content, parts()).objective.value
    assert best is not None
    none = solved({**content, "limits": {"budget_usd": floor(best) - 1}}, parts())
    assert none.status == "unknown"
    told = {conflict.detail.partition(":")[0] for conflict in none.conflicts if conflict.limit == "limits.budget_usd"}
    assert told == {"with storage physical", "with storage shared"}


# -- points of sweeps and fronts --------------------------------------------------------------------------------------


def swept(content: Json, *over: str, budget: str | None = None, catalog: Json | None = None) -> list[FrontPoint]:
    read = inputs(content, catalog or parts())
    grid = grid_of(read, budget, over)
    return list(sweep(read, grid, Execution(), None, Settings(), Clock(None), lambda *new: None).points)


def front_of(content: Json) -> list[FrontPoint]:
    """The ends of a front of money against power."""
    metrics = objectives_of(["capex_usd", "power_w"], [], 2)
    return list(pareto_front(inputs(content, parts()), metrics, 2, Settings(), Clock(None), lambda met: None).points)


def test_points_say_what_the_design_of_their_case_says() -> None:
    """Cables that are too short, a fabric that is shared, racks in use: all of it is in the file of a study too."""
    content = on_a_floor("shared", rows=2)
    alone = solved(content, parts())
    assert [note.partition(":")[0] for note in alone.notes] == ["shared ports", "storage", "compute stores"]
    assert alone.totals is not None and alone.totals.racks is not None
    [point] = swept(content, "servers=4")
    assert (point.notes, point.totals) == (alone.notes, alone.totals)
    cheapest = front_of(content)[0]
    assert (cheapest.notes, cheapest.totals) == (alone.notes, alone.totals)


def test_points_say_which_families_and_cards_are_left_out() -> None:
    """No family but the Clos grows in stages, and cards of 400 Gb/s are too fast for slots of the fourth generation."""
    stages = [{"name": "one", "servers": 4}, {"name": "two", "month": 12, "servers": 6}]
    content = small_case({"topologies": ["any"]}, server="gpu-4-gen-4", stages=stages)
    alone = solved(content)
    assert {"left out" in note for note in alone.notes} == {True, False}
    assert [point.notes for point in swept(content, "stages.1.servers=6", catalog=small_catalog())] == [alone.notes]
    assert [point.notes for point in swept(content, budget="10M", catalog=small_catalog())] == [alone.notes]


@pytest.mark.long
def test_a_point_is_ruled_out_as_its_case_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a floor that is too large for proofs, where the bound of the best design is what it costs: by any way."""
    large(monkeypatch)
    content = case(floor={"rack_units": 20}, limits={})
    best = solved(content, parts()).objective
    assert best.value is not None and best.value == best.bound
    limits = {"budget_usd": floor(best.value) - 1}
    assert solved({**content, "limits": limits}, parts()).status == "infeasible"
    [point] = swept({**content, "limits": limits}, "servers=4")
    assert (point.status, point.conflicts[0].needed) == ("infeasible", best.value)
    [poor] = swept(content, budget=f"{floor(best.value) - 1}")
    assert (poor.status, poor.conflicts[0].needed) == ("infeasible", best.value)
    assert "the cheapest design costs" in poor.conflicts[0].detail


def test_demands_of_bought_servers_are_told() -> None:
    content = small_case(servers=4, maximize="servers")
    checkpoint = {"checkpoint_gb": 1000, "checkpoint_window_s": 60}
    content["fabrics"].append({"name": "storage", "role": "storage", "storage": checkpoint})
    [point] = swept(content, budget="150K", catalog=small_catalog())
    assert point.values["servers"] == 6
    assert point.notes == solved(content).notes and "a checkpoint of 1000 GB in 60 s" in point.notes[0]


def test_a_budget_below_the_first_torus_names_its_price() -> None:
    """Fewer than nine servers are no torus, so the fewest servers have no design at whatever price."""
    catalog = torus_catalog()
    content = torus_case(9, torus_nodes="servers") | {"maximize": "servers"}
    alone = solved(content, catalog)
    assert_proven(alone)
    [poor] = swept(content, budget="1K", catalog=catalog)
    needed = {one.limit: one.needed for one in poor.conflicts}
    assert (poor.status, needed["limits.budget_usd"]) == ("infeasible", alone.objective.value)


def test_price_ranges_of_a_case_without_a_design_say_what_solving_it_says() -> None:
    """A shared fabric is in the case and not in the problem."""
    content = small_case({"tiers": 1}, servers=30)
    content["fabrics"].append({"name": "storage", "role": "storage", "min_gbps_per_gpu": 20, "separation": "shared"})
    ranges = sensitivity(inputs(content), Asked(), Settings(), Clock(None))
    assert ranges.conflicts and ranges.conflicts == solved(content).conflicts
