"""Losses with any one switch or rack, for the page."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.output.terminal.single_points import COLUMNS, TITLE, lead_line, point_rows, rack_line, redundancy_line
from fabopt.schema.design import Design


@dataclass(frozen=True)
class PointsView:
    """Title and sentences of the section, and its table: titles of columns, whether each holds numbers,
    rows of cells.
    """

    title: str
    lines: tuple[str, ...]
    titles: tuple[str, ...]
    are_numbers: tuple[bool, ...]
    rows: tuple[list[str], ...]


def points_view(design: Design) -> PointsView | None:
    """Return the section; None where the file states no losses."""
    if design.single_points_of_failure is None:
        return None
    lines = tuple(line for line in (lead_line(design), rack_line(design), redundancy_line(design)) if line)
    titles = tuple(title.capitalize() for title, _ in COLUMNS)
    return PointsView(TITLE, lines, titles, tuple(number for _, number in COLUMNS), tuple(point_rows(design)))
