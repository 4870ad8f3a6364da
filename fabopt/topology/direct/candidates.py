"""From the search's arrays to a candidate of a direct family: exact quantities, and what is left to choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import Box
from fabopt.topology.candidate import Candidate, Choice, Option, RowShare, all_choices, row_share, undominated
from fabopt.topology.clos.joins import joins_of
from fabopt.topology.clos.link_kinds import kind_choices, server_leaf
from fabopt.topology.clos.network import clos_of
from fabopt.topology.cutoff import Batch
from fabopt.topology.design import NetworkDesign
from fabopt.topology.direct.design import DirectDesign
from fabopt.topology.direct.network import DirectNetwork
from fabopt.topology.direct.networks import DirectTopology, run_of
from fabopt.topology.link_parts import Quantities, ceil_of


def equal_joins(
    problem: Problem, fabric: FabricProblem, port: PortType, scope: str, protocol: str, all_: bool = False
) -> tuple[Assembly, ...]:
    """Ways to join two equal cages of switches: the same part at both ends, as a cage has links of either end."""
    found = joins_of(problem, fabric, run_of(scope), port, port, protocol, all_)
    return tuple(one for one in found if one.near is one.far and one.mode in (Mode.LINK, Mode.PAIR))


def candidate_of(
    problem: Problem, fabric: FabricProblem, topology: DirectTopology, batch: Batch, index: int, prune: bool
) -> Candidate | None:
    """One of a batch; None if its servers' links cannot be made beside the others after all."""
    shape = batch.shape.row(index)
    network = DirectNetwork(topology, shape.net, clos_of(fabric, batch.parts, shape.servers))
    switches = [(network.parts.leaf, network.nic.planes * network.switches)]
    links = _links(problem, fabric, network, prune)
    named = (fabric.name, topology.name)
    return assembled(problem, named, DirectDesign(network), switches, links, batch.cost[0, index], _tie_order(network))


def assembled(
    problem: Problem,
    named: tuple[str, str],
    design: NetworkDesign,
    switches: Sequence[tuple[SwitchType, int]],
    links: Iterable[Sequence[Choice] | None],
    bound: float,
    order: tuple[Any, ...],
) -> Candidate | None:
    """A candidate of a direct family, with its NICs; None if some of its links cannot be made.

    ``named``: fabric and topology; ``switches``: how many of each type, over all planes.
    """
    choices, nic = all_choices(links), design.nic
    if choices is None:
        return None
    boxes: Counter[tuple[int, Item]] = Counter()
    for switch, number in switches:
        boxes[0, switch.item] += number
    if nic.item is not None:
        boxes[0, nic.item] = problem.servers * nic.nics_per_server
    slots = 0 if nic.item is None else nic.nics_per_server
    return Candidate(*named, design, boxes, choices, bound=float(bound), order=order, nic_slots=slots)


def _links(
    problem: Problem, fabric: FabricProblem, network: DirectNetwork, prune: bool
) -> Iterator[Sequence[Choice] | None]:
    yield kind_choices(problem, fabric, network.servers, server_leaf(network.servers, _down_cages(network)), prune)
    for column, scope in enumerate(network.scopes):
        yield _between(problem, fabric, network, column, scope, prune)


def _down_cages(network: DirectNetwork) -> int:
    """Cages of a switch that are left for servers."""
    down, up = network.parts.leaf_down, network.parts.leaf_up
    assert up is not None
    if up.group != down.group:
        return down.cages
    return down.cages - int(ceil_of(network.net.most_ports[0], up.lane.ports).sum())


def _between(
    problem: Problem, fabric: FabricProblem, network: DirectNetwork, column: int, scope: str, prune: bool
) -> Sequence[Choice] | None:
    """All links of a scope, made by one assembly."""
    up, planes = network.parts.leaf_up, network.parts.nic.planes
    assert up is not None
    together = int(network.net.together[0, column])
    joins = equal_joins(problem, fabric, up.port, scope, network.parts.protocol)
    return whole_choice(
        [one for one in joins if fills(one, together)],
        ("leaf", scope),
        planes * int(network.net.links[0, column]),
        planes * int(network.net.cages(up.lane.ports)[0, column]),
        prune,
    )


def whole_choice(
    joins: Sequence[Assembly], of: tuple[Box, str], links: int, cages: int, prune: bool
) -> Sequence[Choice] | None:
    """All links of a role and scope between equal cages, made by one of some assemblies; None if there is none."""
    options = [Option((_row(one, of, links, cages),)) for one in joins]
    if not options:
        return None
    kept = undominated(options) if prune else tuple(options)
    return (Choice((of[1], "whole", tuple(option.rows for option in kept)), 1, kept),)


def fills(one: Assembly, together: int) -> bool:
    """Whether so many links of a pair come out in wires of an assembly."""
    return together % cable_links(one) == 0


def cable_links(one: Assembly) -> int:
    """Links that one wire carries."""
    return one.ports_per_cable if one.mode is Mode.PAIR else 1


def _row(one: Assembly, of: tuple[Box, str], links: int, cages: int) -> RowShare:
    """Cages have links of either end, so half of them (rounded up) are counted at one end, the others at the other."""
    near, (role, scope) = int(ceil_of(cages, 2)), of
    row = row_share((role, role), one, links, Quantities(near, links // cable_links(one), cages - near, True))
    return row._replace(scope=scope)


def _tie_order(network: DirectNetwork) -> tuple[Any, ...]:
    """Rank among candidates that cost, draw, stand and count the same; the smallest wins (docs/formulation.md)."""
    parts, shape = network.parts, network.shape
    up = parts.leaf_up
    assert up is not None
    return (
        len(network.scopes), *(int(one) for one in network.numbers),
        -int(shape.g), int(shape.k),
        parts.nic.nic_id, parts.leaf.id,
        parts.nic.split, parts.leaf_down.split, up.split,
        parts.nic.group, parts.leaf_down.group, up.group,
        parts.nic.nics_per_server, parts.nic.ports_per_nic, parts.nic.planes,
    )  # fmt: skip
