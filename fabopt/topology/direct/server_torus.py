"""A torus of servers: their NICs are joined to those of their neighbours, and pass on what is for others.

Servers are the points of a box of just so many. A server has ``2 m_i`` ports to its two neighbours in dimension i, and
all ports of its NICs are taken. Its NICs fill the dimensions one after another, whole cages each, so a cage has links
of one dimension. A server is one endpoint: it sends to others what its NICs can inject, and what it passes on takes
links, not injection. docs/formulation.md, "Direct networks".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, prod
from typing import Any, NamedTuple

import numpy as np

from fabopt.network.graph.network import Network
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import SwitchType
from fabopt.schema.structure import SwitchlessStructure
from fabopt.topology.direct.design import SERVERS, Alike, Bandwidth
from fabopt.topology.direct.hyperx import halves
from fabopt.topology.direct.lattices import LONGEST_SIDE
from fabopt.topology.direct.networks import Ints, Net, run_of
from fabopt.topology.family import FilePart, LinkUse

SHORTEST_SIDE = 3


class CardParts(NamedTuple):
    """Hardware without switches."""

    protocol: str
    nic: NicOption


@dataclass(frozen=True)
class ServerShape:
    """Many candidates of the same hardware, as arrays."""

    net: Net

    def take(self, index: Any) -> ServerShape:
        """Some of them."""
        return ServerShape(self.net.take(index))

    def key(self, index: int) -> Hashable:
        """What tells one of them apart from others."""
        return tuple(self.net.numbers[index].tolist())

    def row(self, index: int) -> ServerShape:
        """One of them, as arrays of one."""
        return ServerShape(self.net.take(np.array([index])))


@dataclass(frozen=True)
class Switchless(Alike):
    """One candidate. The boxes of ``net`` are servers."""

    hardware: CardParts

    @property
    def parts(self) -> CardParts:
        """Protocol and NICs."""
        return self.hardware

    @property
    def servers(self) -> int:
        """N."""
        return int(self.net.switches[0])

    @property
    def group_servers(self) -> int:
        """Every server is alone."""
        return 1

    @property
    def switch_types(self) -> tuple[SwitchType, ...]:
        """None."""
        return ()

    @property
    def link_mbps(self) -> int:
        """That of a NIC's port."""
        return self.parts.nic.port.lane.port_mbps

    @property
    def headroom(self) -> int:
        """One server more would be no box."""
        return 0

    def bandwidth(self, gpus: int) -> Bandwidth:
        """Every ordered pair of servers has the pair flow; between x servers and the others run ``flow x (N - x)``."""
        injection, share = self.parts.nic.injection, self.share(gpus)
        flow = self.kin.flow(self.numbers) * self.link_mbps
        cut, spread = flow * self.servers / 2, flow * (self.servers - 1)
        return Bandwidth({}, injection, min(injection, cut * share), min(injection, spread * share), 0)

    @property
    def passed_on(self) -> int:
        """Servers between the two ends of the longest shortest path."""
        return self.kin.hops(self.numbers, self.servers) - 2

    def graph(self) -> Network:
        """The servers, an endpoint each, whose link is all its ports."""
        return self.on_graph(np.ones(self.servers, dtype=np.int64), self.parts.nic.ports_per_server * self.link_mbps)

    def rings(self) -> Ints:
        """One ring of all servers, in their order."""
        return np.arange(self.servers)[np.newaxis, :]

    def share(self, gpus: int) -> Fraction:
        """Servers of a GPU."""
        return Fraction(self.servers, max(1, gpus))

    def switches_passed(self, links: Fraction) -> Fraction:
        """There is no switch."""
        return Fraction(0)

    def file_part(self) -> FilePart:
        """What the design file says of it."""
        sides, links = halves(self.numbers)
        ports = self.parts.nic.ports_per_server
        counted = dict(zip(SERVERS, (1, self.servers, ports, ports), strict=True))
        structure = SwitchlessStructure(family="torus", nodes="servers", sides=sides, links_per_pair=links, **counted)
        return FilePart(
            protocol=self.parts.protocol,
            planes=1,
            rails=1,
            structure=structure,
            nic=self.parts.nic,
            tiers=(),
            links=tuple(LinkUse("server", "server", one, self.link_mbps, run_of(one)) for one in self.scopes),
        )


@lru_cache(maxsize=4096)
def boxes_of(servers: int, dimensions: int) -> tuple[tuple[int, ...], ...]:
    """Sides that rise, ``SHORTEST_SIDE`` at least, of boxes with just so many servers."""
    if servers > LONGEST_SIDE**dimensions:
        return ()
    return tuple(_rising(servers, dimensions, SHORTEST_SIDE))


def _rising(product: int, dimensions: int, shortest: int) -> Iterator[tuple[int, ...]]:
    if dimensions == 1:
        if shortest <= product <= LONGEST_SIDE:
            yield (product,)
        return
    for side in range(shortest, LONGEST_SIDE + 1):
        if side**dimensions > product:
            return
        if product % side == 0:
            yield from ((side, *others) for others in _rising(product // side, dimensions - 1, side))


def is_box(servers: int) -> bool:
    """Whether so many servers can be a torus of two or three dimensions."""
    return any(boxes_of(servers, dimensions) for dimensions in (2, 3))


def fewest_links(sides: tuple[int, ...], flow: Fraction) -> tuple[int, ...]:
    """Links of a pair in each dimension for a pair flow, in units of a link's speed; one at the least.

    One link is loaded by ``N floor(k^2 / 4) / (2 k m)`` ordered pairs (``fabopt.topology.direct.torus``).
    """
    servers = prod(sides)
    return tuple(max(1, ceil(flow * servers * (side * side // 4) / (2 * side))) for side in sides)


def links_of_ports(fewest: tuple[int, ...], pairs: int, cage_ports: int) -> list[tuple[int, ...]]:
    """Links of a pair in every dimension, ``pairs`` together, of which every dimension fills its cages."""
    found: list[tuple[int, ...]] = [()]
    for at, least in enumerate(fewest[:-1]):
        later = sum(fewest[at + 1 :])
        found = [(*links, one) for links in found for one in range(least, pairs - sum(links) - later + 1)]
    whole = [(*links, pairs - sum(links)) for links in found]
    return [links for links in whole if not any(2 * one % cage_ports for one in links)]
