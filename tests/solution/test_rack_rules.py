"""Rule ``rack-rules`` from the case to the elevation: what is kept, what is given up, what is refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.schema.rack_rules import RackRules
from fabopt.solution.optimize import solve
from fabopt.verify import verify
from tests.samples.export_samples import exported
from tests.samples.small import Json, assert_proven, case as small_case, catalog, inputs, product

# Servers of 4 units: two a rack of 12, with 4 units above them, or 3 below a management switch.
FLOOR: Json = {"rows": 1, "racks_per_row": 6, "rack_units": 12, "slack_m": 0.2}


def parts() -> Json:
    content = catalog()
    product(content, "gpu-4")["rack_units"] = 4
    return content


def rack_case(rack_rules: Json | None = None, rules: Any = None, **changes: Any) -> Json:
    site = {"floor": FLOOR, "servers_per_rack": 2, "rack_rules": rack_rules or {}}
    changes = {"servers": 4, "site": site, **changes}
    return small_case(rules={} if rules is None else rules, **changes)


def solved(content: Json) -> Design:
    return _solved(json.dumps(content))


@cache
def _solved(content: str) -> Design:
    """Solved once for all tests that look at the same design."""
    return solve(inputs(json.loads(content), parts()), alternatives_s=0)


def switches_by_rack(design: Design) -> dict[str, int]:
    places = design.fabrics[0].places
    racks = [rack for rack, _ in (*places.leaf, *places.spine, *places.core)]
    return {rack: racks.count(rack) for rack in racks}


def test_racks_keep_what_is_asked_for(tmp_path: Path) -> None:
    """Below two units of patch panels and one of management, a switch is in unit 9 at the highest, with its manager
    below it.
    """
    design = solved(rack_case({"patch_panel_units": 2, "manager_units_per_switch": 1, "switches": 1}))
    assert_proven(design)
    assert set(switches_by_rack(design).values()) == {1}
    assert max(unit for _, unit in design.fabrics[0].places.leaf) == 9
    assert any(note.startswith("rule `rack-rules`: racks of a floor keep room") for note in design.notes)
    text = exported(design, tmp_path, "racks")["racks.txt"].read_text().splitlines()
    told = [line.split(maxsplit=1) for line in text]
    for line in (["U11-12", "patch panel"], ["U10", "management switch"], ["U8", "cable manager"]):
        assert line in told


@pytest.mark.long
def test_too_few_places_for_any_design_are_counted() -> None:
    """Two racks of one switch each are too few for a leaf and two spines: told from the fewest switches of any design,
    before tens of thousands of sizes are held against the racks.
    """
    site = {"servers_per_rack": 4, "rack_rules": {"switches": 1}, "floor": {"rows": 1, "racks_per_row": 2}}
    fabric = {"name": "compute", "protocol": "infiniband", "tiers": 2}
    content = {
        "name": "two-racks", "catalog": ["reference"], "server": "nvidia-dgx-h100", "servers": 8, "site": site,
        "fabrics": [fabric], "rules": {"rack-rules": True},
    }  # fmt: skip
    design = solve(inputs_from_objects(content, None), alternatives_s=0)
    assert design.status == "infeasible" and (design.objective.candidates or 0) < 5_000
    limits = [conflict.limit for conflict in design.conflicts]
    assert limits == ["site.rack_rules.switches", "site.floor.racks_per_row"]


def test_what_is_not_kept_fails_the_check() -> None:
    """The same places under stricter rules, one at a time."""
    design = solved(rack_case())
    assert "racks_keep_rules" in {check.name for check in design.checks}
    most = max(switches_by_rack(design).values())
    stricter: list[Json] = [{"management_units": 3}, {"manager_units_per_switch": 4}, {"cable_ends": 1}]
    for rules in [*stricter, *([{"switches": most - 1}] if most > 1 else [])]:
        site = {**design.case.content["site"], "rack_rules": {**RackRules().model_dump(), **rules}}
        record = design.case.model_copy(update={"content": {**design.case.content, "site": site}})
        failed = {check.name for check in verify(design.model_copy(update={"case": record})) if not check.ok}
        assert "racks_keep_rules" in failed, rules


@pytest.mark.long("rules1")
@pytest.mark.parametrize("rules", [{"spare_m": 9}, {"spare_fraction": 1}, {"side_m": 9}])
def test_cables_have_to_spare(rules: Json) -> None:
    """Longer cables are bought where more is asked for, and the cables of the design without it are too short."""
    design = solved(rack_case())
    site = {**design.case.content["site"], "rack_rules": {**RackRules().model_dump(), **rules}}
    record = design.case.model_copy(update={"content": {**design.case.content, "site": site}})
    failed = {check.name for check in verify(design.model_copy(update={"case": record})) if not check.ok}
    assert "wires_cover_runs" in failed
    assert_proven(solved(rack_case(rules)))


def test_the_larger_power_counts() -> None:
    """Two switches of 1 kW typically and 2 kW at most, modules with it, do not share a rack of 3 kW of one feed."""
    content = parts()
    for switch in content["switches"]:
        switch |= {"power_w": 1000, "power_max_w": 2000}
    for module in content["transceivers"]:
        module["power_w"] = 0
    floor = {**FLOOR, "rack_power_w": 3000}
    product(content, "gpu-4")["power_w"] = 100
    case = rack_case(site={"floor": floor, "servers_per_rack": 2})
    kept = solve(inputs(case, content), alternatives_s=0)
    assert_proven(kept)
    assert set(switches_by_rack(kept).values()) == {1}
    typical = solve(
        inputs({**case, "site": {**case["site"], "rack_rules": {"power": "typical"}}}, content), alternatives_s=0
    )
    assert max(switches_by_rack(typical).values()) == 2
    used = {check.name: check.detail for check in kept.checks}["racks_keep_rules"]
    assert "up to 2280 W in a rack, typically 1280 W" in used


def test_off_is_the_space_without() -> None:
    off = solved(rack_case(rules={"rack-rules": False, "rack-spread": False}))
    free = solved(rack_case(rules="none"))
    assert off.fabrics == free.fabrics and off.bom == free.bom
    assert not {"racks_keep_rules", "devices_are_spread"} & {check.name for check in off.checks}


def test_units_that_no_design_keeps_are_named_by_their_key() -> None:
    """Two racks are full of three servers each to the top, so nothing can be kept above them."""
    floor = {**FLOOR, "racks_per_row": 3}
    site = {"floor": floor, "servers_per_rack": 3}
    design = solved(rack_case(servers=6, site=site, rules={"rack-spread": False}))
    assert design.status == "infeasible" and design.rules_left_out == ()
    (key,) = design.conflicts
    assert (key.limit, key.needed) == ("site.rack_rules.management_units", 0) and "rule `rack-rules`" in key.detail
    site["rack_rules"] = {"management_units": 0}
    assert_proven(solved(rack_case(servers=6, site=site, rules={"rack-spread": False})))


@pytest.mark.long("rules1-keys1")
@pytest.mark.parametrize(
    ("rules", "keys"),
    [
        ({"management_units": 5}, ["site.rack_rules", "site.floor.rack_units", "management_units"]),
        (
            {"manager_units_per_switch": 10, "pdu_units": 1},
            ["site.rack_rules.manager_units_per_switch", "site.floor.rack_units"],
        ),
    ],
)
def test_rules_that_no_rack_meets_are_refused_where_they_are_asked_for(rules: Json, keys: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        inputs(rack_case(rules, {"rack-rules": True}), parts())
    assert all(key in str(refused.value) for key in keys)
    design = solved(rack_case(rules))
    assert design.status == "infeasible"
    assert {key.limit for key in design.conflicts} & {f"site.rack_rules.{key}" for key in rules}


@pytest.mark.long
def test_a_rule_that_is_asked_for_is_named_where_it_stands_in_the_way() -> None:
    """No switch has a single port."""

    def with_ends(ends: int) -> Design:
        return solved(rack_case({"cable_ends": ends}, {"rack-rules": True}, fabrics=[fabric]))

    fabric = rack_case()["fabrics"][0] | {"tiers": 1}
    design = with_ends(1)
    assert design.status == "infeasible"
    (conflict,) = design.conflicts
    assert (conflict.limit, conflict.direction, conflict.minimal) == ("site.rack_rules.cable_ends", "up", True)
    assert isinstance(conflict.needed, int) and "`rules.rack-rules` asks for it" in conflict.detail
    assert_proven(with_ends(conflict.needed))
    assert with_ends(conflict.needed - 1).status == "infeasible"


# Racks that fail


def racks_of(design: Design, role: str) -> set[str]:
    return {rack for rack, _ in getattr(design.fabrics[0].places, role)}


@pytest.mark.long(but=("4",))
@pytest.mark.parametrize("racks", [4, 9])
def test_no_rack_has_all_of_what_stands_in_for_each_other(racks: int) -> None:
    """On a small floor, and in layouts: without the rule one rack has everything."""
    site = {"floor": {**FLOOR, "racks_per_row": racks}, "servers_per_rack": 1}
    fabric = {"tiers": 2, "max_oversubscription": 1}
    content = small_case(fabric, servers=4, site=site, rules={"rack-rules": False})
    spread, free = solved(content), solved({**content, "rules": "none"})
    assert_proven(spread)
    assert "devices_are_spread" in {check.name for check in spread.checks}
    assert free.objective.value is not None and spread.objective.value is not None
    assert free.objective.value <= spread.objective.value
    assert len(racks_of(spread, "leaf")) > 1
    assert len(spread.fabrics[0].places.spine) == 1 or len(racks_of(spread, "spine")) > 1
    record = free.case.model_copy(update={"content": {**free.case.content, "rules": {"rack-rules": False}}})
    if len(racks_of(free, "leaf")) == 1:
        failed = {check.name for check in verify(free.model_copy(update={"case": record})) if not check.ok}
        assert "devices_are_spread" in failed


@pytest.mark.long
def test_a_floor_that_is_too_small_for_the_spread_names_rule_racks_and_key() -> None:
    """One rack for servers and switches."""
    site = {"floor": {**FLOOR, "rows": 1, "racks_per_row": 1, "rack_units": 24}, "servers_per_rack": 4}
    content = small_case({"tiers": 2, "resilience": "default"}, servers=4, site=site, rules={})
    design = solved(content)
    assert design.status == "infeasible"
    keys = {key.limit: key for key in design.conflicts}
    key = keys["site.rack_rules.spread_spines"]
    assert key.detail.startswith("rule `rack-spread`: the spines of a pod and all cores are in 2 racks at least")
    assert (key.value, key.needed) == ("true", "false")
    site["rack_rules"] = {"spread_spines": False}
    design = solved(content)
    assert_proven(design)
    assert any(note.startswith("rule `rack-rules`: racks") for note in design.notes)


@pytest.mark.long
def test_switches_that_the_case_puts_in_one_rack_are_not_spread() -> None:
    """Racks that a case names are the shape that it asks for: the part is left out, and listed."""
    site = {"floor": {**FLOOR, "racks_per_row": 4}, "servers_per_rack": 1}
    fabric = {"tiers": 2, "max_oversubscription": 1, "racks": {"spine": ["A02"]}, "resilience": "default"}
    design = solved(small_case(fabric, servers=4, site=site, rules={"rack-rules": False}))
    assert_proven(design)
    assert [(row.part, row.fabric) for row in design.rules_left_out] == [("site.rack_rules.spread_spines", None)]
    assert "left_out_spread_is_broken" in {check.name for check in design.checks}
    assert len(racks_of(design, "spine")) == 1 < len(racks_of(design, "leaf"))


def test_keys_without_a_floor_are_told() -> None:
    said = {"rack_rules": {"switches": 4, "airflow": "port-side-exhaust"}}
    notes = [note for note in solve(inputs(small_case(site=said)), alternatives_s=0).notes if "rack_rules`" in note]
    assert len(notes) == 1 and "without a floor switches has no effect" in notes[0].replace("`", "")
    assert not any("rack_rules`" in note for note in solve(inputs(small_case()), alternatives_s=0).notes)
