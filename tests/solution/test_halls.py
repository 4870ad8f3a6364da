"""Two halls of 60 and 40 % of the servers: links over the route, parts by reach, and money, by hand."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from io import StringIO
from math import ceil, pi
from typing import Any

import numpy as np
import pytest
import yaml

from fabopt.errors import InputError
from fabopt.floor.policies import in_halls
from fabopt.io.case import inputs_from_objects
from fabopt.io.design import design_in
from fabopt.io.library import data_folder
from fabopt.output.export.cables import schedule
from fabopt.output.export.elevation import elevation_of
from fabopt.output.export.trays import tray_table
from fabopt.output.html.racks import floor_view
from fabopt.problem.problem import problem_of
from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from fabopt.topology.clos import space
from fabopt.verify.checks import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.latency import FARTHEST, SAME_POD, paths_of
from tests.samples.shipped import shipped
from tests.samples.small import Json, assert_proven, inputs, usd

SOURCE = {"url": "example", "date": "2026-01", "kind": "list"}
# Usd of a module, by the metres that it reaches.
OPTICS = {"dr4": (500, 400), "fr4": (2000, 700), "lr4": (10000, 1300)}
FIBRE_M = (10, 50, 400, 1500, 5000)


def parts() -> Json:
    """Leaves and spines with optics of three reaches, and copper of 3 m for what is in one rack or the next."""
    ends = [{"form_factor": "OSFP", "split": "1x400"}, {"form_factor": "OSFP", "split": "1x400"}]
    return {
        "switches": [
            {"id": "leaf", "protocol": "ethernet", "rack_units": 1, "power_w": 500, "price_usd": 9000,
             "cages": [{"count": 16, "form_factor": "OSFP", "splits": ["1x400"]}]},
        ],
        "nics": [{"id": "card", "protocols": ["ethernet"], "power_w": 20, "price_usd": 0,
                  "cages": [{"count": 1, "form_factor": "OSFP", "splits": ["1x400"]}]}],
        "servers": [{"id": "box", "gpus": 1, "nic_slots": 1, "power_w": 900, "rack_units": 4,
                     "nics": [{"id": "card", "count": 1}]}],
        "transceivers": [
            {"id": id_, "form_factor": "OSFP", "split": "1x400", "standard": f"400G-{id_.upper()}", "fibre": "smf",
             "connector": "LC", "reach_m": reach, "power_w": 9, "price_usd": price}
            for id_, (reach, price) in OPTICS.items()
        ],
        "cables": [{"id": "dac", "medium": "DAC", "power_w": 0, "ends": ends,
                    "lengths": [{"m": m, "price_usd": 50 * m} for m in (1, 3, 5, 7, 10)]}],
        "fibres": [{"id": "lc", "fibre": "smf", "connectors": ["LC", "LC"],
                    "lengths": [{"m": m, "price_usd": m} for m in FIBRE_M]}],
    }  # fmt: skip


def campus(m: float, **site: Any) -> Json:
    """Ten servers, two a rack, six in EAST and four in WEST, on two tiers with all spines in EAST."""
    halls = [
        {"name": "EAST", "rows": 1, "racks_per_row": 4, "server_racks": ["A01", "A02", "A03"]},
        {"name": "WEST", "rows": 1, "racks_per_row": 3, "server_racks": ["A01", "A02"]},
    ]
    return {
        "name": "campus", "server": "box", "servers": 10, "resilience": "none", "rules": "none",
        "fabrics": [{"name": "compute", "protocol": "ethernet", "tiers": 2, "min_gbps_per_gpu": 400,
                     "max_oversubscription": 1, "racks": {"spine": ["EAST-A04"]}}],
        "site": {"halls": halls, "routes": [{"between": ["EAST", "WEST"], "m": m}], "servers_per_rack": 2, **site},
    }  # fmt: skip


@cache
def at(m: float) -> Design:
    return solve(inputs(campus(m), parts()), alternatives_s=0)


def over_route(design: Design) -> list[dict[str, str]]:
    """Rows of the cable schedule that name a route."""
    rows = schedule(design, wiring_of(design)).to_csv(index=False)
    return [row for row in csv.DictReader(StringIO(rows)) if row["route"]]


@pytest.mark.long("3000-lr4-5000")
@pytest.mark.parametrize(("m", "optic", "length_m"), [(350, "dr4", 400), (1200, "fr4", 1500), (3000, "lr4", 5000)])
def test_what_runs_over_a_route_has_parts_that_reach(m: float, optic: str, length_m: float) -> None:
    design = at(m)
    assert_proven(design)
    rows, wiring = over_route(design), wiring_of(design)
    # 1:1: one link for each of the four servers in WEST, to its leaf or from that to spines in EAST; nothing else
    assert len(rows) == 4
    assert {row["from_rack"][:5] + row["to_rack"][:5] for row in rows} == {"WEST-EAST-"}
    assert {(row["from_optic"], row["to_optic"], float(row["length_m"])) for row in rows} == {(optic, optic, length_m)}
    assert set(wiring.modules.part) == {optic}
    assert {row["route"] for row in rows} == {"EAST-A01 to WEST-A01"}


def test_money_between_distances_is_that_of_optics_and_glass() -> None:
    near, far = usd(at(350)), usd(at(1200))
    assert far - near == 4 * (2 * (700 - 400) + 1500 - 400)


def test_runs_by_hand() -> None:
    design = at(350)
    for row in over_route(design):
        away = {"EAST": 0.6 * (int(row["to_rack"][-2:]) - 1), "WEST": 0.6 * (int(row["from_rack"][-2:]) - 1)}
        units = {end: int(float(row[f"{end}_unit"])) for end in ("from", "to")}
        sizes = {"from": 4 if row["from_device"].startswith("server") else 1, "to": 1}
        heights = [0.1 + (units[end] - 1 + sizes[end] / 2) * 0.04445 for end in units]
        by_hand = 350 + sum(away.values()) + 2 * (2.6 + 0.3) - sum(heights) + 0.5
        assert float(row["run_m"]) == pytest.approx(by_hand, abs=1e-6)


def test_tables_and_drawings_have_the_halls() -> None:
    design = at(350)
    wiring = wiring_of(design)
    elevation = elevation_of(design, wiring)
    assert {row.name for row in elevation.rows} == {"EAST-A", "WEST-A"}
    trays = tray_table(design, wiring).set_index("segment")
    assert trays.loc["EAST-A01 to WEST-A01", "cables"] == 4
    assert trays.loc["EAST-A01 to WEST-A01", "kind"] == "route"


def test_a_changed_run_is_found() -> None:
    design = at(350)
    wiring = wiring_of(design)
    cables = replace(
        wiring.cables, run_m=np.where(wiring.cables.run_m > 300, wiring.cables.run_m - 1, wiring.cables.run_m)
    )
    broken = {check.name for check in verify(design, replace(wiring, cables=cables)) if not check.ok}
    assert broken >= {"routes_join_halls", "wires_cover_runs"}
    joined = next(check for check in verify(design) if check.name == "routes_join_halls")
    assert joined.ok and "4 links between EAST and WEST" in joined.detail


# -- what the loss of a hall, a route or a duct takes ------------------------------------------------------------------


def cut_off_without(design: Design, lost: Callable[[dict[str, str]], bool]) -> int:
    """Servers outside the largest part that is joined without some rows of the cable schedule, counted row by row."""
    rows = schedule(design, wiring_of(design)).to_csv(index=False)
    joined: dict[str, set[str]] = defaultdict(set)
    servers = set[str]()
    for row in csv.DictReader(StringIO(rows)):
        near, far = row["from_device"], row["to_device"]
        servers |= {near} if row["kind"].startswith("server") and not near.startswith("leaf") else set()
        if not lost(row):
            joined[near].add(far)
            joined[far].add(near)
    parts, seen = [], set[str]()
    for start in sorted(servers):
        part, waiting = set[str](), [start]
        while waiting:
            device = waiting.pop()
            if device not in part:
                part.add(device)
                waiting += joined[device]
        parts.append(len(part & servers) if start not in seen else 0)
        seen |= part
    return len(servers) - max(parts)


def lost_with(design: Design, device: str) -> dict[str, int]:
    points = design.single_points_of_failure or ()
    return {point.worst: point.servers for point in points if point.device == device and not point.degraded}


def test_the_loss_of_the_route_and_of_the_hall_with_spines_cuts_off_the_other_hall() -> None:
    design = at(350)
    assert cut_off_without(design, lambda row: bool(row["route"])) == 4
    assert lost_with(design, "route") == {"EAST-A01 to WEST-A01": 4}
    assert lost_with(design, "hall") == {"EAST": 4}
    assert lost_with(design, "duct") == {}


def test_routes_of_one_duct_are_lost_together_and_a_route_that_is_not_used_takes_nothing() -> None:
    routes = [
        {"between": ["EAST", "WEST"], "m": 350, "duct": "north"},
        {"between": ["EAST", "WEST"], "m": 900, "duct": "south"},
        {"between": ["WEST", "EAST"], "m": 800, "duct": "north", "exits": ["A03", "A04"]},
    ]
    design = solve(inputs(campus(350, routes=routes), parts()), alternatives_s=0)
    assert_proven(design)
    assert lost_with(design, "duct") == {"north": cut_off_without(design, lambda row: "north" in row["route"])}
    assert lost_with(design, "duct") == {"north": 4}
    assert lost_with(design, "route") == {}


# -- fibres of a duct -------------------------------------------------------------------------------------------------


def with_plugs(content: Json) -> Json:
    """The parts with twelve fibres behind the plug of the shortest optic, and fibres for it."""
    content["transceivers"][0]["connector"] = "MPO-12"
    content["fibres"].append(
        {"id": "mpo", "fibre": "smf", "connectors": ["MPO-12", "MPO-12"],
         "lengths": [{"m": m, "price_usd": m} for m in FIBRE_M]}
    )  # fmt: skip
    return content


def over_duct(fibres: int) -> Design:
    routes = [{"between": ["EAST", "WEST"], "m": 350, "fibres": fibres}]
    return solve(inputs(campus(350, routes=routes), with_plugs(parts())), alternatives_s=0)


def test_fibres_of_a_duct_are_kept_by_parts_with_fewer() -> None:
    """Four links: 48 fibres with twelve each, eight with a pair each, and no part has fewer."""
    free, pairs = over_duct(48), over_duct(47)
    assert_proven(free)
    assert pairs.status == "feasible" and pairs.objective.bound == free.objective.value
    assert usd(pairs) - usd(free) == 4 * 2 * (700 - 400)
    held = {check.name: check for check in pairs.checks}["routes_hold_fibres"]
    assert held.ok and "8 of 47 fibres" in held.detail
    assert "48 of 48 fibres" in {check.name: check for check in free.checks}["routes_hold_fibres"].detail


def test_a_duct_that_is_too_small_is_named_with_the_fibres_needed() -> None:
    """Four servers at 1:1 take 8 of LC; the cheapest answer has 48, and so many are named."""
    none = over_duct(7)
    assert none.status == "infeasible" and none.totals is None
    (conflict,) = none.conflicts
    assert (conflict.limit, conflict.value, conflict.needed) == ("site.routes[0].fibres", 7, 48)
    assert "takes 8 fibres out of EAST at least" in conflict.detail


# -- groups and pods in a hall, the highest tier in two ---------------------------------------------------------------


@pytest.mark.long("3")
@pytest.mark.parametrize("tiers", [2, 3])
def test_spread_over_halls_keeps_groups_and_pods_in_one(tiers: int) -> None:
    """Without it all spines or cores are in one hall, whose loss cuts the other one off; with it they are in both."""
    content = campus(350)
    content["fabrics"][0] |= {"tiers": tiers}
    del content["fabrics"][0]["racks"]
    free = solve(inputs(content, parts()), alternatives_s=0)
    spread = solve(inputs({**content, "site": {**content["site"], "spread": "halls"}}, parts()), alternatives_s=0)
    assert_proven(spread)
    assert usd(spread) >= usd(free)
    assert {check.name: check for check in spread.checks}["fabrics_keep_halls"].ok
    wiring = wiring_of(spread)
    top = "spine" if tiers == 2 else "core"
    columns = list(zip(wiring.devices.role, wiring.devices.rack, strict=True))
    assert {rack[:4] for role, rack in columns if role == top} == {"EAST", "WEST"}
    groups = defaultdict[int, set[str]](set)
    size, number = spread.fabrics[0].structure.servers_per_group, 0
    for role, rack in columns:
        if role == "server":
            groups[number // size].add(rack[:4])
            number += 1
    assert all(len(halls) == 1 for halls in groups.values())
    assert lost_with(spread, "hall") == {}


def test_halls_keep_racks_for_switches_where_their_servers_may_be() -> None:
    """EAST has racks enough for all servers, and three that may have some: WEST keeps racks for switches too."""
    content = campus(350)
    del content["fabrics"][0]["racks"]
    for hall in content["site"]["halls"]:
        hall["racks_per_row"] += 6
    given = inputs(content, parts())
    floor = problem_of(given.case, given.catalog).floor
    assert floor is not None
    kept = [{floor.plan.ids[rack][:4] for rack in racks.tolist()} for _, racks, _ in in_halls(floor.plan, 5, 2)]
    assert {"EAST", "WEST"} in kept


@pytest.mark.long(but=("None-2",))
@pytest.mark.parametrize(("hall", "links"), [(None, 2), (2, 2), (1, 4)])
def test_what_leaves_a_hall_has_a_ratio_of_its_own(hall: float | None, links: int) -> None:
    """Six servers in EAST and four in WEST at 2:1 above leaves: two links leave WEST's leaves, at 1:1 it takes four."""
    content = campus(350)
    ratio: Json = {"leaf": 2} if hall is None else {"leaf": 2, "hall": hall}
    content["fabrics"][0]["max_oversubscription"] = ratio
    design = solve(inputs(content, parts()), alternatives_s=0)
    assert_proven(design)
    assert len(over_route(design)) >= links
    if hall is not None:
        told = {check.name: check for check in design.checks}["halls_carry_demand"]
        assert told.ok and "1600 Gb/s of ports" in told.detail
        assert usd(design) >= usd(solve(inputs({**content, "fabrics": [
            {**content["fabrics"][0], "max_oversubscription": {"leaf": 2}}]}, parts()), alternatives_s=0))  # fmt: skip


def of_ratio(hall: float | None, tiers: int, racks: int | None = None) -> Design:
    """Of ten servers; ``racks``: of two servers in so many racks of each hall."""
    content = campus(350)
    if racks is not None:
        content["servers"] = 4 * racks
        for one in content["site"]["halls"]:
            one["server_racks"] = one["server_racks"][:racks]
    ratio = {"leaf": 2, "spine": 2} | ({} if hall is None else {"hall": hall})
    content["fabrics"][0] |= {"tiers": tiers, "max_oversubscription": ratio}
    return solve(inputs(content, parts()), alternatives_s=0)


@pytest.mark.long
@pytest.mark.parametrize("tiers", [2, pytest.param(3, marks=pytest.mark.long)])
def test_a_wider_ratio_between_halls_is_never_dearer(tiers: int) -> None:
    """Each design keeps its ratio by a count of the rows of the cable schedule with an end in either hall."""
    ratios, costs = (0.5, 1, 2, 4, None), []
    for ratio in ratios:
        design = of_ratio(ratio, tiers)
        assert_proven(design)
        costs.append(usd(design))
        leaving = len(over_route(design))
        assert ratio is None or ratio * leaving >= 4
        if ratio is not None:
            told = {check.name: check for check in design.checks}["halls_carry_demand"].detail
            assert f"1600 Gb/s of ports against {400 * leaving} Gb/s that leave WEST" in told
    assert costs == sorted(costs, reverse=True) and costs[0] > costs[-1]


@pytest.mark.long(but=("0.4-2-halls",))
@pytest.mark.parametrize("spread", ["any", "halls"])
@pytest.mark.parametrize("tiers", [2, 3])
@pytest.mark.parametrize("hall", [0.4, 0.67, 1, 3])
def test_sizes_that_are_not_placed_for_their_links_between_halls_would_fail(
    hall: float, tiers: int, spread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without the look at sizes alone, answers are equal."""
    content = campus(350)
    content["site"]["spread"] = spread
    content["fabrics"][0] |= {"tiers": tiers, "max_oversubscription": {"leaf": 2, "spine": 2, "hall": hall}}
    del content["fabrics"][0]["racks"]
    met: list[Design] = []
    for looks in (True, False):
        if not looks:
            monkeypatch.setattr(space, "may_join_halls", lambda *given: np.ones(np.size(given[3].g), dtype=np.bool_))
        met.append(solve(inputs(content, parts()), alternatives_s=0))
    assert met[0].status == met[1].status
    if met[0].fabrics:
        assert_proven(met[0])
        assert usd(met[0]) == usd(met[1])


def test_a_file_whose_halls_are_joined_by_too_little_is_refused() -> None:
    content = json.loads(of_ratio(1, 2).model_dump_json(by_alias=True))
    content["case"]["content"]["fabrics"][0]["max_oversubscription"]["hall"] = 0.01
    failed = {check.name for check in verify(design_in(content, "changed")) if not check.ok}
    assert "halls_carry_demand" in failed


@pytest.mark.long(but=("1-1",))
@pytest.mark.parametrize(("tiers", "racks"), [(1, 1), (2, 1), (2, None)])
def test_a_ratio_that_no_design_keeps_is_named_with_one_that_does(tiers: int, racks: int | None) -> None:
    none = of_ratio(0.01, tiers, racks)
    assert none.totals is None
    conflict = next(one for one in none.conflicts if one.limit.endswith("max_oversubscription.hall"))
    assert conflict.value == 0.01 and isinstance(conflict.needed, int | float)
    assert_proven(of_ratio(float(conflict.needed), tiers, racks))


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"stages": [{"name": "a", "servers": 5}, {"name": "b", "month": 1, "servers": 10}]}, "does not go with stages"),
     ({"topologies": ["clos", "hyperx"]}, "is of Clos networks")],
)  # fmt: skip
def test_where_a_ratio_between_halls_is_not_worked_out_it_is_refused(changed: Json, told: str) -> None:
    content = campus(350)
    content["fabrics"][0]["max_oversubscription"] = {"hall": 2}
    if "stages" in changed:
        del content["servers"]
        content |= changed
    else:
        content["fabrics"][0] |= changed
    with pytest.raises(InputError, match=told):
        inputs(content, parts())


# -- what a model sends from hall to hall ------------------------------------------------------------------------------


@cache
def of_model() -> Design:
    """Forty servers in two halls that train a model, each server a stage's tensor ranks, data ranks next to them."""
    case = yaml.safe_load((data_folder("cases") / "two-halls-320.yaml").read_text())
    case |= {"workload": {"model": "llama3-70b", "plan": {"tensor": 8, "pipeline": 1, "batch": 2080}}}
    return solve(inputs_from_objects(case), alternatives_s=0)


def test_what_a_step_sends_out_of_a_hall_is_stated_with_the_ratio() -> None:
    """By hand: 16 servers in the smaller hall have 16 x 8 ports of 400 Gb/s; eight rings of data ranks leave it."""
    design = of_model()
    assert_proven(design)
    use = design.workload
    assert use is not None
    (data,) = (row for row in use.communicators if row.communicator == "data")
    east, west = design.hall_traffic
    assert (east.hall, east.gpus, west.hall, west.gpus) == ("EAST", 192, "WEST", 128)
    leaving = 400 * len(over_route(design))
    for row in (east, west):
        assert row.leaving_gbps == leaving
        assert row.oversubscription == pytest.approx(16 * 8 * 400 / leaving, abs=1e-6)
        assert row.sent_gb == pytest.approx(8 * data.bytes_sent / 1e9, rel=1e-6)
        assert row.time_s == pytest.approx(8 * row.sent_gb / leaving, abs=1e-6)
    assert "hall_traffic_is_counted" in {check.name for check in design.checks}


def test_a_changed_figure_of_a_hall_is_found() -> None:
    content = json.loads(of_model().model_dump_json(by_alias=True))
    content["hall_traffic"][0]["sent_gb"] *= 2
    failed = {check.name for check in verify(design_in(content, "changed")) if not check.ok}
    assert failed == {"hall_traffic_is_counted"}


def test_the_map_of_a_page_is_hall_by_hall_with_routes_by_number() -> None:
    design = shipped("two-halls-320")
    view = floor_view(design, wiring_of(design))
    assert view is not None
    assert [(hall.name, [name for name, _ in hall.rows]) for hall in view.halls] == [
        ("EAST", ["A", "B"]), ("WEST", ["A", "B"])
    ]  # fmt: skip
    exits = {cell.id: cell.exits for _, cells in view.rows for cell in cells if cell.exits}
    assert exits == {"EAST-A01": "1", "WEST-A01": "1"}
    assert view.routes == ("duct north, from above EAST-A01 to above WEST-A01, 350 m: 192 cables, 384 fibres of 1,152",)


def test_a_ratio_between_halls_needs_halls() -> None:
    content = campus(350)
    content["fabrics"][0]["max_oversubscription"] = {"hall": 2}
    content["site"] = {"servers_per_rack": 2}
    content["fabrics"][0].pop("racks")
    with pytest.raises(InputError, match="there are no halls"):
        inputs(content, parts())


def test_the_shipped_case_has_a_pod_in_each_hall_and_cores_in_both() -> None:
    """By hand: of six cores three are in each hall, with 32 links from each of two spines, so 96 from either hall."""
    design = shipped("two-halls-320")
    rows = over_route(design)
    assert len(rows) == 2 * 3 * 32
    assert {row["kind"] for row in rows} == {"spine-core"}
    assert {row["route"] for row in rows} == {"EAST-A01 to WEST-A01, north"}
    held = {check.name: check for check in design.checks}
    assert "384 of 1152 fibres" in held["routes_hold_fibres"].detail
    assert (
        lost_with(design, "duct") == {"north": cut_off_without(design, lambda row: bool(row["route"]))} == {"north": 16}
    )


@pytest.mark.parametrize("name", ["two-halls-320", "floor-three-tier-256"])
def test_the_loss_of_a_rack_cuts_off_no_server_elsewhere(name: str) -> None:
    """A rack with spines of a pod has not all cores of the pod's other spines."""
    design = shipped(name)
    assert [tier.role for tier in design.fabrics[0].tiers] == ["leaf", "spine", "core"]
    assert lost_with(design, "rack") == {}
    assert design.worst_rack is not None and design.worst_rack.servers_cut_off == 0


def test_the_farthest_pair_passes_the_route() -> None:
    """350 m of fibre take 1.74 us one way, in the path between two halls and in none within a pod."""
    design = shipped("two-halls-320")
    paths = {path.name: path for path in paths_of(Embedded(design), design.fabrics[0])}
    metres = {name: max(step.number for step in path.steps if step.part == "metre") for name, path in paths.items()}
    assert metres[FARTHEST] > 350 > metres[SAME_POD]
    (fibre,) = {step.ns for step in paths[FARTHEST].steps if step.part == "metre" and step.of == "fibre"}
    assert round(350 * (fibre or 0) / 1000, 2) == 1.74


@pytest.mark.long
def test_managers_and_trays_of_the_second_hall_are_counted_cable_by_cable() -> None:
    """With all spines in WEST its rack of them is the fullest of both halls, by a count of the schedule."""
    content, sold = campus(350), parts()
    for hall in content["site"]["halls"]:
        hall |= {f"{what}_{side}_mm": 150 for what in ("tray", "manager") for side in ("width", "depth")}
        hall |= {"tray_fill": 0.4, "manager_fill": 0.4}
    for part in (*sold["cables"], *sold["fibres"]):
        part |= {"diameter_mm": 5, "bend_radius_mm": 30}
    content["fabrics"][0]["racks"] = {"spine": ["WEST-A03"]}
    content["rules"] = {"rack-rules": False, "rack-spread": False, "robust-designs": False}
    design = solve(inputs(content, sold), alternatives_s=0)
    assert_proven(design)
    rows = list(csv.DictReader(StringIO(schedule(design, wiring_of(design)).to_csv(index=False))))
    ends = Counter(rack for row in rows for rack in {row["from_rack"], row["to_rack"]})
    assert ends.most_common(1)[0][0] == "WEST-A03"
    share = ends["WEST-A03"] * ceil(pi / 4 * 5**2 * 1000) / 1000 / (2 * 150 * 150)
    told = {check.name: check.detail for check in design.checks if check.ok}
    assert f"managers of WEST-A03: {share:.1%} full, of 40.0%, none is fuller" in told["managers_hold_cables"]
    assert {row["segment"][:4] for row in _sides(design)} == {"EAST", "WEST"}
    # of a narrower manager in both halls the cables of that rack are too many
    for hall in content["site"]["halls"]:
        hall["manager_fill"] = round(share / 2, 6)
    none = solve(inputs(content, sold), alternatives_s=0)
    assert none.totals is None
    assert [one.limit for one in none.conflicts] == ["site.halls[*].manager_fill"]


def _sides(design: Design) -> list[dict[str, str]]:
    """Sides of racks in the table of trays."""
    rows = csv.DictReader(StringIO(tray_table(design, wiring_of(design)).to_csv(index=False)))
    return [row for row in rows if row["kind"] == "side"]
