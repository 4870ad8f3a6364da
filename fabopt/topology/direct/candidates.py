"""From the search's arrays to a candidate of a direct family: exact quantities, and the open choices of parts.

Many candidates of the same hardware whose leaves are joined to each other, as arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabopt.network.free_ports import Guest, Hosts, dealt_to_free_ports, empty_cages, free_ports
from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import SwitchType, cages_beside
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import DeviceRole
from fabopt.topology.candidate import Candidate, Choice, Option, RowShare, all_choices, row_share, undominated
from fabopt.topology.clos.attached import CagesOfPorts, in_own_cages
from fabopt.topology.clos.free_ports import tiers_for
from fabopt.topology.clos.joins import joins_of
from fabopt.topology.clos.network import clos_of
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.stage_links import kind_choices, server_leaf
from fabopt.topology.design import EVEN, Evenness, NetworkDesign, evenness_of
from fabopt.topology.direct.design import GraphDesign
from fabopt.topology.direct.failures import DirectFailures
from fabopt.topology.direct.graph_network import DirectNetwork
from fabopt.topology.direct.networks import DirectNetworks, DirectTopology, Ints, run_of
from fabopt.topology.family import AnyBatch, Batch
from fabopt.topology.link_parts import Costs, Floats, Quantities
from fabopt.units import Number, ceil_div, ceil_of, summed


class NetworkArrays(Protocol):
    """Many networks of a family as arrays."""

    @property
    def numbers(self) -> Ints:
        """The family's own numbers, which tell networks apart, shape (networks, numbers)."""

    def take(self, index: Any) -> Self:
        """Some of the networks, by their places."""


AnyNetworks = TypeVar("AnyNetworks", bound=NetworkArrays)


@dataclass(frozen=True)
class SwitchedShape(Generic[AnyNetworks]):
    """Many candidates of the same hardware, as arrays: server groups, and the networks of their leaves."""

    servers: Shape
    net: AnyNetworks

    def take(self, index: Any) -> SwitchedShape[AnyNetworks]:
        """Some of the candidates, by their places."""
        return SwitchedShape(self.servers.take(index), self.net.take(index))

    def key(self, index: int) -> Hashable:
        """A key that tells a candidate apart from others."""
        return self.servers.row(index), self.net.numbers[index].tobytes()

    def row(self, index: int) -> SwitchedShape[AnyNetworks]:
        """One candidate, as arrays of one."""
        return SwitchedShape(self.servers.row(index), self.net.take(np.array([index])))


def equal_joins(
    problem: Problem, fabric: FabricProblem, port: PortType, scope: str, protocol: str
) -> tuple[Assembly, ...]:
    """Assemblies between two equal cages of switches: the same part at both ends, as a cage has links of either end."""
    joins = joins_of(problem, fabric, run_of(scope), port, port, protocol)
    return tuple(join for join in joins if join.near is join.far and join.mode in (Mode.LINK, Mode.PAIR))


@dataclass(frozen=True, eq=False)
class DirectBatch(Batch[Parts, SwitchedShape[DirectNetworks]]):
    """Networks of equal switches, joined as ``topology`` says."""

    topology: DirectTopology

    @property
    def family(self) -> str:
        """Name of the family."""
        return self.topology.name

    def network(self, index: int) -> DirectNetwork:
        """The network of one candidate."""
        shape = self.shape.row(index)
        return DirectNetwork(self.topology, shape.net, clos_of(self.fabric, self.parts, shape.servers))

    def candidates(self, problem: Problem, index: int, prune: bool) -> tuple[Candidate, ...]:
        """A candidate; empty if its servers' links cannot be made beside the others, or its attachments have too few
        free ports.
        """
        network = with_free_ports(problem, self.fabric, self.network(index))
        if network is None:
            return ()
        switches = [(network.parts.leaf, network.nic.planes * network.switches)]
        links, order = _links(problem, self.fabric, network, prune), _tie_order(network)
        evenness = evenness_of(problem, network.shape)
        return assembled(problem, self, index, GraphDesign(network, DirectFailures), switches, links, order, evenness)

    def switch_counts(self) -> dict[Item, Number]:
        """Number of switches by item, with servers or without."""
        return {self.parts.leaf.item: self.parts.nic.planes * self.shape.net.switches}


def assembled(
    problem: Problem,
    batch: AnyBatch,
    index: int,
    design: NetworkDesign,
    switches: Sequence[tuple[SwitchType, int]],
    links: Iterable[Sequence[Choice] | None],
    order: tuple[Any, ...],
    evenness: Evenness = EVEN,
) -> tuple[Candidate, ...]:
    """A candidate of a batch of networks whose devices are joined to each other, with its NICs.

    Empty if some of its links cannot be made. ``switches``: number of each type, over all planes.
    """
    choices, nic, slots = all_choices(links), design.nic, 0
    if choices is None:
        return ()
    devices = summed(((0, switch.item), number) for switch, number in switches)
    if nic.item is not None:
        slots = nic.nics_per_server
        devices[0, nic.item] = problem.servers * slots
    named = batch.fabric.name, batch.family
    candidate = Candidate(*named, design, devices, choices, order=order, nic_slots=slots)
    return (replace(candidate, evenness=evenness),)


def _links(
    problem: Problem, fabric: FabricProblem, network: DirectNetwork, prune: bool
) -> Iterator[Sequence[Choice] | None]:
    yield kind_choices(problem, network.servers, server_leaf(network.servers, cages_for_servers(network)), prune)
    for demand, places in zip(fabric.attachments, network.free, strict=False):
        yield in_own_cages(
            problem, fabric, demand, CagesOfPorts("leaf", network.parts.leaf_down, network.protocol, places), prune
        )
    for column, scope in enumerate(network.scopes):
        yield _between(problem, fabric, network, column, scope, prune)


def _between(
    problem: Problem, fabric: FabricProblem, network: DirectNetwork, column: int, scope: str, prune: bool
) -> Sequence[Choice] | None:
    """A choice of one assembly for all links of a scope."""
    up, planes = network.parts.uplink, network.parts.nic.planes
    together = int(network.net.together[0, column])
    joins = equal_joins(problem, fabric, up.port, scope, network.parts.protocol)
    return whole_choice(
        [join for join in joins if fills(join, together)],
        ("leaf", scope),
        planes * int(network.net.links[0, column]),
        planes * int(network.net.cages(up.lane.ports)[0, column]),
        prune,
    )


def whole_choice(
    joins: Sequence[Assembly], of: tuple[DeviceRole, str], links: int, cages: int, prune: bool
) -> Sequence[Choice] | None:
    """A choice for all links of a role and scope between equal cages, each option of one assembly.

    None without an assembly.
    """
    options = [Option((_row(join, of, links, cages),)) for join in joins]
    if not options:
        return None
    kept = undominated(options) if prune else tuple(options)
    return (Choice((of[1], "whole", tuple(option.rows for option in kept)), 1, kept),)


def fills(assembly: Assembly, together: int) -> bool:
    """Whether ``together`` links of a pair fill cables of an assembly."""
    return together % cable_links(assembly) == 0


def cable_links(assembly: Assembly) -> int:
    """Links that one cable carries."""
    return assembly.ports_per_cable if assembly.mode is Mode.PAIR else 1


def least_of_kind(
    costs: Costs, joins: Sequence[Assembly], net: DirectNetworks, column: int, ports_per_cage: int, planes: int = 1
) -> Floats:
    """Least cost of the links of a kind, each metric by itself: shape (metrics, networks).

    Infinite where no assembly joins them, or their number does not fill cables.
    """
    cages, links = planes * net.cages(ports_per_cage)[:, column], planes * net.links[:, column]
    used, together = links > 0, net.together[:, column]
    least = np.where(used, np.inf, 0.0)[np.newaxis, :].repeat(len(costs.table), axis=0)
    for assembly in joins:
        per_cable = cable_links(assembly)
        cost = np.multiply.outer(costs.of(assembly.near), cages)
        cost = cost + np.multiply.outer(costs.of(assembly.cable), links / per_cable)
        least = np.where(used & (together % per_cable == 0), np.minimum(least, cost), least)
    return np.asarray(least)


def _row(assembly: Assembly, of: tuple[DeviceRole, str], links: int, cages: int) -> RowShare:
    """A row of links between equal cages.

    Cages have links of either end, so half of them (rounded up) are counted at one end, the others at the other.
    """
    near, (role, scope) = int(ceil_of(cages, 2)), of
    row = row_share((role, role), assembly, links, Quantities(near, links // cable_links(assembly), cages - near, True))
    return row._replace(scope=scope)


def _tie_order(network: DirectNetwork) -> tuple[Any, ...]:
    """Rank among candidates that are equal in all sums, the smallest first (docs/formulation/search.md)."""
    parts, shape = network.parts, network.shape
    up = parts.uplink
    return (
        len(network.scopes), *(int(number) for number in network.numbers),
        -int(shape.g), int(shape.k),
        parts.nic.nic_id, parts.leaf.id,
        parts.nic.split, parts.leaf_down.split, up.split,
        parts.nic.group, parts.leaf_down.group, up.group,
        parts.nic.nics_per_server, parts.nic.ports_per_nic, parts.nic.planes,
    )  # fmt: skip


# -- attachments on free ports of a direct network --------------------------------------------------------------------
# Attachments on free ports of a direct network: whether there are enough free ports, and which switches they are
# on.
#
# A switch has free ports beside those of its servers, the reserve, and links to others as the busiest switch has
# them. Rule ``attachments_take_free_ports``. See docs/formulation/direct-networks.md.


def may_fit(
    problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape, net: DirectNetworks, reserve: int
) -> NDArray[np.bool_]:
    """Networks that have the free ports that attachments ask for, shape (networks,); ``shape`` has one group size.

    ``reserve``: ports of every switch that are kept free.
    """
    fits = np.ones(len(net), dtype=np.bool_)
    if not fabric.on_free_ports:
        return fits
    if not all(tuple(tiers_for(problem, fabric, parts, demand)) for demand in fabric.on_free_ports):
        return ~fits
    cages, most, lanes = down_cages(parts, net), _down_ports(parts, net), parts.leaf_down.lane.ports
    with_servers, of_last = int(shape.leaves[0]), int(shape.rails)
    kinds = (
        (with_servers - of_last, int(shape.g[0] * shape.k)),
        (of_last, int(shape.last_group[0] * shape.k)),
        (net.switches - with_servers, 0),
    )
    free = sum(
        number * free_ports(empty_cages(cages, servers + reserve, lanes), most - servers - reserve, lanes)
        for number, servers in kinds
    )
    return np.asarray(parts.nic.planes * free >= sum(demand.ports for demand in fabric.on_free_ports))


def down_cages(parts: Parts, net: DirectNetworks) -> Ints:
    """Cages of a switch beside those of its links to others, shape (networks,)."""
    between = ceil_of(net.most_ports, parts.uplink.lane.ports).sum(axis=1)
    return np.asarray(cages_beside(parts.leaf_down, parts.uplink, between))


def _down_ports(parts: Parts, net: DirectNetworks) -> Ints:
    return np.asarray(parts.leaf.max_ports - net.most_ports.sum(axis=1))


def with_free_ports(problem: Problem, fabric: FabricProblem, network: DirectNetwork) -> DirectNetwork | None:
    """A network with the switches of its attachments on free ports; None if there are too few."""
    if not fabric.on_free_ports:
        return network
    parts, lanes, used = network.parts, network.parts.leaf_down.lane.ports, _used(network)
    cages = empty_cages(int(down_cages(parts, network.net)[0]), used, lanes)
    ports = int(_down_ports(parts, network.net)[0]) - used
    hosts = Hosts(np.asarray(cages), np.asarray(ports), lanes, (0,) * len(used))
    guests = [
        Guest(demand.ports, dict.fromkeys(tiers_for(problem, fabric, parts, demand), 0))
        for demand in fabric.attachments
    ]
    places = dealt_to_free_ports(guests, {"leaf": hosts})
    return None if places is None else replace(network, free=tuple(places))


def _used(network: DirectNetwork) -> Ints:
    """Ports of every switch that servers occupy or that are kept free, plane by plane, shape (switches,)."""
    of_plane = np.bincount(network.rings().ravel(), minlength=network.switches)
    return np.tile(of_plane, network.nic.planes) + network.servers.reserved_ports


def cages_for_servers(network: DirectNetwork) -> int:
    """Cages of a switch that are left for the servers of a full one beside those of attachments.

    A switch with fewer servers has as many cages more for attachments.
    """
    lanes, used = network.parts.leaf_down.lane.ports, _used(network)
    own = np.asarray(ceil_of(used, lanes))
    attached = np.zeros_like(own)
    for places in network.free:
        for switch, ports in Counter(number for _, number in places).items():
            attached[switch] += ceil_div(ports, lanes)
    has_servers = used > network.servers.reserved_ports
    beside = np.where(has_servers, attached - (own.max() - own), 0)
    return int(down_cages(network.parts, network.net)[0]) - max(0, int(beside.max()))
