"""Steps and services with the network's own latency: by hand, over published runs, farther apart, and in files."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.serving import serving
from fabopt.output.terminal.workload import workload as workload_statement
from fabopt.schema.design import Design
from fabopt.schema.facts import Delay, Facts
from fabopt.schema.prediction import PathTimes
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.workload.collectives import Algorithm, Operation, Spread, network_steps, running
from fabopt.workload.on_paths import COUNTED_NS, PlacePath, on_paths
from fabopt.workload.timing import PLACES, step_on
from tests.mutations import document_of, rehashed
from tests.published_runs import latest_runs, runs
from tests.samples.shipped import shipped
from tests.samples.small import Json
from tests.samples.workload_samples import network
from tests.workload.test_workload_designs import case

CHECK = "own_latency_is_recounted"
RULES: list[Json] = [
    {"part": "nic", "ns": 550}, {"part": "module", "ns": 100}, {"part": "cable", "ns": 0}, {"part": "metre", "ns": 5},
]  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "algorithm", "domains", "steps"),
    [
        ("all-reduce", "ring", 4, 6), ("all-gather", "ring", 4, 3), ("all-reduce", "tree", 9, 6),
        ("all-reduce", "in-network", 4, 1), ("all-to-all", "direct", 8, 1), ("all-reduce", "ring", 1, 0),
        ("send", "direct", 2, 1),
    ],
)  # fmt: skip
def test_each_step_over_the_network_takes_that_much_more(
    operation: Operation, algorithm: Algorithm, domains: int, steps: int
) -> None:
    spread, vector = Spread(8 * domains, 8, domains, 8), Fraction(2**20)
    own = spread._replace(further_s=Fraction(1, 10**6))
    times = (running(operation, algorithm, "Simple", vector, one, "hopper").latency_s for one in (own, spread))
    assert network_steps(operation, algorithm, domains) == steps
    assert next(times) - next(times) == Fraction(steps, 10**6)


def paths(ns: Fraction) -> list[PlacePath]:
    return [PlacePath(place, ns, ()) for place in PLACES[1:]]


def test_published_runs_move_little() -> None:
    """The time that constants count changes no run; three tiers, of Quantum-2 and of slow Ethernet, all by little."""
    for run in (*runs(), *latest_runs()):
        there = network(400_000, run.work.domain_gpus, run.work.domain_gpus)
        step_s = step_on(run.work, there).step_s
        assert step_on(run.work, on_paths(there, paths(COUNTED_NS))).step_s == step_s
        for ns, most in ((1944, Fraction("0.0036")), (5 * 850 + 800, Fraction("0.018"))):
            assert step_s <= step_on(run.work, on_paths(there, paths(Fraction(ns)))).step_s <= step_s * (1 + most)


@cache
def designed(switch_ns: float | None) -> Design:
    """The case of eight servers on switches that take so long; None: without a figure."""
    rows = [row for row in [{"part": "switch", "ns": switch_ns}, *RULES] if row["ns"] is not None]
    facts, inputs = Facts(latency=tuple(map(Delay.model_validate, rows))), inputs_from_objects(case())
    return optimize.solve(replace(inputs, catalog=inputs.catalog.model_copy(update={"facts": facts})), alternatives_s=0)


def times_of(design: Design) -> PathTimes:
    assert design.workload is not None and design.workload.on_paths is not None
    return design.workload.on_paths


def test_slow_switches_make_a_longer_step_of_the_same_design() -> None:
    near, far = designed(250), designed(25_000)
    assert all(check.ok for design in (near, far) for check in design.checks)
    own, there = times_of(near), times_of(far)
    assert own.step_s is not None and there.step_s is not None and own.step_s < there.step_s
    links_us = 2 * 5 * 3 / 1000
    assert (own.one_way_us["leaf"], there.one_way_us["leaf"]) == pytest.approx((0.25 + links_us, 25 + links_us))
    assert near.workload is not None and far.workload is not None and near.workload.step_s == far.workload.step_s
    statement = workload_statement(near)
    assert statement is not None and any("own latency" in str(said) for said in statement.said)


def test_a_part_without_a_figure_is_named_and_no_time_is_told() -> None:
    times = times_of(designed(None))
    assert times.step_s is None and times.unknown
    statement = workload_statement(designed(None))
    assert statement is not None and any("times are not known" in str(said) for said in statement.said)


@pytest.mark.parametrize(
    ("key", "value"), [("ttft_s", 1), ("tpot_s", 1), ("one_way_us", {"leaf": 1}), ("unknown", ["x"])]
)
def test_a_file_that_says_otherwise_is_refused(key: str, value: object) -> None:
    design = shipped("deepseek-v3-serving-256")
    assert design.serving is not None and design.serving.on_paths is not None
    document = document_of(design)
    document["serving"]["on_paths"][key] = value
    checks = verify(Design.model_validate_json(json.dumps(rehashed(document))))
    assert [check.name for check in checks if not check.ok] == [CHECK]
    statement = serving(design)
    assert statement is not None and any("own latency" in str(said) for said in statement.said)
