"""The kinds of links that a fabric must have, recounted from its structure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fabopt.schema.attachment import Attachment
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.catalog import Nic, Transceiver
from fabopt.schema.design import LinkPart
from fabopt.schema.homing import CABLES_OF_PEER_LINK, PEER_LINK
from fabopt.schema.product import Cage
from fabopt.units import ceil_div
from fabopt.verify.attached_runs import attached_run_m
from fabopt.verify.equal_devices import EqualDevices
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_rows import (
    NO_MEDIUM,
    CageEnd,
    Fill,
    LinkKind,
    LinkSide,
    ListedRow,
    fill_of,
    ports_per_connector,
    read_row,
)
from fabopt.verify.mesh_counts import MeshLinks
from fabopt.wiring.design_file import divide, item_at

SERVER_LEAF = "server-leaf"
LEAF_SPINE = "leaf-spine"
SPINE_CORE = "spine-core"
LEAF_LEAF = "leaf-leaf"
ATTACHMENT_LEAF = "attachment-leaf"
ATTACHMENT_SPINE = "attachment-spine"


def rows_between(
    fabric: FabricEvidence, near: str, far: str, attachment: str | None = None, scope: str | None = None
) -> tuple[ListedRow, ...]:
    """The file's rows of one kind."""
    return tuple(
        read_row(fabric.evidence, row)
        for row in fabric.designed.links
        if (row.from_, row.to, row.attachment, row.scope) == (near, far, attachment, scope)
    )


def attachment_run_m(fabric: FabricEvidence, attachment: Attachment) -> float:
    """Metres from attachments to leaves; the servers' run where the case does not state it, and for ports of logical
    fabrics.
    """
    return fabric.run_m(SERVER_LEAF) if attachment.name in fabric.logical else attached_run_m(fabric, "leaf")


def attachment_rows(fabric: FabricEvidence, servers: tuple[ListedRow, ...]) -> dict[str, tuple[ListedRow, ...]]:
    """The file's rows of every attachment, by name.

    Where all its links find room in leaf cages of others, a row may leave out the module (or splitter, or breakout
    fibre) at the leaf: it is that of the servers' links, or of an attachment before it.
    """
    others = list(servers[:1])
    rows: dict[str, tuple[ListedRow, ...]] = {}
    for attachment in fabric.wanted.attachments:
        own = rows_between(fabric, "attachment", "leaf", attachment.name)
        run_m = attachment_run_m(fabric, attachment)
        splits = attachment.split or "", fabric.tier("leaf").down.split
        rows[attachment.name] = tuple(_completed(row, others, run_m, splits) for row in own)
        others += rows[attachment.name]
    return rows


def _completed(row: ListedRow, others: list[ListedRow], run_m: float, splits: tuple[str, str]) -> ListedRow:
    """A row with the module or splitter that it shares at the leaf; ``splits``: of the cages at both ends."""
    if row.listed.to_cages or row.far is not None or row.cable is not None or row.listed.medium == NO_MEDIUM:
        return row
    # links with parts of their own there are in no splitter
    hosts = [other for other in others if other.cable is None or not row.listed.parts]
    hosts = [host for host in hosts if host.far is None or _joins(row, host.far, splits)]
    long_enough = [host for host in hosts if row.fibre is not None or _covers(host, run_m)]
    host = next(iter(long_enough or hosts), row)
    if host.cable is not None:
        return replace(row, cable=host.cable, run_part=_none_of(host.run_part))
    row = replace(row, far=host.far, far_part=_none_of(host.far_part))
    return row if row.fibre is not None else replace(row, fibre=host.fibre, run_part=_none_of(host.run_part))


def _joins(row: ListedRow, module: Transceiver, splits: tuple[str, str]) -> bool:
    """Whether another row's module at the leaf may end this row's links: same standard and connector, and in reach."""
    near, far = splits
    if row.near is not None and row.near.standard_by_split.get(near) != module.standard_by_split.get(far):
        return False
    if row.fibre is not None and not any(end.connector.endswith(module.connector) for end in row.fibre.both_ends):
        return False
    return module.reach_m >= row.listed.length_m


def _covers(row: ListedRow, run_m: float) -> bool:
    return row.run_part is not None and (row.run_part.length_m or 0) >= run_m


def _none_of(part: LinkPart | None) -> LinkPart | None:
    return part.model_copy(update={"quantity": 0}) if part is not None else None


def all_kinds(fabric: FabricEvidence) -> tuple[LinkKind, ...]:
    """Every kind of links of the fabric's tiers and attachments; of servers joined to each other, the dimensions."""
    if not fabric.has_switches:
        return tuple(between_equals(fabric, scope) for scope in fabric.scopes)
    kinds = [server_leaf(fabric), *attachment_kinds(fabric), *kinds_in_own_cages(fabric)]
    if fabric.num_tiers > 1:
        kinds.append(leaf_spine(fabric))
    if fabric.num_tiers > 2:
        kinds.append(spine_core(fabric))
    if fabric.peer_use is not None:
        kinds.append(leaf_leaf(fabric))
    return *kinds, *(between_equals(fabric, scope) for scope in fabric.scopes)


def nic_end(fabric: FabricEvidence) -> CageEnd:
    """The cages of a server's NICs, split as the file says."""
    return CageEnd(fabric.nic_cages, fabric.designed.nic.split, fabric.nic_lane, (fabric.nic,))


def switch_end(fabric: FabricEvidence, role: str, upwards: bool) -> CageEnd:
    """The end of links up or down at a tier's switches, split as the file states: of both types, where
    there are two.
    """
    use = fabric.up_use(role) if upwards else fabric.tier(role).down
    types = [(tier.up if upwards else tier.down, switch) for tier, switch in fabric.switch_types if tier.role == role]
    cages = [item_at(switch.cages, own.cage_group, f"{role} cage group") for own, switch in types if own is not None]
    return CageEnd(tuple(cages), use.split, parse_split(use.split), tuple(switch for _, switch in types))


def switch_side(end: CageEnd, devices: tuple[EqualDevices, ...]) -> LinkSide:
    """A side of switches: the links of a device fill its cages one after another."""
    return LinkSide(end, fill_of(((device.count, device.links) for device in devices), end.lane.ports), devices)


def server_leaf(fabric: FabricEvidence) -> LinkKind:
    """Links of every used port of every NIC to the leaves of the server's group.

    For links in one cable, the peers of a leaf are the sets of ports that go together: NICs, not servers.
    """
    clos = fabric.clos
    nic = nic_end(fabric)
    leaf = switch_end(fabric, "leaf", upwards=False)
    leaves = tuple(
        EqualDevices(leaves.count, (_bundles(fabric, leaves.servers, leaves.per_leaf),)) for leaves in clos.leaf_classes
    )
    return LinkKind(
        SERVER_LEAF,
        LinkSide(nic, fill_of([fabric.nic_holders], nic.lane.ports), tuple(_servers(fabric))),
        switch_side(leaf, leaves),
        clos.servers * clos.server_ports,
        fabric.run_m(SERVER_LEAF),
        rows_between(fabric, "server", "leaf"),
    )


def _servers(fabric: FabricEvidence) -> Iterator[EqualDevices]:
    """Servers by the sets of ports that lead to one leaf; servers of a last group unlike the others separately."""
    clos = fabric.clos
    others = clos.servers - clos.last_group if clos.has_own_last else clos.servers
    yield EqualDevices(others, (_bundles(fabric, clos.rails * clos.planes, clos.per_leaf),))
    if clos.has_own_last:
        yield EqualDevices(clos.last_group, (_bundles(fabric, clos.last_leaves.count, clos.last_per_leaf),))


def _bundles(fabric: FabricEvidence, peers: int, per_leaf: int) -> tuple[int, int]:
    """Sets of ports that go together to ``peers`` peers, and ports of each."""
    together = fabric.together_of(per_leaf)
    return peers * divide(per_leaf, together, "sets of ports that go together fill a leaf's share"), together


def leaf_spine(fabric: FabricEvidence) -> LinkKind:
    """Every uplink of every leaf, to the spines of its pod, or of its group in a dragonfly+."""
    leaf = switch_end(fabric, "leaf", upwards=True)
    spine = switch_end(fabric, "spine", upwards=False)
    below, above = fabric.leaf_spine
    return LinkKind(
        LEAF_SPINE,
        switch_side(leaf, below),
        switch_side(spine, above),
        sum(leaves.count * leaves.links for leaves in below),
        fabric.run_m(LEAF_SPINE),
        rows_between(fabric, "leaf", "spine"),
    )


def spine_core(fabric: FabricEvidence) -> LinkKind:
    """Every uplink of every spine, to the cores of its group."""
    clos = fabric.clos
    spine = switch_end(fabric, "spine", upwards=True)
    core = switch_end(fabric, "core", upwards=False)
    return LinkKind(
        SPINE_CORE,
        switch_side(spine, (clos.spine_uplink_devices,)),
        switch_side(core, (clos.core_devices,)),
        clos.planes * clos.pods * clos.spines * clos.spine_uplinks,
        fabric.run_m(SPINE_CORE),
        rows_between(fabric, "spine", "core"),
    )


def leaf_leaf(fabric: FabricEvidence) -> LinkKind:
    """The peer links of leaves, by pairs: each end of each cable has a cage of its own."""
    use = fabric.peer_use
    assert use is not None
    types = [(tier.up or use, switch) for tier, switch in fabric.switch_types if tier.role == "leaf"]
    cages = tuple(item_at(switch.cages, own.cage_group, "leaf cage group") for own, switch in types)
    end = CageEnd(cages, use.split, parse_split(use.split), tuple(switch for _, switch in types))
    cables = CABLES_OF_PEER_LINK * (fabric.clos.planes * fabric.clos.leaves // 2)
    side = LinkSide(end, Counter({1: cables}), (EqualDevices(cables, ((1, 1),)),))
    rows = rows_between(fabric, "leaf", "leaf", scope=PEER_LINK)
    return LinkKind(LEAF_LEAF, side, side, cables, fabric.run_m(LEAF_LEAF), rows)


def between_equals(fabric: FabricEvidence, scope: MeshLinks) -> LinkKind:
    """Links of one scope between devices of one type: a cage has ends of either side, each pair counts once."""
    planes, role = fabric.clos.planes, fabric.equals
    end = switch_end(fabric, role, upwards=True) if fabric.has_switches else nic_end(fabric)
    pairs = EqualDevices(1, ((planes * scope.pairs, scope.links_of_pair),))
    near, far = halved(planes * scope.cages(end.lane.ports))
    return LinkKind(
        scope.name,
        LinkSide(end, Counter({end.lane.ports: near}), (pairs,)),
        LinkSide(end, Counter({end.lane.ports: far}), (pairs,)),
        planes * scope.links,
        fabric.run_m(SPINE_CORE if scope.name == "global" else LEAF_SPINE),
        rows_between(fabric, role, role, scope=scope.name),
    )


def halved(cages: int) -> tuple[int, int]:
    """Cages counted at the near and at the far end, of cages that have ends of either."""
    return cages - cages // 2, cages // 2


def attachment_end(fabric: FabricEvidence, attachment: Attachment, port_mbps: int) -> CageEnd:
    """The cage of an attachment; open where the case does not describe it. A logical fabric's is its NICs'."""
    if attachment.name in fabric.logical:
        own = fabric.logical[attachment.name]
        cage = item_at(fabric.evidence.nic_cages(own), own.nic.cage_group, "NIC cage group")
        cage = cage.model_copy(update={"count": attachment.ports})
        return CageEnd((cage,), own.nic.split, parse_split(own.nic.split), (fabric.evidence.part(own.nic.id, Nic),))
    split = attachment.split
    lane = parse_split(split) if split is not None else Lane(1, port_mbps)
    if split is None or attachment.form_factor is None:
        return CageEnd((), split or "", lane, ())
    cages = ceil_div(attachment.ports, lane.ports)
    cage = Cage(count=cages, form_factor=attachment.form_factor, splits=(split,), lane_gbps=attachment.lane_gbps)
    return CageEnd((cage,), split, lane, ())


def attachment_kinds(fabric: FabricEvidence) -> Iterator[LinkKind]:
    """The kinds of links to attachments, one for each in the case's order."""
    leaf, fills = switch_end(fabric, "leaf", upwards=False), leaf_cages(fabric).attached
    rows = attachment_rows(fabric, server_leaf(fabric).rows)
    for index, attachment in enumerate(fabric.wanted.attachments):
        end = attachment_end(fabric, attachment, leaf.lane.port_mbps)
        joined = [(leaves.count, leaves.attached[index]) for leaves in fabric.clos.leaf_classes]
        used = tuple(EqualDevices(count, ((1, ports),)) for count, ports in joined if ports)
        peers = tuple((devices.count, devices.links) for devices in used)
        ports = sum(count * own for count, own in joined)
        if not ports and attachment.placed_on != "leaf":
            continue
        yield LinkKind(
            f"attachment {attachment.name}",
            LinkSide(end, fill_of([(1, ports)], end.lane.ports), (EqualDevices(1, peers),)),
            LinkSide(leaf, fills[index], used),
            ports,
            attachment_run_m(fabric, attachment),
            rows[attachment.name],
            attachment.buys,
            attachment.name,
        )


def kinds_in_own_cages(fabric: FabricEvidence) -> Iterator[LinkKind]:
    """The kinds of links from attachments to spines, or to switches of a direct network, each in cages of its own."""
    role = "leaf" if fabric.is_direct else "spine"
    for attachment in fabric.wanted.attachments:
        places = fabric.designed.free_ports.get(attachment.name, ())
        on_switch = Counter(number for tier, number in places if tier == role)
        if not on_switch:
            continue
        host = switch_end(fabric, role, upwards=False)
        end, ports = attachment_end(fabric, attachment, host.lane.port_mbps), sum(on_switch.values())
        used = tuple(EqualDevices(count, ((1, own),)) for own, count in Counter(on_switch.values()).items())
        peers = tuple((devices.count, devices.links) for devices in used)
        yield LinkKind(
            f"attachment {attachment.name}" + (" on spines" if role == "spine" else ""),
            LinkSide(end, fill_of([(1, ports)], end.lane.ports), (EqualDevices(1, peers),)),
            switch_side(host, used),
            ports,
            attached_run_m(fabric, role),
            rows_between(fabric, "attachment", role, attachment.name),
            attachment.buys,
            attachment.name,
            role,
        )


@dataclass(frozen=True)
class LeafCageCounts:
    """Cages on the down side of the leaves.

    ``most``: on any leaf but those of a last group unlike the others, on which ``most_of_last``; ``attached[i]``: cages
    that attachment i adds to those occupied before it, over all leaves.
    """

    most: int
    most_of_last: int
    attached: tuple[Fill, ...]


Share = tuple[object, ...]


def leaf_cages(fabric: FabricEvidence) -> LeafCageCounts:
    """The down cages of every class of leaves: the servers' first, then the attachments' in listed order (those without
    parts on the bill last). Links with the same connector in the leaf cage fill up each other's cages.
    """
    kind = server_leaf(fabric)
    ports, shares = kind.far.end.lane.ports, attachment_shares(fabric, kind)
    order = sorted(range(len(shares)), key=lambda index: fabric.wanted.attachments[index].buys == "none")
    added: tuple[Fill, ...] = tuple(Counter() for _ in shares)
    most = [0, 0]
    for leaves, devices in zip(fabric.clos.leaf_classes, kind.far.devices, strict=True):
        cages = kind.far.cages_of(devices, kind.bundle)
        filled: Counter[Share] = Counter({part_in_cage(fabric, kind): leaves.ports})
        for index in order:
            before, more = filled[shares[index]], leaves.attached[index]
            change = fill_of([(leaves.count, before + more)], ports)
            change.subtract(fill_of([(leaves.count, before)], ports))
            added[index].update(change)
            cages += ceil_div(before + more, ports) - ceil_div(before, ports)
            filled[shares[index]] += more
        most[leaves.is_of_last] = max(most[leaves.is_of_last], cages)
    return LeafCageCounts(most[False], most[True], added)


def attachment_shares(fabric: FabricEvidence, servers: LinkKind) -> list[Share]:
    """For each attachment, a key equal to those whose leaf cages it fills up."""
    shares: list[Share] = []
    rows = attachment_rows(fabric, servers.rows)
    for attachment in fabric.wanted.attachments:
        if attachment.buys == "none":
            shares.append(("nothing bought",) if servers.bundle is not None else part_in_cage(fabric, servers))
            continue
        end = attachment_end(fabric, attachment, servers.far.end.lane.port_mbps)
        alone = LinkSide(end, Counter(), ())
        links = LinkKind(attachment.name, alone, servers.far, attachment.ports, 0, rows[attachment.name])
        part = part_in_cage(fabric, links)
        shares.append(part or (attachment.name,))
    return shares


def part_in_cage(fabric: FabricEvidence, kind: LinkKind) -> Share:
    """The part in a leaf cage for the links of a kind: a module, with the fibre if one connector serves several ports,
    or a splitter. Empty if the links must join the same two devices, or are not of one assembly.
    """
    row = kind.single
    if row is None or kind.bundle is not None:
        return ()
    if row.far is None:
        return cable_bought(fabric, row)
    alone = ports_per_connector(row.far, kind.far.end.lane) == 1
    return (row.far.id,) if alone else (row.far.id, *cable_bought(fabric, row))


def cable_bought(fabric: FabricEvidence, row: ListedRow) -> Share:
    """The order key of a row's cable or fibre: the product, and the length where that is the same for all."""
    if row.run_part is None:
        return ()
    return (row.run_part.id,) if fabric.runs_differ else (row.run_part.id, row.run_part.length_m)
