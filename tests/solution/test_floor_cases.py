"""Shipped cases with a floor: no rack takes more than the case's limits, and each says which limits it lifts."""

from __future__ import annotations

from itertools import groupby

import pytest
import yaml

from fabopt.floor.loads import base_m2
from fabopt.io.library import data_folder, names
from fabopt.output.export.formats import Exported, Options
from fabopt.output.export.halls import hall_of
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import NOTHING
from tests.samples.shipped import shipped

FILES = {name: (data_folder("cases") / f"{name}.yaml").read_text() for name in names("cases")}
ON_FLOORS = [name for name, text in FILES.items() if (yaml.safe_load(text).get("site") or {}).get("floor")]
LIMITS = ("rack_power_w", "rack_air_w", "rack_kg", "floor_kg_m2")
LIFTED = "# No limit on: "


def lifted(name: str) -> list[str]:
    said = [line.removeprefix(LIFTED) for line in FILES[name].splitlines() if line.startswith(LIFTED)]
    return [key for line in said for key in line.rstrip(".").split(", ")]


def test_there_are_ten_with_every_family_that_may_have_a_floor() -> None:
    """Of the families a Clos alone may have a floor; which tiers a case has, `test_cases` holds."""
    assert len(ON_FLOORS) >= 10
    cases = [yaml.safe_load(FILES[name]) for name in ON_FLOORS]
    fabrics = [fabric for case in cases for fabric in case["fabrics"]]
    assert any(fabric.get("topologies") == ["rail-only"] for fabric in fabrics)
    assert {1, 2, 3} <= {fabric["tiers"] for fabric in fabrics if isinstance(fabric.get("tiers"), int)}
    assert {"storage", "in-band", "oob"} <= {fabric.get("role") for fabric in fabrics}
    assert any(case.get("stages") for case in cases)


@pytest.mark.long(
    "floor-four-fabrics-32",
    "floor-gb300-144",
    "floor-growth-128",
    "floor-mi355x-64",
    "floor-rail-only-64",
    "floor-trunks-256",
)
@pytest.mark.parametrize("name", ON_FLOORS)
def test_no_rack_is_over_a_limit_and_what_is_lifted_is_said(name: str) -> None:
    """Watts at makers' maximum, heat to air, kilograms and kilograms a square metre of every rack, device by device."""
    hall = hall_of(Exported(design := shipped(name), wiring_of(design), Options()))
    given = [key for key in LIMITS if getattr(hall.floor, key) is not None]
    assert sorted([*given, *lifted(name)]) == sorted(LIMITS)
    in_racks = sorted((device for device in hall.devices if device.rack), key=lambda device: device.rack)
    for rack, group in groupby(in_racks, key=lambda device: device.rack):
        devices = list(group)
        kg = sum(device.kg or 0.0 for device in devices)
        found = {
            "rack_power_w": sum(device.most_w for device in devices),
            "rack_air_w": sum(device.most_air_w for device in devices),
            "rack_kg": kg,
            "floor_kg_m2": kg / float(base_m2(hall.floor)),
        }
        over = {key: (rack, found[key]) for key in given if found[key] > getattr(hall.floor, key) + 1e-6}
        assert over == {}


def test_what_blows_the_other_way_stands_apart_in_a_shipped_case() -> None:
    design = shipped("floor-b300-xdr-64")
    placed = design.fabrics[0].places
    assert design.floor is not None
    assert not {rack for rack, _ in (*placed.leaf, *placed.spine)} & set(design.floor.server_racks)


@pytest.mark.parametrize(("name", "splitters"), [("hall-1024-gpus", 152), ("floor-four-fabrics-32", 2)])
def test_splitters_end_in_one_rack_each(name: str, splitters: int) -> None:
    """Cables with several devices at one end, by the racks of these."""
    wiring = wiring_of(shipped(name))
    ends: dict[int, tuple[set[int], set[int]]] = {}
    links = wiring.links
    for cable, a, b in zip(links.cable.tolist(), links.a.tolist(), links.b.tolist(), strict=True):
        if cable == NOTHING:
            continue
        near, far = ends.setdefault(cable, (set(), set()))
        near.add(a)
        far.add(b)
    split = [side for sides in ends.values() for side in sides if len(side) > 1]
    assert len(split) == splitters
    assert all(len({wiring.devices.rack[device] for device in side}) == 1 for side in split)
