"""The kinds of links that a fabric must have, recounted from its structure.

Rows of links as the file gives them: the parts of a link, and its kind.

A *kind* is a pair of tiers (or one attachment and the leaves) with the properties common to all its links: the cages at
both ends, the run, the number of links and their distribution over cages. A kind has one row for each assembly that
realises some of its links.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fabopt.schema.attachment import Attachment
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.catalog import Cable, Fibre, Nic, Transceiver
from fabopt.schema.design import LinkPart, LinkRow
from fabopt.schema.product import Cage, Product
from fabopt.schema.resilience import CABLES_OF_PEER_LINK, PEER_LINK
from fabopt.units import ceil_div, some
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.floor_runs import attached_run_m
from fabopt.verify.mesh_counts import MeshLinks
from fabopt.wiring.design_file import item_at

NO_MEDIUM = "none"


@dataclass(frozen=True)
class CageEnd:
    """The cages at one end of a kind, and their products.

    ``cages`` is empty where the case leaves an attachment's cage open.
    """

    cages: tuple[Cage, ...]
    split: str
    lane: Lane
    products: tuple[Product, ...]


@dataclass(frozen=True)
class ListedRow:
    """A row of the file with its parts read: a cable; two transceivers and a fibre; or nothing bought.

    ``lengths``: the cable or fibre in each length bought, several only on a floor; ``run_part``: all together, with the
    longest length.
    """

    listed: LinkRow
    cable: Cable | None = None
    near: Transceiver | None = None
    far: Transceiver | None = None
    fibre: Fibre | None = None
    near_part: LinkPart | None = None
    far_part: LinkPart | None = None
    run_part: LinkPart | None = None
    lengths: tuple[LinkPart, ...] = ()

    @property
    def cable_or_fibre(self) -> Cable | Fibre | None:
        """The cable or the fibre."""
        return self.cable if self.cable is not None else self.fibre

    @property
    def ids(self) -> tuple[str, str, str]:
        """(Near module, cable or fibre, far module); empty for none."""
        near, far = (module.id if module else "" for module in (self.near, self.far))
        return near, self.cable_or_fibre.id if self.cable_or_fibre else "", far

    @property
    def medium(self) -> str:
        """The cable's medium, or the fibre that the transceivers light."""
        if self.cable is not None:
            return self.cable.medium
        return self.far.fibre if self.far is not None else NO_MEDIUM


@dataclass(frozen=True)
class LinkKind:
    """The links between two tiers, or between one attachment (``attachment``: its name) and the leaves or spines."""

    name: str
    near: CageEnd
    far: CageEnd
    count: int
    run_m: float
    rows: tuple[ListedRow, ...]
    buys: str = "both"
    attachment: str | None = None
    host: str = "leaf"


def ports_per_connector(module: Transceiver, lane: Lane) -> int:
    """Ports that leave a module through one connector; 1 where it has more connectors than ports."""
    if module.connectors > lane.ports:
        return 1
    if lane.ports % module.connectors:
        raise ValueError(
            f"{module.id}: {some(lane.ports, 'port')} cannot spread over {some(module.connectors, 'connector')}"
        )
    return lane.ports // module.connectors


def most_connectors(fibre: Fibre) -> int:
    """Connectors at the wider end of a fibre: 1 if it is straight."""
    return max(end.count for end in fibre.both_ends)


def read_row(evidence: Evidence, listed: LinkRow) -> ListedRow:
    """Sort a row's parts by kind; raises ``ValueError`` where they make no whole link."""
    ends: dict[str, LinkPart] = {}
    lengths: list[LinkPart] = []
    for part in listed.parts:
        is_module = evidence.kind(part.id) == "transceiver"
        if is_module == (part.end is None) or is_module == (part.length_m is not None):
            raise ValueError(f"part {part.id!r}: a transceiver has an end and no length, a cable or fibre a length")
        if part.end is None:
            lengths.append(part)
        elif part.end in ends:
            raise ValueError(f"parts {ends[part.end].id!r} and {part.id!r} have the same place")
        else:
            ends[part.end] = part
    near, far, cable_or_fibre = ends.get("from"), ends.get("to"), _as_one_cable(lengths, listed)
    row = ListedRow(
        listed,
        near=evidence.part(near.id, Transceiver) if near else None,
        far=evidence.part(far.id, Transceiver) if far else None,
        near_part=near,
        far_part=far,
        run_part=cable_or_fibre,
        lengths=tuple(lengths),
    )
    if cable_or_fibre is None:
        return row
    if evidence.kind(cable_or_fibre.id) == "cable":
        return ListedRow(**{**vars(row), "cable": evidence.part(cable_or_fibre.id, Cable)})
    return ListedRow(**{**vars(row), "fibre": evidence.part(cable_or_fibre.id, Fibre)})


def _as_one_cable(lengths: list[LinkPart], listed: LinkRow) -> LinkPart | None:
    """The cables of a row as one; ``ValueError`` unless they are one product, on a floor in rising lengths."""
    if len(lengths) <= 1:
        return lengths[0] if lengths else None
    metres = [part.length_m or 0 for part in lengths]
    if len({part.id for part in lengths}) > 1 or metres != sorted(set(metres)):
        raise ValueError(f"parts {lengths[0].id!r} and {lengths[1].id!r} have the same place")
    total = sum(part.quantity for part in lengths)
    return lengths[-1].model_copy(update={"quantity": total})


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
    is_logical = attachment.name in fabric.logical
    return fabric.run_m(SERVER_LEAF) if is_logical else attached_run_m(fabric, attachment.name, "leaf")


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
    long_enough = [
        host
        for host in hosts
        if row.fibre is not None or (host.run_part is not None and (host.run_part.length_m or 0) >= run_m)
    ]
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


def server_leaf(fabric: FabricEvidence) -> LinkKind:
    """Links of every used port of every NIC to the leaves of the server's group."""
    return LinkKind(
        SERVER_LEAF,
        nic_end(fabric),
        switch_end(fabric, "leaf", upwards=False),
        fabric.clos.servers * fabric.clos.planes * fabric.clos.ports,
        fabric.run_m(SERVER_LEAF),
        rows_between(fabric, "server", "leaf"),
    )


def leaf_spine(fabric: FabricEvidence) -> LinkKind:
    """Every uplink of every leaf, to the spines of its pod, or of its group in a dragonfly+."""
    clos = fabric.clos
    direct = clos.planes * fabric.mesh.leaves * fabric.mesh.up_ports("leaf") if fabric.is_direct else None
    return LinkKind(
        LEAF_SPINE,
        switch_end(fabric, "leaf", upwards=True),
        switch_end(fabric, "spine", upwards=False),
        clos.planes * clos.uplinks if direct is None else direct,
        fabric.run_m(LEAF_SPINE),
        rows_between(fabric, "leaf", "spine"),
    )


def spine_core(fabric: FabricEvidence) -> LinkKind:
    """Every uplink of every spine, to the cores of its group."""
    clos = fabric.clos
    return LinkKind(
        SPINE_CORE,
        switch_end(fabric, "spine", upwards=True),
        switch_end(fabric, "core", upwards=False),
        clos.planes * clos.pods * clos.spines * clos.x,
        fabric.run_m(SPINE_CORE),
        rows_between(fabric, "spine", "core"),
    )


def leaf_leaf(fabric: FabricEvidence) -> LinkKind:
    """The peer links of leaves, by pairs."""
    use = fabric.peer_use
    assert use is not None
    types = [(tier.up or use, switch) for tier, switch in fabric.switch_types if tier.role == "leaf"]
    cages = tuple(item_at(switch.cages, own.cage_group, "leaf cage group") for own, switch in types)
    end = CageEnd(cages, use.split, parse_split(use.split), tuple(switch for _, switch in types))
    cables = CABLES_OF_PEER_LINK * (fabric.clos.planes * fabric.clos.leaves // 2)
    rows = rows_between(fabric, "leaf", "leaf", scope=PEER_LINK)
    return LinkKind(LEAF_LEAF, end, end, cables, fabric.run_m(LEAF_LEAF), rows)


def between_equals(fabric: FabricEvidence, scope: MeshLinks) -> LinkKind:
    """Links of one scope between devices of one type: a cage has ends of either side, each pair counts once."""
    role = fabric.equals
    end = switch_end(fabric, role, upwards=True) if fabric.has_switches else nic_end(fabric)
    run_m = fabric.run_m(SPINE_CORE if scope.name == "global" else LEAF_SPINE)
    rows = rows_between(fabric, role, role, scope=scope.name)
    return LinkKind(scope.name, end, end, fabric.clos.planes * scope.links, run_m, rows)


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
    """The kinds of links from attachments to leaves, one for each in the case's order."""
    leaf, rows = switch_end(fabric, "leaf", upwards=False), attachment_rows(fabric, server_leaf(fabric).rows)
    for index, attachment in enumerate(fabric.wanted.attachments):
        ports = sum(leaves.count * leaves.attached[index] for leaves in fabric.clos.leaf_classes)
        if ports or attachment.placed_on == "leaf":
            run_m = attachment_run_m(fabric, attachment)
            yield _of_attachment(fabric, attachment, leaf, ports, run_m, rows[attachment.name])


def kinds_in_own_cages(fabric: FabricEvidence) -> Iterator[LinkKind]:
    """The kinds of links from attachments to spines, or to switches of a direct network, each in cages of its own."""
    role = "leaf" if fabric.is_direct else "spine"
    for attachment in fabric.wanted.attachments:
        ports = sum(tier == role for tier, _ in fabric.designed.free_ports.get(attachment.name, ()))
        if ports:
            host, run_m = switch_end(fabric, role, upwards=False), attached_run_m(fabric, attachment.name, role)
            rows = rows_between(fabric, "attachment", role, attachment.name)
            yield _of_attachment(fabric, attachment, host, ports, run_m, rows, role)


def _of_attachment(
    fabric: FabricEvidence,
    attachment: Attachment,
    host: CageEnd,
    ports: int,
    run_m: float,
    rows: tuple[ListedRow, ...],
    role: str = "leaf",
) -> LinkKind:
    """Links of some ports of an attachment to switches of a role."""
    name = f"attachment {attachment.name}" + (" on spines" if role == "spine" else "")
    end = attachment_end(fabric, attachment, host.lane.port_mbps)
    return LinkKind(name, end, host, ports, run_m, rows, attachment.buys, attachment.name, role)
