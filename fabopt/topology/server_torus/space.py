"""The search for a torus of servers: every lattice of exactly their number, on every NIC that passes traffic on.

NICs that a torus of servers may be made of: they pass on traffic for other servers.

Sides of a torus of servers, and how the ports of a server are dealt over its dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, prod
from typing import Any, Literal

import numpy as np

from fabopt.network.graph.pair_flow import port_rate
from fabopt.network.graph.survival import ServerPorts
from fabopt.parts.assemblies import Assembly
from fabopt.parts.items import Item
from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.resilience import Failed
from fabopt.topology.candidate import Candidate, Choice
from fabopt.topology.design import Failures
from fabopt.topology.direct.candidates import assembled, equal_joins, fills, least_of_kind, whole_choice
from fabopt.topology.direct.design import GraphDesign, offer_tried
from fabopt.topology.direct.failures import MOST_WORK, worst_flow
from fabopt.topology.direct.lattices import LONGEST_SIDE, SHORTEST_SIDE, halves, lattice_net
from fabopt.topology.direct.networks import DirectNetworks, DirectTopology, merged
from fabopt.topology.direct.ring_allreduce import reduces
from fabopt.topology.direct.space import DirectFamily, SizedSpace
from fabopt.topology.family import Batch, Cutoff, Space, SpaceRequest, Spaces
from fabopt.topology.link_parts import Floats
from fabopt.topology.server_torus.network import ServerTorusNetwork, ServerTorusParts, ServerTorusShape
from fabopt.topology.server_torus.nics import NODES, forwarding_nics
from fabopt.topology.spans import spans_of
from fabopt.units import Number


@lru_cache(maxsize=4096)
def sides_of(servers: int, dimensions: int) -> tuple[tuple[int, ...], ...]:
    """Rising sides, ``SHORTEST_SIDE`` at least, of lattices with exactly ``servers`` servers.

    Rule ``servers_form_torus``.
    """
    if servers > LONGEST_SIDE**dimensions:
        return ()
    return tuple(_rising(servers, dimensions, SHORTEST_SIDE))


def _rising(product: int, dimensions: int, shortest: int) -> Iterator[tuple[int, ...]]:
    if dimensions == 1:
        if shortest <= product <= LONGEST_SIDE:
            yield (product,)
        return
    for side in range(shortest, LONGEST_SIDE + 1):
        if side**dimensions > product:
            return
        if product % side == 0:
            yield from ((side, *others) for others in _rising(product // side, dimensions - 1, side))


def lattices_of(servers: int) -> tuple[tuple[int, ...], ...]:
    """Sides of every torus of two or three dimensions with exactly ``servers`` servers; none for some numbers."""
    return tuple(sides for dimensions in (2, 3) for sides in sides_of(servers, dimensions))


def fewest_links(sides: tuple[int, ...], flow: Fraction) -> tuple[int, ...]:
    """Links of a pair in each dimension for a pair flow, in units of a link's speed; one at the least.

    One link is loaded by ``N floor(k^2 / 4) / (2 k m)`` ordered pairs (``fabopt.topology.direct.lattices``).
    """
    servers = prod(sides)
    return tuple(max(1, ceil(flow * servers * (side * side // 4) / (2 * side))) for side in sides)


def links_of_ports(fewest: tuple[int, ...], pairs: int, cage_ports: int) -> list[tuple[int, ...]]:
    """Links of a pair in every dimension, ``pairs`` in all, such that every dimension fills its cages."""
    links_so_far: list[tuple[int, ...]] = [()]
    for dimension, least in enumerate(fewest[:-1]):
        later = sum(fewest[dimension + 1 :])
        links_so_far = [
            (*links, more) for links in links_so_far for more in range(least, pairs - sum(links) - later + 1)
        ]
    whole = [(*links, pairs - sum(links)) for links in links_so_far]
    return [links for links in whole if not any(2 * count % cage_ports for count in links)]


class ServerTorusSpace(SizedSpace):
    """The tori of servers that a fabric may have."""

    def __init__(
        self, problem: Problem, fabric: FabricProblem, topology: DirectTopology, request: SpaceRequest
    ) -> None:
        super().__init__(problem, fabric, request)
        self.topology = topology

    def _expand_all(self, cutoff: Cutoff, first: bool = False) -> None:
        for batch in self._batches():
            self._offer(cutoff, batch)
            if first and cutoff.sizing.batches:
                return

    def _batches(self) -> Iterator[ServerTorusBatch]:
        for protocol, nic in forwarding_nics(self.problem, self.fabric):
            nets = self._nets(ServerTorusParts(protocol, nic))
            joins = equal_joins(self.problem, self.fabric, nic.port, "dim-1", protocol)
            if nets and joins:
                net = merged(nets, nic.ports_per_server)
                cost = self._cost(nic, net, joins)
                whole = np.flatnonzero(np.isfinite(cost[0]))
                if whole.size:
                    shape = ServerTorusShape(net.take(whole))
                    parts = ServerTorusParts(protocol, nic)
                    yield ServerTorusBatch(self.fabric, parts, shape, cost[:, whole], self.topology)

    def _nets(self, parts: ServerTorusParts) -> list[DirectNetworks]:
        """Every lattice, with every number of links that takes all ports and carries bisection and all-to-all."""
        flow, nets = self._least_flow(parts.nic), []
        if flow is None:
            return []
        for sides in lattices_of(self.problem.servers):
            fewest = fewest_links(sides, flow)
            for links in links_of_ports(fewest, parts.nic.ports_per_server // 2, parts.nic.port.ports):
                links_of_net = np.array([links])
                net = lattice_net(np.array([sides]), links_of_net, np.array([self.problem.servers]), 2 * links_of_net)
                nets.append(net)
        return nets

    def _least_flow(self, nic: NicOption) -> Fraction | None:
        """The pair flow, in units of a link's speed, with which bisection and all-to-all are the injection over the
        leaves' ratio and meet the demanded figures; None if these exceed the injection.
        """
        figure_demands, servers = self.fabric.figure_demands, self.problem.servers
        cut = spread = nic.injection / self.fabric.ratios.leaf
        if figure_demands is not None:
            cut, spread = max(cut, figure_demands.bisection), max(spread, figure_demands.alltoall)
        if max(cut, spread) > nic.injection:
            return None
        of_server = Fraction(max(1, self.problem.gpus), servers * nic.port.lane.port_mbps)
        return of_server * max(2 * cut / servers, spread / max(1, servers - 1))

    def _offer(self, cutoff: Cutoff, batch: ServerTorusBatch) -> None:
        least = Fraction(0) if self.fabric.figure_demands is None else self.fabric.figure_demands.allreduce
        if not least:
            cutoff.offer(batch)
            return

        def has(index: int) -> bool | None:
            return reduces(batch.network(index), self.problem.gpus, least)

        offer_tried(cutoff, batch, has, self.request.should_stop)

    def _cost(self, nic: NicOption, net: DirectNetworks, joins: Sequence[Assembly]) -> Floats:
        """Cost of NICs, and least cost of links, each metric by itself, shape (metrics, networks)."""
        total = np.multiply.outer(
            self.costs.of(nic.item), np.full(len(net), self.problem.servers * nic.nics_per_server)
        )
        for column in range(net.ports.shape[1]):
            total = total + least_of_kind(self.costs, joins, net, column, nic.port.ports)
        return np.asarray(total)


# -- from the search's arrays to a candidate torus of servers ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ServerTorusBatch(Batch[ServerTorusParts, ServerTorusShape]):
    """Servers that are joined to each other."""

    topology: DirectTopology

    @property
    def family(self) -> str:
        """Name of the family."""
        return self.topology.name

    def network(self, index: int) -> ServerTorusNetwork:
        """The torus of one candidate."""
        return ServerTorusNetwork(self.topology, self.shape.row(index).net, self.parts)

    def candidates(self, problem: Problem, index: int, prune: bool) -> tuple[Candidate, ...]:
        """A candidate; empty if its links cannot be made."""
        network = self.network(index)
        design = GraphDesign(network, ServerTorusFailures)
        links = (_between(problem, self.fabric, network, column, prune) for column in range(len(network.scopes)))
        return assembled(problem, self, index, design, (), links, _tie_order(network))

    def switch_counts(self) -> dict[Item, Number]:
        """No switches: the torus has none."""
        return {}


def _between(
    problem: Problem, fabric: FabricProblem, network: ServerTorusNetwork, column: int, prune: bool
) -> Sequence[Choice] | None:
    """A choice of one assembly for all links of a dimension."""
    scope, port = network.scopes[column], network.nic.port
    together = int(network.net.together[0, column])
    joins = equal_joins(problem, fabric, port, scope, network.protocol)
    return whole_choice(
        # Rule ``wires_join_neighbours``
        [join for join in joins if fills(join, together)],
        ("server", scope),
        int(network.net.links[0, column]),
        int(network.net.cages(port.ports)[0, column]),
        prune,
    )


def _tie_order(network: ServerTorusNetwork) -> tuple[Any, ...]:
    """Rank among candidates that cost and draw the same: after a torus of switches, as that has fewer numbers first."""
    nic = network.nic
    return (
        len(network.scopes), *(int(number) for number in network.numbers),
        -1, nic.ports_per_server, nic.nic_id, "", nic.split, "", "", nic.group, -1, -1,
        nic.nics_per_server, nic.ports_per_nic, nic.planes,
    )  # fmt: skip


# -- bandwidth that a torus of servers has left when a server or a cable fails at the worst place ---------------------


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


# -- the torus as the search sees it ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TorusFamily:
    """A torus whose devices are switches or servers."""

    topology: DirectTopology

    @property
    def name(self) -> str:
        """The family as in the case and the design file."""
        return self.topology.name

    def space(self, problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> Spaces:
        """The tori of switches and of servers that the case allows; the smaller space first."""
        spaces: list[Space] = []
        if NODES in fabric.shapes.torus_nodes:
            spans = spans_of(problem, fabric, "server-torus")
            spaces += [ServerTorusSpace(problem, span, self.topology, request) for span in spans]
        if "switches" in fabric.shapes.torus_nodes:
            spaces.append(self._of_switches.space(problem, fabric, request))
        return Spaces(tuple(spaces))

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """Upper bound of the servers of a torus of switches or of servers, whichever is more."""
        switches = "switches" in fabric.shapes.torus_nodes
        on_switches = self._of_switches.most_servers(problem, fabric) if switches else 0
        ports = [nic.ports_per_server for _, nic in forwarding_nics(problem, fabric)]
        alone = 0 if not ports else int(LONGEST_SIDE ** (3 if max(ports) >= 6 else 2))
        return max(on_switches, alone)

    @property
    def _of_switches(self) -> DirectFamily:
        return DirectFamily(self.topology)
