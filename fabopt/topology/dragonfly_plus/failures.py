"""Bandwidth that a dragonfly+ has left when a leaf, a spine, a link or a plane fails at the worst place.

Bandwidth left per GPU is that of the worst-hit server: injection over the ports that it has left, times the share of a
port's speed that its leaves can still send to the other half (``fabopt.network.graph.halves``), at most the bisection
of the whole network. See docs/bandwidth.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from fabopt.network.direct_links import DragonflyPlus
from fabopt.network.graph.cut_off import cut_off_by_link, cut_off_by_switch
from fabopt.network.graph.halves import HalfRate, port_share
from fabopt.network.graph.network import GLOBAL_LENGTH, Ints, Network, network_of
from fabopt.network.graph.symmetry import Kinds, kinds_of
from fabopt.schema.resilience import Failed, Failing
from fabopt.topology.clos.failures import server_ports, without
from fabopt.topology.dragonfly_plus.network import DragonflyPlusNetwork
from fabopt.topology.failures import Failures

# Links, both ways, times groups, times losses that may have to be tried: some minutes where none are alike.
MOST_WORK = 250_000_000
KINDS: tuple[Failing, ...] = ("leaf", "spine", "plane", "cable")
_BETWEEN = "between"


@dataclass(frozen=True)
class DragonflyPlusFailures(Failures):
    """Single failures of one dragonfly+; ``gpus``: of a server."""

    network: DragonflyPlusNetwork
    gpus: int

    def kinds(self) -> tuple[Failing, ...]:
        """Kinds of devices and links that can fail alone; only planes of a network whose graph takes minutes."""
        _, spines, groups, _, outside = self.network.numbers
        work = 2 * self.network.links * groups * (spines + outside)
        return KINDS if work <= MOST_WORK else ("plane",)

    def bandwidth_left(self, failed: Failed, count: int) -> Fraction:
        """Mb/s per GPU after one failure; raises ``ValueError`` for several."""
        if count != 1:
            raise ValueError(f"{count} failures of {failed} are not looked at")
        network = self.network
        own = server_ports(network.parts, network.shape, self.gpus)
        kinds = ("server-leaf", _BETWEEN) if failed == "cable" else (failed,)
        return min(network.nic.injection * without(own, kind, 1) * self._carried(kind) for kind in kinds)

    def _carried(self, failed: str) -> Fraction:
        """The share of a port's speed that bisection carries."""
        network = self.network
        speed, ports = network.parts.leaf_down.lane.port_mbps, network.servers.down_ports
        carried = min(Fraction(1), network.cut_mbps / speed)
        if failed not in ("leaf", "spine", _BETWEEN):
            return carried
        left = worst_rate(network.mesh, self._speeds, failed)
        return min(carried, port_share(left, ports, speed) / speed)

    @property
    def _speeds(self) -> tuple[int, int]:
        """Mb/s of a link within a group, and of a global one."""
        return self.network.speeds_mbps["leaf-spine"], self.network.speeds_mbps["global"]

    def servers_cut_off(self, failed: Failed) -> int:
        """Servers that one failure, at the worst place, cuts off from the largest part that stays joined."""
        shape, mesh = self.network.shape, self.network.mesh
        if self.network.nic.planes > 1:
            return 0
        if failed == "plane":
            return int(shape.servers)
        (graph, kinds), switch_of = plane_of(mesh, self._speeds), self.network.rings().T
        if failed == "cable":
            link_mbps = _link_mbps(mesh, self._speeds, graph)
            return max(int(shape.ports == 1), cut_off_by_link(graph, kinds, switch_of, link_mbps))
        return cut_off_by_switch(graph, kinds, switch_of, _switches(mesh, failed))


@lru_cache(maxsize=4096)
def worst_rate(mesh: DragonflyPlus, speeds_mbps: tuple[int, int], failed: str) -> float:
    """Mb/s of a leaf without the worst ``leaf``, ``spine`` or link between switches."""
    network, kinds = plane_of(mesh, speeds_mbps)
    rate = HalfRate(network)
    if failed == _BETWEEN:
        return min(rate.without_links(kinds, _link_mbps(mesh, speeds_mbps, network)))
    return min(rate.without_switches(kinds, _switches(mesh, failed)))


@lru_cache(maxsize=16)
def plane_of(mesh: DragonflyPlus, speeds_mbps: tuple[int, int]) -> tuple[Network, Kinds]:
    """The graph of a plane's switches, one endpoint on each leaf, and its symmetries."""
    pairs = [mesh.pairs(scope) for scope in mesh.scopes]
    counts = [len(pairs_of_scope.a) for pairs_of_scope in pairs]
    a, b = (np.concatenate([getattr(pairs_of_scope, end) for pairs_of_scope in pairs]) for end in ("a", "b"))
    hosts = (np.arange(mesh.switches) < mesh.leaves).astype(np.int64)
    network = network_of(a, b, np.repeat(speeds_mbps, counts), hosts, 1, np.repeat([1, GLOBAL_LENGTH], counts))
    return network, kinds_of(network, mesh.moves)


def _link_mbps(mesh: DragonflyPlus, speeds_mbps: tuple[int, int], network: Network) -> Ints:
    return np.where(network.a < mesh.leaves, *speeds_mbps)


def _switches(mesh: DragonflyPlus, failed: str) -> Ints:
    return np.arange(mesh.leaves) if failed == "leaf" else np.arange(mesh.leaves, mesh.switches)
