"""The pace of a workload: the time of its step on any network, of one run, of several, or of jobs beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fabopt.parts.lookup import Lookup
from fabopt.workload.jobs import RunningJob, ServedJob
from fabopt.workload.many import FabricBandwidths, Floats, KnownSteps, StepTimes
from fabopt.workload.placement import JobMix, Networks, RateT
from fabopt.workload.timing import FabricBandwidth, ModelRun, step_on


def work_s(run: ModelRun) -> Fraction:
    """Seconds in which GPUs at their peak would do a step, times their number."""
    return run.gpu_flops(hardware=False) * run.ranks.gpus / run.peak_flops


# Share of the time that is left to a job that does nothing but send.
LEAST_LEFT = Fraction(1, 10**6)


class JobPace(NamedTuple):
    """A job of several, and its pace."""

    job: RunningJob
    pace: Pace

    def working_gpus(self, network: FabricBandwidth) -> Fraction:
        """GPUs times utilization, while it runs and its GPUs wait for nothing else."""
        left: Fraction = max(LEAST_LEFT, 1 - self.job.paused(network))
        return self.job.of_day * left * work_s(self.pace.workload) / self.pace.step_s(network)

    def working_gpus_on(self, networks: FabricBandwidths) -> Floats:
        """GPUs times utilization on many networks at once, to rounding; shape (networks,)."""
        left = np.maximum(float(LEAST_LEFT), np.asarray(1 - self.job.paused(networks), dtype=float))
        return np.asarray(float(self.job.of_day * work_s(self.pace.workload)) * left / self.pace.steps_s(networks))


@dataclass(frozen=True, eq=False)
class Pace:
    """The time of a step of a workload on any network: of a single run, or the mean of weighted scenarios.

    ``parts``: of several jobs, the first of which is ``workload``; its step is then as long as if it did what all of
    them do. ``served``: jobs beside them that serve, whose work counts in no step.
    """

    workload: ModelRun
    runs: tuple[tuple[Fraction, ModelRun], ...]
    parts: tuple[JobPace, ...] = ()
    served: tuple[ServedJob, ...] = ()

    def working_gpus(self, network: FabricBandwidth) -> Fraction:
        """GPUs times utilization, of all jobs."""
        if self.parts:
            return sum((part.working_gpus(network) for part in self.parts), Fraction(0))
        return work_s(self.workload) / self.step_s(network)

    def step_s(self, network: FabricBandwidth) -> Fraction:
        """Seconds of a step, exactly."""
        if self.parts:
            return work_s(self.workload) / self.working_gpus(network)
        return sum((weight * _STEP_S.of(run, network, _step_s, run, network) for weight, run in self.runs), Fraction(0))

    def steps_s(self, networks: FabricBandwidths) -> Floats:
        """Seconds of a step on many networks at once, to rounding; shape (networks,)."""
        if not self._last or self._last[0][0] is not networks:
            self._last[:] = [(networks, self._known.of(networks, self._timed))]
        return self._last[0][1]

    def _timed(self, networks: FabricBandwidths) -> Floats:
        if self.parts:
            working = np.sum([part.working_gpus_on(networks) for part in self.parts], axis=0)
            return np.asarray(float(work_s(self.workload)) / working)
        return np.asarray(np.sum([float(weight) * times.step_s(networks) for weight, times in self._times], axis=0))

    @property
    def loses_spine(self) -> bool:
        """Whether bandwidth after the loss of a spine counts."""
        return any(run.placing.loses_spine for _, run in self.runs)

    @property
    def holds_pods(self) -> bool:
        """Whether neighbouring ranks fill pods, so that the pods' size decides the traffic over their uplinks."""
        return any(run.placing.holds("pod") or run.placing.beside is not None for _, run in self.runs)

    @cached_property
    def _last(self) -> list[tuple[FabricBandwidths, Floats]]:
        """The networks timed last: callers ask for the same ones in turn."""
        return []

    @cached_property
    def _known(self) -> KnownSteps:
        """Steps computed before: other hardware often gives the same network."""
        return KnownSteps()

    @cached_property
    def _times(self) -> list[tuple[Fraction, StepTimes]]:
        return [(weight, StepTimes(run)) for weight, run in self.runs]


@dataclass(frozen=True, eq=False)
class WorstPace:
    """The largest of several paces, each times a factor: the least time that would do for the worst of them."""

    workload: ModelRun
    paces: tuple[tuple[Fraction, Pace], ...]

    def step_s(self, network: FabricBandwidth) -> Fraction:
        """Seconds of the slowest step, factor included, exactly."""
        return max(factor * pace.step_s(network) for factor, pace in self.paces)

    def steps_s(self, networks: FabricBandwidths) -> Floats:
        """Seconds of the slowest step on many networks at once, to rounding; shape (networks,)."""
        return np.asarray(np.max([float(factor) * pace.steps_s(networks) for factor, pace in self.paces], axis=0))

    @property
    def loses_spine(self) -> bool:
        """Whether bandwidth after the loss of a spine counts."""
        return any(pace.loses_spine for _, pace in self.paces)

    @property
    def holds_pods(self) -> bool:
        """Whether neighbouring ranks fill pods, so that the pods' size decides the traffic over their uplinks."""
        return any(pace.holds_pods for _, pace in self.paces)


@dataclass(frozen=True, eq=False)
class MixPace:
    """How many times what a network gives jobs in the worst placement of all need, at the worst boundary.

    ``boundaries``: of ``leaf`` and ``pod``, those that count. Rule ``jobs_are_recounted``.
    """

    workload: ModelRun
    beside: JobMix
    boundaries: tuple[str, ...]
    loses_spine: bool = False
    holds_pods: bool = True

    def step_s(self, network: FabricBandwidth) -> Fraction:
        """What is needed over what there is, exactly."""
        return max((self._over(network, name) for name in self.boundaries), default=Fraction(0))

    def steps_s(self, networks: FabricBandwidths) -> Floats:
        """What is needed over what there is on many networks at once, to rounding; shape (networks,)."""
        worst = np.zeros(networks.leaf_mbps.shape)
        return np.asarray(np.maximum.reduce([worst, *(self._over(networks, name) for name in self.boundaries)]))

    def _over(self, network: Networks[RateT], name: str) -> RateT:
        leaf, pod = (network.leaf_mbps, network.leaf_gpus), (network.pod_mbps, network.pod_gpus)
        mbps, block = leaf if name == "leaf" else pod
        used = self.workload.placing.uplinks
        over: RateT = self.beside.demand_mbps(block) / (mbps * (used if isinstance(mbps, Fraction) else float(used)))
        return over


AnyPace = Pace | WorstPace | MixPace


def pace_of_run(workload: ModelRun) -> Pace:
    """The pace of one run."""
    return Pace(workload, ((Fraction(1), workload),))


_STEP_S: Lookup[ModelRun, FabricBandwidth, Fraction] = Lookup()


def _step_s(workload: ModelRun, network: FabricBandwidth) -> Fraction:
    return step_on(workload, network).step_s
