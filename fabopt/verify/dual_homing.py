"""Rules of dual-homed servers: the two ports that a card has in a plane are on two leaves.

They are proven where the case says ``homing: dual``.
"""

from __future__ import annotations

from fabopt.verify.codes import combined, counts_of
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import SERVER_LEAF
from fabopt.verify.proof import UNPROVABLE, Proof
from fabopt.verify.wiring import FabricCabling

PORTS = 2


def is_dual_homed(fabric: FabricEvidence) -> bool:
    """Whether the case asks for it."""
    try:
        return fabric.wanted.homing == "dual"
    except UNPROVABLE:
        return False


def leaves_split_pairs(proof: Proof, fabric: FabricEvidence) -> None:
    """Every card has a pair of ports in each of its planes, and a leaf takes one port of k different cards.

    p = 2 x planes of a card; k divides the cards that are in a plane. Source: case file, ``homing``.
    """
    nic, per_leaf = fabric.made.nic, fabric.clos.per_leaf
    cards = 1 if fabric.networks.apart else nic.per_server
    proof.equal("ports of a card in a plane", nic.ports_per_nic, PORTS * fabric.card_networks)
    proof.holds(cards % per_leaf == 0, f"{per_leaf} ports a leaf do not divide {cards} cards in a plane")
    proof.note(f"a leaf has one port of each of {per_leaf} cards of a server")


def ports_reach_two_leaves(proof: Proof, cabling: FabricCabling) -> None:
    """No leaf has both ports of a pair, so a leaf that fails leaves every card half of its bandwidth in the plane.

    For every server, card and plane: two links, to two leaves. Source: case file, ``homing``.
    """
    rows = cabling.of(SERVER_LEAF)
    links, plane = cabling.links, cabling.devices.plane
    server, card, leaf = links.a[rows], links.a_nic[rows], links.b[rows]
    of_pair = counts_of(combined(server, card, plane[leaf]))
    proof.equal("cards without a pair of ports in a plane", int((of_pair != PORTS).sum()), 0)
    on_leaf = counts_of(combined(server, card, leaf))
    proof.equal("leaves with both ports of a pair", int((on_leaf > 1).sum()), 0)
    proof.note(f"{len(of_pair)} pairs of ports, each on two leaves")
