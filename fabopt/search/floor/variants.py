"""A fabric in every layout that is worth looking at: those with racks for the switches that all fabrics would have."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fabopt.floor.layouts import Layout
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.layouts import Sketch, shared_layouts
from fabopt.topology.clos.space import ClosSpace

# The search of a fabric as it is given.
SpaceOf = Callable[[FabricProblem], ClosSpace]


def layouts_for(problem: Problem, space: SpaceOf) -> dict[str, list[Layout]]:
    """Layouts with space for the switches that all fabrics would have if these could be anywhere, by fabric.

    ``space``: of a whole fabric.
    """
    sketches = [sketch for fabric in problem.fabrics if (sketch := _sketch(fabric, space)) is not None]
    if len(sketches) < len(problem.fabrics):
        return {fabric.name: [] for fabric in problem.fabrics}
    return {fabric.name: shared_layouts(problem, index, sketches) for index, fabric in enumerate(problem.fabrics)}


def _sketch(fabric: FabricProblem, space: SpaceOf) -> Sketch | None:
    """What a fabric would be made of if its switches could be anywhere; None if nothing joins its servers."""
    sizing = space(fabric).search()
    if not sizing.batches:
        return None
    batch = min(sizing.batches, key=lambda one: float(one.cost[0].min()))
    return batch.parts, batch.shape.row(int(np.argmin(batch.cost[0])))
