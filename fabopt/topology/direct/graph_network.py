"""Networks of devices that are joined to each other: the base of their families.

One direct network: equal switches, all with servers, joined as a topology says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fabopt.network.direct_links import Mesh
from fabopt.network.graph.cut_off import cut_off_by_link, cut_off_by_switch
from fabopt.network.graph.network import Network, network_of
from fabopt.network.graph.symmetry import Kinds
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import SwitchType
from fabopt.schema.attachment import HostPort
from fabopt.schema.resilience import Failed
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.design import Failures, Figures, FilePart, LinkUse, Tier, single_flow
from fabopt.topology.direct.networks import DirectNetworks, DirectTopology, Ints, run_of

SERVERS = ("servers_per_group", "groups", "ports_per_server", "ports_per_server_per_leaf")


@dataclass(frozen=True)
class GraphNetwork(ABC):
    """A network of devices that are joined to each other: switches, or servers."""

    @property
    @abstractmethod
    def protocol(self) -> str:
        """``ethernet`` or ``infiniband``."""

    @property
    @abstractmethod
    def nic(self) -> NicOption:
        """How servers are equipped."""

    @property
    @abstractmethod
    def mesh(self) -> Mesh:
        """The devices of one plane, link by link; those that can have endpoints come first."""

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
        """Servers that can be added with the present devices."""

    @property
    @abstractmethod
    def switch_types(self) -> tuple[SwitchType, ...]:
        """The switch types, from the leaves up."""

    @property
    def links(self) -> int:
        """Links between the devices of one plane."""
        mesh = self.mesh
        return sum(len(mesh.pairs(scope).a) for scope in mesh.scopes)

    @abstractmethod
    def figures(self, gpus: int) -> Figures:
        """Figures that have a formula; ``gpus``: of the whole cluster."""

    @abstractmethod
    def graph(self) -> Network:
        """The graph of one plane, with the endpoints on its devices."""

    @abstractmethod
    def rings(self) -> Ints:
        """The device of every endpoint of a plane: shape (endpoints of a server, servers)."""

    @abstractmethod
    def endpoints_per_gpu(self, gpus: int) -> Fraction:
        """Endpoints of all planes per GPU; ``gpus``: of the whole cluster."""

    @abstractmethod
    def switches_passed(self, links: Fraction) -> Fraction:
        """Mean number of switches on a path; ``links``: its mean number of links between devices."""

    @abstractmethod
    def file_part(self) -> FilePart:
        """The part of the design file that describes this network."""

    def on_graph(self, hosts: Ints, port_mbps: int) -> Network:
        """The graph of one plane, with ``hosts`` endpoints on each device, shape (devices,), of a speed."""
        ends, scope = self.mesh.all_pairs()
        speeds_mbps = np.array([self.speeds_mbps[scope] for scope in self.mesh.scopes])
        return network_of(*ends, speeds_mbps[scope], hosts, port_mbps)


@dataclass(frozen=True)
class UniformNetwork(GraphNetwork):
    """Equal devices, joined as ``topology`` says. ``net`` has one row."""

    topology: DirectTopology
    net: DirectNetworks

    @property
    @abstractmethod
    def link_mbps(self) -> int:
        """Speed of a link between two devices."""

    @property
    def numbers(self) -> Ints:
        """The topology's own numbers of this network: one row of ``DirectNetworks.numbers``, shape (numbers,)."""
        return np.asarray(self.net.numbers[0])

    @property
    def scopes(self) -> tuple[str, ...]:
        """Kinds of links between the devices."""
        return self.topology.scopes(self.numbers)

    @property
    def mesh(self) -> Mesh:
        """The devices of one plane, link by link."""
        return self.topology.mesh(self.numbers)

    @property
    def links(self) -> int:
        """Links between the devices of one plane."""
        return int(self.net.links[0].sum())

    @property
    def speeds_mbps(self) -> Mapping[str, int]:
        """Speed of a link of each scope; all are equal."""
        return dict.fromkeys(self.scopes, self.link_mbps)


@dataclass(frozen=True)
class SwitchedNetwork(GraphNetwork):
    """Servers on switches that are joined to each other. ``servers``: its leaves as those of a one-tier Clos."""

    servers: ClosNetwork

    @property
    def protocol(self) -> str:
        """The protocol of its switches."""
        return self.parts.protocol

    @property
    def nic(self) -> NicOption:
        """How servers are equipped."""
        return self.parts.nic

    @property
    def parts(self) -> Parts:
        """Hardware: leaves take servers with ``leaf_down`` and other switches with ``leaf_up``."""
        return self.servers.parts

    @property
    def shape(self) -> Shape:
        """Server groups and how their ports are dealt to leaves."""
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
        """Mb/s of a GPU whose ports have the least of some rates: at most the port's speed, and its injection."""
        parts = self.parts
        return min(
            parts.nic.injection,
            min(Fraction(parts.leaf_down.lane.port_mbps), *port_mbps) * self.endpoints_per_gpu(gpus),
        )

    def graph(self) -> Network:
        """The graph of one plane: its switches, and the server ports on them."""
        hosts = np.bincount(self.rings().ravel(), minlength=self.mesh.switches)
        return self.on_graph(hosts, self.parts.leaf_down.lane.port_mbps)

    def rings(self) -> Ints:
        """The switch of every server port of a plane: shape (ports of a server, servers)."""
        shape = self.shape
        group = np.arange(int(shape.servers)) // int(shape.g)
        rail = np.arange(shape.ports) // int(shape.k)
        return np.asarray(group * int(shape.rails) + rail[:, np.newaxis], dtype=np.int64)

    def endpoints_per_gpu(self, gpus: int) -> Fraction:
        """Server ports of all planes per GPU."""
        return Fraction(self.parts.nic.planes * int(self.shape.servers) * self.shape.ports, max(1, gpus))

    def switches_passed(self, links: Fraction) -> Fraction:
        """Mean number of switches on a path: one more than its links."""
        return 1 + links


def words_of(shape: Shape) -> dict[str, int]:
    """The fields of the servers in the structure of a design file."""
    counted = (int(shape.g), int(shape.groups), shape.ports, int(shape.k))
    return dict(zip(SERVERS, counted, strict=True))


@dataclass(frozen=True)
class SwitchedFailures(Failures, ABC):
    """Single failures of a network of switches; ``gpus``: of a server."""

    network: SwitchedNetwork
    gpus: int

    @property
    @abstractmethod
    def plane(self) -> tuple[Network, Kinds]:
        """The graph of a plane's switches, and its symmetries."""

    @property
    @abstractmethod
    def link_mbps(self) -> int | Ints:
        """Speed of a link of the graph, of every row or by row, shape (rows,)."""

    @abstractmethod
    def switches_of(self, failed: Failed) -> Ints:
        """Numbers of the switches of a kind, shape (switches of the kind,)."""

    def servers_cut_off(self, failed: Failed) -> int:
        """Servers that one failure, at the worst place, cuts off from the largest part that stays joined."""
        shape = self.network.shape
        if self.network.nic.planes > 1:
            return 0
        if failed == "plane":
            return int(shape.servers)
        (graph, kinds), switch_of = self.plane, self.network.rings().T
        if failed == "cable":
            return max(int(shape.ports == 1), cut_off_by_link(graph, kinds, switch_of, self.link_mbps))
        return cut_off_by_switch(graph, kinds, switch_of, self.switches_of(failed))


@dataclass(frozen=True)
class DirectNetwork(SwitchedNetwork, UniformNetwork):
    """Equal switches, all of which can have servers.

    ``free``: the switches of the ports of every attachment, by its place in the fabric; plane by plane.
    """

    free: tuple[tuple[HostPort, ...], ...] = ()

    @property
    def switches(self) -> int:
        """Number of switches of one plane."""
        return int(self.net.switches[0])

    @property
    def leaves(self) -> int:
        """Number of switches that can have servers: all of one plane."""
        return self.switches

    @property
    def switch_types(self) -> tuple[SwitchType, ...]:
        """The only type of switches."""
        return (self.parts.leaf,)

    @property
    def link_mbps(self) -> int:
        """Speed of a link between switches."""
        return self.parts.uplink.lane.port_mbps

    def figures(self, gpus: int) -> Figures:
        """The figures that have a formula: see ``fabopt.topology.direct.networks``."""
        parts, ports = self.parts, int(self.shape.servers) * self.shape.ports
        d, v = self.servers.down_ports, parts.leaf_down.lane.port_mbps
        up = int(self.net.most_ports[0].sum())
        flow = self.topology.flow(self.numbers) * self.link_mbps
        return Figures(
            oversubscription={"leaf": Fraction(d * v, up * self.link_mbps)},
            injection=parts.nic.injection,
            bisection=self.per_gpu(gpus, flow * self.switches / (2 * d)),
            alltoall=self.per_gpu(gpus, flow * max(1, ports - 1) / (d * d)),
            max_switch_hops=self.topology.hops(self.numbers, int(self.shape.groups * self.shape.rails)),
            single_flow=single_flow(parts.nic, self.link_mbps),
        )

    def file_part(self) -> FilePart:
        """The part of the design file that describes this network."""
        parts, shape = self.parts, self.shape
        up = int(self.net.most_ports[0].sum())
        switch = Tier(
            "leaf", parts.leaf, parts.nic.planes * self.switches, self.servers.down_ports, up, parts.leaf_down,
            parts.leaf_up, self.servers.reserved_ports,
        )  # fmt: skip
        between = (LinkUse("leaf", "leaf", scope, self.link_mbps, run_of(scope)) for scope in self.scopes)
        leaf_mbps = parts.leaf_down.lane.port_mbps
        return FilePart(
            protocol=parts.protocol,
            planes=parts.nic.planes,
            rails=int(shape.rails),
            structure=self.topology.structure(self.numbers, words_of(shape)),
            nic=parts.nic,
            tiers=(switch,),
            links=(
                LinkUse("server", "leaf", None, leaf_mbps, "server-leaf"),
                LinkUse("attachment", "leaf", None, leaf_mbps, "attachment-leaf"),
                *between,
            ),
            free_ports=self.free,
        )
