"""Notes on offers of vendors, prices of quotes that expire before the order, and doubts about prices and parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from fabopt.design.doubts import data_doubts
from fabopt.parts.price_basis import IN_DOUBT, firm_until, price_source
from fabopt.schema.design import BomRow, Design
from fabopt.schema.product import PriceSource
from fabopt.units import CENTS_PER_USD, exact, first_of, grouped, rounded, some

_MOST_NAMED = 4


class _Quoted(NamedTuple):
    """A quote that prices are from: its name and its last day."""

    name: str
    valid_until: str


def quote_notes(design: Design) -> Iterator[str]:
    """Warnings of quotes with a last day that the bill uses.

    The day of an order is ``order_by``, never the day of the run. If the case has no calendar, only the last day is
    told.
    """
    quotes = ((_quote_of(design, row), row) for row in design.bom if row.quantity)
    for quoted, rows in grouped((quoted, row) for quoted, row in quotes if quoted is not None).items():
        if warning := ends_early(quoted.name, quoted.valid_until, rows):
            yield warning
        elif any(row.order_by is None for row in rows):
            reason = "the case has no `start`, so that nothing says whether orders are placed by then"
            yield f"{quoted.name} ends on {quoted.valid_until}; {reason}: {_parts(rows)}"


def offer_notes(design: Design) -> Iterator[str]:
    """What is bought of each vendor whose offers are bought."""
    bought: dict[str, Counter[str]] = {}
    cents: Counter[str] = Counter()
    for row in design.bom:
        if row.quantity and row.sold_by is not None:
            bought.setdefault(row.sold_by, Counter())[_named(design, row)] += row.quantity
            cents[row.sold_by] += rounded(exact(row.total_usd) * CENTS_PER_USD)
    for vendor, units in bought.items():
        usd = f"{cents[vendor] / CENTS_PER_USD:,.2f}".removesuffix(".00")
        sold = [f"{count:,} x {part}" for part, count in units.items()]
        yield f"${usd} is paid to {vendor}, for {first_of(sold, _MOST_NAMED)}"


def firm_notes(design: Design) -> Iterator[str]:
    """Until when which prices are firm, where others fall."""
    firm: dict[str, dict[str, None]] = {}
    if (design.case.content.get("finance") or {}).get("price_decline"):
        for row in design.bom:
            if row.quantity and (day := firm_until(design.parts.get(row.id, {}), row.length_m)):
                firm.setdefault(day, {})[_named(design, row)] = None
    for day, parts in sorted(firm.items()):
        told = first_of(list(parts), _MOST_NAMED)
        yield f"until {day} prices are firm, and do not fall by `finance.price_decline`: {told}"


def _named(design: Design, row: BomRow) -> str:
    """The product of a line, whoever sells it, with its length."""
    length = "" if row.length_m is None else f" of {row.length_m:g} m"
    return f"{design.parts.get(row.id, {}).get('offer_of') or row.id}{length}"


def doubt_notes(design: Design) -> Iterator[str]:
    """Warnings of paid prices that their book marks as doubted, each with its first doubt, and of parts in use of whose
    data their catalog is not sure.
    """
    doubted: dict[str, str] = {}
    for row in design.bom:
        note = price_source(design.parts.get(row.id, {}), row.length_m).get("note")
        if row.quantity and isinstance(note, str) and note.startswith(IN_DOUBT):
            doubted.setdefault(row.id, f"{row.id}: {note.removeprefix(IN_DOUBT).split('; ')[0]}")
    for noun, why, told in (
        ("price", ", as the quotes' books say", [*doubted.values()]),
        ("part", " of low confidence", [*data_doubts(design).values()]),
    ):
        if told:
            more = f"; and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
            yield f"{IN_DOUBT}{some(len(told), noun)}{why}: {'; '.join(told[:_MOST_NAMED])}{more}"


def ends_early(name: str, end: str, rows: Sequence[BomRow]) -> str:
    """The warning that a quote ends (a day as ISO writes it) before rows of a bill are ordered; empty where none is."""
    late = [row for row in rows if row.order_by is not None and row.order_by > end]
    if not late:
        return ""
    days = sorted({row.order_by or "" for row in late})
    by = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return f"{name} ends on {end}, before what it prices is ordered ({by}): {_parts(late)}"


def _quote_of(design: Design, row: BomRow) -> _Quoted | None:
    try:
        source = PriceSource.model_validate(price_source(design.parts.get(row.id, {}), row.length_m))
    except ValidationError:
        return None
    return _Quoted(source.url or "a quote", source.valid_until) if source.valid_until is not None else None


def _parts(rows: list[BomRow]) -> str:
    ids = list(dict.fromkeys(row.id for row in rows))
    return f"{some(len(ids), 'product')}, {first_of(ids, _MOST_NAMED)}"
