"""Two halls of 60 and 40 % of the servers: links over the route, parts by reach, and money, by hand."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
import pytest

from fabopt.output.export.cables import schedule
from fabopt.output.export.elevation import elevation_of
from fabopt.output.export.trays import tray_table
from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
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
    none = over_duct(7)
    assert none.status != "optimal" and none.totals is None
    conflict = next(one for one in none.conflicts if one.limit == "site.routes[0].fibres")
    assert (conflict.value, conflict.needed) == (7, 8)


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
