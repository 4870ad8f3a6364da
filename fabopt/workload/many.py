"""Steps of a workload on many networks at once, in floating point: the same as ``fabopt.workload.timing`` to rounding.

For bounds, and for networks far from a deadline; those near it are timed exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from fabopt.workload.collectives import algorithms, factor
from fabopt.workload.needs import MOST_MBPS, Reach, flat
from fabopt.workload.timing import (
    DOMAIN,
    ModelRun,
    blocks_below,
    channels_between,
    leaf_crossing,
    protocols_of,
    step_on,
)
from fabopt.workload.volumes import COMMUNICATORS, Traffic

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BYTES_PER_MBPS = 10**6 / 8
# Steps that are kept, of a few hundred bytes each.
MOST_KNOWN = 300_000


class FabricBandwidths(NamedTuple):
    """Networks of the same NICs, in arrays of shape (networks,).

    ``leaf_mbps`` and ``pod_mbps``: Mb/s of each GPU through the uplinks of leaves and pods; ``leaf_gpus`` and
    ``pod_gpus``: GPUs that reach each other below. ``left``: Mb/s through leaves and pods after the loss of a spine;
    None: unchanged.
    """

    server_mbps: float
    leaf_mbps: Floats
    pod_mbps: Floats
    leaf_gpus: Ints
    pod_gpus: Ints
    reduces: bool
    left: tuple[Floats, Floats] | None = None

    @property
    def keys(self) -> list[bytes]:
        """A key of each network: equal for equal networks of the same NICs and switches."""
        columns = [self.leaf_mbps, self.pod_mbps, self.leaf_gpus, self.pod_gpus, *(self.left or ())]
        rows = np.stack([np.broadcast_to(column, self.leaf_mbps.shape) for column in columns], axis=-1)
        return cast(list[bytes], rows.view(f"V{rows.itemsize * len(columns)}").ravel().tolist())

    def take(self, places: Ints) -> FabricBandwidths:
        """Some of the networks; ``places`` has shape (some,)."""
        leaf_mbps, pod_mbps = self.leaf_mbps[places], self.pod_mbps[places]
        leaf_gpus, pod_gpus = self.leaf_gpus[places], self.pod_gpus[places]
        left = None if self.left is None else (self.left[0][places], self.left[1][places])
        return FabricBandwidths(self.server_mbps, leaf_mbps, pod_mbps, leaf_gpus, pod_gpus, self.reduces, left)


class _TimedWay(NamedTuple):
    """A way to run a call: seconds of the scale-up links; bytes sent, of which a boundary's share crosses it.

    ``protocols``: each as ``Running``.
    """

    protocols: tuple[tuple[float, float, float], ...]
    within_s: float
    sent: float


class _Calls:
    """Calls of one kind that leave the scale-up domains, with all values that do not depend on the network."""

    def __init__(self, workload: ModelRun, traffic: Traffic) -> None:
        self.workload = workload
        self.traffic = traffic
        self.calls = float(traffic.calls)
        self.overlap = float(workload.hides(traffic))
        own = workload.crossings.of_domain(traffic.group, workload.domain_gpus)
        self._is_direct = traffic.operation == "all-to-all"
        # a GPU at the edge of a server sends all of its part itself
        cut = 1.0 if traffic.operation == "send" else float(own.cut)
        self._out_of_server = float(own.apart) if self._is_direct else cut
        # shares that cross the boundary of a block, by its GPUs; NaN until asked for
        self._shares = np.full(workload.ranks.gpus + 1, np.nan)
        # by the rate of NICs, and whether switches reduce
        self._ways: dict[tuple[float, bool], list[_TimedWay]] = {}

    def _ways_of(self, nic_mbps: float, reduces: bool) -> list[_TimedWay]:
        traffic, size = self.traffic, self.traffic.group.size
        rate = float(self.workload.domain_mbps) * _BYTES_PER_MBPS
        ways = []
        for algorithm in algorithms(traffic.operation, reduces):
            share = 1 if self._is_direct else factor(traffic.operation, algorithm, size)
            sent = float(traffic.message * traffic.copies * share)
            apart = (size - 1) / size if self._is_direct else 1.0
            within_s = sent * apart / float(traffic.copies) / rate if self.workload.domain_gpus > 1 else 0.0
            channels = channels_between(self.workload, traffic.group, nic_mbps)
            protocols = tuple(
                (float(protocol.latency_s), float(protocol.payload), float(protocol.least_s))
                for protocol in protocols_of(self.workload, traffic, algorithm, channels)
            )
            ways.append(_TimedWay(protocols, within_s, sent))
        return ways

    def out_of(self, blocks: Ints) -> Floats:
        """Shares of the bytes sent that cross the boundary of blocks of ``blocks`` GPUs, shape as theirs."""
        places = np.minimum(blocks, len(self._shares) - 1)
        shares = self._shares[places]
        if np.isnan(shares).any():
            for block in np.unique(places[np.isnan(shares)]).tolist():
                crossing = leaf_crossing(self.workload, self.traffic.group, block)
                self._shares[block] = float(crossing.apart if self._is_direct else crossing.cut)
            shares = self._shares[places]
        return np.asarray(shares)

    def time_s(self, server_rate: float, above: Floats, reduces: bool) -> Floats:
        """Seconds of the calls, the fastest way.

        ``above``: seconds for each byte over leaves and pods, shape (networks,).
        """
        slowest = np.maximum(above, self._out_of_server / server_rate)
        key, ways = (server_rate / _BYTES_PER_MBPS, reduces), []
        if key not in self._ways:
            self._ways[key] = self._ways_of(*key)
        for way in self._ways[key]:
            bytes_s = np.maximum(way.sent * slowest, way.within_s)
            ways += [
                latency_s + np.maximum(bytes_s / payload, least_s) for latency_s, payload, least_s in way.protocols
            ]
        return np.asarray(self.calls * (ways[0] if len(ways) == 1 else np.min(ways, axis=0)))


class KnownSteps:
    """Steps on networks, each computed once; no more than ``MOST_KNOWN`` are kept."""

    def __init__(self) -> None:
        self._steps: dict[tuple[float, bool], dict[bytes, float]] = {}

    def of(self, networks: FabricBandwidths, timed: Callable[[FabricBandwidths], Floats]) -> Floats:
        """Steps on some networks, shape (networks,); ``timed`` computes those that are new."""
        steps, keys = self._steps.setdefault((networks.server_mbps, networks.reduces), {}), networks.keys
        new = [place for place, key in enumerate(keys) if key not in steps]
        if len(steps) + len(new) > MOST_KNOWN:
            steps.clear()
            new = list(range(len(keys)))
        if new:
            times = timed(networks.take(np.array(new))).tolist()
            steps.update(zip((keys[place] for place in new), times, strict=True))
        return np.array([steps[key] for key in keys])


class StepTimes:
    """Times of a step of one workload on many networks."""

    def __init__(self, workload: ModelRun) -> None:
        self.workload = workload

    def step_s(self, networks: FabricBandwidths) -> Floats:
        """Seconds of a step on each network, shape (networks,)."""
        exposed = np.zeros(networks.leaf_mbps.shape)
        left = np.full(networks.leaf_mbps.shape, self._window_s)
        of_one, longer = self._window_s / float(self.workload.micro_batches), 1 + float(self.workload.bubble)
        leaf, pod = blocks_below(self.workload, networks.leaf_gpus, networks.pod_gpus)
        of_leaf, of_pod = (rate * _BYTES_PER_MBPS for rate in self.workload.placing.uplinks_mbps(networks))
        server_rate = networks.server_mbps * _BYTES_PER_MBPS
        for calls in self._far:
            above = np.maximum(calls.out_of(leaf) / of_leaf, calls.out_of(pod) / of_pod)
            time_s, repeats = calls.time_s(server_rate, above, networks.reduces), calls.traffic.repeats
            if calls.overlap:
                hidden = np.minimum(calls.overlap * time_s, left if repeats else np.minimum(left, of_one))
                left = left - hidden
                time_s = time_s - hidden
            exposed += time_s * longer if repeats else time_s
        return np.asarray(self._free_s + exposed)

    @cached_property
    def _far(self) -> list[_Calls]:
        """Calls that leave the scale-up domains, in the order in which they hide behind computation."""
        domain, crossings = self.workload.domain_gpus, self.workload.crossings
        leaving = [traffic for traffic in self.workload.traffic if crossings.of_domain(traffic.group, domain).cut]
        in_turn = sorted(leaving, key=lambda traffic: COMMUNICATORS.index(traffic.communicator))
        return [_Calls(self.workload, traffic) for traffic in in_turn]

    @cached_property
    def _free_s(self) -> float:
        return float(step_on(self.workload, flat(MOST_MBPS, Reach())).free_s)

    @cached_property
    def _window_s(self) -> float:
        """Seconds of computation that communication over the network can hide behind."""
        step = step_on(self.workload, flat(MOST_MBPS, Reach()))
        if self.workload.utilization is not None:
            return float(step.compute_s)
        return max(0.0, float(step.compute_s - sum(cost.hidden_s for cost in step.costs if cost.place == DOMAIN)))
