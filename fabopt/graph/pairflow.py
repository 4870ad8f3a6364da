"""What every two switches with endpoints can send each other at once: of a whole graph, and after one loss.

Traffic takes equal-cost shortest paths of what is left, shared in proportion to capacity, as routing does once it
knows of a loss. Nothing else is assumed of where endpoints are, so symmetries of the graph carry over: one switch and
one link of every class say what the worst is.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from fabopt.graph.distances import components, path_lengths
from fabopt.graph.loads import arc_loads
from fabopt.graph.network import Floats, Ints, Network
from fabopt.graph.symmetry import Kinds

# Loads are sums in floating point of fractions with small denominators.
_DENOMINATOR = 10**6


def port_rate(flow_mbps: float, switches: int, ports: int, most_mbps: int) -> Fraction:
    """Mb/s of a port across any cut into halves, where every ordered pair of switches has so much.

    Between x of Q switches and the others run ``flow x (Q - x)``, for ``ports x`` ports at most, ``ports`` on each.
    """
    rate = flow_mbps * switches / (2 * ports)
    return Fraction(most_mbps) if rate >= most_mbps else Fraction(rate).limit_denominator(_DENOMINATOR)


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
        """Nothing is lost."""
        if not _joined(self.network, self.network.with_hosts):
            return 0.0
        return _rate(self._loads, self.network)

    def without_switch(self, switch: int) -> float:
        """One switch and its links are gone; the others send to each other."""
        network = self.network
        left = network.without(np.flatnonzero((network.a == switch) | (network.b == switch)))
        at = network.with_hosts[network.with_hosts != switch]
        return _rate(arc_loads(left, _between(left, at)), left) if _joined(left, at) else 0.0

    def without_link(self, row: int, mbps: int) -> float:
        """So much of a row is gone. Only traffic to switches that the row leads nearer to takes other ways."""
        network, ends = self.network, np.array([self.network.a[row], self.network.b[row]])
        kept = network.mbps.copy()
        kept[row] -= mbps
        left = replace(network, mbps=kept) if kept[row] > 0 else network.without(np.array([row]))
        if not _joined(left, network.with_hosts):
            return 0.0
        away = path_lengths(network, ends).astype(np.int64)
        nearer = np.abs(away[0] - away[1]) == network.length[row]
        moved = np.where(nearer, self._demand, 0)
        arcs = network.arcs
        lost = ((arcs.tail == ends[0]) & (arcs.head == ends[1])) | ((arcs.tail == ends[1]) & (arcs.head == ends[0]))
        rest = self._loads - arc_loads(network, moved)
        return _rate((rest if kept[row] > 0 else rest[~lost]) + arc_loads(left, moved), left)

    def least_without_switch(self, kinds: Kinds) -> float:
        """The least over all switches."""
        return min((self.without_switch(one) for one in kinds.switches.tolist()), default=np.inf)

    def least_without_link(self, kinds: Kinds, mbps: int) -> float:
        """The least over all rows of links of which one link of so much is gone."""
        return min((self.without_link(one, mbps) for one in kinds.rows.tolist()), default=np.inf)


def _between(network: Network, at: Ints) -> Floats:
    demand = np.zeros((network.switches, network.switches))
    demand[np.ix_(at, at)] = 1
    np.fill_diagonal(demand, 0)
    return demand


def _joined(network: Network, at: Ints) -> bool:
    return len(np.unique(components(network)[at])) <= 1


def _rate(loads: Floats, network: Network) -> float:
    most = float((loads / network.arcs.mbps).max(initial=0))
    return 1 / most if most else np.inf
