"""Tiers of an attachment on free ports: those that the case allows, and those that its parts can join."""

from __future__ import annotations

from fabopt.schema.attachment import Attachment
from fabopt.schema.product import Cage
from fabopt.verify.attached_runs import measures_attachments
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import attachment_kinds, kinds_in_own_cages
from fabopt.verify.link_rows import ListedRow
from fabopt.wiring.design_file import item_at

RANKS = ("leaf", "spine")


def tiers_for(fabric: FabricEvidence, attachment: Attachment) -> tuple[str, ...]:
    """The tiers whose switches may have an attachment's next port, by the file.

    Tiers of its other ports, and tiers where no parts are bought for it, or where the parts of other ports fit too: the
    cages are alike, and a length on offer is long enough. Other parts that could join it are not in the file.
    """
    allowed = RANKS if attachment.placed_on == "any" else (attachment.placed_on,)
    there = [tier for tier in RANKS[: fabric.num_tiers] if tier in allowed]
    used = {tier for tier, _ in fabric.designed.free_ports.get(attachment.name, ())} & set(there)
    joined = {tier for tier in there if any(_parts_fit_tier(fabric, attachment, own, tier) for own in used)}
    return tuple(tier for tier in there if tier in used | joined)


def _parts_fit_tier(fabric: FabricEvidence, attachment: Attachment, own: str, other: str) -> bool:
    """Whether the parts of an attachment's links to one tier fit another tier."""
    if attachment.buys == "none":
        return True
    if _cage(fabric, own) != _cage(fabric, other):
        return False
    kinds = attachment_kinds(fabric) if own == "leaf" else kinds_in_own_cages(fabric)
    measured = measures_attachments(fabric.evidence)
    run_m = fabric.evidence.plan.least_m if measured else fabric.run_m(f"attachment-{other}")
    rows = (row for kind in kinds if kind.attachment == attachment.name for row in kind.rows)
    return any(_reaches(row, run_m) for row in rows)


def _cage(fabric: FabricEvidence, role: str) -> tuple[Cage, tuple[object, ...]]:
    """The cages of a tier's ports down, whatever their count, and other properties that decide which parts fit."""
    tier, switch = fabric.tier(role), fabric.switch(role)
    cage = item_at(switch.cages, tier.down.cage_group, f"{role} cage group").model_copy(update={"count": 1})
    qualified = switch.id if fabric.evidence.case.procurement.qualified else ""
    return cage, (tier.down.split, switch.vendor, switch.works_with, switch.accepts_coding, qualified)


def _reaches(row: ListedRow, run_m: float) -> bool:
    """Whether the parts of a row are on offer for a run."""
    if row.cable_or_fibre is None:
        return False
    reaches = [part.reach_m for part in (row.near, row.far, row.cable) if part is not None and part.reach_m is not None]
    lengths = (length.m for length in row.cable_or_fibre.lengths if length.price_usd is not None)
    return any(run_m <= length <= min(reaches, default=length) for length in lengths)
