"""A fabric without the links over some routes between halls, or through some trunks or panels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fabopt.network.graph.losses import Holders, Loss, Served
from fabopt.network.graph.network import Network
from fabopt.verify.halls import HallGraph
from fabopt.wiring.model import Ints


@dataclass(frozen=True, eq=False)
class OverRoutes:
    """A fabric in which every link over a route is a row of its network; ``routes``: those of each row, by number."""

    served: Served
    routes: tuple[tuple[int, ...], ...]

    def without(self, lost: frozenset[int]) -> Loss:
        """The effect of losing some routes with all links over them."""
        rows = {row for route in lost for row in self.rows_of[route]}
        return self.served.without_links(np.array(sorted(rows), dtype=int))

    @cached_property
    def rows_of(self) -> dict[int, list[int]]:
        """The rows over each route."""
        rows: dict[int, list[int]] = defaultdict(list)
        for row, own in enumerate(self.routes):
            for route in own:
                rows[route].append(row)
        return rows


class EndRacks(NamedTuple):
    """Racks of the switches by number, of every server, and of the ports of each kind of other devices."""

    switches: Sequence[str]
    servers: Sequence[str]
    devices: Sequence[Sequence[str]]


class LinkWays(NamedTuple):
    """Numbers of what each link runs over: of rows of the network, of the ports of servers, and of other devices."""

    between: Sequence[Collection[int]]
    servers: Sequence[Collection[int]]
    devices: Sequence[Sequence[Collection[int]]]


def over_routes(served: Served, racks: EndRacks, graph: HallGraph) -> OverRoutes:
    """The fabric with the routes between halls that its links run over."""
    a, b, ports = served.network.a.tolist(), served.network.b.tolist(), served.switch_of.shape[1]

    def ways(rack_of_port: Sequence[str], switches: Ints) -> list[Collection[int]]:
        ends = zip(rack_of_port, switches.tolist(), strict=True)
        return [graph.routes_between(rack, racks.switches[switch]) for rack, switch in ends]

    devices = zip(racks.devices, served.devices, strict=True)
    between = [graph.routes_between(racks.switches[near], racks.switches[far]) for near, far in zip(a, b, strict=True)]
    of_ports = ways([rack for rack in racks.servers for _ in range(ports)], served.switch_of.ravel())
    return over(served, (a, b), LinkWays(between, of_ports, [ways(own, holders.switch) for own, holders in devices]))


def over(served: Served, ends: tuple[list[int], list[int]], ways: LinkWays) -> OverRoutes:
    """The fabric with a switch between a port of a server or device and its switch where their link runs over anything,
    for the link. ``ends``: of each row between switches, as numbers of these.
    """
    (a, b), number = ends, served.network.switches
    routes = [tuple(way) for way in ways.between]

    def moved(own: Sequence[Collection[int]], switches: Ints) -> Ints:
        nonlocal number
        beyond = []
        for way, switch in zip(own, switches.tolist(), strict=True):
            if way:
                a.append(switch)
                b.append(number)
                routes.append(tuple(way))
                beyond.append(number)
                number += 1
            else:
                beyond.append(switch)
        return np.array(beyond, dtype=np.int64)

    switch_of = moved(ways.servers, served.switch_of.ravel())
    devices = tuple(
        Holders(holders.holder, moved(own, holders.switch))
        for holders, own in zip(served.devices, ways.devices, strict=True)
    )
    ones = np.ones(len(a), dtype=np.int64)
    whole = Network(np.array(a), np.array(b), ones, np.ones(number, dtype=np.int64), 1, ones)
    return OverRoutes(Served(whole, switch_of.reshape(served.switch_of.shape), served.nic_of, devices), tuple(routes))
