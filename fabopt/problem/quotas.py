"""What a maker supplies in a quarter over all its parts: which stages get their parts in which quarter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fabopt.parts.instalments import period_of
from fabopt.schema.procurement import Quota
from fabopt.schema.stages import QUARTER


class Delivery(NamedTuple):
    """The parts of a maker that come in one quarter: for some stages, of which each gets its orders in its month.

    ``way``: the number of the future in which it is so.
    """

    quota: Quota
    entry: int
    stages: tuple[int, ...]
    way: int

    @property
    def most(self) -> int | None:
        """How many units can come; None: any number."""
        return self.quota.units[self.entry]


def deliveries_of(quotas: Sequence[Quota], ways: Sequence[Sequence[int | None]], calendar: int) -> tuple[Delivery, ...]:
    """Every quarter in which stages get parts of a maker. ``ways``: the months of all stages, in every future.

    ``calendar``: the number of month 0.
    """
    return tuple(delivery for quota in quotas for delivery in _deliveries(quota, ways, calendar))


def _deliveries(quota: Quota, ways: Sequence[Sequence[int | None]], calendar: int) -> Iterator[Delivery]:
    for way, months in enumerate(ways):
        stages_of: dict[int, list[int]] = {}
        for stage, month in enumerate(months):
            if month is not None:
                stages_of.setdefault(period_of(month, QUARTER, calendar), []).append(stage)
        for quarter, stages in stages_of.items():
            yield Delivery(quota, quota.entry(quarter), tuple(stages), way)


def supplied_by(deliveries: Sequence[Delivery], stage: int) -> dict[Quota, int]:
    """Units that makers can have supplied by a stage at the most, in any future; those without an end left out."""
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
