"""Growth by least worst regret: tiny instances by hand, and random ones against every design in every future."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.answer import proof_line
from fabopt.schema.design import Design
from fabopt.solution.formulation_text import formulation_text
from tests.mutations import NOT_READ, changes, document_of, name_of, outcome
from tests.oracles.brute_regret import least_regret
from tests.samples import random_growth
from tests.samples.growth_samples import grown, solved
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cable, cage, card, catalog, switch
from tests.solution.test_futures import NO_ENERGY, TWO_SIZES, futures_of, leaf_of, uncertain, with_scenarios

Json = dict[str, Any]
BY_REGRET = {"growth": {"decide_by": "regret"}}


def worst_of(design: Design) -> float:
    """The worst regret of a proven design, in dollars."""
    decision = design.objective.decision
    assert design.status == "optimal" and decision is not None and decision.regret_usd is not None
    assert decision.regret_usd == futures_of(design).regret_usd
    return decision.regret_usd


@pytest.mark.long(but=("0.2",))
@pytest.mark.parametrize("probability", [0.01, 0.2, 0.9])
def test_the_worst_regret_decides_whatever_is_likely(probability: float) -> None:
    # As in test_futures: small leaves cost 1440 and 8080, the large one 3440 and 4760. Who takes the small ones regrets
    # 3320 if growth comes, who takes the large one 2000 if it does not.
    case = uncertain(probability, 4, 16, fabric={"tiers": [1, 2]}, **BY_REGRET)
    design = solved(catalog(**TWO_SIZES), case)
    assert leaf_of(design) == "sixteen" and worst_of(design) == 2000
    assert [one.regret_usd for one in futures_of(design).futures] == [2000, 0]
    assert min(plan.regret_usd for plan in futures_of(design).plans) >= 2000
    assert "worst regret $2,000" in proof_line(design)


@pytest.mark.long
def test_sums_beyond_the_numbers_of_an_engine_have_the_least_regret_too() -> None:
    # beyond $46 million: energy that is discounted is told to the billionth of a cent
    dear = {"switches": [switch("eight", cage(8, "1x100"), usd=2e7), switch("sixteen", cage(16, "1x100"), usd=6e7)]}
    finance = {"energy_usd_per_kwh": 0.1, "discount_rate": 0.08}
    case = uncertain(0.2, 4, 16, fabric={"tiers": [1, 2]}, **BY_REGRET) | {"finance": finance}
    assert "regret_1" in formulation_text(inputs_from_objects(case, catalog(**dear)), "lp")
    design = solved(catalog(**dear), case)
    assert leaf_of(design) == "sixteen" and worst_of(design) == min(one.regret_usd for one in futures_of(design).plans)


def test_of_equal_regret_the_less_is_expected_the_better() -> None:
    # A dearer switch of the same ports never wins; two futures alike in all but their names have no regret at all.
    case = grown(4, 8, objective="tco_usd", finance=NO_ENERGY, **BY_REGRET)
    case["scenarios"] = [{"name": name, "probability": 0.5, "months": {"stage-2": 12}} for name in ("one", "two")]
    design = solved(
        catalog(switches=[switch("eight", cage(8, "1x100")), switch("dear", cage(8, "1x100"), usd=1001)]), case
    )
    assert leaf_of(design) == "eight" and worst_of(design) == 0
    assert design.objective.value == 4040


def test_one_scenario_is_the_answer_of_certain_growth() -> None:
    case = grown(4, 16, objective="tco_usd", fabric={"tiers": [1, 2]})
    certain = solved(catalog(**TWO_SIZES), case)
    one = {"name": "it", "probability": 1, "months": {"stage-2": 12}}
    design = solved(catalog(**TWO_SIZES), {**case, "scenarios": [one], **BY_REGRET})
    assert worst_of(design) == 0 and design.bom == certain.bom and design.objective.value == certain.objective.value


def test_orders_are_those_of_the_least_regret() -> None:
    # Eight cards at once cost 50 each, fewer 100: all 8 are bought at first where the second stage comes for certain,
    # 4 where it does not. If they are, nothing is regretted if it comes, and 400 - 400 if not; 4 now and 4 later cost
    # 800 in place of 400. So the order early is without regret.
    cards = [card("card", cage(1, "1x100")) | {"price_usd": [{"from": 1, "usd": 100}, {"from": 8, "usd": 50}]}]
    case = uncertain(0.05, 4, 8, **BY_REGRET)
    design = solved(catalog(switches=[switch("eight", cage(8, "1x100"))], nics=cards), case)
    assert next(row.quantity for row in design.bom if row.kind == "nic") == 8
    assert worst_of(design) == 0


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long("staged_three_tier-1-chain")
@pytest.mark.long("staged-1-scenarios", "staged-1-chain", "staged_three_tier-1-scenarios")
@pytest.mark.parametrize("way", ["chain", "scenarios"])
@pytest.mark.parametrize(("family", "seed"), [("staged", 1), ("staged_three_tier", 1), ("staged_ratios", 1)])
def test_random_cases_have_the_least_regret_of_all_designs(family: str, seed: int, way: str) -> None:
    parts, wanted = random_growth.generate(family, seed)
    # one way to make a link
    parts |= {"transceivers": [], "fibres": [], "cables": [cable("cable", "1x100", "1x100", (10, 21, 33))]}
    parts["switches"] = [switch(f"of-{ports}", cage(ports, "1x100"), usd=price) for ports, price in
                         ((4, 400 + 7 * seed), (8, 1000 + 90 * seed), (16, 3100 - 200 * seed))]  # fmt: skip
    parts["nics"] = [card("card", cage(1, "1x100"))]
    wanted = {**wanted, "objective": "tco_usd"}
    wanted["fabrics"] = [{**one, "min_gbps_per_gpu": 50} for one in wanted["fabrics"]]
    dice = Dice(f"regret-{family}-{seed}-{way}")
    if way == "scenarios":
        wanted = {key: value for key, value in with_scenarios(dice, wanted).items() if key != "growth"}
    else:
        wanted["stages"] = [dict(stage) for stage in wanted["stages"]]
        wanted["stages"][-1]["probability"] = dice.one([0.1, 0.5])
    wanted = {**wanted, "growth": {**wanted.get("growth", {}), "decide_by": "regret"}}
    design = solved(parts, {key: value for key, value in wanted.items() if key != "catalog"})
    least = least_regret(parts, wanted)
    if least is None:
        assert design.status == "infeasible"
    else:
        assert worst_of(design) == pytest.approx(float(least) / 100, abs=0.011)


@pytest.mark.long
def test_no_figure_of_regret_can_be_changed() -> None:
    design = solved(catalog(**TWO_SIZES), uncertain(0.2, 4, 16, fabric={"tiers": [1, 2]}, **BY_REGRET))
    document = document_of(design)
    passing = [
        (name_of(change.place), change.how)
        for change in changes(document)
        if {"futures", "decision", "decide_by"} & set(change.place)
        and not NOT_READ.fullmatch(name_of(change.place))
        and "asked" not in change.place
        and outcome(change.applied(document), design) == "passes"
    ]
    assert passing == []


def test_the_program_that_is_written_holds_all_futures() -> None:
    case = uncertain(0.2, 4, 16, fabric={"tiers": [1, 2]}, **BY_REGRET)
    text = formulation_text(inputs_from_objects(case, catalog(**TWO_SIZES)), "lp")
    assert "worst_regret_is_held_0" in text and "worst_regret_is_held_1" in text
