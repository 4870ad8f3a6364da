"""What traffic over shortest paths puts on every link, split as equal-cost multipath routing does.

At every switch, traffic to a destination is shared among the links that lead nearer to it, in proportion to their
capacity. What the busiest link then allows is a rate that can be had: a lower bound of the best over all routings.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

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
