"""Conflicts of limits on money, power and rack units: the needed value of each with the others kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from math import ceil
from typing import Any, NamedTuple

from fabopt.explain.levers import Lever, advice, halfway_to_precision, move_each_alone, move_together
from fabopt.explain.what_if import Inquiry, Least, Supposition, spent_of
from fabopt.problem.limits import ExactLimits, PeriodBudgets
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import all_uses, order_of, paid_in_periods, stage_power_mw, sums_of
from fabopt.program.settings import StoppedError
from fabopt.schema.design import Conflict, Number
from fabopt.schema.stages import QUARTER, YEAR
from fabopt.units import usd, watts


class SpendingLimit(NamedTuple):
    """A limit on spending: its key in the case and in a problem's limits, its metric, and words for its figures."""

    key: str
    field: str
    metric: str
    unit: str
    least: str

    def of(self, limits: ExactLimits) -> int | None:
        """The limit in whole units; None: any amount."""
        value: int | None = getattr(limits, self.field)
        return value

    def in_units(self, value: int) -> Number:
        """Cents in dollars, thousandths in watts and rack units."""
        return usd(value) if self.unit == "$" else watts(value)

    def said(self, value: int) -> str:
        """A figure with its unit."""
        shown = self.in_units(value)
        return f"${shown:,}" if self.unit == "$" else f"{shown:,} {self.unit}"

    def conflict(self, problem: Problem, needed: int, text: str, minimal: bool) -> Conflict:
        """The conflict: that the limit clashes, and why."""
        value = self.of(problem.limits)
        assert value is not None
        detail = f"{text}; the limit is {self.said(value)}"
        return advice(f"limits.{self.key}", self.in_units(value), self.in_units(needed), detail, minimal)

    def shown(self, value: Number) -> Number:
        """A figure in the units of the case."""
        return self.in_units(int(value))


SPENDING_LIMITS = (
    SpendingLimit("budget_usd", "capex_cents", "capex_usd", "$", "the cheapest design costs"),
    SpendingLimit("power_w", "power_mw", "power_w", "W", "the leanest design uses"),
    SpendingLimit("rack_units", "rack_milliunits", "rack_units", "U", "the smallest design takes"),
)


PERIOD_WORDS = {QUARTER: "quarter", YEAR: "year"}


def _set(limits: ExactLimits) -> list[SpendingLimit]:
    return [limit for limit in SPENDING_LIMITS if limit.of(limits) is not None]


def spending(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of each limit on spending: the needed value with the others kept."""
    problem = inquiry.problem
    for limit in _set(problem.limits):
        inquiry.tell(f"limits.{limit.key}")
        freed: dict[str, Any] = {limit.field: None}
        least: Least | None = None
        with suppress(StoppedError), inquiry.clock.bounded():
            least = inquiry.least(limit.metric, replace(problem.limits, **freed))
        if least is not None:
            needed = spent_of(problem, least.sums)[limit.field]
            text = f"{limit.least} {limit.said(needed)}"
            told = text if least.is_least else _open_question(problem, limit, least)
            yield limit.conflict(problem, needed, told, least.is_least)


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
    own = [_lever(limit, limit.of(inquiry.problem.limits)) for limit in _set(inquiry.problem.limits)]
    return [*own, *_period_levers(inquiry), *_stage_levers(inquiry)]


def _lever(limit: SpendingLimit, value: int | None) -> Lever:
    """A limit on all spending, as a lever."""
    assert value is not None

    def applied(asked: Supposition, most: Number | None) -> Supposition:
        limits = asked.case.limits.model_copy(update={limit.key: None if most is None else limit.shown(most)})
        return asked._replace(case=asked.case.model_copy(update={"limits": limits}))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        return max(value, spent_of(problem, sums_of(problem, optimum.picked))[limit.field])

    words = f"the limit is {limit.said(value)}"
    return Lever(f"limits.{limit.key}", value, words, applied, taken, halfway_to_precision, limit.shown)


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
        for limit in SPENDING_LIMITS
        if (value := limit.of(meant.limits)) is not None
    ]


def _stage_lever(name: str, number: int, limit: SpendingLimit, value: int) -> Lever:
    def applied(asked: Supposition, most: Number | None) -> Supposition:
        stages = list(asked.case.stages or ())
        limits = stages[number].limits.model_copy(update={limit.key: None if most is None else limit.shown(most)})
        stages[number] = stages[number].model_copy(update={"limits": limits})
        return asked._replace(case=asked.case.model_copy(update={"stages": tuple(stages)}))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        return max(value, _spent_at(problem, optimum, number)[limit.field])

    words = f"what stage {name} takes with all else kept; the limit is {limit.said(value)}"
    return Lever(f"stages.{name}.limits.{limit.key}", value, words, applied, taken, halfway_to_precision, limit.shown)


def _spent_at(problem: Problem, optimum: Optimum, stage: int) -> dict[str, int]:
    """A design's use of each limit of a stage: its spending in cents, power (mW) and rack milliunits from it on."""
    uses = all_uses(problem, optimum.picked)
    return {
        "capex_cents": order_of(problem, optimum.picked).cents(stage),
        "power_mw": stage_power_mw(problem, optimum.picked, stage, servers=True),
        "rack_milliunits": sum(item.rack_milliunits * n for (added, item), n in uses.items() if added <= stage),
    }
