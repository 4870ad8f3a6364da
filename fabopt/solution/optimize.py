"""From inputs to a Design that is proven again: prepare, search, build, note, verify."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial

from fabopt.errors import refusal
from fabopt.io.case import Inputs
from fabopt.io.keys import content_of
from fabopt.problem.problem import Problem
from fabopt.problem.rules_kept import left_out_of_fabrics, managed_by_switches, rack_parts_left_out
from fabopt.problem.trunk_parts import with_panels_anywhere
from fabopt.program.settings import Cancel, Clock, ProgressShare, Settings, StoppedError
from fabopt.program.solvers import ENGINES
from fabopt.schema.design import Alternative, Conflict, Design, Number
from fabopt.search.answer import Answer, answer_in, problems_of, reusing_unchanged_fabrics, words_of
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.rules_kept import best_answers
from fabopt.solution.both_ducts import with_both_ducts
from fabopt.solution.designs import Keeping, build, stopped_design, with_alternatives
from fabopt.solution.few_lengths import with_few_lengths
from fabopt.solution.futures import with_futures
from fabopt.solution.in_service import require_base_holds
from fabopt.solution.notes import with_notes
from fabopt.solution.question import ALTERNATIVES_S, Answers, DearerError, Question, finishing_s
from fabopt.solution.room_for_cables import with_room_for_cables
from fabopt.solution.rule_levers import with_rule_levers
from fabopt.solution.single_points import with_single_points, with_those_of
from fabopt.solution.subnet_hosts import Answered, with_managers_of_subnets
from fabopt.solution.switch_racks import with_strips_of_switches
from fabopt.solution.trunks import with_trunks
from fabopt.verify import verify


def solve(
    inputs: Inputs,
    *,
    engine: str = "cp-sat",
    time_limit_s: float | None = None,
    progress: Callable[[str], None] | None = None,
    prune: bool = True,
    alternatives_s: float = ALTERNATIVES_S,
    clock: Clock | None = None,
    told: Callable[[Conflict | None], None] | None = None,
    reached: Callable[[Design], None] | None = None,
    compared: Callable[[Alternative], None] | None = None,
    bracket: Callable[[Number | None, Number | None], None] | None = None,
    share: ProgressShare | None = None,
    still: Callable[[], AbstractContextManager[None]] = nullcontext,
    kept: Callable[[Design], None] | None = None,
    cancel: Cancel | None = None,
) -> Design:
    """The cheapest design of a case, or the proof that there is none.

    ``status`` is optimal, feasible (time limit), infeasible (``conflicts`` say why) or unknown.
    ``alternatives_s``: seconds for alternatives, once the answer is known; 0: none.
    ``prune=False`` gives every candidate to the program: for tests on small cases.
    ``told``: takes, if there is no design, None and then each conflict as it is found.
    ``reached``: takes the answer once it is checked, before alternatives are looked for.
    ``compared``: takes each alternative as it is found.
    ``bracket``: takes the best objective met and its lower bound, as the search goes on.
    ``share``: takes the known share of the work done.
    ``still``: entered while this process is forked: no thread of an observer may run within.
    ``kept``: takes the best design met so far, when worth it, in case this process is killed.
    ``clock``: stopped by the caller; None: an own clock, which the first Ctrl-C stops, and ``cancel`` once it is set.
    Raises ``InputError`` for an unknown engine.
    """
    if engine not in ENGINES:
        raise refusal("--engine", "", "unknown engine", engine, allowed=", ".join(ENGINES))
    settings = Settings(
        engine,
        time_limit_s,
        prune,
        progress or _to_nobody,
        told or _to_nobody,
        reached=reached or _to_nobody,
        compared=compared or _to_nobody,
        bracket=bracket or _to_nobody,
        share=share or ProgressShare(),
        still=still,
    )
    require_base_holds(inputs)
    with nullcontext(clock) if clock is not None else _own_clock(time_limit_s, cancel) as clock:
        if kept is not None:
            settings = replace(settings, met=Keeping(kept, inputs, engine, clock).met)
        return _answered_in_time(Question(inputs, settings, clock, alternatives_s=alternatives_s))


@contextmanager
def _own_clock(time_limit_s: float | None, cancel: Cancel | None) -> Iterator[Clock]:
    clock = Clock(time_limit_s, cancel=cancel)
    with interrupts(clock):
        yield clock


def _to_nobody(*news: object) -> None:
    """Nobody is told."""


def _answered_in_time(question: Question) -> Design:
    """The answer; a stopped design if the clock is over before any answer."""
    try:
        return answered(question)
    except StoppedError:
        return stopped_design(question.inputs, question.settings.engine, question.clock.reason)


def answered(question: Question) -> Design:
    """The one path from a question to its design: of a case, of all its separations, of a point of a study."""
    asked = question
    _begin(question, "search")
    question, answers = settled(asked)
    design = build(question, answers)
    design = with_rule_levers(asked, answers, design, settled, _whole)
    _begin(question, "futures")
    design = with_futures(question, answers, design)
    design = design if asked.problem is not None else _with_asked(asked.inputs, design)
    _begin(question, "proof")
    alone = with_checks(question, with_notes(replace(question, alternatives_s=0), answers, design))
    if answers.best is None or not question.alternatives_s:
        return alone
    question.settings.reached(alone)
    question.settings.met(answers.best.problem, answers.best.optimum)
    _begin(question, "what else")
    if question.servers:
        asked = replace(asked, inputs=question.own_inputs(answers.best), servers=question.servers)
    asked = replace(asked, listed=question.listed, compared=question.compared, tried=(*answers.tried, *question.tried))
    design = with_alternatives(question, answers.best, design, partial(_rows, asked))
    return with_checks(question, with_notes(question, answers, design))


def _whole(asked: Question, question: Question, answers: Answers) -> Design:
    """The checked design of the answers to a question of certain growth, as it is ``asked`` and settled."""
    design = _with_asked(asked.inputs, build(question, answers))
    return with_checks(question, with_notes(question, answers, design))


def _with_asked(inputs: Inputs, design: Design) -> Design:
    """The design with the keys that its case was written with."""
    record = design.case.model_copy(update={"asked": content_of(inputs.case)})
    return design.model_copy(update={"case": record})


def _rows(asked: Question, answer: Answer, take: Callable[[Alternative], None]) -> bool:
    """Pass alternatives to ``take``; return whether all were solved."""
    from fabopt.solution.alternatives import compare

    return compare(asked, answer, settled, take)


def settled(question: Question) -> tuple[Question, Answers]:
    """The answers to a question, and the question with the hosts and ports that they need; of several servers that of
    the cheapest.

    Rows of *what else* are changed cases that go this way too.
    """
    if isinstance(question.inputs.case.server, str):
        return _settled(question)
    from fabopt.solution.servers import cheapest_of_servers

    return cheapest_of_servers(question, _settled, prepare)


def _settled(question: Question) -> tuple[Question, Answers]:
    return with_few_lengths(question, _settled_with_ducts)


def _settled_with_ducts(question: Question) -> tuple[Question, Answers]:
    return with_both_ducts(question, _settled_with_room)


def _settled_with_room(question: Question) -> tuple[Question, Answers]:
    return with_room_for_cables(question, _settled_with_trunks)


def _settled_with_trunks(question: Question) -> tuple[Question, Answers]:
    return with_trunks(question, _settled_with_hosts)


def _settled_with_hosts(question: Question) -> tuple[Question, Answers]:
    answers = _search_all(question)
    question = replace(question, lower_than=None)
    question, answers = with_managers(question, answers)
    return with_strips_of_switches(question, answers, _search_all)


def _begin(question: Question, what: str) -> None:
    """Report the beginning of a step, if the question has it."""
    asked = {"search": True, "futures": question.inputs.case.is_uncertain, "proof": True,
             "what else": question.alternatives_s > 0}  # fmt: skip
    steps = [step for step, is_asked in asked.items() if is_asked]
    if what in steps:
        question.settings.share.begin_step(steps.index(what) + 1, len(steps))


def with_managers(question: Question, answers: Answers) -> Answered:
    """The question and its answers with a manager in every subnet, where possible."""
    return with_managers_of_subnets(question, answers, _search_all)


def proven(question: Question) -> Design:
    """The answer to a question.

    Raises ``AssertionError`` if the design fails a check, which only a fault of fabopt can cause.
    """
    design = answered(question)
    failed = [check for check in design.checks if not check.ok]
    if failed:
        raise AssertionError(f"a design fails its check {failed[0].name}: {failed[0].detail}")
    return design


def prepare(question: Question) -> Iterable[Problem]:
    """The problem of every combination of separations; or the one that a study has prepared."""
    if question.problem is not None:
        return (question.problem,)
    known = question.known
    offering = None if known is None else known.problem.offering
    problems = problems_of(question.inputs.case, question.inputs.catalog, question.settings.prune, offering)
    problems = (with_panels_anywhere(problem) if question.panels_anywhere else problem for problem in problems)
    return (managed_by_switches(problem, question.managed) for problem in problems)


def _search_all(question: Question) -> Answers:
    return search(question, prepare(question))


def search(question: Question, problems: Iterable[Problem]) -> Answers:
    """The best design of every problem."""
    if question.answer is not None:
        return Answers((question.answer,))
    answers: list[Answer] = []
    try:
        with question.clock.bounded():
            for answer in _searched(question, problems):
                answers.append(answer)
            if question.rules_yield:
                asked = [answer.problem for answer in answers]
                answers = best_answers(asked, answers, question.settings, question.clock)
    except StoppedError:
        if not answers:
            raise
        return Answers(tuple(answers), complete=False)
    return Answers(tuple(answers))


def _searched(question: Question, problems: Iterable[Problem]) -> Iterator[Answer]:
    """The answers to problems in turn."""
    context = Context() if question.known is None else question.known.context.beside()
    for problem in problems:
        answer = _tried(question, problem)
        if answer is not None:
            yield answer
            continue
        problem, context = _knowing(question.known, problem, context)
        question.clock.reserve(finishing_s(problem))
        words = words_of(question.inputs.case, problem.asked)
        question.settings.progress(f"sizing candidates with {words}" if words else "sizing candidates")
        yield _as_cheap(question, problem, context) or answer_in(problem, question.settings, question.clock, context)
        context = context.beside()


def _tried(question: Question, problem: Problem) -> Answer | None:
    """The proven answer to a problem that was met before, with no rule left out of it."""
    if question.managed:
        return None
    return next(
        (
            answer
            for answer in question.tried
            if answer.problem.asked == problem.asked
            and answer.optimum.verdict in ("optimal", "infeasible")
            and not any(left_out_of_fabrics(answer.problem))
        ),
        None,
    )


def _as_cheap(question: Question, problem: Problem, context: Context) -> Answer | None:
    """The best design of a problem, if it is as cheap as is wanted; None where that is not quickly told.

    Raises ``DearerError`` where none is.
    """
    known, wanted = question.known, question.lower_than
    if wanted is None or known is None or known.ratio is not None:
        return None
    if any(left_out_of_fabrics(known.problem)) or rack_parts_left_out(known.problem, question.inputs.case):
        return None
    if problem.weights != known.problem.weights or problem.case.is_uncertain:
        return None
    optimum = search_of(problem, question.settings, question.clock, context=context, lower_than=wanted).run()
    if optimum.has_none_below(wanted):
        raise DearerError
    if optimum.verdict != "optimal" or optimum.value is None or optimum.value >= wanted:
        return None
    return Answer(problem, optimum, context=context)


def _knowing(known: Answer | None, problem: Problem, context: Context) -> tuple[Problem, Context]:
    """A problem that reuses unchanged fabrics of a known answer, with that answer's context."""
    alike = None if known is None else reusing_unchanged_fabrics(problem, known, in_same_layouts=False)
    return (problem, context) if known is None or alike is None else (alike, known.context)


def with_checks(question: Question, design: Design) -> Design:
    """The design with its single points of failure and every rule checked; unchanged without fabrics."""
    if not design.fabrics:
        return design
    if question.twin is not None:
        return with_those_of(question.twin, design)
    design, wiring = with_single_points(design)
    return design.model_copy(update={"checks": verify(design, wiring)})


@contextmanager
def interrupts(clock: Clock) -> Iterator[None]:
    """Make the first Ctrl-C stop the search with its best design; the next one raises ``KeyboardInterrupt``."""
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
