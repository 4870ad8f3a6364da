"""The rule of spines of two types, which files of 0.2 may have, and of their links."""

from __future__ import annotations

from math import gcd

import numpy as np

from fabopt.schema.last_group import what_keeps_leaves_alike
from fabopt.units import some
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, combined, where
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.model import Ints, Mask


def has_mixed_spines(fabric: FabricEvidence) -> bool:
    """Whether the file has a Clos with spines of two types."""
    return not fabric.is_direct and fabric.designed.clos.mixed_spines is not None


# The links of a leaf to spines of two types are as two whole numbers from 1 to this.
_MOST_WEIGHT = 4


@where(has_mixed_spines)
def spines_may_differ(proof: Proof, fabric: FabricEvidence) -> None:
    """Spines are of two types where the case lets them, below two tiers, and leaves have links in proportion to them.

    S_a + S_b = S, none of them 0; a m links of a leaf to each of the first and b m to each of the second, all its
    uplinks; 4 >= a >= b >= 1 without a common divisor, a > b of one model (in the same cages). Source: case file,
    ``spines``; docs/formulation/clos.md.
    """
    clos, mixed, tier = fabric.clos, fabric.designed.clos.mixed_spines, fabric.tier("spine")
    assert mixed is not None
    case, wanted = fabric.evidence.case, fabric.wanted
    allowed = wanted.spines == "mixed" and wanted.striping == "even" and wanted.oob is None
    allowed &= len(case.stages or ()) <= 1 and all(attached.placed_on == "leaf" for attached in wanted.attachments)
    allowed &= not any(what_keeps_leaves_alike(case, fabric.designed.protocol))
    proof.holds(allowed, "the case does not let spines be of two types")
    proof.equal("tiers", clos.tiers, 2)
    (own, other), (a, b), (links, other_links) = mixed.spines, mixed.weights, mixed.links_per_pair
    proof.holds(min(own, other) >= 1, f"{own} and {other} spines of two types")
    proof.equal("spines of both types", own + other, clos.spines)
    proof.equal("uplinks of a leaf to both types", own * links + other * other_links, clos.u)
    proof.holds(_MOST_WEIGHT >= a >= b >= 1 == gcd(a, b), f"weights {a} and {b}")
    proof.equal("links to spines of both types, by weight", b * links, a * other_links)
    if tier.other is None:
        raise LookupError("the tier names one type of spines")
    proof.equal("other count of spines", tier.other.count, clos.planes * other)
    proof.equal("other down_ports of spines", tier.other.down_ports, int(clos.spine_downlinks[-1]))
    proof.equal("other up_ports and reserved_ports of spines", (tier.other.up_ports, tier.other.reserved_ports), (0, 0))
    if tier.other.id == tier.id:
        proof.holds(a > b and tier.other.down == tier.down, f"{tier.id} is not another type of spine than itself")
    proof.note(f"{some(links, 'link')} to each of {own}, {other_links} to each of {other}")


def links_are_in_proportion(proof: Proof, cabling: FabricCabling, leaf: Ints, spine: Ints, is_of_last: Mask) -> None:
    """Every leaf has links to each spine in proportion to the spine's type and the leaf's uplinks.

    ``leaf``, ``spine``: devices of every link; ``is_of_last``: whether the leaf is of a last group of its own kind; all
    of shape (links,).
    """
    clos, devices, tier = cabling.clos, cabling.devices, cabling.fabric.tier("spine")
    spines = cabling.devices_of("spine")
    last, mixed = np.zeros(len(devices), dtype=bool), cabling.fabric.designed.clos.mixed_spines
    assert mixed is not None
    for plane in np.unique(devices.plane[spines]).tolist():
        last[spines[devices.plane[spines] == plane][mixed.spines[0] :]] = True
    if tier.other is None:
        raise LookupError("the tier names one type of spines")
    wrong = sum(devices.product[row] != (tier.other.id if last[row] else tier.id) for row in spines.tolist())
    proof.equal("spines of another type than their place", wrong, 0)
    _, first, links = np.unique(combined(leaf, spine), return_index=True, return_counts=True)
    uplinks = clos.u, clos.own_u or clos.u
    by_type = np.array([clos.links_to_each(number)[[0, -1]] for number in uplinks])
    wanted = by_type[is_of_last[first].astype(int), last[spine[first]].astype(int)]
    proof.equal("(leaf, spine) pairs with other links than in proportion", int((links != wanted).sum()), 0)
