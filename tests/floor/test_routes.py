"""Routes of cables along trays: as long as the shortest way, whole, and the same from both ends."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabopt.floor.fill import room_of, section_of
from fabopt.floor.plan import FloorPlan
from fabopt.floor.routes import TrayRoutes
from fabopt.schema.floor import Floor


def _plan(rows: int, racks: int, **keys: Any) -> FloorPlan:
    listed = {key: tuple(value) if isinstance(value, list) else value for key, value in keys.items()}
    return FloorPlan(Floor(rows=rows, racks_per_row=racks, **listed))


def _names(routes: TrayRoutes, plan: FloorPlan, a: str, b: str) -> list[str]:
    return [routes.segments[index].name for index in routes.of(plan.rack_index(a), plan.rack_index(b))]


def _metres(plan: FloorPlan, name: str) -> float:
    """The length of a segment, read from its name."""
    if " " in name:
        return float(plan.floor.rack_depth_m + plan.floor.aisles_m[0])
    near, far = (
        float(end.partition("X")[2]) if "X" in end else plan.x_m[plan.rack_index(end)] / plan.floor.rack_pitch_m
        for end in name.split("-")
    )
    return abs(far - near) * plan.floor.rack_pitch_m


def test_routes_by_hand() -> None:
    plan = _plan(3, 4, cross_trays=[0, 2, 4], blocked=["B02"])
    routes = TrayRoutes(plan)
    assert _names(routes, plan, "A01", "A02") == ["A01-A02"]
    assert _names(routes, plan, "A02", "A03") == ["A02-A:X2", "A:X2-A03"]
    assert _names(routes, plan, "A04", "A04") == []
    assert _names(routes, plan, "A03", "C03") == ["A:X2-A03", "X2 A-B", "X2 B-C", "C:X2-C03"]
    # round the column: over the nearer of both ends
    assert _names(routes, plan, "B01", "B03") == [
        "B:X0-B01", "X0 A-B", "A:X0-A01", "A01-A02", "A02-A:X2", "X2 A-B", "B:X2-B03"
    ]  # fmt: skip
    # of two ways of the same length that over the left
    one = _plan(2, 3)
    assert _names(TrayRoutes(one), one, "A02", "B02") == ["A01-A02", "A:X0-A01", "X0 A-B", "B:X0-B01", "B01-B02"]


def test_where_no_tray_leads_there_is_no_route() -> None:
    plan = _plan(1, 3, blocked=["A02"])
    with pytest.raises(ValueError, match="no tray leads from A01 to A03"):
        TrayRoutes(plan).of(0, 2)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_routes_are_shortest_ways_whole_and_alike_from_both_ends(data: st.DataObject) -> None:
    rows, racks = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    cross = data.draw(st.sets(st.integers(0, racks), min_size=1, max_size=3))
    plan = _plan(rows, racks, cross_trays=sorted(cross))
    blocked = data.draw(st.sets(st.sampled_from(plan.ids), max_size=3))
    plan = _plan(rows, racks, cross_trays=sorted(cross), blocked=sorted(blocked))
    routes = TrayRoutes(plan)
    for a, b in combinations(np.flatnonzero(~plan.blocked).tolist(), 2):
        way_m = float(plan.tray_m(a, b))
        if not np.isfinite(way_m):
            continue
        route = routes.of(a, b)
        names = [routes.segments[index].name for index in route]
        assert sum(_metres(plan, name) for name in names) == pytest.approx(way_m)
        assert len(set(route)) == len(route) and routes.of(b, a) == route
        # each segment begins where the one before it ended
        ends = [_ends(name) for name in names]
        for (one, other), after in pairwise(ends):
            assert {one, other} & set(after)
        assert plan.ids[a] in ends[0] and plan.ids[b] in ends[-1]


def _ends(name: str) -> tuple[str, str]:
    if " " not in name:
        near, far = name.split("-")
        return near, far
    tray, _, rows = name.partition(" ")
    near, far = (f"{row}:{tray}" for row in rows.split("-"))
    return near, far


def test_sections_by_hand() -> None:
    """3.0 mm are 7.069 mm2, rounded up; a tray of 300 x 100 mm has 30,000, two managers of 150 x 150 have 45,000."""
    assert (section_of(3), section_of(9.43), section_of(None)) == (7069, 69842, 0)
    managers = {"manager_width_mm": 150, "manager_depth_mm": 150}
    floor = Floor(rows=1, racks_per_row=1, tray_width_mm=300, tray_depth_mm=100, **managers)
    assert (room_of(floor, "tray"), room_of(floor, "manager")) == (30_000_000, 45_000_000)
    assert room_of(Floor(rows=1, racks_per_row=1), "tray") is None
