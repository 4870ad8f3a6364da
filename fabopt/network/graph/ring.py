"""Ring all-reduce along rails on a graph: every endpoint sends to the next one of its ring, all rings at once.

In a ring all-reduce of S bytes over n members each sends 2 (n-1)/n x S to its neighbour (Patarasuk and Yuan, "Bandwidth
optimal all-reduce algorithms for clusters of workstations", JPDC 2009), so the figure is the rate at which all can
send.
"""

from __future__ import annotations

import numpy as np

from fabopt.network.graph.loads import arc_loads
from fabopt.network.graph.network import Floats, Ints, Network


def ring_rate(network: Network, rings: Ints) -> float:
    """Mb/s of every endpoint, at most its port's speed, over equal-cost shortest paths.

    ``rings``: the switch of every member, shape (rings, members), in the order of the ring.
    """
    busy = arc_loads(network, _demand(network, rings)) / network.arcs.mbps
    most = float(busy.max(initial=0))
    return min(float(network.port_mbps), 1 / most) if most else float(network.port_mbps)


def _demand(network: Network, rings: Ints) -> Floats:
    demand = np.zeros((network.switches, network.switches))
    np.add.at(demand, (rings, np.roll(rings, -1, axis=1)), 1)
    np.fill_diagonal(demand, 0)
    return demand
