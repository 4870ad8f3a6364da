"""Rules of direct networks by their numbers, in place of those of pods, spines and cores."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from fabopt.units import MBPS_PER_GBPS, plain_fraction, some
from fabopt.verify.bandwidth import single_flow
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof


class Endpoints(NamedTuple):
    """Senders: ports of servers on switches, or servers joined to each other.

    ``number`` of a plane, ``most`` on a switch, ``of_gpu`` over all planes; ``most_mbps``: Mb/s of one endpoint at
    most, ``link_mbps``: of a link upwards from each tier.
    """

    number: int
    most: int
    of_gpu: Fraction
    most_mbps: Fraction
    link_mbps: Sequence[int]


def endpoints_of(fabric: FabricEvidence) -> Endpoints:
    """The endpoints of a direct network."""
    servers, sharers, port_mbps = fabric.evidence.servers, fabric.evidence.sharers, fabric.nic_lane.port_mbps
    if not fabric.has_switches:
        return Endpoints(servers, 1, Fraction(1, sharers), fabric.injection * sharers, [port_mbps])
    ports = fabric.clos.ports
    speeds = [fabric.up(role).port_mbps for role, _ in fabric.mesh.tiers]
    of_gpu = Fraction(fabric.designed.planes * ports, sharers)
    return Endpoints(servers * ports, fabric.clos.most_endpoints, of_gpu, Fraction(port_mbps), speeds)


def cut(fabric: FabricEvidence) -> Fraction:
    """Mb/s of an endpoint across the worst cut into halves."""
    endpoints = endpoints_of(fabric)
    return fabric.mesh.cut(endpoints.most, endpoints.link_mbps)


def _spread(fabric: FabricEvidence) -> Fraction:
    """Mb/s of an endpoint that spreads its traffic evenly."""
    endpoints = endpoints_of(fabric)
    return fabric.mesh.spread(endpoints.most, endpoints.number, endpoints.link_mbps)


def bisection(fabric: FabricEvidence) -> Fraction:
    """Mb/s per GPU, of the worst cut into halves, at most the rate of a port and a NIC."""
    return _of_gpu(fabric, cut(fabric))


def all_to_all(fabric: FabricEvidence) -> Fraction:
    """Mb/s per GPU, of traffic that every endpoint spreads evenly over all others, at most the rate of a NIC."""
    return _of_gpu(fabric, _spread(fabric))


def _of_gpu(fabric: FabricEvidence, endpoint_mbps: Fraction) -> Fraction:
    endpoints = endpoints_of(fabric)
    return min(fabric.injection, min(endpoint_mbps, endpoints.most_mbps) * endpoints.of_gpu)


def oversubscription(fabric: FabricEvidence) -> dict[str, Fraction]:
    """Server ports of the busiest switch over its links to other switches, by speed; in a dragonfly+ by tier."""
    if not fabric.mesh.tiers:
        return {}
    down_mbps = fabric.clos.most_endpoints * fabric.down("leaf").port_mbps
    return fabric.mesh.ratios(down_mbps, endpoints_of(fabric).link_mbps)


def switches_form_network(proof: Proof, fabric: FabricEvidence) -> None:
    """The family's numbers give the count of switches, enough for all servers, with no superfluous side or group.

    HyperX: product of sides >= 2; torus: of sides >= 3; dragonfly: a x G, a group's global links t >= G - 1, t G even;
    dragonfly+: (L + S) x G, L >= 2, u = S m, t as in a dragonfly. Source: docs/formulation/direct-networks.md.
    """
    mesh, leaves = fabric.mesh, fabric.clos.leaves
    proof.holds(mesh.leaves >= leaves, f"servers are on {some(leaves, 'switch')}, there are {mesh.leaves}")
    proof.holds(leaves >= 2, f"servers are on {some(leaves, 'switch')}")
    proof.holds(mesh.smallest, f"{some(mesh.leaves, 'switch')} for {leaves} with servers: fewer would do")
    for role, count in mesh.tiers:
        tier = fabric.tier(role)
        proof.equal(f"{role} count", tier.count, fabric.designed.planes * count)
        proof.equal(f"{role} up_ports", tier.up_ports, mesh.up_ports(role))
        proof.holds(tier.up is not None, f"no cages of a {role} for links between switches")
    for role, ports in mesh.down_ports():
        proof.equal(f"{role} down_ports", fabric.tier(role).down_ports, ports)
    links = some(mesh.most_ports, "link")
    proof.note(f"{some(mesh.switches, 'switch')} a plane, {leaves} with servers, {links} of each to others")


def flow_carries_demand(proof: Proof, fabric: FabricEvidence) -> None:
    """Bisection and uniform all-to-all of every GPU are its injection over the most oversubscription, at least.

    The network's capacity counts, so that a ratio below 1 can ask for more than a NIC takes. Source: case file,
    ``max_oversubscription``; docs/formulation/direct-networks.md.
    """
    wanted = fabric.injection / fabric.oversubscription_limits["leaf"]
    for what, endpoint_mbps in (("bisection", cut(fabric)), ("all-to-all", _spread(fabric))):
        rate = endpoint_mbps * endpoints_of(fabric).of_gpu
        shown = f"{what} {_shown(rate)} of {_shown(wanted)} Gb/s per GPU demanded"
        proof.shows(rate >= wanted, shown)


def figures_are_recomputed(proof: Proof, fabric: FabricEvidence) -> None:
    """The file's ratio and bandwidth figures are those of its structure.

    Injection, bisection, all-to-all in Gb/s per GPU, a single flow in Gb/s and the ratio, to six decimals. Source:
    docs/formulation/direct-networks.md.
    """
    ratios = {name: plain_fraction(ratio) for name, ratio in oversubscription(fabric).items()}
    proof.equal("oversubscription", fabric.designed.oversubscription, ratios)
    for name, exact_mbps in (
        ("injection_gbps_per_gpu", fabric.injection),
        ("bisection_gbps_per_gpu", bisection(fabric)),
        ("alltoall_gbps_per_gpu", all_to_all(fabric)),
    ):
        recomputed = _shown(exact_mbps)
        proof.equal(name, getattr(fabric.designed.metrics, name), recomputed)
        proof.note(f"{name} {recomputed}")
    if fabric.designed.metrics.single_flow_gbps is not None:
        proof.equal("single_flow_gbps", fabric.designed.metrics.single_flow_gbps, _shown(single_flow(fabric)))


def _shown(rate_mbps: Fraction) -> float:
    return plain_fraction(rate_mbps / MBPS_PER_GBPS)
