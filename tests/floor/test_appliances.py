"""Boxes of attachments on a floor: their racks, what they leave to others, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabopt.cli import main
from fabopt.errors import InputError
from fabopt.floor.appliances import ApplianceRacks
from fabopt.floor.racks import height_m
from fabopt.output.export.elevation import elevation_of
from fabopt.output.html.racks import floor_view
from fabopt.output.terminal.answer import totals_line
from fabopt.output.terminal.floor import floor_lines
from fabopt.schema.case import Case
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design, LinkRow
from fabopt.verify import verify, verify_wiring
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS
from tests.samples.export_samples import exported
from tests.samples.random_cases import generate
from tests.samples.small import (
    Json,
    assert_proven,
    case as small_case,
    catalog,
    inputs,
    product,
    solved as small_solved,
)

# Ten racks of 12 units; servers take 4 of them, two a rack.
FLOOR: Json = {"rows": 2, "racks_per_row": 5, "rack_units": 12}
PORT: Json = {"form_factor": "QSFP112", "split": "1x400"}
# Where they stand is said: rule ``appliance-racks`` is about others.
STORES: Json = {
    "name": "stores", "ports": 6, "boxes": 3, "rack_units": 5, "power_w": 900, "buys": "none", "stands": "apart",
}  # fmt: skip
ANYWHERE: Json = {"name": "stores", "ports": 2, "boxes": 2, "buys": "both"} | PORT
AT_FLAT_DISTANCES: Json = {"attachment-runs": False, "rack-rules": False}
DOORS: Json = {
    "name": "doors", "ports": 2, "boxes": 2, "rack_units": 1.5, "power_w": 300, "buys": "none", "stands": "apart",
}  # fmt: skip


def parts() -> Json:
    content = catalog()
    product(content, "gpu-4")["rack_units"] = 4
    return content


def case(*attachments: Json, floor: Json | None = None, **changes: Any) -> Json:
    site = {"floor": {**FLOOR, **(floor or {})}, "servers_per_rack": 2, "distances_m": {"attachment-leaf": 30}}
    return small_case({"attachments": list(attachments)}, servers=4, site=site, **changes)


def places(content: Json) -> dict[str, tuple[tuple[str, int], ...]]:
    read = Case.model_validate_json(json.dumps(content))
    assert read.site.floor is not None
    racks = ApplianceRacks(read, read.site.floor)
    assert not any(map(racks.missing, racks.appliances))
    return {name: found for (_, name), found in racks.places.items()}


def solved(content: Json) -> Design:
    return small_solved(content, parts())


# -- where they stand -------------------------------------------------------------------------------------------------


def test_boxes_fill_racks_from_the_end_of_the_floor() -> None:
    # two of 5 units in a rack of 12, then there is room for one of 2; the third stands in the rack before
    assert places(case(STORES, DOORS)) == {
        "stores": (("B05", 1), ("B05", 6), ("B04", 1)),
        "doors": (("B05", 11), ("B04", 6)),
    }


TOGETHER: Json = {"rack-spread": False}


def test_power_fills_a_rack_too() -> None:
    # 900 W each, 1,500 W a rack: one; 900 + 2 x 300 = 1,500
    assert places(case(STORES, DOORS, floor={"rack_power_w": 1500}, rules=TOGETHER)) == {
        "stores": (("B05", 1), ("B04", 1), ("B03", 1)),
        "doors": (("B05", 6), ("B05", 8)),
    }


def test_no_rack_has_more_than_half_of_them() -> None:
    small = STORES | {"boxes": 5, "ports": 5, "rack_units": 2}
    together = case(small, rules=TOGETHER)
    assert places(case(small))["stores"] == (
        ("B05", 1), ("B05", 3), ("B05", 5), ("B04", 1), ("B04", 3),
    )  # fmt: skip
    assert places(together)["stores"] == tuple(("B05", 1 + 2 * index) for index in range(5))
    apart = case(small)
    apart["site"]["rack_rules"] = {"spread_attachments": False}
    assert places(apart) == places(together)
    # one rack is all that is theirs
    assert places(case(small | {"racks": ["A01"]}))["stores"] == tuple(("A01", 1 + 2 * index) for index in range(5))


@pytest.mark.long
def test_rack_that_is_missing_is_named_with_the_key() -> None:
    # three racks: two for four servers, and one for all doors, which the rule has in two
    content = case(DOORS, floor={"rows": 1, "racks_per_row": 3}, rules={"rack-rules": False})
    design = solved(content)
    assert design.status == "infeasible"
    key = next(one for one in design.conflicts if one.limit == "site.rack_rules.spread_attachments")
    assert "rule `rack-spread`" in key.detail and "2 racks" in key.detail and key.needed == "false"
    design = solved(case(DOORS, floor=content["site"]["floor"], rules={"rack-rules": False, "rack-spread": False}))
    assert_proven(design)
    assert {rack for rack, _ in design.fabrics[0].places.attachments["doors"]} == {"A03"}


def test_listed_racks_come_in_their_order() -> None:
    assert places(case(STORES | {"racks": ["A02", "B05"]}, DOORS)) == {
        "stores": (("A02", 1), ("A02", 6), ("B05", 1)),
        "doors": (("B04", 1), ("B03", 1)),
    }


PAIR: Json = DOORS | {"ports": 4, "racks": ["B04", "B05"]}


def test_a_pair_is_in_two_of_the_racks_that_it_names() -> None:
    """One firewall in each; where the rule is off, or one rack has no room, as before: one rack after the other."""
    apart = {"doors": (("B04", 1), ("B05", 1))}
    together = {"doors": (("B04", 1), ("B04", 3))}
    assert places(case(PAIR)) == apart
    assert places(case(PAIR, rules={"rack-spread": False})) == together
    kept = case(PAIR)
    kept["site"]["rack_rules"] = {"spread_attachments": False}
    assert places(kept) == together
    full = {"name": "full", "ports": 1, "boxes": 1, "rack_units": 12, "racks": ["B05"], "buys": "none"}
    assert places(case(full, PAIR))["doors"] == together["doors"]


def test_no_rack_and_no_leaf_takes_a_pair_of_doors() -> None:
    """Each firewall has ports on two leaves, and is in a rack of its own; in one rack they are a single point."""
    content = case(PAIR)
    content["fabrics"][0]["tiers"] = 2
    lost = []
    for rules in ({}, {"rack-spread": False}):
        design = solved({**content, "rules": rules})
        assert_proven(design)
        lost.append({point.device for point in design.single_points_of_failure or () if point.loses == "doors"})
    assert lost == [set(), {"rack"}]


def test_racks_of_others_are_passed_over() -> None:
    floor = {"blocked": ["B05"], "reserved": ["B04"], "network_racks": ["B03"]}
    assert {rack for found in places(case(STORES, floor=floor)).values() for rack, _ in found} == {"B02", "B01"}


def test_without_a_height_they_have_no_place() -> None:
    flat = {key: value for key, value in STORES.items() if key not in ("rack_units", "power_w")}
    assert places(case(flat)) == {}


# -- what they leave to others ----------------------------------------------------------------------------------------


def test_design_is_that_of_a_floor_with_these_racks_reserved() -> None:
    design = solved(case(STORES, DOORS, rules=AT_FLAT_DISTANCES))
    assert_proven(design)
    flat = [{key: one[key] for key in ("name", "ports", "boxes", "buys")} for one in (STORES, DOORS)]
    other = solved(case(*flat, floor={"reserved": ["B04", "B05"]}, rules=AT_FLAT_DISTANCES))
    one, two = design.fabrics[0], other.fabrics[0]
    assert one.placement is not None and two.placement is not None
    assert one.placement.model_copy(update={"attachments": {}}) == two.placement
    assert (one.tiers, one.links, design.floor) == (two.tiers, two.links, other.floor)
    assert design.objective.value == other.objective.value


def test_totals_count_racks_and_units() -> None:
    design = solved(case(STORES, DOORS))
    assert design.totals is not None and design.fabrics[0].placement is not None
    # 4 servers of 4, 3 stores of 5, 2 doors of 1.5, and the switches
    assert design.totals.cluster_rack_units == 16 + 15 + 3 + design.totals.rack_units
    stands = design.fabrics[0].placement
    switches = {rack for rack, _ in (*stands.leaf, *stands.spine)}
    assert design.totals.racks == len(switches | {"A01", "A02", "B04", "B05"})
    assert f"in {design.totals.racks} racks" in totals_line(design)


def test_too_few_racks_for_servers_are_proven() -> None:
    # five racks: stores take B... two of them, four servers two; one fewer and a server has none
    content = case(STORES, DOORS, floor={"rows": 1, "racks_per_row": 3})
    design = solved(content)
    assert design.status == "infeasible"
    told = [(one.limit, one.value, one.needed) for one in design.conflicts]
    assert told == [("site.floor", 1, 2), ("site.floor.racks_per_row", 3, 4)]
    assert "nor for attachments (A02, A03)" in design.conflicts[0].detail


def test_runs_past_the_flat_distance_are_told() -> None:
    bought = STORES | {"boxes": 2, "ports": 2, "buys": "both"} | PORT
    near, far = case(bought, rules=AT_FLAT_DISTANCES), case(bought, rules=AT_FLAT_DISTANCES)
    near["site"]["distances_m"] = {"attachment-leaf": 1}
    notes = [note for note in solved(near).notes if "attachment-leaf" in note]
    assert len(notes) == 1 and notes[0].startswith("compute stores: its cables are planned for 1 m")
    assert "from B05 to" in notes[0]
    assert not any("attachment-leaf" in note for note in solved(far).notes)


def attached_rows(design: Design) -> list[LinkRow]:
    return [row for row in design.fabrics[0].links if row.attachment is not None]


def farthest_m(design: Design, name: str) -> float:
    """From any device of an attachment to any leaf, along the trays."""
    evidence, placement = Embedded(design), design.fabrics[0].places
    units = {one.name: one.rack_units or 0 for one in evidence.wanted["compute"].attachments}[name]
    leaf = evidence.part(design.fabrics[0].tiers[0].id, Switch).rack_units or 0
    return max(
        float(evidence.plan.run_m(
            evidence.plan.rack_index(near), height_m(low, units), evidence.plan.rack_index(far), height_m(high, leaf)
        ))
        for near, low in placement.attachments[name]
        for far, high in placement.leaf
    )  # fmt: skip


def test_runs_that_nothing_measures_are_told() -> None:
    """Devices without a height are in no rack; where nothing is bought for them there is nothing to measure."""
    near: Json = {"name": "doors", "ports": 2, "gbps": 400, "buys": "near"}
    short = case(near)
    short["site"]["distances_m"] = {"attachment-leaf": 4}
    assert [note for note in solved(short).notes if "nothing measures" in note] == [
        "compute doors: nothing measures its cables of 4 m (`site.distances_m.attachment-leaf`), as its devices are "
        "in no rack: across the floor it is 11.5 m"
    ]
    for other in (near | {"buys": "none"}, near | {"rack_units": 1}):
        assert not any("nothing measures" in note for note in solved(case(other)).notes)


@pytest.mark.long(but=("where0-3",))
@pytest.mark.parametrize(("where", "usual_m"), [({}, 3), ({"tier": "spine"}, 30)])
def test_cables_of_devices_in_no_rack_reach_across_the_floor(where: Json, usual_m: float) -> None:
    """They may be in any rack, so none is shorter or longer than the farthest way; with the rule off as is usual."""
    content = case(ANYWHERE | where)
    content["site"].pop("distances_m")
    design = solved(content)
    assert_proven(design)
    (row,) = attached_rows(design)
    racks = [f"{name}{at:02d}" for name in "AB" for at in range(1, 6)]
    plan = Embedded(design).plan
    far_m = max(
        float(plan.run_m(plan.rack_index(near), height_m(1, 0), plan.rack_index(far), height_m(1, 0)))
        for near in racks
        for far in racks
    )
    assert far_m <= row.length_m < far_m + 0.1
    told = f"{row.length_m:g} m reach across the floor, as nothing says in which racks their devices are"
    assert any("doors" not in note and told in note for note in design.notes)
    free = solved(content | {"rules": AT_FLAT_DISTANCES})
    assert [one.length_m for one in attached_rows(free)] == [usual_m]


def test_what_reaches_across_no_floor_is_no_design() -> None:
    content = case(ANYWHERE, floor={"aisle_m": 100})
    content["site"].pop("distances_m")
    content["fabrics"][0]["tiers"] = 1
    design = solved(content)
    run = design.conflicts[0]
    assert (design.status, run.limit, run.needed) == ("infeasible", "site.distances_m.attachment-leaf", 50)
    assert isinstance(run.value, float) and run.value > 100
    assert "compute: attachment stores to leaf" in run.detail
    content["site"]["distances_m"] = {"attachment-leaf": run.needed}
    assert_proven(solved(content))


def test_cables_reach_the_racks_of_attachments() -> None:
    # six ports are more than there are leaves, so every leaf has one; the flat distance plays no part
    bought = STORES | {"boxes": 2, "buys": "both"} | PORT
    content = case(bought)
    content["site"]["distances_m"] = {"attachment-leaf": 1}
    design = solved(content)
    assert_proven(design)
    assert not any("attachment-leaf" in note for note in design.notes)
    (row,) = attached_rows(design)
    reach_m = farthest_m(design, "stores")
    assert reach_m <= row.length_m < reach_m + 0.1
    assert all(reach_m <= (part.length_m or 0) for part in row.parts if part.end is None)


def test_cables_that_end_before_the_rack_are_refused() -> None:
    bought = STORES | {"boxes": 2, "buys": "both"} | PORT
    design = solved(case(bought))
    wiring = wiring_of(design)
    attached = wiring.cables.kind == KINDS.index("attachment-leaf")
    shorter = replace(wiring.cables, length_m=np.where(attached, 1.0, wiring.cables.length_m))
    failed = {check.name for check in verify_wiring(design, replace(wiring, cables=shorter)) if not check.ok}
    assert "wires_cover_runs" in failed


@pytest.mark.long
def test_what_no_cable_reaches_is_told() -> None:
    # the devices are across an aisle of 100 m, and no fibre is longer than 50 m, whatever the spines above their leaves
    bought = STORES | {"boxes": 2, "ports": 2, "buys": "both"} | PORT
    content = case(bought, floor={"aisle_m": 100})
    content["fabrics"][0]["tiers"] = 1
    design = solved(content)
    told = next(one for one in design.conflicts if one.limit == "rules.attachment-runs")
    assert (design.status, told.needed) == ("infeasible", "false")
    assert "compute: attachment stores to leaf" in told.detail and "and the longest part is" in told.detail
    assert_proven(solved(content | {"rules": {"attachment-runs": False}}))


# -- files ------------------------------------------------------------------------------------------------------------


def test_exports_have_the_boxes(tmp_path: Path) -> None:
    design = solved(case(STORES, DOORS))
    wiring = wiring_of(design)
    racks = {rack.id: rack for row in elevation_of(design, wiring).rows for rack in row.racks}
    assert [(device.unit, device.name, device.power_w) for device in racks["B05"].devices] == [
        (11, "compute-doors-01", 300),
        (6, "compute-stores-02", 900),
        (1, "compute-stores-01", 900),
    ]
    view = floor_view(design, wiring)
    assert view is not None and dict(view.uses)["attachments"] == 2
    assert ", 2 of attachments;" in floor_lines(design)[0]
    files = exported(design, tmp_path, "netbox")
    devices = files["06-devices.csv"].read_text()
    assert "compute-stores-03,Attachment,generic,stores,planned,small,B04,1,front" in devices
    assert "generic,stores,generic-stores,,5,true" in files["05-device-types.csv"].read_text()


def test_every_box_has_its_ports() -> None:
    # six ports on three boxes, two each: port 1 and 2 of every one
    wiring = wiring_of(solved(case(STORES)))
    found: dict[str, list[int]] = {}
    for a, port in zip(wiring.links.a.tolist(), wiring.links.a_nic_port.tolist(), strict=True):
        if wiring.devices.role[a] == "attachment":
            found.setdefault(wiring.devices.name[a], []).append(port)
    assert {name: sorted(ports) for name, ports in found.items()} == {
        "compute-stores-01": [1, 2],
        "compute-stores-02": [1, 2],
        "compute-stores-03": [1, 2],
    }


# -- the proof --------------------------------------------------------------------------------------------------------


def moved(content: Json, places: list[list[Any]]) -> None:
    content["fabrics"][0]["placement"]["attachments"]["stores"] = places


def on_servers(content: Json) -> None:
    content["floor"]["server_racks"][0] = "B05"


def one_rack_less(content: Json) -> None:
    content["totals"]["racks"] -= 1


def one_unit_more(content: Json) -> None:
    content["totals"]["cluster_rack_units"] += 1


@pytest.mark.long("<lambda>-attachments_stand_apart0")
@pytest.mark.long("<lambda>-attachments_stand_apart2")
@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda content: moved(content, [["B05", 1], ["B05", 6], ["B03", 1]]), "attachments_stand_apart"),
        (lambda content: moved(content, [["B05", 1], ["B05", 7], ["B04", 1]]), "attachments_stand_apart"),
        (lambda content: moved(content, [["B05", 1], ["B05", 6]]), "attachments_stand_apart"),
        (lambda content: moved(content, [["B05", 1], ["B05", 1], ["B04", 1]]), "boxes_fit_racks"),
        (on_servers, "attachments_stand_apart"),
        (one_rack_less, "totals_add_up"),
        (one_unit_more, "totals_add_up"),
    ],
)
def test_what_is_broken_is_found(change: Callable[[Json], None], check: str) -> None:
    content = solved(case(STORES, DOORS)).model_dump(mode="json", by_alias=True)
    change(content)
    assert check in {one.name for one in verify(Design.model_validate_json(json.dumps(content))) if not one.ok}


# -- what is refused --------------------------------------------------------------------------------------------------

ONE = "case: fabrics[0].attachments[0]"


@pytest.mark.parametrize(
    ("attachment", "floor", "message"),
    [
        (
            STORES | {"ports": 4},
            {},
            f"{ONE}: devices with `rack_units` are alike and fill their cages: 4 ports are not a multiple of 3 devices",
        ),
        (
            STORES | {"boxes": 2, "split": "2x400"},
            {},
            f"{ONE}: devices with `rack_units` are alike and fill their cages: 6 ports are not a multiple of "
            "2 ports of a cage x 2 devices",
        ),
        ({"name": "a", "ports": 1, "power_w": 3, "buys": "none"}, {}, "`power_w` goes with `rack_units`, the height"),
        (
            STORES | {"rack_units": 13},
            {},
            f"{ONE}.rack_units: no device of stores fits a rack of 12 units; found 13; allowed: at most 12",
        ),
        (
            STORES | {"power_w": None},
            {"rack_power_w": 9000},
            f"{ONE}.power_w: missing, and a rack has 9,000 W; give it one, or leave out `site.floor.rack_power_w`",
        ),
        (
            STORES,
            {"rack_power_w": 800},
            f"{ONE}.power_w: no device of stores fits a rack: it has 800 W; found 900; allowed: at most 800",
        ),
        (
            STORES | {"racks": ["C01", "B02"]},
            {"blocked": ["B02"]},
            f"{ONE}.racks[0]: the floor has no such rack; found 'C01'; allowed: rows A to B, racks 01 to 05, as in "
            "B05; did you mean `B01`?",
        ),
        (
            STORES | {"racks": ["B02"]},
            {"blocked": ["B02"]},
            f"{ONE}.racks[0]: this rack is listed as blocked too; found 'B02'",
        ),
        (
            STORES | {"racks": ["B02"]},
            {},
            f"{ONE}.boxes: no room for 3 devices of 5 units in 1 rack of 12 units, with what else is there: 1 without "
            "a place; found 3; allowed: 2; name more racks",
        ),
    ],
)
def test_what_does_not_fit_is_refused(attachment: Json, floor: Json, message: str) -> None:
    with pytest.raises(InputError) as refused:
        inputs(case(attachment, floor=floor), parts())
    assert message in str(refused.value)


def test_racks_need_a_floor() -> None:
    content = small_case({"attachments": [STORES | {"racks": ["A01"]}]})
    with pytest.raises(InputError) as refused:
        inputs(content, parts())
    assert str(refused.value) == f"{ONE}.racks: there is no floor with racks; found ['A01']; add `site.floor`"


def test_command_ends_in_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "case.json"
    content = {"name": "a", "server": "generic-hgx-h100", "servers": 1}
    attachment = {"name": "boxes", "ports": 3, "boxes": 2, "rack_units": 1, "buys": "none"}
    path.write_text(json.dumps(content | {"fabrics": [{"name": "compute", "attachments": [attachment]}]}))
    assert main(["solve", str(path)]) == 2
    assert "3 ports are not a multiple of 2 devices" in capsys.readouterr().err


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(30))
def test_boxes_apart_change_nothing_but_the_wiring(seed: int) -> None:
    """Whatever joins them: as one box or as several, the design is the same, and every rule of the wiring holds."""
    parts, content = generate("attached", seed)
    for one in content["fabrics"][0]["attachments"]:
        lanes = int(one["split"].partition("x")[0]) if "split" in one else 1
        one["boxes"] = 2
        one["ports"] = 2 * lanes * -(-one["ports"] // (2 * lanes))
    together = small_solved(content, parts)
    for one in content["fabrics"][0]["attachments"]:
        one["rack_units"] = 1
    apart = small_solved(content, parts)
    assert apart.status == together.status
    if apart.status == "optimal":
        assert_proven(apart)
        assert apart.bom == together.bom
