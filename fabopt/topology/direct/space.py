"""The search for a direct family: blocks of hardware by their bound, then group sizes, then all networks of each.

A block is a NIC, a switch and the use of its cages for servers and for other switches. A switch with d server ports
has at least ``fewest_ports`` links, each of which costs half an assembly; the least share of switch and links that a
server port can have bounds the block, and the same with the real number of switches every group size. See
docs/formulation/direct-networks.md.

A direct family as the search sees it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.assemblies import Assembly
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import CageUse, SwitchType, cages_beside
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.redundancy import keeps_homing
from fabopt.topology.clos.shape import Parts, Shape, divisors, uplinks_that_fit, usable_ports
from fabopt.topology.direct.candidates import (
    DirectBatch,
    SwitchedShape,
    cable_links,
    equal_joins,
    least_of_kind,
    may_fit,
)
from fabopt.topology.direct.design import has_asked, offer_tried
from fabopt.topology.direct.networks import DirectNetworks, DirectTopology, Ints, Load, fewest_ports, load_of
from fabopt.topology.family import OF_SIZES, Cutoff, Sizing, SpaceRequest, Spaces
from fabopt.topology.link_parts import Floats
from fabopt.topology.remembered import remembered
from fabopt.topology.spans import group_sizes, in_pods, spans_of
from fabopt.units import ceil_of

# The scopes with runs of their own: within a row of racks, and across.
SCOPES = ("local", "global")


class BoundedHardware(NamedTuple):
    """A choice of hardware, and a lower bound of the cost of everything made of it, shape (metrics,)."""

    bound: Floats
    protocol: str
    nic: NicOption
    leaf: SwitchType
    down: CageUse
    up: CageUse


class SizedSpace(ABC):
    """The candidates of one family that a fabric may have."""

    def __init__(self, problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> None:
        self.problem = problem
        self.fabric = fabric
        self.request = request
        self.costs = request.costs

    def search(self, slack: float = 0.0, sizing: Sizing | None = None) -> Sizing:
        """Every candidate that costs at most the least cost met plus ``slack``; ``sizing``: of other spaces,
        added to.
        """
        cutoff = Cutoff(self.request.caps, slack, self.request.prune, sizing)
        self._expand_all(cutoff)
        return cutoff.close()

    def any_candidate(self) -> Sizing:
        """Some candidate, of the first hardware that has one."""
        cutoff = Cutoff(self.request.caps, 0.0, self.request.prune)
        self._expand_all(cutoff, first=True)
        return cutoff.close()

    @abstractmethod
    def _expand_all(self, cutoff: Cutoff, first: bool = False) -> None:
        """Offer all candidates within the cutoff; with ``first``, until one is met."""


class SwitchedSpace(SizedSpace):
    """The candidates of one family that a fabric may have, by the switches of servers, the cheapest hardware first."""

    def __init__(self, problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> None:
        super().__init__(problem, fabric, request)
        self.bounds = request.costs.bounds(problem, fabric, request.prune)
        self.scopes = self.bounds.scopes

    def _expand_all(self, cutoff: Cutoff, first: bool = False) -> None:
        blocks = sorted(self._blocks(cutoff), key=lambda bounded: float(bounded.bound[0]))
        for block in blocks:
            if float(block.bound[0]) > cutoff.limit or (first and cutoff.sizing.batches):
                return
            if self.request.should_stop(OF_SIZES):
                cutoff.sizing.stopped = True
                return
            for k in divisors(block.nic.ports_per_plane):
                self._groups(cutoff, block, k)

    def _roomy(self, shape: Shape, leaves: Ints) -> NDArray[np.bool_]:
        """Whether networks with ``leaves`` leaves have the demanded headroom of servers, shape of ``leaves``."""
        demands = self.fabric.figure_demands
        least = 0 if demands is None else demands.headroom
        return np.asarray(leaves // int(shape.rails) * int(shape.g[0]) - self.problem.servers >= least)

    # -- hardware -----------------------------------------------------------------------------------------------

    def _blocks(self, cutoff: Cutoff) -> Iterator[BoundedHardware]:
        for protocol in self.fabric.protocols:
            for nic in self.bounds.nics(protocol):
                if not nic.apart:
                    yield from self._blocks_of(cutoff, protocol, nic)

    def _blocks_of(self, cutoff: Cutoff, protocol: str, nic: NicOption) -> Iterator[BoundedHardware]:
        for share, leaf, down in self.bounds.lowers(nic.port, protocol):
            alone = self.bounds.of_servers(nic, share)
            if float(alone[0]) > cutoff.limit:  # leaves come by their share, the cheapest first
                return
            link = self.bounds.least_link(nic.port, down.port, "server-leaf", protocol)
            for up in leaf.uses:
                bound = np.asarray(self.bounds.of_servers(nic, link + self._leaf_share(protocol, nic, leaf, down, up)))
                if cutoff.possible(bound):
                    yield BoundedHardware(bound, protocol, nic, leaf, down, up)

    @abstractmethod
    def _leaf_share(self, protocol: str, nic: NicOption, leaf: SwitchType, down: CageUse, up: CageUse) -> Floats:
        """Least cost share of one server port in a leaf and everything that the leaf is joined by, shape (metrics,)."""

    @abstractmethod
    def _groups(self, cutoff: Cutoff, block: BoundedHardware, k: int) -> None:
        """Offer all networks with k ports of a server on a leaf."""

    def _sizes(self, block: BoundedHardware, k: int) -> tuple[Shape, Floats] | None:
        """Group sizes with k ports of a server on a leaf, and the cost of their NICs and server links."""
        nic, bounds = block.nic, self.bounds
        joins = bounds.server_joins(nic, block.down, k, block.protocol)
        most = min(self.problem.servers, usable_ports(block.down, block.leaf) // k)
        if not joins or most < 1 or not keeps_homing(self.fabric, nic, k):
            return None
        g = group_sizes(self.fabric, most)
        # Rule ``rails_are_aligned``
        if not self.fabric.leaf_groups.may_share(k):
            g = g[g >= self.problem.servers]
        if not g.size:
            return None
        shape = Shape(self.problem.servers, nic.ports_per_plane, nic.planes, k, g)
        return shape, self._servers_cost(block, shape, joins)

    def _servers_cost(self, block: BoundedHardware, shape: Shape, joins: tuple[Assembly, ...]) -> Floats:
        """Cost of NICs and server links, shape (metrics, sizes)."""
        nic = block.nic
        nics = self.costs.of(nic.item)[:, np.newaxis] * (self.problem.servers * nic.nics_per_server)
        need = shape.server_leaf(nic, block.down.lane.ports, block.down.cages)
        cost = nics + self.costs.least(joins, need)
        return np.broadcast_to(cost, (len(cost), np.size(shape.g)))

    def _half_link(self, use: CageUse, protocol: str, scopes: Sequence[str] = SCOPES) -> Floats:
        """Least cost of one end of a link between equal cages, over the shortest run of some scopes, shape
        (metrics,).
        """
        costs = [self.costs.least_per_link(self._joins(use, scope, protocol), use.lane.ports, use.lane.ports)
                for scope in scopes]  # fmt: skip
        return np.asarray(np.minimum.reduce(costs) / 2)

    def _joins(self, use: CageUse, scope: str, protocol: str) -> tuple[Assembly, ...]:
        return equal_joins(self.problem, self.fabric, use.port, scope, protocol)


class DirectSpace(SwitchedSpace):
    """The candidates of a family of equal switches."""

    def __init__(
        self, problem: Problem, fabric: FabricProblem, topology: DirectTopology, request: SpaceRequest
    ) -> None:
        super().__init__(problem, fabric, request)
        self.topology = topology

    def _leaf_share(self, protocol: str, nic: NicOption, leaf: SwitchType, down: CageUse, up: CageUse) -> Floats:
        """Least cost share of one server port in a switch and its links, shape (metrics,)."""
        load = self._load(Parts(protocol, nic, leaf, down, up), 1)
        return self._least_share(self.topology, protocol, leaf, down, up, load.bisection, load.endpoints)

    @remembered("leaf-spine", "spine-core")
    def _least_share(
        self,
        topology: DirectTopology,
        protocol: str,
        leaf: SwitchType,
        down: CageUse,
        up: CageUse,
        bisection: Fraction,
        endpoints: int,
    ) -> Floats:
        ports = np.arange(1, usable_ports(down, leaf) + 1)
        room = uplinks_that_fit(leaf, down, up, ports)
        leaves = np.maximum(2, ceil_of(endpoints, ports))
        links = fewest_ports(topology, ports, leaves, bisection, int(room.max()))
        cost = self.costs.of(leaf.item)[:, np.newaxis] + np.multiply.outer(
            self._half_link(up, protocol), self._mean_links(links)
        )
        return np.asarray((np.where(links <= room, cost, np.inf) / ports).min(axis=1))

    def _mean_links(self, busiest: Ints) -> Ints:
        """Fewest links of a switch on average, where the busiest has ``busiest``; at least 1."""
        return np.maximum(1, busiest - self.topology.slack_ports)

    # -- sizes --------------------------------------------------------------------------------------------------

    def _load(self, parts: Parts, ports: int) -> Load:
        return load_of(self.problem, self.fabric, parts, ports)

    def _groups(self, cutoff: Cutoff, block: BoundedHardware, k: int) -> None:
        """Group sizes with k ports of a server on a leaf, the cheapest first."""
        sizes, nic = self._sizes(block, k), block.nic
        if sizes is None:
            return
        (shape, base), g = sizes, sizes[0].g
        parts = Parts(block.protocol, nic, block.leaf, block.down, block.up)
        load, most_links = self._load(parts, 1), usable_ports(block.up, block.leaf)
        least = fewest_ports(self.topology, g * k, np.maximum(2, shape.leaves), load.bisection, most_links)
        switch_cost = self.costs.of(block.leaf.item)[:, np.newaxis] + np.multiply.outer(
            self._half_link(block.up, block.protocol), self._mean_links(least)
        )
        bound = base + switch_cost * (nic.planes * shape.leaves)
        for place in np.argsort(bound[0], kind="stable").tolist():
            if least[place] > most_links:
                continue
            if int(shape.leaves[place]) >= 2 and cutoff.within(bound[:, place : place + 1]).all():
                sized = shape.take(np.array([place]))
                self._networks(cutoff, parts, sized, base[:, place : place + 1], int(least[place]))

    def _networks(self, cutoff: Cutoff, parts: Parts, shape: Shape, base: Floats, fewest: int) -> None:
        """Offer every network for one group size; ``fewest``: links of a switch to others."""
        up = parts.uplink
        ports = int(min(shape.g[0], shape.servers) * shape.k)
        with_reserve = int(self.bounds.reserved(ports))
        room = int(uplinks_that_fit(parts.leaf, parts.leaf_down, up, np.array([with_reserve]))[0])
        if room < fewest:
            return
        load, leaves = self._load(parts, ports), int(shape.leaves[0])
        for net in self._nets(parts, leaves, load, room):
            if self.request.should_stop(OF_SIZES):
                cutoff.sizing.stopped = True
                return
            fitting = net.take(self._fitting(parts, with_reserve, net))
            has_ports = may_fit(self.problem, self.fabric, parts, shape, fitting, with_reserve - ports)
            self._offer(cutoff, parts, shape, base, fitting.take(np.flatnonzero(has_ports)))

    def _in_span(self, shape: Shape, net: DirectNetworks) -> NDArray[np.bool_]:
        """Networks whose groups of switches are of the sizes in the fabric's span, shape (networks,); all but for
        dragonflies.
        """
        if self.topology.name != "dragonfly":
            return np.ones(len(net), dtype=np.bool_)
        return in_pods(self.fabric, ceil_of(net.numbers[:, 0], shape.rails) * shape.g[0])

    def _nets(self, parts: Parts, leaves: int, load: Load, room: int) -> Iterator[DirectNetworks]:
        """Networks of ``leaves`` switches with servers that carry a load; where figures of the graph are asked for,
        with all numbers of links.
        """
        if self._is_tried:
            yield from self.topology.thicker(leaves, load, room)
            return
        ways = tuple(
            sorted({cable_links(assembly) for assembly in self._joins(parts.uplink, "local", parts.protocol)} - {1})
        )
        yield self.topology.nets(leaves, load, room, ways)

    @property
    def _is_tried(self) -> bool:
        """Whether the case asks for figures that only the graph of a network gives."""
        return bool(
            self.fabric.resilience or (self.fabric.figure_demands is not None and self.fabric.figure_demands.allreduce)
        )

    def _offer(self, cutoff: Cutoff, parts: Parts, shape: Shape, base: Floats, net: DirectNetworks) -> None:
        """Offer networks that meet the demands; those of the graph after a try."""
        net = net.take(self._wanted(shape, net))
        if not len(net):
            return
        cost = base + self._net_cost(parts, net)
        shapes = replace(shape, g=np.full(len(net), shape.g[0]))
        batch = DirectBatch(self.fabric, parts, SwitchedShape(shapes, net), cost, self.topology)
        if not self._is_tried:
            cutoff.offer(batch)
            return

        def has(index: int) -> bool | None:
            return has_asked(self.problem, self.fabric, batch.network(index))

        offer_tried(cutoff, batch, has, self.request.should_stop)

    def _wanted(self, shape: Shape, net: DirectNetworks) -> Ints:
        """Networks with the demanded path length and headroom."""
        kept, most = self._roomy(shape, net.switches) & self._in_span(shape, net), self.fabric.shapes.most_hops
        if most is not None:
            for place in np.flatnonzero(kept).tolist():
                kept[place] = self.topology.hops(net.numbers[place], int(shape.leaves[0])) <= most
        return np.flatnonzero(kept)

    @staticmethod
    def _fitting(parts: Parts, ports: int, net: DirectNetworks) -> Ints:
        """Networks whose links have their cages beside those of the servers; no cage has links of two kinds."""
        up, down = parts.uplink, parts.leaf_down
        cages = ceil_of(net.most_ports, up.lane.ports).sum(axis=1)
        own = ceil_of(ports, down.lane.ports)
        return np.flatnonzero(cages <= cages_beside(up, down, own))

    def _net_cost(self, parts: Parts, net: DirectNetworks) -> Floats:
        """Cost of switches, and least cost of their links, each metric by itself, shape (metrics, networks)."""
        up, planes = parts.uplink, parts.nic.planes
        total = np.multiply.outer(self.costs.of(parts.leaf.item), planes * net.switches)
        scopes = self.topology.scopes(net.numbers[0])
        for column in range(net.ports.shape[1]):
            scope = scopes[column] if column < len(scopes) and scopes[0] in SCOPES else SCOPES[0]
            joins = self._joins(up, scope, parts.protocol)
            total = total + least_of_kind(self.costs, joins, net, column, up.lane.ports, planes)
        return np.asarray(total)


@dataclass(frozen=True)
class DirectFamily:
    """Switches of one type that are joined to each other, as ``topology`` says."""

    topology: DirectTopology

    @property
    def name(self) -> str:
        """The topology as in the case and the design file."""
        return self.topology.name

    def space(self, problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> Spaces:
        """The candidates of a fabric with this topology."""
        spans = spans_of(problem, fabric, self.name)
        return Spaces(tuple(DirectSpace(problem, span, self.topology, request) for span in spans))

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """An upper bound of the servers, on the most switches that ports could join, each with one port for others."""
        return max(
            (
                (usable_ports(use, leaf) - 1) * self.topology.most_switches(leaf.max_ports - 1) // nic.ports_per_plane
                for protocol in fabric.protocols
                for leaf in fabric.switches[protocol]["leaf"]
                for use in leaf.uses
                for nic in fabric.nics[protocol]
                if use.lane.port_mbps == nic.port.lane.port_mbps and not nic.apart
            ),
            default=0,
        )
