"""Workloads: collectives, groups of ranks, bytes of a step, its time, and what it needs of the network."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from fabopt.schema.model import Experts, Model, Overlap, Plan, PlanChanges
from fabopt.schema.server import Server
from fabopt.workload.collectives import LINE_SHARE, Spread, factor, latency_s, payloads, running, sent_over
from fabopt.workload.nccl import Protocol, tree_share
from fabopt.workload.needs import MOST_MBPS, Reach, flat, least_mbps, most_ratio, tapered
from fabopt.workload.prediction import Prediction, binding, cluster_cents
from fabopt.workload.ranks import Group, ranks_of
from fabopt.workload.straddling import Crossing, Crossings, most_domains
from fabopt.workload.timing import Cost, ModelRun, Step, step_on
from fabopt.workload.volumes import traffic_of
from tests.paths import few_or_many
from tests.samples.workload_samples import A100, H100, TINY, middle_model, network, on, tiny_model

GPUS = 64
HALF = Fraction(1, 2)


def traffic(model: Model, gpus: int, name: str) -> Any:
    ranks = ranks_of(model, model.plan, gpus)
    return next(one for one in traffic_of(model, ranks) if one.communicator == name)


def cost(step: Step, name: str) -> Cost:
    return next(one for one in step.costs if one.traffic.communicator == name)


# -- collectives --------------------------------------------------------------------------------------------------


def test_a_ring_crosses_a_server_once_for_all_its_members() -> None:
    """By hand: 16 members, 4 in a server: 2 x 15/16 V leave the server, which its 4 members share."""
    quarter = Crossing(Fraction(1, 4), Fraction(12, 16))
    assert sent_over("all-reduce", "ring", 16, quarter, Fraction(800)) == Fraction(2 * 15 * 800, 16 * 4)
    assert sent_over("all-reduce", "ring", 16, Crossing(), Fraction(800)) == 0


def test_all_to_all_crosses_with_what_is_for_others() -> None:
    """By hand: of 16 equal parts 12 are for members elsewhere."""
    assert sent_over("all-to-all", "direct", 16, Crossing(Fraction(1, 4), Fraction(12, 16)), Fraction(800)) == 600


def test_reduction_in_the_network_sends_the_vector_once() -> None:
    assert factor("all-reduce", "in-network", 100) == 1
    assert factor("all-reduce", "tree", 100) == 2
    assert factor("all-reduce", "ring", 1) == 0


def test_latency_of_a_ring_and_a_tree() -> None:
    """By hand: 16 members in 4 servers. Ring: 30 steps, 6 of them between servers. Tree: 6 within, 2 x 2 between.

    Microseconds of NVIDIA/nccl 2.30.7, src/graph/tuning.cc: those before the first step, one over NVLink, one over the
    network; a ring's all-reduce between servers takes 1.4 times as long with the Simple protocol.
    """
    ring: dict[Protocol, float] = {
        "LL": 6.6 + 24 * 0.6 + 6 * 2.7, "LL128": 14 + 24 * 1.9 + 6 * 4, "Simple": 1.4 * (8.4 + 24 * 3.4 + 6 * 14),
    }  # fmt: skip
    tree: dict[Protocol, float] = {
        "LL": 6.8 + 6 * 0.6 + 4 * 5, "LL128": 14 + 6 * 1.25 + 4 * 8.5, "Simple": 8.4 + 6 * 4 + 4 * 14,
    }  # fmt: skip
    for protocol in ring:
        found = [float(latency_s("all-reduce", way, protocol, 16, 4, 4)) * 10**6 for way in ("ring", "tree")]
        assert found == pytest.approx([ring[protocol], tree[protocol]])
    assert float(latency_s("all-gather", "ring", "Simple", 16, 4, 4)) * 10**6 == pytest.approx(8.4 + 12 * 3.4 + 3 * 14)
    assert float(latency_s("send", "direct", "Simple", 2, 2, 1)) * 10**6 == pytest.approx(8.4 + 3.4)
    assert float(latency_s("send", "direct", "LL", 2, 1, 2)) * 10**6 == pytest.approx(6.6 + 2.7)
    assert latency_s("all-gather", "ring", "LL", 1, 1, 1) == 0


@pytest.mark.parametrize(("hidden", "protocol"), [(64, "LL"), (2**16, "LL128"), (2**19, "Simple")])
def test_protocols_take_turns_with_the_size_of_a_call(hidden: int, protocol: Protocol) -> None:
    """Small calls are bound by latency, which LL has least of, and large ones by bytes, of which Simple moves most."""
    sizes = TINY.model_copy(update={"hidden": hidden, "head_dim": 8})
    model = tiny_model(tensor=8).model_copy(update={"architecture": sizes})
    found = cost(step_on(on(model, H100, GPUS), network(400_000)), "tensor")
    # 18 links of 20.6 Gbytes/s, of which Simple, whose share of a line is 24/25, gets all
    rate, times = Fraction("20.6") * 18 * 10**9 / LINE_SHARE, {}
    for way in ("ring", "tree"):
        seconds = factor("all-reduce", way, 8) * found.traffic.message / rate
        for one in payloads(way):
            run = running("all-reduce", way, one, found.traffic.message, Spread(8, 8, 1, 8), "hopper")
            times[way, one] = run.time_s(seconds)
    fastest = min(times, key=lambda key: times[key])
    assert fastest[1] == protocol
    assert (found.algorithm, found.time_s) == (fastest[0], found.traffic.calls * times[fastest])


@pytest.mark.parametrize(("server", "gbytes_s"), [(H100, 370.8), (A100, 240.0)], ids=["H100", "A100"])
def test_rings_in_a_server_have_what_nccl_counts_of_nvlink(server: Server, gbytes_s: float) -> None:
    """Eight H100 were measured at 365 to 370 Gbytes/s of bus bandwidth (issue 1455 of NVIDIA/nccl); of 450 and 300."""
    sizes = TINY.model_copy(update={"hidden": 2**26, "head_dim": 8})
    model = tiny_model(tensor=8).model_copy(update={"architecture": sizes})
    found = cost(step_on(on(model, server, GPUS), network(400_000)), "tensor")
    moved = found.traffic.calls * factor("all-reduce", "ring", 8) * found.traffic.message
    assert float(moved / found.time_s) / 10**9 == pytest.approx(gbytes_s, rel=0.01)


def test_small_vectors_go_by_tree() -> None:
    """Of 64 members a ring has 126 steps, a tree 20, which sends more: the ring wins where bytes count."""
    models = tiny_model(zero_stage=0), middle_model(zero_stage=0)
    found = [cost(step_on(on(model, H100, 64), network(400_000)), "data").algorithm for model in models]
    assert found == ["tree", "ring"]


# -- groups ---------------------------------------------------------------------------------------------------------


def test_groups_follow_the_order_of_ranks() -> None:
    """By hand: 4 tensor, 2 context, 2 pipeline, 4 data on 64 GPUs: strides 1, 4, 8, 16."""
    model = tiny_model(tensor=4, context=2, pipeline=2)
    ranks = ranks_of(model, model.plan, GPUS)
    assert (ranks.data, ranks.gpus) == (4, 64)
    assert ranks.group("tensor").dimensions == ((4, 1),)
    assert ranks.group("pipeline").dimensions == ((2, 8),)
    assert ranks.group("data").dimensions == ((2, 4), (4, 16))
    assert [ranks.group("data").inside(block) for block in (1, 8, 16, 32, 64)] == [1, 2, 2, 4, 8]


def test_experts_are_the_innermost_of_data() -> None:
    model = tiny_model(tensor=2, pipeline=2, expert=4, order=("tensor", "context", "data", "pipeline"))
    ranks = ranks_of(model, model.plan, GPUS)
    assert ranks.group("expert").dimensions == ((4, 2),)
    assert ranks.group("expert-data").dimensions == ((1, 2), (4, 8))
    assert ranks.group("pipeline").dimensions == ((2, 32),)


def test_experts_are_folded_over_the_ranks_of_a_stage() -> None:
    """By hand: 2 tensor, 2 context, 8 data ranks at strides 1, 2, 4; experts that are not split take all of eight GPUs.

    Split two ways, as many are over 16, and a copy of each is 2 x 2 x 8 / 16 ranks apart.
    """
    order = ("tensor", "context", "data", "pipeline")
    folded = tiny_model(tensor=2, context=2, pipeline=2, expert=8, expert_tensor=1, order=order)
    ranks = ranks_of(folded, folded.plan, GPUS)
    assert ranks.group("expert").dimensions == ((2, 1), (2, 2), (2, 4))
    assert ranks.group("expert").inside(8) == 8
    assert ranks.group("expert-data").dimensions == ((4, 8),)
    split = folded.model_copy(update={"plan": folded.plan.model_copy(update={"expert_tensor": 2})})
    assert ranks_of(split, split.plan, GPUS).group("expert").dimensions == ((2, 2), (4, 4))


def test_experts_that_data_do_not_hold_are_folded() -> None:
    """64 expert ranks of 2 tensor x 32 data: DeepSeek-V3 as NeMo splits it. The plan says so."""
    plan = tiny_model(tensor=2, expert=64).plan
    ranks = ranks_of(tiny_model(), plan, GPUS)
    assert ranks.plan.expert_tensor == 1
    assert ranks.group("expert").size == 64


def test_experts_that_are_not_split_send_no_tensor_traffic() -> None:
    """By hand: two all-reduces a layer and pass, of which the one of the experts' part is left out in every layer."""
    routed = TINY.model_copy(update={"experts": Experts(count=8, top_k=2)})
    calls = [
        traffic(
            tiny_model(tensor=2, expert_tensor=ways).model_copy(update={"architecture": routed}), GPUS, "tensor"
        ).calls
        for ways in (2, 1)
    ]
    assert calls[1] == calls[0] / 2


def test_a_group_that_does_not_tile_a_domain_straddles_it() -> None:
    """By hand: groups of 64 on racks of 72, 576 GPUs: two whole ones, seven in two racks each.

    Two groups leave every rack between the first and the last, and where eight members of one are in a rack each has 56
    of 64 parts for others. Of GPUs 144 to 287 one group has 48 members there and 16 elsewhere, one 32 and 32.
    """
    crossings = Crossings(576)
    assert crossings.of_domain(Group(((64, 1),)), 72) == (Fraction(2, 72), Fraction(56, 64))
    assert crossings.of_leaves(Group(((64, 1),)), 144) == (Fraction(2, 144), Fraction(48 * 16 + 32 * 32, 144 * 64))
    assert most_domains(Group(((64, 1),)), 72) == 2
    assert most_domains(Group(((8, 9),)), 72) == 1
    assert crossings.of_leaves(Group(((72, 1),)), 144) == (0, 0)


# -- bytes ----------------------------------------------------------------------------------------------------------


def test_tensor_bytes() -> None:
    """By hand: 64 sequences, 16 replicas of 4 GPUs: 4 micro-batches x 4 layers x 2 passes x 2 = 64 calls.

    A vector is 128 tokens x 64 x 2 bytes; with everything computed again there is a third pass.
    """
    found = traffic(tiny_model(tensor=4), GPUS, "tensor")
    assert (found.message, found.calls, found.group.size) == (128 * 64 * 2, 64, 4)
    assert traffic(tiny_model(tensor=4, recomputation="full"), GPUS, "tensor").calls == 96


def test_context_bytes() -> None:
    """By hand: keys and values of 128 tokens are 2 x 64 numbers each; 2 gathers and 1 scatter a layer, 8 x 4 layers."""
    model = tiny_model(context=8)
    ranks = ranks_of(model, model.plan, GPUS)
    found = [one for one in traffic_of(model, ranks) if one.communicator == "context"]
    assert [(one.operation, one.message, one.calls) for one in found] == [
        ("all-gather", 128 * 128 * 2, 64), ("reduce-scatter", 128 * 128 * 2, 32)
    ]  # fmt: skip


def test_pipeline_bytes() -> None:
    """By hand: 128 tokens x 64 x 2 bytes over 2 tensor ranks; 8 micro-batches, there and back, of 2 parts each."""
    found = traffic(tiny_model(tensor=2, pipeline=4, virtual_stages=2), GPUS, "pipeline")
    assert (found.message, found.calls) == (128 * 64, 8 * 2 * 2)


def test_expert_bytes() -> None:
    """By hand: 128 tokens x 64 x 2 bytes x 2 experts, dispatched and combined, forward and backward in 3 layers."""
    experts = Experts(count=8, top_k=2, dense_layers=1)
    model = tiny_model(expert=8).model_copy(update={"architecture": TINY.model_copy(update={"experts": experts})})
    found = traffic(model, GPUS, "expert")
    assert (found.message, found.calls, found.copies) == (128 * 64 * 2 * 2, 2 * 2 * 3, 1)
    routed = TINY.model_copy(update={"experts": experts.model_copy(update={"servers_per_token": 1})})
    assert traffic(model.model_copy(update={"architecture": routed}), GPUS, "expert").copies == HALF


@pytest.mark.parametrize(("expert", "most"), [(8, 4), (16, 4), (16, 1), (32, 3), (64, 4), (64, 8)])
def test_node_limited_routing_at_the_server_boundary(expert: int, most: int) -> None:
    """Bytes that leave a server are those of all choices of servers, one copy to each: none goes to a token's own.

    Servers of 8 GPUs; a token of 8 experts goes to as many servers as it may and as its group lies in.
    """
    routed = TINY.model_copy(update={"experts": Experts(count=64, top_k=8, servers_per_token=most)})
    model = tiny_model(expert=expert, batch=128).model_copy(update={"architecture": routed})
    work = on(model, H100, 128)
    one = next(one for one in step_on(work, network(1000)).costs if one.traffic.communicator == "expert")
    servers = expert // 8
    choices = list(combinations(range(servers), min(most, servers)))
    sent = sum(server != 0 for choice in choices for server in choice)
    copy_bytes = one.traffic.message * one.traffic.calls / 8
    assert one.bytes_over.get("server", 0) == copy_bytes * Fraction(sent, len(choices))


@pytest.mark.parametrize(
    ("zero", "calls"),
    [
        (0, [("all-reduce", 1)]),
        (1, [("reduce-scatter", 1), ("all-gather", 1)]),
        (3, [("reduce-scatter", 4), ("all-gather", 8)]),
    ],
)
def test_data_bytes(zero: int, calls: list[tuple[str, int]]) -> None:
    """Of the parameters that a GPU holds: all-reduce, or scatter and gather; layer by layer and twice."""
    model = tiny_model(zero_stage=zero)
    found = [one for one in traffic_of(model, ranks_of(model, model.plan, GPUS)) if one.communicator == "data"]
    assert [(one.operation, one.calls) for one in found] == calls
    assert len({one.message for one in found}) == 1


def test_inference_has_no_gradients() -> None:
    model = tiny_model(tensor=4).model_copy(update={"task": "inference"})
    found = traffic_of(model, ranks_of(model, model.plan, GPUS))
    assert [(one.communicator, one.calls) for one in found] == [("tensor", 4 * 4 * 2)]


# -- time -----------------------------------------------------------------------------------------------------------


def test_time_of_a_collective() -> None:
    """By hand: 64 GPUs, 8 a server: 2 x 63/64 V / 8 bytes for each card of 1 Gb/s, 125 MB/s; 96 % of it with Simple."""
    model = tiny_model(zero_stage=0)
    found = cost(step_on(on(model, H100, GPUS), network(1000, leaf_gpus=64, pod_gpus=64)), "data")
    vector = traffic(model, GPUS, "data").message
    times = []
    for way, passes in (("ring", 2 * Fraction(63, 64)), ("tree", Fraction(2))):
        for protocol, share in payloads(way).items():
            share *= tree_share(protocol, vector) if way == "tree" else 1
            seconds = vector * passes / 8 / (125_000_000 * share)
            times.append(seconds + latency_s("all-reduce", way, protocol, 64, 8, 8))
    assert found.time_s == min(times)
    assert found.place == "leaf"


def test_the_narrowest_boundary_takes_the_time() -> None:
    """Eight servers on a leaf share what goes up: at 8:1 it is no slower than the cards, at 16:1 twice as slow."""
    work = on(middle_model(), H100, 512)
    times = [
        cost(step_on(work, network(1000, leaf_gpus=64, pod_gpus=512, leaf=ratio)), "data").time_s
        for ratio in (1, 8, 16)
    ]
    assert times[0] == times[1]
    assert times[2] > Fraction(19, 10) * times[1]


def test_what_runs_behind_computation_is_not_exposed() -> None:
    """Data traffic has the time of one micro-batch to hide behind; what is left of it is exposed."""
    hidden = [
        cost(step_on(on(middle_model(overlap=Overlap(data=share)), H100, GPUS), network(400_000)), "data")
        for share in (0, 0.5, 1)
    ]
    assert hidden[0].exposed_s == hidden[0].time_s
    for one in hidden[1:]:
        assert one.exposed_s == one.time_s - one.hidden_s
        assert one.hidden_s > 0


def test_a_given_utilization_is_that_of_a_free_network() -> None:
    """gpu_utilization 0.4 and a share x of exposed communication: 0.4 (1 - x)."""
    work = on(tiny_model(), H100, GPUS, utilization=0.4)
    step = step_on(work, network(1000))
    assert step.utilization(work) == Fraction(2, 5) * (1 - step.exposed_share)
    assert work.gpu_flops(hardware=False) / (work.peak_flops * step.free_s) == Fraction(2, 5)


def test_a_pipeline_waits_while_it_fills() -> None:
    """By hand: 4 stages, 8 micro-batches: 3/8; interleaved in 3 parts 1/8."""
    assert on(tiny_model(pipeline=4, batch=128), H100, GPUS).bubble == Fraction(3, 8)
    assert on(tiny_model(pipeline=4, batch=128, virtual_stages=3), H100, GPUS).bubble == Fraction(1, 8)


# -- needs ------------------------------------------------------------------------------------------------------------

REACH = Reach(8)


def work_of(**plan: Any) -> ModelRun:
    return on(middle_model(**plan), H100, GPUS)


def test_the_least_bandwidth_is_the_least() -> None:
    work, limit = work_of(), HALF
    least = least_mbps(work, limit, REACH)
    assert least is not None
    assert step_on(work, flat(least, REACH)).exposed_share <= limit
    assert step_on(work, flat(least - 1, REACH)).exposed_share > limit


def test_no_bandwidth_helps_against_latency() -> None:
    work = on(tiny_model(), H100, GPUS, 0.4)
    assert step_on(work, flat(MOST_MBPS, REACH)).exposed_share > Fraction(1, 20)
    assert least_mbps(work, Fraction(1, 20), REACH) is None


def test_nothing_is_needed_where_nothing_leaves_the_domain() -> None:
    inference = tiny_model(tensor=8).model_copy(update={"task": "inference"})
    assert least_mbps(on(inference, H100, GPUS), Fraction(1, 20), REACH) == 0


def test_the_largest_ratios_are_the_largest() -> None:
    """In thousandths; what the leaves take, the spines cannot have."""
    work, limit = work_of(), HALF
    least = least_mbps(work, limit, REACH)
    assert least is not None
    rate = Fraction(3 * least)

    def keeps(leaf: Fraction, spine: Fraction = Fraction(1)) -> bool:
        return step_on(work, tapered(rate, leaf, spine, REACH)).exposed_share <= limit

    leaf = most_ratio(keeps)
    assert step_on(work, tapered(rate, leaf, Fraction(1), REACH)).exposed_share <= limit
    assert step_on(work, tapered(rate, leaf + Fraction(1, 1000), Fraction(1), REACH)).exposed_share > limit
    assert 3 <= leaf < Fraction(3005, 1000)
    assert most_ratio(lambda spine: keeps(Fraction(1), spine)) == leaf
    assert most_ratio(lambda spine: keeps(leaf, spine)) < Fraction(1005, 1000)


def test_more_neighbours_on_a_leaf_tolerate_more() -> None:
    work, limit, rate = work_of(), HALF, Fraction(400_000)

    def most(gpus: int) -> Fraction:
        reach = Reach(gpus)
        return most_ratio(lambda ratio: step_on(work, tapered(rate, ratio, Fraction(1), reach)).exposed_share <= limit)

    ratios = [most(gpus) for gpus in (8, 16, 32)]
    assert ratios == sorted(ratios) and ratios[0] < ratios[2]


def test_what_binds_is_what_gpus_wait_for() -> None:
    costs = step_on(work_of(tensor=8, pipeline=4, overlap=Overlap(pipeline=1)), network(100_000)).costs
    assert binding(costs) == "data"
    assert binding([one for one in costs if one.place == "domain"]) is None


# -- money ----------------------------------------------------------------------------------------------------------


def test_cost_of_a_working_gpu() -> None:
    """By hand: 8 servers of $100,000 and a network of $100,000 over 64 GPUs that are used by half: $28,125."""
    work = on(tiny_model(), H100, GPUS)
    server = H100.model_copy(update={"price_usd": 100_000})
    cents = cluster_cents(10_000_000, False, server, 8)
    assert cents == 90_000_000
    assert Prediction(work, network(1000), cents).per_effective_gpu_cents(HALF) == 2_812_500
    assert cluster_cents(10_000_000, True, server, 8) == 10_000_000
    assert cluster_cents(10_000_000, False, H100, 8) is None
    assert Prediction(work, network(1000), None).per_effective_gpu_cents(HALF) is None


# -- properties -----------------------------------------------------------------------------------------------------

ways = st.sampled_from([1, 2, 4, 8])
overlaps = st.sampled_from([0, 0.5, 1])
plans = st.builds(
    lambda tensor, context, pipeline, zero, share: {
        "tensor": tensor, "context": context, "pipeline": pipeline, "zero_stage": zero, "batch": 1024,
        "overlap": Overlap(tensor=share, context=share, pipeline=share, expert=share, data=share),
    },
    ways, st.sampled_from([1, 2]), st.sampled_from([1, 2, 4]), st.sampled_from([0, 1, 2, 3]), overlaps,
)  # fmt: skip
networks = st.builds(
    lambda mbps, leaf, spine: network(mbps, leaf_gpus=32, pod_gpus=128, leaf=leaf, spine=spine),
    st.sampled_from([1000, 25_000, 400_000]), st.sampled_from([1, 2, 4]), st.sampled_from([1, 3]),
)  # fmt: skip


def bytes_over(model: Model, gpus: int, name: str, boundary: str) -> Fraction:
    step = step_on(on(model, H100, gpus), network(1000, leaf_gpus=32, pod_gpus=128))
    found = [one for one in step.costs if one.traffic.communicator == name]
    return sum((one.bytes_over.get(boundary, Fraction(0)) for one in found), Fraction(0))


@pytest.mark.long
@settings(max_examples=60)
@given(plans, st.sampled_from(["tensor", "data"]))
def test_more_tensor_parallelism_in_the_domain_never_needs_more(plan: dict[str, Any], name: str) -> None:
    """As long as the group stays in a scale-up domain, neither it nor the data ranks send more between servers."""
    if name == "data":  # what is kept in shares moves in every micro-batch, of which there are more
        plan = {**plan, "zero_stage": min(1, plan["zero_stage"])}
    before = [
        bytes_over(tiny_model(**{**plan, "tensor": tensor, "context": 1}), 256, name, "server")
        for tensor in (1, 2, 4, 8)
    ]
    assert before == sorted(before, reverse=True)


@pytest.mark.long
@settings(max_examples=60)
@given(plans, networks)
def test_twice_the_gpus_never_expose_less(plan: dict[str, Any], there: Any) -> None:
    """At a fixed batch: all communication that nothing hides, in the domain too, against computation.

    Computation is a given share of the peak, so that twice the GPUs take half the time for it.
    """
    shares = []
    for gpus in (64, 128, 256, 512):
        step = step_on(on(tiny_model(**plan), H100, gpus, utilization=0.4), there)
        shares.append(sum(one.exposed_s for one in step.costs) / step.free_s)
    assert shares == sorted(shares)


@pytest.mark.long
@pytest.mark.drawn_longer
@settings(max_examples=few_or_many(15, 60))
@given(plans, networks)
def test_reduction_in_switches_never_needs_more(plan: dict[str, Any], there: Any) -> None:
    work = on(tiny_model(**plan), H100, 256)
    assert step_on(work, replace(there, reduces=True)).exposed_s <= step_on(work, there).exposed_s
    limit = Fraction(1, 2)
    with_it, without = (least_mbps(work, limit, Reach(8, reduces)) for reduces in (True, False))
    assert without is None or (with_it is not None and with_it <= without)


@settings(max_examples=60)
@given(plans, networks)
def test_more_bandwidth_never_exposes_more(plan: dict[str, Any], there: Any) -> None:
    work = on(tiny_model(**plan), H100, 256)
    twice = replace(
        there, server_mbps=2 * there.server_mbps, leaf_mbps=2 * there.leaf_mbps, pod_mbps=2 * there.pod_mbps
    )
    assert step_on(work, twice).exposed_s <= step_on(work, there).exposed_s


def test_plan_changes_are_on_top_of_the_model() -> None:
    plan = Plan(batch=8, tensor=2, overlap=Overlap(tensor=0.5, data=1))
    changed = PlanChanges(tensor=4, overlap=Overlap(data=0)).on(plan)
    assert (changed.tensor, changed.batch, changed.overlap) == (4, 8, Overlap(tensor=0.5, data=0))
