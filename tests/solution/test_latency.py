"""The longest round trip that a case allows: kept by the optimum, counted again, and named where it clashes."""

from __future__ import annotations

import copy
import random
from math import inf
from typing import Any

import pytest

from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.schema.fabric import MOST_US
from fabopt.solution import optimize
from fabopt.study.front.fronts import pareto_front
from fabopt.study.front.measures import MEASURES
from fabopt.verify import verify
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.latency import Path, paths_of
from tests.oracles.brute_latency import solve_in_time
from tests.samples.adapter import run
from tests.samples.random_cases import generate
from tests.samples.small import Json, assert_proven, case, catalog, comparable, inputs, solved, usd

KEY = "fabrics.compute.max_latency_us"
# 50 ns a NIC, 250 a switch, fibre with 30 for its modules; cables of copper have nothing inside.
ROWS: list[Json] = [
    {"part": "nic", "ns": 50.0}, {"part": "switch", "of": "X1", "ns": 250.0}, {"part": "module", "ns": 30.0},
    {"part": "cable", "of": "DAC", "ns": 0.0}, {"part": "metre", "of": "copper", "ns": 4.6},
    {"part": "metre", "of": "fibre", "ns": 4.96},
]  # fmt: skip
RUNS = {"distances_m": {"server-leaf": 3, "leaf-spine": 30}}


def parts(rows: list[Json] = ROWS) -> Json:
    content = catalog()
    content["facts"] = {"latency": rows}
    for switch in content["switches"]:
        switch["asic"] = "X1"
    return content


def timed(
    most_us: float | None, rows: list[Json] = ROWS, prune: bool = True, runs: Json = RUNS, **fabric: Any
) -> Design:
    content = {**case({"max_latency_us": most_us, **fabric}), "site": runs}
    return solved(content, parts(rows), prune=prune)


def farthest(design: Design) -> Path:
    return [*paths_of(Embedded(design), design.fabrics[0])][-1]


def test_thinner_time_costs_more_and_is_proven() -> None:
    """The cheapest uplinks are fibres of 50 m; 30 m that cost more are 2 x 2 x 20 x 4.96 = 396.8 ns nearer."""
    free, tight = timed(None), timed(2.5)
    assert farthest(free).round_trip_ns - farthest(tight).round_trip_ns == pytest.approx(4 * 20 * 4.96)
    assert usd(tight) > usd(free)
    assert_proven(tight)
    assert comparable(tight) == comparable(timed(2.5, prune=False))
    (check,) = (check for check in tight.checks if check.name == "paths_keep_latency")
    assert f"of {2.5:g}" in check.detail


def test_what_the_limit_costs_is_a_row() -> None:
    content = {**case({"max_latency_us": 2.5}), "site": RUNS}
    design = optimize.solve(inputs(content, parts()), alternatives_s=30)
    (row,) = (row for row in design.alternatives if row.what == "latency")
    assert row.change == {KEY: None} and row.capex_usd == usd(timed(None)) < usd(design)


@pytest.mark.long
def test_a_run_that_takes_too_long_names_the_limit_and_no_part() -> None:
    """50 m of fibre are too far in 2.5 us; parts reach them, as the answer without the limit shows."""
    runs = {"distances_m": {"server-leaf": 3, "leaf-spine": 40}}
    assert_proven(timed(None, runs=runs))
    told = {one.limit: one for one in timed(2.5, runs=runs).conflicts}
    run_of = told["site.distances_m.leaf-spine"]
    assert KEY in told and run_of.needed == 30
    assert f"round trips are within `{KEY}`; parts reach farther" in run_of.detail
    assert "can be bought" not in run_of.detail


def test_a_limit_that_all_keep_changes_nothing() -> None:
    assert usd(timed(1e6)) == usd(timed(None)) and farthest(timed(1e6)) == farthest(timed(None))


def test_a_file_that_takes_longer_is_refused() -> None:
    design = timed(2.5)
    us = farthest(design).round_trip_ns / 1000
    content = copy.deepcopy(design.case.content)
    for most_us, is_kept in ((us, True), (us - 1e-6, False)):
        content["fabrics"][0]["max_latency_us"] = most_us
        said = design.model_copy(update={"case": design.case.model_copy(update={"content": copy.deepcopy(content)})})
        assert next(one.ok for one in verify(said) if one.name == "paths_keep_latency") is is_kept


def test_where_it_leaves_no_design_the_shortest_is_named_and_does() -> None:
    none = timed(2.1)
    conflict = next(one for one in none.conflicts if one.limit == KEY)
    assert (none.status, conflict.value, conflict.direction, conflict.minimal) == ("infeasible", 2.1, "up", True)
    needed = float(str(conflict.needed))
    assert farthest(timed(needed)).round_trip_ns / 1000 == pytest.approx(needed)
    assert conflict.capex_usd == usd(timed(needed))


def test_what_has_no_figure_is_not_chosen() -> None:
    """Without a figure for modules no fibre is known, nor any other link of 30 m."""
    none = timed(1e6, [row for row in ROWS if row["part"] != "module"])
    (conflict,) = (one for one in none.conflicts if one.limit == KEY)
    assert conflict.needed is None and "no figure for module" in conflict.detail and "facts.latency" in conflict.detail
    assert timed(None, []).status == "optimal"


@pytest.mark.long
def test_a_front_has_the_cheapest_design_of_every_round_trip() -> None:
    """Each point is what the case with its round trip as a limit gives, and nothing between two points is cheaper."""
    content = catalog()
    content["facts"] = {"latency": ROWS}
    for switch, ns in zip(content["switches"], (200, 300, 420, 260), strict=False):
        switch["latency_ns"] = ns
    asked = {**case(), "site": RUNS}
    metrics = [MEASURES["capex_usd"], MEASURES["latency_us"]]
    front = pareto_front(inputs(asked, content), metrics, None, Settings(), Clock(None), lambda met: None)
    points = [(point.values["capex_usd"], point.values["latency_us"]) for point in front.points]
    assert front.complete and len(points) > 1 and points == sorted(points)
    assert [us for _, us in points] == sorted((us for _, us in points), reverse=True)
    for (dollars, us), (dearer, nearer) in zip(points, [*points[1:], (inf, 0)], strict=True):
        for most_us, cheapest in ((us, dollars), (round((us + nearer) / 2, 6) if nearer else us - 1e-6, dearer)):
            bound = {**asked, "fabrics": [{**asked["fabrics"][0], "max_latency_us": most_us}]}
            design = solved(bound, content)
            assert (inf if design.totals is None else usd(design)) == cheapest
    assert front.case.content["fabrics"][0]["max_latency_us"] == MOST_US


def a_timed_case(seed: int) -> tuple[Json, Json, float]:
    """A random catalog with figures for most parts, a case, and a limit near what its designs take."""
    dice = random.Random(f"latency {seed}")
    parts, wanted = generate(dice.choice(["linear", "linear", "limited", "three_tier", "procurement"]), seed)
    wanted["fabrics"][0].pop("attachments", None)
    for switch in parts["switches"]:
        switch["latency_ns"] = dice.choice([200, 300, 300, 700, None])
    for cable in parts["cables"]:
        cable["medium"] = dice.choice(["DAC", "DAC", "AEC", "AOC"])
    rows = [
        {"part": "cable", "of": "DAC", "ns": 0.0},
        {"part": "cable", "of": "AEC", "ns": 100.0},
        *ROWS[:3],
        *ROWS[4:],
    ]
    parts["facts"] = {"latency": [row for row in rows if row["part"] in ("nic", "metre") or dice.random() < 0.9]}
    tiers = 2 if dice.random() < 0.7 else dice.choice([1, 3])
    return parts, wanted, round(0.3 + (2 * tiers - 1) * dice.choice([0.4, 0.6, 0.9, 1.4]) + dice.random() * 0.8, 3)


def assert_in_time(seed: int) -> None:
    parts, wanted, most_us = a_timed_case(seed)
    best = solve_in_time(copy.deepcopy(parts), copy.deepcopy(wanted), most_us)
    costs = []
    for most in (most_us, most_us + 0.5, None):
        asked = copy.deepcopy(wanted)
        asked["fabrics"][0]["max_latency_us"] = most
        design = run(copy.deepcopy(parts), asked)
        assert [check for check in design["checks"] if not check["ok"]] == []
        costs.append(inf if design["status"] == "infeasible" else design["objective"]["value"])
        if most == most_us:
            found = None if design["status"] == "infeasible" else round(design["totals"]["capex_usd"] * 100)
            assert found == (None if best is None else best.capex_cents), f"seed {seed}, {most_us} us"
    assert costs == sorted(costs, reverse=True), f"seed {seed}: relaxed it is dearer"


@pytest.mark.long(but=("3",))
@pytest.mark.parametrize("seed", [1, 3])
def test_brute_force(seed: int) -> None:
    assert_in_time(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4, 40))
def test_brute_force_of_many(seed: int) -> None:
    assert_in_time(seed)
