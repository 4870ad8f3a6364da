"""Why limits on money, power or rack units leave no design: what each would have to be with the others kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from fabopt.explain.what_if import Inquiry, Least, spent_of
from fabopt.problem.limits import ExactLimits
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import all_uses, order_of, stage_power_mw
from fabopt.program.settings import StoppedError
from fabopt.schema.case import Case, Limits
from fabopt.schema.design import Conflict, Number
from fabopt.units import usd, watts


class SpendingLimit(NamedTuple):
    """A limit on spending: its key in the case and in a problem's limits, its metric, and how its figures are said."""

    key: str
    field: str
    metric: str
    unit: str
    least: str

    def of(self, limits: ExactLimits) -> int | None:
        """What may be spent, in whole units; None: any amount."""
        value: int | None = getattr(limits, self.field)
        return value

    def in_units(self, value: int) -> Number:
        """Cents in dollars, thousandths in watts and rack units."""
        return usd(value) if self.unit == "$" else watts(value)

    def said(self, value: int) -> str:
        """A figure with its unit."""
        shown = self.in_units(value)
        return f"${shown:,}" if self.unit == "$" else f"{shown:,} {self.unit}"

    def conflict(self, problem: Problem, needed: int | None, text: str) -> Conflict:
        """The conflict: that the limit clashes, and why."""
        value = self.of(problem.limits)
        assert value is not None
        return Conflict(
            limit=f"limits.{self.key}",
            value=self.in_units(value),
            needed=None if needed is None else self.in_units(needed),
            detail=f"{text}; the limit is {self.said(value)}",
        )


SPENDING_LIMITS = (
    SpendingLimit("budget_usd", "capex_cents", "capex_usd", "$", "the cheapest design costs"),
    SpendingLimit("power_w", "power_mw", "power_w", "W", "the leanest design uses"),
    SpendingLimit("rack_units", "rack_milliunits", "rack_units", "U", "the smallest design takes"),
)


def unlimited(case: Case) -> Case:
    """A case without limits on spending, of its own and of its stages."""
    stages = case.stages and tuple(stage.model_copy(update={"limits": Limits()}) for stage in case.stages)
    return case.model_copy(update={"limits": Limits(), "stages": stages})


def _set(limits: ExactLimits) -> list[SpendingLimit]:
    return [limit for limit in SPENDING_LIMITS if limit.of(limits) is not None]


def spending(inquiry: Inquiry) -> Iterator[Conflict]:
    """What each limit would have to be with the others kept."""
    problem = inquiry.problem
    for limit in _set(problem.limits):
        inquiry.tell(f"limits.{limit.key}")
        with suppress(StoppedError), inquiry.clock.bounded():
            least = inquiry.least(limit.metric, replace(problem.limits, **{limit.field: None}))
            if least is not None:
                needed = spent_of(problem, least.sums)[limit.field]
                text = f"{limit.least} {limit.said(needed)}"
                yield limit.conflict(problem, needed, text if least.is_least else _open_question(problem, limit, least))


def _open_question(problem: Problem, limit: SpendingLimit, least: Least) -> str:
    """What is known of the least where it is not."""
    needed = limit.said(spent_of(problem, least.sums)[limit.field])
    if least.bound is None:
        return f"whether less would do was not settled in time: a design takes {needed}"
    fixed = problem.fixed_power_mw if limit.metric == "power_w" else 0
    bound = limit.said(least.bound + fixed)
    return f"no design takes less than {bound}, and the least that was found takes {needed}"


def together(inquiry: Inquiry) -> Iterator[Conflict]:
    """What every design takes, where no limit alone can be changed."""
    problem, limits = inquiry.problem, _set(inquiry.problem.limits)
    if len(limits) < 2 or inquiry.design(unlimited(inquiry.case)) is None:
        return
    for limit in limits:
        inquiry.tell(f"limits.{limit.key} with the other limits")
        text = "other limits stand in the way too"
        with suppress(StoppedError), inquiry.clock.bounded():
            least = inquiry.least(limit.metric, ExactLimits())
            if least is not None and least.is_least:
                text = f"{limit.least} {limit.said(spent_of(problem, least.sums)[limit.field])}, but {text}"
        yield limit.conflict(problem, None, text)


def share_of(conflicts: list[Conflict]) -> float:
    """How much of what is needed may be spent, by the limit that is furthest off; 0 if that is not known."""
    pairs = ((conflict.value, conflict.needed) for conflict in conflicts)
    shares = [
        value / needed
        for value, needed in pairs
        if isinstance(value, int | float) and isinstance(needed, int | float) and needed
    ]
    return min(shares, default=0.0)


# -- limits of single stages --------------------------------------------------------------------------------------


def stage_limit_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """What each limit of a stage would have to be for some design, the others kept."""
    if len(inquiry.problem.stages) == 1 and not inquiry.problem.stages[0].limits.are_set:
        return
    for index, stage in enumerate(inquiry.case.stages or ()):
        for spending_limit in SPENDING_LIMITS:
            value = getattr(stage.limits, spending_limit.key)
            if value is None:
                continue
            limit = f"stages.{stage.name}.limits.{spending_limit.key}"
            inquiry.tell(limit)
            problem = inquiry.problem_of(_without_limit(inquiry.case, index, spending_limit.key))
            optimum = inquiry.design_of(problem)
            if optimum is not None:
                needed = spending_limit.in_units(_spent_at(problem, optimum, index)[spending_limit.field])
                detail = f"without this limit there is a design; it takes {needed:,}"
                yield Conflict(limit=limit, value=value, needed=needed, detail=detail)


def _spent_at(problem: Problem, optimum: Optimum, stage: int) -> dict[str, int]:
    """What a design takes of each limit of a stage: money that it spends, power and rack units from it on."""
    uses = all_uses(problem, optimum.picked)
    return {
        "capex_cents": order_of(problem, optimum.picked).cents(stage),
        "power_mw": stage_power_mw(problem, optimum.picked, stage, servers=True),
        "rack_milliunits": sum(item.rack_milliunits * n for (added, item), n in uses.items() if added <= stage),
    }


def _without_limit(case: Case, index: int, key: str) -> Case:
    stages = list(case.stages or ())
    limits = stages[index].limits.model_copy(update={key: None})
    stages[index] = stages[index].model_copy(update={"limits": limits})
    return case.model_copy(update={"stages": tuple(stages)})
