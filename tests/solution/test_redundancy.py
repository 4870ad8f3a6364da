"""The default rule of resilience: tiny instances in which it decides, derived by hand; then random ones by brute force.

As in ``tests.solution.test_brute_force``: a server has 1 GPU and needs 100 Gb/s, a card (100 USD) has one 100G port, a
switch (1,000 USD) four, cables are 10 USD to leaves and 20 to spines. Four servers on two tiers are two leaves of two
servers and two uplinks each: 4 x 100 + 4 x 10 + 4 x 20 = 520, and 1,000 for each leaf and spine.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.output.statements import redundancy_line
from fabopt.schema.design import Alternative, Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.oracles import brute_growth
from tests.oracles.brute_force import solve
from tests.oracles.brute_redundancy import best_kept, rules_of
from tests.samples import random_growth, small
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.growth_samples import solved as grown_design
from tests.samples.lengths import with_lengths
from tests.samples.random_cases import generate
from tests.samples.small import designed, usd
from tests.solution.test_brute_force import cage, card, case, catalog, switch
from tests.solution.test_growth import assert_agrees

Json = dict[str, Any]
ONE_SPINE, TWO_SPINES, ONE_UPLINK = 3520, 4520, 3480
SEEDS = {"linear": 10, "limited": 4, "ruled": 3, "attached": 6, "three_tier": 8, "rails": 4, "planes": 6}
GROWING = {"staged": (0, 1, 2, 3), "moving": (0, 1, 3), "staged_three_tier": (4, 5, 6)}
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def pair(fabric: Json | None = None, parts: Json | None = None, **keys: Any) -> tuple[Json, Json]:
    """The catalog and four servers on two tiers with the default rule, unless keys say otherwise."""
    content = case(4, {"tiers": 2, **(fabric or {})}, resilience="default") | keys
    return catalog() if parts is None else parts, {key: value for key, value in content.items() if key != "catalog"}


def kept(design: Design) -> dict[str, bool | None]:
    return {row.rule: row.kept for row in design.fabrics[0].redundancy}


def of_redundancy(design: Design) -> list[Alternative]:
    return [one for one in design.alternatives if one.what == "redundancy"]


# -- what holds -------------------------------------------------------------------------------------------------------


def test_a_leaf_has_two_spines() -> None:
    design = designed(*pair(), alternatives=True)
    assert usd(design) == TWO_SPINES and kept(design) == {"two-spines": True, "two-cores": None}
    assert [(one.value, one.capex_delta_usd) for one in of_redundancy(design)] == [("none", ONE_SPINE - TWO_SPINES)]
    assert redundancy_line(design) == "redundancy by default: compute keeps two-spines" and design.notes == ()


@pytest.mark.parametrize("keys", ({"resilience": "none"}, {"fabric": {"resilience": "none"}}))
def test_a_case_or_a_fabric_turns_it_off(keys: Json) -> None:
    design = designed(*pair(**keys), alternatives=True)
    assert usd(design) == ONE_SPINE and kept(design) == {} and of_redundancy(design) == []
    assert redundancy_line(design) == ""


def test_it_holds_where_a_case_says_nothing() -> None:
    parts, wanted = pair()
    del wanted["resilience"]
    design = optimize.solve(inputs_from_objects(with_lengths(wanted), parts), alternatives_s=0)
    assert usd(design) == TWO_SPINES
    assert design.case.content["resilience"] == "default" == design.case.content["fabrics"][0]["resilience"]


def test_losses_take_its_place_unless_it_is_named_beside_them() -> None:
    # with one of two uplinks a leaf of two servers still carries 50 Gb/s of each, whether or not they share a spine
    cut = {"survive": "1 cable", "min_gbps_per_gpu": 0.001}
    spine = {"survive": "1 spine", "min_gbps_per_gpu": 50}
    two_cards = {"nics_per_server": 2, "rails": "any", "min_gbps_per_gpu": 200}
    parts = catalog(switches=[switch("switch", cage(8, "1x100"))])
    alone = designed(*pair({**two_cards, "resilience": [cut]}, parts))
    beside = designed(*pair({**two_cards, "resilience": ["default", cut]}, parts))
    assert kept(alone) == {} and alone.fabrics[0].tiers[1].count == 1
    assert kept(beside)["two-spines"] and beside.fabrics[0].tiers[1].count == 2
    assert usd(beside) == usd(alone) + 1000
    of_case = designed(*pair(resilience=[spine]))
    assert usd(of_case) == TWO_SPINES and kept(of_case) == {}


def test_planes_count_together() -> None:
    # two cards on two planes: a leaf of one plane has one spine there, and its server another in the other plane
    parts = catalog(nics=[card("card", cage(2, "1x100"))])
    design = designed(*pair({"planes": 2}, parts))
    assert [tier.count for tier in design.fabrics[0].tiers] == [4, 2] and kept(design)["two-spines"]


def test_there_are_two_cores() -> None:
    # a leaf has one server and one uplink, so one spine of its pod, without the rule
    parts, wanted = pair({"tiers": 3})
    design, bare = designed(parts, wanted), designed(parts, wanted | {"resilience": "none"})
    assert kept(design) == {"two-spines": True, "two-cores": True}
    assert [tier.count for tier in bare.fabrics[0].tiers][2] == 1 < [tier.count for tier in design.fabrics[0].tiers][2]


def test_storage_servers_are_on_two_leaves_if_their_cards_have_two_ports() -> None:
    parts = catalog(nics=[card("twin", cage(2, "1x100"))])
    storage = {"name": "storage", "role": "storage"}
    design = designed(*pair(storage, parts))
    assert kept(design) == {"two-spines": True, "two-cores": None, "two-leaves": True, "pair": True}
    assert design.fabrics[0].nic.ports_per_nic == 2 and design.fabrics[0].rails == 2
    compute = designed(*pair(None, parts))
    assert compute.fabrics[0].nic.ports_per_nic == 1 and "two-leaves" not in kept(compute)
    one_slot = catalog()
    one_slot["servers"][0]["nic_slots"] = 1
    one_port = designed(*pair(storage, one_slot))
    assert kept(one_port)["two-leaves"] is None and usd(one_port) == TWO_SPINES
    assert kept(one_port)["pair"] is False and one_port.fabrics[0].homing == "any"


# -- what does not apply ----------------------------------------------------------------------------------------------


def test_one_switch_is_exempt_and_listed() -> None:
    design = designed(*pair({"tiers": 1}))
    assert usd(design) == 1440 and set(kept(design).values()) == {None}
    assert redundancy_line(design) == "redundancy by default: compute is exempt (a single switch)"
    points = design.single_points_of_failure or ()
    assert [(point.device, point.servers) for point in points] == [("leaf", 4)]


def test_a_direct_network_is_exempt() -> None:
    parts = catalog(switches=[switch("switch", cage(8, "1x100"))])
    design = designed(*pair({"topologies": ["hyperx"], "tiers": "any"}, parts, servers=8))
    assert {row.detail for row in design.fabrics[0].redundancy} == {"a hyperx is a direct network"}


# -- what cannot be kept ----------------------------------------------------------------------------------------------


def three_ports(**keys: Any) -> tuple[Json, Json]:
    """A leaf with two servers has one uplink; with one server and two uplinks, a spine has too few ports for four."""
    ratio = {"max_oversubscription": 2, **keys.pop("fabric", {})}
    return pair(ratio, catalog(switches=[switch("switch", cage(3, "1x100"))]), **keys)


def test_what_no_design_keeps_is_left_out_and_told() -> None:
    design = designed(*three_ports(), alternatives=True)
    assert usd(design) == ONE_UPLINK and kept(design) == {"two-spines": False, "two-cores": None}
    (row,) = design.rules_left_out
    assert (row.rule, row.part, row.fabric) == ("two-spines", "rules.two-spines", "compute")
    assert row.why == "1 spine above every leaf; no design of the case keeps it, whatever its limits"
    assert of_redundancy(design) == []
    assert redundancy_line(design).endswith("compute breaks two-spines (1 spine above every leaf)")


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long(but=("keys0",))
@pytest.mark.parametrize(
    "keys",
    (
        {"limits": {"budget_usd": TWO_SPINES - 1}},
        {"limits": {"power_w": 439}},
        {"limits": {"rack_units": 3}},
        {"supply": 3},
        {"procurement": {"max_part_numbers": {"switches": 1}}, "supply": 3},
    ),
)
def test_no_limit_is_a_reason_to_leave_it_out(keys: Json) -> None:
    """Each leaves room for one spine and not for two; without the rule there is a design."""
    supply = {key: value for key, value in keys.items() if key == "supply"}
    parts = catalog(switches=[switch("switch", cage(4, "1x100"), rack_units=1, **supply)])
    parts, wanted = pair(None, parts, **{key: value for key, value in keys.items() if key not in supply})
    assert optimize.solve(small.inputs(wanted, parts), alternatives_s=0).status == "infeasible"
    for off in ({"rules": {"two-spines": False, "lengths": False}}, {"resilience": "none"}):
        assert usd(designed(parts, wanted | off)) == ONE_SPINE


@pytest.mark.usefixtures("unadvised")
def test_a_name_turns_it_off_or_asks_for_it() -> None:
    assert usd(designed(*pair(rules={"two-spines": False, "lengths": False}))) == ONE_SPINE
    assert usd(designed(*pair(resilience="none", rules={"two-spines": True, "lengths": False}))) == TWO_SPINES
    parts, wanted = three_ports(rules={"two-spines": True})
    design = optimize.solve(small.inputs(wanted, parts), alternatives_s=0)
    assert design.status == "infeasible" and design.rules_left_out == ()


def test_a_budget_that_is_too_small_needs_what_keeps_the_rules() -> None:
    parts, wanted = pair(limits={"budget_usd": ONE_SPINE - 1})
    design = optimize.solve(small.inputs(wanted, parts))
    assert design.status == "infeasible" and design.case.content["fabrics"][0]["resilience"] == "default"
    assert {one.limit: one.needed for one in design.conflicts}["limits.budget_usd"] == TWO_SPINES


def test_a_budget_holds_for_what_is_left_out_too() -> None:
    assert usd(designed(*three_ports(limits={"budget_usd": ONE_UPLINK}))) == ONE_UPLINK
    parts, wanted = three_ports(limits={"budget_usd": ONE_UPLINK - 1})
    design = optimize.solve(small.inputs(wanted, parts))
    assert {one.limit: one.needed for one in design.conflicts}["limits.budget_usd"] == ONE_UPLINK


# -- the proof --------------------------------------------------------------------------------------------------------


def failed(design: Design, **changes: Any) -> list[str]:
    """Checks that fail once a fabric says something else of the rule."""
    rows = design.fabrics[0].redundancy
    first = rows[0].model_copy(update=changes) if changes else None
    fabric = design.fabrics[0].model_copy(update={"redundancy": (*filter(None, [first]), *rows[1:])})
    wrong = design.model_copy(update={"fabrics": (fabric,)})
    return [check.name for check in verify(wrong) if not check.ok]


def test_the_verifier_counts_again_what_is_kept() -> None:
    design = designed(*pair())
    assert failed(design, kept=False) == ["redundancy_is_kept"] == failed(design, kept=None) == failed(design)
    bare = designed(*three_ports())
    assert failed(bare, kept=True) == ["redundancy_is_kept", "redundancy_is_cabled"]
    untold = bare.model_copy(update={"rules_left_out": ()})
    assert [check.name for check in verify(untold) if not check.ok] == ["redundancy_is_kept"]
    (row,) = bare.rules_left_out
    for wrong in ((row, row), (row.model_copy(update={"part": "rules.two-cores"}),)):
        said = bare.model_copy(update={"rules_left_out": wrong})
        assert "left_out_rules_are_broken" in {check.name for check in verify(said) if not check.ok}
    said = design.model_copy(update={"rules_left_out": (row,)})
    assert [check.name for check in verify(said) if not check.ok] == ["left_out_rules_are_broken"]


# -- brute force ------------------------------------------------------------------------------------------------------


@pytest.mark.long("linear-0", "linear-8")
@pytest.mark.long(but_every=4)
@pytest.mark.long("attached-3", "three_tier-2", "three_tier-5", "planes-1", "limited-2")
@pytest.mark.parametrize(
    ("family", "seed"), [(family, seed) for family, number in SEEDS.items() for seed in range(number * MORE_SEEDS)]
)
def test_random_cases_agree(family: str, seed: int) -> None:
    """Cost, structure, bill and what is kept; it is never cheaper than without the rule, which gives the same again."""
    parts, wanted = generate(family, seed)
    fabric = wanted["fabrics"][0]
    if seed % 2 and not any(server.get("nics") for server in parts["servers"]):
        fabric["role"] = "storage"
    rules = rules_of(fabric)
    best, rules_kept = best_kept(solve, parts, wanted, rules)
    theirs = run(parts, wanted | {"resilience": "default"})
    assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    if best is not None:
        broken = {row["rule"] for row in theirs["fabrics"][0]["redundancy"] if row["kept"] is False}
        assert broken == set(rules) - set(rules_kept)
        # in a space of pairs there are some, on one tier, that no other space has
        alike = {"homing": "pair"} if "pair" in rules_kept else {}
        bare = solve(parts, wanted | {"fabrics": [fabric | alike]})
        assert bare is not None and bare.objective <= best.objective


@pytest.mark.long("moving-0")
@pytest.mark.long("staged-0")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in GROWING.items() for seed in seeds])
def test_every_stage_keeps_it(family: str, seed: int) -> None:
    parts, wanted = random_growth.generate(family, seed)
    wanted = {key: value for key, value in wanted.items() if key != "catalog"} | {"resilience": "default"}
    best, rules = best_kept(brute_growth.solve, parts, wanted, rules_of(wanted["fabrics"][0]))
    design = grown_design(parts, wanted)
    assert_agrees(design, best)
    for fabric in design.fabrics:
        for stage in fabric.growth if "two-spines" in rules else ():
            assert stage.spines == 0 or fabric.planes * stage.spines_per_pod > 1
