"""A quote as a workbook with its faults marked, missing parts added, and the findings as a list."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from fabopt.inspect.quote_audit import QuoteComparison, QuoteFinding
from fabopt.output.export.orders import QuoteTable, write_table
from fabopt.output.export.spreadsheet import (
    CELL_FORMATS,
    new_book,
    printable_csv,
    write_facts,
)
from fabopt.parts.quotes import Quote

# How a line looks: as planned, with a remark, wrong, and one that is to be added.
_STRUCK = {"font_color": "#C00000", "font_strikeout": True}
_LOOKS: dict[str, dict[str, Any]] = {
    "kept": {},
    "remark": {"bg_color": "#FFF2CC"},
    "changed": {"font_color": "#C00000", "bg_color": "#FDE9E7"},
    "struck": {**_STRUCK, "bg_color": "#FDE9E7"},
    "added": {"font_color": "#C00000", "underline": 1, "bg_color": "#FDE9E7"},
}
# Texts to the right of numbers.
_BESIDE = {"wrap": {"indent": 1}}
_COLUMNS: tuple[tuple[str, float, str], ...] = (
    ("Sheet", 12, "text"), ("Row", 6, "count"), ("Part as quoted", 30, "wrap"), ("Description", 40, "wrap"),
    ("Product", 30, "text"), ("Length m", 9, "number"), ("Quoted", 10, "count"), ("Planned", 10, "count"),
    ("Quoted unit price USD", 14, "money"), ("Planned unit price USD", 14, "money"), ("What to change", 80, "wrap"),
)  # fmt: skip
FINDING_COLUMNS = ("kind", "severity", "id", "length_m", "sheet", "row", "planned", "quoted", "usd", "text")
_WIDTHS = (16, 10, 30, 9, 12, 6, 10, 10, 14, 110)
# Kinds of findings on lines that the bill does not need.
_UNWANTED = ("surplus", "does-not-mate", "not-matched", "wrong-length")
_NO_LINES = ("note", "subtotal")


def findings_csv(findings: Sequence[QuoteFinding]) -> bytes:
    """Return findings as CSV, one row each, with ``FINDING_COLUMNS``."""
    return printable_csv(
        FINDING_COLUMNS, ([getattr(finding, name) for name in FINDING_COLUMNS] for finding in findings)
    )


def redline_bytes(quote: Quote, comparison: QuoteComparison, summary: Sequence[tuple[str, str]]) -> bytes:
    """Return the workbook; the same quote and design give the same bytes. ``summary``: lines of its first sheet."""
    stream = io.BytesIO()
    title = f"{quote.file}: redlined"
    with new_book(stream, title, title) as (book, formats):
        formats |= {
            f"{look} {name}": book.add_format({**CELL_FORMATS[name], **extra, **_BESIDE.get(name, {})})
            for look, extra in _LOOKS.items()
            for name in ("text", "wrap", "count", "number", "money")
        }
        write_facts(book.add_worksheet("Summary"), formats, summary, (30, 110))
        _redlined(book.add_worksheet("Redlined quote"), formats, quote, comparison)
        write_table(book.add_worksheet("Findings"), formats, _finding_table(comparison.findings))
    return stream.getvalue()


def _redlined(sheet: Worksheet, formats: dict[str, Format], quote: Quote, comparison: QuoteComparison) -> None:
    rows = [*_quoted_rows(quote, comparison), *_missing_rows(comparison)]

    def look(line: int, column: int) -> str:
        of_line, _ = rows[line - 1]
        return f"{'changed' if of_line == 'struck' and column == len(_COLUMNS) - 1 else of_line} "

    write_table(sheet, formats, QuoteTable(_COLUMNS, [cells for _, cells in rows]), look)


def _quoted_rows(quote: Quote, comparison: QuoteComparison) -> Iterator[tuple[str, list[object]]]:
    """Lines of the quote in its order, each with its cell format."""
    for line in quote.lines:
        if line.status in _NO_LINES:
            continue
        own = [finding for finding in comparison.findings if (finding.sheet, finding.row) == (line.sheet, line.row)]
        planned = comparison.planned.get(line.key) if line.id else None
        yield _cell_format(own), [
            line.sheet, line.row, line.part, line.description, line.id, line.length_m, line.quantity,
            planned.quantity if planned else None, quote.unit_usd(line), planned.unit_usd if planned else None,
            "; ".join(finding.text for finding in own),
        ]  # fmt: skip


def _cell_format(findings: Sequence[QuoteFinding]) -> str:
    if not findings:
        return "kept"
    faults = [finding for finding in findings if finding.severity == "fault"]
    if not faults:
        return "remark"
    is_unwanted = all(finding.kind in _UNWANTED and not finding.planned for finding in faults)
    return "struck" if is_unwanted else "changed"


def _missing_rows(comparison: QuoteComparison) -> Iterator[tuple[str, list[object]]]:
    """Parts of the bill that no line of the quote offers, to be added."""
    lines = {(finding.id, finding.length_m) for finding in comparison.findings if finding.kind == "unpriced"}
    for finding in comparison.findings:
        if finding.kind == "missing" and finding.row is None and (finding.id, finding.length_m) not in lines:
            planned = comparison.planned[finding.id, finding.length_m]
            yield "added", [
                "", None, planned.part_number, planned.description, finding.id, finding.length_m, None,
                planned.quantity, None, planned.unit_usd, f"add: {finding.text}",
            ]  # fmt: skip


def _finding_table(findings: Sequence[QuoteFinding]) -> QuoteTable:
    looks = {"usd": "money", "text": "wrap"}
    columns = [(name, width, looks.get(name, "text")) for name, width in zip(FINDING_COLUMNS, _WIDTHS, strict=True)]
    return QuoteTable(columns, [[getattr(finding, name) for name in FINDING_COLUMNS] for finding in findings])
