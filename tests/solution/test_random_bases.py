"""Random networks in service, and random cases that go on from them: nothing that is live changes, and a look at what
is there finds just what is to be done.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.wiring.build import wiring_of
from tests.samples import random_cases
from tests.samples.bases import assert_just_what_changes, assert_stays, designed, gone_on, live
from tests.samples.random_cases import Dice

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


# of 37 the last links have no cable of their own: nobody buys one for the attachment
@pytest.mark.long(but=("37", "100", "160"))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_is_live_stays_and_a_look_finds_what_is_to_be_done(seed: int, tmp_path: Path) -> None:
    parts, before, after = a_base(seed)
    base = designed(parts, before)
    if base.status != "optimal":
        return
    try:
        design = gone_on(parts, after, base, tmp_path)
    except InputError as refusal:
        told = [fault.problem for fault in refusal.faults]
        assert all(any(words in problem for words in OUTSIDE) for problem in told), told
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
