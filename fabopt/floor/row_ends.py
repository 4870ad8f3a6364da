"""Racks at the ends of rows that are kept for the panels of trunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.rules.defaults import ROW_ENDS, is_kept
from fabopt.schema.case import Case
from fabopt.schema.resilience import RACK, losses_of


def row_ends(case: Case) -> Mapping[str, str]:
    """The rack of every row that holds its panels, by name of the row; none where panels are in racks of devices.

    The outermost that no key names for anything, at the end that rule ``row-ends`` says.
    """
    floor = case.site.floor
    if not floor or case.site.halls or not case.site.trunked or case.site.zones != "rows":
        return MappingProxyType({})
    plan = FloorPlan(floor, _named(case))
    lost, ends = set(plan.cut_off()), dict[str, str]()
    is_nearer = floor.racks_per_row - floor.cross_positions[-1] < floor.cross_positions[0]
    is_last = is_nearer and is_kept(case.rules, ROW_ENDS)
    for row, name in enumerate(plan.row_names):
        racks = [plan.ids[rack] for rack in plan.racks_of(row).tolist() if plan.ids[rack] not in lost]
        if racks:
            ends[name] = racks[-1 if is_last else 0]
    return MappingProxyType(ends)


def against_rows(case: Case) -> Iterator[str]:
    """Why panels are not planned at the ends of rows; nothing if they are."""
    floor, ends = case.site.floor, row_ends(case)
    if case.site.halls:
        yield "panels at the ends of rows are planned in one hall alone"
    elif floor and floor.rows < 2:
        yield "there is one row, and trunks run between rows"
    elif floor:
        plan = FloorPlan(floor)
        for row in np.unique(plan.row[plan.usable]).tolist():
            if (name := plan.row_names[row]) not in ends:
                yield f"no rack of row {name} is left for panels: keys name all that are not blocked or reserved"
    if any(lost.failures[0] == RACK for fabric in case.fabrics for lost in losses_of(case.resilience_of(fabric))):
        yield "what is left without a rack of panels is not planned, and `resilience` asks for it with `1 rack`"


def _named(case: Case) -> Iterator[str]:
    assert case.site.floor is not None
    yield from (*case.pinned_racks, *case.site.floor.named_racks)
    for fabric in case.fabrics:
        for attachment in fabric.attachments:
            yield from attachment.racks or ()
