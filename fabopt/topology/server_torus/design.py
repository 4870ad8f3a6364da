"""A torus of servers as a design of the search."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.topology.direct.design import GraphDesign
from fabopt.topology.server_torus.failures import ServerTorusFailures
from fabopt.topology.server_torus.network import ServerTorusNetwork


@dataclass(frozen=True)
class ServerTorusDesign(GraphDesign[ServerTorusNetwork]):
    """Servers that are joined to each other."""

    def failures(self, server_gpus: int) -> ServerTorusFailures:
        """The bandwidth left after a server or a cable fails."""
        return ServerTorusFailures(self.network, server_gpus)
