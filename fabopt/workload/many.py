"""Steps of a workload on many networks at once, in floating point: the same as ``fabopt.workload.timing`` to rounding.

For bounds, and for what is far from a deadline; what is near it is timed exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.units import exact
from fabopt.workload.collectives import PAYLOAD, Algorithm, algorithms, factor
from fabopt.workload.needs import MOST_MBPS, Reach, flat
from fabopt.workload.ranks import Group
from fabopt.workload.straddling import Crossing
from fabopt.workload.timing import DOMAIN, ModelRun, blocks_below, latency_of, leaf_crossing, step_on
from fabopt.workload.volumes import COMMUNICATORS, Traffic

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BYTES_PER_MBPS = float(PAYLOAD) * 10**6 / 8


class FabricBandwidths(NamedTuple):
    """Networks of the same NICs, in arrays of shape (networks,).

    ``leaf_mbps`` and ``pod_mbps``: what leaves and pods give each GPU, in Mb/s; ``leaf_gpus`` and ``pod_gpus``: GPUs
    that reach each other below.
    """

    server_mbps: float
    leaf_mbps: Floats
    pod_mbps: Floats
    leaf_gpus: Ints
    pod_gpus: Ints
    reduces: bool


class _Boundary(NamedTuple):
    """What of a group crosses a boundary (see ``Crossing``), and bytes a second that each GPU may send over it."""

    cut: Floats | float
    apart: Floats | float
    rate: Floats | float
    is_server: bool = False


class StepTimes:
    """Times of a step of one workload on many networks."""

    def __init__(self, workload: ModelRun) -> None:
        self.workload = workload

    def step_s(self, networks: FabricBandwidths) -> Floats:
        """Seconds of a step on each network, shape (networks,)."""
        exposed = np.zeros(networks.leaf_mbps.shape)
        left = np.full(networks.leaf_mbps.shape, self._window_s)
        for traffic in self._far:
            time_s = self._time_s(traffic, networks)
            room = left if traffic.repeats else np.minimum(left, self._window_s / float(self.workload.micro_batches))
            overlap = float(exact(getattr(self.workload.plan.overlap, traffic.communicator)))
            hidden = np.minimum(overlap * time_s, room)
            left = left - hidden
            exposed += (time_s - hidden) * (1 + float(self.workload.bubble) if traffic.repeats else 1.0)
        return np.asarray(self._free_s + exposed)

    @cached_property
    def _far(self) -> list[Traffic]:
        """Calls that leave the scale-up domains, in the order in which they hide behind computation."""
        domain, crossings = self.workload.domain_gpus, self.workload.crossings
        leaving = [one for one in self.workload.traffic if crossings.of_domain(one.group, domain).cut]
        return sorted(leaving, key=lambda one: COMMUNICATORS.index(one.communicator))

    @cached_property
    def _free_s(self) -> float:
        return float(step_on(self.workload, flat(MOST_MBPS, Reach())).free_s)

    @cached_property
    def _window_s(self) -> float:
        """Computation that communication over the network can hide behind."""
        step = step_on(self.workload, flat(MOST_MBPS, Reach()))
        if self.workload.utilization is not None:
            return float(step.compute_s)
        return max(0.0, float(step.compute_s - sum(one.hidden_s for one in step.costs if one.place == DOMAIN)))

    def _time_s(self, traffic: Traffic, networks: FabricBandwidths) -> Floats:
        """The fastest way to run the calls."""
        group = traffic.group
        boundaries = list(self._boundaries(group, networks))
        ways = []
        for algorithm in algorithms(traffic.operation, networks.reduces):
            latency = float(latency_of(self.workload, traffic, algorithm))
            slowest = np.zeros(networks.leaf_mbps.shape)
            for boundary in boundaries:
                slowest = np.maximum(slowest, _sent(traffic, algorithm, boundary) / boundary.rate)
            if self.workload.domain_gpus > 1:
                slowest = np.maximum(slowest, self._within_s(traffic, algorithm))
            ways.append(float(traffic.calls) * (latency + slowest))
        return np.asarray(np.min(ways, axis=0))

    def _boundaries(self, group: Group, networks: FabricBandwidths) -> Iterator[_Boundary]:
        """The boundaries of servers, leaves and pods."""
        own = self.workload.crossings.of_domain(group, self.workload.domain_gpus)
        yield _Boundary(float(own.cut), float(own.apart), networks.server_mbps * _BYTES_PER_MBPS, True)
        leaf, pod = blocks_below(self.workload, networks.leaf_gpus, networks.pod_gpus)
        for block, mbps in ((leaf, networks.leaf_mbps), (pod, networks.pod_mbps)):
            yield _Boundary(
                *self._crossing(group, block), mbps * float(self.workload.placing.uplinks) * _BYTES_PER_MBPS
            )

    def _crossing(self, group: Group, blocks: Ints) -> tuple[Floats, Floats]:
        """``cut`` and ``apart`` of blocks of so many GPUs, shape (networks,)."""
        sizes, place = np.unique(blocks, return_inverse=True)
        crossings = [leaf_crossing(self.workload, group, int(size)) for size in sizes]
        values = np.array(crossings, dtype=np.float64).reshape(-1, len(Crossing._fields))[place]
        return values[:, 0], values[:, 1]

    def _within_s(self, traffic: Traffic, algorithm: Algorithm) -> float:
        """The time over the scale-up links of a GPU, which carry every copy."""
        size = traffic.group.size
        alone = _Boundary(1.0, (size - 1) / size, 1.0)
        rate = float(self.workload.domain_mbps) * _BYTES_PER_MBPS
        return float(_sent(traffic, algorithm, alone)) / float(traffic.copies) / rate


def _sent(traffic: Traffic, algorithm: Algorithm, boundary: _Boundary) -> Floats | float:
    """Bytes of a call over a boundary for each GPU behind it: ``sent_over``."""
    vector = float(traffic.message * traffic.copies)
    if traffic.operation == "all-to-all":
        return vector * boundary.apart
    cut = 1.0 if traffic.operation == "send" and boundary.is_server else boundary.cut
    return float(factor(traffic.operation, algorithm, traffic.group.size)) * vector * cut
