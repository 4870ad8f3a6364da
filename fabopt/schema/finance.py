"""What a case says of money over time: what falls in price, what later money is worth, what energy costs."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Strict, is_as, is_empty, is_open
from fabopt.units import exact, plain_fraction

# -- what a case says of cash -----------------------------------------------------------------------------------------
# What a case says of cash: when an order is paid, in which currency, what is left of it in the end.


Share = Annotated[float, Field(ge=0, le=1)]
CURRENCY = r"^[A-Z]{3}$"
DAY = r"^20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$"
DOLLAR = "USD"


class Payment(Strict):
    """The shares of an order that are paid when it is placed, when it arrives, and when it is accepted.

    Attributes:
        on_order: Share paid in the month in which the order is placed.
        on_delivery: Share paid in the month of the stage, when the order arrives.
        on_acceptance: Share paid when the order is accepted.
        acceptance_months: Months from arrival to acceptance.
    """

    on_order: Share = 0
    on_delivery: Share = 0
    on_acceptance: Share = 0
    acceptance_months: Annotated[int, Field(ge=0, le=24)] = 1

    @model_validator(mode="after")
    def _is_paid_once(self) -> Self:
        shares = {name: getattr(self, name) for name in ("on_order", "on_delivery", "on_acceptance")}
        total = sum((exact(share) for share in shares.values()), Fraction(0))
        if total != 1:
            sums = " + ".join(f"`{name}` {plain_fraction(exact(share))}" for name, share in shares.items())
            raise ValueError(f"an order is paid once: {sums} = {plain_fraction(total)}, not 1")
        return self


class Rate(Strict):
    """What one unit of a currency is worth.

    Attributes:
        usd: Worth of one unit, in US dollars.
        date: Day of the rate, as `2026-11-02`.
    """

    usd: Annotated[float, Field(gt=0, le=1e6)]
    date: Annotated[str, Field(pattern=DAY)]


# -- what a case says of money over time ------------------------------------------------------------------------------


KindWord = Literal["switch", "nic", "transceiver", "cable", "fibre", "trunk", "panel", "server"]
KIND_WORDS: tuple[KindWord, ...] = ("switch", "nic", "transceiver", "cable", "fibre", "trunk", "panel", "server")
YearlyRate = Annotated[float, Field(ge=0, lt=1)]


class Finance(Strict):
    """What turns power and dates into money.

    Attributes:
        discount_rate: Yearly discount rate, 0.08 for 8 %.
        price_decline: Share by which prices of a kind of part fall each year, by kind.
        energy_usd_per_kwh: Price of energy, in US dollars for a kWh; 0.10 is that of US industry.
        pue: Power of the hall over that of its equipment; 1.4 is a current hall, 1.54 the average of all in the 2025
            survey.
        years: Years of operation that `tco_usd` counts; five is the usual depreciation.
        payment: Which shares of an order are paid when. Given, the answer has a cash flow.
        currency: Currency in which the cash flow is shown too, at its rate in `rates`.
        rates: Worth of other currencies, by their code.
        residual: Share of their price that parts are sold for in the end.
        depreciation_years: Years in which parts are written off evenly, down to the residual. Null is not at all.
    """

    discount_rate: YearlyRate = 0
    price_decline: dict[KindWord, YearlyRate] = {}
    energy_usd_per_kwh: Annotated[float, Field(ge=0, le=1000)] = 0.10
    pue: Annotated[float, Field(ge=1, le=10)] = 1.4
    years: Annotated[float, Field(gt=0, le=100)] = 5
    payment: Annotated[Payment | None, Field(exclude_if=is_open)] = None
    currency: Annotated[str, Field(pattern=CURRENCY, exclude_if=is_as(DOLLAR))] = DOLLAR
    rates: Annotated[dict[Annotated[str, Field(pattern=CURRENCY)], Rate], Field(exclude_if=is_empty)] = {}
    residual: Annotated[float, Field(ge=0, lt=1, exclude_if=is_empty)] = 0
    depreciation_years: Annotated[float | None, Field(gt=0, le=100, exclude_if=is_open)] = None

    @model_validator(mode="after")
    def _currency_has_a_rate(self) -> Self:
        if self.currency != DOLLAR and self.currency not in self.rates:
            known = ", ".join((DOLLAR, *self.rates))
            raise ValueError(f"`currency` is {self.currency}, and `rates` say nothing of it; known are {known}")
        return self
