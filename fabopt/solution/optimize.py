"""From inputs to a Design that is proven again: prepare, search, build, note, verify."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from fabopt.errors import InputError, fault
from fabopt.io.case import Inputs
from fabopt.problem.problem import Problem
from fabopt.program.settings import Clock, Settings
from fabopt.program.solvers import ENGINES
from fabopt.schema.design import Design
from fabopt.search.context import Context
from fabopt.search.separations import problems_of, words_of
from fabopt.solution.designs import build
from fabopt.solution.notes import with_notes
from fabopt.solution.question import Answers, Question
from fabopt.verify import verify


def solve(
    inputs: Inputs,
    *,
    engine: str = "cp-sat",
    time_limit_s: float | None = None,
    progress: Callable[[str], None] | None = None,
    prune: bool = True,
    alternatives: bool = True,
) -> Design:
    """The cheapest design of a case, or the proof that there is none.

    ``status`` is optimal, feasible (time limit), infeasible (``conflicts`` say why) or unknown.
    ``prune=False`` gives every candidate to the program: for tests on small cases.
    Raises ``InputError`` for an unknown engine.
    """
    if engine not in ENGINES:
        raise InputError([fault("--engine", "", "unknown engine", engine, allowed=", ".join(ENGINES))])
    clock = Clock(time_limit_s)
    settings = Settings(engine, time_limit_s, prune, progress or (lambda text: None))
    with interrupts(clock):
        return answered(Question(inputs, settings, clock, compares=alternatives))


def answered(question: Question) -> Design:
    """The one path from a question to its design: of a case, of all its separations, of a point of a study."""
    problems = prepare(question)
    answers = search(question, problems)
    design = build(question, answers)
    design = with_notes(question, answers, design)
    return with_checks(question, design)


def proven(question: Question) -> Design:
    """The same; raises ``AssertionError`` if it does not stand the proof, which only a fault of fabopt can cause."""
    design = answered(question)
    failed = [check for check in design.checks if not check.ok]
    if failed:
        raise AssertionError(f"a design fails its check {failed[0].name}: {failed[0].detail}")
    return design


def prepare(question: Question) -> Iterable[Problem]:
    """The problem of every combination of separations; the one that a study has prepared."""
    if question.problem is not None:
        return (question.problem,)
    return problems_of(question.inputs.case, question.inputs.catalog, question.settings.prune)


def search(question: Question, problems: Iterable[Problem]) -> Answers:
    """The best design of every problem."""
    answers, context = [], Context()
    for problem in problems:
        words = words_of(question.inputs.case, problem.asked)
        question.settings.progress(f"sizing candidates with {words}" if words else "sizing candidates")
        answers.append(question.find(problem, question.settings, question.clock, context))
        context = context.beside()
    return Answers(tuple(answers))


def with_checks(question: Question, design: Design) -> Design:
    """The design with every rule proven again; as it is if there is nothing to prove."""
    if not (design.fabrics and question.proves):
        return design
    return design.model_copy(update={"checks": verify(design)})


@contextmanager
def interrupts(clock: Clock) -> Iterator[None]:
    """Make the first Ctrl-C stop the search with what it has; the next one raises ``KeyboardInterrupt``."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        clock.stop()

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
