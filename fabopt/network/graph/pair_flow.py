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

import numpy as np

from fabopt.network.graph.distances import components, path_lengths
from fabopt.network.graph.loads import arc_loads
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
