"""From the search's arrays to a candidate dragonfly+: exact quantities, and what is left to choose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fabopt.parts.assemblies import Assembly
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate, Choice, choices_of
from fabopt.topology.clos.joins import joins_of
from fabopt.topology.clos.link_kinds import kind_choices, server_leaf
from fabopt.topology.clos.network import clos_of
from fabopt.topology.clos.shape import Parts, down_cage_limit, up_cage_limit
from fabopt.topology.cutoff import Batch
from fabopt.topology.direct.candidates import assembled, equal_joins, fills, whole_choice
from fabopt.topology.dragonfly_plus.design import DragonflyPlusDesign
from fabopt.topology.dragonfly_plus.network import DragonflyPlusNetwork
from fabopt.topology.link_parts import Need, Number, Profile, Side, ceil_of

NAME = "dragonfly+"


def candidate_of(problem: Problem, fabric: FabricProblem, batch: Batch, index: int, prune: bool) -> Candidate | None:
    """One of a batch; None if its links cannot be made beside the others after all."""
    shape = batch.shape.row(index)
    network = DragonflyPlusNetwork(clos_of(fabric, batch.parts, shape.servers), shape.net)
    planes, links = network.nic.planes, _links(problem, fabric, network, prune)
    switches = [(network.parts.leaf, planes * network.leaves), (network.spine[0], planes * network.spines)]
    named, design = (fabric.name, NAME), DragonflyPlusDesign(network)
    return assembled(problem, named, design, switches, links, batch.cost[0, index], _tie_order(network))


def _links(
    problem: Problem, fabric: FabricProblem, network: DragonflyPlusNetwork, prune: bool
) -> Iterator[Sequence[Choice] | None]:
    limit = int(down_cage_limit(network.parts.leaf_down, network.leaf_up, int(network.net.uplinks[0])))
    yield kind_choices(problem, fabric, network.servers, server_leaf(network.servers, limit), prune)
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
    return choices_of(need, joins, ("leaf", "spine"), key, mixes, prune)


def leaf_spine_need(parts: Parts, numbers: Sequence[Number], down_ports: int) -> Need:
    """Links within groups; ``numbers``: L, S, G, m, t of one network or many, ``down_ports``: with those kept free."""
    up, down, out = parts.leaf_up, parts.spine_down, parts.spine_up
    assert up is not None and down is not None and out is not None
    size, spines, groups, links, outside = numbers
    leaf = Profile(parts.nic.planes * size * groups, links, spines, 0)
    spine = Profile(parts.nic.planes * spines * groups, links, size, 0)
    return Need(
        Side((leaf,), up.lane.ports, up_cage_limit(parts.leaf_down, up, down_ports)),
        Side((spine,), down.lane.ports, down_cage_limit(down, out, ceil_of(outside, spines))),
    )


def global_joins(joins: Sequence[Assembly]) -> tuple[Assembly, ...]:
    """Those of one link a wire: the links of two groups end at many spines."""
    return tuple(one for one in joins if fills(one, 1))


def _tie_order(network: DragonflyPlusNetwork) -> tuple[Any, ...]:
    """Rank among candidates that cost, draw, stand and count the same; the smallest wins (docs/formulation.md)."""
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
