"""From answers to a Design: the best answer with its bill, or the conflicts of an infeasible case.

The best design met so far, kept in case native code ends the process before the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from math import floor, inf, isfinite
from operator import attrgetter

from fabopt.design.bill import bill, stage_designs, totals_of
from fabopt.design.build import case_record, fabric_design, floor_use, hashes_of, parts_of, with_racks
from fabopt.io.case import Inputs
from fabopt.io.servers import cases_of_servers
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.separation import first_combination
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.schema.case import EFFECTIVE, Case
from fabopt.schema.design import BUDGET_KEY, Alternative, Conflict, Design, Objective, Totals
from fabopt.schema.futures import EXPECTED
from fabopt.schema.objective import DecidedBy
from fabopt.schema.prediction import WorkloadUse
from fabopt.schema.servers import SERVER
from fabopt.schema.version import VERSION
from fabopt.search.answer import Answer, words_of
from fabopt.search.relaxation import relaxed_value
from fabopt.search.step_time import service_on, use_on
from fabopt.solution.own_latency import with_own_latency
from fabopt.solution.question import Answers, Question, keys_of_server
from fabopt.solution.single_points import with_single_points
from fabopt.units import cents, rounded, usd, watts
from fabopt.verify import verify
from fabopt.verify.editions import edition_of
from fabopt.wiring.panel_places import with_panel_places

# Passes on the alternatives of an answer, and returns whether all were solved.
Looking = Callable[[Answer, Callable[[Alternative], None]], bool]

# The beginning of the note on a missing lower bound; its reason follows.
NO_BOUND = "no bound"


def build(question: Question, answers: Answers) -> Design:
    """The Design of the best answer, without alternatives; without an answer, with conflicts."""
    if answers.best is None:
        return _without_answer(question, answers)
    seconds = question.clock.spent_s()
    # what a study has picked for two metrics is not the least of one
    least = None if question.answer is not None else floor_in_time(question, answers.best)
    design = design_of(answers.best, question.settings.engine, seconds)
    objective = design.objective.model_copy(update={"floor": least})
    update = {"objective": objective, "alternatives_complete": answers.complete}
    return design.model_copy(update={**update, "servers_compared": question.compared})


def with_alternatives(question: Question, answer: Answer, design: Design, rows: Looking) -> Design:
    """The Design of an answer with what else there is; with a note where looking for it failed."""
    alternatives, is_complete, failures = _compared(question, answer, rows)
    is_complete &= design.alternatives_complete
    return design.model_copy(
        update={"alternatives": alternatives, "alternatives_complete": is_complete, "notes": failures}
    )


def _compared(
    question: Question, answer: Answer, rows: Looking
) -> tuple[tuple[Alternative, ...], bool, tuple[str, ...]]:
    """Alternatives found in their seconds, whether all were solved, and a note of a failure."""
    seconds, alternatives = question.alternatives_s, list[Alternative]()
    failures: tuple[str, ...] = ()

    def take(alternative: Alternative) -> None:
        alternative = _with_server(question, answer, alternative)
        alternatives.append(alternative)
        question.settings.compared(alternative)

    shortened = question.clock.shortened(seconds) if isfinite(seconds) else nullcontext()
    try:
        with shortened, question.clock.bounded():
            complete = rows(answer, take)
    except StoppedError:
        complete = False
    except Exception as error:  # whatever fails beside an answer, the answer stands
        failures = (f"not all alternatives were compared: a search failed ({type(error).__name__}: {error})",)
        question.settings.progress(failures[0])
        complete = False
    return tuple(alternatives), complete, failures


def _with_server(question: Question, answer: Answer, row: Alternative) -> Alternative:
    """The row with the keys of the answer's server, where the case lists several and the row is not about another."""
    if not question.servers or SERVER in row.change:
        return row
    return row.model_copy(update={"change": {**keys_of_server(question.own_inputs(answer).case), **row.change}})


def design_of(answer: Answer, engine: str, seconds: float) -> Design:
    """The Design of an answer, without its alternatives, notes and checks."""
    problem, picked = answer.problem, answer.picked
    fabrics = tuple(
        fabric_design(problem, fabric, choice) for fabric, choice in zip(problem.fabrics, picked, strict=True)
    )
    rows = bill(problem, picked)
    parts = parts_of(problem, fabrics, rows)
    floor_used = floor_use(problem, picked, fabrics)
    totals = with_racks(totals_of(problem, picked, rows), problem, fabrics, floor_used)
    use = use_on(problem, picked, cents(totals.capex_usd), answer.ratio.least if answer.ratio is not None else ())
    design = Design(
        fabopt=VERSION,
        rules=edition_of(VERSION),
        case=case_record(problem),
        parts=parts,
        parts_sha256=hashes_of(parts),
        status="optimal" if answer.optimum.verdict == "optimal" else "feasible",
        objective=_objective(answer, totals, use, engine, seconds),
        totals=totals,
        floor=floor_used,
        fabrics=fabrics,
        stages=stage_designs(problem, picked, fabrics),
        bom=rows,
        workload=use,
        serving=service_on(problem, picked),
    )
    return with_panel_places(with_own_latency(design, problem, picked))


def _objective(answer: Answer, totals: Totals, use: WorkloadUse | None, engine: str, seconds: float) -> Objective:
    problem, optimum = answer.problem, answer.optimum
    metric = minimized(problem.case)
    value = getattr(totals if metric != EFFECTIVE else use, metric)
    searched, bound = _value_and_bound(answer)
    if searched is not None and searched != value:
        raise AssertionError(f"the search's objective {searched} is not the design's {metric} {value}")
    gap = None if bound is None else (round((value - bound) / value, 6) if value else 0)
    decision = DecidedBy(by="regret") if problem.best_alone else _decision(answer, use)
    if optimum.verdict == "optimal":
        bound, gap = bound_of_proven(value, decision)
    return Objective(
        metric=metric,
        value=value,
        bound=bound,
        gap=gap,
        engine=engine,
        solve_s=round(seconds, 3),
        candidates=optimum.sized,
        candidates_in_program=optimum.in_program,
        decision=decision,
    )


def bound_of_proven(value: int | float, decision: DecidedBy | None) -> tuple[int | float | None, int | float | None]:
    """The bound of a proven design and its gap: 0, or that to the least value if another criterion decided."""
    if decision is None:
        return value, 0
    least = decision.least_usd
    return least, None if least is None else round((value - least) / value, 6)


def _decision(answer: Answer, use: WorkloadUse | None) -> DecidedBy | None:
    """The criterion of the choice, if not the objective alone; for regret with the worst regret."""
    decision = None if answer.ratio is None else answer.ratio.decision
    if decision is None or decision.by != "regret" or use is None:
        return decision
    return decision.model_copy(update={"regret": max(scenario.regret or 0 for scenario in use.scenarios)})


def minimized(case: Case) -> str:
    """The minimized metric: the expected cost where growth is uncertain, else the objective."""
    return EXPECTED if case.is_uncertain else case.objective


def floor_in_time(question: Question, answer: Answer) -> int | float | None:
    """``floor_value`` of an answer; None where time is over first."""
    try:
        with question.clock.bounded():
            return floor_value(answer)
    except StoppedError:
        return None


def floor_value(answer: Answer) -> int | float | None:
    """A lower bound on the objective of any Clos with as many tiers, rounded down; USD or watts."""
    least, weights = relaxed_value(answer), answer.problem.weights
    if least is None:
        return None
    return usd(least // weights.scale) if weights.per_cent else watts(least // weights.scale)


def _value_and_bound(answer: Answer) -> tuple[int | float | None, int | float | None]:
    """The objective and its lower bound, in the units of a design file; None where unknown."""
    problem, optimum, ratio = answer.problem, answer.optimum, answer.ratio
    if problem.case.objective == EFFECTIVE:
        if ratio is None or ratio.cents is None:
            return None, None
        return usd(rounded(ratio.cents)), None if ratio.bound is None else usd(floor(ratio.bound))
    assert optimum.value is not None
    return problem.weights.in_metric(optimum.value), _bound_of(problem, optimum)


def _bound_of(problem: Problem, optimum: Optimum) -> int | float | None:
    """The lower bound of the objective; None if unknown, as where stock may save a design's whole cost."""
    bound = optimum.bound
    if bound is None or bound < 0 or bound == 0 != optimum.value:
        return None
    return problem.weights.in_metric(bound)


# -- without an answer ----------------------------------------------------------------------------------------------


def _without_answer(question: Question, answers: Answers) -> Design:
    problem, optimum = answers.shown, answers.optimum
    infeasible = optimum.verdict == "infeasible"
    if infeasible:
        question.settings.told(None)
        question.settings.progress("no design meets the case: looking for what would help")
    told = _conflicts(question, answers)
    conflicts = _least_of_servers(told, question.clock) if question.compared else tuple(told)
    # what the cheapest design costs is known to the cent; the least of other limits only to a thousandth
    infeasible |= len(answers.tried) == 1 and any(
        conflict.limit == BUDGET_KEY and conflict.minimal for conflict in conflicts
    )
    return Design(
        fabopt=VERSION,
        rules=edition_of(VERSION),
        case=case_record(problem),
        status="infeasible" if infeasible else "unknown",
        objective=Objective(
            metric=minimized(problem.case),
            bound=None if infeasible else _bound_alone(answers),
            engine=question.settings.engine,
            candidates=optimum.sized,
            candidates_in_program=optimum.in_program,
            solve_s=round(question.clock.spent_s(), 3),
        ),
        servers_compared=question.compared,
        conflicts=conflicts,
        alternatives_complete=not question.clock.is_over(),
    )


def _bound_alone(answers: Answers) -> int | float | None:
    """The lower bound on designs that keep the case's rules, where none was met; None if unknown."""
    problem = answers.shown
    if problem.case.objective == EFFECTIVE:
        bounds = [one.ratio.bound for one in answers.tried if one.ratio is not None and one.ratio.bound is not None]
        return usd(floor(min(bounds))) if answers.complete and len(bounds) == len(answers.tried) else None
    return None if problem.case.growth.decide_by == "regret" else _bound_of(problem, answers.optimum)


def _conflicts(question: Question, answers: Answers) -> Iterator[Conflict]:
    """Conflicts of every infeasible combination of separations, obstacles of every other, each with its combination."""
    from fabopt.explain.conflicts import conflicts_of, obstacles_of

    if question.conflicts:
        yield from question.conflicts
        return

    for answer in answers.tried:
        words = words_of(question.inputs.case, answer.problem.asked)
        explain = conflicts_of if answer.optimum.verdict == "infeasible" else obstacles_of
        settings = replace(question.settings, told=partial(_tell, question.settings, words))
        for conflict in explain(answer.problem, settings, question.clock, answer.context):
            yield _with(words, conflict)


def _least_of_servers(conflicts: Iterable[Conflict], clock: Clock) -> tuple[Conflict, ...]:
    """Conflicts of which several servers have the same one once: with the server that needs the smallest change.

    It is not known to be the smallest where the time was over before all servers were looked at.
    """
    least: dict[object, Conflict] = {}
    for conflict in conflicts:
        is_number = isinstance(conflict.needed, int | float)
        change = conflict.direction if is_number else conflict.needed
        key = conflict.limit, change, tuple(needed.limit for needed in conflict.together)
        least[key] = min(least.get(key, conflict), conflict, key=_size_of_change)
    update = {"minimal": False} if clock.is_over() else {}
    return tuple(conflict.model_copy(update=update if conflict.minimal else {}) for conflict in least.values())


def _size_of_change(conflict: Conflict) -> float:
    """How far a number has to go up or down; of other values what their design costs."""
    if isinstance(conflict.needed, int | float):
        return -conflict.needed if conflict.direction == "down" else conflict.needed
    return inf if conflict.capex_usd is None else conflict.capex_usd


def _tell(settings: Settings, words: str, conflict: Conflict | None) -> None:
    """Tell a conflict of a combination of separations."""
    settings.told(None if conflict is None else _with(words, conflict))


def _with(words: str, conflict: Conflict) -> Conflict:
    return conflict.model_copy(update={"detail": f"with {words}: {conflict.detail}"}) if words else conflict


def stopped_design(inputs: Inputs, engine: str, reason: str) -> Design:
    """The Design of a case whose search stopped or failed before any answer."""
    case = cases_of_servers(inputs.case, inputs.catalog)[0]
    return Design(
        fabopt=VERSION,
        rules=edition_of(VERSION),
        case=case_record(problem_of(first_combination(case, inputs.catalog), inputs.catalog)),
        status="unknown",
        objective=Objective(metric=minimized(inputs.case), engine=engine),
        notes=(*inputs.notes, f"{NO_BOUND}: nothing of the space was bounded by then", reason),
    )


# Keeping designs takes at most one in ``ONE_SECOND_IN`` seconds; searches that end before ``FIRST_S`` keep none.
ONE_SECOND_IN = 20
FIRST_S = 2.0
# Keys of the case that side searches may change.
_ASKED = attrgetter("limits", "server", "servers", "stages", "procurement", "site", "objective")
_NOTE = "the search was cut off: this is the best design that it had met by then"


class Keeping:
    """Passes on improving designs as they are met, each proven without the solver."""

    def __init__(self, take: Callable[[Design], None], inputs: Inputs, engine: str, clock: Clock) -> None:
        self._take, self._engine, self._clock = take, engine, clock
        cases = cases_of_servers(inputs.case, inputs.catalog)
        self._asked = [_ASKED(case) for case in cases]
        self._fabrics = {fabric.name for fabric in inputs.case.fabrics}
        self._best: int | None = None
        self._next_s = clock.spent_s() + FIRST_S

    def met(self, problem: Problem, optimum: Optimum) -> None:
        """Pass on a design if it improves on the last one and building it is worth the time.

        A failure to build it is ignored: the search goes on.
        """
        begun_s = self._clock.spent_s()
        is_better = optimum.value is not None and (self._best is None or optimum.value < self._best)
        is_asked = _ASKED(problem.case) in self._asked
        if begun_s < self._next_s or not is_better or not is_asked or self._clock.is_over():
            return
        try:
            if self._keep(Answer(problem, optimum)):
                self._best = optimum.value
        except StoppedError:
            raise
        except Exception:  # whatever is wrong with it, the answer is what counts
            self._best = None
        finally:
            self._next_s = self._clock.spent_s() + ONE_SECOND_IN * (self._clock.spent_s() - begun_s)

    def _keep(self, answer: Answer) -> bool:
        """Pass on the design of an answer, if it is one of the case that keeps every rule; return whether it is."""
        design, wiring = with_single_points(design_of(answer, self._engine, self._clock.spent_s()))
        checks = verify(design, wiring)
        is_kept = {fabric.name for fabric in design.fabrics} == self._fabrics and all(check.ok for check in checks)
        if is_kept:
            objective = design.objective.model_copy(update={"bound": None, "gap": None})
            update = {"checks": checks, "notes": (_NOTE,), "status": "feasible", "objective": objective}
            self._take(design.model_copy(update={**update, "alternatives_complete": False}))
        return is_kept
