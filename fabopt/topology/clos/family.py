"""The folded Clos, and rail-only networks of them, as families."""

from __future__ import annotations

from dataclasses import replace

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.candidates import candidates_of
from fabopt.topology.clos.most_servers import most_servers_of
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.cutoff import Batch
from fabopt.topology.family import Quest
from fabopt.topology.link_parts import Number


class ClosFamily:
    """One, two or three tiers; every leaf reaches every spine of its pod, every pod every core."""

    name = "clos"

    def space(self, problem: Problem, fabric: FabricProblem, quest: Quest) -> ClosSpace:
        """Its candidates, by tiers."""
        part = replace(quest.restriction, topology=self.name)
        return ClosSpace(problem, fabric, *quest._replace(restriction=part))

    def candidates(
        self, problem: Problem, fabric: FabricProblem, batch: Batch, index: int, prune: bool
    ) -> tuple[Candidate, ...]:
        """One of a batch, once for each way to grow to it."""
        return candidates_of(problem, fabric, batch, index, prune)

    def switches(self, batch: Batch) -> Number:
        """Leaves, spines and cores."""
        shape, parts = batch.shape, batch.parts
        boxes: Number = shape.leaves
        if parts.spine is not None:
            boxes = boxes + shape.spines * (shape.pods if parts.core is not None else 1)
        if parts.core is not None:
            boxes = boxes + shape.cores
        return boxes * parts.nic.planes

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """By arithmetic: see ``fabopt.topology.clos.most_servers``."""
        return most_servers_of(problem, fabric)


class RailOnlyFamily(ClosFamily):
    """A Clos of one or two tiers for each rail; no way through switches leads from one rail to another.

    What tells them apart from the other Clos is how ports are dealt over networks: ``NicOption.apart``.
    """

    name = "rail-only"
