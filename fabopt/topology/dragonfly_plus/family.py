"""Dragonfly+ as the search sees it."""

from __future__ import annotations

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.shape import usable_ports
from fabopt.topology.dragonfly_plus.candidates import NAME
from fabopt.topology.dragonfly_plus.space import DragonflyPlusSpace
from fabopt.topology.family import SpaceRequest, Spaces
from fabopt.topology.spans import spans_of


class DragonflyPlusFamily:
    """The dragonfly+: leaf-spine groups, every two of them joined."""

    name = NAME

    def space(self, problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> Spaces:
        """The dragonfly+ candidates of a fabric."""
        return Spaces(
            tuple(DragonflyPlusSpace(problem, variant, request) for variant in spans_of(problem, fabric, self.name))
        )

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """Upper bound of the servers, on L (u (p - L) + 1) leaves, a number that is largest where L is half of p.

        With u uplinks of a leaf, a group has at most u spines, each with p ports for leaves and global links.
        """
        spine = max(
            (switch.max_ports for roles in fabric.switches.values() for switch in roles["spine"]),
            default=0,
        )
        return max(
            (
                down * (spine // 2 + 1) * ((leaf.max_ports - down) * (spine - spine // 2) + 1) // nic.ports_per_plane
                for protocol in fabric.protocols
                for leaf in fabric.switches[protocol]["leaf"]
                for use in leaf.uses
                for nic in fabric.nics[protocol]
                if use.lane.port_mbps == nic.port.lane.port_mbps and not nic.apart
                for down in range(1, usable_ports(use, leaf) + 1)
            ),
            default=0,
        )
