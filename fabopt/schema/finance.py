"""What a case says of money over time: what falls in price, what later money is worth, what energy costs."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Strict
from fabopt.schema.cash import CURRENCY, DOLLAR, Payment, Rate

KindWord = Literal["switch", "nic", "transceiver", "cable", "fibre", "server"]
KIND_WORDS: tuple[KindWord, ...] = ("switch", "nic", "transceiver", "cable", "fibre", "server")
YearlyRate = Annotated[float, Field(ge=0, lt=1)]


def is_dollar(currency: str) -> bool:
    """Whether cash is shown in dollars only, which is not written."""
    return currency == DOLLAR


def is_nothing(value: object) -> bool:
    """Whether nothing is said, which is not written."""
    return not value


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
    currency: Annotated[str, Field(pattern=CURRENCY, exclude_if=is_dollar)] = DOLLAR
    rates: Annotated[dict[Annotated[str, Field(pattern=CURRENCY)], Rate], Field(exclude_if=is_nothing)] = {}
    residual: Annotated[float, Field(ge=0, lt=1, exclude_if=is_nothing)] = 0
    depreciation_years: Annotated[float | None, Field(gt=0, le=100, exclude_if=is_open)] = None

    @model_validator(mode="after")
    def _currency_has_a_rate(self) -> Self:
        if self.currency != DOLLAR and self.currency not in self.rates:
            known = ", ".join((DOLLAR, *self.rates))
            raise ValueError(f"`currency` is {self.currency}, and `rates` say nothing of it; known are {known}")
        return self
