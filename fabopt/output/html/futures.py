"""Growth that may end: what it costs wherever it does."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.output.terminal.futures import COLUMNS, PLAN_COLUMNS, future_lines, future_rows, plan_rows
from fabopt.output.words import sentence
from fabopt.schema.design import Design


@dataclass(frozen=True)
class TableView:
    """A table with a caption. ``sides``: 1 where the numbers of a column are at the right."""

    caption: str
    titles: tuple[str, ...]
    sides: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class FuturesView:
    """What each future costs, in sentences and tables."""

    sentences: tuple[str, ...]
    tables: tuple[TableView, ...]


def futures_view(design: Design) -> FuturesView | None:
    """Return the futures; None where growth is certain."""
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
    return FuturesView(
        tuple(sentence(line) for line in future_lines(design)), tuple(view for view in views if view.rows)
    )
