"""Pairs, peer links, attached devices and managers of subnets beside each other, and each rule off, by brute force."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.oracles import brute_force, brute_pairs
from tests.oracles.brute_redundancy import best_kept, rules_of
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.managed import assert_managed_alike, with_managed_switches
from tests.samples.random_cases import generate
from tests.solution.test_pairing import sample

Json = dict[str, Any]
FAMILIES = ("attached", "planes", "linear", "hosted", "limited")
SEEDS = 66
# Those of which the brute force takes a second or two.
QUICK = (5, 11)
LONG = tuple(str(seed) for seed in range(SEEDS) if seed not in QUICK)


def storage(seed: int) -> tuple[Json, Json, random.Random]:
    """A random InfiniBand case, of storage where no NIC is built in."""
    parts, wanted = generate(FAMILIES[seed % len(FAMILIES)], 900 + seed)
    dice = random.Random(f"rules off {seed}")
    built_in = any(server.get("nics") for server in parts["servers"])
    fabric = wanted["fabrics"][0] | {"role": "compute" if built_in else "storage"}
    return parts, wanted | {"fabrics": [fabric], "resilience": "default"}, dice


@pytest.mark.long("5")
@pytest.mark.long(*LONG)
@pytest.mark.parametrize("seed", range(SEEDS), ids=str)
def test_managers_stand_beside_pairs(seed: int) -> None:
    """InfiniBand storage on pairs of switches, two of which run a subnet manager, some as exchanged for their twin."""
    parts, wanted, dice = storage(seed)
    parts = with_managed_switches(parts, seed)
    (fabric,) = wanted["fabrics"]
    fabric["protocol"] = "infiniband"
    if homing := dice.choice((None, "pair", "single")):
        fabric["homing"] = homing
    wanted["rules"] = {"subnet-manager": True, "lengths": False}
    best, kept = best_kept(brute_force.solve, parts, wanted, rules_of(fabric))
    theirs = run(parts, wanted)
    # Of numbers of planes that cost the same, the one with more left after a failure: the oracle does not know it.
    only = () if isinstance(fabric.get("planes", 1), int) else ("capex", "feasible")
    assert_managed_alike(best, theirs, only)
    if best is not None:
        assert {row["rule"] for row in theirs["rules_left_out"]} == set(rules_of(fabric)) - set(kept)


@pytest.mark.long(*LONG)
@pytest.mark.parametrize("seed", range(SEEDS), ids=str)
def test_each_rule_may_be_off(seed: int) -> None:
    """In-band with devices of two ports: every part of the default rule off in turn, the others as they stand."""
    parts, wanted = sample(FAMILIES[seed % len(FAMILIES)], 500 + seed)
    (fabric,) = wanted["fabrics"]
    rules = rules_of(fabric)
    off = rules[(seed // len(FAMILIES)) % len(rules)]
    others = tuple(rule for rule in rules if rule != off)
    best, kept = best_kept(brute_pairs.solve, parts, wanted, others)
    theirs = run(parts, wanted | {"resilience": "default", "rules": {off: False, "subnet-manager": False}})
    assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    if best is not None:
        bound = set(others) - ({"pairing"} if "pair" not in kept else set())
        assert {row["rule"] for row in theirs["rules_left_out"]} == bound - set(kept)
