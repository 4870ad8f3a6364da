"""A fabric with more choice of two tiers than its case has: a last group of its own, spines of two types."""

from __future__ import annotations

from dataclasses import replace

from fabopt.problem.fabric import FabricProblem, last_group_of, last_leaf_of
from fabopt.schema.case import Case
from fabopt.schema.mixed_spines import spines_may_differ


def with_mixed_spines(fabric: FabricProblem, case: Case) -> FabricProblem | None:
    """A fabric whose spines may be of two types; None where the case lets them already, or never does."""
    asked = next((one for one in case.fabrics if one.name == fabric.name), None)
    if asked is None or fabric.mixes_spines or 2 not in fabric.tiers:
        return None
    asked = asked.model_copy(update={"spines": "mixed"})
    protocols = tuple(one for one in fabric.protocols if spines_may_differ(case, asked, one))
    return replace(fabric, mixes_spines=protocols) if protocols else None


def with_own_last_group(fabric: FabricProblem, case: Case) -> FabricProblem | None:
    """A fabric whose last leaf group may be unlike the others; None where the case lets it already, or never does."""
    asked = next((one for one in case.fabrics if one.name == fabric.name), None)
    if asked is None or fabric.last_group != "equal" or 2 not in fabric.tiers:
        return None
    asked = asked.model_copy(update={"groups": "any"})
    leaf = last_leaf_of(asked, case, fabric.protocols)
    other = replace(fabric, last_group=last_group_of(asked, case), last_leaf=leaf)
    return other if other.may_be_odd else None
