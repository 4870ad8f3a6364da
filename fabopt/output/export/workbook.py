"""The bill of materials as a spreadsheet: summary, bill, prices with their sources, what the answer rests on.

Every formula is written with its value, for readers that do not recalculate. Text never becomes a formula, and the same
design gives the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from fabopt.design.doubts import data_doubts
from fabopt.output.bought import case_said
from fabopt.output.cash import has_cash
from fabopt.output.export.alternatives import alternative_table
from fabopt.output.export.cash import write_cash
from fabopt.output.export.marks import NO_MARKS, REPRICED, Marks
from fabopt.output.export.offers import write_offers
from fabopt.output.export.orders import (
    QuoteTable,
    body_of,
    code_of,
    delivery_table,
    orderable,
    quote_table,
    seller_of,
    stage_table,
    write_orders,
    write_quotes,
    write_table,
)
from fabopt.output.export.spreadsheet import (
    new_book,
    set_height,
    set_page,
    write_cell,
    write_headings,
    write_marks,
    write_text,
)
from fabopt.output.purchased import SHARES, has_any, share_titles
from fabopt.output.space import pages_line
from fabopt.output.stated import StatedTable, Statement, table_of
from fabopt.output.statements import single_points
from fabopt.output.terminal.answer import headline, leading_notes, proof_line, served
from fabopt.output.terminal.first_screen import LEFT_OUT, LOST, compared_rows, first_rows
from fabopt.output.terminal.networks import SHARE_COLUMNS, network_shares
from fabopt.output.words import TITLE, left_out_lines, listed, measured, money, plain, power
from fabopt.parts.price_basis import IN_DOUBT, basis_of, firm_until, price_source
from fabopt.schema.design import BomRow, Design
from fabopt.schema.finance import DOLLAR
from fabopt.units import some

# StatedTable of the first screen that the summary says in other words.
_SAID_ABOVE = ("Cluster", "Prices", "By stage")
# Title, width, format of the bill's columns, in order; the letters are those of the sheet.
_BILL: tuple[tuple[str, float, str], ...] = (
    ("Line", 5, "text"),
    ("Stage", 10, "wrap"),
    ("Fabric", 10, "wrap"),
    ("Kind", 11, "text"),
    ("Id", 24, "wrap"),
    ("Part number", 20, "wrap"),
    ("Description", 32, "wrap"),
    ("Length m", 8, "number"),
    ("Quantity", 9, "count"),
    ("In use", 8, "count"),
    ("Unit price USD", 13, "money"),
    ("Total USD", 14, "money"),
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
# Of each product; and where any price is a vendor's offer.
_MAKER, _VENDOR = ("Maker", 16.0, "text"), ("Vendor", 16.0, "text")
_KIND, _QUANTITY, _UNIT, _TOTAL, _POWER = "D", "I", "K", "L", "M"
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


def workbook_bytes(design: Design, marks: Marks = NO_MARKS, date: str = "", revision: str = "") -> bytes:
    """Return the workbook of a design's bill; ``marks`` are sheets before all others.

    ``date``, ``revision``: on the first sheet and at the foot of each, where they are given.
    """
    stream = io.BytesIO()
    foot = f"{design.case.name}, {_revision(design, revision)}"
    with new_book(stream, f"{design.case.name}: bill of materials", foot) as (book, formats):
        write_marks(book, marks)
        _Lines(book.add_worksheet("Summary"), formats, _LABEL_WIDTH).write_summary(design, marks, date, revision)
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
        _Lines(book.add_worksheet("Basis"), formats, _KEY_WIDTH).write_basis(design)
    return stream.getvalue()


# Of the columns of the summary, and of the sheet with the longest keys of a case, in characters.
_LABEL_WIDTH, _KEY_WIDTH = 18, 46
_TEXT_WIDTH = 110
_LOOKS = {LOST: "bad", LEFT_OUT: "warn"}
_STATUS = {"optimal": "proven", "feasible": "not proven to be the best"}


def _revision(design: Design, revision: str) -> str:
    return f"{revision and f'{revision}, '}design {design.case.sha256[:12]}"


class _Lines:
    """A sheet of labels and texts, written downwards."""

    def __init__(self, sheet: Worksheet, formats: dict[str, Format], label_width: int) -> None:
        self.sheet = sheet
        self.formats = formats
        self.row = 0
        sheet.set_column("A:A", label_width)
        sheet.set_column("B:B", _TEXT_WIDTH)
        sheet.hide_gridlines(2)
        set_page(sheet, [label_width, _TEXT_WIDTH])

    def write_summary(self, design: Design, marks: Marks, date: str, revision: str) -> None:
        """What whoever signs must know: the answer, money by stage, power, lead times, what was left out."""
        write_text(self.sheet, 0, 0, design.case.name, self.formats["title"])
        self.row = 2
        sources = (price_source(body_of(design, row) or {}, row.length_m) for row in orderable(design))
        dates = sorted({str(source["date"]) for source in sources if source.get("date")})
        self.line("Project", str(design.case.content.get("description") or design.case.name))
        status = "" if REPRICED in marks else f", {_STATUS.get(design.status, design.status)}"
        self.line("Revision", f"{_revision(design, revision)}{status}")
        of_prices = f"prices of {' to '.join(dict.fromkeys((dates[0], dates[-1])))}" if dates else "not stated"
        self.line("Date", f"{date}, {of_prices}" if date and dates else date or of_prices)
        self.line("Currency", DOLLAR)
        self.row += 1
        self.line("Answer", served(design) if REPRICED in marks else headline(design))
        for title, mark in marks.items():
            self.line(title, mark)
        for note in leading_notes(design):
            kind, _, words = note.partition(": ")
            self.line(kind.capitalize(), words)
        said = first_rows(design) if REPRICED in marks else [*first_rows(design), *compared_rows(design)]
        for row in said:
            if row.label not in _SAID_ABOVE and (row.label != "Proof" or REPRICED not in marks):
                self.line(row.label, row.words, _LOOKS.get(row.style, "wrap"))
        for label, words in _lead_times(design):
            self.line(label, words)
        self.section("Stages" if len(design.stages) > 1 else "Size", list(_stage_lines(design)))

    def write_basis(self, design: Design) -> None:
        """What the answer rests on: all totals, losses, checks, the case with its defaults, notes."""
        self.line("Proof", f"{proof_line(design)} (stated by the search; no check proves it again)")
        self.line("Space", pages_line(design))
        for line in left_out_lines(design.rules_left_out):
            self.line(TITLE, line)
        self.statement(single_points(design))
        for fabric in design.fabrics:
            tiers = ", ".join(f"{row.count:,} {row.role} {row.id}" for row in fabric.switches)
            self.line(f"Fabric {fabric.name}", f"{fabric.protocol} {fabric.topology}: {tiers}")
        self.section("Totals", sorted(design.totals.model_dump().items()) if design.totals else [])
        self.section("By fabric", _row_lines(table_of(SHARE_COLUMNS, network_shares(design))))
        self.section(
            "Checks", [(check.name, f"{'ok' if check.ok else 'FAIL'}: {check.detail}") for check in design.checks]
        )
        self.section("Assumptions", list(_assumptions(case_said(design))))
        self.section("Notes", [("", note) for note in design.notes])

    def statement(self, statement: Statement | None) -> None:
        """A part of the design: its sentences, and a line for each row of its tables."""
        if statement is None:
            return
        self.line(statement.title, statement.about)
        for part in statement.said:
            for label, words in [("", part)] if isinstance(part, str) else _row_lines(part):
                self.line(f"  {label}", words)

    def section(self, title: str, lines: Sequence[tuple[str, object]]) -> None:
        if not lines:
            return
        self.row += 1
        write_text(self.sheet, self.row, 0, title, self.formats["head"])
        write_text(self.sheet, self.row, 1, "", self.formats["head"])
        self.row += 1
        for label, value in lines:
            self.line(label, value)

    def line(self, label: str, value: object, look: str = "wrap") -> None:
        style = self.formats[look]
        if isinstance(value, str) and value.startswith(("FAIL", "ok:")):
            style = self.formats["good" if value.startswith("ok:") else "bad"]
        elif isinstance(value, int | float):
            style = self.formats["left_money" if label.endswith(("_usd", "_usd_per_gpu")) else "left_number"]
        write_text(self.sheet, self.row, 0, label, self.formats["label"])
        write_cell(self.sheet, self.row, 1, value, style)
        set_height(self.sheet, self.row, [(str(value), _TEXT_WIDTH)])
        self.row += 1


def _lead_times(design: Design) -> Iterator[tuple[str, str]]:
    """The longest lead time with its part, and the first day or month by which to order."""
    weeks = [(row.lead_time_weeks, row) for row in orderable(design) if row.lead_time_weeks is not None]
    if weeks:
        longest = max(lead for lead, _ in weeks)
        parts = dict.fromkeys(row.part_number or row.id for lead, row in weeks if lead == longest)
        yield "Lead time", f"up to {measured(longest, 'week')}: {listed(list(parts))}"
    else:
        yield "Lead time", "no part states one"
    if days := [str(row.order_by) for row in design.bom if row.order_by]:
        yield "First order", f"by {min(days)}"
    elif months := [row.order_by_month for row in design.bom if row.order_by_month is not None]:
        yield "First order", f"by month {plain(min(months))}"


def _stage_lines(design: Design) -> Iterator[tuple[str, str]]:
    for stage in design.stages:
        days = sorted(str(row.order_by) for row in design.bom if row.stage == stage.name and row.order_by)
        size = f"{some(stage.servers, 'server')}, {some(stage.gpus, 'GPU')}, {power(stage.power_w)} of network"
        order = f"; first order by {days[0]}" if days else ""
        yield stage.name, f"month {stage.month}: {size}; to buy {money(stage.capex_usd)}{order}"


def _row_lines(table: StatedTable) -> list[tuple[str, str]]:
    """The first cell of each row, and the others with the titles of their columns."""
    titles = [title for title, _ in table.columns[1:]]
    return [
        (label, ", ".join(f"{title} {cell}" for title, cell in zip(titles, cells, strict=True) if cell != "-"))
        for label, *cells in table.rows
    ]


def _assumptions(content: dict[str, Any], within: str = "") -> Iterator[tuple[str, object]]:
    """Return the case as (key path, value) lines; lists of plain values stay on one line."""
    for key, value in content.items():
        path = f"{within}.{key}" if within else key
        if isinstance(value, dict):
            yield from _assumptions(value, path)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            for index, item in enumerate(value):
                yield from _assumptions({f"{key}[{index}]": item}, within)
        elif value is not None and value != [] and value != "":
            yield (path, ", ".join(map(str, value)) if isinstance(value, list) else str(value))


def _bill(sheet: Worksheet, formats: dict[str, Format], design: Design) -> None:
    """The bill, in which totals follow from quantities and prices, and sums below it."""
    rows = orderable(design)
    shown = [column for columns in _SOME if has_any(rows, columns) for column in columns.items()]
    has_offers = any(design.parts.get(row.id, {}).get("sold_by") for row in rows)
    titles = share_titles(design)
    more = [(titles.get(name, title), width, style) for name, (title, width, style) in shown]
    parts = [body_of(design, row) or {} for row in rows]
    cells = [
        (
            *(line, *_bill_cells(row, part)),
            *(_said(getattr(row, name), style) for name, (_, _, style) in shown),
            *_makers(row, part, has_offers),
        )
        for line, (row, part) in enumerate(zip(rows, parts, strict=True), start=1)
    ]
    columns = (*_BILL, *more, _MAKER, *([_VENDOR] if has_offers else []))
    write_table(sheet, formats, QuoteTable(columns, cells))
    for row_at, row in enumerate(rows, start=2):
        if round(row.quantity * row.unit_price_usd, 2) == round(row.total_usd, 2):
            formula = f"={_QUANTITY}{row_at}*{_UNIT}{row_at}"
            sheet.write_formula(f"{_TOTAL}{row_at}", formula, formats["money"], row.total_usd)
    if rows:
        _subtotals(sheet, formats, rows, len(rows) + 1)


def _bill_cells(row: BomRow, part: dict[str, Any]) -> Sequence[object]:
    """The cells of a line, as in ``_BILL`` after its number; ``part``: its product or charge, empty if unknown."""
    known = (basis_of(part, row.length_m), price_source(part, row.length_m).get("date")) if part else (None, None)
    return (
        *(row.stage, row.fabric, row.kind, row.id, row.part_number, row.description, row.length_m, row.quantity),
        *(row.in_use, row.unit_price_usd, row.total_usd, row.power_w, row.spares or None, row.single_price_usd),
        *(row.break_from, row.present_value_usd, row.lead_time_weeks, row.order_by_month, row.order_by, *known),
    )


def _said(value: object, style: str) -> object:
    """A cell of a column that not all bills have: a count of none is no cell."""
    return None if style == "count" and not value else value


def _makers(row: BomRow, part: dict[str, Any], has_offers: bool) -> list[str | None]:
    """The maker of a line's product; then its vendor where any price is a vendor's offer."""
    maker = part.get("vendor") if row.charge is None else None
    return [maker, *([seller_of(part)] if has_offers else [])]


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
    doubts = data_doubts(design)
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
        doubt = f"{IN_DOUBT}{doubts[id_]}" if id_ in doubts else None
        values += ["; ".join(str(text) for text in (firm and f"firm until {firm}", note, doubt) if text) or None]
        for column, value in enumerate(values):
            style = "money" if column == 4 and len(prices) == 1 else "wrap" if column in (4, 5, 9) else "text"
            write_cell(sheet, line, column, value, formats[style])
        set_height(sheet, line, [(str(values[column] or ""), _PRICES[column][1]) for column in (4, 5, 9)])
    sheet.freeze_panes(1, 1)
