"""Charges on parts: the charges that a product bears, and the cents of each for a unit at a price.

A percentage is of the price of one unit at its break and stage, and of the charges that it is on, rounded to the cent a
unit; so an order costs its units times their price with charges, and is weighed like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from fabopt.parts.finance import present_cents, yearly_present_cents
from fabopt.schema.charges import PARTS, Charge, charge_words
from fabopt.schema.finance import Finance
from fabopt.schema.product import ChargeWord, Product
from fabopt.units import cents, exact, rounded


@dataclass(frozen=True)
class BorneCharge:
    """A charge on an item: ``usd_cents`` a unit, or the share ``percent`` of the price and charges it is ``on``."""

    name: str
    what: ChargeWord
    words: str
    usd_cents: int
    percent: Fraction
    on: frozenset[str]
    yearly: bool


class UnitCharge(NamedTuple):
    """A charge on one unit, in cents: ``once`` with the order, ``yearly`` every year from its stage on.

    ``present``: present value of both at month 0.
    """

    charge: BorneCharge
    once: int
    yearly: int
    present: int


@dataclass(frozen=True)
class Calendar:
    """The terms of present values: the months of the stages, and the case's finance."""

    finance: Finance
    months: tuple[int, ...]


def borne_by(kind: str, product: Product, charges: Sequence[Charge]) -> tuple[BorneCharge, ...]:
    """The charges on every unit of a product: its own, but for those that the case has by the same name, then the
    case's in their order.
    """
    named = {charge.name for charge in charges}
    own = tuple(
        BorneCharge(fee.name, fee.what, charge_words(fee.what, fee.yearly), cents(fee.usd), Fraction(0), frozenset(),
                    fee.yearly)
        for fee in product.charges
        if fee.name not in named
    )  # fmt: skip
    owed = [*own]
    for charge in charges:
        bases = {PARTS, *(charge_owed.name for charge_owed in owed)}
        if not charge.is_lump and _concerns(charge, kind, product) and not bases.isdisjoint(charge.of):
            owed.append(_borne(charge))
    return tuple(owed)


def borne_by_lump(lump: Charge, charges: Sequence[Charge]) -> tuple[BorneCharge, ...]:
    """A charge on a fabric or its servers, and the percentages that are on it."""
    owed = [_borne(lump)]
    for charge in charges:
        if charge.percent is not None and any(charge_owed.name in charge.of for charge_owed in owed):
            owed.append(_borne(charge))
    return tuple(owed)


def _borne(charge: Charge) -> BorneCharge:
    percent = Fraction(0) if charge.percent is None else exact(charge.percent) / 100
    on = frozenset(charge.of if charge.percent is not None else ())
    usd_cents = 0 if charge.usd is None else cents(charge.usd)
    return BorneCharge(charge.name, charge.what, charge.words, usd_cents, percent, on, charge.yearly)


def _concerns(charge: Charge, kind: str, product: Product) -> bool:
    """Whether a charge is for a product, by all of its conditions."""
    return (
        (charge.kinds is None or kind in charge.kinds)
        and (charge.vendors is None or product.vendor in charge.vendors)
        and (charge.asics is None or getattr(product, "asic", None) in charge.asics)
        and (charge.parts is None or product.id in charge.parts)
        and (charge.protocol is None or getattr(product, "protocol", None) == charge.protocol)
    )


def amounts_of(
    borne: Iterable[BorneCharge], price_cents: int, stage: int, calendar: Calendar
) -> tuple[UnitCharge, ...]:
    """Every charge on a unit that is bought at a price, in cents, at a stage."""
    return tuple(_amounts(borne, price_cents, stage, calendar))


def _amounts(borne: Iterable[BorneCharge], price_cents: int, stage: int, calendar: Calendar) -> Iterator[UnitCharge]:
    known: dict[str, tuple[int, int]] = {PARTS: (price_cents, 0)}
    rate, month = exact(calendar.finance.discount_rate), calendar.months[stage]
    for charge in borne:
        bases = [known[name] for name in known if name in charge.on]
        once = charge.usd_cents + rounded(charge.percent * sum(base[0] for base in bases))
        yearly = rounded(charge.percent * sum(base[1] for base in bases))
        if charge.yearly:
            once, yearly = 0, once
        known[charge.name] = once, yearly
        later = yearly_present_cents(yearly, calendar.finance, calendar.months[0], month)
        yield UnitCharge(charge, once, yearly, present_cents(once, rate, month) + later)
