"""Rate of the leaves of a half to those of the other, where leaves are joined through spines.

Every leaf of one half sends an equal rate to each of the other, over all shortest paths: in proportion to the product
of the capacities of their links, so that all global links of two groups carry alike. Other traffic is nil. With Q
leaves, at least Q/2 of them in the larger half, and f of every pair, a leaf of either half has ``f Q/2`` at least. A
link carries no more than all pairs put on it; one of a leaf no more than the leaf's largest share of it (as one of
either half), and the traffic that passes through. The rate that the link with least room then allows is feasible across
any two halves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fabopt.network.graph.distances import Hops, components, path_lengths
from fabopt.network.graph.loads import exchanged
from fabopt.network.graph.network import Floats, Ints, Network
from fabopt.network.graph.pair_flow import rounded
from fabopt.network.graph.symmetry import Kinds

# Classes of leaves to which distances are worked out together.
_TOGETHER = 64


class HalfRate:
    """Mb/s of the endpoints of a leaf together; 0 where leaves are parted, infinite where there is one.

    Leaves are the switches with endpoints. Arrays ``tried`` list switches, shape (tried,); ``mbps`` has shape (rows,).
    """

    def __init__(self, network: Network) -> None:
        self.network = network

    def without_switches(self, kinds: Kinds, tried: Ints) -> Iterator[float]:
        """Rates after the loss of each of the switches ``tried`` in turn, one of each class."""
        return (self.without_switch(switch) for switch in np.intersect1d(kinds.switches, tried).tolist())

    def without_links(self, kinds: Kinds, mbps: Ints) -> Iterator[float]:
        """Rates after the loss of one link of every row in turn, one of each class; ``mbps``: speed of one link of
        every row.
        """
        return (self.without_link(row, int(mbps[row])) for row in kinds.rows.tolist())

    def without_switch(self, switch: int) -> float:
        """The rate after the loss of one switch and its links; the other leaves send."""
        network, hosts = self.network, self.network.hosts.copy()
        hosts[switch] = 0
        left = network.without(np.flatnonzero((network.a == switch) | (network.b == switch)))
        return half_rate(replace(left, hosts=hosts))

    def without_link(self, row: int, mbps: int) -> float:
        """The rate after the loss of ``mbps`` of a row of links."""
        network, left = self.network, self.network.mbps.copy()
        left[row] -= mbps
        return half_rate(replace(network, mbps=left).without(np.flatnonzero(left <= 0)))


def port_share(rate_mbps: float, ports: int, most_mbps: int) -> Fraction:
    """Mb/s of a port where ``ports`` of them share the rate of a leaf."""
    return rounded(rate_mbps / ports, most_mbps)


def half_rate(network: Network) -> float:
    """Mb/s of a leaf to the other half, the least over all ways to halve the leaves."""
    leaves = network.with_hosts
    if len(leaves) < 2:
        return np.inf
    if len(np.unique(components(network)[leaves])) > 1:
        return 0.0
    shares, arcs = _shares(network), network.arcs
    most = 2 * shares.loads / len(leaves)
    own = np.where(network.hosts[arcs.tail] > 0, shares.largest + 2 * (shares.loads - shares.own) / len(leaves), np.inf)
    # paths back are those there, so a link into a leaf carries what the one out of it does
    most = np.minimum(most, np.minimum(own, own[np.lexsort((arcs.tail, arcs.head))]))
    return float((arcs.mbps / np.where(most > 0, most, np.nan))[most > 0].min())


class _Shares(NamedTuple):
    """Loads of arcs, each of shape (arcs,): of all pairs, of the leaf at the tail, and of that the most of one pair."""

    loads: Floats
    own: Floats
    largest: Floats


def _shares(network: Network) -> _Shares:
    """Loads of all arcs; one leaf of every class of twins is worked out as a destination."""
    arcs, twins = network.arcs, network.twins
    shares = _Shares(*(np.zeros(arcs.size) for _ in _Shares._fields))
    back = np.lexsort((arcs.tail, arcs.head))
    starts = np.searchsorted(arcs.tail, np.arange(network.switches + 1))
    for start in range(0, twins.classes, _TOGETHER):
        some = twins.first[start : start + _TOGETHER]
        for number, away in enumerate(path_lengths(network, some), start):
            target, loads, own = int(twins.first[number]), *_sent(network, int(twins.first[number]), away)
            np.maximum(shares.largest, own, out=shares.largest)
            if twins.size[number] > 1:
                members = network.with_hosts[twins.place == number]
                out = starts[members][:, np.newaxis] + np.arange(starts[target + 1] - starts[target])
                shares.largest[out] = np.maximum(shares.largest[out], own[out].max(axis=0))
                loads, own = (exchanged(of_first, members == target, (out, back[out])) for of_first in (loads, own))
            shares.loads[:] += loads
            shares.own[:] += own
    return shares


def _sent(network: Network, target: int, away: Hops) -> tuple[Floats, Floats]:
    """Load of every arc if each other leaf sends 1 to ``target``, and the part of the leaf at its tail."""
    arcs, size = network.arcs, network.switches
    way = np.flatnonzero((away[arcs.tail] - away[arcs.head] == arcs.length) & (away[arcs.head] >= 0))
    way = way[np.argsort(away[arcs.tail[way]], kind="stable")]
    tail, head, mbps = arcs.tail[way], arcs.head[way], arcs.mbps[way]
    steps = [slice(*ends) for ends in pairwise([*np.flatnonzero(np.diff(away[tail], prepend=-1)).tolist(), len(way)])]
    paths, flow = np.zeros(size), (network.hosts > 0).astype(np.float64)
    paths[target], flow[target] = 1, 0
    for step in steps:
        paths += np.bincount(tail[step], weights=mbps[step] * paths[head[step]], minlength=size)
    share, load = mbps * paths[head] / paths[tail], np.zeros(len(way))
    own = share * flow[tail]
    for step in reversed(steps):
        load[step] = flow[tail[step]] * share[step]
        flow += np.bincount(head[step], weights=load[step], minlength=size)
    whole = np.zeros((2, arcs.size))
    whole[:, way] = load, own
    return whole[0], whole[1]
