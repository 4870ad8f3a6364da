"""From the search's arrays to a candidate torus of servers: exact quantities, and the open choices of parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabopt.parts.items import Item
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.batch import Batch
from fabopt.topology.candidate import Candidate, Choice
from fabopt.topology.direct.candidates import assembled, equal_joins, fills, whole_choice
from fabopt.topology.direct.networks import DirectTopology
from fabopt.topology.server_torus.design import ServerTorusDesign
from fabopt.topology.server_torus.network import ServerTorusNetwork, ServerTorusParts, ServerTorusShape
from fabopt.units import Number


@dataclass(frozen=True, eq=False)
class ServerTorusBatch(Batch[ServerTorusParts, ServerTorusShape]):
    """Servers that are joined to each other."""

    topology: DirectTopology

    @property
    def family(self) -> str:
        """Name of the family."""
        return self.topology.name

    def network(self, index: int) -> ServerTorusNetwork:
        """The torus of one candidate."""
        return ServerTorusNetwork(self.topology, self.shape.row(index).net, self.parts)

    def candidates(self, problem: Problem, index: int, prune: bool) -> tuple[Candidate, ...]:
        """A candidate; empty if its links cannot be made."""
        network = self.network(index)
        links = (_between(problem, self.fabric, network, column, prune) for column in range(len(network.scopes)))
        return assembled(problem, self, index, ServerTorusDesign(network), (), links, _tie_order(network))

    def switch_counts(self) -> dict[Item, Number]:
        """No switches: the torus has none."""
        return {}


def _between(
    problem: Problem, fabric: FabricProblem, network: ServerTorusNetwork, column: int, prune: bool
) -> Sequence[Choice] | None:
    """A choice of one assembly for all links of a dimension."""
    scope, port = network.scopes[column], network.nic.port
    together = int(network.net.together[0, column])
    joins = equal_joins(problem, fabric, port, scope, network.protocol)
    return whole_choice(
        # Rule ``wires_join_neighbours``
        [join for join in joins if fills(join, together)],
        ("server", scope),
        int(network.net.links[0, column]),
        int(network.net.cages(port.ports)[0, column]),
        prune,
    )


def _tie_order(network: ServerTorusNetwork) -> tuple[Any, ...]:
    """Rank among candidates that cost and draw the same: after a torus of switches, as that has fewer numbers first."""
    nic = network.nic
    return (
        len(network.scopes), *(int(number) for number in network.numbers),
        -1, nic.ports_per_server, nic.nic_id, "", nic.split, "", "", nic.group, -1, -1,
        nic.nics_per_server, nic.ports_per_nic, nic.planes,
    )  # fmt: skip
