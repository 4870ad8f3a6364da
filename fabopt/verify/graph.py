"""Figures on the explicit graph: what the wiring gives, whatever the structure promises."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fabopt.graph.alltoall import alltoall
from fabopt.graph.bisection import bisection
from fabopt.graph.distances import hopping
from fabopt.graph.network import Ints, Network, network_of
from fabopt.graph.permutation import permutation_bound
from fabopt.graph.ranges import SAME, Range
from fabopt.graph.ring import ring_rate
from fabopt.schema.design import DirectStructure
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction
from fabopt.verify.bandwidth import through_servers
from fabopt.verify.kinds import SERVER_LEAF
from fabopt.verify.proof import Proof
from fabopt.verify.wiring import Cabling
from fabopt.wiring.model import KINDS

# Links, both ways, times classes of switches that are looked at as destinations: some tenths of a second.
MOST_WORK = 3_000_000
# With more switches with servers no cuts are looked for: ``bisection_carries_claim`` proves some by maximum flow.
MOST_IN_SPECTRUM = 64
MOST_HALVES = 1_000


def figures_hold_on_graph(proof: Proof, cabling: Cabling) -> None:
    """The figures of the file are those of the graph that the wiring makes, plane by plane.

    Hops and worst permutation are equal; all-to-all is between what equal-cost paths carry and what no routing passes;
    no cut into halves that is met is below bisection; rings along the rails carry the all-reduce. With uneven stripes
    the file may promise slightly more than the graph gives, and is held to what it gives only from above. Direct
    networks promise what minimal routes carry however servers fill the switches: the graph may give more. Graphs that
    are too large are left to ``metrics_are_recomputed``. Source: docs/bandwidth.md.
    """
    planes = list(networks(cabling))
    works = [network.arcs.size * network.twins.classes for _, network, _ in planes]
    if max(works, default=0) > MOST_WORK:
        proof.note(f"{max(works):,} links x destinations are more than {MOST_WORK:,}: the graph is left to the classes")
        return
    judged: list[tuple[Network, Ints]] = []
    for plane, network, rings in planes:
        if not any(_same(network, other) and np.array_equal(rings, ring) for other, ring in judged):
            judged.append((network, rings))
            _judge(proof, cabling, f"plane {plane}: " if len(planes) > 1 else "", network, rings)
    if len(judged) < len(planes):
        proof.note(f"{len(planes)} planes, {len(judged)} of them different")


def networks(cabling: Cabling) -> Iterator[tuple[int, Network, Ints]]:
    """(Number, graph, rings) of every plane: switches in the order of their rows, a ring of every port of a server."""
    links, devices = cabling.links, cabling.devices
    servers = cabling.of(SERVER_LEAF)
    between = np.flatnonzero(links.kind > KINDS.index("attachment-leaf"))
    mbps = cabling.mbps(between)
    for plane in np.unique(devices.plane[links.b[servers]]).tolist():
        mine = servers[devices.plane[links.b[servers]] == plane]
        inside = devices.plane[links.b[between]] == plane
        a, b = links.a[between][inside], links.b[between][inside]
        switches, place = np.unique(np.concatenate([links.b[mine], a, b]), return_inverse=True)
        place = place.ravel()
        leaf, one, other = np.split(place, [len(mine), len(mine) + len(a)])
        hosts = np.bincount(leaf, minlength=len(switches))
        order = np.lexsort((links.a_card_port[mine], links.a_card[mine], links.a[mine]))
        rings = leaf[order].reshape(len(np.unique(links.a[mine])), -1).T
        yield plane, network_of(one, other, mbps[inside], hosts, cabling.fabric.nic_lane.port_mbps), rings


def _same(one: Network, other: Network) -> bool:
    return one is other or all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("a", "b", "mbps", "hosts")
    )


def _judge(proof: Proof, cabling: Cabling, where: str, network: Network, rings: Ints) -> None:
    metrics, clos = cabling.fabric.made.metrics, cabling.clos
    uneven = clos.tiers > 1 and clos.uplinks % clos.spines != 0
    far = hopping(network)
    proof.equal(f"{where}switches on the longest path", metrics.max_switch_hops, far.most)
    if metrics.mean_switch_hops is not None:
        pairs = network.endpoints * (network.endpoints - 1)
        mean = 1 + Fraction(far.links, pairs) if pairs else Fraction(1)
        proof.equal(f"{where}mean_switch_hops", metrics.mean_switch_hops, plain_fraction(mean))
    if metrics.permutation_gbps_per_gpu is not None:
        bound = through_servers(cabling.fabric, _per_gpu(cabling, permutation_bound(network)))
        recomputed = plain_fraction(bound / MBPS_PER_GBPS)
        proof.equal(f"{where}permutation_gbps_per_gpu", metrics.permutation_gbps_per_gpu, recomputed)
    found = alltoall(network)
    least = 0.0 if isinstance(cabling.fabric.made.structure, DirectStructure) else found.lower
    _holds(proof, cabling, f"{where}alltoall_gbps_per_gpu", found._replace(lower=least), not uneven)
    if metrics.allreduce_gbps_per_gpu is not None and network.arcs.size * len(network.with_hosts) <= MOST_WORK:
        rate = ring_rate(network, rings)
        ring = Range(rate, network.port_mbps if uneven else rate, "rings over equal-cost shortest paths")
        _holds(proof, cabling, f"{where}allreduce_gbps_per_gpu", ring, not uneven)
    if 1 < len(network.with_hosts) <= MOST_IN_SPECTRUM:
        halves = bisection(network, found.lower, MOST_HALVES)
        _holds(proof, cabling, f"{where}bisection_gbps_per_gpu", halves._replace(lower=0.0), not uneven)


def _per_gpu(cabling: Cabling, rate: Fraction) -> Fraction:
    """What a GPU gets where each of its ports sends so much, at most the injection."""
    fabric = cabling.fabric
    ports = fabric.made.nic.per_server * fabric.made.nic.ports_per_nic
    return min(fabric.injection, rate * ports / fabric.evidence.sharers)


def _holds(proof: Proof, cabling: Cabling, name: str, found: Range, from_above: bool) -> None:
    """A figure of the file is within what was found; ``from_above``: also not more than cannot be passed."""
    written = getattr(cabling.fabric.made.metrics, name.split(": ")[-1])
    least, most = (float(_per_gpu(cabling, Fraction(one))) for one in (found.lower, found.upper))
    claimed = float(exact(written) * MBPS_PER_GBPS)
    inside = Range(least, most if from_above else max(most, claimed), found.how).allows(claimed)
    shown = f"{least / MBPS_PER_GBPS:.6g}" if found.is_exact else _shown(least, most)
    proof.holds(inside, f"{name} is {written}, on the graph {shown} ({found.how})")
    proof.note(f"{name} {shown} ({found.how})")


def _shown(least: float, most: float) -> str:
    text = f"{most / MBPS_PER_GBPS:.6g}"
    return f"{least / MBPS_PER_GBPS:.6g} to {text}" if least > SAME else f"at most {text}"
