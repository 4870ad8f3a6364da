"""Default rules in a problem that can be left out, part by part, where no design keeps them.

These are the rules of ``YIELDING``: see ``fabopt.rules.defaults``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final, NamedTuple, TypeVar

from fabopt.problem.attachments import LogicalFabric
from fabopt.problem.demand import most_open_ratio
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.nic_rules import parted, together
from fabopt.problem.problem import Problem
from fabopt.problem.subnet_manager import INFINIBAND
from fabopt.rules.defaults import (
    MOST_ROBUST_RATIO,
    NIC_RULES,
    ONE_GENERATION,
    REDUNDANCY,
    SUBNET_MANAGER,
    YIELDING,
    is_asked_for,
)

# Rules that can be left out: those of NICs, that of generations and that of subnet managers.
OF_NICS: Final = frozenset(NIC_RULES)
OF_INFINIBAND: Final = frozenset({ONE_GENERATION, SUBNET_MANAGER})


AnyFabric = TypeVar("AnyFabric", FabricProblem, LogicalFabric)


class RulePart(NamedTuple):
    """A default rule, or a part of one, that may yield.

    ``fabric``: name of the bound fabric, None: the case; ``key``: of ``site.rack_rules``, for a part of a rack rule.
    """

    rule: str
    fabric: str | None = None
    key: str | None = None

    @property
    def path(self) -> str:
        """The dotted key of the case that turns it off."""
        return f"rules.{self.rule}" if self.key is None else f"site.rack_rules.{self.key}"


def holds_mix(problem: Problem) -> bool:
    """Whether rule ``robust-designs`` limits ratios of jobs beside each other."""
    needs, pace = problem.needs, problem.pace
    if needs is None or pace is None or most_open_ratio(problem.case, pace.workload) > MOST_ROBUST_RATIO:
        return False
    return any(key.startswith("max_oversubscription") for key in needs.sets)


def is_bound(problem: Problem, rules: frozenset[str]) -> bool:
    """Whether any of some rules holds that may leave a design out."""
    return any(_is_bound(fabric, rules) for fabric in problem.fabrics)


def _is_bound(fabric: FabricProblem, rules: frozenset[str]) -> bool:
    if rules <= OF_INFINIBAND and not any(fabric.nics.get(INFINIBAND, ())):
        return False
    return any(rule in rules and fabric.is_bound_by(rule) for rule in fabric.kept_rules)


def parts_of_fabrics(problem: Problem) -> Iterator[RulePart]:
    """Rule parts that bind fabrics and may yield, in the order of ``YIELDING``; of one rule, fabrics from the last of
    the case to the first.
    """
    for rule in YIELDING:
        for fabric in reversed(problem.fabrics):
            asked = is_asked_for(problem.case.rules, rule)
            if rule in fabric.kept_rules and not asked and _is_bound(fabric, frozenset({rule})):
                yield RulePart(rule, fabric.name)


def without_parts_of_fabrics(problem: Problem, parts: Collection[RulePart]) -> Problem:
    """Return the problem without some rules of its fabrics; fabrics that keep all are the same objects."""
    own = {fabric.name: {part.rule for part in parts if part.fabric == fabric.name} for fabric in problem.fabrics}
    fabrics = (
        _bound_to(fabric, set(fabric.kept_rules) - own[fabric.name]) if own[fabric.name] else fabric
        for fabric in problem.fabrics
    )
    return replace(problem, fabrics=tuple(fabrics))


def left_out_of_fabrics(problem: Problem) -> Iterator[RulePart]:
    """Default rules that fabrics leave out, in the order of ``YIELDING``."""
    for rule in YIELDING:
        yield from (RulePart(rule, fabric.name) for fabric in problem.fabrics if rule in fabric.left_out)


def _with_fabric(problem: Problem, index: int, fabric: FabricProblem) -> Problem:
    return replace(problem, fabrics=(*problem.fabrics[:index], fabric, *problem.fabrics[index + 1 :]))


def managed_by_switches(problem: Problem, names: frozenset[str]) -> Problem:
    """The problem in which switches of the fabrics ``names`` manage their subnets, at any cost."""
    for index, fabric in enumerate(problem.fabrics):
        if fabric.name in names and fabric.managers is not None:
            kept = tuple(rule for rule in fabric.kept_rules if rule != SUBNET_MANAGER)
            bound = replace(fabric, managers=replace(fabric.managers, is_asked_for=True), kept_rules=kept)
            problem = _with_fabric(problem, index, bound)
    return problem


def bound_alike(problem: Problem, other: Problem) -> Problem:
    """Return a problem bound to the rules that the fabrics of another one, in the same order, keep."""
    fabrics = (
        _bound_to(fabric, set(like.kept_rules)) for fabric, like in zip(problem.fabrics, other.fabrics, strict=True)
    )
    return replace(problem, fabrics=tuple(fabrics))


def _bound_to(fabric: FabricProblem, kept: set[str]) -> FabricProblem:
    """The fabric bound to some of the rules that it can give up."""
    known = {*fabric.kept_rules, *fabric.left_out}
    rules = [rule for rule in dict.fromkeys((*REDUNDANCY, *YIELDING)) if rule in known]
    bound = replace(
        fabric,
        kept_rules=tuple(rule for rule in rules if rule in kept),
        left_out=tuple(rule for rule in rules if rule not in kept),
    )
    if bound.joins_pairs != fabric.joins_pairs:
        bound = bound.with_pairs()
    if OF_NICS.isdisjoint(set(bound.kept_rules) ^ set(fabric.kept_rules)):
        return bound
    logical = (_with_nics(logical, kept) for logical in fabric.logical_fabrics)
    return replace(_with_nics(bound, kept), logical_fabrics=tuple(logical))


def _with_nics(fabric: AnyFabric, kept: Collection[str]) -> AnyFabric:
    """A fabric, or a logical one, with the NICs that keep all of ``kept`` rules."""
    nics = parted(together(fabric.nics, fabric.left_out_nics), kept)
    return replace(fabric, nics=nics.kept, left_out_nics=nics.left_out)
