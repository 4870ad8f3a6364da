"""The integer program over some candidates, solved level by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, inf

from fabopt.errors import NoAnswerError
from fabopt.problem.planes import planes_of
from fabopt.problem.problem import Problem
from fabopt.program.dominance import without_dominated_parts
from fabopt.program.formulation import Program
from fabopt.program.levels import LACKING, Level, value_of
from fabopt.program.libraries import pulp
from fabopt.program.orders import sums_of
from fabopt.program.settings import LAST_SECONDS, Clock, Settings, unbroken
from fabopt.program.solvers import Solution, solve
from fabopt.topology.candidate import Candidate, Option, by_fabric
from fabopt.topology.interchangeable import settled
from fabopt.units import some

# It works in whole numbers, so nothing of its answers is lost in rounding.
EXACT = "cp-sat"
# Bounds of engines are floating-point numbers.
ENGINE_MARGIN = 1e-9
# An engine that leaves at most this share of its time has ended for want of it.
LEFT_UNUSED = 0.25


@dataclass
class Optimum:
    """A search's result. ``value``, ``bound``: objective integers (see ``Weights``); ``picked`` with its parts.

    ``equal_planes``: by fabric, the numbers of planes in which it costs the same, if several. ``ended_by``: the reason
    in words that ended the search early, other than the clock. ``least``: lower bound of the objective over the
    candidates that the program was made of (None: not known).
    """

    verdict: str
    picked: list[tuple[Candidate, list[tuple[Option, int]]]] = field(default_factory=list)
    value: int | None = None
    bound: int | None = None
    sized: int = 0
    in_program: int = 0
    program: Program | None = None
    least: int | None = None
    values: Mapping[str, int] = field(default_factory=dict)
    equal_planes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    ended_by: str = ""

    def has_none_below(self, value: int) -> bool:
        """Whether it proves that no design has an objective below ``value``."""
        return self.verdict == "infeasible" or (self.bound is not None and self.bound >= value)

    def least_above(self, fixed: int) -> float:
        """Lower bound of the candidates' objective in excess of ``fixed``; infinite if none meets the limits."""
        if self.least is None:
            return inf if self.verdict == "infeasible" else -inf
        return self.least - fixed


def optimum_of(
    problem: Problem,
    candidates: Sequence[Candidate],
    settings: Settings,
    clock: Clock,
) -> Optimum:
    """The best of some candidates, any of equal ones; infeasible if a fabric has none."""
    present = {candidate.fabric for candidate in candidates}
    if len(present) < len(problem.fabrics):
        return Optimum("infeasible")
    if settings.work.is_spent:
        return Optimum("unknown")
    settings.progress(f"solving a program of {some(len(candidates), 'candidate')}")
    program = Program(problem, without_dominated_parts(problem, candidates) if settings.prune else candidates)
    settings.work.make(len(program.lp.variables()))
    level = program.objective()
    program.lp.setObjective(level.expression)
    solution = _solved(program, None, settings, clock)
    optimum = Optimum(solution.verdict, in_program=len(candidates), program=program)
    if solution.bound is not None:
        optimum.least = floor(solution.bound - ENGINE_MARGIN * abs(solution.bound)) + level.offset
    if solution.values:
        value = value_of(level.expression, solution.values) + level.offset
        optimum = replace(optimum, picked=picked_in(program, solution.values), value=value, values=solution.values)
        if program.purchases.buy and optimum.verdict != "optimal":
            # its candidates may have cheaper orders
            with unbroken():
                optimum.value = sums_of(problem, optimum.picked).objective + problem.fixed_energy
    return optimum


def picked_in(program: Program, values: Mapping[str, int]) -> list[tuple[Candidate, list[tuple[Option, int]]]]:
    """The candidates that a solution builds, each with its switches and the parts of its links."""
    return [settled(candidate, program.units(values, candidate)) for candidate in program.picked(values)]


def without_ties(optimum: Optimum, settings: Settings, clock: Clock) -> Optimum:
    """The first in the documented order of all designs as good as an optimum."""
    program, values = optimum.program, optimum.values
    if program is None or optimum.verdict != "optimal":
        return optimum
    held, equal_planes = program.objective().expression, dict[str, tuple[int, ...]]()

    def levels() -> Iterator[Level]:
        yield from program.ties()
        yield from _levels_of_links(program, values)

    for number, level in enumerate(levels()):
        if level.name == LACKING:
            equal_planes = _equal_planes(program, held, values, settings, clock)
        if program.is_settled or not level.expression:
            continue
        program.lp += held <= value_of(held, values), f"level_{number}"
        if _is_least(level, values):
            held = level.expression
            continue
        program.lp.setObjective(level.expression)
        solution = _solved(program, values, settings, clock)
        values, held = solution.values or values, level.expression
        if solution.verdict != "optimal" or clock.is_over():
            break
    return replace(optimum, picked=picked_in(program, values), values=values, equal_planes=equal_planes)


def _equal_planes(
    program: Program, held: pulp.LpAffineExpression, values: Mapping[str, int], settings: Settings, clock: Clock
) -> dict[str, tuple[int, ...]]:
    """By fabric, the numbers of planes in which it costs the same, if several; empty where fabrics are coupled by
    orders, limits or slots, and for other objectives than capex.
    """
    told: dict[str, tuple[int, ...]] = {}
    for name, indices in by_fabric(program.candidates).items():
        planes = {index: planes_of(candidate.design.nic) for index, candidate in indices.items()}
        equal = {planes[index] for index in indices if values.get(program.pick[index].name)}
        for number in sorted(set(planes.values()) - equal):
            if clock.is_over():
                return {}
            picks = [(program.pick[index], 1) for index, of_one in planes.items() if of_one == number]
            program.lp += held <= value_of(held, values), "as_good"
            program.lp += pulp.LpAffineExpression(picks) >= 1, "of_planes"
            program.lp.setObjective(held)
            if _solved(program, None, settings, clock).verdict == "optimal":
                equal.add(number)
            del program.lp.constraints["as_good"], program.lp.constraints["of_planes"]
        if len(equal) > 1:
            told[name] = tuple(sorted(equal))
    return told


def _levels_of_links(program: Program, values: Mapping[str, int]) -> Iterator[Level]:
    """Ties that are left once the candidates of a solution are settled: of each kind of link few of its last options.

    Only ordered or short items couple kinds of links, so that one has more of a part where another has less.
    """
    for candidate in program.picked(values) if program.purchases.buy else ():
        for key in program.keys_of(candidate):
            for a in reversed(range(1, len(program.options[key]))):
                yield Level("links", pulp.LpAffineExpression([(program.links[key, a], 1)]), 0)


def _is_least(level: Level, values: Mapping[str, int]) -> bool:
    """Whether no solution has less of a quantity: it is 0, without negative weights."""
    if any(weight < 0 for weight in level.expression.values()):
        return False
    known = all(var.name in values for var in level.expression)
    return known and value_of(level.expression, values) == 0


def _solved(program: Program, hint: Mapping[str, int] | None, settings: Settings, clock: Clock) -> Solution:
    """A level, solved.

    Where an engine has found the optimum and then returns no usable answer for a tie, CP-SAT breaks it.
    """
    given, work = clock.left(), settings.work
    solution = solve(program.lp, settings.engine, clock, hint, work.effort_left)
    work.exert(solution.effort)
    if work.is_spent:
        return solution
    if solution.verdict == "unknown" and hint is not None and settings.engine != EXACT and _has_time(clock, given):
        solution = solve(program.lp, EXACT, clock, hint)
    if solution.verdict == "unknown" and _has_time(clock, given):
        raise NoAnswerError(f"engine {settings.engine} returned no usable answer; try another with --engine")
    return solution


def _has_time(clock: Clock, given: float | None) -> bool:
    """Whether an engine without an answer was not short of the seconds it was given.

    Where its next step may take longer than the time left, as on a busy machine, it ends before its time is over.
    """
    left = clock.left()
    return left is None or given is None or left > max(LAST_SECONDS, LEFT_UNUSED * given)
