"""The charts of a front: the trade, and cost by kind of part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabopt.output.charts.bars import cost_bars, short_money
from fabopt.output.charts.front import front_chart
from fabopt.output.charts.points import Dot, Quantity, axes_of, dots_of, setting_of
from fabopt.output.charts.style import FILE_PALETTE, WIDTH, Palette, Spec, heading
from fabopt.output.words import listed
from fabopt.schema.design import BUDGET_KEY, Front, Number
from fabopt.units import some

# -- the heat map of a sweep over two keys ----------------------------------------------------------------------------


_CELL = 44
_MOST_HEIGHT = 560
# Cells that have room for their figure.
_NARROWEST = 46
# From light to dark, with letters that are clear on either: the cells keep their colours on dark pages.
_LIGHT, _DARK = "#e3edf7", "#1d4e89"
_NOTHING = "#c9ced6"


def grid_chart(front: Front, y: Quantity, dots: Sequence[Dot], palette: Palette) -> Spec:
    """Return the heat map: the first key along, the second up, a cross where there is no design."""
    along, up = (Quantity(key) for key in front.keys[:2])
    columns, rows = (_settings(dots, key.name) for key in (along, up))
    values = [float(dot.y) for dot in dots if dot.y is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    x = _axis("x", along, columns)
    place = {"x": x, "y": {**_axis("y", up, rows), "sort": "descending"}}
    height = min(_MOST_HEIGHT, max(2, len(rows)) * _CELL)
    cells = [_cell(dot, along, up, y, low, high) for dot in dots]
    colour = {
        "scale": {"domain": [low, high], "range": [_LIGHT, _DARK]},
        "legend": {"title": y.title, "labelExpr": y.label_expression, "orient": "right", "gradientLength": 160},
    }
    layers: list[Spec] = [
        {
            "data": {"values": [cell for cell in cells if cell["y"] is not None]},
            "mark": {"type": "rect"},
            "encoding": place
            | {"color": {"field": "y", "type": "quantitative", **colour}, "description": {"field": "words"}},
        },
        {
            "data": {"values": [cell for cell in cells if cell["y"] is None]},
            "mark": {"type": "rect", "color": _NOTHING},
            "encoding": place | {"description": {"field": "words"}},
        },
    ]
    if WIDTH / max(1, len(columns)) >= _NARROWEST and height / max(1, len(rows)) >= _CELL / 2:
        shade = {"field": "ink", "type": "nominal", "scale": None}
        text = {"type": "text", "aria": False}
        written = {"text": {"field": "text"}, "color": shade}
        layers.append({"data": {"values": cells}, "mark": text, "encoding": place | written})
    return {"width": WIDTH, "height": height, "layer": layers, "resolve": {"scale": {"color": "independent"}}}


def _settings(dots: Sequence[Dot], key: str) -> list[Number | str]:
    settings = dict.fromkeys(setting_of(dot.point, key) for dot in dots)
    return [setting for setting in settings if setting is not None]


def _axis(channel: str, quantity: Quantity, values: Sequence[Number | str]) -> Spec:
    expression = {} if any(isinstance(value, str) for value in values) else {"labelExpr": quantity.label_expression}
    axis = {"title": quantity.title, "labelAngle": 0, "ticks": False, "domain": False, **expression}
    if channel == "y":  # a key may be longer than the chart is high: above it, and level
        axis |= {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleX": -30, "titleY": -16}
    return {"field": f"at_{channel}", "type": "ordinal", "axis": axis}


def _cell(dot: Dot, along: Quantity, up: Quantity, y: Quantity, low: float, high: float) -> dict[str, Any]:
    shade = 0.0 if dot.y is None or high == low else (float(dot.y) - low) / (high - low)
    return {
        "at_x": setting_of(dot.point, along.name),
        "at_y": setting_of(dot.point, up.name),
        "y": dot.y,
        "text": "×" if dot.y is None else _short(y, dot.y),
        "ink": "#ffffff" if shade > 0.55 else "#1b2430",
        "words": dot.words,
    }


def _short(quantity: Quantity, value: Number) -> str:
    return short_money(value) if quantity.name.endswith("_usd") else quantity.words(value)


# -- the charts of a front: the trade, and cost by kind of part -------------------------------------------------------


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
