"""``objective: usd_per_effective_gpu``: the least of servers and network over GPUs that work, by full enumeration."""

from __future__ import annotations

import random
from typing import Any

import pytest

from fabopt import optimize
from fabopt.clock import Clock, Settings
from fabopt.demand import case_workload
from fabopt.front import pareto
from fabopt.front.finder import Finder
from fabopt.front.measures import MEASURES
from fabopt.problem import problem_of
from fabopt.read import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.units import usd
from tests.brute_effective import timed
from tests.brute_front import undominated
from tests.random_cases import generate
from tests.small import Json

# seeds whose best design is mostly neither the cheapest nor the fastest one
SEEDS = {"linear": (0, 2, 7, 8, 13, 17, 18, 20, 22), "three_tier": (3, 4, 5, 6, 7, 10)}
PAIRS = (
    ("capex_usd", "gpu_utilization"), ("capex_usd", "usd_per_effective_gpu"),
    ("gpu_utilization", "usd_per_effective_gpu"), ("power_w", "usd_per_effective_gpu"),
    ("usd_per_effective_gpu", "switches"), ("gbps_per_gpu", "usd_per_effective_gpu"),
)  # fmt: skip
OPEN = {"min_gbps_per_gpu": 0.001, "max_oversubscription": 1000}
ARCHITECTURE = {
    "layers": 8, "hidden": 4096, "heads": 32, "feed_forward": 16384, "vocabulary": 32000, "sequence": 2048
}  # fmt: skip


def trains(parts: Json, content: Json, seed: int) -> tuple[Json, Json]:
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
    model = {"name": "acme", "architecture": ARCHITECTURE, "plan": plan, "sources": [{"url": "a test"}]}
    fabric = {**content["fabrics"][0], **OPEN}
    content = {**content, "fabrics": [fabric], "workload": {"model": model}, "objective": "usd_per_effective_gpu"}
    content["workload"]["gpu_utilization"] = dice.choice([0.2, 0.5])
    return parts, content


def every(parts: Json, content: Json) -> list[dict[str, Any]]:
    """The metrics of all designs that there are."""
    read = inputs_from_objects(content, parts)
    problem = problem_of(read.case, read.catalog)
    work = case_workload(problem.case, problem.server)
    assert work is not None
    return list(timed(parts, content, work))


def solved(content: Json, parts: Json | None = None) -> Design:
    return optimize.solve(inputs_from_objects(content, parts), alternatives=False)


@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in SEEDS.items() for seed in seeds])
def test_nothing_that_could_be_built_has_a_lower_ratio(family: str, seed: int) -> None:
    parts, content = trains(*generate(family, seed), seed)
    best = min(every(parts, content), key=lambda one: (one["ratio"], one["capex_usd"]))
    design = solved(content, parts)
    assert design.status == "optimal" and design.totals is not None
    assert design.objective.value == design.objective.bound == usd(best["usd_per_effective_gpu"])
    assert design.totals.capex_usd == usd(best["capex_usd"])
    assert [check.detail for check in design.checks if not check.ok] == []


@pytest.mark.parametrize(("family", "seed"), [("linear", 0), ("linear", 7), ("linear", 17), ("three_tier", 7)])
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
