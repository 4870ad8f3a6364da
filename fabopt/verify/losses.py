"""The rule of failures where switches are joined to each other: what their graph gives without a switch or link."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

import numpy as np

from fabopt import meshes
from fabopt.graph.network import GLOBAL_LENGTH, Ints, Network, network_of
from fabopt.graph.pairflow import PairFlow, port_rate
from fabopt.graph.parting import cut_off_by_link, cut_off_by_switch
from fabopt.graph.symmetry import Kinds, kinds_of
from fabopt.schema.design import DirectStructure
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction
from fabopt.verify.bandwidth import LAST_DIGIT
from fabopt.verify.direct import mesh_of
from fabopt.verify.kinds import SERVER_LEAF
from fabopt.verify.proof import Proof
from fabopt.verify.survival import of_server
from fabopt.verify.wiring import Cabling
from fabopt.wiring.model import KINDS

# Links, both ways, times switches: of larger graphs files say no more than the case asks about.
MOST_WORK = 200_000_000
BETWEEN = "leaf-leaf"


def failures_leave_flow(proof: Proof, cabling: Cabling) -> None:
    """What the file says is left after a failure is what the wired graph gives, and is what the case asks for.

    Left per GPU, at the worst place: injection over the ports that a server has left, x what bisection carries of a
    port, from the traffic that all pairs of switches can have over equal-cost shortest paths of what is left; at most
    what it carries of the whole. One switch and one link of every class that symmetries of the graph make are tried.
    Source: case file, ``resilience``; docs/bandwidth.md.
    """
    fabric, losses = cabling.fabric, Losses(cabling)
    asked = [one.failures for one in fabric.wanted.survived]
    for row in fabric.made.failures:
        what = f"{row.count} {row.failed}"
        if losses.work > MOST_WORK and row.failed != "plane" and (row.failed, row.count) not in asked:
            proof.holds(False, f"what is left after {what}, which nothing proves on so large a graph")
            continue
        left = losses.left(row.failed, row.count) / MBPS_PER_GBPS
        shown = f"Gb/s per GPU after {what} is {row.gbps_per_gpu}, on the graph {plain_fraction(left)}"
        proof.holds(abs(exact(row.gbps_per_gpu) - left) <= LAST_DIGIT, shown)
        proof.note(f"{plain_fraction(left)} after {what}")
        if row.servers_cut_off is not None:
            proof.equal(f"failures at once with servers cut off, {row.failed}", row.count, 1)
            proof.equal(f"servers cut off by {what}", row.servers_cut_off, losses.cut_off(row.failed))
    for one in fabric.wanted.survived:
        given = losses.left(*one.failures) / MBPS_PER_GBPS
        shown = f"{plain_fraction(given)} of {one.min_gbps_per_gpu} Gb/s per GPU wanted after {one.survive}"
        proof.holds(given + LAST_DIGIT >= exact(one.min_gbps_per_gpu), shown)
        proof.note(shown)
    if not proof.noted:
        proof.note("the file says nothing of failures")


class Losses:
    """What is left of a fabric whose switches are joined to each other, on the graph of its wiring."""

    def __init__(self, cabling: Cabling) -> None:
        self.cabling = cabling
        self.fabric = cabling.fabric
        self.speed = cabling.fabric.nic_lane.port_mbps
        self._known: dict[str, Fraction] = {}

    @property
    def link_mbps(self) -> int:
        """Speed of a link between switches."""
        return self.fabric.up("leaf").port_mbps

    @cached_property
    def work(self) -> int:
        """Links, both ways, times switches of the largest plane."""
        return max(network.arcs.size * network.switches for network, _ in self._planes)

    def left(self, failed: str, count: int) -> Fraction:
        """Mb/s per GPU after so many failures; raises ``ValueError`` for several of what is tried one by one."""
        kinds = {"switch": ("leaf",), "cable": (SERVER_LEAF, BETWEEN)}.get(failed, (failed,))
        return min(
            self.fabric.injection * of_server(self.fabric, kind, count) * self._carried(kind, count) for kind in kinds
        )

    def cut_off(self, failed: str) -> int:
        """Servers outside the largest part that stays joined after one failure at the worst place."""
        clos = self.fabric.clos
        if clos.planes > 1:
            return 0
        if failed == "plane":
            return clos.servers
        network, kinds = self._planes[0]
        if failed in ("leaf", "switch"):
            return cut_off_by_switch(network, kinds, self._switches_of_servers)
        alone = int(clos.server_ports == 1)
        return max(alone, cut_off_by_link(network, kinds, self._switches_of_servers, self.link_mbps))

    def _carried(self, failed: str, count: int) -> Fraction:
        """The share of a port's speed that bisection carries."""
        if failed in ("leaf", BETWEEN) and count != 1:
            raise ValueError(f"{count} failures of {failed} are not looked at")
        if failed not in self._known:
            self._known[failed] = min(self._of_plane(network, kinds, failed) for network, kinds in self._planes)
        return self._known[failed]

    def _of_plane(self, network: Network, kinds: Kinds, failed: str) -> Fraction:
        mesh, ports = mesh_of(self.fabric), self.fabric.clos.most_endpoints
        carried = min(Fraction(1), mesh.flow * self.link_mbps * mesh.switches / (2 * ports * self.speed))
        flow = PairFlow(network)
        if failed == "leaf":
            rate = port_rate(min(flow.without_switches(kinds)), mesh.switches - 1, ports, self.speed)
        elif failed == BETWEEN:
            rate = port_rate(min(flow.without_links(kinds, self.link_mbps)), mesh.switches, ports, self.speed)
        else:
            return carried
        return min(carried, rate / self.speed)

    @cached_property
    def _planes(self) -> list[tuple[Network, Kinds]]:
        """The different graphs of planes, one endpoint on each switch, and what is alike in each."""
        structure = self.fabric.made.structure
        assert isinstance(structure, DirectStructure)
        moves = meshes.moves_of(meshes.mesh_of(structure))
        found: list[Network] = []
        for network in self._networks():
            if not any(_same(network, other) for other in found):
                found.append(network)
        return [(network, kinds_of(network, moves)) for network in found]

    def _networks(self) -> Iterator[Network]:
        links, devices, switches = self.cabling.links, self.cabling.devices, mesh_of(self.fabric).switches
        within = self.cabling.numbers("leaf") % switches
        between = np.flatnonzero(links.kind > KINDS.index("attachment-leaf"))
        length = np.where(links.kind[between] == KINDS.index("global"), GLOBAL_LENGTH, 1)
        mbps, plane = self.cabling.mbps(between), devices.plane[links.a[between]]
        for one in np.unique(plane).tolist():
            rows = plane == one
            ends = within[links.a[between][rows]], within[links.b[between][rows]]
            yield network_of(*ends, mbps[rows], np.ones(switches, dtype=np.int64), self.speed, length[rows])

    @cached_property
    def _switches_of_servers(self) -> Ints:
        """The switch of every port of every server, shape (servers, ports)."""
        links = self.cabling.links
        rows = self.cabling.of(SERVER_LEAF)
        rows = rows[np.argsort(links.a[rows], kind="stable")]
        within = self.cabling.numbers("leaf") % mesh_of(self.fabric).switches
        return np.asarray(within[links.b[rows]].reshape(self.fabric.clos.servers, -1))


def _same(one: Network, other: Network) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("a", "b", "mbps", "length"))
