"""Parts on hand that are all a cluster needs: a cost of nothing is the least, and is proven at once."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from fabopt.io.case import inputs_from_text
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.search.choice import search_of
from fabopt.verify import verify
from tests.paths import ROOT
from tests.samples.bases import designed
from tests.samples.random_cases import Dice
from tests.samples.small import comparable, solved
from tests.solution.test_in_service import a_base

Json = dict[str, Any]
OWNED: Json = {
    "nvidia-qm9700": 48, "nvidia-mma4z00-ns": 1536, "nvidia-mma4z00-ns-flt": 512,
    "nvidia-mfp7e10": {"10": 1024, "20": 1024},
}  # fmt: skip


def owned(design: Design, times: int) -> Json:
    """All parts of a design so many times, as the key ``have`` has them."""
    have: Json = {}
    for row in design.bom:
        if row.kind != "server" and row.in_use:
            of_part = have.setdefault(row.id, {}) if row.length_m is not None else have
            key = row.id if row.length_m is None else f"{row.length_m:g}"
            of_part[key] = of_part.get(key, 0) + times * row.in_use
    return have


@pytest.mark.long
def test_a_cluster_of_four_stages_that_owns_all_is_proven_with_few_sizes() -> None:
    """128 DGX whose parts are on hand: at prices of nothing 250,000 sizes are alike."""
    content = yaml.safe_load((ROOT / "cases" / "h100-growth-128.yaml").read_text()) | {"have": OWNED}
    inputs = inputs_from_text(yaml.safe_dump(content), ROOT / "cases" / "x.yaml")
    found = search_of(problem_of(inputs.case, inputs.catalog), Settings(), Clock(60)).run()
    assert (found.verdict, found.value, found.bound) == ("optimal", 0, 0) and found.sized < 100


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(24))
def test_what_owns_all_parts_of_a_plan_costs_nothing_and_breaks_ties(seed: int) -> None:
    """Of two stages, alike or not, with twice the parts too; as where every size is given to the program."""
    dice = Dice(f"owned-{seed}")
    parts, _, content = a_base(dice)
    (last,) = content["stages"]
    first = {**last, "name": "first", "servers": dice.one([last["servers"], dice.number(1, last["servers"])])}
    content = content | {"stages": [first, last]}
    planned = designed(parts, content)
    if planned.status != "optimal":
        return
    for times in (1, 2):
        have = content | {"have": owned(planned, times)}
        design, whole = (solved(have, parts, prune=prune) for prune in (True, False))
        assert design.totals is not None and (design.status, design.totals.capex_usd) == ("optimal", 0)
        assert [check for check in verify(design) if not check.ok] == []
        assert comparable(design) == comparable(whole)
