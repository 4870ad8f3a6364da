"""Dates of payment: the shares of a price due by month, and the part of it that falls in a quarter or a year."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from fabopt.parts.items import Item
from fabopt.parts.procurement import MONTH_DIGITS, MONTHS_PER_YEAR, order_month
from fabopt.schema.finance import Payment
from fabopt.units import exact, plain_fraction, summed

ALL = Fraction(1)


def calendar_month(start: str | None) -> int:
    """The number of month 0 (``2026-11``) in the calendar, from January of year 0; 0 without one."""
    if start is None:
        return 0
    year, month = (int(word) for word in start.split("-"))
    return year * MONTHS_PER_YEAR + month - 1


def period_of(month: int, length: int, calendar: int) -> int:
    """The quarter or year (``length`` in months) of a month, from that of month 0; ``calendar``: number of month 0."""
    return (month + calendar) // length - calendar // length


@dataclass(frozen=True)
class Instalments:
    """Terms of payment (None: all on arrival) for stages at some ``months``; ``calendar``: the number of month 0."""

    payment: Payment | None
    months: tuple[int, ...]
    calendar: int = 0

    def of_part(self, item: Item, stage: int) -> dict[int, Fraction]:
        """The shares of a part's price by the month in which they are paid: as on the bill, whole months."""
        due = order_month(self.months[stage], item.lead_weeks(stage, 1))
        return self._shares(stage, math.floor(plain_fraction(due, MONTH_DIGITS)))

    def of_charges(self, stage: int) -> dict[int, Fraction]:
        """The shares of the charges on a part by the month in which they are paid: they have no lead time."""
        return self._shares(stage, self.months[stage])

    def _shares(self, stage: int, ordered: int) -> dict[int, Fraction]:
        month = self.months[stage]
        if self.payment is None:
            return {month: ALL}
        due = (
            (ordered, self.payment.on_order),
            (month, self.payment.on_delivery),
            (month + self.payment.acceptance_months, self.payment.on_acceptance),
        )
        return summed((when, exact(share)) for when, share in due if share)

    @property
    def scale(self) -> int:
        """The least factor with which every share is an integer."""
        if self.payment is None:
            return 1
        paid = self.payment.on_order, self.payment.on_delivery, self.payment.on_acceptance
        return math.lcm(*(exact(share).denominator for share in paid))

    def period(self, month: int, length: int) -> int:
        """The quarter or year (``length`` in months) of a month, from that of month 0; of the calendar, if known."""
        return period_of(month, length, self.calendar)

    def shares_in(self, item: Item, stage: int, length: int) -> dict[int, tuple[Fraction, Fraction]]:
        """Shares of a part's price, and of its charges, by period of ``length`` months."""
        shares: dict[int, tuple[Fraction, Fraction]] = {}
        for month, share in self.of_part(item, stage).items():
            part, charge = shares.get(self.period(month, length), (Fraction(0), Fraction(0)))
            shares[self.period(month, length)] = part + share, charge
        for month, share in self.of_charges(stage).items():
            part, charge = shares.get(self.period(month, length), (Fraction(0), Fraction(0)))
            shares[self.period(month, length)] = part, charge + share
        return shares

    def prices_in(self, item: Item, stage: int, length: int, period: int) -> tuple[int, ...]:
        """The part of a unit's price at each break that is paid in a period, charges included, in cents times
        ``scale``.
        """
        offer = item.offers[stage]
        bare = (0,) * len(offer.cents) if item.is_lump else offer.without_charges.cents
        part, charge = self.shares_in(item, stage, length).get(period, (Fraction(0), Fraction(0)))
        scale = self.scale
        return tuple(
            int(scale * (part * alone + charge * (full - alone))) for alone, full in zip(bare, offer.cents, strict=True)
        )
