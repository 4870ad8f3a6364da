"""Servers on two switches: the rule ``pair`` and the key ``homing``, in cases that showed a single switch; by hand; by
brute force.

By hand as in ``tests.solution.test_brute_force``: cards 100 USD, switches 1,000, cables to leaves 10 and to spines 20.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import read_inputs
from fabopt.output.terminal.answer import leading_notes
from fabopt.schema.design import Design, FabricDesign
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.oracles.brute_force import solve
from tests.oracles.brute_redundancy import best_kept, rules_of
from tests.samples import random_growth, small
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.growth_samples import grown, solved as grown_design
from tests.samples.random_cases import generate
from tests.samples.small import assert_proven, comparable, designed, usd
from tests.solution.test_brute_force import cage, card, case, catalog, switch

Json = dict[str, Any]
SAMPLES = Path("tests/samples/pairs")
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def of_sample(name: str) -> Design:
    return optimize.solve(read_inputs(SAMPLES / f"{name}.yaml"), alternatives_s=0)


def is_pair(fabric: FabricDesign) -> bool:
    """Whether all servers are on two switches that no link joins."""
    structure = fabric.clos
    halves = structure.ports_per_server == 2 * structure.ports_per_server_per_leaf
    return fabric.homing == "pair" and halves and [tier.count for tier in fabric.tiers] == [2 * fabric.planes]


# -- cases that showed it ---------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "cost", "nics"), [("storage-128-dgx", 144640, (2, 1)), ("storage-256-hgx", 472480, (1, 2))]
)
def test_storage_is_on_two_switches(name: str, cost: int, nics: tuple[int, int]) -> None:
    """Port A and port B of every server: two cards of one port, or one card of two."""
    design = of_sample(name)
    assert_proven(design)
    (fabric,) = design.fabrics
    assert usd(design) == cost and is_pair(fabric) and fabric.planes == 1
    assert (fabric.nic.per_server, fabric.nic.ports_per_nic) == nics
    assert (design.single_points_of_failure or ()) == () or all(row.degraded for row in design.single_points_of_failure)
    (left,) = [row for row in fabric.failures if row.failed == "leaf"]
    assert (left.gbps_per_gpu, left.servers_cut_off) == (fabric.metrics.injection_gbps_per_gpu / 2, 0)
    inputs = read_inputs(SAMPLES / f"{name}.yaml")
    off = replace(inputs, case=inputs.case.model_copy(update={"rules": {"pair": False}}))
    assert usd(optimize.solve(off, alternatives_s=0)) == cost


@pytest.mark.long
def test_every_server_of_four_fabrics_is_on_two_switches() -> None:
    design = of_sample("four-mi300x")
    assert_proven(design)
    for fabric in design.fabrics[1:3]:
        assert fabric.homing == "pair" and {row.rule: row.kept for row in fabric.redundancy}["pair"]
    cut = [row for row in design.single_points_of_failure or () if not row.degraded]
    assert {row.fabric for row in cut} <= {"mgmt", "compute"}


# -- by hand ----------------------------------------------------------------------------------------------------------


def storage(parts: Json | None = None, servers: int = 4, **keys: Any) -> tuple[Json, Json]:
    """The catalog and servers of a storage fabric with the default rule."""
    content = case(servers, {"name": "storage", "role": "storage", **keys}, resilience="default")
    return parts or catalog(), {key: value for key, value in content.items() if key != "catalog"}


def one_slot(parts: Json) -> Json:
    parts["servers"][0]["nic_slots"] = 1
    return parts


def test_two_cards_are_bought_where_slots_allow() -> None:
    # 4 servers: 8 cards, 2 switches, 8 cables; one switch with one card each would be 4 x 110 + 1,000
    design = designed(*storage())
    assert usd(design) == 8 * 100 + 2 * 1000 + 8 * 10 and is_pair(design.fabrics[0])
    assert {row.rule: (row.kept, row.detail) for row in design.fabrics[0].redundancy} == {
        "two-spines": (None, "one tier of switches that no link joins"),
        "two-cores": (None, "one tier of switches that no link joins"),
        "two-leaves": (None, "one tier of switches that no link joins"),
        "pair": (True, "every server on 2 switches"),
    }


@pytest.mark.parametrize("off", ({"resilience": "none"}, {"rules": {"pair": False, "lengths": False}}))
def test_without_the_rule_it_is_as_before(off: Json) -> None:
    parts, wanted = storage()
    design = designed(parts, wanted | off)
    assert usd(design) == 1440 and design.fabrics[0].homing == "any"
    said = {"fabrics": [wanted["fabrics"][0] | {"homing": "any"}]}
    assert usd(designed(parts, wanted | said)) == 1440


def test_a_single_port_is_listed_where_nothing_else_is_sold() -> None:
    design = designed(*storage(one_slot(catalog())))
    assert usd(design) == 1440 and [(row.rule, row.part, row.fabric) for row in design.rules_left_out] == [
        ("pair", "rules.pair", "storage")
    ]
    parts, wanted = storage(one_slot(catalog()))
    for asked in (
        {"rules": {"pair": True, "lengths": False}},
        {"fabrics": [wanted["fabrics"][0] | {"homing": "pair"}]},
    ):
        assert optimize.solve(small.inputs(wanted | asked, parts), alternatives_s=0).status == "infeasible"


def test_a_budget_is_no_reason_for_a_single_switch() -> None:
    parts, wanted = storage()
    over = optimize.solve(small.inputs(wanted | {"limits": {"budget_usd": 2879}}, parts))
    assert over.status == "infeasible"
    assert {one.limit: one.needed for one in over.conflicts}["limits.budget_usd"] == 2880


def test_above_the_ports_of_two_switches_there_are_two_leaves_and_two_spines() -> None:
    design = designed(*storage(catalog(switches=[switch("switch", cage(6, "1x100"))]), 8))
    (fabric,) = design.fabrics
    assert len(fabric.tiers) == 2 and fabric.homing == "pair" and fabric.rails == 2 and fabric.tiers[1].count >= 2


def test_planes_are_two_switches_too() -> None:
    # two ports of a card in two planes: a switch each, as one plane with a pair
    wide = [switch("switch", cage(4, "1x100"), max_ports=4)]
    parts = catalog(nics=[card("twin", cage(2, "1x100"))], switches=wide)
    one, two = (designed(*storage(one_slot(parts), planes=planes)) for planes in (1, 2))
    assert usd(one) == usd(two) and is_pair(one.fabrics[0]) and two.fabrics[0].planes == 2
    assert two.fabrics[0].homing == "pair" and two.fabrics[0].tiers[0].count == 2


def test_gpus_that_send_to_each_other_have_both_switches_on_each_card() -> None:
    # a pair for compute: of two cards with a port each, GPUs of different cards would not meet
    wide = [switch("switch", cage(8, "1x100"))]
    compute = {"homing": "pair", "nics_per_server": 2, "min_gbps_per_gpu": 200, "resilience": "none"}
    parts, wanted = storage(catalog(switches=wide))
    wanted["fabrics"] = [compute | {"name": "compute"}]
    assert len(designed(parts, wanted).fabrics[0].tiers) == 2
    parts = catalog(nics=[card("twin", cage(2, "1x100"))], switches=wide)
    wanted["fabrics"] = [compute | {"name": "compute", "nics_per_server": 1}]
    assert is_pair(designed(one_slot(parts), wanted).fabrics[0])


def test_one_port_on_two_switches_names_the_keys() -> None:
    """What is asked for of NICs that have one port, and what each key then costs."""
    parts, wanted = storage(one_slot(catalog()), homing="pair")
    asked = optimize.solve(small.inputs(wanted, parts), alternatives_s=0)
    by_name = optimize.solve(small.inputs(storage(parts)[1] | {"rules": {"pair": True}}, parts), alternatives_s=0)
    assert [one.limit for one in asked.conflicts] == ["fabrics.storage.homing"]
    assert [one.limit for one in by_name.conflicts] == ["fabrics.storage.homing", "rules.pair"]
    for design in (asked, by_name):
        first = design.conflicts[0]
        assert (first.needed, first.capex_usd) == ("any", 1440)
        assert "no NIC that the case allows gives a server two ports" in first.detail


def test_single_is_one_leaf_for_each_server() -> None:
    parts = one_slot(catalog(nics=[card("twin", cage(2, "1x100"))], switches=[switch("switch", cage(8, "1x100"))]))
    keys: Json = {"rails": "any", "tiers": 2, "min_gbps_per_gpu": 200, "resilience": "none"}
    design = designed(*storage(parts, 6, homing="single", **keys))
    structure = design.fabrics[0].clos
    assert (
        design.fabrics[0].homing == "single" and structure.ports_per_server_per_leaf == 2 == structure.ports_per_server
    )


def test_a_direct_network_keeps_it_by_its_switches() -> None:
    parts = one_slot(catalog(nics=[card("twin", cage(2, "1x100"))], switches=[switch("switch", cage(8, "1x100"))]))
    design = designed(*storage(parts, 8, topologies=["hyperx"]))
    structure = design.fabrics[0].structure
    assert design.fabrics[0].homing == "pair" and structure.ports_per_server_per_leaf == 1 < structure.ports_per_server


@pytest.mark.long(but=("32-1",))
@pytest.mark.parametrize(("gpus", "least"), ((32, 1), (33, 2)))
def test_compute_of_many_gpus_is_on_two_switches(gpus: int, least: int) -> None:
    """Four servers of 32 GPUs are 128 GPUs, which may be on one switch."""
    parts = one_slot(catalog(switches=[switch("switch", cage(8, "1x100"))]))
    parts["servers"][0]["gpus"] = gpus
    content = case(4, {"name": "compute", "min_gbps_per_gpu": 1}, resilience="default")
    wanted = {key: value for key, value in content.items() if key != "catalog"}
    design = designed(parts, wanted)
    assert (sum(tier.count for tier in design.fabrics[0].tiers) > 1) == (least > 1)
    assert ("two-switches" in {row.rule for row in design.fabrics[0].redundancy}) == (least > 1)
    for off in ({"resilience": "none"}, {"rules": {"two-switches": False, "lengths": False}}):
        assert sum(tier.count for tier in designed(parts, wanted | off).fabrics[0].tiers) == 1
    if least > 1:
        assert failed(design, tiers=design.fabrics[0].tiers[:1]) >= {"redundancy_is_kept"}
    alone = designed(parts, wanted | {"fabrics": [wanted["fabrics"][0] | {"tiers": 1}]})
    assert [row.rule for row in alone.rules_left_out] == ["two-switches"] * (least - 1)


@pytest.mark.parametrize(("gpus", "leaves"), ((32, 1), (33, 2)))
def test_compute_of_many_gpus_is_on_two_switches_at_every_stage(gpus: int, leaves: int) -> None:
    """Four servers, then eight: one leaf has four of them and as many uplinks, which alone is one switch."""
    parts = one_slot(catalog(switches=[switch("switch", cage(8, "1x100"))]))
    parts["servers"][0]["gpus"] = gpus
    wanted = grown(4, 8, fabric={"min_gbps_per_gpu": 1}, resilience="default")
    design = grown_design(parts, wanted)
    (fabric,) = design.fabrics
    assert fabric.growth[0].leaves == leaves
    assert [row.kept for row in fabric.redundancy if row.rule == "two-switches"] == [True]
    if leaves > 1:
        early = (fabric.growth[0].model_copy(update={"leaves": 1, "spines": 0}), *fabric.growth[1:])
        assert failed(design, growth=early) >= {"redundancy_is_kept"}


def test_files_of_earlier_versions_are_not_asked_for_it() -> None:
    parts = one_slot(catalog(switches=[switch("switch", cage(8, "1x100"))]))
    parts["servers"][0]["gpus"] = 33
    content = case(4, {"name": "compute", "min_gbps_per_gpu": 1}, resilience="default")
    design = designed(parts, {key: value for key, value in content.items() if key != "catalog"})
    rows = tuple(row for row in design.fabrics[0].redundancy if row.rule != "two-switches")
    assert failed(design, redundancy=rows) == {"redundancy_is_kept"}
    early = design.model_copy(update={"fabopt": "0.2.0", "rules": "0.2.0"})
    assert "redundancy_is_kept" not in failed(early, redundancy=rows)


@pytest.mark.long
def test_a_model_on_512_gpus_is_on_two_switches() -> None:
    design = of_sample("one-switch-512-gpus")
    assert_proven(design)
    assert sum(tier.count for tier in design.fabrics[0].tiers) >= 2


def test_an_unknown_homing_is_refused() -> None:
    parts, wanted = storage(homing="twice")
    with pytest.raises(InputError, match=r"any.*single.*dual.*pair"):
        small.inputs(wanted, parts)


@pytest.mark.parametrize("servers", (4, 10))
def test_devices_with_two_ports_are_on_two_switches(servers: int) -> None:
    """Attached to a pair and to leaves under spines, whatever comes before them."""
    parts = catalog(switches=[switch("switch", cage(12, "1x100"))])
    attached = [
        {"name": "odd", "ports": 1, "buys": "none"},
        {"name": "filer", "kind": "storage", "ports": 6, "boxes": 3, "rack_units": 1, "power_w": 1, "buys": "none"},
    ]
    design = designed(*storage(parts, servers, attachments=attached, max_oversubscription=3))
    assert len(design.fabrics[0].tiers) == (1 if servers == 4 else 2)
    wiring = wiring_of(design)
    switches: dict[str, set[int]] = {}
    for device, leaf in zip(wiring.links.a.tolist(), wiring.links.b.tolist(), strict=True):
        if "filer" in wiring.devices.name[device]:
            switches.setdefault(wiring.devices.name[device], set()).add(leaf)
    assert [len(both) for both in switches.values()] == [2, 2, 2]


def test_the_first_lines_say_what_is_left_without_a_switch() -> None:
    lines = leading_notes(designed(*storage()))
    told = "whose ports together give 200 Gb/s per GPU; without the worst leaf 100 are left"
    assert lines == [f"storage: every server is on two switches, {told}"]
    assert leading_notes(designed(*storage(one_slot(catalog())))) == []


# -- the proof --------------------------------------------------------------------------------------------------------


def failed(design: Design, **changes: Any) -> set[str]:
    fabric = design.fabrics[0].model_copy(update=changes)
    wrong = design.model_copy(update={"fabrics": (fabric, *design.fabrics[1:])})
    return {check.name for check in verify(wrong) if not check.ok}


def test_what_a_file_says_of_its_homing_is_proven() -> None:
    design = designed(*storage())
    assert failed(design, homing="single") >= {"homing_is_kept", "homing_is_cabled", "pods_cover_groups"}
    assert failed(design, homing="any") == {"pods_cover_groups"}
    alone = designed(*storage(one_slot(catalog())))
    assert failed(alone, homing="pair") >= {"homing_is_kept", "homing_is_cabled"}


# -- brute force ------------------------------------------------------------------------------------------------------

FAMILIES = {"linear": 3, "limited": 2, "attached": 3, "rails": 2, "planes": 3}


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long(but_every=2)
@pytest.mark.long("linear-2", "attached-1", "attached-2", "planes-2", "limited-1", "planes-0", "rails-0")
@pytest.mark.parametrize(
    ("family", "seed"), [(family, seed) for family, number in FAMILIES.items() for seed in range(number * MORE_SEEDS)]
)
def test_random_cases_agree(family: str, seed: int) -> None:
    """Storage with the rule and without it, and every homing that is asked for."""
    parts, wanted = generate(family, seed + 100)
    fabric = wanted["fabrics"][0] | {"role": "storage"}
    wanted = wanted | {"fabrics": [fabric]}
    if any(server.get("nics") for server in parts["servers"]):
        fabric["role"] = "compute"
    best, kept = best_kept(solve, parts, wanted, rules_of(fabric))
    theirs = run(parts, wanted | {"resilience": "default"})
    assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    assert {row["rule"] for row in theirs["rules_left_out"]} == set(rules_of(fabric)) - set(kept) if best else True
    for homing in ("pair", "single"):
        said = wanted | {"fabrics": [fabric | {"homing": homing}]}
        best = solve(parts, said)
        theirs = run(parts, said)
        assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
        assert [check for check in theirs["checks"] if not check["ok"]] == []


@pytest.mark.long("staged-3", "moving-5", "staged_three_tier-6")
@pytest.mark.parametrize(
    ("family", "seed"), [("staged", 0), ("staged", 3), ("moving", 1), ("moving", 5), ("staged_three_tier", 6)]
)
def test_every_stage_is_proven(family: str, seed: int) -> None:
    parts, wanted = random_growth.generate(family, seed)
    wanted = {key: value for key, value in wanted.items() if key != "catalog"} | {"resilience": "default"}
    wanted["fabrics"][0] |= {"role": "storage", "tiers": "any"}
    design = grown_design(parts, wanted)
    assert_proven(design)
    assert design.fabrics[0].homing == "pair"


def test_nothing_is_dropped_before_the_rule_sees_it() -> None:
    parts, wanted = storage()
    design = optimize.solve(small.inputs(wanted, parts), alternatives_s=0)
    whole = optimize.solve(small.inputs(wanted, parts), alternatives_s=0, prune=False)
    assert comparable(design) == comparable(whole)
