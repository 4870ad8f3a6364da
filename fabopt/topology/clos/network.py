"""One Clos: its hardware, its numbers, and what is on its leaves."""

from __future__ import annotations

from typing import NamedTuple

from fabopt.network.clos_stages import StageNumbers
from fabopt.problem.fabric import FabricProblem
from fabopt.topology.clos.floor_links import Standing
from fabopt.topology.clos.shape import Parts, Shape, TierCount, most_endpoints
from fabopt.topology.link_parts import ceil_of


class ClosNetwork(NamedTuple):
    """A Clos candidate. ``down_ports``, ``reserved_ports``: of its busiest leaf, in use and kept free."""

    parts: Parts
    shape: Shape
    down_ports: int
    reserved_ports: int
    standing: Standing | None = None
    stages: tuple[StageNumbers, ...] = ()

    @property
    def tiers(self) -> TierCount:
        """Switch tiers."""
        return self.parts.tiers


def clos_of(fabric: FabricProblem, parts: Parts, shape: Shape) -> ClosNetwork:
    """One candidate, with the ports that its busiest leaf uses and keeps free."""
    down = int(most_endpoints(shape, fabric.attached))
    free = 1 - fabric.reserve
    with_reserve = int(ceil_of(down * free.denominator, free.numerator))
    return ClosNetwork(parts, shape, down, with_reserve - down)
