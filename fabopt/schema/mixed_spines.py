"""Where a case lets the spines of a Clos be of two types."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.schema.case import Case, Fabric
from fabopt.schema.last_group import what_keeps_leaves_alike


def spines_may_differ(case: Case, fabric: Fabric, protocol: str) -> bool:
    """Whether the spines of two tiers may be of two types."""
    return fabric.spines == "mixed" and not any(what_keeps_spines_alike(case, fabric, protocol))


def what_keeps_spines_alike(case: Case, fabric: Fabric, protocol: str) -> Iterator[str]:
    """Why a fabric has one type of spines even with ``spines: mixed``: what others are not looked at with, in words."""
    if fabric.oob is not None:
        yield "out-of-band"
    if fabric.striping != "even":
        yield f"with `striping: {fabric.striping}`"
    if any(attachment.placed_on != "leaf" for attachment in fabric.attachments):
        yield "with attachments on free ports"
    if len(case.stages or ()) > 1:
        yield "in a cluster that grows"
    yield from what_keeps_leaves_alike(case, protocol)
