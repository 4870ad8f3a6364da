"""Limits that can be moved, one alone or several together, to the nearest value that gives a design.

Every value told is one of a found design; nearer values were asked for, too.

Conflicts of limits on money, power and rack units: the needed value of each with the others kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from fabopt.explain.relaxation import closest, halfway
from fabopt.explain.what_if import Inquiry, Least, Supposition, spent_of
from fabopt.problem.limits import ExactLimits, PeriodBudgets
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import all_uses, order_of, paid_in_periods, stage_power_mw, sums_of
from fabopt.program.settings import StoppedError, unbroken
from fabopt.rules.limits import SPENDING_LIMITS, SpendingLimit
from fabopt.schema.design import Conflict, Needed, Number
from fabopt.schema.stages import QUARTER, YEAR
from fabopt.units import usd

# So near to a value that fails, a value is told: twice as near as it has to be.
PRECISION = 1 / 2000
# So many designs are looked for that are a little nearer than the one before, until the rest is halved.
FIRST_STEPS = 4
# What is said of a value where it is not known whether a nearer one would do, and where none a thousandth nearer does.
UNSETTLED = "whether a smaller change would do was not settled in time"
SETTLED_FINELY = "a thousandth less would not do"
# By lever, its value; None: as far as it goes.
Values = Mapping["Lever", Number | None]


def advice(limit: str, value: Number, needed: Number, detail: str, minimal: bool = True) -> Conflict:
    """The conflict of a number, with the needed number and its direction."""
    direction = "up" if needed > value else "down"
    return Conflict.model_validate(
        {
            "limit": limit,
            "value": value,
            "needed": needed,
            "direction": direction,
            "minimal": minimal,
            "detail": detail,
        }
    )


def halfway_whole(works: Number, fails: Number) -> int | None:
    """The whole number halfway between two; None where there is none between them."""
    return halfway(int(works), int(fails))


def halfway_to_precision(works: Number, fails: Number) -> int | None:
    """The whole number halfway between two; None within ``PRECISION``."""
    return halfway_whole(works, fails) if abs(works - fails) > PRECISION * abs(works) else None


def a_little_nearer(works: Number, fails: Number) -> int | None:
    """The whole number ``PRECISION`` away from a working one, towards a failing one; None if past the failing one."""
    step = max(1, int(PRECISION * abs(works)))
    return int(works) + (step if works < fails else -step) if step < abs(works - fails) else None


def as_it_is(value: Number) -> Number:
    """The value itself, for levers in the units of the case."""
    return value


@dataclass(frozen=True, eq=False)
class Lever:
    """A limit that can be moved. ``value``: of the case, without a design; ``words``: on the needed value.

    ``applied``: the supposition with another value, or with None lifted; ``taken``: the value nearest to ``value`` that
    admits a found design, ``value`` itself if that does; ``least``: such a value over all designs, where a single
    question finds it, else None; ``between``: the next value to ask for, between a working and a failing one;
    ``shown``: a value in the units of the case; ``along``: other limits that it moves.
    """

    limit: str
    value: Number
    words: str
    applied: Callable[[Supposition, Number | None], Supposition]
    taken: Callable[[Problem, Optimum], Number]
    between: Callable[[Number, Number], Number | None] = halfway_whole
    shown: Callable[[Number], Number] = as_it_is
    along: Callable[[Number], tuple[Needed, ...]] = lambda value: ()
    least: Callable[[Inquiry, Supposition], Number | None] = lambda inquiry, asked: None


def move_each_alone(inquiry: Inquiry, levers: Sequence[Lever]) -> Iterator[Conflict]:
    """Conflicts of levers moved one at a time, where this gives a design."""
    for lever in levers:
        inquiry.tell(lever.limit)
        known: Conflict | None = None
        with suppress(StoppedError), inquiry.clock.bounded():
            values = _values(inquiry, {lever: None})
            if values is not None:
                known = _conflict(lever, values[lever], False)
                needed, is_least = _nearest(inquiry, lever, {}, values[lever])
                known = _conflict(lever, needed, is_least)
                inquiry.met.clear()
                _values(inquiry, {lever: needed})  # the design of what is told, by which it is priced
        if known is not None:
            yield known


def move_together(inquiry: Inquiry, levers: Sequence[Lever]) -> Iterator[Conflict]:
    """The conflict of levers moved together where no single one gives a design: none dispensable, each minimized.

    Levers are minimized in order, with later ones lifted.
    """
    inquiry.tell(f"{len(levers)} limits together")
    known = _values(inquiry, dict.fromkeys(levers))
    if known is None:
        return
    needed, is_least = _none_to_spare(inquiry, [lever for lever in known if known[lever] != lever.value])
    values = {lever: known[lever] for lever in needed}
    try:
        for smaller, minimal in _made_small(inquiry, needed):
            values, is_least = smaller, is_least and minimal
        inquiry.met.clear()
        _values(inquiry, values)
    except StoppedError:
        is_least = False
    yield _joint(needed, values, is_least)


def _made_small(inquiry: Inquiry, levers: Sequence[Lever]) -> Iterator[tuple[dict[Lever, Number], bool]]:
    """Values of all levers with a design, minimized one after the other.

    With each, whether the value of the lever minimized before is proven to be least.
    """
    fixed: dict[Lever, Number] = {}
    minimal = True
    for lever in levers:
        free = {other: None for other in levers if other not in fixed}
        start = _values(inquiry, {**fixed, **free})
        assert start is not None, "what a design was found for has one"
        yield {**start, **fixed}, minimal
        fixed[lever], minimal = _nearest(inquiry, lever, {**free, **fixed}, start[lever])
    yield fixed, minimal


def _none_to_spare(inquiry: Inquiry, levers: list[Lever]) -> tuple[list[Lever], bool]:
    """A subset of levers that still gives a design, and whether each of them is proven to be needed."""
    needed, settled = levers, True
    for lever in levers:
        fewer = [other for other in needed if other is not lever]
        try:
            if fewer and _values(inquiry, dict.fromkeys(fewer)) is not None:
                needed = fewer
        except StoppedError:
            settled = False
    return needed, settled


def _values(inquiry: Inquiry, moved: Values) -> dict[Lever, Number] | None:
    """The values of the moved levers that some design takes; None if there is no design."""
    problem = inquiry.problem_asked(_moved(inquiry, moved))
    optimum = inquiry.design_of(problem)
    # what was found as the time was over counts too
    with unbroken():
        return None if optimum is None else {lever: lever.taken(problem, optimum) for lever in moved}


def _moved(inquiry: Inquiry, moved: Values) -> Supposition:
    asked = inquiry.asked
    for lever, value in moved.items():
        asked = lever.applied(asked, value)
    return asked


def _nearest(inquiry: Inquiry, lever: Lever, others: Values, works: Number) -> tuple[Number, bool]:
    """The value of a lever nearest to the case's that gives a design with others moved, and whether none is nearer."""

    def ask(value: Number) -> Number | None:
        values = _values(inquiry, {**others, lever: value})
        return None if values is None else values[lever]

    with suppress(StoppedError):
        least = lever.least(inquiry, _moved(inquiry, {**others, lever: None}))
        if least is not None:
            return least, True
    # often nothing nearer than what one of the first designs takes will do
    for _ in range(FIRST_STEPS if lever.between is halfway_to_precision else 0):
        little = a_little_nearer(works, lever.value)
        if little is None:
            break
        try:
            nearer = ask(little)
        except StoppedError:
            break
        if nearer is None:
            return works, True
        works = nearer
    return closest(works, lever.value, ask, lever.between)


def _conflict(lever: Lever, needed: Number, minimal: bool) -> Conflict:
    shown = lever.shown(needed)
    least = (SETTLED_FINELY if lever.between is halfway_to_precision else "") if minimal else UNSETTLED
    words = "; ".join(part for part in (lever.words, least) if part)
    conflict = advice(lever.limit, lever.shown(lever.value), shown, words, minimal)
    along = lever.along(needed)
    if not along:
        return conflict
    return conflict.model_copy(update={"together": (Needed(limit=lever.limit, needed=shown), *along)})


def _joint(levers: Sequence[Lever], values: Mapping[Lever, Number], minimal: bool) -> Conflict:
    """One conflict of levers that must be moved together."""
    first = levers[0]
    conflict = _conflict(first, values[first], minimal)
    changes = tuple(Needed(limit=lever.limit, needed=lever.shown(values[lever])) for lever in levers)
    return conflict.model_copy(update={"together": changes if len(changes) > 1 else conflict.together})


PERIOD_WORDS = {QUARTER: "quarter", YEAR: "year"}


def _set(limits: ExactLimits) -> list[tuple[SpendingLimit, int]]:
    """The limits that are set, with their values."""
    return [(limit, value) for limit in SPENDING_LIMITS if (value := limit.of(limits)) is not None]


def spending(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of each limit on spending: the needed value with the others kept."""
    problem = inquiry.problem
    for limit, value in _set(problem.limits):
        inquiry.tell(f"limits.{limit.key}")
        freed: dict[str, Any] = {limit.field: None}
        least: Least | None = None
        with suppress(StoppedError), inquiry.clock.bounded():
            least = inquiry.least(limit.metric, replace(problem.limits, **freed))
        if least is not None:
            needed = spent_of(problem, least.sums)[limit.field]
            text = f"{limit.least} {limit.said(needed)}"
            told = text if least.is_least else _open_question(problem, limit, least)
            detail, shown = f"{told}; the limit is {limit.said(value)}", limit.in_units(needed)
            yield advice(f"limits.{limit.key}", limit.in_units(value), shown, detail, least.is_least)


def _open_question(problem: Problem, limit: SpendingLimit, least: Least) -> str:
    """Words on the bounds of the least spending, where it is not proven."""
    needed = limit.said(spent_of(problem, least.sums)[limit.field])
    if least.bound is None:
        return f"whether less would do was not settled in time: a design takes {needed}"
    fixed = problem.fixed_power_mw if limit.metric == "power_w" else 0
    bound = limit.said(least.bound + fixed)
    return f"no design takes less than {bound}, and the least that was found takes {needed}"


def joint_limits(inquiry: Inquiry) -> Iterator[Conflict]:
    """The conflict of all limits, stages' among them, moved together, where no single one gives a design."""
    levers = limit_levers(inquiry)
    if len(levers) > 1:
        yield from move_together(inquiry, levers)


def limit_levers(inquiry: Inquiry) -> list[Lever]:
    """Levers of all limits on spending: the case's, periods' and stages'."""
    own = [_lever(limit, value) for limit, value in _set(inquiry.problem.limits)]
    return [*own, *_period_levers(inquiry), *_stage_levers(inquiry)]


def _lever(limit: SpendingLimit, value: int) -> Lever:
    """A limit on all spending, as a lever."""

    def applied(asked: Supposition, most: Number | None) -> Supposition:
        limits = asked.case.limits.model_copy(update={limit.key: None if most is None else limit.in_units(most)})
        return asked._replace(case=asked.case.model_copy(update={"limits": limits}))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        return max(value, spent_of(problem, sums_of(problem, optimum.picked))[limit.field])

    words = f"the limit is {limit.said(value)}"
    return Lever(f"limits.{limit.key}", value, words, applied, taken, halfway_to_precision, limit.in_units)


def share_of(conflicts: list[Conflict]) -> float:
    """The least ratio of a limit's value to its needed value; 0 if it is not known."""
    pairs = ((conflict.value, conflict.needed) for conflict in conflicts)
    shares = [
        value / needed
        for value, needed in pairs
        if isinstance(value, int | float) and isinstance(needed, int | float) and needed
    ]
    return min(shares, default=0.0)


# -- limits of single stages --------------------------------------------------------------------------------------


def stage_limit_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of each budget of a quarter or year, and each limit of a stage: the needed value, the others kept."""
    return move_each_alone(inquiry, [*_period_levers(inquiry), *_stage_levers(inquiry)])


def _period_levers(inquiry: Inquiry) -> Iterator[Lever]:
    """Levers of the budgets of quarters and years, one for each entry."""
    for budgets in inquiry.problem.limits.periods:
        for entry, cents in enumerate(budgets.cents):
            if cents is not None:
                yield _period_lever(budgets, entry, int(cents))


def _period_lever(budgets: PeriodBudgets, entry: int, value: int) -> Lever:
    key = budgets.key

    def applied(asked: Supposition, most: Number | None) -> Supposition:
        amounts: list[float | None] = list(asked.case.limits.by_period[key])
        amounts[entry] = None if most is None else usd(int(most))
        limits = asked.case.limits.model_copy(update={key: tuple(amounts)})
        return asked._replace(case=asked.case.model_copy(update={"limits": limits}))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        paid = paid_in_periods(problem, optimum.picked, budgets.months)
        return max(value, *(ceil(cents) for period, cents in paid.items() if budgets.entry(period) == entry), 0)

    place = f".{entry}" if len(budgets.cents) > 1 else ""
    limit = f"${usd(value):,}"
    paid = f"what has to be paid in one {PERIOD_WORDS[budgets.months]} with all else kept"
    words = f"{paid}; the limit is {limit}"
    return Lever(
        f"limits.{key}{place}", value, words, applied, taken, halfway_to_precision, lambda value: usd(int(value))
    )


def _stage_levers(inquiry: Inquiry) -> list[Lever]:
    """The limits of stages, as levers."""
    if len(inquiry.problem.stages) == 1 and not inquiry.problem.stages[0].limits.are_set:
        return []
    return [
        _stage_lever(stage.name, number, limit, value)
        for number, (stage, meant) in enumerate(zip(inquiry.case.stages or (), inquiry.problem.stages, strict=True))
        for limit, value in _set(meant.limits)
    ]


def _stage_lever(name: str, number: int, limit: SpendingLimit, value: int) -> Lever:
    def applied(asked: Supposition, most: Number | None) -> Supposition:
        stages = list(asked.case.stages or ())
        limits = stages[number].limits.model_copy(update={limit.key: None if most is None else limit.in_units(most)})
        stages[number] = stages[number].model_copy(update={"limits": limits})
        return asked._replace(case=asked.case.model_copy(update={"stages": tuple(stages)}))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        return max(value, _spent_at(problem, optimum, number)[limit.field])

    words = f"what stage {name} takes with all else kept; the limit is {limit.said(value)}"
    return Lever(
        f"stages.{name}.limits.{limit.key}", value, words, applied, taken, halfway_to_precision, limit.in_units
    )


def _spent_at(problem: Problem, optimum: Optimum, stage: int) -> dict[str, int]:
    """A design's use of each limit of a stage: its spending in cents, power (mW) and rack milliunits from it on."""
    uses = all_uses(problem, optimum.picked)
    return {
        "capex_cents": order_of(problem, optimum.picked).cents(stage),
        "power_mw": stage_power_mw(problem, optimum.picked, stage, servers=True),
        "rack_milliunits": sum(item.rack_milliunits * n for (added, item), n in uses.items() if added <= stage),
    }
