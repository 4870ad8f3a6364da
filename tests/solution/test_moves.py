"""Designs that may take apart what is in service at a price: the cheapest of all, recounted in both wirings."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.comparison import worth_a_look
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.search.choice import search_of
from fabopt.search.coefficients import least_of
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.migration import MIGRATION, UNPLUG, Migration
from fabopt.wiring.model import Wiring
from tests.oracles.brute_endpoints import num_servers
from tests.oracles.brute_force import Space, Structure, candidates, fixed_items, structures
from tests.oracles.brute_purchase import buy, terms_of
from tests.paths import ROOT
from tests.samples import random_growth
from tests.samples.bare import bare
from tests.samples.bases import designed, saved
from tests.samples.growth_samples import eight
from tests.samples.moves import (
    FREE,
    anew_with_what_is_owned,
    assert_costs,
    assert_costs_the_same,
    assert_no_less_where_nothing_moves,
    dearer_moves,
    given,
    moved,
    usd,
)
from tests.samples.random_cases import Dice
from tests.solution.test_in_service import a_base, in_stages

Json = dict[str, Any]
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def test_ports_in_use_are_freed_by_moving_half_of_the_uplinks(tmp_path: Path) -> None:
    """Two leaves of four servers, four links each to a spine of eight ports; then three leaves and two spines.

    Two links of each leaf move. New are a leaf, a spine, four cards, four cables of 10 and four of 20 USD.
    """
    base = designed(eight(), in_stages(8))
    design = moved(eight(), in_stages(12), base, tmp_path, {"cable": 10})
    assert usd(design) == 2 * 1000 + 4 * 100 + 4 * 10 + 4 * 20 + 4 * 10
    (row,) = (row for row in design.bom if row.id == "moved-cable")
    assert (row.in_use, row.unit_price_usd, row.total_usd) == (4, 10, 40)
    moves = design.fabrics[0].moves
    assert moves is not None and (moves.cables, moves.devices) == ({"leaf-spine": 4}, {})
    before, after = wiring_of(base), wiring_of(design)
    assert set(before.cables.name) <= set(after.cables.name)


def test_a_row_says_how_many_cables_in_service_it_moves(tmp_path: Path) -> None:
    """Four servers on two leaves of one rail each, then six: other shapes cost less and move more."""
    cards = {"nics": ["card"], "nics_per_server": 2}
    base = designed(eight(), in_stages(4, **cards))
    inputs = given(eight(), in_stages(6, **cards), base, tmp_path, {"cable": 10, "device": 10})
    design = optimize.solve(inputs, alternatives_s=60)
    here = design.stages[-1].moved_cables
    (row,) = (row for row in design.alternatives if (row.what, row.value) == ("rails", "any"))
    other = moved(eight(), in_stages(6, **cards, rails="any"), base, tmp_path, {"cable": 10, "device": 10})
    assert (usd(other), other.stages[-1].moved_cables) == (row.capex_usd, 12) and here == 4
    assert "; 12 cables in place moved (here 4); " in row.summary
    assert any("12 cables in place moved, not 4" in look.words for look in worth_a_look(design))


@pytest.mark.parametrize("keep", ["leaf-spine", "cables are not priced"])
def test_without_a_price_or_of_a_kind_that_is_kept_nothing_moves(keep: str, tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    if keep == "leaf-spine":
        design = moved(eight(), in_stages(12), base, tmp_path, {"cable": 10, "device": 10}, keep)
    else:
        design = moved(eight(), in_stages(12), base, tmp_path, {"device": 10})
    assert design.status == "infeasible"


def test_what_a_later_stage_adds_is_not_counted_among_what_moves(tmp_path: Path) -> None:
    """Two leaves of four servers of a plan for three: as the plan has it, one comes and nothing moves."""
    plan = designed(eight(), in_stages(5, 8))
    design = moved(eight(), in_stages(8), plan, tmp_path, {"cable": 1000, "device": 1000}, stage="@stage-1")
    assert usd(design) == plan.stages[1].capex_usd
    moves = design.fabrics[0].moves
    assert moves is not None and moves.numbers == (0, 0) and "leaf-spine" in moves.stay


def test_with_nothing_new_nothing_moves(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    design = moved(eight(), in_stages(8), base, tmp_path, {"cable": 1, "device": 1})
    assert usd(design) == 0
    assert wiring_of(design).a_port == wiring_of(base).a_port
    assert wiring_of(design).cables.name == wiring_of(base).cables.name


# -- every design of small bases --------------------------------------------------------------------------------------


@cache
def most_kept(old: tuple[int, ...], new: tuple[int, ...], uplinks: int) -> int:
    """Most cables that stay of leaves with ``old`` servers where ``new`` ones come, each with so many uplinks that
    stay where a leaf in service takes its place.
    """
    if not old:
        return 0
    first, *rest = old
    ways = [most_kept(tuple(rest), new, uplinks)]
    for size in set(new):
        left = list(new)
        left.remove(size)
        ways.append(min(first, size) + uplinks + most_kept(tuple(rest), tuple(left), uplinks))
    return max(ways)


def groups_of(servers: int, size: int) -> tuple[int, ...]:
    whole, last = divmod(servers, size)
    return (*[size] * whole, *[last] * (last > 0))


def least_moves(base: Design, s: Structure, servers: int, move: Json, spines: int | None = None) -> float | None:
    """The least cost of moves from a base to a structure, or to a stage of it with so many ``spines``; None where
    something would move that never does. Of a tier of several products all stay that a tier in service has, or none.
    """
    there = base.fabrics[0].clos
    ids = {tier.role: (tier.id, tier.count) for tier in base.fabrics[0].tiers}
    boxes = {role: (box.product["id"], count) for role, (box, count) in zip(("leaf", "spine"), s.boxes(), strict=False)}
    if spines is not None:
        boxes = {"leaf": (boxes["leaf"][0], len(groups_of(servers, s.g)))} | (
            {"spine": (boxes["spine"][0], spines)} if spines else {}
        )
    mixed = {tier.role: tier.count for tier in base.fabrics[0].tiers if tier.stand_ins}
    boxes = {role: ("", own[1]) if own[1] < mixed.get(role, 0) else own for role, own in boxes.items()}
    devices = sum(
        count - (min(count, boxes[role][1]) if role in boxes and boxes[role][0] == id_ else 0)
        for role, (id_, count) in ids.items()
    )
    same = {role: role in boxes and boxes[role][0] == id_ for role, (id_, _) in ids.items()}
    before = base.stages[-1].servers
    cables = before + ids["leaf"][1] * there.links_per_pair * there.spines_per_pod * (there.tiers > 1)
    of_pod = s.spines_per_pod if spines is None else spines
    uplinks = min(there.spines_per_pod, of_pod) * min(there.links_per_pair, s.m) if same.get("spine") else 0
    kept = 0
    if same["leaf"]:
        g = min(there.servers_per_group, before)
        kept = most_kept(groups_of(before, g), groups_of(servers, s.g), uplinks)
    if (cables > kept and move.get("cable") is None) or (devices and move.get("device") is None):
        return None
    return (cables - kept) * move.get("cable", 0) + devices * move.get("device", 0)


def with_stock(parts: Json, base: Design) -> Json:
    """A catalog with the parts of a base in stock."""
    stocked: Json = json.loads(json.dumps(parts))
    for row in base.bom:
        for kind in ("switches", "nics", "cables", "fibres", "transceivers"):
            for product in stocked.get(kind, ()):
                if product["id"] == row.id:
                    lengths = [one for one in product.get("lengths", ()) if one["m"] == row.length_m]
                    for holder in lengths or [product]:
                        holder["stock"] = holder.get("stock", 0) + row.in_use
    return stocked


def least_with_moves(parts: Json, content: Json, base: Design, move: Json) -> float | None:
    """The least capex in US dollars of all designs, with the least moves to each; None if there is none."""
    case = {**content, "servers": content["stages"][-1]["servers"]}
    del case["stages"]
    space, terms = Space(with_stock(parts, base), case), terms_of(case)
    least: float | None = None
    for _, _, structure, choice in candidates(space, terms, structures)[0]:
        moves = least_moves(base, structure, num_servers(space.case, space.server), move)
        items, power = fixed_items(space, structure)
        purchase = buy(space.item_table, terms, items, power, [one for mode in choice for one in mode.classes])
        if purchase is not None and moves is not None:
            cost = purchase.capex / 100 + moves
            least = cost if least is None else min(least, cost)
    return least


def prices(dice: Dice) -> Json:
    cable, device = dice.one([None, 0, 5, 40, 200]), dice.one([None, 0, 100, 700])
    return {name: price for name, price in (("cable", cable), ("device", device)) if price is not None}


@pytest.mark.long("3")
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 24 * MORE_SEEDS))]
)
def test_no_design_with_moves_of_a_small_base_is_cheaper(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"moves-{seed}")
    parts, before, after = a_base(dice)
    base = designed(parts, before)
    if base.status != "optimal":
        return
    move = prices(dice)
    assert_costs(moved(parts, after, base, tmp_path, move), least_with_moves(parts, after, base, move))


# -- properties -------------------------------------------------------------------------------------------------------


def bases(seeds: int) -> list[Any]:
    """Numbers of random bases; two are short."""
    return [seed if seed < 2 else pytest.param(seed, marks=pytest.mark.long) for seed in range(seeds * MORE_SEEDS)]


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", bases(20))
def test_moves_at_no_cost_are_the_green_field_less_what_is_owned(seed: int, tmp_path: Path) -> None:
    parts, before, after = a_base(Dice(f"free-moves-{seed}"))
    base = designed(parts, before)
    if base.status != "optimal":
        return
    anew = anew_with_what_is_owned(parts, after, base, tmp_path)
    assert_costs_the_same(moved(parts, after, base, tmp_path, FREE), anew)


@pytest.mark.long(but=("1",))
@pytest.mark.parametrize("seed", bases(12))
def test_dearer_moves_never_lower_the_cost(seed: int, tmp_path: Path) -> None:
    """Nor is a design in which nothing moves below one in which all may."""
    parts, before, after = a_base(Dice(f"dearer-moves-{seed}"))
    base = designed(parts, before)
    paid = [usd_ for _, usd_ in dearer_moves(parts, after, base, tmp_path, (0, 1, 3, 10, 100))]
    assert_no_less_where_nothing_moves(parts, after, base, tmp_path, paid)


def staged(family: str, seed: int) -> tuple[Json, Json]:
    """A random catalog, and a case of several stages without rules, whose objective is the purchase price."""
    parts, content = random_growth.generate(family, seed)
    content = bare({key: value for key, value in content.items() if key not in ("catalog", "growth", "finance")})
    return parts, content | {"objective": "capex_usd", "include_servers": False, "rules": "none"}


@pytest.mark.long(but=("0-staged", "1-staged_three_tier"))
@pytest.mark.parametrize("family", ["staged", "staged_three_tier"])
@pytest.mark.parametrize("seed", bases(8))
def test_moves_of_any_base_are_found_in_the_wiring(family: str, seed: int, tmp_path: Path) -> None:
    """Random catalogs with cages of several ports, splitters and cards of several ports: every check holds."""
    parts, content = staged(family, seed)
    first, last = ({**content, "stages": [{**content["stages"][at], "month": 0}]} for at in (0, -1))
    base = designed(parts, first)
    if base.status != "optimal":
        return
    costs = [usd(moved(parts, last, base, tmp_path, move)) for move in (FREE, {"cable": 30, "device": 200})]
    assert costs == sorted(costs)


@pytest.mark.long(but=("2-staged",))
@pytest.mark.parametrize("family", ["staged", "staged_three_tier"])
@pytest.mark.parametrize("seed", bases(8))
def test_what_a_stage_of_a_plan_has_need_not_move_for_the_next(family: str, seed: int, tmp_path: Path) -> None:
    """Moves count what is there at the stage, not what the plan adds later; so the next stage costs what it did."""
    parts, content = staged(family, seed)
    both = [{**content["stages"][at], "name": name, "month": 0} for at, name in ((0, "now"), (-1, "then"))]
    plan = designed(parts, {**content, "stages": both})
    if plan.status != "optimal":
        return
    try:
        after = {**content, "stages": both[1:]}
        dear, cheap = (
            usd(moved(parts, after, plan, tmp_path, {"cable": price, "device": price}, stage="@now"))
            for price in (10_000, 0)
        )
    except InputError:
        return
    assert cheap <= dear <= plan.stages[1].capex_usd


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", bases(16))
def test_moves_of_small_clusters_of_cards_are_found_in_the_wiring(seed: int, tmp_path: Path) -> None:
    """DGX H100 of 8 cards, whose ports spread over other numbers of leaves as they grow: every check holds.

    The first seed is 8 servers that become 12, on aligned rails.
    """
    dice = Dice(f"cards-{seed}")
    before = dice.number(8, 16) if seed else 8
    after = before + dice.number(0, 12) if seed else 12
    fabric: Json = {"name": "compute", "protocol": "infiniband", "tiers": 2, "groups": "equal"}
    content: Json = {
        "name": "live", "server": "nvidia-dgx-h100", "rules": "none", "resilience": "none",
        "fabrics": [fabric | {"rails": dice.one(["aligned", "any"]) if seed else "aligned"}],
    }  # fmt: skip
    base = optimize.solve(inputs_from_objects({**content, "servers": before}), alternatives_s=0)
    content["fabrics"] = [fabric | {"rails": dice.one(["aligned", "any"]) if seed else "aligned"}]
    said = {"file": str(saved(base, tmp_path)), "move": {"cable": 60, "device": 400}}
    design = optimize.solve(inputs_from_objects({**content, "servers": after, "base": said}), alternatives_s=0)
    usd(design)
    moves, there, now = design.fabrics[0].moves, wiring_of(base), wiring_of(design)
    assert moves is not None
    cables = len(set(cabled(there)) - set(cabled(now)))
    assert sum(moves.cables.values()) == cables
    # of 64 cables of servers one port in four, or two, of each on either leaf stay; uplinks in as many cages as planned
    assert cables == {5: 48 + 50, 6: 32 + 38}.get(seed, cables)
    if not seed:
        # uplinks first: all 64 ports of the spine are in use, and new leaves have to reach the others
        steps = Migration(there, now).steps
        assert "leaf" in next(step.cable.links[0][0] for step in steps if step.act == UNPLUG)
        assert not any(note.startswith(MIGRATION) for note in design.notes)


def test_what_can_stay_of_servers_that_spread_over_more_leaves_stays(tmp_path: Path) -> None:
    """8 DGX H100 on 2 leaves and 2 spines, four ports of each on either leaf and 8 cables of 2 links to each spine.

    For 12 there are 4 leaves with two ports of each server and 6 cables to each spine. By hand half of the 64 server
    cables stay, and 2 x 2 x 6 of 32 others; none of the servers loses more than one rail at a time.
    """
    switches = {"leaf": ["nvidia-qm9700"], "spine": ["nvidia-qm9700"]}
    content: Json = {
        "name": "live", "server": "nvidia-dgx-h100", "workload": {"profile": "pretraining"},
        "fabrics": [{"name": "compute", "protocol": "infiniband", "tiers": 2, "switches": switches}],
    }  # fmt: skip
    base = optimize.solve(inputs_from_objects({**content, "servers": 8}), alternatives_s=0)
    said = {"file": str(saved(base, tmp_path)), "move": {"cable": 60, "device": 400}}
    design = optimize.solve(inputs_from_objects({**content, "servers": 12, "base": said}), alternatives_s=0)
    usd(design)
    moves = design.fabrics[0].moves
    assert moves is not None and (moves.cables, moves.devices) == ({"server-leaf": 32, "leaf-spine": 8}, {})
    steps = Migration(wiring_of(base), wiring_of(design)).steps
    assert {step.lost for step in steps} <= {0, 1}


def cabled(wiring: Wiring) -> list[tuple[str, tuple[tuple[str, str, str, str], ...]]]:
    """Cables by label, with all their links from port to port."""
    names, links = wiring.devices.name, wiring.links
    joined: dict[str, list[tuple[str, str, str, str]]] = {}
    ends = zip(links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port, links.cable.tolist(), strict=True)
    for a, a_port, b, b_port, cable in ends:
        joined.setdefault(wiring.cables.name[cable], []).append((names[a], a_port, names[b], b_port))
    return [(name, tuple(sorted(ports))) for name, ports in joined.items()]


def test_a_file_that_moves_more_or_less_than_it_says_is_refused(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    design = moved(eight(), in_stages(12), base, tmp_path, {"cable": 10})
    content = design.model_dump(mode="json", by_alias=True)
    for count in (3, 5):
        content["fabrics"][0]["moves"]["cables"]["leaf-spine"] = count
        failed = {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}
        assert {"base_stays", "bom_covers_parts"} <= failed
    content = design.model_dump(mode="json", by_alias=True)
    content["case"]["content"]["base"]["keep"] = ["leaf-spine"]
    failed = {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}
    assert "base_stays" in failed


def test_a_full_pod_of_dgx_grows_by_moving_half_of_its_uplinks(tmp_path: Path) -> None:
    """32 servers on 8 leaves and 4 spines whose 64 ports are all in use. For 64 servers there are 16 leaves and 8
    spines with 4 links each: of 32 uplinks of a leaf 16 move. Without moves there is no design.
    """
    content: Json = {
        "name": "live", "server": "nvidia-dgx-h100", "gpus": 256, "rules": "none", "resilience": "none",
        "fabrics": [{"name": "compute", "protocol": "infiniband", "tiers": 2, "groups": "equal"}],
        "site": {"distances_m": {"server-leaf": 10, "leaf-spine": 30, "spine-core": 50}},
    }  # fmt: skip
    base = optimize.solve(inputs_from_objects(content), alternatives_s=0)
    assert [(tier.role, tier.count) for tier in base.fabrics[0].tiers] == [("leaf", 8), ("spine", 4)]
    said = {"file": str(saved(base, tmp_path)), "move": {"cable": 60}}
    grown = inputs_from_objects({**content, "gpus": 512, "base": said})
    design = optimize.solve(grown, alternatives_s=0)
    usd(design)
    moves = design.fabrics[0].moves
    assert [(tier.role, tier.count) for tier in design.fabrics[0].tiers] == [("leaf", 16), ("spine", 8)]
    assert moves is not None and (moves.cables, moves.devices) == ({"leaf-spine": 8 * 16}, {})
    still = inputs_from_objects({**content, "gpus": 512, "base": {"file": said["file"]}})
    problem = problem_of(still.case, still.catalog)
    assert search_of(problem, Settings(), Clock(None)).any_design().verdict == "infeasible"


def test_keys_that_do_not_go_with_moves_are_told_at_once(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    content = in_stages(8, 12, attachments=[{"name": "odd", "ports": 1, "buys": "none"}])
    with pytest.raises(InputError) as refusal:
        given(eight(), content, base, tmp_path, {"cable": 10})
    told = {fault.path: str(fault) for fault in refusal.value.faults}
    assert set(told) == {"fabrics[0].attachments"}
    assert all("does not go with `base.move`; found 'compute'" in text for text in told.values())


# -- several fabrics --------------------------------------------------------------------------------------------------


def of_two(content: Json, **storage: Any) -> Json:
    """A case with its fabric twice: for computing, and for storage with keys of its own."""
    (fabric,) = content["fabrics"]
    other = {**fabric, "name": "storage", "role": "storage", "homing": "single", **storage}
    return {**content, "fabrics": [fabric, other]}


def parts_of_two(parts: Json) -> Json:
    """A catalog whose servers have slots for cards of both fabrics."""
    (server,) = parts["servers"]
    return {**parts, "servers": [{**server, "nic_slots": 2 * server["nic_slots"]}]}


def test_moves_of_several_fabrics_are_summed(tmp_path: Path) -> None:
    """Of either fabric two links of each of two leaves move to a second spine, as of one alone."""
    parts, before, after = parts_of_two(eight()), in_stages(8), in_stages(12)
    move = {"cable": 10, "device": 400}
    base_alone = designed(eight(), before)
    alone = moved(eight(), after, base_alone, tmp_path, move)
    base = designed(parts, of_two(before))
    both = moved(parts, of_two(after), base, tmp_path, move)
    assert usd(both) == 2 * usd(alone)
    assert [fabric.moves for fabric in both.fabrics] == [alone.fabrics[0].moves] * 2
    steps = Migration(wiring_of(base), wiring_of(both)).steps
    assert len(steps) == 2 * len(Migration(wiring_of(base_alone), wiring_of(alone)).steps) > 0


def test_nics_stay_where_several_fabrics_move(tmp_path: Path) -> None:
    """A card for nothing would do; ports of the other fabric would be those of another NIC."""
    parts = parts_of_two(eight())
    base = designed(parts, of_two(in_stages(8)))
    cheaper = {**parts, "nics": [*parts["nics"], {**parts["nics"][0], "id": "new", "price_usd": 0}]}
    design = moved(cheaper, of_two(in_stages(12)), base, tmp_path, FREE)
    assert usd(design) == usd(moved(parts, of_two(in_stages(12)), base, tmp_path, FREE))
    assert {fabric.nic.id for fabric in design.fabrics} == {"card"}


# seed 7: groups of three servers that could be of two, so that servers of one fabric would change places
@pytest.mark.long(but=("7",))
@pytest.mark.parametrize("seed", range(12 * MORE_SEEDS))
def test_several_fabrics_cost_what_each_does_alone_or_keep_servers_in_order(seed: int, tmp_path: Path) -> None:
    """No dearer than beside each other without moves, and with dearer moves never cheaper."""
    dice = Dice(f"moves-of-two-{seed}")
    parts, before, after = a_base(dice)
    ratio = {"max_oversubscription": dice.one([1, 1.5, 2, 3])}
    both, last = parts_of_two(parts), 0.0
    base = designed(both, of_two(before, **ratio))
    if base.status != "optimal":
        return
    for price in (0, 40):
        design = moved(both, of_two(after, **ratio), base, tmp_path, {"cable": price, "device": price})
        assert last <= usd(design)
        last = usd(design)
    still = moved(both, of_two(after, **ratio), base, tmp_path, None)
    assert still.totals is None or last <= usd(still)


def test_what_cannot_keep_what_never_moves_is_not_even_sized(tmp_path: Path) -> None:
    """All ports of the spine are in use: no pod has its leaves on as many links and others too."""
    base = designed(eight(), in_stages(8))
    inputs = given(eight(), in_stages(12, tiers=[1, 2, 3]), base, tmp_path, {"cable": 10, "device": 10}, "leaf-spine")
    found = search_of(problem_of(inputs.case, inputs.catalog), Settings(), Clock(None)).any_design()
    assert found.verdict == "infeasible" and found.sized <= 5


# -- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("0-small", "1-small"))
@pytest.mark.parametrize("family", ["staged", "staged_three_tier", "small"])
@pytest.mark.parametrize("seed", bases(12))
def test_no_candidate_moves_less_than_its_bound(family: str, seed: int, tmp_path: Path) -> None:
    """Of every size that there is, at dear moves; and what bounds cut is not the optimum."""
    if family == "small":
        parts, first, last = a_base(Dice(f"bounds-{seed}"))
    else:
        parts, content = staged(family, seed)
        first, last = ({**content, "stages": [{**content["stages"][at], "month": 0}]} for at in (0, -1))
    base = designed(parts, first)
    if base.status != "optimal":
        return
    inputs = given(parts, last, base, tmp_path, {"cable": 5_000, "device": 9_000})
    problem, optima = problem_of(inputs.case, inputs.catalog), []
    for settings in (Settings(prune=False), Settings()):
        search = search_of(problem, settings, Clock(None))
        expanded = search.expansion.expand(np.zeros(len(search.expansion.caps) - 1))
        for sizing in expanded.sizings:
            for batch in sizing.batches:
                for index in range(len(batch)):
                    costs = [
                        least_of(candidate, expanded.weights)
                        for candidate in search.expansion.candidates_at(batch, index)
                    ]
                    assert batch.bound(index) <= min(costs, default=np.inf) * (1 + 1e-9)
        optima.append(search.run().value)
    assert optima[0] == optima[1]


def test_dear_moves_are_proven_at_once() -> None:
    """Half of the uplinks of 32 servers move, at 100,000 USD each: other sizes that move more are not even built."""
    content = yaml.safe_load((ROOT / "cases" / "live-h100-64.yaml").read_text())
    base = {"file": str(ROOT / "cases" / "live-h100-64.base.json"), "move": {"cable": 100_000, "device": 100_000}}
    inputs = inputs_from_objects({**content, "base": base})
    found = search_of(problem_of(inputs.case, inputs.catalog), Settings(), Clock(None)).run()
    assert (found.verdict, found.value) == (
        "optimal",
        100 * (1_014_400 - 128 * 60 + 128 * 100_000),
    ) and found.sized < 200
