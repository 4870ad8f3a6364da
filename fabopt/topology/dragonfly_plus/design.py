"""A dragonfly+ as a design of the search."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.topology.direct.design import GraphDesign
from fabopt.topology.dragonfly_plus.failures import DragonflyPlusFailures
from fabopt.topology.dragonfly_plus.network import DragonflyPlusNetwork


@dataclass(frozen=True)
class DragonflyPlusDesign(GraphDesign[DragonflyPlusNetwork]):
    """Leaf-spine groups that are joined to each other."""

    def failures(self, server_gpus: int) -> DragonflyPlusFailures:
        """The bandwidth left after a leaf, a spine, a link or a plane fails."""
        return DragonflyPlusFailures(self.network, server_gpus)
