"""The terms of buying in a case and a catalog, read again: falling prices, present worth, energy, deadlines, supply,
approval.

No code is shared with the planning of purchases. A year's rate r acts over m months as (1 -/+ r) ** (m / 12).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from fabopt.schema.asics import asic_is
from fabopt.schema.catalog import Switch
from fabopt.schema.finance import Finance, KindWord
from fabopt.schema.procurement import Procurement, lists_at
from fabopt.schema.product import Product, Purchasable, Supply
from fabopt.units import CENTS_PER_USD, HOURS_PER_YEAR, exact, rounded

MILLIWATTS_PER_KILOWATT = 1_000_000
WEEKS_PER_YEAR = 52
_DIGITS = 60
_STEPS_PER_CENT = 10**9

Rule = TypeVar("Rule")


def over_months(yearly: Fraction, months: int) -> Fraction:
    """A yearly factor over a number of months: exact over whole years, else through logarithms."""
    if months % 12 == 0:
        return yearly ** (months // 12)
    with localcontext(prec=_DIGITS):
        factor = Decimal(yearly.numerator) / Decimal(yearly.denominator)
        return Fraction((factor.ln() * months / 12).exp())


def of_kind(by_kind: Mapping[KindWord, Rule], kind: str) -> Rule | None:
    """The entry of a kind of part, if it has one."""
    return next((rule for word, rule in by_kind.items() if word == kind), None)


def fallen(
    list_cents: int, finance: Finance, kind: str, month: int, firm_until: str | None = None, start: str | None = None
) -> int:
    """A list price at a month in cents; unchanged until the last day on which it is firm."""
    if firm_until is not None and start is not None:
        months = 12 * int(start[:4]) + int(start[5:]) - 1 + month
        if date(months // 12, months % 12 + 1, 1) <= date.fromisoformat(firm_until):
            return list_cents
    return rounded(list_cents * over_months(1 - exact(of_kind(finance.price_decline, kind) or 0), month))


def worth(cents: int, finance: Finance, month: int) -> int:
    """Cents at month 0 of a payment at a month."""
    return rounded(cents * over_months(1 / (1 + exact(finance.discount_rate)), month))


def energy_cents(finance: Finance, months: Sequence[int]) -> list[Fraction]:
    """Cents at month 0 of a milliwatt's energy from each stage to the end, ``years`` after the first stage.

    Each month is paid at its end, the last one in part if the years end within it.
    """
    hourly = exact(finance.energy_usd_per_kwh) * exact(finance.pue) * CENTS_PER_USD / MILLIWATTS_PER_KILOWATT
    return list(_worth_of_hours(hourly, months[0] + 12 * exact(finance.years), finance.discount_rate, tuple(months)))


@lru_cache(maxsize=1024)
def _worth_of_hours(
    hourly: Fraction, end: Fraction, discount_rate: float, months: tuple[int, ...]
) -> tuple[Fraction, ...]:
    """Cents at month 0 of hours at ``hourly`` cents, from each of some months to the end."""
    by_stage = []
    for first in months:
        total = Fraction(0)
        for month in range(first, math.ceil(end)):
            share = min(Fraction(1), end - month)
            total += share * over_months(1 / (1 + exact(discount_rate)), month + 1)
        total *= Fraction(HOURS_PER_YEAR, 12) * hourly
        by_stage.append(Fraction(rounded(total * _STEPS_PER_CENT), _STEPS_PER_CENT) if discount_rate else total)
    return tuple(by_stage)


def order_month(month: int, weeks: float | None) -> Fraction:
    """The month in which to order units for a stage at a month."""
    return month - Fraction(12, WEEKS_PER_YEAR) * exact(weeks or 0)


def is_late(month: int, weeks: float | None, order_from_month: int | None) -> bool:
    """Whether that month is before orders can be placed; units for month 0 count as ordered, without such a month."""
    if order_from_month is None and month == 0:
        return False
    return order_month(month, weeks) < (order_from_month or 0)


def expedited_weeks(sold: Purchasable) -> float | None:
    """Lead time with the weeks saved at a surcharge; None: no such offer."""
    if sold.expedite is None:
        return None
    return float(exact(sold.lead_time_weeks or 0) - exact(sold.expedite.weeks))


def is_expedited(month: int, sold: Purchasable, order_from_month: int | None) -> bool:
    """Whether an order for a stage is in time with the weeks saved, and only then."""
    if sold.expedite is None or not is_late(month, sold.lead_time_weeks, order_from_month):
        return False
    return not is_late(month, expedited_weeks(sold), order_from_month)


def weeks_taken(month: int, sold: Purchasable, order_from_month: int | None) -> float | None:
    """Weeks before a stage at which an order is placed: 0 for the vendor's stock where the order is late, unless sooner
    delivery is paid for.
    """
    if is_expedited(month, sold, order_from_month):
        return expedited_weeks(sold)
    return 0 if is_late(month, sold.lead_time_weeks, order_from_month) else sold.lead_time_weeks


def supply_by(supply: Supply | None, month: int) -> int | None:
    """Units that can have been bought by a month; None: any number."""
    if supply is None or isinstance(supply, int):
        return supply
    so_far = [step.quantity for step in supply if step.from_month <= month]
    return so_far[-1] if so_far else 0


def is_allowed(rules: Procurement, kind: str, product: Product, kind_has_approved_parts: bool) -> bool:
    """Whether a product may be bought: not forbidden, and approved by vendor or part where approval is asked for."""
    asic = product.asic if isinstance(product, Switch) else None
    places = ("", kind) if asic is None else ("", kind, asic)
    if product.is_among(rules.forbidden_parts or ()) or not vendor_may_sell(rules, product, places):
        return False
    if isinstance(product, Switch):
        no_list = rules.approved_asics is None
        if any(asic_is(asic, name) for name in rules.forbidden_asics or ()):
            return False
        if not no_list and not any(asic_is(asic, name) for name in rules.approved_asics or ()):
            return False
    asked_by_part = kind_has_approved_parts and not lists_at(rules.approved_vendors, *places)
    return not asked_by_part or product.is_among(rules.approved_parts or ())


def vendor_may_sell(rules: Procurement, product: Product, places: Sequence[str]) -> bool:
    """Whether the vendor of a product is in no forbidding list, and in all approving lists, at some places."""
    forbidden = [product.vendor in names for names in lists_at(rules.forbidden_vendors, *places)]
    missing = [product.vendor not in names for names in lists_at(rules.approved_vendors, *places)]
    return not any(forbidden) and (product.is_among(rules.approved_parts or ()) or not any(missing))
