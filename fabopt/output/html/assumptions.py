"""Assumptions of the answer: the case, and the sources of prices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabopt.output.html.bill import sum_usd
from fabopt.output.terminal.answer import metric_name
from fabopt.output.words import count, listed, measured, money, percent, plain, power
from fabopt.parts.price_basis import price_source
from fabopt.schema.case import Case, CaseLimits, Limits
from fabopt.schema.design import BomRow, Design, Number
from fabopt.schema.finance import Finance
from fabopt.schema.site import Distances
from fabopt.units import cents, some, summed
from fabopt.wiring.design_file import Embedded

_UNKNOWN = "not stated"
# Best first; other words come after these, as they are.
_CONFIDENCES = ("high", "medium", "low")


@dataclass(frozen=True)
class PriceRow:
    """A product bought, the dollars spent on it at prices of one source, and that source."""

    id: str
    description: str
    usd: Number
    kind: str
    date: str
    confidence: str
    source: str


def assumptions(design: Design) -> list[tuple[str, str]]:
    """Return the assumptions of the case, as (subject, words); empty if the embedded case cannot be read."""
    try:
        return list(_assumed(Embedded(design).case))
    except (LookupError, ValueError):
        return []


def case_text(design: Design) -> str:
    """Return the whole case, as resolved."""
    return json.dumps(design.case.content, indent=2, ensure_ascii=False)


def _assumed(case: Case) -> Iterator[tuple[str, str]]:
    yield "Objective", f"least {metric_name(case.objective)}"
    yield "Server", case.server_id
    for stage in case.stages or ():
        size = some(stage.servers, "server") if stage.servers else some(stage.gpus or 0, "GPU")
        yield f"Stage {stage.name}", f"month {stage.month}: {size}"
    for fabric in case.fabrics:
        yield f"Fabric {fabric.name}", "; ".join(_demands(fabric.model_dump()))
    yield from _site(case)
    yield "Energy", _energy(case.finance)
    yield "Limits", "; ".join(_limits(case)) or "none"
    yield "Servers", "count in price and power" if case.include_servers else "are given: not part of price or limits"
    yield "Catalogs", listed([*case.catalog])
    if case.prices:
        yield "Price books", listed([*case.prices])


def _energy(finance: Finance) -> str:
    return (
        f"{money(finance.energy_usd_per_kwh)} a kWh, PUE {plain(finance.pue)}, over {measured(finance.years, 'year')}"
    )


def _demands(fabric: dict[str, Any]) -> Iterator[str]:
    if fabric["min_gbps_per_gpu"] is not None:
        yield f"at least {plain(fabric['min_gbps_per_gpu'])} Gb/s per GPU"
    ratios = fabric["max_oversubscription"]
    if isinstance(ratios, dict):
        given = (f"{plain(ratio)}:1 at the {tier}" for tier, ratio in ratios.items() if ratio is not None)
        yield "oversubscription at most " + ", ".join(given)
    elif ratios is not None:
        yield f"oversubscription at most {plain(ratios)}:1"
    yield f"protocol {fabric['protocol']}"
    if fabric["reserve_ports"]:
        yield f"{percent(fabric['reserve_ports'])} of leaf ports kept free"


def _site(case: Case) -> Iterator[tuple[str, str]]:
    floor, runs = case.site.floor, case.site.distances_m
    if floor is not None:
        for part in floor.parts:
            racks = f"{some(part.rows, 'row')} of {some(part.racks_per_row, 'rack')} of {count(part.rack_units)} U"
            yield f"Floor {part.prefix[:-1]}".strip(), f"{racks}; cable runs are measured along its trays"
        for route in floor.ways:
            room = "" if route.fibres is None else f", {some(route.fibres, 'fibre')}"
            yield f"Route {route.halls}", f"{plain(route.m)} m{room}" + (f", {route.duct}" if route.duct else "")
        return
    runs = runs or Distances()
    lengths = {"server to leaf": runs.server_leaf, "leaf to spine": runs.leaf_spine, "spine to core": runs.spine_core}
    said = [f"{name} {plain(metres)} m" for name, metres in lengths.items() if metres is not None]
    if len(said) < len(lengths):
        said.append("as follows from the size of the groups" if not said else "others as follows from the groups")
    yield "Cable runs", ", ".join(said)


def _limits(case: Case) -> Iterator[str]:
    """Limits of the whole case, then of each stage that has some."""
    yield from _of_limits(case.limits)
    for stage in case.stages or ():
        if own := "; ".join(_of_limits(stage.limits)):
            yield f"{stage.name}: {own}"


def _of_limits(limits: Limits) -> Iterator[str]:
    if limits.budget_usd is not None:
        yield f"budget {money(limits.budget_usd)}"
    for key, amounts in limits.by_period.items() if isinstance(limits, CaseLimits) else ():
        shown = ", ".join("any" if amount is None else money(amount) for amount in amounts)
        yield f"{key.removesuffix('_budget_usd')} budget {shown}"
    if limits.power_w is not None:
        yield f"power {power(limits.power_w)}"
    if limits.rack_units is not None:
        yield measured(limits.rack_units, "rack unit")


# -- prices ---------------------------------------------------------------------------------------------------------


def price_rows(design: Design) -> list[PriceRow]:
    """Return the products on the bill, once for each source of prices, the largest sums first."""
    bought: dict[tuple[str, str], list[BomRow]] = {}
    for row in design.bom:
        if row.charge is None:
            source = price_source(design.parts.get(row.id, {}), row.length_m)
            bought.setdefault((row.id, str(source)), []).append(row)
    rows = [_price_row(design, of_source) for of_source in bought.values()]
    return sorted(rows, key=lambda row: (-row.usd, row.id))


def confidence_sentence(rows: list[PriceRow]) -> str:
    """State the shares of the purchase price by confidence of prices."""
    sums = summed((row.confidence, cents(row.usd)) for row in rows)
    whole = sum(sums.values())
    if not whole:
        return ""
    order = sorted(sums, key=lambda word: (*(word != known for known in _CONFIDENCES), word))
    shares = [f"{percent(sums[word] / whole)} on prices of {word} confidence" for word in order if sums[word]]
    return f"Of the purchase price, {listed(shares)}." if shares else ""


def _price_row(design: Design, rows: Sequence[BomRow]) -> PriceRow:
    row = rows[0]
    part = design.parts.get(row.id, {})
    source = price_source(part, row.length_m)
    kind, date, url = (str(source.get(key) or _UNKNOWN) for key in ("kind", "date", "url"))
    confidence = str(source.get("confidence") or part.get("confidence") or _UNKNOWN)
    return PriceRow(row.id, row.description, sum_usd(rows), kind, date, confidence, url)
