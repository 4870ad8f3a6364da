"""Links of attachments, and of servers where both share the cages of a leaf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from fabopt.network.clos_links import attached_leaves, dealt
from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Choice, Option, RowShare, choices_of, part_uses, row_share, undominated
from fabopt.topology.clos.cabling import LinkType, numbers_of
from fabopt.topology.clos.joins import attachment_joins, run_of
from fabopt.topology.clos.kind_links import KindLinks
from fabopt.topology.clos.link_kinds import down_limit, links_of_kind, staged_links
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import last_is_emptier
from fabopt.topology.clos.stage_links import StagedLinks
from fabopt.topology.link_parts import Floats, Need, PeerLinks, Quantities, Side
from fabopt.units import ceil_of


class LeafPorts(NamedTuple):
    """``leaves`` equal leaves: server ports on each, and ports of each attachment; ``is_odd``: of an odd last group."""

    leaves: int
    servers_ports: int
    attached: tuple[int, ...]
    is_odd: bool = False


def leaf_classes(fabric: FabricProblem, clos: ClosNetwork) -> list[LeafPorts]:
    """Leaves of all planes by what is on them. Attachments go round, one a leaf a round, emptiest leaves first; in a
    cluster that grows, over the leaves of the first stage. Those on free ports are where these are.
    """
    shape = clos.shape
    if clos.stages or clos.free:
        return _leaf_by_leaf(fabric, clos)
    planes = int(shape.planes)
    of_last, of_others = planes * int(shape.last_rails), planes * int((shape.groups - 1) * shape.rails)
    kinds = [
        (of_last, int(shape.last_group * shape.last_k), shape.is_odd),
        (of_others, int(shape.g * shape.k), False),
    ]
    if not last_is_emptier(shape):
        kinds.reverse()
    total = sum(leaves for leaves, _, _ in kinds)
    owners = [index for index, one in enumerate(fabric.attachments) for _ in range(one.ports)]
    sizes: dict[tuple[int, tuple[int, ...], bool], int] = {}
    place = 0
    for leaves, ports, is_odd in kinds:
        touched = min(leaves, max(0, len(owners) - place))
        for position in range(place, place + touched):
            on_leaf = owners[position::total]
            key = (ports, tuple(on_leaf.count(index) for index in range(len(fabric.attachments))), is_odd)
            sizes[key] = sizes.get(key, 0) + 1
        if leaves > touched:
            key = (ports, (0,) * len(fabric.attachments), is_odd)
            sizes[key] = sizes.get(key, 0) + leaves - touched
        place += leaves
    return [LeafPorts(count, *kind) for kind, count in sizes.items()]


def attached_to_leaves(fabric: FabricProblem, clos: ClosNetwork) -> tuple[AttachmentDemand, ...]:
    """The attachments of a fabric with the ports that they have on leaves, some with none."""
    if not clos.free:
        return fabric.attachments
    return tuple(
        demand if demand.tier == "leaf" else replace(demand, ports=sum(tier == "leaf" for tier, _ in places))
        for demand, places in zip(fabric.attachments, clos.free, strict=True)
    )


def ports_on_leaves(fabric: FabricProblem, clos: ClosNetwork) -> Iterator[tuple[int, int]]:
    """The leaf and the attachment of every port on a leaf."""
    owners = dealt([one.by_stage for one in fabric.attachments])
    leaves = attached_leaves(numbers_of(clos.parts.nic, clos.shape), fabric.attached)
    yield from ((leaf, owner) for leaf, (owner, _) in zip(leaves, owners, strict=True))
    for owner, places in enumerate(clos.free):
        yield from ((number, owner) for tier, number in places if tier == "leaf")


def _leaf_by_leaf(fabric: FabricProblem, clos: ClosNetwork) -> list[LeafPorts]:
    numbers = numbers_of(clos.parts.nic, clos.shape)
    shape = clos.shape
    full, last = int(shape.g * shape.k), int(shape.last_group * shape.last_k)
    on_leaf = [[0] * len(fabric.attachments) for _ in range(numbers.planes * numbers.leaves)]
    for leaf, owner in ports_on_leaves(fabric, clos):
        on_leaf[leaf][owner] += 1
    in_last = (numbers.group_of_leaf(np.arange(len(on_leaf))) == numbers.groups - 1).tolist()
    kinds = Counter(
        (last if is_last else full, tuple(attached), is_last and shape.is_odd)
        for is_last, attached in zip(in_last, on_leaf, strict=True)
    )
    return [LeafPorts(count, *kind) for kind, count in kinds.items()]


def attachment_leaf(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, demand: AttachmentDemand, prune: bool
) -> Sequence[Choice] | None:
    """Links of an attachment to single-port leaf cages."""
    if demand.adds:
        return _later_links(problem, fabric, clos, demand, prune)
    if demand.buys == "none":
        return (_nothing_bought(demand, demand.ports),)
    leaf = clos.parts.leaf_down
    joins = attachment_joins(problem, fabric, demand, leaf.port, clos.parts.protocol)
    ports = demand.port.ports if demand.port is not None else 1
    need = Need(
        Side((PeerLinks(1, 1, demand.ports, 0),), ports, demand.ports),
        Side((PeerLinks(demand.ports, 1, 1, 0),), 1, 1),
    )
    key = ("attachment", demand.name, demand.port, leaf.port, *clos.attached_runs_m)
    return choices_of(need, joins, ("attachment", "leaf"), key, False, prune, demand.name)


def attachment_spine(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, index: int, prune: bool
) -> Sequence[Choice] | None:
    """Links of an attachment to spine cages of its own."""
    demand, spine = fabric.attachments[index], clos.parts.spine_down
    on_spine = Counter(number for tier, number in clos.free[index] if tier == "spine")
    if spine is None or not on_spine:
        return ()
    ports, lanes = sum(on_spine.values()), spine.lane.ports
    alike = Counter(on_spine.values())
    far = Side([PeerLinks(spines, 1, each, 0) for each, spines in sorted(alike.items())], lanes, spine.cages)
    if demand.buys == "none":
        row = RowShare("attachment", "spine", demand.name, None, ports, ports, int(far.cages), ())
        return (Choice(("attachment", demand.name, "none", "spine", int(far.cages)), 1, (Option((row,)),)),)
    joins = attachment_joins(problem, fabric, demand, spine.port, clos.parts.protocol, "spine")
    need = Need(Side((PeerLinks(1, 1, ports, 0),), 1, ports), far)
    key = ("attachment", demand.name, demand.port, spine.port, "spine", *clos.attached_runs_m)
    return choices_of(need, joins, ("attachment", "spine"), key, False, prune, demand.name)


def _later_links(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, demand: AttachmentDemand, prune: bool
) -> Sequence[Choice] | None:
    """Links that stages add one by one, of single ports at both ends: each is bought for the stage that adds it."""
    leaf = clos.parts.leaf_down
    assert demand.port is not None
    if demand.port.ports > 1:
        return None
    joins = attachment_joins(problem, fabric, demand, leaf.port, clos.parts.protocol)
    choices: list[Choice] = []
    for stage, ports in enumerate(demand.adds):
        need = Need(Side((PeerLinks(1, 1, ports, 0),), 1, ports), Side((PeerLinks(ports, 1, 1, 0),), 1, 1))
        key = ("attachment", demand.name, leaf.port, stage, *clos.attached_runs_m)
        for choice in choices_of(need, joins, ("attachment", "leaf"), key, False, prune, demand.name) or ():
            choices.append(replace(choice, options=tuple(_at(option, stage) for option in choice.options)))
    linked = sum(choice.count * choice.options[0].rows[0].links for choice in choices if choice.options)
    return choices if linked == demand.ports else None


def _at(option: Option, stage: int) -> Option:
    """The links of an option, bought for a stage."""
    return Option(tuple(row._replace(stage=stage, stages=(stage,) * row.links) for row in option.rows))


def least_attached(problem: Problem, fabric: FabricProblem, clos: ClosNetwork, weights: Floats) -> float:
    """No choice of parts makes the links of attachments for less, at weights of the items, shape (items,).

    In leaf cages of several ports, what is at the leaf may be there for servers already.
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


def with_attachments(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, kind: LinkType
) -> Sequence[Choice] | None:
    """Server and attachment links together: they share a leaf cage where its transceiver is the same product.

    Links of attachments that come later are not made to such cages.
    """
    leaf, demands = clos.parts.leaf_down, attached_to_leaves(fabric, clos)
    if any(one.adds for one in demands):
        return None
    links, classes = links_of_kind(problem, clos, kind), leaf_classes(fabric, clos)
    if links is None:
        return None
    lists: list[Sequence[Assembly | None]] = [_undominated(links.joins(links.longest_m, True), links, links.cables)]
    for demand in demands:
        joins = attachment_joins(problem, fabric, demand, leaf.port, clos.parts.protocol)
        bought = demand.buys != "none" and demand.ports > 0
        lists.append(_undominated(joins, links, lambda one: (one.cable,)) if bought else (None,))
    staged = staged_links(problem, clos, links) if clos.stages else None
    owners = list(dict.fromkeys(ports_on_leaves(fabric, clos)))
    options: list[Option] = []
    limits = [down_limit(clos.parts, shape) for shape in (clos.shape, clos.shape.of_last)]
    need = clos.shape.server_leaf(clos.parts.nic, leaf.lane.ports, limits[0], limits[1] if clos.shape.is_odd else None)
    quantities = {way: parts for way in lists[0] if way is not None and (parts := need.quantities(way)).fits}
    for server, others in product(quantities, product(*lists[1:])):
        chosen = (server, *others)
        option = _joint_option(demands, links, clos, classes, limits, chosen, quantities[server])
        if option is not None:
            options += _in_lengths(fabric, links, staged, owners, option, chosen)
    if not options:
        return None
    kept = undominated(options)
    return (Choice(("joint", tuple(option.rows for option in kept)), 1, kept),)


def _undominated(
    ways: Sequence[Assembly], links: KindLinks, cables: Callable[[Assembly], Sequence[Item]]
) -> list[Assembly]:
    """Ways without those that another beats which takes the same of leaf cages: by its near end, or its cables.

    ``cables``: those of a way, in all lengths that are used.
    """
    alike: dict[tuple[Any, ...], list[Assembly]] = {}
    for way in ways:
        alike.setdefault((_shares(way, links), way.mode, way.far, way.ports_per_cable), []).append(way)
    kept = (one for many in alike.values() for one in many if not any(_dominates(o, one, cables) for o in many))
    return sorted(kept, key=ways.index)


def _dominates(way: Assembly, other: Assembly, cables: Callable[[Assembly], Sequence[Item]]) -> bool:
    """Whether one way is no dearer than another and uses no more power, near module and cables; of equals by name."""
    if way is other or (way.near is None) != (other.near is None):
        return False
    parts, of_other = ([one.near, *cables(one)] for one in (way, other))
    if any(item is not None and item.varies for item in (*parts, *of_other)):
        return False
    own, theirs = (tuple(number for part in many for number in _numbers(part)) for many in (parts, of_other))
    return all(a <= b for a, b in zip(own, theirs, strict=True)) and (
        own != theirs or (way.name, way.length_m) < (other.name, other.length_m)
    )


def _numbers(item: Item | None) -> tuple[int, ...]:
    """What an item costs at each stage and the power it uses; nothing if there is none."""
    return () if item is None else (*item.unit_costs, item.power_mw)


def _in_lengths(
    fabric: FabricProblem,
    links: KindLinks,
    staged: StagedLinks | None,
    owners: Sequence[tuple[int, int]],
    option: Option,
    chosen: Sequence[Assembly | None],
) -> Iterator[Option]:
    """An option with cables as long as their links need, stage by stage; nothing if not all parts reach so far.

    ``owners``: the leaf and the attachment of the ports, each pair once. A cage or cable that servers share with
    attachments is there from the first stage on.
    """
    servers, *others = option.rows
    assert servers.assembly is not None
    key, attached_m = _shares(servers.assembly, links), run_of(fabric, "attachment-leaf")
    sharing = [key is not None and _shares(one or servers.assembly, links) == key for one in chosen]
    shared = [(leaf, chosen[1 + owner]) for leaf, owner in owners if sharing[1 + owner]]
    cages, cables = sorted({leaf for leaf, _ in shared}), sorted({leaf for leaf, one in shared if one is not None})
    if servers.assembly.mode is Mode.FAR and cables:
        together = {servers.assembly, *(one for _, one in shared if one is not None)}
        if min(map(links.problem.links.longest_of, together)) < max(attached_m, links.longest_m):
            return
    if staged is None:
        yield links.in_lengths(option, cables, attached_m)
    else:
        yield Option((*staged.whole_rows(servers.assembly, cages, cables, attached_m), *others))


def _shares(assembly: Assembly, links: KindLinks) -> tuple[Any, ...] | None:
    """Links with equal keys may share a leaf cage; None: they never do. ``links``: those of the servers."""
    if assembly.mode is Mode.PAIR:
        return None
    return assembly.far, links.breakout(assembly) if assembly.mode is Mode.FAR else None


def _joint_option(
    demands: Sequence[AttachmentDemand],
    links: KindLinks,
    clos: ClosNetwork,
    classes: Sequence[LeafPorts],
    limits: Sequence[int],
    chosen: Sequence[Assembly | None],
    parts: Quantities,
) -> Option | None:
    """The option of links made in these ways; None where they do not fit.

    ``limits``: cages of a leaf, and of one of an odd last group; ``parts``: of the servers' links alone.
    """
    n, shape, nic = clos.parts.leaf_down.lane.ports, clos.shape, clos.parts.nic
    leaf_cages = [0] * len(chosen)
    leaf_cables = [0] * len(chosen)
    order = [i for i, one in enumerate(chosen) if one is not None] + [i for i, one in enumerate(chosen) if one is None]
    for kind in classes:
        together = nic.bundle(int(shape.last_k if kind.is_odd else shape.k))
        taken = _cages_of_leaf(kind, order, chosen, links, n, together)
        if sum(cages for cages, _ in taken.values()) > limits[kind.is_odd]:
            return None
        for index, (cages, cables) in taken.items():
            leaf_cages[index] += cages * kind.leaves
            leaf_cables[index] += cables * kind.leaves
    server, ports_of_servers = chosen[0], shape.servers * nic.ports_per_server
    assert server is not None
    rows = [row_share(("server", "leaf"), server, ports_of_servers, parts._replace(far=leaf_cages[0]))]
    for index, demand in enumerate(demands, start=1):
        join = chosen[index]
        if not demand.ports:
            continue
        if join is not None and join.mode is Mode.PAIR and not _pairs_fit_attachment(demand, join, leaf_cables[index]):
            return None
        rows.append(_attachment_row(demand, join, leaf_cages[index], leaf_cables[index]))
    return Option(tuple(rows))


def _cages_of_leaf(
    kind: LeafPorts,
    order: Sequence[int],
    chosen: Sequence[Assembly | None],
    links: KindLinks,
    n: int,
    together: int,
) -> dict[int, tuple[int, int]]:
    """(cages, cables) that each kind of link adds on one leaf; 0 is the servers', the rest attachments in order."""
    filled: dict[Any, int] = {}
    taken: dict[int, tuple[int, int]] = {}
    server = chosen[0]
    assert server is not None
    for index in order:
        way = chosen[index]
        ports = kind.servers_ports if index == 0 else kind.attached[index - 1]
        if way is not None and way.mode is Mode.PAIR:
            pairs, ports_of_pair = (ports // together, together) if index == 0 else (1, ports)
            cables = int(pairs * ceil_of(ports_of_pair, way.ports_per_cable))
            taken[index] = (int(ceil_of(cables * way.ports_per_cable, n)), cables)
            continue
        key = _shares(way if way is not None else server, links)
        before = filled.get(key, 0)
        filled[key] = before + ports
        per_cable = way.ports_per_cable if way is not None else 1
        taken[index] = (
            int(ceil_of(before + ports, n) - ceil_of(before, n)),
            int(ceil_of(before + ports, per_cable) - ceil_of(before, per_cable)),
        )
    return taken


def _pairs_fit_attachment(demand: AttachmentDemand, join: Assembly, cables: int) -> bool:
    """Cables that carry several ports take whole cages; the attachment has just those that its ports need."""
    assert demand.port is not None
    return bool(cables * join.ports_per_cable <= ceil_of(demand.ports, demand.port.ports) * demand.port.ports)


def _attachment_row(demand: AttachmentDemand, join: Assembly | None, leaf_cages: int, leaf_cables: int) -> RowShare:
    ports = demand.port.ports if demand.port is not None else 1
    near_cages = int(ceil_of(demand.ports, ports))
    if join is None:
        return RowShare("attachment", "leaf", demand.name, None, demand.ports, near_cages, leaf_cages, ())
    cables = {
        Mode.LINK: demand.ports,
        Mode.PAIR: leaf_cables,
        Mode.FAR: leaf_cables,
        Mode.NEAR: int(ceil_of(demand.ports, join.ports_per_cable)),
        Mode.WHOLE: int(ceil_of(demand.ports, join.ports_per_cable)),
    }[join.mode]
    parts = part_uses(join, near_cages, cables, leaf_cages)
    return RowShare("attachment", "leaf", demand.name, join, demand.ports, near_cages, leaf_cages, parts)
