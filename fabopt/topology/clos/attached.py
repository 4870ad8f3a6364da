"""Attachments on the leaves of a Clos, and their links.

Runs of attachments on a floor, measured between the racks of the appliances and of their switches, and the places of
those that stand with switches.

Rule ``attachment-runs``: the links of a fabric's attachments to a tier run as far as the farthest one of them, from any
device of an attachment to any switch that it has a port on. A device without a rack is at the flat distance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import Positions, height_m
from fabopt.network.attached_ports import AttachedPort, dealt_over_leaves
from fabopt.network.free_ports import HOST_TIERS, HostTier
from fabopt.parts.assemblies import Mode
from fabopt.parts.switches import CageUse
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import HostPort
from fabopt.schema.design import Place
from fabopt.topology.candidate import Choice, Ends, Option, RowShare, choices_of
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.joins import attachment_joins
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.shape import Ints, last_is_emptier
from fabopt.topology.link_parts import Floats, Need, PeerLinks, Side
from fabopt.units import ceil_decimetres, ceil_of, sets


class LeafPorts(NamedTuple):
    """``leaves`` equal leaves: server ports on each, and ports of each attachment; ``is_of_last``: of a differing last
    group.
    """

    leaves: int
    servers_ports: int
    attached: tuple[int, ...]
    is_of_last: bool = False


def leaf_classes(fabric: FabricProblem, clos: ClosNetwork) -> list[LeafPorts]:
    """Leaves of all planes by the ports on them. Attachments are dealt one a leaf a round, emptiest leaves first; in a
    cluster that grows, over the leaves of the first stage. Those on free ports are on the leaves that have these.
    """
    shape = clos.shape
    if clos.stages or clos.free:
        return _leaf_by_leaf(fabric, clos)
    planes = int(shape.planes)
    of_last, of_others = planes * int(shape.last_rails), planes * int((shape.groups - 1) * shape.rails)
    kinds = [
        (of_last, int(shape.last_group * shape.last_k), shape.has_own_last),
        (of_others, int(shape.g * shape.k), False),
    ]
    if not last_is_emptier(shape):
        kinds.reverse()
    total = sum(leaves for leaves, _, _ in kinds)
    owners = [index for index, demand in enumerate(fabric.attachments) for _ in range(demand.ports)]
    sizes: dict[tuple[int, tuple[int, ...], bool], int] = {}
    place = 0
    for leaves, ports, is_of_last in kinds:
        touched = min(leaves, max(0, len(owners) - place))
        for position in range(place, place + touched):
            on_leaf = owners[position::total]
            key = (ports, tuple(on_leaf.count(index) for index in range(len(fabric.attachments))), is_of_last)
            sizes[key] = sizes.get(key, 0) + 1
        if leaves > touched:
            key = (ports, (0,) * len(fabric.attachments), is_of_last)
            sizes[key] = sizes.get(key, 0) + leaves - touched
        place += leaves
    return [LeafPorts(count, *kind) for kind, count in sizes.items()]


def attached_to_leaves(fabric: FabricProblem, clos: ClosNetwork) -> tuple[AttachmentDemand, ...]:
    """The attachments of a fabric with their number of ports on leaves, which may be 0."""
    if not clos.free:
        return fabric.attachments
    return tuple(
        demand if demand.is_dealt else demand.on_tier(places, "leaf")
        for demand, places in zip(fabric.attachments, clos.free, strict=True)
    )


def dealt_ports(fabric: FabricProblem, clos: ClosNetwork) -> list[AttachedPort]:
    """Every port of attachments that are dealt over all leaves."""
    numbers, adds = numbers_of(clos.parts.nic, clos.shape), [demand.by_stage for demand in fabric.attachments]
    return dealt_over_leaves(numbers, adds, clos.placement.racks_of_hosts.get("leaf", ()), fabric.leaf_pairs.exist)


def ports_on_leaves(fabric: FabricProblem, clos: ClosNetwork) -> Iterator[tuple[int, int]]:
    """The leaf and the attachment of every port on a leaf."""
    yield from ((port.leaf, port.owner) for port in dealt_ports(fabric, clos))
    for owner, places in enumerate(clos.free):
        yield from ((number, owner) for tier, number in places if tier == "leaf")


def _leaf_by_leaf(fabric: FabricProblem, clos: ClosNetwork) -> list[LeafPorts]:
    numbers = numbers_of(clos.parts.nic, clos.shape)
    leaf = np.arange(numbers.planes * numbers.leaves)
    is_last, group = numbers.is_of_last(leaf), numbers.group_of_leaf(leaf)
    servers = numbers.servers_of_groups(group, numbers.servers) * np.where(is_last, numbers.last_k, numbers.k)
    on_leaf = [[0] * len(fabric.attachments) for _ in range(numbers.planes * numbers.leaves)]
    for number, owner in ports_on_leaves(fabric, clos):
        on_leaf[number][owner] += 1
    kinds = Counter(
        (ports, tuple(attached), of_last)
        for ports, attached, of_last in zip(servers.tolist(), on_leaf, is_last.tolist(), strict=True)
    )
    return [LeafPorts(count, *kind) for kind, count in kinds.items()]


def attachment_leaf(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, demand: AttachmentDemand, prune: bool
) -> Sequence[Choice] | None:
    """Links of an attachment to single-port leaf cages."""
    if demand.buys == "none" and demand.adds:
        nothing = ((stage, replace(demand, ports=ports)) for stage, ports in enumerate(demand.adds) if ports)
        return tuple(_from_stage(_nothing_bought(own, own.ports), stage) for stage, own in nothing)
    if demand.buys == "none":
        return (_nothing_bought(demand, demand.ports),)
    if demand.adds:
        return _later_links(problem, fabric, clos, demand, prune)
    leaf = clos.parts.leaf_down
    joins = attachment_joins(problem, fabric, demand, leaf.port, clos.parts.protocol)
    ports = demand.port.ports if demand.port is not None else 1
    need = Need(
        Side((PeerLinks(1, 1, demand.ports, 0),), ports, demand.ports),
        Side((PeerLinks(demand.ports, 1, 1, 0),), 1, 1),
    )
    key = ("attachment", demand.name, demand.port, leaf.port, *clos.attached_runs_m)
    return choices_of(problem.links, need, joins, ("attachment", "leaf"), key, False, prune, demand.name)


class CagesOfPorts(NamedTuple):
    """Cages of switches of a tier that an attachment has to itself, and the switch of each of its ports.

    ``runs_m``: measured runs of attachments in metres, by kind of links.
    """

    tier: HostTier
    use: CageUse | None
    protocol: str
    places: tuple[HostPort, ...]
    runs_m: tuple[tuple[str, float], ...] = ()


def attachment_spine(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, index: int, prune: bool
) -> Sequence[Choice] | None:
    """Links of an attachment to spine cages of its own."""
    cages = CagesOfPorts("spine", clos.parts.spine_down, clos.parts.protocol, clos.free[index], clos.attached_runs_m)
    demand = fabric.attachments[index]
    choices = in_own_cages(problem, fabric, demand, cages, prune)
    if choices is None or not demand.adds or demand.is_dealt:
        return choices
    stage = next(stage for stage, ports in enumerate(demand.adds) if ports)
    return [_from_stage(choice, stage) for choice in choices]


def in_own_cages(
    problem: Problem, fabric: FabricProblem, demand: AttachmentDemand, own: CagesOfPorts, prune: bool
) -> Sequence[Choice] | None:
    """Links of an attachment to cages that no other links share."""
    use, ends = own.use, _ends(own.tier)
    on_switch = Counter(number for tier, number in own.places if tier == own.tier)
    if use is None or not on_switch:
        return ()
    ports, lanes = sum(on_switch.values()), use.lane.ports
    alike = Counter(on_switch.values())
    far = Side(
        [PeerLinks(switches, 1, ports_on_each, 0) for ports_on_each, switches in sorted(alike.items())],
        lanes,
        use.cages,
    )
    if demand.buys == "none":
        row = RowShare(*ends, demand.name, None, ports, ports, int(far.cages), ())
        return (Choice(("attachment", demand.name, "none", own.tier, int(far.cages)), 1, (Option((row,)),)),)
    joins = attachment_joins(problem, fabric, demand, use.port, own.protocol, own.tier)
    need = Need(Side((PeerLinks(1, 1, ports, 0),), 1, ports), far)
    key = ("attachment", demand.name, demand.port, use.port, own.tier, *own.runs_m)
    return choices_of(problem.links, need, joins, ends, key, False, prune, demand.name)


def _ends(tier: HostTier) -> Ends:
    return "attachment", tier


def _later_links(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, demand: AttachmentDemand, prune: bool
) -> Sequence[Choice] | None:
    """Links that stages add one by one, of single ports at both ends: each is bought for the stage that adds it."""
    leaf = clos.parts.leaf_down
    if demand.port is not None and demand.port.ports > 1:
        return None
    joins = attachment_joins(problem, fabric, demand, leaf.port, clos.parts.protocol)
    choices: list[Choice] = []
    for stage, ports in enumerate(demand.adds):
        need = Need(Side((PeerLinks(1, 1, ports, 0),), 1, ports), Side((PeerLinks(ports, 1, 1, 0),), 1, 1))
        key = ("attachment", demand.name, leaf.port, stage, *clos.attached_runs_m)
        for choice in (
            choices_of(problem.links, need, joins, ("attachment", "leaf"), key, False, prune, demand.name) or ()
        ):
            choices.append(_from_stage(choice, stage))
    linked = sum(choice.count * choice.options[0].rows[0].links for choice in choices if choice.options)
    return choices if linked == demand.ports else None


def _from_stage(choice: Choice, stage: int) -> Choice:
    """A choice whose links are bought for a stage."""
    options = (
        Option(tuple(row._replace(stage=stage, stages=(stage,) * row.links) for row in option.rows))
        for option in choice.options
    )
    return replace(choice, options=tuple(options))


def least_attached(problem: Problem, fabric: FabricProblem, clos: ClosNetwork, weights: Floats) -> float:
    """Lower bound of the cost of all attachments' links, at weights of the items, shape (items,).

    In leaf cages of several ports the part at the leaf is not counted, as servers may need it anyway.
    """
    total = 0.0
    uses = {"leaf": clos.parts.leaf_down, "spine": clos.parts.spine_down}
    for demand in fabric.attachments:
        if demand.buys == "none" or demand.adds:
            continue
        costs = []
        for tier, use in uses.items():
            if use is None or not demand.takes(tier):
                continue
            for way in attachment_joins(problem, fabric, demand, use.port, clos.parts.protocol, tier):
                near = weights[way.near.index] if way.near is not None and demand.port is not None else 0.0
                cable = weights[way.cable.index] if way.mode is Mode.LINK else 0.0
                costs.append(near / (demand.port.ports if demand.port is not None else 1) + cable)
        total += demand.ports * float(min(costs, default=0.0))
    return total


def _nothing_bought(demand: AttachmentDemand, leaf_cages: int) -> Choice:
    ports = demand.port.ports if demand.port is not None else 1
    near_cages = int(ceil_of(demand.ports, ports))
    row = RowShare("attachment", "leaf", demand.name, None, demand.ports, near_cages, leaf_cages, ())
    return Choice(("attachment", demand.name, "none", leaf_cages), 1, (Option((row,)),))


def with_attached_runs(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> tuple[FabricProblem, ClosNetwork]:
    """A fabric and a Clos in racks with the measured runs of attachments; unchanged where nothing is measured."""
    if not problem.site.measures_attachments or not isinstance(clos.placement, RackPlacement):
        return fabric, clos
    runs_m = attached_runs_m(problem, fabric, clos, clos.placement)
    on_floor = replace(fabric.on_floor, attachments_measured=True)
    measured = replace(fabric, runs=fabric.runs.with_m(runs_m), on_floor=on_floor)
    return measured, clos._replace(attached_runs_m=tuple(sorted(runs_m.items())))


def attached_runs_m(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, placement: RackPlacement
) -> dict[str, float]:
    """Longest run of attachments in metres, by kind of links (``attachment-leaf``, ``attachment-spine``)."""
    appliances = problem.floor.appliances
    in_racks = (*appliances.appliances, *appliances.hosts.values())
    heights = {appliance.key: appliance.attachment.rack_units or 0.0 for appliance in in_racks}
    runs_m: dict[str, float] = {}
    for (kind, owner), switches in _hosts(fabric, clos).items():
        key = fabric.name, fabric.attachments[owner].name
        places = placement.hosts.get(key[1]) or appliances.places.get(key, ())
        run_m = problem.site.given[kind]
        if places:
            tier = placement.positions[HOST_TIERS.index("leaf" if kind == "attachment-leaf" else "spine")]
            run_m = _farthest_m(placement.layout.plan, places, heights[key], tier, switches)
        runs_m[kind] = max(run_m, runs_m.get(kind, 0.0))
    return runs_m


def _hosts(fabric: FabricProblem, clos: ClosNetwork) -> dict[tuple[str, int], Ints]:
    """Switches that an attachment has ports on, by (kind of links, attachment index); ports of servers left out."""
    ports = [("leaf", *port) for port in ports_on_leaves(fabric, clos)]
    ports += [(tier, number, owner) for owner, places in enumerate(clos.free) for tier, number in places]
    hosts = sets(((f"attachment-{tier}", owner), number) for tier, number, owner in ports)
    return {
        (kind, owner): np.array(sorted(numbers), dtype=np.int64)
        for (kind, owner), numbers in hosts.items()
        if fabric.attachments[owner].nic is None and kind not in fabric.attachments[owner].kinds_there
    }


def _farthest_m(plan: FloorPlan, places: tuple[Place, ...], units: float, tier: Positions, switches: Ints) -> float:
    """Longest run from any of the appliances to any of the switches, in metres, rounded up to decimetres."""
    racks = np.repeat([plan.rack_index(rack) for rack, _ in places], len(switches))
    heights_m = np.repeat([float(height_m(unit, units)) for _, unit in places], len(switches))
    hosts = np.tile(switches, len(places))
    return ceil_decimetres(float(plan.run_m(racks, heights_m, tier.rack[hosts], tier.height_m[hosts]).max()))
