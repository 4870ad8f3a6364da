"""A case's ``base``: the file of what is in service, read, and the stages that go on from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import repeat
from math import ceil
from pathlib import Path

from fabopt.errors import Fault, fault
from fabopt.floor.group_runs import KINDS, Sizes, given_m, group_runs
from fabopt.io.counted import counted_otherwise, with_counts
from fabopt.io.faults import refuse_any
from fabopt.io.floor_in_service import faults_of_floor
from fabopt.io.live import LiveDesign, check_design, read_live, run_on, run_otherwise, unfit
from fabopt.io.moves import faults_of_moves
from fabopt.schema.attachment import WITH_SWITCHES, Attachment
from fabopt.schema.base import parse_split
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import FabricDesign, LinkRow
from fabopt.schema.floor import Campus
from fabopt.schema.in_service import IN_SERVICE
from fabopt.schema.resilience import PEER_LINK
from fabopt.schema.site import Distances, Site
from fabopt.schema.stages import ADDED, Oversubscription, Stage, StageDemand
from fabopt.schema.structure import Structure
from fabopt.units import grouped

# Of a ratio that a file has rounded, the parts up to which it is a limit of what is in service.
_PARTS = 10_000
# Keys of an attachment that a case repeats as they are in service, or leaves out with it.
_STAYING = ("ports", "boxes", "kind", "placed_on", "counts", "buys", "gbps", "form_factor", "split", "lane_gbps")


def with_base(case: Case, catalog: Catalog, folder: Path, file: str) -> Case:
    """The case with what its base says, which is its first stage; unchanged without a base, or where that was read.

    ``folder``: of paths in the case; ``file``: its name in messages. ``InputError`` lists all faults.
    """
    if case.base is None:
        return case
    if case.base.design is not None:
        check_design(case.base, "base", file)
        return case
    base, told, stage = read_live(case.base, folder, file)
    faults = [*_unfit(told, stage, file)] or [
        *_unlike(case, told, catalog, file),
        *_told_apart(case, told, file),
        *run_otherwise(case, told, file),
        *counted_otherwise(case, base, told, file),
    ]
    design = told.design
    if design.fabrics and design.stages:
        faults += faults_of_floor(case, design, told.case, file, told.file)
    refuse_any(faults)
    stages = case.stages or (Stage(name=ADDED, servers=case.servers, gpus=case.gpus),)
    case = run_on(case, told)
    site, joins = _with_live_pairs(case.site, told.case.site), case.joins or told.case.joins
    if site.has_floor:
        site = site.model_copy(update={"servers_per_rack": design.racks.servers_per_rack})
    elif site.distances_m is None:
        stated = _stated_m(case, told, catalog)
        said = told.case.site.distances_m or (Distances.model_validate(stated) if stated else None)
        site = site.model_copy(update={"distances_m": said})
    if base.move is not None:
        fabrics = tuple(_with_attachments(with_counts(fabric, told), told) for fabric in case.fabrics)
        return case.model_copy(update={"base": base, "site": site, "fabrics": fabrics})
    going_on = (with_counts(_with_peer_links(fabric, told), told) for fabric in case.fabrics)
    fabrics = tuple(_with_attachments(fabric, told, stays=True) for fabric in going_on)
    staged = {"stages": (_in_service(told), *stages), "servers": None, "gpus": None, "joins": joins}
    return case.model_copy(update={"base": base, "site": site, "fabrics": fabrics, **staged})


def _with_live_pairs(site: Site, live: Site) -> Site:
    """A site that lists no racks at its routes, with those that are listed at the routes of what is in service."""
    pairs = {(route.name, route.m): route.pairs for route in live.routes}
    if any(route.pairs for route in site.routes) or not any(pairs.values()):
        return site
    routes = [route.model_copy(update={"pairs": pairs.get((route.name, route.m), ())}) for route in site.routes]
    return site.on(Campus.of(site.halls, routes))


def _with_peer_links(fabric: Fabric, base: LiveDesign) -> Fabric:
    """A fabric that asks for the peer links that are in service."""
    there = next(one for one in base.fabrics if one.name == fabric.name)
    return fabric if there.peer_links is None else fabric.model_copy(update={"pairing": PEER_LINK})


def _with_attachments(fabric: Fabric, base: LiveDesign, stays: bool = False) -> Fabric:
    """A fabric with the attachments in service before those that are new, which come with the stage after it where it
    stays.
    """
    there = tuple(map(partial(_where_it_stands, base, fabric.name), base.attachments(fabric.name)))
    names = {one.name for one in there}
    new = [one for one in fabric.attachments if one.name not in names]
    if stays:
        new = [one.beside_what_stays() for one in new]
    return fabric.model_copy(update={"attachments": (*there, *new)})


def _where_it_stands(base: LiveDesign, name: str, attachment: Attachment) -> Attachment:
    """An attachment in service of a fabric that says where its devices are: in which racks, or with switches."""
    places = next(one.places for one in base.design.fabrics if one.name == name)
    racks = tuple(dict.fromkeys(rack for rack, _ in places.attachments.get(attachment.name, ())))
    if not racks or attachment.racks is not None or attachment.stands == WITH_SWITCHES:
        return attachment
    with_switches = {rack for tier in (places.leaf, places.spine, places.core) for rack, _ in tier}
    stands = {"stands": WITH_SWITCHES} if with_switches.intersection(racks) else {"racks": racks}
    return attachment.model_copy(update=stands)


def _in_service(base: LiveDesign) -> Stage:
    """The stage of what is in service, with its own ratios."""
    demands = {
        fabric.name: StageDemand(
            max_oversubscription=Oversubscription(
                **{tier: ceil(ratio * _PARTS) / _PARTS for tier, ratio in fabric.oversubscription.items()}
            )
        )
        for fabric in base.fabrics
        if fabric.oversubscription
    }
    return Stage(name=IN_SERVICE, servers=base.servers, fabrics=demands)


def _unfit(base: LiveDesign, stage: str, file: str) -> Iterator[Fault]:
    """What keeps a design from being a base at all; ``stage``: its name, if the case says one."""
    faults = list(unfit(base, stage, "base.file", file))
    yield from faults
    for fabric in () if faults else base.design.fabrics:
        for key, problem in _outside(fabric, base):
            yield fault(base.file, f"fabrics.{fabric.name}.{key}", problem, hint="docs/formulation/outside.md")


def _outside(fabric: FabricDesign, base: LiveDesign) -> Iterator[tuple[str, str]]:
    """Keys of a fabric of the base that no design can go on from, and why."""
    if not isinstance(fabric.structure, Structure) or fabric.topology != "clos":
        yield "topology", f"only a Clos can be gone on from, and this is a {fabric.topology}"
        return
    mixed = (tier for tier in fabric.tiers if tier.other is not None and fabric.structure.last_group is None)
    if any(mixed):
        yield "tiers", "a tier of several products cannot be gone on from"
    if fabric.logical or fabric.carries:
        yield "role", "what other fabrics share cannot be gone on from"
    for attachment in base.attachments(fabric.name):
        if attachment.max_oversubscription is not None:
            yield f"attachments.{attachment.name}", "attachments with a ratio of their own cannot be gone on from"
    if any(there.links_per_pair > fabric.structure.links_per_pair for there in fabric.growth[base.stage :][:1]):
        yield "growth", "cables that a later stage moves cannot be gone on from"
    for row, why in _of_several_parts(fabric, base):
        yield "links", f"links of several parts cannot be gone on from {why}: {row.from_} to {row.to}"


def _of_several_parts(fabric: FabricDesign, base: LiveDesign) -> Iterator[tuple[LinkRow, str]]:
    """Rows of links in service of several parts of which nobody can say which make which, and why."""
    there = {stage.name for stage in base.design.stages[: base.stage + 1]}
    live = (row for row in fabric.links if row.stages is None or not there.isdisjoint(row.stages))
    runs_m = ((row, [run for run, name in zip(row.runs_m or (), row.stages or repeat(""), strict=False)
                     if row.stages is None or name in there]) for row in live)  # fmt: skip
    for rows in grouped(((row.from_, row.to, row.attachment, row.scope, *runs), row) for row, runs in runs_m).values():
        row = rows[0]
        if len({tuple((part.id, part.end, part.length_m) for part in one.parts) for one in rows}) == 1:
            continue
        if row.attachment is not None:
            yield row, "at an attachment"
        elif fabric.growth and any(one.stages is None for one in rows):
            yield row, "where cages have several ports at both ends"
        elif any(not there.issuperset(one.stages or ()) for one in rows):
            yield row, "at a stage whose cages later ones fill"


def _unlike(case: Case, base: LiveDesign, catalog: Catalog, file: str) -> Iterator[Fault]:
    """Where a case and its base do not go together."""
    if case.server != base.case.server:
        problem = f"other servers than those in service in {base.file}"
        yield fault(file, "server", problem, case.server, allowed=str(base.case.server))
    gpus = next((one.gpus for one in catalog.servers if one.id == case.server), 0)
    sizes = {"": case} if case.stages is None else {f"stages[{n}].": one for n, one in enumerate(case.stages)}
    for where, size in sizes.items():
        asked = size.servers if size.servers is not None else (size.gpus or 0) // max(1, gpus)
        if asked < base.servers:
            key, given = ("servers", size.servers) if size.servers is not None else ("gpus", size.gpus)
            problem, allowed = f"fewer than are in service in {base.file}", f"{base.servers} servers or more"
            yield fault(file, f"{where}{key}", problem, given, allowed=allowed)
        yield from _beside_last_groups(base, asked, f"{where}servers", file)
    own, others = [one.name for one in case.fabrics], [one.name for one in base.design.fabrics]
    for name in own:
        if name not in others:
            yield fault(file, f"fabrics.{name}", f"{base.file} has no such fabric", allowed=", ".join(others))
    for name in others:
        if name not in own:
            yield fault(file, "fabrics", f"the fabric {name} of {base.file} is in service, and is not here", own)
    yield from _other_protocols(case, base, file)
    for index, fabric in enumerate(case.fabrics):
        there = {attachment.name: attachment for attachment in base.attachments(fabric.name)}
        for number, attachment in enumerate(fabric.attachments):
            stays, where = there.get(attachment.name, attachment), f"fabrics[{index}].attachments[{number}]"
            if attachment.adds:
                yield fault(file, f"{where}.adds", "is filled in by fabopt", list(attachment.adds), hint="leave it out")
            if any(getattr(attachment, key) != getattr(stays, key) for key in _STAYING):
                hint = "leave it out, as it stays; give what is new beside it a name of its own"
                problem = f"{attachment.name} is in service otherwise in {base.file}"
                yield fault(file, where, problem, attachment.name, hint=hint)
    yield from _not_yet(case, file)
    kinds = ("switches", "nics", "transceivers", "cables", "fibres", "servers")
    known = {one.id for kind in kinds for one in getattr(catalog, kind)}
    for part in sorted({row.id for row in base.design.bom if row.kind != "other"} - known):
        problem = f"the catalog lacks a part that is in service in {base.file}"
        yield fault(file, "catalog", problem, part, hint="add it to a catalog")
    if not base.case.site.has_floor and (case.site.distances_m is None or case.base is None or case.base.move is None):
        yield from _too_short(case, base, catalog, file)


def _in_cages_of_several(case: Case, base: LiveDesign, file: str) -> Iterator[Fault]:
    """New attachments of leaves whose cages have several ports, where nothing moves."""
    uses = {one.name: one.tiers[0].down.split for one in base.fabrics if one.tiers}
    stays = case.base is not None and case.base.move is None
    for index, fabric in enumerate(case.fabrics if stays else ()):
        split, known = uses.get(fabric.name, "1x1"), {one.name for one in base.attachments(fabric.name)}
        several = parse_split(split).ports > 1
        for number, attachment in enumerate(fabric.attachments):
            if several and attachment.placed_on == "leaf" and attachment.name not in known:
                problem = f"{attachment.name} would come to leaf cages of several ports in service ({split})"
                hint = "say `tier: spine` with `counts_in_ratio: false`, or let cables move (`base.move`)"
                yield fault(file, f"fabrics[{index}].attachments[{number}].tier", problem, "leaf", hint=hint)


def _other_protocols(case: Case, base: LiveDesign, file: str) -> Iterator[Fault]:
    """Fabrics that ask for another protocol than they have in service, where nothing of them moves."""
    spoken = {fabric.name: fabric.protocol for fabric in base.fabrics}
    stays = case.base is None or case.base.move is None
    for index, fabric in enumerate(case.fabrics if stays else ()):
        there = spoken.get(fabric.name, fabric.protocol)
        if fabric.protocol not in ("any", there):
            problem = f"another protocol than is in service in {base.file}"
            yield fault(file, f"fabrics[{index}].protocol", problem, fabric.protocol, allowed=f"{there} or any")


def _beside_last_groups(base: LiveDesign, servers: int, where: str, file: str) -> Iterator[Fault]:
    """Fabrics of three tiers whose last group is unlike the others, where there are to be more servers."""
    for fabric in base.fabrics if servers > base.servers else ():
        if fabric.clos.last_group is not None and len(fabric.tiers) > 2:
            own = f"a last group of its own on three tiers, as {fabric.name} of {base.file} has it,"
            problem = f"{own} cannot be gone on from with more servers"
            hint = "design the base with `groups: equal`"
            yield fault(file, where, problem, servers, allowed=str(base.servers), hint=hint)


def _parted(case: Case, base: LiveDesign, file: str) -> Iterator[Fault]:
    """Keys that would take out the peer links in service, where nothing moves."""
    stays = case.base is None or case.base.move is None
    joined = [one.name for one in base.fabrics if one.peer_links is not None and stays]
    for index, fabric in enumerate(case.fabrics):
        given = {"pairing": fabric.pairing not in (None, PEER_LINK), "homing": fabric.homing in ("any", "single")}
        for key in (key for key, is_given in given.items() if is_given and fabric.name in joined):
            problem = f"the leaves of pairs are joined by peer links in {base.file}, which stay"
            yield fault(file, f"fabrics[{index}].{key}", problem, getattr(fabric, key), hint="leave it out")


def _told_apart(case: Case, base: LiveDesign, file: str) -> Iterator[Fault]:
    """What moves are not worked out with, what parts pairs in service, and keys that weigh or count switches as those
    of one product, where a tier has several.
    """
    yield from faults_of_moves(case, base.case, base.fabrics, file)
    yield from _parted(case, base, file)
    yield from _in_cages_of_several(case, base, file)
    rules, there = case.procurement, {one.name: one for one in base.fabrics}
    for index, fabric in enumerate(case.fabrics):
        of_name = there.get(fabric.name)
        for tier in () if of_name is None else (one for one in of_name.tiers if one.stand_ins):
            given = {
                f"fabrics[{index}].roce": fabric.roce,
                f"fabrics[{index}].max_latency_us": fabric.max_latency_us,
                f"procurement.max_vendors.{tier.role}": rules.max_vendors.get(tier.role),
                f"procurement.min_sources.{tier.role}": rules.min_sources.get(tier.role),
            }
            for key in (key for key, value in given.items() if value is not None):
                problem = f"does not go with a {tier.role} tier of several products, in service in {base.file}"
                products = " and ".join(own.id for own in tier.types)
                yield fault(file, key, problem, products, hint="leave it out; docs/buying.md")


def _stated_m(case: Case, base: LiveDesign, catalog: Catalog) -> dict[str, float]:
    """The runs, by kind of links, that a case which says none has: of several fabrics that stay each has its own, by
    its groups, and attachments those in service.
    """
    several = len(base.design.fabrics) > 1 and case.base is not None and case.base.move is None
    runs_m = _runs_m(case, base, catalog, base.fabrics)
    return {kind: run_m for kind, run_m in runs_m.items() if not several or kind not in KINDS}


def _runs_m(case: Case, base: LiveDesign, catalog: Catalog, fabrics: Sequence[FabricDesign]) -> dict[str, float]:
    """The longest runs, by kind of links, that groups of some fabrics in service give at the last stage; none where the
    server is not known.
    """
    server = next((one for one in catalog.servers if one.id == case.server), None)
    size = case if case.stages is None else case.stages[-1]
    if server is None:
        return {}
    servers = size.servers if size.servers is not None else (size.gpus or 0) // max(1, server.gpus)
    said = case.site.distances_m or base.case.site.distances_m
    runs = group_runs(case.site.model_copy(update={"distances_m": said}), server, servers)
    structures = [fabric.clos for fabric in fabrics]
    group = max(servers if one.groups == 1 else one.servers_per_group for one in structures)
    of_all = {} if runs is None else runs.runs_m("clos", Sizes(group, servers))
    attached = [row for fabric in base.fabrics for row in fabric.links if row.from_ == "attachment"]
    there = {
        f"attachment-{row.to}": float(max(one.length_m for one in attached if one.to == row.to)) for row in attached
    }
    return there | {kind: float(of_all[kind]) for kind in KINDS if kind in of_all}


def _too_short(case: Case, base: LiveDesign, catalog: Catalog, file: str) -> Iterator[Fault]:
    """Links that would run farther, as said or once grown, than the cables in service that are like them."""
    said = case.site.distances_m
    if said is None and given_m(base.case.site).keys() >= {*KINDS}:
        return
    rule = "by rule `lengths`" if said is None else "as the case says"
    moves = case.base is not None and case.base.move is not None
    for fabric, there in zip(base.design.fabrics, base.fabrics, strict=True):
        groups = base.fabrics if moves else [there]
        runs_m = said.model_dump(exclude_none=True, by_alias=True) if said else _runs_m(case, base, catalog, groups)
        for row in fabric.links:
            kind = f"{row.from_}-{row.to}"
            lengths = [part.length_m for part in row.parts if part.length_m is not None]
            if lengths and runs_m.get(kind, 0) > min(lengths):
                in_service = f"those of {base.file} run {row.length_m:g} m on cables of {min(lengths):g} m"
                problem = f"links of {fabric.name} would run up to {runs_m[kind]:g} m {rule}, and {in_service}"
                hint = "say how far links run, no farther than these cables are long"
                yield fault(file, f"site.distances_m.{kind}", problem, hint=hint)


def _not_yet(case: Case, file: str) -> Iterator[Fault]:
    """Keys that do not go with a base."""
    given = {
        "scenarios": bool(case.scenarios),
        "growth.recabling": case.growth.recabling == "allow",
        "stages.probability": any(stage.probability != 1 for stage in case.stages or ()),
    }
    for key, is_given in given.items():
        if is_given:
            yield fault(file, key, "does not go with `base`", hint="leave it out; docs/formulation/outside.md")
    for number, stage in enumerate(case.stages or ()):
        if stage.name == IN_SERVICE:
            yield fault(
                file, f"stages[{number}].name", "is the stage of the base", IN_SERVICE, hint="name it otherwise"
            )
