"""Every port of every panel: the cord in front of it, the leg of a trunk behind it, and whether it is free."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of
from fabopt.output.export.sheets import csv_file
from fabopt.output.export.trunks import NO, YES, cable_of, laid_of, positions_at, whole_wiring
from fabopt.schema.design import Design
from fabopt.schema.passive import Panel
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring
from fabopt.wiring.structured import PulledTrunk, RackPort, TrunkLeg, far_cord

PANEL_COLUMNS = (
    *("panel", "port", "front_cord", "front_device", "front_port", "rear_trunk", "rear_leg", "free"),
    *("rack", "unit", "connector", "product", "fabric", "kind", "stage", "rear_port", "positions"),
)


def files_of(asked: Exported) -> Files:
    """Return ``panels.csv``."""
    return {"panels.csv": csv_file(panel_table(asked.design, whole_wiring(asked), asked.options.stage))}


def panel_table(design: Design, wiring: Wiring, stage: int | None = None) -> Frame:
    """One row a port with ``PANEL_COLUMNS``, panel by panel, as they are at a stage. ``InputError`` without panels."""
    return frame_of(PANEL_COLUMNS, _rows(design, wiring, stage))


def _rows(design: Design, wiring: Wiring, stage: int | None) -> Iterator[tuple[object, ...]]:
    laid, embedded = laid_of(design, wiring, stage), Embedded(design)
    stages = [stage.name for stage in design.stages]
    behind: dict[RackPort, tuple[PulledTrunk, TrunkLeg, int, int]] = {}
    for trunk in laid.trunks:
        for leg, place in trunk.places:
            for side, port in enumerate(trunk.fronts(leg, place)):
                if port is not None:
                    behind[port] = trunk, leg, place, side
    for panel in laid.panels:
        connector = embedded.part(panel.product, Panel).connector
        for number in range(1, panel.ports + 1):
            rear_leg = behind.get(RackPort(panel.name, number))
            front, rear, more = ("", "", ""), ("", ""), ("", "")
            if rear_leg is not None:
                trunk, leg, place, side = rear_leg
                port, link = (leg.a, leg.b)[side], leg.links[place]
                more = port.name if port is not None else "", positions_at(embedded, trunk, place, side == 1)
                rear = trunk.name, str(leg.number)
                front = _front(wiring, trunk, side, link) if link is not None else front
            about = panel.rack, panel.unit, connector, panel.product, panel.fabric, panel.kind, stages[panel.stage]
            yield panel.name, number, *front, *rear, NO if any(front) else YES, *about, *more


def _front(wiring: Wiring, trunk: PulledTrunk, side: int, link: int) -> tuple[str, str, str]:
    """The cord in front of a port at a side of a trunk, and the device and port that it comes from."""
    links, devices, cord = wiring.links, wiring.devices, cable_of(wiring, link)
    near = links.a[link]
    if trunk.of.zone(devices.rack[near]) == trunk.racks[side]:
        return cord, devices.name[near], wiring.a_port[link]
    return far_cord(cord), devices.name[links.b[link]], wiring.b_port[link]
