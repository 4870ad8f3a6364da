"""From the search's arrays to a candidate dragonfly+: exact quantities, and the open choices of parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabopt.parts.assemblies import Assembly
from fabopt.parts.items import Item
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.batch import Batch
from fabopt.topology.candidate import Candidate, Choice, choices_of
from fabopt.topology.clos.joins import joins_of
from fabopt.topology.clos.link_kinds import kind_choices, server_leaf
from fabopt.topology.clos.network import clos_of
from fabopt.topology.clos.shape import Parts, down_cage_limit, up_cage_limit
from fabopt.topology.direct.candidates import assembled, equal_joins, fills, whole_choice
from fabopt.topology.direct.shapes import SwitchedShape
from fabopt.topology.dragonfly_plus.design import DragonflyPlusDesign
from fabopt.topology.dragonfly_plus.network import DragonflyPlusNetwork
from fabopt.topology.dragonfly_plus.networks import DragonflyPlusNetworks
from fabopt.topology.evenness import evenness_of
from fabopt.topology.link_parts import Need, PeerLinks, Side
from fabopt.units import Number, ceil_of

NAME = "dragonfly+"


@dataclass(frozen=True, eq=False)
class DragonflyPlusBatch(Batch[Parts, SwitchedShape[DragonflyPlusNetworks]]):
    """Leaf-spine groups that are joined to each other."""

    @property
    def family(self) -> str:
        """Name of the family."""
        return NAME

    def candidates(self, problem: Problem, index: int, prune: bool) -> tuple[Candidate, ...]:
        """A candidate; empty if its links cannot be made beside each other."""
        shape = self.shape.row(index)
        network = DragonflyPlusNetwork(clos_of(self.fabric, self.parts, shape.servers), shape.net)
        planes, spine = network.nic.planes, network.spine[0]
        switches = [(network.parts.leaf, planes * network.leaves), (spine, planes * network.spines)]
        links, order = _links(problem, self.fabric, network, prune), _tie_order(network)
        evenness = evenness_of(problem, network.shape)
        return assembled(problem, self, index, DragonflyPlusDesign(network), switches, links, order, evenness)

    def switch_counts(self) -> dict[Item, Number]:
        """Leaves and spines."""
        parts, net, planes = self.parts, self.shape.net, self.parts.nic.planes
        assert parts.spine is not None
        counts = {parts.leaf.item: planes * net.leaves}
        counts[parts.spine.item] = counts.get(parts.spine.item, 0) + planes * net.spines
        return counts


def _links(
    problem: Problem, fabric: FabricProblem, network: DragonflyPlusNetwork, prune: bool
) -> Iterator[Sequence[Choice] | None]:
    limit = int(down_cage_limit(network.parts.leaf_down, network.leaf_up, int(network.net.uplinks[0])))
    yield kind_choices(problem, network.servers, server_leaf(network.servers, limit), prune)
    yield _leaf_spine(problem, fabric, network, prune)
    (_, _, out), planes = network.spine, network.nic.planes
    yield whole_choice(
        global_joins(equal_joins(problem, fabric, out.port, "global", network.parts.protocol)),
        ("spine", "global"),
        planes * int(network.net.global_links[0]),
        planes * int(network.net.global_cages(out.lane.ports)[0]),
        prune,
    )


def _leaf_spine(
    problem: Problem, fabric: FabricProblem, network: DragonflyPlusNetwork, prune: bool
) -> Sequence[Choice] | None:
    """Links within groups: as in a Clos, cage by cage or bundle by bundle where cages allow it."""
    parts, up, (_, down, _) = network.parts, network.leaf_up, network.spine
    need = leaf_spine_need(parts, network.numbers, network.servers.down_ports + network.servers.reserved_ports)
    joins = joins_of(problem, fabric, "leaf-spine", up.port, down.port, parts.protocol)
    mixes = up.lane.ports == down.lane.ports and network.numbers[3] % up.lane.ports == 0
    key = ("leaf-spine", up.port, down.port, parts.protocol, mixes)
    return choices_of(problem.links, need, joins, ("leaf", "spine"), key, mixes, prune)


def leaf_spine_need(parts: Parts, numbers: Sequence[Number], down_ports: int) -> Need:
    """Links within groups; ``numbers``: L, S, G, m, t of one network or many, ``down_ports``: with those kept free."""
    up, down, out = parts.leaf_up, parts.spine_down, parts.spine_up
    assert up is not None and down is not None and out is not None
    size, spines, groups, links, outside = numbers
    leaf = PeerLinks(parts.nic.planes * size * groups, links, spines, 0)
    spine = PeerLinks(parts.nic.planes * spines * groups, links, size, 0)
    return Need(
        Side((leaf,), up.lane.ports, up_cage_limit(parts.leaf_down, up, down_ports)),
        Side((spine,), down.lane.ports, down_cage_limit(down, out, ceil_of(outside, spines))),
    )


def global_joins(joins: Sequence[Assembly]) -> tuple[Assembly, ...]:
    """Assemblies that carry one link a cable: the links of two groups end at many spines."""
    return tuple(join for join in joins if fills(join, 1))


def _tie_order(network: DragonflyPlusNetwork) -> tuple[Any, ...]:
    """Rank among candidates that are equal in all sums, the smallest first (docs/formulation/search.md)."""
    parts, shape, (spine, *uses) = network.parts, network.shape, network.spine
    cages = (parts.leaf_down, network.leaf_up, *uses)
    return (
        *network.numbers,
        -int(shape.g), int(shape.k),
        parts.nic.nic_id, parts.leaf.id, spine.id,
        parts.nic.split, *(use.split for use in cages),
        parts.nic.group, *(use.group for use in cages),
        parts.nic.nics_per_server, parts.nic.ports_per_nic, parts.nic.planes,
    )  # fmt: skip
