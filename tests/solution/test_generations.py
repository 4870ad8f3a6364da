"""Rule ``one-generation``: tiny instances in which it decides, derived by hand; then random ones by brute force.

As in ``tests.solution.test_brute_force``, but InfiniBand: four servers on two leaves (1,000 USD) of two generations'
speeds. A spine of the generation before has ports of 200G only, which no NIC takes, and costs 400 USD. So two leaves,
NICs and cables are 2,000 + 4 x (100 + 10) + 2 x 20 = 2,480, with the old spine 2,880, with one like the leaves 3,480.
"""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.oracles.brute_force import solve
from tests.oracles.brute_redundancy import best_kept
from tests.samples import small
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.lengths import USUAL
from tests.samples.random_cases import generate
from tests.samples.small import usd
from tests.solution.test_brute_force import cable, cage, card, case, catalog, switch

Json = dict[str, Any]
RULE = "one-generation"
MIXED, ALIKE = 2880, 3480
ASICS = ("Quantum-2", "2x Quantum-2", "2x Quantum", None)
AS_USUAL: Json = {"distances_m": USUAL}
# Seeds whose brute force takes seconds; the rule decides in linear 38 and in limited 12.
SEEDS = {
    "linear": (*range(5), 8, 38),
    "limited": (0, 1, 2, 3, 12),
    "attached": range(3),
    "three_tier": (0, 1),
    "planes": (0, 2),
}
NOT_KEPT = "leaf new of Quantum-2 and spine old of Quantum; no design of the case keeps it, whatever its limits"


def parts(protocol: str = "infiniband", **old: Any) -> Json:
    """Switches of two generations, the old one for 200G only."""
    keys: Json = {"protocol": protocol}
    old = {key: value for key, value in ({"asic": "Quantum"} | old).items() if value is not None}
    return catalog(
        switches=[
            switch("new", cage(4, "1x100", "1x200"), asic="Quantum-2", **keys),
            switch("old", cage(4, "1x200"), usd=400, **keys, **old),
        ],
        nics=[card("card", cage(1, "1x100"), protocols=[protocol])],
        cables=[cable("cable", "1x100", "1x100"), cable("wide", "1x200", "1x200")],
    )


def designed(content: Json | None = None, fabric: Json | None = None, **keys: Any) -> Design:
    rules = keys.pop("rules", {})
    rules = rules if rules == "none" else {"subnet-manager": False, **rules}
    wanted = case(4, {"tiers": 2, **(fabric or {})}, site=AS_USUAL, rules=rules, **keys)
    return small.designed(parts() if content is None else content, wanted, alternatives=True)


def spine(design: Design) -> str:
    return next(tier.id for tier in design.fabrics[0].tiers if tier.role == "spine")


def told(design: Design) -> list[str]:
    return [note for note in design.notes if RULE in note]


def is_checked(design: Design) -> bool:
    return "generations_agree" in {check.name for check in design.checks}


# -- what holds -------------------------------------------------------------------------------------------------------


def test_leaves_and_spines_are_of_one_generation() -> None:
    design = designed()
    assert (spine(design), usd(design)) == ("new", ALIKE) and is_checked(design)
    assert [(one.value, one.capex_delta_usd) for one in design.alternatives if one.what == RULE] == [
        ("none", MIXED - ALIKE)
    ]
    (note,) = told(design)
    assert note.endswith("names: Quantum-2 (docs/rules.md#generations-of-infiniband)")


@pytest.mark.long(but=("keys0",))
@pytest.mark.parametrize(
    "keys",
    (
        {"rules": {RULE: False}},
        {"rules": "none"},
        {"fabric": {"switches": {"leaf": ["new"], "spine": ["old", "new"]}}},
    ),
)
def test_a_case_turns_it_off_or_names_both_tiers(keys: Json) -> None:
    design = designed(**keys)
    assert (spine(design), usd(design)) == ("old", MIXED)
    assert not told(design) and not is_checked(design)
    assert RULE not in {one.what for one in design.alternatives}


def test_one_tier_that_is_named_is_under_it() -> None:
    assert usd(designed(fabric={"switches": {"leaf": ["new"]}})) == ALIKE


def test_a_generation_that_is_not_known_goes_with_all() -> None:
    design = designed(parts(asic=None))
    assert (spine(design), usd(design)) == ("old", MIXED) and is_checked(design)
    assert not told(design)
    other = parts(asic=None)
    other["switches"].append(switch("third", cage(4, "1x200"), usd=300, protocol="infiniband", asic="Quantum"))
    design = designed(other)
    assert (spine(design), usd(design)) == ("old", MIXED)
    assert "compute: the catalog does not say of which generation old is: it goes with any" in design.notes


@pytest.mark.parametrize("content", (parts(asic="4x Quantum-2"), parts("ethernet")))
def test_several_asics_of_a_kind_are_one_generation_and_ethernet_has_none(content: Json) -> None:
    design = designed(content)
    assert usd(design) == MIXED and not told(design)


# -- what cannot be kept ----------------------------------------------------------------------------------------------


def test_it_is_left_out_where_no_design_keeps_it() -> None:
    design = designed(fabric={"switches": {"spine": ["old"]}})
    assert (spine(design), usd(design)) == ("old", MIXED) and is_checked(design)
    assert [(row.part, row.fabric, row.why) for row in design.rules_left_out] == [
        (f"rules.{RULE}", "compute", NOT_KEPT)
    ]
    untold = design.model_copy(update={"rules_left_out": ()})
    assert [check.name for check in verify(untold) if not check.ok] == ["generations_agree"]


@pytest.mark.usefixtures("unadvised")
def test_a_budget_is_no_reason_to_leave_it_out() -> None:
    wanted = case(4, {"tiers": 2}, site=AS_USUAL, limits={"budget_usd": ALIKE - 1})
    assert optimize.solve(small.inputs(wanted, parts())).status == "infeasible"


def test_asked_for_by_name_it_stands_in_the_way() -> None:
    wanted = case(4, {"tiers": 2}, rules={RULE: True}, limits={"budget_usd": ALIKE - 1}, site=AS_USUAL)
    design = optimize.solve(small.inputs(wanted, parts()))
    assert design.status == "infeasible"
    assert f"rules.{RULE}" in {conflict.limit for conflict in design.conflicts}


def test_spines_of_a_dragonfly_plus_are_of_the_leaves_generation() -> None:
    fabric = {"tiers": "any", "topologies": ["dragonfly+"], "min_gbps_per_gpu": 10, "max_oversubscription": 64}
    wanted = case(6, fabric)
    rules: list[Json] = [{"subnet-manager": False}, {"subnet-manager": False, RULE: False}]
    kept, off = (small.designed(parts(), wanted | {"rules": {"lengths": False, **one}}) for one in rules)
    assert (spine(kept), spine(off)) == ("new", "old") and usd(off) < usd(kept)


# -- brute force ------------------------------------------------------------------------------------------------------


def of_generations(content: Json, dice: random.Random) -> Json:
    """A catalog for InfiniBand in which each switch has a sister of another size and, mostly, of another generation."""
    content = copy.deepcopy(content)
    for one in (*content["nics"], *content["transceivers"], *content["cables"]):
        one["protocols"] = ["infiniband"]
    for one in list(content["switches"]):
        one |= {"protocol": "infiniband", "asic": "Quantum"}
        sister = copy.deepcopy(one) | {"id": f"{one['id']}-sister", "asic": dice.choice(ASICS)}
        if sister["asic"] is None:
            del sister["asic"]
        if isinstance(one.get("price_usd"), int | float):
            sister["price_usd"] = round(one["price_usd"] * dice.choice((0.5, 0.7, 1.5)), 2)
        for cages in sister["cages"]:
            cages["count"] = max(1, round(cages["count"] * dice.choice((0.6, 1.6))))
        sister.pop("max_ports", None)
        content["switches"].append(sister)
    return content


@pytest.mark.long(but_every=4)
@pytest.mark.long("linear-0", "limited-2", "attached-0", "attached-1")
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in SEEDS.items() for seed in seeds])
def test_random_cases_agree(family: str, seed: int) -> None:
    """Cost, structure and bill; it is never cheaper than without the rule, which gives the bare space again."""
    content, wanted = generate(family, seed)
    dice = random.Random(f"{RULE} {family} {seed}")
    content = of_generations(content, dice)
    fabric = wanted["fabrics"][0] | {"protocol": "infiniband"}
    if dice.random() < 0.2:
        fabric["switches"] = {"spine": [one["id"] for one in content["switches"]][:2]}
    wanted["fabrics"] = [fabric]
    best, kept = best_kept(solve, content, wanted, (RULE,))
    theirs = run(content, wanted)
    assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    bare = solve(content, wanted)
    off = run(content, wanted | {"rules": {"subnet-manager": False, RULE: False}})
    assert differences(None if bare is None else outline_of_best(bare), outline(off)) == {}
    if best is not None:
        assert bare is not None and bare.objective <= best.objective
        assert [row["rule"] for row in theirs["rules_left_out"]] == ([] if kept else [RULE])
