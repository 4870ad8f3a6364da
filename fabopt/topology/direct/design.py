"""Networks of devices joined to each other, as designs of the search: figures from formulas and from the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from fabopt.network.graph.distances import hopping
from fabopt.network.graph.permutation import permutation_bound
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import SwitchType
from fabopt.problem.fabric import FabricProblem, Survival
from fabopt.problem.problem import Problem
from fabopt.schema.design import StageStructure
from fabopt.topology.design import Failures, Figures, FilePart, Role
from fabopt.topology.direct.failures import DirectFailures
from fabopt.topology.direct.graph_network import DirectNetwork, GraphNetwork
from fabopt.topology.direct.ring_allreduce import allreduce, reduces
from fabopt.topology.family import OF_SIZES, AnyBatch, Cutoff
from fabopt.workload.prediction import network_of
from fabopt.workload.timing import FabricBandwidth

# -- figures of a direct network that no closed form has for partly filled switches -----------------------------------


# Links, both ways, times switches with servers: some two seconds.
MOST_PATHS = 200_000_000


class Measured(NamedTuple):
    """Mb/s per GPU (all-reduce within floating point), and switches on the shortest path on average."""

    permutation: Fraction
    allreduce: Fraction | None
    mean_switch_hops: Fraction


def measured(network: GraphNetwork, gpus: int) -> Measured | None:
    """The figures on the graph of one plane; None if it is too large, ``allreduce`` None if it is too large for
    rings.
    """
    injection = network.nic.injection
    if 2 * network.links * (int(network.rings().max()) + 1) > MOST_PATHS:
        return None
    graph, share = network.graph(), network.endpoints_per_gpu(gpus)
    far, pairs = hopping(graph), graph.endpoints * (graph.endpoints - 1)
    return Measured(
        min(injection, permutation_bound(graph) * share),
        allreduce(network, gpus),
        network.switches_passed(Fraction(far.links, pairs)),
    )


# -- networks of devices joined to each other, as designs of the search -----------------------------------------------


AnyNetwork = TypeVar("AnyNetwork", bound=GraphNetwork)


@dataclass(frozen=True)
class GraphDesign(Generic[AnyNetwork]):
    """A network of joined devices that can be picked: see ``fabopt.topology.design.NetworkDesign``.

    ``failing``: the failures of the network, and of the GPUs of a server.
    """

    network: AnyNetwork
    failing: Callable[[AnyNetwork, int], Failures]

    @property
    def protocol(self) -> str:
        """``ethernet`` or ``infiniband``."""
        return self.network.protocol

    @property
    def nic(self) -> NicOption:
        """How servers are equipped."""
        return self.network.nic

    @property
    def leaf(self) -> SwitchType | None:
        """The leaf switch type; None where servers are joined to each other."""
        return next(iter(self.network.switch_types), None)

    @property
    def tiers(self) -> None:
        """Always None, as tiers are not chosen."""

    def file_part(self) -> FilePart:
        """The part of the design file that describes this network."""
        return self.network.file_part()

    def switches_added(self, role: Role) -> tuple[int, ...]:
        """All switches of a tier in one entry, as no such network grows in stages."""
        return tuple(tier.num_switches for tier in self.file_part().tiers if tier.role == role)

    def figures(self, gpus: int) -> Figures:
        """The figures that have a formula."""
        return self.network.figures(gpus)

    def measured_figures(self, gpus: int) -> Figures:
        """All figures; those of the graph only where it is not too large."""
        of_graph = measured(self.network, gpus)
        return self.figures(gpus) if of_graph is None else replace(self.figures(gpus), **of_graph._asdict())

    def allreduce(self, gpus: int) -> Fraction | None:
        """Mb/s per GPU of ring all-reduce; None where the graph is too large."""
        return allreduce(self.network, gpus)

    def least_ratios(self, gpus: int) -> dict[str, Fraction]:
        """Injection over the worse of bisection and all-to-all."""
        given = self.figures(gpus)
        return {"leaf": given.injection / min(given.bisection, given.alltoall)}

    def step_network(self, gpus: int, server_gpus: int) -> FabricBandwidth:
        """The bandwidth that each GPU has in a step of a model.

        Beyond a group, the worse of bisection and all-to-all.
        """
        switches = self.network.switch_types
        reduces = bool(switches) and all(switch.product.reduces for switch in switches)
        below = (self.network.group_servers * server_gpus, gpus)
        return network_of(self.nic.injection, self.least_ratios(gpus), below, reduces)

    def failures(self, server_gpus: int) -> Failures:
        """The bandwidth left after failures."""
        return self.failing(self.network, server_gpus)

    def headroom(self, fabric: FabricProblem) -> int:
        """Servers that can be added with the present devices."""
        return self.network.headroom

    def growth(self, problem: Problem, fabric: FabricProblem, cables: Sequence[int]) -> tuple[StageStructure, ...]:
        """Empty: no such network grows in stages."""
        return ()


# -- demands on figures that only the graph of a network gives --------------------------------------------------------
# Demands on figures that only the graph of a network gives: candidates are tried one by one, the cheapest first.


def offer_tried(
    cutoff: Cutoff, batch: AnyBatch, has: Callable[[int], bool | None], should_stop: Callable[[int], bool]
) -> None:
    """Offer the candidates of a batch that meet the demands; those above the cutoff are not tried.

    ``has``: whether a candidate does; None where that is too much work, and the search is not complete.
    """
    for index in np.argsort(batch.cost[0], kind="stable").tolist():
        if should_stop(OF_SIZES):
            cutoff.sizing.stopped = True
            return
        if not cutoff.within(batch.cost[:, index : index + 1]).all():
            continue
        answer = has(index)
        if answer is None:
            cutoff.sizing.stopped = True
        elif answer:
            cutoff.offer(batch.take(np.array([index])))


def has_asked(problem: Problem, fabric: FabricProblem, network: DirectNetwork) -> bool | None:
    """Whether ring all-reduce and the bandwidth left after failures meet their demands; None where that is too much
    work.
    """
    least = Fraction(0) if fabric.figure_demands is None else fabric.figure_demands.allreduce
    has = reduces(network, problem.gpus, least) if least else True
    if not has:
        return has
    return all(survives(network, problem.server.gpus, wanted) for wanted in fabric.resilience)


def survives(network: DirectNetwork, gpus: int, survival: Survival) -> bool:
    """Whether a network has the demanded bandwidth left after a failure; one that lacks it without failures is not
    tried.

    Rule ``failures_leave_flow``.
    """
    wanted = Fraction(survival.least_mbps)
    return DirectFailures(network, gpus).bandwidth_left(survival.failed, survival.count, wanted) >= wanted
