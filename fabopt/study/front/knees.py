"""The knee of a front, and the marginal cost of its maximized metric.

The knee is the point that bulges the most towards the ideal: the farthest from the straight line between the two ends,
both axes being scaled to one. Source: Das, On characterizing the "knee" of the Pareto curve based on normal-boundary
intersection, Structural Optimization 18 (1999).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fabopt.schema.front import FrontObjective, FrontPoint
from fabopt.units import exact, plain_fraction

CENTS = 2


def marked(points: Sequence[FrontPoint], objectives: Sequence[FrontObjective]) -> tuple[FrontPoint, ...]:
    """Points of a front of two objectives, in its order, with knee and marginal cost; of three, without."""
    if len(objectives) != 2:
        return tuple(points)
    bulges = _bulges(points, objectives)
    most = max(bulges, default=Fraction(0))
    priced = with_marginal(points, objectives)
    return tuple(
        point.model_copy(update={"knee": most > 0 and bulge == most})
        for point, bulge in zip(priced, bulges, strict=True)
    )


def _bulges(points: Sequence[FrontPoint], objectives: Sequence[FrontObjective]) -> list[Fraction]:
    """Distance of each point from the line between the ends on the better side, in both axes together."""
    rows = [
        [exact(point.values[traded.metric]) * (1 if traded.sense == "minimize" else -1) for traded in objectives]
        for point in points
    ]
    if len(rows) < 3:
        return [Fraction(0)] * len(rows)
    lows = [min(column) for column in zip(*rows, strict=True)]
    spans = [max(column) - low for column, low in zip(zip(*rows, strict=True), lows, strict=True)]
    if not all(spans):
        return [Fraction(0)] * len(rows)
    return [
        1 - sum(((value - low) / span for value, low, span in zip(row, lows, spans, strict=True)), Fraction(0))
        for row in rows
    ]


def with_marginal(points: Sequence[FrontPoint], objectives: Sequence[FrontObjective]) -> list[FrontPoint]:
    """Points with the dollars of capex for one more of the maximized metric, against the last point with less."""
    more = [objective.metric for objective in objectives if objective.sense == "maximize"]
    if len(more) != 1 or not any(objective.metric == "capex_usd" for objective in objectives):
        return list(points)
    marked_, last = [], None
    for point in points:
        update: dict[str, int | float | None] = {"marginal": None}
        if point.totals is not None:
            values = exact(point.values[more[0]]), exact(point.values["capex_usd"])
            if last is not None and values[0] > last[0]:
                update["marginal"] = plain_fraction((values[1] - last[1]) / (values[0] - last[0]), CENTS)
            if last is None or values[0] != last[0]:
                last = values
        marked_.append(point.model_copy(update=update))
    return marked_
