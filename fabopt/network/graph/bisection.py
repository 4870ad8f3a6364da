"""The worst balanced cut of a graph: exact where all halves can be tried, else between two bounds.

Halves are of switches with endpoints; the smaller half has the most of them up to half. Switches without endpoints fall
on the side that makes the cut least. The figure is the capacity across, one way, over the smaller half's endpoints.
Below: half the second eigenvalue of L x = lambda H x, L the Laplacian of capacities with switches without endpoints
eliminated, H the endpoints (Fiedler 1973; Mohar, "Isoperimetric numbers of graphs", 1989). For with x = 1 on one side
and -1 on the other, cut = x L x / 4 >= lambda E / 4, over E/2 endpoints; also the load of uniform traffic across any
cut. Above: the best cut met along the eigenvector and along the switches' numbers, improved by exchanges.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from fabopt.network.graph.network import Floats, Ints, Network
from fabopt.network.graph.ranges import Range

Sides = NDArray[np.bool_]
# Halves that are all looked at: one by one by maximum flow, or together where no two transit switches are joined.
MOST_FLOWS = 1_000
MOST_HALVES = 100_000
_TOGETHER = 4_000
# Eigenvectors along which cuts are looked for, and rounds of exchanges.
_VECTORS = 6
_ROUNDS = 60


def bisection(network: Network, alltoall: float = 0.0, most_halves: int = MOST_HALVES) -> Range:
    """Mb/s of every endpoint of a half, at most its port's speed. ``alltoall``: a feasible rate, if known.

    Up to ``most_halves`` halves are tried one by one. Raises ``ValueError`` for fewer than two switches with endpoints.
    """
    with_hosts = network.with_hosts
    if len(with_hosts) < 2:
        raise ValueError("one switch has no halves")
    halves = comb(len(with_hosts), len(with_hosts) // 2)
    equal = bool((network.hosts[with_hosts] == network.hosts[with_hosts[0]]).all())
    apart = _transit_is_apart(network)
    if equal and halves <= (most_halves if apart else min(most_halves, MOST_FLOWS)):
        least = min(_least_cuts(network, halves, apart))
        value = min(float(network.port_mbps), float(least))
        return Range(value, value, f"all {halves:,} halves looked at")
    return _between(network, alltoall, apart)


def _transit_is_apart(network: Network) -> bool:
    """Whether no two switches without endpoints are joined: then each takes its own side."""
    return not ((network.hosts[network.a] == 0) & (network.hosts[network.b] == 0)).any()


def _least_cuts(network: Network, halves: int, apart: bool) -> Iterator[float]:
    """The least cut by endpoints among each batch of halves."""
    with_hosts = network.with_hosts
    picked = combinations(range(len(with_hosts)), len(with_hosts) // 2)
    for start in range(0, halves, _TOGETHER):
        some = [next(picked) for _ in range(min(_TOGETHER, halves - start))]
        sides = np.zeros((len(some), len(with_hosts)), dtype=np.bool_)
        sides[np.repeat(np.arange(len(some)), len(with_hosts) // 2), np.concatenate(some)] = True
        yield float(_by_endpoints(network, sides, apart).min())


def _by_endpoints(network: Network, sides: Sides, apart: bool) -> Floats:
    """Cut of every row of sides of the switches with endpoints, by the endpoints of the smaller side."""
    cuts = _cuts(network, sides) if apart else np.array([_flow(network, side) for side in sides], dtype=np.float64)
    hosts = network.hosts[network.with_hosts]
    inside = sides @ hosts
    return np.asarray(cuts / np.minimum(inside, hosts.sum() - inside))


def _cuts(network: Network, sides: Sides) -> Floats:
    """Capacity across each row of sides, transit switches on the side to which they have more."""
    with_hosts, a, b = network.with_hosts, network.a, network.b
    full = np.zeros((len(sides), network.switches), dtype=np.bool_)
    full[:, with_hosts] = sides
    direct = (network.hosts[a] > 0) & (network.hosts[b] > 0)
    cut = (full[:, a[direct]] != full[:, b[direct]]) @ network.mbps[direct].astype(np.float64)
    through = np.flatnonzero(~direct)
    transit = np.where(network.hosts[a[through]] == 0, a[through], b[through])
    near = a[through] + b[through] - transit
    order = np.argsort(transit, kind="stable")
    if len(order):
        mbps = network.mbps[through][order].astype(np.float64)
        first = np.unique(transit[order], return_index=True)[1]
        on_side = np.add.reduceat(full[:, near[order]] * mbps, first, axis=1)
        cut = cut + np.minimum(on_side, np.add.reduceat(mbps, first) - on_side).sum(axis=1)
    return np.asarray(cut)


def _flow(network: Network, side: Sides) -> float:
    """The least capacity between one side and the other, by maximum flow (Ford and Fulkerson 1956)."""
    from ortools.graph.python import max_flow  # small graphs with transit only

    graph, arcs, with_hosts = max_flow.SimpleMaxFlow(), network.arcs, network.with_hosts
    source, sink = network.switches, network.switches + 1
    graph.add_arcs_with_capacity(arcs.tail, arcs.head, arcs.mbps)
    ends = np.where(side, source, with_hosts), np.where(side, with_hosts, sink)
    graph.add_arcs_with_capacity(*ends, np.full(len(with_hosts), 2 * network.capacity + 1))
    status = graph.solve(source, sink)
    if status != graph.OPTIMAL:
        raise RuntimeError(f"the flow has no optimum: {status}")
    return float(graph.optimal_flow())


def _between(network: Network, alltoall: float, apart: bool) -> Range:
    with_hosts = network.with_hosts
    hosts = network.hosts[with_hosts].astype(np.float64)
    root = np.sqrt(hosts)
    values, vectors = np.linalg.eigh(_laplacian(network) / np.multiply.outer(root, root))
    # uniform traffic at the rate r puts r x E/2 x E/2 / (E - 1) across every cut into halves
    most, endpoints = float(network.port_mbps), network.endpoints
    lower = max(float(values[1]) / 2, alltoall * endpoints / 2 / max(1, endpoints - 1))
    orders = [np.argsort(vectors[:, 1 + i] / root, kind="stable") for i in range(min(_VECTORS, len(with_hosts) - 1))]
    sides = np.array([_first_half(order, network.hosts[with_hosts]) for order in [*orders, np.arange(len(with_hosts))]])
    cuts = _by_endpoints(network, sides, apart)
    best = sides[int(cuts.argmin())]
    upper = min(float(cuts.min()), _exchanged(network, best) if apart else np.inf)
    if lower >= most:
        return Range(most, most, "the ports' own speed")
    return Range(min(lower, upper, most), min(upper, most), "spectral bound below, best cut met above")


def _laplacian(network: Network) -> Floats:
    """Laplacian of capacities, switches without endpoints eliminated."""
    whole = np.zeros((network.switches, network.switches))
    whole[network.a, network.b] = whole[network.b, network.a] = -network.mbps.astype(np.float64)
    np.fill_diagonal(whole, -whole.sum(axis=1))
    with_hosts, transit = network.with_hosts, np.flatnonzero(network.hosts == 0)
    kept = whole[np.ix_(with_hosts, with_hosts)]
    if len(transit):
        across = whole[np.ix_(with_hosts, transit)]
        kept = kept - across @ np.linalg.solve(whole[np.ix_(transit, transit)], across.T)
    return np.asarray((kept + kept.T) / 2)


def _first_half(order: Ints, hosts: Ints) -> Sides:
    """The first switches of an order, up to half of all endpoints."""
    side = np.zeros(len(order), dtype=np.bool_)
    side[order[np.cumsum(hosts[order]) * 2 <= hosts.sum()]] = True
    if not side.any():
        side[order[0]] = True
    return side


def _exchanged(network: Network, side: Sides) -> float:
    """The cut after exchanging two switches with equal endpoints, as long as that helps (Kernighan and Lin 1970)."""
    if len(network.with_hosts) != network.switches:
        return np.inf
    capacity = np.zeros((network.switches, network.switches))
    capacity[network.a, network.b] = capacity[network.b, network.a] = network.mbps
    best = side.copy()
    for _ in range(_ROUNDS):
        across = np.where(best[:, np.newaxis] != best, capacity, -capacity).sum(axis=1)
        inside, outside = np.flatnonzero(best), np.flatnonzero(~best)
        gain = across[inside][:, np.newaxis] + across[outside] - 2 * capacity[np.ix_(inside, outside)]
        gain[network.hosts[inside][:, np.newaxis] != network.hosts[outside]] = -np.inf
        most = int(gain.argmax())
        if gain.flat[most] <= 0:
            break
        best[[inside[most // len(outside)], outside[most % len(outside)]]] ^= True
    return float(_by_endpoints(network, best[np.newaxis], True)[0])
