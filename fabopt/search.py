"""The exact search: candidates below a threshold, the integer program over them, and the proof that none was missed.

The program's optimum V over the candidates below a threshold is the optimum of all if every candidate above it costs at
least V by its bound. So: solve; if a cut candidate might still be cheaper, raise the threshold to V and solve again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fabopt.errors import NoAnswerError
from fabopt.formulation import Level, Program, value_of
from fabopt.problem import Problem
from fabopt.solvers import Solution, solve
from fabopt.topology.candidate import Candidate, Option
from fabopt.topology.clos.candidates import candidate_of
from fabopt.topology.clos.space import ClosSpace, Found, Restriction
from fabopt.topology.needs import Costs, Floats

# The threshold rises by this share of the bound, then fourfold, while the program over the candidates below is infeasible.
FIRST_RISE = 0.002
RISE = 4.0
MOST_RISES = 12
MOST_SIZED_IN_PROGRAM = 50_000


@dataclass(frozen=True)
class Settings:
    """How to search: engine, seconds (None: no limit), whether to prune, where to report."""

    engine: str = "cp-sat"
    time_limit_s: float | None = None
    prune: bool = True
    progress: Callable[[str], None] = lambda text: None  # noqa: E731


class Clock:
    """Seconds left of a time limit."""

    def __init__(self, time_limit_s: float | None) -> None:
        self._end = None if time_limit_s is None else time.monotonic() + time_limit_s

    def left(self) -> float | None:
        """Seconds left, at least 0; None without a limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def is_over(self) -> bool:
        """Whether the limit has passed."""
        return self._end is not None and time.monotonic() >= self._end


@dataclass
class Optimum:
    """A search's result. ``value`` and ``bound`` are objective integers (see ``Weights``); ``picked`` with its parts."""

    verdict: str
    picked: list[tuple[Candidate, list[tuple[Option, int]]]] = field(default_factory=list)
    value: int | None = None
    bound: int | None = None
    sized: int = 0
    in_program: int = 0
    program: Program | None = None


def weights_table(problem: Problem) -> tuple[Floats, Floats]:
    """Item weights by metric, shape (metrics, items), and the most of each metric that fabrics may use.

    Row 0 is the objective at the least price that any break allows; the others are those that a limit caps.
    """
    items = problem.goods.items
    cents = np.array([item.least_cents for item in items], dtype=float)
    power = np.array([item.power_mw for item in items], dtype=float)
    units = np.array([item.rack_milliunits for item in items], dtype=float)
    weights, limits = problem.weights, problem.limits
    rows = [weights.per_cent * cents + weights.per_mw * power + weights.per_unit * units]
    caps = [np.inf]
    fixed = problem.fixed_cents
    for row, most in (
        (cents, None if limits.capex_cents is None else limits.capex_cents - fixed + stock_value(problem)),
        (power, limits.power_mw),
        (units, limits.rack_milliunits),
    ):
        if most is not None:
            rows.append(row)
            caps.append(float(most))
    return np.array(rows), np.array(caps)


def stock_value(problem: Problem) -> int:
    """What the stock on hand can save at most, in cents."""
    return sum(item.stock * item.least_cents for item in problem.goods.items if item.kind != "server")


class Search:
    """The search for one problem, or for a restricted part of its space."""

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        clock: Clock,
        restrictions: Mapping[str, Restriction] | None = None,
    ) -> None:
        self.problem = problem
        self.settings = settings
        self.clock = clock
        table, caps = weights_table(problem)
        costs = Costs(table)
        self.spaces = [
            ClosSpace(
                problem,
                fabric,
                costs,
                caps,
                (restrictions or {}).get(fabric.name, Restriction()),
                settings.prune,
                clock.is_over,
            )
            for fabric in problem.fabrics
        ]
        self.saving = problem.weights.per_cent * stock_value(problem)
        self.sized = 0

    def run(self, ties: bool = True) -> Optimum:
        """The optimum; ``ties``: broken in the documented order, else any."""
        found = [space.search() for space in self.spaces]
        least = [one.least for one in found]
        self.sized = sum(one.sized for one in found)
        if any(one.stopped for one in found) and not all(np.isfinite(least)):
            return Optimum("unknown", sized=self.sized)
        if not all(np.isfinite(least)):
            return Optimum("infeasible", sized=self.sized)
        bound = sum(least) - self.saving
        slack, rises = 0.0, 0
        while True:
            candidates = self._candidates(found)
            outcome = self._solve(candidates, ties)
            outcome.sized = self.sized
            complete = not any(one.stopped for one in found) and not self.clock.is_over()
            if outcome.value is not None:
                needed = self._needed(outcome.value, bound)
                if needed <= slack + _tolerance(bound) or not self.settings.prune:
                    return self._finished(outcome, bound, complete)
                slack = needed
            elif slack == np.inf or not self.settings.prune:
                verdict = "infeasible" if complete and outcome.verdict == "infeasible" else "unknown"
                return Optimum(verdict, sized=self.sized, in_program=len(candidates))
            else:
                rises += 1
                slack = max(slack * RISE, abs(bound) * FIRST_RISE, 1.0) if rises < MOST_RISES else np.inf
            if not complete:
                return self._finished(outcome, bound, complete)
            self.settings.progress(f"opening candidates up to {100 * slack / max(1.0, abs(bound)):.2g}% above the bound")
            found = [space.search(slack=slack) for space in self.spaces]
            self.sized = max(self.sized, sum(one.sized for one in found))

    def any_design(self) -> Optimum:
        """Some design, without limits: enough to say that there is one."""
        found = [space.search(first=True) for space in self.spaces]
        candidates = self._candidates(found)
        present = {candidate.fabric for candidate in candidates}
        if len(present) < len(self.problem.fabrics):
            return self.run(ties=False)
        return self._solve(candidates, ties=False)

    def _needed(self, value: int, bound: float) -> float:
        fixed = self.problem.weights.per_cent * self.problem.fixed_cents
        return value - fixed - bound

    def _finished(self, outcome: Optimum, bound: float, complete: bool) -> Optimum:
        if outcome.value is None:
            return Optimum("unknown", sized=self.sized)
        fixed = self.problem.weights.per_cent * self.problem.fixed_cents
        if complete and outcome.verdict == "optimal":
            return replace(outcome, bound=outcome.value)
        return replace(outcome, verdict="feasible", bound=min(outcome.value, int(np.floor(bound)) + fixed))

    def _candidates(self, found: Sequence[Found]) -> list[Candidate]:
        made: list[Candidate] = []
        for fabric, one in zip(self.problem.fabrics, found, strict=True):
            for batch in one.batches:
                for index in range(batch.cost.shape[1]):
                    candidate = candidate_of(self.problem, fabric, batch, index, self.settings.prune)
                    if candidate is not None:
                        made.append(candidate)
        return made

    def _solve(self, candidates: Sequence[Candidate], ties: bool) -> Optimum:
        present = {candidate.fabric for candidate in candidates}
        if len(present) < len(self.problem.fabrics):
            return Optimum("infeasible")
        self.settings.progress(f"solving a program of {len(candidates)} candidates")
        program = Program(self.problem, candidates)
        levels = program.levels()
        if not ties:
            levels = levels[:1]
        values, verdict, value = self._by_levels(program, levels)
        if values is None or value is None:
            return Optimum(verdict, in_program=len(candidates), program=program)
        picked = [(one, program.units(values, one)) for one in program.picked(values)]
        return Optimum(verdict, picked, value, None, self.sized, len(candidates), program)

    def _by_levels(
        self, program: Program, levels: Sequence[Level]
    ) -> tuple[Mapping[str, int] | None, str, int | None]:
        """Minimize each level in turn, holding those before it at their least."""
        values: Mapping[str, int] | None = None
        verdict, value = "unknown", None
        for number, level in enumerate(levels):
            if values is not None and (program.is_settled or not level.expression):
                continue
            program.lp.setObjective(level.expression)
            solution = self._engine(program, values)
            if not solution.values:
                if values is None:
                    return None, solution.verdict, None
                break
            if number == 0:
                verdict = solution.verdict
                value = value_of(level.expression, solution.values) + level.offset
            values = solution.values
            held = value_of(level.expression, values)
            if solution.verdict != "optimal":
                break
            if number + 1 < len(levels):
                program.lp += level.expression <= held, f"level_{number}"
        return values, verdict, value

    def _engine(self, program: Program, hint: Mapping[str, int] | None) -> Solution:
        solution = solve(program.lp, self.settings.engine, self.clock.left(), hint)
        if solution.verdict == "unknown" and not self.clock.is_over():
            raise NoAnswerError(
                f"engine {self.settings.engine} returned no usable answer; try another with --engine"
            )
        return solution


def _tolerance(bound: float) -> float:
    return 1e-9 * abs(bound) + 0.5
