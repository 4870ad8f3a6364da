"""Dragonfly+ against an independent exhaustive search, by hand, and as it was published."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from fabopt.clock import Clock, Settings
from fabopt.problem import problem_of
from fabopt.search import Search
from tests import small
from tests.brute_dragonfly_plus import solve
from tests.random_cases import Dice, a_case, a_catalog

Json = dict[str, Any]
SEEDS = 24 * int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
ASKED = {"topologies": ["dragonfly+"], "tiers": "any"}


def generate(seed: int) -> tuple[Json, Json]:
    """A small catalog and a case, more often feasible than not."""
    dice = Dice(f"dragonfly+-{seed}")
    parts = a_catalog(dice, switches=dice.number(1, 2), cages=(2, 5), rich=dice.chance(0.5))
    case = a_case(dice, servers=dice.number(3, 7))
    case["fabrics"][0]["topologies"] = ["dragonfly+"]
    if dice.chance(0.7):
        case["fabrics"][0]["max_oversubscription"] = dice.one([1.5, 2, 3, 4, 6])
    case["name"] = f"dragonfly-plus-{seed}"
    case["catalog"] = ["./catalog.yaml"]
    return parts, case


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_cases_agree(seed: int) -> None:
    """Objective, cost, power, units, switches and cables; ``FABOPT_ORACLE_SEEDS=10`` walks ten times as many seeds."""
    parts, wanted = generate(seed)
    found = solve(parts, wanted)
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
