"""The folded Clos, and rail-only networks of them, as families."""

from __future__ import annotations

from dataclasses import replace

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.candidates import on_each_tier
from fabopt.topology.clos.most_servers import most_servers_of
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.family import SpaceRequest, Spaces
from fabopt.topology.spans import pods_together


class ClosFamily:
    """One, two or three tiers; every leaf reaches every spine of its pod, every pod every core."""

    name = "clos"

    def space(self, problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> Spaces:
        """The Clos candidates of a fabric, by tiers; of several spans the one with the lowest bound first, and spaces
        with a differing last group after all others.
        """
        part = replace(request.restriction, topology=self.name)
        wanted = request._replace(restriction=part)
        spaces = [
            ClosSpace(problem, variant, *wanted, parts=parts)
            for placed in on_each_tier(problem, fabric)
            for variant, parts in pods_together(problem, placed, self.name)
        ]
        alike, differing = (
            [space for space in spaces if space.fabric.may_be_alike is first] for first in (True, False)
        )
        if len(alike) > 1:
            alike.sort(key=lambda space: space.lowest_bound)
        return Spaces((*alike, *differing))

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """Most servers of a Clos, by arithmetic: see ``fabopt.topology.clos.most_servers``."""
        return most_servers_of(problem, fabric)


class RailOnlyFamily(ClosFamily):
    """A Clos of one or two tiers for each rail; no path through switches leads from one rail to another.

    Its candidates differ from other Clos by how ports are dealt over networks: ``NicOption.apart``.
    """

    name = "rail-only"
