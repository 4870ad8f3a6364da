"""Airflow: switches that are known to blow the other way are not picked."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

from fabopt.cli import main
from fabopt.output.export.orders import code_of
from fabopt.verify import verify
from tests.oracles.brute_force import solve
from tests.samples.adapter import run
from tests.samples.random_cases import generate
from tests.samples.small import assert_proven, solved
from tests.solution.test_brute_force import cage, case, catalog, switch

Json = dict[str, Any]
CHECK = "airflows_agree"
INTAKE, EXHAUST = "port-side-intake", "port-side-exhaust"


def blowing(switches: Json, directions: dict[str, list[str]]) -> Json:
    """The catalog with the directions that switches are sold in."""
    parts = copy.deepcopy(switches)
    for one in parts["switches"]:
        if one["id"] in directions:
            one["airflows"] = dict.fromkeys(directions[one["id"]])
    return parts


def wanting(content: Json, airflow: str | None, **keys: Any) -> Json:
    site = content.get("site", {})
    return content | {"site": site | {"rack_rules": {"airflow": airflow}}} | keys


PARTS = catalog(switches=[switch("cheap", cage(8, "1x100"), usd=900), switch("dear", cage(8, "1x100"))])
ONE_WAY = blowing(PARTS, {"cheap": [EXHAUST], "dear": [INTAKE]})
CASE = case(4, {"tiers": 1})


@pytest.mark.parametrize(
    ("parts", "airflow", "keys", "picked"),
    [
        (ONE_WAY, None, {}, "cheap"),
        (ONE_WAY, EXHAUST, {}, "cheap"),
        (ONE_WAY, INTAKE, {}, "dear"),
        (ONE_WAY, INTAKE, {"rules": {"rack-rules": False}}, "cheap"),
        (blowing(PARTS, {"cheap": [EXHAUST, INTAKE], "dear": [INTAKE]}), INTAKE, {}, "cheap"),
        (blowing(PARTS, {"dear": [INTAKE]}), INTAKE, {}, "cheap"),
    ],
)
def test_what_blows_the_other_way_is_not_picked(parts: Json, airflow: str, keys: Json, picked: str) -> None:
    made = solved(wanting(CASE, airflow, **keys), parts)
    assert_proven(made)
    assert made.fabrics[0].tiers[0].id == picked
    assert (CHECK in {check.name for check in made.checks}) == (airflow is not None and not keys)
    is_unknown = airflow is not None and not next(one for one in parts["switches"] if one["id"] == picked).get(
        "airflows"
    )
    assert any("ask for port-side-intake" in note for note in made.notes) == is_unknown


def test_a_switch_of_the_other_way_is_found() -> None:
    made = solved(wanting(CASE, INTAKE), ONE_WAY)
    parts = copy.deepcopy(made.parts)
    parts["dear"]["airflows"] = {EXHAUST: None}
    assert CHECK in {check.name for check in verify(made.model_copy(update={"parts": parts})) if not check.ok}


def test_switches_that_blow_against_each_other_are_told() -> None:
    spines = blowing(
        catalog(switches=[switch("leaf", cage(4, "1x100")), switch("spine", cage(6, "1x100"))]),
        {"leaf": [EXHAUST], "spine": [INTAKE]},
    )
    tiers = {"tiers": 2, "switches": {"leaf": ["leaf"], "spine": ["spine"]}}
    assert any("no one airflow goes for all switches" in note for note in solved(case(4, tiers), spines).notes)


def test_where_nothing_is_sold_so_the_key_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = solved(wanting(CASE, INTAKE), blowing(PARTS, {"cheap": [EXHAUST], "dear": [EXHAUST]}))
    assert made.status == "infeasible"
    told = " ".join(f"{one.limit} {one.detail}" for one in made.conflicts)
    assert f"site.rack_rules.airflow: {INTAKE}" in told and "cheap" in told
    path = tmp_path / "case.yaml"
    path.write_text("name: a\nserver: nvidia-dgx-h200\nservers: 2\nfabrics: [{name: compute}]\n"
                    "site: {rack_rules: {airflow: sideways}}\n")  # fmt: skip
    assert main(["solve", str(path)]) == 2
    assert EXHAUST in capsys.readouterr().err


def test_what_nvidia_calls_it_is_understood() -> None:
    made = solved(wanting(CASE, "C2P"), ONE_WAY)
    assert made.fabrics[0].tiers[0].id == "dear"


@pytest.mark.long(but=("linear-400", "three_tier-402"))
@pytest.mark.parametrize("seed", range(400, 406))
@pytest.mark.parametrize("family", ["linear", "three_tier"])
def test_brute_force_of_what_is_left_agrees(family: str, seed: int) -> None:
    parts, wanted = generate(family, seed)
    wanted["objective"] = "capex_usd"
    dice = random.Random(seed)
    ways = [[], [INTAKE], [EXHAUST], [INTAKE, EXHAUST]]
    directions = {one["id"]: dice.choice(ways) for one in parts["switches"]}
    left = copy.deepcopy(parts)
    left["switches"] = [
        one for one in parts["switches"] if INTAKE in directions[one["id"]] or not directions[one["id"]]
    ]
    best = solve(left, copy.deepcopy(wanted)) if left["switches"] else None
    content = run(blowing(parts, directions), wanting(wanted, INTAKE))
    assert [check for check in content["checks"] if not check["ok"]] == []
    cents = None if content["status"] == "infeasible" else round(content["totals"]["capex_usd"] * 100)
    assert cents == (None if best is None else best.capex_cents)


@pytest.mark.parametrize(
    ("side", "rules", "sold", "number"),
    [
        ("rear", {}, {EXHAUST: "A-R", INTAKE: "A-F"}, "A-R"),
        ("front", {}, {EXHAUST: "A-R", INTAKE: "A-F"}, "A-F"),
        ("front", {"airflow": False}, {EXHAUST: "A-R", INTAKE: "A-F"}, "A-R"),
        (None, {}, {EXHAUST: "A-R", INTAKE: "A-F"}, "A-R"),
        ("rear", {}, {INTAKE: "A-F"}, "A-F"),
        ("rear", {}, {}, "A-R"),
    ],
)
def test_part_numbers_follow_the_side_of_the_servers_ports(
    side: str | None, rules: Json, sold: dict[str, str], number: str
) -> None:
    """Ports at the rear: switches blow out at theirs. What is sold one way only keeps its own."""
    parts = copy.deepcopy(PARTS)
    for one in parts["switches"]:
        one |= {"part_number": "A-F" if list(sold) == [INTAKE] else "A-R", "airflows": sold}
    for server in parts["servers"]:
        server |= {} if side is None else {"ports_side": side}
    made = solved(CASE | {"rules": rules}, parts)
    assert_proven(made)
    assert {row.part_number for row in made.bom if row.kind == "switch"} == {number}
    assert {code_of(made, row.id, None).code for row in made.bom if row.kind == "switch"} == {number}
    is_kept = side is not None and not rules
    assert ("airflow_follows_servers" in {check.name for check in made.checks}) == is_kept
    assert any("would breathe the air" in note for note in made.notes) == (is_kept and list(sold) == [INTAKE])
    if is_kept and EXHAUST in sold:
        other = "A-F" if number == "A-R" else "A-R"
        rows = tuple(row.model_copy(update={"part_number": other}) if row.kind == "switch" else row for row in made.bom)
        failed = {check.name for check in verify(made.model_copy(update={"bom": rows})) if not check.ok}
        assert "airflow_follows_servers" in failed
