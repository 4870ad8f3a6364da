"""Columns of net prices that no heading says, but totals and quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from fabopt.io.quote.headings import Header
from fabopt.io.quote.values import Sheet, amount_of, count_of, letters

_CENT = Fraction(1, 100)


def with_proven_prices(sheet: Sheet, headers: Sequence[Header], mark: str) -> tuple[list[Header], list[str]]:
    """The headers, with a column as net prices that times the quantity is the total in every line; and notes of these.

    A column that is headed as prices of a unit, and is not what the totals say, is then one of list prices.
    """
    ends = [*(header.first for header in headers[1:]), max(sheet.rows, default=0) + 1]
    proven: list[Header] = []
    notes: list[str] = []
    for header, end in zip(headers, ends, strict=False):
        rows = [row for row in range(header.last + 1, end) if row in sheet.rows]
        column = next(_net_columns(sheet, header, rows, mark), None)
        if column is None:
            proven.append(header)
            continue
        heading = header.headings[column]
        changed = {c: old._replace(role="list") if old.role == "unit" else old for c, old in header.headings.items()}
        proven.append(Header(header.first, header.last, {**changed, column: heading._replace(role="unit")}))
        notes.append(f"column {letters(column)} of {sheet.name} has the net prices, as totals say: `{heading.text}`")
    return proven, notes


def _net_columns(sheet: Sheet, header: Header, rows: Sequence[int], mark: str) -> Iterator[int]:
    """Unread columns that times the quantity make all totals, if columns of unit prices make none."""
    quantities, totals = header.columns("quantity"), header.columns("total")
    if len(quantities) != 1 or not totals:
        return

    def number(row: int, column: int) -> Fraction | None:
        cell = sheet.cell(row, column)
        amount = None if cell is None else amount_of(cell, mark)
        return None if amount is None else amount.value

    for total in totals[:1]:
        for column, heading in header.headings.items():
            if heading.role == "" and _makes(sheet, rows, column, quantities[0], total, mark, number):
                units = header.columns("unit")
                if not any(_makes(sheet, rows, unit, quantities[0], total, mark, number) for unit in units):
                    yield column


def _makes(
    sheet: Sheet,
    rows: Sequence[int],
    column: int,
    quantity: int,
    total: int,
    mark: str,
    number: Callable[[int, int], Fraction | None],
) -> bool:
    """Whether a column times the quantity is the total, in all lines that have the three, of which one buys several."""
    several = False
    for row in rows:
        cell = sheet.cell(row, quantity)
        count = None if cell is None else count_of(cell, mark)
        amount, whole = number(row, column), number(row, total)
        if count is None or whole is None:
            continue
        if amount is None or abs(amount * count - whole) > _CENT * (count + 2) / 2:
            return False
        several = several or (count > 1 and amount > 0)
    return several
