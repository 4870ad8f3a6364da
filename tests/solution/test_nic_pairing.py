"""Rule ``nic-pairing``: tiny instances in which it decides, derived by hand; then random ones by brute force.

As in ``tests.solution.test_brute_force``: a card (100 USD) has one 100G port, a switch costs 1,000 USD, a cable 10. Two
servers of eight GPUs on one switch of sixteen ports take 1,000 + 2 x c x (100 + 10) with c cards each. Each GPU has 33
Gb/s of three cards, which is enough here, 50 of four, and 25 of two, which is too little.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.oracles.brute_force import solve
from tests.oracles.brute_redundancy import best_kept
from tests.samples import small
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.random_cases import generate
from tests.samples.small import designed, usd
from tests.solution.test_brute_force import cage, card, case, catalog, server, switch

Json = dict[str, Any]
RULE = "nic-pairing"
THREE, FOUR = 1660, 1880
# Of random planes those whose plain loops end within seconds.
SEEDS = {"linear": range(8), "limited": range(4), "attached": range(4), "three_tier": range(3), "planes": (0, 2, 4, 5)}


def eighths(slots: int = 4, **keys: Any) -> Json:
    """Servers of eight GPUs on wide switches."""
    return catalog(servers=server(gpus=8, nic_slots=slots, **keys), switches=[switch("switch", cage(16, "1x100"))])


@pytest.mark.long("nvidia-gb300-nvl72-tray-asked1-None")
@pytest.mark.parametrize(
    ("server", "asked", "told"),
    [
        ("nvidia-gb300-nvl72-tray", {}, "400 are as many as the workload asks for (`min_gbps_per_gpu`)"),
        ("nvidia-gb300-nvl72-tray", {"min_gbps_per_gpu": 400}, None),
        ("nvidia-dgx-h200", {}, None),
    ],
)
def test_built_in_cards_that_could_give_more_are_told(server: str, asked: Json, told: str | None) -> None:
    """Four ConnectX-8 of 800 Gb/s for four GPUs, and eight ConnectX-7 of 400 for eight: pretraining asks for 400."""
    workload = {} if asked else {"workload": {"profile": "pretraining"}}
    fabric = {"name": "compute", "role": "compute", **asked}
    content = {"name": "cards", "server": server, "servers": 8, **workload, "fabrics": [fabric]}
    notes = [
        note for note in optimize.solve(inputs_from_objects(content), alternatives_s=0).notes if "built in" in note
    ]
    before = "compute: nvidia-c8180, built in, could give 800 Gb/s per GPU; "
    assert notes == ([] if told is None else [before + told])


def wanted(fabric: Json | None = None, **keys: Any) -> Json:
    content = case(2, {"min_gbps_per_gpu": 33, **(fabric or {})}, **keys)
    return {key: value for key, value in content.items() if key != "catalog"}


def nics(design: Design) -> list[int]:
    return [fabric.nic.per_server for fabric in design.fabrics]


def told(design: Design) -> list[str]:
    return [note for note in design.notes if RULE in note]


def is_checked(design: Design) -> bool:
    return "nics_pair_with_gpus" in {check.name for check in design.checks}


# -- what holds -------------------------------------------------------------------------------------------------------


def test_cards_divide_the_gpus() -> None:
    design = designed(eighths(), wanted(), alternatives=True)
    assert (nics(design), usd(design)) == ([4], FOUR) and is_checked(design)
    rivals = [(one.value, one.capex_delta_usd) for one in design.alternatives if one.what == RULE]
    assert rivals == [("none", THREE - FOUR)]
    (note,) = told(design)
    assert note.startswith(f"rule `{RULE}`: the NICs of a server divide its GPUs or are a multiple of them")
    assert note.endswith("4 of compute for 8 GPUs (docs/rules.md#nics-and-gpus)")


@pytest.mark.long(but=("keys1", "keys2"))
@pytest.mark.parametrize(
    "keys",
    (
        {"rules": {RULE: False}},
        {"rules": "none"},
        {"fabric": {"nics_per_server": 3}},
        {"fabric": {"nics_per_server": [3, 4]}},
    ),
)
def test_a_case_turns_it_off_or_names_the_number(keys: Json) -> None:
    design = designed(eighths(), wanted(**keys), alternatives=True)
    assert (nics(design), usd(design)) == ([3], THREE)
    assert not told(design) and not is_checked(design)
    assert RULE not in {one.what for one in design.alternatives}


def test_cards_are_a_multiple_of_the_gpus() -> None:
    parts = catalog(servers=server(gpus=2, nic_slots=4), switches=[switch("switch", cage(16, "1x100"))])
    content = wanted({"min_gbps_per_gpu": 150})
    assert nics(designed(parts, content)) == [4]
    # three cards give a GPU what two give it: one card
    assert nics(designed(parts, wanted({"min_gbps_per_gpu": 100}))) == [2]


def test_cards_that_are_built_in_are_what_they_are() -> None:
    parts = eighths(nics=[{"id": "card", "count": 3, "role": "compute"}])
    design = designed(parts, wanted(rules={RULE: True}))
    assert nics(design) == [3] and not told(design) and not is_checked(design)


@pytest.mark.parametrize(("gbps", "refused"), ((50, ["4 x slow"]), (60, [])))
def test_numbers_that_it_leaves_out_are_not_said_to_be_held_back(gbps: int, refused: list[str]) -> None:
    # a slow card moves 31.5 Gb/s; the ports of 4 give 50 Gb/s to each of 8 GPUs, for 60 it would have to be 5 to 7
    lanes: Json = {"generation": 3, "lanes": 4}
    offered = [card("slow", cage(1, "1x100"), pcie=lanes), card("wide", cage(2, "1x100"))]
    parts = eighths(slots=7, pcie=lanes) | {"nics": offered}
    held = [note for note in designed(parts, wanted({"min_gbps_per_gpu": gbps})).notes if "not picked" in note]
    assert [note.split(": ")[2].split(" (")[0] for note in held] == refused
    off = designed(parts, wanted({"min_gbps_per_gpu": gbps}, rules="none"))
    assert any("not picked: 7 x slow" in note for note in off.notes)


# -- what cannot be kept ----------------------------------------------------------------------------------------------


def test_it_is_given_up_where_no_design_keeps_it() -> None:
    design = designed(eighths(slots=3), wanted(), alternatives=True)
    assert (nics(design), usd(design)) == ([3], THREE) and is_checked(design)
    (row,) = design.rules_left_out
    assert (row.part, row.fabric) == (f"rules.{RULE}", "compute") and row.why.startswith("3 NICs for 8 GPUs; no design")
    assert RULE not in {one.what for one in design.alternatives}
    untold = design.model_copy(update={"rules_left_out": ()})
    assert [check.name for check in verify(untold) if not check.ok] == ["nics_pair_with_gpus"]


def test_a_budget_is_no_reason_to_leave_it_out() -> None:
    assert nics(designed(eighths(), wanted(limits={"budget_usd": FOUR}))) == [4]
    design = optimize.solve(small.inputs(wanted(limits={"budget_usd": FOUR - 1}), eighths()))
    assert design.status == "infeasible"


def test_of_two_fabrics_the_first_keeps_it() -> None:
    content = wanted()
    first = content["fabrics"][0]
    content["fabrics"] = [first, first | {"name": "storage", "role": "storage"}]
    design = designed(eighths(slots=7), content)
    assert nics(design) == [4, 3]
    assert [note.split(":")[0] for note in told(design)] == [f"rule `{RULE}`"]
    assert [(row.rule, row.fabric) for row in design.rules_left_out] == [(RULE, "storage")]


@pytest.mark.parametrize("keys", ({}, {"limits": {"budget_usd": FOUR - 1}}))
def test_asked_for_by_name_it_stands_in_the_way(keys: Json) -> None:
    parts = eighths(slots=4 if keys else 3)
    design = optimize.solve(small.inputs(wanted(rules={RULE: True}, **keys), parts))
    assert design.status == "infeasible"
    assert f"rules.{RULE}" in {conflict.limit for conflict in design.conflicts}


# -- brute force ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long(but_every=4)
@pytest.mark.long("attached-1", "attached-3", "three_tier-2", "linear-0", "limited-0", "three_tier-0")
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in SEEDS.items() for seed in seeds])
def test_random_cases_agree(family: str, seed: int) -> None:
    """Cost, structure and bill; it is never cheaper than without the rule, which gives the bare space again."""
    parts, content = generate(family, seed)
    dice = random.Random(f"{RULE} {family} {seed}")
    gpus, slots = dice.choice([(8, 3), (8, 4), (3, 3), (5, 3)])
    parts["servers"][0] |= {"gpus": gpus, "nic_slots": slots}
    content["fabrics"][0]["min_gbps_per_gpu"] = dice.choice([30, 50, 60])
    best, kept = best_kept(solve, parts, content, (RULE,))
    theirs = run(parts, content)
    assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    bare = solve(parts, content)
    off = run(parts, content | {"rules": {**content.get("rules", {}), RULE: False}})
    assert differences(None if bare is None else outline_of_best(bare), outline(off)) == {}
    if best is not None:
        assert bare is not None and bare.objective <= best.objective
        assert [row["rule"] for row in theirs["rules_left_out"]] == ([] if kept else [RULE])
