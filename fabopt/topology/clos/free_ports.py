"""Attachments on free ports of a Clos: whether there are enough free ports, and which switches they are on.

A leaf has free ports beside its servers, attachments that are dealt over all leaves, the reserve and its uplinks; a
spine beside its links, where its ports run at the speed of the servers'. What counts in oversubscription goes only
where the uplinks carry it too. In a cluster that grows they are on switches of the first stage, beside all that these
have at any stage. Rule ``attachments_take_free_ports``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.network.clos_links import ClosNumbers, downlinks_of_spines
from fabopt.network.clos_stages import StageNumbers, most_links_of_spines, of_leaves, of_spines
from fabopt.network.free_ports import (
    HOST_TIERS,
    Guest,
    Hosts,
    HostTier,
    dealt_to_free_ports,
    empty_cages,
    free_ports,
    spread_over_racks,
)
from fabopt.parts.switches import CageUse
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import HostPort
from fabopt.topology.clos.attached import dealt_ports
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.classes import ratio_of
from fabopt.topology.clos.design import file_part_of
from fabopt.topology.clos.failures import survives
from fabopt.topology.clos.figures import figures_of
from fabopt.topology.clos.in_service import keeps_cages, places_in_service
from fabopt.topology.clos.joins import attaches
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import Ints, Parts, Shape, down_cage_limit, last_endpoints, most_endpoints
from fabopt.topology.clos.staying_ports import Places, in_their_order, places_that_stay
from fabopt.topology.clos.step_deadline import is_in_time
from fabopt.units import Number, ceil_of

# Room above switches whose uplinks limit nothing.
_NO_LIMIT = 2**62


class _DownPorts(NamedTuple):
    """Ports of a leaf or spine towards servers: its cages, ports of each, and ports that the switch drives."""

    cages: Number
    lanes: int
    most: Number

    def free(self, used: Number) -> Number:
        """Free ports beside ``used`` ports in use."""
        return free_ports(empty_cages(self.cages, used, self.lanes), self.most - used, self.lanes)


def _leaf_ports(parts: Parts, shape: Shape) -> _DownPorts:
    down, up = parts.leaf_down, parts.leaf_up
    cages = down.cages if up is None else down_cage_limit(down, up, shape.u)
    return _DownPorts(cages, down.lane.ports, parts.leaf.max_ports - (shape.u if up is not None else 0))


def _spine_ports(parts: Parts, shape: Shape) -> _DownPorts:
    down, up = parts.spine_down, parts.spine_up
    assert parts.spine is not None and down is not None
    cages = down.cages if up is None else down_cage_limit(down, up, shape.x)
    return _DownPorts(cages, down.lane.ports, parts.spine.max_ports - (shape.x if up is not None else 0))


def tiers_for(problem: Problem, fabric: FabricProblem, parts: Parts, demand: AttachmentDemand) -> Iterator[HostTier]:
    """The tiers of a Clos that an attachment on free ports may be on: at the servers' speed, and joined by parts."""
    uses: dict[HostTier, CageUse | None] = {"leaf": parts.leaf_down, "spine": parts.spine_down}
    for tier in HOST_TIERS:
        use = uses[tier]
        if use is None or not demand.takes(tier) or use.lane.port_mbps != parts.leaf_down.lane.port_mbps:
            continue
        if attaches(problem, fabric, demand, {tier: [use.port]}, parts.protocol):
            yield tier


# -- whether there are enough -----------------------------------------------------------------------------------


def may_fit(problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape) -> NDArray[np.bool_]:
    """Rows that may have enough free ports, shape (rows,): no row that has enough is left out.

    Ports of attachments that are dealt over the leaves count as spread evenly, and so do links over spines.
    """
    fits = np.ones(np.size(shape.g), dtype=np.bool_)
    if not fabric.on_free_ports:
        return fits
    tiers = {demand: tuple(tiers_for(problem, fabric, parts, demand)) for demand in fabric.on_free_ports}
    if not all(tiers.values()):
        return ~fits
    free = {"leaf": _free_on_leaves(fabric, parts, shape), "spine": 0 * shape.g}
    if parts.spine is not None:
        free["spine"] = _free_on_spines(parts, shape)
    for reach in set(tiers.values()):
        # ports in service may share cages with servers
        moving = {} if fabric.live.moving is None else fabric.live.moving.attached
        new = (demand for demand in tiers if demand.adds or not (fabric.live.in_service or demand.name in moving))
        ports = sum(demand.ports for demand in new if set(tiers[demand]) <= set(reach))
        fits = fits & (sum(free[tier] for tier in reach) >= ports)
    return fits


def _free_on_leaves(fabric: FabricProblem, parts: Parts, shape: Shape) -> Number:
    most = most_endpoints(shape, fabric.attached)
    most_of_last = last_endpoints(shape, fabric.attached) if shape.has_own_last else most
    # where stages come, ports are on the leaves of the first ones
    everywhere = 0 if shape.sizes else fabric.attachment_ports // (shape.planes * shape.leaves)
    full, last, rest = (
        _leaf_ports(own, kind).free(servers * kind.k + everywhere + _reserve(fabric, busiest))
        for own, kind, servers, busiest in (
            (parts, shape, shape.g, most),
            (parts.of_last, shape.of_last, shape.last_group, most_of_last),
            (parts, shape, shape.rest_group, most),
        )
    )
    behind = shape.rest_group > 0
    of_others = shape.rails * ((shape.groups - 1 - behind) * full + behind * rest)
    on_all: Number = shape.planes * (of_others + shape.last_rails * last)
    return on_all


def _reserve(fabric: FabricProblem, occupied: Number) -> Number:
    """Ports that are kept free beside ``occupied`` ports."""
    keeps = 1 - fabric.reserve
    return ceil_of(occupied * keeps.denominator, keeps.numerator) - occupied


def _free_on_spines(parts: Parts, shape: Shape) -> Number:
    ports = _spine_ports(parts, shape)
    blocks = ceil_of(shape.groups, shape.groups_per_pod)
    full = ports.free(shape.groups_per_pod * shape.leaves_of_a_group * shape.u // shape.spines)
    in_last = shape.last_pod_groups * shape.leaves_of_a_group * shape.u // shape.spines
    last = ports.free(shape.last_spine_down if shape.has_own_last else in_last)
    pods_of_block = 1 + shape.rail_pods * (shape.rails - 1)
    on_all: Number = shape.planes * pods_of_block * shape.spines * ((blocks - 1) * full + last)
    return on_all


# -- which ones -------------------------------------------------------------------------------------------------


def with_free_ports(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> ClosNetwork | None:
    """A Clos with the switches of its attachments on free ports; None if there are too few."""
    if not fabric.on_free_ports:
        return clos
    loads = _Loads(fabric, clos)
    places = _places(problem, fabric, loads)
    if places is None:
        return None
    # those in service have changed places already, and new ones come to the free ports that these leave
    if fabric.live.in_service is None and (racks := clos.placement.racks_of_hosts):
        places = spread_over_racks(places, racks, loads.kinds())
    if fabric.live.moving is not None and fabric.live.moving.attached:
        places = in_their_order(problem, fabric, file_part_of(clos), places)
    placed = loads.with_places(places)
    if not keeps_cages(fabric, placed, loads.numbers):
        return None
    return placed if _gives_as_much(problem, fabric, clos, placed) else None


def with_listed(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> ClosNetwork | None:
    """A Clos with the leaves of listed ports, which no plan of growth changes; None if there are too few."""
    if not any(demand.listed for demand in fabric.attachments):
        return clos
    stages = tuple(StageNumbers(stage.servers, int(clos.shape.spines)) for stage in problem.stages)
    places = _places(problem, fabric, _Loads(fabric, clos._replace(stages=stages)))
    return None if places is None else clos._replace(free=tuple(places))


def kinds_of_hosts(fabric: FabricProblem, clos: ClosNetwork) -> dict[HostTier, list[tuple[int, ...]]]:
    """Keys of equal leaves and equal spines, which may change places where ports are spread over racks."""
    return _Loads(fabric, clos).kinds()


def _places(problem: Problem, fabric: FabricProblem, loads: _Loads) -> list[tuple[HostPort, ...]] | None:
    """The switches of the ports of every attachment on free ones; None if there are too few."""
    there: Places | None = places_in_service(fabric, loads.numbers)
    if fabric.live.moving is not None:
        there = places_that_stay(problem, fabric, file_part_of(loads.clos))
    if there is None:
        return None
    own = (tuple(there.get(demand.name, ())) for demand in fabric.attachments)
    guests = (_guest(problem, fabric, loads, *guest) for guest in zip(fabric.attachments, own, strict=True))
    return dealt_to_free_ports(list(guests), loads.hosts())


def _guest(
    problem: Problem, fabric: FabricProblem, loads: _Loads, demand: AttachmentDemand, there: tuple[HostPort, ...]
) -> Guest:
    if demand.is_dealt:
        return Guest(0, {})
    load = {tier: loads.of(tier, demand) for tier in tiers_for(problem, fabric, loads.clos.parts, demand)}
    first, *later = demand.adds or (demand.ports,)
    return Guest(demand.ports, load, there, (first - len(there), *later) if demand.listed else ())


class _Loads:
    """Loads on the uplinks of leaves and spines of a Clos, in integer units that keep every ratio exact."""

    def __init__(self, fabric: FabricProblem, clos: ClosNetwork) -> None:
        self.fabric = fabric
        self.clos = clos
        self.numbers = numbers_of(clos.parts.nic, clos.shape)
        self.servers, self.attached = _ports_of_leaves(fabric, clos, self.numbers)
        # leaves of a differing last group
        self.has_own_last = self.numbers.is_of_last(np.arange(self.numbers.planes * self.numbers.leaves))
        ratios = [fabric.ratios.leaf, fabric.ratios.spine]
        ratios += [ratio_of(fabric, demand) for demand in fabric.attachments]
        self.unit = lcm(*(ratio.numerator for ratio in ratios))

    def of(self, tier: HostTier, demand: AttachmentDemand) -> int:
        """Load of one attachment port on the uplinks of its switch; 0 if it does not count, or there are no uplinks."""
        parts = self.clos.parts
        ratio = ratio_of(self.fabric, demand) if tier == "leaf" else self.fabric.ratios.spine
        has_uplinks = (parts.leaf_up if tier == "leaf" else parts.spine_up) is not None
        return self._load(ratio) if demand.counts and has_uplinks else 0

    def _load(self, ratio: Fraction) -> int:
        return int(self.clos.parts.leaf_down.lane.port_mbps * self.unit / ratio)

    def hosts(self) -> dict[HostTier, Hosts]:
        """Leaves and spines with their free ports."""
        hosts: dict[HostTier, Hosts] = {"leaf": self._leaves()}
        if self.clos.parts.spine is not None:
            hosts["spine"] = self._spines()
        return hosts

    def kinds(self) -> dict[HostTier, list[tuple[int, ...]]]:
        """Keys of equal leaves and equal spines: their ports and links, and whether the first stage has them."""
        below = np.stack([self.servers, *self.attached, self.has_own_last, self._stages_of_leaves() == 0], axis=1)
        kinds: dict[HostTier, list[tuple[int, ...]]] = {"leaf": list(map(tuple, below.tolist()))}
        if self.clos.parts.spine is not None:
            links = most_links_of_spines(self.numbers, self.clos.stages)
            kinds["spine"] = list(zip(links.tolist(), (self._stages_of_spines() == 0).tolist(), strict=True))
        return kinds

    def _stages_of_leaves(self) -> Ints:
        return of_leaves(self.numbers, self.clos.stages, np.arange(len(self.servers)))

    def _stages_of_spines(self) -> Ints:
        spines = np.arange(len(downlinks_of_spines(self.numbers)))
        return of_spines(self.numbers, self.clos.stages, spines)

    def _leaves(self) -> Hosts:
        clos, parts, shape = self.clos, self.clos.parts, self.clos.shape
        used = (
            self.servers
            + self.attached.sum(axis=0)
            + np.where(self.has_own_last, clos.last_reserved, clos.reserved_ports)
        )
        room = np.full(len(used), _NO_LIMIT, dtype=object)
        if parts.leaf_up is not None:
            loads = [
                self._load(self.fabric.ratios.leaf),
                *(self.of("leaf", d) for d in self.fabric.attachments),
            ]
            below = np.concatenate([self.servers[np.newaxis], self.attached]).astype(object)
            uplinks = np.asarray(np.where(self.has_own_last, shape.last_u, shape.u), dtype=object)
            room = uplinks * (parts.leaf_up.lane.port_mbps * self.unit) - np.array(loads, dtype=object) @ below
        full, last = _leaf_ports(parts, shape), _leaf_ports(parts.of_last, shape.of_last)
        cages, most = (np.where(self.has_own_last, b, a) for a, b in ((full.cages, last.cages), (full.most, last.most)))
        return _hosts(_DownPorts(cages, full.lanes, most), used, room, self._stages_of_leaves())

    def _spines(self) -> Hosts:
        parts, shape, stages = self.clos.parts, self.clos.shape, self.clos.stages
        assert parts.spine_down is not None
        used = most_links_of_spines(self.numbers, stages)
        room = np.full(len(used), _NO_LIMIT, dtype=object)
        if parts.spine_up is not None:
            load = int(parts.spine_down.lane.port_mbps * self.unit / self.fabric.ratios.spine)
            room = int(shape.x) * parts.spine_up.lane.port_mbps * self.unit - load * used.astype(object)
        return _hosts(_spine_ports(parts, shape), used, room, self._stages_of_spines())

    def with_places(self, places: list[tuple[tuple[HostTier, int], ...]]) -> ClosNetwork:
        """The Clos with these places of ports, attachment by attachment."""
        counted, occupied = self.servers.copy(), self.servers + self.attached.sum(axis=0)
        above = downlinks_of_spines(self.numbers) if self.clos.parts.spine is not None else np.zeros(1, dtype=np.int64)
        for index, (demand, own) in enumerate(zip(self.fabric.attachments, places, strict=True)):
            counted += self.attached[index] * demand.counts
            for tier, number in own:
                counted[number if tier == "leaf" else 0] += demand.counts and tier == "leaf"
                occupied[number if tier == "leaf" else 0] += tier == "leaf"
                above[number if tier == "spine" else 0] += demand.counts and tier == "spine"
        most, of_last = (
            [int(ports.max(where=leaves, initial=0)) for ports in (counted, occupied)]
            for leaves in (~self.has_own_last, self.has_own_last)
        )
        return self.clos._replace(
            down_ports=most[0], occupied_ports=most[1], spine_ports=int(above.max()), free=tuple(places),
            last_ports=of_last[0], last_occupied=of_last[1],
        )  # fmt: skip


def _hosts(ports: _DownPorts, used: Ints, room: NDArray[np.object_], stages: Ints) -> Hosts:
    """Switches with the ports that are left beside ``used``, and the stages that install them."""
    cages = np.asarray(empty_cages(ports.cages, used, ports.lanes))
    most = np.minimum(ports.most, ports.cages * ports.lanes)
    return Hosts(cages, np.asarray(most - used), ports.lanes, tuple(map(int, room)), tuple(stages.tolist()))


def _ports_of_leaves(fabric: FabricProblem, clos: ClosNetwork, numbers: ClosNumbers) -> tuple[Ints, Ints]:
    """Server ports of every leaf, shape (leaves,), and ports of every attachment dealt to it, (attachments, leaves)."""
    leaf = np.arange(numbers.planes * numbers.leaves)
    group = numbers.group_of_leaf(leaf)
    servers = numbers.servers_of_groups(group, numbers.servers)
    servers = servers * np.where(numbers.is_of_last(leaf), numbers.last_k, numbers.k)
    attached = np.zeros((len(fabric.attachments), len(group)), dtype=np.int64)
    for port in dealt_ports(fabric, clos):
        attached[port.owner, port.leaf] += 1
    return servers, attached


def _gives_as_much(problem: Problem, fabric: FabricProblem, before: ClosNetwork, placed: ClosNetwork) -> bool:
    """Whether the demanded figures are met where attachments make a switch busier than any was before."""
    if (placed.endpoints, placed.spine_ports) == (before.endpoints, before.spine_ports):
        return True
    gpus, demands = problem.server.gpus, fabric.figure_demands
    if not survives(fabric, placed.parts, placed.shape, placed.endpoints, gpus).all():
        return False
    if demands is None:
        return True
    return figures_of(placed, problem.gpus).bisection >= demands.bisection and is_in_time(fabric, placed, gpus)
