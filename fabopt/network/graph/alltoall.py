"""Uniform all-to-all on a graph: the equal rate of every endpoint to all others, over the best routing.

Below: the busiest link of equal-cost multipath routing. Above: for any lengths of the links, capacity x length over all
links is at least rate x demand x distance of all traffic (duality of the maximum concurrent flow: Shahrokhi and Matula,
"The maximum concurrent flow problem", J. ACM 37, 1990). Lengths that are tried: 1 everywhere; 1 on the busiest links
and 0 elsewhere; 1 around a single switch. Where the bounds meet, the figure is exact; so it is on graphs whose links
symmetries exchange within each bottleneck: Clos, torus, HyperX.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabopt.network.graph.distances import components, hopping, link_counts
from fabopt.network.graph.loads import uniform_loads
from fabopt.network.graph.network import Floats, Network, network_of
from fabopt.network.graph.ranges import SAME, Range, narrowest

HOW = "load of equal-cost shortest paths"
_MIXTURES = 33


def alltoall(network: Network) -> Range:
    """Mb/s of every endpoint, at most its port's speed. Raises ``ValueError`` if some cannot reach each other."""
    others = network.endpoints - 1
    if others < 1 or len(network.with_hosts) < 2:
        return Range(network.port_mbps, network.port_mbps, "no link between switches is used")
    busy = _balanced(network)
    lower = others / float(busy.max())
    uppers = {
        "total capacity over all path lengths": _by_path_lengths(network),
        "links of one switch": _by_one_switch(network),
        "links of the bottleneck": _by_bottleneck(network, busy),
    }
    return narrowest(lower, uppers, network.port_mbps, HOW)


def _balanced(network: Network) -> Floats:
    """Share of every arc that 1 from each endpoint to each other one uses: over shortest paths, over the minimal ones
    of the family, or over the best mixture of both.
    """
    mbps = network.arcs.mbps
    minimal = np.asarray(uniform_loads(network) / mbps)
    enough = (network.endpoints - 1) / float(minimal.max()) >= network.port_mbps
    if enough or (network.length == 1).all():
        return minimal
    shortest = uniform_loads(replace(network, length=np.ones_like(network.length))) / mbps
    mixed = [share * minimal + (1 - share) * shortest for share in np.linspace(0, 1, _MIXTURES)]
    return np.asarray(min(mixed, key=lambda shares: float(shares.max())))


def _by_path_lengths(network: Network) -> float:
    """Upper bound: every pair takes at least its distance of all capacity."""
    return 2 * network.capacity * (network.endpoints - 1) / hopping(network).links


def _by_one_switch(network: Network) -> float:
    """Upper bound: traffic that leaves a switch goes over its links."""
    arcs, hosts = network.arcs, network.hosts
    out = np.bincount(arcs.tail, weights=arcs.mbps, minlength=network.switches)
    with_hosts = network.with_hosts
    leaving = hosts[with_hosts] * (network.endpoints - hosts[with_hosts]) / (network.endpoints - 1)
    return float((out[with_hosts] / leaving).min())


def _by_bottleneck(network: Network, busy: Floats) -> float:
    """Upper bound: pairs in parts that only the busiest links join take as many of these as parts are apart."""
    arcs = network.arcs
    most = busy >= busy.max() * (1 - SAME)
    rows = np.unique(np.minimum(arcs.tail, arcs.head)[most] * network.switches + np.maximum(arcs.tail, arcs.head)[most])
    picked = np.flatnonzero(np.isin(network.a * network.switches + network.b, rows))
    part = components(network.without(picked))
    a, b, mbps = part[network.a[picked]], part[network.b[picked]], network.mbps[picked]
    apart = a != b
    if not apart.any():
        return np.inf
    hosts = np.bincount(part, weights=network.hosts).astype(np.int64)
    quotient = network_of(a[apart], b[apart], mbps[apart], hosts, network.port_mbps)
    counts = link_counts(quotient).astype(np.int64)
    taken = int(hosts @ counts @ hosts)
    return 2 * quotient.capacity * (network.endpoints - 1) / taken if taken else np.inf
