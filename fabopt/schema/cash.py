"""What a case says of cash: when an order is paid, in which currency, what is left of it in the end."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Strict
from fabopt.units import exact, plain_fraction

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
