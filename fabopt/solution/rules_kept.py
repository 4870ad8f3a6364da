"""The parts of default rules that an answer leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.problem.problem import Problem
from fabopt.problem.rack_parts import rack_parts_left_out
from fabopt.problem.rules_kept import RulePart
from fabopt.rules.defaults import ONE_GENERATION, SUBNET_MANAGER, YIELDING
from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.left_out import NO_DESIGN, RuleLeftOut
from fabopt.solution.generations import mixed_generations
from fabopt.solution.nic_rules import broken_nic_rules
from fabopt.solution.question import Question
from fabopt.solution.subnet_hosts import NOT_IN_TIME

OUT_OF_TIME = "time was over before what manages it was looked for"
NOT_IN_STUDIES = "hosts that manage it, or dearer switches, are looked for where a case is solved alone"


def rules_left_out(question: Question, problem: Problem, design: Design) -> tuple[RuleLeftOut, ...]:
    """Parts of default rules that a case asks for and a design breaks, with reasons, in the order of ``YIELDING``."""
    asked = question.inputs.case
    broken = list(_broken(asked, problem, design))
    told = []
    for part, detail in sorted(broken, key=lambda pair: YIELDING.index(pair[0].rule)):
        why = NO_DESIGN if part.rule != SUBNET_MANAGER else _why_not_managed(question, part)
        words = f"{detail}; {why}" if detail else why
        told.append(RuleLeftOut(rule=part.rule, part=part.path, fabric=part.fabric, why=words))
    return tuple(told)


def _why_not_managed(question: Question, part: RulePart) -> str:
    if question.problem is not None and part.fabric not in question.managed:
        return NOT_IN_STUDIES
    return OUT_OF_TIME if NOT_IN_TIME in question.inputs.notes else NO_DESIGN


def _broken(asked: Case, problem: Problem, design: Design) -> Iterator[tuple[RulePart, str]]:
    """Parts of default rules that a design does not keep, with details."""
    yield from ((part, "") for part in rack_parts_left_out(problem, asked))
    yield from ((RulePart(rule, name), detail) for rule, name, detail in broken_nic_rules(problem, design))
    for fabric in design.fabrics:
        yield from ((RulePart(row.rule, fabric.name), row.detail) for row in fabric.redundancy if row.kept is False)
        said = fabric.subnet_manager
        if said is not None and said.kept is False:
            yield RulePart(SUBNET_MANAGER, fabric.name), said.detail
    for name, mixed in mixed_generations(problem, design):
        yield RulePart(ONE_GENERATION, name), mixed
