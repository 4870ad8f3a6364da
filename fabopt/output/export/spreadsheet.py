"""What all tables for spreadsheets share: text that is never computed, looks of cells, a page to print.

The same design gives the same bytes, and no text of a catalog becomes a formula.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fabopt.output.words import printable

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

_LONGEST_CELL = 32_000

# First characters that spreadsheets read as the start of a formula (OWASP, "CSV injection").
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
# A workbook states when it was made; a fixed date keeps it the same for the same design.
CREATED = datetime(2026, 1, 1, tzinfo=UTC)
# Of xlsxwriter: text stays text.
WORKBOOK_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}
# How cells look, by name.
CELL_FORMATS: dict[str, dict[str, Any]] = {
    "title": {"bold": True, "font_size": 14},
    "head": {"bold": True, "bg_color": "#1F3A5F", "font_color": "#FFFFFF", "text_wrap": True, "valign": "vcenter"},
    "label": {"bold": True, "valign": "top"},
    "text": {"valign": "top"},
    "wrap": {"text_wrap": True, "valign": "top"},
    "count": {"num_format": "#,##0", "valign": "top"},
    "number": {"num_format": "#,##0.##", "valign": "top"},
    "money": {"num_format": "$#,##0.00", "valign": "top"},
    "left_number": {"num_format": "#,##0.##", "valign": "top", "align": "left"},
    "left_money": {"num_format": "$#,##0.00", "valign": "top", "align": "left"},
    "total": {"bold": True, "top": 1},
    "total_count": {"bold": True, "top": 1, "num_format": "#,##0"},
    "total_money": {"bold": True, "top": 1, "num_format": "$#,##0.00"},
    "total_number": {"bold": True, "top": 1, "num_format": "#,##0.##"},
    "good": {"font_color": "#1B7F3B", "valign": "top"},
    "bad": {"font_color": "#C00000", "bold": True, "valign": "top"},
}


def safe(value: object) -> object:
    """Return a value for a CSV file: text that a spreadsheet would compute is marked as text, with an apostrophe."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def set_page(sheet: Worksheet) -> None:
    """Let a sheet be printed on A4 across, as wide as one page, with the pages numbered."""
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.set_footer("&L&A&RPage &P of &N")


def write_text(sheet: Worksheet, row: int, column: int, value: str, style: Format) -> None:
    """Write text that stays text."""
    sheet.write_string(row, column, printable(value)[:_LONGEST_CELL], style)


def write_cell(sheet: Worksheet, row: int, column: int, value: object, style: Format) -> None:
    """Write a number, a text, or nothing."""
    if isinstance(value, int | float):
        sheet.write_number(row, column, value, style)
    elif isinstance(value, str) and value:
        write_text(sheet, row, column, value, style)
    else:
        sheet.write_blank(row, column, None, style)
