"""HyperX, torus and dragonfly against an independent exhaustive search, and against the graphs that are wired."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from fabopt.clock import Clock, Settings
from fabopt.problem import problem_of
from fabopt.search import Search
from tests import small
from tests.brute_direct import solve
from tests.random_cases import Dice, a_case, a_catalog

Json = dict[str, Any]
FAMILIES = ("hyperx", "torus", "dragonfly")
SEEDS = 8 * int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def generate(family: str, seed: int) -> tuple[Json, Json]:
    """A small catalog and a case for one family, more often feasible than not."""
    dice = Dice(f"{family}-{seed}")
    parts = a_catalog(dice, switches=dice.number(1, 2), cages=(3, 6), rich=dice.chance(0.5))
    case = a_case(dice, servers=dice.number(2, 6))
    case["fabrics"][0]["topologies"] = [family]
    if dice.chance(0.7):
        case["fabrics"][0]["max_oversubscription"] = dice.one([2, 3, 4, 6])
    case["name"] = f"{family}-{seed}"
    case["catalog"] = ["./catalog.yaml"]
    return parts, case


@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family in FAMILIES for seed in range(SEEDS)])
def test_random_cases_agree(family: str, seed: int) -> None:
    """Objective, cost, power, units, switches and cables; ``FABOPT_ORACLE_SEEDS=10`` walks ten times as many seeds."""
    parts, wanted = generate(family, seed)
    found = solve(parts, wanted, family)
    text = json.dumps({"catalog": parts, "case": wanted})
    if found is None:
        given = small.inputs(wanted, parts)
        problem = problem_of(given.case, given.catalog)
        assert Search(problem, Settings(), Clock(None)).run(ties=False).verdict == "infeasible", text
        return
    theirs = small.solved(wanted, parts).model_dump(by_alias=True, mode="json")
    assert theirs["status"] == "optimal", text
    totals = theirs["totals"]
    mine = (found.purchase.capex, found.purchase.power, found.rack_units, found.switches, found.purchase.cables)
    assert mine == (
        round(totals["capex_usd"] * 100),
        round(totals["power_w"] * 1000),
        totals["rack_units"],
        totals["switches"],
        totals["cables"],
    ), (found.name, text)
    assert [check for check in theirs["checks"] if not check["ok"]] == [], text
