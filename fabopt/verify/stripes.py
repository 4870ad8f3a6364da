"""Rates of a Clos whose leaves have more links to some spines than to others, recounted from its free choices.

Mb/s of every server port. Source: docs/formulation/clos.md.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fabopt.network.graph.network import Ints, Network
from fabopt.network.graph.stripes import fewest_shared, round_robin, worst_half
from fabopt.verify.clos_counts import ClosCounts
from fabopt.verify.evidence import FabricEvidence


def is_uneven(clos: ClosCounts) -> bool:
    """Whether a leaf has more links to some spines than to others of their type."""
    return clos.tiers > 1 and not clos.to_spines and clos.u % clos.spines != 0


def half_rate(fabric: FabricEvidence) -> Fraction:
    """Across the worst cut into halves of two tiers; of three the links shared by any two leaves, over the spines'
    ratio.
    """
    clos = fabric.clos
    if clos.tiers > 2:
        return min(_port(fabric), Fraction(_shared(fabric), clos.g * clos.k)) / _above_spines(fabric)
    return worst_half(_links(clos), _server_ports(clos), fabric.nic_lane.port_mbps, fabric.up("leaf").port_mbps)


def alltoall_rate(fabric: FabricEvidence) -> Fraction:
    """Equally to all others: the rate of the worst cut, or of the links shared by any two leaves."""
    clos = fabric.clos
    ports = clos.servers * clos.ports
    if clos.tiers == 2:
        return half_rate(fabric) * Fraction(ports - 1, ports - ports // 2)
    rates = [_port(fabric)]
    for inside in np.unique(_server_ports(clos)).tolist():
        rates.append(Fraction(_shared(fabric) * (ports - 1), inside * (ports - inside)))
    return min(rates) / _above_spines(fabric)


def ring_rate(fabric: FabricEvidence) -> Fraction:
    """To the same port of the next server: the links shared by leaves of one rail in consecutive groups."""
    clos = fabric.clos
    if clos.groups == 1:
        return _port(fabric)
    if clos.tiers > 2:
        return _ring_through_cores(fabric)
    links = _links(clos)
    shared = np.minimum(links, np.roll(links, -clos.rails, axis=0)).sum(axis=1)
    return Fraction(int(shared.min()) * fabric.up("leaf").port_mbps, clos.k)


def _ring_through_cores(fabric: FabricEvidence) -> Fraction:
    """Of the links shared by two leaves, one spine has the most: it passes on its traffic from a group's leaves."""
    clos = fabric.clos
    links = clos.u if clos.by_rail else fewest_shared(clos.spines, clos.u)
    rate = Fraction(links * fabric.up("leaf").port_mbps, clos.k)
    if clos.pods_per_rail == 1:
        return rate
    from_group = (clos.k if clos.rail_pods else clos.ports) * (clos.u // clos.spines + 1)
    passed_on = clos.x * fabric.up("spine").port_mbps
    return min(rate, Fraction(passed_on * links, from_group))


def half_rate_on_graph(network: Network, link_mbps: int) -> Fraction:
    """Across the worst cut into halves of two tiers, from the links of the wiring."""
    place = np.full(network.switches, -1)
    place[network.with_hosts] = np.arange(len(network.with_hosts))
    spines = np.flatnonzero(network.hosts == 0)
    place[spines] = np.arange(len(spines))
    links = np.zeros((len(network.with_hosts), len(spines)), dtype=np.int64)
    below, above = _ends(network)
    np.add.at(links, (place[below], place[above]), network.mbps // link_mbps)
    return worst_half(links, network.hosts[network.with_hosts], network.port_mbps, link_mbps)


def _ends(network: Network) -> tuple[Ints, Ints]:
    """Leaves and spines of the links between them."""
    turned = network.hosts[network.a] == 0
    return np.where(turned, network.b, network.a), np.where(turned, network.a, network.b)


def _links(clos: ClosCounts) -> Ints:
    """Links of every leaf of two tiers to every spine, shape (leaves, spines)."""
    return round_robin(clos.leaves, clos.spines, clos.u, clos.rails if clos.by_rail else 0)


def _server_ports(clos: ClosCounts) -> Ints:
    """Server ports of every leaf of a plane, group by group."""
    return clos.leaf_ports[: clos.leaves]


def _port(fabric: FabricEvidence) -> Fraction:
    return Fraction(fabric.nic_lane.port_mbps)


def _shared(fabric: FabricEvidence) -> int:
    """Mb/s of the links shared by any two leaves of a pod."""
    return fewest_shared(fabric.clos.spines, fabric.clos.u) * fabric.up("leaf").port_mbps


def _above_spines(fabric: FabricEvidence) -> Fraction:
    """The ratio at the spines of their links from leaves, at least 1."""
    below = fabric.clos.most_spine_downlinks * fabric.down("spine").port_mbps
    return max(Fraction(1), Fraction(below, fabric.clos.x * fabric.up("spine").port_mbps))
