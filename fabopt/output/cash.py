"""The cash flow: payments for orders, yearly charges and energy, period by period, exact to the cent.

It follows from the bill and the stages, which are proven, so design files do not contain it. Sums are rounded as they
grow, so that the periods add up to the whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from fabopt.parts.instalments import calendar_month
from fabopt.schema.design import BomRow, Design
from fabopt.schema.finance import DOLLAR, Finance, Payment
from fabopt.schema.stages import QUARTER, YEAR
from fabopt.units import CENTS_PER_USD, HOURS_PER_YEAR, cents, exact, grouped, milliwatts, rounded, usd

MONTHS_PER_YEAR = 12
MILLIWATTS_PER_KILOWATT = 1_000_000

# Rows of the bill that are no parts: charges, and the moving of cables.
WORK = "other"
ORDERS = ("on_order", "on_delivery", "on_acceptance")
KINDS = (*ORDERS, "yearly", "energy", "residual")


class Outlay(NamedTuple):
    """An amount in cents due in a month, counted from month 0. ``kind``: one of ``KINDS``."""

    month: int
    kind: str
    cents: Fraction


@dataclass(frozen=True)
class Period:
    """Payments of a quarter or a year in cents, by kind; ``owned``: the sum of all payments until its end; ``book``:
    book value. ``local``: the period's payments in cents of the case's currency.
    """

    name: str
    paid: dict[str, int]
    owned: int
    book: int | None
    local: int | None

    @property
    def total(self) -> int:
        """Payments of the period in cents, all kinds together."""
        return sum(self.paid.values())


def has_cash(design: Design) -> bool:
    """Whether the case says when it pays."""
    return bool(design.stages) and finance_of(design).payment is not None


def finance_of(design: Design) -> Finance:
    """The case's finance."""
    return Finance.model_validate(design.case.content.get("finance") or {})


def cash_flow(design: Design, months: int) -> list[Period]:
    """Periods of ``months`` calendar months from the first payment to the last; none without terms of payment."""
    if not has_cash(design):
        return []
    finance, offset = finance_of(design), calendar_month(design.case.content.get("start"))
    due_in = grouped(((due.month + offset) // months, due) for due in _dues(design, finance))
    sums, before = dict.fromkeys(KINDS, Fraction(0)), dict.fromkeys(KINDS, 0)
    periods: list[Period] = []
    for number in range(min(due_in), max(due_in) + 1) if due_in else ():
        for due in due_in.get(number, ()):
            sums[due.kind] += due.cents
        owned = _owned(sums, before, {due.kind for due in due_in.get(number, ())})
        local = _in_currency(finance, sum(owned.values()), sum(before.values()))
        book = _book_cents(design, finance, (number + 1) * months - offset)
        paid = {kind: owned[kind] - before[kind] for kind in KINDS}
        periods.append(Period(_name(design, number, months), paid, sum(owned.values()), book, local))
        before = owned
    return periods


def _owned(sums: dict[str, Fraction], before: dict[str, int], due: set[str]) -> dict[str, int]:
    """Payments so far by kind in whole cents; only kinds with a payment ``due`` differ from the period before.

    Payments for orders are rounded as one sum, so no period goes over its budget by rounding: the cents between that
    sum and the sums by kind go to the kinds furthest from theirs.
    """
    owned = {kind: rounded(amount) if kind in due else before[kind] for kind, amount in sums.items()}
    left = rounded(sum((sums[kind] for kind in ORDERS), Fraction(0))) - sum(owned[kind] for kind in ORDERS)
    step = 1 if left > 0 else -1
    for _ in range(abs(left)):
        furthest = max((kind for kind in ORDERS if kind in due), key=lambda kind: step * (sums[kind] - owned[kind]))
        owned[furthest] += step
    return owned


def _name(design: Design, number: int, months: int) -> str:
    if design.case.content.get("start") is None:
        return f"months {number * months} to {(number + 1) * months - 1}"
    year, month = divmod(number * months, MONTHS_PER_YEAR)
    return str(year) if months == YEAR else f"{year} Q{month // QUARTER + 1}"


def _in_currency(finance: Finance, owned: int, before: int) -> int | None:
    """Payments between two sums of dollar cents, in cents of the case's currency; None where that is the dollar."""
    if finance.currency == DOLLAR:
        return None
    rate = exact(finance.rates[finance.currency].usd)
    return rounded(owned / rate) - rounded(before / rate)


def _dues(design: Design, finance: Finance) -> Iterator[Outlay]:
    months = {stage.name: stage.month for stage in design.stages}
    end = months[design.stages[0].name] + MONTHS_PER_YEAR * exact(finance.years)
    assert finance.payment is not None
    for row in design.bom:
        yield from _order_dues(row, months[row.stage], finance.payment)
        yield from _yearly_dues(row, months[row.stage], end)
    yield from _energy_dues(design, finance, end)
    if finance.residual:
        worth = exact(finance.residual) * sum(cents(row.total_usd) for row in design.bom if row.kind != WORK)
        yield Outlay(math.ceil(end), "residual", -worth)


def _order_dues(row: BomRow, month: int, payment: Payment) -> Iterator[Outlay]:
    """Payments for a line of the bill by month; a line without an order date is ordered in the month of its stage."""
    ordered = month if row.order_by_month is None else math.floor(row.order_by_month)
    amount = cents(row.total_usd)
    for kind, due, share in (
        ("on_order", ordered, payment.on_order),
        ("on_delivery", month, payment.on_delivery),
        ("on_acceptance", month + payment.acceptance_months, payment.on_acceptance),
    ):
        if share and amount:
            yield Outlay(due, kind, exact(share) * amount)


def _yearly_dues(row: BomRow, month: int, end: Fraction) -> Iterator[Outlay]:
    """Yearly charges, paid ahead; the last year in proportion to its months."""
    for start in range(month, math.ceil(end), MONTHS_PER_YEAR) if row.yearly_usd else ():
        share = min(Fraction(1), (end - start) / MONTHS_PER_YEAR)
        yield Outlay(start, "yearly", share * cents(row.yearly_usd or 0))


def _energy_dues(design: Design, finance: Finance, end: Fraction) -> Iterator[Outlay]:
    """Energy bills, due at the end of every month and counted to that month."""
    rate = exact(finance.energy_usd_per_kwh) * exact(finance.pue) * CENTS_PER_USD / MILLIWATTS_PER_KILOWATT
    monthly = rate * HOURS_PER_YEAR / MONTHS_PER_YEAR
    for stage in design.stages:
        added = sum(milliwatts(row.power_w) for row in design.bom if row.stage == stage.name)
        for month in range(stage.month, math.ceil(end)) if added and monthly else ():
            yield Outlay(month, "energy", min(Fraction(1), end - month) * added * monthly)


def _book_cents(design: Design, finance: Finance, month: int) -> int | None:
    """Book value in cents of the parts bought at the start of a month: written off evenly from their stage on."""
    if finance.depreciation_years is None:
        return None
    months, left = MONTHS_PER_YEAR * exact(finance.depreciation_years), Fraction(0)
    stages = {stage.name: stage.month for stage in design.stages}
    for row in design.bom:
        age = month - stages[row.stage]
        if row.kind != WORK and age > 0:
            kept = exact(finance.residual)
            left += cents(row.total_usd) * (kept + (1 - kept) * max(Fraction(0), 1 - age / months))
    return rounded(left)


def worth_lines(design: Design) -> Iterator[str]:
    """Purchase price, present value and total cost of ownership side by side, with the reasons why they differ."""
    finance, totals = finance_of(design), design.totals
    if totals is None:
        return
    worth, owned = sum(cents(row.present_value_usd or 0) for row in design.bom), cents(totals.tco_usd)
    rate = f"{100 * finance.discount_rate:g} % a year"
    yield f"purchase price {_money(cents(totals.capex_usd))}: all orders, whenever they are paid"
    yield f"present value {_money(worth)}: these and yearly charges at month 0, at {rate}, paid on arrival"
    yield (
        f"total cost of ownership {_money(owned)}: the present value and {_money(owned - worth)} of energy in "
        f"{finance.years:g} years; terms of payment and what parts are sold for are not in it"
    )


def _money(amount: int) -> str:
    return f"${usd(amount):,.2f}"
