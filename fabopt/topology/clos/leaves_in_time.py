"""Leaves that can be there by each stage: of rule ``orders_arrive_in_time``, before anything is above them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.items import Item
from fabopt.problem.exchanges import InPlaceOf, in_place_of, most_together
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.shape import Shape


class LeavesInTime:
    """The most leaves of a fabric, those that may be exchanged for them among them, that can be there by each stage."""

    def __init__(self, problem: Problem, fabric: FabricProblem) -> None:
        self._problem = problem
        self._fabric = fabric

    @cached_property
    def _others(self) -> InPlaceOf:
        return in_place_of(self._problem, self._fabric)

    def of(self, leaf: Item, planes: int, shape: Shape) -> NDArray[np.bool_]:
        """Which sizes of equal groups have no more leaves than can be there, shape (sizes,)."""
        inside = np.ones(np.size(shape.g), dtype=np.bool_)
        if not leaf.is_short:
            return inside
        for number, stage in enumerate(self._problem.stages):
            most = most_together(self._others.get(leaf.id, (leaf,)), number)
            if np.isfinite(most):
                inside &= np.asarray(planes * replace(shape, servers=stage.servers).leaves <= most)
        return inside
