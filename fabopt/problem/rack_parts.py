"""All parts of default rules that may yield, rack rules among them, and problems without some of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from fabopt.floor.rack_rules import parts_of, rule_of, without_parts
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import (
    RulePart,
    bound_alike,
    parts_of_fabrics,
    without_parts_of_fabrics,
)
from fabopt.rules.defaults import RACK_SPREAD, is_asked_for
from fabopt.schema.case import Case
from fabopt.schema.rack_rules import SPREAD


def parts_that_yield(problem: Problem) -> tuple[RulePart, ...]:
    """Rule parts that bind a problem and may yield, in the order of yielding: rule ``rack-spread`` first."""
    case = problem.case
    keys = [] if is_asked_for(case.rules, RACK_SPREAD) else [key for key in SPREAD if key in parts_of(case)]
    racks = (RulePart(RACK_SPREAD, key=key) for key in reversed(keys))
    return (*racks, *parts_of_fabrics(problem))


def without(problem: Problem, parts: Collection[RulePart]) -> Problem:
    """The problem of the same case without some parts of default rules; itself without any."""
    keys = tuple(part.key for part in parts if part.key is not None)
    problem = without_rack_parts(problem, keys) if keys else problem
    return without_parts_of_fabrics(problem, parts) if any(part.fabric for part in parts) else problem


def rack_parts_left_out(problem: Problem, asked: Case) -> tuple[RulePart, ...]:
    """Parts of rack rules that a case asks for and its problem leaves out, in the order of yielding."""
    keys = (key for key in reversed(parts_of(asked)) if key not in parts_of(problem.case))
    return tuple(RulePart(rule_of(key), key=key) for key in keys)


def without_rack_parts(problem: Problem, keys: tuple[str, ...]) -> Problem:
    """The problem of the same case with some keys of ``site.rack_rules`` turned off."""
    case = without_parts(problem.case, keys)
    other = bound_alike(problem_of(case, problem.catalog, offering=problem.offering), problem)
    asked, site = without_parts(problem.asked, keys), other.site.with_method(problem.site.method)
    return replace(problem, asked=asked, case=other.case, site=site, fabrics=other.fabrics)
