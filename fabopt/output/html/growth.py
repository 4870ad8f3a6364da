"""Growth: purchases of each stage, and the sizes installed then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabopt.output.charts.bars import cost_bars
from fabopt.output.charts.render import svg
from fabopt.output.charts.style import PAGE_PALETTE
from fabopt.output.html.parts import sum_usd
from fabopt.output.html.rendering import drawn
from fabopt.output.terminal.growth import COLUMNS, growth_rows, moving_line
from fabopt.schema.design import BomRow, Design, Number


@dataclass(frozen=True)
class GrowthView:
    """A row for each stage, and a chart of each stage's purchases."""

    rows: tuple[tuple[str, ...], ...]
    moving: str | None
    picture: Any

    @property
    def titles(self) -> list[str]:
        """Titles of the columns."""
        return [title.capitalize() for title, _ in COLUMNS]

    @property
    def sides(self) -> list[int]:
        """1 where the numbers of a column are at the right."""
        return [int(right) for _, right in COLUMNS]


def growth_view(design: Design) -> GrowthView | None:
    """Return the stages; None for a design of one stage."""
    if len(design.stages) < 2:
        return None
    bars = []
    for stage in design.stages:
        bought = [row for row in design.bom if row.stage == stage.name]
        bars.append((f"{stage.name}, month {stage.month}", _by_kind(bought)))
    picture = drawn(svg(cost_bars(bars, PAGE_PALETTE, "stage"), PAGE_PALETTE))
    return GrowthView(tuple(tuple(row) for row in growth_rows(design)), moving_line(design), picture)


def _by_kind(rows: list[BomRow]) -> dict[str, Number]:
    return {kind: sum_usd(row for row in rows if row.kind == kind) for kind in dict.fromkeys(row.kind for row in rows)}
