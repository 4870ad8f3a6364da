"""The charts of a front: the trade, and cost by kind of part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabopt.output.charts.bars import cost_bars
from fabopt.output.charts.figures import Quantity
from fabopt.output.charts.front import front_chart
from fabopt.output.charts.grid import grid_chart
from fabopt.output.charts.points import Dot, axes_of, dots_of
from fabopt.output.charts.style import FILE_PALETTE, Palette, Spec, heading
from fabopt.output.words import listed
from fabopt.schema.front import BUDGET_KEY, Front
from fabopt.units import some

_GRID_KEYS = 2
# Bars along more points than the first number are too thin to read: then the second number is shown.
_MOST_BARS, _FEW_BARS = 120, 60


@dataclass(frozen=True)
class Chart:
    """A chart with a title and a sentence about it."""

    title: str
    about: str
    spec: Spec


def charts(front: Front, palette: Palette) -> Iterator[Chart]:
    """Yield the charts of a front: the trade, and the cost by kind of part along it. None without points."""
    if not front.points:
        return
    axes = axes_of(front)
    dots = dots_of(front, axes)
    if front.kind == "sweep" and len(front.keys) == _GRID_KEYS:
        yield Chart(trade(front), "a cross is where no design meets the case", grid_chart(front, axes.y, dots, palette))
        return
    yield Chart(trade(front), _about(front, dots), front_chart(front, axes, dots, palette))
    if any(dot.point.capex_by_kind for dot in dots):
        shown = _spread(dots)
        bars = [(str(dot.number), dot.point.capex_by_kind) for dot in shown]
        about = "purchase price by kind of part"
        if len(shown) < len(dots):
            about += f"; {len(shown)} of {some(len(front.points), 'point')}, evenly spread"
        yield Chart("What the money buys", about, cost_bars(bars, palette, "point"))


def _spread(dots: list[Dot]) -> list[Dot]:
    """All points; of very many some, both ends among them."""
    if len(dots) <= _MOST_BARS:
        return dots
    return [dots[(len(dots) - 1) * step // (_FEW_BARS - 1)] for step in range(_FEW_BARS)]


def trade(front: Front) -> str:
    """Name the quantities traded: ``purchase price against Gb/s per GPU``."""
    axes = axes_of(front)
    if front.kind == "sweep":
        up = axes.y.title
        return (
            f"{up[:1].upper()}{up[1:]} by {listed([Quantity(key).short_title for key in front.keys]) or axes.x.title}"
        )
    words = f"{axes.x.title} against {axes.y.title}"
    if axes.third is not None:
        words += f" and {axes.third.title}"
    return f"{words[:1].upper()}{words[1:]}"


def _about(front: Front, dots: list[Dot]) -> str:
    axes = axes_of(front)
    missing = sum(dot.y is None for dot in dots)
    parts = [some(len(dots) - missing, "design")]
    if missing:
        parts.append(f"{some(missing, 'point')} without one")
    if axes.third is not None:
        parts.append(f"larger marks: more {axes.third.title}")
    if axes.x_is_key and axes.x.name == BUDGET_KEY:
        parts.append("grey: what is left of the budget")
    if len(dots) < len(front.points) or front.size is not None:
        parts.append(f"of {some(front.size or len(front.points), 'point')} of the front, evenly spread")
    elif not front.complete:
        parts.append("stopped before all points were done")
    return "; ".join(parts)


def together(front: Front) -> Spec:
    """Return all charts as one, below each other; without points a title that says so."""
    shown = list(charts(front, FILE_PALETTE))
    name = front.case.name
    if not shown:
        text = {"mark": {"type": "text"}, "encoding": {"text": {"value": "no points"}}, "data": {"values": [{}]}}
        return {"title": heading(name), "width": 400, "height": 80, **text}
    first, *others = shown
    titled = [{**first.spec, "title": heading(f"{name}: {first.title}", first.about)}]
    titled += [{**chart.spec, "title": heading(chart.title, chart.about)} for chart in others]
    whole: Spec = {"padding": 20, "vconcat": titled, "spacing": 36}
    return whole | {"resolve": {"scale": {"color": "independent", "x": "independent", "y": "independent"}}}
