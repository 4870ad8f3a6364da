"""The part of the integer program that limits a design's cost in each future relative to the best plan for that
future.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from fabopt.parts.items import Item
from fabopt.problem.problem import Problem, future_energy
from fabopt.program.levels import Level
from fabopt.program.libraries import pulp
from fabopt.program.naming import Variables, rule
from fabopt.program.purchases import OfOrders, is_ordered
from fabopt.program.wide_sums import is_wide
from fabopt.units import summed

# What the first word of a regret is in units of, where it has two.
HIGH_UNIT = 2**30

REGRET = Variables(
    "regret",
    ("word",),
    "cents times what makes energy whole",
    f"the most spent in any future beyond its best; word 1, where that is wide, in units of {HIGH_UNIT:,}",
)


@dataclass
class Regrets(OfOrders):
    """The worst regret over all futures."""

    def __post_init__(self) -> None:
        self.scale = scale_of(self.problem)
        self.regrets = list(self._regrets())
        most, known = max(0, *map(_most, self.regrets)), self.problem.most_regret
        most = most if known is None else min(most, math.floor(self.scale * known))
        words = [(REGRET.integer(0, most, 0), 1)]
        if any(_is_wide(regret, most) for regret in self.regrets):
            words = [(REGRET.integer(0, most // HIGH_UNIT, 1), HIGH_UNIT), (REGRET.integer(0, HIGH_UNIT - 1, 0), 1)]
        self.worst = pulp.LpAffineExpression(words, constant=0)

    @rule("docs/formulation/growth.md")
    def worst_regret_is_held(self) -> None:
        """What is spent in every future is at most the best for it alone and the worst regret, which is minimized."""
        for number, regret in enumerate(self.regrets):
            name = f"worst_regret_is_held_{number}"
            self.lp += regret.expression - self.worst <= -regret.offset, name

    def _regrets(self) -> Iterator[Level]:
        """Spending in each future beyond the best for that future."""
        terms = self.problem.offering.terms
        for number, (future, best) in enumerate(zip(terms.futures, self.problem.best_alone, strict=True)):
            energy, prices = future_energy(terms, future), partial(self._prices, number)
            orders = [(var, self.scale * cents) for var, cents in self.purchases.cost_at(prices)]
            spent = self.level("regret", partial(self._weight, prices, energy), orders)
            yield replace(spent, offset=spent.offset - int(self.scale * best.cents))

    @property
    def expected(self) -> Level:
        """Expected spending beyond the best of each future, times the denominator of the probabilities."""
        unit = math.lcm(*(best.probability.denominator for best in self.problem.best_alone))
        often = [int(unit * best.probability) for best in self.problem.best_alone]
        terms = summed(
            (var, times * int(weight))
            for times, regret in zip(often, self.regrets, strict=True)
            for var, weight in regret.expression.items()
        )
        offset = sum(times * regret.offset for times, regret in zip(often, self.regrets, strict=True))
        return Level("expected", pulp.LpAffineExpression(terms, constant=0), offset)

    def _prices(self, number: int, item: Item, stage: int) -> tuple[int, ...]:
        """Present values of a unit at each break in a future; 0 where the stage does not come."""
        prices = item.offers[stage].futures[number]
        return (0,) * len(item.orders.starts) if prices is None else prices[1]

    def _weight(
        self, prices: Callable[[Item, int], Sequence[int]], energy: Sequence[Fraction], stage: int, item: Item
    ) -> int:
        """Weight of a unit in use: its price, if it is bought when it is used, and its energy."""
        cents = 0 if is_ordered(self.problem, item) else item.orders.cost_at(prices(item, stage), 1)
        return self.scale * cents + int(self.scale * energy[stage]) * item.power_mw


def _is_wide(level: Level, most: int) -> bool:
    """Whether a quantity less a regret of up to ``most`` may exceed an engine's integers."""
    return is_wide(pulp.LpAffineExpression([*level.expression.items()], constant=abs(level.offset) + most))


def _most(level: Level) -> int:
    """Upper bound of a quantity over all solutions."""
    return level.offset + sum(int(weight) * int(var.upBound) for var, weight in level.expression.items() if weight > 0)


def scale_of(problem: Problem) -> int:
    """The least factor with which cents of energy in every future, and the best of each, are integers."""
    terms = problem.offering.terms
    energy = (worth for future in terms.futures for worth in future_energy(terms, future))
    return math.lcm(*(amount.denominator for amount in (*energy, *(best.cents for best in problem.best_alone))))
