"""Leaves that can be delivered and paid for by each stage, known before spines are sized.

Of rules ``orders_arrive_in_time`` and ``limits_hold``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.items import Item
from fabopt.parts.nics import NicOption
from fabopt.problem.exchanges import InPlaceOf, in_place_of, most_together
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.shape import Shape
from fabopt.topology.stage_limits import are_within, has_limits
from fabopt.units import Number


class LeavesInTime:
    """Limits on a fabric's leaves by stage, switches that may be exchanged for them included."""

    def __init__(self, problem: Problem, fabric: FabricProblem) -> None:
        self._problem = problem
        self._fabric = fabric

    @cached_property
    def _others(self) -> InPlaceOf:
        return in_place_of(self._problem, self._fabric)

    def of(self, leaf: Item, nic: NicOption, shape: Shape) -> NDArray[np.bool_]:
        """Sizes of equal groups whose leaves can be delivered, and bought, by every stage, shape (sizes,)."""
        inside = np.ones(np.size(shape.g), dtype=np.bool_)

        def devices(stage: int) -> dict[Item, Number]:
            servers = self._problem.stages[stage].servers
            counts: dict[Item, Number] = {leaf: nic.planes * replace(shape, servers=servers).leaves}
            return counts if nic.item is None else {**counts, nic.item: nic.nics_per_server * servers}

        if has_limits(self._problem):
            inside &= are_within(self._problem, self._fabric, len(inside), devices)
        if not leaf.is_short:
            return inside
        for number, stage in enumerate(self._problem.stages):
            most = most_together(self._others.get(leaf.id, (leaf,)), number)
            if np.isfinite(most):
                inside &= np.asarray(nic.planes * replace(shape, servers=stage.servers).leaves <= most)
        return inside
