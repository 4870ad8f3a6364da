"""Rack-scale systems: servers that are sold, installed and powered in whole racks."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabopt.errors import InputError
from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.floor.test_placement import on_floor, parts, solved
from tests.samples.small import Json, assert_proven, inputs, product, solved_file

# Three servers among other devices: in units 2, 3 and 6 of a frame of 10.
DEVICES: list[Json] = [
    {"device": "power shelf", "rack_units": 1}, {"device": "server", "count": 2},
    {"device": "switch tray", "count": 2, "rack_units": 1}, {"device": "server"},
]  # fmt: skip
RACK_W, RACK_USD = 13000, 310000


def rack_parts(devices: list[Json] | None = None, frame: int = 10, height: float = 1) -> Json:
    """The small catalog with its servers in whole racks of three."""
    content = parts(height)
    rack = {"rack_units": frame, "devices": DEVICES if devices is None else devices}
    product(content, "gpu-4").update(rack=rack, power_w=RACK_W, price_usd=RACK_USD)
    return content


def flat(servers: int, **changes: object) -> Design:
    content = on_floor({}, {"tiers": "any"}, servers=servers, **changes)
    del content["site"]
    return solve(inputs(content, rack_parts()), alternatives_s=0)


def test_whole_racks_are_bought_and_powered() -> None:
    """Seven servers are in three racks; eight and nine cost the same but for their network."""
    for servers in (7, 9):
        design = flat(servers, include_servers=True)
        assert_proven(design)
        row = next(row for row in design.bom if row.kind == "server")
        assert (row.quantity, row.total_usd) == (3, 3 * RACK_USD)
        assert design.totals is not None
        assert design.totals.cluster_power_w == design.totals.power_w + 3 * RACK_W
    alone = "7 x gpu-4 are in 3 whole racks of 3: 2 more come with them, and are not joined"
    assert (alone in flat(7).notes, any("come with them" in note for note in flat(9).notes)) == (True, False)


def test_stages_buy_whole_racks() -> None:
    """Two, then four, then six servers: one rack, another, none."""
    stages = [{"name": f"s{index}", "month": 6 * index, "servers": 2 + 2 * index} for index in range(3)]
    content = on_floor({}, {"tiers": "any"}, stages=stages, include_servers=True)
    del content["site"]
    design = solve(inputs(content, rack_parts()), alternatives_s=0)
    assert_proven(design)
    assert [row.quantity for row in design.bom if row.kind == "server"] == [1, 1]


def test_servers_are_where_the_rack_has_them() -> None:
    """Frames of 10 units: nothing else below unit 11, servers in units 2, 3 and 6, a rack's power once."""
    floor = {"rows": 1, "racks_per_row": 6, "rack_units": 14, "rack_power_w": RACK_W + 2000}
    design = solved(on_floor(floor, {"rails": "any"}, servers=6), rack_parts())
    assert_proven(design)
    assert design.floor is not None and design.floor.servers_per_rack == 3
    devices = wiring_of(design).devices
    units = {role: set[int]() for role in ("server", "leaf", "spine")}
    for role, rack, unit in zip(devices.role, devices.rack, devices.unit.tolist(), strict=True):
        if rack in design.floor.server_racks:
            units[role].add(unit)
    assert units["server"] == {2, 3, 6} and all(unit > 10 for unit in units["leaf"] | units["spine"])
    assert design.totals is not None and design.totals.cluster_rack_units == 2 * 10 + design.totals.rack_units


def test_racks_without_room_and_racks_without_power_are_told() -> None:
    """As a limit that a whole rack does not meet."""
    for floor, key in (({"rack_units": 9}, "rack_units"), ({"rack_power_w": RACK_W - 1}, "rack_power_w")):
        content = on_floor({"rows": 1, "racks_per_row": 6, **floor}, servers=6)
        with pytest.raises(InputError, match=rf"site\.floor\.{key}: no whole rack of gpu-4 fits a rack"):
            inputs(content, rack_parts())


@pytest.mark.long(but=("1",))
@pytest.mark.parametrize("racks", [1, 2, 3])
def test_groups_are_whole_racks(racks: int) -> None:
    """As with servers that are sold one by one, so many of them in a group."""
    fabric: Json = {"group_by": {"racks": racks}, "rails": "any", "tiers": "any"}
    content = on_floor({}, fabric, servers=9)
    del content["site"]
    design = solve(inputs(content, rack_parts()), alternatives_s=0)
    assert_proven(design)
    structure = design.fabrics[0].structure
    assert structure.servers_per_group == 3 * racks and not any("cut racks" in note for note in design.notes)
    alone = {**content, "site": {"servers_per_rack": 3 * racks}, "fabrics": [
        {**content["fabrics"][0], "group_by": "rack"}]}  # fmt: skip
    other = solve(inputs(alone, parts()), alternatives_s=0)
    assert design.totals is not None and other.totals is not None
    assert design.totals.capex_usd == other.totals.capex_usd


def test_a_group_that_cuts_racks_is_said() -> None:
    fabric: Json = {"tiers": 2, "switches": {"leaf": ["small"]}, "nics_per_server": 4, "min_gbps_per_gpu": 400}
    content = on_floor({}, fabric, servers=8)
    del content["site"]
    design = solve(inputs(content, rack_parts()), alternatives_s=0)
    size = design.fabrics[0].structure.servers_per_group
    said = f"compute: groups of {size} servers cut racks of 3; `group_by` keeps them whole"
    assert (said in design.notes) == (size % 3 != 0) and size % 3


@pytest.mark.parametrize(("changes", "told"), [
    ({"devices": [{"device": "shelf", "rack_units": 1}]}, "so it holds no server"),
    ({"devices": [{"device": "server", "rack_units": 1}]}, "the height of `server` is the server's own"),
    ({"devices": [{"device": "server"}, {"device": "shelf"}]}, "every other device has one"),
    ({"devices": [{"device": "server", "count": 11}]}, "the devices of `rack` fill 11 units of 10"),
    ({"height": 2.67}, "is a whole number; give it one"),
])  # fmt: skip
def test_a_rack_that_cannot_be_is_refused(changes: Json, told: str) -> None:
    content = on_floor({}, servers=3)
    del content["site"]
    with pytest.raises(InputError, match=told):
        inputs(content, rack_parts(**changes))


def test_another_number_of_servers_in_a_whole_rack_is_refused() -> None:
    content = on_floor({}, servers=6, site={"servers_per_rack": 2})
    del content["site"]["floor"]
    with pytest.raises(InputError, match=r"site\.servers_per_rack: gpu-4 is sold in whole racks of 3; found 2; "):
        inputs(content, rack_parts())


@pytest.mark.long
@pytest.mark.parametrize("server", ["nvidia-gb200-nvl72-tray", "nvidia-gb300-nvl72-tray"])
def test_nvl72_on_a_floor(server: str, tmp_path: Path) -> None:
    """Four racks and two of switches: groups of one rack, and none of it in the frames."""
    path = tmp_path / "nvl72.yaml"
    path.write_text(
        f"name: nvl72\nserver: {server}\nservers: 72\nfabrics:\n  - {{name: compute, group_by: rack}}\n"
        "site: {floor: {rows: 1, racks_per_row: 8, rack_power_w: 150000}}\n"
    )
    design = solved_file(path)
    assert_proven(design)
    assert design.floor is not None and len(design.floor.server_racks) == 4
    assert design.fabrics[0].structure.servers_per_group == 18
    assert not {rack for rack, _ in design.fabrics[0].places.leaf} & set(design.floor.server_racks)


def test_no_rack_has_all_leaves_of_another_one() -> None:
    """Frames without a unit above them: the two leaves of each rack are in two others, without the rule in one."""
    content = on_floor(
        {"rows": 1, "racks_per_row": 8, "rack_units": 10},
        {"group_by": "rack", "tiers": 2, "max_oversubscription": 2},
        servers=6,
        rules={"rack-rules": False},
    )
    spread, free = (
        solved({**content, "rules": {"rack-rules": False, "rack-spread": kept}}, rack_parts()) for kept in (True, False)
    )
    assert_proven(spread)
    per_group = [
        [[rack for rack, _ in design.fabrics[0].places.leaf[at : at + 2]] for at in (0, 2)] for design in (spread, free)
    ]
    assert [len(set(racks)) for racks in per_group[0]] == [2, 2]
    assert 1 in [len(set(racks)) for racks in per_group[1]]
    record = free.case.model_copy(update={"content": {**free.case.content, "rules": {"rack-rules": False}}})
    failed = [check.name for check in verify(free.model_copy(update={"case": record})) if not check.ok]
    assert failed == ["content_matches_hash", "devices_are_spread"]
