"""A fabric without the links over some routes between halls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fabopt.network.graph.losses import Holders, Loss, Served
from fabopt.network.graph.network import Network
from fabopt.verify.halls import HallGraph, hall_of
from fabopt.wiring.model import Ints


class OverRoutes(NamedTuple):
    """A fabric in which every link over a route is a row of its network; ``routes``: those of each row, by number."""

    served: Served
    routes: tuple[tuple[int, ...], ...]

    def without(self, lost: frozenset[int]) -> Loss:
        """The effect of losing some routes with all links over them."""
        return self.served.without_links(
            np.array([row for row, own in enumerate(self.routes) if lost & {*own}], dtype=int)
        )


class EndRacks(NamedTuple):
    """Racks of the switches by number, of every server, and of the ports of each kind of other devices."""

    switches: Sequence[str]
    servers: Sequence[str]
    devices: Sequence[Sequence[str]]


def over_routes(served: Served, racks: EndRacks, graph: HallGraph) -> OverRoutes:
    """The fabric with a switch between a port of a server or device and its switch in another hall, for the link."""
    network = served.network
    a, b = network.a.tolist(), network.b.tolist()
    routes = [graph.routes_between(racks.switches[near], racks.switches[far]) for near, far in zip(a, b, strict=True)]
    number = network.switches

    def moved(rack_of_port: Sequence[str], switches: Ints) -> Ints:
        nonlocal number
        beyond = []
        for rack, switch in zip(rack_of_port, switches.tolist(), strict=True):
            if rack and hall_of(rack) != hall_of(racks.switches[switch]):
                a.append(switch)
                b.append(number)
                routes.append(graph.routes_between(rack, racks.switches[switch]))
                beyond.append(number)
                number += 1
            else:
                beyond.append(switch)
        return np.array(beyond, dtype=np.int64)

    ports = served.switch_of.shape[1]
    switch_of = moved([rack for rack in racks.servers for _ in range(ports)], served.switch_of.ravel())
    devices = tuple(
        Holders(holders.holder, moved(of_kind, holders.switch))
        for holders, of_kind in zip(served.devices, racks.devices, strict=True)
    )
    ones = np.ones(len(a), dtype=np.int64)
    whole = Network(np.array(a), np.array(b), ones, np.ones(number, dtype=np.int64), 1, ones)
    return OverRoutes(Served(whole, switch_of.reshape(served.switch_of.shape), served.nic_of, devices), tuple(routes))
