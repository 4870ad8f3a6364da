"""Bars of payments in each period by kind, and a line of the payments so far."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.output.cash import KINDS, Period
from fabopt.output.charts.bars import BAR, HEIGHT, dollar_axis, name_axis, square_legend
from fabopt.output.charts.style import WIDTH, Palette, Spec
from fabopt.output.words import money
from fabopt.units import usd

TITLES = {
    "on_order": "on order", "on_delivery": "on delivery", "on_acceptance": "on acceptance", "yearly": "yearly charges",
    "energy": "energy", "residual": "sold in the end",
}  # fmt: skip
SO_FAR = "so far"
PAID = "paid, USD"
# The kinds of parts whose colours stand for kinds of payments.
_COLOURS = dict(zip(KINDS, ("switch", "nic", "transceiver", "cable", "server", "fibre"), strict=True))


def cash_bars(periods: Sequence[Period], palette: Palette, along: str) -> Spec:
    """Return the chart of a cash flow; ``along``: the title of the periods. Income is below zero."""
    kinds = [kind for kind in KINDS if any(period.paid[kind] for period in periods)]
    bars = [
        {"name": period.name, "kind": TITLES[kind], "usd": usd(period.paid[kind]), "order": kinds.index(kind)}
        | {"words": f"{period.name}, {TITLES[kind]}: {money(usd(period.paid[kind]))}"}
        for period in periods
        for kind in kinds
        if period.paid[kind]
    ]
    so_far = [
        {"name": period.name, "kind": SO_FAR, "usd": usd(period.owned)}
        | {"words": f"until {period.name}: {money(usd(period.owned))}"}
        for period in periods
    ]
    x = name_axis([period.name for period in periods], along)
    colours = [*(palette.kind(_COLOURS[kind]) for kind in kinds), palette.ink]
    scale = {"domain": [*(TITLES[kind] for kind in kinds), SO_FAR], "range": colours}
    colour = {"field": "kind", "type": "nominal", "scale": scale, "legend": square_legend()}
    shared = {"x": x, "color": colour, "description": {"field": "words"}}
    order = {"field": "order", "type": "quantitative"}
    layers = [
        {
            "data": {"values": bars},
            "mark": BAR,
            "encoding": {**shared, "y": dollar_axis("usd", PAID, stack="zero"), "order": order},
        },
        {
            "data": {"values": so_far},
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5, "aria": False},
            "encoding": {"x": x, "color": colour, "y": dollar_axis("usd", PAID)},
        },
        {
            "data": {"values": so_far},
            "mark": {"type": "point", "filled": True, "size": 22, "opacity": 1},
            "encoding": {**shared, "y": dollar_axis("usd", PAID)},
        },
    ]
    return {"width": WIDTH, "height": HEIGHT, "layer": layers}
