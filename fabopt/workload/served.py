"""What a service asks of a fabric, and what a design does to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction

from fabopt.schema.case import Fabric
from fabopt.schema.prediction import ServedTaper, ServingPool, ServingUse, WorkloadNeeds
from fabopt.units import MBPS_PER_GBPS, plain_fraction
from fabopt.workload.allowance import NetworkDemand, figures_of, needs_where
from fabopt.workload.architecture import parameters
from fabopt.workload.memory import GIB
from fabopt.workload.needs import MOST_MBPS, Reach, flat, least, tapered
from fabopt.workload.prediction import binding, communicator_rows, seconds
from fabopt.workload.service import FREE, Service
from fabopt.workload.serving import Serving
from fabopt.workload.timing import DOMAIN, Cost, FabricBandwidth, Step

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
