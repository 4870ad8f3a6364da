"""Fabrics whose servers are on two leaves each, with their peer links, may move as any others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.schema.design import Design
from tests.oracles import brute_pairs
from tests.oracles.brute_endpoints import num_servers
from tests.oracles.brute_force import Space, Structure, candidates, fixed_items
from tests.oracles.brute_pairs import CABLES, PEER_LINK
from tests.oracles.brute_purchase import buy, terms_of
from tests.samples.bases import designed
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cage, catalog, switch
from tests.solution.test_in_service import in_stages
from tests.solution.test_moves import FREE, groups_of, most_kept, moved, prices, usd, with_stock
from tests.solution.test_pairs_in_service import a_base

Json = dict[str, Any]


def of_pairs(dice: Dice) -> tuple[Json, Json, Json]:
    """A catalog of two models, a case whose servers have a port on either leaf of a pair, and one that goes on."""
    features = dice.one([["mlag"], ["mlag"], ["evpn-multihoming"]])
    switches = [
        {**switch(f"model-{at}", cage(ports, "1x100")), "price_usd": price, "features": features}
        for at, (ports, price) in enumerate(((dice.number(4, 7), 800), (dice.number(7, 10), dice.number(900, 2000))))
    ]
    parts = catalog(switches=switches)
    parts["servers"][0]["nic_slots"] = 2
    before = dice.number(1, 6)
    pairing = "peer-link" if features == ["mlag"] else "multihoming"
    keys: Json = {"max_oversubscription": dice.one([1, 2, 3]), "pairing": pairing}
    first = in_stages(before, tiers=dice.one([[1, 2], 2]), **keys)
    return parts, first, in_stages(before + dice.one([0, 1, 2, 6]), tiers=[1, 2], **keys)


def least_moves(base: Design, s: Structure, servers: int, move: Json) -> float | None:
    """The least cost of moves from a base to a structure, pair by pair; None where something would move that never
    does.
    """
    fabric, before = base.fabrics[0], base.stages[-1].servers
    there, tiers = fabric.clos, {tier.role: tier for tier in fabric.tiers}
    boxes = {role: (box.product["id"], n) for role, (box, n) in zip(("leaf", "spine"), s.boxes(), strict=False)}
    same = {role: boxes.get(role, ("", 0))[0] == tier.id for role, tier in tiers.items()}
    devices = sum(tier.count - min(tier.count, boxes[role][1]) * same[role] if role in boxes else tier.count
                  for role, tier in tiers.items())  # fmt: skip
    assert (there.ports_per_server, there.ports_per_server_per_leaf, s.k, s.planes) == (2, 1, 1, 1)
    peers = CABLES * (fabric.peer_links is not None)
    uplinks = there.links_per_pair * there.spines_per_pod * (there.tiers > 1)
    cables = 2 * before + tiers["leaf"].count * uplinks + peers * there.groups
    kept = 0
    if same["leaf"]:
        stay = min(there.spines_per_pod, s.spines_per_pod) * min(there.links_per_pair, s.m) if same.get("spine") else 0
        joined = peers if PEER_LINK in s.leaf.product["features"] else 0
        g, size = min(there.servers_per_group, before), s.g
        pairs = groups_of(before, g), groups_of(servers, size)
        # of a pair both cables of a server, the uplinks of both leaves, and what joins them
        kept = 2 * most_kept(*pairs, stay) + joined * min(map(len, pairs))
    if (cables > kept and move.get("cable") is None) or (devices and move.get("device") is None):
        return None
    return (cables - kept) * move.get("cable", 0) + devices * move.get("device", 0)


def least_with_moves(parts: Json, content: Json, base: Design, move: Json) -> float | None:
    """The least capex in US dollars of all designs, with the least moves to each; None if there is none."""
    fabric = {**content["fabrics"][0], "homing": "pair"}
    case = {**content, "servers": content["stages"][-1]["servers"], "fabrics": [fabric]}
    walk = brute_pairs.paired(fabric.pop("pairing"))
    del case["stages"]
    space, terms = Space(with_stock(parts, base), case), terms_of(case)
    found = []
    for _, _, structure, choice in candidates(space, terms, walk)[0]:
        moves = least_moves(base, structure, num_servers(space.case, space.server), move)
        items, power = fixed_items(space, structure)
        purchase = buy(space.item_table, terms, items, power, [one for mode in choice for one in mode.classes])
        if purchase is not None and moves is not None:
            found.append(purchase.capex / 100 + moves)
    return min(found, default=None)


def told(seed: int, folder: Path) -> str:
    """What came of a random base whose moves have prices, or cost nothing, against every design by hand."""
    dice = Dice(f"moves-of-pairs-{seed}")
    parts, before, after = of_pairs(dice)
    base = designed(parts, before)
    if base.status != "optimal":
        return "no base"
    move = dice.one([prices(dice), prices(dice), FREE, {"cable": 40, "device": 300}])
    least, design = least_with_moves(parts, after, base, move), moved(parts, after, base, folder, move)
    if least is None:
        assert design.status == "infeasible"
        return "none"
    assert usd(design) == least
    moves = design.fabrics[0].moves
    assert moves is not None
    joined = base.fabrics[0].peer_links is not None
    return "peers move" if moves.cables.get("leaf-leaf") else "peers stay" if joined else "without peers"


def test_no_design_with_moves_of_a_small_base_in_pairs_is_cheaper(tmp_path: Path) -> None:
    assert [told(seed, tmp_path) for seed in (6, 7)] == ["peers move", "peers stay"]


@pytest.mark.long
def test_moves_of_many_bases_in_pairs_are_the_least(tmp_path: Path) -> None:
    found = Counter(told(seed, tmp_path) for seed in range(60))
    assert min(found["peers move"], found["peers stay"], found["without peers"]) >= 2, found


# -- beside another fabric --------------------------------------------------------------------------------------------


def of_two(content: Json, card: str) -> Json:
    """A case with a fabric of single links beside that in pairs."""
    (pairs,) = content["fabrics"]
    gpus = {"name": "gpus", "role": "compute", "groups": "equal", "min_gbps_per_gpu": 100, "tiers": [1, 2]}
    return {**content, "fabrics": [{**gpus, "nics": [card], "nics_per_server": 1}, {**pairs, "name": "in-band"}]}


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(24))
def test_a_fabric_in_pairs_moves_beside_another(seed: int, tmp_path: Path) -> None:
    """Dearer moves are never cheaper, nor is a design that keeps peer links, or all that is in service."""
    parts, *cases = a_base(Dice(f"two-{seed}"))
    parts["servers"][0]["nic_slots"] *= 2
    before, after = (of_two(one, parts["nics"][0]["id"]) for one in cases)
    base, costs = designed(parts, before), list[float]()
    if base.status != "optimal":
        return
    for price in (0, 40) if seed else (40,):
        design = moved(parts, after, base, tmp_path, {"cable": price, "device": price})
        if design.status == "infeasible":
            break
        costs.append(usd(design))
    assert costs == sorted(costs)
    if seed:
        still = moved(parts, after, base, tmp_path, None)
        kept = moved(parts, after, base, tmp_path, FREE, "leaf-leaf")
        assert still.status == "infeasible" or (costs and costs[-1] <= usd(still))
        assert kept.status == "infeasible" or costs
