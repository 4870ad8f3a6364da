"""Prices of limits: costs of a unit of power, money or space that keep the expansion small where limits bind.

Any design within the limits costs at least min(objective + prices x use) - prices x limits. The best prices come from a
master program over the designs met so far (``fabopt.search.limit_prices``).

Prices on limits: the master program of Kelley's cutting planes.

For prices y >= 0 every design within the limits costs at least
q(y) = min over designs of (objective + y x (use - limit)).
q is concave and the minimum of one line per design, so the designs met so far give a model of q that is never below it;
the next prices are those where the model is highest.
Source: Kelley, The cutting-plane method for solving convex programs, J. SIAM 8 (1960).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fabopt.program.lexicographic import Optimum
from fabopt.search.coefficients import distinct, first_of_each, tolerance, uses_of
from fabopt.search.expansion import MOST_SAMPLED, Expanded, Expansion
from fabopt.topology.candidate import Candidate
from fabopt.topology.link_parts import Floats

# No price is above this many times the objective of the first design over its use of what is limited.
MOST_PRICE = 1e3


class Point(NamedTuple):
    """Objective and uses, shape (limits,), of one design."""

    objective: float
    uses: Floats


class Master:
    """The designs met so far; ``limits``: shape (limits,); ``most``: no price is above it (None: it may be)."""

    def __init__(self, limits: Floats, most: float | None = None) -> None:
        self.limits = limits
        self.most = most
        self.points: list[Point] = []

    def add(self, point: Point) -> None:
        """Add a design."""
        self.points.append(point)

    def prices(self) -> tuple[Floats, float]:
        """Prices, shape (limits,), at which the model of the bound is highest, and its height there."""
        from ortools.linear_solver import pywraplp

        solver = pywraplp.Solver.CreateSolver("GLOP")
        scale = max(1.0, *(abs(point.objective) for point in self.points))
        limits = np.maximum(self.limits, 1.0)
        mosts = np.full(len(limits), MOST_PRICE) if self.most is None else self.most * limits / scale
        prices = [solver.NumVar(0.0, float(most), f"price_{index}") for index, most in enumerate(mosts)]
        height = solver.NumVar(-solver.infinity(), MOST_PRICE * len(limits), "height")
        for point in self.points:
            past = (point.uses - self.limits) / limits
            line = sum(float(rate) * price for rate, price in zip(past, prices, strict=True))
            solver.Add(height <= point.objective / scale + line)
        solver.Maximize(height)
        solver.Solve()
        solution = np.array([price.solution_value() for price in prices])
        return solution * scale / limits, float(height.solution_value()) * scale


# Rounds of prices on limits; each is a search. They stop when the bound is within the share of what it could become.
MOST_ROUNDS = 16
CLOSE_ENOUGH = 2e-4
# What the objective of every design that matters may add to its use of a limit, as a share of the limit.
LITTLE_OF_A_LIMIT = 0.01


class LimitPrices:
    """Finds prices of the limits of an expansion.

    ``solve``: the best design of some candidates; ``most``: the objective from which designs are unwanted, without the
    servers, or infinite.
    """

    def __init__(self, expansion: Expansion, solve: Callable[[Sequence[Candidate]], Optimum], most: float) -> None:
        self.expansion = expansion
        self._solve = solve
        self._most = most

    def of_free(self, expanded: Expanded) -> tuple[Floats, float, Optimum] | None:
        """Prices of the limits, shape (limits,), their bound, and the best design met by then; None: proven infeasible.

        They maximize the bound over the designs met so far (Kelley's cutting planes).
        """
        zero = np.zeros(len(self.expansion.caps) - 1)
        pool = self.expansion.candidates(expanded, MOST_SAMPLED)
        outcome = self._solve(pool)
        least = expanded.bound + self.expansion.problem.fixed_objective
        if outcome.value is not None and outcome.value - least <= tolerance(expanded.bound):
            return zero, expanded.bound, outcome
        master = Master(self.expansion.caps[1:])
        freest = self._point(expanded, zero, 1.0)
        if not (freest.uses > self.expansion.caps[1:]).any():
            # what is above the bound is not what limits cost: no prices of these make it up
            return zero, expanded.bound, outcome
        master.add(freest)
        for metric in np.flatnonzero(freest.uses > self.expansion.caps[1:]):
            leanest, point = self._leanest(int(metric), expanded.bound)
            if leanest.stopped:
                return zero, expanded.bound, self._solve(distinct(pool))
            if point is None:
                return None
            pool += self.expansion.candidates(leanest, MOST_SAMPLED)
            master.add(point)
        best = self._best_prices(master, pool, expanded.bound)
        return None if best is None else (*best, self._solve(distinct(pool)))

    def _leanest(self, metric: int, bound: float) -> tuple[Expanded, Point | None]:
        """The expansion of least use of a limit, and its design; None if proven past the limit.

        Among equal uses the cheapest: the objective, relative to the wanted one if known, else to the ``bound``, weighs
        up to a share of the limit; if the design is past the limit, not at all.
        """
        alone, cap = np.zeros(len(self.expansion.caps) - 1), self.expansion.caps[metric + 1]
        alone[metric] = 1.0
        most = self._most
        is_known = 0 < most < np.inf
        weighed = cap * LITTLE_OF_A_LIMIT if is_known or bound > 0 else 0.0
        objective = weighed / (most if is_known else bound) if weighed else 0.0
        leanest = self.expansion.expand(alone, objective=objective)
        if leanest.stopped:
            return leanest, None
        if weighed and not is_known:
            point = self._point(leanest, alone, objective) if np.isfinite(leanest.bound) else None
            if point is None or point.uses[metric] <= cap + tolerance(cap):
                return leanest, point
            leanest, objective, weighed = self.expansion.expand(alone, objective=0.0), 0.0, 0.0
        if leanest.stopped or leanest.bound - weighed > tolerance(cap) or not np.isfinite(leanest.bound):
            return leanest, None
        return leanest, self._point(leanest, alone, objective)

    def _best_prices(self, master: Master, pool: list[Candidate], free: float) -> tuple[Floats, float] | None:
        """The prices that give the best bound, ``free`` without any; None: proven infeasible. ``pool``: is added to."""
        best_prices, best_bound = np.zeros(len(self.expansion.caps) - 1), free
        for _ in range(MOST_ROUNDS):
            if self.expansion.clock.is_over():
                break
            prices, hoped = master.prices()
            if hoped - best_bound <= CLOSE_ENOUGH * abs(best_bound):
                break
            tried = self.expansion.expand(prices)
            if tried.stopped:
                break
            if not np.isfinite(tried.bound):
                return None
            if self._never_fits(prices, tried.bound, free):
                return None
            if tried.bound > best_bound:
                best_prices, best_bound = prices, tried.bound
            pool += self.expansion.candidates(tried, MOST_SAMPLED)
            master.add(self._point(tried, prices, 1.0))
        return best_prices, best_bound

    def _never_fits(self, prices: Floats, bound: float, free: float) -> bool:
        """Whether the priced uses exceed the priced limits in every design, so that none fits."""
        if bound <= 2 * abs(free) or not prices.any():
            return False
        scaled = prices / float(prices @ self.expansion.caps[1:])
        priced = self.expansion.expand(scaled, objective=0.0)
        return priced.bound > 1e-9 and not priced.stopped

    def _point(self, expanded: Expanded, prices: Floats, objective: float) -> Point:
        """Objective and uses of the design that is least at some prices."""
        weights = objective * self.expansion.table[0] + prices @ self.expansion.table[1:]
        total = np.zeros(len(self.expansion.caps))
        for candidate in first_of_each(self.expansion.candidates(expanded, 1)):
            total += uses_of(candidate, self.expansion.table, weights)
        return Point(float(total[0]) - self.expansion.saving, total[1:])
