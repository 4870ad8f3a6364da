"""The heat map of a sweep over two keys: a cell for each point, shaded by the objective of the sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabopt.output.charts.bars import short_money
from fabopt.output.charts.figures import Quantity, setting_of
from fabopt.output.charts.points import Dot
from fabopt.output.charts.style import WIDTH, Palette, Spec
from fabopt.output.words import plain, power
from fabopt.schema.design import Number
from fabopt.schema.front import Front

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
    colour = {"scale": {"domain": [low, high], "range": [_LIGHT, _DARK]}, "legend": _legend(y)}
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


def _legend(y: Quantity) -> Spec:
    return {"title": y.title, "labelExpr": y.label_expression, "orient": "right", "gradientLength": 160}


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
    if quantity.name.endswith("_usd"):
        return short_money(value)
    return power(value) if quantity.name.endswith("_w") else plain(value)
