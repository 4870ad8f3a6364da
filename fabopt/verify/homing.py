"""Rules of servers on pairs of leaves: ``homing``, and links between leaves, as file and case state them."""

from __future__ import annotations

from itertools import takewhile

import numpy as np

from fabopt.rules.defaults import PAIR, PAIRING, is_asked_for
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.resilience import (
    CABLES_OF_PEER_LINK,
    FEATURE_OF_PAIRING,
    MULTIHOMING,
    PEER_LINK,
    UNJOINED,
    asks_for_pair,
    redundancy_kept,
)
from fabopt.units import gbps, some
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import ATTACHMENT_LEAF, LEAF_LEAF, SERVER_LEAF
from fabopt.verify.proof import Proof, combined, counts_of, since, where
from fabopt.verify.redundancy import has_pairs
from fabopt.verify.wiring import FabricCabling

SINGLE, ANY = "single", "any"
TWO = 2


def says_homing(fabric: FabricEvidence) -> bool:
    """Whether the case or the file states a homing."""
    return fabric.designed.homing != ANY or fabric.wanted.homing not in (None, ANY)


@since("0.3.0")
@where(says_homing)
def homing_is_kept(proof: Proof, fabric: FabricEvidence) -> None:
    """The file has the homing that the case asks for, and its numbers agree.

    pair: P x R / k >= 2 switches for every server; single: R / k = 1 leaf in every plane. A pair that the case does not
    name is asked for by rule ``pair``. Source: case file, ``homing``.
    """
    wanted, said, clos = fabric.wanted, fabric.designed.homing, fabric.clos
    if wanted.homing is None:
        case = fabric.evidence.case
        rule = PAIR in redundancy_kept(case.rules, case.resilience_of(wanted), wanted.asked_of(0))
        rule = rule and (wanted.shares_pairs or asks_for_pair(wanted.role, wanted.homing))
        rule = rule or wanted.pairing in FEATURE_OF_PAIRING or is_asked_for(case.rules, PAIRING)
        proof.holds(said == ANY or (said == PAIR and rule), f"homing {said}, which the case does not ask for")
    else:
        proof.equal("homing", said, wanted.homing)
    rails = {clos.rails, clos.last_rails}
    if said == PAIR:
        switches = clos.planes * min(rails)
        proof.holds(switches >= TWO, f"every server is on {some(switches, 'switch')}")
    if said == SINGLE:
        proof.equal("leaves of a server in a plane", rails, {1})
    proof.note(f"{said}: every server on {some(clos.planes * min(rails), 'leaf')}")


@since("0.3.0")
@where(says_homing)
def homing_is_cabled(proof: Proof, cabling: FabricCabling) -> None:
    """On the wiring every server has links to two switches (pair), or to one leaf of every plane (single).

    Source: case file, ``homing``.
    """
    rows, links = cabling.of(SERVER_LEAF), cabling.links
    first = np.unique(combined(links.a[rows], links.b[rows]), return_index=True)[1]
    leaves = counts_of(links.a[rows][first])
    said = cabling.fabric.designed.homing
    if said == PAIR:
        proof.equal("servers with links to one switch only", int((leaves < TWO).sum()), 0)
    if said == SINGLE:
        proof.equal("servers with two leaves in a plane", int((leaves > cabling.clos.planes).sum()), 0)
    proof.note(f"{said}: {some(int(leaves.min()), 'leaf')} at the least")


# -- homing: dual -----------------------------------------------------------------------------------------------------


@where(lambda fabric: fabric.wanted.homing == "dual")
def leaves_split_pairs(proof: Proof, fabric: FabricEvidence) -> None:
    """Every NIC has a pair of ports in each of its planes, and a leaf takes one port of k different NICs.

    p = 2 x planes of a NIC; k divides the NICs that are in a plane. Source: case file, ``homing``.
    """
    nic, per_leaf = fabric.designed.nic, fabric.clos.k
    nics = 1 if fabric.networks.apart else nic.per_server
    proof.equal("ports of a NIC in a plane", nic.ports_per_nic, TWO * fabric.nic_networks)
    proof.holds(
        nics % per_leaf == 0, f"{some(nics, 'NIC')} in a plane, no multiple of the {some(per_leaf, 'port')} on a leaf"
    )
    proof.note(f"a leaf has one port of {some(per_leaf, 'NIC')} of a server")


@where(lambda fabric: fabric.wanted.homing == "dual")
def ports_reach_two_leaves(proof: Proof, cabling: FabricCabling) -> None:
    """No leaf has both ports of a pair, so a leaf that fails leaves every NIC half of its bandwidth in the plane.

    For every server, NIC and plane: two links, to two leaves. Source: case file, ``homing``.
    """
    rows = cabling.of(SERVER_LEAF)
    links, plane = cabling.links, cabling.devices.plane
    server, nic_number, leaf = links.a[rows], links.a_nic[rows], links.b[rows]
    of_pair = counts_of(combined(server, nic_number, plane[leaf]))
    proof.equal("NICs without a pair of ports in a plane", int((of_pair != TWO).sum()), 0)
    on_leaf = counts_of(combined(server, nic_number, leaf))
    proof.equal("leaves with both ports of a pair", int((on_leaf > 1).sum()), 0)
    proof.note(f"{some(len(of_pair), 'pair')} of ports, each on two leaves")


# -- pairs of leaves: the links between the two leaves of every server, as file and case state ------------------------


def judges_pairing(fabric: FabricEvidence) -> bool:
    """Whether the case or the file states a pairing of leaves."""
    said = fabric.designed.pairing != UNJOINED or fabric.designed.peer_links is not None
    return said or fabric.wanted.pairing in FEATURE_OF_PAIRING


@since("0.3.0")
@where(judges_pairing)
def pairs_are_joined(proof: Proof, fabric: FabricEvidence) -> None:
    """The two leaves of every server are joined as the case asks, and can be.

    Every leaf group has an even number of leaves in each plane. peer-link: all leaves have ``mlag``, P x leaves / 2
    pairs of two cables, in the cages of uplinks, on one tier at the speed of the fastest port; multihoming: all leaves
    have ``evpn-multihoming``, and no cable joins them. Under default rule ``pairing``, multihoming if all leaves have
    it. Source: case file, ``pairing``; catalog, ``features``.
    """
    wanted, said, clos = fabric.wanted, fabric.designed.pairing, fabric.clos
    if wanted.pairing is not None:
        proof.equal("pairing", said, wanted.pairing)
    elif not any(row.rule == PAIRING and row.kept for row in fabric.designed.redundancy):
        proof.equal("pairing, which nothing asks for", said, UNJOINED)
    peers, leaves = fabric.designed.peer_links, [switch for tier, switch in fabric.switch_types if tier.role == "leaf"]
    proof.equal("peer links are listed", peers is not None, said == PEER_LINK)
    if said == UNJOINED:
        return
    proof.holds(has_pairs(fabric), f"homing is {fabric.designed.homing}: servers are not on pairs of leaves")
    proof.equal("protocol", fabric.designed.protocol, "ethernet")
    proof.holds(not fabric.is_direct and not fabric.networks.apart, "the leaves of a server are in no group")
    odd_numbers = [number for number in (clos.rails, clos.last_rails) if number % 2]
    proof.holds(not odd_numbers, f"groups of {odd_numbers} leaves in a plane")
    for leaf in leaves:
        proof.holds(FEATURE_OF_PAIRING[said] in leaf.features, f"{leaf.id} has no {FEATURE_OF_PAIRING[said]}")
        both = said == PEER_LINK and wanted.pairing is None and FEATURE_OF_PAIRING[MULTIHOMING] in leaf.features
        proof.holds(not both, f"{leaf.id} needs no peer link")
    if peers is not None:
        _peer_links_are_told(proof, fabric, leaves[0])
    proof.note(f"{said}: {some(clos.planes * clos.leaves // 2, 'pair')} of leaves")


def _peer_links_are_told(proof: Proof, fabric: FabricEvidence, leaf: Switch) -> None:
    """The file's statements about peer links are those of its leaves."""
    peers, up, clos = fabric.designed.peer_links, fabric.tier("leaf").up, fabric.clos
    assert peers is not None
    proof.equal("peer_links.pairs", 2 * peers.pairs, clos.planes * clos.leaves)
    lane = parse_split(peers.split)
    proof.equal("peer_links.gbps", peers.gbps, gbps(lane.port_mbps))
    if up is not None:
        proof.equal("cages of peer links", (peers.cage_group, peers.split), (up.cage_group, up.split))
        return
    uses = [
        (-parse_split(split).port_mbps, parse_split(split).ports, group, split)
        for group, cage in enumerate(leaf.cages)
        for split in cage.splits_of("ethernet")
    ]
    proof.equal("cages of the fastest ports", (peers.cage_group, peers.split), min(uses)[2:])


@since("0.3.0")
@where(judges_pairing)
def pairs_are_cabled(proof: Proof, cabling: FabricCabling) -> None:
    """On the wiring every leaf of a peer link has two cables to one other leaf, and both have the same servers, and the
    same devices of attachments with an even number of ports that come before all others.

    Source: case file, ``pairing``; docs/formulation/wiring.md.
    """
    links, peers = cabling.links, cabling.of(LEAF_LEAF)
    if cabling.fabric.designed.peer_links is None:
        proof.equal("links of peers", len(peers), 0)
        return
    a, b = links.a[peers], links.b[peers]
    of_leaf = np.bincount(np.concatenate([a, b]), minlength=len(cabling.devices))[cabling.devices_of("leaf")]
    wrong = int((of_leaf != CABLES_OF_PEER_LINK).sum())
    proof.equal(f"leaves without {CABLES_OF_PEER_LINK} cables to a peer", wrong, 0)
    first = np.unique(combined(a, b), return_index=True)[1]
    proof.equal("pairs of leaves", len(first), len(of_leaf) // 2)
    pair = np.arange(len(cabling.devices))
    pair[b[first]] = a[first]
    ports = cabling.of(ATTACHMENT_LEAF)
    of_pairs = ports[np.isin(cabling.attached_names[ports], _on_both_leaves(cabling.fabric))]
    for what, rows in (("servers", cabling.of(SERVER_LEAF)), ("devices of attachments", of_pairs)):
        joined = np.unique(np.stack([links.b[rows], links.a[rows]]), axis=1)
        both = counts_of(combined(pair[joined[0]], joined[1]))
        proof.equal(f"{what} on one leaf of a pair", int((both != TWO).sum()), 0)
    proof.note(f"{some(len(first), 'pair')}, {some(len(peers), 'cable')}")


def _on_both_leaves(fabric: FabricEvidence) -> list[str]:
    """Attachments each of whose devices is on both leaves of a pair: those dealt over the leaves of a cluster that does
    not grow, as long as devices have an even number of ports.
    """
    dealt = [attachment for attachment in fabric.wanted.attachments if attachment.placed_on == "leaf"]
    if fabric.clos.sizes:
        return []
    even = takewhile(lambda attachment: attachment.ports // attachment.devices % 2 == 0, dealt)
    return [attachment.name for attachment in even if attachment.network is None]
