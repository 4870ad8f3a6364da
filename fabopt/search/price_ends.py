"""The ends of a range of prices, exact to a step.

As some prices move, every design with its orders costs a straight line, and the optimum is the lower envelope of all
lines. So the answer is optimal on an interval: where another design is met that is cheaper, everything past the point
at which the two lines cross is outside; look at the last step before that, until the answer is optimal there (Newton's
method on the envelope). No end is missed between steps, as an interval has no holes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Literal, NamedTuple

from fabopt.errors import NoAnswerError
from fabopt.problem.problem import Problem
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.search.choice import search_of
from fabopt.search.price_lines import Line, PricedDesign, priced_design
from fabopt.search.scaled import Scaled, at_factor

# Factors are looked at in steps of a thousandth, up to ten times today's price.
STEPS = 1000
MOST_STEPS = 10 * STEPS
Direction = Literal[-1, 1]
DIRECTIONS: tuple[Direction, Direction] = (-1, 1)
Indices = frozenset[int]


class Probe(NamedTuple):
    """The best design at some factor: the problem there and its cents (all None: no design is within the budget)."""

    step: int
    priced: PricedDesign | None
    problem: Problem | None
    cents: Fraction | None
    is_proven: bool

    @property
    def factor(self) -> Fraction:
        """The factor of prices at the step."""
        return Fraction(self.step, STEPS)


class RangeEnd(NamedTuple):
    """The last step at which the answer is optimal, and the best design at the next; None: not searched."""

    step: int
    beyond: Probe | None
    is_proven: bool


@dataclass
class EndFinder:
    """Finds ends for one answer. ``pool``: every design met so far, as any may be the first to cross the answer."""

    base: Problem
    answer: PricedDesign
    is_proven: bool
    settings: Settings
    clock: Clock

    def __post_init__(self) -> None:
        """Begin with no other design."""
        self.pool: list[PricedDesign] = []
        self.told = ""

    def find(self, indices: Indices, direction: Direction, told: str = "") -> RangeEnd:
        """The end of the range in a direction; raises ``StoppedError``. ``told``: words for progress."""
        self.told = told
        good, far = STEPS, MOST_STEPS if direction > 0 else 0
        line = self.answer.line(indices)
        proven = self.is_proven
        bad = self._first_bad(line, self._rivals(indices), direction)
        if bad is None:
            probe = self._probe(indices, far)
            bad = self._past(line, probe, indices, direction)
            if bad is None:
                return RangeEnd(far, None, proven and probe.is_proven)
        while bad - direction != good:
            probe = self._probe(indices, bad - direction)
            nearer = self._past(line, probe, indices, direction)
            if nearer is None:
                good, proven = bad - direction, proven and probe.is_proven
            else:
                bad = nearer
        beyond = self._probe(indices, bad, ties=True)
        return RangeEnd(good, beyond, proven and beyond.is_proven)

    def _rivals(self, indices: Indices) -> Iterator[Line]:
        """Cost lines that end the range: those of other designs, and the budget."""
        yield from (priced.line(indices) for priced in self.pool)
        if self.base.limits.capex_cents is not None:
            yield Line(Fraction(self.base.limits.capex_cents), Fraction(0))

    def _first_bad(self, line: Line, rivals: Iterator[Line], direction: Direction) -> int | None:
        """The first step in a direction at which a rival costs less than the answer."""
        steps = [step for rival in rivals if (step := _past_crossing(line, rival, direction)) is not None]
        inside = [step for step in steps if 0 <= step <= MOST_STEPS]
        return min(inside, key=lambda step: step * direction, default=None)

    def _past(self, line: Line, probe: Probe, indices: Indices, direction: Direction) -> int | None:
        """The first step that a probe rules out; None if the answer is optimal there."""
        if probe.cents is not None and line.at(probe.factor) <= probe.cents:
            return None
        rivals = self._rivals(indices) if probe.priced is None else iter([probe.priced.line(indices)])
        step = self._first_bad(line, rivals, direction)
        assert step is not None
        return step

    def _probe(self, indices: Indices, step: int, ties: bool = False) -> Probe:
        """The best design at a step; ``ties``: broken as for any answer."""
        self.settings.progress(f"{self.told}: solving at {100 * step / STEPS:g} %")
        factor = Fraction(step, STEPS)
        scaled = at_factor(self.base, indices, factor, self.settings.prune)
        quiet = self.settings.quiet
        known_value = self._at_most(scaled, indices, factor)
        try:
            optimum = search_of(scaled.problem, quiet, self.clock, known_value=known_value).run(ties)
        except NoAnswerError:
            raise StoppedError from None
        if self.clock.is_over() or optimum.verdict == "unknown":
            raise StoppedError
        if optimum.value is None:
            return Probe(step, None, None, None, True)
        priced = priced_design(self.base, scaled.problem, optimum.picked)
        cents = scaled.cents(optimum.value)
        if priced.line(indices).at(factor) != cents:
            raise AssertionError(f"a design that costs {cents} cents was expected at {priced.line(indices).at(factor)}")
        self.pool.append(priced)
        return Probe(step, priced, scaled.problem, cents, optimum.verdict == "optimal")

    def _at_most(self, scaled: Scaled, indices: Indices, factor: Fraction) -> int | None:
        """The least objective of all designs met, at a factor; None where a budget may be below that."""
        if self.base.limits.capex_cents is not None:
            return None
        return scaled.value(min(priced.line(indices).at(factor) for priced in (self.answer, *self.pool)))


def _past_crossing(line: Line, other: Line, direction: Direction) -> int | None:
    """The first step in a direction from today's prices at which another line is lower; None if it never is."""
    if other.at(Fraction(1)) < line.at(Fraction(1)):
        return STEPS + direction
    gains = (line.moving - other.moving) * direction
    crossing = line.crossing(other)
    if gains <= 0 or crossing is None:
        return None
    return floor(crossing * STEPS) + 1 if direction > 0 else ceil(crossing * STEPS) - 1
