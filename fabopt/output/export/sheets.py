"""Tables as files: CSV and spreadsheets of any size, in which no text is ever computed.

A table is a pandas frame; a missing number (NaN) is an empty cell. The same table gives the same bytes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray
from xlsxwriter.format import Format
from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell
from xlsxwriter.worksheet import Worksheet

from fabopt.output.export.formats import Content
from fabopt.output.export.marks import MARK
from fabopt.output.export.spreadsheet import (
    LONGEST_CELL,
    are_plain,
    new_book,
    safe,
    set_page,
    write_marks,
)
from fabopt.output.words import printable

if TYPE_CHECKING:
    import pandas as pd

# -- rows of large workbooks, written one by one: their cells are never held in memory together -----------------------


Bools = NDArray[np.bool_]
# Rows whose extent is told together, as a hint for readers.
BLOCK = 16
# Rows that are made before they are written.
_AT_ONCE = 64 * BLOCK
_SHEETS = "xl/worksheets/sheet"
_TEXTS = "xl/sharedStrings.xml"
_TEXT = re.compile(r"<si>.*?</si>", re.DOTALL)
_TEXT_CELL = re.compile(r'( t="s"><v>)(\d+)(</v>)')
_EXTENT = re.compile(r'<dimension ref="A1(?::[A-Z]+1)?"/>')
_COUNTS = re.compile(r' count="\d+" uniqueCount="\d+"')
# What would be read as a character by its number.
_NUMBERED = re.compile("(_x[0-9a-fA-F]{4}_)")


class SharedTexts(dict[str, int]):
    """Numbers of the texts of a workbook, given as they are asked for.

    ``entries``: each once, as XML. ``cells``: count of cells with a text.
    """

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[str, int] = {}
        self.cells = 0

    def __missing__(self, text: str) -> int:
        number = self.number_of(_entry(text))
        self[text] = number
        return number

    def number_of(self, entry: str) -> int:
        """The number of a text that is XML already."""
        return self.entries.setdefault(entry, len(self.entries))


def _entry(text: str) -> str:
    """A text as an entry of the list of texts, without characters that cannot be printed."""
    text = (text if text.isprintable() else printable(text))[:LONGEST_CELL]
    text = _NUMBERED.sub(r"_x005F\1", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    kept = ' xml:space="preserve"' if text[0].isspace() or text[-1].isspace() else ""
    return f"<si><t{kept}>{text}</t></si>"


def fill_workbook(heads: bytes, tables: Sequence[pd.DataFrame], path: Path) -> None:
    """Write a workbook with rows below the heads of its last sheets, a table for each.

    An empty text and a missing number have no cell.
    """
    texts = SharedTexts()
    with ZipFile(io.BytesIO(heads)) as source, ZipFile(path, "w", ZIP_DEFLATED) as book:
        entries = _TEXT.findall(source.read(_TEXTS).decode())
        first = sum(info.filename.startswith(_SHEETS) for info in source.infolist()) - len(tables)
        for info in source.infolist():
            content = source.read(info).decode()
            copied = ZipInfo(info.filename, info.date_time)
            copied.compress_type, copied.external_attr = info.compress_type, info.external_attr
            with book.open(copied, "w") as stream:
                if info.filename.startswith(_SHEETS):
                    number = int(info.filename.removeprefix(_SHEETS).removesuffix(".xml")) - 1 - first
                    pieces = _sheet(content, entries, tables[number] if number >= 0 else None, texts)
                else:
                    pieces = _texts(content, texts) if info.filename == _TEXTS else iter([content])
                for piece in pieces:
                    stream.write(piece.encode())


def _texts(content: str, texts: SharedTexts) -> Iterator[str]:
    """The list of all texts."""
    counts = f' count="{texts.cells}" uniqueCount="{len(texts.entries)}"'
    yield _COUNTS.sub(counts, content[: content.index("<si>")])
    yield from texts.entries
    yield content[content.rindex("</si>") + len("</si>") :]


def _sheet(content: str, entries: Sequence[str], table: pd.DataFrame | None, texts: SharedTexts) -> Iterator[str]:
    """A sheet with its rows, its own texts numbered anew."""

    def numbered(cell: re.Match[str]) -> str:
        texts.cells += 1
        return f"{cell[1]}{texts.number_of(entries[int(cell[2])])}{cell[3]}"

    top, end, bottom = content.partition("</sheetData>")
    top = _TEXT_CELL.sub(numbered, top)
    if table is None or not len(table):
        yield top + end + bottom
        return
    filled = np.vstack([np.ones(len(table.columns), dtype=np.bool_), (table.notna() & (table != "")).to_numpy()])
    texts.cells += int(filled[1:, [kind.kind not in "iuf" for kind in table.dtypes]].sum())
    last = xl_rowcol_to_cell(int(np.flatnonzero(np.any(filled, axis=1))[-1]), len(table.columns) - 1)
    yield _EXTENT.sub(f'<dimension ref="{"A1" if last == "A1" else f"A1:{last}"}"/>', top)
    yield from _rows(table, _extents(filled), texts)
    yield end + bottom


def _extents(filled: Bools) -> list[str]:
    """First and last column in use of each block of rows."""
    rows, columns = filled.shape
    blocks = np.vstack([filled, np.zeros((-rows % BLOCK, columns), dtype=np.bool_)]).reshape(-1, BLOCK, columns)
    used: Bools = np.asarray(np.any(blocks, axis=1))
    first, last = used.argmax(axis=1) + 1, columns - used[:, ::-1].argmax(axis=1)
    return [f"{a}:{b}" for a, b in zip(first.tolist(), last.tolist(), strict=True)]


def _rows(table: pd.DataFrame, extents: Sequence[str], texts: SharedTexts) -> Iterator[str]:
    """Rows of a sheet from its second one on, many at once; a row without cells is left out."""
    columns = [(xl_col_to_name(place), kind.kind in "iuf") for place, kind in enumerate(table.dtypes)]
    for start in range(0, len(table), _AT_ONCE):
        lines: list[str] = []
        part = table.iloc[start : start + _AT_ONCE]
        for line, row in enumerate(part.itertuples(index=False, name=None), start=start + 2):
            cells = [
                f'<c r="{letters}{line}"><v>{value:.16G}</v></c>'
                if is_number
                else f'<c r="{letters}{line}" t="s"><v>{texts[value]}</v></c>'
                for (letters, is_number), value in zip(columns, row, strict=True)
                # a number that is not equal to itself is none
                if value != "" and value == value
            ]
            if cells:
                lines.append(f'<row r="{line}" spans="{extents[(line - 1) // BLOCK]}">{"".join(cells)}</row>')
        yield "".join(lines)


# -- whole tables -----------------------------------------------------------------------------------------------------


# Of a sheet, its title row included (Excel's own limit).
MOST_ROWS = 1_048_576
_LONGEST_NAME = 31
_WIDEST, _NARROWEST = 60, 6
# Room for the button of the filter.
_HEAD_EXTRA = 3
# Looked at to choose a column's width.
_SAMPLE = 2000
# Rows of CSV that are written together.
_LINES = 8192


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
        for start in range(0, len(table), _LINES):
            part = table.iloc[start : start + _LINES]
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
    sheets = _sheets(tables)
    with new_book(stream, title, title) as (book, formats):
        write_marks(book, {MARK: mark} if mark else {})
        for name, table in sheets.items():
            _head(book.add_worksheet(name), formats["head"], table)
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
