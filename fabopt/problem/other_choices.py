"""Fabrics with less choice than their case has."""

from __future__ import annotations

from dataclasses import replace

from fabopt.problem.fabric import FabricProblem


def with_tiers(fabric: FabricProblem, *tiers: int) -> FabricProblem:
    """The fabric with these numbers of tiers only."""
    return replace(fabric, shapes=replace(fabric.shapes, tiers=tiers))


def with_equal_groups(fabric: FabricProblem) -> FabricProblem:
    """The fabric with equal leaf groups only."""
    return replace(fabric, leaf_groups=fabric.leaf_groups.with_equal())
