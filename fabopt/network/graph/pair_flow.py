"""Equal rate of every two switches with endpoints at once: of a whole graph, and after one loss.

Traffic takes equal-cost shortest paths of the links left, shared in proportion to capacity, as routing does once it
knows of a loss; the load of a lost one of several parallel links takes the paths that there are without the others too.
Positions of servers do not matter, so symmetries of the graph carry over: one switch and one link of every class tell
the worst loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fabopt.network.graph.distances import Hops, components, path_lengths
from fabopt.network.graph.loads import arc_loads, exchanged
from fabopt.network.graph.network import Floats, Ints, Network
from fabopt.network.graph.symmetry import Kinds

# Loads are sums in floating point of fractions with small denominators.
_DENOMINATOR = 10**6


def port_rate(flow_mbps: float, switches: int, ports: int, most_mbps: int) -> Fraction:
    """Mb/s of a port across any cut into halves, where every ordered pair of switches has ``flow_mbps``.

    Between x of Q switches and the others run ``flow x (Q - x)``, for ``ports x`` ports at most, ``ports`` on each.
    """
    return rounded(flow_mbps * switches / (2 * ports), most_mbps)


def rounded(rate_mbps: float, most_mbps: int) -> Fraction:
    """A rate from floating point as a fraction, at most ``most_mbps``."""
    return Fraction(most_mbps) if rate_mbps >= most_mbps else Fraction(rate_mbps).limit_denominator(_DENOMINATOR)


class PairFlow:
    """Rates in Mb/s of every ordered pair; 0 where not all are joined, infinite where there is no pair."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @cached_property
    def _demand(self) -> Floats:
        return _between(self.network, self.network.with_hosts)

    @cached_property
    def _loads(self) -> Floats:
        return arc_loads(self.network, self._demand)

    def whole(self) -> float:
        """The rate without a loss."""
        if not _joined(self.network, self.network.with_hosts):
            return 0.0
        return _rate(self._loads, self.network)

    def without_switch(self, switch: int) -> float:
        """The rate after the loss of one switch and its links; the others send to each other."""
        network = self.network
        left = network.without(np.flatnonzero((network.a == switch) | (network.b == switch)))
        others = network.with_hosts[network.with_hosts != switch]
        return _rate(arc_loads(left, _between(left, others)), left) if _joined(left, others) else 0.0

    def without_link(self, row: int, mbps: int) -> float:
        """The rate after the loss of ``mbps`` of a row of links.

        The load of these links goes where all traffic of the row would go without it; the rest stays. If nothing goes
        around the row, the links left of it carry all.
        """
        network = self.network
        left, share = network.mbps.copy(), mbps / int(network.mbps[row])
        left[row] -= mbps
        around = self._around(row)
        loads = self._loads if around is None else (1 - share) * self._loads + share * around
        if left[row] == 0 and around is None:
            return 0.0
        # lost links carry nothing
        return _rate(loads, replace(network, mbps=np.maximum(left, 1)))

    def _around(self, row: int) -> Floats | None:
        """Load of every arc without a row; None if there is no other path.

        Only traffic to switches that the row leads nearer to takes other paths.
        """
        network, ends = self.network, np.array([self.network.a[row], self.network.b[row]])
        left = network.without(np.array([row]))
        if not _joined(left, network.with_hosts):
            return None
        away = path_lengths(network, ends).astype(np.int64)
        moved = np.where(np.abs(away[0] - away[1]) == network.length[row], self._demand, 0)
        arcs = network.arcs
        kept = ((arcs.tail != ends[0]) | (arcs.head != ends[1])) & ((arcs.tail != ends[1]) | (arcs.head != ends[0]))
        loads = self._loads - arc_loads(network, moved)
        loads[kept] += arc_loads(left, moved)
        loads[~kept] = 0
        return loads

    def without_switches(self, kinds: Kinds) -> Iterator[float]:
        """Rates after the loss of each switch in turn, one of each class."""
        return (self.without_switch(switch) for switch in kinds.switches.tolist())

    def without_links(self, kinds: Kinds, mbps: int) -> Iterator[float]:
        """Rates after the loss of one link, of ``mbps``, of each row in turn, one of each class."""
        return (self.without_link(row, mbps) for row in kinds.rows.tolist())


def rate_of(whole: Network, left: Network, members: Ints) -> float:
    """The rate in Mb/s of all pairs of ``members`` after any losses, as ``PairFlow`` has it after one.

    ``members``: switches that are joined, shape (members,). ``left``: the rows of ``whole`` with the capacity that is
    left. Of rows that lost links but not all, the largest lost share goes where all traffic would without these rows,
    if they do not part the switches.
    """
    inside = np.isin(left.a, members) & np.isin(left.b, members)
    share = 1 - left.mbps / whole.mbps
    dead, weak = ~inside | (share == 1), inside & (share > 0) & (share < 1)
    loads = _spread(whole, members, np.flatnonzero(dead))
    around = left.without(np.flatnonzero(dead | weak))
    if weak.any() and _joined(around, members):
        most = float(share[weak].max())
        loads = (1 - most) * loads + most * _spread(whole, members, np.flatnonzero(dead | weak))
    return _rate(loads, replace(whole, mbps=np.maximum(left.mbps, 1)))


def _spread(network: Network, members: Ints, rows: Ints) -> Floats:
    """Load of every arc of a network without some rows, which carry nothing."""
    left = network.without(rows)
    arcs, gone = network.arcs, np.zeros(len(network.a), dtype=np.bool_)
    gone[rows] = True
    row = np.searchsorted(
        network.a * network.switches + network.b,
        np.minimum(arcs.tail, arcs.head) * network.switches + np.maximum(arcs.tail, arcs.head),
    )
    loads = np.zeros(arcs.size)
    loads[~gone[row]] = arc_loads(left, _between(left, members))
    return loads


def _between(network: Network, members: Ints) -> Floats:
    demand = np.zeros((network.switches, network.switches))
    demand[np.ix_(members, members)] = 1
    np.fill_diagonal(demand, 0)
    return demand


def _joined(network: Network, members: Ints) -> bool:
    return len(np.unique(components(network)[members])) <= 1


def _rate(loads: Floats, network: Network) -> float:
    most = float((loads / network.arcs.mbps).max(initial=0))
    return 1 / most if most else np.inf


# -- rates across halves ----------------------------------------------------------------------------------------------


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
