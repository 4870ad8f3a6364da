"""Requests for quotes as workbooks, one for each maker or vendor asked: quantities by date, without planned prices."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fabopt.design.bill import order_date
from fabopt.output.export.orders import NO_VENDOR, PRICE, WEEKS, QuoteTable, product_of, quote_table, write_table
from fabopt.output.export.spreadsheet import new_book, write_facts
from fabopt.parts.names import WHICH_IS_WANTED
from fabopt.parts.quotes import AWARDED, REQUEST_SHEET, VENDOR_ASKED
from fabopt.schema.design import Design
from fabopt.units import as_name, free_name

NEEDED = "Needed by"
# Columns of one's own plans in the sheet for comparing, which no vendor sees.
_OWN = ("Of these spares", "Of these left over", "From own stock", "Planned USD", "Order by month", "Order by")
_NO_DATE = "not said"


class RequestTerms(NamedTuple):
    """Terms of a request: its revision, and the day by which to answer (None: not said)."""

    revision: str = "1"
    due: str | None = None


class QuoteRequest(NamedTuple):
    """A request as a file: its name, whom it asks, how many lines, and its bytes."""

    name: str
    vendor: str
    lines: int
    data: bytes


def requests_of(design: Design, vendors: Sequence[str], terms: RequestTerms) -> Iterator[QuoteRequest]:
    """Return a workbook for each maker of the bill with its lines, or for each of ``vendors`` with all of them."""
    table = quote_table(design)
    titles = [title for title, _, _ in table.columns]
    kept = [index for index, title in enumerate(titles) if title not in _OWN and not title.endswith(")")]
    needed = _needed(design)
    id_, length, remarks = (titles.index(title) for title in ("Id", "Length m", "Remarks"))
    columns = [table.columns[index] for index in kept if index != remarks]
    columns += [(NEEDED, 16, "text"), (AWARDED, 12, "count"), table.columns[remarks]]
    rows = [
        (row[0], (*shown, needed.get((row[id_], row[length])), None, str(row[remarks]).replace(WHICH_IS_WANTED, "")))
        for row in table.rows
        for shown in [[row[index] for index in kept if index != remarks]]
    ]
    asked = list(vendors) or list(dict.fromkeys(str(maker) for maker, _ in rows))
    names = _file_names(asked)
    for vendor in asked:
        own = QuoteTable(columns, [row for maker, row in rows if vendors or maker == vendor])
        yield QuoteRequest(names[vendor], vendor, len(own.rows), _bytes(design, vendor, own, terms))


def _needed(design: Design) -> dict[tuple[object, object], str]:
    """By id and length, the first stage that uses a part: its name, with its first day where that is known."""
    start = design.case.content.get("start")
    order = {stage.name: stage for stage in design.stages}
    first: dict[tuple[object, object], str] = {}
    for row in sorted(design.bom, key=lambda row: order[row.stage].month):
        if row.in_use or row.spares or row.charge is not None:
            day = order_date(start, order[row.stage].month, None)
            part = product_of(design, row.id), row.length_m
            first.setdefault(part, row.stage if day is None else f"{row.stage}, {day}")
    return first


def _file_names(vendors: Sequence[str]) -> dict[str, str]:
    """File name for each vendor, none twice."""
    stems: dict[str, str] = {}
    for vendor in vendors:
        stems[vendor] = free_name(f"rfq-{as_name(vendor) or 'vendor'}", lambda stem: stem in stems.values())
    return {vendor: f"{stem}.xlsx" for vendor, stem in stems.items()}


def _bytes(design: Design, vendor: str, table: QuoteTable, terms: RequestTerms) -> bytes:
    stream = io.BytesIO()
    title = f"{design.case.name}: request for quotes"
    with new_book(stream, title, f"{title}, revision {terms.revision}") as (book, formats):
        write_table(book.add_worksheet("RFQ"), formats, table)
        facts = _facts(design, vendor, len(table.rows), terms)
        write_facts(book.add_worksheet(REQUEST_SHEET), formats, facts, (22, 90))
    return stream.getvalue()


def _facts(design: Design, vendor: str, lines: int, terms: RequestTerms) -> Iterator[tuple[str, str]]:
    yield "Request for quotes", design.case.name
    yield VENDOR_ASKED, "" if vendor == NO_VENDOR else vendor
    yield "Revision", f"{terms.revision}, of design {design.case.sha256[:12]}"
    yield "Answer due", terms.due or _NO_DATE
    yield "Currency", "USD, without tax"
    yield "Lines", f"{lines:,}"
    fill = f"Fill in `{PRICE}` and `{WEEKS}` on the sheet RFQ, for one piece, new, without installation. "
    yield "How to answer", f"{fill}`{NEEDED}` is the stage that first uses a part. `{AWARDED}` is for the buyer."
