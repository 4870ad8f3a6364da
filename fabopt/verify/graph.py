"""Figures on the explicit graph: bandwidth of the wiring, whatever the structure promises."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fabopt.network.graph.alltoall import alltoall
from fabopt.network.graph.bisection import bisection
from fabopt.network.graph.distances import hopping
from fabopt.network.graph.network import Ints, Network, network_of
from fabopt.network.graph.permutation import permutation_bound
from fabopt.network.graph.ranges import SAME, Range
from fabopt.network.graph.ring import ring_rate
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction, some
from fabopt.verify.bandwidth import bisection as bisection_of, through_servers
from fabopt.verify.link_kinds import SERVER_LEAF
from fabopt.verify.proof import Proof, distinct
from fabopt.verify.stripes import half_rate, half_rate_on_graph, is_uneven
from fabopt.verify.wiring import FabricCabling

# Links, both ways, times classes of switches that are looked at as destinations: some tenths of a second.
MOST_WORK = 3_000_000
# The same for cheaper figures of direct networks: hops and worst permutation; rings.
MOST_DIRECT_PATHS = 200_000_000
MOST_DIRECT_RINGS = 30_000_000
# With more switches with servers no cuts are looked for: ``bisection_carries_claim`` proves some by maximum flow.
MOST_IN_SPECTRUM = 64
MOST_HALVES = 1_000
ONLY_ON_GRAPH = ("permutation_gbps_per_gpu", "allreduce_gbps_per_gpu", "mean_switch_hops")


def figures_hold_on_graph(proof: Proof, cabling: FabricCabling) -> None:
    """The figures of the file are those of the graph that the wiring makes, plane by plane.

    Hops and worst permutation are equal; all-to-all is between the rate of equal-cost paths and an upper bound of any
    routing; no cut into halves that is tried is below bisection; rings along the rails carry the all-reduce. With
    uneven stripes on two tiers bisection and worst permutation are at most the capacity of the worst cut into halves,
    counted on the links of the wiring; rings may take other paths there than all shortest ones alike. Of direct
    networks, all-to-all is a promise that the graph may pass. Graphs that are too large are left to
    ``metrics_are_recomputed``, and the file then has no figures without a proof. Source: docs/bandwidth.md.
    """
    planes = list(networks(cabling))
    works = [network.arcs.size * network.twins.classes for _, network, _ in planes]
    most = MOST_DIRECT_PATHS if cabling.fabric.is_direct else MOST_WORK
    if max(works, default=0) > most:
        proof.note(f"{max(works):,} links x destinations are more than {most:,}: the graph is left to the classes")
        _without_graph(proof, cabling, *ONLY_ON_GRAPH)
        return
    judged: list[tuple[Network, Ints]] = []
    for plane, network, rings in planes:
        if not any(_same(network, other) and np.array_equal(rings, ring) for other, ring in judged):
            judged.append((network, rings))
            _judge(proof, cabling, f"plane {plane}: " if len(planes) > 1 else "", network, rings)
    if len(judged) < len(planes):
        proof.note(f"{some(len(planes), 'plane')}, {len(judged)} of them different")


def _without_graph(proof: Proof, cabling: FabricCabling, *names: str) -> None:
    """A direct network has no closed forms of these figures."""
    for name in names if cabling.fabric.is_direct else ():
        written = getattr(cabling.fabric.designed.metrics, name)
        proof.holds(written is None, f"{name} is {written}, which nothing proves on so large a graph")


def networks(cabling: FabricCabling) -> Iterator[tuple[int, Network, Ints]]:
    """(Number, graph, rings) of every plane, of one tier of every switch, with switches in the order of their rows.

    Rings, one for every port of a server, have shape (ports, servers).
    """
    links, devices = cabling.links, cabling.devices
    if not cabling.fabric.has_switches:
        yield 1, *of_servers(cabling)
        return
    servers = cabling.of(SERVER_LEAF)
    between = cabling.between_switches
    mbps = cabling.mbps(between)
    alone = not cabling.fabric.is_direct and cabling.clos.tiers == 1
    network = np.arange(len(devices)) if alone else devices.plane
    for plane, number in enumerate(np.unique(network[links.b[servers]]).tolist(), 1):
        of_plane = servers[network[links.b[servers]] == number]
        inside = network[links.b[between]] == number
        a, b = links.a[between][inside], links.b[between][inside]
        switches, place = np.unique(np.concatenate([links.b[of_plane], a, b]), return_inverse=True)
        place = place.ravel()
        leaf, near, far = np.split(place, [len(of_plane), len(of_plane) + len(a)])
        hosts = np.bincount(leaf, minlength=len(switches))
        order = np.lexsort((links.a_nic_port[of_plane], links.a_nic[of_plane], links.a[of_plane]))
        rings = leaf[order].reshape(len(distinct(links.a[of_plane])), -1).T
        yield plane, network_of(near, far, mbps[inside], hosts, cabling.fabric.nic_lane.port_mbps), rings


def of_servers(cabling: FabricCabling) -> tuple[Network, Ints]:
    """Servers joined to each other, an endpoint each, and the ring of all of them, shape (1, servers)."""
    links, number, nic = cabling.links, cabling.numbers("server"), cabling.fabric.designed.nic
    mbps, servers = cabling.mbps(np.arange(len(links))), cabling.fabric.evidence.servers
    most = nic.per_server * nic.ports_per_nic * cabling.fabric.nic_lane.port_mbps
    network = network_of(number[links.a], number[links.b], mbps, np.ones(servers, dtype=np.int64), most)
    return network, np.arange(servers)[np.newaxis, :]


def _same(network: Network, other: Network) -> bool:
    return network is other or all(
        np.array_equal(getattr(network, name), getattr(other, name)) for name in ("a", "b", "mbps", "hosts")
    )


def _judge(proof: Proof, cabling: FabricCabling, where: str, network: Network, rings: Ints) -> None:
    metrics, clos = cabling.fabric.designed.metrics, cabling.clos
    uneven = is_uneven(clos)
    across = _halves_limit_mbps(proof, cabling, where, network) if uneven else None
    far = hopping(network)
    no_switch = not cabling.fabric.has_switches
    claimed = metrics.max_nic_hops if no_switch else metrics.max_switch_hops
    proof.equal(f"{where}devices passed on the longest path", claimed, far.most - 2 * no_switch)
    if metrics.mean_switch_hops is not None:
        pairs = network.endpoints * (network.endpoints - 1)
        mean = Fraction(0) if no_switch else 1 + Fraction(far.links, pairs) if pairs else Fraction(1)
        proof.equal(f"{where}mean_switch_hops", metrics.mean_switch_hops, plain_fraction(mean))
    if metrics.permutation_gbps_per_gpu is not None:
        bound = through_servers(cabling.fabric, _per_gpu(cabling, permutation_bound(network)))
        bound = bound if across is None else min(bound, across)
        recomputed = plain_fraction(bound / MBPS_PER_GBPS)
        proof.equal(f"{where}permutation_gbps_per_gpu", metrics.permutation_gbps_per_gpu, recomputed)
    is_direct, work = cabling.fabric.is_direct, network.arcs.size * network.twins.classes
    in_two_tiers, in_three_tiers = uneven and clos.tiers == 2, uneven and clos.tiers > 2
    rates = alltoall(network) if work <= MOST_WORK else None
    if rates is not None:
        _holds(proof, cabling, f"{where}alltoall_gbps_per_gpu", rates, True, not is_direct and not in_three_tiers)
    most = MOST_DIRECT_RINGS if is_direct else MOST_WORK
    if network.arcs.size * len(network.with_hosts) > most:
        _without_graph(proof, cabling, "allreduce_gbps_per_gpu")
    elif metrics.allreduce_gbps_per_gpu is not None:
        rate = ring_rate(network, rings)
        ring = Range(rate, network.port_mbps if uneven else rate, "rings over equal-cost shortest paths")
        _holds(proof, cabling, f"{where}allreduce_gbps_per_gpu", ring, not uneven, not in_three_tiers)
    if rates is not None and 1 < len(network.with_hosts) <= MOST_IN_SPECTRUM and not in_two_tiers:
        halves = bisection(network, rates.lower, MOST_HALVES)
        _holds(proof, cabling, f"{where}bisection_gbps_per_gpu", halves._replace(lower=0.0), True)


def _halves_limit_mbps(proof: Proof, cabling: FabricCabling, where: str, network: Network) -> Fraction:
    """Upper bound on bisection and worst permutation with uneven stripes, in Mb/s per GPU.

    On two tiers the worst cut into halves, on three the structure's figure.
    """
    fabric = cabling.fabric
    if cabling.clos.tiers > 2:
        return _per_gpu(cabling, half_rate(fabric))
    worst = _per_gpu(cabling, half_rate_on_graph(network, fabric.up("leaf").port_mbps))
    recomputed = plain_fraction(min(bisection_of(fabric), worst) / MBPS_PER_GBPS)
    proof.equal(f"{where}bisection_gbps_per_gpu", fabric.designed.metrics.bisection_gbps_per_gpu, recomputed)
    proof.note(f"{plain_fraction(worst / MBPS_PER_GBPS)} Gb/s per GPU across the worst halves")
    return worst


def _per_gpu(cabling: FabricCabling, rate: Fraction) -> Fraction:
    """Mb/s of a GPU where each of its endpoints sends ``rate``, at most the injection."""
    fabric = cabling.fabric
    ports = fabric.designed.nic.per_server * fabric.designed.nic.ports_per_nic if fabric.has_switches else 1
    return min(fabric.injection, rate * ports / fabric.evidence.sharers)


def _holds(
    proof: Proof, cabling: FabricCabling, name: str, known: Range, from_above: bool, from_below: bool = True
) -> None:
    """A figure of the file is within its range: no more than its upper bound, no less than its lower bound."""
    written = getattr(cabling.fabric.designed.metrics, name.split(": ")[-1])
    least, most = (float(_per_gpu(cabling, Fraction(rate))) for rate in (known.lower, known.upper))
    claimed = float(exact(written) * MBPS_PER_GBPS)
    low, high = least if from_below else min(least, claimed), most if from_above else max(most, claimed)
    inside = Range(low, high, known.how).allows(claimed)
    shown = f"{least / MBPS_PER_GBPS:.6g}" if known.is_exact else _shown(least, most)
    proof.holds(inside, f"{name} is {written}, on the graph {shown} ({known.how})")
    proof.note(f"{name} {shown} ({known.how})")


def _shown(least: float, most: float) -> str:
    text = f"{most / MBPS_PER_GBPS:.6g}"
    return f"{least / MBPS_PER_GBPS:.6g} to {text}" if least > SAME else f"at most {text}"
