"""Bandwidth that a direct network has left when a switch, a link or a plane fails at the worst place.

Bandwidth left per GPU is that of the worst-hit server: injection over the ports that it has left, times the share of a
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
from fabopt.network.graph.network import GLOBAL_LENGTH, Ints, Network, network_of
from fabopt.network.graph.pair_flow import PairFlow, port_rate
from fabopt.network.graph.ranges import SAME
from fabopt.network.graph.symmetry import Kinds, kinds_of
from fabopt.schema.resilience import Failed, Failing
from fabopt.topology.clos.failures import server_ports, without
from fabopt.topology.direct.graph_network import DirectNetwork, SwitchedFailures

# Links, both ways, times switches: a graph with more takes minutes.
MOST_WORK = 200_000_000
# The same times switches and links that are tried: some five seconds, and again for the proof.
MOST_TRIED = 1_000_000_000
KINDS: tuple[Failing, ...] = ("leaf", "plane", "cable")
# Of ends of cables: those of servers, and those between switches.
_BETWEEN = "leaf-leaf"
ANYTHING = Fraction(0)


@dataclass(frozen=True)
class DirectFailures(SwitchedFailures):
    """Failures of one network of equal switches; ``gpus``: of a server."""

    network: DirectNetwork

    def kinds(self) -> tuple[Failing, ...]:
        """Kinds of devices and links that can fail alone; only planes of a network whose graph takes minutes."""
        work = 2 * self.network.links * self.network.switches
        if work > MOST_WORK:
            return ("plane",)
        kinds = plane_of(self.network.mesh)[1]
        return KINDS if work * (len(kinds.switches) + len(kinds.rows)) <= MOST_TRIED else ("plane",)

    def bandwidth_left(self, failed: Failed, count: int, enough: Fraction = ANYTHING) -> Fraction:
        """Mb/s per GPU after ``count`` failures of a kind; where that is below ``enough``, an upper bound.

        More than one failure only of planes, and of spines and cores, which there are none of: else raises
        ``ValueError``.
        """
        kinds = {"switch": ("leaf",), "cable": ("server-leaf", _BETWEEN)}.get(failed, (failed,))
        return min(self._left(kind, count, enough) for kind in kinds)

    def _left(self, failed: str, count: int, enough: Fraction) -> Fraction:
        own = server_ports(self.network.parts, self.network.shape, self.gpus)
        most = self.network.nic.injection * without(own, failed, count)
        return most if most < enough or not most else most * self._carried(failed, count, enough / most)

    def _carried(self, failed: str, count: int, enough: Fraction) -> Fraction:
        """The share of a port's speed that bisection carries; below ``enough``, an upper bound."""
        network, link_mbps = self.network, self.network.link_mbps
        speed, ports = network.parts.leaf_down.lane.port_mbps, network.servers.down_ports
        whole = network.topology.flow(network.numbers) * link_mbps * network.switches / (2 * ports)
        carried = min(Fraction(1), whole / speed)
        if failed not in ("leaf", _BETWEEN) or carried < enough:
            return carried
        if count != 1:
            raise ValueError(f"{count} failures of {failed} are not looked at")
        switches = network.switches - (failed == "leaf")
        needed = float(enough) * speed * 2 * ports / switches / link_mbps
        left = port_rate(worst_flow(network.mesh, failed, needed * (1 - SAME)) * link_mbps, switches, ports, speed)
        return min(carried, left / speed)

    @property
    def plane(self) -> tuple[Network, Kinds]:
        """The graph of a plane's switches, and its symmetries."""
        return plane_of(self.network.mesh)

    @property
    def link_mbps(self) -> int:
        """1: all links are of one speed, that of the graph."""
        return 1

    def switches_of(self, failed: Failed) -> Ints:
        """Numbers of all switches, which are leaves, shape (switches,); of other kinds none."""
        return np.arange(self.network.switches if failed in ("leaf", "switch") else 0)


@dataclass
class _Least:
    """Least pair flow that is left after a loss: ``most`` is its value if ``exact``, else an upper bound."""

    most: float = np.inf
    exact: bool = False


@lru_cache(maxsize=65536)
def _least(mesh: Mesh, failed: str) -> _Least:
    return _Least()


def worst_flow(mesh: Mesh, failed: str, enough: float = 0.0) -> float:
    """The pair flow, in units of a link's speed, without the worst switch (``leaf``) or link.

    Below ``enough`` it is an upper bound: some loss leaves no more.
    """
    known = _least(mesh, failed)
    if known.exact or known.most < enough:
        return known.most
    network, kinds = plane_of(mesh)
    flow = PairFlow(network)
    for rate in flow.without_switches(kinds) if failed == "leaf" else flow.without_links(kinds, 1):
        known.most = min(known.most, rate)
        if known.most < enough:
            return known.most
    known.exact = True
    return known.most


@lru_cache(maxsize=16)
def plane_of(mesh: Mesh) -> tuple[Network, Kinds]:
    """The graph of a network's switches, one endpoint on each, and its symmetries."""
    ends, scope = mesh.all_pairs()
    lengths = np.array([GLOBAL_LENGTH if scope == "global" else 1 for scope in mesh.scopes])
    network = network_of(*ends, 1, np.ones(mesh.switches, dtype=np.int64), 1, lengths[scope])
    return network, kinds_of(network, mesh.moves)
