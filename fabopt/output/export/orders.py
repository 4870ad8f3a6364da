"""The sheet of orders: part, vendor, order date, units of one's own stock, and arrival.

Sheets for the buyer: the costs of each stage, and a request for quotes, vendor by vendor.

Part numbers to order by, in the rows of a bill and in columns of tables.

The sheet of deliveries: the parts that arrive for each stage, when and from whom, and the share that has arrived by
then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from xlsxwriter.format import Format
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

from fabopt.design.bill import order_date
from fabopt.output.export.spreadsheet import set_height, set_page, write_cell, write_headings, write_text
from fabopt.output.purchased import Beside, beside_use, delivered_rows, shared_rows
from fabopt.parts.names import OrderCode, order_code, wanted_airflow
from fabopt.parts.quotes import CHARGE_REMARK
from fabopt.schema.design import BomRow, Design
from fabopt.schema.labour import LABOUR
from fabopt.units import grouped, summed


def body_of(design: Design, row: BomRow) -> dict[str, Any] | None:
    """The embedded product or charge of a line: its seller, and the source of its price."""
    if row.charge is None:
        return design.parts.get(row.id)
    of_case = design.case.content.get("charges") or []
    of_parts = (charge for body in design.parts.values() for charge in body.get("charges") or ())
    return next((charge for charge in (*of_case, *of_parts) if charge.get("name") == row.id), None)


def seller_of(body: Mapping[str, Any]) -> str | None:
    """Seller of a part as a file states it: the vendor of the offer, else the maker."""
    seller: str | None = body.get("sold_by") or body.get("vendor")
    return seller


def product_of(design: Design, part: str) -> str:
    """The product that a part is an offer of, or the part."""
    product: str = design.parts.get(part, {}).get("offer_of") or part
    return product


def code_of(design: Design, part: str, length_m: float | None) -> OrderCode:
    """Order code of a part of the design, in its length and with the airflow that its case wants."""
    return order_code(design.parts.get(part, {}), length_m, *wanted_airflow(design.case.content, design.parts))


def orderable(design: Design) -> list[BomRow]:
    """The bill's rows with a part number for each length and airflow; empty where the number is not known."""
    return [
        row.model_copy(update={"part_number": code_of(design, row.id, row.length_m).code})
        if row.id in design.parts
        else row
        for row in shared_rows(design)
    ]


def order_codes(design: Design, parts: Sequence[str], lengths_m: Sequence[float]) -> list[str]:
    """Return the code to order every part of a column by, in its length (NaN: none); empty where it is not known."""
    pairs = dict.fromkeys(zip(parts, (length if length == length else None for length in lengths_m), strict=True))
    codes = {pair: code_of(design, *pair).code for pair in pairs}
    return [codes[part, length if length == length else None] for part, length in zip(parts, lengths_m, strict=True)]


# No vendor quotes for work of one's own people.
OWN_WORK = "other"
NO_VENDOR = "any vendor"
# Vendors that one sheet can ask; what the first one quotes is in columns of plain names.
MOST_ASKED = 8
PRICE, WEEKS = "Quoted unit price USD", "Quoted lead time weeks"


class QuoteTable(NamedTuple):
    """A sheet: (title, width, format) of its columns, and its rows."""

    columns: Sequence[tuple[str, float, str]]
    rows: Sequence[Sequence[object]]


def write_quotes(sheet: Worksheet, formats: dict[str, Format], table: QuoteTable) -> None:
    """Write the request; it is printed as the first vendor gets it, without the columns of others."""
    write_table(sheet, formats, table)
    titles = [title for title, _, _ in table.columns]
    last = titles.index("Remarks")
    sheet.print_area(0, 0, len(table.rows), last)
    set_page(sheet, [width for _, width, _ in table.columns[: last + 1]], titles.index("Part number") + 1)


def write_table(
    sheet: Worksheet,
    formats: dict[str, Format],
    table: QuoteTable,
    look: Callable[[int, int], str] = lambda line, column: "",
) -> None:
    """Write a table with a title row that stays and a filter.

    ``look``: begins the name of a cell's format, by its line (the first is 1) and column.
    """
    write_headings(sheet, [(title, width) for title, width, _ in table.columns], formats["head"])
    for line, row in enumerate(table.rows, start=1):
        for column, value in enumerate(row):
            write_cell(sheet, line, column, value, formats[look(line, column) + table.columns[column][2]])
        cells = zip(row, table.columns, strict=True)
        set_height(
            sheet, line, [(str(value), width) for value, (_, width, style) in cells if value and style == "wrap"]
        )
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, max(1, len(table.rows)), len(table.columns) - 1)


def stage_table(design: Design) -> QuoteTable:
    """Costs of every stage and sizes installed from it on, and of all stages together."""
    columns = [
        ("Stage", 16, "text"), ("Month", 8, "count"), ("Servers", 10, "count"), ("GPUs", 10, "count"),
        ("Purchases USD", 16, "money"), ("Present value USD", 16, "money"), ("Energy until the next USD", 16, "money"),
        ("Power W", 12, "number"), ("Rack units", 10, "number"), ("Moved cables", 10, "count"),
    ]  # fmt: skip
    rows: list[Sequence[object]] = [
        (stage.name, stage.month, stage.servers, stage.gpus, stage.capex_usd, stage.present_value_usd, stage.energy_usd,
         stage.power_w, stage.rack_units, stage.moved_cables)
        for stage in design.stages
    ]  # fmt: skip
    sums = [
        round(sum(getattr(stage, key) or 0 for stage in design.stages), 2)
        for key in ("capex_usd", "present_value_usd", "energy_usd")
    ]
    moved = sum(stage.moved_cables for stage in design.stages)
    rows.append(("all stages", None, None, None, *sums, None, None, moved))
    return QuoteTable(columns, rows)


def asked_title(title: str, number: int) -> str:
    """The heading of a column for a vendor asked, from 1."""
    return title if number == 1 else f"{title} ({number})"


def quote_table(design: Design) -> QuoteTable:
    """The request for quotes: one row a part number, with its quantity at every stage and in all."""
    stages = [stage.name for stage in design.stages]
    columns: list[tuple[str, float, str]] = [
        ("Vendor", 18, "text"), ("Kind", 12, "text"), ("Part number", 26, "text"), ("Id", 32, "text"),
        ("Description", 48, "wrap"), ("Length m", 9, "number"),
    ]  # fmt: skip
    columns += [(f"Quantity {name}", 12, "count") for name in stages]
    columns += [
        ("Quantity", 10, "count"), ("Of these spares", 10, "count"), ("Of these left over", 10, "count"),
        ("From own stock", 10, "count"), ("Planned USD", 16, "money"),
        ("Order by month", 10, "number"), ("Order by", 12, "text"), (PRICE, 16, "money"), (WEEKS, 12, "number"),
        ("Remarks", 40, "wrap"),
    ]  # fmt: skip
    for number in range(2, MOST_ASKED + 1):
        columns += [(asked_title(PRICE, number), 16, "money"), (asked_title(WEEKS, number), 12, "number")]
    groups = grouped(
        ((row.kind, product_of(design, row.id), row.length_m), row) for row in design.bom if is_asked_for(row)
    )
    beside = beside_use(design)
    rows = []
    for (_, id_, _), group in groups.items():
        parts = dict.fromkeys((row.kind, row.id, row.length_m) for row in group)
        sums = map(sum, zip(*(beside.get(part, Beside()) for part in parts), strict=True))
        rows.append(_quote_row(design, id_, group, stages, Beside(*sums)))
    return QuoteTable(columns, sorted(rows, key=lambda row: str(row[0])))


def is_asked_for(row: BomRow) -> bool:
    """Whether a vendor quotes for a line: for parts bought, and charges but for taxes and labour."""
    is_own = row.charge in (None, "tax") or row.id.startswith(LABOUR)
    return row.quantity > 0 and (row.kind != OWN_WORK or not is_own)


def _quote_row(
    design: Design, id_: str, group: Sequence[BomRow], stages: Sequence[str], beside: Beside
) -> Sequence[object]:
    """A line of the request: a product, in whatever offers of it the design buys."""
    first = group[0]
    vendor = (body_of(design, first) or {}).get("vendor") or NO_VENDOR
    by_stage = [sum(row.quantity for row in group if row.stage == name) for name in stages]
    dates = [row.order_by_month for row in group if row.order_by_month is not None]
    days = [row.order_by for row in group if row.order_by is not None]
    number = code_of(design, first.id, first.length_m)
    remark = number.remark if first.charge is None else f"{CHARGE_REMARK}{first.description}"
    wishes = [remark] if remark else []
    coded = design.parts.get(first.id, {}).get("coded_for") or ()
    if coded and vendor not in coded:
        wishes.append(f"with the coding of {' or '.join(coded)}")
    hurried = dict.fromkeys(row.stage for row in group if row.expedite_usd is not None)
    for name in hurried:
        pieces, weeks = zip(*((row.quantity, row.lead_time_weeks) for row in group if row.stage == name), strict=True)
        wishes.append(f"{sum(pieces)} for {name} expedited, in {weeks[0]:g} weeks")
    planned = sum(row.total_usd + (row.yearly_usd or 0) for row in group)
    return (
        vendor, first.charge or first.kind, number.code, id_, first.description, first.length_m,
        *by_stage, sum(by_stage),
        beside.spares, beside.left_over, beside.from_stock, round(planned, 2),
        min(dates, default=None), min(days, default=None), None, None, "; ".join(wishes),
        *[None] * (2 * (MOST_ASKED - 1)),
    )  # fmt: skip


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
    """Every part ordered or taken out of stock for a stage, by order date and vendor; none of what is in service."""
    lines = list(_lines(design))
    return sorted(
        lines,
        key=lambda line: (
            NO_MONTH if line.month is None else line.month,
            line.vendor,
            line.row.kind,
            line.row.id,
            line.row.length_m or 0,
        ),
    )


def _lines(design: Design) -> Iterator[OrderLine]:
    start, rows = design.case.content.get("start"), delivered_rows(design)
    for stage in design.stages:
        groups = grouped(
            ((row.id, row.length_m), row)
            for row in rows
            if row.stage == stage.name and (row.kind != OWN_WORK or row.charge is not None)
        )
        day = order_date(start, stage.month, None)
        for group in groups.values():
            bought, from_stock = (sum(getattr(row, key) for row in group) for key in ("quantity", "from_stock"))
            if bought or from_stock:
                yield _line(design, group, bought, from_stock, None if day is None else date.fromisoformat(day))


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
    vendors = summed((order.vendor, order.total_cents) for order in order_lines(design))
    for number, (vendor, amount) in enumerate(sorted(vendors.items()), start=end + 1):
        write_text(sheet, number, 2, vendor, formats["label"])
        formula = f"=SUMIF($C$2:$C${end},C{number + 1},{column}$2:{column}${end})"
        sheet.write_formula(number, last, formula, formats["money"], amount / 100)
    total = end + 1 + len(vendors)
    write_text(sheet, total, 2, "all orders", formats["total"])
    formula = f"=SUM({column}$2:{column}${end})"
    sheet.write_formula(total, last, formula, formats["total_money"], sum(vendors.values()) / 100)


def delivery_table(design: Design) -> QuoteTable:
    """A row for every part, length by length, that a stage gets, stage by stage; own work is no delivery."""
    columns = [
        ("Stage", 14, "text"), ("Arrives by month", 9, "count"), ("Arrives by", 12, "date"), ("Vendor", 18, "text"),
        ("Kind", 12, "text"), ("Part number", 24, "text"), ("Id", 30, "text"), ("Length m", 9, "number"),
        ("Delivered", 10, "count"), ("From own stock", 9, "count"), ("Delivered so far", 10, "count"),
    ]  # fmt: skip
    stages = [stage.name for stage in design.stages]
    lines = [line for line in order_lines(design) if line.row.kind != OWN_WORK]
    lines.sort(key=lambda line: (stages.index(line.row.stage), line.vendor))
    so_far: Counter[tuple[str, float | None]] = Counter()
    rows: list[tuple[object, ...]] = []
    for line in lines:
        part = line.row.id, line.row.length_m
        so_far[part] += line.quantity
        code = code_of(design, line.row.id, line.row.length_m).code
        rows.append(
            (line.row.stage, line.stage_month, line.arrives, line.vendor, line.row.kind, code, *part, line.quantity,
             line.from_stock or None, so_far[part])
        )  # fmt: skip
    return QuoteTable(columns, rows)
