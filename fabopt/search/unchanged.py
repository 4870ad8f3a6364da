"""Reuse of unchanged fabrics of an answered problem."""

from __future__ import annotations

from dataclasses import replace

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.case import Fabric
from fabopt.search.answer import Answer


def reusing_unchanged_fabrics(problem: Problem, answer: Answer, in_same_layouts: bool = True) -> Problem | None:
    """A problem with the same fabric objects as an answered one where the case is equal, at the same site.

    The context of the answer then has cached results of them; ``in_same_layouts``: all are searched in the answer's
    layouts. None if the cases differ beyond fabrics or in devices placed on the floor, or the answer is bound to other
    default rules.
    """
    before = answer.problem
    if problem.offering is not before.offering or not _is_alike(problem, before):
        return None
    if not in_same_layouts and list(map(_placed, problem.case.fabrics)) != list(map(_placed, before.case.fabrics)):
        return None
    pairs = zip(problem.case.fabrics, before.case.fabrics, problem.fabrics, before.fabrics, strict=True)
    fabrics = tuple(was if asked == asked_before else now for asked, asked_before, now, was in pairs)
    layouts = answer.context.layouts
    if in_same_layouts and before.fabrics in layouts:
        layouts[fabrics] = layouts[before.fabrics]
    return replace(problem, site=before.site, fabrics=fabrics)


def _is_alike(problem: Problem, before: Problem) -> bool:
    """Whether two problems differ only in the demands of fabrics of the same names and rules."""
    cases = (one.case.model_copy(update={"fabrics": ()}) for one in (problem, before))
    return next(cases) == next(cases) and list(map(_bound, problem.fabrics)) == list(map(_bound, before.fabrics))


def _placed(fabric: Fabric) -> tuple[object, ...]:
    """Keys of a fabric that place devices other than switches on a floor."""
    return fabric.attachments, fabric.racks, fabric.oob, fabric.group_by


def _bound(fabric: FabricProblem) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return fabric.name, fabric.kept_rules, fabric.left_out
