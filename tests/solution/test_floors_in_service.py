"""Designs that go on from what is in service on a floor: no rack unit, cable or length of it changes."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.io.case import read_inputs
from fabopt.io.library import data_folder
from fabopt.output.export.formats import Options, export
from fabopt.rules.defaults import DEFAULT_RULES
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from tests.samples import random_cases
from tests.samples.bases import assert_stays, designed, gone_on, live, saved
from tests.samples.growth_samples import eight, grown
from tests.samples.random_cases import Dice
from tests.solution import test_halls as two_halls

Json = dict[str, Any]
FLOOR: Json = {"rows": 2, "racks_per_row": 4, "rack_units": 16}


def parts() -> Json:
    """A switch of eight ports, servers of four units."""
    found = eight()
    found["servers"][0]["rack_units"] = 4
    return found


def on_floor(*sizes: int, floor: Json = FLOOR, site: Json | None = None, **fabric: Any) -> Json:
    """A case in stages on a floor, all at month 0."""
    content = grown(*sizes, fabric=fabric)
    stages = [{**stage, "month": 0} for stage in content["stages"]]
    return {**content, "stages": stages, "site": {"floor": floor, **(site or {})}}


def a_base(servers: int = 6) -> Design:
    """Leaves of three servers each in two racks, and a spine in another one."""
    return designed(parts(), on_floor(servers, max_oversubscription=3))


# -- what comes out ---------------------------------------------------------------------------------------------------


def test_growth_with_a_given_first_stage_is_the_plan_in_stages(tmp_path: Path) -> None:
    whole = on_floor(5, 8)
    planned = designed(parts(), whole)
    design = gone_on(parts(), {**whole, "stages": whole["stages"][1:]}, planned, tmp_path, "stage-1")
    assert design.status == planned.status == "optimal"
    assert [stage.capex_usd for stage in design.stages] == [0, planned.stages[1].capex_usd]
    assert_stays(design, planned, 0)


@pytest.mark.long(but=("sizes0",))
@pytest.mark.parametrize("sizes", [(3, 9), (4, 8, 12), (3, 6, 10), (2, 12)])
def test_what_goes_on_from_a_first_stage_is_no_dearer_than_its_plan(sizes: tuple[int, ...], tmp_path: Path) -> None:
    """The plan's layout, with the first stage in its racks, is among those that are looked at; some are no plan's."""
    whole = on_floor(*sizes, max_oversubscription=3)
    planned = designed(parts(), whole)
    design = gone_on(parts(), {**whole, "stages": whole["stages"][1:]}, planned, tmp_path, "stage-1")
    assert design.status == "optimal"
    assert sum(one.capex_usd for one in design.stages) <= sum(one.capex_usd for one in planned.stages[1:])
    assert_stays(design, planned, 0)


@pytest.mark.long("floor0")
@pytest.mark.parametrize("floor", [FLOOR, {**FLOOR, "rows": 3}])
def test_with_nothing_new_the_answer_is_the_base_at_no_cost(floor: Json, tmp_path: Path) -> None:
    base = a_base()
    design = gone_on(parts(), on_floor(6, floor=floor, max_oversubscription=3), base, tmp_path)
    assert design.status == "optimal" and design.totals is not None and design.totals.capex_usd == 0
    assert_stays(design, base, 0)
    assert live(wiring_of(design)) == live(wiring_of(base))


def test_what_is_new_is_in_room_that_is_left_and_alone_on_the_bill(tmp_path: Path) -> None:
    base = a_base()
    design = gone_on(parts(), on_floor(12, max_oversubscription=3), base, tmp_path)
    assert_stays(design, base, 0)
    there, now = base.fabrics[0].places, design.fabrics[0].places
    assert now.leaf[:2] == there.leaf and now.spine == there.spine and len(now.leaf) == 4
    assert base.floor is not None and design.floor is not None
    assert design.floor.server_racks[:2] == base.floor.server_racks and len(design.floor.server_racks) == 4
    bought = Counter[str]()
    for row in design.bom:
        bought[row.id] += row.quantity
    assert +bought == Counter({"eight": 2, "card": 6, "cable": 8})


def test_changes_say_what_is_new_and_where_it_goes(tmp_path: Path) -> None:
    base = a_base()
    design = gone_on(parts(), on_floor(12, max_oversubscription=3), base, tmp_path)
    (path,) = export(design, wiring_of(design), ["changes"], tmp_path, Options())
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert {row["change"] for row in rows} == {"new"}
    devices, there = wiring_of(design).devices, wiring_of(base).devices
    places = dict(zip(devices.name, zip(devices.rack, map(str, devices.unit.tolist()), strict=True), strict=True))
    new = {row["name"]: (row["rack"], row["unit"]) for row in rows if row["what"] == "device"}
    assert new == {name: place for name, place in places.items() if name not in there.name}
    assert len(new) == 8


def test_where_nothing_goes_on_the_base_is_named_and_no_price_of_moves(tmp_path: Path) -> None:
    """Three leaves of three uplinks each have no room under a spine of eight ports, nor nine under two."""
    base = designed(parts(), on_floor(5))
    design = gone_on(parts(), on_floor(8), base, tmp_path)
    assert design.status == "infeasible"
    (conflict,) = design.conflicts
    assert conflict.limit == "base" and "no device or cable of it moves;" in conflict.detail


@pytest.mark.long
@pytest.mark.parametrize("name", ["floor-two-tier-128", "floor-mi355x-64", "floor-three-tier-256"])
def test_with_nothing_new_a_shipped_case_is_its_own_base(name: str, tmp_path: Path) -> None:
    content = yaml.safe_load((data_folder("cases") / f"{name}.yaml").read_text())
    base = solved_case(content, tmp_path)
    design = solved_case({**content, "base": {"file": str(saved(base, tmp_path))}}, tmp_path)
    assert design.totals is not None and design.totals.capex_usd == 0
    assert_stays(design, base, 0)
    assert live(wiring_of(design)) == live(wiring_of(base))


def solved_case(content: Json, folder: Path) -> Design:
    """The design of a case with the shipped catalog."""
    path = folder / "case.yaml"
    path.write_text(yaml.safe_dump(content))
    return optimize.solve(read_inputs(path), alternatives_s=0)


# -- random bases -----------------------------------------------------------------------------------------------------

FAMILIES = ("linear", "rails", "planes", "three_tier")


def random_base(seed: int) -> tuple[Json, Json, Json]:
    """A catalog, a case on a floor, and one of as many servers or more on the same floor."""
    dice = Dice(f"floor-{seed}")
    catalog, before = random_cases.generate(FAMILIES[seed % len(FAMILIES)], seed)
    before = {key: value for key, value in before.items() if key not in ("catalog", "finance")}
    before |= {"objective": "capex_usd", "include_servers": False}
    catalog["servers"][0]["rack_units"] = dice.one([4, 8])
    before["fabrics"][0].pop("group_by", None)
    per_rack, servers, more = dice.number(1, 3), before["servers"], 0
    more = dice.one([0, 1, 2, 4])
    racks = -(-(servers + more) // per_rack) + dice.number(1, 3)
    rows = dice.one([1, 1, 2, racks])
    floor = {
        "rows": rows, "racks_per_row": -(-racks // rows), "rack_units": dice.one([24, 28, 42]),
        "rack_pitch_m": dice.one([0.6, 1.2, 4]),
    }  # fmt: skip
    if dice.chance(0.2):
        floor["network_racks"] = dice.one(["middle", "end"])
    if dice.chance(0.3):
        floor["rack_power_w"] = dice.one([4000, 6000])
    before["site"] = {"servers_per_rack": per_rack, "floor": floor}
    return catalog, before, {**before, "servers": servers + more}


# those of the first 60 seeds that have a base and go on from it
@pytest.mark.long(but=("24", "18"))
@pytest.mark.parametrize("seed", [0, 2, 6, 9, 16, 18, 22, 23, 24, 34, 36, 39])
def test_no_live_place_cable_or_length_changes(seed: int, tmp_path: Path) -> None:
    catalog, before, after = random_base(seed)
    base = designed(catalog, before)
    design = gone_on(catalog, after, base, tmp_path)
    assert design.status == "optimal"
    assert_stays(design, base, 0)
    if after["servers"] == before["servers"]:
        assert design.totals is not None and design.totals.capex_usd == 0
        assert live(wiring_of(design)) == live(wiring_of(base))


# -- several fabrics --------------------------------------------------------------------------------------------------


def two_fabrics(content: Json, **keys: Any) -> Json:
    """A case with its fabric twice: for computing and for storage."""
    (fabric,) = content["fabrics"]
    storage = {**fabric, "name": "storage", "role": "storage", "homing": "single", **keys}
    return {**content, "fabrics": [fabric, storage]}


def parts_of_two() -> Json:
    found = parts()
    found["servers"][0]["nic_slots"] = 2
    return found


def test_several_fabrics_keep_their_places_and_new_switches_are_below_all_of_them(tmp_path: Path) -> None:
    """Leaves and a spine of either in racks of servers and in others: three, then six servers more."""
    base = designed(parts_of_two(), two_fabrics(on_floor(6, max_oversubscription=3)))
    same, more = (
        gone_on(parts_of_two(), two_fabrics(on_floor(servers, max_oversubscription=3)), base, tmp_path)
        for servers in (6, 9)
    )
    for design in (same, more):
        assert_stays(design, base, 0)
    assert same.totals is not None and same.totals.capex_usd == 0
    assert live(wiring_of(same)) == live(wiring_of(base))
    lowest: dict[str, int] = {}
    for there in base.fabrics:
        for rack, unit in (*there.places.leaf, *there.places.spine):
            lowest[rack] = min(unit, lowest.get(rack, unit))
    for now, there in zip(more.fabrics, base.fabrics, strict=True):
        assert now.places.leaf[:2] == there.places.leaf and now.places.spine == there.places.spine
        ((rack, unit),) = now.places.leaf[2:]
        assert unit < lowest.get(rack, 99)
    # of each fabric a leaf, three cards, and a cable for each of them and to the spine
    bought = Counter({"eight": 0})
    for row in more.bom:
        bought[row.id] += row.quantity
    assert +bought == Counter({"eight": 2, "card": 6, "cable": 8})


def test_a_new_switch_in_the_units_of_another_fabric_is_refused(tmp_path: Path) -> None:
    base = designed(parts_of_two(), two_fabrics(on_floor(6, max_oversubscription=3)))
    design = gone_on(parts_of_two(), two_fabrics(on_floor(9, max_oversubscription=3)), base, tmp_path)
    content = design.model_dump(mode="json", by_alias=True)
    assert failed(content) == set()
    compute, storage = content["fabrics"]
    compute["placement"]["leaf"][2] = storage["placement"]["spine"][0]
    assert "boxes_fit_racks" in failed(content)


# those of the first 30 seeds that have a base
@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 2, 3, 6, 16, 18, 20, 23, 28])
def test_no_live_place_of_several_fabrics_changes(seed: int, tmp_path: Path) -> None:
    catalog, before, after = random_base(seed)
    catalog["servers"][0]["nic_slots"] = 4
    both = [two_fabrics(one, max_oversubscription=4) for one in (before, after)]
    base = designed(catalog, both[0])
    same, more = (gone_on(catalog, one, base, tmp_path) for one in both)
    for design in (same, more):
        assert design.status == "optimal"
        assert_stays(design, base, 0)
    assert same.totals is not None and same.totals.capex_usd == 0
    assert live(wiring_of(same)) == live(wiring_of(base))


# -- what check refuses -----------------------------------------------------------------------------------------------


def failed(content: Json) -> set[str]:
    """Names of the checks that a file fails."""
    return {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}


def test_a_file_that_moves_a_live_switch_is_refused(tmp_path: Path) -> None:
    design = gone_on(parts(), on_floor(12, max_oversubscription=3), a_base(), tmp_path)
    content = design.model_dump(mode="json", by_alias=True)
    assert failed(content) == set()
    rack, unit = content["fabrics"][0]["placement"]["spine"][0]
    content["fabrics"][0]["placement"]["spine"][0] = [rack, unit - 2]
    assert "base_stays" in failed(content)


def test_a_file_that_swaps_a_live_length_is_refused(tmp_path: Path) -> None:
    design = gone_on(parts(), on_floor(12, max_oversubscription=3), a_base(), tmp_path)
    content = design.model_dump(mode="json", by_alias=True)
    rows = [row for row in content["fabrics"][0]["links"] if (row["from"], row["to"]) == ("server", "leaf")]
    short = [part for row in rows for part in row["parts"] if part["length_m"] == 3]
    assert short
    for part in short:
        part["length_m"] = 30
    assert "base_stays" in failed(content)


# -- what is refused --------------------------------------------------------------------------------------------------


def refused(content: Json, folder: Path) -> dict[str, str]:
    """Problems by key."""
    with pytest.raises(InputError) as told:
        gone_on(parts(), content, a_base(), folder)
    return {fault.path: fault.problem for fault in told.value.faults}


@pytest.mark.parametrize(
    ("floor", "site", "key", "problem"),
    [
        ({**FLOOR, "rows": 1}, {}, "site.floor.rows", "a smaller floor than that of base.json"),
        ({**FLOOR, "blocked": ["A02"]}, {}, "site.floor.blocked", "the rack A02 has devices in service in base.json"),
        ({**FLOOR, "rack_units": 20}, {}, "site.floor.rack_units", "is otherwise in base.json"),
        (FLOOR, {"servers_per_rack": 2}, "site.servers_per_rack", "other racks of servers than in base.json"),
        (FLOOR, {"rack_rules": {"pdu_units": 2}}, "site.rack_rules", "racks have other rules than in base.json"),
        ({**FLOOR, "cross_trays": [4]}, {}, "site.floor.cross_trays", "is otherwise in base.json"),
        ({**FLOOR, "server_racks": ["B04", "B03"]}, {}, "site.floor.server_racks", "begins otherwise than with"),
    ],
)
def test_another_floor_is_refused(floor: Json, site: Json, key: str, problem: str, tmp_path: Path) -> None:
    told = refused(on_floor(6, floor=floor, site=site, max_oversubscription=3), tmp_path)
    assert key in told and problem in told[key].replace(f"{tmp_path}/", "")


def test_a_base_on_a_floor_needs_one(tmp_path: Path) -> None:
    content = on_floor(6, max_oversubscription=3)
    assert "here is none" in refused({**content, "site": {}}, tmp_path)["site.floor"]


def test_a_base_without_a_floor_has_no_places_on_one(tmp_path: Path) -> None:
    flat = designed(parts(), {**on_floor(6, max_oversubscription=3), "site": {}})
    with pytest.raises(InputError, match="designed without a floor"):
        gone_on(parts(), on_floor(6, max_oversubscription=3), flat, tmp_path)


def test_live_cables_that_would_lie_otherwise_are_named(tmp_path: Path) -> None:
    """Rows of more racks, at whose ends trays cross: what ran over the old end would run over the new one."""
    near = {**FLOOR, "server_racks": ["B04", "B03"], "network_racks": ["A04", "A03"]}
    base = designed(parts(), on_floor(6, floor=near, max_oversubscription=3))
    larger = {**near, "racks_per_row": 20, "server_racks": ["B04", "B03", "B05", "B06"]}
    with pytest.raises(InputError, match=r"the live cable of .* would run"):
        gone_on(parts(), on_floor(12, floor=larger, max_oversubscription=3), base, tmp_path)


def test_lengths_of_other_products_change_nothing_and_shorter_ones_of_its_own_are_named(tmp_path: Path) -> None:
    """Live cables of 30 m, between racks, where 10 m would do: of another product, then of their own."""
    base, content = a_base(), on_floor(6, max_oversubscription=3)
    others = parts()
    others["cables"].append({**others["cables"][0], "id": "dear", "lengths": [{"m": 10, "price_usd": 900}]})
    assert_stays(gone_on(others, content, base, tmp_path), base, 0)
    shorter = parts()
    shorter["cables"][0]["lengths"].insert(1, {"m": 10, "price_usd": 15})
    with pytest.raises(InputError, match=r"catalog\.cable\.lengths: live cables of 30 m run .* found 10"):
        gone_on(shorter, content, base, tmp_path)


# -- several halls ----------------------------------------------------------------------------------------------------


def in_halls(servers: int, m: float = 350) -> Json:
    """Servers in racks of EAST, then of WEST, all spines in EAST."""
    content = two_halls.campus(m) | {"servers": servers}
    content["fabrics"][0] |= {"groups": "equal"}
    return content


def test_a_base_in_one_hall_grows_into_another(tmp_path: Path) -> None:
    base = designed(two_halls.parts(), in_halls(6))
    design = gone_on(two_halls.parts(), in_halls(10), base, tmp_path)
    assert_stays(design, base, 0)
    assert design.floor is not None
    assert {rack[:4] for rack in design.floor.server_racks} == {"EAST", "WEST"}
    with pytest.raises(InputError, match=r"the hall WEST of .* is in service, and is not here"):
        one_hall = in_halls(6)
        one_hall["site"] |= {"halls": one_hall["site"]["halls"][:1], "routes": []}
        gone_on(two_halls.parts(), one_hall, base, tmp_path)


def test_a_base_keeps_its_cables_in_both_ducts(tmp_path: Path) -> None:
    """Routes that list no racks have those of the base, whose cables were dealt over two ducts."""
    content = in_halls(10)
    ends = {"between": ["EAST", "WEST"]}
    content["site"]["routes"] = [
        {**ends, "m": 350, "duct": "north"},
        {**ends, "m": 380, "duct": "south", "exits": ["A04", "A03"]},
    ]
    content["rules"] = dict.fromkeys(DEFAULT_RULES.keys() - {"two-ducts"}, False)
    base = designed(two_halls.parts(), content)
    assert [len(route.pairs) for route in Embedded(base).case.site.routes] == [0, 1]
    assert_stays(gone_on(two_halls.parts(), content, base, tmp_path), base, 0)


def test_a_shorter_route_is_not_the_one_that_live_cables_lie_in(tmp_path: Path) -> None:
    base = designed(two_halls.parts(), in_halls(10))
    assert_stays(gone_on(two_halls.parts(), in_halls(10), base, tmp_path), base, 0)
    with pytest.raises(InputError, match=r"the live cable of .* would run"):
        gone_on(two_halls.parts(), in_halls(10, 300), base, tmp_path)


def test_racks_that_a_tier_may_have_are_those_where_it_stands(tmp_path: Path) -> None:
    base = designed(two_halls.parts(), in_halls(6))
    moved = in_halls(6)
    moved["fabrics"][0]["racks"] = {"spine": ["WEST-A03"]}
    with pytest.raises(InputError, match="switches of the tier stand in EAST-A04"):
        gone_on(two_halls.parts(), moved, base, tmp_path)
