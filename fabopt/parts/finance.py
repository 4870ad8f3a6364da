"""Money over time: falling prices, present values, energy, and the weights of an objective.

A rate of a year acts over m months as (1 -/+ rate) ** (m / 12), worked out with fifty digits and rounded once: a price
to the cent, the energy of a milliwatt (where money is discounted) to a billionth of a cent: that of a megawatt to one.

Charges on parts: the charges that a product bears, and the cents of each for a unit at a price.

A percentage is of the price of one unit at its break and stage, and of the charges that it is on, rounded to the cent a
unit; so an order costs its units times their price with charges, and is weighed like any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from fabopt.schema.case import EFFECTIVE
from fabopt.schema.finance import PARTS, Charge, Finance, charge_words
from fabopt.schema.product import ChargeWord, Product
from fabopt.units import CENTS_PER_USD, HOURS_PER_YEAR, MILLIWATTS_PER_WATT, cents, exact, rounded, usd, watts

MONTHS_PER_YEAR = 12
WATTS_PER_KILOWATT = 1000
_DIGITS = Context(prec=50)
# Energy of a milliwatt is kept to a billionth of a cent where its exact value has no end.
_ENERGY_STEPS = 10**9


@cache
def compounded(base: Fraction, months: int) -> Fraction:
    """``base ** (months / 12)``, exact where whole years have passed, else to fifty digits."""
    years, rest = divmod(months, MONTHS_PER_YEAR)
    if rest == 0:
        return base**years
    root = _DIGITS.divide(Decimal(base.numerator), Decimal(base.denominator))
    exponent = _DIGITS.divide(Decimal(months), Decimal(MONTHS_PER_YEAR))
    return Fraction(_DIGITS.power(root, exponent))


def price_cents(list_cents: int, decline: Fraction, month: int) -> int:
    """A price at a month: it falls by the share ``decline`` a year from month 0 on."""
    return rounded(list_cents * compounded(1 - decline, month)) if month else list_cents


def present_cents(cents: int, discount_rate: Fraction, month: int) -> int:
    """Present value at month 0 of a price that is paid at a month, in cents."""
    return rounded(cents / compounded(1 + discount_rate, month)) if month else cents


def yearly_present_cents(cents: int, finance: Finance, first_month: int, month: int) -> int:
    """Present value at month 0 of a sum due every year from a month until ``years`` after the first month, in cents.

    It is paid at the start of each of its years, in the last one for the part of the year that is left.
    """
    end = first_month + MONTHS_PER_YEAR * exact(finance.years)
    total, rate = Fraction(0), exact(finance.discount_rate)
    for start in range(month, math.ceil(end), MONTHS_PER_YEAR) if cents else ():
        share = min(Fraction(1), (end - start) / MONTHS_PER_YEAR)
        total += share * cents / compounded(1 + rate, start)
    return rounded(total)


def energy_cents_per_mw(finance: Finance, months: Sequence[int]) -> tuple[Fraction, ...]:
    """Present value of the energy of one milliwatt from each of these months on, cooling included, in cents.

    Energy is paid at the end of every month, the last time ``finance.years`` after the first of the months.
    """
    year = HOURS_PER_YEAR * exact(finance.pue) * exact(finance.energy_usd_per_kwh) * CENTS_PER_USD
    monthly = year / (MONTHS_PER_YEAR * WATTS_PER_KILOWATT * MILLIWATTS_PER_WATT)
    end = months[0] + MONTHS_PER_YEAR * exact(finance.years)
    rate = exact(finance.discount_rate)
    if rate == 0:
        return tuple(monthly * max(Fraction(0), end - month) for month in months)
    worth = {month: 1 / compounded(1 + rate, month) for month in range(months[0] + 1, math.ceil(end) + 1)}
    paid = {month: value * min(Fraction(1), end - month + 1) for month, value in worth.items()}
    sums = (monthly * sum((value for month, value in paid.items() if month > first), Fraction(0)) for first in months)
    return tuple(Fraction(rounded(sum_cents * _ENERGY_STEPS), _ENERGY_STEPS) for sum_cents in sums)


@dataclass(frozen=True)
class Weights:
    """The objective as an integer: ``per_cent`` x cents + ``per_mw`` x mW + ``per_unit`` x rack milliunits.

    Divided by ``scale`` it is cents, milliwatts or rack milliunits, switches or cables (fibres too). ``energy``: weight
    of a milliwatt that each stage adds, if energy is paid; cents are then present values.
    """

    per_cent: int
    per_mw: int
    per_unit: int
    scale: int
    energy: tuple[int, ...] = ()
    per_switch: int = 0
    per_cable: int = 0

    def of_mw(self, stage: int) -> int:
        """Weight of a milliwatt that a stage adds."""
        return self.energy[stage] if self.energy else self.per_mw

    def in_metric(self, value: int) -> int | float:
        """An objective integer in dollars or watts."""
        shown = rounded(Fraction(value, self.scale))
        return usd(shown) if self.per_cent else watts(shown)


def weights_of(metric: str, energy: Sequence[Fraction], unit: int = 1) -> Weights:
    """Integer weights of a metric: capex in cents, power in mW, tco in cents times a scale.

    ``energy``: cents of a milliwatt from each stage on. ``unit``: factor that present values and energy have been
    multiplied by.
    """
    if metric in ("capex_usd", EFFECTIVE):  # EFFECTIVE: see ``fabopt.search.cost_per_gpu``
        return Weights(1, 0, 0, 1)
    if metric == "power_w":
        return Weights(0, 1, 0, 1)
    if metric == "rack_units":
        return Weights(0, 0, 1, 1)
    if metric in ("switches", "cables"):
        return Weights(0, 0, 0, 1, (), int(metric == "switches"), int(metric == "cables"))
    scale = math.lcm(*(energy_cents.denominator for energy_cents in energy))
    return Weights(scale, 0, 0, scale * unit, tuple(int(energy_cents * scale) for energy_cents in energy))


@dataclass(frozen=True)
class BorneCharge:
    """A charge on an item: ``usd_cents`` a unit, or the share ``percent`` of the price and charges it is ``on``.

    ``since``: the first stage that owes it, from 0.
    """

    name: str
    what: ChargeWord
    words: str
    usd_cents: int
    percent: Fraction
    on: frozenset[str]
    yearly: bool
    since: int = 0


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
    for charge in (charge for charge in borne if stage >= charge.since):
        bases = [known[name] for name in known if name in charge.on]
        once = charge.usd_cents + rounded(charge.percent * sum(base[0] for base in bases))
        yearly = rounded(charge.percent * sum(base[1] for base in bases))
        if charge.yearly:
            once, yearly = 0, once
        known[charge.name] = once, yearly
        later = yearly_present_cents(yearly, calendar.finance, calendar.months[0], month)
        yield UnitCharge(charge, once, yearly, present_cents(once, rate, month) + later)
