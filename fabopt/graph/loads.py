"""What traffic over shortest paths puts on every link, split as equal-cost multipath routing does.

At every switch, traffic to a destination is shared among the links that lead nearer to it, in proportion to their
capacity. What the busiest link then allows is a rate that can be had: a lower bound of the best over all routings.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fabopt.graph.distances import path_lengths
from fabopt.graph.network import Arcs, Floats, Ints, Network

# Switches whose distances from all are worked out together.
_TOGETHER = 512


def uniform(network: Network) -> Floats:
    """Demand between switches where every endpoint sends 1 to each other one; on one switch it takes no link."""
    hosts = network.hosts.astype(np.float64)
    demand = np.multiply.outer(hosts, hosts)
    np.fill_diagonal(demand, 0)
    return demand


def arc_loads(network: Network, demand: Floats) -> Floats:
    """Load of every arc of ``network.arcs``; ``demand``: what each switch sends to each, shape (switches, switches).

    Raises ``ValueError`` if traffic has no way.
    """
    load = np.zeros(network.arcs.size)
    targets = np.flatnonzero(demand.any(axis=0))
    for at in range(0, len(targets), _TOGETHER):
        some = targets[at : at + _TOGETHER]
        for target, away in zip(some.tolist(), path_lengths(network, some), strict=True):
            _send(network.arcs, demand[:, target], away.astype(np.int64), load)
    return load


def uniform_loads(network: Network) -> Floats:
    """Load of every arc where every endpoint sends 1 to each other one.

    One switch of every class of twins is looked at as a destination: exchanging it with another one exchanges their
    links, and leaves all others as they are.
    """
    arcs, twins = network.arcs, network.twins
    load, hosts = np.zeros(arcs.size), network.hosts.astype(np.float64)
    back = np.lexsort((arcs.tail, arcs.head))
    starts = np.searchsorted(arcs.tail, np.arange(network.switches + 1))
    for at in range(0, twins.classes, _TOGETHER):
        some = twins.first[at : at + _TOGETHER]
        for number, away in enumerate(path_lengths(network, some), at):
            target, size = int(twins.first[number]), int(twins.size[number])
            demand = hosts * hosts[target]
            demand[target] = 0
            mine = np.zeros(arcs.size)
            _send(arcs, demand, away.astype(np.int64), mine)
            if size > 1:
                members = network.with_hosts[twins.place == number]
                out = starts[members][:, np.newaxis] + np.arange(starts[target + 1] - starts[target])
                mine = _exchanged(mine, members == target, (out, back[out]))
            load += mine
    return load


def _exchanged(mine: Floats, is_target: NDArray[np.bool_], own: tuple[Ints, Ints]) -> Floats:
    """Loads of the traffic to all switches of a class, from those of the traffic to one of them.

    ``own``: arcs from, and to, every switch of the class, shape (switches, links), in the same order.
    """
    whole = mine * len(is_target)
    for rows in own:
        to_it, to_others = mine[rows[is_target]], mine[rows[~is_target][:1]]
        whole[rows] = to_it + (len(is_target) - 1) * to_others
    return whole


def _send(arcs: Arcs, demand: Floats, away: Ints, load: Floats) -> None:
    """Add the load of the traffic to one switch, which is ``away`` from all: from the furthest inwards."""
    if (demand[away < 0] > 0).any():
        raise ValueError("some endpoints cannot reach each other")
    nearer = np.flatnonzero((away[arcs.tail] - away[arcs.head] == arcs.length) & (away[arcs.head] >= 0))
    nearer = nearer[np.argsort(-away[arcs.tail[nearer]], kind="stable")]
    tail, head, mbps = arcs.tail[nearer], arcs.head[nearer], arcs.mbps[nearer]
    share = mbps / np.bincount(tail, weights=mbps, minlength=len(away))[tail]
    flow = demand.copy()
    starts = np.flatnonzero(np.diff(away[tail], prepend=-1))
    for start, end in pairwise([*starts.tolist(), len(tail)]):
        sent = flow[tail[start:end]] * share[start:end]
        load[nearer[start:end]] += sent
        flow += np.bincount(head[start:end], weights=sent, minlength=len(flow))
