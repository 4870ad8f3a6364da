"""Conflicts of limits on money, power and rack units: the needed value of each with the others kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from math import ceil
from typing import Any

from fabopt.explain.levers import Lever, advice, halfway_to_precision, move_each_alone, move_together
from fabopt.explain.what_if import Inquiry, Least, Supposition, spent_of
from fabopt.problem.limits import ExactLimits, PeriodBudgets
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import all_uses, order_of, paid_in_periods, stage_power_mw, sums_of
from fabopt.program.settings import StoppedError
from fabopt.rules.limits import SPENDING_LIMITS, SpendingLimit
from fabopt.schema.design import Conflict, Number
from fabopt.schema.stages import QUARTER, YEAR
from fabopt.units import usd

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
