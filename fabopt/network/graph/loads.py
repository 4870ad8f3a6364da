"""Loads of links from traffic over shortest paths, split as equal-cost multipath routing does.

At every switch, traffic to a destination is shared among the links that lead nearer to it, in proportion to their
capacity. The rate that the busiest link then allows is feasible: a lower bound of the best over all routings.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fabopt.network.graph.distances import Hops, path_lengths
from fabopt.network.graph.network import Arcs, Floats, Ints, Network

# Switches whose distances from all are worked out together.
_TOGETHER = 512
# Switches to which traffic is sent together.
_SENT_TOGETHER = 64


def arc_loads(network: Network, demand: Floats) -> Floats:
    """Load of every arc of ``network.arcs``; ``demand``: from each switch to each, shape (switches, switches).

    Raises ``ValueError`` if some demand has no path.
    """
    load = np.zeros(network.arcs.size)
    targets = np.flatnonzero(demand.any(axis=0))
    for start in range(0, len(targets), _SENT_TOGETHER):
        some = targets[start : start + _SENT_TOGETHER]
        load += _sent(network.arcs, demand[:, some].T, path_lengths(network, some))
    return load


def uniform_loads(network: Network) -> Floats:
    """Load of every arc where every endpoint sends 1 to each other one, shape (arcs,).

    One switch of every class of twins is worked out as a destination: exchanging it with another one exchanges their
    links, and leaves all others unchanged.
    """
    arcs, twins = network.arcs, network.twins
    load, hosts = np.zeros(arcs.size), network.hosts.astype(np.float64)
    back = np.lexsort((arcs.tail, arcs.head))
    starts = np.searchsorted(arcs.tail, np.arange(network.switches + 1))
    for start in range(0, twins.classes, _TOGETHER):
        some = twins.first[start : start + _TOGETHER]
        for number, away in enumerate(path_lengths(network, some), start):
            target, size = int(twins.first[number]), int(twins.size[number])
            demand = hosts * hosts[target]
            demand[target] = 0
            of_class = _sent(arcs, demand[np.newaxis], away[np.newaxis])
            if size > 1:
                members = network.with_hosts[twins.place == number]
                out = starts[members][:, np.newaxis] + np.arange(starts[target + 1] - starts[target])
                of_class = exchanged(of_class, members == target, (out, back[out]))
            load += of_class
    return load


def exchanged(of_first: Floats, is_target: NDArray[np.bool_], own: tuple[Ints, Ints]) -> Floats:
    """Loads of the traffic to all switches of a class, from those of the traffic to the first one.

    Both of shape (arcs,). ``is_target``: mask of that first one, shape (switches of the class,). ``own``: arcs from,
    and to, every switch of the class, shape (switches of the class, links), in the same order.
    """
    whole = of_first * len(is_target)
    for rows in own:
        to_it, to_others = of_first[rows[is_target]], of_first[rows[~is_target][:1]]
        whole[rows] = to_it + (len(is_target) - 1) * to_others
    return whole


def _sent(arcs: Arcs, demand: Floats, away: Hops) -> Floats:
    """The load of the traffic to some switches, whose distances from all are ``away``: from the furthest inwards.

    ``demand``, ``away``: shape (some switches, switches).
    """
    if (demand[away < 0] > 0).any():
        raise ValueError("some endpoints cannot reach each other")
    ahead = away[:, arcs.head]
    target, arc = np.nonzero((away[:, arcs.tail] - ahead == arcs.length.astype(away.dtype)) & (ahead >= 0))
    left = away[target, arcs.tail[arc]]
    order = np.argsort(-left, kind="stable")
    target, arc, left = target[order], arc[order], left[order]
    tail, head = (target * away.shape[1] + end[arc] for end in (arcs.tail, arcs.head))
    mbps = arcs.mbps[arc]
    share = mbps / np.bincount(tail, weights=mbps, minlength=away.size)[tail]
    flow, sent = demand.ravel().copy(), np.zeros(len(arc))
    starts = np.flatnonzero(np.diff(left, prepend=-1))
    for start, end in pairwise([*starts.tolist(), len(arc)]):
        sent[start:end] = flow[tail[start:end]] * share[start:end]
        np.add.at(flow, head[start:end], sent[start:end])
    return np.bincount(arc, weights=sent, minlength=arcs.size).astype(np.float64)
