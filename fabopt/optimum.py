"""The integer program over some candidates, solved level by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabopt.clock import Clock, Settings
from fabopt.errors import NoAnswerError
from fabopt.formulation import Level, Program, value_of
from fabopt.ordering import sums_of
from fabopt.problem import Problem
from fabopt.solvers import Solution, solve
from fabopt.topology.candidate import Candidate, Option

# It works in whole numbers, so nothing of its answers is lost in rounding.
EXACT = "cp-sat"


@dataclass
class Optimum:
    """A search's result. ``value``, ``bound``: objective integers (see ``Weights``); ``picked`` with its parts."""

    verdict: str
    picked: list[tuple[Candidate, list[tuple[Option, int]]]] = field(default_factory=list)
    value: int | None = None
    bound: int | None = None
    sized: int = 0
    in_program: int = 0
    program: Program | None = None


def optimum_of(
    problem: Problem, candidates: Sequence[Candidate], settings: Settings, clock: Clock, ties: bool
) -> Optimum:
    """The best of some candidates; infeasible if a fabric has none. ``ties``: broken in the documented order."""
    present = {candidate.fabric for candidate in candidates}
    if len(present) < len(problem.fabrics):
        return Optimum("infeasible")
    settings.progress(f"solving a program of {len(candidates)} candidates")
    program = Program(problem, candidates)
    levels = program.levels() if ties else program.levels()[:1]
    values, verdict, value = _by_levels(program, levels, settings, clock)
    if values is None or value is None:
        return Optimum(verdict, in_program=len(candidates), program=program)
    picked = [(one, program.units(values, one)) for one in program.picked(values)]
    if program.purchases.buy:
        value = sums_of(problem, picked).objective + problem.fixed_energy
    return Optimum(verdict, picked, value, None, 0, len(candidates), program)


def _by_levels(
    program: Program, levels: Sequence[Level], settings: Settings, clock: Clock
) -> tuple[Mapping[str, int] | None, str, int | None]:
    """Minimize each level in turn, holding those before it at their least."""
    values: Mapping[str, int] | None = None
    verdict, value = "unknown", None
    for number, level in enumerate(levels):
        if values is not None and (program.is_settled or not level.expression):
            continue
        program.lp.setObjective(level.expression)
        solution = _solved(program, values, settings, clock)
        if not solution.values:
            if values is None:
                return None, solution.verdict, None
            break
        if number == 0:
            verdict = solution.verdict
            value = value_of(level.expression, solution.values) + level.offset
        values = solution.values
        held = value_of(level.expression, values)
        if solution.verdict != "optimal" or clock.is_over():
            break
        if number + 1 < len(levels):
            program.lp += level.expression <= held, f"level_{number}"
    return values, verdict, value


def _solved(program: Program, hint: Mapping[str, int] | None, settings: Settings, clock: Clock) -> Solution:
    """One level. Where an engine has found the optimum and then gives nothing usable for a tie, CP-SAT breaks it."""
    solution = solve(program.lp, settings.engine, clock.left(), hint)
    if solution.verdict == "unknown" and hint is not None and settings.engine != EXACT and not clock.is_over():
        solution = solve(program.lp, EXACT, clock.left(), hint)
    if solution.verdict == "unknown" and not clock.is_over():
        raise NoAnswerError(f"engine {settings.engine} returned no usable answer; try another with --engine")
    return solution
