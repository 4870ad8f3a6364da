"""The weight of every rack, and on a square metre of its base; beside it that of the cables which hang in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from fabopt.floor.loads import base_m2
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of
from fabopt.output.export.halls import Hall, hall_of, unknown_words
from fabopt.output.export.sheets import csv_file
from fabopt.output.export.trays import placed_legs
from fabopt.units import some
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring

WEIGHT_COLUMNS = ("rack", "kg", "kg_m2", "limit_kg", "cables_kg", "unknown")
# What no source weighs, however the rack is filled.
FRAME = "weight of the rack itself and its power strips"


def files_of(asked: Exported) -> Files:
    """``weight.csv``."""
    return {"weight.csv": csv_file(weight_table(hall_of(asked), hanging(Embedded(asked.design), asked.wiring)))}


class Hanging(NamedTuple):
    """Kilograms of cables in a rack, and how many cable ends there are of cables that nobody weighed."""

    kg: float = 0.0
    not_weighed: int = 0


def hanging(embedded: Embedded, wiring: Wiring) -> dict[str, Hanging]:
    """What hangs in every rack: of a cable that stays in it its run, of others the way from device to tray."""
    plan, racks = embedded.plan, defaultdict[str, Hanging](Hanging)
    for leg in placed_legs(embedded, wiring):
        (a, b), kg_m = leg.ends, leg.product.weight_kg_m
        if a.rack == b.rack:
            metres = {a.rack: float(plan.run_m(a.rack, a.height_m, b.rack, b.height_m))}
        else:
            parts = {end: plan.floor.part_of(plan.ids[end.rack]) for end in (a, b)}
            metres = {end.rack: part.tray_height_m + part.drop_m - end.height_m for end, part in parts.items()}
        for rack, in_rack_m in metres.items():
            kg, others = racks[plan.ids[rack]]
            racks[plan.ids[rack]] = Hanging(kg + in_rack_m * (kg_m or 0.0), others + (kg_m is None))
    return dict(racks)


def weight_table(hall: Hall, cables: Mapping[str, Hanging]) -> Frame:
    """One row a rack with ``WEIGHT_COLUMNS``: the known weight of its devices, at least that where some is unknown."""
    rows = []
    for rack, devices in hall.by_rack.items():
        kg, hangs = sum(device.kg or 0.0 for device in devices), cables.get(rack, Hanging())
        cards = sum(device.cards for device in devices)
        base = float(base_m2(hall.floor.part_of(rack)))
        whole = any(device.is_of_whole for device in devices)
        unknown = [
            unknown_words(devices, "weight_kg"),
            f"weight of {some(cards, 'card')}" if cards else "",
            f"weight_kg_m of {some(hangs.not_weighed, 'cable end')}" if hangs.not_weighed else "",
            "" if whole else FRAME,
        ]
        told = "; ".join(filter(None, unknown))
        rows.append((rack, round(kg, 3), round(kg / base, 1), hall.most_kg(rack), round(hangs.kg, 3), told))
    return frame_of(WEIGHT_COLUMNS, rows)
