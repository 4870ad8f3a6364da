"""The cost of a design as some prices move: a straight line in their factor, and where two such lines cross."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked, all_uses, order_of


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
    money: dict[int, int] = {}
    for (stage, item), units in order_of(problem, picked).bought.items():
        cents = base.item_table.items[item.index].cost(stage, units, present)
        money[item.index] = money.get(item.index, 0) + cents
    rest = Fraction(0)
    if present:
        for (stage, item), count in all_uses(problem, picked).items():
            rest += base.energy_cents_per_mw[stage] * item.power_mw * count
    return PricedDesign(picked, money, rest)
