"""What fewer switches would cost: the best design with half of an answer's, where it costs little more."""

from __future__ import annotations

from dataclasses import replace

from fabopt.problem.limits import tighter
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Sums
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.units import some, watts

# Half of fewer switches than these is a single one.
LEAST_SWITCHES = 4
# The share of the objective, 1 : this, that a design may be above the best to be told; what every design has is aside.
LITTLE_MORE = 10


def with_fewer_switches(
    problem: Problem, best: int, switches: int, settings: Settings, clock: Clock, context: Context
) -> Optimum:
    """The best design with at most half of so many switches, over all fabrics, that is at most a tenth above the best
    objective; there may be none.
    """
    limits = replace(problem.limits, switches=tighter(problem.limits.switches, switches // 2))
    few, most = replace(problem, limits=limits), best + (best - problem.fixed_objective) // LITTLE_MORE
    return search_of(few, settings, clock, near=best, context=context, lower_than=most + 1).run()


def boxes_beside(other: Sums, best: Sums) -> str:
    """What stands and is cabled in a design and another number of it in the best one, in words."""
    pairs = (
        (other.switches, best.switches, "switch"),
        (other.cables, best.cables, "cable"),
        (watts(other.rack_milliunits), watts(best.rack_milliunits), "rack unit"),
    )
    told = (f"{some(count, noun)} (here {own:,})" for count, own, noun in pairs if count != own)
    return "; " + ", ".join(told)
