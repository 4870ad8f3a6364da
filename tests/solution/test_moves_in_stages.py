"""Designs that take apart what is in service and then grow: it moves at the first stage, and later ones only add."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.io.case import inputs_from_text
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.oracles.brute_endpoints import num_servers
from tests.oracles.brute_force import Space, Structure, candidates, fixed_items, structures
from tests.oracles.brute_parts import Json, exact
from tests.oracles.brute_purchase import buy, terms_of
from tests.paths import ROOT
from tests.samples.bases import designed
from tests.samples.growth_samples import eight
from tests.samples.moves import (
    FREE,
    anew_with_what_is_owned,
    assert_costs,
    assert_costs_the_same,
    assert_no_less_where_nothing_moves,
    dearer_moves,
    moved,
    usd,
)
from tests.samples.random_cases import Dice
from tests.solution.test_in_service import a_base, in_stages
from tests.solution.test_moves import bases, groups_of, least_moves, prices, staged, with_stock

MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def test_uplinks_move_at_the_first_stage_though_only_the_second_fills_their_ports(tmp_path: Path) -> None:
    """Two leaves of four servers, four links each to a spine of eight ports; then nothing more, then three leaves.

    Two links of each leaf move to the second spine at once; the third leaf comes with its servers.
    """
    base = designed(eight(), in_stages(8))
    design = moved(eight(), in_stages(8, 12), base, tmp_path, {"cable": 10})
    assert usd(design) == (1000 + 4 * 10) + (1000 + 4 * 100 + 4 * 10 + 4 * 20)
    assert [stage.moved_cables for stage in design.stages] == [4, 0]
    moves = design.fabrics[0].moves
    assert moves is not None and (moves.cables, moves.devices) == ({"leaf-spine": 4}, {})


def test_cages_of_later_links_leave_room_for_those_that_stay() -> None:
    """Two ports a cage: an uplink of the fifth leaf stays in a cage whose number a leaf of the second stage would take,
    and each module comes with the first link of its cage.
    """
    content = yaml.safe_load((ROOT / "cases" / "live-h100-64.yaml").read_text())
    del content["servers"]
    content["stages"] = [{"name": "now", "servers": 64}, {"name": "later", "servers": 96, "month": 12}]
    content["site"] = {"distances_m": {"server-leaf": 7.3, "leaf-spine": 10}}
    inputs = inputs_from_text(yaml.safe_dump(content), ROOT / "cases" / "grown.yaml")
    design = optimize.solve(inputs, alternatives_s=0)
    assert [stage.moved_cables for stage in design.stages] == [192, 0]
    assert [check for check in design.checks if not check.ok] == []


# -- every design of small bases --------------------------------------------------------------------------------------


def in_two(dice: Dice) -> tuple[Json, Json, Json]:
    """A small base, and a case of two stages that goes on from it."""
    parts, before, after = a_base(dice)
    last = after["stages"][0]
    first = dice.number(before["stages"][0]["servers"], last["servers"])
    return parts, before, {**after, "stages": [{**last, "name": "first", "servers": first}, last]}


def least_at_first(base: Design, s: Structure, servers: int, move: Json, ratio: Any) -> float | None:
    """The least cost of moves to the first stage of a structure, with any number of spines that it may have then."""
    groups = groups_of(servers, s.g)
    if len(groups) == 1:
        return least_moves(base, s, servers, move, 0)
    enough = (one for one in range(1, s.spines_per_pod + 1) if groups[0] <= exact(ratio) * one * s.m)
    costs = (least_moves(base, s, servers, move, spines) for spines in enough)
    return min((cost for cost in costs if cost is not None), default=None)


def least_in_stages(parts: Json, content: Json, base: Design, move: Json) -> float | None:
    """The least capex in US dollars of all designs whose moves are made by the first stage; None if there is none.

    Prices are the same at all stages, so that a design costs what its last stage does.
    """
    first, last = (stage["servers"] for stage in content["stages"])
    case = {**content, "servers": last}
    del case["stages"]
    space, terms = Space(with_stock(parts, base), case), terms_of(case)
    ratio = case["fabrics"][0]["max_oversubscription"]
    least: float | None = None
    for _, _, structure, choice in candidates(space, terms, structures)[0]:
        assert num_servers(space.case, space.server) == last
        moves = least_at_first(base, structure, first, move, ratio)
        items, power = fixed_items(space, structure)
        purchase = buy(space.item_table, terms, items, power, [one for mode in choice for one in mode.classes])
        if purchase is not None and moves is not None:
            cost = purchase.capex / 100 + moves
            least = cost if least is None else min(least, cost)
    return least


# seed 50: spines in service stay, of which the first stage needs fewer
@pytest.mark.long(but=("50",))
@pytest.mark.parametrize("seed", range(60 * MORE_SEEDS))
def test_no_plan_with_moves_of_a_small_base_is_cheaper(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"moves-in-stages-{seed}")
    parts, before, after = in_two(dice)
    base = designed(parts, before)
    if base.status != "optimal":
        return
    move = prices(dice)
    assert_costs(moved(parts, after, base, tmp_path, move), least_in_stages(parts, after, base, move))


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(24 * MORE_SEEDS))
def test_no_plan_with_moves_and_charges_is_cheaper(seed: int, tmp_path: Path) -> None:
    """A tenth on all that is bought, which moves are not, and 70 USD for each new server; none for the fabric."""
    dice = Dice(f"moves-with-charges-{seed}")
    parts, before, after = in_two(dice)
    base, move = designed(parts, before), prices(dice)
    if base.status != "optimal":
        return
    dearer = json.loads(json.dumps(parts), object_hook=with_a_tenth)
    least = least_in_stages(dearer, after, base, move)
    per = [{"name": "support", "usd": 70, "per": "server"}, {"name": "design", "usd": 900, "per": "fabric"}]
    charges = [*per, {"name": "tax", "percent": 10, "kinds": ["switch", "nic", "cable"]}]
    design = moved(parts, {**after, "charges": charges}, base, tmp_path, move)
    if least is None:
        assert design.status == "infeasible"
        return
    added = after["stages"][-1]["servers"] - before["stages"][-1]["servers"]
    assert usd(design) == pytest.approx(least + 70 * added, abs=0.005)


def with_a_tenth(product: Json) -> Json:
    """A product, or a length of one, at a price that is a tenth higher."""
    return product | {"price_usd": round(product["price_usd"] * 1.1, 2)} if "price_usd" in product else product


# -- properties -------------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", bases(24))
def test_moves_at_no_cost_are_the_plan_on_a_green_field_less_what_is_owned(seed: int, tmp_path: Path) -> None:
    parts, before, after = in_two(Dice(f"free-moves-in-stages-{seed}"))
    base = designed(parts, before)
    if base.status != "optimal":
        return
    anew = anew_with_what_is_owned(parts, after, base, tmp_path)
    assert_costs_the_same(moved(parts, after, base, tmp_path, FREE), anew)


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", bases(24))
def test_dearer_moves_and_more_that_is_kept_never_lower_the_cost(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"dearer-moves-in-stages-{seed}")
    parts, before, after = in_two(dice)
    base = designed(parts, before)
    kept, paid = dice.one(["leaf-spine", "server-leaf", "spine", "leaf"]), list[float]()
    for move, costs in dearer_moves(parts, after, base, tmp_path, (0, 3, 100)):
        paid.append(costs)
        held = moved(parts, after, base, tmp_path, move, kept)
        if held.status != "infeasible":
            moves = held.fabrics[0].moves
            assert usd(held) >= costs and moves is not None and kept not in {**moves.cables, **moves.devices}
    assert_no_less_where_nothing_moves(parts, after, base, tmp_path, paid)


@pytest.mark.long(but=("50",))
@pytest.mark.parametrize("seed", range(60))
def test_one_more_stage_of_nothing_changes_nothing(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"moves-in-stages-{seed}")
    parts, before, after = in_two(dice)
    base, move = designed(parts, before), prices(dice)
    if base.status != "optimal":
        return
    for stages in (after["stages"][-1:], after["stages"]):
        once, again = (
            moved(parts, {**after, "stages": list(of_case)}, base, tmp_path, move)
            for of_case in (stages, [*stages, {**stages[-1], "name": "nothing"}])
        )
        assert once.status == again.status
        if once.status == "optimal":
            assert [stage.capex_usd for stage in again.stages] == [*(stage.capex_usd for stage in once.stages), 0]


@pytest.mark.long(but=("0-staged", "3-staged_three_tier"))
@pytest.mark.parametrize("family", ["staged", "staged_three_tier"])
@pytest.mark.parametrize("seed", [seed for seed in range(16 * MORE_SEEDS) if seed != 5])
def test_plans_with_moves_of_any_base_are_found_in_the_wiring(family: str, seed: int, tmp_path: Path) -> None:
    """Random catalogs with cages of several ports, splitters and cards of several ports: every check holds."""
    parts, content = staged(family, seed)
    first, *rest = ({**stage, "month": 0} for stage in content["stages"])
    base = designed(parts, {**content, "stages": [first]})
    if base.status != "optimal":
        return
    for after in ([{**first, "name": "again"}, *rest], rest):
        asked = {**content, "stages": after}
        if designed(parts, asked).status != "optimal":
            return
        costs = [usd(moved(parts, asked, base, tmp_path, move)) for move in (FREE, {"cable": 30, "device": 200})]
        assert costs == sorted(costs)
