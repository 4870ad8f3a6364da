"""The torus as the search sees it: of switches with servers on them, or of the servers themselves."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.cutoff import Batch, Found
from fabopt.topology.direct import server_space
from fabopt.topology.direct.design import Direct
from fabopt.topology.direct.family import DirectFamily
from fabopt.topology.direct.lattices import LONGEST_SIDE
from fabopt.topology.direct.networks import Kin
from fabopt.topology.direct.server_space import ServerSpace, options_of
from fabopt.topology.direct.server_torus import ServerShape
from fabopt.topology.direct.space import DirectSpace
from fabopt.topology.family import FilePart, Quest
from fabopt.topology.link_parts import Number


@dataclass(frozen=True)
class EitherSpace:
    """Both spaces, as far as they are wanted; the smaller one first."""

    spaces: tuple[DirectSpace | ServerSpace, ...]

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
class EitherFamily:
    """A family whose boxes may be switches or servers."""

    kin: Kin

    @property
    def name(self) -> str:
        """As in the case and the design file."""
        return self.kin.name

    def space(self, problem: Problem, fabric: FabricProblem, quest: Quest) -> EitherSpace:
        """Its candidates."""
        wanted = [one for one in fabric.torus_nodes if quest.restriction.nodes in (None, one)]
        spaces: list[DirectSpace | ServerSpace] = []
        if server_space.NODES in wanted:
            spaces.append(ServerSpace(problem, fabric, self.kin, quest))
        if "switches" in wanted:
            spaces.append(DirectSpace(problem, fabric, self.kin, quest))
        return EitherSpace(tuple(spaces))

    def candidates(
        self, problem: Problem, fabric: FabricProblem, batch: Batch, index: int, prune: bool
    ) -> tuple[Candidate, ...]:
        """One of a batch."""
        if not isinstance(batch.shape, ServerShape):
            return DirectFamily(self.kin).candidates(problem, fabric, batch, index, prune)
        made = server_space.candidate_of(problem, fabric, self.kin, batch, index, prune)
        return () if made is None else (made,)

    def file_part(self, fabric: FabricProblem, design: Direct) -> FilePart:
        """Its structure, switches and kinds of links."""
        return design.file_part()

    def switches(self, batch: Batch) -> Number:
        """Those with servers and without; none where servers are the boxes."""
        return 0 if isinstance(batch.shape, ServerShape) else DirectFamily(self.kin).switches(batch)

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """The larger of both."""
        on_switches = DirectFamily(self.kin).most_servers(problem, fabric) if "switches" in fabric.torus_nodes else 0
        ports = [nic.ports_per_server for _, nic in options_of(problem, fabric)]
        alone = 0 if not ports else int(LONGEST_SIDE ** (3 if max(ports) >= 6 else 2))
        return max(on_switches, alone)
