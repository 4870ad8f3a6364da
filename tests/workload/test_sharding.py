"""ZeRO stages and groups of ranks that share what these shard: calls, bytes, memory and steps, against every rank."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fabopt.schema.model import Model, Overlap
from fabopt.schema.workload import Workload
from fabopt.verify.memory import recounted_memory
from fabopt.verify.ranks import DealtRanks
from fabopt.verify.sharding import calls_are_counted
from fabopt.verify.steps import RecountedStep
from fabopt.workload.checks import wrongs_of
from fabopt.workload.many import FabricBandwidths, StepTimes
from fabopt.workload.memory import likely_memory, memory_use
from fabopt.workload.plans import plans_of
from fabopt.workload.ranks import can_be_shared, ranks_of, runs_of, shares_of
from fabopt.workload.timing import Cost, FabricBandwidth, ModelRun, step_on
from fabopt.workload.volumes import gpu_parameters, traffic_of
from tests.oracles.brute_ranks import groups, out_of_blocks, shared
from tests.paths import few_or_many
from tests.samples.workload_samples import H100, middle_model, network, on, tiny_model
from tests.workload.test_straddling import MOST_GPUS, random_network, random_plan

DICE, NUM_CASES, GPUS = 33, 120, 64
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def data_calls(**plan: Any) -> list[tuple[str, int, Fraction, Fraction]]:
    """Operation, members, calls, and bytes of a call over those of a GPU's gradients."""
    model = tiny_model(**plan)
    ranks = ranks_of(model, model.plan, GPUS)
    held = 2 * gpu_parameters(model, model.plan)["data"]
    found = [one for one in traffic_of(model, ranks) if one.communicator == "data"]
    return [(one.operation, one.group.size, one.calls, one.message / held) for one in found]


@pytest.mark.parametrize(
    ("plan", "calls"),
    [
        ({"zero_stage": 0}, [("all-reduce", 64, 1, 1)]),
        ({"zero_stage": 0, "reduce_gradients": "micro_batch"}, [("all-reduce", 64, 4, 1)]),
        ({"zero_stage": 1}, [("reduce-scatter", 64, 1, 1), ("all-gather", 64, 1, 1)]),
        ({"zero_stage": 2}, [("reduce-scatter", 64, 4, 1), ("all-gather", 64, 1, 1)]),
        ({"zero_stage": 2, "reduce_gradients": "step"}, [("reduce-scatter", 64, 1, 1), ("all-gather", 64, 1, 1)]),
        ({"zero_stage": 3}, [("reduce-scatter", 64, 16, QUARTER), ("all-gather", 64, 32, QUARTER)]),
        ({"zero_stage": 3, "pipeline": 2}, [("reduce-scatter", 32, 16, HALF), ("all-gather", 32, 2, HALF)]),
        (
            {"zero_stage": 3, "shard_group": 8},
            [("reduce-scatter", 8, 16, QUARTER), ("all-reduce", 8, 16, QUARTER / 8), ("all-gather", 8, 32, QUARTER)],
        ),
        (
            {"zero_stage": 1, "shard_group": 16},
            [("reduce-scatter", 16, 1, 1), ("all-reduce", 4, 1, Fraction(1, 16)), ("all-gather", 16, 1, 1)],
        ),
        ({"zero_stage": 3, "shard_group": 1}, [("all-reduce", 64, 16, QUARTER)]),
    ],
)
def test_calls_of_a_step(plan: dict[str, Any], calls: list[tuple[str, int, int, Fraction]]) -> None:
    """64 ranks with four micro-batches each, four layers; in two stages 32 ranks with eight, two layers, whose
    parameters stay once they are gathered.
    """
    assert data_calls(batch=256, **plan) == calls


def test_groups_of_a_server_send_less_over_the_network() -> None:
    """By hand: gradients once and parameters twice around 64 ranks, 8 a server: 3 V 63/64 / 8 out of each card.

    In groups of a server: an eighth of V is reduced over 8 servers, 2 (V / 8) 7/8 out of each card, and nothing else.
    """
    sent = {}
    for group in (64, 8):
        model = middle_model(zero_stage=3, shard_group=group)
        costs = step_on(on(model, H100, GPUS), network(400_000)).costs
        over = [one.bytes_over.get("server", Fraction(0)) for one in costs if one.traffic.communicator == "data"]
        sent[group] = sum(over, Fraction(0)) / (2 * gpu_parameters(model, model.plan)["data"])
    assert sent[64] == Fraction(3 * 63, 64 * 8)
    ring, tree = Fraction(2 * 7, 8 * 8), Fraction(2, 8)
    assert sent[8] in (ring, tree)


def random_case(dice: random.Random) -> tuple[Model, int]:
    """A plan with experts whose data ranks share in some groups."""
    model, gpus = random_plan(dice)
    ranks = ranks_of(model, model.plan, gpus)
    update = {
        "zero_stage": dice.choice([1, 2, 3]),
        "shard_group": dice.choice(runs_of(ranks.group("data"))),
        "reduce_gradients": dice.choice([None, "step", "micro_batch"]),
    }
    return model.model_copy(update={"plan": model.plan.model_copy(update=update)}), gpus


def cases(most: int = NUM_CASES) -> Iterator[tuple[ModelRun, FabricBandwidth]]:
    """Runs of such plans for which copies of experts come out, on random networks."""
    dice = random.Random(DICE)
    for _ in range(most):
        model, gpus = next(
            one
            for one in iter(lambda: random_case(dice), None)
            if one[1] <= MOST_GPUS and can_be_shared(one[0], one[0].plan, one[1])
        )
        yield on(model, H100, gpus), random_network(dice, gpus, 8)


def pieces(work: ModelRun) -> Fraction:
    """Layers of a stage, dense and with experts alike, where these are sharded; these models are less than a bucket."""
    return Fraction(work.model.architecture.layers, work.plan.pipeline) if work.plan.zero_stage == 3 else Fraction(1)


def brute_groups(work: ModelRun, cost: Cost) -> list[list[int]]:
    """The groups of a call of data ranks, cut out of every rank's own."""
    ranks, share = work.ranks, work.plan.shard_group
    assert share is not None
    elsewhere = cost.traffic.operation == "all-reduce"
    for name in ("data", "expert-data"):
        held = 2 * gpu_parameters(work.model, work.plan)[name]
        found = groups(work.plan, ranks.data, ranks.gpus, name)
        part = len(found[0]) * share // (work.plan.context * ranks.data)
        once = cost.traffic.message * pieces(work)
        if once == (held / part if elsewhere else held):
            return shared(found, part, elsewhere)
    raise AssertionError(cost)


@pytest.mark.long
@pytest.mark.drawn_longer
def test_bytes_are_those_of_every_rank_by_itself() -> None:
    """Loads of the busiest leaves and pods; the verifier's count of ranks, calls, memory and steps."""
    between, most = 0, few_or_many(NUM_CASES // 3, NUM_CASES)
    for work, there in cases(most):
        step, dealt = step_on(work, there), DealtRanks(work)
        for cost in (one for one in step.costs if one.traffic.communicator == "data"):
            found = brute_groups(work, cost)
            assert {len(members) for members in found} == {cost.traffic.group.size}
            for place, block in {"leaf": there.leaf_gpus, "pod": there.pod_gpus}.items():
                busiest = max(out_of_blocks(cost, found, block).values(), default=Fraction(0))
                assert cost.bytes_over.get(place, Fraction(0)) == busiest / block
            assert dealt.bytes_over(cost, there) == cost.bytes_over
            between += cost.traffic.operation == "all-reduce"
        assert calls_are_counted(work)
        assert RecountedStep(work, there).step_s == step.step_s
        assert recounted_memory(work) == memory_use(work.model, work.ranks, work.memory_gb)
    assert between > most // 4


def test_steps_on_many_networks_are_those_on_each() -> None:
    for work, there in cases(20):
        leaf, pod = np.array([float(there.leaf_mbps)]), np.array([float(there.pod_mbps)])
        groups_of, pods = np.array([there.leaf_gpus]), np.array([there.pod_gpus])
        many = FabricBandwidths(float(there.server_mbps), leaf, pod, groups_of, pods, there.reduces)
        assert StepTimes(work).step_s(many)[0] == pytest.approx(float(step_on(work, there).step_s), rel=1e-9)


def test_other_calls_do_not_pass_the_second_count() -> None:
    """Gradients once a step instead of in every micro-batch; groups of other sizes; of others than neighbours."""
    work = on(tiny_model(batch=256, zero_stage=3, shard_group=8), H100, GPUS)
    assert calls_are_counted(work)
    known = []
    for update in ({"reduce_gradients": "step"}, {"shard_group": 16}, {"zero_stage": 1}):
        other = replace(work.ranks, plan=work.plan.model_copy(update=update))
        known.append(traffic_of(work.model, other))
    near, far = work.ranks.state_groups("data")
    known.append(tuple(replace(one, group=near if one.operation == "all-reduce" else far) for one in work.traffic))
    for calls in known:
        wrong = replace(work)
        vars(wrong)["traffic"] = calls
        assert not calls_are_counted(wrong)


@pytest.mark.parametrize(("overlap", "calls"), [(0, 1), (1, 26)])
def test_buckets_are_there_to_overlap(overlap: float, calls: int) -> None:
    """By hand: of 1.6 billion parameters, 64 million a bucket on 64 ranks, one million a rank, 25 full and one more."""
    model = middle_model(overlap=Overlap(data=overlap))
    found = [one for one in on(model, H100, GPUS).traffic if one.communicator == "data"]
    held = gpu_parameters(model, model.plan)["data"]
    assert [(one.calls, one.calls * one.message) for one in found] == 2 * [(calls, 2 * held)]
    assert calls_are_counted(on(model, H100, GPUS))


def test_memory_is_shared_in_the_group_only() -> None:
    """By hand: 12 bytes of the optimizer, 2 of gradients and 2 of weights over 8 ranks; 2 of 4 layers are whole."""
    model = tiny_model(zero_stage=3, shard_group=8, batch=256)
    held = gpu_parameters(model, model.plan)["data"]
    memory = likely_memory(model, ranks_of(model, model.plan, GPUS))
    assert (memory.optimizer, memory.gradients) == (12 * held / 8, 2 * held / 8)
    assert memory.weights == 2 * held / 8 + 2 * 2 * held / 4
    once = tiny_model(zero_stage=3, shard_group=8, batch=256, reduce_gradients="step")
    assert likely_memory(once, ranks_of(once, once.plan, GPUS)).gradients == 2 * held


@pytest.mark.parametrize(
    ("plan", "problem", "allowed"),
    [
        ({"shard_group": 24}, "64 ranks / 24 = 2.66667 groups of neighbours", "1, 2, 4, 8, 16, 32, 64"),
        ({"shard_group": 128}, "64 ranks / 128 = 0.5 groups of neighbours", "1, 2, 4, 8, 16, 32, 64"),
    ],
)
def test_groups_that_do_not_come_out_are_refused(plan: dict[str, Any], problem: str, allowed: str) -> None:
    (wrong,) = wrongs_of(Workload(model="tiny"), tiny_model(**plan), H100, GPUS)
    assert wrong.path == "plan.shard_group"
    assert (wrong.problem, wrong.allowed) == (f"1 context x 64 data = {problem}", allowed)


def test_a_group_without_anything_sharded_is_refused() -> None:
    (wrong,) = wrongs_of(Workload(model="tiny"), tiny_model(shard_group=8, zero_stage=0), H100, GPUS)
    assert (wrong.problem, wrong.allowed) == ("nothing is sharded with zero_stage 0", "zero_stage 1, 2 or 3")


def test_groups_smaller_than_those_of_experts_are_refused() -> None:
    """By hand: 64 ranks in groups of 4 are 16 groups, and of experts split 8 ways there are 8 copies."""
    model = random_plan(random.Random(DICE))[0]
    model = model.model_copy(update={"plan": tiny_model(expert=8, shard_group=4, zero_stage=3).plan})
    (wrong,) = wrongs_of(Workload(model="tiny"), model, H100, GPUS)
    problem = "64 ranks / 4 = 16 groups, and 8 copies of each expert are not dealt evenly to these"
    assert (wrong.problem, wrong.allowed) == (f"1 context x 64 data = {problem}", "8, 16, 32, 64")
    assert [sharers for *_, sharers in shares_of(model, ranks_of(model, model.plan, GPUS))] == [4, Fraction(1, 2)]


def test_plans_that_are_picked_keep_the_group() -> None:
    """Of 64 GPUs in 3 x 2^n ways there are plans in which groups of 16 come out, and others, which are left out."""
    model = middle_model(shard_group=16, zero_stage=3)
    picked = list(plans_of(model, model.plan, H100, GPUS))
    assert picked and all(can_be_shared(model, one, GPUS) and one.shard_group == 16 for one in picked)
    free = list(plans_of(middle_model(zero_stage=3), middle_model(zero_stage=3).plan, H100, GPUS))
    assert len(free) > len(picked)
