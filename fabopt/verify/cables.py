"""Rules of cables and modules in the explicit wiring: cages, lengths, and counts on the bill."""

from __future__ import annotations

from collections import Counter

import numpy as np

from fabopt.units import some, summed
from fabopt.verify.fit import optics_agree, parts_fit, reach_fits
from fabopt.verify.floor_runs import measures_attachments, through_trunks, ways_m
from fabopt.verify.proof import Proof, coded, combined, distinct, repeated
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.model import Ints, Mask

# Lengths and runs are metres in floating point; a nanometre is nothing.
SAME_M = 1e-9
CABLED_KINDS = ("transceiver", "cable", "fibre")


def wires_are_listed(proof: Proof, cabling: FabricCabling) -> None:
    """Every link that the file has parts for has a cable of those parts, and every cable has a link.

    Links of a kind by (near module, cable, far module) = sum of ``count`` of its rows with these parts; none for rows
    without parts. Labels differ; a cable's kind is that of its first link. Source: design file, ``links``.
    """
    cables, links = cabling.cables, cabling.links
    proof.equal("cables with a label that is taken", len(cables) - len(set(cables.name)), 0)
    cabled = np.flatnonzero(links.cable >= 0)
    used, first = np.unique(links.cable[cabled], return_index=True)
    proof.equal(
        "cables of another kind than their links", int((cables.kind[used] != links.kind[cabled[first]]).sum()), 0
    )
    proof.equal("links with a cable of another fabric", int((cables.fabric[used] != cabling.index).sum()), 0)
    proof.equal("cables without a link", int((~np.isin(cabling.own_cables, used)).sum()), 0)
    by_parts: Counter[tuple[str, tuple[str, str, str]]] = Counter()
    for assembly in cabling.assemblies:
        by_parts[assembly.kind.name, assembly.parts] += len(assembly.rows)
        proof.note(f"{assembly.name} {len(assembly.rows)}")
    for kind, rows in cabling.joined:
        bought = summed((row.ids, row.listed.count) for row in kind.rows)
        by_parts[kind.name, ("", "", "")] += int((links.cable[rows] < 0).sum())
        for parts in bought.keys() | {parts for name, parts in by_parts if name == kind.name}:
            proof.equal(f"{kind.name} links by {parts}", by_parts[kind.name, parts], bought[parts])


def wires_fit_cages(proof: Proof, cabling: FabricCabling) -> None:
    """The parts plugged into the two cages of a link fit them, and understand each other.

    Cable: both connectors have the form factor, split and lanes of their cages. Fibre: modules fit their cages, have
    one standard of a port and the fibre's word, and it has their connectors. All speak the protocol. Medium: the
    product's. Source: catalog, fit.
    """
    protocol, cables = cabling.fabric.designed.protocol, cabling.cables
    for assembly in cabling.assemblies:
        row, where = assembly.row, assembly.name
        parts_fit(proof, where, assembly.kind, row, protocol)
        optics_agree(proof, where, assembly.kind, row, protocol)
        proof.holds(row.cable is None or (row.near is None and row.far is None), f"{where}: a cable with modules")
        media = {cables.medium[cable] for cable in np.unique(cabling.links.cable[assembly.rows]).tolist()}
        proof.equal(f"{where}: medium", media, {row.medium})
        proof.note(f"{where} {row.medium}")


def wires_join_cages(proof: Proof, cabling: FabricCabling) -> None:
    """A cable's connectors are plugged in once each, and reach every link that it carries.

    A straight cable joins one cage to one cage (one connector to one, where modules have several); of a splitter or
    breakout the single connector is in one cage, and every link has a connector of its own at the other side. No
    connector of a cage has two cables. Of a shuffle every two connectors have one link, see ``shuffles_cross_lanes``.
    Source: catalog, ``ends``.
    """
    links, cables = cabling.links, cabling.cables
    plugged: list[Ints] = []
    crossed = np.zeros(len(cables), dtype=np.bool_)
    for assembly in cabling.assemblies:
        rows = assembly.rows
        cable, (near, far) = links.cable[rows], assembly.ports
        connectors = coded(zip(cables.a_connectors[cable].tolist(), cables.b_connectors[cable].tolist(), strict=True))[
            1
        ]
        unknown = [counted for counted in connectors if counted not in assembly.connectors]
        proof.holds(
            not unknown, f"{assembly.name} with {unknown} connectors, its product has {sorted(assembly.connectors)}"
        )
        if assembly.kind.near.cages:  # how an attachment's cages are split may be left open
            plugged.append(np.stack([cable, 0 * cable, links.a[rows], links.a_cage[rows], links.a_lane[rows] // near]))
        crossed[cable] = assembly.crosses > 1
        plugged.append(np.stack([cable, 0 * cable + 1, links.b[rows], links.b_cage[rows], links.b_lane[rows] // far]))
    if plugged:
        _connectors_suffice(proof, cabling, np.concatenate(plugged, axis=1), crossed)
    proof.note(f"{some(len(cabling.own_cables), 'cable')}")


def _connectors_suffice(proof: Proof, cabling: FabricCabling, ends: Ints, crossed: Mask) -> None:
    """Connectors hold all links of each cable; those of shuffles, ``crossed``, have several each.

    ``ends``: (cable, side, device, cage, connector) of the ends of links, shape (5, ends); side 0 is the near one.
    """
    cables = cabling.cables
    _, first = np.unique(combined(*ends), return_index=True)
    plugs = ends[:, first]
    proof.equal("connectors of a cage with two cables", repeated(combined(*plugs[2:])), 0)
    for side, connectors, where in ((0, cables.a_connectors, "near"), (1, cables.b_connectors, "far")):
        carried = np.bincount(ends[0][ends[1] == side], minlength=len(cables))
        used = np.bincount(plugs[0][plugs[1] == side], minlength=len(cables))
        proof.equal(f"cables with too few connectors at the {where} end", int((used > connectors).sum()), 0)
        shared = (connectors > 1) & (carried > used) & ~crossed
        proof.equal(f"cables with two links in one of their {where} connectors", int(shared.sum()), 0)


def wires_cover_runs(proof: Proof, cabling: FabricCabling) -> None:
    """Every cable is long enough for each of its links, and within reach of every part.

    longest run of its links = run_m <= length_m <= reach; runs are the site's, or on a floor measured between the racks
    of the link's devices; the length is on offer. Source: catalog, fit; case file, ``site``.
    """
    cables, own = cabling.cables, cabling.own_cables
    cabled = np.flatnonzero(cabling.links.cable >= 0)
    longest = np.zeros(len(cables))
    np.maximum.at(longest, cabling.links.cable[cabled], cabling.runs_m[cabled])
    true = np.abs(cables.run_m[own] - longest[own]) <= SAME_M
    proof.equal("cables with another run than their longest link", int((~true).sum()), 0)
    covers = cables.length_m[own] >= longest[own] - SAME_M
    proof.equal("cables shorter than their run", int((~covers).sum()), 0)
    if measures_attachments(cabling.fabric.evidence):
        _cables_reach_racks(proof, cabling, cabled)
    for assembly in cabling.assemblies:
        cable = cabling.links.cable[assembly.rows]
        lengths = np.unique(cables.length_m[cable]).tolist()
        offered = {float(length.m) for length in assembly.cable_or_fibre.lengths if length.price_usd is not None}
        proof.holds(offered.issuperset(lengths), f"{assembly.name}: {lengths} m, on offer {sorted(offered)} m")
        reach_fits(proof, assembly.name, assembly.row, max(lengths))
        proof.note(f"{assembly.name} {', '.join(f'{length:g}' for length in lengths)} m")


def _cables_reach_racks(proof: Proof, cabling: FabricCabling, cabled: Ints) -> None:
    """No cable is shorter than the way along the trays between any two racks whose devices it joins; of a link through
    a trunk it is the jumper to a panel.
    """
    cable, evidence, wiring = cabling.links.cable[cabled], cabling.fabric.evidence, cabling.cabled.wiring
    measured = ways_m(evidence, wiring)
    for kind in through_trunks(evidence, wiring):
        measured[kind.rows] = 0.0
    ways = measured[wiring.links.fabric == cabling.index]
    short = np.nan_to_num(ways[cabled]) > cabling.cables.length_m[cable] + SAME_M
    proof.equal("links further than their cable along the trays", int(short.sum()), 0)


def modules_fill_cages(proof: Proof, cabling: FabricCabling) -> None:
    """There is one module in every cage whose cables need one, of that kind, and no other.

    {(device, cage) of links by a_module, b_module of their cables} = rows of the table of modules. Source: design file,
    ``links[].parts``.
    """
    links, modules = cabling.links, cabling.cabled.wiring.modules
    number = {name: place for place, name in enumerate(sorted({"", *cabling.fabric.evidence.design.parts}))}
    needs: list[Ints] = [np.empty((3, 0), dtype=np.int64)]
    for assembly in cabling.assemblies:
        near, _, far = assembly.parts
        for module, device, cage in ((near, links.a, links.a_cage), (far, links.b, links.b_cage)):
            needs.append(
                np.stack([device[assembly.rows], cage[assembly.rows], np.full(len(assembly.rows), number[module])])
            )
    needed = np.concatenate(needs, axis=1)
    needed = needed[:, np.unique(combined(*needed), return_index=True)[1]]
    proof.equal("cages whose cables need different modules", repeated(combined(*needed[:2])), 0)
    needed = needed[:, needed[2] > 0]
    own = np.flatnonzero(modules.fabric == cabling.index)
    module_of = np.array([number[modules.part[row]] for row in own.tolist()], dtype=np.int64)
    there = np.stack([modules.device[own], modules.cage[own], module_of])
    proof.equal("cages with a second module", repeated(combined(*there[:2])), 0)
    code = combined(*np.concatenate([needed, there], axis=1))
    wanted, placed = distinct(code[: needed.shape[1]]), distinct(code[needed.shape[1] :])
    both = repeated(np.concatenate([wanted, placed]))
    proof.equal("cages without their module", len(wanted) - both, 0)
    proof.equal("modules where none belongs", len(placed) - both, 0)
    counted = Counter(modules.part[row] for row in own.tolist())
    proof.note(", ".join(f"{count} x {name}" for name, count in sorted(counted.items())) or "no modules")


def schedule_matches_bill(proof: Proof, cabling: FabricCabling) -> None:
    """The wiring holds exactly the cables, fibres and modules that the bill says are in use.

    Cables by part and length, modules by part = ``in_use`` of the bill's lines of the fabric and of the logical ones on
    it; with a jumper at the far end of each link through a trunk. Source: design file, ``bom``.
    """
    names = {cabling.fabric.designed.name, *cabling.fabric.logical}
    cables, modules = cabling.cables, cabling.cabled.wiring.modules
    own, lengths = cabling.own_cables.tolist(), cables.length_m.tolist()
    listed = Counter((cables.part[cable], lengths[cable]) for cable in own)
    listed.update((modules.part[row], 0.0) for row in np.flatnonzero(modules.fabric == cabling.index).tolist())
    for kind in cabling.fabric.designed.structured:
        listed[kind.jumper, float(kind.jumper_m)] += kind.far_jumpers
    bill = summed(
        ((line.id, float(line.length_m or 0)), line.in_use)
        for line in cabling.fabric.evidence.design.bom
        if line.fabric in names and line.kind in CABLED_KINDS
    )
    for part, length in sorted(listed.keys() | bill.keys()):
        what = f"{part} of {length:g} m" if length else part
        proof.equal(f"{what} in use on the bill", bill[part, length], listed[part, length])
    proof.note(f"{some(len(own), 'cable')}, {some(sum(listed.values()) - len(own), 'module')}")
