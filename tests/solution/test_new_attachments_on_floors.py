"""New attachments beside what is in service on a floor: their places, ports and cables, and those that stay."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples.bases import assert_a_floor_with_room_costs_as_none, assert_stays, designed, gone_on, live
from tests.samples.growth_samples import eight
from tests.samples.random_cases import Dice
from tests.solution.test_floors_beside import one_length
from tests.solution.test_floors_in_service import FLOOR, on_floor, parts, parts_of_two, two_fabrics
from tests.solution.test_live_attachments import HOST, STORE, with_attachments
from tests.solution.test_mixed_bases import capex

Json = dict[str, Any]
WIDE = {**FLOOR, "racks_per_row": 6}
NODES: Json = {**STORE, "name": "nodes", "ports": 4, "boxes": 2, "rack_units": 2, "power_w": 300}
FREE: Json = {"tier": "any", "counts_in_ratio": False}


def wide(servers: int, *attachments: Json, **fabric: Any) -> Json:
    return with_attachments(on_floor(servers, floor=WIDE, max_oversubscription=3, **fabric), *attachments)


def a_base() -> Design:
    """Six servers below two leaves in two racks, and a spine in a third one."""
    return designed(parts(), wide(6))


def places(design: Design) -> dict[str, Any]:
    return dict(design.fabrics[0].places.attachments)


def runs(design: Design) -> dict[str, set[float]]:
    """Metres of the links of every attachment."""
    of_rows = defaultdict[str, set[float]](set)
    for row in design.fabrics[0].links:
        if row.attachment is not None:
            of_rows[row.attachment].add(row.length_m)
    return dict(of_rows)


def units(design: Design) -> list[tuple[str, int]]:
    """Every unit of every rack that a device fills."""
    devices = wiring_of(design).devices
    heights = zip(devices.rack, devices.unit.tolist(), devices.height_u.tolist(), strict=True)
    return [(rack, unit + at) for rack, unit, height in heights if rack for at in range(max(1, round(height)))]


@pytest.mark.long
@pytest.mark.parametrize(
    ("new", "servers"),
    [
        (NODES, 6),
        (NODES, 9),
        (STORE, 9),
        (HOST, 6),
        ({**NODES, "stands": "with-switches"}, 9),
        ({**NODES, **FREE}, 9),
        ({**NODES, **FREE, "tier": "spine"}, 6),
    ],
)
def test_what_is_new_comes_beside_what_stays_and_stays_too(new: Json, servers: int, tmp_path: Path) -> None:
    base = a_base()
    design = gone_on(parts(), wide(servers, new), base, tmp_path)
    assert design.status == "optimal"
    assert_stays(design, base, 0)
    assert len(units(design)) == len(set(units(design)))
    again = gone_on(parts(), wide(servers, new), design, tmp_path)
    assert_stays(again, design, 1)
    assert capex(again) == 0 and live(wiring_of(again)) == live(wiring_of(design))
    # a farther one makes no cable in service longer
    further = gone_on(parts(), wide(9, new, {**NODES, "name": "far", "racks": ["B03"]}), design, tmp_path)
    assert_stays(further, design, 1)
    assert {name: own for name, own in runs(further).items() if name != "far"} == runs(design)
    assert places(further) == {**places(design), "far": (("B03", 1), ("B03", 3))}


def test_devices_come_to_racks_without_any_in_service(tmp_path: Path) -> None:
    """From the end of the floor; the way to the farthest leaf, as long as any, is that of their cables."""
    design = gone_on(parts(), wide(6, NODES), a_base(), tmp_path)
    assert places(design) == {"nodes": (("B06", 1), ("B05", 1))}
    assert runs(design) == {"nodes": {11.5}}
    content = json.loads(design.model_dump_json(by_alias=True))
    content["fabrics"][0]["placement"]["attachments"]["nodes"][0][0] = "A05"
    failed = {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}
    assert "attachments_stand_apart" in failed


def test_a_rack_with_devices_in_service_is_refused(tmp_path: Path) -> None:
    for rack in ("A01", "A03"):
        with pytest.raises(
            InputError, match=rf"attachments\[0\]\.racks: new devices stand in racks .* {rack} has some"
        ):
            gone_on(parts(), wide(6, {**NODES, "racks": [rack]}), a_base(), tmp_path)


@pytest.mark.long
def test_hosts_of_several_fabrics_share_what_is_left_of_racks(tmp_path: Path) -> None:
    """A host of either, below the switches of both, which have the same racks."""
    content = two_fabrics(on_floor(6, max_oversubscription=3))
    base = designed(parts_of_two(), content)
    hosts = [[{**HOST, "name": name, "ports": 2, "boxes": 2}] for name in ("first", "second")]
    after = two_fabrics(on_floor(9, max_oversubscription=3))
    for fabric, own in zip(after["fabrics"], hosts, strict=True):
        fabric["attachments"] = own
    design = gone_on(parts_of_two(), after, base, tmp_path)
    assert_stays(design, base, 0)
    assert len(units(design)) == len(set(units(design)))
    again = gone_on(parts_of_two(), after, design, tmp_path)
    assert_stays(again, design, 1)
    assert capex(again) == 0


@pytest.mark.long(but=("8",))
@pytest.mark.usefixtures("unadvised")
@pytest.mark.parametrize("seed", range(24))
def test_a_floor_with_room_costs_what_no_floor_does(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"attached-floor-{seed}")
    found = one_length(eight())
    found["servers"][0]["rack_units"] = 4
    ratios, tiers = [dice.one([1.5, 2, 3]) for _ in range(2)], dice.one([[1, 2], 2])
    servers = sorted(dice.number(2, 9) for _ in range(2))
    there = dice.one([[], [{**STORE, "ports": dice.number(1, 3)}], [HOST]])
    new = {**dice.one([NODES, {**STORE, "name": "second"}, {**HOST, "name": "second"}]), "ports": dice.number(1, 2) * 2}
    before = on_floor(servers[0], tiers=tiers, max_oversubscription=ratios[0])
    before = with_attachments({**before, "servers": servers[0]}, *there)
    del before["stages"]
    after = with_attachments(on_floor(servers[1], tiers=[1, 2], max_oversubscription=ratios[1]), new)
    assert_a_floor_with_room_costs_as_none(found, before, after, tmp_path)
