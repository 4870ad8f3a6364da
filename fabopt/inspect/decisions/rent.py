"""What GPUs cost by the hour where they are rented, and after how many months that is more than to build.

Prices are facts of the catalog, third-party and of medium confidence; a price of one's own goes before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabopt.schema.case import Case
from fabopt.schema.catalog import Rent
from fabopt.schema.design import Design
from fabopt.schema.installed import base_of
from fabopt.schema.product import Price, Source
from fabopt.schema.server import Server
from fabopt.units import some
from fabopt.wiring.design_file import Embedded

HOURS_PER_MONTH = 730
_WATTS_PER_KW = 1000


@dataclass(frozen=True)
class RentOffer:
    """A price by the hour with its cost. ``break_even_months``: None where building is never cheaper."""

    price: Rent
    usd_per_month: float
    break_even_months: float | None


@dataclass(frozen=True)
class RentComparison:
    """Renting the GPUs of a design, or those that join what is in service, beside building it. Dollars; offers are the
    cheapest first.

    ``build_usd``: network and servers; None where servers have no price. ``energy_usd_per_month``: where built, of what
    is added.
    ``network_gbps_per_gpu``: injection of the design's compute fabric, beside that of the offers.
    """

    offers: Sequence[RentOffer]
    gpus: int
    network_gbps_per_gpu: float
    build_usd: float | None
    energy_usd_per_month: float | None
    notes: Sequence[str]


def rents_of(design: Design, rents: Sequence[Rent], given_usd: float | None) -> Sequence[Rent]:
    """The price as given, else all that are of the case's GPU, the cheapest first."""
    gpu = (Embedded(design).server.gpu or "").upper()
    if given_usd is not None:
        return (Rent(gpu=gpu or "any", provider="as given", low_usd=given_usd, high_usd=given_usd, source=Source()),)
    return sorted((rent for rent in rents if gpu.startswith(rent.gpu.upper())), key=lambda rent: rent.middle_usd)


def compared_rent(design: Design, case: Case, rents: Sequence[Rent], server_usd: float | None) -> RentComparison:
    """Renting the GPUs of a design, or those that join what is in service, beside building it. ``server_usd``: of what
    is sold as one, before the catalog's.
    """
    embedded, stage = Embedded(design), design.stages[-1]
    before, gpus = 0 if case.base is None else case.base.servers, case.gpus_added(stage.gpus)
    unit = server_usd if server_usd is not None else _price_of(embedded.server)
    build = None
    if unit is not None:
        included = sum(float(row.total_usd) for row in design.bom if row.kind == "server")
        sold = embedded.server.sold_for(stage.servers) - embedded.server.sold_for(before)
        build = round(float(design.sums.capex_usd) - included + unit * sold, 2)
    energy = _energy(design, case)
    offers = [_offer(rent, gpus, build, energy or 0) for rent in rents]
    notes = [*_notes(rents, embedded.server.id, unit is None, energy is None)]
    if before:
        notes.append(f"{some(before, 'server')} in service, and what they draw, are on neither side")
    return RentComparison(offers, gpus, _injection(design), build, energy, notes)


def _offer(rent: Rent, gpus: int, build_usd: float | None, energy_usd: float) -> RentOffer:
    monthly = rent.middle_usd * HOURS_PER_MONTH * gpus
    saved = monthly - energy_usd
    months = round(build_usd / saved, 1) if build_usd is not None and saved > 0 else None
    return RentOffer(rent, round(monthly, 2), months)


def _notes(rents: Sequence[Rent], server: str, has_no_price: bool, has_no_energy: bool) -> Iterator[str]:
    if any(rent.gbps_per_gpu is None for rent in rents):
        yield "where no fabric is named: ask for the network between servers, and for what a pair of them measures"
    if any(rent.gbps_per_gpu is not None for rent in rents):
        yield "no provider here says how much its leaves are oversubscribed: ask"
    if has_no_price:
        yield f"the catalog has no price of {server}: --server-price gives it"
    if has_no_energy:
        yield "power of the servers is not known: energy is left out"


def _injection(design: Design) -> float:
    """Gb/s that the design's compute fabric, or its first one, gives a GPU."""
    fabric = next((fabric for fabric in design.fabrics if fabric.role == "compute"), design.fabrics[0])
    return float(fabric.metrics.injection_gbps_per_gpu)


def _price_of(server: Server) -> float | None:
    price: Price | None = server.price_usd
    if isinstance(price, tuple):
        return price[0].usd
    return price or None


def _energy(design: Design, case: Case) -> float | None:
    """Dollars a month for the power of the cluster, or of what it adds to what is in service."""
    totals, live = design.totals, base_of(case)
    if totals is None or totals.cluster_power_w is None:
        return None
    finance, power = case.finance, float(totals.cluster_power_w)
    if case.base is not None and live is not None:
        of_servers = (power - float(totals.power_w)) * case.base.servers / design.stages[-1].servers
        power -= of_servers + float(live.stages[case.base.stage].power_w)
    return round(power / _WATTS_PER_KW * HOURS_PER_MONTH * finance.pue * finance.energy_usd_per_kwh, 2)
