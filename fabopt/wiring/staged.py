"""The wiring of a stage: without later devices and links, every link at its end of that stage."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from fabopt.wiring.model import NOTHING, Cables, Devices, Ints, Lent, Links, Modules, Wiring, at_stage

Table = TypeVar("Table", Devices, Links, Cables, Modules, Lent)


def wiring_at(wiring: Wiring, stage: int) -> Wiring:
    """The wiring at a stage, from 0. Rows are numbered anew, in the same order."""
    devices, cables = _there(wiring.devices.stage, stage), _there(wiring.cables.stage, stage)
    device_row, cable_row = _places(devices, len(wiring.devices)), _places(cables, len(wiring.cables))
    links = _taken(at_stage(wiring, stage), np.flatnonzero(wiring.links.stage <= stage))
    links = replace(links, a=device_row[links.a], b=device_row[links.b], cable=cable_row[links.cable])
    modules = _taken(wiring.modules, _there(wiring.modules.stage, stage))
    return replace(
        wiring,
        devices=_taken(wiring.devices, devices),
        links=links,
        cables=_taken(wiring.cables, cables),
        modules=replace(modules, device=device_row[modules.device]),
        lent=_taken(wiring.lent, np.zeros(0, dtype=np.int64)),
    )


def _there(stages: Ints, stage: int) -> Ints:
    """Rows installed by a stage, shape (rows,)."""
    return np.flatnonzero(stages <= stage)


def _places(rows: Ints, size: int) -> Ints:
    """New rows by old ones, shape (size + 1,); ``NOTHING``, the last one, stays the same."""
    places = np.full(size + 1, NOTHING)
    places[rows] = np.arange(len(rows))
    return places


def _taken(table: Table, rows: Ints) -> Table:
    """Rows of a table."""
    chosen = rows.tolist()
    columns: dict[str, Any] = {column.name: getattr(table, column.name) for column in fields(table)}
    for name, column in columns.items():
        columns[name] = column[rows] if isinstance(column, np.ndarray) else [column[row] for row in chosen]
    return replace(table, **columns)
