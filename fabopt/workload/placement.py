"""Placements of ranks: neighbours that are sure to be on the same leaves, or in the same pod.

Packed: neighbours fill a group of leaves after the other, and a pod after the other. Within leaves: they fill groups of
leaves, which are anywhere. Within pods: they fill pods, in which servers are anywhere. Scattered: servers are anywhere,
so that only a server (a rack, where groups of leaves are racks) keeps its traffic below.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import exp, lgamma, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.schema.workload import OtherJob, Placement, QueuePairs, Spreading, Within, taken_by
from fabopt.units import Number, Truth
from fabopt.workload.beside import JobMix, Networks, RateT

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
