"""What a GPU costs by the hour where it is rented, and after how many months it costs more than to build.

Prices are public surveys, third-party and of medium confidence; a price of one's own goes before them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.product import Price
from fabopt.schema.server import Server
from fabopt.wiring.design_file import Embedded

HOURS_PER_MONTH = 730
_WATTS_PER_KW = 1000


@dataclass(frozen=True)
class RentPrice:
    """Dollars for a GPU and hour, from and to, and who says so."""

    low_usd: float
    high_usd: float
    source: str
    date: str

    @property
    def middle_usd(self) -> float:
        """Halfway between both."""
        return round((self.low_usd + self.high_usd) / 2, 4)


_SURVEY, _DATE = "mercatus-ai.com/blog/cloud-gpu-pricing, specialised providers, on demand", "2026-05"
# By how the GPU's name begins. The fabric of a provider is not in such surveys: ask for it.
PRICES: Mapping[str, RentPrice] = {
    "A100": RentPrice(1.10, 1.50, _SURVEY, _DATE),
    "H100": RentPrice(2.50, 3.50, _SURVEY, _DATE),
    "H200": RentPrice(3.50, 4.50, _SURVEY, _DATE),
}


@dataclass(frozen=True)
class RentComparison:
    """Renting beside building. Dollars; ``break_even_months`` is None where building has no price, or never pays.

    ``build_usd``: network and servers; None where servers have no price. ``monthly``: of rent, of energy where built.
    """

    price: RentPrice
    gpus: int
    rent_usd_per_month: float
    build_usd: float | None
    energy_usd_per_month: float | None
    break_even_months: float | None
    notes: tuple[str, ...]


def rent_price(design: Design, given: float | None) -> RentPrice | None:
    """The price of the case's GPU: as given, else as surveys have it; None where none is known."""
    if given is not None:
        return RentPrice(given, given, "as given", "")
    gpu = (Embedded(design).server.gpu or "").upper()
    return next((price for name, price in PRICES.items() if gpu.startswith(name)), None)


def compared_rent(design: Design, case: Case, price: RentPrice, server_usd: float | None) -> RentComparison:
    """Renting the GPUs of a design beside building it. ``server_usd``: of what is sold as one, before the catalog's."""
    embedded, stage = Embedded(design), design.stages[-1]
    assert design.totals is not None
    notes = [
        "the provider's fabric is not known: ask for its oversubscription, and for what a pair of servers measures"
    ]
    rent = price.middle_usd * HOURS_PER_MONTH * stage.gpus
    unit = server_usd if server_usd is not None else _price_of(embedded.server)
    build = None
    if unit is None:
        notes.append(f"the catalog has no price of {embedded.server.id}: --server-price gives it")
    else:
        included = sum(float(row.total_usd) for row in design.bom if row.kind == "server")
        sold = embedded.server.sold_for(stage.servers)
        build = round(float(design.totals.capex_usd) - included + unit * sold, 2)
    energy = _energy(design, case)
    if energy is None:
        notes.append("power of the servers is not known: energy is left out")
    saved = rent - (energy or 0)
    months = round(build / saved, 1) if build is not None and saved > 0 else None
    return RentComparison(price, stage.gpus, round(rent, 2), build, energy, months, tuple(notes))


def _price_of(server: Server) -> float | None:
    price: Price | None = server.price_usd
    if isinstance(price, tuple):
        return price[0].usd
    return price or None


def _energy(design: Design, case: Case) -> float | None:
    """Dollars a month for the power of the cluster."""
    power = None if design.totals is None else design.totals.cluster_power_w
    if power is None:
        return None
    finance = case.finance
    return round(float(power) / _WATTS_PER_KW * HOURS_PER_MONTH * finance.pue * finance.energy_usd_per_kwh, 2)
