"""The throughput upper bound of the worst permutation, on a graph.

Endpoints of every switch send to those of one other. A matching of switches that takes s links in all leaves no more
than capacity / s to each endpoint, whatever the routing; the bound is that of the heaviest matching. Source: Namyar,
Supittayapornpong, Zhang, Yu, Govindan, "A throughput-centric view of the performance of datacenter topologies",
SIGCOMM 2021, equation 2.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fabopt.graph.distances import Hops, host_links
from fabopt.graph.matching import heaviest_assignment, heaviest_transport
from fabopt.graph.network import Ints, Network

# A transport between more classes than this is slower than the assignment of single switches.
_MOST_CLASSES = 400


def permutation_bound(network: Network) -> Fraction:
    """Mb/s of every endpoint that no routing of the worst permutation passes, at most its port's speed; exact.

    Raises ``ValueError`` if some endpoints cannot reach each other.
    """
    matched = matched_links(network)
    if not matched:
        return Fraction(network.port_mbps)
    return min(Fraction(network.port_mbps), Fraction(2 * network.capacity, matched))


def matched_links(network: Network) -> int:
    """Sum of links between x min(endpoints) over the heaviest matching of switches with switches."""
    counts, hosts = host_links(network), network.hosts[network.with_hosts]
    if not counts.size:
        return 0
    if _has_regular_antipodes(counts, hosts):
        return int(counts.max()) * int(hosts.sum())
    kinds, place = _twins(network)
    if len(kinds) <= _MOST_CLASSES:
        return _of_classes(counts, hosts, place, len(kinds))
    weights = counts.astype(np.int64) * np.minimum.outer(hosts, hosts)
    return heaviest_assignment(weights)


def _has_regular_antipodes(counts: Hops, hosts: Ints) -> bool:
    """Whether as many switches are furthest from each switch, all with equal endpoints.

    A regular bipartite graph has a perfect matching (Koenig 1916), so then all are matched at the greatest distance.
    """
    furthest = (counts == counts.max()).sum(axis=1)
    return bool((hosts == hosts[0]).all() and (furthest == furthest[0]).all())


def _twins(network: Network) -> tuple[list[tuple[int, bytes]], Ints]:
    """Kinds of switches with endpoints, and that of each: equal endpoints and the same neighbours."""
    arcs = network.arcs
    first = dict(zip(arcs.tails.tolist(), arcs.first.tolist(), strict=True))
    sizes = np.bincount(arcs.tail, minlength=network.switches)
    kinds: dict[tuple[int, bytes], int] = {}
    place = []
    for switch in network.with_hosts.tolist():
        start = first.get(switch, 0)
        near = arcs.head[start : start + int(sizes[switch])].tobytes()
        place.append(kinds.setdefault((int(network.hosts[switch]), near), len(kinds)))
    return list(kinds), np.array(place, dtype=np.int64)


def _of_classes(counts: Hops, hosts: Ints, place: Ints, kinds: int) -> int:
    """The heaviest matching between classes of switches that symmetries exchange."""
    sizes = np.bincount(place, minlength=kinds)
    first = np.unique(place, return_index=True)[1]
    weights = counts[np.ix_(first, first)].astype(np.int64)
    for kind in np.flatnonzero(sizes > 1).tolist():
        one, other = np.flatnonzero(place == kind)[:2]
        weights[kind, kind] = counts[one, other]
    return heaviest_transport(weights * np.minimum.outer(hosts[first], hosts[first]), sizes.tolist())
