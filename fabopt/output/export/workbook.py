"""The bill of materials as a spreadsheet: summary, bill, prices with their sources.

Every formula is written with its value, for readers that do not recalculate. Text never becomes a formula, and the same
design gives the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from fabopt.output.cash import has_cash
from fabopt.output.export.alternatives import alternative_table
from fabopt.output.export.cash import write_cash
from fabopt.output.export.deliveries import delivery_table
from fabopt.output.export.marks import NO_MARKS, REPRICED, Marks
from fabopt.output.export.offers import write_offers
from fabopt.output.export.order_codes import body_of, code_of, orderable, seller_of
from fabopt.output.export.orders import write_orders
from fabopt.output.export.quotes import quote_table, stage_table, write_quotes, write_table
from fabopt.output.export.spreadsheet import (
    CELL_FORMATS,
    CREATED,
    WORKBOOK_OPTIONS,
    set_height,
    set_page,
    write_cell,
    write_headings,
    write_marks,
    write_text,
)
from fabopt.output.left_out import TITLE, left_out_lines
from fabopt.output.purchased import SHARES, has_any
from fabopt.output.space import pages_line
from fabopt.output.terminal.answer import headline, leading_notes, proof_line, served, totals_line
from fabopt.output.terminal.networks import NetworkShare, network_shares
from fabopt.output.terminal.single_points import TITLE as POINTS_TITLE
from fabopt.output.terminal.single_points import lead_line, point_rows, rack_line, redundancy_line
from fabopt.output.words import measured, money
from fabopt.parts.price_basis import basis_of, firm_until, price_source
from fabopt.schema.design import BomRow, Design
from fabopt.units import some

# Title, width, format of the bill's columns, in order; the letters are those of the sheet.
_BILL: tuple[tuple[str, float, str], ...] = (
    ("Line", 6, "count"),
    ("Stage", 12, "text"),
    ("Fabric", 12, "text"),
    ("Kind", 12, "text"),
    ("Id", 32, "text"),
    ("Part number", 26, "text"),
    ("Description", 48, "wrap"),
    ("Length m", 9, "number"),
    ("Quantity", 10, "count"),
    ("In use", 10, "count"),
    ("Unit price USD", 14, "money"),
    ("Total USD", 16, "money"),
    ("Power W", 12, "number"),
    ("Spares", 10, "count"),
    ("Price of one USD", 14, "money"),
    ("Price break from", 10, "count"),
    ("Present value USD", 16, "money"),
    ("Lead time weeks", 10, "number"),
    ("Order by month", 10, "number"),
    ("Order by", 12, "text"),
    ("Price basis", 12, "text"),
    ("Price date", 12, "text"),
)
# What follows on bills with charges, with expedited orders, and with units that no order of their stage has.
_SOME: tuple[dict[str, tuple[str, float, str]], ...] = (
    {"charge": ("Charge", 12, "text"), "yearly_usd": ("Every year USD", 14, "money")},
    {"expedite_usd": ("Expedited, in unit price USD", 14, "money")},
    {name: (title, 10, "count") for name, title in SHARES.items()},
)
# Where any price is a vendor's offer.
_VENDOR = ("Vendor", 16.0, "text")
_KIND, _QUANTITY, _UNIT, _TOTAL, _POWER = "D", "I", "K", "L", "M"
_DESCRIPTION = 6
# The first column after the power: terms of orders.
_TERMS = 13
_PRICES = (
    ("Id", 32),
    ("Vendor", 16),
    ("Part number", 26),
    ("Length m", 10),
    ("Price used USD", 18),
    ("Price source", 60),
    ("Date", 12),
    ("Kind", 12),
    ("Confidence", 12),
    ("Notes", 60),
)


def workbook_bytes(design: Design, marks: Marks = NO_MARKS) -> bytes:
    """Return the workbook of a design's bill; ``marks`` are sheets before all others."""
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream, WORKBOOK_OPTIONS)
    book.set_properties({"title": f"{design.case.name}: bill of materials", "author": "fabopt", "created": CREATED})
    formats = {name: book.add_format(properties) for name, properties in CELL_FORMATS.items()}
    write_marks(book, marks)
    _Summary(book.add_worksheet("Summary"), formats).write(design, marks)
    _bill(book.add_worksheet("Bill"), formats, design)
    if len(design.stages) > 1:
        write_table(book.add_worksheet("Stages"), formats, stage_table(design))
    write_orders(book.add_worksheet("Orders"), formats, design)
    if len(design.stages) > 1:
        write_table(book.add_worksheet("Deliveries"), formats, delivery_table(design))
    if has_cash(design):
        write_cash(book.add_worksheet("Cash flow"), formats, design)
    asked = quote_table(design)
    write_quotes(book.add_worksheet("RFQ"), formats, asked)
    write_offers(book.add_worksheet("Offers"), formats, asked, design)
    _prices(book.add_worksheet("Prices & sources"), formats, design)
    # other prices than those it was chosen at are no others' prices
    if design.alternatives and REPRICED not in marks:
        write_table(book.add_worksheet("Alternatives"), formats, alternative_table(design))
    book.close()
    return stream.getvalue()


# Of the columns of the summary, in characters: the longest keys of a case stand whole.
_KEY_WIDTH = 46
_TEXT_WIDTH = 110


class _Summary:
    """The first sheet, written downwards: the answer, totals, proof, checks, assumptions."""

    def __init__(self, sheet: Worksheet, formats: dict[str, Format]) -> None:
        self.sheet = sheet
        self.formats = formats
        self.row = 0
        sheet.set_column("A:A", _KEY_WIDTH)
        sheet.set_column("B:B", _TEXT_WIDTH)
        sheet.hide_gridlines(2)
        set_page(sheet)

    def write(self, design: Design, marks: Marks) -> None:
        write_text(self.sheet, 0, 0, design.case.name, self.formats["title"])
        self.row = 2
        self.line("Answer", served(design) if REPRICED in marks else headline(design))
        for title, mark in marks.items():
            self.line(title, mark)
        for note in leading_notes(design):
            kind, _, words = note.partition(": ")
            self.line(kind.capitalize(), words)
        for line in left_out_lines(design.rules_left_out):
            self.line(TITLE, line)
        self.single_points(design)
        if design.totals is not None:
            self.line("Totals", totals_line(design))
        self.line("Proof", f"{proof_line(design)} (stated by the search; no check proves it again)")
        self.line("Space", pages_line(design))
        for fabric in design.fabrics:
            tiers = ", ".join(f"{row.count:,} {row.role} {row.id}" for row in fabric.switches)
            self.line(f"Fabric {fabric.name}", f"{fabric.protocol} {fabric.topology}: {tiers}")
        self.section("Totals", sorted(design.totals.model_dump().items()) if design.totals else [])
        shares = [(f"Fabric {share.name}", _share_line(share)) for share in network_shares(design)]
        self.section("By fabric", shares)
        self.section(
            "Checks", [(check.name, f"{'ok' if check.ok else 'FAIL'}: {check.detail}") for check in design.checks]
        )
        self.section("Assumptions", _assumptions(design.case.content))
        self.section("Notes", [("", note) for note in design.notes])

    def single_points(self, design: Design) -> None:
        """Losses with any one switch or rack; no lines where the file has none of them stated."""
        if design.single_points_of_failure is None:
            return
        self.line(POINTS_TITLE, lead_line(design))
        for fabric, without, *lost, servers, how in point_rows(design):
            hit = "" if servers == "-" else f", servers: {servers}"
            self.line(f"  {fabric}", f"without {without}: {', '.join(lost)} ({how}{hit})")
        if design.worst_rack is not None:
            self.line("  Worst rack", rack_line(design))
        if redundancy := redundancy_line(design):
            self.line("  Rule", redundancy)

    def section(self, title: str, lines: Sequence[tuple[str, object]]) -> None:
        if not lines:
            return
        self.row += 1
        write_text(self.sheet, self.row, 0, title, self.formats["head"])
        write_text(self.sheet, self.row, 1, "", self.formats["head"])
        self.row += 1
        for label, value in lines:
            self.line(label, value)

    def line(self, label: str, value: object) -> None:
        style = self.formats["wrap"]
        if isinstance(value, str) and value.startswith(("FAIL", "ok:")):
            style = self.formats["good" if value.startswith("ok:") else "bad"]
        elif isinstance(value, int | float):
            style = self.formats["left_money" if label.endswith(("_usd", "_usd_per_gpu")) else "left_number"]
        write_text(self.sheet, self.row, 0, label, self.formats["label"])
        write_cell(self.sheet, self.row, 1, value, style)
        set_height(self.sheet, self.row, [(str(value), _TEXT_WIDTH)])
        self.row += 1


def _share_line(network: NetworkShare) -> str:
    *_, usd, share, watts = network.words
    installed = f"{some(network.switches, 'switch')}, {measured(network.rack_units, 'rack unit')}"
    return f"{usd} ({share}), {installed}, {watts}"


def _assumptions(content: dict[str, Any], within: str = "") -> list[tuple[str, object]]:
    """Return the case as (key path, value) lines; lists of plain values stay on one line."""
    lines: list[tuple[str, object]] = []
    for key, value in content.items():
        path = f"{within}.{key}" if within else key
        if isinstance(value, dict):
            lines += _assumptions(value, path)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            for index, item in enumerate(value):
                lines += _assumptions({f"{key}[{index}]": item}, within)
        elif value is not None and value != [] and value != "":
            lines.append((path, ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return lines


def _bill(sheet: Worksheet, formats: dict[str, Format], design: Design) -> None:
    rows = orderable(design)
    shown = [column for columns in _SOME if has_any(rows, columns) for column in columns.items()]
    has_offers = any(design.parts.get(row.id, {}).get("sold_by") for row in rows)
    columns = (*_BILL, *(column for _, column in shown), *([_VENDOR] if has_offers else []))
    write_headings(sheet, [(title, width) for title, width, _ in columns], formats["head"])
    for line, row in enumerate(rows, start=1):
        _bill_row(sheet, formats, line, row, body_of(design, row) or {})
        for column, (name, (_, _, style)) in enumerate(shown, start=len(_BILL)):
            value = getattr(row, name)
            if value is not None and (value or style != "count"):
                write_cell(sheet, line, column, value, formats[style])
        if has_offers:
            write_cell(sheet, line, len(columns) - 1, seller_of(body_of(design, row) or {}), formats[_VENDOR[2]])
    last = len(rows) + 1
    sheet.freeze_panes(1, 0)
    if rows:
        sheet.autofilter(0, 0, len(rows), len(columns) - 1)
        _subtotals(sheet, formats, rows, last)
    # on one page its many columns were too small to read; the second one has the numbers of the lines too
    set_page(sheet, wide=2)
    sheet.repeat_rows(0)
    sheet.repeat_columns(0)


def _bill_row(sheet: Worksheet, formats: dict[str, Format], line: int, row: BomRow, part: dict[str, Any]) -> None:
    values: list[object] = [
        line,
        row.stage,
        row.fabric,
        row.kind,
        row.id,
        row.part_number,
        row.description,
        row.length_m,
    ]
    values += [row.quantity, row.in_use, row.unit_price_usd]
    for column, value in enumerate(values):
        write_cell(sheet, line, column, value, formats[_BILL[column][2]])
    set_height(sheet, line, [(row.description, _BILL[_DESCRIPTION][1])])
    row_at = line + 1
    if round(row.quantity * row.unit_price_usd, 2) == round(row.total_usd, 2):
        formula = f"={_QUANTITY}{row_at}*{_UNIT}{row_at}"
        sheet.write_formula(f"{_TOTAL}{row_at}", formula, formats["money"], row.total_usd)
    else:
        sheet.write_number(f"{_TOTAL}{row_at}", row.total_usd, formats["money"])
    sheet.write_number(f"{_POWER}{row_at}", row.power_w, formats["number"])
    terms: list[object] = [
        row.spares or None,
        row.single_price_usd,
        row.break_from,
        row.present_value_usd,
        row.lead_time_weeks,
    ]
    terms += [row.order_by_month, row.order_by]
    source = price_source(part, row.length_m)
    known: list[object] = [basis_of(part, row.length_m), source.get("date")] if part else []
    for column, value in enumerate([*terms, *known], start=_TERMS):
        write_cell(sheet, line, column, value, formats[_BILL[column][2]])


def _subtotals(sheet: Worksheet, formats: dict[str, Format], rows: Sequence[BomRow], last: int) -> None:
    """Write the sums below the rows, one a kind, so that the rows above stay one table to sort and filter."""
    row_at = last + 1
    for kind in dict.fromkeys(row.kind for row in rows):
        row_at += 1
        group = [row for row in rows if row.kind == kind]
        write_text(sheet, row_at - 1, 3, kind, formats["label"])
        for letter, style, value in _sums(group, ""):
            condition = f'${_KIND}$2:${_KIND}${last},"{kind}"'
            formula = f"=SUMIF({condition},{letter}$2:{letter}${last})"
            sheet.write_formula(f"{letter}{row_at}", formula, formats[style], value)
    row_at += 1
    for column in range(3, len(_BILL)):
        sheet.write_blank(row_at - 1, column, None, formats["total"])
    write_text(sheet, row_at - 1, 3, "total", formats["total"])
    for letter, style, value in _sums(rows, "total_"):
        sheet.write_formula(f"{letter}{row_at}", f"=SUM({letter}$2:{letter}${last})", formats[style], value)


def _sums(rows: Sequence[BomRow], style: str) -> list[tuple[str, str, int | float]]:
    return [
        (_QUANTITY, f"{style}count", sum(row.quantity for row in rows)),
        (_TOTAL, f"{style}money", round(sum(row.total_usd for row in rows), 2)),
        (_POWER, f"{style}number", round(sum(row.power_w for row in rows), 3)),
    ]


def _prices(sheet: Worksheet, formats: dict[str, Format], design: Design) -> None:
    write_headings(sheet, _PRICES, formats["head"])
    for line, ((id_, length_m), row) in enumerate({(row.id, row.length_m): row for row in design.bom}.items(), start=1):
        part = body_of(design, row) or {}
        source = price_source(part, length_m)
        prices = sorted({row.unit_price_usd for row in design.bom if (row.id, row.length_m) == (id_, length_m)})
        firm = firm_until(part, length_m)
        note = source.get("note") or part.get("notes")
        values: list[object] = [id_, seller_of(part), code_of(design, id_, length_m).code, length_m]
        values += [prices[0] if len(prices) == 1 else ", ".join(map(money, prices))]
        values += [source.get("url"), source.get("date"), source.get("kind")]
        values += [source.get("confidence") or part.get("confidence")]
        values += ["; ".join(str(text) for text in (firm and f"firm until {firm}", note) if text) or None]
        for column, value in enumerate(values):
            style = "money" if column == 4 and len(prices) == 1 else "wrap" if column in (4, 5, 9) else "text"
            write_cell(sheet, line, column, value, formats[style])
        set_height(sheet, line, [(str(values[column] or ""), _PRICES[column][1]) for column in (4, 5, 9)])
    sheet.freeze_panes(1, 1)
    set_page(sheet)
    sheet.repeat_rows(0)
