"""Where a case lets the last leaf group of a Clos be unlike the others."""

from collections.abc import Iterator

from fabopt.rules.defaults import ONE_GENERATION, SUBNET_MANAGER, is_kept
from fabopt.schema.case import Case, Fabric


def switched_tiers(fabric: Fabric) -> tuple[int, ...]:
    """The numbers of switch tiers that a fabric may have, of those with leaf groups."""
    wanted = (2, 3) if fabric.tiers == "any" else fabric.tiers
    return tuple(tiers for tiers in (wanted if isinstance(wanted, tuple) else (wanted,)) if tiers > 1)


def tiers_of_last_groups(case: Case) -> tuple[int, ...]:
    """Switch tiers on which the last leaf group may be unlike the others: on a floor its pods are not placed."""
    return (2,) if case.site.has_floor else (2, 3)


def last_group_may_differ(case: Case, fabric: Fabric) -> bool:
    """Whether the last leaf group may be unlike the others, on ``tiers_of_last_groups``."""
    return fabric.groups == "any" and not any(what_keeps_groups_equal(case, fabric))


def what_keeps_groups_equal(case: Case, fabric: Fabric) -> Iterator[str]:
    """Why a fabric has equal groups even with ``groups: any``: what such groups are not looked at with, in words."""
    if fabric.oob is not None and case.site.has_floor:
        yield "out-of-band on a floor"
    if len(case.stages or ()) > 1:
        yield "in a cluster that grows"
    if not set(switched_tiers(fabric)) & set(tiers_of_last_groups(case)):
        yield "on three tiers of a floor"


def last_leaf_may_differ(case: Case, fabric: Fabric, protocol: str) -> bool:
    """Whether the leaves of such a last group may be of a type of their own."""
    return last_group_may_differ(case, fabric) and not any(what_keeps_leaves_alike(case, protocol))


def what_keeps_leaves_alike(case: Case, protocol: str) -> Iterator[str]:
    """Why the leaves of a last group are of the others' type: what another one is not looked at with, in words."""
    if case.site.has_floor:
        yield "on a floor"
    if case.procurement.max_part_numbers.get("switch") == 1:
        yield "with one part number for switches"
    rules = (rule for rule in (SUBNET_MANAGER, ONE_GENERATION) if is_kept(case.rules, rule))
    if protocol == "infiniband" and any(rules):
        yield "with the rules for switches of InfiniBand"
