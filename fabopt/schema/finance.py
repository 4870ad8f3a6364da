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
    """What turns power and dates into money; see docs/formulation/procurement.md.

    ``discount_rate`` and ``price_decline`` are shares of a year. Defaults: nothing changes over time; 0.10 USD/kWh (US
    industrial), PUE 1.4 (a current data hall; the 2025 survey average of all is 1.54), five years (usual depreciation).
    ``payment``: when orders are paid; ``currency``: in which cash is shown too, at its rate in ``rates``; ``residual``:
    the share of the price that parts are sold for in the end; ``depreciation_years``: in which they are written off.
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
