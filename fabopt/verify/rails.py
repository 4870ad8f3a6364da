"""Rules of rail-only fabrics: rails share no switch, and the scale-up domain carries the traffic between them.

They are proven for such fabrics only.
"""

from __future__ import annotations

from fabopt.network.components import first_joined
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction, some
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import SERVER_LEAF
from fabopt.verify.proof import Proof, combined, counts_of, distinct, where
from fabopt.verify.wiring import FabricCabling


def has_own_rails(fabric: FabricEvidence) -> bool:
    """Whether the fabric is rail-only, by the file."""
    return fabric.networks.apart


@where(has_own_rails)
def scale_up_carries_rails(proof: Proof, fabric: FabricEvidence) -> None:
    """Traffic between rails moves inside servers, and their scale-up domain can carry it.

    For c rails of their own: c >= 2; a domain has GPUs on every rail, domain_gpus >= GPUs of a server; and its
    gbps_per_gpu >= injection x (c - 1) / c, the share of uniform traffic that is for another rail. Source: catalog,
    ``scale_up``; arXiv 2307.12169.
    """
    server, rails = fabric.evidence.server, fabric.designed.nic.per_server
    proof.holds(rails >= 2, f"{some(rails, 'rail')} is no set of rails")
    if server.scale_up is None:
        proof.holds(False, f"{server.id} has no scale-up domain between its {some(rails, 'rail')}")
        return
    gpus = server.scale_up.domain_gpus
    proof.holds(
        gpus >= server.gpus, f"a domain of {gpus} of a server's {some(server.gpus, 'GPU')} has none on some rail"
    )
    needed = fabric.injection * (rails - 1) / rails
    carried = exact(server.scale_up.gbps_per_gpu) * MBPS_PER_GBPS
    shown = [plain_fraction(rate / MBPS_PER_GBPS) for rate in (needed, carried)]
    proof.holds(
        carried >= needed, f"{shown[0]} Gb/s per GPU cross {some(rails, 'rail')}, the domain carries {shown[1]}"
    )
    proof.note(
        f"{shown[0]} of {shown[1]} Gb/s per GPU cross {some(rails, 'rail')} inside domains of {some(gpus, 'GPU')}"
    )


@where(has_own_rails)
def rails_never_meet(proof: Proof, cabling: FabricCabling) -> None:
    """No path through switches leads from one rail to another.

    In a rail-only fabric: the connected sets of switches are as many as networks, and all ports of servers on one set
    are of one NIC, the same one of every server. Attachments forward no traffic. Source: docs/formulation/clos.md.
    """
    links, clos = cabling.links, cabling.clos
    above = cabling.between_switches
    component = first_joined(len(cabling.devices), links.a[above], links.b[above])
    rows = cabling.of(SERVER_LEAF)
    sets = distinct(component[links.b[rows]])
    proof.equal("sets of switches that servers reach", len(sets), clos.planes)
    pairs = distinct(combined(component[links.b[rows]], links.a_nic[rows]))
    proof.equal("(set of switches, NIC) pairs", len(pairs), clos.planes)
    of_pair = counts_of(combined(component[links.b[rows]], links.a[rows]))
    proof.equal("(set of switches, server) pairs", len(of_pair), clos.planes * clos.servers)
    proof.note(f"{some(clos.planes, 'network')}, each of one NIC of {some(clos.servers, 'server')}")
