"""Lists of switches beside what may move: what is in service may stay whatever they name, and no more of it is new."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabopt.schema.design import Design
from fabopt.verify import verify
from tests.oracles.brute_endpoints import num_servers
from tests.oracles.brute_force import Space, Structure, candidates, fixed_items, structures
from tests.oracles.brute_parts import Json
from tests.oracles.brute_purchase import buy, terms_of
from tests.samples.bases import designed, gone_on
from tests.samples.moves import assert_costs, moved, usd
from tests.samples.random_cases import Dice
from tests.solution.test_beside import OTHER, OWN, a_base, in_stages, models, types
from tests.solution.test_brute_force import cage, catalog, switch
from tests.solution.test_moves import least_moves, prices, with_stock

MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


@pytest.mark.parametrize(("ports", "leaves"), [(8, {"own": 1, "other": 1}), (9, {"other": 2})])
def test_what_the_case_does_not_name_stays_where_it_may_move(ports: int, leaves: Json, tmp_path: Path) -> None:
    """A leaf in service stays beside a new one with its ports, which is of the model named; else both are of that."""
    parts, content = models(1100, ports=ports), in_stages(8, switches={**OTHER, "spine": ["own"]})
    design = moved(parts, content, a_base(), tmp_path, {"cable": 1, "device": 1}, stage="@stage-1")
    usd(design)
    assert types(design)["leaf"] == leaves


def test_with_nothing_new_nothing_moves_whatever_is_named(tmp_path: Path) -> None:
    base = designed(models(900), in_stages(8, switches=OWN))
    for rules in ({}, {"rules": {"interchangeable": False}}):
        content = in_stages(8, switches={"leaf": ["other"], "spine": ["other"]}) | rules
        assert usd(moved(models(1), content, base, tmp_path, {"cable": 1, "device": 1})) == 0


def test_more_of_what_the_case_does_not_name_is_noticed(tmp_path: Path) -> None:
    """A leaf that the list does not name is counted twice; or once, and is said to be taken out."""
    content = in_stages(8, switches=OTHER)
    design = moved(models(1100), content, a_base(), tmp_path, {"cable": 1, "device": 1}, stage="@stage-1")
    (fabric,) = design.fabrics
    leaf, *others = fabric.tiers
    assert fabric.moves is not None
    all_own = leaf.model_copy(update={"id": "own", "stand_ins": ()})
    more = fabric.model_copy(update={"tiers": (all_own, *others)})
    gone = fabric.model_copy(update={"moves": fabric.moves.model_copy(update={"devices": {"leaf": 1}})})
    for wrong in (more, gone):
        failed = {check.name for check in verify(design.model_copy(update={"fabrics": (wrong,)})) if not check.ok}
        assert "products_are_offered" in failed


# -- every design of small bases --------------------------------------------------------------------------------------


def a_listed_base(dice: Dice) -> tuple[Json, Design, Json]:
    """Two models, alike or not, a base of one or both, and a case that goes on from it and names some for each tier."""
    ports = dice.number(5, 8)
    usd_of = {id_: dice.number(600, 1200) for id_ in ("own", "other")}
    sizes = {"own": ports, "other": ports if dice.number(0, 1) else dice.number(5, 9)}
    parts = catalog(switches=[switch(id_, cage(sizes[id_], "1x100"), usd=usd_of[id_]) for id_ in usd_of])
    there = {"leaf": ["own"], "spine": [dice.one(["own", "own", "other"])]}
    servers, tiers = dice.number(2, 8), dice.one([[1, 2], 2, 2])
    ratio, more = dice.one([1, 1.5, 2, 3]), dice.one([1, 1.5, 2, 3])
    base = designed(parts, in_stages(servers, tiers=tiers, max_oversubscription=ratio, switches=there))
    named = {role: dice.one([["other"], ["other"], ["own"], ["own", "other"]]) for role in there}
    last = dice.number(servers, 11)
    return parts, base, in_stages(last, tiers=[1, 2], max_oversubscription=more, switches=named)


@pytest.mark.long(but=("3",))
@pytest.mark.parametrize("seed", range(60 * MORE_SEEDS))
def test_moves_that_may_be_are_never_dearer_than_none(seed: int, tmp_path: Path) -> None:
    """In one stage, or in two."""
    dice = Dice(f"lists-beside-moves-{seed}")
    parts, base, content = a_listed_base(dice)
    if base.status != "optimal":
        return
    if dice.number(0, 2) == 0:
        (last,) = content["stages"]
        first = dice.number(base.stages[-1].servers, last["servers"])
        content["stages"] = [{**last, "name": "first", "servers": first}, last]
    still = gone_on(parts, content, base, tmp_path)
    if still.status == "optimal":
        assert usd(moved(parts, content, base, tmp_path, prices(dice))) <= usd(still)


def least_of_listed(parts: Json, content: Json, base: Design, move: Json) -> float | None:
    """The least capex in US dollars of all designs, with the least moves to each; None if there is none.

    Switches that the case does not name are no cost where they stay, and beside them come named ones with their ports.
    """
    named = content["fabrics"][0]["switches"]
    case = {**content, "servers": content["stages"][-1]["servers"]}
    case["fabrics"] = [{**content["fabrics"][0], "switches": {}}]
    del case["stages"]
    bought = {one["id"]: one for one in parts["switches"]}
    stocked = with_stock(parts, base)
    unstocked = {**stocked, "switches": parts["switches"]}
    space, terms = Space(unstocked, case), terms_of(case)
    owned = {one["id"]: one.get("stock", 0) for one in stocked["switches"]}
    least: float | None = None
    for _, _, structure, choice in candidates(space, terms, structures)[0]:
        moves = least_moves(base, structure, num_servers(space.case, space.server), move)
        saved_usd = spared(structure, base, named, bought, dict(owned))
        items, power = fixed_items(space, structure)
        purchase = buy(space.item_table, terms, items, power, [one for mode in choice for one in mode.classes])
        if purchase is not None and moves is not None and saved_usd is not None:
            cost = purchase.capex / 100 + moves - saved_usd
            least = cost if least is None else min(least, cost)
    return least


def spared(s: Structure, base: Design, named: Json, bought: Json, owned: dict[str, int]) -> float | None:
    """US dollars that switches of a structure cost less than if all were bought; None where some may not be bought."""
    there = {tier.role: (tier.id, tier.count) for tier in base.fabrics[0].tiers}
    spared_usd, rest = 0.0, []
    for role, (box, count) in zip(("leaf", "spine"), s.boxes(), strict=False):
        id_, own = there.get(role, ("", 0))
        stay = min(count, own) if id_ == box.product["id"] else 0
        price = box.product["price_usd"]
        alike = [one for one in bought.values() if one["cages"] == box.product["cages"] and one["id"] in named[role]]
        if count > stay and not alike:
            return None
        owned[id_] = owned.get(id_, 0) - stay
        spared_usd += stay * price
        rest.append((count - stay, price, alike))
    for new, price, alike in rest:
        for one in sorted(alike, key=lambda one: one["price_usd"]):
            # what is on hand, of any named product, before the cheapest
            taken = min(new, owned[one["id"]])
            owned[one["id"]], new, spared_usd = owned[one["id"]] - taken, new - taken, spared_usd + taken * price
        spared_usd += new * (price - min([one["price_usd"] for one in alike], default=0)) if new else 0
    return spared_usd


@pytest.mark.long(but=("2",))
@pytest.mark.parametrize("seed", range(60 * MORE_SEEDS))
def test_no_design_with_moves_is_cheaper_whatever_is_named(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"named-beside-moves-{seed}")
    parts, base, content = a_listed_base(dice)
    if base.status != "optimal":
        return
    move = prices(dice)
    assert_costs(moved(parts, content, base, tmp_path, move), least_of_listed(parts, content, base, move))
