"""The throughput upper bound of the worst permutation, on a graph.

Endpoints of every switch send to those of one other. A matching of switches that takes s links in all leaves no more
than capacity / s to each endpoint, whatever the routing; the bound is that of the heaviest matching. Source: Namyar,
Supittayapornpong, Zhang, Yu, Govindan, "A throughput-centric view of the performance of datacenter topologies",
SIGCOMM 2021, equation 2.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fabopt.network.graph.distances import Hops, host_links
from fabopt.network.graph.matching import heaviest_assignment, heaviest_transport
from fabopt.network.graph.network import Ints, Network

# A transport between more classes than this is slower than the assignment of single switches.
_MOST_CLASSES = 400


def permutation_bound(network: Network) -> Fraction:
    """Upper bound of every endpoint's rate in Mb/s over any routing of the worst permutation, at most its port's speed;
    exact.

    Raises ``ValueError`` if some endpoints cannot reach each other.
    """
    matched = matched_links(network)
    if not matched:
        return Fraction(network.port_mbps)
    return min(Fraction(network.port_mbps), Fraction(2 * network.capacity, matched))


def matched_links(network: Network) -> int:
    """Sum of links between x min(endpoints) over the heaviest matching of switches with switches."""
    twins, with_hosts = network.twins, network.with_hosts
    if not len(with_hosts):
        return 0
    counts, hosts = host_links(network, twins.first), network.hosts[with_hosts]
    if _has_regular_antipodes(counts, hosts):
        return int(counts.max()) * int(hosts.sum())
    if twins.classes <= _MOST_CLASSES:
        return _of_classes(network, counts)
    weights = host_links(network, with_hosts).astype(np.int64) * np.minimum.outer(hosts, hosts)
    return heaviest_assignment(weights)


def _has_regular_antipodes(counts: Hops, hosts: Ints) -> bool:
    """Whether equally many switches are furthest from each switch, all with equal endpoints.

    A regular bipartite graph has a perfect matching (Koenig 1916), so then all are matched at the greatest distance.
    """
    furthest = (counts == counts.max()).sum(axis=1)
    return bool((hosts == hosts[0]).all() and (furthest == furthest[0]).all())


def _of_classes(network: Network, counts: Hops) -> int:
    """The heaviest matching between classes of switches that symmetries exchange."""
    twins, with_hosts = network.twins, network.with_hosts
    first, other = np.searchsorted(with_hosts, twins.first), np.searchsorted(with_hosts, twins.other)
    weights = counts[:, first].astype(np.int64)
    np.fill_diagonal(weights, counts[np.arange(twins.classes), other])
    hosts = network.hosts[twins.first]
    return heaviest_transport(weights * np.minimum.outer(hosts, hosts), twins.size.tolist())
