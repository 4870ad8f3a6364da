"""Placements of ranks: neighbours that are sure to be on the same leaves, or in the same pod.

Packed: neighbours fill a group of leaves after the other, and a pod after the other. Within leaves: they fill groups of
leaves, which are anywhere. Within pods: they fill pods, in which servers are anywhere. Scattered: servers are anywhere,
so that only a server (a rack, where groups of leaves are racks) keeps its traffic below.

Jobs beside each other: what each has of uplinks in the worst placement of all.

Blocks (leaves, pods) of g GPUs give g c Mb/s over their boundary, c for each GPU. A job has what it needs of that, or
as much as others where that is less (max-min fairness). Servers of jobs lie anywhere, so that any block may be full of
the jobs that need most for each GPU; nothing crosses for a job that is all in one block. The worst block for a job has
as many of its servers as go in, then those of the jobs that need most. Every job that crosses has a server outside, so
that of a block with fewer servers outside than there are jobs only those cross of which most does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import exp, lgamma, log
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabopt.schema.workload import OtherJob, Placement, QueuePairs, Spreading, Within, taken_by
from fabopt.units import Number, Truth

# A rate of one network, or of many, shape (networks,).
RateT = TypeVar("RateT", Fraction, NDArray[np.float64])
_Rate_co = TypeVar("_Rate_co", Fraction, NDArray[np.float64], covariant=True)


class Networks(Protocol[_Rate_co]):
    """One network, a ``FabricBandwidth``, or many of the same NICs, ``FabricBandwidths``."""

    @property
    def server_mbps(self) -> Fraction | float:
        """Mb/s of each GPU through its NICs."""

    @property
    def leaf_mbps(self) -> _Rate_co:
        """Mb/s of each GPU through a leaf's uplinks."""

    @property
    def pod_mbps(self) -> _Rate_co:
        """Mb/s of each GPU through a pod's uplinks."""

    @property
    def leaf_gpus(self) -> Number:
        """GPUs that reach each other below a leaf."""

    @property
    def pod_gpus(self) -> Number:
        """GPUs that reach each other within a pod."""

    @property
    def left(self) -> tuple[_Rate_co, _Rate_co] | None:
        """Mb/s through leaves and pods after the loss of a spine; None: unchanged."""


@dataclass(frozen=True)
class JobMix:
    """Jobs of a cluster: GPUs of each, and whole Mb/s that each of them needs.

    ``own``: which of them is looked at; ``gpus``: of the cluster; ``server_gpus``: of a server, which has one job.
    """

    jobs: tuple[tuple[int, int], ...]
    own: int
    gpus: int
    server_gpus: int

    def of(self, own: int) -> JobMix:
        """All jobs, as seen by one of them."""
        return replace(self, own=own)

    def at_most(self, mbps: int) -> JobMix:
        """All jobs, if none needed more than ``mbps``."""
        return replace(self, jobs=tuple((gpus, min(mbps, need)) for gpus, need in self.jobs))

    def dealt(self, block: Number, first: int | None = None, level: Any = None) -> Iterator[tuple[int, Any]]:
        """Jobs and their GPUs in the worst block of ``block`` GPUs whose traffic crosses its boundary.

        ``first``: a job that goes in before others; ``level``: Mb/s that no GPU has more of. Numbers, or arrays of
        shape (networks,), as ``block`` is.
        """
        room, crosses = block, self._crossing(block, first, level)
        for job in sorted(range(len(self.jobs)), key=lambda job: (job != first, -self.jobs[job][1], job)):
            inside = _ends(room, self.jobs[job][0] - self.server_gpus)[0] * crosses[job]
            room = room - inside
            yield job, inside

    def _crossing(self, block: Number, first: int | None, level: Any) -> list[Any]:
        """Whether each job crosses the boundary of the worst block, one of each of whose servers is outside."""
        outside = (self.gpus - block) // self.server_gpus
        if np.all(outside >= len(self.jobs)):
            return [1] * len(self.jobs)
        most = [
            np.inf if job == first else (gpus - self.server_gpus) * (need if level is None else _ends(level, need)[0])
            for job, (gpus, need) in enumerate(self.jobs)
        ]
        before = [
            sum((other > own) | ((other == own) & (place < job)) for place, other in enumerate(most))
            for job, own in enumerate(most)
        ]
        return [(number < outside) * 1 for number in before]

    def demand_mbps(self, block: Number) -> Any:
        """Mb/s for each GPU that blocks of ``block`` GPUs must give in the worst placement; 0 for all GPUs."""
        asked = sum(inside * self.jobs[job][1] for job, inside in self.dealt(block))
        if isinstance(block, np.ndarray):
            return np.where(block >= self.gpus, 0.0, asked / block)
        return Fraction(0) if block >= self.gpus else Fraction(asked, block)

    def share_mbps(self, mbps: RateT, block: Number) -> RateT:
        """Mb/s for each GPU of the own job over the boundary of blocks that give ``mbps`` a GPU: that, or more.

        Which jobs cross beside it depends on what a GPU has: from that of any jobs down to where no others leave less.
        """
        level: RateT = self._level_mbps(mbps, block, None)
        while np.any((lower := self._level_mbps(mbps, block, level)) < level):
            level = lower
        return level

    def _level_mbps(self, mbps: RateT, block: Number, level: RateT | None) -> RateT:
        """What a GPU of the own job has in the block that is worst where none has more than ``level``.

        Of the levels up to which all jobs are filled but those that need least, which have what they need, the highest.
        """
        inside = dict(self.dealt(block, self.own, level))
        own = _ends(inside.pop(self.own), 1)[1]
        rate: Any = mbps
        left, filled = rate * block, own + sum(inside.values())
        highest: RateT = left / filled
        for job in sorted(inside, key=lambda job: self.jobs[job][1]):
            left, filled = left - inside[job] * self.jobs[job][1], filled - inside[job]
            highest = _ends(highest, left / filled)[1]
        return highest


def _ends(first: Any, other: Any) -> tuple[Any, Any]:
    """The smaller and the larger of two numbers, or of each of two arrays."""
    if isinstance(first, np.ndarray):
        return np.minimum(first, other), np.maximum(first, other)
    return min(first, other), max(first, other)


# -- a job's share of the uplinks -------------------------------------------------------------------------------------
# A job's share of the uplinks: how evenly its flows are spread over them, less the share of other jobs.
#
# Adaptive routing sends every packet over the least busy uplink, so that all carry the same. Static hashing puts
# every flow on one uplink at random: a collective waits for the fullest one. With m flows on u uplinks the share in
# use is (m/u) / E[most flows on an uplink], the expected value exactly that of balls thrown into bins. A flow is a
# queue pair; a sender has n of them.


# Of a leaf of 64 ports at 1:1. With more uplinks the fullest is fuller: of 64 with one queue pair 0.26 are used.
UPLINKS = SENDERS = 32
WHOLE = Fraction(1)
_DIGITS = 10**4
_SURE = 1e-9


def uplink_share(spreading: Spreading | None, other_jobs: float | tuple[OtherJob, ...]) -> Fraction:
    """A job's share of the bandwidth of uplinks."""
    spread = hashed_share(spreading.queue_pairs) if isinstance(spreading, QueuePairs) else WHOLE
    return spread * (1 - taken_by(other_jobs))


@cache
def hashed_share(queue_pairs: int) -> Fraction:
    """The share of uplinks that static hashing uses, in ten-thousandths."""
    flows = SENDERS * queue_pairs
    fullest, most = 0.0, 0
    while (below := _none_is_fuller(flows, most)) < 1 - _SURE:
        fullest, most = fullest + 1 - below, most + 1
    return Fraction(int(_DIGITS * flows / UPLINKS / fullest), _DIGITS)


def _none_is_fuller(flows: int, most: int) -> float:
    """The probability that no uplink has more than ``most`` of the flows.

    Flows on an uplink are as Poisson numbers with a mean of flows / uplinks, given that all add up to the flows.
    """
    mean = flows / UPLINKS
    on_uplink: NDArray[np.float64] = np.exp([count * log(mean) - mean - lgamma(count + 1) for count in range(most + 1)])
    every = on_uplink
    for _ in range(UPLINKS.bit_length() - 1):
        every = np.convolve(every, every)[: flows + 1]
    if len(every) <= flows:
        return 0.0
    return float(every[flows] / exp(flows * log(flows) - flows - lgamma(flows + 1)))


# -- placements of ranks ----------------------------------------------------------------------------------------------


Ints = NDArray[np.int64]
BOUNDARIES = ("leaf", "pod")


@dataclass(frozen=True)
class Placing:
    """A placement of ranks.

    ``together_gpus``: GPUs that share a group of leaves however servers are dealt; ``is_asked_for``: whether the case
    says the placement, so that demands count on it; ``uplinks``: the share of uplinks that the job has
    (``fabopt.workload.placement``); ``loses_spine``: whether each pod has lost a spine; ``crosses_rails``: whether
    traffic of a server may arrive on another rail, so that leaves of one rail keep no traffic below, however many
    servers they hold. Source: ``NCCL_CROSS_NIC``, whose default lets rings do so. ``is_uniform``: whether servers send
    to all others alike, on any rail, so that all traffic of a server counts at every boundary; jobs kept in pods do not
    leave these. ``beside``: the jobs of the cluster, where there are several, or one on a part of it.
    """

    placement: Placement = "packed"
    together_gpus: int = 1
    is_asked_for: bool = False
    uplinks: Fraction = WHOLE
    loses_spine: bool = False
    crosses_rails: bool = False
    is_uniform: bool = False
    beside: JobMix | None = None

    def holds(self, boundary: str) -> bool:
        """Whether neighbouring ranks fill the blocks behind a boundary."""
        if isinstance(self.placement, Within):
            return self.placement.within == boundary
        return self.placement == "packed"

    @property
    def counts_on_sizes(self) -> bool:
        """Whether demands on a fabric depend on the servers that leaves or pods hold."""
        kept_together = self.is_asked_for and any(self.holds(boundary) for boundary in BOUNDARIES)
        return kept_together or self.beside is not None

    def uplinks_mbps(self, network: Networks[RateT]) -> tuple[RateT, RateT]:
        """Mb/s for each GPU of the job through uplinks of leaves and of pods; arrays for ``FabricBandwidths``."""
        left = network.left if self.loses_spine else None
        leaf, pod = left or (network.leaf_mbps, network.pod_mbps)
        return self._has_mbps(leaf, network.leaf_gpus), self._has_mbps(pod, network.pod_gpus)

    def _has_mbps(self, mbps: RateT, block: Number) -> RateT:
        mbps = mbps * (float(self.uplinks) if isinstance(mbps, np.ndarray) else self.uplinks)
        return mbps if self.beside is None else self.beside.share_mbps(mbps, block)


PACKED = Placing()


class Domains(NamedTuple):
    """Scale-up domains of a cluster: GPUs in each, ``held``, and those of them that a model takes, ``used``."""

    used: int
    held: int

    def at_work(self, gpus: Number) -> Number:
        """GPUs that a model takes of so many installed ones, where these are whole domains; else all."""
        return np.where(gpus % self.held == 0, gpus // self.held * self.used, gpus) if self.used < self.held else gpus


def blocks_of(
    placing: Placing, leaf_installed: Number, pod_installed: Number, domains: Domains, gpus: int
) -> tuple[Ints, Ints]:
    """GPUs at work behind leaves, and behind a pod's uplinks, for certain; 0 where no whole scale-up domain is.

    ``leaf_installed``, ``pod_installed``: GPUs of leaves and pods, spares among them, numbers or arrays of shape
    (networks,), as the results are; ``gpus``: at work in all.
    """
    leaf_gpus, pod_gpus, domain = domains.at_work(leaf_installed), domains.at_work(pod_installed), domains.used
    certain = placing.holds("leaf") | (leaf_gpus >= gpus) | (leaf_installed <= placing.together_gpus)
    kept = certain & _is_whole(leaf_gpus, domain, gpus) & (not placing.crosses_rails) & (not placing.is_uniform)
    leaf = np.where(kept, leaf_gpus, 0)
    certain = placing.holds("pod") | ((pod_gpus >= gpus) & (not placing.is_uniform))
    pod = np.where(certain & _is_whole(pod_gpus, domain, gpus), pod_gpus, 0)
    return leaf, np.maximum(leaf, pod)


def _is_whole(block: Number, domain: int, gpus: int) -> Truth:
    """Whether no domain straddles two blocks."""
    return (block % domain == 0) | (block >= gpus)
