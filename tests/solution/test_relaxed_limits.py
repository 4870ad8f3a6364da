"""Relaxing any one limit of a case never raises its cost: random cases of every family, each with one limit relaxed."""

from __future__ import annotations

import copy
import math
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.samples.adapter import run
from tests.samples.random_cases import FAMILIES, generate

Json = dict[str, Any]
Relaxed = Callable[[Json, Json], None]

# 60 pairs; eight times as many with FABOPT_ORACLE_SEEDS=8
SEEDS = 6 * int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
FREE: Json = {
    "rails": "any",
    "striping": "any",
    "groups": "any",
    "planes": "any",
    "tiers": "any",
    "protocol": "any",
    "nics": "any",
    "nics_per_server": "any",
    "group_by": "any",
    "topologies": "any",
    "reserve_ports": 0,
    "resilience": "none",
}
DIRECT = ("torus", "hyperx", "dragonfly", "dragonfly+")
DEFAULTS: Json = {"rails": "aligned", "striping": "even", "planes": 1, "topologies": ["clos"]}


def relaxations(catalog: Json, case: Json) -> Iterator[tuple[str, Relaxed]]:
    """What of a case may be relaxed, each by a name and a change of catalog and case."""
    fabric = case["fabrics"][0]
    for key, free in FREE.items():
        if fabric.get(key, DEFAULTS.get(key, free)) != free:
            yield key, lambda _, wider, key=key, free=free: wider["fabrics"][0].update({key: free})
    for limit in case.get("limits", {}):
        yield f"limits.{limit}", lambda _, wider, limit=limit: wider["limits"].pop(limit)
    for rule in case.get("procurement", {}):
        yield f"procurement.{rule}", lambda _, wider, rule=rule: wider["procurement"].pop(rule)
    yield "max_oversubscription", _higher_ratios
    yield "min_gbps_per_gpu", lambda _, wider: wider["fabrics"][0].update(min_gbps_per_gpu=5)
    for key in ("supply", "minimum_order", "pack_size"):
        if any(key in sold for sold in _sold(catalog)):
            yield key, lambda wider, _, key=key: _drop(wider, key)


def a_pair(family: str, seed: int) -> tuple[str, tuple[Json, Json], tuple[Json, Json]]:
    """A catalog and a case, some of a direct network; what is relaxed of them; and both again, with it relaxed."""
    dice = random.Random(f"{family} {seed}")
    catalog, case = generate(family, seed)
    fabric = case["fabrics"][0]
    if dice.random() < 0.2 and not {"attachments", "group_by", "planes", "nics_per_server"} & set(fabric):
        fabric["topologies"] = [dice.choice(DIRECT)]
    name, relax = dice.choice(list(relaxations(catalog, case)))
    wider = copy.deepcopy(catalog), copy.deepcopy(case)
    relax(*wider)
    return name, (catalog, case), wider


def _higher_ratios(_: Json, case: Json) -> None:
    fabric = case["fabrics"][0]
    ratio = fabric.get("max_oversubscription")
    if ratio is not None:
        fabric["max_oversubscription"] = (
            {tier: 1.5 * one for tier, one in ratio.items()} if isinstance(ratio, dict) else 1.5 * ratio
        )


def _sold(catalog: Json) -> Iterator[Json]:
    for products in catalog.values():
        for one in products if isinstance(products, list) else ():
            yield one
            yield from (length for length in one.get("lengths", ()) if isinstance(length, dict))


def _drop(catalog: Json, key: str) -> None:
    for sold in _sold(catalog):
        sold.pop(key, None)


def cost(catalog: Json, case: Json) -> float:
    """The objective, proven; infinite if there is no design."""
    design = run(copy.deepcopy(catalog), copy.deepcopy(case))
    assert design["status"] in ("optimal", "infeasible")
    assert [check for check in design["checks"] if not check["ok"]] == []
    return math.inf if design["status"] == "infeasible" else float(design["objective"]["value"])


@pytest.mark.parametrize("family", FAMILIES)
def test_relaxing_one_limit_never_costs_more(family: str) -> None:
    for seed in range(1000, 1000 + SEEDS):
        name, given, wider = a_pair(family, seed)
        assert cost(*wider) <= cost(*given), (family, seed, name)


def test_rows_of_fibres_to_modules_that_are_there() -> None:
    """Attachments with modules of their own on two sorts of fibre: each row has the fibres of its own links."""
    _, given, _ = a_pair("hosted", 1011)
    assert cost(*given) == 15225.11


def test_a_ratio_of_many_digits_leaves_switches_without_uplinks_open() -> None:
    """Ports of attachments on spines that have no uplinks take nothing of them, however fine the units are."""
    _, _, (catalog, wider) = a_pair("hosted", 1004)
    costs = []
    for ratio in (1.79, 1.7999999999999998, 1.8):
        wider["fabrics"][0]["max_oversubscription"] = {"leaf": ratio}
        costs.append(cost(catalog, wider))
    assert costs == [7892.36] * 3
