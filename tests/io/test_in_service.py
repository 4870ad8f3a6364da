"""What keeps a design from being the base of a case: each is refused where it is written, with what to do."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import Fault, InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.in_service import IN_SERVICE
from fabopt.solution import optimize
from tests.samples.bases import designed, saved
from tests.samples.growth_samples import eight, grown

Json = dict[str, Any]
BEFORE = grown(5, 8)
AFTER: Json = {key: value for key, value in BEFORE.items() if key != "stages"} | {"servers": 8}
FLOOR = {"rows": 1, "racks_per_row": 4, "rack_power_w": 40000}


def refused(folder: Path, changes: Json, file: str = "base.json", parts: Json | None = None) -> list[Fault]:
    """What is told of a case with these keys, where one of 5 and 8 servers is in service."""
    saved(designed(eight(), BEFORE), folder)
    content = {**AFTER, "base": {"file": str(folder / file)}, **changes}
    with pytest.raises(InputError) as refusal:
        inputs_from_objects({key: value for key, value in content.items() if value is not None}, parts or eight())
    return list(refusal.value.faults)


def told(faults: list[Fault]) -> dict[str, str]:
    return {one.path: str(one) for one in faults}


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"servers": 7}, "servers", "allowed: 8 servers or more"),
        ({"servers": None, "gpus": 7}, "gpus", "fewer than are in service"),
        ({"servers": None, "stages": [{"name": IN_SERVICE, "servers": 8}]}, "stages[0].name", "name it otherwise"),
        (
            {"fabrics": [{**AFTER["fabrics"][0], "protocol": "infiniband"}]},
            "fabrics[0].protocol",
            "allowed: ethernet or any",
        ),
        ({"growth": {"recabling": "allow"}}, "growth.recabling", "does not go with `base`"),
        ({"fabrics": [{**AFTER["fabrics"][0], "name": "other"}]}, "fabrics.other", "allowed: compute"),
        ({"fabrics": [*AFTER["fabrics"], {**AFTER["fabrics"][0], "name": "two"}]}, "fabrics.two", "no such fabric"),
    ],
)
def test_a_case_that_its_base_does_not_go_with(changes: Json, key: str, words: str, tmp_path: Path) -> None:
    faults = told(refused(tmp_path, changes))
    assert words in faults[key]


@pytest.mark.parametrize(
    ("keys", "key", "message"),
    [
        (
            {"topologies": ["torus"]},
            "fabrics[0].topologies[0]",
            "does not support going on from what is in service, which `base` asks for; found 'torus'; "
            "allowed: clos or rail-only",
        ),
        (
            {"attachments": [{"name": "store", "ports": 1, "tier": "any", "buys": "none"}]},
            "fabrics[0].attachments[0].tier",
            "attachments on free ports that count in the ratio are designed for one stage, and new ones come after "
            "what is in service (`base`); found 'any'; say `tier: leaf` or `counts_in_ratio: false`",
        ),
    ],
)
def test_messages_speak_of_the_base_and_not_of_stages(keys: Json, key: str, message: str, tmp_path: Path) -> None:
    fabric = {one: value for one, value in AFTER["fabrics"][0].items() if one != "tiers"}
    (found,) = refused(tmp_path, {"fabrics": [{**fabric, **keys}]})
    assert str(found) == f"case: {key}: {message}"


def test_other_servers_are_named(tmp_path: Path) -> None:
    parts = eight()
    parts["servers"] = [*parts["servers"], {**parts["servers"][0], "id": "another"}]
    (fault,) = refused(tmp_path, {"server": "another"}, parts=parts)
    assert (fault.path, fault.value, fault.allowed) == ("server", "another", parts["servers"][0]["id"])


def test_all_is_told_at_once(tmp_path: Path) -> None:
    assert {"servers", "fabrics.other", "growth.recabling"} <= set(
        told(
            refused(
                tmp_path,
                {
                    "servers": 3,
                    "growth": {"recabling": "allow"},
                    "fabrics": [{**AFTER["fabrics"][0], "name": "other"}],
                },
            )
        )
    )


def test_a_stage_that_the_design_has_not(tmp_path: Path) -> None:
    (fault,) = refused(tmp_path, {}, "base.json@day-9")
    assert (fault.path, fault.value, fault.allowed) == ("base.file", "day-9", "stage-1, stage-2")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (fault,) = refused(tmp_path, {}, "nowhere.json")
    assert "nowhere.json" in str(fault)


@pytest.mark.parametrize("key", ["base", "joins"])
@pytest.mark.parametrize(
    ("file", "text", "advice"),
    [
        ("study.json", '{"case": {}, "points": []}', "solve its case with what the point says, `fabopt solve CASE"),
        ("plan.txt", "{plan: 1, devices: []}", "taken where its file's name ends in .yaml"),
        ("case.json", '{"name": "live", "server": "x"}', "`fabopt solve CASE --json design.json` makes a design of it"),
    ],
)
def test_a_file_of_another_kind_is_told_with_what_is_taken(
    key: str, file: str, text: str, advice: str, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(InputError) as refusal:
        inputs_from_objects({**AFTER, key: {"file": str(tmp_path / file)}}, eight())
    (told_of_it,) = refusal.value.faults
    assert advice in told_of_it.hint and "--point" not in told_of_it.hint


def test_without_lengths_those_of_the_base_hold(tmp_path: Path) -> None:
    site = {key: value for key, value in AFTER["site"].items() if key != "distances_m"}
    given = inputs_from_objects(
        {**AFTER, "site": site, "base": {"file": str(saved(designed(eight(), BEFORE), tmp_path))}}, eight()
    )
    assert given.case.site.distances_m is not None


def without_lengths(content: Json) -> Json:
    return {**content, "site": {"servers_per_rack": 1}, "rules": {**content["rules"], "lengths": True}}


def test_runs_follow_from_the_grown_groups_as_long_as_cables_in_service_reach(tmp_path: Path) -> None:
    """Cables of 3, 30 and 50 m are on sale: 12 servers in a rack each run less than 30 m to a spine, 200 do not."""
    base = saved(designed(eight(), without_lengths(BEFORE)), tmp_path)
    content = without_lengths({**AFTER, "base": {"file": str(base)}})
    given = inputs_from_objects(content, eight())
    said = given.case.site.distances_m
    assert said is not None and said.leaf_spine is not None and 3 < said.leaf_spine <= 30
    assert optimize.solve(given, alternatives_s=0).status == "optimal"
    with pytest.raises(InputError) as refusal:
        inputs_from_objects({**content, "servers": 2000}, eight())
    assert "site.distances_m.leaf-spine" in told(list(refusal.value.faults))


def test_runs_that_do_not_go_with_those_in_service_are_told_with_both(tmp_path: Path) -> None:
    """Uplinks in service run 30 m on cables of 30 m: none of 40 m are there, and 3 m take others."""
    base = saved(designed(eight(), BEFORE), tmp_path)
    there = designed(eight(), BEFORE).fabrics[0].links
    (run_m,) = {row.length_m for row in there if row.to == "spine"}

    def with_uplinks(metres: float) -> Json:
        runs_m = {**AFTER["site"]["distances_m"], "leaf-spine": metres}
        return {**AFTER, "base": {"file": str(base)}, "site": {**AFTER["site"], "distances_m": runs_m}}

    with pytest.raises(InputError) as refusal:
        inputs_from_objects(with_uplinks(40), eight())
    (fault,) = refusal.value.faults
    assert fault.path == "site.distances_m.leaf-spine"
    assert "would run up to 40 m as the case says" in fault.problem and f"run {run_m:g} m on cables" in fault.problem
    design = optimize.solve(inputs_from_objects(with_uplinks(2), eight()), alternatives_s=0)
    assert design.status == "infeasible"
    said = f"leaf-spine links of compute run 2 m by `site.distances_m`, and those in service {run_m:g} m"
    assert any(said in conflict.detail for conflict in design.conflicts)


def test_a_base_that_fails_a_check_is_refused(tmp_path: Path) -> None:
    path = saved(designed(eight(), BEFORE), tmp_path)
    content = json.loads(path.read_text())
    content["totals"]["power_w"] += 1
    path.write_text(json.dumps(content))
    given = inputs_from_objects({**AFTER, "base": {"file": str(path)}}, eight())
    with pytest.raises(InputError, match="fails its check"):
        optimize.solve(given, alternatives_s=0)


@pytest.mark.parametrize("key", ["base", "joins"])
def test_what_is_filled_in_is_that_of_the_files(key: str, tmp_path: Path) -> None:
    """Of what fabopt fills in a case may say what the files do; else it is refused by its key, and no file is read."""
    saved(designed(eight(), BEFORE), tmp_path)

    def of(**said: Any) -> dict[str, str]:
        try:
            live = {"file": str(tmp_path / "base.json"), **said}
            inputs_from_objects({**AFTER, key: live}, eight())
        except InputError as refusal:
            return told(list(refusal.faults))
        return {}

    right = sha256((tmp_path / "base.json").read_bytes()).hexdigest()
    assert [of(sha256=right), of(sha256=None)] == [of(), of()]
    for name, value in {"sha256": "abc", "found_sha256": right, "found_cables": "A", "plan": {}}.items():
        (words,) = of(**{name: value}).values()
        assert f"{key}.{name}: is filled in from the files, which say otherwise" in words
    assert f"allowed: {right}" in of(sha256="abc")[f"{key}.sha256"]
    for name in ("design", "plan"):
        said = {"design": designed(eight(), BEFORE).model_dump(mode="json", by_alias=True), name: {}}
        assert f"this is no {name}; leave it out" in of(**said)[f"{key}.{name}"]
