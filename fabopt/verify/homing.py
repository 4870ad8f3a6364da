"""Rules of servers' ports on leaves, stated by the file and asked for by the case: ``homing``."""

from __future__ import annotations

import numpy as np

from fabopt.rules.defaults import PAIR, PAIRING, is_asked_for
from fabopt.schema.homing import FEATURE_OF_PAIRING, asks_for_pair
from fabopt.schema.resilience import redundancy_kept
from fabopt.units import some
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import SERVER_LEAF
from fabopt.verify.proof import Proof, combined, counts_of, since, where
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
