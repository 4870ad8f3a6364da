"""A fabric in every layout that is worth looking at: those with racks for the switches that all fabrics would have."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.layouts import SwitchSums, in_layouts, switch_sums
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.space import ClosSpace

# The search of a fabric as it is given.
SpaceOf = Callable[[FabricProblem], ClosSpace]


def layouts_of(problem: Problem, fabric: FabricProblem, space: SpaceOf) -> tuple[FabricProblem, ...]:
    """The fabric in layouts with space for the switches that all fabrics would have if these could be anywhere.

    ``space``: of a whole fabric.
    """
    sketches = [_sketch(one, space) for one in problem.fabrics]
    sums = [switch_sums(*sketch) for sketch in sketches if sketch is not None]
    if len(sums) < len(sketches):
        return ()
    return in_layouts(problem, fabric, SwitchSums(*(sum(column) for column in zip(*sums, strict=True))))


def _sketch(fabric: FabricProblem, space: SpaceOf) -> tuple[Parts, Shape] | None:
    """What a fabric would be made of if its switches could be anywhere; None if nothing joins its servers."""
    sizing = space(fabric).search()
    if not sizing.batches:
        return None
    batch = min(sizing.batches, key=lambda one: float(one.cost[0].min()))
    return batch.parts, batch.shape.row(int(np.argmin(batch.cost[0])))
