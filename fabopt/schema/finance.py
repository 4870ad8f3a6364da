"""What a case says of money over time: what falls in price, what later money is worth, what energy costs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.base import Strict

KindWord = Literal["switch", "nic", "transceiver", "cable", "fibre", "server"]
KIND_WORDS: tuple[KindWord, ...] = ("switch", "nic", "transceiver", "cable", "fibre", "server")
YearlyRate = Annotated[float, Field(ge=0, lt=1)]


class Finance(Strict):
    """What turns power and dates into money; see docs/formulation/procurement.md.

    ``discount_rate`` and ``price_decline`` are shares of a year. Defaults: nothing changes over time; 0.10 USD/kWh (US
    industrial), PUE 1.4 (a current data hall; the 2025 survey average of all is 1.54), five years (usual depreciation).
    """

    discount_rate: YearlyRate = 0
    price_decline: dict[KindWord, YearlyRate] = {}
    energy_usd_per_kwh: Annotated[float, Field(ge=0, le=1000)] = 0.10
    pue: Annotated[float, Field(ge=1, le=10)] = 1.4
    years: Annotated[float, Field(gt=0, le=100)] = 5
