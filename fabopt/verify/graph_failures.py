"""The rule of failures of direct networks: bandwidth of their graph without a switch (or server) or link."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from fabopt.network.graph.cut_off import cut_off_by_link, cut_off_by_switch
from fabopt.network.graph.network import GLOBAL_LENGTH, Ints, Network, network_of
from fabopt.network.graph.pair_flow import HalfRate, PairFlow, port_rate, port_share
from fabopt.network.graph.symmetry import Kinds, kinds_of
from fabopt.network.structure_links import mesh_of
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction, some
from fabopt.verify.bandwidth import LAST_DIGIT
from fabopt.verify.direct import cut
from fabopt.verify.direct_wiring import within_plane
from fabopt.verify.failures import of_server
from fabopt.verify.graph import of_servers
from fabopt.verify.link_kinds import LEAF_SPINE, SERVER_LEAF
from fabopt.verify.proof import Proof
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.model import KINDS

# Links, both ways, times switches (or servers): of larger graphs files say no more than the case asks about.
MOST_WORK = 200_000_000


# -- servers joined to each other -------------------------------------------------------------------------------------


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


# -- switches joined to each other ------------------------------------------------------------------------------------


# In a dragonfly+ links, both ways, times groups, times spines and global links of a group.
MOST_WORK_IN_GROUPS = 250_000_000
BETWEEN = "between"


def failures_leave_flow(proof: Proof, cabling: FabricCabling) -> None:
    """The file's figures of bandwidth after a failure are those of the wiring's graph, and meet the demands of the
    case.

    Left per GPU, at the worst place: injection over the remaining ports of a server, x the share of a port that
    bisection carries, from the traffic that all pairs of switches can have over equal-cost shortest paths of the
    remaining graph (in a dragonfly+ from the traffic of leaves of one half to the other); at most that of the whole
    graph. Of servers joined to each other the lesser of injection and carried traffic. One switch (or server) and one
    link of every class under the graph's symmetries are tried.

    Source: case file, ``resilience``; docs/bandwidth.md.
    """
    fabric = cabling.fabric
    losses = losses_of(cabling)
    asked = [demand.failures for demand in fabric.wanted.survived]
    for row in fabric.designed.failures:
        what = some(row.count, row.failed)
        if losses.is_large and row.failed != "plane" and (row.failed, row.count) not in asked:
            proof.holds(False, f"what is left after {what}, which nothing proves on so large a graph")
            continue
        left = losses.left(row.failed, row.count) / MBPS_PER_GBPS
        shown = f"Gb/s per GPU after {what} is {row.gbps_per_gpu}, on the graph {plain_fraction(left)}"
        proof.holds(abs(exact(row.gbps_per_gpu) - left) <= LAST_DIGIT, shown)
        proof.note(f"{plain_fraction(left)} after {what}")
        if row.servers_cut_off is not None:
            proof.equal(f"failures at once with servers cut off, {row.failed}", row.count, 1)
            proof.equal(f"servers cut off by {what}", row.servers_cut_off, losses.cut_off(row.failed))
    for demand in fabric.wanted.survived:
        given = losses.left(*demand.failures) / MBPS_PER_GBPS
        shown = f"{plain_fraction(given)} of {demand.least_gbps} Gb/s per GPU wanted after {demand.survive}"
        proof.shows(given + LAST_DIGIT >= exact(demand.least_gbps), shown)
    if not proof.noted:
        proof.note("the file says nothing of failures")


class SwitchLosses(ABC):
    """Losses of a direct network of switches, on the graph of its wiring."""

    def __init__(self, cabling: FabricCabling) -> None:
        self.cabling = cabling
        self.fabric = cabling.fabric
        self.speed = cabling.fabric.nic_lane.port_mbps
        self.mesh = cabling.fabric.mesh
        self._roles = tuple(role for role, _ in self.mesh.tiers)
        self._one_by_one = (*self._roles, BETWEEN)
        self._known: dict[str, Fraction] = {}

    @property
    @abstractmethod
    def is_large(self) -> bool:
        """Whether the graph of the largest plane is so large that files have only the figures asked for."""

    @abstractmethod
    def _without_one(self, network: Network, kinds: Kinds, failed: str) -> Fraction:
        """Mb/s of a port across the worst cut into halves after the worst single loss."""

    @abstractmethod
    def _link_mbps(self, network: Network) -> Ints:
        """Mb/s of one link of every row of a graph."""

    def left(self, failed: str, count: int) -> Fraction:
        """Mb/s per GPU after ``count`` failures; raises ``ValueError`` for several of a kind that is tried
        one by one.
        """
        kinds = {"switch": self._roles, "cable": (SERVER_LEAF, BETWEEN)}.get(failed, (failed,))
        return min(
            self.fabric.injection * of_server(self.fabric, kind, count) * self._carried(kind, count) for kind in kinds
        )

    def cut_off(self, failed: str) -> int:
        """Servers outside the largest connected part after one failure at the worst place."""
        clos = self.fabric.clos
        if clos.planes > 1:
            return 0
        if failed == "plane":
            return clos.servers
        network, kinds = self._planes[0]
        if failed != "cable":
            return cut_off_by_switch(network, kinds, self._switches_of_servers, self._switches(failed))
        alone = int(clos.planes * clos.ports == 1)
        return max(alone, cut_off_by_link(network, kinds, self._switches_of_servers, self._link_mbps(network)))

    def _switches(self, failed: str) -> Ints:
        """The switches of a plane of a kind of failure: of a role, or all; none of cores."""
        leaves, every = self.mesh.leaves, self.mesh.switches
        of_role = {"leaf": (0, leaves), "spine": (leaves, every), "switch": (0, every)}
        return np.arange(*of_role.get(failed, (0, 0)))

    def _carried(self, failed: str, count: int) -> Fraction:
        """The share of a port's speed that bisection carries."""
        if failed in self._one_by_one and count != 1:
            raise ValueError(f"{count} failures of {failed} are not looked at")
        if failed not in self._known:
            self._known[failed] = min(self._of_plane(network, kinds, failed) for network, kinds in self._planes)
        return self._known[failed]

    def _of_plane(self, network: Network, kinds: Kinds, failed: str) -> Fraction:
        carried = min(Fraction(1), cut(self.fabric) / self.speed)
        if failed not in self._one_by_one:
            return carried
        return min(carried, self._without_one(network, kinds, failed) / self.speed)

    @cached_property
    def _planes(self) -> list[tuple[Network, Kinds]]:
        """The different graphs of planes, one endpoint on each switch, and the symmetry classes of each."""
        if self.mesh.switches > len(self.cabling.devices):
            raise ValueError(f"{self.mesh.switches} switches a plane of {len(self.cabling.devices)} devices")
        # whose renumberings are tried on the graph of the wiring
        moves = mesh_of(self.fabric.designed.structure).moves
        different: list[Network] = []
        for network in self._networks():
            if not any(_same(network, other) for other in different):
                different.append(network)
        return [(network, kinds_of(network, moves)) for network in different]

    def _networks(self) -> Iterator[Network]:
        links, devices = self.cabling.links, self.cabling.devices
        within, hosts = within_plane(self.cabling), np.zeros(self.mesh.switches, dtype=np.int64)
        hosts[: self.mesh.leaves] = 1
        between = self.cabling.between_switches
        length = np.where(links.kind[between] == KINDS.index("global"), GLOBAL_LENGTH, 1)
        mbps, plane = self.cabling.mbps(between), devices.plane[links.a[between]]
        for number in np.unique(plane).tolist():
            rows = plane == number
            ends = within[links.a[between][rows]], within[links.b[between][rows]]
            yield network_of(*ends, mbps[rows], hosts, self.speed, length[rows])

    @cached_property
    def _switches_of_servers(self) -> Ints:
        """The switch of every port of every server, shape (servers, ports)."""
        links = self.cabling.links
        rows = self.cabling.of(SERVER_LEAF)
        rows = rows[np.argsort(links.a[rows], kind="stable")]
        within = within_plane(self.cabling)
        return np.asarray(within[links.b[rows]].reshape(self.fabric.clos.servers, -1))


class LossesOfEquals(SwitchLosses):
    """Losses where all switches are leaves: traffic between all pairs of them."""

    @property
    def is_large(self) -> bool:
        """Whether links, both ways, times switches are too many."""
        return max(network.arcs.size * network.switches for network, _ in self._planes) > MOST_WORK

    def _link_mbps(self, network: Network) -> Ints:
        return np.full(len(network.a), self.fabric.up("leaf").port_mbps)

    def _without_one(self, network: Network, kinds: Kinds, failed: str) -> Fraction:
        flow, ports = PairFlow(network), self.fabric.clos.most_endpoints
        if failed == "leaf":
            return port_rate(min(flow.without_switches(kinds)), self.mesh.switches - 1, ports, self.speed)
        left = min(flow.without_links(kinds, self.fabric.up("leaf").port_mbps))
        return port_rate(left, self.mesh.switches, ports, self.speed)


class LossesOfGroups(SwitchLosses):
    """Losses in a dragonfly+: traffic from the leaves of one half to those of the other."""

    @property
    def is_large(self) -> bool:
        """Whether links, both ways, times groups, times spines and global links of a group are too many."""
        (scope,), (spines, _), groups = self.fabric.scopes, self.mesh.spines_of_leaf, self.mesh.groups
        links = sum(len(self.cabling.of(kind)) for kind in (LEAF_SPINE, scope.name)) // self.fabric.clos.planes
        return 2 * links * groups * (spines + 2 * scope.links // groups) > MOST_WORK_IN_GROUPS

    def _link_mbps(self, network: Network) -> Ints:
        above = (network.a >= self.mesh.leaves) & (network.b >= self.mesh.leaves)
        return np.where(above, self.fabric.up("spine").port_mbps, self.fabric.up("leaf").port_mbps)

    def _without_one(self, network: Network, kinds: Kinds, failed: str) -> Fraction:
        rate = HalfRate(network)
        if failed == BETWEEN:
            left = rate.without_links(kinds, self._link_mbps(network))
        else:
            left = rate.without_switches(kinds, self._switches(failed))
        return port_share(min(left), self.fabric.clos.most_endpoints, self.speed)


class Losses(Protocol):
    """Losses of a fabric by failures."""

    @property
    def is_large(self) -> bool:
        """Whether the graph is so large that files have only the figures asked for."""

    def left(self, failed: str, count: int) -> Fraction:
        """Mb/s per GPU after ``count`` failures; raises ``ValueError`` for failures that are not computed."""

    def cut_off(self, failed: str) -> int:
        """Servers outside the largest connected part after one failure."""


def losses_of(cabling: FabricCabling) -> Losses:
    """Losses of servers joined to each other, of equal switches, or of leaves and spines."""
    if not cabling.fabric.has_switches:
        return ServerLosses(cabling)
    return (LossesOfEquals if cabling.fabric.num_tiers == 1 else LossesOfGroups)(cabling)


def _same(graph: Network, other: Network) -> bool:
    return all(np.array_equal(getattr(graph, name), getattr(other, name)) for name in ("a", "b", "mbps", "length"))
