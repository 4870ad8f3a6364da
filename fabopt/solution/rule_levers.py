"""Default rules that leave a case without a design under its limits: each part by its key, with the cost of a design
without it, and the cheapest design that keeps all.

Each figure is that of solving the case with the key set, limits and all else kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from fabopt.design.bill import bill, totals_of
from fabopt.floor.rack_rules import with_parts
from fabopt.problem.rules_kept import holds_mix, parts_that_yield, purchased, unlimited
from fabopt.program.settings import StoppedError, Work
from fabopt.rules.defaults import NO_RULES, RACK_SPREAD, REDUNDANCY, ROBUST_DESIGNS, YIELDING, is_asked_for, without
from fabopt.schema.case import Case
from fabopt.schema.design import Conflict, Design, Needed, Totals
from fabopt.schema.left_out import NOT_OF_THE_CASE, NearestDesign
from fabopt.schema.resilience import NO_RULE
from fabopt.search.answer import Answer
from fabopt.solution.question import Answers, Question
from fabopt.solution.summaries import summaries_of

# Work of all searches for the cost of rules, in units of ``program.settings.Work``; seconds only end hanging searches.
MOST_WORK: Final = 400_000
MOST_SECONDS: Final = 240.0
UNSETTLED: Final = "what it costs to turn off default rules takes more work to tell than that may"
RACK_RULES: Final = "site.rack_rules."
RULES: Final = "rules."
WHOLE: Final = RULES + RACK_SPREAD
RESILIENCE: Final = "resilience"
Solve = Callable[[Question], tuple[Question, Answers]]
Build = Callable[[Question, Question, Answers], Design]


class Priced(NamedTuple):
    """Keys set together, and the cost of the best design with them in USD; ``is_least``: whether it is proven."""

    keys: tuple[str, ...]
    usd: float
    is_least: bool


def with_rule_levers(question: Question, answers: Answers, design: Design, solve: Solve, build: Build) -> Design:
    """The Design of an infeasible case, with the rules that prevent a design, and the nearest design.

    ``solve``: answers a question, and returns it with what the answers need; ``build``: the whole design of a
    question as it is asked and settled, and of its answers. What the clock leaves no time for is left out.
    """
    if design.status != "infeasible":
        return design
    asked = _asked(question, answers)
    levers: list[Priced] = []
    nearest, is_stopped = None, False
    try:
        with question.clock.shortened(MOST_SECONDS), question.clock.bounded():
            nearest = _nearest(asked, solve, build if question.problem is None else None)
            for lever in _levers(asked, answers, solve):
                levers.append(lever)
    except StoppedError:
        is_stopped = True
    conflicts = list(design.conflicts)
    for lever in sorted(levers, key=lambda lever: lever.usd):
        conflict = _conflict(lever)
        own = next((place for place, other in enumerate(conflicts) if other.limit == conflict.limit), None)
        if own is None or conflict.together:
            question.settings.told(conflict)
            conflicts.append(conflict)
        else:
            detail = "; ".join(part for part in (conflicts[own].detail, conflict.detail) if part)
            conflicts[own] = conflicts[own].model_copy(update={"detail": detail, "capex_usd": conflict.capex_usd})
    design = design.model_copy(update={"conflicts": tuple(conflicts), "nearest": nearest})
    if not is_stopped and not asked.settings.work.is_spent:
        return design
    return design.model_copy(update={"alternatives_complete": False})


def _asked(question: Question, answers: Answers) -> Question:
    """The question of the case itself; of a point of a study, under the limits that it has there."""
    case = question.inputs.case
    if question.problem is not None:
        case = case.model_copy(update={"limits": answers.shown.case.limits})
    settings = replace(question.settings.quiet, told=lambda conflict: None, work=Work(most=MOST_WORK))
    inputs = replace(question.inputs, case=case)
    return replace(question, inputs=inputs, settings=settings, alternatives_s=0, problem=None, managed=frozenset())


def _with(question: Question, case: Case) -> Question:
    return replace(question, inputs=replace(question.inputs, case=case))


def _nearest(question: Question, solve: Solve, build: Build | None) -> NearestDesign | None:
    """The cheapest design that keeps every rule, without limits on spending; None where these are not the reason.

    ``build``: makes the design itself; None: only its figures are wanted.
    """
    case = unlimited(question.inputs.case)
    if case == question.inputs.case:
        return None
    asked = _with(question, purchased(case))
    question, answers = solve(asked)
    best = answers.best
    if best is None or best.optimum.verdict != "optimal":
        return None
    totals = _totals(best)
    design = None if build is None else build(asked, question, answers)
    if design is not None:
        design = design.model_copy(update={"notes": (NOT_OF_THE_CASE, *design.notes)})
    return NearestDesign(
        capex_usd=totals.capex_usd,
        power_w=totals.power_w,
        rack_units=totals.rack_units,
        switches=totals.switches,
        summary=summaries_of(best.problem, best.picked),
        design=None if design is None else design.model_dump(mode="json", by_alias=True),
    )


def _totals(answer: Answer) -> Totals:
    return totals_of(answer.problem, answer.picked, bill(answer.problem, answer.picked))


def _levers(question: Question, answers: Answers, solve: Solve) -> Iterator[Priced]:
    """Each key that alone gives a design; if none does, a set of keys that does, none dispensable."""
    keys = list(_keys(question.inputs.case, answers))
    single = [key for key in keys if key != WHOLE]
    together = _priced(question, single, solve) if single else None
    if together is None or len(single) == 1:
        yield from () if together is None else (together,)
        return
    helps: dict[str, bool] = {}
    for key in keys:
        if key.startswith(RACK_RULES) and not helps.get(WHOLE, True):
            continue  # without all parts of a rule there is a design if there is one without any of them
        priced = _priced(question, (key,), solve)
        helps[key] = priced is not None
        if priced is not None:
            yield priced
    if any(helps.values()):
        return
    for key in single:
        fewer = [other for other in together.keys if other != key]
        together = _priced(question, fewer, solve) or together
    yield together


def _keys(case: Case, answers: Answers) -> Iterator[str]:
    """Keys that turn off binding rules, in the order of yielding: all of ``rack-spread`` first, and parts."""
    parts = [part.path for answer in answers.tried for part in parts_that_yield(answer.problem)]
    parts += [RULES + rule for rule in YIELDING if is_asked_for(case.rules, rule)]
    if case.rules == NO_RULES:
        yield from (RESILIENCE,) if any(part.removeprefix(RULES) in REDUNDANCY for part in parts) else ()
        return
    parts += [RULES + ROBUST_DESIGNS for answer in answers.tried if holds_mix(answer.problem)]
    keys = dict.fromkeys(parts)
    if len([key for key in keys if key.startswith(RACK_RULES)]) > 1:
        yield WHOLE
    yield from keys


def _priced(question: Question, keys: Iterable[str], solve: Solve) -> Priced | None:
    """The cost of the best design with ``keys`` set; None if there is none."""
    case = question.inputs.case
    for key in keys:
        case = _off(case, key)
    question.clock.look()
    best = solve(_with(question, case))[1].best
    if best is None:
        return None
    return Priced(tuple(keys), float(_totals(best).capex_usd), best.optimum.verdict == "optimal")


def _off(case: Case, key: str) -> Case:
    """The case with a rule, or a part of one, turned off by its key."""
    if key.startswith(RACK_RULES):
        return with_parts(case, {key.removeprefix(RACK_RULES): False})
    if key == RESILIENCE:
        return case.model_copy(update={"resilience": NO_RULE})
    return case.model_copy(update={"rules": without(case.rules, key.removeprefix(RULES))})


def _conflict(lever: Priced) -> Conflict:
    """A lever as a conflict."""
    usd = f"${lever.usd:,.2f}".removesuffix(".00")
    cost = usd if lever.is_least else f"{usd}, the best that was found in time"
    value, needed = ("default", NO_RULE) if lever.keys[0] == RESILIENCE else ("true", "false")
    together = tuple(Needed(limit=key, needed=needed) for key in lever.keys) if len(lever.keys) > 1 else ()
    return Conflict(
        limit=lever.keys[0],
        value=value,
        needed=needed,
        together=together,
        detail=f"{' and '.join(map(_written, lever.keys))}: {cost}",
        capex_usd=int(lever.usd) if lever.usd.is_integer() else lever.usd,
    )


def _written(key: str) -> str:
    """A key with its value as written in a case."""
    if key == RESILIENCE:
        return f"`{key}: {NO_RULE}`"
    return f"`rules: {{{key.removeprefix(RULES)}: false}}`" if key.startswith(RULES) else f"`{key}: false`"
