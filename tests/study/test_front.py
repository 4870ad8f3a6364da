"""Fronts are exact: they equal the non-dominated set of every design that there is."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from fabopt.design.points import design_at, spread
from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Front, FrontObjective, FrontPoint, Objective, Totals
from fabopt.solution.single_points import with_single_points
from fabopt.study.front import pareto
from fabopt.study.front.finder import Finder
from fabopt.study.front.fronts import objectives_of, pareto_front
from fabopt.study.front.measures import LATENCY, MEASURES, OF_A_MODEL, least_mbps, others
from fabopt.study.front.pareto import marked
from fabopt.study.sweep.budgets import MostServers, shrinks
from tests.oracles.brute_front import designs, undominated
from tests.samples.random_cases import generate
from tests.samples.small import Json, case, inputs

# seeds with fronts of several points, and few enough designs to look at all of them
SEEDS = {"linear": (2, 8, 16, 17, 18, 21, 22), "three_tier": (6, 7), "attached": (0, 5)}
# figures of a step are of cases with a model, see tests/workload/test_workload_designs.py and
# tests/search/test_cost_per_gpu.py
# and round trips of cases that limit them, see tests/solution/test_latency.py
PAIRS = list(combinations((name for name in MEASURES if name not in (*OF_A_MODEL, LATENCY)), 2))
PAIRS_A_CASE = 6
SMALL = {"switches": {"leaf": ["lean", "small"], "spine": ["small"]}, "nics_per_server": [2, 4]}


def problem(content: Json, parts: Json | None = None) -> Problem:
    found = inputs(content, parts)
    return problem_of(found.case, found.catalog)


def finder(content: Json, parts: Json | None = None) -> Finder:
    return Finder(problem(content, parts), Settings(), Clock(None))


def front(content: Json, *metrics: str, points: int | None = None, parts: Json | None = None) -> pareto.FoundFront:
    chosen = [MEASURES[name] for name in metrics]
    return pareto.front(finder(content, parts), chosen, points, lambda found: None)


def grades(found: pareto.FoundFront, *metrics: str) -> list[tuple[int, ...]]:
    return [tuple(met.grades[name] for name in metrics) for met in found.points]


@pytest.mark.long(but_every=2)
@pytest.mark.long("linear-2", "linear-16", "linear-17", "three_tier-7", "attached-0", "attached-5", "linear-22")
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in SEEDS.items() for seed in seeds])
def test_fronts_are_those_of_full_enumeration(family: str, seed: int) -> None:
    parts, wanted = generate(family, seed)
    every = list(designs(parts, wanted))
    read = inputs_from_objects(wanted, parts)
    one = Finder(problem_of(read.case, read.catalog), Settings(), Clock(None))
    drawn = random.Random(seed)
    for pair in [
        *drawn.sample(PAIRS, PAIRS_A_CASE),
        drawn.choice([pair for pair in PAIRS if "oversubscription" in pair]),
    ]:
        found = pareto.front(one, [MEASURES[name] for name in pair], None, lambda met: None)
        assert found.is_whole
        assert set(grades(found, *pair)) == undominated(every, pair), pair


@pytest.mark.long
@pytest.mark.slow
def test_cables_below_and_above_a_leaf_share_its_cages() -> None:
    """Wires of two ports to four servers and to two spines take 4 + 4 of 7 cages, though their links need 2 + 3."""
    parts, wanted = generate("linear", 9)
    read = inputs_from_objects(wanted, parts)
    one = Finder(problem_of(read.case, read.catalog), Settings(), Clock(None))
    met = one.best([MEASURES["tco_usd"]], {"headroom_servers": 8})
    least = min(found["tco_usd"] for found in designs(parts, wanted) if found["headroom_servers"] >= 8)
    assert met is not None and met.grades["tco_usd"] == least


@pytest.mark.long(but=("pair0",))
@pytest.mark.parametrize("pair", [("capex_usd", "gbps_per_gpu"), ("switches", "cables")])
def test_every_engine_finds_the_same_front(pair: tuple[str, str]) -> None:
    found = {
        engine: pareto_front(
            inputs(case(SMALL, servers=3)), [MEASURES[name] for name in pair], None, Settings(engine), Clock(None),
            lambda met: None,
        )
        for engine in ("cp-sat", "highs")
    }  # fmt: skip
    points = [[point.values for point in one.points] for one in found.values()]
    assert points[0] == points[1]
    assert all(point.status == "optimal" for one in found.values() for point in one.points)


def test_three_metrics_are_not_dominated_by_any_design() -> None:
    parts, wanted = generate("linear", 17)
    read = inputs_from_objects(wanted, parts)
    metrics = ("capex_usd", "power_w", "gbps_per_gpu")
    one = Finder(problem_of(read.case, read.catalog), Settings(), Clock(None))
    found = pareto.front(one, [MEASURES[name] for name in metrics], 9, lambda met: None)
    assert found.points and set(grades(found, *metrics)) <= undominated(designs(parts, wanted), metrics)


def test_points_are_thinned_and_stay_on_the_front() -> None:
    content = case(servers=6)
    whole = grades(front(content, "capex_usd", "power_w"), "capex_usd", "power_w")
    assert len(whole) > 5
    few = front(content, "capex_usd", "power_w", points=4)
    thin = grades(few, "capex_usd", "power_w")
    assert few.complete and not few.is_whole
    assert set(thin) < set(whole) and {whole[0], whole[-1]} <= set(thin)


@pytest.mark.long
def test_as_many_points_as_there_are_is_the_whole_front() -> None:
    content = case(SMALL, servers=5)
    whole = front(content, "capex_usd", "gbps_per_gpu")
    assert front(content, "capex_usd", "gbps_per_gpu", points=len(whole.points)).is_whole


def test_a_front_is_in_the_order_of_its_first_objective() -> None:
    found = grades(front(case(servers=6), "power_w", "capex_usd"), "power_w", "capex_usd")
    assert found == sorted(found) and [capex for _, capex in found] == sorted((c for _, c in found), reverse=True)


def test_the_minimum_of_the_case_is_the_floor() -> None:
    # one card of 400 Gb/s gives 4 GPUs 100 each: from 150 on only two and four cards are left
    floor = front(
        case({**SMALL, "min_gbps_per_gpu": 150, "nics_per_server": "any"}, servers=4), "capex_usd", "gbps_per_gpu"
    )
    assert grades(floor, "gbps_per_gpu") == [(200_000_000,), (400_000_000,)]


def test_limits_of_the_case_hold_on_a_front() -> None:
    free = grades(front(case(servers=6), "capex_usd", "power_w"), "power_w", "capex_usd")
    watts = free[0][0] / 1000
    held = front(case(servers=6, limits={"power_w": watts}), "capex_usd", "power_w")
    assert grades(held, "power_w", "capex_usd") == [one for one in free if one[0] <= watts * 1000]


def test_rates_are_graded_as_files_show_them() -> None:
    # 66.6666666 Gb/s is 66,666,667 kb/s: what rounds to so many is half a kb/s less, in Mb/s
    assert least_mbps(66_666_667) == Fraction(133_333_333, 2000)


@pytest.mark.long(but=("pair1-1",))
@pytest.mark.parametrize(("pair", "most"), [(("capex_usd", "power_w"), 2), (("capex_usd", "gbps_per_gpu"), 1)])
def test_a_stopped_front_keeps_what_is_proven(pair: tuple[str, str], most: int) -> None:
    """Listed part by part, or found point by point."""
    clock = Clock(None)
    content = case({**SMALL, "nics_per_server": "any"}, servers=6)
    one = Finder(problem(content), Settings(), clock)
    seen: list[int] = []

    def stop(found: Any) -> None:
        seen.append(len(found))
        if len(seen) == most:
            clock.stop()

    found = pareto.front(one, [MEASURES[name] for name in pair], None, stop)
    whole = grades(front(content, *pair), *pair)
    assert (len(seen), found.complete, found.is_whole) == (most, False, False)
    assert grades(found, *pair) == whole[: seen[-1]] and seen[-1] < len(whole)


# -- knees ------------------------------------------------------------------------------------------------------------


def a_point(capex: float, rate: float) -> FrontPoint:
    totals = Totals(
        capex_usd=capex, tco_usd=capex, power_w=1, cluster_power_w=None, rack_units=1, switches=1, nics=1,
        transceivers=0, cables=0,
    )  # fmt: skip
    values = {"capex_usd": capex, "gbps_per_gpu": rate}
    return FrontPoint(status="optimal", values=values, objective=Objective(metric="capex_usd"), totals=totals)


TRADE = (FrontObjective(metric="capex_usd", sense="minimize"), FrontObjective(metric="gbps_per_gpu", sense="maximize"))


def test_the_knee_is_the_farthest_from_the_line_between_the_ends() -> None:
    # Scaled to one, the points are (0, 0), (0.2, 0.6), (0.5, 0.8), (1, 1): they bulge by 0, 0.4, 0.3 and 0.
    found = marked([a_point(0, 100), a_point(20, 160), a_point(50, 180), a_point(100, 200)], TRADE)
    assert [point.knee for point in found] == [False, True, False, False]
    assert [point.marginal for point in found] == [None, 0.33, 1.5, 2.5]


def test_a_straight_front_has_no_knee() -> None:
    assert not any(point.knee for point in marked([a_point(0, 1), a_point(1, 2), a_point(2, 3)], TRADE))
    assert not any(point.knee for point in marked([a_point(0, 1), a_point(1, 2)], TRADE))


# -- servers ----------------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("fabric0",))
@pytest.mark.parametrize(
    "fabric",
    [
        {},
        {"tiers": "any", "max_oversubscription": 2},
        {"rails": "any"},
        {"groups": "any"},
        {"groups": "any", "rails": "any"},
    ],
)
def test_one_server_less_never_costs_more(fabric: Json) -> None:
    """What halving the number of servers rests on; docs/fronts.md proves it."""
    content = case({**SMALL, **fabric})
    sizes = MostServers(problem(content), Settings(), Clock(None))
    assert shrinks(sizes.problem)
    costs = [None if met is None else met.grades["capex_usd"] for _, met in map(sizes.at, range(2, 16))]
    known = [cost for cost in costs if cost is not None]
    assert known == sorted(known) and costs == known + [None] * (len(costs) - len(known))


@pytest.mark.long
@pytest.mark.parametrize(
    "fabric", [{}, {"attachments": [{"name": "gate", "ports": 3, "buys": "none"}]}, {"groups": "any", "rails": "any"}]
)
def test_a_budget_buys_the_most_servers(fabric: Json) -> None:
    """Against every number of servers, one after the other."""
    content = case({**SMALL, **fabric}, maximize="servers")
    every = MostServers(problem(content), Settings(), Clock(None))
    costs = {n: met.grades["capex_usd"] for n in range(1, 20) if (met := every.at(n)[1]) is not None}
    sizes = MostServers(problem(content), Settings(), Clock(None))
    for budget in (5_000_000, 10_000_000, 15_000_000, 22_000_000, 10**9):
        affordable = [n for n, cost in costs.items() if cost <= budget]
        bought = sizes.buy(budget)
        if affordable:
            assert bought.graded is not None and bought.problem.servers == max(affordable)
            assert bought.graded.grades["capex_usd"] == costs[max(affordable)]
        else:
            assert bought.graded is None and bought.cheapest is not None
            assert bought.cheapest.grades["capex_usd"] == costs[1]


# -- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minimize", "maximize", "points", "message"),
    [
        (
            ["capx"], ["gbps"], None,
            "--minimize: no such metric; found 'capx'; allowed: capex_usd, tco_usd, power_w, rack_units, cables, "
            "switches, oversubscription, latency_us, usd_per_effective_gpu; did you mean `capex_usd`?\n"
            "--maximize: no such metric; found 'gbps'; allowed: gbps_per_gpu, bisection_gbps_per_gpu, "
            "headroom_servers, least_gpu_utilization, gpu_utilization; did you mean `gbps_per_gpu`?",
        ),
        (
            ["gbps_per_gpu", "capex_usd"], [], None,
            "--minimize: more of this is better; found 'gbps_per_gpu'; allowed: capex_usd, tco_usd, power_w, "
            "rack_units, cables, switches, oversubscription, latency_us, usd_per_effective_gpu; "
            "write --maximize gbps_per_gpu",
        ),
        (
            ["capex_usd"], [], None,
            "pareto: a front trades two or three metrics; found 1; "
            "for example --minimize capex_usd --maximize gbps_per_gpu",
        ),
        (["capex_usd", "capex_usd"], [], None, "--minimize: this metric is given twice; found 'capex_usd'"),
        (["capex_usd", "power_w"], [], 1, "--points: too few; found 1; allowed: 2 or more"),
        (
            ["capex_usd", "power_w"], ["bisection"], None,
            "--points: a front of three metrics has too many points to show them all; "
            "say how many, for example --points 30",
        ),
    ],
)  # fmt: skip
def test_wrong_metrics_are_refused(minimize: list[str], maximize: list[str], points: int | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        objectives_of(minimize, maximize, points)
    assert str(caught.value) == message


def test_a_front_says_why_there_is_none() -> None:
    content = case(servers=6, limits={"budget_usd": 10})
    objectives = objectives_of(["capex_usd"], ["bisection"], None)
    found: Front = pareto_front(inputs(content), objectives, None, Settings(), Clock(None), lambda met: None)
    assert [point.status for point in found.points] == ["infeasible"]
    assert found.points[0].conflicts[0].limit == "limits.budget_usd"


@pytest.mark.long
def test_points_of_the_same_hardware_have_the_same_single_points_of_failure() -> None:
    """What a point takes over from one of the same hardware is what its own wiring says."""
    parts, wanted = generate("linear", 19)
    capex_and_power = [MEASURES["capex_usd"], MEASURES["power_w"]]
    read = inputs_from_objects(wanted, parts)
    found = pareto_front(read, capex_and_power, None, Settings(), Clock(None), lambda *told: None)
    for number in range(1, len(found.points) + 1):
        design = design_at(spread(found), number)
        bare = design.model_copy(update={"single_points_of_failure": None, "worst_rack": None})
        assert design.single_points_of_failure
        assert with_single_points(bare).design == design


def test_no_metric_means_money_and_bandwidth() -> None:
    usual = [MEASURES["capex_usd"], MEASURES["gbps_per_gpu"]]
    assert objectives_of([], [], None) == objectives_of(["Capex"], ["bandwidth"], None) == usual
    left = others(usual).replace(",", "").replace(";", "").split()
    assert all((name in left) == (MEASURES[name] not in usual) for name in MEASURES)


@pytest.mark.parametrize(
    ("fabric", "freed"),
    [
        ({"nics": ["nic-200"]}, "`fabrics.compute.nics: any` would allow 400, for $"),
        ({"nics": ["nic-400"]}, "whichever key of a fabric or limit is set free alone"),
    ],
)
def test_a_front_of_one_point_says_which_key_keeps_it_there(fabric: Json, freed: str) -> None:
    switches = {"leaf": ["small"], "spine": ["small"]}
    content = case({"switches": switches, "nics_per_server": 4, "min_gbps_per_gpu": 1, **fabric})
    chosen = [MEASURES["capex_usd"], MEASURES["gbps_per_gpu"]]
    found = pareto_front(inputs(content), chosen, None, Settings(), Clock(None), lambda designs: None)
    assert len(found.points) == 1 and freed in found.notes[-1]
