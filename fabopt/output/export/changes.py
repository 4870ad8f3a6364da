"""What every stage brings and moves: devices, modules and links, by the names that are on them.

What stays of what is in service is in no row; what moves of it has where it was, what goes where it was alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import frame_as_is
from fabopt.output.export.sheets import csv_file
from fabopt.schema.design import Design
from fabopt.schema.in_service import IN_SERVICE
from fabopt.wiring.build import wiring_of
from fabopt.wiring.in_service import base_wiring, stays_whole
from fabopt.wiring.joined import joined_wiring
from fabopt.wiring.model import NOTHING, Ints, Wiring, at_stage, wiring_at

FILE: Final = "changes.csv"
COLUMNS: Final = (
    *("stage", "change", "what", "name", "part", "length_m", "from_device", "from_port", "to_device", "to_port"),
    *("before_device", "before_port", "rack", "unit", "before_from_device", "before_from_port"),
)
_DEVICES: Final = [column for column in COLUMNS if column.endswith("device")]
NEW, MOVED, GONE = "new", "moved", "gone"
Row = dict[str, object]


def files_of(asked: Exported) -> Files:
    """Return ``changes.csv``; of a stage if one is asked for."""
    rows: list[Row] = []
    base = None if stays_whole(asked.design) else base_wiring(asked.design, wiring_of)
    live = joined_wiring(asked.design, wiring_of)
    there = () if live is None else frozenset(live.devices.name)
    for number, stage in enumerate(asked.design.stages):
        if stage.name != IN_SERVICE and asked.options.stage in (None, number):
            rows += [{"stage": stage.name, **row} for row in _of_stage(base, asked.wiring, number, there)]
    return {FILE: csv_file(frame_as_is(COLUMNS, rows))}


def _of_stage(base: Wiring | None, wiring: Wiring, stage: int, there: Collection[str] = ()) -> Iterator[Row]:
    """What a stage brings and moves, the first one of what is in service in ``base`` where that may move."""
    return _changes(wiring, stage, there) if base is None or stage else changes_from(base, wiring_at(wiring, 0))


def _changes(wiring: Wiring, stage: int, there: Collection[str]) -> Iterator[Row]:
    """What a stage, from 0, brings and moves: devices, modules, links, then links that move.

    ``there``: names of devices in service.
    """
    devices, modules = wiring.devices, wiring.modules
    for row in np.flatnonzero(devices.stage == stage).tolist():
        if devices.name[row] not in there:
            yield {"change": NEW, **_device(wiring, row)}
    for row in np.flatnonzero(modules.stage == stage).tolist():
        yield {"change": NEW, **_module(wiring, row)}
    now = replace(wiring, links=at_stage(wiring, stage))
    for row in np.flatnonzero(now.links.stage == stage).tolist():
        yield {"change": NEW, **_link(now, row)}
    if stage:
        before, _, moved = moved_links(wiring, stage)
        for row in moved.tolist():
            there = {"before_device": devices.name[before.links.b[row]], "before_port": before.b_port[row]}
            yield {"change": MOVED, **_link(now, row), **there}


def moved_links(wiring: Wiring, stage: int) -> tuple[Wiring, Wiring, Ints]:
    """The wiring before a stage and at it, and the rows of the links that the stage moves, shape (links moved,)."""
    before, now = (replace(wiring, links=at_stage(wiring, number)) for number in (stage - 1, stage))
    old, new = before.links, now.links
    is_moved = (old.b != new.b) | (old.b_cage != new.b_cage) | (old.b_lane != new.b_lane)
    return before, now, np.flatnonzero(is_moved & (new.stage < stage))


def work_on_base(design: Design, wiring: Wiring) -> list[Row] | None:
    """What becomes of what is in service and what later stages bring, by the names of devices in ``wiring``; None where
    nothing moves.
    """
    base = None if stays_whole(design) else base_wiring(design, wiring_of)
    if base is None:
        return None
    plain = wiring_of(design)
    called: dict[object, str] = dict(zip(plain.devices.name, wiring.devices.name, strict=True))
    return [
        row | {column: called.get(row[column], row[column]) for column in _DEVICES if column in row}
        for stage in range(len(design.stages))
        for row in _of_stage(base, plain, stage)
    ]


def changes_from(base: Wiring, wiring: Wiring) -> Iterator[Row]:
    """What becomes of the wiring in service: devices and modules that come, move and go, then links by their cables."""
    both = (base, wiring)
    for rows, was in (
        ([[_device(one, row) for row in range(len(one.devices))] for one in both], {"name": "before_device"}),
        ([[_module(one, row) for row in range(len(one.modules))] for one in both], _OF_MODULES),
        ([[_link(one, row) for row in range(len(one.links))] for one in both], _OF_LINKS),
    ):
        yield from _between(rows[0], rows[1], was)


# Columns with where a thing was, by those with where it is.
_OF_MODULES: Final = {"to_device": "before_device", "to_port": "before_port"}
_OF_LINKS: Final = _OF_MODULES | {"from_device": "before_from_device", "from_port": "before_from_port"}


def _between(before: list[Row], after: list[Row], was: Mapping[str, str]) -> Iterator[Row]:
    """Rows of what is new, moves and goes; of equal things (links: with one label) each that comes is one that goes."""
    there, here = (Counter(tuple(row.items()) for row in rows) for rows in (before, after))
    left: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    moved: list[Row] = []
    for leaving in map(dict, (there - here).elements()):
        left[_alike(leaving)].append(leaving)
    for coming in map(dict, (here - there).elements()):
        same = left[_alike(coming)]
        if same:
            old = same.pop(0)
            moved.append({"change": MOVED, **coming, **{column: old[of] for of, column in was.items()}})
        else:
            yield {"change": NEW, **coming}
    yield from moved
    yield from ({"change": GONE, **row} for rows in left.values() for row in rows)


def _alike(row: Row) -> tuple[object, ...]:
    label = row.get("name") if row["what"] == "link" else None
    return row["what"], label, row.get("part"), row.get("length_m")


def _device(wiring: Wiring, row: int) -> Row:
    devices = wiring.devices
    place = {"rack": devices.rack[row], "unit": int(devices.unit[row]) or ""}
    return {"what": "device", "name": devices.name[row], "part": devices.product[row], **place}


def _module(wiring: Wiring, row: int) -> Row:
    modules = wiring.modules
    holder = {"to_device": wiring.devices.name[modules.device[row]], "to_port": str(modules.cage[row])}
    return {"what": "module", "part": modules.part[row], **holder}


def _link(wiring: Wiring, row: int) -> Row:
    """A link with its cable, from port to port."""
    links, cables, names = wiring.links, wiring.cables, wiring.devices.name
    cable = int(links.cable[row])
    laid: Row = {"what": "link"}
    if cable != NOTHING:
        laid |= {"name": cables.name[cable], "part": cables.part[cable], "length_m": float(cables.length_m[cable])}
    ends = {"from_device": names[links.a[row]], "from_port": wiring.a_port[row]}
    return {**laid, **ends, "to_device": names[links.b[row]], "to_port": wiring.b_port[row]}
