"""What an answer says of default rules: which parts it is without, and how many NICs go with the GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.parts.nics import pairs_with_gpus
from fabopt.problem.problem import Problem
from fabopt.problem.rack_parts import rack_parts_left_out
from fabopt.problem.rules_kept import RulePart
from fabopt.schema.case import Case
from fabopt.schema.default_rules import (
    DEFAULT_RULES,
    NIC_PAIRING,
    ONE_GENERATION,
    SUBNET_MANAGER,
    YIELDING,
    is_kept,
)
from fabopt.schema.design import Design
from fabopt.schema.left_out import RuleLeftOut
from fabopt.solution.generations import mixed_generations
from fabopt.solution.question import Question
from fabopt.units import some

NO_DESIGN = "no design of the case keeps it, whatever its limits"
NOT_IN_STUDIES = "hosts that manage it, or dearer switches, are looked for where a case is solved alone"
PAIRING = DEFAULT_RULES[NIC_PAIRING]


def rules_left_out(question: Question, problem: Problem, design: Design) -> tuple[RuleLeftOut, ...]:
    """Each part of a default rule that a case asks for and a design breaks, and why, in the order of ``YIELDING``."""
    asked = question.inputs.case
    broken = list(_broken(asked, problem, design))
    told = []
    for part, detail in sorted(broken, key=lambda pair: YIELDING.index(pair[0].rule)):
        was_looked_for = question.problem is None or part.fabric in question.managed
        why = NO_DESIGN if was_looked_for or part.rule != SUBNET_MANAGER else NOT_IN_STUDIES
        words = f"{detail}; {why}" if detail else why
        told.append(RuleLeftOut(rule=part.rule, part=part.path, fabric=part.fabric, why=words))
    return tuple(told)


def _broken(asked: Case, problem: Problem, design: Design) -> Iterator[tuple[RulePart, str]]:
    """Parts of default rules that a design does not keep, with what it has in their place."""
    yield from ((part, "") for part in rack_parts_left_out(problem, asked))
    for name, nics in _chosen_numbers(problem, design):
        if not pairs_with_gpus(nics, problem.server.gpus):
            yield RulePart(NIC_PAIRING, name), f"{some(nics, 'NIC')} for {some(problem.server.gpus, 'GPU')}"
    for fabric in design.fabrics:
        yield from ((RulePart(row.rule, fabric.name), row.detail) for row in fabric.redundancy if row.kept is False)
        said = fabric.subnet_manager
        if said is not None and said.kept is False:
            yield RulePart(SUBNET_MANAGER, fabric.name), said.detail
    for name, mixed in mixed_generations(problem, design):
        yield RulePart(ONE_GENERATION, name), mixed


def pairing_notes(problem: Problem, design: Design) -> Iterator[str]:
    """How many NICs go with the GPUs of a server, where the case leaves that to rule ``nic-pairing``."""
    gpus = problem.server.gpus
    nics = dict(_chosen_numbers(problem, design))
    told = " and ".join(f"{count} of {name}" for name, count in nics.items() if pairs_with_gpus(count, gpus))
    if told:
        yield f"rule `{NIC_PAIRING}`: {PAIRING.sentence}: {told} for {gpus} GPUs ({PAIRING.anchor})"


def _chosen_numbers(problem: Problem, design: Design) -> Iterator[tuple[str, int]]:
    """NICs of a server by fabric, logical ones too, where they are chosen, the case names no number, and rule
    ``nic-pairing`` says one.
    """
    if not is_kept(problem.case.rules, NIC_PAIRING) or problem.server.gpus < 2:
        return
    wanted = {fabric.name: fabric.nics_per_server for fabric in problem.case.fabrics}
    wanted |= {logical.name: logical.nics_per_server for fabric in problem.case.fabrics for logical in fabric.carries}
    for fabric in design.fabrics:
        uses = {fabric.name: fabric.nic, **{logical.name: logical.nic for logical in fabric.logical}}
        yield from ((name, nic.per_server) for name, nic in uses.items() if not nic.built_in and wanted[name] == "any")
