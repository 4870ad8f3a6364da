"""A candidate of a direct family: its hardware, its network and how servers stand on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from fabopt.network.direct_links import Mesh
from fabopt.network.graph.network import Network, network_of
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.link_kinds import Clos
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.direct.networks import Ints, Kin, Load, Net, run_of
from fabopt.topology.family import FilePart, LinkUse, Tier

SERVERS = ("servers_per_group", "groups", "ports_per_server", "ports_per_server_per_leaf")


class Networks(Protocol):
    """Many networks of a family as arrays; ``numbers``: the family's own, a row each."""

    @property
    def numbers(self) -> Ints:
        """What tells one from another."""

    def take(self, index: Any) -> Self:
        """Some of them."""


Nets = TypeVar("Nets", bound=Networks)


@dataclass(frozen=True)
class DirectShape(Generic[Nets]):
    """Many candidates of the same hardware, as arrays: server groups, and the networks of their leaves."""

    servers: Shape
    net: Nets

    def take(self, index: Any) -> DirectShape[Nets]:
        """Some of them."""
        return DirectShape(self.servers.take(index), self.net.take(index))

    def key(self, index: int) -> Hashable:
        """What tells one of them apart from others."""
        return self.servers.row(index), self.net.numbers[index].tobytes()

    def row(self, index: int) -> DirectShape[Nets]:
        """One of them, as arrays of one."""
        return DirectShape(self.servers.row(index), self.net.take(np.array([index])))


class Bandwidth(NamedTuple):
    """Figures of a candidate: Mb/s per GPU, exact; ``oversubscription`` by boundary."""

    oversubscription: dict[str, Fraction]
    injection: Fraction
    bisection: Fraction
    alltoall: Fraction
    max_switch_hops: int


@dataclass(frozen=True)
class Direct(ABC):
    """One candidate: boxes that are joined to each other."""

    tiers = 1
    standing = None
    stages = ()

    @property
    @abstractmethod
    def parts(self) -> Any:
        """Hardware: ``protocol`` and ``nic`` at least."""

    @property
    @abstractmethod
    def mesh(self) -> Mesh:
        """One plane, link by link; the boxes that can have endpoints are its first."""

    @property
    @abstractmethod
    def speeds_mbps(self) -> Mapping[str, int]:
        """Speed of a link of each scope of ``mesh``."""

    @property
    @abstractmethod
    def group_servers(self) -> int:
        """Servers of a group."""

    @property
    @abstractmethod
    def headroom(self) -> int:
        """Servers that can be added with the boxes that are there."""

    @property
    @abstractmethod
    def switch_types(self) -> tuple[SwitchType, ...]:
        """The switches that it is made of."""

    @property
    def passed_on(self) -> int | None:
        """Servers that pass traffic on along the longest shortest path; None where switches do."""
        return None

    @property
    def links(self) -> int:
        """Links between the boxes of one plane."""
        mesh = self.mesh
        return sum(len(mesh.pairs(scope).a) for scope in mesh.scopes)

    @abstractmethod
    def bandwidth(self, gpus: int) -> Bandwidth:
        """Figures that have a formula, with so many GPUs in all."""

    @abstractmethod
    def graph(self) -> Network:
        """One plane, with the endpoints on its boxes."""

    @abstractmethod
    def rings(self) -> Ints:
        """The box of every endpoint of a plane: shape (endpoints of a server, servers)."""

    @abstractmethod
    def share(self, gpus: int) -> Fraction:
        """Endpoints of all planes for each of so many GPUs."""

    @abstractmethod
    def switches_passed(self, links: Fraction) -> Fraction:
        """Switches on paths of so many links between boxes, on average."""

    @abstractmethod
    def file_part(self) -> FilePart:
        """What the design file says of it."""

    def on_graph(self, hosts: Ints, port_mbps: int) -> Network:
        """One plane: its boxes and their links, with endpoints of a speed on each."""
        mesh = self.mesh
        pairs = [mesh.pairs(scope) for scope in mesh.scopes]
        mbps = np.repeat([self.speeds_mbps[scope] for scope in mesh.scopes], [len(one.a) for one in pairs])
        a, b = (np.concatenate([getattr(one, end) for one in pairs]) for end in ("a", "b"))
        return network_of(a, b, mbps, hosts, port_mbps)


@dataclass(frozen=True)
class Alike(Direct):
    """One of equal boxes, as ``kin`` joins them. ``net`` has one row."""

    kin: Kin
    net: Net

    @property
    @abstractmethod
    def link_mbps(self) -> int:
        """Speed of a link between two boxes."""

    @property
    def numbers(self) -> Any:
        """The family's own."""
        return self.net.numbers[0]

    @property
    def scopes(self) -> tuple[str, ...]:
        """Kinds of links between the boxes."""
        return self.kin.scopes(self.numbers)

    @property
    def mesh(self) -> Mesh:
        """One plane, link by link."""
        return self.kin.mesh(self.numbers)

    @property
    def links(self) -> int:
        """Links between the boxes of one plane."""
        return int(self.net.links[0].sum())

    @property
    def speeds_mbps(self) -> Mapping[str, int]:
        """All links are equally fast."""
        return dict.fromkeys(self.scopes, self.link_mbps)


@dataclass(frozen=True)
class OnSwitches(Direct):
    """Servers on switches that are joined to each other. ``servers``: its leaves as those of a one-tier Clos."""

    servers: Clos

    @property
    def parts(self) -> Parts:
        """Hardware: leaves take servers with ``leaf_down`` and other switches with ``leaf_up``."""
        return self.servers.parts

    @property
    def shape(self) -> Shape:
        """Server groups."""
        return self.servers.shape

    @property
    def group_servers(self) -> int:
        """Servers whose ports share switches."""
        return int(self.shape.g)

    @property
    @abstractmethod
    def leaves(self) -> int:
        """Switches of one plane that can have servers."""

    @property
    def headroom(self) -> int:
        """Servers that can be added in the places of groups whose switches are there."""
        groups = self.leaves // int(self.shape.rails)
        return groups * int(self.shape.g) - int(self.shape.servers)

    def per_gpu(self, gpus: int, *port_mbps: Fraction) -> Fraction:
        """What a GPU gets where a port gets the least of some rates: at most the port's speed, and its injection."""
        parts = self.parts
        return min(parts.nic.injection, min(Fraction(parts.leaf_down.lane.port_mbps), *port_mbps) * self.share(gpus))

    def graph(self) -> Network:
        """One plane: its switches, and the server ports on them."""
        hosts = np.bincount(self.rings().ravel(), minlength=self.mesh.switches)
        return self.on_graph(hosts, self.parts.leaf_down.lane.port_mbps)

    def rings(self) -> Ints:
        """The switch of every server port of a plane: shape (ports of a server, servers)."""
        shape = self.shape
        group = np.arange(int(shape.servers)) // int(shape.g)
        rail = np.arange(shape.ports) // int(shape.k)
        return np.asarray(group * int(shape.rails) + rail[:, np.newaxis], dtype=np.int64)

    def share(self, gpus: int) -> Fraction:
        """Server ports of a GPU."""
        return Fraction(self.parts.nic.planes * int(self.shape.servers) * self.shape.ports, max(1, gpus))

    def switches_passed(self, links: Fraction) -> Fraction:
        """One more than links."""
        return 1 + links


@dataclass(frozen=True)
class Flat(OnSwitches, Alike):
    """One of equal switches, all of which can have servers."""

    @property
    def switches(self) -> int:
        """Of one plane."""
        return int(self.net.switches[0])

    @property
    def leaves(self) -> int:
        """All of them."""
        return self.switches

    @property
    def switch_types(self) -> tuple[SwitchType, ...]:
        """All switches are of one type."""
        return (self.parts.leaf,)

    @property
    def link_mbps(self) -> int:
        """Speed of a link between switches."""
        assert self.parts.leaf_up is not None
        return self.parts.leaf_up.lane.port_mbps

    def bandwidth(self, gpus: int) -> Bandwidth:
        """Figures: see ``fabopt.topology.direct.networks``."""
        parts, ports = self.parts, int(self.shape.servers) * self.shape.ports
        d, v = self.servers.down_ports, parts.leaf_down.lane.port_mbps
        up = int(self.net.most_ports[0].sum())
        flow = self.kin.flow(self.numbers) * self.link_mbps
        return Bandwidth(
            {"leaf": Fraction(d * v, up * self.link_mbps)},
            parts.nic.injection,
            self.per_gpu(gpus, flow * self.switches / (2 * d)),
            self.per_gpu(gpus, flow * max(1, ports - 1) / (d * d)),
            self.kin.hops(self.numbers, int(self.shape.groups * self.shape.rails)),
        )

    def file_part(self) -> FilePart:
        """What the design file says of it."""
        parts, shape = self.parts, self.shape
        up = int(self.net.most_ports[0].sum())
        boxes = parts.nic.planes * self.switches
        switch = Tier(
            "leaf", parts.leaf, boxes, self.servers.down_ports, up, parts.leaf_down, parts.leaf_up,
            self.servers.reserved_ports,
        )  # fmt: skip
        between = (LinkUse("leaf", "leaf", scope, self.link_mbps, run_of(scope)) for scope in self.scopes)
        return FilePart(
            protocol=parts.protocol,
            planes=parts.nic.planes,
            rails=int(shape.rails),
            structure=self.kin.structure(self.numbers, words_of(shape)),
            nic=parts.nic,
            tiers=(switch,),
            links=(LinkUse("server", "leaf", None, parts.leaf_down.lane.port_mbps, "server-leaf"), *between),
        )


def words_of(shape: Shape) -> dict[str, int]:
    """What the structure in a design file says of the servers."""
    counted = (int(shape.g), int(shape.groups), shape.ports, int(shape.k))
    return dict(zip(SERVERS, counted, strict=True))


class Rates(NamedTuple):
    """What a port has to get at the least, in Mb/s: over a cut into halves, and of uniform all-to-all traffic."""

    cut: Fraction
    spread: Fraction


def rates_of(problem: Problem, fabric: FabricProblem, nic: NicOption) -> Rates:
    """What the ports of servers with such NICs have to get.

    Bisection and all-to-all of a GPU are to be its injection over the most oversubscription at the leaves, and what the
    case or a front asks for beside.
    """
    per_gpu, figure_demands = nic.injection / fabric.oversubscription_leaf, fabric.figure_demands
    gpus_per_port = Fraction(max(1, problem.server.gpus), nic.ports_per_server)
    cut, spread = per_gpu, per_gpu
    if figure_demands is not None:
        cut, spread = max(cut, figure_demands.bisection), max(spread, figure_demands.alltoall)
    return Rates(cut * gpus_per_port, spread * gpus_per_port)


def load_of(problem: Problem, fabric: FabricProblem, parts: Parts, ports: int) -> Load:
    """What a network has to carry with so many ports on its busiest switch."""
    assert parts.leaf_up is not None
    speed, wanted = parts.leaf_up.lane.port_mbps, rates_of(problem, fabric, parts.nic)
    endpoints = problem.servers * parts.nic.ports_per_plane
    return Load(ports, endpoints, wanted.cut / speed, wanted.spread / speed, fabric.most_hops)
