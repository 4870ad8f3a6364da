"""What every stage brings and moves: devices, modules and links, by the names that are on them.

What is in service is in no row: nothing of it changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.sheets import csv_file
from fabopt.schema.in_service import IN_SERVICE
from fabopt.wiring.model import NOTHING, Wiring, at_stage

FILE: Final = "changes.csv"
COLUMNS: Final = (
    *("stage", "change", "what", "name", "part", "length_m", "from_device", "from_port", "to_device", "to_port"),
    *("before_device", "before_port", "rack", "unit"),
)
NEW, MOVED = "new", "moved"
Row = dict[str, object]


def files_of(asked: Exported) -> Files:
    """Return ``changes.csv``; of a stage if one is asked for."""
    import pandas as pd

    rows: list[Row] = []
    for number, stage in enumerate(asked.design.stages):
        if stage.name != IN_SERVICE and asked.options.stage in (None, number):
            rows += [{"stage": stage.name, **row} for row in _changes(asked.wiring, number)]
    return {FILE: csv_file(pd.DataFrame(rows, columns=list(COLUMNS), dtype=object).fillna(""))}


def _changes(wiring: Wiring, stage: int) -> Iterator[Row]:
    """What a stage, from 0, brings and moves: devices, modules, links, then links that move."""
    devices, modules = wiring.devices, wiring.modules
    for row in np.flatnonzero(devices.stage == stage).tolist():
        place = {"rack": devices.rack[row], "unit": int(devices.unit[row]) or ""}
        yield {"change": NEW, "what": "device", "name": devices.name[row], "part": devices.product[row], **place}
    for row in np.flatnonzero(modules.stage == stage).tolist():
        holder = {"to_device": devices.name[modules.device[row]], "to_port": str(modules.cage[row])}
        yield {"change": NEW, "what": "module", "part": modules.part[row], **holder}
    now = replace(wiring, links=at_stage(wiring, stage))
    for row in np.flatnonzero(now.links.stage == stage).tolist():
        yield {"change": NEW, "what": "link", **_link(now, row)}
    if stage:
        before = replace(wiring, links=at_stage(wiring, stage - 1))
        is_moved = (now.links.b != before.links.b) | (now.links.b_cage != before.links.b_cage)
        is_moved |= now.links.b_lane != before.links.b_lane
        for row in np.flatnonzero(is_moved & (now.links.stage < stage)).tolist():
            there = {"before_device": devices.name[before.links.b[row]], "before_port": before.b_port[row]}
            yield {"change": MOVED, "what": "link", **_link(now, row), **there}


def _link(wiring: Wiring, row: int) -> Row:
    """A link with its cable, from port to port."""
    links, cables, names = wiring.links, wiring.cables, wiring.devices.name
    cable = int(links.cable[row])
    laid: Row = {}
    if cable != NOTHING:
        laid = {"name": cables.name[cable], "part": cables.part[cable], "length_m": float(cables.length_m[cable])}
    ends = {"from_device": names[links.a[row]], "from_port": wiring.a_port[row]}
    return {**laid, **ends, "to_device": names[links.b[row]], "to_port": wiring.b_port[row]}
