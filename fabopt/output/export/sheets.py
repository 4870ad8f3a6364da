"""Tables as files: CSV and spreadsheets of any size, in which no text is ever computed.

A table is a pandas frame; a missing number (NaN) is an empty cell. The same table gives the same bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from fabopt.output.export.formats import Content
from fabopt.output.export.marks import MARK
from fabopt.output.export.sheet_rows import fill_workbook
from fabopt.output.export.spreadsheet import (
    CELL_FORMATS,
    are_plain,
    new_book,
    safe,
    set_feet,
    set_page,
    write_marks,
)

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
# Rows of a table that are written together.
_AT_ONCE = 8192


def csv_file(table: pd.DataFrame) -> Content:
    """A table as a file of CSV."""
    return partial(write_csv, table=table)


def workbook_file(title: str, tables: Mapping[str, pd.DataFrame], mark: str) -> Content:
    """Tables as a workbook, as ``write_workbook`` has it."""
    return partial(write_workbook, title=title, tables=tables, mark=mark)


def write_csv(path: Path, table: pd.DataFrame) -> Path:
    """Write a table as CSV for spreadsheets, text that they would compute marked as text."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow([safe(name) for name in table.columns])
        for start in range(0, len(table), _AT_ONCE):
            part = table.iloc[start : start + _AT_ONCE]
            writer.writerows(zip(*(_csv_cells(part[name]) for name in table.columns), strict=True))
    return path


def _csv_cells(column: pd.Series) -> list[object]:
    """Cells of a column: a missing number is empty, others have ten digits."""
    cells: list[object] = column.tolist()
    if column.dtype.kind == "f":
        return ["" if cell != cell else f"{cell:.10g}" for cell in cells]
    return (
        cells
        if column.dtype.kind in "iu" or are_plain(cells)
        else [safe(cell) if cell == cell else "" for cell in cells]
    )


def write_workbook(path: Path, title: str, tables: Mapping[str, pd.DataFrame], mark: str = "") -> Path:
    """Write tables as sheets with a frozen title row and a filter; rows beyond a sheet's limit go on in the next sheet.

    ``mark``: text of a sheet before them.
    """
    stream = io.BytesIO()
    book = new_book(stream, title)
    head = book.add_format(CELL_FORMATS["head"])
    write_marks(book, {MARK: mark} if mark else {})
    sheets = _sheets(tables)
    for name, table in sheets.items():
        _head(book.add_worksheet(name), head, table)
    set_feet(book, title)
    book.close()
    fill_workbook(stream.getvalue(), list(sheets.values()), path)
    return path


def _sheets(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    sheets: dict[str, pd.DataFrame] = {}
    for name, table in tables.items():
        for start in range(0, max(1, len(table)), MOST_ROWS - 1):
            sheets[_sheet_name(name, sheets)] = table.iloc[start : start + MOST_ROWS - 1]
    return sheets


def _sheet_name(name: str, taken: Mapping[str, object]) -> str:
    """Return a sheet name that Excel takes and no other sheet has: the end of a long one, which tells devices apart."""
    used = {name_taken.lower() for name_taken in taken}
    short, number = name[-_LONGEST_NAME:], 1
    while short.lower() in used:
        number += 1
        short = f"{name[-_LONGEST_NAME + len(str(number)) + 1 :]} {number}"
    return short


def _head(sheet: Worksheet, head: Format, table: pd.DataFrame) -> None:
    """The title row of a sheet, with column widths, filter and page setup."""
    widths = [_width(table[name]) for name in table.columns]
    for column, (name, width) in enumerate(zip(table.columns, widths, strict=True)):
        sheet.write_string(0, column, name, head)
        sheet.set_column(column, column, width)
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, max(1, len(table)), len(table.columns) - 1)
    set_page(sheet, widths, repeated=1)
    # on paper, too, between a number and the text beside it
    sheet.hide_gridlines(0)
    sheet.repeat_rows(0)


def _width(column: pd.Series) -> float:
    longest = max(map(len, map(str, column.iloc[:_SAMPLE])), default=0)
    return min(_WIDEST, max(_NARROWEST, longest + 1, len(str(column.name)) + _HEAD_EXTRA))
