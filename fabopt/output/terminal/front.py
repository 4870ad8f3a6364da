"""Sweeps and fronts on a terminal: a sentence, a table, and a plot of dots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import TextWrapper, wrap

from rich.console import Console, ConsoleOptions, RenderableType, group
from rich.measure import Measurement
from rich.text import Text

from fabopt.output.front_columns import some_columns
from fabopt.output.slots import slots_at
from fabopt.output.stated import Column
from fabopt.output.steps import budget_of, causes_of
from fabopt.output.terminal.answer import conflict_quantity
from fabopt.output.terminal.summary import table
from fabopt.output.words import (
    begins_at_zero,
    limit_name,
    listed,
    money,
    plain,
    printable,
    value_text,
)
from fabopt.schema.design import BUDGET_KEY, Conflict, Front, FrontPoint
from fabopt.units import grouped, some

# -- A plot of dots for terminals: each character is two dots wide and four high --------------------------------------


BLANK = chr(0x2800)
STEPS = 200
# The bit of each dot of a character, by row and column (Unicode, chapter "Braille patterns").
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_ROWS, _COLUMNS = len(_BITS), len(_BITS[0])


def dots(points: Sequence[tuple[float, float]], width: int, height: int) -> list[str]:
    """Lines of a plot, the largest y on top; both axes over the ``span`` of their values.

    ``width``, ``height``: in characters.
    """
    cells = [[ord(BLANK)] * width for _ in range(height)]
    across = _scaled([x for x, _ in points], width * _COLUMNS - 1)
    up = _scaled([y for _, y in points], height * _ROWS - 1)
    for column, above in zip(across, up, strict=True):
        row = height * _ROWS - 1 - above
        cells[row // _ROWS][column // _COLUMNS] |= _BITS[row % _ROWS][column % _COLUMNS]
    return ["".join(map(chr, line)) for line in cells]


def stairs(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points joined by steps: a point's y holds until the next x, as the design for a budget does."""
    drawn: list[tuple[float, float]] = []
    rising = sorted(points)
    for (x, y), (next_x, next_y) in pairwise(rising):
        drawn += [(x + (next_x - x) * step / STEPS, y) for step in range(STEPS)]
        drawn += [(next_x, y + (next_y - y) * step / STEPS) for step in range(STEPS)]
    return [*drawn, *rising[-1:]]


def span(values: Sequence[float]) -> tuple[float, float]:
    """Where an axis begins and ends: at 0 or at the least (``words.begins_at_zero``)."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return (0.0 if begins_at_zero(low, high) else low), high


def _scaled(values: Sequence[float], most: int) -> list[int]:
    """Whole steps from 0 to ``most`` over the span of the values."""
    low, high = span(values)
    return [round((value - low) / (high - low) * most) if high > low else 0 for value in values]


# -- sweeps and fronts on a terminal: a sentence, a table, and a plot of dots -----------------------------------------


PLOT_WIDTH, PLOT_HEIGHT = 60, 8
_IN = "  "
AS_ABOVE = "as above"
MORE = "⋮"
# Fronts with more points are cut to the second number of points.
MOST_SHOWN, FEW_SHOWN = 40, 15
FEWEST_TO_PLOT = 3
# Letters of a line beside a table that are worth having there, and of a heading before it is broken between words.
_LEAST_BESIDE, _HEADING = 24, 12
_ANY_WIDTH = 1000


def front_headline(front: Front) -> str:
    """State the points found in one sentence."""
    done = [point for point in front.points if point.totals is not None]
    proven = "proven" if all(point.status == "optimal" for point in done) else "not all proven optimal"
    if front.kind == "pareto":
        points = (
            f"{some(len(done), 'point')} of the front of {listed([objective.metric for objective in front.objectives])}"
        )
        text = f"{front.case.name}: {points}, {proven}"
    else:
        none = len(front.points) - len(done)
        lost = f", {none} without a design" if none else ""
        text = f"{front.case.name}: {some(len(front.points), 'point')} over {listed(front.keys)}{lost}, {proven}"
    if front.size is not None:
        return f"{text}: {len(done):,} of its {some(front.size, 'point')}."
    return text + ("." if front.complete else "; stopped before all points were done.")


@group()
def front_summary(front: Front) -> Iterator[RenderableType]:
    """A sweep or front at a glance."""
    yield Text(printable(front_headline(front)), style="bold")
    yield Text()
    if front.points:
        yield _table(front)
        yield from map(Text, _steps(front))
    yield from map(Text, _held_back(front))
    yield from _plot(front)
    for note in front.notes:
        yield Text(printable(f"note: {note}"))


def _table(front: Front) -> RenderableType:
    traded = [objective.metric for objective in front.objectives]
    shown = list(dict.fromkeys([*traded, "capex_usd", "power_w"]))
    columns = [(key.rpartition(".")[2], True) for key in front.keys]
    columns += [(metric, True) for metric in shown]
    more = list(some_columns(front))
    columns += [(column.title, column.is_number) for column in more]
    rows: list[list[str]] = []
    what: list[str] = []
    before, told = 0, ""
    for number in _numbers_shown(front):
        if number - before > 1:
            rows.append(["", *[""] * len(columns)])
            what.append(f"{MORE} {some(number - before - 1, 'point')} between")
        point = front.points[number - 1]
        row = _row(front, point, shown, more)
        rows.append([str(number), *row[:-1]])
        what.append(_as_above(front.points[before - 1], point) if before and row[-1] == told else row[-1])
        before, told = number, row[-1]
    return _Fitting((("point", True), *columns), tuple(map(tuple, rows)), tuple(what))


@dataclass(frozen=True)
class _Fitting:
    """A table of points, and ``what`` each is: in the last column, or where that would be narrow below the table.

    The first column numbers the points; it is shown where the lines below refer to it. Where not even the numbers
    fit, each point is a line of words.
    """

    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, ...], ...]
    what: tuple[str, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield the table, and lines below it where the console is too narrow for them in the table."""
        beside = [[*row[1:], words] for row, words in zip(self.rows, self.what, strict=True)]
        room = options.max_width - _width_of(table(self.columns[1:], [row[:-1] for row in beside])) - 3
        if room >= max(_LEAST_BESIDE, *(len(word) for words in self.what for word in words.split())):
            yield table((*self.columns[1:], ("what", False)), beside)
            return
        headings = [("\n".join(wrap(title, _HEADING, break_long_words=False)), right) for title, right in self.columns]
        numbers = table(headings, [row if row[0] else (MORE, *row[1:]) for row in self.rows])
        fits = _width_of(numbers) <= options.max_width
        if fits:
            yield numbers
            yield Text()
        for row, words in zip(self.rows, self.what, strict=True):
            named = [f"{title} {cell}".strip() for (title, _), cell in zip(self.columns, row, strict=True) if cell]
            if not fits:
                yield _wrapped("; ".join([*named, words]), options.max_width)
            elif row[0] and words != AS_ABOVE:
                yield _wrapped(f"{row[0]}: {words}", options.max_width)


def _width_of(numbers: RenderableType) -> int:
    console = Console(width=_ANY_WIDTH)
    return Measurement.get(console, console.options, numbers).maximum


def _wrapped(words: str, width: int) -> Text:
    """A line broken between words, what follows further in."""
    breaking = TextWrapper(width, initial_indent=" ", subsequent_indent="    ")
    breaking.break_on_hyphens = breaking.break_long_words = False
    return Text(breaking.fill(printable(words)))


def _as_above(above: FrontPoint, point: FrontPoint) -> str:
    """The difference of a design from the one above with an equal summary: its NICs, where they differ."""
    others = [
        fabric.nic.id for fabric, before in zip(point.fabrics, above.fabrics, strict=False) if fabric.nic != before.nic
    ]
    return f"{AS_ABOVE}, with {listed(list(dict.fromkeys(others)))}" if others else AS_ABOVE


def _steps(front: Front) -> Iterator[str]:
    """Why each point of a short front, or sweep over one key, costs more than the one before."""
    if len(front.points) <= FEW_SHOWN and len(front.keys) <= 1:
        told = [
            f"point {number}: {causes}"
            for number in range(2, len(front.points) + 1)
            if (causes := causes_of(front, number))
        ]
        yield from map(printable, ["", *told] if told else [])


def _held_back(front: Front) -> Iterator[str]:
    """Slots that limit the NICs of points, each with the Gb/s of a GPU."""
    slots = ((slots_at(front, number), point) for number, point in enumerate(front.points, 1))
    for words, points in grouped((words, point) for words, point in slots if words).items():
        gbps = dict.fromkeys(plain(point.fabrics[0].metrics.injection_gbps_per_gpu) for point in points)
        yield printable(f"{listed(list(gbps))} Gb/s per GPU: {words}")


def _numbers_shown(front: Front) -> Sequence[int]:
    """Numbers of the points shown, from 1: a long front shows its ends, knee and points spread evenly."""
    last = len(front.points) - 1
    if front.kind != "pareto" or last < MOST_SHOWN:
        return range(1, last + 2)
    knees = [number for number, point in enumerate(front.points, 1) if point.knee]
    return sorted({*knees, *(last * step // (FEW_SHOWN - 1) + 1 for step in range(FEW_SHOWN))})


def _row(front: Front, point: FrontPoint, shown: Sequence[str], more: Sequence[Column[FrontPoint]]) -> list[str]:
    cells = [value_text(key, point.over.get(key, point.budget_usd)) for key in front.keys]
    traded = {objective.metric for objective in front.objectives} if front.kind == "pareto" else set()
    cells += [value_text(metric, point.values.get(metric), metric in traded) for metric in shown]
    cells += [column.cell(point) for column in more]
    return [*cells, point.summary if point.totals is not None else _why(point)]


def _why(point: FrontPoint) -> str:
    if not point.conflicts:
        return "no design"
    return "no design: " + "; ".join(_needs(conflict) for conflict in point.conflicts)


def _needs(conflict: Conflict) -> str:
    if conflict.needed is None:
        return f"{limit_name(conflict.limit)}: {conflict.detail}"
    if conflict.needed == "null":
        return f"{conflict.limit} would have to go"
    return f"{conflict.limit} needs {conflict_quantity(conflict.limit, conflict.needed)}"


def _plot(front: Front) -> Iterator[RenderableType]:
    """The plot, where there are two axes and a few points."""
    axes = _axes(front)
    if axes is None:
        return
    across, up = axes
    points = [(_at(point, across), _at(point, up)) for point in front.points]
    known = [(x, y) for x, y in points if x is not None and y is not None]
    if len(known) < FEWEST_TO_PLOT or len({y for _, y in known}) < 2:
        return
    from_x, to_x = span([x for x, _ in known])
    from_y, to_y = span([y for _, y in known])
    yield Text(f"\n{value_text(up, to_y)} {up}")
    yield _Plot(tuple(stairs(known) if front.kind == "pareto" or across == BUDGET_KEY else known))
    budget = budget_of(front) if "capex_usd" in axes else None
    limit = "" if budget is None else f"; the budget is {money(budget)}"
    ends = f"from {value_text(across, from_x)} to {value_text(across, to_x)}"
    yield Text(f"{value_text(up, from_y)}; {across} {ends}{limit}")


@dataclass(frozen=True)
class _Plot:
    """A plot of dots, as wide as the console has room for."""

    points: tuple[tuple[float, float], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield its lines, further in."""
        width = max(1, min(PLOT_WIDTH, options.max_width - len(_IN)))
        yield Text("\n".join(f"{_IN}{line}".rstrip(BLANK) for line in dots(self.points, width, PLOT_HEIGHT)))


def _axes(front: Front) -> tuple[str, str] | None:
    """The quantities across and up: the two objectives; or the one swept key and the objective."""
    metrics = [objective.metric for objective in front.objectives]
    if front.kind == "pareto":
        return (metrics[0], metrics[1]) if len(metrics) == 2 else None
    return (front.keys[0], metrics[-1]) if len(front.keys) == 1 else None


def _at(point: FrontPoint, axis: str) -> float | None:
    value = point.budget_usd if axis == BUDGET_KEY and not point.over else point.over.get(axis)
    if value is None:
        value = point.values.get(axis)
    return float(value) if isinstance(value, int | float) and point.totals is not None else None
