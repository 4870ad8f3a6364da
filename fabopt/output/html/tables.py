"""Sections of tables: costs of growth by where it ends, and the cash flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabopt.output.cash import cash_flow, has_cash
from fabopt.output.charts.cash import cash_bars
from fabopt.output.charts.render import svg
from fabopt.output.charts.style import PAGE_PALETTE
from fabopt.output.html.rendering import drawn
from fabopt.output.terminal.cash import cash_columns, cash_lines, cash_rows
from fabopt.output.terminal.futures import COLUMNS, PLAN_COLUMNS, future_lines, future_rows, plan_rows
from fabopt.output.words import sentence
from fabopt.schema.design import Design
from fabopt.schema.stages import QUARTER


@dataclass(frozen=True)
class TableView:
    """A table with a caption. ``sides``: 1 for columns of numbers, aligned right."""

    caption: str
    titles: tuple[str, ...]
    sides: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class TablesView:
    """A section of sentences and tables, with a chart above them, if it has one, and its caption."""

    sentences: tuple[str, ...]
    tables: tuple[TableView, ...]
    chart: str = ""
    picture: Any = None


def cash_view(design: Design) -> TablesView | None:
    """Return the cash flow by quarter; None for a case without terms of payment."""
    if not has_cash(design):
        return None
    columns = cash_columns(design)
    view = TableView(
        "What is paid in each quarter",
        tuple(title[:1].upper() + title[1:] for title, _ in columns),
        tuple(int(right) for _, right in columns),
        tuple(tuple(row) for row in cash_rows(design, QUARTER)),
    )
    chart = cash_bars(cash_flow(design, QUARTER), PAGE_PALETTE, "quarter")
    lines = tuple(sentence(line) for line in cash_lines(design))
    return TablesView(lines, (view,), "Paid by quarter, and so far", drawn(svg(chart, PAGE_PALETTE)))


def futures_view(design: Design) -> TablesView | None:
    """Return costs by future; None where growth is certain."""
    if design.futures is None:
        return None
    tables = (
        ("What it costs if growth ends", COLUMNS, future_rows(design)),
        ("Plans that count on one future", PLAN_COLUMNS, plan_rows(design)),
    )
    views = (
        TableView(
            caption,
            tuple(title[:1].upper() + title[1:] for title, _ in columns),
            tuple(int(right) for _, right in columns),
            tuple(tuple(row) for row in rows),
        )
        for caption, columns, rows in tables
    )
    return TablesView(
        tuple(sentence(line) for line in future_lines(design)), tuple(view for view in views if view.rows)
    )
