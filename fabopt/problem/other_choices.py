"""Fabrics with less choice than their case has."""

from __future__ import annotations

from dataclasses import replace

from fabopt.problem.fabric import FabricProblem


def with_equal_groups(fabric: FabricProblem) -> FabricProblem:
    """The fabric with equal leaf groups only."""
    return replace(fabric, last_group="equal", last_leaf=())
