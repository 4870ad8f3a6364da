"""Stacked bars of dollars by kind of part: along a front, and stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fabopt.output.charts.points import Quantity
from fabopt.output.charts.style import KINDS, WIDTH, Palette, Spec
from fabopt.output.words import KIND_NAMES, money
from fabopt.schema.design import Number

HEIGHT = 240
_COST = Quantity("capex_usd")
BAR: Final = {"type": "bar", "width": {"band": 0.62}}
# Bars with room for their total above them.
_MOST_WITH_TOTAL = 16


def cost_bars(bars: Sequence[tuple[str, Mapping[str, Number]]], palette: Palette, along: str) -> Spec:
    """Return bars, each a name and its dollars by kind; ``along``: the title of the names. A bar may be empty."""
    kinds = [kind for kind in KINDS if any(parts.get(kind) for _, parts in bars)]
    rows = [
        {"name": name, "kind": KIND_NAMES[kind], "usd": parts[kind], "order": kinds.index(kind)}
        | {"words": f"{along} {name}, {KIND_NAMES[kind]}: {money(parts[kind])}"}
        for name, parts in bars
        for kind in kinds
        if parts.get(kind)
    ]
    x = name_axis([name for name, _ in bars], along)
    colour = {"domain": [KIND_NAMES[kind] for kind in kinds], "range": [palette.kind(kind) for kind in kinds]}
    encoding = {
        "x": x,
        "y": dollar_axis("usd", stack="zero"),
        "order": {"field": "order", "type": "quantitative"},
        "color": {"field": "kind", "type": "nominal", "scale": colour, "legend": square_legend()},
        "description": {"field": "words"},
    }
    layers = [{"data": {"values": rows}, "mark": BAR, "encoding": encoding}]
    if len(bars) <= _MOST_WITH_TOTAL:
        layers.append(_totals(bars, x, palette))
    return {"width": WIDTH, "height": HEIGHT, "layer": layers}


def name_axis(names: Sequence[str], along: str) -> Spec:
    """Return the encoding of names side by side; ``along``: their title."""
    axis = {"title": along, "labelAngle": 0, "ticks": False, "labelOverlap": True}
    return {"field": "name", "type": "nominal", "scale": {"domain": names}, "axis": axis, "sort": None}


def dollar_axis(field: str, title: str = "", **more: str) -> Spec:
    """Return the encoding of dollars that go up."""
    axis = {
        "title": title or _COST.title,
        "labelExpr": _COST.label_expression,
        "tickCount": 5,
        "domain": False,
        "ticks": False,
    }
    return {"field": field, "type": "quantitative", "axis": axis, **more}


def square_legend() -> Spec:
    """Return a legend of squares above a chart."""
    return {"title": None, "orient": "top", "direction": "horizontal", "symbolType": "square", "offset": 10}


def _totals(bars: Sequence[tuple[str, Mapping[str, Number]]], x: Spec, palette: Palette) -> Spec:
    rows = [
        {"name": name, "usd": sum(parts.values()), "text": short_money(sum(parts.values()))} for name, parts in bars
    ]
    text = {"type": "text", "dy": -8, "color": palette.ink, "aria": False}
    filled = [row for row in rows if row["usd"]]
    return {
        "data": {"values": filled},
        "mark": text,
        "encoding": {"x": x, "y": dollar_axis("usd"), "text": {"field": "text"}},
    }


def short_money(usd: Number) -> str:
    """``$950``, ``$81.6K``, ``$1.37M``: three digits."""
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "K")):
        if abs(usd) >= size:
            return f"${usd / size:.3g}{unit}" if abs(usd) / size < 999.5 else f"${usd / size:.0f}{unit}"
    return f"${usd:.3g}"
