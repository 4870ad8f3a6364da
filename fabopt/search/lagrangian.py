"""Prices on limits: the master program of Kelley's cutting planes.

For prices y >= 0 every design within the limits costs at least
q(y) = min over designs of (objective + y x (use - limit)).
q is concave and the minimum of one line per design, so the designs met so far give a model of q that is never below it;
the next prices are those where the model is highest.
Source: Kelley, The cutting-plane method for solving convex programs, J. SIAM 8 (1960).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
