"""What an answer says of default rules: which of resilience could not be kept, and how many NICs go with the GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.parts.nics import pairs_with_gpus
from fabopt.problem.problem import Problem
from fabopt.schema.default_rules import DEFAULT_RULES, NIC_PAIRING, is_kept
from fabopt.schema.design import Design
from fabopt.solution.question import Question
from fabopt.units import some

NO_DESIGN = "no design keeps it beside the rest"
NOT_IN_TIME = "the time was over before a design was found that keeps it beside the rest"
PAIRING = DEFAULT_RULES[NIC_PAIRING]


def redundancy_notes(question: Question, design: Design) -> Iterator[str]:
    """Each part of the rule of resilience that a fabric does not keep, and why."""
    for fabric in design.fabrics:
        for row in fabric.redundancy:
            if row.kept is False:
                yield not_kept(question, fabric.name, row.rule, row.detail)


def pairing_notes(question: Question, problem: Problem, design: Design) -> Iterator[str]:
    """How many NICs go with the GPUs of a server, where the case leaves that to rule ``nic-pairing``."""
    gpus = problem.server.gpus
    nics = dict(_chosen_numbers(problem, design)) if is_kept(problem.case.rules, NIC_PAIRING) and gpus > 1 else {}
    told = " and ".join(f"{count} of {name}" for name, count in nics.items() if pairs_with_gpus(count, gpus))
    if told:
        yield f"rule `{NIC_PAIRING}`: {PAIRING.sentence}: {told} for {gpus} GPUs ({PAIRING.anchor})"
    for name, count in nics.items():
        if not pairs_with_gpus(count, gpus):
            yield not_kept(question, name, NIC_PAIRING, f"{some(count, 'NIC')} for {gpus} GPUs")


def _chosen_numbers(problem: Problem, design: Design) -> Iterator[tuple[str, int]]:
    """NICs of a server by fabric, logical ones too, where they are chosen and the case names no number."""
    wanted = {fabric.name: fabric.nics_per_server for fabric in problem.case.fabrics}
    wanted |= {logical.name: logical.nics_per_server for fabric in problem.case.fabrics for logical in fabric.carries}
    for fabric in design.fabrics:
        uses = {fabric.name: fabric.nic, **{logical.name: logical.nic for logical in fabric.logical}}
        yield from ((name, nic.per_server) for name, nic in uses.items() if not nic.built_in and wanted[name] == "any")


def not_kept(question: Question, fabric: str, rule: str, detail: str, why: str | None = None) -> str:
    """Say that a fabric does not keep a rule, and why: ``why``, if it is not that there is no design, or no time."""
    why = why or (NOT_IN_TIME if question.clock.is_over() else NO_DESIGN)
    return f"{fabric}: rule `{rule}` is not kept ({detail}): {why}"
