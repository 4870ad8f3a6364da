"""Jobs of a case: the GPUs that each has, what it sends beside its steps, and how long it runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fabopt.schema.jobs import HOURS_OF_A_DAY, Job
from fabopt.units import exact
from fabopt.workload.needs import MOST_MBPS, Reach, demanding, least_mbps
from fabopt.workload.placement import Networks, Placing, RateT
from fabopt.workload.service import Service
from fabopt.workload.timing import FabricBandwidth, ModelRun

_MEGABITS_OF_GB = 8000


class Pause(NamedTuple):
    """What each GPU of a job sends, in megabits, every so many seconds, while it waits.

    ``sent``: as the case says it; ``gpus``: those that send it together, or of each replica that takes it.
    """

    megabits: Fraction
    every_s: Fraction
    sent: Job
    gpus: int

    def least_mbps(self, share: Fraction) -> int:
        """Whole Mb/s with which it takes no more than a share of the time."""
        return math.ceil(self.megabits / (self.every_s * share))

    def share(self, workload: ModelRun, network: Networks[RateT]) -> RateT:
        """The share of time that it takes; an array for ``FabricBandwidths``."""
        rate = _slowest_mbps(workload, network)
        if isinstance(rate, Fraction):
            return self.megabits / rate / self.every_s
        return float(self.megabits / self.every_s) / rate


def _slowest_mbps(run: ModelRun, network: Networks[RateT]) -> RateT:
    """Mb/s for each GPU from any server to any other; an array for ``FabricBandwidths``."""
    least: Any = network.server_mbps
    uplinks: Any = run.placing.uplinks_mbps(network)
    for mbps, block in zip(uplinks, (network.leaf_gpus, network.pod_gpus), strict=True):
        if isinstance(block, np.ndarray):
            least = np.where(block < run.installed_gpus, np.minimum(least, mbps), least)
        elif block < run.installed_gpus:
            least = min(least, mbps)
    slowest: RateT = least
    return slowest


class RunningJob(NamedTuple):
    """A job that runs a model: its run, Mb/s that each GPU needs, and what else its GPUs send while they wait."""

    job: Job
    run: ModelRun
    need_mbps: int
    pauses: tuple[Pause, ...] = ()

    @property
    def of_day(self) -> Fraction:
        """The share of the day that it runs."""
        return exact(self.job.hours) / HOURS_OF_A_DAY

    def paused(self, network: Networks[RateT]) -> RateT | Fraction:
        """The share of time in which its GPUs wait for what is sent; an array for ``FabricBandwidths``."""
        return sum((pause.share(self.run, network) for pause in self.pauses), Fraction(0))


class ServedJob(NamedTuple):
    """A job that serves a model: Mb/s that each GPU needs, where its servers lie, and what else its GPUs send while
    they wait.
    """

    job: Job
    service: Service
    need_mbps: int
    placing: Placing
    pauses: tuple[Pause, ...] = ()

    def has(self, network: FabricBandwidth) -> FabricBandwidth:
        """What it has of a network in its worst placement beside others, in which only servers keep traffic below."""
        beside, near, most = self.placing.beside, self.placing.together_gpus, network.server_mbps
        assert beside is not None
        blocks = zip(self.placing.uplinks_mbps(network), (network.leaf_gpus, network.pod_gpus), strict=True)
        leaf, pod = (min(most, mbps) if block < beside.gpus else most for mbps, block in blocks)
        return replace(network, leaf_mbps=leaf, pod_mbps=pod, leaf_gpus=near, pod_gpus=near, left=None)

    def paused(self, network: FabricBandwidth) -> Fraction:
        """The share of time in which its GPUs wait for what is sent."""
        has = self.has(network)
        rate = min(has.leaf_mbps, has.pod_mbps)
        return sum((pause.megabits / rate / pause.every_s for pause in self.pauses), Fraction(0))


def weights_gpus(service: Service) -> int:
    """GPUs that hold the weights of a service once, of the kind of its GPUs where these are fewer."""
    return min(max(pool.plan.tensor, pool.plan.expert * pool.plan.expert_ways)
               for pool in (service.reading, service.writing))  # fmt: skip


def job_gpus(jobs: Sequence[Job], gpus: int, server_gpus: int) -> dict[str, int]:
    """GPUs of each job that runs a model, by title: shares are cut to whole servers, and one job has what is left."""
    known = {job.title: _given_gpus(job, gpus, server_gpus) for job in jobs if job.model is not None}
    left = gpus - sum(number for number in known.values() if number is not None)
    return {title: left if number is None else number for title, number in known.items()}


def _given_gpus(job: Job, gpus: int, server_gpus: int) -> int | None:
    return job.gpus if job.share is None else int(exact(job.share) * gpus / server_gpus) * server_gpus


def needed_mbps(run: ModelRun, limit: Fraction, reach: Reach) -> int:
    """Mb/s for each GPU that keep a run's exposed communication; as much as may be said where none does."""
    least = least_mbps(demanding(run), limit, reach)
    return MOST_MBPS if least is None else least


def pauses_of(jobs: Sequence[Job], sizes: Mapping[str, tuple[int, int]]) -> dict[str, tuple[Pause, ...]]:
    """What the GPUs of each job send and wait for, by title; ``sizes``: GPUs of each, and of one of its replicas.

    Those of the sender send a share each. Of the receiver each replica takes all of it, in shares over its GPUs, and
    replicas pass it on, so that none sends more than it takes.
    """
    pauses: dict[str, list[Pause]] = {title: [] for title in sizes}
    for job in jobs:
        if job.sends_gb is None or job.of is None or job.every_s is None:
            continue
        megabits, every_s = exact(job.sends_gb) * _MEGABITS_OF_GB, exact(job.every_s)
        moved = {job.of: sizes[job.of][0]} | ({} if job.to is None else {job.to: sizes[job.to][1]})
        for title, gpus in moved.items():
            pauses[title].append(Pause(megabits / gpus, every_s, job, gpus))
    return {title: tuple(of_job) for title, of_job in pauses.items()}
