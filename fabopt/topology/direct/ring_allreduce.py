"""Ring all-reduce as a demand on networks of equal devices: no formula, so candidates are measured, the cheapest first.

Rates are measured on the graph, over equal-cost shortest paths, and more links of one kind need not raise them, so all
numbers of links are tried. Upper bounds over any routing rule most out before: links of a device, and of every
dimension of a lattice, for a shortest path has just the distance of each in links of it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fabopt.network.graph.ring import ring_rate
from fabopt.topology.direct.graph_network import GraphNetwork, UniformNetwork

# Links, both ways, times devices with endpoints: beyond, some seconds for one network.
MOST_RINGS = 30_000_000
# Loads are sums in floating point: the rate that is meant, in Mb/s, is the nearest fraction with small terms.
_MOST_DENOMINATOR = 10**6


def allreduce(network: GraphNetwork, gpus: int) -> Fraction | None:
    """Mb/s per GPU around the rings, at most injection; None where the graph is too large."""
    rings = network.rings()
    if 2 * network.links * (int(rings.max()) + 1) > MOST_RINGS:
        return None
    rate = Fraction(ring_rate(network.graph(), rings)).limit_denominator(_MOST_DENOMINATOR)
    injection = network.nic.injection
    return min(injection, rate * network.endpoints_per_gpu(gpus))


def at_most(network: UniformNetwork, gpus: int) -> Fraction:
    """Upper bound of ring all-reduce over any routing on shortest paths, in Mb/s per GPU."""
    rings, speed = network.rings(), network.link_mbps
    sources, targets = rings.ravel(), np.roll(rings, -1, axis=1).ravel()
    out = int(np.bincount(sources[sources != targets], minlength=1).max())
    bounds = [Fraction(int(network.net.most_ports[0].sum()) * speed, max(1, out))]
    steps = network.topology.steps(network.numbers, sources, targets)
    if steps is not None:
        bounds += [
            Fraction(2 * int(links) * speed, int(taken))
            for links, taken in zip(network.net.links[0], steps, strict=False)
            if taken
        ]
    injection = network.nic.injection
    return min(injection, min(bounds) * network.endpoints_per_gpu(gpus)) if out else injection


def reduces(network: UniformNetwork, gpus: int, least: Fraction) -> bool | None:
    """Whether ring all-reduce is at least ``least`` Mb/s per GPU; None where the graph is too large."""
    if at_most(network, gpus) < least:
        return False
    rate = allreduce(network, gpus)
    return None if rate is None else rate >= least
