"""The floor plan: runs worked by hand, and every distance against Dijkstra over a graph of tray points."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings, strategies as st

from fabopt.cli.starter import Starter, starter_text
from fabopt.errors import InputError
from fabopt.floor.loads import load_of_server
from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import (
    height_m,
    rack_id,
    racks_needed,
    row_letters,
    row_of_letters,
    servers_per_rack,
    servers_that_fit,
)
from fabopt.io.case import inputs_from_objects
from fabopt.schema.case import Floor, Site
from fabopt.schema.server import Server
from tests.paths import ERRORS, ROOT, few_or_many

MICROMETRE = 1e-6
Point = tuple[str, int, int]


def plan(rows: int, racks_per_row: int, **keys: Any) -> FloorPlan:
    return FloorPlan(Floor(rows=rows, racks_per_row=racks_per_row, **keys))


def tray(floor: FloorPlan, a: str, b: str) -> float:
    return float(floor.tray_m(floor.rack_index(a), floor.rack_index(b)))


def run(floor: FloorPlan, a: str, height_a: float, b: str, height_b: float) -> float:
    return float(floor.run_m(floor.rack_index(a), height_a, floor.rack_index(b), height_b))


# -- an independent oracle --------------------------------------------------------------------------------------------


def tray_graph(floor: Floor) -> dict[Point, list[tuple[Point, float]]]:
    """Racks, the gaps between them (0 before the first), and trays from each to the next as edges."""
    edges: dict[Point, list[tuple[Point, float]]] = defaultdict(list)

    def join(one: Point, other: Point, length_m: float) -> None:
        edges[one].append((other, length_m))
        edges[other].append((one, length_m))

    aisles = floor.aisle_m if isinstance(floor.aisle_m, tuple) else [floor.aisle_m] * floor.rows
    for row in range(floor.rows):
        for position in range(floor.racks_per_row):
            if rack_id(row, position) not in floor.blocked:
                for gap in (position, position + 1):
                    join(("rack", row, position), ("gap", row, gap), floor.rack_pitch_m / 2)
        if row:
            for gap in (0, floor.racks_per_row) if floor.cross_trays is None else floor.cross_trays:
                join(("gap", row - 1, gap), ("gap", row, gap), floor.rack_depth_m + aisles[row - 1])
    return edges


def shortest_m(edges: dict[Point, list[tuple[Point, float]]], start: Point) -> dict[Point, float]:
    """Dijkstra."""
    found: dict[Point, float] = {}
    waiting = [(0.0, start)]
    while waiting:
        far, point = heapq.heappop(waiting)
        if point not in found:
            found[point] = far
            for other, length in edges[point]:
                heapq.heappush(waiting, (far + length, other))
    return found


@st.composite
def floors(draw: st.DrawFn) -> Floor:
    rows, length = draw(st.integers(1, 5)), draw(st.integers(1, 7))
    metres = st.integers(0, 3000).map(lambda mm: mm / 1000)
    ids = [rack_id(row, position) for row in range(rows) for position in range(length)]
    lists = st.lists(st.sampled_from(ids), unique=True, max_size=len(ids) // 2)
    aisles = draw(st.one_of(metres, st.lists(metres, min_size=rows - 1, max_size=rows - 1).map(tuple)))
    trays = st.lists(st.integers(0, length), unique=True, min_size=1).map(tuple)
    blocked = draw(lists)
    return Floor(
        rows=rows,
        racks_per_row=length,
        rack_pitch_m=draw(st.integers(100, 2000)) / 1000,
        rack_depth_m=draw(st.integers(100, 2000)) / 1000,
        aisle_m=aisles,
        cross_trays=draw(st.none() | trays),
        blocked=tuple(blocked),
        reserved=tuple(id_ for id_ in draw(lists) if id_ not in blocked),
    )


@pytest.mark.drawn_longer
@given(floors())
@settings(max_examples=few_or_many(40, 150), deadline=None)
def test_distances_are_shortest_ways(floor: Floor) -> None:
    plan, edges = FloorPlan(floor), tray_graph(floor)
    all_racks = np.arange(len(plan))
    table = plan.tray_m(all_racks[:, None], all_racks)
    heights = height_m(1 + all_racks % 40, 2)
    runs = plan.run_m(all_racks[:, None], heights[:, None], all_racks, heights)
    for a in all_racks:
        found = shortest_m(edges, ("rack", int(plan.row[a]), int(plan.position[a])))
        for b in all_racks:
            wanted = found.get(("rack", int(plan.row[b]), int(plan.position[b])), math.inf)
            assert table[a, b] == pytest.approx(wanted, abs=MICROMETRE), (plan.ids[a], plan.ids[b])
            descents = 2 * (floor.tray_height_m + floor.drop_m) - heights[a] - heights[b]
            whole = abs(heights[a] - heights[b]) if a == b else descents + wanted
            assert runs[a, b] == pytest.approx(whole + floor.slack_m, abs=MICROMETRE)
    assert (table == table.T).all() and (runs == runs.T).all()


@pytest.mark.long
@given(floors())
@settings(max_examples=100, deadline=None)
def test_cut_off_racks_are_not_reached_by_the_most(floor: Floor) -> None:
    plan, edges = FloorPlan(floor), tray_graph(floor)
    usable = {
        id_: ("rack", int(plan.row[i]), int(plan.position[i])) for i, id_ in enumerate(plan.ids) if plan.usable[i]
    }
    islands = {frozenset(id_ for id_, at in usable.items() if at in shortest_m(edges, one)) for one in usable.values()}
    kept = set(usable) - set(plan.cut_off())
    assert kept in islands or not usable
    assert len(kept) == max(map(len, islands), default=0)


# -- runs worked by hand ----------------------------------------------------------------------------------------------


def test_within_a_rack_a_cable_goes_straight() -> None:
    assert run(plan(1, 1), "A01", 0.5, "A01", 2.0) == 1.5 + 0.5


def test_along_a_row() -> None:
    """Up 2.6 - 0.6, down 2.6 - 1.6, two drops of 0.3, four racks of 0.6, slack 0.5."""
    assert run(plan(1, 8), "A02", 0.6, "A06", 1.6) == pytest.approx(2.0 + 1.0 + 0.6 + 2.4 + 0.5, abs=1e-9)


def test_the_example_of_the_documentation() -> None:
    """A02 is 1.5 racks from the end, B04 3.5; between the rows 1.2 + 1.2."""
    run_m = run(plan(2, 8), "A02", float(height_m(1, 8)), "B04", float(height_m(40, 1)))
    assert run_m == pytest.approx(2.3222 + 0.744225 + 0.6 + (0.9 + 2.4 + 2.1) + 0.5, abs=1e-9)


def test_own_heights_drop_and_slack() -> None:
    floor = plan(1, 2, tray_height_m=3, drop_m=0, slack_m=0, rack_pitch_m=0.8)
    assert run(floor, "A01", 1, "A02", 2) == pytest.approx(2 + 1 + 0.8, abs=1e-9)


def test_across_rows_at_the_nearer_end() -> None:
    """From the second rack 1.5 racks of 0.6 to the end, two rows of 1.2 + 1.2, 2.5 racks back."""
    assert tray(plan(3, 10), "A02", "C03") == pytest.approx(0.9 + 4.8 + 1.5, abs=1e-9)
    assert tray(plan(3, 10), "A09", "C08") == pytest.approx(0.9 + 4.8 + 1.5, abs=1e-9)


def test_across_rows_at_a_cross_tray_between_the_racks() -> None:
    assert tray(plan(2, 10, cross_trays=(5,)), "A03", "B08") == pytest.approx(5 * 0.6 + 2.4, abs=1e-9)


def test_a_cross_tray_to_one_side_is_a_detour() -> None:
    """From A03 on to the cross tray after the fifth rack, 2.5 racks, and 3.5 back to B02."""
    assert tray(plan(2, 10, cross_trays=(5,)), "A03", "B02") == pytest.approx(1.5 + 2.4 + 2.1, abs=1e-9)


def test_aisles_may_differ() -> None:
    floor = plan(3, 1, aisle_m=(1.0, 1.8))
    assert floor.y_m.tolist() == pytest.approx([0, 2.2, 5.2])
    assert tray(floor, "A01", "C01") == pytest.approx(0.6 + 5.2, abs=1e-9)


def test_a_blocked_rack_cuts_its_row() -> None:
    """Over the other row: 0.5 racks to the end, across, 5 racks along, across, 0.5 racks back; not 4 racks straight."""
    assert tray(plan(2, 5), "A01", "A05") == pytest.approx(2.4, abs=1e-9)
    assert tray(plan(2, 5, blocked=("A03",)), "A01", "A05") == pytest.approx(0.3 + 2.4 + 3.0 + 2.4 + 0.3, abs=1e-9)


def test_the_tray_passes_a_reserved_rack() -> None:
    floor = plan(2, 5, reserved=("A03",))
    assert tray(floor, "A01", "A05") == pytest.approx(2.4, abs=1e-9)
    assert floor.usable_racks == 9 and not floor.cut_off()


def test_a_way_may_change_rows_twice() -> None:
    """Each of the two rows is cut, at different places: the way to B04 changes at the cross tray in the middle."""
    floor = plan(2, 6, cross_trays=(0, 3, 6), blocked=("A05", "B02"))
    assert tray(floor, "B01", "A06") == pytest.approx(0.3 + 2.4 + 1.8 + 2.4 + 1.8 + 2.4 + 0.3, abs=1e-9)


def test_racks_that_no_tray_reaches() -> None:
    floor = plan(2, 5, cross_trays=(0,), blocked=("A03",))
    assert floor.cut_off() == ("A04", "A05")
    assert tray(floor, "A01", "A05") == math.inf
    assert tray(floor, "A04", "A05") == pytest.approx(0.6)
    assert tray(floor, "A03", "A02") == math.inf


def test_nothing_usable_is_nothing_cut_off() -> None:
    floor = plan(1, 1, blocked=("A01",))
    assert floor.usable_racks == 0 and floor.cut_off() == ()
    assert floor.from_centre().size == floor.middle().size == 0


def test_arguments_are_broadcast() -> None:
    floor = plan(2, 3)
    assert floor.tray_m(0, [0, 1, 2]).tolist() == [0, 0.6, 1.2]
    assert floor.run_m(np.arange(6)[:, None], 1.0, np.arange(6), 1.0).shape == (6, 6)


def test_height_is_the_middle_of_a_box() -> None:
    """The lowest unit begins at 0.1 m; a box of two units at the bottom has its middle one unit higher."""
    assert float(height_m(1, 2)) == pytest.approx(0.14445, abs=1e-9)
    assert height_m([1, 41], [1, 8]).tolist() == pytest.approx([0.1 + 0.022225, 0.1 + 44 * 0.04445], abs=1e-9)


# -- names, sizes, orders ---------------------------------------------------------------------------------------------


def test_ids_are_letters_and_numbers() -> None:
    assert [rack_id(0, 0), rack_id(25, 8), rack_id(26, 99), rack_id(701, 9), rack_id(702, 9)] == [
        *("A01", "Z09", "AA100", "ZZ10", "AAA10")
    ]


@given(st.integers(0, 30_000))
def test_rows_are_found_by_their_letters(row: int) -> None:
    assert row_of_letters(row_letters(row)) == row


def test_racks_are_found_by_their_ids() -> None:
    floor = plan(28, 101)
    assert [floor.rack_index(id_) for id_ in floor.ids] == list(range(len(floor))) == list(range(28 * 101))
    with pytest.raises(ValueError, match="no rack A1; its racks are A01 to AB101"):
        floor.rack_index("A1")


@pytest.mark.parametrize(
    ("keys", "message"),
    [({"blocked": ("C01",)}, "no rack C01"), ({"aisle_m": (1.0, 1.0)}, "aisles"), ({"cross_trays": (3,)}, "outside")],
)
def test_a_floor_that_contradicts_itself_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(2, 2, **keys)


def server(**keys: Any) -> Server:
    return Server(id="box", gpus=8, **keys)


@pytest.mark.parametrize(
    ("floor", "units", "keys", "keep", "most"),
    [
        ({}, 8, {"power_w": 10_000}, 0, 6),
        ({"rack_power_w": 40_000}, 8, {"power_w": 10_000}, 0, 4),
        ({"rack_power_w": 40_000}, 8, {"power_w": 10_000.1}, 0, 3),
        ({"rack_power_w": 50_000, "breaker_share": 0.8}, 8, {"power_w": 10_000}, 0, 4),
        ({"rack_power_w": 49_999, "breaker_share": 0.8}, 8, {"power_w": 10_000}, 0, 3),
        ({"rack_air_w": 40_000}, 8, {"power_w": 10_000}, 0, 4),
        ({"row_air_w": 30_000}, 8, {"power_w": 10_000}, 0, 3),
        ({"rack_air_w": 40_000}, 1, {"power_w": 10_000, "liquid_share": 0.8}, 0, 20),
        ({"rack_kg": 500}, 8, {"weight_kg": 130.45}, 0, 3),
        ({"rack_kg": 500}, 8, {}, 0, 6),
        ({"floor_kg_m2": 1000}, 8, {"weight_kg": 130.45}, 0, 5),
        ({}, 8, {}, 1, 5),
        ({"rack_units": 42}, 1.4, {"power_w": 0}, 0, 21),
        ({"rack_units": 7}, 8, {"power_w": 1}, 0, 0),
    ],
)
def test_servers_that_fit(floor: dict[str, Any], units: float, keys: dict[str, float], keep: int, most: int) -> None:
    """A base of 0.6 m x 1.2 m carries 720 kg at 1,000 kg/m2."""
    load = load_of_server(server(**keys))
    assert servers_that_fit(Floor(rows=1, racks_per_row=1, **floor), units, load, keep) == most


def test_servers_per_rack_are_given_or_what_fits() -> None:
    floor, box = Floor(rows=1, racks_per_row=1), server(rack_units=10, power_w=1.0)
    assert servers_per_rack(Site(), box) is None
    assert servers_per_rack(Site(servers_per_rack=3), box) == 3
    assert servers_per_rack(Site(servers_per_rack=3, floor=floor), box) == 3
    assert servers_per_rack(Site(floor=floor), box) == 4
    assert [racks_needed(servers, 4) for servers in (1, 4, 5)] == [1, 1, 2]


def named(floor: FloorPlan, racks: Any) -> list[str]:
    return [floor.ids[rack] for rack in racks]


def test_orders_of_racks() -> None:
    floor = plan(3, 4, blocked=("B02",), reserved=("C01",))
    assert named(floor, floor.racks_of(1)) == ["B01", "B03", "B04"]
    assert named(floor, floor.middle([1])) == ["B03", "B01", "B04"]
    assert named(floor, floor.ends([2, 1])) == ["B01", "B04", "C04", "B03", "C02", "C03"]
    assert named(floor, floor.middle())[:5] == ["A02", "A03", "B03", "C02", "C03"]


def test_from_the_centre_of_what_is_served() -> None:
    """The median of A01, A02 and A04 is A02; a rack of the next row is 2.4 m farther."""
    floor = plan(2, 4)
    assert named(floor, floor.from_centre([0, 1, 3])) == ["A02", "A01", "A03", "A04", "B02", "B01", "B03", "B04"]
    assert named(plan(1, 5), plan(1, 5).from_centre()) == ["A03", "A02", "A04", "A01", "A05"]


@pytest.mark.parametrize(
    ("wanted", "order"),
    [
        ("any", ["A02", "A03", "A01", "A04"]),
        ("row", ["A02", "A03", "A01", "A04"]),
        ("middle", ["A02", "A03", "A01", "A04"]),
        ("end", ["A01", "A04", "A02", "A03"]),
        (("A03", "A01"), ["A03", "A01"]),
    ],
)
def test_network_racks(wanted: Any, order: list[str]) -> None:
    floor = plan(1, 4, network_racks=wanted)
    assert named(floor, floor.network_racks()) == order


def test_a_tray_may_hang_as_low_as_the_topmost_unit() -> None:
    """At that height it is as far as from the tray to the port; a centimetre lower it is refused."""
    top = float(height_m(48, 1))
    content = {"name": "pod", "server": "acme-tall", "servers": 4, "fabrics": [{"name": "compute"}]}

    def read(tray_m: float) -> float:
        floor = {"rows": 1, "racks_per_row": 16, "tray_height_m": tray_m}
        inputs = inputs_from_objects(content | {"site": {"floor": floor}}, catalogs=[str(ERRORS / "_tiny.yaml")])
        assert inputs.case.site.floor is not None
        return inputs.case.site.floor.tray_height_m

    assert read(top) == top
    with pytest.raises(InputError, match="trays hang lower"):
        read(round(top - 0.01, 2))


# -- what is written about it -----------------------------------------------------------------------------------------


def test_the_floor_of_a_starter_case_is_large_enough(tmp_path: Path) -> None:
    """97 servers of 8 units, 6 in a rack: 17 racks, so two rows of 16, and one for the network."""
    catalog = str(ROOT / "tests" / "errors" / "_tiny.yaml")
    text = starter_text(Starter("pod", 97 * 8, "acme-tall", "mixed", [catalog], tmp_path, tmp_path / "case.json"))
    before, _, after = text.partition("  # floor:")
    lines = ["  floor:", *(line.replace("  # ", "  ", 1) for line in after.splitlines()[1:7])]
    content = yaml.safe_load(before + "\n".join(lines))
    case = inputs_from_objects(content, catalogs=[catalog]).case
    assert case.site.floor == Floor(rows=3, racks_per_row=16)
