"""A direct family as the search sees it."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.shape import usable_ports
from fabopt.topology.direct.networks import DirectTopology
from fabopt.topology.direct.space import DirectSpace
from fabopt.topology.family import SpaceRequest, Spaces
from fabopt.topology.spans import spans_of


@dataclass(frozen=True)
class DirectFamily:
    """Switches of one type that are joined to each other, as ``topology`` says."""

    topology: DirectTopology

    @property
    def name(self) -> str:
        """The topology as in the case and the design file."""
        return self.topology.name

    def space(self, problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> Spaces:
        """The candidates of a fabric with this topology."""
        spans = spans_of(problem, fabric, self.name)
        return Spaces(tuple(DirectSpace(problem, span, self.topology, request) for span in spans))

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """An upper bound of the servers, on the most switches that ports could join, each with one port for others."""
        return max(
            (
                (usable_ports(use, leaf) - 1) * self.topology.most_switches(leaf.max_ports - 1) // nic.ports_per_plane
                for protocol in fabric.protocols
                for leaf in fabric.switches[protocol]["leaf"]
                for use in leaf.uses
                for nic in fabric.nics[protocol]
                if use.lane.port_mbps == nic.port.lane.port_mbps and not nic.apart
            ),
            default=0,
        )
