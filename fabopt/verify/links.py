"""Rules of the rows of links: counts of links, and of cages and parts in the wiring; runs, latency, the parts that may
be plugged into each device, and lanes through shuffles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from fabopt.floor.group_runs import KINDS, given_m
from fabopt.rules.defaults import LENGTHS, is_kept
from fabopt.schema.catalog import Cable, Fibre, Transceiver
from fabopt.schema.design import LinkPart
from fabopt.schema.product import Product
from fabopt.units import NS_PER_US, exact, gbps, some, summed
from fabopt.verify.assemblies import CabledAssembly
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.link_kinds import SERVER_LEAF, LinkKind, ListedRow, all_kinds
from fabopt.verify.proof import Proof, combined, counts_of, distinct, repeated, since, where
from fabopt.verify.wiring import FabricCabling, LinksOfKind
from fabopt.wiring.latency import paths_of
from fabopt.wiring.model import Ints, Links


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

    For every kind: sum of count over its rows = links counted from the structure. Source: design file,
    ``links``.
    """
    kinds = all_kinds(fabric)
    for kind in kinds:
        count = sum(row.listed.count for row in kind.rows)
        proof.equal(f"{kind.name} links", count, kind.count)
        for row in kind.rows:
            proof.holds(row.listed.count >= 1, f"{kind.name}: a row of {some(row.listed.count, 'link')}")
            proof.equal(f"{kind.name} gbps", row.listed.gbps, gbps(kind.far.lane.port_mbps))
            proof.equal(f"{kind.name} length_m", row.listed.length_m, length_of(fabric, kind, row))
        proof.note(f"{kind.name} {count}")
    proof.equal("rows of links", len(fabric.designed.links), sum(len(kind.rows) for kind in kinds))


def length_of(fabric: FabricEvidence, kind: LinkKind, row: ListedRow) -> float:
    """Metres that a row must state: the site's run; on a floor its longest length class, or its longest cable."""
    if fabric.is_measured(row.listed):
        return max(row.listed.runs_m or [part.length_m or 0 for part in row.lengths])
    return kind.run_m


def cages_close(proof: Proof, cabling: FabricCabling) -> None:
    """Every occupied cage is counted once, by the rows of the first kind whose links are in it.

    Cages in the wiring by kind = sums of ``from_cages`` and ``to_cages`` of its rows, attachments without parts last; a
    cage between equal switches has ends of either side, and counts half on each. Several rows of a kind: whole cages of
    each. Source: docs/formulation/parts.md.
    """
    kinds = sorted(cabling.joined, key=lambda joined: joined.kind.buys == "none")
    rows = np.concatenate([joined.rows for joined in kinds])
    owner = np.repeat(np.arange(len(kinds)), [len(joined.rows) for joined in kinds])
    counted = []
    for _, device, cage in _ends(cabling):
        first = np.unique(combined(device[rows], cage[rows]), return_index=True)[1]
        counted.append(np.bincount(owner[first], minlength=len(kinds)).tolist())
    for joined, near, far in zip(kinds, *counted, strict=True):
        kind = joined.kind
        if _is_between_equals(cabling, kind):
            ends = [np.stack([device[joined.rows], cage[joined.rows]]) for _, device, cage in _ends(cabling)]
            cages = len(distinct(combined(*np.concatenate(ends, axis=1))))
            near, far = cages - cages // 2, cages // 2
        proof.equal(f"{kind.name} from_cages", sum(row.listed.from_cages for row in kind.rows), near)
        proof.equal(f"{kind.name} to_cages", sum(row.listed.to_cages for row in kind.rows), far)
        if len(kind.rows) > 1:
            _rows_mix(proof, cabling, joined)
        proof.note(f"{kind.name} {near}-{far}")


def _ends(cabling: FabricCabling) -> Iterator[tuple[str, Ints, Ints]]:
    """(Word, device, cage) of the near and the far end of every link."""
    links = cabling.links
    yield from (("from", links.a, links.a_cage), ("to", links.b, links.b_cage))


def _is_between_equals(cabling: FabricCabling, kind: LinkKind) -> bool:
    """Whether a kind of links joins devices of one type: its cables of several links are full, with no other links."""
    return any(scope.name == kind.name for scope in cabling.fabric.scopes)


def _rows_mix(proof: Proof, cabling: FabricCabling, joined: LinksOfKind) -> None:
    """Several rows of one kind are several assemblies, each of which has its whole cages in the wiring."""
    kind = joined.kind
    bought = {
        (row.listed.runs_m, row.listed.stages, *((part.id, part.end, part.length_m) for part in row.listed.parts))
        for row in kind.rows
    }
    proof.equal(f"{kind.name} assemblies", len(bought), len(kind.rows))
    if _is_between_equals(cabling, kind):
        proof.holds(False, f"{kind.name}: several assemblies, one makes all links between equal switches")
    for end, device, cage in _ends(cabling):
        cages = summed((row.ids, row.listed.from_cages if end == "from" else row.listed.to_cages) for row in kind.rows)
        for assembly in cabling.assemblies:
            if assembly.kind is kind:
                own = len(distinct(combined(device[assembly.rows], cage[assembly.rows])))
                proof.equal(f"{assembly.name}: {end}_cages", cages[assembly.parts], own)


def bundles_join_boxes(proof: Proof, cabling: FabricCabling) -> None:
    """Links in one cable end in the same device at both ends, and start in the same NIC.

    Of a cable with one connector at each end: one pair of devices, and one NIC where NICs have their own cages. Copper
    from one cage of a server leads to one leaf; NICs have the cages in use. Between equal switches no connector of a
    cable is idle. Source: catalog, fit.
    """
    links, cables, fabric = cabling.links, cabling.cables, cabling.fabric
    holder = combined(links.a, links.a_nic * (not fabric.shared_cages))
    rows = cabling.of(SERVER_LEAF)
    first = np.unique(combined(holder[rows], links.a_cage[rows]), return_index=True)[1]
    most, has = int(counts_of(holder[rows][first]).max(initial=0)), sum(cage.count for cage in fabric.nic_cages)
    proof.holds(most <= has, f"{some(most, 'cage')} of a NIC in use, {fabric.designed.nic.id} has {has}")
    for assembly in cabling.assemblies:
        rows, cable = assembly.rows, links.cable[assembly.rows]
        if assembly.kind.name == SERVER_LEAF and isinstance(assembly.cable_or_fibre, Cable):
            cages = distinct(combined(holder[rows], links.a_cage[rows]))
            leaves = distinct(combined(holder[rows], links.a_cage[rows], links.b[rows]))
            proof.equal(f"{assembly.name}: cages with copper to two leaves", len(leaves) - len(cages), 0)
        single = (cables.a_connectors[cable] == 1) & (cables.b_connectors[cable] == 1)
        rows, cable = rows[single], cable[single]
        pairs, carried = distinct(combined(cable, holder[rows], links.b[rows])), counts_of(cable)
        proof.equal(f"{assembly.name}: cables between several devices or NICs", len(pairs) - len(carried), 0)
        if _is_between_equals(cabling, assembly.kind):
            idle = int((carried < assembly.ports[0]).sum())
            proof.equal(f"{assembly.name}: cables with idle connectors", idle, 0)
        proof.note(f"{assembly.name} {some(len(carried), 'cable')} of {some(int(carried.max(initial=0)), 'link')}")


def parts_cover_links(proof: Proof, cabling: FabricCabling) -> None:
    """Each row has exactly the parts that its links and cages need.

    A module per occupied cage; cables, fibres, splitters and breakouts of each length as many as in the wiring, counted
    with the first of their links. Source: docs/formulation/parts.md.
    """
    links, cables = cabling.links, cabling.cables
    cabled = np.flatnonzero(links.cable >= 0)
    is_first = np.zeros(len(links), dtype=np.bool_)
    is_first[cabled[np.unique(links.cable[cabled], return_index=True)[1]]] = True
    counted: Counter[tuple[str, tuple[str, str, str], float]] = Counter()
    for assembly in cabling.assemblies:
        own = links.cable[assembly.rows[is_first[assembly.rows]]]
        for metres, number in zip(*np.unique(cables.length_m[own], return_counts=True), strict=True):
            counted[assembly.kind.name, assembly.parts, float(metres)] += int(number)
    bought: Counter[tuple[str, tuple[str, str, str], float]] = Counter()
    for kind in all_kinds(cabling.fabric):
        for row in kind.rows:
            _quantity(proof, f"{kind.name} modules at `from`", row.near, row.near_part, row.listed.from_cages)
            _quantity(proof, f"{kind.name} modules at `to`", row.far, row.far_part, row.listed.to_cages)
            for part in row.lengths:
                bought[kind.name, row.ids, float(part.length_m or 0)] += part.quantity
        proof.note(f"{kind.name}: " + _counted(kind))
    for name, parts, metres in sorted(bought.keys() | counted.keys()):
        number = bought[name, parts, metres]
        proof.equal(f"{name}: {parts[1]} of {metres:g} m", number, counted[name, parts, metres])


def _counted(kind: LinkKind) -> str:
    parts = [f"{part.quantity} x {part.id}" for row in kind.rows for part in row.listed.parts]
    return ", ".join(parts) or "nothing bought"


def _quantity(proof: Proof, what: str, module: Transceiver | None, part: LinkPart | None, cages: int) -> None:
    """The quantity of a module is that of its cages; a module without cages may be left out."""
    if module is not None:
        proof.equal(f"{what} ({module.id})", part.quantity if part is not None else 0, cages)


# -- runs that follow from the racks of groups ------------------------------------------------------------------------


def follows_from_groups(fabric: FabricEvidence) -> bool:
    """Whether some runs follow from the size of groups; on a floor the case states the others."""
    return not given_m(fabric.evidence.case.site).keys() >= set(KINDS)


@since("0.2.0")
@where(follows_from_groups)
def runs_follow_from_groups(proof: Proof, fabric: FabricEvidence) -> None:
    """Every kind of links, and all cables bought for it, is as long as the racks filled by its groups require.

    Run and lengths of a kind >= the longest run over ceil(n / servers per rack) racks, n being the servers of a leaf
    group, of a pod or of all; and the case does not turn the rule off. Source: docs/sites.md, how long cables are.
    """
    case = fabric.evidence.case
    proof.holds(is_kept(case.rules, LENGTHS), f"rule `{LENGTHS}` is off, and the case does not say how far links run")
    for kind in all_kinds(fabric):
        for row in kind.rows:
            lengths = [part.length_m or 0 for part in row.lengths]
            shortest = min([row.listed.length_m, *lengths])
            proof.holds(
                shortest >= kind.run_m, f"{kind.name}: {shortest:g} m where its groups ask for {kind.run_m:g} m"
            )
        proof.note(f"{kind.name} {kind.run_m:g} m")


# -- latency ----------------------------------------------------------------------------------------------------------


@since("0.3.0", "case.content.fabrics.max_latency_us")
@where(lambda fabric: fabric.wanted.max_latency_us is not None)
def paths_keep_latency(proof: Proof, fabric: FabricEvidence) -> None:
    """Every path has a known base round trip, no longer than the case allows.

    2 x (switches + metres + modules + FEC of one direction) + both NICs + sending a packet and its answer <=
    ``max_latency_us``, over the slowest switch of each tier and the slowest link of each kind in its longest length.
    Source: case file, ``max_latency_us``; catalog, ``latency_ns``, ``facts.latency``; docs/optics.md, latency.
    """
    most_us = fabric.wanted.max_latency_us
    assert most_us is not None
    paths = list(paths_of(fabric.evidence, fabric.designed))
    proof.holds(bool(paths), "how long servers take to pass traffic on is not known")
    for path in paths:
        proof.holds(not path.unknown, f"{path.name}: no figure for {', '.join(path.unknown)}")
        shown = f"{path.name}: {path.round_trip_ns / NS_PER_US:.3f} us of {most_us:g}"
        proof.shows(path.exact_round_trip_ns <= exact(most_us) * NS_PER_US, shown)


# -- qualified pairs --------------------------------------------------------------------------------------------------


@since("0.2.0", "case.content.procurement.qualified")
@where(lambda fabric: fabric.evidence.case.procurement.qualified is not None)
def pairs_are_qualified(proof: Proof, fabric: FabricEvidence) -> None:
    """Parts plugged into a device are among those that the case names for it, where it names any.

    Lists of the case's server hold for its built-in NICs. Source: case file, ``procurement.qualified``.
    """
    rules = fabric.evidence.case.procurement.qualified
    proof.holds(isinstance(rules, dict), "`procurement.qualified` names files that were not read")
    compared = 0
    for kind in all_kinds(fabric):
        for row in kind.rows:
            for end, module in ((kind.near, row.near), (kind.far, row.far)):
                part = module if row.cable is None else row.cable
                if part is None:
                    continue
                for product in end.products:
                    for name, parts in _lists_for(fabric.evidence, product):
                        compared += 1
                        proof.holds(part.is_among(parts), f"{kind.name}: {part.id} is not qualified for {name}")
    proof.note(f"{some(compared, 'pair')} compared")


def _lists_for(evidence: Evidence, device: Product) -> list[tuple[str, tuple[str, ...]]]:
    """The lists that hold for a device: its own, and the server's where it is built in."""
    rules = evidence.case.procurement.qualified
    if not isinstance(rules, dict):
        return []
    is_built_in = any(nic.id == device.id for nic in evidence.server.nics)
    names = (device.id, evidence.case.server_id) if is_built_in else (device.id,)
    return [(name, rules[name]) for name in names if name in rules]


# -- shuffles ---------------------------------------------------------------------------------------------------------


def has_shuffles(fabric: FabricEvidence) -> bool:
    """Whether the parts of some links of a fabric are a shuffle."""
    ids = {part.id for row in fabric.designed.links for part in row.parts if part.end is None}
    fibres = (fabric.evidence.part(part, Fibre) for part in ids if fabric.evidence.kind(part) == "fibre")
    return any(fibre.crosses > 1 for fibre in fibres)


@where(has_shuffles)
def shuffles_cross_lanes(proof: Proof, cabling: FabricCabling) -> None:
    """Each link through a shuffle is its lane: port i of connector j at one end is port j of connector i at the other.

    So all links of a connector have one port at their far ends, the number of its leg; connectors of an end have legs
    of their own; two connectors have one link at most. Legs without a connector are dark. Source: catalog, ``ends``.
    """
    for assembly in cabling.assemblies:
        if assembly.crosses > 1:
            _lanes_cross(proof, cabling.links, assembly)


def _lanes_cross(proof: Proof, links: Links, assembly: CabledAssembly) -> None:
    size, cable, name = assembly.crosses, links.cable[assembly.rows], assembly.name
    ends = ((links.a, links.a_cage, links.a_lane), (links.b, links.b_cage, links.b_lane))
    places = [tuple(column[assembly.rows] for column in columns) for columns in ends]
    plugs = [combined(device, cage, lane // size) for device, cage, lane in places]
    ports = [lane % size for *_, lane in places]
    shuffles, dark = len(np.unique(cable)), []
    for side, plug, across in (("near", plugs[0], ports[1]), ("far", plugs[1], ports[0])):
        _, first = np.unique(plug, return_index=True)
        legs = len(np.unique(combined(plug, across)))
        proof.equal(f"{name}: legs of {side} connectors", legs, len(first))
        proof.equal(f"{name}: shuffles of {side} connectors", len(np.unique(combined(plug, cable))), len(first))
        proof.equal(f"{name}: {side} connectors on one leg", repeated(combined(cable[first], across[first])), 0)
        dark.append(f"{size * shuffles - len(first)} at the {side} end")
    proof.equal(f"{name}: links on one lane", repeated(combined(cable, *ports)), 0)
    proof.note(f"{name}: {some(shuffles, 'shuffle')} of {size} x {size}, dark legs: {', '.join(dark)}")
