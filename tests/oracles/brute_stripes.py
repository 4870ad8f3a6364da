"""The worst cut of a leaf-spine network into halves by enumeration: every way to part the endpoints, by maximum flow;
or every set of leaves, which is as good.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from ortools.graph.python import max_flow

Ints = NDArray[np.int64]


def worst_by_flow(links: Ints, hosts: list[int], port_mbps: int, link_mbps: int) -> Fraction:
    """Mb/s of every endpoint of the smaller half, the least over all halves."""
    half = sum(hosts) // 2
    flows = [_flow(links, hosts, picked, port_mbps, link_mbps) for picked in _parts(hosts, half)]
    return Fraction(min(flows), half)


def _parts(hosts: list[int], number: int) -> Iterator[list[int]]:
    """Every way to pick so many endpoints, as numbers on each leaf."""
    if not hosts:
        if not number:
            yield []
        return
    for picked in range(min(hosts[0], number) + 1):
        for rest in _parts(hosts[1:], number - picked):
            yield [picked, *rest]


def _flow(links: Ints, hosts: list[int], picked: list[int], port_mbps: int, link_mbps: int) -> int:
    """Mb/s from the endpoints that are picked to the others: leaves first, then spines, source, sink."""
    leaves, spines = links.shape
    source, sink = leaves + spines, leaves + spines + 1
    graph = max_flow.SimpleMaxFlow()
    for leaf in range(leaves):
        graph.add_arc_with_capacity(source, leaf, picked[leaf] * port_mbps)
        graph.add_arc_with_capacity(leaf, sink, (hosts[leaf] - picked[leaf]) * port_mbps)
        for spine in range(spines):
            capacity = int(links[leaf, spine]) * link_mbps
            graph.add_arc_with_capacity(leaf, leaves + spine, capacity)
            graph.add_arc_with_capacity(leaves + spine, leaf, capacity)
    assert graph.solve(source, sink) == graph.OPTIMAL
    return int(graph.optimal_flow())


def worst_by_sets(links: Ints, hosts: list[int], port_mbps: int, link_mbps: int) -> Fraction:
    """The same over all sets of leaves: spines on their better side, endpoints on the side of their leaf if it fits."""
    endpoints = sum(hosts)
    half = endpoints // 2
    sets = np.arange(1 << len(hosts))[:, np.newaxis] >> np.arange(len(hosts)) & 1
    inside = sets @ links
    crossing = np.minimum(inside, links.sum(axis=0) - inside).sum(axis=1) * link_mbps
    below = sets @ np.array(hosts)
    apart = np.minimum(abs(below - half), abs(below - endpoints + half)) * port_mbps
    return Fraction(int((crossing + apart).min()), half)
