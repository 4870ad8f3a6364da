"""The sheet of offers: formulas over the RFQ sheet that pick the best of up to eight quotes for each part.

An offer counts whose lead time, where it says one, is no longer than the time from the first month in which orders can
be placed until the first stage that needs the part: the rule ``orders_arrive_in_time`` for quotes.
"""

from __future__ import annotations

from xlsxwriter.format import Format
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

from fabopt.output.export.orders import MOST_ASKED, PRICE, WEEKS, QuoteTable, asked_title
from fabopt.output.export.spreadsheet import set_height, write_cell, write_headings, write_text
from fabopt.parts.finance import MONTHS_PER_YEAR
from fabopt.parts.procurement import WEEKS_PER_YEAR
from fabopt.schema.design import Design

_COPIED = ("Vendor", "Id", "Part number", "Length m", "Quantity")
_COLUMNS = (
    ("Vendor", 18, "text"), ("Id", 30, "text"), ("Part number", 24, "text"), ("Length m", 9, "number"),
    ("Quantity", 10, "count"), ("Planned unit price USD", 14, "money"), ("Planned USD", 16, "money"),
    ("Best unit price USD", 14, "money"), ("Best offer", 8, "count"), ("Best USD", 16, "money"),
    ("Needed within weeks", 10, "number"), ("Offers too late", 10, "count"),
)  # fmt: skip


def write_offers(sheet: Worksheet, formats: dict[str, Format], rfq: QuoteTable, design: Design) -> None:
    """Write the lines with the best price of each and its vendor, sums, and lines quoted and won by each vendor.

    The first vendor asked is offer 1. Of equal prices the first one wins; a line without a quote in time costs nothing.
    """
    titles = [title for title, _, _ in rfq.columns]
    prices, lead_times = (
        [xl_col_to_name(titles.index(asked_title(title, number))) for number in range(1, MOST_ASKED + 1)]
        for title in (PRICE, WEEKS)
    )
    weeks = _weeks_until_needed(design)
    write_headings(sheet, [(title, width) for title, width, _ in _COLUMNS], formats["head"])
    for line, row in enumerate(rfq.rows, start=1):
        for column, title in enumerate(_COPIED):
            write_cell(sheet, line, column, row[titles.index(title)], formats[_COLUMNS[column][2]])
        _write_planned(sheet, formats, line, row[titles.index("Planned USD")], row[titles.index("Quantity")])
        within = weeks.get((row[titles.index("Id")], row[titles.index("Length m")]))
        _write_best(sheet, formats, line, within, list(zip(prices, lead_times, strict=True)))
    end = len(rfq.rows) + 1
    planned = sum(round(float(str(row[titles.index("Planned USD")])) * 100) for row in rfq.rows) / 100
    write_text(sheet, end + 1, 0, "all lines", formats["total"])
    sheet.write_formula(end + 1, 6, f"=SUM(G2:G{end})", formats["total_money"], planned)
    sheet.write_formula(end + 1, 9, f"=SUM(J2:J{end})", formats["total_money"], 0)
    _write_vendors(sheet, formats, end, prices, xl_col_to_name(titles.index("Quantity")))
    sheet.freeze_panes(1, 0)


def _weeks_until_needed(design: Design) -> dict[tuple[object, object], float]:
    """Weeks from the first month of orders to the first stage that buys a part, by id and length; none for a part that
    may come at any time.
    """
    first = (design.case.content.get("procurement") or {}).get("order_from_month")
    months = {stage.name: stage.month for stage in design.stages}
    weeks: dict[tuple[object, object], float] = {}
    for row in design.bom:
        month = months[row.stage]
        if row.charge is None and row.quantity and (month or first is not None):
            within = (month - (first or 0)) * WEEKS_PER_YEAR / MONTHS_PER_YEAR
            key = row.id, row.length_m
            weeks[key] = min(weeks.get(key, within), within)
    return weeks


def _write_planned(sheet: Worksheet, formats: dict[str, Format], line: int, planned: object, quantity: object) -> None:
    row, amount, units = line + 1, float(str(planned)), int(str(quantity))
    sheet.write_formula(line, 5, f"=IF(E{row}=0,0,G{row}/E{row})", formats["money"], amount / units if units else 0)
    sheet.write_number(line, 6, amount, formats["money"])


def _write_best(
    sheet: Worksheet, formats: dict[str, Format], line: int, within: float | None, offers: list[tuple[str, str]]
) -> None:
    row = line + 1
    cells = [f"RFQ!{price}{row}" for price, _ in offers]
    counts = [f"COUNT({cell})" for cell in cells]
    if within is not None:  # a lead time that is no number says nothing
        counts = [f"{count}*(SUM(RFQ!{late}{row})<=K{row})" for count, (_, late) in zip(counts, offers, strict=True)]
    first = "0"
    for number in range(MOST_ASKED, 0, -1):
        first = f"IF({counts[number - 1]}*({cells[number - 1]}=H{row}),{number},{first})"
    in_time = "+".join(counts)
    least = ",".join(f"IF({count},{cell},1E+99)" for count, cell in zip(counts, cells, strict=True))
    sheet.write_formula(line, 7, f'=IF({in_time}=0,"",MIN({least}))', formats["money"], "")
    sheet.write_formula(line, 8, f'=IF(COUNT(H{row})=0,"",{first})', formats["count"], "")
    sheet.write_formula(line, 9, f"=IF(COUNT(H{row})=0,0,E{row}*H{row})", formats["money"], 0)
    write_cell(sheet, line, 10, within, formats["number"])
    sheet.write_formula(line, 11, f"=COUNT({','.join(cells)})-({in_time})", formats["count"], 0)


def _write_vendors(sheet: Worksheet, formats: dict[str, Format], end: int, prices: list[str], quantity: str) -> None:
    """For each vendor the lines quoted and their total, and the lines won and theirs."""
    top = end + 3
    titles = "Offer", "Lines quoted", "Total of its lines USD", "Lines won", "Total won USD"
    for column, title in enumerate(titles):
        write_text(sheet, top, column, title, formats["head"])
    set_height(sheet, top, ((title, width) for title, (_, width, _) in zip(titles, _COLUMNS, strict=False)))
    for number, letter in enumerate(prices, start=1):
        row, of_all = top + number, f"RFQ!{letter}$2:{letter}${end}"
        sheet.write_number(row, 0, number, formats["count"])
        sheet.write_formula(row, 1, f"=COUNT({of_all})", formats["count"], 0)
        total = f"=SUMPRODUCT(RFQ!{quantity}$2:{quantity}${end},{of_all})"
        sheet.write_formula(row, 2, total, formats["money"], 0)
        sheet.write_formula(row, 3, f"=COUNTIF(I$2:I${end},{number})", formats["count"], 0)
        sheet.write_formula(row, 4, f"=SUMIF(I$2:I${end},{number},J$2:J${end})", formats["money"], 0)
