"""``objective: usd_per_effective_gpu``: the least of servers and network over GPUs that work, by full enumeration."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.answer import headline, proof_line
from fabopt.output.terminal.workload import needs_line
from fabopt.problem.demand import case_workload
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.schema.design import Design
from fabopt.search import cost_per_gpu
from fabopt.search.cost_per_gpu import RatioSearch, cents_per_effective_gpu
from fabopt.search.decision import stressed
from fabopt.search.shortlist import Shortlist, shortlist_of
from fabopt.solution import optimize
from fabopt.solution.formulation_text import formulation_text
from fabopt.study.front import pareto
from fabopt.study.front.finder import Finder
from fabopt.study.front.fronts import objectives_of, pareto_front
from fabopt.study.front.measures import MEASURES
from fabopt.study.sensitivity.ranges import Asked, check_asked
from fabopt.study.sweep import sweep as sweeps
from fabopt.units import usd
from fabopt.verify import verify
from fabopt.workload import many
from fabopt.workload.deadline import CostTimesStep, Deadline
from fabopt.workload.many import FabricBandwidths, StepTimes
from fabopt.workload.pace import pace_of_run
from fabopt.workload.timing import FabricBandwidth, step_on
from tests.oracles.brute_effective import timed
from tests.oracles.brute_front import undominated
from tests.samples.bases import designed
from tests.samples.random_cases import generate
from tests.samples.small import Json, comparable
from tests.workload.test_workload_designs import case, experts

# seeds whose best design is mostly neither the cheapest nor the fastest one; linear 27 counts servers as spent
SEEDS = {"linear": (0, 2, 7, 8, 13, 17, 18, 20, 22, 27), "three_tier": (3, 4, 5, 6, 7, 10)}
PAIRS = (
    ("capex_usd", "gpu_utilization"), ("capex_usd", "usd_per_effective_gpu"),
    ("gpu_utilization", "usd_per_effective_gpu"), ("power_w", "usd_per_effective_gpu"),
    ("usd_per_effective_gpu", "switches"), ("gbps_per_gpu", "usd_per_effective_gpu"),
)  # fmt: skip
OPEN = {"min_gbps_per_gpu": 0.001, "max_oversubscription": 1000}
# the least alone decides
LEAST = {"robust-designs": False}
ARCHITECTURE = {
    "layers": 8, "hidden": 4096, "heads": 32, "feed_forward": 16384, "vocabulary": 32000, "sequence": 2048
}  # fmt: skip


def trains(parts: Json, content: Json, seed: int, straddles: bool = False) -> tuple[Json, Json]:
    """The catalog and the case with GPUs that compute, priced servers, and a model whose ranks are split somehow."""
    dice = random.Random(f"effective-{seed}")
    server = next(one for one in parts["servers"] if one["id"] == content["server"])
    server |= {
        "price_usd": dice.choice([500, 5_000, 50_000]) * server["gpus"],
        "gpu_peak_tflops": {"bf16": dice.choice([100, 400, 1000])},
        "scale_up": {"domain_gpus": server["gpus"], "gbps_per_gpu": 3600},
    }
    for switch in parts["switches"]:
        switch["features"] = dice.choice([["sharp"], []])
    gpus = content["servers"] * server["gpus"]
    ways = [way for way in (1, 2, 4) if gpus % way == 0]
    plan = {"batch": 8 * gpus, "pipeline": dice.choice(ways), "zero_stage": dice.choice([0, 1])}
    plan["overlap"] = {"data": dice.choice([0, 0.5, 1])}
    if straddles:
        # gradients are shared by neighbours: groups of leaves that they do not tile cut them
        plan |= {"pipeline": max(way for way in (1, 2, 3, 4) if gpus % way == 0), "zero_stage": 0}
        plan["order"] = ["tensor", "context", "data", "pipeline"]
    model = {"name": "acme", "architecture": ARCHITECTURE, "plan": plan, "sources": [{"url": "a test"}]}
    fabric = {**content["fabrics"][0], **OPEN}
    content = {**content, "fabrics": [fabric], "workload": {"model": model}, "objective": "usd_per_effective_gpu"}
    content["workload"]["gpu_utilization"] = dice.choice([0.2, 0.5])
    return parts, {**content, "rules": {**content.get("rules", {}), **LEAST}}


def every(parts: Json, content: Json) -> list[dict[str, Any]]:
    """The metrics of all designs that there are."""
    return _every(json.dumps(parts), json.dumps(content))


@cache
def _every(parts: str, content: str) -> list[dict[str, Any]]:
    read = inputs_from_objects(json.loads(content), json.loads(parts))
    problem = problem_of(read.case, read.catalog)
    work = case_workload(problem.case, problem.server)
    assert work is not None
    return list(timed(json.loads(parts), json.loads(content), work))


def solved(content: Json, parts: Json | None = None) -> Design:
    return designed(parts, content)


@pytest.mark.long(but_every=4)
@pytest.mark.long("linear-7", "linear-17", "linear-20", "three_tier-4", "three_tier-5", "linear-13", "linear-0")
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in SEEDS.items() for seed in seeds])
def test_nothing_that_could_be_built_has_a_lower_ratio(family: str, seed: int) -> None:
    parts, content = trains(*generate(family, seed), seed)
    best = min(every(parts, content), key=lambda one: (one["ratio"], one["capex_usd"]))
    design = solved(content, parts)
    assert design.status == "optimal" and design.totals is not None
    assert design.objective.value == design.objective.bound == usd(best["usd_per_effective_gpu"])
    assert design.totals.capex_usd == usd(best["capex_usd"])
    assert [check.detail for check in design.checks if not check.ok] == []


@pytest.mark.long("linear-2", "linear-13")
@pytest.mark.parametrize(("family", "seed"), [("linear", 2), ("linear", 13), ("three_tier", 6)])
def test_designs_that_groups_straddle_are_no_better_than_they_are(family: str, seed: int) -> None:
    """More servers below a leaf may be worse than fewer, which groups tile: bounds of the search stay below."""
    parts, content = trains(*generate(family, seed), seed, straddles=True)
    best = min(every(parts, content), key=lambda one: (one["ratio"], one["capex_usd"]))
    design = solved(content, parts)
    assert design.status == "optimal" and design.totals is not None
    assert design.objective.value == usd(best["usd_per_effective_gpu"])
    assert design.totals.capex_usd == usd(best["capex_usd"])


@pytest.mark.long("linear-7", "linear-0")
@pytest.mark.parametrize(
    ("family", "seed"), [("linear", 0), pytest.param("linear", 7, marks=pytest.mark.slow), ("three_tier", 7)]
)
def test_fronts_of_the_ratio_are_those_of_full_enumeration(family: str, seed: int) -> None:
    parts, content = trains(*generate(family, seed), seed)
    read = inputs_from_objects(content, parts)
    finder = Finder(problem_of(read.case, read.catalog), Settings(), Clock(None))
    found = every(parts, content)
    for pair in PAIRS:
        front = pareto.front(finder, [MEASURES[name] for name in pair], None, lambda met: None)
        assert front.is_whole
        grades = {tuple(met.grades[name] for name in pair) for met in front.points}
        assert grades == undominated(found, pair), pair


@pytest.mark.long(but=("5",))
@pytest.mark.parametrize("kept", [many.MOST_KNOWN, 5])
def test_many_steps_are_those_of_one_at_a_time(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random networks, with and without reduction, of models with every kind of calls, however many are kept."""
    monkeypatch.setattr(many, "MOST_KNOWN", kept)
    dice = random.Random(7)
    for plan in ({}, {"expert": 16}, {"tensor": 16}, {"pipeline": 4, "context": 2, "zero_stage": 3}):
        read = inputs_from_objects(
            case({"model": experts(**plan), "max_exposed_communication": 0.99}) | {"servers": 16}
        )
        work = case_workload(read.case, next(iter(read.catalog.servers)))
        assert work is not None
        for reduces in (False, True):
            leaf = [Fraction(400_000, dice.randint(1, 9)) for _ in range(20)]
            pod = [rate / dice.randint(1, 9) for rate in leaf]
            groups = [8 * dice.randint(1, 16) for _ in leaf]
            pods = [group * dice.randint(1, 4) for group in groups]
            rows = zip(leaf, pod, groups, pods, strict=True)
            one = [float(step_on(work, FabricBandwidth(Fraction(400_000), *row, reduces)).step_s) for row in rows]
            rates = [np.array(rates, dtype=float) for rates in (leaf, pod)]
            networks = FabricBandwidths(400_000.0, *rates, np.array(groups), np.array(pods), reduces)
            pace = pace_of_run(work)
            some = pace.steps_s(networks.take(np.array([7, 2]))).tolist()
            assert StepTimes(work).step_s(networks).tolist() == pytest.approx(one, rel=1e-12)
            assert pace.steps_s(networks).tolist() == pytest.approx(one, rel=1e-12) and some == [
                pytest.approx(one[place], rel=1e-12) for place in (7, 2)
            ]


@pytest.mark.parametrize("plan", [{}, {"expert": 16}, {"pipeline": 4, "context": 2, "zero_stage": 3}])
def test_no_network_is_worth_more_than_all_its_nics_give(plan: Json) -> None:
    """Random networks with the same NICs, whatever is above them: none may cost more, at two paces at once."""
    dice = random.Random(11)
    read = inputs_from_objects(case({"model": experts(**plan), "max_exposed_communication": 0.99}) | {"servers": 16})
    work = case_workload(read.case, next(iter(read.catalog.servers)))
    assert work is not None
    own, stress = pace_of_run(work), stressed(pace_of_run(work))
    hours = Fraction(3600)
    within = Deadline(stress, hours, product=CostTimesStep(1e6, 9e7))
    deadline = Deadline(own, hours, also=within, product=CostTimesStep(1e6, 8e7))
    for injection in (Fraction(25_000), Fraction(400_000)):
        most = deadline.most_cost_at(injection, 128, False)
        rates = float(injection) / np.array([dice.uniform(1, 9) for _ in range(20)])
        groups = np.array([8 * dice.choice((1, 2, 3, 8, 16)) for _ in range(20)])
        pods = np.minimum(2 * groups, 128)
        networks = FabricBandwidths(float(injection), rates, rates / 2, groups, pods, False)
        assert deadline.most_cost(networks).max() <= most < np.inf
    assert replace(deadline, most_s=Fraction(1, 10**6)).most_cost_at(Fraction(400_000), 128, False) == -np.inf


def picked(family: str, seed: int, **changes: Any) -> Design:
    """The answer to a random case with other keys."""
    parts, content = trains(*generate(family, seed), seed)
    return solved({**content, **changes}, parts)


def test_the_cheapest_network_is_the_wrong_one_where_gpus_wait_for_it() -> None:
    """Seed 0: GPUs of $5,000 and more that work the more are worth a dearer network; seed 8: none is faster."""
    for seed, dearer in ((0, True), (8, False)):
        best, cheapest = picked("linear", seed), picked("linear", seed, objective="capex_usd")
        assert best.totals is not None and cheapest.totals is not None
        assert (best.totals.capex_usd > cheapest.totals.capex_usd) == dearer
        assert best.workload is not None and cheapest.workload is not None
        assert best.objective.value == best.workload.usd_per_effective_gpu
        assert ((best.objective.value or 0) < (cheapest.workload.usd_per_effective_gpu or 0)) == dearer


def ratio(workload: Json | None = None, servers: int = 16, **keys: Any) -> Design:
    """The answer on the tiny catalog with fast servers."""
    content = case(workload, **keys) | {"servers": servers, "objective": "usd_per_effective_gpu", "rules": LEAST}
    return solved(content)


@pytest.mark.long
def test_no_limit_makes_the_ratio_better() -> None:
    found = [ratio({"max_exposed_communication": most}).objective.value or 0 for most in (0.01, 0.03, 0.2)]
    free = ratio()
    assert free.objective.value is not None
    assert found == sorted(found, reverse=True) and free.objective.value <= found[-1]
    tapered = [ratio(max_oversubscription=most).objective.value or 0 for most in (1, 2, 8)]
    assert tapered == sorted(tapered, reverse=True) and free.objective.value <= tapered[-1]
    assert free.totals is not None
    budget = round(free.totals.capex_usd * 0.9)
    content = case() | {"servers": 16, "objective": "usd_per_effective_gpu", "rules": LEAST}
    content["limits"] = {"budget_usd": budget}
    poorer = solved(content)
    assert poorer.totals is not None and poorer.totals.capex_usd <= budget
    assert poorer.objective.value is not None and poorer.objective.value > free.objective.value


@pytest.mark.long("linear-2-1.0", "linear-13--0.5")
@pytest.mark.parametrize(
    ("family", "seed", "spare"), [("linear", 13, -0.5), ("linear", 2, 1.0), ("three_tier", 6, 0.0)]
)
def test_shortlists_leave_out_nothing_that_is_better(
    family: str, seed: int, spare: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that ends below what any design comes to is made again; a long one changes nothing."""
    parts, content = trains(*generate(family, seed), seed)
    best = min(every(parts, content), key=lambda one: (one["ratio"], one["capex_usd"]))
    made: list[Shortlist] = []

    def make(*args: Any) -> Shortlist | None:
        found = shortlist_of(*args)
        made.extend([] if found is None else [found])
        return found

    monkeypatch.setattr(cost_per_gpu, "NEAR_ENOUGH", spare)
    monkeypatch.setattr(cost_per_gpu, "shortlist_of", make)
    design = solved(content, parts)
    assert design.status == "optimal" and design.objective.value == usd(best["usd_per_effective_gpu"])
    # the first may be of equal groups alone
    whole = [shortlist for shortlist in made if shortlist.fabric.leaf_groups.last == made[-1].fabric.leaf_groups.last]
    assert len(whole) == (1 if spare > 0 else 2)


@pytest.mark.long(but=("three_tier-6-power_w",))
@pytest.mark.parametrize(
    ("family", "seed", "limit"),
    [
        ("linear", 2, "budget_usd"),
        ("linear", 13, "power_w"),
        ("three_tier", 6, "budget_usd"),
        ("three_tier", 6, "power_w"),
    ],
)
def test_limits_leave_the_best_of_what_they_allow(family: str, seed: int, limit: str) -> None:
    """Half of all designs are beyond the limit, the best without it among them."""
    parts, content = trains(*generate(family, seed), seed)
    metric, unit = ("capex_usd", 100) if limit == "budget_usd" else ("power_w", 1000)
    found = sorted(every(parts, content), key=lambda one: (one["ratio"], one["capex_usd"]))
    most = min(found[0][metric] - 1, found[len(found) // 2][metric]) // unit
    best = next(one for one in found if one[metric] <= most * unit)
    design = solved({**content, "limits": {limit: most}}, parts)
    assert design.status == "optimal" and design.totals is not None
    assert design.objective.value == design.objective.bound == usd(best["usd_per_effective_gpu"])
    assert design.totals.capex_usd == usd(best["capex_usd"])


@pytest.mark.long("linear-7")
@pytest.mark.parametrize(("family", "seed"), [("linear", 7), ("three_tier", 6)])
def test_other_fabrics_cost_what_they_cost_alone(family: str, seed: int) -> None:
    parts, content = trains(*generate(family, seed), seed)
    storage = {"name": "files", "role": "storage", "tiers": [1, 2], **OPEN}
    alone = {key: value for key, value in content.items() if key not in ("workload", "rules")}
    aside = solved({**alone, "fabrics": [storage], "objective": "capex_usd"}, parts).totals
    assert aside is not None
    servers = 100 * next(one for one in parts["servers"] if one["id"] == content["server"])["price_usd"]

    def with_files(one: dict[str, Any]) -> Fraction:
        spent = content["servers"] * servers + one["capex_usd"]
        return Fraction(one["ratio"] * (spent + round(100 * aside.capex_usd)) / spent)

    best = min(every(parts, content), key=with_files)
    design = solved({**content, "fabrics": [*content["fabrics"], storage]}, parts)
    assert design.status == "optimal"
    assert design.objective.value == usd(round(with_files(best)))


@pytest.mark.long
def test_only_a_limit_that_is_given_sets_demands() -> None:
    """The default of 5 % is for cases whose network is as cheap as it keeps that; a ratio weighs it."""
    free, given = ratio(), ratio({"max_exposed_communication": 0.05})
    assert free.case.content["workload"]["max_exposed_communication"] == 1
    assert free.case.content["fabrics"][0]["min_gbps_per_gpu"] == 0.001
    assert given.case.content["workload"]["max_exposed_communication"] == 0.05
    assert given.case.content["fabrics"][0]["min_gbps_per_gpu"] > 1
    assert given.workload is not None and given.workload.exposed_communication <= 0.05
    assert [check for one in (free, given) for check in one.checks if not check.ok] == []


@pytest.mark.parametrize("servers", [4, pytest.param(16, marks=pytest.mark.long)])
def test_counted_servers_cost_the_same(servers: int) -> None:
    """S is part of capex with ``include_servers``, and beside it without: the ratio is one."""
    content = case() | {"servers": servers, "objective": "usd_per_effective_gpu"}
    assert solved(content).objective.value == solved(content | {"include_servers": True}).objective.value


@pytest.mark.long
@pytest.mark.parametrize("engine", ["highs", "cbc"])
def test_every_engine_gives_the_same_design(engine: str) -> None:
    parts, content = trains(*generate("linear", 0), 0)
    read = inputs_from_objects(content, parts)
    one = optimize.solve(read, alternatives_s=0)
    assert comparable(optimize.solve(read, engine=engine, alternatives_s=0)) == comparable(one)
    assert comparable(optimize.solve(read, prune=False, alternatives_s=0)) == comparable(one)


def test_a_stopped_search_says_what_nothing_is_below() -> None:
    parts, content = trains(*generate("linear", 17), 17)
    read = inputs_from_objects(content, parts)
    best = optimize.solve(read, alternatives_s=0).objective.value
    problem, clock = problem_of(read.case, read.catalog), Clock(None)
    found = RatioSearch(problem, Settings(progress=lambda text: clock.stop() if "so far" in text else None), clock)
    stopped = found.run()
    assert stopped.optimum.verdict == "feasible" and stopped.cents is not None and stopped.bound is not None
    assert best is not None and stopped.bound <= 100 * best + 1 and stopped.bound < stopped.cents


def test_time_that_is_over_early_leaves_a_design_that_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheapest of all has next to no uplinks; what is known before all candidates are listed is not that one."""

    def stopped(*args: Any) -> None:
        raise StoppedError

    read = inputs_from_objects(
        case({"model": experts(expert=16)}) | {"servers": 16, "objective": "usd_per_effective_gpu"}
    )
    problem = problem_of(read.case, read.catalog)
    whole = RatioSearch(problem, Settings(), Clock(None)).run()
    cheapest = min(whole.met, key=lambda one: one.value or 0)
    monkeypatch.setattr(RatioSearch, "_listed", stopped)
    found = RatioSearch(problem, Settings(), Clock(None)).run()
    assert found.optimum.verdict == "feasible" and found.cents is not None and whole.cents is not None
    assert cents_per_effective_gpu(problem, list(cheapest.picked)) > 5 * whole.cents
    assert found.cents <= whole.cents * Fraction(6, 5)


def test_a_changed_value_is_found_out() -> None:
    design = ratio()
    assert design.objective.value is not None
    wrong = design.objective.model_copy(update={"value": design.objective.value - 1, "bound": 0})
    failed = [check.name for check in verify(design.model_copy(update={"objective": wrong})) if not check.ok]
    assert "objective_matches_totals" in failed


@pytest.mark.long
def test_other_kinds_are_compared_by_the_ratio() -> None:
    content = case() | {"servers": 16, "objective": "usd_per_effective_gpu", "rules": LEAST}
    design = optimize.solve(inputs_from_objects(content))
    assert design.alternatives and design.objective.value is not None
    for one in design.alternatives:
        assert one.objective >= design.objective.value
        assert one.objective_delta == pytest.approx(one.objective - design.objective.value)


@pytest.mark.long
def test_sweeps_answer_a_ratio_like_any_objective() -> None:
    content = case() | {"objective": "usd_per_effective_gpu", "rules": LEAST}
    grid = sweeps.grid_of(inputs_from_objects(content), None, ["servers=4,16"])
    execution = sweeps.Execution()
    empty = sweeps.empty_front(inputs_from_objects(content), grid)
    front = sweeps.sweep(
        inputs_from_objects(content), grid, execution, None, Settings(), Clock(None), lambda *told: None
    )  # fmt: skip
    assert [one.metric for one in empty.objectives] == ["usd_per_effective_gpu"]
    assert [one.objective.value for one in front.points] == [ratio(servers=4).objective.value, ratio().objective.value]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"workload": {"profile": "mixed"}}, "objective: the case has no model to say how long GPUs wait"),
        ({"fabrics": [{"name": "files", "role": "storage"}]}, "objective: the case has no fabric of role compute"),
        ({"fabrics": [{"name": "compute", "topologies": ["torus"]}]}, "torus"),
        (
            {"fabrics": [{"name": "compute"}, {"name": "files", "role": "storage", "separation": "any"}]},
            r"fabrics\[1\].separation: the ratio of the objective is not compared between separations",
        ),
    ],
)
def test_what_the_ratio_takes_is_asked_for(changes: Json, said: str) -> None:
    with pytest.raises(InputError, match=said):
        inputs_from_objects({**case(), "objective": "usd_per_effective_gpu", **changes})


def test_servers_without_a_price_are_refused() -> None:
    parts, content = trains(*generate("linear", 0), 0)
    del next(one for one in parts["servers"] if one["id"] == content["server"])["price_usd"]
    with pytest.raises(InputError, match="objective: box has no price_usd, and GPUs that wait cost nothing then"):
        inputs_from_objects(content, parts)
    read = inputs_from_objects({**content, "objective": "capex_usd"}, parts)
    traded = objectives_of(["capex_usd", "usd_per_effective_gpu"], [], None)
    with pytest.raises(InputError, match="--minimize: box has no price_usd"):
        pareto_front(read, traded, None, Settings(), Clock(None), lambda met: None)


@pytest.mark.parametrize("metric", ["gpu_utilization", "usd_per_effective_gpu"])
def test_fronts_of_a_step_are_of_families_with_tiers(metric: str) -> None:
    words = [metric] if metric.startswith("usd") else []
    traded = objectives_of(["capex_usd", *words], [] if words else [metric], None)
    read = inputs_from_objects(case(topologies=["clos", "torus"]))
    with pytest.raises(InputError, match="this is not searched for over torus"):
        pareto_front(read, traded, None, Settings(), Clock(None), lambda met: None)


def test_what_a_ratio_is_not_worked_out_for_is_refused() -> None:
    read = inputs_from_objects(case() | {"objective": "usd_per_effective_gpu"})
    with pytest.raises(InputError, match="objective: a ratio is no linear program"):
        formulation_text(read, "lp")
    with pytest.raises(InputError, match="objective: price ranges of a ratio are not worked out"):
        check_asked(Asked((), ()), read)
    with pytest.raises(InputError, match="this is not traded against two others"):
        objectives_of(["capex_usd", "power_w", "usd_per_effective_gpu"], [], 9)


def test_the_summary_names_the_ratio() -> None:
    design = ratio()
    assert design.workload is not None
    assert "the least servers and network per GPU that works of any Clos" in headline(design)
    assert "cost per effective GPU $" in proof_line(design)
    assert needs_line(design.workload).startswith("acme-8 is given no least bandwidth")
