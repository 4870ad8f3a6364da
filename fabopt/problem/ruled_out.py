"""What rules every design of a problem out by arithmetic, before any search."""

from __future__ import annotations

from fabopt.problem.nic_slots import slots_are_short
from fabopt.problem.problem import Problem
from fabopt.problem.vendors import sources_are_short


def is_ruled_out(problem: Problem) -> bool:
    """Whether arithmetic tells that there is no design: NICs that do not fit, or fewer vendors than are asked for."""
    return slots_are_short(problem) or sources_are_short(problem)
