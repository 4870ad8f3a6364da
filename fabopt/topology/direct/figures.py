"""Figures of a direct network that no closed form has for partly filled switches: measured link by link.

For one design, not for candidates: it takes up to some seconds. Definitions: docs/bandwidth.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from fabopt.network.graph.distances import hopping
from fabopt.network.graph.permutation import permutation_bound
from fabopt.topology.direct.graph_network import GraphNetwork
from fabopt.topology.direct.ring_allreduce import allreduce

# Links, both ways, times switches with servers: some two seconds.
MOST_PATHS = 200_000_000


class Measured(NamedTuple):
    """Mb/s per GPU (all-reduce within floating point), and switches on the shortest path on average."""

    permutation: Fraction
    allreduce: Fraction | None
    mean_switch_hops: Fraction


def measured(network: GraphNetwork, gpus: int) -> Measured | None:
    """The figures on the graph of one plane; None if it is too large, ``allreduce`` None if it is too large for
    rings.
    """
    injection = network.nic.injection
    if 2 * network.links * (int(network.rings().max()) + 1) > MOST_PATHS:
        return None
    graph, share = network.graph(), network.endpoints_per_gpu(gpus)
    far, pairs = hopping(graph), graph.endpoints * (graph.endpoints - 1)
    return Measured(
        min(injection, permutation_bound(graph) * share),
        allreduce(network, gpus),
        network.switches_passed(Fraction(far.links, pairs)),
    )
