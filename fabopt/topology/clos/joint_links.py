"""Links of servers and attachments where both share the cages of a leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import CageUse
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import HostPort
from fabopt.topology.candidate import Choice, Option, RowShare, part_uses, row_share, undominated
from fabopt.topology.clos.attached import LeafPorts, attached_to_leaves, leaf_classes, ports_on_leaves
from fabopt.topology.clos.cabling import KindLinks, LinkType
from fabopt.topology.clos.joins import attachment_joins, run_of
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.stage_links import StagedLinks, down_limit, links_of_kind, staged_links
from fabopt.topology.link_parts import Quantities
from fabopt.units import ceil_of


def with_attachments(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, kind: LinkType
) -> Sequence[Choice] | None:
    """Choices for server and attachment links together: they share a leaf cage where its transceiver is the same
    product.

    None if they cannot be made, or if stages add attachments, whose links share no cages. Without racks and stages,
    candidates that differ above their leaves have equal choices.
    """
    links = links_of_kind(problem, clos, kind)
    if links is None or any(demand.adds for demand in attached_to_leaves(fabric, clos)):
        return None
    if clos.stages or links.flat_m is None:
        return _with_attachments(problem, fabric, clos, links)
    key = _leaves_key(problem, clos)
    return _JOINT_CHOICES.of(fabric, key, _with_attachments, problem, fabric, clos, links)


class _LeavesKey(NamedTuple):
    """Key of the links of flat leaves, beside their fabric: the parts on sale, and the leaves themselves."""

    on_sale: LinkTable
    nic: NicOption
    leaf_down: CageUse
    protocol: str
    shape: tuple[int, ...]
    limits: tuple[int, int]
    free: tuple[tuple[HostPort, ...], ...]


_JOINT_CHOICES: Lookup[FabricProblem, _LeavesKey, Sequence[Choice] | None] = Lookup()


def _leaves_key(problem: Problem, clos: ClosNetwork) -> _LeavesKey:
    parts, shape = clos.parts, clos.shape
    sizes = (
        shape.planes, shape.servers, shape.g, shape.k, shape.groups, shape.rails, shape.has_own_last, shape.own_k,
        shape.groups_per_pod, shape.rail_pods,
    )  # fmt: skip
    limits = down_limit(parts, shape), down_limit(parts.of_last, shape.of_last)
    on_leaves = tuple(map(int, sizes))
    return _LeavesKey(problem.links, parts.nic, parts.leaf_down, parts.protocol, on_leaves, limits, clos.free)


def _with_attachments(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, links: KindLinks
) -> Sequence[Choice] | None:
    leaf, demands, classes = clos.parts.leaf_down, attached_to_leaves(fabric, clos), leaf_classes(fabric, clos)
    lists: list[Sequence[Assembly | None]] = [links.joins(links.longest_m, True)]
    for demand in demands:
        joins = attachment_joins(problem, fabric, demand, leaf.port, clos.parts.protocol)
        bought = demand.buys != "none" and demand.ports > 0
        lists.append(joins if bought else (None,))
    staged = staged_links(problem, clos, links) if clos.stages else None
    owners = list(dict.fromkeys(ports_on_leaves(fabric, clos)))
    options: list[Option] = []
    limits = [down_limit(clos.parts, clos.shape), down_limit(clos.parts.of_last, clos.shape.of_last)]
    need = clos.shape.server_leaf(
        clos.parts.nic, leaf.lane.ports, limits[0], limits[1] if clos.shape.has_own_last else None
    )
    quantities = {way: parts for way in lists[0] if way is not None and (parts := need.quantities(way)).fits}
    for server, others in product(quantities, product(*lists[1:])):
        chosen = (server, *others)
        option = _joint_option(demands, links, clos, classes, limits, chosen, quantities[server])
        if option is not None:
            in_lengths = _in_lengths(fabric, links, staged, owners, option, chosen)
            options += [replace(sized, leaf_cages=option.leaf_cages) for sized in in_lengths]
    if not options:
        return None
    kept = undominated(options)
    return (Choice(("joint", tuple(option.rows for option in kept)), 1, kept),)


def _in_lengths(
    fabric: FabricProblem,
    links: KindLinks,
    staged: StagedLinks | None,
    owners: Sequence[tuple[int, int]],
    option: Option,
    chosen: Sequence[Assembly | None],
) -> Iterator[Option]:
    """An option with cables as long as their links need, stage by stage; none if a part is not sold that long.

    ``owners``: the leaf and the attachment of the ports, each pair once. A cage or cable that servers share with
    attachments is there from the first stage on.
    """
    servers, *others = option.rows
    assert servers.assembly is not None
    key = _shares(servers.assembly, links)
    there_m = (dict(fabric.attachments[owner].there_m) for _, owner in owners)
    attached_m = max(there.get("leaf", run_of(fabric, "attachment-leaf")) for there in there_m)
    sharing = [key is not None and _shares(assembly or servers.assembly, links) == key for assembly in chosen]
    shared = [(leaf, chosen[1 + owner]) for leaf, owner in owners if sharing[1 + owner]]
    cages, cables = (
        sorted({leaf for leaf, _ in shared}),
        sorted({leaf for leaf, assembly in shared if assembly is not None}),
    )
    if servers.assembly.mode is Mode.FAR and cables:
        together = {servers.assembly, *(assembly for _, assembly in shared if assembly is not None)}
        if min(map(links.problem.links.longest_of, together)) < max(attached_m, links.longest_m):
            return
    if staged is None:
        yield links.in_lengths(option, cables, attached_m)
    else:
        yield Option((*staged.whole_rows(servers.assembly, cages, cables, attached_m), *others))


def _shares(assembly: Assembly, links: KindLinks) -> tuple[Any, ...] | None:
    """Key of links that may share a leaf cage; None: they share none. ``links``: those of the servers."""
    if assembly.mode in (Mode.PAIR, Mode.CROSS):
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
    """The option of links made by the ``chosen`` assemblies; None where they do not fit.

    ``limits``: cages of a leaf, and of a leaf of a differing last group; ``parts``: of the servers' links alone.
    """
    n, shape, nic = clos.parts.leaf_down.lane.ports, clos.shape, clos.parts.nic
    leaf_cages = [0] * len(chosen)
    leaf_cables = [0] * len(chosen)
    busiest = [0, 0]
    order = [i for i, assembly in enumerate(chosen) if assembly is not None] + [
        i for i, assembly in enumerate(chosen) if assembly is None
    ]
    for kind in classes:
        together = nic.bundle(int(shape.last_k if kind.is_of_last else shape.k))
        taken = _cages_of_leaf(kind, order, chosen, links, n, together)
        busiest[kind.is_of_last] = max(busiest[kind.is_of_last], sum(cages for cages, _ in taken.values()))
        for index, (cages, cables) in taken.items():
            leaf_cages[index] += cages * kind.leaves
            leaf_cables[index] += cables * kind.leaves
    if any(cages > limit for cages, limit in zip(busiest, limits, strict=True)):
        return None
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
    return Option(tuple(rows), leaf_cages=tuple(busiest))


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
        if way is not None and way.mode is Mode.CROSS:  # of servers: their shuffles are counted for all leaves
            taken[index] = (int(ceil_of(ports, n)), 0)
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
    """Whether an attachment has the ports for cables that carry several ports and take whole cages."""
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
