"""A Clos: its hardware, its numbers, and what is on its leaves."""

from __future__ import annotations

from typing import NamedTuple

from fabopt.floor.arrangements import Arrangement, InLayout
from fabopt.network.clos_stages import StageNumbers
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.placement import ClosPlacement, FlatPlacement, in_racks
from fabopt.topology.clos.shape import Parts, Shape, TierCount, most_endpoints
from fabopt.units import ceil_of


class ClosNetwork(NamedTuple):
    """A Clos candidate. ``down_ports``, ``reserved_ports``: of its busiest leaf, in use and kept free."""

    parts: Parts
    shape: Shape
    down_ports: int
    reserved_ports: int
    placement: ClosPlacement = FlatPlacement()
    stages: tuple[StageNumbers, ...] = ()

    @property
    def tiers(self) -> TierCount:
        """Number of switch tiers."""
        return self.parts.tiers


def clos_of(fabric: FabricProblem, parts: Parts, shape: Shape) -> ClosNetwork:
    """A Clos of one row of a shape, with the ports that its busiest leaf uses and keeps free."""
    down = int(most_endpoints(shape, fabric.attached))
    free = 1 - fabric.reserve
    with_reserve = int(ceil_of(down * free.denominator, free.numerator))
    return ClosNetwork(parts, shape, down, with_reserve - down, FlatPlacement(fabric.runs_m))


def placed_in(problem: Problem, arrangement: Arrangement, clos: ClosNetwork) -> ClosNetwork | None:
    """A Clos with its switches in racks, if the arrangement says in which; None if they do not fit."""
    if not isinstance(arrangement, InLayout):
        return clos
    placement = in_racks(problem, arrangement.layout, clos.parts, clos.shape)
    return None if placement is None else clos._replace(placement=placement)
