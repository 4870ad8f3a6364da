"""What a job has of uplinks: hashed flows, other jobs; and scenarios that the cost of a working GPU is weighed over."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.design import design_bytes
from fabopt.output.terminal.workload import placement_lines
from fabopt.problem.problem import problem_of
from fabopt.schema.design import Design
from fabopt.schema.workload import OtherJob, QueuePairs
from fabopt.units import exact, usd
from fabopt.verify import verify
from fabopt.workload.deadline import Deadline
from fabopt.workload.many import FabricBandwidths, StepTimes
from fabopt.workload.pace import pace_of_run
from fabopt.workload.placement import SENDERS, UPLINKS, hashed_share, uplink_share
from fabopt.workload.timing import step_on
from tests.oracles.brute_effective import timed
from tests.samples.random_cases import generate
from tests.samples.small import Json
from tests.samples.workload_samples import H100, middle_model, network, on
from tests.search.test_cost_per_gpu import solved, trains
from tests.workload.test_workload_designs import case

TRIALS = 4000
SCENARIOS = [
    {"weight": 0.5},
    {"weight": 0.3, "placement": "packed", "other_jobs": 0.25},
    {"weight": 0.2, "spreading": {"queue_pairs": 4}, "gpu_utilization": 0.3},
]


@pytest.mark.parametrize("queue_pairs", [1, 4, 16])
def test_hashed_flows_wait_for_the_fullest_uplink(queue_pairs: int) -> None:
    """Flows thrown at random: the mean load over the expected fullest one."""
    dice = np.random.default_rng(18)
    flows = SENDERS * queue_pairs
    fullest = [np.bincount(dice.integers(0, UPLINKS, flows)).max() for _ in range(TRIALS)]
    assert float(hashed_share(queue_pairs)) == pytest.approx(flows / UPLINKS / np.mean(fullest), rel=0.01)


def test_more_queue_pairs_spread_better() -> None:
    """Derived of the slowest of 32 senders on 32 uplinks, in the literature's figures: 0.29, 0.46, 0.79."""
    shares = [hashed_share(count) for count in (1, 2, 4, 16, 64)]
    assert shares == sorted(shares) and shares[0] < Fraction(3, 10) and shares[-1] < 1
    assert uplink_share("adaptive", 0) == uplink_share(None, 0) == 1
    assert uplink_share(QueuePairs(queue_pairs=4), 0.5) == shares[2] / 2
    listed = (OtherJob(name="ranking", share=0.3), OtherJob(share=0.2))
    assert uplink_share(QueuePairs(queue_pairs=4), listed) == shares[2] / 2


def test_uplinks_that_are_shared_are_slower_and_nics_are_not() -> None:
    """Half of the uplinks is a ratio twice as high."""
    work = on(middle_model(), H100, 256)
    half = replace(work, placing=replace(work.placing, uplinks=Fraction(1, 2)))
    for ratio in (1, 3):
        whole, tapered = (network(50_000, leaf_gpus=32, pod_gpus=256, leaf=leaf) for leaf in (ratio, 2 * ratio))
        assert step_on(half, whole).step_s == step_on(work, tapered).step_s


def test_the_answer_says_what_a_job_has_of_uplinks() -> None:
    shared: Json = {"spreading": {"queue_pairs": 4}, "other_jobs": [{"name": "ranking", "share": 0.3}, {"share": 0.2}]}
    (note,) = (one for one in solved(case(shared)).notes if "above the leaves can carry" in one)
    assert "counted with 23.1 % of" in note and "4 queue pairs" in note and "46.2 % is used" in note
    assert "other jobs take 50 % (ranking 30 %, a job 20 %)" in note
    assert not [one for one in solved(case({"spreading": "adaptive"})).notes if "can carry" in one]


def with_scenarios(family: str, seed: int, straddles: bool) -> tuple[Json, Json]:
    parts, content = trains(*generate(family, seed), seed, straddles)
    content["workload"]["scenarios"] = SCENARIOS
    return parts, content


@pytest.mark.long(but_every=2)
@pytest.mark.long("7-False", "0-False")
@pytest.mark.parametrize(("seed", "straddles"), [(0, False), (2, True), (7, False), (13, True), (22, False)])
def test_nothing_that_could_be_built_costs_less_over_the_scenarios(seed: int, straddles: bool) -> None:
    """Full enumeration: servers and network times the mean of the steps, each timed by itself."""
    parts, content = with_scenarios("linear", seed, straddles)
    read = inputs_from_objects(content, parts)
    problem = problem_of(read.case, read.catalog)
    assert problem.pace is not None
    weights = [exact(one["weight"]) for one in SCENARIOS]
    runs = [run for _, run in problem.pace.runs]
    assert [weight for weight, _ in problem.pace.runs] == weights
    ratios: dict[int, list[Fraction]] = {}
    every = [list(timed(parts, content, run)) for run in runs]
    for number, rows in enumerate(zip(*every, strict=True)):
        assert len({row["capex_usd"] for row in rows}) == 1
        # costs over utilization are proportional to steps, so that their weighted mean is that of the mean step
        ratios[number] = [sum((weight * row["ratio"] for weight, row in zip(weights, rows, strict=True)), Fraction(0))]
    best = min(ratio for (ratio,) in ratios.values())
    design = solved(content, parts)
    assert design.status == "optimal" and design.objective.value == design.objective.bound
    assert design.objective.value == usd(round(best))
    assert [check.detail for check in design.checks if not check.ok] == []
    use = design.workload
    assert use is not None and [one.weight for one in use.scenarios] == [one["weight"] for one in SCENARIOS]
    assert sum("by weight" in line for line in placement_lines(use)) == 1


def test_wrong_scenarios_are_found() -> None:
    parts, content = with_scenarios("linear", 0, False)
    good = json.loads(design_bytes(solved(content, parts)))
    for change in ({"step_s": 1}, {"weight": 0.4}):
        bad = json.loads(json.dumps(good))
        bad["workload"]["scenarios"][0] |= change
        failed = [check.name for check in verify(Design.model_validate_json(json.dumps(bad))) if not check.ok]
        assert failed == ["workload_is_recomputed"]


@pytest.mark.parametrize(
    ("workload", "said"),
    [
        ({"scenarios": [{"weight": 0.5}, {"weight": 0.3}]}, r"found 0.5 \+ 0.3 = 0.8"),
        ({"scenarios": [{"weight": 1.5}]}, "weight"),
        ({"other_jobs": 1}, "other_jobs"),
        ({"other_jobs": [{"share": 0.6}, {"name": "b", "share": 0.5}]}, r"nothing of the uplinks: 0.6 \+ 0.5 = 1.1"),
        ({"other_jobs": [{"name": "b"}]}, "share"),
        ({"spreading": {"queue_pairs": 0}}, "queue_pairs"),
        (
            {"scenarios": SCENARIOS, "placement": "packed", "max_exposed_communication": 0.1},
            "not in a limit on one step",
        ),
    ],
)
def test_what_does_not_come_out_is_refused(workload: Json, said: str) -> None:
    with pytest.raises(InputError, match=said):
        inputs_from_objects(case(workload) | {"objective": "usd_per_effective_gpu"})


def test_scenarios_are_of_the_ratio_only() -> None:
    with pytest.raises(InputError, match=r"workload\.scenarios: scenarios are weighed in one ratio"):
        inputs_from_objects(case({"scenarios": SCENARIOS}))


def test_a_list_of_jobs_is_their_sum() -> None:
    """In the design, too, which keeps the list as it was written."""
    jobs = [{"name": "ranking", "share": 0.3}, {"share": 0.2}]
    content = case({"gpu_utilization": 1, "other_jobs": jobs})
    read = inputs_from_objects(content)
    needs = problem_of(read.case, read.catalog).needs
    alone = inputs_from_objects(case({"gpu_utilization": 1, "other_jobs": 0.5}))
    assert needs == problem_of(alone.case, alone.catalog).needs
    assert read.case.workload is not None
    assert read.case.workload.model_dump()["other_jobs"] == (
        {"name": "ranking", "share": 0.3}, {"name": None, "share": 0.2},
    )  # fmt: skip


def test_hashed_flows_ask_for_more() -> None:
    """What 1:1 cannot carry, faster NICs must."""
    asked: list[Any] = []
    for workload in ({}, {"spreading": {"queue_pairs": 1}}, {"other_jobs": 0.5}):
        read = inputs_from_objects(case({"gpu_utilization": 1, **workload}))
        needs = problem_of(read.case, read.catalog).needs
        assert needs is not None
        asked.append(needs.min_gbps_per_gpu)
    assert asked[0] < asked[2] < asked[1]


def test_shares_of_blocks_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search asks for the same sizes again and again, of leaves and of pods; only new ones are timed."""
    timed_rows: list[int] = []
    step_s = StepTimes.step_s

    def counted(self: StepTimes, networks: FabricBandwidths) -> Any:
        timed_rows.append(len(networks.leaf_mbps))
        return step_s(self, networks)

    monkeypatch.setattr(StepTimes, "step_s", counted)
    work = on(middle_model(), H100, 256)
    deadline = Deadline(pace_of_run(work), step_on(work, network(50_000, leaf_gpus=32, pod_gpus=256, leaf=2)).step_s)
    few, more = np.array([32, 8, 32]), np.array([8, 16, 32])
    shares = deadline.leaf_shares(Fraction(50_000), few, 256, False)
    assert shares[0] == shares[2] and set(timed_rows) == {2}
    timed_rows.clear()
    again = deadline.leaf_shares(Fraction(50_000), more, 256, False)
    assert (again[0], again[2]) == (shares[1], shares[0]) and set(timed_rows) == {1}
    timed_rows.clear()
    pods = [deadline.pod_shares(Fraction(50_000), few, 2 * few, 256, False).tolist() for _ in range(2)]
    assert pods[0] == pods[1] and set(timed_rows) == {2}
