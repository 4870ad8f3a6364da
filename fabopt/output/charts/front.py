"""The chart of a front or a sweep: its points numbered and labelled, knees, budgets, and where there is no design.

Where labels of points are in a chart, so that none covers another or a point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabopt.output.charts.points import Axes, Dot
from fabopt.output.charts.style import WIDTH, Palette, Spec
from fabopt.output.steps import budget_of
from fabopt.output.words import begins_at_zero, money
from fabopt.schema.design import BUDGET_KEY, Front, Number

# Mean width of a letter against its height, of a sans.
_LETTER = 0.52
_GAP = 4.0


@dataclass(frozen=True)
class Spot:
    """A point in pixels from the chart's upper left corner; ``urgent`` ones are labelled first."""

    x: float
    y: float
    text: str
    urgent: bool


@dataclass(frozen=True)
class Label:
    """Where a text goes, against the middle of its point. ``align``: ``left``, ``right`` or ``center``."""

    dx: float
    dy: float
    align: str


@dataclass(frozen=True)
class _Area:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Area) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def is_within(self, other: _Area) -> bool:
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


def placed(
    spots: Sequence[Spot], width: float, height: float, size: float, radius: float, rising: bool
) -> list[Label | None]:
    """Return a place for the label of each point, or None where there is no room for it.

    Urgent points come first, then the others in order; a point without a text has no label. ``size``: of the letters;
    ``radius``: of the points, pixels. ``rising``: a line through the points goes up, so that labels are best below it
    to the right.
    """
    chart = _Area(0, 0, width, height)
    taken = [_Area(spot.x - radius, spot.y - radius, spot.x + radius, spot.y + radius) for spot in spots]
    placed: list[Label | None] = [None] * len(spots)
    for index in sorted(range(len(spots)), key=lambda index: (not spots[index].urgent, index)):
        own = taken[index]
        if not spots[index].text:
            continue
        for label, area in _candidates(spots[index], size, radius, rising):
            if area.is_within(chart) and not any(area.meets(other) for other in taken if other is not own):
                placed[index] = label
                taken.append(area)
                break
    return placed


def _candidates(spot: Spot, size: float, radius: float, rising: bool) -> Iterator[tuple[Label, _Area]]:
    width, away, beside = len(spot.text) * size * _LETTER, radius + _GAP, radius * 0.6
    down = radius + size * 0.8 if rising else -radius - size * 0.8
    for dx, dy, align in (
        (beside, down, "left"),
        (-beside, -down, "right"),
        (0.0, down, "center"),
        (0.0, -down, "center"),
        (beside, -down, "left"),
        (-beside, down, "right"),
        # last, as a line to the next point may be level
        (away, 0.0, "left"),
        (-away, 0.0, "right"),
    ):
        left = spot.x + dx - {"left": 0.0, "center": width / 2, "right": width}[align]
        middle = spot.y + dy
        yield Label(dx, dy, align), _Area(left, middle - size * 0.7, left + width, middle + size * 0.7)


HEIGHT = 380
_RADIUS, _TEXT = 9.0, 11.0
# Pixels that a number of two digits takes, along and up.
_DIGITS = (13.0, 11.0)
# More points than this have small marks, without their numbers.
_MOST_NUMBERED = 30
_SMALL_RADIUS = 4.0
# Between a knee and the ring around it.
_RING = 4.0
# Room left free around the points, as a share of their range; above and to the right labels go.
_ROOM = (0.06, 0.16)
_LARGEST = 2.2
# Letters of a label.
_LONGEST = 60


@dataclass(frozen=True)
class _Scale:
    """Numbers from ``low`` to ``high`` over ``pixels``."""

    low: float
    high: float
    pixels: float

    def at(self, value: Number) -> float:
        return (float(value) - self.low) / (self.high - self.low) * self.pixels

    @property
    def spec(self) -> Spec:
        return {"domain": [self.low, self.high], "nice": False, "zero": False}


@dataclass(frozen=True)
class _Frame:
    """The chart's scales. ``x`` is None where the values along are words."""

    axes: Axes
    x: _Scale | None
    y: _Scale
    names: list[str]

    def x_place(self, value: Number | str) -> float:
        if self.x is not None and not isinstance(value, str):
            return self.x.at(value)
        return (self.names.index(str(value)) + 0.5) / len(self.names) * WIDTH


def front_chart(front: Front, axes: Axes, dots: Sequence[Dot], palette: Palette) -> Spec:
    """Return the chart; its points have their ``words`` as description."""
    frame = _frame(front, axes, dots)
    layers = [
        *_budgets(front, frame, palette),
        *_spending(front, frame, dots, palette),
        *_line_through(front, frame, dots, palette),
        *_marks(frame, dots, palette),
        *_gaps(frame, dots, palette),
    ]
    return {"width": WIDTH, "height": HEIGHT, "layer": layers}


def _frame(front: Front, axes: Axes, dots: Sequence[Dot]) -> _Frame:
    values = [dot.x for dot in dots if dot.x is not None]
    names = list(dict.fromkeys(str(value) for value in values))
    numbers = [float(value) for value in values if not isinstance(value, str)]
    x = _scale([*numbers, *_capex_of(front, axes, dots)], WIDTH) if len(numbers) == len(values) else None
    return _Frame(axes, x, _scale([float(dot.y) for dot in dots if dot.y is not None], HEIGHT), names)


def _scale(values: Sequence[float], pixels: float) -> _Scale:
    low, high = min(values, default=0.0), max(values, default=1.0)
    range_ = high - low or abs(high) or 1.0
    floor = 0.0 if begins_at_zero(low, high) else low - _ROOM[0] * range_
    return _Scale(floor, high + _ROOM[1] * range_, pixels)


def _capex_of(front: Front, axes: Axes, dots: Sequence[Dot]) -> list[float]:
    """Return the purchase price in dollars under each budget, where budgets are the axis."""
    if not axes.x_is_key or axes.x.name != BUDGET_KEY:
        return []
    return [float(dot.point.totals.capex_usd) for dot in dots if dot.point.totals is not None and dot.is_drawn]


# -- layers ---------------------------------------------------------------------------------------------------------


def _x(frame: _Frame, field: str = "x") -> Spec:
    axis: Spec = {"title": frame.axes.x.title, "grid": False}
    if frame.x is None:
        return {"field": field, "type": "nominal", "scale": {"domain": frame.names}, "axis": {**axis, "labelAngle": 0}}
    axis |= {"labelExpr": frame.axes.x.label_expression, "tickCount": 8}
    return {"field": field, "type": "quantitative", "scale": frame.x.spec, "axis": axis}


def _y(frame: _Frame) -> Spec:
    axis = {"title": frame.axes.y.title, "labelExpr": frame.axes.y.label_expression, "tickCount": 6, "domain": False}
    return {"field": "y", "type": "quantitative", "scale": frame.y.spec, "axis": {**axis, "ticks": False}}


def _budgets(front: Front, frame: _Frame, palette: Palette) -> Iterator[Spec]:
    """Yield a line at the case's own budget, where an axis is a price; words alone where the axis ends before it."""
    budget = budget_of(front)
    for channel, quantity, scale in (("x", frame.axes.x, frame.x), ("y", frame.axes.y, frame.y)):
        if budget is not None and quantity.name == "capex_usd" and scale is not None and budget >= scale.low:
            is_beyond = budget > scale.high
            value, text = min(budget, scale.high), f"budget {money(budget)}{', beyond this axis' * is_beyond}"
            data = {"values": [{"at": value, "text": text}]}
            place: Spec = {channel: {"field": "at", "type": "quantitative", "scale": scale.spec}}
            line = {"type": "rule", "color": palette.alarm, "strokeDash": [5, 4], "aria": False}
            edge = {"y": 0, "x": scale.at(value)} if channel == "x" else {"x": WIDTH}
            words = {"type": "text", "align": "right", "dx": -5, "dy": 6, "baseline": "top", "color": palette.alarm}
            if not is_beyond:
                yield {"data": data, "mark": line, "encoding": place}
            encoding = {**place, "text": {"field": "text"}} | {name: {"value": at} for name, at in edge.items()}
            yield {"data": data, "mark": {**words, "aria": False}, "encoding": encoding}


def _spending(front: Front, frame: _Frame, dots: Sequence[Dot], palette: Palette) -> Iterator[Spec]:
    """Yield, for a sweep over budgets, a line from each budget to the purchase price under it."""
    if not _capex_of(front, frame.axes, dots):
        return
    rows = [
        {"x": dot.x, "spent": float(dot.point.totals.capex_usd), "y": dot.y}
        for dot in dots
        if dot.is_drawn and dot.point.totals is not None
    ]
    place = {"x": _x(frame, "spent"), "x2": {"field": "x"}, "y": _y(frame)}
    yield {"data": {"values": rows}, "mark": {"type": "rule", "color": palette.grid, "size": 6, "aria": False}} | {
        "encoding": place
    }
    tick = {"type": "tick", "color": palette.faded, "size": 12, "thickness": 2, "aria": False}
    yield {"data": {"values": rows}, "mark": tick, "encoding": {"x": _x(frame, "spent"), "y": _y(frame)}}


def _line_through(front: Front, frame: _Frame, dots: Sequence[Dot], palette: Palette) -> Iterator[Spec]:
    """Yield the line through the points: in steps where no design lies between them, none over a surface."""
    if frame.axes.third is not None or frame.x is None:
        return
    rows = [{"x": dot.x, "y": dot.y} for dot in dots if dot.is_drawn]
    steps = front.kind == "pareto" or frame.axes.x.name == BUDGET_KEY
    line = {"type": "line", "interpolate": "step-after" if steps else "linear", "color": palette.accent}
    place = {"x": _x(frame), "y": _y(frame)}
    yield {"data": {"values": rows}, "mark": {**line, "strokeWidth": 1.5, "opacity": 0.45, "aria": False}} | {
        "encoding": place
    }


def _marks(frame: _Frame, dots: Sequence[Dot], palette: Palette) -> Iterator[Spec]:
    """Yield the points with their numbers, rings around knees, and labels where there is room."""
    drawn = [dot for dot in dots if dot.is_drawn]
    numbered = len(drawn) <= _MOST_NUMBERED
    radius = _RADIUS if numbered else _SMALL_RADIUS
    growth = _growth(drawn)
    rows = [_mark(dot, radius * by) for dot, by in zip(drawn, growth, strict=True)]
    place = {"x": _x(frame), "y": _y(frame)}
    area = {"size": {"field": "area", "type": "quantitative", "scale": None}}
    knees = [_mark(dot, radius * by + _RING) for dot, by in zip(drawn, growth, strict=True) if dot.point.knee]
    ring = {"type": "circle", "filled": False, "color": palette.alarm, "strokeWidth": 2, "opacity": 1, "aria": False}
    yield {"data": {"values": knees}, "mark": ring, "encoding": place | area}
    mark = {"type": "circle", "color": palette.accent, "opacity": 1}
    described = {"description": {"field": "words"}}
    yield {"data": {"values": rows}, "mark": mark, "encoding": place | area | described}
    if numbered:
        number = {"type": "text", "color": palette.on_accent, "fontSize": 10, "fontWeight": "bold", "aria": False}
        legible = {dot.number for dot in _legible(frame, drawn)}
        told = [row for row in rows if row["number"] in legible]
        yield {"data": {"values": told}, "mark": number, "encoding": place | {"text": {"field": "number"}}}
    yield from _labels(frame, drawn, radius * max(growth, default=1.0) + (_RING if knees else 0), palette)


def _legible(frame: _Frame, drawn: Sequence[Dot]) -> list[Dot]:
    """Points whose numbers do not run into each other: knees and ends first, then the others in order."""
    kept: list[tuple[float, float, Dot]] = []
    for dot in sorted(drawn, key=lambda dot: not _is_urgent(dot, drawn)):
        x, y = frame.x_place(dot.x or 0), frame.y.at(dot.y or 0)
        if all(abs(x - other) >= _DIGITS[0] or abs(y - up) >= _DIGITS[1] for other, up, _ in kept):
            kept.append((x, y, dot))
    return [dot for _, _, dot in kept]


def _mark(dot: Dot, radius: float) -> dict[str, Any]:
    """Return the row of a mark; Vega-Lite's size of a circle is the square of its diameter."""
    return {"x": dot.x, "y": dot.y, "number": dot.number, "words": dot.words, "area": (2 * radius) ** 2}


def _growth(drawn: Sequence[Dot]) -> list[float]:
    """Return the size of each mark as a multiple of the smallest: by the third quantity, where there is one."""
    values = [0.0 if dot.third is None else float(dot.third) for dot in drawn]
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [1 + (_LARGEST - 1) * ((value - low) / (high - low) if high > low else 0.0) for value in values]


def _labels(frame: _Frame, drawn: Sequence[Dot], radius: float, palette: Palette) -> Iterator[Spec]:
    """Yield the labels that have room: each a layer of its own, because offsets belong to a mark, not to its data."""
    spots = [
        Spot(frame.x_place(dot.x or 0), HEIGHT - frame.y.at(dot.y or 0), text, _is_urgent(dot, drawn))
        for dot, text in zip(drawn, _texts(drawn), strict=True)
    ]
    for dot, spot, label in zip(drawn, spots, placed(spots, WIDTH, HEIGHT, _TEXT, radius, _rises(spots)), strict=True):
        if label is None:
            continue
        text = {"type": "text", "align": label.align, "dx": label.dx, "dy": label.dy, "baseline": "middle"}
        place = {"x": _x(frame), "y": _y(frame), "text": {"field": "text"}}
        data = {"values": [{"x": dot.x, "y": dot.y, "text": spot.text}]}
        colour = palette.alarm if dot.point.knee else palette.ink
        halo = {"stroke": palette.halo, "strokeWidth": 4, "strokeJoin": "round", "color": palette.halo}
        for look in (halo, {"color": colour}):
            yield {"data": data, "mark": {**text, **look, "aria": False}, "encoding": place}


def _rises(spots: Sequence[Spot]) -> bool:
    """Whether the points go up from left to right."""
    ordered = sorted(spots, key=lambda spot: spot.x)
    return bool(ordered) and ordered[-1].y <= ordered[0].y


def _is_urgent(dot: Dot, drawn: Sequence[Dot]) -> bool:
    return dot.point.knee or dot is drawn[0] or dot is drawn[-1]


def _texts(drawn: Sequence[Dot]) -> Iterator[str]:
    """Yield a label for each point; where there are many, every text once, and the knee's."""
    told: set[str] = set()
    for dot in drawn:
        again = len(drawn) > _MOST_NUMBERED and dot.label in told and not dot.point.knee
        told.add(dot.label)
        yield "" if again else _label(dot)


def _label(dot: Dot) -> str:
    """The label of a point; of a long one, which is whole in the table, as many facts as have room."""
    words = f"knee: {dot.label}" if dot.point.knee else dot.label
    while len(words) > _LONGEST and ", " in words:
        words = words.rpartition(", ")[0]
    return words


def _gaps(frame: _Frame, dots: Sequence[Dot], palette: Palette) -> Iterator[Spec]:
    """Yield crosses at the foot of the chart where there is no design, and the words once."""
    rows = [{"x": dot.x, "words": dot.words} for dot in dots if dot.y is None and dot.x is not None]
    if not rows:
        return
    foot = {"y": {"value": HEIGHT - 8}}
    cross = {"type": "point", "shape": "cross", "angle": 45, "size": 90, "filled": True, "opacity": 1}
    described = {"x": _x(frame), "description": {"field": "words"}} | foot
    yield {"data": {"values": rows}, "mark": {**cross, "color": palette.alarm}, "encoding": described}
    words = {"type": "text", "align": "left", "dx": 10, "baseline": "middle", "color": palette.alarm, "aria": False}
    last = [{"x": rows[-1]["x"], "text": "no design"}]
    yield {"data": {"values": last}, "mark": words, "encoding": {"x": _x(frame), "text": {"field": "text"}} | foot}
