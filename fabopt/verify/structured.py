"""Rules of links through trunks and panels, counted again from the racks of both ends of every link.

A link between two zones, racks or rows with panels at their ends, is a module, a jumper, a port of a panel, a leg of a
trunk, a port of a panel, a jumper and a module; within a zone it is one jumper. A leg between cassettes has as many
links as these have ports in front of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import ceil

import numpy as np

from fabopt.floor.racks import height_m
from fabopt.rules.defaults import OPTIC_LOSS, RACK_RULES, is_kept
from fabopt.schema.passive import CassetteBack, Fibre, Panel, Polarity, Trunk
from fabopt.schema.structured import StructuredKind, TrunkRoute
from fabopt.units import exact, some
from fabopt.verify.appliances import ends_of_rows
from fabopt.verify.channels import allowed_db, glass_db, plugs_db
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.floor import frames
from fabopt.verify.floor_runs import jumpers_m, through_trunks, ways_m
from fabopt.verify.link_kinds import all_kinds
from fabopt.verify.parts_of_trunks import stage_of
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.racks import DeviceRacks, kept_units
from fabopt.verify.wiring import CabledDesign
from fabopt.wiring.model import KINDS, Ints

SAME = exact("0.000001")


@dataclass(frozen=True)
class TrunkedLinks:
    """A kind of links of a fabric of the file that runs through trunks; ``index``: of the fabric."""

    index: int
    fabric: FabricEvidence
    kind: StructuredKind

    @property
    def name(self) -> str:
        """What a proof calls it."""
        return f"{self.fabric.designed.name} {self.kind.kind}"

    def panels(self, evidence: Evidence) -> list[Panel]:
        """The products of its panels."""
        return [evidence.part(id_, Panel) for id_ in sorted({place.id for place in self.kind.panels})]

    def legs_of(self, evidence: Evidence, links: int) -> int:
        """Legs of a route with so many links: ceil(links x (1 + ``spare_legs``)), in legs of several links."""
        per_leg = max((len(panel.back.positions) for panel in self.panels(evidence) if panel.back), default=1)
        return ceil(Fraction(ceil(links * (1 + exact(evidence.case.site.spare_legs))), per_leg))


def has_trunks(evidence: Evidence) -> bool:
    """Whether the case speaks of trunks, or a fabric has any."""
    site = evidence.design.case.content.get("site")
    said = isinstance(site, dict) and site.get("cabling", "direct") != "direct"
    return said or any(fabric.structured for fabric in evidence.design.fabrics)


def trunked_of(evidence: Evidence) -> Iterator[TrunkedLinks]:
    """Every kind of links through trunks."""
    for index, fabric in enumerate(evidence.fabrics):
        for kind in fabric.designed.structured:
            yield TrunkedLinks(index, fabric, kind)


@since("0.3.0", "case.content.site.cabling")
@where(has_trunks)
def trunks_hold_legs(proof: Proof, cabled: CabledDesign) -> None:
    """The trunks of every route have legs for all links between its zones, with spare ones, and are long enough.

    Links of a kind by pair of racks of panels, counted in the wiring = ``links``; ceil(links x (1 + ``spare_legs``)),
    over ports of a cassette = ``legs`` <= sum of trunks x legs of each, at every stage; trunks and jumpers cover their
    run, wherever in the racks panels are, and jumpers that of links within a zone; a jumper for the far end of each
    other. Kinds are those that the case has through trunks, and all that have to be, of fabrics that are not
    out-of-band. Trunks come when ``growth.trunks`` says: none is ``ahead`` of the first stage, or of the one that lacks
    legs without it. Source: case file, ``site.cabling``; catalog, ``legs``.
    """
    evidence, plan = cabled.evidence, cabled.evidence.plan
    words = {wanted.name: {} if wanted.role == "oob" else evidence.case.site.trunked
             for wanted in evidence.case.fabrics}  # fmt: skip
    met = {(trunked.index, trunked.kind.kind) for trunked in trunked_of(evidence)}
    for index, fabric in enumerate(evidence.fabrics):
        for name, word in words[fabric.designed.name].items():
            if word == "structured" and len(_rows(cabled, index, name)):
                proof.holds((index, name) in met, f"{fabric.designed.name} {name}: no trunks, and the case wants them")
    for trunked in trunked_of(evidence):
        kind, name = trunked.kind, trunked.name
        said = words[trunked.fabric.designed.name]
        proof.holds(kind.kind in said, f"{name}: trunks, and the case has leads")
        by_stage = [_routes(cabled, trunked, stage) for stage in range(len(evidence.stage_names))]
        routes = by_stage[-1]
        listed = {(plan.rack_index(route.a), plan.rack_index(route.b)): route.links for route in kind.routes}
        proof.equal(f"{name}: links by pair of racks", listed, dict(routes))
        proof.equal(f"{name}: routes", len(kind.routes), len(listed))
        proof.equal(f"{name}: jumpers at far ends", kind.far_jumpers, routes.total())
        if len(by_stage) > 1:
            far = [there.total() - before.total() for before, there in pairwise([Counter(), *by_stage])]
            proof.equal(f"{name}: jumpers at far ends by stage", list(kind.far_by_stage), far)
        reached_m = _jumper_run_m(cabled, trunked)
        proof.holds(kind.jumper_m >= reached_m, f"{name}: jumpers of {kind.jumper_m:g} m for {reached_m:g} m")
        for route in kind.routes:
            _route_holds(proof, evidence, trunked, route, by_stage)
        proof.note(f"{name}: {some(routes.total(), 'link')} on {some(len(routes), 'route')}")


def _route_holds(
    proof: Proof, evidence: Evidence, trunked: TrunkedLinks, route: TrunkRoute, by_stage: list[Counter[tuple[int, int]]]
) -> None:
    """Hold the legs of a route, and how long its trunks are; ``by_stage``: links by pair of racks."""
    plan, where_ = evidence.plan, f"{trunked.name} {route.a}-{route.b}"
    a, b = plan.rack_index(route.a), plan.rack_index(route.b)
    proof.equal(f"{where_}: legs", route.legs, trunked.legs_of(evidence, route.links))
    pulled = [
        (stage_of(evidence, trunk), evidence.part(trunk.id, Trunk).legs)
        for trunk in route.trunks for _ in range(trunk.count)
    ]  # fmt: skip
    needs = [trunked.legs_of(evidence, there[a, b]) for there in by_stage]
    _come_in_time(proof, evidence, where_, "leg", (needs, pulled))
    low_m = height_m(1, 0)
    run_m = float(plan.run_m(a, low_m, b, low_m))
    for trunk in route.trunks:
        sold = {length.m for length in evidence.part(trunk.id, Trunk).lengths if length.price_usd is not None}
        proof.holds(trunk.length_m in sold, f"{where_}: {trunk.id} is not sold in {trunk.length_m:g} m")
        proof.holds(trunk.length_m >= run_m, f"{where_}: {trunk.length_m:g} m of {trunk.id} for {run_m:g} m")


def _come_in_time(
    proof: Proof, evidence: Evidence, of: str, unit: str, numbers: tuple[list[int], list[tuple[int, int]]]
) -> None:
    """Hold what is there by each stage against what is needed, and each piece against when it may come.

    ``numbers``: legs or ports needed at each stage; of each trunk or panel its stage, and the legs or ports it has.
    """
    (needs, pieces), word = numbers, evidence.case.growth.trunks
    for stage, needed in enumerate(needs):
        there = sum(has for at, has in pieces if at <= stage)
        proof.holds(there >= needed, f"{of}: {some(there, unit)} for {needed} at {evidence.stage_names[stage]}")
        added = [has for at, has in pieces if at == stage]
        if len(needs) > 1 and added and word != "any":
            needless = stage > 0 if word == "ahead" else there - min(added) >= needed
            told = f"{of}: a piece at {evidence.stage_names[stage]}, and `growth.trunks` is {word}"
            proof.holds(not needless, told)


def _rows(cabled: CabledDesign, index: int, kind: str) -> Ints:
    """The links of a kind of a fabric, as rows of the wiring."""
    links = cabled.wiring.links
    return np.flatnonzero((links.fabric == index) & (links.kind == KINDS.index(kind)))


def _jumper_run_m(cabled: CabledDesign, trunked: TrunkedLinks) -> float:
    """The longest run that a jumper of a kind has: to panels, within racks, and of links within a zone."""
    evidence, wiring, links = cabled.evidence, cabled.wiring, cabled.wiring.links
    runs_m = [evidence.plan.longest_in_rack_m]
    for through in through_trunks(evidence, wiring):
        if (through.fabric, through.kind.kind) == (trunked.index, trunked.kind.kind):
            within = np.setdiff1d(_rows(cabled, trunked.index, trunked.kind.kind), through.rows)
            runs_m += ways_m(evidence, wiring)[within].tolist()
            for end in (links.a, links.b):
                runs_m += jumpers_m(evidence, wiring, through, end[through.rows]).tolist()
    return max(runs_m)


def _routes(cabled: CabledDesign, trunked: TrunkedLinks, stage: int) -> Counter[tuple[int, int]]:
    """Links of a kind that are there by a stage, by pair of racks of their panels in the order of the floor."""
    links, devices, plan = cabled.wiring.links, cabled.wiring.devices, cabled.evidence.plan
    rows, zone = _rows(cabled, trunked.index, trunked.kind.kind), trunked.kind.zone
    rows = rows[links.stage[rows] <= stage]
    pairs: Counter[tuple[int, int]] = Counter()
    for a, b in zip(links.a[rows].tolist(), links.b[rows].tolist(), strict=True):
        near, far = sorted((plan.rack_index(zone(devices.rack[a])), plan.rack_index(zone(devices.rack[b]))))
        if near != far:
            pairs[near, far] += 1
    return pairs


@since("0.3.0", "case.content.site.cabling")
@where(has_trunks)
def panels_hold_trunks(proof: Proof, cabled: CabledDesign) -> None:
    """The panels of every rack have a port for each leg of a kind's routes that ends in it, the spare ones too.

    sum of legs of its routes, as in ``trunks_hold_legs`` <= sum of ports behind its panels, at every stage; with
    ``growth.trunks: ahead`` all are of the first one; no panels elsewhere. With ``zones: rows`` the rack of a row is
    the outermost that no key names, at the end nearer to a cross tray. Source: case file, ``site``; design file,
    ``structured``; catalog, ``ports``.
    """
    evidence, plan = cabled.evidence, cabled.evidence.plan
    stages = range(len(evidence.stage_names))
    ends = ends_of_rows(evidence)
    for trunked in trunked_of(evidence):
        proof.equal(f"{trunked.name}: racks of panels by row", trunked.kind.zones, ends)
        legs, panels = (
            defaultdict[str, list[int]](lambda: [0 for _ in stages]),
            defaultdict[str, list[tuple[int, int]]](list),
        )
        for stage in stages:
            for route, links in _routes(cabled, trunked, stage).items():
                for rack in route:
                    legs[plan.ids[rack]][stage] += trunked.legs_of(evidence, links)
        for place in trunked.kind.panels:
            panel = evidence.part(place.id, Panel)
            behind = panel.ports // (1 if panel.back is None else len(panel.back.positions))
            panels[place.rack].append((stage_of(evidence, place), behind))
        for name in sorted(legs.keys() | panels.keys()):
            proof.holds(legs[name][-1] > 0, f"{trunked.name} {name}: panels, and no legs")
            _come_in_time(proof, evidence, f"{trunked.name} {name}", "port", (legs[name], panels[name]))
        ports = sum(has for of_rack in panels.values() for _, has in of_rack)
        proof.note(
            f"{trunked.name}: {some(ports, 'port')} for {some(sum(of[-1] for of in legs.values()), 'end')} of legs"
        )


@since("0.3.0", "case.content.site.cabling")
@where(has_trunks)
def panels_fit_racks(proof: Proof, cabled: CabledDesign) -> None:
    """Every panel is in units of its rack that no device, no other panel and nothing kept by the rules of racks fills.

    Units 1 .. ``rack_units`` without those of devices, cable managers, power strips and the management switch; those
    kept for patch panels are for panels. A rack at the end of a row has panels alone. Source: case file,
    ``site.rack_rules``; catalog, ``rack_units``.
    """
    evidence, racks = cabled.evidence, DeviceRacks(cabled)
    floor, rules = evidence.plan.floor, evidence.case.site.rack_rules
    keeps = is_kept(evidence.case.rules, RACK_RULES)
    top = floor.rack_units - (rules.patch_panel_units if keeps else 0)
    others = (kept_units(evidence) - rules.patch_panel_units) if keeps else 0
    taken: dict[str, set[int]] = defaultdict(set, frames(evidence))
    panels = [place for trunked in trunked_of(evidence) for place in trunked.kind.panels]
    for rack in ends_of_rows(evidence).values():
        proof.holds(rack not in racks.units, f"{rack}: kept for panels, and has other devices")
    for place in panels:
        rack = place.rack
        blocked = taken[rack] | racks.units[rack] | set(range(top - others + 1, top + 1))
        if keeps:
            blocked |= racks.managers(rack)
        own = set(range(place.unit, place.unit + ceil(evidence.part(place.id, Panel).rack_units)))
        fits = min(own) >= 1 and max(own) <= floor.rack_units and own.isdisjoint(blocked)
        proof.holds(fits, f"{rack}: no room for {place.id} in unit {place.unit}")
        taken[rack] = taken[rack] | own
    proof.note(f"{some(len(panels), 'panel')} in {some(len({place.rack for place in panels}), 'rack')}")


@since("0.3.0", "case.content.site.cabling")
@where(has_trunks)
def polarity_crosses(proof: Proof, evidence: Evidence) -> None:
    """Light that a link sends from one module arrives at the receiver of the other.

    Of the pieces of a link between racks, two jumpers and a leg, an odd number are of Type B; adapters of both panels
    hold keys alike, as those of one product do. Between cassettes, all alike, each fibre of a port arrives at one port,
    last for first. Source: catalog, ``polarity``, ``keys``, ``back``.
    """
    for trunked in trunked_of(evidence):
        jumper, panels = evidence.part(trunked.kind.jumper, Fibre), trunked.panels(evidence)
        trunks = [evidence.part(id_, Trunk) for id_ in sorted({trunk.id for trunk in trunked.kind.trunks})]
        backs = {panel.back for panel in panels}
        if backs - {None}:
            alike = {(panel.back, panel.connector, panel.pinned, panel.loss_db) for panel in panels}
            proof.equal(f"{trunked.name}: kinds of cassettes", len(alike), 1)
            for back, trunk in product(backs, trunks):
                crosses = back is not None and _crosses(back, trunk.polarity)
                proof.holds(crosses, f"{trunked.name}: light does not cross through {trunk.id} to a port of a cassette")
            continue
        for trunk in trunks if _has_rows(trunked.kind.connector) else ():
            types = [jumper.polarity, trunk.polarity, jumper.polarity]
            proof.holds(
                None not in types and types.count("B") % 2 == 1, f"{trunked.name}: types {types} with {trunk.id}"
            )
        of_id = {panel.id: panel.keys for panel in panels}
        keys = set(of_id.values())
        is_alike = len(of_id) <= 1 or (len(keys) == 1 and None not in keys) or not _has_rows(trunked.kind.connector)
        proof.holds(is_alike, f"{trunked.name}: panels {of_id} do not all hold keys alike, as far as is known")
        proof.note(f"{trunked.name}: jumpers of type {jumper.polarity or 'unknown'}")


def _crosses(back: CassetteBack, polarity: Polarity | None) -> bool:
    """Whether each fibre behind a port of a cassette comes out at one port of another such one, in the other order."""
    if polarity is None:
        return False
    place = {fibre: (port, at) for port, fibres in enumerate(back.positions) for at, fibre in enumerate(fibres)}
    for fibres in back.positions:
        out = [place.get(fibre if polarity == "A" else back.fibres + 1 - fibre) for fibre in fibres]
        met = [end for end in out if end is not None]
        if len(met) < len(fibres) or len({port for port, _ in met}) > 1:
            return False
        if [at for _, at in met] != list(range(len(fibres)))[::-1]:
            return False
    return True


def _has_rows(connector: str) -> bool:
    """Whether plugs are of a row of fibres, which have pins and a type."""
    return connector.startswith("MPO")


@since("0.3.0", "case.content.site.cabling")
@where(has_trunks)
def ends_mate(proof: Proof, evidence: Evidence) -> None:
    """All that is plugged together mates, and a link through trunks loses no more than its modules allow.

    Fibre and connector, with its polish, are one for modules, jumpers and legs; adapters of panels have its form. Of
    several fibres, jumpers have no pins and trunks have. Cassettes have the connector of jumpers in front and that of
    legs behind, with pins on one side, and legs a fibre at each position of a port. With rule ``optic-loss`` on: loss
    of two jumpers, the longest trunk and four pairs of plugs, the worse grade where two meet, with cassettes two pairs
    and what these lose <= budget - ``optical_margin_db``; their length <= reach. Source: catalog.
    """
    for trunked in trunked_of(evidence):
        kind, name = trunked.kind, trunked.name
        jumper = evidence.part(kind.jumper, Fibre)
        ends = {(end.connector, end.count) for end in jumper.both_ends}
        proof.equal(f"{name}: ends of {jumper.id}", ends, {(kind.connector, 1)})
        proof.holds(jumper.pinned is False or not _has_rows(kind.connector), f"{name}: {jumper.id} may have pins")
        proof.equal(f"{name}: fibre of {jumper.id}", jumper.fibre, kind.fibre)
        panels = trunked.panels(evidence)
        for trunk in (evidence.part(id_, Trunk) for id_ in sorted({trunk.id for trunk in kind.trunks})):
            for back in {panel.back for panel in panels}:
                wanted = kind.connector if back is None else back.connector
                mates = (trunk.fibre, trunk.connector) == (kind.fibre, wanted)
                if back is None:
                    mates &= trunk.pinned is True or not _has_rows(kind.connector)
                else:
                    mates &= {trunk.pinned, back.pinned} == {True, False} and _are_lit(trunk, back)
                proof.holds(mates, f"{name}: {trunk.id} of {trunk.fibre} {trunk.connector} does not mate in panels")
        for panel in panels:
            forms = {panel.connector}
            if panel.back is None:
                forms |= {f"{panel.connector}-APC", f"{panel.connector}-UPC"}
            proof.holds(kind.connector in forms, f"{name}: {panel.id} has adapters for {panel.connector}")
            pins = panel.back is None or panel.pinned is True or not _has_rows(panel.connector)
            proof.holds(pins, f"{name}: {panel.id} may have no pins in front")
        _budget_holds(proof, evidence, trunked, jumper)


def _are_lit(trunk: Trunk, back: CassetteBack) -> bool:
    """Whether a leg has a fibre at each position of a cassette: 8 fibres of 12 are at 1 to 4 and 9 to 12."""
    used, per_leg = {position for port in back.positions for position in port}, trunk.fibres // trunk.legs
    return per_leg >= back.fibres or (per_leg == 8 and back.fibres == 12 and not used & {5, 6, 7, 8})


def _panels_db(evidence: Evidence, trunked: TrunkedLinks, jumper: Fibre) -> Fraction:
    """The largest loss of the plugs that meet in both panels of a link, in dB."""
    kind, losses = trunked.kind, list[Fraction]()
    in_panels = {jumper.grade, *(evidence.part(trunk.id, Trunk).grade for trunk in kind.trunks)}
    grade = None if None in in_panels else "standard" if "standard" in in_panels else "low-loss"
    for panel in trunked.panels(evidence):
        if panel.back is None:
            losses.append(plugs_db(evidence.optics, kind.connector, kind.fibre, grade))
        elif panel.loss_db is not None:
            losses.append(exact(panel.loss_db))
        else:
            both = panel.connector, panel.back.connector
            losses.append(sum((plugs_db(evidence.optics, one, kind.fibre, None) for one in both), Fraction(0)))
    return 2 * max(losses, default=Fraction(0))


def _budget_holds(proof: Proof, evidence: Evidence, trunked: TrunkedLinks, jumper: Fibre) -> None:
    kind, name = trunked.kind, trunked.name
    glass_m = 2 * exact(kind.jumper_m) + max((exact(trunk.length_m) for trunk in kind.trunks), default=Fraction(0))
    loss_db = _panels_db(evidence, trunked, jumper) + glass_db(evidence.optics, kind.fibre, glass_m)
    loss_db += 2 * plugs_db(evidence.optics, kind.connector, kind.fibre, jumper.grade)
    margin_db = exact(evidence.case.site.optical_margin_db)
    limited = is_kept(evidence.case.rules, OPTIC_LOSS)
    near, far = kind.kind.split("-")
    for of_file in all_kinds(trunked.fabric):
        if (of_file.name, f"{near}-{far}") != (kind.kind, kind.kind):
            continue
        for row in of_file.rows:
            for module, end in ((row.near, of_file.near), (row.far, of_file.far)):
                if module is None:
                    proof.holds(False, f"{name}: a link without a module")
                    continue
                proof.equal(f"{name}: connector of {module.id}", module.connector_of(end.split), kind.connector)
                proof.holds(glass_m <= exact(module.reach_m), f"{name}: {float(glass_m):g} m, {module.id} reaches less")
                allowed = allowed_db(evidence.optics, module, module.standard_by_split.get(end.split, ""))
                fits = not limited or allowed is None or loss_db <= allowed - margin_db + SAME
                told = f"{name}: {float(loss_db):.3f} dB over {float(glass_m):g} m, two jumpers and two panels"
                proof.holds(fits, f"{told}, {module.id} allows {float(allowed or 0):g} dB")
    proof.note(f"{name}: {float(loss_db):.3f} dB over {float(glass_m):g} m")
