"""From the search's arrays to candidates: exact quantities, and the choices that are left for the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from fabopt.goods import Item
from fabopt.links import Assembly, Mode
from fabopt.problem import AttachmentDemand, FabricProblem, Problem
from fabopt.topology.candidate import (
    Candidate,
    Choice,
    Option,
    RowShare,
    choices_of,
    part_uses,
    row_share,
    undominated,
)
from fabopt.topology.clos.floored import (
    Cabling,
    Kind,
    Standing,
    cabling_of,
    floor_choices,
    grid_of,
    standing_of,
    whole_row,
)
from fabopt.topology.clos.joins import attachment_joins, run_of, server_assemblies
from fabopt.topology.clos.shape import Parts, Shape, TierCount, down_cage_limit, most_endpoints, up_cage_limit
from fabopt.topology.clos.threshold import Batch
from fabopt.topology.needs import Need, Profile, Quantities, Side, ceil_of


class Clos(NamedTuple):
    """A Clos candidate: its hardware and its numbers."""

    parts: Parts
    shape: Shape
    down_ports: int
    reserved_ports: int
    standing: Standing | None = None

    @property
    def tiers(self) -> TierCount:
        """Switch tiers."""
        return self.parts.tiers


class LeafClass(NamedTuple):
    """``leaves`` equal leaves: server ports on each, and ports of each attachment."""

    leaves: int
    servers_ports: int
    attached: tuple[int, ...]


def clos_of(problem: Problem, fabric: FabricProblem, batch: Batch, index: int) -> Clos:
    """One candidate of a batch."""
    shape = batch.shape.row(index)
    down = int(most_endpoints(shape, fabric.attachment_ports))
    free = 1 - fabric.reserve
    with_reserve = int(ceil_of(down * free.denominator, free.numerator))
    return Clos(batch.parts, shape, down, with_reserve - down)


def candidate_of(
    problem: Problem, fabric: FabricProblem, batch: Batch, index: int, prune: bool, standing: Standing | None = None
) -> Candidate | None:
    """The candidate with its exact needs; None if its links cannot be made, or its switches placed, after all.

    ``standing``: where its switches stand on a floor; None: as the fabric's layout, if it has one, puts them.
    """
    clos = clos_of(problem, fabric, batch, index)
    if standing is not None:
        clos = clos._replace(standing=standing)
    elif fabric.layout is not None:
        standing = standing_of(problem, fabric.layout, clos.parts, clos.shape)
        if standing is None:
            return None
        clos = clos._replace(standing=standing)
    choices: list[Choice] = []
    for made in _links(problem, fabric, clos, prune):
        if made is None:
            return None
        choices.extend(made)
    return Candidate(
        fabric=fabric.name,
        topology="clos",
        design=clos,
        fixed=boxes_of(problem, clos),
        choices=tuple(choices),
        bound=float(batch.cost[0, index]),
        order=tie_order(fabric, clos),
        cards=0 if clos.parts.nic.item is None else clos.parts.nic.cards,
    )


def tie_order(fabric: FabricProblem, clos: Clos) -> tuple[Any, ...]:
    """Rank among candidates that cost, draw, stand and count the same; the smallest wins (docs/formulation.md)."""
    parts, shape = clos.parts, clos.shape
    uses = (parts.leaf_down, parts.leaf_up, parts.spine_down, parts.spine_up, parts.core_down)
    return (
        int(shape.pods) if clos.tiers == 3 else 1,
        int(shape.links_per_pair) if clos.tiers > 1 else 0,
        not (shape.k == 1 or shape.groups == 1),
        -int(shape.g),
        int(shape.k), int(shape.u), int(shape.x), int(shape.q), int(shape.m2),
        parts.nic.nic_id,
        *(box.id if box is not None else "" for box in (parts.leaf, parts.spine, parts.core)),
        parts.nic.split,
        *(use.split if use is not None else "" for use in uses),
        parts.nic.group,
        *(use.group if use is not None else -1 for use in uses),
        parts.nic.cards, parts.nic.ports_per_card, parts.nic.planes,
        bool(shape.rail_pods),
        int(shape.groups_per_pod),
        clos.standing.layout.name if clos.standing is not None else "",
        tuple(tuple(one.rack.tolist()) for one in clos.standing.stands) if clos.standing is not None else (),
    )  # fmt: skip


def boxes_of(problem: Problem, clos: Clos) -> dict[Item, int]:
    """Cards and switches."""
    parts, shape = clos.parts, clos.shape
    planes = parts.nic.planes
    counts: dict[Item, int] = {}
    boxes: list[tuple[Item | None, int]] = [
        (parts.nic.item, problem.servers * parts.nic.cards),
        (parts.leaf.item, planes * shape.leaves),
    ]
    if parts.spine is not None:
        boxes.append((parts.spine.item, planes * shape.pods * shape.spines))
    if parts.core is not None:
        boxes.append((parts.core.item, planes * shape.cores))
    for item, count in boxes:
        if item is not None:
            counts[item] = counts.get(item, 0) + int(count)
    return counts


def _links(problem: Problem, fabric: FabricProblem, clos: Clos, prune: bool) -> Iterator[Sequence[Choice] | None]:
    servers, *above = kinds_of(clos)
    if fabric.attachments and clos.parts.leaf_down.lane.ports > 1:
        yield _with_attachments(problem, fabric, clos, _down_limit(clos.parts, clos.shape))
    else:
        yield _kind_choices(problem, fabric, clos, servers, prune)
        for attachment in fabric.attachments:
            yield _attachment_leaf(problem, fabric, clos, attachment, prune)
    for kind in above:
        yield _kind_choices(problem, fabric, clos, kind, prune)


def _kind_choices(
    problem: Problem, fabric: FabricProblem, clos: Clos, kind: Kind, prune: bool
) -> Sequence[Choice] | None:
    """Choices for the links of a kind: over the site's flat run, or over the runs of a floor."""
    if clos.standing is None:
        joins = assemblies_over(problem, clos, kind, run_of(fabric, kind.name), False)
        return choices_of(kind.need, joins, kind.ends, kind.key, kind.mixes, prune)
    cabling = cabling_of(problem, clos.standing, kind)
    if cabling is None:
        return None
    return floor_choices(problem, cabling, lambda run_m, all_: assemblies_over(problem, clos, kind, run_m, all_))


def assemblies_over(problem: Problem, clos: Clos, kind: Kind, run_m: float, all_: bool) -> Sequence[Assembly]:
    """Assemblies that make links of a kind over a run; ``all_``: with those that others beat."""
    joins = problem.links.assemblies(*kind.ports, run_m, clos.parts.protocol, all_)
    if kind.name != "server-leaf":
        return joins
    return server_assemblies(joins, clos.parts.nic, int(clos.shape.k))


def kinds_of(clos: Clos) -> tuple[Kind, ...]:
    """The kinds of links from the servers up, attachments left aside."""
    kinds = [_server_leaf(clos, _down_limit(clos.parts, clos.shape))]
    if clos.tiers > 1:
        kinds.append(_leaf_spine(clos))
    if clos.tiers > 2:
        kinds.append(_spine_core(clos))
    return tuple(kinds)


def _down_limit(parts: Parts, shape: Shape) -> int:
    """Cages of a leaf for down links."""
    if parts.leaf_up is None:
        return parts.leaf_down.cages
    return int(down_cage_limit(parts.leaf_down, parts.leaf_up, shape.u))


def _server_leaf(clos: Clos, limit: int) -> Kind:
    nic, down, shape = clos.parts.nic, clos.parts.leaf_down, clos.shape
    n, together = down.lane.ports, nic.bundle(int(shape.k))
    mixes = nic.port.ports == n and together % n == 0
    key = ("server-leaf", nic.port, down.port, clos.parts.protocol, mixes, together)
    need = shape.server_leaf(nic, n, limit)
    return Kind("server-leaf", ("server", "leaf"), (nic.port, down.port), need, mixes, key)


def _leaf_spine(clos: Clos) -> Kind:
    parts, shape = clos.parts, clos.shape
    up, down = parts.leaf_up, parts.spine_down
    assert up is not None and down is not None
    spine_limit = down.cages if parts.spine_up is None else int(down_cage_limit(down, parts.spine_up, shape.x))
    leaf_limit = int(up_cage_limit(parts.leaf_down, up, clos.down_ports + clos.reserved_ports))
    need = shape.leaf_spine(up.lane.ports, leaf_limit, down.lane.ports, spine_limit)
    n = up.lane.ports
    even = shape.u % shape.spines == 0
    mixes = bool(down.lane.ports == n and even and shape.links_per_pair % n == 0)
    key = ("leaf-spine", up.port, down.port, parts.protocol, mixes)
    return Kind("leaf-spine", ("leaf", "spine"), (up.port, down.port), need, mixes, key)


def _spine_core(clos: Clos) -> Kind:
    parts, shape = clos.parts, clos.shape
    up, down, below = parts.spine_up, parts.core_down, parts.spine_down
    assert up is not None and down is not None and below is not None
    spine_limit = int(up_cage_limit(below, up, shape.spine_down))
    need = shape.spine_core(up.lane.ports, spine_limit, down.lane.ports, down.cages)
    mixes = bool(up.lane.ports == down.lane.ports and shape.m2 % up.lane.ports == 0)
    key = ("spine-core", up.port, down.port, parts.protocol, mixes)
    return Kind("spine-core", ("spine", "core"), (up.port, down.port), need, mixes, key)


# -- attachments -------------------------------------------------------------------------------------------------


def leaf_classes(fabric: FabricProblem, shape: Shape) -> list[LeafClass]:
    """Leaves of all planes by what is on them. Attachments go round, one a leaf a round, emptiest leaves first."""
    leaves_of_group = int(shape.planes * shape.rails)
    full, last = int(shape.g * shape.k), int(shape.last_group * shape.k)
    kinds = [(leaves_of_group, last), ((int(shape.groups) - 1) * leaves_of_group, full)]
    if last >= full:
        kinds = [(int(shape.groups) * leaves_of_group, full)]
    total = sum(leaves for leaves, _ in kinds)
    owners = [index for index, one in enumerate(fabric.attachments) for _ in range(one.ports)]
    sizes: dict[tuple[int, tuple[int, ...]], int] = {}
    place = 0
    for leaves, ports in kinds:
        touched = min(leaves, max(0, len(owners) - place))
        for position in range(place, place + touched):
            on_leaf = owners[position::total]
            key = (ports, tuple(on_leaf.count(index) for index in range(len(fabric.attachments))))
            sizes[key] = sizes.get(key, 0) + 1
        if leaves > touched:
            key = (ports, (0,) * len(fabric.attachments))
            sizes[key] = sizes.get(key, 0) + leaves - touched
        place += leaves
    return [LeafClass(count, ports, attached) for (ports, attached), count in sizes.items()]


def _attachment_leaf(
    problem: Problem, fabric: FabricProblem, clos: Clos, one: AttachmentDemand, prune: bool
) -> Sequence[Choice] | None:
    """Links of an attachment to single-port leaf cages."""
    if one.buys == "none":
        return (_nothing_bought(one, one.ports),)
    leaf = clos.parts.leaf_down
    joins = attachment_joins(problem, fabric, one, leaf.port, clos.parts.protocol)
    ports = one.port.ports if one.port is not None else 1
    need = Need(
        Side((Profile(1, 1, one.ports, 0),), ports, one.ports),
        Side((Profile(one.ports, 1, 1, 0),), 1, 1),
    )
    return choices_of(need, joins, ("attachment", "leaf"), ("attachment", one.name, leaf.port), False, prune, one.name)


def _nothing_bought(one: AttachmentDemand, leaf_cages: int) -> Choice:
    ports = one.port.ports if one.port is not None else 1
    row = RowShare("attachment", "leaf", one.name, None, one.ports, int(ceil_of(one.ports, ports)), leaf_cages, ())
    return Choice(("attachment", one.name, "none", leaf_cages), 1, (Option((row,)),))


def _with_attachments(problem: Problem, fabric: FabricProblem, clos: Clos, limit: int) -> Sequence[Choice] | None:
    """Server and attachment links together: they share a leaf cage where its transceiver is the same product."""
    leaf = clos.parts.leaf_down
    classes = leaf_classes(fabric, clos.shape)
    kind = _server_leaf(clos, limit)
    cabling = None if clos.standing is None else cabling_of(problem, clos.standing, kind)
    if clos.standing is not None and cabling is None:
        return None
    run_m = run_of(fabric, "server-leaf") if cabling is None else float(grid_of(problem)[cabling.classes.max()])
    lists: list[Sequence[Assembly | None]] = [assemblies_over(problem, clos, kind, run_m, True)]
    for one in fabric.attachments:
        joins = attachment_joins(problem, fabric, one, leaf.port, clos.parts.protocol)
        lists.append((None,) if one.buys == "none" else joins)
    options = []
    for chosen in product(*lists):
        option = _joint_option(fabric, clos, classes, limit, chosen)
        if option is not None and cabling is not None:
            option = _on_floor(problem, cabling, option)
        if option is not None:
            options.append(option)
    if not options:
        return None
    kept = undominated(options)
    return (Choice(("joint", tuple(option.rows for option in kept)), 1, kept),)


def _on_floor(problem: Problem, cabling: Cabling, option: Option) -> Option | None:
    """Server links in the lengths that they need. Breakouts at leaves are left out: attachments would share them."""
    servers, *others = option.rows
    if servers.assembly is None or servers.assembly.mode is Mode.FAR:
        return None
    measured = whole_row(problem, cabling, servers.assembly, servers.near_cages, servers.far_cages)
    return Option((measured, *others))


def _shares(one: Assembly) -> tuple[Any, ...] | None:
    """Links with equal keys may share a leaf cage; None: they never do."""
    if one.mode is Mode.PAIR:
        return None
    return one.far, one.wire if one.mode is Mode.FAR else None


def _joint_option(
    fabric: FabricProblem,
    clos: Clos,
    classes: Sequence[LeafClass],
    limit: int,
    chosen: Sequence[Assembly | None],
) -> Option | None:
    n = clos.parts.leaf_down.lane.ports
    server = chosen[0]
    assert server is not None
    need = clos.shape.server_leaf(clos.parts.nic, n, limit)
    parts = need.quantities(server)
    if not parts.fits:
        return None
    together = clos.parts.nic.bundle(int(clos.shape.k))
    leaf_cages = [0] * len(chosen)
    leaf_wires = [0] * len(chosen)
    order = [i for i, one in enumerate(chosen) if one is not None] + [i for i, one in enumerate(chosen) if one is None]
    for kind in classes:
        taken = _cages_of_leaf(kind, order, chosen, n, together)
        if sum(cages for cages, _ in taken.values()) > limit:
            return None
        for index, (cages, wires) in taken.items():
            leaf_cages[index] += cages * kind.leaves
            leaf_wires[index] += wires * kind.leaves
    rows = [row_share(("server", "leaf"), server, need.links, parts._replace(far=leaf_cages[0]))]
    for index, one in enumerate(fabric.attachments, start=1):
        join = chosen[index]
        if join is not None and join.mode is Mode.PAIR and not _pairs_fit_attachment(one, join, leaf_wires[index]):
            return None
        rows.append(_attachment_row(one, join, leaf_cages[index], leaf_wires[index]))
    return Option(tuple(rows))


def _cages_of_leaf(
    kind: LeafClass, order: Sequence[int], chosen: Sequence[Assembly | None], n: int, together: int
) -> dict[int, tuple[int, int]]:
    """(cages, wires) that each kind of link adds on one leaf; 0 is the servers', the rest attachments in order."""
    filled: dict[Any, int] = {}
    taken: dict[int, tuple[int, int]] = {}
    server = chosen[0]
    assert server is not None
    for index in order:
        one = chosen[index]
        ports = kind.servers_ports if index == 0 else kind.attached[index - 1]
        if one is not None and one.mode is Mode.PAIR:
            pairs, each = (ports // together, together) if index == 0 else (1, ports)
            wires = int(pairs * ceil_of(each, one.ports_per_wire))
            taken[index] = (int(ceil_of(wires * one.ports_per_wire, n)), wires)
            continue
        key = _shares(one if one is not None else server)
        before = filled.get(key, 0)
        filled[key] = before + ports
        per_wire = one.ports_per_wire if one is not None else 1
        taken[index] = (
            int(ceil_of(before + ports, n) - ceil_of(before, n)),
            int(ceil_of(before + ports, per_wire) - ceil_of(before, per_wire)),
        )
    return taken


def _pairs_fit_attachment(one: AttachmentDemand, join: Assembly, wires: int) -> bool:
    """Wires that carry several ports take whole cages; the attachment has just those that its ports need."""
    assert one.port is not None
    return bool(wires * join.ports_per_wire <= ceil_of(one.ports, one.port.ports) * one.port.ports)


def _attachment_row(one: AttachmentDemand, join: Assembly | None, leaf_cages: int, leaf_wires: int) -> RowShare:
    ports = one.port.ports if one.port is not None else 1
    near_cages = int(ceil_of(one.ports, ports))
    if join is None:
        return RowShare("attachment", "leaf", one.name, None, one.ports, near_cages, leaf_cages, ())
    wires = {
        Mode.LINK: one.ports,
        Mode.PAIR: leaf_wires,
        Mode.FAR: leaf_wires,
        Mode.NEAR: int(ceil_of(one.ports, join.ports_per_wire)),
        Mode.WHOLE: int(ceil_of(one.ports, join.ports_per_wire)),
    }[join.mode]
    parts = part_uses(join, near_cages, wires, leaf_cages)
    return RowShare("attachment", "leaf", one.name, join, one.ports, near_cages, leaf_cages, parts)


__all__ = ["Clos", "Quantities", "candidate_of", "clos_of", "leaf_classes", "tie_order"]
