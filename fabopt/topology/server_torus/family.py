"""The torus as the search sees it: of switches with servers on them, or of the servers themselves."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.direct.family import DirectFamily
from fabopt.topology.direct.lattices import LONGEST_SIDE
from fabopt.topology.direct.networks import DirectTopology
from fabopt.topology.family import Space, SpaceRequest, Spaces
from fabopt.topology.server_torus.nics import NODES, forwarding_nics
from fabopt.topology.server_torus.space import ServerTorusSpace
from fabopt.topology.spans import spans_of


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
        if NODES in fabric.torus_nodes:
            spans = spans_of(problem, fabric, "server-torus")
            spaces += [ServerTorusSpace(problem, span, self.topology, request) for span in spans]
        if "switches" in fabric.torus_nodes:
            spaces.append(self._of_switches.space(problem, fabric, request))
        return Spaces(tuple(spaces))

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """Upper bound of the servers of a torus of switches or of servers, whichever is more."""
        switches = "switches" in fabric.torus_nodes
        on_switches = self._of_switches.most_servers(problem, fabric) if switches else 0
        ports = [nic.ports_per_server for _, nic in forwarding_nics(problem, fabric)]
        alone = 0 if not ports else int(LONGEST_SIDE ** (3 if max(ports) >= 6 else 2))
        return max(on_switches, alone)

    @property
    def _of_switches(self) -> DirectFamily:
        return DirectFamily(self.topology)
