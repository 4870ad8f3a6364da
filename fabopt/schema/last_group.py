"""Where a case lets the last leaf group of a Clos be unlike the others."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.schema.case import Case, Fabric


def last_group_may_differ(case: Case, fabric: Fabric) -> bool:
    """Whether the last leaf group of two tiers may be unlike the others."""
    return fabric.groups == "any" and not any(what_keeps_groups_equal(case, fabric))


def what_keeps_groups_equal(case: Case, fabric: Fabric) -> Iterator[str]:
    """Why a fabric has equal groups even with ``groups: any``: what such groups are not looked at with, in words."""
    if fabric.oob is not None:
        yield "out-of-band"
    if fabric.roce is not None:  # pools are weighed of leaves that are all alike
        yield "with `roce`"
    if len(case.stages or ()) > 1:
        yield "in a cluster that grows"
