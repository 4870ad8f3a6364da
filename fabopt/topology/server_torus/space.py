"""The search for a torus of servers: every lattice of exactly their number, on every NIC that passes traffic on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from fabopt.parts.assemblies import Assembly
from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.batch import Sizing
from fabopt.topology.cutoff import Cutoff
from fabopt.topology.direct.candidates import equal_joins, least_of_kind
from fabopt.topology.direct.graph_demands import offer_tried
from fabopt.topology.direct.lattices import lattice_net
from fabopt.topology.direct.networks import DirectNetworks, DirectTopology, merged
from fabopt.topology.direct.ring_allreduce import reduces
from fabopt.topology.family import SpaceRequest
from fabopt.topology.link_parts import Floats
from fabopt.topology.server_torus.candidates import ServerTorusBatch
from fabopt.topology.server_torus.network import ServerTorusParts, ServerTorusShape
from fabopt.topology.server_torus.nics import forwarding_nics
from fabopt.topology.server_torus.sides import fewest_links, lattices_of, links_of_ports


class ServerTorusSpace:
    """The tori of servers that a fabric may have."""

    def __init__(
        self, problem: Problem, fabric: FabricProblem, topology: DirectTopology, request: SpaceRequest
    ) -> None:
        self.problem = problem
        self.fabric = fabric
        self.topology = topology
        self.request = request
        self.costs = request.costs

    def search(self, slack: float = 0.0, sizing: Sizing | None = None) -> Sizing:
        """Every candidate that costs at most the least cost met plus ``slack``; ``sizing``: of other spaces,
        added to.
        """
        cutoff = Cutoff(self.request.caps, slack, self.request.prune, sizing)
        for batch in self._batches():
            self._offer(cutoff, batch)
        return cutoff.close()

    def any_candidate(self) -> Sizing:
        """Some candidate: those of the first NIC that has one."""
        cutoff = Cutoff(self.request.caps, 0.0, self.request.prune)
        for batch in self._batches():
            self._offer(cutoff, batch)
            if cutoff.sizing.batches:
                break
        return cutoff.close()

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
        cut = spread = nic.injection / self.fabric.oversubscription_leaf
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
