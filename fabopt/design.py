"""From the program's solution to a Design: fabrics, what is embedded; ``fabopt.billing`` has the bill and totals."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from fabopt.billing import products_by_id, whole_metres
from fabopt.demand import resolved
from fabopt.expansion import growth_of
from fabopt.hardware import CageUse, SwitchType
from fabopt.metrics import failures_left, figures
from fabopt.ordering import Picked
from fabopt.problem import FabricProblem, Problem
from fabopt.schema.base import Strict
from fabopt.schema.design import (
    BomRow,
    CaseRecord,
    FabricDesign,
    FloorUse,
    LinkPart,
    LinkRow,
    NicUse,
    Placement,
    PortUse,
    Structure,
    TierUse,
)
from fabopt.topology.candidate import End, Option, RowShare
from fabopt.topology.clos.candidates import Clos
from fabopt.topology.clos.floored import grid_of
from fabopt.units import gbps, plain_fraction

Role = Literal["leaf", "spine", "core"]
RATIO_DIGITS = 6
NO_MEDIUM = "none"


# -- fabrics ----------------------------------------------------------------------------------------------------


def fabric_design(problem: Problem, fabric: FabricProblem, picked: Picked) -> FabricDesign:
    """One fabric with its tiers, rows of links and figures."""
    candidate, units = picked
    clos: Clos = candidate.design
    found = figures(clos, problem.gpus)
    return FabricDesign(
        name=fabric.name,
        role=fabric.role,
        topology=candidate.topology,
        protocol=clos.parts.protocol,
        planes=clos.parts.nic.planes,
        rails=int(clos.shape.rails),
        striping="even" if fabric.even else "any",
        structure=_structure(clos),
        nic=_nic_use(clos),
        tiers=tuple(_tiers(clos)),
        links=tuple(_link_rows(problem, fabric, clos, units)),
        oversubscription={name: plain_fraction(ratio, RATIO_DIGITS) for name, ratio in found.oversubscription.items()},
        metrics=found.metrics,
        placement=_placement(clos),
        growth=growth_of(problem, fabric, clos, units),
        failures=failures_left(clos, problem.server.gpus, [(one.failed, one.count) for one in fabric.resilience]),
    )


def _placement(clos: Clos) -> Placement | None:
    if clos.standing is None:
        return None
    layout, stands, _ = clos.standing
    places = [
        tuple((layout.plan.ids[rack], unit) for rack, unit in zip(one.rack.tolist(), one.unit.tolist(), strict=True))
        for one in stands
    ]
    return Placement(policy=layout.policy, **dict(zip(("leaf", "spine", "core"), places, strict=False)))


def floor_use(problem: Problem, picked: Iterable[Picked]) -> FloorUse | None:
    """Where the servers stand; None without a floor plan."""
    for candidate, _ in picked:
        clos: Clos = candidate.design
        if clos.standing is not None:
            layout = clos.standing.layout
            racks = tuple(layout.plan.ids[rack] for rack in layout.server_racks.tolist())
            classes = tuple(whole_metres(length) for length in grid_of(problem).tolist())
            return FloorUse(servers_per_rack=layout.per_rack, server_racks=racks, length_classes_m=classes)
    return None


def _structure(clos: Clos) -> Structure:
    shape, tiers = clos.shape, clos.tiers
    return Structure(
        tiers=tiers,
        servers_per_group=int(shape.g),
        groups=int(shape.groups),
        ports_per_server=shape.ports,
        ports_per_server_per_leaf=int(shape.k),
        links_per_pair=int(shape.links_per_pair) if tiers > 1 else 0,
        pods=int(shape.pods) if tiers > 2 else 1,
        leaves_per_pod=int(shape.leaves_per_pod) if tiers > 1 else 1,
        spines_per_pod=int(shape.spines),
        pod_of="rail" if shape.rail_pods else "groups",
        groups_per_pod=int(shape.groups_per_pod) if tiers > 1 else 1,
        links_per_core_pair=int(shape.m2),
        spines_per_core_group=int(shape.q),
        cores_per_group=int(shape.cores_per_group) if tiers > 2 else 0,
    )


def _nic_use(clos: Clos) -> NicUse:
    nic = clos.parts.nic
    return NicUse(
        id=nic.nic_id,
        per_server=nic.cards,
        ports_per_nic=nic.ports_per_card,
        gbps=gbps(nic.port.lane.port_mbps),
        split=nic.split,
        cage_group=nic.group,
        built_in=nic.item is None,
    )


def _tiers(clos: Clos) -> Iterable[TierUse]:
    parts, shape = clos.parts, clos.shape
    planes = parts.nic.planes
    boxes: tuple[tuple[Role, SwitchType | None, int, int, int, CageUse | None, CageUse | None], ...] = (
        ("leaf", parts.leaf, planes * shape.leaves, clos.down_ports, shape.u, parts.leaf_down, parts.leaf_up),
        ("spine", parts.spine, planes * shape.spines * (shape.pods if clos.tiers > 2 else 1),
         shape.spine_down if clos.tiers > 1 else 0, shape.x, parts.spine_down, parts.spine_up),
        ("core", parts.core, planes * shape.cores if clos.tiers > 2 else 0,
         shape.core_down if clos.tiers > 2 else 0, 0, parts.core_down, None),
    )  # fmt: skip
    for role, switch, count, down_ports, up_ports, down, up in boxes:
        if switch is None or down is None:
            continue
        yield TierUse(
            role=role,
            id=switch.id,
            count=int(count),
            down_ports=int(down_ports),
            up_ports=int(up_ports) if up is not None else 0,
            gbps_down=gbps(down.lane.port_mbps),
            gbps_up=gbps(up.lane.port_mbps) if up is not None else 0,
            reserved_ports=clos.reserved_ports if role == "leaf" else 0,
            down=PortUse(cage_group=down.group, split=down.split),
            up=PortUse(cage_group=up.group, split=up.split) if up is not None else None,
        )


LINK_KINDS = (("server", "leaf"), ("attachment", "leaf"), ("leaf", "spine"), ("spine", "core"))
RUN_KEYS = {
    ("server", "leaf"): "server-leaf",
    ("attachment", "leaf"): "attachment-leaf",
    ("leaf", "spine"): "leaf-spine",
    ("spine", "core"): "spine-core",
}


def _link_rows(
    problem: Problem, fabric: FabricProblem, clos: Clos, units: Sequence[tuple[Option, int]]
) -> Iterable[LinkRow]:
    shares: dict[tuple[Any, ...], list[tuple[RowShare, int]]] = {}
    names = [one.name for one in fabric.attachments]
    for option, number in units:
        for row in option.rows:
            place = LINK_KINDS.index((row.near, row.far))
            attachment = names.index(row.attachment) if row.attachment is not None else -1
            one = row.assembly
            name = (one.name, one.length_m, one.mode.value) if one is not None else ("", 0.0, "")
            classes = tuple(-run for run in row.runs_m or ())
            shares.setdefault((place, attachment, row.stages or (), classes, name), []).append((row, number))
    speeds = {
        0: clos.parts.leaf_down,
        1: clos.parts.leaf_down,
        2: clos.parts.leaf_up,
        3: clos.parts.spine_up,
    }
    for key in sorted(shares):
        use = speeds[key[0]]
        assert use is not None
        run_m = fabric.runs_m[RUN_KEYS[LINK_KINDS[key[0]]]]
        first = shares[key][0][0]
        if first.runs_m is not None and first.assembly is not None:
            bought = [part.item.length_m or 0.0 for part in first.parts if part.item.length_m]
            run_m = max(first.runs_m or bought)
        yield _link_row(shares[key], gbps(use.lane.port_mbps), run_m, problem)


def _link_row(shares: Sequence[tuple[RowShare, int]], speed: float, run_m: float, problem: Problem) -> LinkRow:
    first = shares[0][0]
    counts: dict[tuple[str, End | None, float | None], int] = {}
    for row, number in shares:
        for part in row.parts:
            key = (part.item.id, part.end, part.item.length_m)
            counts[key] = counts.get(key, 0) + part.quantity * number
    return LinkRow(
        from_=first.near,
        to=first.far,
        count=sum(row.links * number for row, number in shares),
        gbps=speed,
        length_m=whole_metres(run_m),
        medium=first.assembly.medium if first.assembly is not None else NO_MEDIUM,
        attachment=first.attachment,
        from_cages=sum(row.near_cages * number for row, number in shares),
        to_cages=sum(row.far_cages * number for row, number in shares),
        parts=tuple(
            LinkPart(id=part_id, quantity=count, end=end, length_m=whole_metres(length_m))
            for (part_id, end, length_m), count in counts.items()
        ),
        runs_m=tuple(whole_metres(run) for run in first.runs_m) if first.runs_m else None,
        stages=tuple(problem.stages[stage].name for stage in first.stages) if first.stages else None,
    )


# -- what is embedded -------------------------------------------------------------------------------------------


def dump(value: Strict) -> dict[str, Any]:
    """A schema object as the file has it: aliases, defaults left out."""
    return value.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def parts_of(problem: Problem, fabrics: Sequence[FabricDesign], rows: Sequence[BomRow]) -> dict[str, dict[str, Any]]:
    """Every catalog entry that the design uses, its prices as applied, and the PCIe table."""
    ids = {row.id for row in rows} | {problem.server.id} | set(problem.case.procurement.approved_parts or ())
    for fabric in fabrics:
        ids.add(fabric.nic.id)
        ids.update(tier.id for tier in fabric.tiers)
        ids.update(part.id for row in fabric.links for part in row.parts)
    products = products_by_id(problem)
    parts: dict[str, dict[str, Any]] = {
        "facts": {"kind": "facts", "pcie_x16_gbps": {str(k): v for k, v in sorted(problem.pcie_x16_gbps.items())}}
    }
    for part_id in sorted(ids & products.keys()):
        kind, product = products[part_id]
        parts[part_id] = {"kind": kind, **dump(product)}
    return parts


def case_record(problem: Problem) -> CaseRecord:
    """The case as resolved and its hash."""
    content = resolved(problem.case, problem.server).model_dump(mode="json", by_alias=True)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return CaseRecord(name=problem.case.name, sha256=hashlib.sha256(text.encode()).hexdigest(), content=content)
