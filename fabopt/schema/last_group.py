"""Where a case lets the last leaf group of a Clos be unlike the others."""

from __future__ import annotations

from fabopt.schema.case import Case, Fabric


def last_group_may_differ(case: Case, fabric: Fabric) -> bool:
    """Whether the last leaf group of two tiers may be unlike the others.

    That is where a fabric is all there from the start, without a floor, with even stripes, groups of any size, and
    nothing on its leaves beside servers.
    """
    is_alone = not (fabric.attachments or fabric.oob or fabric.on_own_nics)
    is_plain = fabric.striping == "even" and fabric.racks_per_group is None
    grows = len(case.stages or ()) > 1
    return fabric.groups == "any" and is_alone and is_plain and not (grows or case.site.has_floor)
