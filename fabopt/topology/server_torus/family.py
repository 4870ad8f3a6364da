"""The torus as the search sees it: of switches with servers on them, or of the servers themselves."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.cutoff import Batch, Found
from fabopt.topology.direct.family import DirectFamily
from fabopt.topology.direct.lattices import LONGEST_SIDE
from fabopt.topology.direct.networks import DirectTopology
from fabopt.topology.direct.space import DirectSpace
from fabopt.topology.family import Quest
from fabopt.topology.link_parts import Number
from fabopt.topology.server_torus.candidates import candidate_of
from fabopt.topology.server_torus.network import ServerTorusShape
from fabopt.topology.server_torus.space import NODES, ServerTorusSpace, options_of


@dataclass(frozen=True)
class TorusSpace:
    """Both spaces, as far as they are wanted; the smaller one first."""

    spaces: tuple[DirectSpace | ServerTorusSpace, ...]

    def search(self, slack: float = 0.0, found: Found | None = None) -> Found:
        """Every candidate that costs at most the least cost met plus ``slack``; ``found``: met elsewhere, added to."""
        found = Found() if found is None else found
        for space in self.spaces:
            found = space.search(slack, found)
        return found

    def any_candidate(self) -> Found:
        """Some candidate, if there is any."""
        found = Found()
        for space in self.spaces:
            if not found.batches and not found.stopped:
                found = space.any_candidate()
        return found


@dataclass(frozen=True)
class TorusFamily:
    """A torus whose devices are switches or servers."""

    topology: DirectTopology

    @property
    def name(self) -> str:
        """As in the case and the design file."""
        return self.topology.name

    def space(self, problem: Problem, fabric: FabricProblem, quest: Quest) -> TorusSpace:
        """Its candidates."""
        wanted = [one for one in fabric.torus_nodes if quest.restriction.nodes in (None, one)]
        spaces: list[DirectSpace | ServerTorusSpace] = []
        if NODES in wanted:
            spaces.append(ServerTorusSpace(problem, fabric, self.topology, quest))
        if "switches" in wanted:
            spaces.append(DirectSpace(problem, fabric, self.topology, quest))
        return TorusSpace(tuple(spaces))

    def candidates(
        self, problem: Problem, fabric: FabricProblem, batch: Batch, index: int, prune: bool
    ) -> tuple[Candidate, ...]:
        """One of a batch."""
        if not isinstance(batch.shape, ServerTorusShape):
            return DirectFamily(self.topology).candidates(problem, fabric, batch, index, prune)
        made = candidate_of(problem, fabric, self.topology, batch, index, prune)
        return () if made is None else (made,)

    def switches(self, batch: Batch) -> Number:
        """Those with servers and without; none where servers are the devices."""
        return 0 if isinstance(batch.shape, ServerTorusShape) else DirectFamily(self.topology).switches(batch)

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """The larger of both."""
        on_switches = (
            DirectFamily(self.topology).most_servers(problem, fabric) if "switches" in fabric.torus_nodes else 0
        )
        ports = [nic.ports_per_server for _, nic in options_of(problem, fabric)]
        alone = 0 if not ports else int(LONGEST_SIDE ** (3 if max(ports) >= 6 else 2))
        return max(on_switches, alone)
