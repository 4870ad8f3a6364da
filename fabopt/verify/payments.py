"""Rule of payments in each quarter and year, computed again from the lines of the bill."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from fabopt.schema.design import BomRow
from fabopt.schema.stages import PERIODS
from fabopt.units import CENTS_PER_USD, cents, exact, plain_fraction, summed
from fabopt.verify.evidence import Evidence
from fabopt.verify.orders import MONTH_DIGITS
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.purchases import MOVES, item_of, offer_of
from fabopt.verify.terms_of_sale import order_month, weeks_taken


def has_period_budgets(evidence: Evidence) -> bool:
    """Whether the case has a budget of quarters or years."""
    return bool(evidence.case.limits.by_period)


@since("0.2.0", "case.content.limits.quarterly_budget_usd", "case.content.limits.yearly_budget_usd")
@where(has_period_budgets)
def payments_keep_budgets(proof: Proof, evidence: Evidence) -> None:
    """Payments for orders in a quarter or year are no more than its budget.

    sum over lines of the bill of share x total_usd in it <= budget; shares fall in the month of the order (rounded
    down), of the stage, and ``acceptance_months`` later; all in the month of the stage without terms of payment.
    Source: case file, ``limits`` and ``finance.payment``; docs/formulation/procurement.md.
    """
    start = evidence.case.start
    first = 0 if start is None else 12 * int(start[:4]) + int(start[5:]) - 1
    for key, budgets in evidence.case.limits.by_period.items():
        length = PERIODS[key]
        months = _payments(evidence)
        paid = summed(((first + month) // length - first // length, amount) for month, amount in months)
        for period, amount in sorted(paid.items()):
            most = budgets[min(max(period, 0), len(budgets) - 1)]
            if most is not None:
                shown = f"{key} {plain_fraction(amount / CENTS_PER_USD)} of {plain_fraction(exact(most))}"
                begins = length * (period + first // length) - first
                proof.holds(amount / CENTS_PER_USD <= exact(most), f"from month {begins}: {shown}")
        highest = max(paid.values(), default=Fraction(0))
        proof.note(f"{key}: at most {plain_fraction(highest / CENTS_PER_USD)}")


def _payments(evidence: Evidence) -> Iterator[tuple[int, Fraction]]:
    """Months and cents of all payments for orders."""
    payment = evidence.case.finance.payment
    for row in evidence.design.bom:
        month, amount = evidence.months[evidence.stage_names.index(row.stage)], cents(row.total_usd)
        if payment is None:
            yield month, Fraction(amount)
            continue
        ordered = math.floor(plain_fraction(order_month(month, _weeks(evidence, row, month)), MONTH_DIGITS))
        yield ordered, exact(payment.on_order) * amount
        yield month, exact(payment.on_delivery) * amount
        yield month + payment.acceptance_months, exact(payment.on_acceptance) * amount


def _weeks(evidence: Evidence, row: BomRow, month: int) -> float | None:
    """The lead time of a line; None for charges, work, and units of the vendor's stock."""
    if row.charge is not None or item_of(row) in MOVES:
        return None
    return weeks_taken(month, offer_of(evidence, item_of(row)), evidence.case.procurement.order_from_month)
