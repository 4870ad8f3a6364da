"""Racks at the ends of rows that are kept for the panels of trunks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.schema.case import Case


def row_ends(case: Case) -> dict[str, str]:
    """The rack of every row that holds its panels, by name of the row; none where panels are in racks of devices.

    The outermost that no key names for anything, at the end nearer to a cross tray, of equally near ones the first.
    """
    floor = case.site.floor
    if not floor or case.site.halls or not case.site.trunked or case.site.zones != "rows":
        return {}
    plan = FloorPlan(floor, _named(case))
    lost, ends = set(plan.cut_off()), dict[str, str]()
    is_last = floor.racks_per_row - floor.cross_positions[-1] < floor.cross_positions[0]
    for row, name in enumerate(plan.row_names):
        racks = [plan.ids[rack] for rack in plan.racks_of(row).tolist() if plan.ids[rack] not in lost]
        if racks:
            ends[name] = racks[-1 if is_last else 0]
    return ends


def rows_without_end(case: Case) -> Iterator[str]:
    """Rows in which devices may stand, and no rack is left for panels."""
    floor, ends = case.site.floor, row_ends(case)
    if floor and ends:
        plan = FloorPlan(floor)
        for row in np.unique(plan.row[plan.usable]).tolist():
            if plan.row_names[row] not in ends:
                yield plan.row_names[row]


def _named(case: Case) -> Iterator[str]:
    assert case.site.floor is not None
    yield from (*case.pinned_racks, *case.site.floor.named_racks)
    for fabric in case.fabrics:
        for attachment in fabric.attachments:
            yield from attachment.racks or ()
