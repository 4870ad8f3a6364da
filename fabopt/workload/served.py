"""What a service asks of a fabric, and what a design does to it.

The oversubscription that a workload tolerates at each boundary, and the figures that it needs, where the case leaves
them open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from fabopt.schema.case import Fabric, Oversubscription
from fabopt.schema.prediction import ServedTaper, ServingPool, ServingUse, WorkloadNeeds
from fabopt.units import MBPS_PER_GBPS, exact, gbps, plain_fraction
from fabopt.workload.architecture import parameters
from fabopt.workload.collectives import Operation
from fabopt.workload.memory import GIB
from fabopt.workload.needs import MOST_MBPS, MOST_RATIO, Reach, flat, least, least_mbps, most_ratio, tapered
from fabopt.workload.prediction import binding, communicator_rows, seconds
from fabopt.workload.service import FREE, Service
from fabopt.workload.serving import Serving
from fabopt.workload.timing import DOMAIN, Cost, FabricBandwidth, ModelRun, Step, step_on

# Of a rate in a file.
LAST_DIGIT = Fraction(1, 10**6)
# Figures of a fabric that are set where calls of some operation leave the scale-up domains.
FIGURES: Mapping[str, frozenset[Operation]] = {
    "min_alltoall_gbps_per_gpu": frozenset({"all-to-all"}),
    "min_allreduce_gbps_per_gpu": frozenset({"all-reduce", "reduce-scatter", "all-gather"}),
}


def figure_gbps(needs: WorkloadNeeds) -> int | float:
    """Bandwidth in Gb/s that figures demand: per GPU at the most oversubscription, less the last digit of its rounding,
    down to whole Mb/s.

    A Clos within its ratios gives that much of uniform traffic and around a ring, so that it is a demand of other
    families only.
    """
    return gbps(int((exact(needs.pod_gbps_per_gpu) - LAST_DIGIT) * MBPS_PER_GBPS))


def figures_of(costs: Iterable[Cost]) -> tuple[str, ...]:
    """Keys of the figures that bound those of some calls which leave the scale-up domains."""
    far = {cost.traffic.operation for cost in costs if cost.place != DOMAIN}
    return tuple(key for key, operations in FIGURES.items() if operations & far)


def step_limit(workload: ModelRun, needs: WorkloadNeeds, limit: Fraction, own_mbps: int | None) -> Fraction | None:
    """The longest step, in seconds, of a design on which neighbouring ranks share leaves or pods; None for no limit.

    Exposed communication of a share x makes a step free / (1 - x). A bandwidth or ratios given by the fabric take
    precedence.
    """
    open_ratios = any(name.startswith("max_oversubscription") for name in needs.sets)
    if limit >= 1 or not workload.placing.counts_on_sizes or not open_ratios:
        return None
    reach = Reach(needs.leaf_gpus, needs.in_network_reduction)
    longest = step_on(workload, flat(MOST_MBPS, reach)).free_s / (1 - limit)
    return longest if own_mbps is None else max(longest, step_on(workload, flat(own_mbps, reach)).step_s)


def _overlapped_gbps(workload: ModelRun, limit: Fraction, reach: Reach, least: int) -> int | float | None:
    """Gb/s per GPU that would do if computation hid as much as it can; None where that is ``least`` Mb/s."""
    if all(low == high for low, _, high in map(workload.range_of, workload.traffic)):
        return None
    enough = least_mbps(replace(workload, overlap="high"), limit, reach)
    return None if enough is None or enough == least else gbps(enough)


def needs_of(
    workload: ModelRun,
    fabric: Fabric,
    limit: Fraction,
    reach: Reach,
    least: int,
    offered: Fraction,
    figures: Collection[str] = (),
    most_open: int = MOST_RATIO,
) -> WorkloadNeeds:
    """A workload's needs of a fabric; ``least``: Mb/s per GPU, ``offered``: Mb/s per GPU of the slowest NICs.

    ``figures``: keys that all families of the fabric can be asked for. Where neighbouring ranks are put together,
    ratios depend on the servers of leaves and pods: they are open up to ``most_open``, and every design is timed
    (``step_limit``).
    """
    asked = NetworkDemand(
        lambda network: step_on(workload, network).exposed_share <= limit,
        figures_of(step_on(workload, flat(MOST_MBPS, reach)).costs),
        binding(step_on(workload, flat(max(1, least), reach)).costs),
        most_open if workload.placing.counts_on_sizes else None,
    )
    overlapped = _overlapped_gbps(workload, limit, reach, least)
    needs = needs_where(asked, fabric, reach, least, offered, figures)
    return needs.model_copy(update={"overlapped_gbps_per_gpu": overlapped})


class NetworkDemand(NamedTuple):
    """What is asked of a network. ``keeps``: whether one will do, as all do with more bandwidth anywhere; ``figures``:
    keys of figures that bound what leaves the domains; ``binding``: the communicator that is waited for; ``most_open``:
    the largest ratio, where these depend on the servers of leaves and pods.
    """

    keeps: Callable[[FabricBandwidth], bool]
    figures: Collection[str]
    binding: str | None
    most_open: int | None = None


def needs_where(
    asked: NetworkDemand, fabric: Fabric, reach: Reach, least: int, offered: Fraction, figures: Collection[str] = ()
) -> WorkloadNeeds:
    """What is asked of a fabric; arguments as of ``needs_of``."""
    given = fabric.max_oversubscription
    own = given if isinstance(given, Oversubscription) else Oversubscription(leaf=given, spine=given)
    if asked.most_open is not None:
        leaf, spine = (exact(asked.most_open if ratio is None else ratio) for ratio in (own.leaf, own.spine))
    else:
        leaf, spine = (Fraction(1) if ratio is None else exact(ratio) for ratio in (own.leaf, own.spine))
        if own.leaf is None:
            leaf = most_ratio(lambda ratio: asked.keeps(tapered(offered, ratio, Fraction(1), reach)))
        if own.spine is None:
            spine = most_ratio(lambda ratio: asked.keeps(tapered(offered, leaf, ratio, reach)))
    up = offered / max(Fraction(1), leaf)
    sets = [] if fabric.min_gbps_per_gpu is not None else ["min_gbps_per_gpu"]
    sets += [f"max_oversubscription.{name}" for name in ("leaf", "spine") if getattr(own, name) is None]
    if up / max(Fraction(1), spine) > 1:
        sets += [name for name in asked.figures if name in figures and getattr(fabric, name) is None]
    return WorkloadNeeds(
        fabric=fabric.name,
        min_gbps_per_gpu=gbps(least),
        offered_gbps_per_gpu=plain_fraction(offered / MBPS_PER_GBPS),
        max_oversubscription={"leaf": plain_fraction(leaf), "spine": plain_fraction(spine)},
        leaf_gbps_per_gpu=plain_fraction(up / MBPS_PER_GBPS),
        pod_gbps_per_gpu=plain_fraction(up / max(Fraction(1), spine) / MBPS_PER_GBPS),
        sets=tuple(sets),
        leaf_gpus=reach.leaf_gpus,
        in_network_reduction=reach.reduces,
        binding=asked.binding,
    )


# The communicator that sends keys and values of prompts.
KEYS_AND_VALUES = "kv"
RATIOS = (1, 2, 4)
_MEMORY_DIGITS, _RATE_DIGITS = 2, 3


def least_of(service: Service, reach: Reach) -> int:
    """The least whole Mb/s for each GPU, the same everywhere, that keeps a service's limits; 0 where nothing leaves
    the scale-up domains, `MOST_MBPS` where none does.
    """
    if not service.apart and all(cost.place == DOMAIN for cost in _costs(service, FREE)):
        return 0
    mbps = least(lambda mbps: service.keeps(flat(mbps, reach)), 1, MOST_MBPS)
    return MOST_MBPS if mbps is None else mbps


def service_needs(
    service: Service, fabric: Fabric, reach: Reach, least_mbps: int, offered: Fraction, figures: Collection[str] = ()
) -> WorkloadNeeds:
    """A service's needs of a fabric; arguments as of ``needs_of``."""
    there = flat(max(1, least_mbps), reach)
    asked = NetworkDemand(service.keeps, figures_of(_costs(service, FREE)), binding_of(service, there))
    return needs_where(asked, fabric, reach, least_mbps, offered, figures)


def _costs(service: Service, network: FabricBandwidth) -> tuple[Cost, ...]:
    """The calls of both kinds of step."""
    return (*_step(service, network, True).costs, *_step(service, network, False).costs)


def _step(service: Service, network: FabricBandwidth, reads: bool) -> Step:
    left = service.beside_kv(network) or network
    if reads:
        return service.reading.prefill(left, service.prompts)
    return service.writing.decode(left, service.sequences)


def binding_of(service: Service, network: FabricBandwidth) -> str | None:
    """What is waited for on a network that is just enough: the sending of prompts, or a communicator of the step that
    comes nearest to its limit.
    """
    ttft_s, tpot_s = service.limits_s
    reads = service.ttft_s(network) / ttft_s >= service.tpot_s(network) / tpot_s
    step = _step(service, network, reads)
    if service.apart and (reads or not step.exposed_s) and service.sends_s(network) > step.exposed_s:
        return KEYS_AND_VALUES
    return binding(step.costs)


def serving_use(service: Service, network: FabricBandwidth, needs: WorkloadNeeds) -> ServingUse:
    """A service on the network of a design, for its file."""
    writing, limits = service.writing, service.limits_s
    prompts = service.prompts_per_s(network)
    return ServingUse(
        model=writing.model.name,
        gpus=service.gpus,
        parameters=parameters(writing.model.architecture).total,
        prompt_tokens=writing.prompt,
        output_tokens=writing.output,
        disaggregated=service.apart,
        prefill=_pool(service, network, True),
        decode=_pool(service, network, False),
        kv_bytes_per_prompt=int(writing.kv_bytes),
        kv_gbps_per_gpu=plain_fraction(service.kv_mbps / MBPS_PER_GBPS, _RATE_DIGITS),
        kv_send_s=_sent_s(service, network),
        ttft_s=seconds(service.ttft_s(network)),
        ttft_limit_s=seconds(limits[0]),
        tpot_s=seconds(service.tpot_s(network)),
        tpot_limit_s=seconds(limits[1]),
        prompts_per_s=plain_fraction(prompts, _RATE_DIGITS),
        prefill_prompts_per_s=plain_fraction(service.reads_per_s(network), _RATE_DIGITS),
        tokens_per_s=plain_fraction(prompts * writing.output, 1),
        needs=needs,
        tapers=tuple(_tapers(service, network)),
    )


def _pool(service: Service, network: FabricBandwidth, reads: bool) -> ServingPool:
    pool: Serving = service.reading if reads else service.writing
    at_once, step = service.prompts if reads else service.sequences, _step(service, network, reads)
    return ServingPool(
        gpus=pool.gpus,
        tensor=pool.plan.tensor,
        expert=pool.plan.expert,
        expert_tensor=pool.plan.expert_ways,
        at_once=at_once,
        weights_gb=plain_fraction(pool.weight_bytes / GIB, _MEMORY_DIGITS),
        kept_gb=plain_fraction(at_once * pool.sequence_bytes / GIB, _MEMORY_DIGITS),
        gpu_gb=pool.server.gpu_memory_gb,
        step_s=seconds(step.step_s),
        communicators=tuple(communicator_rows(step.costs)),
    )


def _sent_s(service: Service, network: FabricBandwidth) -> int | float | None:
    return seconds(service.sends_s(network)) if service.apart else None


def _tapers(service: Service, network: FabricBandwidth) -> Iterator[ServedTaper]:
    """What users wait for on the design's NICs with these ratios at the leaves, and servers anywhere."""
    for ratio in RATIOS:
        there = tapered(network.server_mbps, Fraction(ratio), Fraction(1), Reach())
        yield ServedTaper(
            leaf_ratio=ratio,
            ttft_s=seconds(service.ttft_s(there)),
            tpot_s=seconds(service.tpot_s(there)),
            kv_send_s=_sent_s(service, there),
        )
