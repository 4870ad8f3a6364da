"""Limits on spending over all fabrics, in the units of the program.

Quotas of makers over all their parts in a quarter: the stages whose orders are delivered in each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from fabopt.parts.instalments import period_of
from fabopt.schema.case import CaseLimits, Limits
from fabopt.schema.procurement import Quota
from fabopt.schema.stages import PERIODS, QUARTER
from fabopt.units import cents, grouped, milliwatts


class PeriodBudgets(NamedTuple):
    """Limits in cents on payments in each quarter or year. ``key``: of the case; ``months``: in one period.

    ``cents``: by period; the first counts with all earlier ones, the last for each later one; None: any amount.
    """

    key: str
    months: int
    cents: tuple[int | Fraction | None, ...]

    def entry(self, period: int) -> int:
        """The place of a period's budget in ``cents``; 0: the period of month 0."""
        return min(max(period, 0), len(self.cents) - 1)

    def most(self, period: int) -> int | Fraction | None:
        """The limit in cents on payments in a period; None: any amount."""
        return self.cents[self.entry(period)]


@dataclass(frozen=True)
class ExactLimits:
    """Limits on spending over all fabrics; None: any amount. ``tco_scaled``: in the units of the weights of tco.

    ``periods``: limits on payments in each quarter or year.
    """

    capex_cents: int | None = None
    power_mw: int | None = None
    rack_milliunits: int | None = None
    switches: int | None = None
    cables: int | None = None
    tco_scaled: int | None = None
    periods: tuple[PeriodBudgets, ...] = ()

    @property
    def are_set(self) -> bool:
        """Whether any limit is set."""
        return self != ExactLimits()

    def with_others(self, stages: Sequence[ExactLimits]) -> ExactLimits:
        """The tighter of these limits and the stages' limits together."""
        budgets = [stage.capex_cents for stage in stages]
        in_all = None if None in budgets else sum(budget for budget in budgets if budget is not None)
        last = stages[-1]
        return replace(
            self,
            capex_cents=tighter(self.capex_cents, in_all),
            power_mw=tighter(self.power_mw, last.power_mw),
            rack_milliunits=tighter(self.rack_milliunits, last.rack_milliunits),
        )


def tighter(limit: int | None, other: int | None) -> int | None:
    """The lower of two limits; None is no limit."""
    return min((most for most in (limit, other) if most is not None), default=None)


def limits_of(limits: Limits) -> ExactLimits:
    """The limits of a case, or of a stage, as exact numbers."""
    return ExactLimits(
        None if limits.budget_usd is None else cents(limits.budget_usd),
        None if limits.power_w is None else milliwatts(limits.power_w),
        None if limits.rack_units is None else milliwatts(limits.rack_units),
        periods=_periods(limits) if isinstance(limits, CaseLimits) else (),
    )


def _periods(limits: CaseLimits) -> tuple[PeriodBudgets, ...]:
    return tuple(
        PeriodBudgets(key, PERIODS[key], tuple(None if usd is None else cents(usd) for usd in budgets))
        for key, budgets in limits.by_period.items()
    )


class Delivery(NamedTuple):
    """A maker's delivery in one quarter, for the stages of its months.

    ``way``: the number of the future.
    """

    quota: Quota
    entry: int
    stages: tuple[int, ...]
    way: int

    @property
    def most(self) -> int | None:
        """The most units of the delivery; None: any number."""
        return self.quota.units[self.entry]


def deliveries_of(quotas: Sequence[Quota], ways: Sequence[Sequence[int | None]], calendar: int) -> tuple[Delivery, ...]:
    """Deliveries of every quarter with stages. ``ways``: the months of all stages, by future.

    ``calendar``: the number of month 0.
    """
    return tuple(delivery for quota in quotas for delivery in _deliveries(quota, ways, calendar))


def _deliveries(quota: Quota, ways: Sequence[Sequence[int | None]], calendar: int) -> Iterator[Delivery]:
    for way, months in enumerate(ways):
        stages_of = grouped(
            (period_of(month, QUARTER, calendar), stage) for stage, month in enumerate(months) if month is not None
        )
        for quarter, stages in stages_of.items():
            yield Delivery(quota, quota.entry(quarter), tuple(stages), way)


def supplied_by(deliveries: Sequence[Delivery], stage: int) -> dict[Quota, int]:
    """The most units that makers can supply by a stage, least over all futures; unlimited quotas are left out."""
    most: dict[tuple[Quota, int], int | None] = {}
    for delivery in deliveries:
        if delivery.stages[0] <= stage:
            before = most.get((delivery.quota, delivery.way), 0)
            most[delivery.quota, delivery.way] = (
                None if before is None or delivery.most is None else before + delivery.most
            )
    least: dict[Quota, int] = {}
    for (quota, _), units in most.items():
        if units is not None:
            least[quota] = min(units, least.get(quota, units))
    return least
