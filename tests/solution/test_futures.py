"""Growth that may end: tiny instances in which the probability decides, derived by hand; random ones by brute force."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.output.export.design import design_bytes
from fabopt.output.stated import table_of
from fabopt.output.statements import FUTURE_COLUMNS, future_lines, plan_rows
from fabopt.schema.design import Design
from fabopt.schema.futures import Futures
from tests.oracles import brute_growth
from tests.samples import random_growth
from tests.samples.growth_samples import eight, grown, solved
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cable, cage, catalog, fibre, optic, switch
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


def assert_no_plan_expects_less(design: Design) -> None:
    """No plan that is made for one future is expected to cost less, if there is a design."""
    if design.totals is not None:
        expected = design.totals.expected_tco_usd
        assert expected is not None
        assert all(plan.expected_tco_usd >= expected for plan in futures_of(design).plans)


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
    assert table_of(FUTURE_COLUMNS, futures.futures).rows[0] == [
        "stage-1",
        "80.0 %",
        "4",
        "$1,440",
        "$1,440",
        "$1,440",
        "$0",
    ]
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


def test_scenarios_come_in_their_own_months() -> None:
    # Switches cost half of it a year later. 4 servers at first: 1440. Half the time all 8 in the same month (a leaf, a
    # spine, 4 x 110, 8 x 20: 2600), a quarter a year later with NICs twice as dear (500 + 500 + 4 x 210 + 160 = 2000).
    case = grown(4, 6, 8, objective="tco_usd", finance={**NO_ENERGY, "price_decline": {"switch": 0.5}})
    case["scenarios"] = [
        {"name": "boom", "probability": 0.5, "months": {"stage-3": 0}},
        {"name": "late", "probability": 0.25, "months": {"stage-2": 12, "stage-3": 12}, "price_change": {"nic": 1}},
        {"name": "end", "probability": 0.25},
    ]
    design = solved(eight(), case)
    futures = futures_of(design)
    told = [(one.scenario, one.ends_after, one.servers, one.capex_usd) for one in futures.futures]
    assert told == [("boom", "stage-3", 8, 4040), ("late", "stage-3", 8, 3440), ("end", "stage-1", 4, 1440)]
    assert design.objective.value == 2020 + 860 + 360
    assert [row[0] for row in table_of(FUTURE_COLUMNS, futures.futures).rows] == [
        "boom: stage-3",
        "late: stage-3",
        "end: stage-1",
    ]


def test_charges_are_paid_as_often_as_what_they_are_on() -> None:
    # Two licences a switch of $100, and 10 % freight on parts: 4 servers 1440 + 144 + 100; with 8, half the time, 2600
    # + 260 + 200 more. A scenario that comes a year later, with NICs twice as dear, pays freight on the usual price.
    freight = {"name": "freight", "what": "freight", "percent": 10}
    licence = {"name": "licence", "what": "licence", "per": "unit", "kinds": ["switch"], "usd": 100}
    design = solved(eight(), uncertain(0.5, 4, 8, charges=[licence, freight]))
    told = [(one.capex_usd, one.tco_usd) for one in futures_of(design).futures]
    assert told == [(1684, 1684), (4744, 4744)] and design.objective.value == 3214
    case = grown(4, 8, objective="tco_usd", finance=NO_ENERGY, charges=[licence, freight])
    late = {"name": "late", "probability": 0.5, "months": {"stage-2": 24}, "price_change": {"nic": 1}}
    case["scenarios"] = [late, {"name": "end", "probability": 0.5}]
    assert [one.capex_usd for one in futures_of(solved(eight(), case)).futures] == [4744 + 400, 1684]


def test_kinds_that_get_dearer_apart_are_not_compared_at_the_prices_of_today() -> None:
    # A link is one cable for 10, or two modules of 4 and a fibre of 1. Later modules cost twice as much: 17. The first
    # 4 servers take modules (36), the 4 that come later, and the 8 links above, cables: 12 x 10.
    lengths = [{"m": length_m, "price_usd": 1} for length_m in (3, 30, 50)]
    parts = catalog(
        switches=[switch("eight", cage(8, "1x100"))],
        cables=[cable("cable", "1x100", "1x100", (10, 10, 10))],
        transceivers=[optic("module", "1x100", 4) | {"power_w": 0}],
        fibres=[fibre("fibre", "LC", "LC", 1) | {"lengths": lengths}],
    )
    case = grown(4, 8, objective="tco_usd", finance=NO_ENERGY)
    later = {"name": "later", "probability": 0.5, "months": {"stage-2": 12}, "price_change": {"transceiver": 1}}
    case["scenarios"] = [later, {"name": "end", "probability": 0.5}]
    design = solved(parts, case)
    assert_agrees(design, brute_growth.solve(parts, case))
    assert design.objective.value == (1000 + 400 + 36) + (2000 + 400 + 120) / 2


def with_scenarios(dice: Dice, wanted: Json) -> Json:
    """A case in scenarios: each comes to some of the stages, in months of its own, at prices of its own."""
    stages = wanted["stages"]
    chances = dice.one([[0.5, 0.5], [0.2, 0.3, 0.5], [0.05, 0.95]])
    scenarios = []
    for number, chance in enumerate(chances):
        later = [stage["name"] for stage in stages[1:] if dice.chance(0.7)]
        start = stages[0].get("month", 0)
        months = sorted(start + dice.one([0, 5, 12, 24]) for _ in later)
        scenario = {"name": f"way-{number}", "probability": chance, "months": dict(zip(later, months, strict=True))}
        if dice.chance(0.5):
            scenario |= {"price_change": {"switch": dice.one([-0.3, 0.2])}, "energy_change": dice.one([-0.5, 0.5])}
        scenarios.append(scenario)
    return wanted | {"objective": "tco_usd", "scenarios": scenarios}


@pytest.mark.long(but=("staged-2",))
@pytest.mark.parametrize(
    ("family", "seed"),
    [(family, seed) for family in ("staged", "staged_three_tier", "staged_ratios") for seed in SEEDS[family][:3]],
)
def test_random_scenarios_agree(family: str, seed: int) -> None:
    parts, wanted = random_growth.generate(family, seed)
    wanted = with_scenarios(Dice(f"scenarios-{family}-{seed}"), wanted)
    wanted.pop("growth", None)
    design = solved(parts, {key: value for key, value in wanted.items() if key != "catalog"})
    assert_agrees(design, brute_growth.solve(parts, wanted))
    assert_no_plan_expects_less(design)


@pytest.mark.long(but=("moving-17",))
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
    assert_no_plan_expects_less(design)
