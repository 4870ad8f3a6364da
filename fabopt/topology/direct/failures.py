"""What a direct network still gives when a switch, a link or a plane fails at the worst place.

What is left per GPU is that of the worst-hit server: injection over the ports that it has left, times the share of a
port's speed that bisection still carries. That follows from the pair flow that is left over equal-cost shortest paths,
as the bisection of the whole network does from its own (``fabopt.topology.direct.networks``), and is at most that one.
See docs/bandwidth.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from fabopt.network.direct_links import Mesh
from fabopt.network.graph.cut_off import cut_off_by_link, cut_off_by_switch
from fabopt.network.graph.network import GLOBAL_LENGTH, Network, network_of
from fabopt.network.graph.pair_flow import PairFlow, port_rate
from fabopt.network.graph.ranges import SAME
from fabopt.network.graph.symmetry import kinds_of
from fabopt.schema.case import Failing
from fabopt.topology.clos.failures import server_ports, without
from fabopt.topology.direct.design import Flat

# Links, both ways, times switches: a graph with more takes minutes.
MOST_WORK = 200_000_000
# The same times switches and links that are tried: some twenty seconds, and again for the proof.
MOST_TRIED = 4_000_000_000
KINDS: tuple[Failing, ...] = ("leaf", "plane", "cable")
# Of ends of cables: those of servers, and those between switches.
_BETWEEN = "leaf-leaf"
ANYTHING = Fraction(0)


def bandwidth_left(design: Flat, gpus: int, failed: str, count: int, enough: Fraction = ANYTHING) -> Fraction:
    """Mb/s per GPU (``gpus`` of a server) after ``count`` failures; where that is below ``enough``, an upper bound.

    More than one only of planes and of what there is not, spines and cores: else raises ``ValueError``.
    """
    kinds = {"switch": ("leaf",), "cable": ("server-leaf", _BETWEEN)}.get(failed, (failed,))
    return min(_left(design, gpus, kind, count, enough) for kind in kinds)


def _left(design: Flat, gpus: int, failed: str, count: int, enough: Fraction) -> Fraction:
    most = design.parts.nic.injection * without(server_ports(design.parts, design.shape, gpus), failed, count)
    return most if most < enough or not most else most * _carried(design, failed, count, enough / most)


def _carried(design: Flat, failed: str, count: int, enough: Fraction) -> Fraction:
    """The share of a port's speed that bisection carries; below ``enough``, an upper bound."""
    speed, ports = design.parts.leaf_down.lane.port_mbps, design.servers.down_ports
    mesh = design.mesh
    whole = design.kin.flow(design.numbers) * design.link_mbps * design.switches / (2 * ports)
    carried = min(Fraction(1), whole / speed)
    if failed not in ("leaf", _BETWEEN) or carried < enough:
        return carried
    if count != 1:
        raise ValueError(f"{count} failures of {failed} are not looked at")
    switches = design.switches - (failed == "leaf")
    needed = float(enough) * speed * 2 * ports / switches / design.link_mbps
    left = port_rate(worst_flow(mesh, failed, needed * (1 - SAME)) * design.link_mbps, switches, ports, speed)
    return min(carried, left / speed)


def kinds_told(design: Flat) -> tuple[Failing, ...]:
    """What can fail alone; only planes of a network whose graph takes minutes."""
    work = _work(design)
    if work > MOST_WORK:
        return ("plane",)
    kinds = kinds_of(plane_of(design.mesh), design.mesh.moves)
    return KINDS if work * (len(kinds.switches) + len(kinds.rows)) <= MOST_TRIED else ("plane",)


def _work(design: Flat) -> int:
    return 2 * int(design.net.links[0].sum()) * design.switches


@dataclass
class _Least:
    """What is known of the least pair flow that is left: no more than ``most``, which it is if ``exact``."""

    most: float = np.inf
    exact: bool = False


@lru_cache(maxsize=65536)
def _least(mesh: Mesh, failed: str) -> _Least:
    return _Least()


def worst_flow(mesh: Mesh, failed: str, enough: float = 0.0) -> float:
    """The pair flow that is left, in units of a link's speed, without the worst switch (``leaf``) or link.

    Below ``enough`` it is an upper bound: there is a loss that leaves no more.
    """
    known = _least(mesh, failed)
    if known.exact or known.most < enough:
        return known.most
    network = plane_of(mesh)
    flow, kinds = PairFlow(network), kinds_of(network, mesh.moves)
    for rate in flow.without_switches(kinds) if failed == "leaf" else flow.without_links(kinds, 1):
        known.most = min(known.most, rate)
        if known.most < enough:
            return known.most
    known.exact = True
    return known.most


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
    kinds = kinds_of(network, mesh.moves)
    if failed == "leaf":
        return cut_off_by_switch(network, kinds, at)
    return max(int(shape.ports == 1), cut_off_by_link(network, kinds, at, 1))
