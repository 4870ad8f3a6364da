"""Racks with switches and no servers: their power strips need management ports, counted from an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fabopt.problem.rules_kept import managed_by_switches
from fabopt.program.settings import StoppedError
from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.case import Case, Fabric
from fabopt.schema.design import Design
from fabopt.schema.roles import OutOfBand
from fabopt.search.answer import Answer, answer_in, problems_of, reusing_unchanged_fabrics
from fabopt.solution.question import Answers, Question
from fabopt.units import some

# The most solves: more ports may need another switch, and that another rack.
MOST_ROUNDS = 3


def with_strips_of_switches(
    question: Question, answers: Answers, search: Callable[[Question], Answers]
) -> tuple[Question, Answers]:
    """The question with ports for the strips of all racks of switches, and its answers; unchanged if they have ports.

    Studies prepare their own problems, and their designs report missing ports; so do designs without time for this.
    """
    for _ in range(MOST_ROUNDS):
        best, case = answers.best, question.inputs.case
        if best is None or question.problem is not None or not any(_counts(case, fabric) for fabric in case.fabrics):
            break
        needed = switch_racks(best)
        if needed <= max(_counted(fabric) for fabric in case.fabrics if _counts(case, fabric)):
            break
        question.settings.progress(f"{some(needed, 'rack')} of switches: looking again, with ports for their PDUs")
        other = _with_racks(question, needed)
        try:
            others = _with_others_known(other, answers) or search(other)
        except StoppedError:
            break
        if others.best is None or (answers.is_decided and not others.is_decided):
            break
        question, answers = other, others
    return question, answers


def _with_others_known(question: Question, answers: Answers) -> Answers | None:
    """The answer in the layouts of the answer before, reusing its unchanged fabrics; None if there is none."""
    best, inputs = answers.best, question.inputs
    if best is None or len(answers.tried) > 1:
        return None
    problems = problems_of(inputs.case, inputs.catalog, question.settings.prune, best.problem.offering)
    problem = reusing_unchanged_fabrics(managed_by_switches(next(iter(problems)), question.managed), best)
    if problem is None:
        return None
    with question.clock.bounded():
        answer = answer_in(problem, question.settings, question.clock, best.context)
    return Answers((answer,)) if answer.has_design else None


def strips_without_ports(design: Design, case: Case) -> Iterator[str]:
    """A note for each out-of-band fabric without ports for strips of racks of switches."""
    for fabric in case.fabrics:
        missing = racks_in(design) - _counted(fabric)
        if _counts(case, fabric) and missing > 0 and fabric.oob is not None:
            ports = some(missing * fabric.oob.pdus_per_rack, "port")
            yield f"{fabric.name}: PDUs of {some(missing, 'rack')} of switches have no port; {ports} more would do"


def switch_racks(answer: Answer) -> int:
    """Racks with switches and no servers, in use by an answer; 0 without a floor."""
    parts = [candidate.design.file_part() for candidate, _ in answer.picked]
    servers = {rack for part in parts for rack in part.server_racks}
    placed = [part.placement for part in parts if part.placement]
    return len({rack for one in placed for rack, _ in (*one.leaf, *one.spine, *one.core)} - servers)


def racks_in(design: Design) -> int:
    """Racks with switches and no servers, in use by a design."""
    placed = [fabric.places for fabric in design.fabrics]
    switches = {rack for one in placed for rack, _ in (*one.leaf, *one.spine, *one.core)}
    return len(switches - set(design.racks.server_racks))


def _counts(case: Case, fabric: Fabric) -> bool:
    """Whether strips of racks are counted for a fabric, and not said."""
    asked = fabric.oob or OutOfBand()
    counts = fabric.role == "oob" and asked.pdus is None and asked.pdus_per_rack > 0
    return counts and is_kept(case.rules, RACK_RULES)


def _counted(fabric: Fabric) -> int:
    return (fabric.oob or OutOfBand()).switch_racks or 0


def _with_racks(question: Question, racks: int) -> Question:
    case = question.inputs.case
    fabrics = tuple(
        fabric.model_copy(update={"oob": (fabric.oob or OutOfBand()).model_copy(update={"switch_racks": racks})})
        if _counts(case, fabric)
        else fabric
        for fabric in case.fabrics
    )
    inputs = replace(question.inputs, case=case.model_copy(update={"fabrics": fabrics}))
    return replace(question, inputs=inputs)
