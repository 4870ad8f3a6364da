"""Rules of the rows of links: counts of links, cages and parts."""

from __future__ import annotations

from fabopt.schema.catalog import Transceiver
from fabopt.schema.design import LinkPart
from fabopt.units import ceil_div, gbps, some
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import LEAF_SPINE, SERVER_LEAF, SPINE_CORE, all_kinds, between_equals, server_leaf
from fabopt.verify.link_rows import (
    Bundle,
    LinkKind,
    LinkSide,
    ListedRow,
    bundle_of,
    most_connectors,
    ports_per_connector,
)
from fabopt.verify.proof import Proof


def attachments_are_placed(proof: Proof, fabric: FabricEvidence) -> None:
    """Every attachment port has a leaf port, dealt one per leaf and round.

    For every attachment: sum over classes of leaves of ports on them = its ports; at most ceil(A / leaves) of all on
    any leaf. Ports on free ports may be on spines, or on switches of a direct network: see
    ``attachments_take_free_ports``. Source: case file, ``attachments``.
    """
    classes = fabric.clos.leaf_classes
    proof.equal("leaves", sum(leaves.count for leaves in classes), fabric.clos.planes * fabric.clos.leaves)
    for index, attachment in enumerate(fabric.wanted.attachments):
        placed = sum(leaves.count * leaves.attached[index] for leaves in classes)
        places = fabric.designed.free_ports.get(attachment.name, ())
        above = sum(fabric.is_direct or tier != "leaf" for tier, _ in places)
        proof.equal(f"ports of {attachment.name} on leaves", placed, attachment.ports - above)
    most = max(sum(leaves.attached) for leaves in classes)
    fewest = min(sum(leaves.attached) for leaves in classes)
    if not fabric.clos.sizes and not fabric.designed.free_ports:
        proof.holds(most - fewest <= 1, f"{fewest} to {most} attachment ports on a leaf")
    proof.note(f"{some(sum(fabric.clos.attached), 'attachment port')}, at most {most} on a leaf")


def links_close(proof: Proof, fabric: FabricEvidence) -> None:
    """The rows list every link once, at the speed of its ports and the run of the site.

    For every kind: sum of count over its rows = links counted from the structure, at both ends. Source: design file,
    ``links``.
    """
    kinds = all_kinds(fabric)
    for kind in kinds:
        count = sum(row.listed.count for row in kind.rows)
        proof.equal(f"{kind.name} links", count, kind.count)
        far = sum(devices.count * devices.links for devices in kind.far.devices)
        proof.equal(f"{kind.name} links at the far end", far, kind.count)
        for row in kind.rows:
            proof.holds(row.listed.count >= 1, f"{kind.name}: a row of {some(row.listed.count, 'link')}")
            proof.equal(f"{kind.name} gbps", row.listed.gbps, gbps(kind.far.end.lane.port_mbps))
            proof.equal(f"{kind.name} length_m", row.listed.length_m, length_of(fabric, kind, row))
        proof.note(f"{kind.name} {count}")
    proof.equal("rows of links", len(fabric.designed.links), sum(len(kind.rows) for kind in kinds))


def length_of(fabric: FabricEvidence, kind: LinkKind, row: ListedRow) -> float:
    """Metres that a row must state: the site's run; on a floor its longest length class, or its longest cable."""
    if fabric.is_measured(row.listed):
        return max(row.listed.runs_m or [part.length_m or 0 for part in row.lengths])
    return kind.run_m


def cages_close(proof: Proof, fabric: FabricEvidence) -> None:
    """Every occupied cage is counted once, by the row whose links are in it.

    One row: cages counted device by device. Several: whole cages of the side with several ports a cage, whose sum is
    all occupied cages; if both sides have such cages, whole cages of both. Source: docs/formulation/parts.md.
    """
    for kind in all_kinds(fabric):
        near, far = expected_cages(fabric, kind)
        proof.equal(f"{kind.name} from_cages", sum(row.listed.from_cages for row in kind.rows), near)
        proof.equal(f"{kind.name} to_cages", sum(row.listed.to_cages for row in kind.rows), far)
        if len(kind.rows) > 1:
            _rows_mix(proof, fabric, kind)
        proof.note(f"{kind.name} {near}-{far}")


def expected_cages(fabric: FabricEvidence, kind: LinkKind) -> tuple[int, int]:
    """Occupied cages at both ends of a kind, over all devices."""
    bundle = kind.bundle
    if bundle is None or is_between_equals(fabric, kind.name):
        return kind.near.occupied, kind.far.occupied
    far = kind.far.bundled_cages(bundle.size, bundle.per_far_cage)
    if kind.name == SERVER_LEAF:
        clos, holders = fabric.clos, fabric.nic_holders[0]
        last = holders // clos.servers * clos.last_group if clos.has_own_last else 0
        near = (holders - last) * nic_cages_used(fabric, bundle, fabric.together)
        return near + last * nic_cages_used(fabric, bundle, fabric.last_together), far
    return kind.near.bundled_cages(bundle.size, bundle.per_near_cage), far


def is_between_equals(fabric: FabricEvidence, kind: str) -> bool:
    """Whether a kind of links joins switches of one type: their cables of several links are full, and have no other
    links.
    """
    return any(scope.name == kind for scope in fabric.scopes)


def nic_cages_used(fabric: FabricEvidence, bundle: Bundle, together: int) -> int:
    """Cages that bundles occupy on one NIC (in one server, where its NICs share cages), over all planes.

    ``together``: ports of the NIC to one leaf.
    """
    ports = fabric.nic_holders[1]
    return ceil_div(ports // together * ceil_div(together, bundle.size), bundle.per_near_cage)


def _rows_mix(proof: Proof, fabric: FabricEvidence, kind: LinkKind) -> None:
    """Several rows of one kind are several assemblies, in whole cages."""
    bought = {
        (row.listed.runs_m, row.listed.stages, *((part.id, part.end, part.length_m) for part in row.listed.parts))
        for row in kind.rows
    }
    proof.equal(f"{kind.name} assemblies", len(bought), len(kind.rows))
    near, far = kind.near.end.lane.ports, kind.far.end.lane.ports
    if is_between_equals(fabric, kind.name):
        proof.holds(
            False,
            f"{kind.name}: {some(len(kind.rows), 'assembly')}, one makes all links between equal switches",
        )
    if near > 1 and far > 1:
        proof.equal(f"{kind.name} ports per cage at both ends", near, far)
        proof.holds(kind.far.pairs_divide_by(near), f"{kind.name}: links per pair do not fill cages of {near}")
    at_leaf = kind.name not in (LEAF_SPINE, SPINE_CORE) and kind.host == "leaf"
    proof.holds(
        not (at_leaf and far > 1 and any(sum(leaves.attached) for leaves in fabric.clos.leaf_classes)),
        f"{kind.name}: {some(len(kind.rows), 'assembly')} in leaf cages of {some(far, 'port')}, with attachments",
    )
    for row in kind.rows:
        _cages_hold(proof, f"{kind.name} from_cages", row.listed.from_cages, row.listed.count, kind.near, far)
        _cages_hold(proof, f"{kind.name} to_cages", row.listed.to_cages, row.listed.count, kind.far, near)


def _cages_hold(proof: Proof, words: str, cages: int, links: int, side: LinkSide, other_ports: int) -> None:
    """A row's links fill its cages, but for unused ports of some cage of that side."""
    ports = side.end.lane.ports
    unused = ports * cages - links
    missing = {ports - used: count for used, count in side.fill.items() if used < ports and count}
    spare = 0 if other_ports > 1 else sum(gap * count for gap, count in missing.items())
    proof.holds(
        cages >= 1 and 0 <= unused <= spare,
        f"{words}: {some(cages, 'cage')} of {some(ports, 'port')} for {some(links, 'link')}",
    )
    if len(missing) == 1:
        gap = next(iter(missing))
        proof.holds(unused % gap == 0, f"{words}: {some(unused, 'unused port')} in cages that leave {gap} each")


def bundles_join_boxes(proof: Proof, fabric: FabricEvidence) -> None:
    """Links in one cable end in the same device at both ends, and start in the same NIC.

    Every NIC has enough cages for bundles of at most b of its t ports to one leaf. A splitter's single connector at a
    server: its N ports divide t. Pairs of switches are counted in cages_close. Source: catalog, fit.
    """
    kind, together = server_leaf(fabric), fabric.together
    for row in kind.rows:
        for of_group in sorted({together, fabric.last_together}):
            _bundles_fit(proof, fabric, kind, row, of_group)
    for scope in fabric.scopes:
        kind_between = between_equals(fabric, scope)
        size = kind_between.bundle.size if kind_between.bundle is not None else 1
        proof.equal(f"{scope.name}: idle connectors of a pair's cables", scope.links_of_pair % size, 0)
    proof.note(f"{some(together, 'port')} of a NIC to one leaf")


def _bundles_fit(proof: Proof, fabric: FabricEvidence, kind: LinkKind, row: ListedRow, together: int) -> None:
    """Cables shared by links of a row fit NICs with ``together`` ports to one leaf."""
    bundle, ports, cages = bundle_of(kind, row), kind.near.end.lane.ports, sum(cage.count for cage in fabric.nic_cages)
    if bundle is not None:
        needed = nic_cages_used(fabric, bundle, together)
        proof.holds(needed <= cages, f"{some(needed, 'cage')} of {cages} needed for bundles of {bundle.size}")
    elif row.cable is not None and ports > 1:
        whole = together % ports == 0
        proof.holds(whole, f"{some(ports, 'port')} of a server cage in one connector, {together} of a NIC to one leaf")


def parts_cover_links(proof: Proof, fabric: FabricEvidence) -> None:
    """Each row has exactly the parts that its links and cages need.

    A module per occupied cage; a cable or straight fibre per link (per bundle, where it carries several); a splitter
    per occupied cage and a breakout fibre per occupied connector of the side with several ports. Source:
    docs/formulation/parts.md.
    """
    for kind in all_kinds(fabric):
        for row in kind.rows:
            _quantity(proof, f"{kind.name} modules at `from`", row.near, row.near_part, row.listed.from_cages)
            _quantity(proof, f"{kind.name} modules at `to`", row.far, row.far_part, row.listed.to_cages)
            if row.cable_or_fibre is not None:
                low, high = cables(kind, row)
                bought = row.run_part.quantity if row.run_part is not None else 0
                needed = f"{low}" if low == high else f"{low} to {high}"
                proof.holds(low <= bought <= high, f"{kind.name}: {bought} x {row.cable_or_fibre.id}, needed {needed}")
        proof.note(f"{kind.name}: " + _counted(kind))


def _counted(kind: LinkKind) -> str:
    parts = [f"{part.quantity} x {part.id}" for row in kind.rows for part in row.listed.parts]
    return ", ".join(parts) or "nothing bought"


def _quantity(proof: Proof, what: str, module: Transceiver | None, part: LinkPart | None, cages: int) -> None:
    """The quantity of a module is that of its cages; a module without cages may be left out."""
    if module is not None:
        proof.equal(f"{what} ({module.id})", part.quantity if part is not None else 0, cages)


def cables(kind: LinkKind, row: ListedRow) -> tuple[int, int]:
    """Fewest and most cables or fibres of a row; equal wherever the counts decide."""
    bundle = bundle_of(kind, row)
    if bundle is not None:
        count = kind.far.bundles(bundle.size) if kind.single is row else row.listed.count // bundle.size
        return count, count
    if row.cable is not None:
        count = _splitters(kind, row)
        return count, count
    return _fibres(kind, row)


def _splitters(kind: LinkKind, row: ListedRow) -> int:
    """Number of splitters: one per occupied cage of the side with several ports.

    One per link where neither side has.
    """
    if row.is_straight:
        return row.listed.count
    return row.listed.from_cages if kind.near.end.lane.ports > 1 else row.listed.to_cages


def _fibres(kind: LinkKind, row: ListedRow) -> tuple[int, int]:
    """Number of fibres.

    One per occupied connector of the side whose connectors carry several ports, else one per link.
    """
    if row.near is None and row.fibre is not None and row.far is not None:
        return _fibres_to_their_modules(kind, row, row.far, most_connectors(row.fibre))
    ends = ((row.near, kind.near, row.listed.from_cages), (row.far, kind.far, row.listed.to_cages))
    for module, side, cages in ends:
        size = ports_per_connector(module, side.end.lane) if module is not None else 1
        if module is None or size == 1:
            continue
        if kind.single is row:
            return side.connectors(size), side.connectors(size)
        return _mixed_connectors(side, module.connectors, size, cages, row.listed.count)
    return row.listed.count, row.listed.count


def _fibres_to_their_modules(kind: LinkKind, row: ListedRow, module: Transceiver, size: int) -> tuple[int, int]:
    """Number of fibres where the near end has modules already; ``size``: connectors at the wider end of the fibre."""
    is_near = ports_per_connector(module, kind.far.end.lane) == 1
    side, cages = (kind.near, row.listed.from_cages) if is_near else (kind.far, row.listed.to_cages)
    if kind.single is row:
        return side.connectors(size), side.connectors(size)
    if size == 1:
        return row.listed.count, row.listed.count
    per_cage = ceil_div(side.end.lane.ports, size) if is_near else module.connectors
    return _mixed_connectors(side, per_cage, size, cages, row.listed.count)


def _mixed_connectors(side: LinkSide, per_cage: int, size: int, cages: int, links: int) -> tuple[int, int]:
    """Fewest and most occupied connectors in some of a side's cages, from the numbers of cages and links."""
    ports = side.end.lane.ports
    partial = [used for used, count in side.fill.items() if used < ports and count]
    if len(partial) > 1:
        return ceil_div(links, size), cages * per_cage
    not_full = (ports * cages - links) // (ports - partial[0]) if partial else 0
    connectors = (cages - not_full) * per_cage + (not_full * ceil_div(partial[0], size) if partial else 0)
    return connectors, connectors
