"""A Clos: its hardware, its numbers, and the ports on its leaves."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from fabopt.floor.arrangements import InLayout
from fabopt.network.clos_stages import StageNumbers
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import HostPort
from fabopt.topology.clos.classes import LeafEndpoints, busiest_leaves
from fabopt.topology.clos.placement import ClosPlacement, FlatPlacement, in_racks
from fabopt.topology.clos.shape import Parts, Shape, TierCount, last_endpoints, most_endpoints
from fabopt.units import ceil_div, ceil_of


class ClosNetwork(NamedTuple):
    """A Clos candidate.

    ``down_ports``: most ports of a leaf that count in its oversubscription; ``occupied_ports``: most that are in use,
    ``reserved_ports``: kept free beside those of servers and attachments that are dealt over the leaves. ``free``: the
    switches of the ports of every attachment that is on free ones, by its place in the fabric; ``spine_ports``: most
    ports of a spine that count in its oversubscription; ``attached_runs_m``: measured runs of attachments in racks by
    kind of links. ``last_ports``, ``last_occupied``, ``last_reserved``: the same of the leaves of a differing last
    group, which the others do not include.
    """

    parts: Parts
    shape: Shape
    down_ports: int
    occupied_ports: int
    reserved_ports: int
    spine_ports: int = 0
    free: tuple[tuple[HostPort, ...], ...] = ()
    attached_runs_m: tuple[tuple[str, float], ...] = ()
    placement: ClosPlacement = FlatPlacement()
    stages: tuple[StageNumbers, ...] = ()
    last_ports: int = 0
    last_occupied: int = 0
    last_reserved: int = 0

    @property
    def attached_spine_cages(self) -> int:
        """Most cages of a spine that attachments have there; no two attachments share one."""
        lanes = self.parts.spine_down.lane.ports if self.parts.spine_down is not None else 1
        cages: Counter[int] = Counter()
        for places in self.free:
            for spine, ports in Counter(number for tier, number in places if tier == "spine").items():
                cages[spine] += ceil_div(ports, lanes)
        return max(cages.values(), default=0)

    @property
    def endpoints(self) -> LeafEndpoints:
        """Ports that count in the ratio of leaves."""
        return LeafEndpoints(self.down_ports, self.last_ports)

    @property
    def tiers(self) -> TierCount:
        """Number of switch tiers."""
        return self.parts.tiers


def clos_of(fabric: FabricProblem, parts: Parts, shape: Shape) -> ClosNetwork:
    """A Clos of one row of a shape, with the ports that its busiest leaf uses and keeps free."""
    occupied = int(most_endpoints(shape, fabric.attached))
    last = int(last_endpoints(shape, fabric.attached)) if shape.has_own_last else 0
    above = int(shape.spine_down) if shape.spines else 0
    counted = busiest_leaves(fabric, shape)
    return ClosNetwork(
        parts, shape, int(counted.most), occupied, _reserve(fabric, occupied), above,
        placement=FlatPlacement(fabric.runs_m),
        last_ports=int(counted.of_last), last_occupied=last, last_reserved=_reserve(fabric, last),
    )  # fmt: skip


def _reserve(fabric: FabricProblem, occupied: int) -> int:
    """Ports that are kept free beside ``occupied`` ports."""
    free = 1 - fabric.reserve
    return int(ceil_of(occupied * free.denominator, free.numerator)) - occupied


def placed_in(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> ClosNetwork | None:
    """A Clos with its switches in the racks of the arrangement, if it has any; None if they do not fit."""
    if not isinstance(fabric.arrangement, InLayout):
        return clos
    placement = in_racks(problem, fabric, fabric.arrangement.layout, clos.parts, clos.shape)
    return None if placement is None else clos._replace(placement=placement)
