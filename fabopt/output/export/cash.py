"""The sheet of the cash flow, by quarter: every sum a formula over the cells that it adds up."""

from __future__ import annotations

from xlsxwriter.format import Format
from xlsxwriter.utility import xl_range
from xlsxwriter.worksheet import Worksheet

from fabopt.output.cash import KINDS, Period, cash_flow
from fabopt.output.export.spreadsheet import write_cell, write_headings, write_text
from fabopt.output.terminal.cash import cash_columns, cash_lines
from fabopt.schema.design import Design
from fabopt.schema.stages import QUARTER
from fabopt.units import usd

_WIDTHS = (20, 16)
# Columns after those of each kind.
TOTAL, SO_FAR = len(KINDS) + 1, len(KINDS) + 2


def write_cash(sheet: Worksheet, formats: dict[str, Format], design: Design) -> None:
    """Write the sheet: a row a quarter, the sums of all below, then purchase price, present value and TCO."""
    periods, columns = cash_flow(design, QUARTER), cash_columns(design)
    titles = [title[:1].upper() + title[1:] for title, _ in columns]
    titles = [f"{title} USD" if 0 < column <= SO_FAR else title for column, title in enumerate(titles)]
    widths = [_WIDTHS[is_number] for _, is_number in columns]
    write_headings(sheet, list(zip(titles, widths, strict=True)), formats["head"])
    for line, period in enumerate(periods, start=1):
        _write_period(sheet, formats, line, period)
    end = len(periods) + 1
    write_text(sheet, end, 0, "all", formats["total"])
    for column in range(1, TOTAL + 1):
        amount = sum(period.total if column == TOTAL else period.paid[KINDS[column - 1]] for period in periods)
        formula = f"=SUM({xl_range(1, column, end - 1, column)})"
        sheet.write_formula(end, column, formula, formats["total_money"], usd(amount))
    for line, text in enumerate(cash_lines(design), start=end + 2):
        write_text(sheet, line, 0, text, formats["text"])
    sheet.freeze_panes(1, 1)


def _write_period(sheet: Worksheet, formats: dict[str, Format], line: int, period: Period) -> None:
    write_text(sheet, line, 0, period.name, formats["text"])
    for column, kind in enumerate(KINDS, start=1):
        write_cell(sheet, line, column, usd(period.paid[kind]), formats["money"])
    of_row, until = xl_range(line, 1, line, len(KINDS)), xl_range(1, TOTAL, line, TOTAL)
    sheet.write_formula(line, TOTAL, f"=SUM({of_row})", formats["money"], usd(period.total))
    sheet.write_formula(line, SO_FAR, f"=SUM({until})", formats["money"], usd(period.owned))
    column = SO_FAR
    for amount, style in ((period.local, "amount"), (period.book, "money")):
        if amount is not None:
            column += 1
            write_cell(sheet, line, column, usd(amount), formats[style])
