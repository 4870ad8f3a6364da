"""Bandwidth that a Clos on a floor has left after the loss of any one rack with all devices in it.

Servers of the rack are lost anyway, so the figures are those of the others, at the definition of several failures at
once (docs/bandwidth.md): the leaves, spines and cores of the rack fail together, traffic is counted as if all servers
were there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fabopt.floor.racks import Bools, Ints
from fabopt.network.clos_links import ClosNumbers
from fabopt.network.clos_stages import StageNumbers
from fabopt.network.expand import links_of_clos
from fabopt.network.graph.outage import Plant, nothing
from fabopt.parts.lookup import Lookup
from fabopt.problem.fabric import FabricProblem
from fabopt.schema.resilience import RACK
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement

# Figures are sums of floating-point shares of whole Mb/s.
_ROUNDING = 1e-12
_MOST_DENOMINATOR = 10**6


class RackLoss(NamedTuple):
    """The rack (index of the plan) whose loss leaves least, Mb/s per GPU that it leaves, servers in it, and servers
    elsewhere outside the largest part that stays joined.
    """

    rack: int
    mbps: float
    servers: int
    cut_off: int


@dataclass(frozen=True, eq=False)
class LossOfRacks:
    """A network whose servers are in racks. ``racks_of_servers``: as indices of the plan, shape (servers,)."""

    plant: Plant
    racks_of_servers: Ints

    def worst(self, racks_of_switches: Ints) -> RackLoss:
        """The rack whose loss leaves least, the first of equals; ``racks_of_switches``: indices of the plan, shape
        (switches,).
        """
        racks = np.unique(racks_of_switches).tolist()
        return min((self._without(rack, racks_of_switches) for rack in racks), key=lambda loss: loss.mbps)

    def _without(self, rack: int, racks_of_switches: Ints) -> RackLoss:
        lost = nothing(self.plant)._replace(switches=racks_of_switches == rack)
        absent = self.racks_of_servers == rack
        if absent.all():
            return RackLoss(rack, 0.0, int(absent.sum()), 0)
        left = self.plant.after(lost, absent)
        return RackLoss(rack, left.mbps, int(absent.sum()), left.cut_off)


class RackDemand:
    """Demand on a sized Clos after the loss of any one rack. ``least_mbps``: Mb/s per GPU."""

    def __init__(self, least_mbps: int, plant: Plant) -> None:
        self.plant = plant
        self._least = least_mbps * (1 - _ROUNDING)
        self._known: dict[tuple[bytes, tuple[int, ...]], bool] = {}

    def is_met(self, absent: Bools, lost: tuple[int, ...]) -> bool:
        """Whether the demand is met after the loss of these servers, a mask of shape (servers,), and at least these
        switches, numbered from the leaves up.
        """
        key = absent.tobytes(), lost
        if key not in self._known:
            switches = np.isin(np.arange(self.plant.switches), lost)
            rates = self.plant.rates(nothing(self.plant)._replace(switches=switches))
            self._known[key] = not absent.all() and float(rates[~absent].min()) >= self._least
        return self._known[key]

    def is_met_in(self, racks_of_servers: Ints, racks_of_switches: Ints) -> bool:
        """Whether the demand is met after the loss of any rack; racks are indices of the plan, shapes (servers,) and
        (switches,).
        """
        return all(
            self.is_met(racks_of_servers == rack, tuple(np.flatnonzero(racks_of_switches == rack).tolist()))
            for rack in np.unique(racks_of_switches).tolist()
        )


def rack_demand(fabric: FabricProblem, clos: ClosNetwork) -> RackDemand | None:
    """The demand of a fabric after the loss of a rack; None if the case has none."""
    asked = [survival.least_mbps for survival in fabric.resilience if survival.failed == RACK]
    if not asked:
        return None
    return RackDemand(max(asked), plant_of(clos, numbers_of(clos.parts.nic, clos.shape)))


def survives_racks(fabric: FabricProblem, clos: ClosNetwork) -> bool:
    """Whether a Clos meets the case's demand after the loss of any one rack.

    Without a floor it has no racks to lose. Rule ``racks_leave_bandwidth``.
    """
    if not isinstance(clos.placement, RackPlacement):
        return True
    demand, placement = rack_demand(fabric, clos), clos.placement
    racks = np.concatenate([of_tier.rack for of_tier in placement.positions])
    return demand is None or demand.is_met_in(placement.layout.server_rack, racks)


_LOSSES: Lookup[RackPlacement, tuple[StageNumbers, ...], RackLoss] = Lookup()


@dataclass(frozen=True)
class RacksOfClos:
    """Losses of racks of a Clos; raises ``ValueError`` where there is no floor."""

    clos: ClosNetwork

    @property
    def loss(self) -> RackLoss:
        """The worst loss of a rack."""
        return _LOSSES.of(self._placement, self.clos.stages, self._loss)

    def _loss(self) -> RackLoss:
        placement = self._placement
        plant = plant_of(self.clos, placement.numbers)
        racks = np.concatenate([of_tier.rack for of_tier in placement.positions])
        return LossOfRacks(plant, placement.layout.server_rack).worst(racks)

    @property
    def _placement(self) -> RackPlacement:
        if not isinstance(self.clos.placement, RackPlacement):
            raise ValueError("there are no racks to lose without a floor")
        return self.clos.placement

    @property
    def name(self) -> str:
        """The id of the worst rack."""
        return self._placement.layout.plan.ids[self.loss.rack]

    @property
    def mbps(self) -> Fraction:
        """Mb/s per GPU after the loss of the worst rack."""
        return Fraction(self.loss.mbps).limit_denominator(_MOST_DENOMINATOR)


def _switches(numbers: ClosNumbers, tiers: int) -> tuple[int, ...]:
    """Leaves, spines and cores over all planes."""
    planes = numbers.planes
    counts = (planes * numbers.leaves, planes * numbers.pods * numbers.spines, planes * numbers.cores)
    return tuple(int(count) for count in counts[:tiers])


class _Between(NamedTuple):
    """Links between switches, which are numbered from the leaves up; columns of shape (links,)."""

    a: Ints
    b: Ints
    mbps: Ints


def _links_between(clos: ClosNetwork, numbers: ClosNumbers, first: Ints) -> _Between:
    """The links between switches; ``first``: number of the first switch of each tier."""
    columns = [(np.zeros(0, dtype=np.int64),) * 3]
    for tier, (kind, up) in enumerate((("leaf-spine", clos.parts.leaf_up), ("spine-core", clos.parts.spine_up))):
        if up is not None:
            links = links_of_clos(numbers, kind, 1)
            columns.append((first[tier] + links.a, first[tier + 1] + links.b, np.full(len(links.a), up.lane.port_mbps)))
    return _Between(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def plant_of(clos: ClosNetwork, numbers: ClosNumbers) -> Plant:
    """A sized Clos link by link."""
    parts, shape, nic, counts = clos.parts, clos.shape, clos.parts.nic, _switches(numbers, clos.parts.tiers)
    planes = [np.arange(count) // (count // numbers.planes) for count in counts]
    pods = (
        planes[0] * numbers.pods + numbers.pod_of_leaf(np.arange(counts[0])),
        *(np.arange(count) // numbers.spines for count in counts[1:2]),
        *(np.zeros(count, dtype=np.int64) for count in counts[2:]),
    )
    between = _links_between(clos, numbers, np.cumsum((0, *counts)))
    leaf_ports: int | Ints = clos.down_ports
    if shape.has_own_last:
        of_last = numbers.group_of_leaf(np.arange(counts[0])) == numbers.groups - 1
        leaf_ports = np.full(sum(counts), clos.down_ports)
        leaf_ports[: counts[0]][of_last] = clos.last_ports
    return Plant(
        tier=np.repeat(np.arange(len(counts)), counts),
        network=np.concatenate(planes),
        pod=np.concatenate(pods),
        plane=np.concatenate(planes),
        a=between.a,
        b=between.b,
        mbps=between.mbps,
        length=np.ones_like(between.a),
        switch_of=links_of_clos(numbers, "server-leaf", 1).b.reshape(numbers.servers, -1),
        nic_of=np.repeat(np.arange(numbers.nics), numbers.ports_per_nic),
        port_mbps=nic.port.lane.port_mbps,
        nic_mbps=float(nic.nic_mbps),
        gpus=float(numbers.nics * nic.nic_mbps / nic.injection),
        below_leaf=leaf_ports * parts.leaf_down.lane.port_mbps,
        below_spine=0 if parts.spine_down is None else int(shape.spine_down) * parts.spine_down.lane.port_mbps,
        carried=1.0,
        ports=clos.down_ports,
        direct=False,
        apart=nic.apart,
        most_mbps=float(nic.crosses_any_cut),
    )
