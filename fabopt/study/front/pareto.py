"""Exact Pareto fronts by the epsilon-constraint method: every point proven, none dominated, none missing.

Two objectives: the best in the first, then the best in the first among designs better in the second, and so on until
there is none; all at once where both are plain sums (``fabopt.study.front.listed``). With a number of points: the ends,
then always a point in the largest gap. Three objectives: demands evenly spread between the best and the worst of the
others, each answered exactly. See docs/fronts.md.

The knee of a front, and the marginal cost of its maximized metric.

The knee is the point that bulges the most towards the ideal: the farthest from the straight line between the two ends,
both axes being scaled to one. Source: Das, On characterizing the "knee" of the Pareto curve based on normal-boundary
intersection, Structural Optimization 18 (1999).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil
from typing import NamedTuple

from fabopt.program.settings import StoppedError
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import FrontObjective, FrontPoint
from fabopt.study.front.finder import PRICE, Best, Finder, GradedDesign, climb
from fabopt.study.front.listed import Listed, Listing, can_be_listed
from fabopt.study.front.measures import Measure
from fabopt.study.front.mixes import TooManyMixesError
from fabopt.units import beats, exact, plain_fraction

# The most points of a file: fronts whose every link can be traded have 100,000 points and more.
MOST_POINTS = 10_000
Report = Callable[[Sequence[GradedDesign]], None]


@dataclass(frozen=True)
class FoundFront:
    """A front: points in the order of the first objective, the best first.

    ``complete``: no point asked for is missing; ``is_whole``: no point of the front is missing. ``size``: points of the
    whole front, if known and more than are here. ``was_stopped``: by the clock.
    """

    points: tuple[GradedDesign, ...]
    complete: bool
    is_whole: bool
    size: int | None = None
    was_stopped: bool = False


def front(
    finder: Finder, objectives: Sequence[Measure], points: int | None, report: Report, best: Best | None = None
) -> FoundFront:
    """The front of two or three objectives; ``points``: the most wanted, None for all (two objectives).

    ``report`` is given the points found whenever there are more. Points found before the clock stops are kept; if there
    are none, a design met and not proven. ``best``: answers point by point in place of the finder.
    """
    best = best or finder.best
    if points is None:
        listed = _listed(finder, objectives, report)
        if listed is not None:
            return listed
    two = len(objectives) == 2
    if points is None:
        steps = climb(best, *climbed(objectives))
    else:
        steps = _filled(best, objectives) if two else _spread(best, objectives, points)
    most = MOST_POINTS if points is None else points if two else None
    designs: list[GradedDesign] = []
    is_whole = two
    try:
        with finder.clock.bounded():
            for graded in steps:
                if (
                    most is not None
                    and len(designs) >= most
                    and len(undominated([*designs, graded], objectives)) > most
                ):
                    is_whole = False
                    break
                designs.append(graded)
                report(designs)
    except StoppedError:
        return stopped(designs or finder.left_over(), objectives)
    return FoundFront(tuple(undominated(designs, objectives)), is_whole or points is not None, is_whole)


def climbed(objectives: Sequence[Measure]) -> tuple[tuple[Measure, ...], Measure]:
    """What a front of two metrics is climbed by: metrics to be best in, and that of the demand."""
    first, second = in_turn(objectives)
    return _ties(first, second), second


def stopped(designs: Sequence[GradedDesign], objectives: Sequence[Measure]) -> FoundFront:
    """The front as far as it is known when the clock stops it."""
    return FoundFront(tuple(undominated(designs, objectives)), False, False, was_stopped=True)


def _listed(finder: Finder, objectives: Sequence[Measure], report: Report) -> FoundFront | None:
    """The whole front of two sums at once; None where it has to be found point by point."""
    first, second = in_turn(objectives)
    if not can_be_listed(finder.problem, first, second):
        return None
    proven: Listed | None = None
    stopped = False
    try:
        with finder.clock.bounded():
            for proven in Listing(finder, first, second).proven():
                if finder.lacks_managers(proven.of_each_kind()):
                    return None
                report(proven)
    except StoppedError:
        stopped = True
    except TooManyMixesError:
        return None
    if proven is None:
        left = tuple(undominated(finder.left_over(), objectives))
        return FoundFront(left, not stopped, not stopped, was_stopped=stopped)
    kept = proven.spread(MOST_POINTS)
    whole = not stopped and len(kept) == len(proven)
    in_order = sorted(kept, key=lambda graded: worth(graded.grades, objectives))
    size = None if stopped or len(kept) == len(proven) else len(proven)
    return FoundFront(tuple(in_order), whole, whole, size, stopped)


def _ties(first: Measure, second: Measure) -> tuple[Measure, ...]:
    """Metrics to minimize, in order. Ties of a maximized metric, and of a ratio, are broken by the next step."""
    if _in_order(first, second) == (first,):
        return (first,)
    return (first, second) if second.sense == "minimize" or not first.is_price else (first,)


def _in_order(first: Measure, second: Measure) -> tuple[Measure, ...]:
    """Metrics to minimize, in order; ties of a ratio are broken by the next step."""
    return (first,) if EFFECTIVE in (first.name, second.name) else (first, second)


def in_turn(objectives: Sequence[Measure]) -> list[Measure]:
    """Objectives in the order of the search, those it minimizes first: capex, the ratio, tco, power."""
    names = [objective.name for objective in objectives]
    ratio_first = PRICE.name not in names
    return sorted(
        objectives,
        key=lambda objective: (not ratio_first or objective.name != EFFECTIVE, not objective.is_price, objective.name),
    )


def _filled(best: Best, objectives: Sequence[Measure]) -> Iterator[GradedDesign]:
    """The two ends, then points in the largest gap of the second objective, until no gap can hold one."""
    first, second = in_turn(objectives)
    ends_met = []
    for order in (_in_order(first, second), _in_order(second, first)):
        end = best(order, {})
        if end is not None:
            ends_met.append(end)
            yield end
    # demands that have not been answered: between the worth just below one point and that of the next
    gaps = [_Gap(*(second.worth(end.grades[second.name]) for end in reversed(ends_met)))] if len(ends_met) == 2 else []
    while gaps:
        gap = max(gaps, key=lambda gap: (gap.worst - gap.best, gap.best))
        gaps.remove(gap)
        if gap.worst - gap.best < 2:
            continue
        demand = (gap.best + gap.worst) // 2
        answer = best(_in_order(first, second), {second.name: second.worth(demand)})
        worth = gap.best if answer is None else second.worth(answer.grades[second.name])
        gaps.append(_Gap(demand, gap.worst))
        if answer is not None and worth > gap.best:
            gaps.append(_Gap(gap.best, worth))
            yield answer


class _Gap(NamedTuple):
    """The gap between two known points, in worth."""

    best: int
    worst: int


def _spread(best: Best, objectives: Sequence[Measure], points: int) -> Iterator[GradedDesign]:
    """Points for demands on the second and third objective, evenly spread between their best and their worst."""
    first, *others = in_turn(objectives)
    ends_met: list[GradedDesign] = []
    for objective in (first, *others):
        end = best((objective, *(other for other in (first, *others) if other is not objective)), {})
        if end is None:
            return
        ends_met.append(end)
        yield end
    levels = max(2, ceil(points ** (1 / len(others))))
    for demands in product(*(_levels(objective, ends_met, levels) for objective in others)):
        answer = best((first, *others), dict(demands))
        if answer is not None:
            yield answer


def _levels(measure: Measure, ends: Sequence[GradedDesign], count: int) -> list[tuple[str, int]]:
    """``count`` demands on a metric between the worst and the best grade of the ends, the worst first."""
    grades = sorted((graded.grades[measure.name] for graded in ends), key=measure.worth, reverse=True)
    worst, best = grades[0], grades[-1]
    return [(measure.name, worst + (best - worst) * index // max(1, count - 1)) for index in range(count)]


def undominated(designs: Sequence[GradedDesign], objectives: Sequence[Measure]) -> list[GradedDesign]:
    """Undominated points, each once, in the order of the objectives."""
    by_worth: dict[tuple[int, ...], GradedDesign] = {}
    for graded in designs:
        by_worth.setdefault(worth(graded.grades, objectives), graded)
    kept: list[tuple[int, ...]] = []
    for worths in sorted(by_worth):
        # whoever beats it comes before it; of two objectives that is the last one kept, if any
        if not any(beats(other, worths) for other in (kept[-1:] if len(objectives) == 2 else kept)):
            kept.append(worths)
    return [by_worth[worths] for worths in kept]


def worth(grades: Mapping[str, int], objectives: Sequence[Measure]) -> tuple[int, ...]:
    """Grades by objective, signs changed so that less is better."""
    return tuple(objective.worth(grades[objective.name]) for objective in objectives)


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
