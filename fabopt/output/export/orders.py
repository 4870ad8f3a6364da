"""The sheet of orders: part, vendor, order date, units of one's own stock, and arrival."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from xlsxwriter.format import Format
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

from fabopt.design.bill import order_date
from fabopt.output.export.order_codes import body_of, code_of, seller_of
from fabopt.output.export.quotes import NO_VENDOR, OWN_WORK, QuoteTable, write_table
from fabopt.output.export.spreadsheet import write_text
from fabopt.output.purchased import shared_rows
from fabopt.schema.design import BomRow, Design

# Orders without a month come first.
NO_MONTH = float("-inf")
TOTAL = "Total USD"
EXPEDITED = "Expedited, in unit price USD"


class OrderLine(NamedTuple):
    """A part to order for a stage: by when, from whom, how many, and how many more come out of one's own stock.

    ``arrives``: None without a calendar; ``total_cents``: the order's price.
    """

    month: float | None
    day: date | None
    vendor: str
    row: BomRow
    quantity: int
    from_stock: int
    arrives: date | None
    stage_month: int
    total_cents: int


def order_lines(design: Design) -> list[OrderLine]:
    """Every part ordered or taken out of stock for a stage, by order date and vendor."""
    lines = list(_lines(design))
    return sorted(
        lines, key=lambda line: (_month(line), line.vendor, line.row.kind, line.row.id, line.row.length_m or 0)
    )


def _month(line: OrderLine) -> float:
    return NO_MONTH if line.month is None else line.month


def _lines(design: Design) -> Iterator[OrderLine]:
    start = design.case.content.get("start")
    for stage in design.stages:
        groups: dict[tuple[str, float | None], list[BomRow]] = {}
        for row in shared_rows(design):
            if row.stage == stage.name and (row.kind != OWN_WORK or row.charge is not None):
                groups.setdefault((row.id, row.length_m), []).append(row)
        day = order_date(start, stage.month, None)
        for rows in groups.values():
            bought, from_stock = (sum(getattr(row, key) for row in rows) for key in ("quantity", "from_stock"))
            if bought or from_stock:
                yield _line(design, rows, bought, from_stock, None if day is None else date.fromisoformat(day))


def _line(design: Design, rows: list[BomRow], bought: int, from_stock: int, arrives: date | None) -> OrderLine:
    first = next((row for row in rows if row.quantity), rows[0])
    vendor = seller_of(body_of(design, first) or {}) or NO_VENDOR
    month = next(stage.month for stage in design.stages if stage.name == first.stage)
    total = sum(round(row.total_usd * 100) for row in rows)
    day = None if first.order_by is None else date.fromisoformat(first.order_by)
    due = first.order_by_month if first.charge is None else month
    return OrderLine(due, day, vendor, first, bought, from_stock, arrives, month, total)


def order_table(design: Design) -> QuoteTable:
    """The orders as a table, real dates where the case has a calendar; own work is no order.

    An order sooner than the vendor's lead time has its surcharge, in a column where any line has one.
    """
    lines = order_lines(design)
    hurries = [True] if any(line.row.expedite_usd is not None for line in lines) else []
    columns = [
        ("Order by", 12, "date"), ("Order by month", 9, "number"), ("Vendor", 18, "text"), ("Stage", 14, "text"),
        ("Kind", 12, "text"), ("Part number", 24, "text"), ("Id", 30, "text"), ("Length m", 9, "number"),
        ("Order", 9, "count"), ("From own stock", 9, "count"), ("Arrives by month", 9, "count"),
        ("Arrives by", 12, "date"), *((EXPEDITED, 14, "money") for _ in hurries), (TOTAL, 16, "money"),
    ]  # fmt: skip
    rows = [
        (line.day, line.month, line.vendor, line.row.stage, line.row.kind,
         code_of(design, line.row.id, line.row.length_m).code, line.row.id, line.row.length_m,
         line.quantity, line.from_stock or None, line.stage_month, line.arrives,
         *(line.row.expedite_usd for _ in hurries), line.total_cents / 100)
        for line in lines
    ]  # fmt: skip
    return QuoteTable(columns, rows)


def write_orders(sheet: Worksheet, formats: dict[str, Format], design: Design) -> None:
    """Write the sheet: orders, then the total and the sum of each vendor, as sums over the rows above."""
    table = order_table(design)
    write_table(sheet, formats, table)
    last, end = len(table.columns) - 1, len(table.rows) + 1
    column = xl_col_to_name(last, col_abs=True)
    vendors = Counter[str]()
    for order in order_lines(design):
        vendors[order.vendor] += order.total_cents
    for number, (vendor, amount) in enumerate(sorted(vendors.items()), start=end + 1):
        write_text(sheet, number, 2, vendor, formats["label"])
        formula = f"=SUMIF($C$2:$C${end},C{number + 1},{column}$2:{column}${end})"
        sheet.write_formula(number, last, formula, formats["money"], amount / 100)
    total = end + 1 + len(vendors)
    write_text(sheet, total, 2, "all orders", formats["total"])
    formula = f"=SUM({column}$2:{column}${end})"
    sheet.write_formula(total, last, formula, formats["total_money"], sum(vendors.values()) / 100)
