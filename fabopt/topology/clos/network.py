"""A Clos: its hardware, its numbers, and what is on its leaves."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from fabopt.floor.arrangements import Arrangement, InLayout
from fabopt.network.clos_stages import StageNumbers
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import HostPort
from fabopt.topology.clos.classes import endpoints_in_ratio
from fabopt.topology.clos.placement import ClosPlacement, FlatPlacement, in_racks
from fabopt.topology.clos.shape import Parts, Shape, TierCount, most_endpoints
from fabopt.units import ceil_div, ceil_of


class ClosNetwork(NamedTuple):
    """A Clos candidate.

    ``down_ports``: most ports of a leaf that count in its oversubscription; ``occupied_ports``: most that are in use,
    ``reserved_ports``: kept free beside those of servers and attachments that are dealt over the leaves. ``free``: the
    switches of the ports of every attachment that is on free ones, by its place in the fabric; ``spine_ports``: most
    ports of a spine that count in its oversubscription; ``attached_runs_m``: by kind of links how far attachments in
    racks are, where that is measured; ``last_with_reserve``: down ports of a leaf of an odd last group.
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
    last_with_reserve: int = 0

    @property
    def attached_spine_cages(self) -> int:
        """Most cages of a spine that attachments have there, none of which two of them share."""
        lanes = self.parts.spine_down.lane.ports if self.parts.spine_down is not None else 1
        cages: Counter[int] = Counter()
        for places in self.free:
            for spine, ports in Counter(number for tier, number in places if tier == "spine").items():
                cages[spine] += ceil_div(ports, lanes)
        return max(cages.values(), default=0)

    @property
    def last_ports(self) -> int:
        """Server ports of a leaf of the last group, where that is unlike the others."""
        return int(self.shape.last_group * self.shape.odd_k)

    @property
    def last_reserved(self) -> int:
        """Ports that are kept free beside them."""
        return self.last_with_reserve - self.last_ports

    @property
    def tiers(self) -> TierCount:
        """Number of switch tiers."""
        return self.parts.tiers


def clos_of(fabric: FabricProblem, parts: Parts, shape: Shape) -> ClosNetwork:
    """A Clos of one row of a shape, with the ports that its busiest leaf uses and keeps free."""
    occupied = int(most_endpoints(shape, fabric.attached))
    free = 1 - fabric.reserve
    with_reserve = int(ceil_of(occupied * free.denominator, free.numerator))
    last = int(ceil_of(shape.last_group * shape.odd_k * free.denominator, free.numerator))
    above = int(shape.spine_down) if shape.spines else 0
    counted = occupied if fabric.all_count else int(endpoints_in_ratio(fabric, shape))
    return ClosNetwork(
        parts, shape, counted, occupied, with_reserve - occupied, above,
        placement=FlatPlacement(fabric.runs_m), last_with_reserve=last,
    )  # fmt: skip


def placed_in(problem: Problem, arrangement: Arrangement, clos: ClosNetwork) -> ClosNetwork | None:
    """A Clos with its switches in racks, if the arrangement says in which; None if they do not fit."""
    if not isinstance(arrangement, InLayout):
        return clos
    placement = in_racks(problem, arrangement.layout, clos.parts, clos.shape)
    return None if placement is None else clos._replace(placement=placement)
