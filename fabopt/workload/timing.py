"""The time of a step: computation, the bubble of the pipeline, and exposed communication.

All in exact fractions of seconds, so that the same case gives the same figures everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from fabopt.parts.lookup import Lookup
from fabopt.schema.model import Model, Plan
from fabopt.schema.prediction import Place
from fabopt.schema.server import Server
from fabopt.schema.workload import Software
from fabopt.units import MBPS_PER_GBPS, Number, ceil_div, exact
from fabopt.workload.architecture import flops
from fabopt.workload.collectives import LINE_SHARE, Algorithm, Running, Spread, algorithms, payloads, running, sent_over
from fabopt.workload.gpus import gpu_of
from fabopt.workload.kernels import Roof, fuses_all
from fabopt.workload.nccl import channels_of
from fabopt.workload.overlap import ENDS, End, Hidden, hidden, key_of
from fabopt.workload.placement import PACKED, Domains, Ints, Placing, blocks_of
from fabopt.workload.ranks import Group, Ranks
from fabopt.workload.stages import ONCE_S, SOFTWARE_FACTORS, band, host_s, optimizer_s, pace_s, straggling, whole_ps
from fabopt.workload.straddling import Crossing, Crossings, crossings_on, domain_in_use, most_domains
from fabopt.workload.volumes import COMMUNICATORS, Traffic, micro_batches, traffic_of

_BYTES_PER_MBPS = Fraction(10**6, 8)
_FLOPS_PER_TFLOP = 10**12
DOMAIN: Place = "domain"
PLACES: tuple[Place, ...] = (DOMAIN, "leaf", "pod", "fabric")
_BOUNDARIES = ("gpu", "server", "leaf", "pod")


@dataclass(frozen=True)
class FabricBandwidth:
    """Bandwidth of each GPU in a fabric, in Mb/s: through its NICs, through a leaf's uplinks, through a pod's.

    ``leaf_gpus``, ``pod_gpus``: neighbours that reach each other below. ``reduces``: whether all switches can reduce.
    ``left``: Mb/s through the uplinks of leaves and pods after the loss of a spine; None: unchanged. ``further_s``: as
    of ``Spread``, by place; the search has none.
    """

    server_mbps: Fraction
    leaf_mbps: Fraction
    pod_mbps: Fraction
    leaf_gpus: int
    pod_gpus: int
    reduces: bool = False
    left: tuple[Fraction, Fraction] | None = None
    further_s: tuple[Fraction, ...] = (Fraction(0),) * len(PLACES)


class Way(NamedTuple):
    """A way to run a call. ``over``: bytes for each GPU over the boundaries that the call crosses, inside out;
    ``protocols``: latency and payload with each.
    """

    algorithm: Algorithm
    protocols: tuple[Running, ...]
    over: Mapping[str, Fraction]

    def time_s(self, rates: Mapping[str, Fraction]) -> Fraction:
        """Latency, and the slowest boundary that the call crosses, with the fastest protocol for its size."""
        slowest = max((amount / rates[place] for place, amount in self.over.items()), default=Fraction(0))
        return min(running.time_s(slowest) for running in self.protocols)


@dataclass(frozen=True, eq=False)
class ModelRun:
    """A model on GPUs of a server: all inputs of a step but the network.

    ``domains``: scale-up domains as they are installed, and the part that the model takes; ``placing``: placement of
    ranks; ``speed``: of computation, as a multiple of the predicted one; ``kept_s``: seconds of a step in which keys
    and values of earlier tokens are read; ``in_rack``: whether a scale-up domain is more than a server; ``overlap``:
    end of the range of what computation hides.
    """

    model: Model
    ranks: Ranks
    domains: Domains
    domain_mbps: Fraction
    peak_flops: Fraction
    utilization: Fraction | None
    roof: Roof
    servers: int
    memory_gb: Fraction | None = None
    placing: Placing = PACKED
    speed: Fraction = Fraction(1)
    kept_s: Fraction = Fraction(0)
    in_rack: bool = False
    overlap: End = "likely"

    @property
    def domain_gpus(self) -> int:
        """GPUs of a scale-up domain that the model takes."""
        return self.domains.used

    @property
    def installed_gpus(self) -> int:
        """GPUs of the domains that the model runs on, spares among them."""
        if self.placing.beside is not None:
            return self.placing.beside.gpus
        used, held = self.domains
        return self.ranks.gpus if used == held else self.ranks.gpus // used * held

    @property
    def plan(self) -> Plan:
        """The plan, as the case changes it."""
        return self.ranks.plan

    @property
    def micro_batches(self) -> Fraction:
        """Micro-batches of a replica in a step, at least one."""
        return max(Fraction(1), micro_batches(self.plan, self.ranks.data))

    @property
    def bubble(self) -> Fraction:
        """Time in which a pipeline fills and drains over time in which it works: (p-1) / (v m).

        Source: Narayanan et al. 2021, section 2.2.
        """
        return (self.plan.pipeline - 1) / (self.plan.virtual_stages * self.micro_batches)

    def hides(self, traffic: Traffic) -> Fraction:
        """The share of calls' time that can run behind computation, at the end of the range that counts."""
        return self.range_of(traffic)[ENDS.index(self.overlap)]

    def range_of(self, traffic: Traffic) -> Hidden:
        """The shares of calls' time that can run behind computation."""
        is_near = not self.crossings.of_domain(traffic.group, self.domain_gpus).cut
        return hidden(self.plan, key_of(traffic), self.roof.software, is_near)

    @property
    def band(self) -> Fraction:
        """How far a step is likely to be from the predicted one, as a share of it."""
        return band(self.model, self.roof.software, self.utilization is not None)

    @cached_property
    def compute_s(self) -> Fraction:
        """Computation of a step on the slowest stage: kernels, the optimizer, the host, stragglers."""
        software = self.roof.software
        kernels = self.micro_batches * pace_s(self.model, self.plan, self.roof)
        kernels += optimizer_s(self.model, self.plan, self.ranks.data, self.roof)
        kernels = kernels * SOFTWARE_FACTORS[software] * self.roof.gpu.pace
        kernels += self.micro_batches * host_s(self.model, self.plan, self.in_rack, self.roof.fuses)
        kernels += ONCE_S[software] if self.model.task == "training" else 0
        return whole_ps((kernels * straggling(software, self.servers) + self.kept_s) / self.speed)

    @cached_property
    def traffic(self) -> tuple[Traffic, ...]:
        """The calls of a step."""
        return traffic_of(self.model, self.ranks, self.domain_gpus)

    @property
    def cluster_gpus(self) -> int:
        """GPUs of the cluster: those of the model, and of the jobs beside it."""
        return self.ranks.gpus if self.placing.beside is None else self.placing.beside.gpus

    @property
    def crossings(self) -> Crossings:
        """Traffic of groups of ranks out of domains and blocks of leaves; plans on as many GPUs share it."""
        return crossings_on(self.ranks.gpus)

    @cached_property
    def leaves_domains(self) -> bool:
        """Whether any call goes over the network."""
        return any(self.crossings.of_domain(traffic.group, self.domain_gpus).cut for traffic in self.traffic)

    @cached_property
    def _flops(self) -> dict[bool, Fraction]:
        operations = flops(self.model, self.plan.recomputation)
        return {
            hardware: Fraction(
                (operations.hardware if hardware else operations.model) * self.plan.batch, self.ranks.gpus
            )
            for hardware in (False, True)
        }

    def gpu_flops(self, hardware: bool) -> Fraction:
        """Operations of a GPU in a step; ``hardware``: with recomputation."""
        return self._flops[hardware]


def workload_of(
    model: Model,
    ranks: Ranks,
    server: Server,
    utilization: float | Fraction | None,
    software: Software = "typical",
    domains: Domains | None = None,
) -> ModelRun:
    """A model on GPUs of a server that states its peak; without a scale-up domain each GPU is a domain of its own.

    ``domains``: GPUs of each domain that are in use; None: see ``domain_in_use``.
    """
    if domains is None:
        used = 1 if server.scale_up is None else domain_in_use(ranks, server.scale_up.domain_gpus, server.gpus)
        domains = Domains(used, used)
    gpu = gpu_of(server)
    # protocols take the share of a NIC's line of whatever slows them
    share = gpu.links / LINE_SHARE
    rate = exact(server.scale_up.gbps_per_gpu) * MBPS_PER_GBPS * share if server.scale_up is not None else Fraction(1)
    peaks = {name: exact(peak) * _FLOPS_PER_TFLOP for name, peak in server.gpu_peak_tflops.items()}
    in_rack = server.scale_up is not None and server.scale_up.domain_gpus > server.gpus
    peak = peaks[model.precision.compute]
    roof = Roof(gpu, MappingProxyType(peaks), software, fuses_all(model, in_rack))
    given = exact(utilization) if isinstance(utilization, float | int) else utilization
    servers = ceil_div(ranks.gpus, max(1, server.gpus))
    memory_gb = None if server.gpu_memory_gb is None else exact(server.gpu_memory_gb)
    return ModelRun(model, ranks, domains, rate, peak, given, roof, servers, memory_gb, in_rack=in_rack)


@dataclass(frozen=True)
class Cost:
    """Costs of calls of one kind for a GPU in a step. ``bytes_over``: by boundary; ``place``: the smallest block that
    holds the groups.
    """

    traffic: Traffic
    place: Place
    algorithm: Algorithm
    sent: Fraction
    bytes_over: Mapping[str, Fraction]
    time_s: Fraction
    hidden_s: Fraction = Fraction(0)
    exposed_s: Fraction = Fraction(0)


@dataclass(frozen=True)
class Step:
    """A step on a network. ``free_s``: seconds if the network took no time; ``costs``: of all calls."""

    compute_s: Fraction
    free_s: Fraction
    exposed_s: Fraction
    costs: tuple[Cost, ...]

    @property
    def step_s(self) -> Fraction:
        """Seconds of the whole step."""
        return self.free_s + self.exposed_s

    @property
    def exposed_share(self) -> Fraction:
        """Exposed communication as a share of the step."""
        return self.exposed_s / self.step_s

    def utilization(self, workload: ModelRun) -> Fraction:
        """The model's operations over those that the GPUs could do in the step."""
        return workload.gpu_flops(hardware=False) / (workload.peak_flops * self.step_s)


def step_on(workload: ModelRun, network: FabricBandwidth) -> Step:
    """A step of a workload on a network."""
    rates = _rates(network, workload)
    costs = [
        _cost(traffic, _ways(workload, network, number, traffic), rates)
        for number, traffic in enumerate(workload.traffic)
    ]
    near = [cost for cost in costs if cost.place == DOMAIN]
    far = [cost for cost in costs if cost.place != DOMAIN]
    compute_s = workload.compute_s
    exposed_near = _exposed(workload, near, compute_s)
    free_s = compute_s * (1 + workload.bubble) + sum(cost.exposed_s for cost in exposed_near)
    if workload.utilization is not None:
        free_s = workload.gpu_flops(hardware=False) / (workload.peak_flops * workload.utilization)
        compute_s = free_s / (1 + workload.bubble)
    window = compute_s - sum(cost.hidden_s for cost in exposed_near) if workload.utilization is None else compute_s
    exposed_far = _exposed(workload, far, max(Fraction(0), window))
    return Step(
        compute_s, free_s, sum((cost.exposed_s for cost in exposed_far), Fraction(0)), (*exposed_near, *exposed_far)
    )


def _cost(traffic: Traffic, ways: Sequence[Way], rates: Mapping[str, Fraction]) -> Cost:
    """The fastest way to run the calls."""
    time_s, way = min(((way.time_s(rates), way) for way in ways), key=lambda timed: timed[0])
    bytes_over = {place: traffic.calls * amount for place, amount in way.over.items()}
    place = _place_after(list(way.over)[-1])
    return Cost(traffic, place, way.algorithm, max(bytes_over.values()), bytes_over, traffic.calls * time_s)


def _ways(workload: ModelRun, network: FabricBandwidth, number: int, traffic: Traffic) -> tuple[Way, ...]:
    """The ways to run a call, whatever the bandwidth; ``number``: its index in the step."""
    leaf, pod = blocks_below(workload, network.leaf_gpus, network.pod_gpus)
    behind = _crossings_by_boundary(workload, traffic.group, int(leaf), int(pod))
    crossed = {place: crossing for place, crossing in behind.items() if crossing.cut}
    channels = channels_between(workload, traffic.group, network.server_mbps)
    further_s = network.further_s[_BOUNDARIES.index(max(crossed, key=_BOUNDARIES.index))]
    key = _WayKey(number, tuple(crossed.items()), network.reduces, channels, further_s)
    return _WAYS.of(workload, key, _ways_over, workload, traffic, key)


class _WayKey(NamedTuple):
    """The inputs of the ways to run a call. ``crossed``: boundaries, and the share of its groups' traffic over each;
    ``channels``, ``further_s``: as of ``Spread``.
    """

    number: int
    crossed: tuple[tuple[str, Crossing], ...]
    reduces: bool
    channels: int
    further_s: Fraction


_WAYS: Lookup[ModelRun, _WayKey, tuple[Way, ...]] = Lookup()


def _ways_over(workload: ModelRun, traffic: Traffic, key: _WayKey) -> tuple[Way, ...]:
    return tuple(
        Way(
            algorithm,
            tuple(protocols_of(workload, traffic, algorithm, key.channels, key.further_s)),
            {place: _bytes_over(traffic, algorithm, crossing, place) for place, crossing in key.crossed},
        )
        for algorithm in algorithms(traffic.operation, "server" in dict(key.crossed) and key.reduces)
    )


def protocols_of(
    workload: ModelRun, traffic: Traffic, algorithm: Algorithm, channels: int, further_s: Fraction = Fraction(0)
) -> Iterator[Running]:
    """A call with each protocol that it may have; ``channels``, ``further_s``: as of ``Spread``."""
    domain, group = workload.domain_gpus, traffic.group
    spread = Spread(group.size, group.inside(domain), most_domains(group, domain), channels, further_s)
    for protocol in payloads(algorithm):
        yield running(traffic.operation, algorithm, protocol, traffic.message, spread, workload.roof.gpu.generation)


def channels_between(workload: ModelRun, group: Group, nic_mbps: float | Fraction) -> int:
    """Channels of NCCL between the domains of a group, over NICs of ``nic_mbps`` Mb/s."""
    nics, generation = group.inside(workload.domain_gpus), workload.roof.gpu.generation
    return nics if generation is None else channels_of(generation, nics, Fraction(nic_mbps) / MBPS_PER_GBPS)


def _bytes_over(traffic: Traffic, algorithm: Algorithm, crossing: Crossing, place: str) -> Fraction:
    """Bytes of a call over a boundary for each GPU; a GPU at the edge of a server sends all of its part itself."""
    if traffic.operation == "send" and place == "server":
        crossing = Crossing(Fraction(1))
    share = Fraction(1) if place == "gpu" else traffic.copies
    return share * sent_over(traffic.operation, algorithm, traffic.group.size, crossing, traffic.message)


def blocks_below(workload: ModelRun, leaf_gpus: Number, pod_gpus: Number) -> tuple[Ints, Ints]:
    """GPUs that are behind leaves, and behind a pod's uplinks, for certain; the arguments are upper limits, numbers or
    arrays of shape (networks,), as the results are.
    """
    return blocks_of(workload.placing, leaf_gpus, pod_gpus, workload.domains, workload.cluster_gpus)


def _crossings_by_boundary(workload: ModelRun, group: Group, leaf: int, pod: int) -> dict[str, Crossing]:
    """Crossing traffic by boundary, from the inside out. ``leaf``, ``pod``: GPUs of their blocks."""
    domain, crossings = workload.domain_gpus, workload.crossings
    behind = {"gpu": crossings.of_domain(group, 1)} if domain > 1 else {}
    behind["server"] = crossings.of_domain(group, domain)
    return {**behind, "leaf": leaf_crossing(workload, group, leaf), "pod": leaf_crossing(workload, group, pod)}


def leaf_crossing(workload: ModelRun, group: Group, block: int) -> Crossing:
    """Traffic of a group over the boundary of leaves, or a pod, of ``block`` GPUs; with 0, the traffic out of its
    domains.
    """
    crossings = workload.crossings
    return crossings.of_leaves(group, block) if block else crossings.of_domain(group, workload.domain_gpus)


def _rates(network: FabricBandwidth, workload: ModelRun) -> dict[str, Fraction]:
    """Bytes a second for each GPU, by boundary."""
    rates = (workload.domain_mbps, network.server_mbps, *workload.placing.uplinks_mbps(network))
    return {place: rate * _BYTES_PER_MBPS for place, rate in zip(_BOUNDARIES, rates, strict=True)}


def _place_after(crossed: str) -> Place:
    """Place of calls that cross no boundary beyond this one."""
    return PLACES[_BOUNDARIES.index(crossed)]


def _exposed(workload: ModelRun, costs: Sequence[Cost], window_s: Fraction) -> list[Cost]:
    """Costs with their hidden and exposed seconds, where communicators take their turn behind ``window_s`` of
    computation.

    Calls of every micro-batch take longer while the pipeline fills and drains, too. Gradients wait for the last
    micro-batch and parameters for the first, so that both have the time of one to hide behind.
    """
    exposed, left = [], window_s
    for cost in sorted(costs, key=lambda cost: COMMUNICATORS.index(cost.traffic.communicator)):
        traffic = cost.traffic
        room = left if traffic.repeats else min(left, window_s / workload.micro_batches)
        hidden_s = min(workload.hides(traffic) * cost.time_s, room)
        left -= hidden_s
        longer = 1 + workload.bubble if traffic.repeats else Fraction(1)
        of_call = traffic, cost.place, cost.algorithm, cost.sent, cost.bytes_over, cost.time_s
        exposed.append(Cost(*of_call, hidden_s, (cost.time_s - hidden_s) * longer))
    return exposed
