"""Losses of servers joined to each other, on the graph of the wiring without a server or a link."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from fabopt.network.graph.cut_off import cut_off_by_link, cut_off_by_switch
from fabopt.network.graph.network import Network
from fabopt.network.graph.pair_flow import PairFlow, port_rate
from fabopt.network.graph.symmetry import Kinds, kinds_of
from fabopt.network.structure_links import mesh_of
from fabopt.verify.direct import cut
from fabopt.verify.failures import of_server
from fabopt.verify.graph import of_servers
from fabopt.verify.wiring import FabricCabling

# Links, both ways, times servers: of larger graphs files say nothing.
MOST_WORK = 200_000_000


class ServerLosses:
    """Bandwidth after the loss of one server or cable: the lesser of injection and carried traffic."""

    def __init__(self, cabling: FabricCabling) -> None:
        self.cabling = cabling
        self.fabric = cabling.fabric
        self.speed = cabling.fabric.nic_lane.port_mbps

    @property
    def is_large(self) -> bool:
        """Whether the graph is so large that files have no figures of losses."""
        network, _ = self._graph
        return network.arcs.size * network.switches > MOST_WORK

    def left(self, failed: str, count: int) -> Fraction:
        """Mb/s per GPU; raises ``ValueError`` for several failures, and for kinds that a torus lacks."""
        if count != 1 or failed not in ("server", "cable"):
            raise ValueError(f"{count} failures of {failed} are not looked at where servers are joined to each other")
        (network, kinds), fabric = self._graph, self.fabric
        flow, servers, lost = PairFlow(network), network.switches, 1
        if failed == "server":
            # a neighbour has lost all ports that led there
            servers, lost = servers - 1, int(network.mbps.max()) // self.speed
            rate = min(flow.without_switches(kinds))
        else:
            rate = min(flow.without_links(kinds, self.speed))
        carried = min(cut(fabric), port_rate(rate, servers, 1, network.port_mbps))
        own = fabric.injection * of_server(fabric, "server-leaf", lost)
        return min(own, carried / fabric.evidence.sharers)

    def cut_off(self, failed: str) -> int:
        """Remaining servers outside the largest connected part."""
        network, kinds = self._graph
        own_number = np.arange(network.switches)[:, np.newaxis]
        if failed == "server":
            return cut_off_by_switch(network, kinds, own_number) - 1
        return cut_off_by_link(network, kinds, own_number, self.speed)

    @cached_property
    def _graph(self) -> tuple[Network, Kinds]:
        """The graph of the servers, and its symmetry classes."""
        network, _ = of_servers(self.cabling)
        return network, kinds_of(network, mesh_of(self.fabric.designed.structure).moves)
