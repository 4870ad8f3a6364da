"""Cells and pages of all tables for spreadsheets: text that is never computed, formats, page setup.

The same design gives the same bytes, and no text of a catalog becomes a formula.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from fabopt.output.export.marks import Marks
from fabopt.output.words import printable

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

LONGEST_CELL = 32_000
LINE_POINTS, HIGHEST_ROW_POINTS = 15, 409

# What spreadsheets read as the start of a formula (OWASP, "CSV injection"): = + - @, and the minus sign, full-width,
# small, raised and lowered forms of these, which some of them take for the plain ones.
_SIGNS = "=+\\-@\u2212\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207a-\u207c\u208a-\u208c"
# What may stand before it and is not seen, or is cut off: controls, spaces of all widths, marks of format (Unicode's
# categories Cc, Z and Cf, such as the soft hyphen and marks of direction), fillers, joiners, variation selectors, tags.
_UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x20\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680"
    "\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_ENDS = "\t\r\n"
# Where a cell begins: also at what separates cells or rows for a program that takes the file for another kind of CSV.
_FORMULA = re.compile(f"^(?=[{_UNSEEN}]*[{_SIGNS}{_ENDS}])|(?<=[;|{_ENDS}])(?=[{_UNSEEN}]*[{_SIGNS}])")
# Most cells, told at a glance.
_PLAIN = re.compile(f"(?:[A-Za-z0-9][^;|{_ENDS}]*)?\\Z")
# What some text has that is not told at a glance, in texts of a line each.
_UNPLAIN = re.compile(r"^[^A-Za-z0-9\n]|[;|\t\r]", re.MULTILINE)
# A workbook states when it was made; a fixed date keeps it the same for the same design.
CREATED = datetime(2026, 1, 1, tzinfo=UTC)
# A font that all programs have, or one of the same widths.
_FONT = {"font_name": "Arial", "font_size": 10}
# Of xlsxwriter: text stays text.
_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}
# Of a page of letter paper in landscape, which is narrower than A4: margins, and what is left in points; the scale at
# which text of 10 points has 7.2. Of a column: pixels of a character and beside all, of which a point has 4/3.
_MARGIN_INCHES = 0.4
_PAGE_POINTS = (11 - 2 * _MARGIN_INCHES) * 72
_LEAST_SCALE, _POINTS = 0.72, 0.75
_PIXELS, _PIXELS_BESIDE = 7.42, 5
# Of a footer all parts together have 255 letters.
_LONGEST_FOOT = 120
# How cells look, by name.
CELL_FORMATS: dict[str, dict[str, Any]] = {
    "title": {"bold": True, "font_size": 14},
    "head": {"bold": True, "bg_color": "#1F3A5F", "font_color": "#FFFFFF", "text_wrap": True, "valign": "vcenter"},
    "label": {"bold": True, "valign": "top"},
    "text": {"valign": "top", "align": "left", "indent": 1},
    "wrap": {"text_wrap": True, "valign": "top"},
    "count": {"num_format": "#,##0", "valign": "top"},
    "number": {"num_format": "#,##0.##", "valign": "top"},
    "amount": {"num_format": "#,##0.00", "valign": "top"},
    "money": {"num_format": "$#,##0.00", "valign": "top"},
    "date": {"num_format": "yyyy-mm-dd", "valign": "top", "align": "left", "indent": 1},
    "left_number": {"num_format": "#,##0.##", "valign": "top", "align": "left"},
    "left_money": {"num_format": "$#,##0.00", "valign": "top", "align": "left"},
    "total": {"bold": True, "top": 1},
    "total_count": {"bold": True, "top": 1, "num_format": "#,##0"},
    "total_money": {"bold": True, "top": 1, "num_format": "$#,##0.00"},
    "total_number": {"bold": True, "top": 1, "num_format": "#,##0.##"},
    "warn": {"font_color": "#8A5300", "valign": "top", "text_wrap": True},
    "good": {"font_color": "#1B7F3B", "valign": "top", "text_wrap": True},
    "bad": {"font_color": "#C00000", "bold": True, "valign": "top", "text_wrap": True},
}


def safe(value: object) -> object:
    """Return a value for a CSV file: text that a spreadsheet would compute is marked as text, with an apostrophe.

    Numbers stay numbers, negative ones too.
    """
    if not isinstance(value, str) or _PLAIN.match(value):
        return value
    return _FORMULA.sub("'", value)


def are_plain(cells: Sequence[object]) -> bool:
    """Whether all cells are texts that ``safe`` surely leaves unchanged; False may be a false alarm."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    together = "\n".join(texts)
    return len(texts) == len(cells) and together.count("\n") < max(1, len(texts)) and not _UNPLAIN.search(together)


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[object]], quote_all: bool = False) -> bytes:
    """Return a CSV file of rows under columns, in which no text is ever computed."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n", quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL)
    writer.writerow([safe(name) for name in columns])
    writer.writerows([safe(cell) for cell in row] for row in rows)
    return stream.getvalue().encode()


def printable_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return a CSV file of texts from outside: a question mark for each letter that cannot be printed."""
    return csv_bytes(columns, ([printable(cell) if isinstance(cell, str) else cell for cell in row] for row in rows))


def write_headings(sheet: Worksheet, columns: Sequence[tuple[str, float]], style: Format) -> None:
    """Write titles of columns, each with its width, into a first row that is high enough for all of them.

    Each page that is printed has it, and the first column.
    """
    for column, (title, width) in enumerate(columns):
        sheet.set_column(column, column, width)
        write_text(sheet, 0, column, title, style)
    set_height(sheet, 0, columns)
    set_page(sheet, [width for _, width in columns], 1)
    sheet.repeat_rows(0)


def set_height(sheet: Worksheet, row: int, cells: Iterable[tuple[str, float]]) -> None:
    """Make a row as high as the longest of its wrapped texts; ``cells``: (text, width).

    Programs that print a workbook may not do so by themselves; then lines are cut, or printed over the next row.
    """
    lines = max((len(wrap(text, max(1, int(width) - 1))) for text, width in cells), default=1)
    if lines > 1:
        sheet.set_row(row, min(LINE_POINTS * lines, HIGHEST_ROW_POINTS))


def set_page(sheet: Worksheet, widths: Sequence[float], repeated: int = 0) -> None:
    """Let a sheet be printed in landscape, its text not smaller than seven points.

    widths    of the columns that are printed, in characters
    repeated  columns on the left that each page has, if one page across is too few
    """
    sheet.set_landscape()
    sheet.set_margins(*(_MARGIN_INCHES,) * 2, 0.5, 0.6)
    if _pages_across(widths, repeated) == 1:
        sheet.fit_to_pages(1, 0)
    else:
        # fitted to several pages the first would have fewer columns, at a larger scale
        sheet.set_print_scale(round(100 * _LEAST_SCALE))
        sheet.print_across()
        if repeated:
            sheet.repeat_columns(0, repeated - 1)


def _pages_across(widths: Sequence[float], repeated: int) -> int:
    """Pages beside each other for columns of so many characters, at the least scale."""
    points = [(width * _PIXELS + _PIXELS_BESIDE) * _POINTS * _LEAST_SCALE for width in widths]
    ahead = sum(points[:repeated])
    pages, used = 1, 0.0
    for column in points:
        if used + column > _PAGE_POINTS and used > ahead:
            pages, used = pages + 1, ahead
        used += column
    return pages


@contextmanager
def new_book(stream: io.BytesIO, title: str, foot: str) -> Iterator[tuple[Workbook, dict[str, Format]]]:
    """A workbook, written to a stream when the block ends, and its formats by the names in ``CELL_FORMATS``.

    ``foot``: what each page is of, with its sheet, the day of printing and its number.
    """
    import xlsxwriter

    # the library writes into the properties that it is given
    book = xlsxwriter.Workbook(stream, {**_OPTIONS, "default_format_properties": dict(_FONT)})
    book.set_properties({"title": title, "author": "fabopt", "created": CREATED})
    yield book, {name: book.add_format(properties) for name, properties in CELL_FORMATS.items()}
    words = printable(foot)[:_LONGEST_FOOT].replace("&", "&&")
    for sheet in book.worksheets():
        sheet.set_footer(f"&L{words}, &A&Cprinted &D&Rpage &P of &N")
    book.close()


def write_marks(book: Workbook, marks: Marks) -> None:
    """Begin a workbook with a sheet for each of its marks."""
    for title, mark in marks.items():
        sheet = book.add_worksheet(title)
        sheet.set_tab_color("#C00000")
        sheet.write_string(0, 0, mark, book.add_format(CELL_FORMATS["bad"]))


def write_text(sheet: Worksheet, row: int, column: int, value: str, style: Format) -> None:
    """Write text that stays text."""
    sheet.write_string(row, column, printable(value)[:LONGEST_CELL], style)


def write_facts(
    sheet: Worksheet, formats: Mapping[str, Format], facts: Iterable[tuple[str, str]], widths: tuple[int, int]
) -> None:
    """Write a sheet of labels with texts beside them, in two columns so wide, as it is printed."""
    for column, width in enumerate(widths):
        sheet.set_column(column, column, width)
    for row, (label, text) in enumerate(facts):
        write_text(sheet, row, 0, label, formats["label"])
        write_text(sheet, row, 1, text, formats["wrap"])
        set_height(sheet, row, [(text, widths[1])])
    set_page(sheet, widths)


def write_cell(sheet: Worksheet, row: int, column: int, value: object, style: Format) -> None:
    """Write a number, a date, a text, or nothing."""
    if isinstance(value, date):
        sheet.write_datetime(row, column, datetime.combine(value, time.min), style)
    elif isinstance(value, int | float):
        sheet.write_number(row, column, value, style)
    elif isinstance(value, str) and value:
        write_text(sheet, row, column, value, style)
    else:
        sheet.write_blank(row, column, None, style)
