"""Leaves of a Clos by classes, and figures of their distances: path lengths, the heaviest matching.

Symmetries of a Clos exchange the leaves of a class. Between two leaves of one pod lies a path of two links, between
those of two pods one of four. See docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fabopt.network.graph.matching import heaviest_transport
from fabopt.units import summed

LINKS_IN_POD = 2
LINKS_BETWEEN_PODS = 4


class LeafClass(NamedTuple):
    """Equal leaves of one plane: ``leaves`` in each of ``pods`` pods of a kind, with ``hosts`` server ports each."""

    kind: int
    pods: int
    leaves: int
    hosts: int

    @property
    def in_all(self) -> int:
        """Number of leaves of the class over all pods."""
        return self.pods * self.leaves


def matched_links(classes: Sequence[LeafClass]) -> int:
    """Sum of path length (links) x min(hosts) over the heaviest matching of leaves with leaves; exact.

    Source: Namyar et al., "A throughput-centric view of the performance of datacenter topologies", SIGCOMM 2021.
    """
    present = [leaf_class for leaf_class in classes if leaf_class.in_all and leaf_class.hosts]
    if not present:
        return 0
    weights = [
        [_apart(leaf_class, other) * min(leaf_class.hosts, other.hosts) for other in present] for leaf_class in present
    ]
    return heaviest_transport(np.array(weights, dtype=np.int64), [leaf_class.in_all for leaf_class in present])


def _apart(some: LeafClass, other: LeafClass) -> int:
    """Links between a leaf and the furthest one of a class; 0 where a leaf can only be matched with itself."""
    if some.kind != other.kind or some.pods > 1:
        return LINKS_BETWEEN_PODS
    return LINKS_IN_POD if some is not other or some.leaves > 1 else 0


def mean_switches(classes: Sequence[LeafClass]) -> Fraction:
    """Mean number of switches on the shortest path over all ordered pairs of server ports; 1 for fewer than two
    ports.
    """
    ports = sum(leaf_class.in_all * leaf_class.hosts for leaf_class in classes)
    if ports < 2:
        return Fraction(1)
    on_leaf = sum(leaf_class.in_all * leaf_class.hosts**2 for leaf_class in classes)
    of_pod = summed((leaf_class.kind, leaf_class.leaves * leaf_class.hosts) for leaf_class in classes)
    pods = {leaf_class.kind: leaf_class.pods for leaf_class in classes}
    in_pod = sum(pods[kind] * hosts**2 for kind, hosts in of_pod.items())
    switches = (on_leaf - ports) + 3 * (in_pod - on_leaf) + 5 * (ports**2 - in_pod)
    return Fraction(switches, ports * (ports - 1))
