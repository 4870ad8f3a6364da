"""The axes of a front's chart, and every point with its place and its words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabopt.output.steps import marginal_unit
from fabopt.output.words import limit_name, money, plain, printable, value_text
from fabopt.schema.design import BUDGET_KEY, FabricDesign, Front, FrontPoint, Number

# -- quantities on axes and in words: the metrics of a front, and the keys that a sweep goes over ---------------------


_NAMES = {
    "capex_usd": "purchase price",
    "tco_usd": "total cost of ownership",
    "power_w": "power",
    "rack_units": "rack units",
    "gbps_per_gpu": "Gb/s per GPU",
    "bisection_gbps_per_gpu": "bisection, Gb/s per GPU",
    "latency_us": "base round trip, us",
    "headroom_servers": "servers that could still join",
    "least_gpu_utilization": "GPU utilization, at least",
    "gpu_utilization": "GPU utilization",
    "usd_per_effective_gpu": "cost per effective GPU",
    BUDGET_KEY: "budget",
}
_UNITS = ("usd", "w", "gbps", "m")


@dataclass(frozen=True)
class Quantity:
    """A metric or a key of the case, as people say it and as Vega-Lite labels it."""

    name: str

    @property
    def title(self) -> str:
        """``purchase price``; a key that has no name of its own is shown as it is."""
        if self.name in _NAMES or "." in self.name:
            return _NAMES.get(self.name, self.name)
        words = self.name.split("_")
        return " ".join(words[:-1] if len(words) > 1 and words[-1] in _UNITS else words)

    def words(self, value: Number | str | None) -> str:
        """Return a value with its unit: ``$1,250``, ``81.6 kW``, ``400``; ``-`` for none."""
        return value_text(self.name, value)

    @property
    def short_title(self) -> str:
        """The title, of a key only its last word."""
        return self.title if self.name in _NAMES else self.title.rpartition(".")[2]

    @property
    def label_expression(self) -> str:
        """Return the Vega expression of an axis label: ``$2.5M``, ``64 kW``, ``1,024``."""
        if self.name.endswith("_usd"):
            return "replace(replace(format(datum.value, '$.3~s'), 'G', 'B'), 'k', 'K')"
        if self.name.endswith("_w"):
            return "replace(format(datum.value, '.3~s'), /([a-zA-Z]?)$/, ' $1W')"
        return "format(datum.value, ',~r')"


def value_of(point: FrontPoint, metric: str) -> Number | None:
    """Return a figure of the design at a point; None where there is no design or no such figure."""
    if metric in point.values:
        return point.values[metric]
    totals = point.totals
    if totals is not None and metric in type(totals).model_fields:
        return float(getattr(totals, metric))
    return point.objective.value if point.objective.metric == metric else None


def setting_of(point: FrontPoint, key: str) -> Number | str | None:
    """Return the value of a key of the case at a point."""
    return point.budget_usd if key == BUDGET_KEY and point.budget_usd is not None else point.over.get(key)


# More points of a front than this are no easier to see, and make pages of many megabytes.
MOST_SHOWN = 500


@dataclass(frozen=True)
class Axes:
    """The quantities along and up; ``third`` is shown by size. ``x_is_key``: a key of the case, not a figure."""

    x: Quantity
    y: Quantity
    third: Quantity | None
    x_is_key: bool


@dataclass(frozen=True)
class Dot:
    """A point of a front. ``number`` from 1; ``y`` is None where there is no design, ``x`` where it has no place."""

    number: int
    point: FrontPoint
    x: Number | str | None
    y: Number | None
    third: Number | None
    label: str
    words: str

    @property
    def is_drawn(self) -> bool:
        """Whether it has a place in the chart."""
        return self.x is not None and self.y is not None


def axes_of(front: Front) -> Axes:
    """Return the quantities on the axes.

    A front: the quantity minimized along, the other one up. A sweep: its (first) key along, and up the first objective
    of the file; over budgets the quantity maximized under them, because the purchase price is then shown apart anyway.
    """
    metrics = [objective.metric for objective in front.objectives]
    if front.kind == "pareto" and len(metrics) > 1:
        senses = [objective.sense for objective in front.objectives]
        if senses[:2] == ["maximize", "minimize"]:
            metrics[:2] = metrics[1], metrics[0]
        third = Quantity(metrics[2]) if len(metrics) > 2 else None
        return Axes(Quantity(metrics[0]), Quantity(metrics[1]), third, x_is_key=False)
    key = front.keys[0] if front.keys else BUDGET_KEY
    return Axes(Quantity(key), Quantity(_best_in(front)), None, x_is_key=True)


def _best_in(front: Front) -> str:
    """Return the metric of a sweep's objective."""
    if BUDGET_KEY in front.keys:
        for objective in front.objectives:
            if objective.sense == "maximize":
                return objective.metric
    if front.objectives:
        return front.objectives[0].metric
    return front.points[0].objective.metric if front.points else "capex_usd"


def dots_of(front: Front, axes: Axes) -> list[Dot]:
    """Return the points that are shown, those without a design too, in order."""
    return [_dot(front, axes, number, point) for number, point in shown_points(front)]


def shown_points(front: Front) -> list[tuple[int, FrontPoint]]:
    """Return points with their numbers from 1: all, or of a very long front the knee and some, evenly spread."""
    numbered = list(enumerate(front.points, start=1))
    if front.kind != "pareto" or len(numbered) <= MOST_SHOWN:
        return numbered
    told = {(len(numbered) - 1) * step // (MOST_SHOWN - 1) for step in range(MOST_SHOWN)}
    return [(number, point) for number, point in numbered if number - 1 in told or point.knee]


def _dot(front: Front, axes: Axes, number: int, point: FrontPoint) -> Dot:
    x = setting_of(point, axes.x.name) if axes.x_is_key else value_of(point, axes.x.name)
    y = value_of(point, axes.y.name) if point.fabrics or point.values else None
    third = value_of(point, axes.third.name) if axes.third is not None else None
    words = "; ".join(_facts(front, axes, number, point))
    return Dot(number, point, x, y, third, shown_label(front, point), printable(words))


def _facts(front: Front, axes: Axes, number: int, point: FrontPoint) -> Iterator[str]:
    yield f"point {number}"
    for key in front.keys:
        setting = setting_of(point, key)
        if setting is not None:
            quantity = Quantity(key)
            yield f"{quantity.title} {quantity.words(setting)}"
    label = shown_label(front, point)
    yield label or why_not(point)
    if label:
        shown = (axes.y, axes.third) if axes.x_is_key else (axes.x, axes.y, axes.third)
        yield from (_figure(point, objective) for objective in shown if objective is not None)
        if axes.x_is_key and axes.y.name != "capex_usd" and point.totals is not None:
            yield _figure(point, Quantity("capex_usd"))
    if point.marginal is not None:
        yield f"{money(point.marginal)} for one {marginal_unit(front)} more"
    if point.knee:
        yield "knee"


def _figure(point: FrontPoint, quantity: Quantity) -> str:
    value = value_of(point, quantity.name)
    return f"{quantity.title} {'not known' if value is None else quantity.words(value)}"


def shown_label(front: Front, point: FrontPoint) -> str:
    """Name a design: of a front by the label that tells it from the others; empty where there is none."""
    named = point.label if front.kind == "pareto" and point.fabrics else ""
    return named or point_label(point)


def point_label(point: FrontPoint) -> str:
    """Name a design in three words: topology, leaf, ratio; empty where there is none."""
    if not point.fabrics:
        return ""
    first, *others = (_fabric_label(fabric) for fabric in point.fabrics)
    return f"{first} (+{len(others)} fabric{'s' if len(others) > 1 else ''})" if others else first


def _fabric_label(fabric: FabricDesign) -> str:
    leaf = next((tier.id for tier in fabric.tiers if tier.role == "leaf"), "")
    ratio = fabric.oversubscription.get("leaf")
    return ", ".join(part for part in (fabric.topology, leaf, "" if ratio is None else f"{plain(ratio)}:1") if part)


def why_not(point: FrontPoint) -> str:
    """Say why there is no design at a point."""
    state = {"infeasible": "no design (proven)", "unknown": "no design found"}.get(point.status, point.status)
    limits = ", ".join(limit_name(conflict.limit) for conflict in point.conflicts)
    return f"{state}: {limits}" if limits else state
