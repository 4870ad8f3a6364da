"""Sheets for the buyer: the costs of each stage, and a request for quotes, vendor by vendor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from fabopt.output.export.order_codes import body_of, code_of, product_of
from fabopt.output.export.spreadsheet import set_height, set_page, write_cell, write_headings
from fabopt.output.purchased import Beside, beside_use
from fabopt.parts.quotes import CHARGE_REMARK
from fabopt.schema.design import BomRow, Design

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


def write_table(sheet: Worksheet, formats: dict[str, Format], table: QuoteTable) -> None:
    """Write a table with a title row that stays and a filter."""
    write_headings(sheet, [(title, width) for title, width, _ in table.columns], formats["head"])
    for line, row in enumerate(table.rows, start=1):
        for column, value in enumerate(row):
            write_cell(sheet, line, column, value, formats[table.columns[column][2]])
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
    groups: dict[tuple[str, str, float | None], list[BomRow]] = {}
    for row in design.bom:
        if is_asked_for(row):
            groups.setdefault((row.kind, product_of(design, row.id), row.length_m), []).append(row)
    beside = beside_use(design)
    rows = []
    for (_, id_, _), group in groups.items():
        parts = dict.fromkeys((row.kind, row.id, row.length_m) for row in group)
        sums = map(sum, zip(*(beside.get(part, Beside()) for part in parts), strict=True))
        rows.append(_quote_row(design, id_, group, stages, Beside(*sums)))
    return QuoteTable(columns, sorted(rows, key=lambda row: str(row[0])))


def is_asked_for(row: BomRow) -> bool:
    """Whether a vendor quotes for a line: for parts bought, and charges but for taxes."""
    return row.quantity > 0 and (row.kind != OWN_WORK or row.charge not in (None, "tax"))


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
