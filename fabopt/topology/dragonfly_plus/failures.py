"""What a dragonfly+ still gives when a leaf, a spine, a link or a plane fails at the worst place.

What is left per GPU is that of the worst-hit server: injection over the ports that it has left, times the share of a
port's speed that its leaves can still send to the other half (``fabopt.network.graph.halves``), at most the bisection
of the whole network. See docs/bandwidth.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from fabopt.network.direct_links import DragonflyPlus
from fabopt.network.graph.cut_off import cut_off_by_link, cut_off_by_switch
from fabopt.network.graph.halves import HalfRate, port_share
from fabopt.network.graph.network import GLOBAL_LENGTH, Ints, Network, network_of
from fabopt.network.graph.symmetry import Kinds, kinds_of
from fabopt.schema.case import Failing
from fabopt.topology.clos.failures import server_ports, without
from fabopt.topology.dragonfly_plus.design import Grouped

# Links, both ways, times groups, times losses that may have to be tried: some minutes where none are alike.
MOST_WORK = 250_000_000
KINDS: tuple[Failing, ...] = ("leaf", "spine", "plane", "cable")
_BETWEEN = "between"


def kinds_told(design: Grouped) -> tuple[Failing, ...]:
    """What can fail alone; only planes of a network whose graph takes minutes."""
    return KINDS if _work(design) <= MOST_WORK else ("plane",)


def _work(design: Grouped) -> int:
    _, spines, groups, _, outside = design.numbers
    return 2 * design.links * groups * (spines + outside)


def bandwidth_left(design: Grouped, gpus: int, failed: str) -> Fraction:
    """Mb/s per GPU (``gpus`` of a server) after one failure."""
    kinds = ("server-leaf", _BETWEEN) if failed == "cable" else (failed,)
    own = server_ports(design.parts, design.shape, gpus)
    return min(design.parts.nic.injection * without(own, kind, 1) * _carried(design, kind) for kind in kinds)


def _carried(design: Grouped, failed: str) -> Fraction:
    """The share of a port's speed that bisection carries."""
    speed, ports = design.parts.leaf_down.lane.port_mbps, design.servers.down_ports
    carried = min(Fraction(1), design.cut_mbps / speed)
    if failed not in ("leaf", "spine", _BETWEEN):
        return carried
    left = worst_rate(design.mesh, (design.speeds_mbps["leaf-spine"], design.speeds_mbps["global"]), failed)
    return min(carried, port_share(left, ports, speed) / speed)


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
    """The graph of a plane's switches, one endpoint on each leaf, and what is alike in it."""
    pairs = [mesh.pairs(scope) for scope in mesh.scopes]
    counts = [len(one.a) for one in pairs]
    a, b = (np.concatenate([getattr(one, end) for one in pairs]) for end in ("a", "b"))
    hosts = (np.arange(mesh.switches) < mesh.leaves).astype(np.int64)
    network = network_of(a, b, np.repeat(speeds_mbps, counts), hosts, 1, np.repeat([1, GLOBAL_LENGTH], counts))
    return network, kinds_of(network, mesh.moves)


def _link_mbps(mesh: DragonflyPlus, speeds_mbps: tuple[int, int], network: Network) -> Ints:
    return np.where(network.a < mesh.leaves, *speeds_mbps)


def _switches(mesh: DragonflyPlus, failed: str) -> Ints:
    return np.arange(mesh.leaves) if failed == "leaf" else np.arange(mesh.leaves, mesh.switches)


def servers_cut_off(design: Grouped, failed: str) -> int:
    """Servers that one failure, at the worst place, cuts off from the largest part that stays joined."""
    shape, mesh = design.shape, design.mesh
    if design.parts.nic.planes > 1:
        return 0
    if failed == "plane":
        return int(shape.servers)
    speeds = design.speeds_mbps["leaf-spine"], design.speeds_mbps["global"]
    (network, kinds), at = plane_of(mesh, speeds), design.rings().T
    if failed == "cable":
        return max(int(shape.ports == 1), cut_off_by_link(network, kinds, at, _link_mbps(mesh, speeds, network)))
    return cut_off_by_switch(network, kinds, at, _switches(mesh, failed))
