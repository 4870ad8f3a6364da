"""The cash flow in tables: years side by side on a screen, quarters below each other on a page."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.cash import KINDS, cash_flow, finance_of, has_cash, worth_lines
from fabopt.output.charts.cash import TITLES
from fabopt.output.stated import StatedTable, Statement, statement_of
from fabopt.output.words import money
from fabopt.schema.design import Design
from fabopt.schema.finance import DOLLAR
from fabopt.schema.stages import QUARTER, YEAR
from fabopt.units import usd

TITLE = "Cash flow"
NOTHING = "-"
# Years side by side that fit a screen, with amounts of millions and cents.
_YEARS = 6


def cash_columns(design: Design) -> tuple[tuple[str, bool], ...]:
    """Titles of the columns, and whether their cells are numbers."""
    finance = finance_of(design)
    more = [f"in {finance.currency}"] if finance.currency != DOLLAR else []
    more += ["in the books"] if finance.depreciation_years is not None else []
    return ("period", False), *((title, True) for title in (*TITLES.values(), "in all", "so far", *more))


def cash_rows(design: Design, months: int = YEAR) -> Iterator[list[str]]:
    """A row for every period of ``months`` months, cells as ``cash_columns``; none without terms of payment."""
    for period in cash_flow(design, months):
        amounts = [period.paid[kind] for kind in KINDS]
        cells = [money(usd(amount)) if amount else NOTHING for amount in amounts]
        cells += [money(usd(period.total)), money(usd(period.owned))]
        cells += [] if period.local is None else [f"{usd(period.local):,.2f}"]
        cells += [] if period.book is None else [money(usd(period.book))]
        yield [period.name, *cells]


def cash_years(design: Design) -> Statement | None:
    """Tables of a few years each: a column for a year, a row for each kind of payment in use."""
    if not has_cash(design):
        return None
    titles = [title for title, _ in cash_columns(design)]
    years = list(cash_rows(design, YEAR))
    kept = [place for place in range(1, len(titles)) if any(year[place] != NOTHING for year in years)]
    tables = []
    for start in range(0, len(years), _YEARS):
        some_years = years[start : start + _YEARS]
        rows = [[titles[place], *(year[place] for year in some_years)] for place in kept]
        tables.append(StatedTable(((titles[0], False), *((year[0], True) for year in some_years)), rows))
    return statement_of("cash", TITLE, "", *tables, *cash_lines(design))


def cash_quarters(design: Design) -> Statement | None:
    """A row for each quarter, below the sums."""
    if not has_cash(design):
        return None
    rows = StatedTable(cash_columns(design), list(cash_rows(design, QUARTER)), "What is paid in each quarter")
    return statement_of("cash", TITLE, "", *cash_lines(design), rows)


def cash_lines(design: Design) -> Iterator[str]:
    """Definitions of the three sums of money, and the exchange rate in use."""
    finance = finance_of(design)
    yield from worth_lines(design)
    if finance.currency != DOLLAR:
        rate = finance.rates[finance.currency]
        yield f"1 {finance.currency} is ${rate.usd:g}, as of {rate.date}"
