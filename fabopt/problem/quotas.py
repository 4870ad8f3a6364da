"""Quotas of makers over all their parts in a quarter: the stages whose orders are delivered in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fabopt.parts.instalments import period_of
from fabopt.schema.procurement import Quota
from fabopt.schema.stages import QUARTER
from fabopt.units import grouped


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
