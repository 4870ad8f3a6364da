"""The picture of a front as a page: its charts, and every point in a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fabopt.output.charts.compose import charts, trade
from fabopt.output.charts.points import (
    Axes,
    Quantity,
    axes_of,
    setting_of,
    shown_label,
    shown_points,
    value_of,
    why_not,
)
from fabopt.output.charts.style import PAGE_PALETTE, svg
from fabopt.output.front_columns import some_columns
from fabopt.output.html.rendering import drawn, render
from fabopt.output.slots import slots_at
from fabopt.output.steps import (
    gpus_of,
    ratio_of,
    step_of,
)
from fabopt.output.words import count
from fabopt.schema.design import Front
from fabopt.schema.version import VERSION

_NOTHING = "-"


@dataclass(frozen=True)
class Figure:
    """A chart in a page."""

    title: str
    about: str
    picture: Any


@dataclass(frozen=True)
class FrontTable:
    """Points as rows of words.

    A column is (title, whether it holds numbers). ``details``: texts under each row: the design in a line, the slot
    that limits its NICs, and the reasons for its extra cost; ``design``: the column that opens them. ``links``: the
    page of each row's point, empty where it has none.
    """

    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, ...], ...]
    details: tuple[tuple[str, ...], ...]
    design: int
    links: tuple[str, ...]


def plot_page(front: Front, links: Mapping[int, str] = MappingProxyType({})) -> bytes:
    """Return a page with the charts of a front and its points; ``links``: pages of points, by their numbers."""
    content = {"front": front, "title": trade(front), "figures": front_figures(front)}
    return render("plot.html", **content, points=front_table(front, links), version=VERSION)


def front_figures(front: Front) -> list[Figure]:
    """Return the charts of a front, drawn in the colours of a page."""
    return [
        Figure(chart.title, chart.about, drawn(svg(chart.spec, PAGE_PALETTE))) for chart in charts(front, PAGE_PALETTE)
    ]


def front_table(front: Front, links: Mapping[int, str] = MappingProxyType({})) -> FrontTable:
    """Return every point shown, with its settings, its design or the reason for none, and its figures."""
    axes = axes_of(front)
    metrics = _metrics(front, axes)
    keys = [Quantity(key).short_title for key in front.keys]
    if len(set(keys)) < len(keys):
        keys = [Quantity(key).title for key in front.keys]
    columns = [("point", False), *((key, True) for key in keys), ("design", False)]
    columns += [("GPUs", True), ("ratio", True), *((metric.title, True) for metric in metrics)]
    more = list(some_columns(front))
    columns += [(column.title, column.is_number) for column in more]
    columns = [(title if "_" in title else title[:1].upper() + title[1:], numbers) for title, numbers in columns]
    rows, details, pages = [], [], []
    for number, point in shown_points(front):
        settings = (Quantity(key).words(setting_of(point, key)) for key in front.keys)
        figures = (metric.words(value_of(point, metric.name)) for metric in metrics)
        gpus = gpus_of(point)
        size = _NOTHING if gpus is None else count(gpus), ratio_of(point) or _NOTHING
        label = shown_label(front, point) or why_not(point)
        rows.append((str(number), *settings, label, *size, *figures, *(column.cell(point) for column in more)))
        pages.append(links.get(number, ""))
        details.append(tuple(text for text in (point.summary, slots_at(front, number), step_of(front, number)) if text))
    return FrontTable(tuple(columns), tuple(rows), tuple(details), 1 + len(front.keys), tuple(pages))


def _metrics(front: Front, axes: Axes) -> list[Quantity]:
    """Return the metrics of the axes, then cost, power and switches where they are not among them."""
    wanted = [] if axes.x_is_key else [axes.x]
    wanted += [axes.y, *([axes.third] if axes.third is not None else [])]
    wanted += [Quantity(name) for name in ("capex_usd", "power_w", "switches")]
    unique = dict.fromkeys(wanted)
    return [
        quantity for quantity in unique if any(value_of(point, quantity.name) is not None for point in front.points)
    ]
