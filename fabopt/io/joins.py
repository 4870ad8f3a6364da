"""A case's ``joins``: what is in service beside its pod, read, and what the pod's fabrics have of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from fabopt.errors import Fault, fault
from fabopt.floor.group_runs import Sizes, group_runs
from fabopt.io.faults import refuse_any
from fabopt.io.live import LiveDesign, check_design, further, read_live, run_on, run_otherwise, unfit
from fabopt.schema.base import parse_split
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Catalog, Switch
from fabopt.schema.fabric_design import FabricDesign
from fabopt.schema.in_service import JoinedSwitches
from fabopt.schema.installed import fabric_at
from fabopt.schema.site import Distances
from fabopt.schema.structure import Structure
from fabopt.schema.subnet_manager import twins_of
from fabopt.units import ceil_div

_OUTSIDE = "docs/formulation/outside.md"
_TIERS = (2, 3)
# Links to the top switches of each role, and the key of how far they run.
_KINDS = {"spine": ("leaf-spine", "leaf_spine"), "core": ("spine-core", "spine_core")}


def with_joins(case: Case, catalog: Catalog, folder: Path, file: str) -> Case:
    """The case with what the file says that it joins; unchanged without one, or where that was read.

    ``folder``: of paths in the case; ``file``: its name in messages. ``InputError`` lists all faults.
    """
    if case.joins is None:
        return case
    if case.joins.design is not None:
        check_design(case.joins, "joins", file)
        return case
    joins, live, stage = read_live(case.joins, folder, file)
    faults = list(unfit(live, stage, "joins.file", file))
    refuse_any(faults)
    chain = [live, *further(live)]
    owners = {one.name: owner for owner in reversed(chain) for one in owner.design.fabrics}
    there = {name: next(one for one in owner.design.fabrics if one.name == name) for name, owner in owners.items()}
    switches = {one.id: one for one in catalog.switches}
    faults += [*_beside(case, there, file), *run_otherwise(case, live, file)]
    tops = []
    for index, fabric in enumerate(case.fabrics):
        if fabric.name in there:
            whole = there[fabric.name]
            faults += [fault(owners[fabric.name].file, f"fabrics.{fabric.name}.{key}", problem, hint=_OUTSIDE)
                       for key, problem in _unjoined(whole, owners[fabric.name].stage, switches)]  # fmt: skip
            faults += _asked_otherwise(fabric, whole, f"fabrics[{index}]", file)
            faults += _named_twice(fabric, chain, f"fabrics[{index}].attachments", file)
            if not faults:
                tops.append(_tops_of(whole, owners[fabric.name], switches))
    for joined in tops:
        if not any(joined.cages):
            problem = f"no cage is free on every {joined.role} of {joined.fabric}, so no leaf of a pod can join it"
            faults.append(fault(file, "joins.file", problem, joins.file))
    refuse_any(faults)
    case = run_on(case, live)
    fabrics = tuple(_joining(fabric, there.get(fabric.name)) for fabric in case.fabrics)
    joins = joins.model_copy(update={"switches": tuple(tops)})
    site = case.site.model_copy(update={"distances_m": _distances(case, chain, [one.role for one in tops], catalog)})
    return case.model_copy(update={"joins": joins, "fabrics": fabrics, "site": site})


def _beside(case: Case, there: dict[str, FabricDesign], file: str) -> Iterator[Fault]:
    """Keys of a case that do not go with a pod, and fabrics none of which is in service."""
    given = {
        "base": case.base is not None,
        "scenarios": bool(case.scenarios),
        "charges": bool(case.charges),
        "site.floor": case.site.has_floor,
        "site.labour": case.site.labour is not None,
        "procurement.spares": bool(case.procurement.spares),
    }
    for key in (key for key, is_given in given.items() if is_given):
        yield fault(file, key, "does not go with `joins`", hint=f"leave it out; {_OUTSIDE}")
    if not any(fabric.name in there for fabric in case.fabrics):
        problem = "none of them is in service, so the pod joins nothing"
        yield fault(file, "fabrics", problem, [fabric.name for fabric in case.fabrics], allowed=", ".join(there))


def _unjoined(there: FabricDesign, stage: int, switches: dict[str, Switch]) -> Iterator[tuple[str, str]]:
    """Keys of a fabric in service whose spines no pod can join, and why."""
    structure = there.structure
    if not isinstance(structure, Structure) or there.topology != "clos" or len(there.tiers) not in _TIERS:
        yield "topology", "only the spines, or above them the cores, of a Clos can be joined"
        return
    if len(fabric_at(there, stage).tiers) < len(there.tiers):
        yield "growth", "a stage whose cores come later cannot be joined"
    below, top = there.tiers[-2:]
    pairs = structure.links_per_pair * structure.spines_per_pod
    if top.role == "core":
        pairs = structure.links_per_core_pair * structure.cores_per_group
    if below.up_ports != pairs:
        yield "striping", "leaves with more links to some spines than to others leave unequal ports free"
    if any(
        one.links_per_pair > structure.links_per_pair or one.links_per_core_pair > structure.links_per_core_pair
        for one in there.growth
    ):
        yield "growth", f"{top.role}s with cables that a later stage moves cannot be joined"
    if there.homing in ("pair", "dual") or there.peer_links is not None:
        yield "homing", "pairs of switches cannot be joined"
    if there.logical or there.carries or there.role == "oob":
        yield "role", "what other fabrics share, and out-of-band fabrics, cannot be joined"
    if len(top.types) > 1 or twins_of(there.subnet_manager, top.role):
        yield "tiers", f"{top.role}s of several products cannot be joined"
    switch = switches.get(top.id)
    if switch is None:
        yield "tiers", f"the catalog lacks the {top.role} {top.id}"
    elif switch.ports_per_cage_pair is not None or any(cage.every_second for cage in switch.cages):
        yield "tiers", f"neighbouring cages of {top.id} share ports, which is not looked at here"


def _asked_otherwise(fabric: Fabric, there: FabricDesign, where: str, file: str) -> Iterator[Fault]:
    """Keys of a fabric that ask for another one than its name has in service, or that are not looked at with it."""
    planes: object = "rails" if there.own_rails else there.planes
    tiers = fabric.tiers if isinstance(fabric.tiers, tuple) else (fabric.tiers,)
    asked = fabric.planes if isinstance(fabric.planes, tuple) else (fabric.planes,)
    top, number = there.tiers[-1], len(there.tiers)
    said = getattr(fabric.switches, top.role)
    switches = said if isinstance(said, str) else list(said)
    held = {
        "protocol": (fabric.protocol in ("any", there.protocol), fabric.protocol, there.protocol),
        "topologies": (bool({"any", "clos"} & set(fabric.topologies)), list(fabric.topologies), "clos"),
        "tiers": (bool({"any", number} & set(tiers)), list(tiers), str(number)),
        "planes": (bool({"any", 1, planes} & set(asked)), list(asked), str(planes)),
        f"switches.{top.role}": (switches == "any" or top.id in switches, switches, top.id),
    }
    for key, (fits, value, allowed) in held.items():
        if not fits:
            problem = f"{fabric.name} is in service otherwise"
            yield fault(file, f"{where}.{key}", problem, value, allowed=allowed, hint="leave it out")
    given = {
        "separation": fabric.separation != "physical" or fabric.carries,
        "homing": fabric.homing is not None,
        "role": fabric.role == "oob",
        "attachments": any(one.placed_on != "leaf" for one in fabric.attachments),
    }
    for key in (key for key, is_given in given.items() if is_given):
        said = "has attachments on other tiers than leaves" if key == "attachments" else "has a value"
        yield fault(file, f"{where}.{key}", f"{said} that does not go with `joins`", hint=f"leave it out; {_OUTSIDE}")


def _named_twice(fabric: Fabric, chain: Sequence[LiveDesign], where: str, file: str) -> Iterator[Fault]:
    """Attachments with the name of one in service."""
    there = {one.name for live in chain for own in live.case.fabrics if own.name == fabric.name
             for one in own.attachments}  # fmt: skip
    for index, attachment in enumerate(fabric.attachments):
        if attachment.name in there:
            problem = f"an attachment of {fabric.name} in service has this name"
            yield fault(file, f"{where}[{index}].name", problem, attachment.name, hint="give it another name")


def _tops_of(there: FabricDesign, live: LiveDesign, switches: dict[str, Switch]) -> JoinedSwitches:
    """The top switches of a fabric in service, with what each has free. Rule ``pod_joins_spines``."""
    top, switch = there.tiers[-1], switches[there.tiers[-1].id]
    joined = None if live.case.joins is None else live.case.joins.of(there.name)
    free, ports = ([cage.count for cage in switch.cages], switch.most_ports)
    if joined is not None:
        free, ports = list(joined.cages), joined.ports
    now = fabric_at(there, live.stage)
    lanes, group = parse_split(top.down.split).ports, top.down.cage_group
    used = _cages_in_use(there, now, lanes)
    cages = tuple(max(0, count - used * (at == group)) for at, count in enumerate(free))
    groups = now.clos.spines_per_pod // now.clos.spines_per_core_group if top.role == "core" else 1
    return JoinedSwitches(
        fabric=there.name, role=top.role, id=top.id, planes=there.planes, per_plane=now.tiers[-1].count // there.planes,
        groups=groups, cages=cages, ports=max(0, ports - used * lanes),
    )  # fmt: skip


def _cages_in_use(whole: FabricDesign, there: FabricDesign, lanes: int) -> int:
    """Cages in use on the top switch that has most: of what its file plans for later only those in between."""
    tops, below = whole.tiers[-1], whole.tiers[-2].role
    rows = {role: sum(row.to_cages for row in whole.links if (row.from_, row.to) == (role, tops.role))
            for role in (below, "attachment")}  # fmt: skip
    at_last = ceil_div(rows[below], tops.count)
    # where a cable carries several links of a pair, each pair begins with a cage, and is as many cages at any stage
    now, planned = _links_down(there), _links_down(whole)
    cages = ceil_div(now, lanes) if at_last == ceil_div(planned, lanes) else ceil_div(at_last * now, planned)
    return min(at_last, cages) + ceil_div(rows["attachment"], there.tiers[-1].count)


def _links_down(fabric: FabricDesign) -> int:
    """The most links of a top switch to the tier below it."""
    structure, last = fabric.clos, fabric.clos.last_group
    if len(fabric.tiers) > 2:
        return structure.pods * structure.spines_per_core_group * structure.links_per_core_pair
    own = 0 if last is None else last.leaves
    leaves = fabric.tiers[0].count // fabric.planes - own
    return leaves * structure.links_per_pair + own * (0 if last is None else last.links_per_pair)


def _joining(fabric: Fabric, there: FabricDesign | None) -> Fabric:
    """A fabric's keys, with those that follow from the one in service that it joins."""
    if there is None:
        return fabric
    top = there.tiers[-1]
    switches = fabric.switches.model_copy(update={top.role: (top.id,)})
    planes = "rails" if there.own_rails else there.planes
    own = {"protocol": there.protocol, "topologies": ("clos",), "tiers": len(there.tiers), "planes": planes}
    return fabric.model_copy(update={"switches": switches, **own})


def _distances(case: Case, chain: Sequence[LiveDesign], roles: Iterable[str], catalog: Catalog) -> Distances | None:
    """How far links run: to spines or cores as said, else as from the middle of a hall of both, or as in service if
    longer.
    """
    said = case.site.distances_m
    server = next((one for one in catalog.servers if one.id == case.server_ids[0]), None)
    if server is None:
        return said
    size = case if case.stages is None else case.stages[-1]
    servers = size.servers if size.servers is not None else (size.gpus or 0) // max(1, server.gpus)
    of_all = servers + sum(live.servers for live in chain)
    runs = group_runs(case.site, server, of_all)
    both = {} if runs is None else runs.runs_m("clos", Sizes(servers, of_all))
    for role in dict.fromkeys(roles):
        kind, key = _KINDS[role]
        if said is None or getattr(said, key) is None:
            lengths = [row.length_m for live in chain for one in live.design.fabrics for row in one.links
                       if row.to == role]  # fmt: skip
            longest = max([float(both.get(kind, 0)), *map(float, lengths)])
            said = (said or Distances()).model_copy(update={key: longest})
    return said
