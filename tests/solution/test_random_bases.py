"""Random networks in service, and random cases that go on from them: nothing that is live changes, and a look at what
is there finds just what is to be done.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from fabopt.inspect.planned import PortName
from fabopt.inspect.to_do import WantedCables
from fabopt.wiring.build import wiring_of
from fabopt.wiring.migration import Migration
from tests.samples import random_cases
from tests.samples.bases import assert_just_what_changes, assert_stays, designed, gone_on_if_it_may, live, seen_of
from tests.samples.discoveries import planned_links
from tests.samples.moves import FREE, moved
from tests.samples.random_cases import Dice
from tests.search.test_out_of_band import CATALOG, OOB
from tests.solution.test_in_service import a_base as small_base

Json = dict[str, Any]
FAMILIES = ("linear", "attached", "hosted", "three_tier", "rails", "planes")
# What a random base may have that no design goes on from, as refusals word it.
OUTSIDE = (
    "only a Clos can be gone on from",
    "cannot be gone on from",
    "is designed for one stage",
    "are designed for one stage",
)
SEEDS = 200


def a_base(seed: int) -> tuple[Json, Json, Json]:
    """A catalog, a case, and one of as many servers or more, with charges or without."""
    dice = Dice(f"live-{seed}")
    parts, before = random_cases.generate(FAMILIES[seed % len(FAMILIES)], seed)
    before = {key: value for key, value in before.items() if key not in ("catalog", "finance")}
    before |= {"objective": "capex_usd", "include_servers": False}
    after = {**before, "servers": before["servers"] + dice.one([0, 0, 1, 2, 4])}
    if dice.chance(0.3):
        after["charges"] = [{"name": "support", "usd": 100, "per": dice.one(["fabric", "server"])}]
    return parts, before, after


def managed(seed: int) -> tuple[Json, Json, Json]:
    """Those of ``a_base`` with an out-of-band fabric beside, of leaves with few ports."""
    dice = Dice(f"managed-{seed}")
    parts, *cases = copy.deepcopy(a_base(seed))
    quiet, patch = copy.deepcopy(CATALOG["switches"][2:]), copy.deepcopy(CATALOG["cables"][1])
    for one, size in zip(quiet, (dice.number(5, 9), dice.number(10, 20)), strict=True):
        one["cages"][0]["count"] = size
    patch["lengths"][0]["m"] = 300
    parts["switches"] += quiet
    parts["nics"].append(CATALOG["nics"][1])
    parts["cables"].append(patch)
    for server in parts["servers"]:
        server["nics"] = [*server.get("nics", ()), {"id": "controller", "count": 1, "role": "oob"}]
    counted = {"ports_per_switch": dice.one([1, 1, 2]), "pdus_per_rack": dice.one([0, 1])}
    oob = {**OOB, "tiers": dice.one([[1, 2], 2]), "max_oversubscription": dice.one([2, 10]), "oob": counted}
    before, after = (
        {**one, "fabrics": [*one["fabrics"], oob], "site": {**one.get("site", {}), "servers_per_rack": 2}}
        for one in cases
    )
    return parts, before, after


# of 37 the last links have no cable of their own: nobody buys one for the attachment
@pytest.mark.long(but=("37", "100", "160"))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_is_live_stays_and_a_look_finds_what_is_to_be_done(seed: int, tmp_path: Path) -> None:
    stays_and_is_found(*a_base(seed), tmp_path)


@pytest.mark.long(but=("17",))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_so_it_is_with_ports_of_management_that_are_counted(seed: int, tmp_path: Path) -> None:
    stays_and_is_found(*managed(seed), tmp_path)


def stays_and_is_found(parts: Json, before: Json, after: Json, tmp_path: Path) -> None:
    base = designed(parts, before)
    design = gone_on_if_it_may(parts, after, base, tmp_path, OUTSIDE)
    if design is None:
        return
    if design.status == "infeasible":
        assert after["servers"] > before["servers"], "with nothing new the base is a design"
        return
    assert design.status == "optimal"
    assert_stays(design, base, 0)
    there = wiring_of(base)
    if after["servers"] == before["servers"]:
        assert design.totals is not None and design.totals.capex_usd == 0
        assert live(wiring_of(design)) == live(there)
    assert_just_what_changes(design, there)


@pytest.mark.long(but=("0", "3", "5"))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_look_finds_what_moves_too_and_every_window(seed: int, tmp_path: Path) -> None:
    """Of what is laid, moved and taken out any part may be done; what is wrong beside it is found alone."""
    dice = Dice(f"migration-{seed}")
    parts, before, after = small_base(dice)
    base = designed(parts, before)
    design = moved(parts, after, base, tmp_path, FREE) if base.status == "optimal" else base
    if design.status != "optimal" or base.status != "optimal":
        return
    there, whole = wiring_of(base), wiring_of(design)
    assert_just_what_changes(design, there)
    for _, cabled in Migration(there, whole).states():
        links = [(PortName(*link[:2]), PortName(*link[2:])) for cable in cabled.values() for link in cable.links]
        wanted = WantedCables(design, whole, 0, frozenset(map(frozenset, links)))
        result = seen_of(wanted, links)
        assert result.ok and result.planned - result.right == sum(
            number for change, number in result.cables_to_do.items() if change != "gone"
        )
        stays = [link for link in links if link in planned_links(whole)]
        gone = dice.one(stays) if stays else None
        found = seen_of(WantedCables(design, whole, 0), [link for link in links if link != gone])
        is_wrong = gone is not None and gone in planned_links(there)
        assert [finding.kind for finding in found.findings] == ["missing"] * is_wrong
        assert all({finding.a, finding.b} == set(gone or ()) for finding in found.findings)
