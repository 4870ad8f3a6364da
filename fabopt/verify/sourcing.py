"""Rules of makers: their number for a kind, a tier, or a fabric's switches and optics, and their supply."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import get_args

from fabopt.schema.design import FabricDesign
from fabopt.schema.procurement import SOURCE_TIERS, PartWord, kinds_of_one_vendor
from fabopt.units import some
from fabopt.verify.evidence import Evidence
from fabopt.verify.futures import ways_to_grow
from fabopt.verify.proof import Proof, since, where


def counts_vendors(evidence: Evidence) -> bool:
    """Whether the case limits the number of vendors."""
    rules = evidence.case.procurement
    return bool(rules.max_vendors or rules.min_sources or rules.single_vendor)


@since(
    "0.2.0",
    "case.content.procurement.max_vendors",
    "case.content.procurement.min_sources",
    "case.content.procurement.single_vendor",
)
@where(counts_vendors)
def vendors_are_kept(proof: Proof, evidence: Evidence) -> None:
    """No more vendors have parts in use than the case allows, and no fewer than it asks for.

    min_sources <= vendors with parts of the kind (switches of the tier) in use <= max_vendors; one vendor of the kinds
    under single_vendor in a fabric. Parts without a vendor count as one more. Source: case file, ``procurement``.
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


def has_quarterly_supply(evidence: Evidence) -> bool:
    """Whether the case states what makers supply in a quarter."""
    return bool(evidence.case.procurement.quarterly_supply)


@since("0.2.0", "case.content.procurement.quarterly_supply")
@where(has_quarterly_supply)
def quarterly_supply_lasts(proof: Proof, evidence: Evidence) -> None:
    """In no quarter come more of a maker's parts than it supplies, whichever future comes.

    sum of quantity over the lines of its parts, of one kind if that is stated, for stages whose month is in the quarter
    <= quarterly_supply. Quarters are those of the calendar where ``start`` dates month 0. Source: case file,
    ``procurement.quarterly_supply``.
    """
    start = evidence.case.start
    before = 0 if start is None else (int(start[5:]) - 1) % 3
    for vendor, given in evidence.case.procurement.quarterly_supply.items():
        for kind, units in given.items() if isinstance(given, dict) else [("", given)]:
            by_quarter = units if isinstance(units, tuple) else (units,)
            rows = [row for row in evidence.goods if row.kind == kind or (not kind and row.kind in get_args(PartWord))]
            rows = [row for row in rows if evidence.product(row.id).vendor == vendor]
            for months in ways_to_grow(evidence):
                come: defaultdict[int, int] = defaultdict(int)
                for row in rows:
                    month = months[evidence.stage_names.index(row.stage)]
                    if month is not None:
                        come[(before + month) // 3] += row.quantity
                for quarter, quantity in sorted(come.items()):
                    most = by_quarter[min(max(quarter, 0), len(by_quarter) - 1)]
                    told = f"{some(quantity, kind or 'part')} of {vendor} come in quarter {quarter}, {most} can"
                    proof.holds(most is None or quantity <= most, told)
            proof.note(f"{some(sum(row.quantity for row in rows), kind or 'part')} of {vendor}")


def _vendor(evidence: Evidence, part: str) -> str:
    return evidence.product(part).seller or "no vendor"


def _of_kind(evidence: Evidence, kind: str) -> Iterator[str]:
    return (_vendor(evidence, row.id) for row in evidence.goods if row.kind == kind and row.in_use)


def _of_tier(evidence: Evidence, role: str) -> Iterator[str]:
    for fabric in evidence.design.fabrics:
        yield from (_vendor(evidence, row.id) for tier in fabric.tiers if tier.role == role for row in tier.types)


def _parts(fabric: FabricDesign) -> Iterator[str]:
    """The switches of a fabric, with twins that run its subnet manager, and the parts of its links."""
    yield from (row.id for tier in fabric.tiers for row in tier.types)
    yield from (twin.id for twin in (fabric.subnet_manager.twins if fabric.subnet_manager else ()))
    yield from (part.id for row in fabric.links for part in row.parts)
