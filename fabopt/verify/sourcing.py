"""Rules of whose parts are used together: how many vendors a kind, a tier, or a fabric's switches and optics have."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.schema.design import FabricDesign
from fabopt.schema.procurement import SOURCE_TIERS, kinds_of_one_vendor
from fabopt.verify.editions import since
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof


def counts_vendors(evidence: Evidence) -> bool:
    """Whether the case says how many vendors there may or must be."""
    rules = evidence.case.procurement
    return bool(rules.max_vendors or rules.min_sources or rules.single_vendor)


@since("0.2.0")
def vendors_are_kept(proof: Proof, evidence: Evidence) -> None:
    """No more vendors have parts in use than the case allows, and no fewer than it asks for.

    min_sources <= vendors with parts of the kind (switches of the tier) in use <= max_vendors; one vendor of what is
    under single_vendor in a fabric. Parts that name no vendor are of one more. Source: case file, ``procurement``.
    """
    rules = evidence.case.procurement
    for place in dict.fromkeys((*rules.max_vendors, *rules.min_sources)):
        vendors = sorted(set(_of_tier(evidence, place) if place in SOURCE_TIERS else _of_kind(evidence, place)))
        fewest, most = rules.min_sources.get(place, 0), rules.max_vendors.get(place, len(vendors))
        names = ", ".join(vendors) or "none"
        proof.holds(fewest <= len(vendors) <= most, f"{len(vendors)} vendors of {place}: {names}")
        proof.note(f"{place}: {names}")
    for fabric in evidence.design.fabrics:
        what = rules.single_vendor.get(fabric.name)
        if what is not None:
            kinds = kinds_of_one_vendor(what)
            vendors = sorted({_vendor(evidence, part) for part in _parts(fabric) if evidence.kind(part) in kinds})
            proof.holds(len(vendors) <= 1, f"{fabric.name}: {what} of {' and '.join(vendors)}")
            proof.note(f"{fabric.name}: {what} of {', '.join(vendors) or 'nobody'}")


def _vendor(evidence: Evidence, part: str) -> str:
    return evidence.product(part).vendor or "no vendor"


def _of_kind(evidence: Evidence, kind: str) -> Iterator[str]:
    return (_vendor(evidence, row.id) for row in evidence.goods if row.kind == kind and row.in_use)


def _of_tier(evidence: Evidence, role: str) -> Iterator[str]:
    for fabric in evidence.design.fabrics:
        yield from (_vendor(evidence, tier.id) for tier in fabric.tiers if tier.role == role)


def _parts(fabric: FabricDesign) -> Iterator[str]:
    """The switches of a fabric, those that run its subnet manager among them, and the parts of its links."""
    yield from (tier.id for tier in fabric.tiers)
    yield from (twin.id for twin in (fabric.subnet_manager.twins if fabric.subnet_manager else ()))
    yield from (part.id for row in fabric.links for part in row.parts)
