"""Rules of dual-homed servers: the two ports of a NIC in a plane are on two leaves.

They are proven where the case states ``homing: dual``.
"""

from __future__ import annotations

from fabopt.units import some
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import SERVER_LEAF
from fabopt.verify.proof import Proof, combined, counts_of, where
from fabopt.verify.wiring import FabricCabling

PORTS = 2


def is_dual_homed(fabric: FabricEvidence) -> bool:
    """Whether the case asks for dual homing."""
    return fabric.wanted.homing == "dual"


@where(is_dual_homed)
def leaves_split_pairs(proof: Proof, fabric: FabricEvidence) -> None:
    """Every NIC has a pair of ports in each of its planes, and a leaf takes one port of k different NICs.

    p = 2 x planes of a NIC; k divides the NICs that are in a plane. Source: case file, ``homing``.
    """
    nic, per_leaf = fabric.designed.nic, fabric.clos.k
    nics = 1 if fabric.networks.apart else nic.per_server
    proof.equal("ports of a NIC in a plane", nic.ports_per_nic, PORTS * fabric.nic_networks)
    proof.holds(
        nics % per_leaf == 0, f"{some(nics, 'NIC')} in a plane, no multiple of the {some(per_leaf, 'port')} on a leaf"
    )
    proof.note(f"a leaf has one port of {some(per_leaf, 'NIC')} of a server")


@where(is_dual_homed)
def ports_reach_two_leaves(proof: Proof, cabling: FabricCabling) -> None:
    """No leaf has both ports of a pair, so a leaf that fails leaves every NIC half of its bandwidth in the plane.

    For every server, NIC and plane: two links, to two leaves. Source: case file, ``homing``.
    """
    rows = cabling.of(SERVER_LEAF)
    links, plane = cabling.links, cabling.devices.plane
    server, nic_number, leaf = links.a[rows], links.a_nic[rows], links.b[rows]
    of_pair = counts_of(combined(server, nic_number, plane[leaf]))
    proof.equal("NICs without a pair of ports in a plane", int((of_pair != PORTS).sum()), 0)
    on_leaf = counts_of(combined(server, nic_number, leaf))
    proof.equal("leaves with both ports of a pair", int((on_leaf > 1).sum()), 0)
    proof.note(f"{some(len(of_pair), 'pair')} of ports, each on two leaves")
