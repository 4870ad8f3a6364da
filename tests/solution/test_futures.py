"""Growth that may end: tiny instances in which the probability decides, derived by hand; random ones by brute force."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.output.export.design import design_bytes
from fabopt.output.terminal.futures import future_lines, future_rows, plan_rows
from fabopt.schema.design import Design
from fabopt.schema.futures import Futures
from tests.oracles import brute_growth
from tests.samples import random_growth
from tests.samples.growth_samples import eight, grown, solved
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cage, catalog, switch
from tests.solution.test_growth import SEEDS, assert_agrees

Json = dict[str, Any]
NO_ENERGY = {"energy_usd_per_kwh": 0}
# A leaf of eight ports takes 4 servers at 1:1. One of sixteen takes 8, and costs three times as much.
TWO_SIZES = {"switches": [switch("eight", cage(8, "1x100")), switch("sixteen", cage(16, "1x100"), usd=3000)]}


def uncertain(probability: float, *sizes: int, **keys: Any) -> Json:
    """Growth to the last size with a probability, in what is expected to be owned for least; energy costs nothing."""
    case = grown(*sizes, objective="tco_usd", finance=NO_ENERGY, **keys)
    case["stages"][-1]["probability"] = probability
    return case


def futures_of(design: Design) -> Futures:
    """What a design costs in each future, after it was proven again."""
    assert [check for check in design.checks if not check.ok] == []
    assert design.futures is not None
    return design.futures


def test_what_may_not_come_is_weighed() -> None:
    # 4 servers on one leaf: 1000 + 400 + 40. With 8: a leaf, a spine, 4 cards, 4 + 8 cables more: 2600, half the time.
    design = solved(eight(), uncertain(0.5, 4, 8))
    assert design.totals is not None
    assert (design.objective.metric, design.objective.value) == ("expected_tco_usd", 1440 + 1300)
    assert (design.totals.tco_usd, design.totals.expected_tco_usd) == (4040, 2740)
    assert [(one.ends_after, one.probability, one.tco_usd) for one in futures_of(design).futures] == [
        ("stage-1", 0.5, 1440),
        ("stage-2", 0.5, 4040),
    ]


def leaf_of(design: Design) -> str:
    return design.fabrics[0].tiers[0].id


@pytest.mark.parametrize(("probability", "leaf"), [(0.2, "eight"), (1, "sixteen")])
def test_probability_decides_what_is_bought_first(probability: float, leaf: str) -> None:
    # 4 servers and then 16. One leaf of sixteen ports takes them all: 3000 + 4 x 110 at first, then 12 x 110 = 1320.
    # A leaf of eight is 1000 + 440; then 3 leaves, 2 spines, 1320 and 16 x 20: 6640. The small one is cheaper while
    # 1440 + 6640 p < 3440 + 1320 p, up to p = 2000 / 5320.
    design = solved(catalog(**TWO_SIZES), uncertain(probability, 4, 16, fabric={"tiers": [1, 2]}))
    assert leaf_of(design) == leaf


def test_regret_of_each_future_and_of_plans_for_one() -> None:
    # As above with p = 0.2: the small leaves are best if growth ends, and 8080 - 4760 = 3320 from the best if it does
    # not. Whoever counts on growth spends 3440 and then 1320: 3440 + 0.2 x 1320, and regrets 2000 if it ends.
    design = solved(catalog(**TWO_SIZES), uncertain(0.2, 4, 16, fabric={"tiers": [1, 2]}))
    futures = futures_of(design)
    assert [(one.best_tco_usd, one.regret_usd) for one in futures.futures] == [(1440, 0), (4760, 3320)]
    assert (futures.hedge_usd, futures.regret_usd) == (664, 3320)
    assert [(one.made_for, one.expected_tco_usd, one.regret_usd, one.tco_usd) for one in futures.plans] == [
        ("stage-1", 2768, 3320, (1440, 8080)),
        ("stage-2", 3704, 2000, (3440, 4760)),
    ]
    rows = [["stage-1", "$2,768", "same", "$3,320"], ["stage-2", "$3,704", "+$936", "$2,000"]]
    assert list(plan_rows(design)) == rows
    assert next(future_rows(design)) == ["stage-1", "80.0 %", "4", "$1,440", "$1,440", "$1,440", "$0"]
    assert "costs $664 on average, and at most $3,320" in " ".join(future_lines(design))


def test_a_stage_that_is_certain_is_the_answer_of_before() -> None:
    certain = uncertain(1, 4, 8)
    without = {**certain, "stages": [dict(stage) for stage in certain["stages"]]}
    del without["stages"][-1]["probability"]
    designs = [solved(eight(), case) for case in (certain, without)]
    assert "futures" not in designs[0].model_dump() and designs[0].objective.metric == "tco_usd"
    first, second = (
        design_bytes(one.model_copy(update={"objective": one.objective.model_copy(update={"solve_s": 0})}))
        for one in designs
    )
    assert first == second


@pytest.mark.parametrize(
    ("family", "seed"),
    [(family, seed) for family in ("staged", "moving", "staged_three_tier") for seed in SEEDS[family][:3]],
)
def test_random_cases_agree(family: str, seed: int) -> None:
    parts, wanted = random_growth.generate(family, seed)
    dice = Dice(f"futures-{family}-{seed}")
    wanted |= {"objective": "tco_usd"}
    for stage in wanted["stages"][1:]:
        stage["probability"] = dice.one([0.05, 0.25, 0.3, 0.5, 0.9, 1])
    wanted["stages"][-1]["probability"] = dice.one([0.1, 0.5])
    design = solved(parts, {key: value for key, value in wanted.items() if key != "catalog"})
    assert_agrees(design, brute_growth.solve(parts, wanted))
    if design.totals is not None:
        expected = design.totals.expected_tco_usd
        assert expected is not None
        assert all(plan.expected_tco_usd >= expected for plan in futures_of(design).plans)
