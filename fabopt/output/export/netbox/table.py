"""One file of a bulk import: column names and rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import repeat

from fabopt.output.export.spreadsheet import csv_bytes, safe

Cell = str | int | float
Row = tuple[Cell, ...]


@dataclass
class CsvTable:
    """Rows under columns. An empty text is an empty cell."""

    columns: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)

    def column(self, name: str) -> list[Cell]:
        """Return all cells of a column."""
        index = self.columns.index(name)
        return [row[index] for row in self.rows]

    def pick(self, *names: str) -> Iterator[tuple[str, ...]]:
        """Return some cells of every row, as text; a column that the file lacks is empty."""
        cells = [map(str, self.column(name)) if name in self.columns else repeat("", len(self.rows)) for name in names]
        return zip(*cells, strict=True)

    def csv_bytes(self) -> bytes:
        """Return the file. Text that a spreadsheet would compute is marked as text.

        NetBox guesses the dialect (``csv.Sniffer``), and an apostrophe may pass for a quotation mark; where there is
        one, all cells are in quotation marks, which are then more.
        """
        misleading = any("'" in str(safe(cell)) for row in self.rows for cell in row)
        return csv_bytes(self.columns, self.rows, quote_all=misleading)
