"""Arithmetic proofs, before any search, that a problem has no design."""

from __future__ import annotations

from fabopt.problem.nic_slots import slots_are_short
from fabopt.problem.problem import Problem
from fabopt.problem.vendors import sources_are_short


def is_ruled_out(problem: Problem) -> bool:
    """Whether arithmetic proves that there is no design: NICs do not fit the slots, or vendors are too few."""
    return slots_are_short(problem) or sources_are_short(problem)
