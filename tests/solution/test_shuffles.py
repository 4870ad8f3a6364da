"""Shuffles: counts and dark legs against an exhaustive search, each lane traced from port to port, bad input."""

from __future__ import annotations

import copy
import os
from typing import Any

import pytest

from tests.oracles import brute_last_group
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.random_cases import Dice
from tests.samples.small import Json

MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
RUNS = {"server-leaf": 5, "leaf-spine": 20, "spine-core": 40}


def parts(n: int, cages: int = 8, lead_usd: float | None = None, **shuffle: Any) -> Json:
    """A catalog in which every cage has a connector of ``n`` ports; ``lead_usd``: of straight fibre, if it is sold."""
    split, ends = f"{n}x100", [{"connector": "MPO", "count": n}] * 2
    lengths = [{"m": 10, "price_usd": 500}, {"m": 50, "price_usd": 900}]
    fibres = [{"id": "shuffle", "fibre": "smf", "ends": ends, "lengths": lengths, **shuffle}]
    if lead_usd is not None:
        leads = [{"m": 10, "price_usd": lead_usd}, {"m": 50, "price_usd": 2 * lead_usd}]
        fibres.append({"id": "lead", "fibre": "smf", "connectors": ["MPO", "MPO"], "lengths": leads})
    cage = {"form_factor": "OSFP", "splits": [split]}
    return {
        "switches": [{"id": "switch", "protocol": "ethernet", "power_w": 300, "price_usd": 10000,
                      "cages": [{"count": cages, **cage}]}],
        "nics": [{"id": "nic", "protocols": ["ethernet"], "power_w": 20, "price_usd": 1000,
                  "cages": [{"count": 1, **cage}]}],
        "servers": [{"id": "gpu", "gpus": 1, "nic_slots": 1, "power_w": 1000, "price_usd": 1}],
        "transceivers": [{"id": "module", "form_factor": "OSFP", "split": split, "standard": "100G-DR", "fibre": "smf",
                          "connector": "MPO", "reach_m": 500, "power_w": 10, "price_usd": 700}],
        "cables": [], "fibres": fibres,
    }  # fmt: skip


def wanted(servers: int, tiers: int, planes: Any, **fabric: Any) -> Json:
    own = {"name": "compute", "min_gbps_per_gpu": 100, "max_oversubscription": 1, "tiers": tiers, "planes": planes}
    case = {"name": "shuffled", "server": "gpu", "servers": servers, "fabrics": [{**own, **fabric}]}
    return {**case, "site": {"distances_m": RUNS}}


def random_case(seed: int) -> tuple[Json, Json]:
    """Random prices, sizes and planes: with straight fibre and without, on one to three tiers."""
    dice = Dice(f"shuffles-{seed}")
    n, tiers = dice.one(((2, 1), (2, 2), (2, 2), (2, 3), (4, 1), (4, 2), (4, 3), (8, 1), (8, 2)))
    catalog = parts(n, dice.number(3, 16 // n + (n > 4)), dice.price(20, 300) if dice.chance(0.6) else None)
    for kind in ("switches", "nics", "transceivers"):
        for one in catalog[kind]:
            one["price_usd"] = dice.price(one["price_usd"] // 2, one["price_usd"] * 2)
    for length in catalog["fibres"][0]["lengths"]:
        length["price_usd"] = dice.price(50, 900)
    module, server, nic = catalog["transceivers"][0], catalog["servers"][0], catalog["nics"][0]
    if n > 2 and dice.chance(0.3):  # two connectors of half the ports
        module["connectors"] = 2
        for end in catalog["fibres"][0]["ends"]:
            end["count"] = n // 2
    if dice.chance(0.3):
        module["loss_budget_db"], catalog["fibres"][0]["loss_db"] = 3.0, dice.one((0.7, 2.99, 3.5))
    server["nic_slots"] = server["gpus"] = dice.one((1, 1, 2))
    if dice.chance(0.2):
        nic["cages"][0]["count"] = 2
    case = wanted(
        dice.number(2, 9), tiers, "any" if dice.chance(0.3) else dice.one([p for p in (1, 2, 4, 8) if p <= n])
    )
    fabric = case["fabrics"][0]
    fabric["max_oversubscription"] = dice.one((1, 1, 2, 4))
    fabric |= {"rails": dice.one(("aligned", "any")), "striping": dice.one(("even", "even", "any"))}
    if tiers == 2 and dice.chance(0.5):
        fabric["groups"] = "any"
    else:
        fabric["groups"] = "equal"
    return catalog, {**case, "rules": "none", "resilience": "none"}


@pytest.mark.parametrize("seed", range(12))
def test_counts_are_those_of_an_exhaustive_search(seed: int) -> None:
    """Every structure, mode and count of random small catalogs, odd groups too; ties included."""
    for number in range(seed, seed + 1000 * MORE_SEEDS, 1000):
        catalog, case = random_case(number)
        best = brute_last_group.solve(copy.deepcopy(catalog), copy.deepcopy(case))
        theirs = run(copy.deepcopy(catalog), copy.deepcopy(case))
        assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}, number
        assert [check for check in theirs["checks"] if not check["ok"]] == [], number
