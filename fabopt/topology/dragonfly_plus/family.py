"""Dragonfly+ as the search sees it."""

from __future__ import annotations

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.shape import usable_ports
from fabopt.topology.cutoff import Batch
from fabopt.topology.dragonfly_plus.candidates import NAME, candidate_of
from fabopt.topology.dragonfly_plus.space import DragonflyPlusSpace
from fabopt.topology.family import Quest
from fabopt.topology.link_parts import Number


class DragonflyPlusFamily:
    """Leaf-spine groups, every two of them joined."""

    name = NAME

    def space(self, problem: Problem, fabric: FabricProblem, quest: Quest) -> DragonflyPlusSpace:
        """Its candidates."""
        return DragonflyPlusSpace(problem, fabric, quest)

    def candidates(
        self, problem: Problem, fabric: FabricProblem, batch: Batch, index: int, prune: bool
    ) -> tuple[Candidate, ...]:
        """One of a batch."""
        made = candidate_of(problem, fabric, batch, index, prune)
        return () if made is None else (made,)

    def switches(self, batch: Batch) -> Number:
        """Leaves and spines."""
        net = batch.shape.net
        return (net.leaves + net.spines) * batch.parts.nic.planes

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """With u uplinks of a leaf, at most u spines in a group, each with p ports for leaves and global links:
        L (u (p - L) + 1) leaves, most where L is half of p.
        """
        spine = max(
            (one.max_ports for roles in fabric.switches.values() for one in roles["spine"]),
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
