"""Default rules about which NICs there are: tiny instances in which each decides, by hand; then brute force.

As in ``tests.solution.test_brute_force``: a card (100 USD) has one 100G port, a switch costs 1,000 USD, a cable 10. Two
servers of one GPU on one switch take 1,000 + 2 x c x (100 + 10) with c cards each. Slots are Gen3 x16: 126 Gb/s.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import fabopt
from fabopt.io.case import inputs_from_objects
from fabopt.rules.defaults import DEFAULT_RULES
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.oracles import brute_nics
from tests.oracles.brute_force import solve
from tests.oracles.brute_redundancy import best_kept
from tests.samples.adapter import differences, outline, outline_of_best
from tests.samples.bare import with_equal_groups
from tests.samples.lengths import with_lengths
from tests.samples.random_cases import generate
from tests.samples.resilience import without_redundancy
from tests.samples.small import assert_proven, usd
from tests.solution.test_brute_force import cable, cage, card, case, catalog, server, switch

Json = dict[str, Any]
TESTED, SLOT, PORT = "tested-nics", "slot-speed", "one-port"
GEN3 = {"generation": 3, "lanes": 16}
# Of random planes those whose plain loops end within seconds.
SEEDS = {"linear": range(6), "limited": range(3), "attached": range(2), "three_tier": range(2), "planes": (0, 2)}
MORE_SEEDS = {"linear": range(6, 120), "limited": range(3, 40), "attached": range(2, 20)}


def parts(*cards: Json, **keys: Any) -> Json:
    """Cards of 100 and 200 Gb/s, switches and cables for both, and servers with Gen3 slots."""
    sides = [cage(16, "1x100"), cage(16, "1x200")]
    cables = [cable("cable", "1x100", "1x100"), cable("wide-cable", "1x200", "1x200")]
    return catalog(
        nics=list(cards), switches=[switch("switch", *sides)], cables=cables, servers=server(pcie=GEN3, **keys)
    )


# A second card with the same port is cheaper; only the first one is tested.
OF_TESTED = parts(card("card", cage(1, "1x100")), card("cheap", cage(1, "1x100"), usd=80), nics_tested=["card"])
# A cheaper card has a port of 200 Gb/s, of which a slot gives 126.
OF_SLOTS = parts(card("card", cage(1, "1x100")), card("fast", cage(1, "1x200"), usd=80, pcie=GEN3 | {"generation": 4}))
# For 150 Gb/s two cards of 100, or a dearer one of 200.
OF_PORTS = parts(card("card", cage(1, "1x100")), card("big", cage(1, "1x200"), usd=350))
DECIDED = {
    TESTED: (OF_TESTED, 100, ("card", 1), 1220, ("cheap", 1), 1180),
    SLOT: (OF_SLOTS, 100, ("card", 1), 1220, ("fast", 1), 1180),
    PORT: (OF_PORTS, 150, ("big", 1), 1720, ("card", 2), 1440),
}


def wanted(gbps: float, fabric: Json | None = None, **keys: Any) -> Json:
    """Two servers in the bare space, but for default rules."""
    content = case(2, {"min_gbps_per_gpu": gbps, **(fabric or {})}, **keys)
    content = without_redundancy(with_equal_groups(with_lengths({k: v for k, v in content.items() if k != "catalog"})))
    distances = {"server-leaf": 3, "leaf-spine": 30, "spine-core": 50}
    return {**content, "site": {"distances_m": distances}}


def answer(content: Json, parts: Json, alternatives: bool = False) -> Design:
    design = optimize.solve(inputs_from_objects(content, parts), alternatives_s=60 * alternatives)
    assert_proven(design)
    return design


def nics(design: Design) -> tuple[str, int]:
    nic = design.fabrics[0].nic
    return nic.id, nic.per_server


def judged(design: Design) -> set[str]:
    names = {check.name for check in design.checks}
    return {rule for rule in DECIDED if DEFAULT_RULES[rule].check in names}


def left_out(design: Design) -> set[str]:
    return {row.rule for row in design.rules_left_out}


# -- what holds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", DECIDED)
def test_a_rule_decides(rule: str) -> None:
    offered, gbps, kept, cost, broken, cost_without = DECIDED[rule]
    design = answer(wanted(gbps), offered, alternatives=True)
    assert (nics(design), usd(design)) == (kept, cost) and rule in judged(design) and not left_out(design)
    rivals = [one.capex_delta_usd for one in design.alternatives if one.what == rule]
    assert rivals == [cost_without - cost]
    (note,) = [note for note in design.notes if f"rule `{rule}`" in note]
    assert note.startswith(f"rule `{rule}`: {DEFAULT_RULES[rule].sentence}: ")
    assert note.endswith("(docs/rules.md#which-nics)")
    off = answer(wanted(gbps, rules={rule: False}), offered)
    assert (nics(off), usd(off)) == (broken, cost_without) and rule not in judged(off)


@pytest.mark.long("tested-nics-two tiers")
@pytest.mark.parametrize(("rule", "fabric"), [
    pytest.param(rule, fabric, id=f"{rule}-{told}", marks=marks)
    for rule in DECIDED
    for fabric, told, marks in (({"tiers": [1, 2]}, "two tiers", ()), ({}, "any tiers", pytest.mark.long))
])  # fmt: skip
def test_a_rule_decides_where_nothing_is_pruned(rule: str, fabric: Json) -> None:
    """On up to two tiers, and in a program of all that there is."""
    offered, gbps, kept, cost, *_ = DECIDED[rule]
    unpruned = optimize.solve(inputs_from_objects(wanted(gbps, fabric), offered), alternatives_s=0, prune=False)
    assert (nics(unpruned), usd(unpruned)) == (kept, cost)


@pytest.mark.parametrize("rule", DECIDED)
def test_a_file_that_breaks_a_rule_is_refused(rule: str) -> None:
    """The answer without the rule, in a file that says that the case keeps it."""
    offered, gbps, *_ = DECIDED[rule]
    design = answer(wanted(gbps, rules={rule: False}), offered)
    content = {**design.case.content, "rules": {}}
    claimed = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
    assert DEFAULT_RULES[rule].check in {check.name for check in verify(claimed) if not check.ok}


@pytest.mark.parametrize(("rule", "is_set_aside"), ((TESTED, True), (SLOT, True), (PORT, False)))
def test_nics_that_the_case_names_are_under_one_port_alone(rule: str, is_set_aside: bool) -> None:
    offered, gbps, kept, _, broken, _ = DECIDED[rule]
    names = [one["id"] for one in offered["nics"]]
    design = answer(wanted(gbps, {"nics": names}), offered)
    assert nics(design) == (broken if is_set_aside else kept)
    assert (rule in judged(design)) is not is_set_aside


@pytest.mark.parametrize("fabric", ({"nics_per_server": 2}, {"nics_per_server": [1, 2]}))
def test_numbers_of_nics_that_the_case_names_may_share(fabric: Json) -> None:
    design = answer(wanted(150, fabric), OF_PORTS)
    assert nics(design) == ("card", 2) and PORT not in judged(design)


def test_ports_in_several_planes_may_share() -> None:
    """A card with two ports, one in each plane, gives a GPU 200 Gb/s of 150."""
    twin = parts(card("twin", cage(2, "1x100")), card("big", cage(1, "1x200"), usd=350))
    one_plane, two = (answer(wanted(150, {"planes": planes}), twin) for planes in (1, 2))
    assert nics(one_plane) == ("big", 1) and nics(two) == ("twin", 1)
    assert PORT in judged(one_plane) and PORT not in judged(two)


def test_ports_on_two_leaves_may_share() -> None:
    twin = parts(card("twin", cage(2, "1x100")), card("big", cage(2, "1x200"), usd=350))
    design = answer(wanted(150, {"homing": "dual", "tiers": 2}), twin)
    assert nics(design) == ("twin", 1) and PORT not in judged(design)


def test_servers_without_gpus_have_no_port_of_one() -> None:
    design = answer(wanted(150), OF_PORTS | {"servers": server(pcie=GEN3, gpus=0)})
    assert nics(design) == ("card", 2) and PORT not in judged(design)


@pytest.mark.parametrize("rule", DECIDED)
def test_nics_that_are_built_in_are_what_they_are(rule: str) -> None:
    offered, gbps, _, _, (broken, number), _ = DECIDED[rule]
    built_in = {**offered["servers"][0], "nics": [{"id": broken, "count": number, "role": "compute"}]}
    design = answer(wanted(gbps), offered | {"servers": [built_in]})
    assert nics(design) == (broken, number) and not judged(design) and not left_out(design)


def test_tested_nics_are_of_compute_and_of_their_use() -> None:
    """What is tested for storage says nothing of compute; and storage has any NICs."""
    of_storage = parts(*OF_TESTED["nics"], nics_tested=[{"id": "card", "role": "storage"}])
    assert nics(answer(wanted(100), of_storage)) == ("cheap", 1)
    storage = answer(wanted(100, {"name": "storage", "role": "storage"}), OF_TESTED)
    assert nics(storage) == ("cheap", 1) and TESTED not in judged(storage)
    both = parts(*OF_TESTED["nics"], nics_tested=["card", {"id": "cheap", "role": "storage"}])
    assert nics(answer(wanted(100), both)) == ("card", 1)


def test_ports_that_are_left_unused_carry_nothing() -> None:
    """One port of a card that has two is within what its slot gives."""
    twin = parts(card("twin", cage(2, "1x100"), pcie=GEN3))
    design = answer(wanted(100), twin)
    assert nics(design) == ("twin", 1) and design.fabrics[0].nic.ports_per_nic == 1 and not left_out(design)


# -- what no design keeps ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", DECIDED)
def test_a_rule_is_left_out_where_nothing_keeps_it(rule: str) -> None:
    offered, gbps, (kept, _), _, broken, cost = DECIDED[rule]
    few = offered | {"nics": [one for one in offered["nics"] if one["id"] != kept]}
    design = answer(wanted(gbps), few)
    assert (nics(design), usd(design), left_out(design)) == (broken, cost, {rule})
    untold = design.model_copy(update={"rules_left_out": ()})
    assert DEFAULT_RULES[rule].check in {check.name for check in verify(untold) if not check.ok}
    asked = optimize.solve(inputs_from_objects(wanted(gbps, rules={rule: True}), few), alternatives_s=0)
    assert asked.status == "infeasible" and f"rules.{rule}" in {conflict.limit for conflict in asked.conflicts}


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long("one-port")
@pytest.mark.parametrize("rule", DECIDED)
def test_a_rule_never_yields_to_a_budget(rule: str) -> None:
    offered, gbps, _, cost, _, cost_without = DECIDED[rule]
    assert usd(answer(wanted(gbps, limits={"budget_usd": cost}), offered)) == cost
    below = wanted(gbps, limits={"budget_usd": cost - 1})
    assert optimize.solve(inputs_from_objects(below, offered), alternatives_s=0).status == "infeasible"
    assert usd(answer({**below, "rules": {rule: False}}, offered)) == cost_without


@pytest.mark.parametrize(("rules", "needed"), (({}, 100), ({PORT: False}, 200)))
def test_the_bandwidth_that_is_advised_is_what_one_port_carries(rules: Json, needed: int) -> None:
    """Two ports of 100 Gb/s in the only slot, for 250; of what is advised there is a design under the same rules."""
    twin = parts(card("twin", cage(2, "1x100")), nic_slots=1) | {"servers": server(nic_slots=1)}
    design = optimize.solve(inputs_from_objects(wanted(250, rules=rules), twin), alternatives_s=0)
    advised = {conflict.limit: conflict.needed for conflict in design.conflicts}
    assert advised["fabrics.compute.min_gbps_per_gpu"] == needed
    assert not answer(wanted(needed, rules=rules), twin).rules_left_out


# -- the largest flow -------------------------------------------------------------------------------------------------


def test_a_single_flow_has_one_port_and_what_its_slot_gives() -> None:
    flows = {
        rule: answer(wanted(gbps, rules={rule: False}), offered).fabrics[0].metrics.single_flow_gbps
        for rule, (offered, gbps, *_) in DECIDED.items()
    }
    assert flows == {TESTED: 100, SLOT: 126, PORT: 100}


def test_a_single_flow_has_one_link_of_every_boundary() -> None:
    """Two ports of 100 Gb/s up to a spine carry one of 200 down, but each flow over one of them."""
    sides = [cage(4, "1x200"), cage(8, "1x100")]
    cables = [cable("cable", "1x100", "1x100"), cable("wide-cable", "1x200", "1x200")]
    offered = catalog(nics=[card("card", cage(1, "1x200"))], switches=[switch("switch", *sides)], cables=cables)
    content = wanted(200, {"tiers": 2, "switches": {"leaf": ["switch"]}})
    design = answer({**content, "servers": 6}, offered)
    up = {tier.role: tier.gbps_up for tier in design.fabrics[0].tiers}["leaf"]
    assert up == 100 and design.fabrics[0].metrics.single_flow_gbps == 100
    changed = design.fabrics[0].metrics.model_copy(update={"single_flow_gbps": 200})
    fabric = design.fabrics[0].model_copy(update={"metrics": changed})
    failed = [check.name for check in verify(design.model_copy(update={"fabrics": (fabric,)})) if not check.ok]
    assert failed == ["metrics_are_recomputed"]


# -- brute force ------------------------------------------------------------------------------------------------------


@pytest.mark.long("linear-2")
@pytest.mark.long("limited-2", "attached-1", "limited-0", "linear-0")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in SEEDS.items() for seed in seeds])
def test_random_cases_agree(family: str, seed: int) -> None:
    agree(family, seed)


@pytest.mark.long
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in MORE_SEEDS.items() for seed in seeds])
def test_many_random_cases_agree(family: str, seed: int) -> None:
    agree(family, seed)


def agree(family: str, seed: int) -> None:
    """Cost, structure and bill, with the rules and without each; without one it is never dearer."""
    offered, content = generate(family, seed)
    dice = random.Random(f"which NICs {family} {seed}")
    box = offered["servers"][0]
    box |= {"gpus": dice.choice([1, 2, 4]), "nic_slots": dice.choice([2, 3, 4])}
    box["pcie"] = {"generation": dice.choice([3, 4]), "lanes": 16}
    ids = [nic["id"] for nic in offered["nics"]]
    if dice.random() < 0.7:
        box["nics_tested"] = dice.sample(ids, dice.randint(1, len(ids)))
    for nic in offered["nics"]:
        nic["pcie"] = {"generation": dice.choice([3, 4, 5]), "lanes": dice.choice([8, 16])}
    content["fabrics"][0]["min_gbps_per_gpu"] = dice.choice([40, 60, 100, 150])
    off = dice.choice([None, *brute_nics.RULES])
    holding = [rule for rule in brute_nics.RULES if rule != off]
    rules = {} if off is None else {off: False}
    others = dict.fromkeys(("lengths", "interchangeable", "one-generation", "subnet-manager"), False)
    said = content | {"rules": {**others, **rules}}
    best, kept = best_kept(solve, offered, content, tuple(holding))
    design = fabopt.solve(said, catalog=offered, alternatives_s=0).design
    theirs = design.model_dump(by_alias=True, mode="json")
    assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    if best is not None:
        assert {row["rule"] for row in theirs["rules_left_out"]} <= set(holding) - set(kept)
