"""The ends of a range of prices, exact to a step.

As some prices move, every design with its orders costs a straight line, and the optimum is the lower envelope of all
lines. So the answer is optimal on an interval: where another design is met that is cheaper, everything past the point
at which the two lines cross is outside; look at the last step before that, until the answer is optimal there (Newton's
method on the envelope). No end is missed between steps, as an interval has no holes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from math import ceil, floor, gcd
from typing import Literal, NamedTuple

from fabopt.errors import NoAnswerError
from fabopt.parts.finance import weights_of
from fabopt.parts.items import Item
from fabopt.parts.link_table import LinkTable
from fabopt.parts.offering import undominated, weighs_pools
from fabopt.problem.limits import ExactLimits
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike
from fabopt.program.orders import Picked, all_uses, order_of
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.search.choice import search_of
from fabopt.units import summed

# -- the cost of a design as some prices move -------------------------------------------------------------------------
# The cost of a design as some prices move: a straight line in their factor, and where two such lines cross.


@dataclass(frozen=True, eq=False)
class PricedDesign:
    """A design with its orders. ``money``: cents by number of the item at today's prices (their present values where
    the objective is); ``rest``: cents of the objective that no price moves.
    """

    picked: Sequence[Picked]
    money: Mapping[int, int]
    rest: Fraction

    def line(self, indices: frozenset[int]) -> Line:
        """The line of the design's cost as the prices of these items move."""
        moving = sum(cents for index, cents in self.money.items() if index in indices)
        return Line(self.rest + sum(self.money.values()) - moving, Fraction(moving))


@dataclass(frozen=True)
class Line:
    """``still`` + ``moving`` x factor, in cents."""

    still: Fraction
    moving: Fraction

    def at(self, factor: Fraction) -> Fraction:
        """Cents at a factor."""
        return self.still + self.moving * factor

    def crossing(self, other: Line) -> Fraction | None:
        """The factor of equal cost; None for parallel lines."""
        if self.moving == other.moving:
            return None
        return (other.still - self.still) / (self.moving - other.moving)


def priced_design(base: Problem, problem: Problem, picked: Sequence[Picked]) -> PricedDesign:
    """A design of a problem, priced at the base's prices."""
    present = bool(base.weights.energy)
    money = summed(
        (item.index, base.item_table.items[item.index].cost(stage, units, present))
        for (stage, item), units in order_of(problem, picked).bought.items()
    )
    rest = Fraction(0)
    if present:
        for (stage, item), count in all_uses(problem, picked).items():
            rest += base.energy_cents_per_mw[stage] * item.power_mw * count
    return PricedDesign(picked, money, rest)


# -- the ends of a range of prices, exact to a step -------------------------------------------------------------------


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


class LastStep(NamedTuple):
    """The last ``step`` at which the answer is optimal, and the ``next`` one; None: not searched."""

    step: int
    next: int | None
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
        last = self.last(indices, direction)
        if last.next is None:
            return RangeEnd(last.step, None, last.is_proven)
        beyond = self._probe(indices, last.next, ties=True)
        return RangeEnd(last.step, beyond, last.is_proven and beyond.is_proven)

    def last(self, indices: Indices, direction: Direction, others: Sequence[Line] = ()) -> LastStep:
        """The last step at which the answer is optimal; ``others``: cost lines of designs that are not in the pool."""
        good, far = STEPS, MOST_STEPS if direction > 0 else 0
        line = self.answer.line(indices)
        proven = self.is_proven
        bad = self._first_bad(line, chain(self._rivals(indices), others), direction)
        if bad is None:
            probe = self._probe(indices, far)
            bad = self._past(line, probe, indices, direction)
            if bad is None:
                return LastStep(far, None, proven and probe.is_proven)
        while bad - direction != good:
            probe = self._probe(indices, bad - direction)
            nearer = self._past(line, probe, indices, direction)
            if nearer is None:
                good, proven = bad - direction, proven and probe.is_proven
            else:
                bad = nearer
        return LastStep(good, bad, proven)

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
        probe = self._best(self.base, indices, step, ties)
        if probe.priced is not None:
            self.pool.append(probe.priced)
        return probe

    def _best(self, base: Problem, indices: Indices, step: int, ties: bool, is_known: bool = True) -> Probe:
        """The best design of a problem at a step; ``is_known``: whether all designs met are of it."""
        factor = Fraction(step, STEPS)
        scaled = at_factor(base, indices, factor, self.settings.prune)
        quiet = self.settings.quiet
        known_value = self._at_most(scaled, indices, factor) if is_known else None
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


# -- a problem at other prices, exactly -------------------------------------------------------------------------------
# A problem at other prices, exactly: money in a unit that makes every price an integer.


@dataclass(frozen=True)
class Scaled:
    """A problem whose money is counted in ``unit`` cents."""

    problem: Problem
    unit: Fraction

    def cents(self, value: int) -> Fraction:
        """An objective integer of the problem in cents."""
        return Fraction(value, self.problem.weights.scale) * self.unit

    def value(self, cents: Fraction) -> int:
        """The least objective integer not below ``cents``."""
        return ceil(cents / self.unit * self.problem.weights.scale)


def at_factor(base: Problem, indices: frozenset[int], factor: Fraction, prune: bool = True) -> Scaled:
    """The problem with the prices of some items (by index) times a factor, all else the same.

    ``base`` has a whole offering. Prices are multiplied after they have been rounded to the cent for their stage, and
    are not rounded again.
    """
    up, down = factor.numerator, factor.denominator

    def raised(item: Item, cents: int) -> int:
        return cents * (up if item.index in indices else down)

    prices = [
        raised(item, cents)
        for item in base.item_table.items
        for offer in item.offers
        for cents in (*offer.cents, *offer.present, *chain.from_iterable(offer.bare or ()))
    ]
    common = gcd(*prices) or 1
    unit = Fraction(common, down)
    item_table = base.item_table.repriced(lambda item, cents: raised(item, cents) // common)
    old = base.offering
    if prune:
        item_table = undominated(base.case, old.offered, item_table, old.named, old.qualified)
    links = LinkTable(old.offered, item_table, old.links.limits, prune and not weighs_pools(base.case))
    offering = replace(old, item_table=item_table, links=links)
    repriced = bound_alike(problem_of(base.case, base.catalog, prune, offering), base)
    energy = tuple(cents / unit for cents in base.energy_cents_per_mw)
    weights = weights_of(base.case.objective, energy)
    limits = _counted(base.limits, unit)
    # what is worked out of a site depends on no price
    priced = replace(repriced, weights=weights, energy_cents_per_mw=energy, limits=limits, site=base.site)
    return Scaled(priced, unit)


def _counted(limits: ExactLimits, unit: Fraction) -> ExactLimits:
    """Limits with the budgets in another unit of money; what is left of a unit buys nothing."""
    budget = None if limits.capex_cents is None else floor(limits.capex_cents / unit)
    # budgets of periods bound shares of prices: a fraction of a unit may count
    periods = tuple(
        period._replace(cents=tuple(None if most is None else most / unit for most in period.cents))
        for period in limits.periods
    )
    return replace(limits, capex_cents=budget, periods=periods)
