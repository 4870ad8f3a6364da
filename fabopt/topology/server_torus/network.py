"""A torus of servers: their NICs are joined to those of their neighbours, and pass on traffic for others.

Servers are the points of a lattice of exactly their number. A server has ``2 m_i`` ports to its two neighbours in
dimension i, and all ports of its NICs are taken. Its NICs fill the dimensions one after another, whole cages each, so a
cage has links of one dimension. A server is one endpoint: it sends to others at the injection of its NICs, and traffic
that it passes on takes links, not injection. docs/formulation/direct-networks.md.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fabopt.network.graph.network import Network
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import SwitchType
from fabopt.schema.structure import SwitchlessStructure
from fabopt.topology.design import Figures, FilePart, LinkUse, single_flow
from fabopt.topology.direct.graph_network import SERVERS, UniformNetwork
from fabopt.topology.direct.lattices import halves
from fabopt.topology.direct.networks import DirectNetworks, Ints, run_of


class ServerTorusParts(NamedTuple):
    """Hardware without switches."""

    protocol: str
    nic: NicOption


@dataclass(frozen=True)
class ServerTorusShape:
    """Many candidates of the same hardware, as arrays."""

    net: DirectNetworks

    def take(self, index: Any) -> ServerTorusShape:
        """Some of the candidates, by their places."""
        return ServerTorusShape(self.net.take(index))

    def key(self, index: int) -> Hashable:
        """A key that tells a candidate apart from others."""
        return tuple(self.net.numbers[index].tolist())

    def row(self, index: int) -> ServerTorusShape:
        """One candidate, as arrays of one."""
        return ServerTorusShape(self.net.take(np.array([index])))


@dataclass(frozen=True)
class ServerTorusNetwork(UniformNetwork):
    """A torus of servers, which are the devices of ``net``."""

    parts: ServerTorusParts

    @property
    def protocol(self) -> str:
        """The protocol of its NICs."""
        return self.parts.protocol

    @property
    def nic(self) -> NicOption:
        """How servers are equipped."""
        return self.parts.nic

    @property
    def servers(self) -> int:
        """Number of servers (N)."""
        return int(self.net.switches[0])

    @property
    def group_servers(self) -> int:
        """Servers of a group: every server is alone."""
        return 1

    @property
    def switch_types(self) -> tuple[SwitchType, ...]:
        """Empty: there are no switches."""
        return ()

    @property
    def link_mbps(self) -> int:
        """Speed of a link: that of a NIC's port."""
        return self.nic.port.lane.port_mbps

    @property
    def headroom(self) -> int:
        """Always 0: with one server more it would be no lattice."""
        return 0

    def figures(self, gpus: int) -> Figures:
        """Every ordered pair of servers has the pair flow; between x servers and the others run ``flow x (N - x)``."""
        injection, servers_per_gpu = self.nic.injection, self.endpoints_per_gpu(gpus)
        flow = self.topology.flow(self.numbers) * self.link_mbps
        return Figures(
            oversubscription={},
            injection=injection,
            bisection=min(injection, flow * self.servers / 2 * servers_per_gpu),
            alltoall=min(injection, flow * (self.servers - 1) * servers_per_gpu),
            max_switch_hops=0,
            # servers between the two ends of the longest shortest path
            max_nic_hops=self.topology.hops(self.numbers, self.servers) - 2,
            single_flow=single_flow(self.nic),
        )

    def graph(self) -> Network:
        """The graph of the servers, one endpoint each with the speed of all its ports."""
        return self.on_graph(np.ones(self.servers, dtype=np.int64), self.nic.ports_per_server * self.link_mbps)

    def rings(self) -> Ints:
        """A single ring of all servers, in their order, shape (1, servers)."""
        return np.arange(self.servers)[np.newaxis, :]

    def endpoints_per_gpu(self, gpus: int) -> Fraction:
        """Servers per GPU."""
        return Fraction(self.servers, max(1, gpus))

    def switches_passed(self, links: Fraction) -> Fraction:
        """Always 0: there is no switch."""
        return Fraction(0)

    def file_part(self) -> FilePart:
        """The part of the design file that describes this network."""
        sides, links = halves(self.numbers)
        ports = self.nic.ports_per_server
        counted = dict(zip(SERVERS, (1, self.servers, ports, ports), strict=True))
        structure = SwitchlessStructure(family="torus", nodes="servers", sides=sides, links_per_pair=links, **counted)
        return FilePart(
            protocol=self.protocol,
            planes=1,
            rails=1,
            structure=structure,
            nic=self.nic,
            tiers=(),
            links=tuple(LinkUse("server", "server", scope, self.link_mbps, run_of(scope)) for scope in self.scopes),
        )
