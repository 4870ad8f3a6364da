"""A step counted again from ranks dealt one by one: calls, time hidden behind computation, time exposed.

Computation of a GPU, and bytes and latency of a single call, are those of ``fabopt.workload``; senders by boundary, the
fastest algorithm and protocol, and the time of a step are counted here. Source: docs/workloads.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from fabopt.units import exact
from fabopt.verify.mixes import level_mbps
from fabopt.verify.ranks import DealtRanks
from fabopt.workload.collectives import Algorithm, algorithms
from fabopt.workload.timing import DOMAIN, Cost, FabricBandwidth, ModelRun, channels_between, protocols_of
from fabopt.workload.volumes import Traffic

# Bytes a second of one Mb/s.
BYTES_PER_MBPS = Fraction(10**6, 8)
# Boundaries, from the inside out; each is as many steps out as its place.
BOUNDARIES = ("gpu", "server", "leaf", "pod")
# Whose calls hide first.
IN_TURN = ("tensor", "context", "expert", "pipeline", "data")


class CallTime(NamedTuple):
    """Calls of one kind, the seconds that they take, and whether they leave the scale-up domains."""

    traffic: Traffic
    seconds: Fraction
    is_far: bool


class RecountedStep:
    """A step of a run on a network, by counting ranks."""

    def __init__(self, run: ModelRun, network: FabricBandwidth) -> None:
        self.run, self.network = run, network
        self.ranks = DealtRanks(run)
        self.rates = self._rates()

    def _rates(self) -> dict[str, Fraction]:
        """Bytes a second of each GPU over every boundary."""
        network, placing = self.network, self.run.placing
        above = (network.leaf_mbps, network.pod_mbps)
        if placing.loses_spine and network.left is not None:
            above = network.left
        mbps = {"gpu": self.run.domain_mbps, "server": network.server_mbps}
        mbps |= {place: rate * placing.uplinks for place, rate in zip(("leaf", "pod"), above, strict=True)}
        if placing.beside is not None:
            blocks = {"leaf": network.leaf_gpus, "pod": network.pod_gpus}
            mbps |= {place: level_mbps(placing.beside, mbps[place], block) for place, block in blocks.items()}
        return {place: rate * BYTES_PER_MBPS for place, rate in mbps.items()}

    def time_of(self, traffic: Traffic) -> CallTime:
        """The least time of the calls over all algorithms and protocols: latency, and the slowest boundary."""
        far = bool(self._over(traffic, algorithms(traffic.operation, False)[0]).keys() - {"gpu"})
        ways = []
        for algorithm in algorithms(traffic.operation, far and self.network.reduces):
            over = self._over(traffic, algorithm)
            slowest = max((amount / self.rates[place] for place, amount in over.items()), default=Fraction(0))
            channels = channels_between(self.run, traffic.group, self.network.server_mbps)
            farthest = max(over, key=BOUNDARIES.index, default=BOUNDARIES[0])
            further_s = self.network.further_s[BOUNDARIES.index(farthest)]
            for running in protocols_of(self.run, traffic, algorithm, channels, further_s):
                bytes_s = max(slowest / running.payload, traffic.calls * running.least_s)
                ways.append(traffic.calls * running.latency_s + bytes_s)
        return CallTime(traffic, min(ways), far)

    def _over(self, traffic: Traffic, algorithm: Algorithm) -> dict[str, Fraction]:
        cost = Cost(traffic, DOMAIN, algorithm, Fraction(0), {}, Fraction(0))
        return self.ranks.bytes_over(cost, self.network)

    @property
    def step_s(self) -> Fraction:
        """Seconds of the whole step."""
        run = self.run
        calls = sorted(map(self.time_of, run.traffic), key=lambda call: IN_TURN.index(call.traffic.communicator))
        near, far = ([call for call in calls if call.is_far == is_far] for is_far in (False, True))
        filling = Fraction(run.plan.pipeline - 1) / (run.plan.virtual_stages * run.micro_batches)
        if run.utilization is not None:
            free = run.gpu_flops(hardware=False) / (run.peak_flops * run.utilization)
            return free + self._waits(far, free / (1 + filling), filling)[0]
        waits, left = self._waits(near, run.compute_s, filling)
        return run.compute_s * (1 + filling) + waits + self._waits(far, left, filling)[0]

    def _waits(self, calls: list[CallTime], window_s: Fraction, filling: Fraction) -> tuple[Fraction, Fraction]:
        """Seconds that GPUs wait for calls, one kind after the other behind computation, and seconds of the window
        left.
        """
        waits, left = Fraction(0), window_s
        for call in calls:
            most = left if call.traffic.repeats else min(left, window_s / self.run.micro_batches)
            hidden = min(call.seconds * self._can_hide(call), most)
            left -= hidden
            waits += (call.seconds - hidden) * (1 + filling if call.traffic.repeats else 1)
        return waits, max(Fraction(0), left)

    def _can_hide(self, call: CallTime) -> Fraction:
        """The share of a call's time that computation can hide; see docs/workloads.md, *Overlap*."""
        traffic, plan, is_tuned = call.traffic, self.run.plan, self.run.roof.software == "tuned"
        name, sharded = traffic.communicator, plan.zero_stage == 3
        ahead = name == "data" and traffic.repeats and traffic.operation == "all-gather"
        given = getattr(plan.overlap, "gather" if ahead else name)
        given = plan.overlap.data if ahead and given is None else given
        most, likely = Fraction(1), Fraction(0)
        if name == "tensor":
            most = Fraction(plan.tensor - 1, plan.tensor) if plan.splits_sequence and not call.is_far else Fraction(0)
            likely = most if is_tuned else Fraction(0)
        elif is_tuned:
            likely = {"expert": Fraction(1, 2), "data": Fraction(sharded)}.get(name, Fraction(0))
        if name == "expert" and plan.recomputation == "full":
            most = likely = Fraction(0)
        least = likely if name == "tensor" else Fraction(0)
        if given is not None:
            least, most = map(exact, given if isinstance(given, tuple) else (given, given))
        return {"low": least, "likely": min(max(likely, least), most), "high": most}[self.run.overlap]
