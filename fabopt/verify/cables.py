"""Rules of wires and modules in the explicit wiring: what plugs in where, how long it is, that it is on the bill."""

from __future__ import annotations

from collections import Counter

import numpy as np

from fabopt.schema.catalog import Cable, Fibre, Transceiver
from fabopt.verify.assemblies import Assembly
from fabopt.verify.codes import coded, combined, repeated
from fabopt.verify.fit import cable_faults, fibre_joins, form_fits, works_together
from fabopt.verify.link_rows import End, Row
from fabopt.verify.proof import Proof
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.model import Ints

# Lengths and runs are metres in floating point; a nanometre is nothing.
SAME_M = 1e-9
CABLED_KINDS = ("transceiver", "cable", "fibre")


def wires_are_listed(proof: Proof, cabling: FabricCabling) -> None:
    """Every link that the file has parts for has a wire of those parts, and every wire has a link.

    Links of a kind by (near module, wire, far module) = sum of ``count`` of its rows with these parts; where nothing is
    bought, none. Labels differ; a wire's kind is that of its first link. Source: design file, ``links``.
    """
    cables, links = cabling.cables, cabling.links
    proof.equal("wires with a label that is taken", len(cables) - len(set(cables.name)), 0)
    cabled = np.flatnonzero(links.cable >= 0)
    used, first = np.unique(links.cable[cabled], return_index=True)
    proof.equal(
        "wires of another kind than their links", int((cables.kind[used] != links.kind[cabled[first]]).sum()), 0
    )
    proof.equal("links with a wire of another fabric", int((cables.fabric[used] != cabling.index).sum()), 0)
    proof.equal("wires without a link", len(np.setdiff1d(cabling.own_cables, used)), 0)
    made: Counter[tuple[str, tuple[str, str, str]]] = Counter()
    for one in cabling.assemblies:
        made[one.kind.name, one.parts] += len(one.rows)
        proof.note(f"{one.name} {len(one.rows)}")
    for kind, rows in cabling.joined:
        bought: Counter[tuple[str, str, str]] = Counter()
        for row in kind.rows:
            bought[_parts(row)] += row.made.count
        made[kind.name, ("", "", "")] += int((links.cable[rows] < 0).sum())
        for parts in bought.keys() | {parts for name, parts in made if name == kind.name}:
            proof.equal(f"{kind.name} links by {parts}", made[kind.name, parts], bought[parts])


def _parts(row: Row) -> tuple[str, str, str]:
    """(Near module, wire, far module) of a row of the file; empty for none."""
    return (
        row.near.id if row.near else "",
        row.cable_or_fibre.id if row.cable_or_fibre else "",
        row.far.id if row.far else "",
    )


def wires_fit_cages(proof: Proof, cabling: FabricCabling) -> None:
    """What plugs into the two cages of a link goes in, and understands the other end.

    Cable: both heads have the form factor, split and lanes of their cages. Fibre: modules fit their cages, have one
    standard of a port and the fibre's word, and it has their connectors. All speak the protocol. Medium: the product's.
    Source: catalog, fit.
    """
    protocol, cables = cabling.fabric.made.protocol, cabling.cables
    for one in cabling.assemblies:
        for part in (one.near, one.far, one.cable_or_fibre if isinstance(one.cable_or_fibre, Cable) else None):
            if part is not None and part.protocols and protocol not in part.protocols:
                proof.holds(False, f"{one.name}: {part.id} does not speak {protocol}")
        if isinstance(one.cable_or_fibre, Cable):
            faults = cable_faults(one.cable_or_fibre, one.kind)
            proof.holds(not faults, f"{one.name}: {faults[0] if faults else ''}")
            proof.holds(one.near is None and one.far is None, f"{one.name}: a cable with modules")
        else:
            _fibre_fits(proof, one, one.cable_or_fibre)
        medium = one.cable_or_fibre.medium if isinstance(one.cable_or_fibre, Cable) else one.cable_or_fibre.fibre
        media = {cables.medium[cable] for cable in np.unique(cabling.links.cable[one.rows]).tolist()}
        proof.equal(f"{one.name}: medium", media, {medium})
        proof.note(f"{one.name} {medium}")


def _fibre_fits(proof: Proof, one: Assembly, fibre: Fibre) -> None:
    near, far = one.kind.near.end, one.kind.far.end
    proof.holds(one.far is not None, f"{one.name}: no module at the far end")
    for module, end in ((one.near, near), (one.far, far)):
        if module is not None:
            fits = all(form_fits(module.form_factor, cage) for cage in end.cages) and _works(module, end)
            proof.holds(fits, f"{one.name}: {module.id} does not go into the cage")
            proof.equal(f"{one.name}: fibre of {module.id}", module.fibre, fibre.fibre)
    if one.near is not None and one.far is not None:
        standards = one.near.standard_by_split.get(near.split), one.far.standard_by_split.get(far.split)
        proof.holds(None not in standards and standards[0] == standards[1], f"{one.name}: standards are {standards}")
    joins = Row(one.kind.rows[0].made, near=one.near, far=one.far, fibre=fibre)
    proof.holds(fibre_joins(one.kind, joins), f"{one.name} does not join the connectors")


def _works(module: Transceiver, end: End) -> bool:
    return end.box is None or works_together(module, end.box)


def wires_join_cages(proof: Proof, cabling: FabricCabling) -> None:
    """A wire's connectors are plugged in once each, and reach every link that it carries.

    A straight wire joins one cage to one cage (one connector to one, where modules have several); of a splitter or
    breakout the single head is in one cage, and every link has a head of its own at the other side. No connector of a
    cage has two wires. Source: catalog, ``ends``.
    """
    links, cables = cabling.links, cabling.cables
    plugged: list[Ints] = []
    for one in cabling.assemblies:
        rows = one.rows
        cable, (near, far) = links.cable[rows], one.ports
        heads = coded(zip(cables.a_connectors[cable].tolist(), cables.b_connectors[cable].tolist(), strict=True))[1]
        odd = [counted for counted in heads if counted not in one.heads]
        proof.holds(not odd, f"{one.name} with {odd} heads, its product has {sorted(one.heads)}")
        if one.kind.near.end.cages:  # how an attachment's cages are split may be left open
            plugged.append(np.stack([cable, 0 * cable, links.a[rows], links.a_cage[rows], links.a_lane[rows] // near]))
        plugged.append(np.stack([cable, 0 * cable + 1, links.b[rows], links.b_cage[rows], links.b_lane[rows] // far]))
    if plugged:
        _heads_suffice(proof, cabling, np.concatenate(plugged, axis=1))
    proof.note(f"{len(cabling.own_cables)} wires")


def _heads_suffice(proof: Proof, cabling: FabricCabling, ends: Ints) -> None:
    """``ends``: (wire, side, box, cage, connector) of the ends of links; side 0 is the near one."""
    cables = cabling.cables
    _, first = np.unique(combined(*ends), return_index=True)
    plugs = ends[:, first]
    proof.equal("connectors of a cage with two wires", repeated(combined(*plugs[2:])), 0)
    for side, heads, where in ((0, cables.a_connectors, "near"), (1, cables.b_connectors, "far")):
        carried = np.bincount(ends[0][ends[1] == side], minlength=len(cables))
        used = np.bincount(plugs[0][plugs[1] == side], minlength=len(cables))
        proof.equal(f"wires with too few heads at the {where} end", int((used > heads).sum()), 0)
        shared = (heads > 1) & (carried > used)
        proof.equal(f"wires with two links in one of their {where} heads", int(shared.sum()), 0)


def wires_cover_runs(proof: Proof, cabling: FabricCabling) -> None:
    """Every wire is long enough for each of its links, and within reach of every part.

    longest run of its links = run_m <= length_m <= reach; runs are those of the site, measured on its floor between the
    racks of the link's boxes where there is one; the length is on offer. Source: catalog, fit; case file, ``site``.
    """
    cables, own = cabling.cables, cabling.own_cables
    cabled = np.flatnonzero(cabling.links.cable >= 0)
    longest = np.zeros(len(cables))
    np.maximum.at(longest, cabling.links.cable[cabled], cabling.runs_m[cabled])
    true = np.abs(cables.run_m[own] - longest[own]) <= SAME_M
    proof.equal("wires with another run than their longest link", int((~true).sum()), 0)
    covers = cables.length_m[own] >= longest[own] - SAME_M
    proof.equal("wires shorter than their run", int((~covers).sum()), 0)
    for one in cabling.assemblies:
        cable = cabling.links.cable[one.rows]
        lengths = np.unique(cables.length_m[cable]).tolist()
        offered = {float(length.m) for length in one.cable_or_fibre.lengths if length.price_usd is not None}
        proof.holds(offered.issuperset(lengths), f"{one.name}: {lengths} m, on offer {sorted(offered)} m")
        for part in (one.near, one.far, one.cable_or_fibre if isinstance(one.cable_or_fibre, Cable) else None):
            reach = part.reach_m if part is not None else None
            if part is not None and reach is not None:
                proof.holds(max(lengths) <= reach, f"{one.name}: {max(lengths):g} m, {part.id} reaches {reach:g} m")
        proof.note(f"{one.name} {', '.join(f'{length:g}' for length in lengths)} m")


def modules_fill_cages(proof: Proof, cabling: FabricCabling) -> None:
    """There is one module in every cage whose wires need one, of the kind that they need, and none elsewhere.

    {(box, cage) of links by a_module, b_module of their wires} = rows of the table of modules. Source: design file,
    ``links[].parts``.
    """
    links, modules = cabling.links, cabling.cabled.wiring.modules
    number = {name: place for place, name in enumerate(sorted({"", *cabling.fabric.evidence.design.parts}))}
    needs: list[Ints] = [np.empty((3, 0), dtype=np.int64)]
    for one in cabling.assemblies:
        near, _, far = one.parts
        for module, box, cage in ((near, links.a, links.a_cage), (far, links.b, links.b_cage)):
            needs.append(np.stack([box[one.rows], cage[one.rows], np.full(len(one.rows), number[module])]))
    needed = np.concatenate(needs, axis=1)
    needed = needed[:, np.unique(combined(*needed), return_index=True)[1]]
    proof.equal("cages whose wires need different modules", repeated(combined(*needed[:2])), 0)
    needed = needed[:, needed[2] > 0]
    own = np.flatnonzero(modules.fabric == cabling.index)
    module_of = np.array([number[modules.part[row]] for row in own.tolist()], dtype=np.int64)
    there = np.stack([modules.device[own], modules.cage[own], module_of])
    proof.equal("cages with a second module", repeated(combined(*there[:2])), 0)
    code = combined(*np.concatenate([needed, there], axis=1))
    missing = np.setdiff1d(code[: needed.shape[1]], code[needed.shape[1] :])
    surplus = np.setdiff1d(code[needed.shape[1] :], code[: needed.shape[1]])
    proof.equal("cages without their module", len(missing), 0)
    proof.equal("modules where none belongs", len(surplus), 0)
    counted = Counter(modules.part[row] for row in own.tolist())
    proof.note(", ".join(f"{count} x {name}" for name, count in sorted(counted.items())) or "no modules")


def schedule_matches_bill(proof: Proof, cabling: FabricCabling) -> None:
    """The wiring holds just the cables, fibres and modules that the bill says are in use.

    Wires by part and length, modules by part = ``in_use`` of the bill's lines of the fabric and of the logical ones on
    it. Source: design file, ``bom``.
    """
    names = {cabling.fabric.made.name, *cabling.fabric.logical}
    cables, modules = cabling.cables, cabling.cabled.wiring.modules
    own, lengths = cabling.own_cables.tolist(), cables.length_m.tolist()
    listed = Counter((cables.part[cable], lengths[cable]) for cable in own)
    listed.update((modules.part[row], 0.0) for row in np.flatnonzero(modules.fabric == cabling.index).tolist())
    bill: Counter[tuple[str, float]] = Counter()
    for line in cabling.fabric.evidence.design.bom:
        if line.fabric in names and line.kind in CABLED_KINDS:
            bill[line.id, float(line.length_m or 0)] += line.in_use
    for part, length in sorted(listed.keys() | bill.keys()):
        what = f"{part} of {length:g} m" if length else part
        proof.equal(f"{what} in use on the bill", bill[part, length], listed[part, length])
    proof.note(f"{len(own)} wires, {sum(listed.values()) - len(own)} modules")
