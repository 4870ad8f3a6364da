"""A step of a workload on a design: bytes, times, utilization, and the cost of a working GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from fabopt.schema.model import Plan
from fabopt.schema.prediction import CommunicatorUse, WorkloadNeeds, WorkloadUse
from fabopt.schema.server import Server
from fabopt.units import Number, cents, plain_fraction, rounded, summed, usd
from fabopt.workload.architecture import parameters
from fabopt.workload.jobs import ServedJob
from fabopt.workload.memory import memory_use
from fabopt.workload.overlap import ENDS, key_of
from fabopt.workload.pace import JobPace
from fabopt.workload.stages import slow_end_s
from fabopt.workload.timing import DOMAIN, PLACES, Cost, FabricBandwidth, ModelRun, Step, step_on
from fabopt.workload.volumes import COMMUNICATORS

SECOND_DIGITS = 9
# Factor by which a leaf without its only spine lacks uplinks.
NOTHING = 10**6


def network_of(
    injection_mbps: Fraction,
    ratios: Mapping[str, Fraction],
    below: tuple[int, int],
    reduces: bool,
    without_spine: Fraction | None = None,
) -> FabricBandwidth:
    """Bandwidth of each GPU in a Clos: the injection, over the ratios above 1 at each boundary.

    ``below``: GPUs that reach each other under a leaf (of each rail), and within a pod. ``without_spine``: the ratio at
    the leaves once a spine is lost (``ratio_left``); its pod then has as many uplinks less, for as much less traffic.
    """
    whole, left = (
        _uplink_mbps(injection_mbps, ratio, ratios.get("spine", Fraction(1)))
        for ratio in (ratios.get("leaf", Fraction(1)), without_spine or Fraction(1))
    )
    return FabricBandwidth(injection_mbps, *whole, *below, reduces, None if without_spine is None else left)


def _uplink_mbps(injection_mbps: Fraction, leaf: Fraction, spine: Fraction) -> tuple[Fraction, Fraction]:
    """Mb/s of each GPU through leaves and through pods at some ratios."""
    above_leaf = injection_mbps / max(Fraction(1), leaf)
    return above_leaf, above_leaf / max(Fraction(1), spine)


def ratio_left(down: Number, uplinks: Number, lost: Number) -> tuple[Number, Number]:
    """Down ports and uplinks of a leaf once it has lost the spine with most of its links.

    Numbers or arrays. A leaf without another spine keeps a millionth of an uplink: all but nothing passes.
    """
    left = uplinks - lost
    return down * np.where(left > 0, 1, NOTHING), np.maximum(left, 1)


def gpus_below(tiers: int, group_gpus: int, pod_groups: int, gpus: int) -> tuple[int, int]:
    """GPUs under the leaves of a group of servers, and in a pod; all of them where there is no tier above."""
    return gpus if tiers == 1 else group_gpus, gpus if tiers <= 2 else group_gpus * pod_groups


def cluster_cents(capex_cents: int, includes_servers: bool, server: Server, servers: int) -> int | None:
    """Cents of servers and network together; None if the server has no price."""
    if includes_servers:
        return capex_cents
    price, sold = server.price_usd, server.sold_for(servers)
    if isinstance(price, tuple):
        price = next((price_break.usd for price_break in reversed(price) if price_break.from_ <= sold), None)
    return None if price is None else capex_cents + sold * cents(price)


@dataclass(frozen=True)
class Prediction:
    """A workload on the network of a design.

    ``cents``: of servers and network, None if unknown; ``most_exposed``: the limit of the case, None for none;
    ``runs``: weighted runs of its scenarios, or none; ``least``: the least cents of a working GPU in each scenario,
    where regret decides; ``parts``: jobs beside each other, the first of which is the workload; ``served``: those
    beside them that serve, whose GPUs work in no step, so that one that works has no cost.
    """

    workload: ModelRun
    network: FabricBandwidth
    cents: int | None
    most_exposed: Fraction | None = None
    runs: tuple[tuple[Fraction, ModelRun], ...] = ()
    least: tuple[int, ...] = ()
    parts: tuple[JobPace, ...] = ()
    served: tuple[ServedJob, ...] = ()

    @property
    def mean_step_s(self) -> Fraction:
        """Seconds of a step, the mean of all weighted runs."""
        if not self.runs:
            return self.step.step_s
        return sum((weight * step_on(run, self.network).step_s for weight, run in self.runs), Fraction(0))

    @property
    def utilization(self) -> Fraction:
        """The model's operations over those that the GPUs could do in the mean step; of several jobs, of all."""
        if self.parts:
            working = sum((part.working_gpus(self.network) for part in self.parts), Fraction(0))
            return working / self.workload.cluster_gpus
        return self.workload.gpu_flops(hardware=False) / (self.workload.peak_flops * self.mean_step_s)

    @property
    def step(self) -> Step:
        """A step of the workload on the network."""
        return step_on(self.workload, self.network)

    def per_effective_gpu_cents(self, utilization: Fraction) -> int | None:
        """(Servers + network) / (GPUs x utilization), to the cent."""
        if self.cents is None or self.served:
            return None
        return rounded(self.cents / (self.workload.cluster_gpus * utilization))

    def per_effective_gpu_usd(self, utilization: Fraction) -> int | float | None:
        """(Servers + network) / (GPUs x utilization), in dollars; None if servers have no price."""
        per_gpu = self.per_effective_gpu_cents(utilization)
        return None if per_gpu is None else usd(per_gpu)


def use_of(prediction: Prediction, needs: WorkloadNeeds) -> WorkloadUse:
    """The prediction for a design file."""
    workload, step = prediction.workload, prediction.step
    utilization = prediction.utilization
    tokens = workload.plan.batch * workload.model.architecture.sequence
    return WorkloadUse(
        model=workload.model.name,
        gpus=workload.cluster_gpus,
        plan=_complete_plan(workload),
        parameters=parameters(workload.model.architecture).total,
        flops_per_step=plain_fraction(workload.gpu_flops(hardware=True) * workload.ranks.gpus, 0),
        tokens_per_step=tokens,
        needs=needs,
        memory=memory_use(workload.model, workload.ranks, workload.memory_gb),
        communicators=tuple(communicator_rows(step.costs)),
        binding=binding(step.costs),
        compute_s=seconds(step.compute_s),
        free_s=seconds(step.free_s),
        step_s=seconds(step.step_s),
        software=workload.roof.software,
        step_band_s=_band_s(workload, prediction.network, step),
        exposed_communication=plain_fraction(step.exposed_share),
        gpu_utilization=plain_fraction(utilization),
        tokens_per_s=plain_fraction(tokens / step.step_s, 1),
        usd_per_effective_gpu=prediction.per_effective_gpu_usd(utilization),
        placement=workload.placing.placement,
    )


def _complete_plan(workload: ModelRun) -> Plan:
    """The plan with every key set."""
    plan = workload.plan
    overlap = plan.overlap.model_copy(update=dict(_shown_overlap(workload)))
    opened = {"data": workload.ranks.data, "sequence_parallel": plan.splits_sequence, "overlap": overlap}
    return plan.model_copy(
        update={**opened, "fused_attention": plan.fuses_attention, "expert_tensor": plan.expert_ways}
    )


def _shown_overlap(workload: ModelRun) -> Iterator[tuple[str, float | tuple[float, float]]]:
    """What computation hides of each communicator of the run: a share, or least and most."""
    for traffic in workload.traffic:
        low, _, high = map(float, workload.range_of(traffic))
        yield key_of(traffic), low if low == high else (low, high)


def _band_s(workload: ModelRun, network: FabricBandwidth, step: Step) -> tuple[int | float, int | float]:
    """The band of the model around the likely step, widened to what overlap decides."""
    off = workload.band
    slow, _, fast = (step_on(replace(workload, overlap=end), network).step_s for end in ENDS)
    return seconds(min(step.step_s * (1 - off), fast)), seconds(max(slow_end_s(step.step_s, off), slow))


def binding(costs: Iterable[Cost]) -> str | None:
    """The communicator that GPUs wait for longest on the network; None if they never do."""
    waits = summed((cost.traffic.communicator, cost.exposed_s) for cost in costs if cost.place != DOMAIN)
    longest = max(waits, key=lambda name: waits[name], default=None)
    return longest if longest is not None and waits[longest] > 0 else None


def communicator_rows(costs: Sequence[Cost]) -> Iterable[CommunicatorUse]:
    """The calls of a step, by communicator."""
    for name in COMMUNICATORS:
        of_communicator = [cost for cost in costs if cost.traffic.communicator == name]
        if of_communicator:
            yield _row(name, of_communicator)


def _row(name: str, costs: Sequence[Cost]) -> CommunicatorUse:
    over = summed(pair for cost in costs for pair in cost.bytes_over.items())
    return CommunicatorUse(
        communicator=name,
        group=max(cost.traffic.group.size for cost in costs),
        operations=tuple(dict.fromkeys(cost.traffic.operation for cost in costs)),
        algorithms=tuple(dict.fromkeys(cost.algorithm for cost in costs)),
        place=max((cost.place for cost in costs), key=PLACES.index),
        calls=plain_fraction(sum((cost.traffic.calls for cost in costs), Fraction(0)), 1),
        bytes_sent=plain_fraction(sum((cost.sent for cost in costs), Fraction(0)), 0),
        bytes_over={place: plain_fraction(amount, 0) for place, amount in over.items()},
        time_s=seconds(sum((cost.time_s for cost in costs), Fraction(0))),
        hidden_s=seconds(sum((cost.hidden_s for cost in costs), Fraction(0))),
        exposed_s=seconds(sum((cost.exposed_s for cost in costs), Fraction(0))),
    )


def seconds(value: Fraction) -> int | float:
    """Seconds rounded as in files."""
    return plain_fraction(value, SECOND_DIGITS)
