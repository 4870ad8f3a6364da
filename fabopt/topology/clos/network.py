"""A Clos: its hardware, its numbers, and the ports on its leaves.

Switches and NICs that each stage of a Clos adds, and the cables that it moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fabopt.floor.arrangements import InLayout
from fabopt.network import clos_stages
from fabopt.network.clos_links import ClosNumbers
from fabopt.network.clos_stages import StageNumbers
from fabopt.parts.items import Item
from fabopt.parts.switches import TIER_ROLES
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import HostPort
from fabopt.schema.design import MOVED_CABLE
from fabopt.topology.candidate import Uses
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.classes import LeafEndpoints, busiest_leaves
from fabopt.topology.clos.placement import ClosPlacement, FlatPlacement, in_racks
from fabopt.topology.clos.shape import Parts, Shape, TierCount, last_endpoints, most_endpoints
from fabopt.units import ceil_div, ceil_of, summed


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
    def numbers(self) -> ClosNumbers:
        """The numbers that its links follow from."""
        return numbers_of(self.parts.nic, self.shape)

    def listed_until(self, fabric: FabricProblem, stages: int) -> dict[str, tuple[HostPort, ...]]:
        """The switches of listed ports that the first stages have brought, by attachment."""
        return {
            demand.name: places[: sum(demand.adds[:stages])]
            for demand, places in zip(fabric.attachments, self.free, strict=False)
            if demand.listed and demand.adds
        }

    @property
    def attached_spine_cages(self) -> int:
        """Most cages of a spine that attachments have there; no two attachments share one."""
        lanes = self.parts.spine_down.lane.ports if self.parts.spine_down is not None else 1
        cages = summed(
            (spine, ceil_div(ports, lanes))
            for places in self.free
            for spine, ports in Counter(number for tier, number in places if tier == "spine").items()
        )
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
        placement=FlatPlacement(fabric.runs.m),
        last_ports=int(counted.of_last), last_occupied=last, last_reserved=_reserve(fabric, last),
    )  # fmt: skip


def _reserve(fabric: FabricProblem, occupied: int) -> int:
    """Ports that are kept free beside ``occupied`` ports."""
    free = 1 - fabric.reserve
    return int(ceil_of(occupied * free.denominator, free.numerator)) - occupied


def placed_in(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> ClosNetwork | None:
    """A Clos with its switches in the racks of the arrangement, if it has any; None if they do not fit."""
    if not isinstance(fabric.on_floor.arrangement, InLayout):
        return clos
    placement = in_racks(problem, fabric, fabric.on_floor.arrangement.layout, clos.parts, clos.shape)
    return None if placement is None else clos._replace(placement=placement)


def devices_of(problem: Problem, clos: ClosNetwork) -> Uses:
    """NICs, switches and moved cables by (stage number, item)."""
    parts = clos.parts
    switches = (None if switch is None else switch.item for switch in (parts.leaf, parts.spine, parts.core))
    totals: list[tuple[Item | None, int]] = [
        (parts.nic.item, problem.servers * parts.nic.nics_per_server),
        *zip(switches, _num_switches(clos), strict=True),
    ]
    counts = summed(
        ((stage, item), int(count))
        for (item, total), added in zip(totals, _added(clos), strict=False)
        for stage, count in enumerate(added or (int(total),))
        if item is not None and count
    )
    if parts.last_leaf is not None:
        own = parts.nic.planes * int(clos.shape.last_rails)
        counts[0, parts.leaf.item] -= own
        counts[0, parts.last_leaf.switch.item] = counts.get((0, parts.last_leaf.switch.item), 0) + own
    move = problem.item_table.item(MOVED_CABLE)
    for stage, count in enumerate(moved_cables(clos)):
        if count and move is not None:
            counts[stage, move] = count
    return counts


def switches_added(clos: ClosNetwork, role: str) -> Sequence[int]:
    """Switches of a tier that each stage adds; one entry where there is one stage."""
    tier = TIER_ROLES.index(role)
    return _added(clos)[1 + tier] if clos.stages else (_num_switches(clos)[tier],)


def _num_switches(clos: ClosNetwork) -> tuple[int, int, int]:
    """Leaves, spines and cores over all planes."""
    parts, shape = clos.parts, clos.shape
    planes = parts.nic.planes
    spines = planes * shape.pods * shape.spines if parts.spine is not None else 0
    return int(planes * shape.leaves), int(spines), int(planes * shape.cores) if parts.core is not None else 0


def moved_cables(clos: ClosNetwork) -> list[int]:
    """Cables that each stage moves: uplinks of leaves that an earlier stage installed."""
    if not any(stage.pair_links for stage in clos.stages):
        return [0] * max(1, len(clos.stages))
    n = clos.numbers
    leaves = np.bincount(
        clos_stages.of_leaves(n, clos.stages, np.arange(n.planes * n.leaves)), minlength=len(clos.stages)
    ).cumsum()
    moves = clos_stages.moves_of_a_leaf(n, clos.stages)
    return [0, *(int(before) * cables for before, cables in zip(leaves[:-1], moves[1:], strict=True))]


def _added(clos: ClosNetwork) -> Sequence[Sequence[int]]:
    """NICs, leaves, spines and cores by stage; empty where there is one stage."""
    if not clos.stages:
        return ((), (), (), ())
    n = clos.numbers
    servers = clos_stages.of_servers(clos.stages, np.arange(n.servers))
    when = [np.repeat(servers, n.nics), clos_stages.of_leaves(n, clos.stages, np.arange(n.planes * n.leaves))]
    if clos.tiers > 1:
        when.append(clos_stages.of_spines(n, clos.stages, np.arange(n.planes * n.pods * n.spines)))
    if clos.tiers > 2:
        when.append(clos_stages.of_cores(n, clos.stages, np.arange(n.planes * n.cores)))
    return [np.bincount(stages_of_tier, minlength=len(clos.stages)).tolist() for stages_of_tier in when]
