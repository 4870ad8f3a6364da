"""The default rule of resilience in a problem: parts of it can be given up, where no design keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from fabopt.problem.problem import Problem
from fabopt.schema.case import Case
from fabopt.schema.resilience import NO_RULE, losses_of, redundancy_of


class RulePart(NamedTuple):
    """A part of the rule for one fabric, by its place in the problem."""

    fabric: int
    rule: str


def is_redundant(problem: Problem) -> bool:
    """Whether any part of the rule holds."""
    return any(fabric.redundancy for fabric in problem.fabrics)


def parts_given_up(problem: Problem) -> Iterator[RulePart]:
    """What does not hold, in the order in which it is taken up again: fabric by fabric."""
    for index, fabric in enumerate(problem.fabrics):
        yield from (RulePart(index, rule) for rule in fabric.given_up)


def all_given_up(problem: Problem) -> Problem:
    """Return a problem in the space without the rule."""
    fabrics = (
        replace(fabric, redundancy=(), given_up=(*fabric.redundancy, *fabric.given_up)) for fabric in problem.fabrics
    )
    return replace(problem, fabrics=tuple(fabrics))


def taken_up(problem: Problem, part: RulePart) -> Problem:
    """Return a problem with one more part of the rule."""
    fabrics = list(problem.fabrics)
    fabric = fabrics[part.fabric]
    kept = {*fabric.redundancy, part.rule}
    fabrics[part.fabric] = replace(
        fabric,
        redundancy=tuple(rule for rule in redundancy_of(fabric.role) if rule in kept),
        given_up=tuple(rule for rule in fabric.given_up if rule != part.rule),
    )
    return replace(problem, fabrics=tuple(fabrics))


def bound_alike(problem: Problem, other: Problem) -> Problem:
    """Return a problem of the same fabrics that is bound to as much of the rule as another one."""
    fabrics = (
        replace(fabric, redundancy=like.redundancy, given_up=like.given_up)
        for fabric, like in zip(problem.fabrics, other.fabrics, strict=True)
    )
    return replace(problem, fabrics=tuple(fabrics))


def without_rule(problem: Problem) -> Problem:
    """The problem of the same case that does not ask for the rule, losses that it names aside."""
    return replace(all_given_up(problem), case=case_without_rule(problem.case))


def case_without_rule(case: Case) -> Case:
    """The case with the losses that its fabrics name and nothing else of resilience."""
    fabrics = (
        fabric.model_copy(update={"resilience": losses_of(case.resilience_of(fabric)) or NO_RULE})
        for fabric in case.fabrics
    )
    return case.model_copy(update={"fabrics": tuple(fabrics)})
