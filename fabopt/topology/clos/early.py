"""What it costs at least that parts of a growing Clos are there before its last stage.

Where prices fall, a unit costs more the earlier it is bought. With V[s] what one of stage s costs, never more than one
of the stage before, a design costs sum[s] use[s] * (V[s] - V[s+1]), use[s] being all that is there at stage s. The
search counts the last stage; this adds what the others need at least. See docs/formulation.md, "Growth".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fabopt.goods import Item
from fabopt.problem import FabricProblem, Problem
from fabopt.topology.clos.joins import joins_of, server_joins
from fabopt.topology.clos.shape import Parts, Shape, most_endpoints, uplinks_needed, usable_ports
from fabopt.topology.needs import Costs, Floats, Number, ceil_of


class EarlyCosts:
    """Bounds of what stages before the last add to the objective of sized candidates, by row of their shape."""

    def __init__(self, problem: Problem, fabric: FabricProblem, costs: Costs) -> None:
        self.problem = problem
        self.fabric = fabric
        self.stages = list(zip(costs.stages, costs.steps, strict=True))
        self.lends = problem.case.growth.recabling == "allow"

    def of(self, parts: Parts, shape: Shape) -> Floats:
        """At least this much, shape (size,)."""
        total = np.zeros(max(np.size(shape.g), np.size(shape.u), np.size(shape.x)))
        for number, costs in self.stages:
            total = total + self._at(number, costs, parts, shape)
        return total

    def _at(self, number: int, costs: Costs, parts: Parts, shape: Shape) -> Any:
        stage = self.problem.stages[number]
        leaf_most, spine_most = stage.oversubscription[self.fabric.name]
        now = replace(shape, servers=stage.servers)
        nic, planes = parts.nic, parts.nic.planes
        joins = server_joins(self.problem, self.fabric, nic, parts.leaf_down.port, int(shape.k), parts.protocol)
        need = now.server_leaf(nic, parts.leaf_down.lane.ports, parts.leaf_down.cages)
        cost = costs.least(joins, need)[0] + _of(costs, nic.item) * (stage.servers * nic.cards)
        leaves = now.leaves
        cost = cost + _of(costs, parts.leaf.item) * (planes * leaves)
        if parts.spine is None or parts.leaf_up is None or parts.spine_down is None:
            return cost
        down = most_endpoints(now, self.fabric.attachment_ports)
        uplinks = uplinks_needed(down, parts.leaf_down, parts.leaf_up, leaf_most)
        pod_leaves = np.minimum(now.groups, shape.groups_per_pod) * shape.leaves_of_a_group
        spines: Number = ceil_of(pod_leaves * uplinks, usable_ports(parts.spine_down, parts.spine))
        if not self.lends:
            each = np.maximum(1, ceil_of(shape.u, shape.spines))
            spines = np.minimum(np.maximum(spines, ceil_of(uplinks, each)), shape.spines)
        several = leaves > 1
        pods = now.pods if parts.core is not None else np.where(several, 1, 0)
        link = self._least_link(costs, parts, "leaf-spine")
        above = _of(costs, parts.spine.item) * (planes * pods * spines) + link * (planes * leaves * uplinks)
        if parts.core is not None and parts.spine_up is not None:
            pair_links = shape.u // shape.spines
            needed = uplinks_needed(pod_leaves * pair_links, parts.spine_down, parts.spine_up, spine_most)
            group = ceil_of(needed, shape.m2)
            cores = planes * group * ceil_of(spines, shape.q)
            link = self._least_link(costs, parts, "spine-core")
            top = _of(costs, parts.core.item) * cores + link * (planes * pods * spines * group * shape.m2)
            above = above + np.where(now.pods > 1, top, 0.0)
        return cost + np.where(several, above, 0.0)

    def _least_link(self, costs: Costs, parts: Parts, kind: str) -> float:
        near, far = (parts.leaf_up, parts.spine_down) if kind == "leaf-spine" else (parts.spine_up, parts.core_down)
        assert near is not None and far is not None
        joins = joins_of(self.problem, self.fabric, kind, near.port, far.port, parts.protocol)
        return float(costs.least_per_link(joins, near.port.ports, far.port.ports)[0])


def _of(costs: Costs, item: Item | None) -> float:
    return float(costs.of(item)[0])
