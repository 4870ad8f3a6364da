"""Default rules in a problem that can be given up, part by part, where no design keeps them.

These are the parts of ``resilience: default`` and the rules ``nic-pairing``, ``one-generation`` and ``subnet-manager``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from fabopt.problem.attachments import LogicalFabric
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.nic_pairing import Nics, paired, with_unpaired
from fabopt.problem.problem import Problem
from fabopt.problem.subnet_manager import INFINIBAND, ONE
from fabopt.schema.case import Case
from fabopt.schema.default_rules import NIC_PAIRING, ONE_GENERATION, SUBNET_MANAGER, Rules, is_asked_for, without
from fabopt.schema.resilience import NO_RULE, REDUNDANCY, losses_of, redundancy_of

# Rules that can be given up: those of resilience, that of NICs, that of generations, that of subnet managers, and all.
OF_REDUNDANCY: Final = frozenset(rule.name for rule in REDUNDANCY)
OF_NICS: Final = frozenset({NIC_PAIRING})
OF_GENERATIONS: Final = frozenset({ONE_GENERATION})
OF_MANAGERS: Final = frozenset({SUBNET_MANAGER})
ALL_RULES: Final = OF_REDUNDANCY | OF_NICS | OF_GENERATIONS | OF_MANAGERS


class RulePart(NamedTuple):
    """A rule, or a part of one, for one fabric, by its place in the problem."""

    fabric: int
    rule: str


def is_bound(problem: Problem, rules: frozenset[str] = ALL_RULES) -> bool:
    """Whether any of some rules holds that may leave a design out."""
    return any(_is_bound(fabric, rules) for fabric in problem.fabrics)


def _is_bound(fabric: FabricProblem, rules: frozenset[str]) -> bool:
    if rules <= OF_GENERATIONS | OF_MANAGERS and not any(fabric.nics.get(INFINIBAND, ())):
        return False
    return any(rule in rules and fabric.is_bound_by(rule) for rule in fabric.kept_rules)


def parts_given_up(problem: Problem) -> Iterator[RulePart]:
    """What does not hold, in the order in which it is taken up again: fabric by fabric."""
    for index, fabric in enumerate(problem.fabrics):
        yield from (RulePart(index, rule) for rule in fabric.given_up)


def without_rules(problem: Problem, rules: frozenset[str] = ALL_RULES) -> Problem:
    """Return a problem in the space without some rules."""
    fabrics = (_bound_to(fabric, set(fabric.kept_rules) - rules) for fabric in problem.fabrics)
    return replace(problem, fabrics=tuple(fabrics))


def left_out(problem: Problem, rules: frozenset[str]) -> Iterator[Problem]:
    """The parts of the space that some rules leave out; of rules other than that of NICs, all of it without them.

    Fabrics that the rules leave nothing out of are the very same ones, of which everything is known.
    """
    fabrics = zip(problem.fabrics, without_rules(problem, rules).fabrics, strict=True)
    free = replace(problem, fabrics=tuple(free if _is_bound(fabric, rules) else fabric for fabric, free in fabrics))
    if rules != OF_NICS:
        yield _with_one_manager(free) if rules == OF_REDUNDANCY else free
        return
    for index, fabric in enumerate(free.fabrics):
        if any(fabric.unpaired_nics.values()):
            yield _with_fabric(free, index, replace(fabric, nics=fabric.unpaired_nics))
        for number, logical in enumerate(fabric.logical_fabrics):
            if any(logical.unpaired_nics.values()):
                others = list(fabric.logical_fabrics)
                others[number] = replace(logical, nics=logical.unpaired_nics)
                yield _with_fabric(free, index, replace(fabric, logical_fabrics=tuple(others)))


def _with_one_manager(problem: Problem) -> Problem:
    """The problem with a single manager in each subnet, as it is without redundancy."""
    fabrics = (
        fabric if fabric.managers is None else replace(fabric, managers=replace(fabric.managers, fewest=ONE))
        for fabric in problem.fabrics
    )
    return replace(problem, fabrics=tuple(fabrics))


def _with_fabric(problem: Problem, index: int, fabric: FabricProblem) -> Problem:
    return replace(problem, fabrics=(*problem.fabrics[:index], fabric, *problem.fabrics[index + 1 :]))


def managed_by_switches(problem: Problem, names: frozenset[str]) -> Problem:
    """The problem in which switches of some fabrics manage their subnets, whatever that costs."""
    for index, fabric in enumerate(problem.fabrics):
        if fabric.name in names and fabric.managers is not None:
            kept = tuple(rule for rule in fabric.kept_rules if rule != SUBNET_MANAGER)
            bound = replace(fabric, managers=replace(fabric.managers, is_asked_for=True), kept_rules=kept)
            problem = _with_fabric(problem, index, bound)
    return problem


def taken_up(problem: Problem, part: RulePart) -> Problem:
    """Return a problem with one more rule, or part of one."""
    fabric = problem.fabrics[part.fabric]
    return _with_fabric(problem, part.fabric, _bound_to(fabric, {*fabric.kept_rules, part.rule}))


def bound_alike(problem: Problem, other: Problem) -> Problem:
    """Return a problem of the same fabrics that is bound to as much of the rules as another one."""
    fabrics = (
        _bound_to(fabric, set(like.kept_rules)) for fabric, like in zip(problem.fabrics, other.fabrics, strict=True)
    )
    return replace(problem, fabrics=tuple(fabrics))


def _bound_to(fabric: FabricProblem, kept: set[str]) -> FabricProblem:
    """The fabric bound to some of the rules that it can give up."""
    all_ = (*redundancy_of(fabric.role), NIC_PAIRING, ONE_GENERATION, SUBNET_MANAGER)
    rules = [rule for rule in all_ if rule in fabric.kept_rules + fabric.given_up]
    bound = replace(
        fabric,
        kept_rules=tuple(rule for rule in rules if rule in kept),
        given_up=tuple(rule for rule in rules if rule not in kept),
    )
    if (NIC_PAIRING in bound.kept_rules) == (NIC_PAIRING in fabric.kept_rules):
        return bound
    logical = (replace(one, nics=_nics(one, NIC_PAIRING in kept)) for one in fabric.logical_fabrics)
    return replace(bound, nics=_nics(fabric, NIC_PAIRING in kept), logical_fabrics=tuple(logical))


def _nics(fabric: FabricProblem | LogicalFabric, is_paired: bool) -> Nics:
    return paired(fabric.nics) if is_paired else with_unpaired(fabric.nics, fabric.unpaired_nics)


def not_asked_for(problem: Problem) -> Problem:
    """The problem of the same case that does not ask for the rules, losses aside and what it asks for by name."""
    return replace(without_rules(problem), case=_case_without_rules(problem.case))


def _case_without_rules(case: Case) -> Case:
    """The case with the losses that its fabrics name and nothing else of resilience, and without other rules."""
    fabrics = (
        fabric.model_copy(update={"resilience": losses_of(case.resilience_of(fabric)) or NO_RULE})
        for fabric in case.fabrics
    )
    rules: Rules = case.rules
    for rule in (NIC_PAIRING, ONE_GENERATION, SUBNET_MANAGER):
        rules = rules if is_asked_for(rules, rule) else without(rules, rule)
    return case.model_copy(update={"fabrics": tuple(fabrics), "rules": rules})
