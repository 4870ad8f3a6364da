"""Several halls as one floor: ways by hand, and every way against Dijkstra over trays and routes of all halls."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabopt.floor.plan import FloorPlan
from fabopt.floor.policies import in_halls
from fabopt.floor.racks import place_of, rack_id
from fabopt.floor.routes import TrayRoutes
from fabopt.schema.floor import CampusHall, Floor, Route
from fabopt.schema.site import Site
from tests.floor.test_floor import MICROMETRE, floors, shortest_m, tray_graph

Point = tuple[str, str, int, int]


def site(halls: list[dict[str, Any]], routes: list[dict[str, Any]]) -> Site:
    return Site(halls=tuple(CampusHall(**hall) for hall in halls), routes=tuple(Route(**route) for route in routes))


def plan_of(site: Site) -> FloorPlan:
    assert site.floor is not None
    return FloorPlan(site.floor)


TWO = site(
    [{"name": "EAST", "rows": 2, "racks_per_row": 8}, {"name": "WEST", "rows": 1, "racks_per_row": 4}],
    [{"between": ("EAST", "WEST"), "m": 350}],
)


def test_a_way_between_halls_by_hand() -> None:
    plan = plan_of(TWO)
    assert plan.ids[:2] == ("EAST-A01", "EAST-A02") and plan.ids[-1] == "WEST-A04" and len(plan) == 20
    near, far = plan.rack_index("EAST-B03"), plan.rack_index("WEST-A02")
    # two and a half racks to the cross tray, a rack's depth and an aisle to row A, half a rack to above A01
    to_exit = 2.5 * 0.6 + 1.2 + 1.2 + 0.5 * 0.6
    assert float(plan.tray_m(near, far)) == pytest.approx(to_exit + 350 + 0.6)
    up_and_down = (2.6 - 1.0) + (2.6 - 0.5) + 2 * 0.3
    assert float(plan.run_m(near, 1.0, far, 0.5)) == pytest.approx(up_and_down + to_exit + 350 + 0.6 + 0.5)
    assert TrayRoutes(plan).names_between("EAST-B03", "WEST-A02") == "EAST-A01 to WEST-A01"
    assert TrayRoutes(plan).names_between("EAST-B03", "EAST-A02") == ""


def test_exits_and_a_hall_between() -> None:
    halls = [{"name": name, "rows": 1, "racks_per_row": 4} for name in ("A", "B", "C")]
    routes: list[dict[str, Any]] = [
        {"between": ("A", "B"), "m": 100, "exits": ("A04", "A04")},
        {"between": ("C", "B"), "m": 200, "exits": ("A02", "A01"), "duct": "south"},
        {"between": ("A", "C"), "m": 1000},
    ]
    plan = plan_of(site(halls, routes))
    way = plan.tray_m(plan.rack_index("A-A01"), plan.rack_index("C-A02"))
    assert float(way) == pytest.approx(3 * 0.6 + 100 + 3 * 0.6 + 200)
    names = TrayRoutes(plan).names_between("A-A01", "C-A02")
    assert names == "A-A04 to B-A04 + C-A02 to B-A01, south"


@st.composite
def campuses(draw: st.DrawFn) -> Site:
    plans = draw(st.lists(floors(), min_size=1, max_size=3))
    halls = [CampusHall.model_validate({"name": f"H{number}", **dict(plan)}) for number, plan in enumerate(plans)]

    def rack(hall: CampusHall) -> str:
        free = [
            id_
            for row in range(hall.rows)
            for place in range(hall.racks_per_row)
            if (id_ := rack_id(row, place)) not in hall.blocked
        ]
        return draw(st.sampled_from(free))

    routes = []
    for one, other in combinations(halls, 2):
        listed: set[tuple[str, str]] = set()
        for _ in range(draw(st.integers(0, 2))):
            m = draw(st.integers(1, 2_000_000)) / 1000
            pairs = tuple({(rack(one), rack(other)) for _ in range(draw(st.integers(0, 2)))} - listed)
            listed |= {*pairs}
            routes.append(Route(between=(one.name, other.name), m=m, exits=(rack(one), rack(other)), pairs=pairs))
    return Site(halls=tuple(halls), routes=tuple(routes))


@pytest.mark.long
@given(campuses())
@settings(max_examples=60, deadline=None)
def test_ways_are_the_shortest_over_trays_and_routes(campus: Site) -> None:
    plan = plan_of(campus)
    edges: dict[Any, list[tuple[Any, float]]] = defaultdict(list)
    for hall in campus.halls:
        for point, joined in tray_graph(hall).items():
            edges[hall.name, *point] = [((hall.name, *other), m) for other, m in joined]
    points = [(id_.partition("-")[0], "rack", int(row), int(place)) for id_, row, place in _places(plan)]
    at = dict(zip(plan.ids, points, strict=True))
    for route in campus.routes:
        near, far = (at[end] for end in route.ends)
        edges[near].append((far, route.m))
        edges[far].append((near, route.m))
    every = np.arange(len(plan))
    own_m = dict(_over_own_routes(campus))
    table, segments = plan.tray_m(every[:, None], every), TrayRoutes(plan)
    islands = set()
    for a, point in enumerate(points):
        found = shortest_m(edges, point)
        islands.add(frozenset(b for b, other in enumerate(points) if plan.usable[b] and other in found))
        for b, other in enumerate(points):
            way_m = own_m.get(frozenset((plan.ids[a], plan.ids[b])), found.get(other, math.inf))
            assert table[a, b] == pytest.approx(way_m, abs=MICROMETRE), (plan.ids[a], plan.ids[b])
            if own_m.get(frozenset((plan.ids[a], plan.ids[b])), math.inf) < math.inf:
                (over,) = (
                    segments.segments[one] for one in segments.of(a, b) if segments.segments[one].route is not None
                )
                route = campus.routes[over.route or 0]
                assert {plan.ids[a], plan.ids[b]} in map(set, route.full_pairs)
    assert (table == table.T).all()
    if segments.segments and np.isfinite(table[0, -1]):
        assert len(segments.of(0, len(plan) - 1)) > 0 or len(plan) == 1
    kept = {rack for rack in range(len(plan)) if plan.usable[rack]} - {plan.rack_index(rack) for rack in plan.cut_off()}
    assert frozenset(kept) in islands or not kept


def _over_own_routes(campus: Site) -> Iterator[tuple[frozenset[str], float]]:
    """Ways between racks that a route lists: the shortest in each hall, and its metres."""
    halls = {hall.name: FloorPlan(hall.alone) for hall in campus.halls}
    for route in campus.routes:
        for pair in route.full_pairs:
            way_m = route.m
            for name, rack, end in zip(route.between, pair, route.ends, strict=True):
                near, far = (halls[name].rack_index(id_.rpartition("-")[2]) for id_ in (rack, end))
                way_m += float(halls[name].tray_m(near, far))
            yield frozenset(pair), way_m


def _places(plan: FloorPlan) -> list[tuple[str, int, int]]:
    first_rows = np.concatenate([[0], np.cumsum([part.rows for part in plan.floor.parts])])
    rows = plan.row - first_rows[plan.hall_of]
    return list(zip(plan.ids, rows.tolist(), plan.position.tolist(), strict=True))


@given(floors())
@settings(max_examples=30, deadline=None)
def test_one_hall_is_its_floor(floor: Floor) -> None:
    alone, hall = FloorPlan(floor), plan_of(Site(halls=(CampusHall.model_validate({"name": "H", **dict(floor)}),)))
    every = np.arange(len(alone))
    assert hall.ids == tuple(f"H-{id_}" for id_ in alone.ids)
    assert (hall.tray_m(every[:, None], every) == alone.tray_m(every[:, None], every)).all()
    assert (hall.usable == alone.usable).all() and hall.cut_off() == tuple(f"H-{id_}" for id_ in alone.cut_off())
    for order in ("middle", "ends", "from_centre"):
        assert getattr(hall, order)().tolist() == getattr(alone, order)().tolist()


def test_limits_are_of_each_hall() -> None:
    campus = site(
        [
            {"name": "EAST", "rows": 1, "racks_per_row": 2, "rack_power_w": 40_000, "breaker_share": 0.8},
            {"name": "WEST", "rows": 2, "racks_per_row": 1, "rack_power_w": 20_000, "row_air_w": 15_000},
        ],
        [{"between": ("EAST", "WEST"), "m": 350}],
    )
    plan = plan_of(campus)
    assert plan.most_by_rack[0].tolist() == [32_000_000, 32_000_000, 20_000_000, 20_000_000]
    assert plan.most_in_rack.power_mw == 20_000_000
    assert plan.row_air_mw is not None and plan.row_air_mw[1:].tolist() == [15_000_000, 15_000_000]
    assert plan.row_air_mw[0] > 10**15


def test_servers_are_in_the_fewest_halls() -> None:
    plan = plan_of(TWO)
    first = next(in_halls(plan, 4, 2))
    assert {plan.ids[rack].partition("-")[0] for rack in first[2].tolist()} == {"EAST"}
    both = [racks for _, racks, every in in_halls(plan, 17, 2) if len(every) == 20]
    assert both and all({plan.hall_of[rack] for rack in racks.tolist()} == {0, 1} for racks in both if len(racks) > 1)


def test_racks_are_ordered_by_hall_row_and_number() -> None:
    ids = ["WEST-A02", "EAST-B01", "EAST-A10", "EAST-A09", "H1-AA01", "H1-B01"]
    assert sorted(ids, key=place_of) == ["EAST-A09", "EAST-A10", "EAST-B01", "H1-B01", "H1-AA01", "WEST-A02"]
