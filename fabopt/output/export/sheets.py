"""Tables as files: CSV and spreadsheets of any size, in which no text is ever computed.

A table is a pandas frame; a missing number (NaN) is an empty cell. The same table gives the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from fabopt.output.export.marks import MARK
from fabopt.output.export.spreadsheet import CELL_FORMATS, CREATED, WORKBOOK_OPTIONS, safe, set_page, write_marks
from fabopt.output.words import printable

if TYPE_CHECKING:
    import pandas as pd

# Of a sheet, its title row included (Excel's own limit).
MOST_ROWS = 1_048_576
_LONGEST_NAME = 31
_WIDEST, _NARROWEST = 60, 6
# Room for the button of the filter.
_HEAD_EXTRA = 3
# Looked at to choose a column's width.
_SAMPLE = 2000


def write_csv(path: Path, table: pd.DataFrame) -> Path:
    """Write a table as CSV as spreadsheets like it, text that they would compute marked as text."""
    marked = table.map(safe).rename(columns=safe)
    path.write_bytes(marked.to_csv(index=False, lineterminator="\r\n", float_format="%.10g").encode())
    return path


def write_workbook(path: Path, title: str, tables: Mapping[str, pd.DataFrame], mark: str = "") -> Path:
    """Write tables as sheets with a frozen title row and a filter; what one sheet cannot hold goes on in the next.

    ``mark``: goes on a sheet before them.
    """
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream, WORKBOOK_OPTIONS)
    book.set_properties({"title": title, "author": "fabopt", "created": CREATED})
    head = book.add_format(CELL_FORMATS["head"])
    write_marks(book, {MARK: mark} if mark else {})
    for name, table in _sheets(tables).items():
        _sheet(book.add_worksheet(name), head, table)
    book.close()
    path.write_bytes(stream.getvalue())
    return path


def _sheets(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    sheets: dict[str, pd.DataFrame] = {}
    for name, table in tables.items():
        for start in range(0, max(1, len(table)), MOST_ROWS - 1):
            sheets[_sheet_name(name, sheets)] = table.iloc[start : start + MOST_ROWS - 1]
    return sheets


def _sheet_name(name: str, taken: Mapping[str, object]) -> str:
    """Return a name that a sheet may have and no other has: the end of a long one, which tells devices apart."""
    used = {one.lower() for one in taken}
    short, number = name[-_LONGEST_NAME:], 1
    while short.lower() in used:
        number += 1
        short = f"{name[-_LONGEST_NAME + len(str(number)) + 1 :]} {number}"
    return short


def _sheet(sheet: Worksheet, head: Format, table: pd.DataFrame) -> None:
    numbers = [kind.kind in "iuf" for kind in table.dtypes]
    writers = [sheet.write_number if number else sheet.write_string for number in numbers]
    for column, name in enumerate(table.columns):
        sheet.write_string(0, column, name, head)
        sheet.set_column(column, column, _width(table[name]))
    for line, row in enumerate(table.itertuples(index=False, name=None), start=1):
        for column, value in enumerate(row):
            # An empty cell costs nothing, and a number that is not equal to itself is none.
            if value != "" and value == value:
                writers[column](line, column, value if numbers[column] else _visible(value))
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, max(1, len(table)), len(table.columns) - 1)
    set_page(sheet)
    sheet.repeat_rows(0)


def _visible(text: str) -> str:
    return text if text.isprintable() else printable(text)


def _width(column: pd.Series) -> float:
    longest = max(map(len, map(str, column.iloc[:_SAMPLE])), default=0)
    return min(_WIDEST, max(_NARROWEST, longest + 1, len(str(column.name)) + _HEAD_EXTRA))
