"""Growth: what is bought at each stage, and what stands then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabopt.page.parts import sum_usd
from fabopt.report.charts.bars import cost_bars
from fabopt.report.charts.render import svg
from fabopt.report.charts.style import PAGE_PALETTE
from fabopt.report.html import drawn
from fabopt.report.words import count, money, power
from fabopt.schema.design import BomRow, Design, Number, StageDesign


@dataclass(frozen=True)
class GrowthView:
    """A row for each stage, and a chart of what is bought at each."""

    rows: tuple[tuple[str, ...], ...]
    picture: Any


def growth_view(design: Design) -> GrowthView | None:
    """Return the stages; None for a design of one stage."""
    if len(design.stages) < 2:
        return None
    bars = []
    rows = []
    so_far = 0.0
    for stage in design.stages:
        bought = [row for row in design.bom if row.stage == stage.name]
        usd = sum_usd(bought)
        so_far = round(so_far + usd, 2)
        bars.append((f"{stage.name}, month {stage.month}", _by_kind(bought)))
        rows.append(_row(stage, usd, so_far))
    return GrowthView(tuple(rows), drawn(svg(cost_bars(bars, PAGE_PALETTE, "stage"), PAGE_PALETTE)))


def _row(stage: StageDesign, usd: Number, so_far: Number) -> tuple[str, ...]:
    sizes = str(stage.month), count(stage.servers), count(stage.gpus)
    return stage.name, *sizes, money(usd), money(so_far), power(stage.power_w), _switches(stage)


def _switches(stage: StageDesign) -> str:
    """``8 leaf, 4 spine``; with several fabrics each with its name."""
    texts = []
    for name, tiers in stage.fabrics.items():
        counts = ", ".join(f"{count(number)} {role}" for role, number in tiers.items() if number)
        texts.append(f"{name}: {counts}" if len(stage.fabrics) > 1 else counts)
    return "; ".join(texts)


def _by_kind(rows: list[BomRow]) -> dict[str, Number]:
    return {kind: sum_usd(row for row in rows if row.kind == kind) for kind in dict.fromkeys(row.kind for row in rows)}
