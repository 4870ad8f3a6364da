"""From inputs to a Design: resolve, search, prove, look at what else there is, check."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import floor

from fabopt import __version__
from fabopt.design.bill import bill, stage_designs, totals_of
from fabopt.design.build import case_record, fabric_design, floor_use, parts_of, with_racks
from fabopt.errors import InfeasibleError, InputError, fault
from fabopt.explain.conflicts import conflicts_of, obstacles_of
from fabopt.io.case import Inputs
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.roles import role_notes
from fabopt.problem.separation import is_open
from fabopt.program.legend import Form, program_text
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.program.solvers import ENGINES
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import Alternative, Conflict, Design, Objective, Totals
from fabopt.schema.prediction import WorkloadUse
from fabopt.schema.topologies import DESIGNED, refused
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.cost_per_gpu import RatioSearch
from fabopt.search.separations import Tried, cheapest, choice_notes, solved_ways, without_design, words_of
from fabopt.search.step_time import use_on
from fabopt.solution.alternatives import alternative_way, alternatives_of
from fabopt.solution.answer import Answer, in_metric
from fabopt.units import cents, rounded, usd
from fabopt.verify import verify
from fabopt.wiring.attachment_runs import longer_runs
from fabopt.workload.remarks import workload_notes

MOST_REFUSALS_NOTED = 6


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
        return _solve(inputs, settings, clock, alternatives)


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


def _solve(inputs: Inputs, settings: Settings, clock: Clock, alternatives: bool) -> Design:
    started = time.perf_counter()
    engine = settings.engine
    if is_open(inputs.case):
        return _of_all_ways(inputs, settings, clock, alternatives, started)
    problem = problem_of(inputs.case, inputs.catalog, settings.prune)
    settings.progress("sizing candidates")
    ratio, context = None, Context()
    if problem.case.objective == EFFECTIVE:
        ratio = RatioSearch(problem, settings, clock, context=context).run()
    optimum = search_of(problem, settings, clock, context=context).run() if ratio is None else ratio.optimum
    notes = tuple(notes_of(problem, inputs))
    if optimum.value is None:
        return _without_answer(inputs, problem, optimum, settings, clock, started, notes)
    answer = Answer(problem, optimum, ratio, context)
    others = tuple(alternatives_of(answer, settings, clock)) if alternatives else ()
    design = design_of(answer, engine, time.perf_counter() - started, notes, others)
    design = design.model_copy(update={"notes": (*design.notes, *longer_runs(design))})
    return design.model_copy(update={"checks": verify(design)})


def _of_all_ways(inputs: Inputs, settings: Settings, clock: Clock, alternatives: bool, started: float) -> Design:
    """The cheapest design over all separations that a case leaves open, with what the others would cost."""
    tried = solved_ways(inputs.case, inputs.catalog, settings, clock)
    best = cheapest(tried)
    notes = choice_notes(inputs.case, inputs.catalog, tried, best)
    if best is None:
        first = tried[0]
        notes += notes_of(first.problem, replace(inputs, case=first.case))
        design = _without_answer(inputs, first.problem, without_design(tried), settings, clock, started, tuple(notes))
        return design.model_copy(update={"conflicts": tuple(_conflicts_of_all(inputs, tried, settings, clock))})
    answer = Answer(best.problem, best.optimum, context=best.context)
    notes += notes_of(best.problem, replace(inputs, case=best.case))
    others = [
        alternative_way(answer, Answer(one.problem, one.optimum), words_of(inputs.case, one.case))
        for one in tried
        if one.case is not best.case and one.optimum.value is not None
    ]
    others += alternatives_of(answer, settings, clock) if alternatives else ()
    design = design_of(answer, settings.engine, time.perf_counter() - started, tuple(notes), tuple(others))
    return design.model_copy(update={"checks": verify(design)})


def _conflicts_of_all(inputs: Inputs, tried: Sequence[Tried], settings: Settings, clock: Clock) -> Iterator[Conflict]:
    """What clashes in every combination of separations, each told apart."""
    for one in tried:
        if one.optimum.verdict == "infeasible":
            words = words_of(inputs.case, one.case)
            for each in conflicts_of(one.problem.case, inputs.catalog, one.problem, settings, clock):
                yield each.model_copy(update={"detail": f"with {words}: {each.detail}"})


def design_of(
    answer: Answer, engine: str, seconds: float, notes: tuple[str, ...], others: tuple[Alternative, ...]
) -> Design:
    """The Design of an answer, without its checks."""
    problem = answer.problem
    fabrics = tuple(
        fabric_design(problem, fabric, picked) for fabric, picked in zip(problem.fabrics, answer.picked, strict=True)
    )
    rows = bill(problem, answer.picked)
    floor = floor_use(problem, answer.picked)
    totals = with_racks(totals_of(problem, answer.picked, rows), problem, fabrics, floor)
    use = use_on(problem, answer.picked, cents(totals.capex_usd))
    return Design(
        fabopt=__version__,
        case=case_record(problem),
        parts=parts_of(problem, fabrics, rows),
        status="optimal" if answer.optimum.verdict == "optimal" else "feasible",
        objective=_objective(answer, totals, use, engine, seconds),
        totals=totals,
        floor=floor,
        fabrics=fabrics,
        stages=stage_designs(problem, answer.picked, fabrics),
        bom=rows,
        alternatives=others,
        workload=use,
        notes=(*notes, *(workload_notes(use, problem.case, problem.server) if use is not None else ())),
    )


def _objective(answer: Answer, totals: Totals, use: WorkloadUse | None, engine: str, seconds: float) -> Objective:
    problem, optimum = answer.problem, answer.optimum
    metric = problem.case.objective
    value = getattr(totals if metric != EFFECTIVE else use, metric)
    found, bound = _found_and_bound(answer)
    if found is not None and found != value:
        raise AssertionError(f"the search's objective {found} is not the design's {metric} {value}")
    gap = None if bound is None else (round((value - bound) / value, 6) if value else 0)
    if optimum.verdict == "optimal":
        bound, gap = value, 0
    return Objective(
        metric=metric,
        value=value,
        bound=bound,
        gap=gap,
        engine=engine,
        solve_s=round(seconds, 3),
        candidates=optimum.sized,
        candidates_in_program=optimum.in_program,
    )


def _found_and_bound(answer: Answer) -> tuple[int | float | None, int | float | None]:
    """What the search says of its objective, and what is not below it; None if that is not known."""
    problem, optimum, ratio = answer.problem, answer.optimum, answer.ratio
    if problem.case.objective == EFFECTIVE:
        if ratio is None or ratio.cents is None:
            return None, None
        return usd(rounded(ratio.cents)), None if ratio.bound is None else usd(floor(ratio.bound))
    assert optimum.value is not None
    bound = None if optimum.bound is None else in_metric(optimum.bound, problem.weights)
    return in_metric(optimum.value, problem.weights), bound


def notes_of(problem: Problem, inputs: Inputs) -> Iterator[str]:
    """What a reader must know: cards that were refused, servers without power."""
    yield from inputs.notes
    yield from role_notes(inputs.case, problem.server)
    yield from _left_out(problem)
    for fabric in problem.fabrics:
        for text in fabric.refused_nics[:MOST_REFUSALS_NOTED]:
            yield f"{fabric.name}: not picked: {text}"
        more = len(fabric.refused_nics) - MOST_REFUSALS_NOTED
        if more > 0:
            yield f"{fabric.name}: {more} more cards are held back by their PCIe slots"


def _left_out(problem: Problem) -> Iterator[str]:
    """Families that ``any`` does not stand for in this case, and why."""
    for fabric in problem.case.fabrics:
        for topology in DESIGNED if "any" in fabric.topologies else ():
            words = [feature.words for feature in refused(problem.case, fabric, topology)]
            if words:
                yield f"{fabric.name}: {topology} left out, which does not support {' and '.join(words)}"


def _without_answer(
    inputs: Inputs,
    problem: Problem,
    optimum: Optimum,
    settings: Settings,
    clock: Clock,
    started: float,
    notes: tuple[str, ...],
) -> Design:
    infeasible = optimum.verdict == "infeasible"
    if infeasible:
        settings.progress("no design meets the case: looking for what would help")
    return Design(
        fabopt=__version__,
        case=case_record(problem),
        status="infeasible" if infeasible else "unknown",
        objective=Objective(
            metric=problem.case.objective,
            engine=settings.engine,
            candidates=optimum.sized,
            candidates_in_program=optimum.in_program,
            solve_s=round(time.perf_counter() - started, 3),
        ),
        conflicts=(conflicts_of if infeasible else obstacles_of)(
            problem.case, inputs.catalog, problem, settings, clock
        ),
        notes=notes,
    )


def formulation_text(inputs: Inputs, form: Form) -> str:
    """The integer program of a case as LP or MPS text, over the candidates that could be optimal."""
    if inputs.case.objective == EFFECTIVE:
        hint = "write objective: capex_usd for the program of the cheapest design"
        raise InputError([fault(inputs.case_file, "objective", "a ratio is no linear program", EFFECTIVE, hint=hint)])
    problem = problem_of(inputs.case, inputs.catalog)
    optimum = search_of(problem, Settings(), Clock(None)).run(ties=False)
    if optimum.program is None:
        raise InfeasibleError(f"{inputs.case_file}: no candidate meets the case, so there is no program to write")
    return program_text(optimum.program, form)
