"""The bill as a table that can be searched and sorted, and as the file that ``fabopt bom`` writes."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from fabopt.export.bill import bill_bytes
from fabopt.report.words import KIND_NAMES, count, money, plain, power
from fabopt.schema.design import BomRow, Design, Number

# Title, and whether it holds numbers.
COLUMNS = (
    ("Part", False),
    ("Kind", False),
    ("Fabric", False),
    ("Stage", False),
    ("Length", True),
    ("Quantity", True),
    ("Unit price", True),
    ("Total", True),
    ("Power", True),
)


@dataclass(frozen=True)
class BillCell:
    """Words, and what they are sorted by."""

    words: str
    order: Number | str


@dataclass(frozen=True)
class BillRow:
    """A line of the bill; ``usd`` is its total."""

    id: str
    part_number: str
    description: str
    cells: tuple[BillCell, ...]
    usd: Number


def bill_view(design: Design) -> list[BillRow]:
    """Return the lines of the bill, in its order."""
    return [_row(row) for row in design.bom]


def bill_link(design: Design) -> str:
    """Return the bill as CSV in a link that holds it: byte for byte what ``fabopt bom`` writes."""
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(bill_bytes(design, '.csv')).decode()}"


def _row(row: BomRow) -> BillRow:
    length = "" if row.length_m is None else f"{plain(row.length_m)} m"
    cells = (
        BillCell(KIND_NAMES[row.kind], row.kind),
        BillCell(row.fabric, row.fabric),
        BillCell(row.stage, row.stage),
        BillCell(length, -1 if row.length_m is None else row.length_m),
        BillCell(count(row.quantity), row.quantity),
        BillCell(money(row.unit_price_usd), row.unit_price_usd),
        BillCell(money(row.total_usd), row.total_usd),
        BillCell(power(row.power_w) if row.power_w else "-", row.power_w),
    )
    number = row.part_number if row.part_number != row.id else ""
    return BillRow(row.id, number, row.description, cells, row.total_usd)
