"""What a direct network still gives when a switch, a link or a plane fails at the worst place.

What is left per GPU is that of the worst-hit server: injection over the ports that it has left, times the share of a
port's speed that bisection still carries. That follows from the pair flow that is left over equal-cost shortest paths,
as the bisection of the whole network does from its own (``fabopt.topology.direct.nets``), and is at most that one. See
docs/bandwidth.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from fabopt.graph.network import GLOBAL_LENGTH, Network, network_of
from fabopt.graph.pairflow import PairFlow, port_rate
from fabopt.graph.parting import cut_off_by_link, cut_off_by_switch
from fabopt.graph.symmetry import kinds_of
from fabopt.meshes import Mesh, moves_of
from fabopt.schema.case import Failing
from fabopt.topology.clos.survival import server_ports, without
from fabopt.topology.direct.design import Flat

# Links, both ways, times switches: a graph with more takes minutes.
MOST_WORK = 200_000_000
KINDS: tuple[Failing, ...] = ("leaf", "plane", "cable")
# Of ends of cables: those of servers, and those between switches.
_BETWEEN = "leaf-leaf"


def bandwidth_left(design: Flat, gpus: int, failed: str, count: int) -> Fraction | None:
    """Mb/s per GPU (``gpus`` of a server) after ``count`` failures; None where the graph is too large.

    More than one only of planes and of what there is not: spines and cores.
    """
    kinds = {"switch": ("leaf",), "cable": ("server-leaf", _BETWEEN)}.get(failed, (failed,))
    left = [_left(design, gpus, kind, count) for kind in kinds]
    return None if None in left else min(one for one in left if one is not None)


def _left(design: Flat, gpus: int, failed: str, count: int) -> Fraction | None:
    share = _carried(design, failed, count)
    own = without(server_ports(design.parts, design.shape, gpus), failed, count)
    return None if share is None else design.parts.nic.injection * own * share


def _carried(design: Flat, failed: str, count: int) -> Fraction | None:
    """The share of a port's speed that bisection carries."""
    speed, ports = design.parts.leaf_down.lane.port_mbps, design.servers.down_ports
    mesh = design.mesh
    whole = design.kin.flow(design.numbers) * design.link_mbps * design.switches / (2 * ports)
    carried = min(Fraction(1), whole / speed)
    if failed not in ("leaf", _BETWEEN):
        return carried
    if count != 1:
        raise ValueError(f"{count} failures of {failed} are not looked at")
    if not can_be_judged(design):
        return None
    switches = design.switches - (failed == "leaf")
    left = port_rate(worst_flow(mesh, failed) * design.link_mbps, switches, ports, speed)
    return min(carried, left / speed)


def can_be_judged(design: Flat) -> bool:
    """Whether the graph is not too large."""
    return 2 * int(design.net.links[0].sum()) * design.switches <= MOST_WORK


@lru_cache(maxsize=65536)
def worst_flow(mesh: Mesh, failed: str) -> float:
    """The pair flow that is left, in units of a link's speed, without the worst switch (``leaf``) or link."""
    network = plane_of(mesh)
    flow, kinds = PairFlow(network), kinds_of(network, moves_of(mesh))
    return flow.least_without_switch(kinds) if failed == "leaf" else flow.least_without_link(kinds, 1)


def plane_of(mesh: Mesh) -> Network:
    """The graph of a network's switches, one endpoint on each."""
    a, b, length = [], [], []
    for scope in mesh.scopes:
        pairs = mesh.pairs(scope)
        a.append(pairs.a)
        b.append(pairs.b)
        length.append(np.full(len(pairs.a), GLOBAL_LENGTH if scope == "global" else 1))
    hosts = np.ones(mesh.switches, dtype=np.int64)
    return network_of(np.concatenate(a), np.concatenate(b), 1, hosts, 1, np.concatenate(length))


def servers_cut_off(design: Flat, failed: str) -> int:
    """Servers that one failure, at the worst place, cuts off from the largest part that stays joined."""
    shape, planes = design.shape, design.parts.nic.planes
    if planes > 1:
        return 0
    if failed == "plane":
        return int(shape.servers)
    if failed == "switch":
        return servers_cut_off(design, "leaf")
    if failed not in ("leaf", "cable"):
        return 0
    mesh, at = design.mesh, design.rings().T
    network = plane_of(mesh)
    kinds = kinds_of(network, moves_of(mesh))
    if failed == "leaf":
        return cut_off_by_switch(network, kinds, at)
    return max(int(shape.ports == 1), cut_off_by_link(network, kinds, at, 1))
