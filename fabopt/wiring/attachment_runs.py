"""How far attachments that stand in racks are from their leaves: their cables are planned at a flat distance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import height_m
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS, NOTHING, Wiring


def longer_runs(design: Design) -> Iterator[str]:
    """Attachments that are further from a leaf, along the trays, than the site's flat distance says."""
    if not any(fabric.placement and fabric.placement.attachments for fabric in design.fabrics):
        return
    floor = Embedded(design).case.site.floor
    if floor is None:
        return
    wiring = wiring_of(design)
    for name, (flat_m, run_m, racks) in _runs(wiring, FloorPlan(floor)).items():
        if run_m > flat_m:
            yield (
                f"{name}: its cables are planned for {flat_m:g} m (`site.distances_m.attachment-leaf`), and run up to "
                f"{run_m:.1f} m, from {racks[0]} to {racks[1]}: give that distance"
            )


def _runs(wiring: Wiring, plan: FloorPlan) -> dict[str, tuple[float, float, tuple[str, str]]]:
    """Planned and longest measured run of every attachment whose cables are bought, and the racks of the latter."""
    links, devices = wiring.links, wiring.devices
    attached = (links.kind == KINDS.index("attachment-leaf")) & (links.cable != NOTHING)
    found: dict[str, tuple[float, float, tuple[str, str]]] = {}
    for row in np.flatnonzero(attached).tolist():
        a, b = int(links.a[row]), int(links.b[row])
        racks = devices.rack[a], devices.rack[b]
        if not all(racks):
            continue
        ends = [
            (plan.rack_index(devices.rack[box]), height_m(devices.unit[box], devices.height_u[box])) for box in (a, b)
        ]
        run_m = float(plan.run_m(*ends[0], *ends[1]))
        name = f"{devices.fabric[a]} {devices.product[a]}"
        planned = float(wiring.cables.run_m[links.cable[row]])
        if run_m > found.get(name, (0.0, 0.0, racks))[1]:
            found[name] = planned, run_m, racks
    return found
