"""Bases whose leaves stand in pairs: nothing of them changes, and what is new stands in pairs too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.samples.bases import assert_just_what_changes, assert_stays, designed, gone_on, live, saved
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cable, cage, card, catalog, switch
from tests.solution.test_in_service import in_stages, rest
from tests.solution.test_pairing import FLOOR, in_band, parts_of

Json = dict[str, Any]
SPLIT = [cable("split", "2x100", "1x100", heads=2), cable("both", "2x100", "2x100"), cable("cable", "1x100", "1x100")]
FILERS: Json = {"name": "filer", "kind": "storage", "ports": 6, "boxes": 3, "rack_units": 1, "power_w": 1,
                "buys": "none"}  # fmt: skip
ODD: Json = {"name": "odd", "ports": 1, "buys": "none"}


def a_base(dice: Dice) -> tuple[Json, Json, Json]:
    """A catalog, a case whose servers are on two leaves each, and one that goes on from it."""
    features = dice.one([["mlag"], ["mlag"], ["evpn-multihoming"], ["mlag", "evpn-multihoming"]])
    split, twin = dice.one(["1x100", "1x100", "2x100"]), dice.chance(0.3)
    switches = [
        {**switch(f"model-{at}", cage(ports, split)), "price_usd": price, "features": features}
        for at, (ports, price) in enumerate(((dice.number(4, 7), 800), (dice.number(7, 12), dice.number(900, 2000))))
    ]
    kinds: Json = {"cables": SPLIT} if split != "1x100" else {}
    parts = catalog(switches=switches, **kinds, **({"nics": [card("twin", cage(2, "1x100"))]} if twin else {}))
    parts["servers"][0]["nic_slots"] = 1 if twin else 2
    asked = dice.one([{}, {"pairing": "peer-link"}, {"homing": "pair", "pairing": "none"}, {"homing": "dual"}])
    keys: Json = {"role": "in-band", "max_oversubscription": dice.one([1, 2, 3])}
    keys |= {} if asked == {"homing": "dual"} and not twin else asked
    if dice.chance(0.3):
        keys["attachments"] = [{"name": "filer", "ports": dice.one([2, 4]), "boxes": dice.one([1, 2]), "buys": "none"}]
    before = dice.number(1, 8)
    cases = in_stages(before, tiers=dice.one([[1, 2], 2]), **keys), in_stages(before + dice.one([0, 1, 2, 8]), **keys)
    first, after = ({**content, "resilience": "default"} for content in cases)
    after["fabrics"] = [{**after["fabrics"][0], "tiers": [1, 2]}]
    return parts, first, after


def on_a_floor(dice: Dice) -> tuple[Json, Json, Json]:
    """The same in racks, with devices that have a port on each leaf of a pair, and one in no rack."""
    parts = parts_of(dice.one(["mlag", "mlag", "evpn-multihoming"]), ports=dice.number(9, 14))
    parts["servers"][0] |= {"nic_slots": 2, "rack_units": 4}
    keys: Json = {"role": "in-band", "tiers": [1, 2], "max_oversubscription": 3}
    keys["attachments"] = dice.one([[FILERS], [FILERS, ODD], [ODD, FILERS]])
    sizes = before, _ = dice.number(2, 12), dice.one([0, 0, 2, 5])
    site = {"site": {"floor": {**FLOOR["site"]["floor"], "rows": 3}, "servers_per_rack": 5}}
    first, after = (
        {**in_stages(size, **keys), **FLOOR, **site, "resilience": "default"} for size in (before, sum(sizes))
    )
    return parts, first, after


def assert_goes_on(parts: Json, before: Json, after: Json, folder: Path) -> str:
    """A base stays whatever comes beside it, and with nothing new there is nothing else; what came of it."""
    base = designed(parts, before)
    if base.status != "optimal":
        return "no base"
    assert base.fabrics[0].homing in ("pair", "dual")
    is_same = before["stages"] == after["stages"]
    design = gone_on(parts, after, base, folder)
    if design.status == "infeasible":
        assert not is_same, "with nothing new the base is a design"
        return "full"
    assert_stays(design, base, 0)
    assert design.fabrics[0].pairing == base.fabrics[0].pairing
    if is_same:
        assert design.totals is not None and design.totals.capex_usd == 0
        assert live(wiring_of(design)) == live(wiring_of(base))
    assert_just_what_changes(design, wiring_of(base))
    return "same" if is_same else "grown"


def test_pairs_stay_and_what_is_new_stands_in_pairs(tmp_path: Path) -> None:
    assert [assert_goes_on(*a_base(Dice(f"pairs-{seed}")), tmp_path) for seed in (9, 16)] == ["grown", "same"]


@pytest.mark.long
def test_pairs_of_many_bases_stay(tmp_path: Path) -> None:
    told = Counter(assert_goes_on(*a_base(Dice(f"pairs-{seed}")), tmp_path) for seed in range(80))
    assert min(told["grown"], told["same"]) >= 10, told


@pytest.mark.long
def test_pairs_stay_in_their_racks(tmp_path: Path) -> None:
    """With ports of attachments on both leaves of a pair, dealt by the racks of leaves."""
    told = Counter(assert_goes_on(*on_a_floor(Dice(f"racks-{seed}")), tmp_path) for seed in range(24))
    assert min(told["grown"], told["same"]) >= 5, told


def test_a_pair_with_devices_on_both_leaves_stays_in_its_racks(tmp_path: Path) -> None:
    parts, before, after = on_a_floor(Dice("racks-0"))
    assert assert_goes_on(parts, before, {**before}, tmp_path) == "same"
    assert after["fabrics"] == before["fabrics"]


@pytest.mark.long
def test_pairs_that_were_planned_in_stages_cost_what_was_planned(tmp_path: Path) -> None:
    compared = 0
    for seed in range(60):
        parts, before, after = a_base(Dice(f"planned-{seed}"))
        stages = [{**one["stages"][0], "name": name} for one, name in ((before, "first"), (after, "second"))]
        attached = after["fabrics"][0].pop("attachments", None)
        planned = designed(parts, {**after, "stages": stages})
        if planned.status != "optimal" or attached:
            continue
        design = gone_on(parts, rest({**after, "stages": stages}), planned, tmp_path, "first")
        assert [stage.capex_usd for stage in design.stages] == [0, planned.stages[1].capex_usd]
        assert_stays(design, planned, 0)
        compared += 1
    assert compared > 20


def joined_base(tmp_path: Path, **keys: Any) -> tuple[Json, Json, Design]:
    """Switches that could do without the peer link that they have, and two servers more."""
    parts = parts_of("mlag", "evpn-multihoming", ports=8)
    base = designed(*in_band(parts, 4, pairing="peer-link"))
    return parts, {**in_band(parts, 6, **keys)[1], "base": {"file": str(saved(base, tmp_path))}}, base


def test_peer_links_in_service_are_asked_for_by_the_base(tmp_path: Path) -> None:
    parts, content, base = joined_base(tmp_path)
    design = gone_on(parts, content, base, tmp_path)
    assert_stays(design, base, 0)
    assert design.fabrics[0].pairing == "peer-link"


@pytest.mark.parametrize("keys", ({"pairing": "multihoming"}, {"pairing": "none"}, {"homing": "any"}))
def test_what_would_take_peer_links_out_is_refused(keys: Json, tmp_path: Path) -> None:
    parts, content, base = joined_base(tmp_path, **keys)
    with pytest.raises(InputError, match=r"joined by peer links in .*, which stay"):
        gone_on(parts, content, base, tmp_path)


def test_peer_links_come_between_leaves_in_service_where_cables_may_move_alone(tmp_path: Path) -> None:
    parts = parts_of("mlag", ports=8)
    base = designed(*in_band(parts, 4, homing="pair", pairing="none"))
    refused = gone_on(parts, in_band(parts, 6, pairing="peer-link")[1], base, tmp_path)
    assert [conflict.limit for conflict in refused.conflicts] == ["base.move"]


def test_where_cables_may_move_peer_links_may_be_taken_out(tmp_path: Path) -> None:
    parts, content, base = joined_base(tmp_path, homing="pair", pairing="none")
    taken_out = designed(parts, {**content, "base": {**content["base"], "move": {"cable": 1, "device": 1}}})
    (fabric,) = taken_out.fabrics
    assert taken_out.status == "optimal" and all(check.ok for check in taken_out.checks)
    assert base.fabrics[0].peer_links is not None and fabric.peer_links is None
    assert fabric.moves is not None and fabric.moves.cables["leaf-leaf"] == 2 * base.fabrics[0].peer_links.pairs
