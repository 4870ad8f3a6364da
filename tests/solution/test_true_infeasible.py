"""Proofs that there is no design, tried against designs of other cases that would be one: witnesses."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from tests.oracles.witnesses import flat, stands, wider
from tests.samples.random_sites import generate
from tests.samples.small import Json, inputs

# Every combination of role, floor, attachments, stages, topology and a fabric of management; with
# ``FABOPT_ORACLE_SEEDS=10`` ten times as many.
SEEDS = 36 * int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
LIMIT_S = 2.0


def answer(content: Json, parts: Json) -> Design:
    """The answer, whose checks all hold; those that take long are cut short, and then prove nothing."""
    design = solve(inputs(content, parts), alternatives=False, time_limit_s=LIMIT_S)
    assert [check.name for check in design.checks if not check.ok] == [], (content, parts)
    return design


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_asks_for_less_has_a_design_too(seed: int) -> None:
    parts, content = generate(seed)
    design = answer(content, parts)
    if not design.fabrics:
        return
    for what, other in wider(content):
        assert answer(other, parts).status != "infeasible", (what, content, parts)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_can_be_built_flat_can_be_built_on_a_floor(seed: int) -> None:
    """Runs on the floor are no longer than those of the flat case, and a rack is free for all its switches."""
    parts, content = generate(seed)
    if "floor" not in content["site"] or answer(content, parts).status != "infeasible":
        return
    witness = answer(flat(content), parts)
    switches = Counter[str]()
    for fabric in witness.fabrics:
        switches.update({tier.id: tier.count for tier in fabric.tiers})
    assert not witness.fabrics or not stands(content, parts, switches), (content, parts)
