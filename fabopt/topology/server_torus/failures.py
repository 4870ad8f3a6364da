"""Bandwidth that a torus of servers has left when a server or a cable fails at the worst place.

Per GPU of the worst-hit server: the rate that its NICs still inject over the ports that lead anywhere, at most the rate
that it can send over any cut into halves, ``f N/2``: f is the rate of all N servers left pair by pair through each
other, over equal-cost shortest paths of the links left. At most the rate without failures. See docs/bandwidth.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from fabopt.network.graph.pair_flow import port_rate
from fabopt.network.graph.survival import ServerPorts
from fabopt.schema.resilience import Failed
from fabopt.topology.direct.failures import MOST_WORK, worst_flow
from fabopt.topology.direct.lattices import halves
from fabopt.topology.failures import Failures
from fabopt.topology.server_torus.network import ServerTorusNetwork

Lost = Literal["server", "cable"]
KINDS: tuple[Lost, ...] = ("server", "cable")


@dataclass(frozen=True)
class ServerTorusFailures(Failures):
    """Single failures of one torus of servers; ``gpus``: of a server."""

    network: ServerTorusNetwork
    gpus: int

    def kinds(self) -> tuple[Lost, ...]:
        """Kinds of devices and links that can fail alone; empty where the graph takes minutes."""
        return KINDS if 2 * self.network.links * self.network.servers <= MOST_WORK else ()

    def bandwidth_left(self, failed: Failed, count: int) -> Fraction:
        """Mb/s per GPU after one failure; raises ``ValueError`` for several."""
        if count != 1:
            raise ValueError(f"{count} failures of {failed} are not looked at")
        network, nic, sharers = self.network, self.network.nic, max(1, self.gpus)
        top = nic.nic_mbps / network.link_mbps
        ports = ServerPorts(nic.nics_per_server, nic.ports_per_nic, 1, nic.ports_per_server, top)
        lost = max(halves(network.numbers)[1]) if failed == "server" else 1
        return min(nic.injection * ports.without_cables(lost), self._carried(failed) / sharers)

    def _carried(self, failed: Failed) -> Fraction:
        """Mb/s of a server across any cut into halves."""
        network, speed = self.network, self.network.link_mbps
        servers = network.servers - (failed == "server")
        whole = network.topology.flow(network.numbers) * speed * network.servers / 2
        flow = worst_flow(network.mesh, "leaf" if failed == "server" else "link") * speed
        return min(whole, port_rate(flow, servers, 1, speed * network.nic.ports_per_server))

    def servers_cut_off(self, failed: Failed) -> int:
        """Always 0: the torus holds together without any one server or link, as every side has three at least."""
        return 0
