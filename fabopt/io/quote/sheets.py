"""Sheets of a spreadsheet as cells by row and column, whatever kind of file they are from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import NamedTuple

from fabopt.units import grouped

# A quote has some hundred lines; what has many more is something else.
# What a CSV file calls its one sheet.
CSV_SHEET = "CSV"
MOST_ROWS = 20_000
MOST_CELLS = 1_000_000
MOST_SHEETS = 200
# Columns of one heading.
WIDEST = 100
# No text that is longer says what a line is.
LONGEST_TEXT = 2_000


class Cell(NamedTuple):
    """A cell. ``value``: None for a formula without a cached value; ``look``: its number format.

    ``struck``: whether it, or a part of its text, is struck through.
    """

    value: str | float | date | None
    look: str = ""
    struck: bool = False

    @property
    def text(self) -> str:
        """The value as text on one line: whole numbers without a point, dates as ISO writes them."""
        if isinstance(self.value, float):
            return f"{self.value:.0f}" if self.value.is_integer() else repr(self.value)
        return "" if self.value is None else str(self.value)


class Merge(NamedTuple):
    """Cells that are shown as one, first and last included; rows and columns count from 1."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook, or a whole CSV file: its cells by row, then column, both from 1; empty ones are not there.

    ``hidden``, ``hidden_rows``, ``hidden_columns``: what nobody sees who opens it; ``encoding_note``: how its text was
    read, where that had to be found out.
    """

    name: str
    rows: Mapping[int, Mapping[int, Cell]]
    merges: tuple[Merge, ...] = ()
    hidden: bool = False
    hidden_rows: Collection[int] = ()
    hidden_columns: Collection[int] = ()
    encoding_note: str = ""

    @cached_property
    def _merged(self) -> dict[tuple[int, int], Merge]:
        """The merge of every cell in one that is higher than a row, in rows that have anything."""
        rows = sorted(self.rows)
        return {
            (row, merge.first_column): merge
            for merge in self.merges
            if merge.last_row > merge.first_row
            for row in rows[bisect_left(rows, merge.first_row) : bisect_right(rows, merge.last_row)]
        }

    @cached_property
    def _wide(self) -> dict[int, list[Merge]]:
        """Merges that are wider than a column, by the row in which they begin."""
        return grouped((merge.first_row, merge) for merge in self.merges if merge.last_column > merge.first_column)

    def cell(self, row: int, column: int) -> Cell | None:
        """The cell that is shown at a place: of several rows that are one, the first's."""
        own = self.rows.get(row, {}).get(column)
        merge = self._merged.get((row, column))
        return own if own is not None or merge is None else self.rows.get(merge.first_row, {}).get(column)

    def shared_rows(self, row: int, column: int) -> range:
        """The rows that share the cell at a place, this one included."""
        merge = self._merged.get((row, column))
        return range(row, row + 1) if merge is None else range(merge.first_row, merge.last_row + 1)

    def spread(self, row: int) -> dict[int, Cell]:
        """The cells of a row with those beside them that are shown as one."""
        cells = dict(self.rows.get(row, {}))
        for merge in self._wide.get(row, ()):
            first = cells.get(merge.first_column)
            columns = range(merge.first_column, min(merge.last_column, merge.first_column + WIDEST) + 1)
            cells |= {column: first for column in columns if first is not None and column not in cells}
        return cells

    def is_hidden(self, row: int) -> bool:
        """Whether a row is hidden in the saved sheet."""
        return self.hidden or row in self.hidden_rows

    def place(self, row: int, column: int) -> str:
        """A cell's name in messages: ``Sheet1!C7``."""
        return f"{self.name}!{letters(column)}{row}"


def letters(column: int) -> str:
    """The letters of a column, from 1: ``A``, ``Z``, ``AA``."""
    text = ""
    while column:
        column, place = divmod(column - 1, 26)
        text = chr(ord("A") + place) + text
    return text


# Letters, digits and marks as wide as a Chinese one, with the plain ones: U+FF01 to U+FF5E (Unicode 16, chapter 18.5).
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


def plain_text(text: str) -> str:
    """Text on one line, without outer spaces and unprintable characters."""
    words = " ".join(text[:LONGEST_TEXT].translate(_FULL_WIDTH).split())
    return words if words.isprintable() else "".join(letter for letter in words if letter.isprintable())
