"""Fabrics with more choice of two tiers than their case has, a last group of its own or spines of two types; and with
less, one product a tier.
"""

from __future__ import annotations

from dataclasses import replace

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.fabric_case import last_group_of, last_leaf_of
from fabopt.problem.problem import Problem
from fabopt.schema.case import Case
from fabopt.schema.default_rules import INTERCHANGEABLE, without
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
    if asked is None or fabric.last_group != "equal":
        return None
    asked = asked.model_copy(update={"groups": "any"})
    leaf = last_leaf_of(asked, case, fabric.protocols)
    other = replace(fabric, last_group=last_group_of(asked, case), last_leaf=leaf)
    return other if other.may_be_odd else None


def with_equal_groups(fabric: FabricProblem) -> FabricProblem:
    """A fabric whose leaf groups are all alike."""
    return replace(fabric, last_group="equal", last_leaf=())


def with_one_product(problem: Problem) -> Problem:
    """A problem without rule ``switches_are_interchangeable``; itself where that stands for nothing."""
    if all(fabric.stand_ins is None for fabric in problem.fabrics):
        return problem
    case = problem.case.model_copy(update={"rules": without(problem.case.rules, INTERCHANGEABLE)})
    fabrics = tuple(replace(fabric, stand_ins=None) for fabric in problem.fabrics)
    return replace(problem, case=case, fabrics=fabrics)
