"""A fabric with spines of two types where the case has one."""

from __future__ import annotations

from dataclasses import replace

from fabopt.problem.fabric import FabricProblem
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
