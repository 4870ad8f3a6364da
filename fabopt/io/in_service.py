"""A case's ``base``: the file of what is in service, read, and the stages that go on from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from ipaddress import IPv4Network
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from fabopt.errors import Fault, InputError, fault
from fabopt.floor.group_runs import KINDS, Sizes, group_runs
from fabopt.io.design import parse_json, read_plan, whole_design
from fabopt.io.faults import document_of, refuse_any
from fabopt.io.floor_in_service import faults_of_floor
from fabopt.io.library import MAX_LIST_BYTES, YAML_ENDINGS, check_is_file, read_bytes, shown
from fabopt.io.moves import faults_of_moves
from fabopt.io.tables import COLUMNS, rows_of, text_of
from fabopt.io.text import DESIGN
from fabopt.schema.attachment import WITH_SWITCHES, Attachment
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.in_service import IN_SERVICE, Base
from fabopt.schema.installed import fabric_at
from fabopt.schema.operate import is_usual, span
from fabopt.schema.plan import PlanFile
from fabopt.schema.site import Distances
from fabopt.schema.stages import Oversubscription, Stage, StageDemand
from fabopt.schema.structure import Structure
from fabopt.units import grouped

# Of the file, what a design does not go on from.
_LEFT_OUT = ("alternatives", "notes")
# Of a ratio that a file has rounded, the parts up to which it is a limit of what is in service.
_PARTS = 10_000
# Keys of an attachment that a case repeats as they are in service, or leaves out with it.
_STAYING = ("ports", "boxes", "kind", "placed_on", "counts", "buys", "gbps", "form_factor", "split", "lane_gbps")


def with_base(case: Case, catalog: Catalog, folder: Path, file: str) -> Case:
    """The case with what its base says, which is its first stage; unchanged without a base, or where that was read.

    ``folder``: of paths in the case; ``file``: its name in messages. ``InputError`` lists all faults.
    """
    if case.base is None or case.base.design is not None:
        return case
    path, stage, plan = _named(folder, case.base.file)
    check_is_file(str(path))
    data = read_bytes(path)
    design = whole_design(document_of(Design, parse_json(data, shown(path), DESIGN), shown(path)), shown(path))
    content: dict[str, Any] = design.model_dump(mode="json", by_alias=True, exclude=set(_LEFT_OUT))
    base = _as_found(case.base, folder, {"sha256": sha256(data).hexdigest(), "design": content, "plan": None})
    if plan is not None:
        if plan.sha256 != design.case.sha256:
            problem = f"{shown(path)} is not the design of this plan"
            raise InputError([fault(file, "base.file", problem, case.base.file, hint="export the plan again")])
        base = base.model_copy(update={"plan": plan.model_dump(mode="json", exclude_none=True)})
    told = _ServingDesign(design, base.stage, Case.model_validate_json(json.dumps(design.case.content)), shown(path))
    faults = [*_unfit(told, stage, file)] or [
        *_unlike(case, told, catalog, file),
        *_told_apart(case, told, file),
        *_run_otherwise(case, told, file),
    ]
    if design.fabrics and design.stages:
        faults += faults_of_floor(case, design, told.case, file, shown(path))
    refuse_any(faults)
    stages = case.stages or (Stage(name="all", servers=case.servers, gpus=case.gpus),)
    case = _run_on(case, told)
    site = case.site
    if site.has_floor:
        site = site.model_copy(update={"servers_per_rack": design.racks.servers_per_rack})
    elif site.distances_m is None:
        said = told.case.site.distances_m or Distances.model_validate(_runs_m(case, told, catalog))
        site = site.model_copy(update={"distances_m": said})
    if base.move is not None:
        return case.model_copy(update={"base": base, "site": site})
    fabrics = tuple(_with_attachments(fabric, told) for fabric in case.fabrics)
    staged = {"stages": (_in_service(told), *stages), "servers": None, "gpus": None}
    return case.model_copy(update={"base": base, "site": site, "fabrics": fabrics, **staged})


def _as_found(base: Base, folder: Path, design: dict[str, Any]) -> Base:
    """A base with what its design says, and what a table of its cables, with the hash of that."""
    if base.found is None:
        return base.model_copy(update=design)
    path = folder / base.found
    check_is_file(str(path))
    data = read_bytes(path, MAX_LIST_BYTES)
    text = text_of(data, shown(path))
    if not list(rows_of(text, shown(path), COLUMNS)):
        raise InputError([fault(shown(path), "", "no cable is in this table", allowed="all cables in service")])
    return base.model_copy(update=design | {"found_sha256": sha256(data).hexdigest(), "found_cables": text})


def _run_on(case: Case, base: _ServingDesign) -> Case:
    """The case with its fabrics in the order in which NICs and VLANs of the base are numbered, and run as that is."""
    names = [one.name for one in base.design.fabrics]
    fabrics = tuple(sorted(case.fabrics, key=lambda fabric: names.index(fabric.name)))
    operate = base.case.operate if is_usual(case.operate) else case.operate
    return case.model_copy(update={"fabrics": fabrics, "operate": operate})


def _with_attachments(fabric: Fabric, base: _ServingDesign) -> Fabric:
    """A fabric with the attachments in service before those that the first stage after them brings."""
    there = tuple(map(partial(_where_it_stands, base, fabric.name), base.attachments(fabric.name)))
    names = {one.name for one in there}
    new = (one.model_copy(update={"adds": (0, one.ports)}) for one in fabric.attachments if one.name not in names)
    return fabric.model_copy(update={"attachments": (*there, *new)})


def _where_it_stands(base: _ServingDesign, name: str, attachment: Attachment) -> Attachment:
    """An attachment in service of a fabric that says where its devices are: in which racks, or with switches."""
    places = next(one.places for one in base.design.fabrics if one.name == name)
    racks = tuple(dict.fromkeys(rack for rack, _ in places.attachments.get(attachment.name, ())))
    if not racks or attachment.racks is not None or attachment.stands == WITH_SWITCHES:
        return attachment
    with_switches = {rack for tier in (places.leaf, places.spine, places.core) for rack, _ in tier}
    stands = {"stands": WITH_SWITCHES} if with_switches.intersection(racks) else {"racks": racks}
    return attachment.model_copy(update=stands)


class _ServingDesign(NamedTuple):
    """What is in service: a design, which of its stages from 0, its case, and how messages name its file."""

    design: Design
    stage: int
    case: Case
    file: str

    @property
    def servers(self) -> int:
        """Servers in service."""
        return self.design.stages[self.stage].servers

    @property
    def fabrics(self) -> list[FabricDesign]:
        """The fabrics in service."""
        return [fabric_at(fabric, self.stage) for fabric in self.design.fabrics]

    def attachments(self, name: str) -> tuple[Attachment, ...]:
        """The attachments of a fabric in service."""
        there = (one for fabric in self.case.fabrics if fabric.name == name for one in fabric.attachments)
        return tuple(one.model_copy(update={"adds": ()}) for one in there if one.first_stage <= self.stage)


def _named(folder: Path, text: str) -> tuple[Path, str, PlanFile | None]:
    """The file of the design and the stage that a name says, and the plan if it is one; a file of just that name goes
    first.
    """
    path, stage = folder / text, ""
    if not path.exists() and "@" in path.name:
        text, _, stage = text.rpartition("@")
        path = folder / text
    if path.suffix not in YAML_ENDINGS or not path.exists():
        return path, stage, None
    plan = read_plan(str(path))
    if stage not in ("", plan.stage):
        raise InputError([fault(shown(path), "stage", "this plan is of another stage", plan.stage, allowed=stage)])
    if plan.design is None:
        problem = "this plan does not say which file its design is"
        hint = "a point of a study has no such file: solve its case, then `fabopt export DESIGN.json --to plan`"
        raise InputError([fault(shown(path), "design", problem, hint=hint)])
    return path.parent / plan.design, plan.stage, plan


def _in_service(base: _ServingDesign) -> Stage:
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


def _unfit(base: _ServingDesign, stage: str, file: str) -> Iterator[Fault]:
    """What keeps a design from being a base at all; ``stage``: its name, if the case says one."""
    design = base.design
    if not design.fabrics or not design.stages:
        allowed = "a design that was found (status optimal or feasible)"
        yield fault(base.file, "status", "there is no design here", design.status, allowed=allowed)
        return
    names = [one.name for one in design.stages]
    if stage and stage not in names:
        yield fault(file, "base.file", "the design has no such stage", stage, allowed=", ".join(names))
        return
    for fabric in design.fabrics:
        for key, problem in _outside(fabric, base):
            yield fault(base.file, f"fabrics.{fabric.name}.{key}", problem, hint="docs/formulation/outside.md")


def _outside(fabric: FabricDesign, base: _ServingDesign) -> Iterator[tuple[str, str]]:
    """Keys of a fabric of the base that no design can go on from, and why."""
    if not isinstance(fabric.structure, Structure) or fabric.topology != "clos":
        yield "topology", f"only a Clos can be gone on from, and this is a {fabric.topology}"
        return
    mixed = (tier for tier in fabric.tiers if tier.other is not None and fabric.structure.last_group is None)
    if any(mixed):
        yield "tiers", "a tier of several products cannot be gone on from"
    if fabric.homing in ("pair", "dual") or fabric.peer_links is not None:
        yield "homing", "pairs of switches cannot be gone on from"
    if fabric.logical or fabric.carries or fabric.role == "oob":
        yield "role", "what other fabrics share, and out-of-band fabrics, cannot be gone on from"
    for attachment in base.attachments(fabric.name):
        if attachment.max_oversubscription is not None:
            yield f"attachments.{attachment.name}", "attachments with a ratio of their own cannot be gone on from"
    if any(there.links_per_pair > fabric.structure.links_per_pair for there in fabric.growth[base.stage :][:1]):
        yield "growth", "cables that a later stage moves cannot be gone on from"
    makes = grouped(
        ((row.from_, row.to, row.runs_m), tuple((p.id, p.length_m) for p in row.parts)) for row in fabric.links
    )
    for ends, parts in makes.items():
        if len(set(parts)) > 1:
            yield "links", f"links of several parts cannot be gone on from: {' to '.join(ends[:2])}"


def _unlike(case: Case, base: _ServingDesign, catalog: Catalog, file: str) -> Iterator[Fault]:
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
    for index, fabric in enumerate(case.fabrics):
        there = {attachment.name: attachment for attachment in base.attachments(fabric.name)}
        for number, attachment in enumerate(fabric.attachments):
            stays, where = there.get(attachment.name, attachment), f"fabrics[{index}].attachments[{number}]"
            if attachment.adds:
                adds = list(attachment.adds)
                yield fault(file, f"{where}.adds", "is filled in by fabopt", adds, hint="leave it out")
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


def _beside_last_groups(base: _ServingDesign, servers: int, where: str, file: str) -> Iterator[Fault]:
    """Fabrics of three tiers whose last group is unlike the others, where there are to be more servers."""
    for fabric in base.fabrics if servers > base.servers else ():
        if fabric.clos.last_group is not None and len(fabric.tiers) > 2:
            own = f"a last group of its own on three tiers, as {fabric.name} of {base.file} has it,"
            problem = f"{own} cannot be gone on from with more servers"
            hint = "design the base with `groups: equal`"
            yield fault(file, where, problem, servers, allowed=str(base.servers), hint=hint)


def _told_apart(case: Case, base: _ServingDesign, file: str) -> Iterator[Fault]:
    """What moves are not worked out with, and keys that weigh or count switches as those of one product, where a tier
    in service has several.
    """
    yield from faults_of_moves(case, base.case, base.fabrics, file)
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


def _run_otherwise(case: Case, base: _ServingDesign, file: str) -> Iterator[Fault]:
    """Keys of ``operate`` by which names or addresses in service would be others; pools may be larger."""
    theirs, ours = base.case.operate.model_dump(mode="json"), case.operate.model_dump(mode="json")
    for key in () if is_usual(case.operate) else (key for key in ours if key != "queues"):
        stays = ours[key] == theirs[key]
        if key in ("systems", "hcas"):
            stays = theirs[key].items() <= ours[key].items()
        elif key in base.case.operate.pools and ours[key] != "unnumbered":
            own, other = IPv4Network(ours[key]), IPv4Network(theirs[key])
            stays = own.network_address == other.network_address and own.supernet_of(other)
        elif key in ("asns", "vlans"):
            (first, last), (their_first, their_last) = span(ours[key]), span(theirs[key])
            stays = first == their_first and last >= their_last
        if not stays:
            problem = f"names and addresses in service are of another in {base.file}"
            hint = "leave `operate` out to go on with that of the base"
            yield fault(file, f"operate.{key}", problem, ours[key], allowed=str(theirs[key]), hint=hint)


def _runs_m(case: Case, base: _ServingDesign, catalog: Catalog) -> dict[str, float]:
    """The longest runs, by kind of links, that groups of the last stage give; none where the server is not known."""
    server = next((one for one in catalog.servers if one.id == case.server), None)
    size = case if case.stages is None else case.stages[-1]
    if server is None:
        return {}
    servers = size.servers if size.servers is not None else (size.gpus or 0) // max(1, server.gpus)
    runs = group_runs(case.site, server, servers)
    structures = [fabric.clos for fabric in base.fabrics]
    group = max(servers if one.groups == 1 else one.servers_per_group for one in structures)
    of_all = {} if runs is None else runs.runs_m("clos", Sizes(group, servers))
    attached = [row for fabric in base.fabrics for row in fabric.links if row.from_ == "attachment"]
    there = {
        f"attachment-{row.to}": float(max(one.length_m for one in attached if one.to == row.to)) for row in attached
    }
    return there | {kind: float(of_all[kind]) for kind in KINDS if kind in of_all}


def _too_short(case: Case, base: _ServingDesign, catalog: Catalog, file: str) -> Iterator[Fault]:
    """Links that would run farther, as said or once grown, than the cables in service that are like them."""
    said = case.site.distances_m
    if said is None and base.case.site.distances_m is not None:
        return
    runs_m = _runs_m(case, base, catalog) if said is None else said.model_dump(exclude_none=True, by_alias=True)
    rule = "by rule `lengths`" if said is None else "as the case says"
    for fabric in base.design.fabrics:
        for row in fabric.links:
            kind = f"{row.from_}-{row.to}"
            lengths = [part.length_m for part in row.parts if part.length_m is not None]
            if lengths and runs_m.get(kind, 0) > min(lengths):
                there = f"those of {base.file} run {row.length_m:g} m on cables of {min(lengths):g} m"
                problem = f"links of {fabric.name} would run up to {runs_m[kind]:g} m {rule}, and {there}"
                hint = "say how far links run, no farther than these cables are long"
                yield fault(file, f"site.distances_m.{kind}", problem, hint=hint)


def _not_yet(case: Case, file: str) -> Iterator[Fault]:
    """Keys that do not go with a base."""
    given = {
        "site.labour": case.site.labour is not None,
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
