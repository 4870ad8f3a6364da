"""Rules of servers joined to each other without switches, besides those of direct networks."""

from __future__ import annotations

import numpy as np

from fabopt.network.components import first_joined
from fabopt.units import MBPS_PER_GBPS, ceil_div, exact, gbps, some
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.links import bundles_join_boxes
from fabopt.verify.paths import flow_through
from fabopt.verify.ports import nics_are_cabled, server_ends
from fabopt.verify.proof import Proof, distinct
from fabopt.verify.wiring import FabricCabling


def servers_form_torus(proof: Proof, fabric: FabricEvidence) -> None:
    """The servers are the points of a lattice of two or three dimensions, without other devices in the fabric.

    N = product of sides k_i >= 3; one plane, no switch, no attachment; on the longest shortest path traffic passes sum
    of floor(k_i / 2) - 1 servers. The case asks neither for ports kept free nor for ``resilience``. Source:
    docs/formulation/direct-networks.md.
    """
    mesh, designed, wanted, structure = fabric.mesh, fabric.designed, fabric.wanted, fabric.designed.structure
    proof.holds(len(mesh.sides) in (2, 3), f"{some(len(mesh.sides), 'dimension')}")
    proof.equal("product of the sides", mesh.switches, fabric.evidence.servers)
    proof.equal("planes", designed.planes, 1)
    proof.equal("servers_per_group", structure.servers_per_group, 1)
    proof.equal("ports_per_server_per_leaf", structure.ports_per_server_per_leaf, structure.ports_per_server)
    asked = [*wanted.attachments, *wanted.survived] or wanted.reserve_ports or wanted.group_by != "any"
    proof.holds(not asked, "attachments, a reserve, racks or resilience, which it cannot have")
    proof.equal("max_switch_hops", designed.metrics.max_switch_hops, 0)
    proof.equal("max_nic_hops", designed.metrics.max_nic_hops, sum(side // 2 for side in mesh.sides) - 1)
    proof.note(f"{' x '.join(map(str, mesh.sides))} servers, {designed.metrics.max_nic_hops} passed at the most")


def cards_pass_on(proof: Proof, fabric: FabricEvidence) -> None:
    """The NICs forward traffic for others, and all their ports are in rings, each dimension's in cages of its own.

    R = sum over dimensions of 2 m_i; N ports of a cage divide 2 m_i, and the ports of a NIC that has its own cages.
    Source: catalog, ``forwards``; docs/formulation/direct-networks.md.
    """
    mesh, nic, ports = fabric.mesh, fabric.designed.nic, fabric.nic_lane.ports
    proof.holds(fabric.nic.forwards, f"{nic.id} does not pass on what is for others")
    proof.equal("ports of a server", nic.per_server * nic.ports_per_nic, mesh.most_ports)
    for scope in mesh.scopes:
        proof.equal(f"{scope.name}: ports in a cage that is not full", scope.most % ports, 0)
    whole = nic.ports_per_nic * (nic.per_server if fabric.shared_cages else 1)
    proof.equal("ports of a NIC in a cage that is not full", whole % ports, 0)
    proof.note(f"{nic.per_server} x {nic.id} with {some(mesh.most_ports, 'port')} in rings")


def wires_join_neighbours(proof: Proof, cabling: FabricCabling) -> None:
    """A cable of several links joins one pair of servers, and is full.

    links of a cable divide m_i. Source: docs/formulation/direct-networks.md.
    """
    bundles_join_boxes(proof, cabling)


def server_ports_are_joined(proof: Proof, cabling: FabricCabling) -> None:
    """Every server has all its ports cabled to another server, once each.

    Each (server, NIC, port) of N x c x p at one end of one link, NICs numbered on from those of earlier fabrics; all
    servers are one component. Source: design file, ``nic``.
    """
    nic, ends = cabling.fabric.designed.nic, server_ends(cabling)
    nics_are_cabled(proof, cabling, nic, (ends.server, ends.nic - cabling.server_before.nics, ends.port))
    component = first_joined(len(cabling.devices), cabling.links.a, cabling.links.b)
    proof.equal("connected sets of servers", len(distinct(component[cabling.devices_of("server")])), 1)
    proof.note(f"{some(len(ends.server), 'server port')}")


def halves_carry_claim(proof: Proof, cabling: FabricCabling) -> None:
    """Half of the servers can send to the other half the bisection that the file states, through each other.

    For the first N // 2 servers against the rest, and the first of every two: maximum flow >= stated bisection per GPU
    x GPUs of the smaller side; a server sends or takes at most its injection, a link carries its speed each way,
    traffic through a server is limited by its links alone. Source: Ford and Fulkerson, 1956.
    """
    fabric = cabling.fabric
    claimed = exact(fabric.designed.metrics.bisection_gbps_per_gpu) * MBPS_PER_GBPS * fabric.evidence.sharers
    servers = np.arange(fabric.evidence.servers)
    for what, sends in (("halves", servers < len(servers) // 2), ("every other server", servers % 2 == 1)):
        needed = int(sends.sum()) * (claimed.numerator // claimed.denominator)
        flow = _flow(cabling, sends)
        shown = f"{what}: {gbps(flow)} Gb/s, {gbps(needed)} claimed"
        proof.shows(flow >= needed, shown)


def _flow(cabling: FabricCabling, sends: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    """Mb/s that the servers of the mask ``sends``, shape (servers,), can send to the others."""
    links, number = cabling.links, cabling.numbers("server")
    injection = cabling.fabric.injection * cabling.fabric.evidence.sharers
    most = ceil_div(injection.numerator, injection.denominator)
    servers, source, sink = np.arange(len(sends)), len(sends), len(sends) + 1
    hosts = np.where(sends, source, servers), np.where(sends, servers, sink), np.full(len(sends), most)
    cables = number[links.a], number[links.b], cabling.mbps(np.arange(len(links)))
    return flow_through([hosts], cables, source, sink)
