"""Sums that pass 64 bits: programs in numbers of two words have the optimum that loops over all solutions find."""

from __future__ import annotations

import itertools
import random

import pulp
import pytest

from fabopt.program import solvers, wide_sums
from fabopt.program.levels import broken, value_of
from tests.oracles import brute_growth
from tests.samples import random_growth
from tests.samples.growth_samples import grown, solved
from tests.solution.test_brute_force import cage, catalog, switch
from tests.solution.test_growth import assert_agrees

MOST = 3


def random_program(seed: int) -> pulp.LpProblem:
    """A few variables, rows of every sense, weights and constants of up to eighty bits."""
    dice = random.Random(seed)
    lp = pulp.LpProblem("wide")
    variables = [pulp.LpVariable(name, dice.randint(0, 1), MOST, cat="Integer") for name in "abcd"]

    def weights(bits: int) -> list[int]:
        return [dice.choice([-1, 1, 1]) * dice.getrandbits(bits) for _ in variables]

    lp.setObjective(pulp.LpAffineExpression(list(zip(variables, weights(80), strict=True)), dice.getrandbits(70)))
    meets = {var.name: dice.randint(1, MOST) for var in variables}
    for number in range(3):
        row = pulp.LpAffineExpression(list(zip(variables, weights(dice.choice([4, 64, 80])), strict=True)), constant=0)
        at = value_of(row, meets)
        slack = dice.choice([0, dice.getrandbits(30), dice.getrandbits(70)])
        lp += row <= at + slack if dice.random() < 0.5 else row >= at - slack, f"row_{number}"
    if dice.random() < 0.5:
        row = pulp.LpAffineExpression([(variables[0], 2**65 + 1), (variables[1], 2**65 + 1)], constant=0)
        lp += row == value_of(row, meets), "same"
    return lp


def least_of_all(lp: pulp.LpProblem) -> int | None:
    names = [var.name for var in lp.variables()]
    ranges = [range(int(var.lowBound), int(var.upBound) + 1) for var in lp.variables()]
    solutions = (dict(zip(names, values, strict=True)) for values in itertools.product(*ranges))
    return min(value_of(lp.objective, one) for one in solutions if not broken(lp, one))


@pytest.mark.long(but=("17", "2"))
@pytest.mark.parametrize("seed", range(40))
def test_wide_programs_have_the_least_of_all_solutions(seed: int) -> None:
    lp = random_program(seed)
    solution = solvers.solve(lp, "cp-sat")
    assert solution.verdict == "optimal" and broken(lp, solution.values) == []
    assert value_of(lp.objective, solution.values) == least_of_all(lp)
    assert solution.bound == pytest.approx(value_of(lp.objective, solution.values))


def test_a_program_that_is_not_wide_stays_as_it_is() -> None:
    lp = pulp.LpProblem("narrow")
    x = pulp.LpVariable("x", 0, 1, cat="Integer")
    lp.setObjective(wide_sums.MOST * x)
    assert wide_sums.narrowed(lp) == (lp, None)
    lp.setObjective((wide_sums.MOST + 1) * x)
    assert wide_sums.narrowed(lp)[1] is not None


def test_one_word_is_enough_where_all_weights_have_a_common_divisor() -> None:
    lp = pulp.LpProblem("common")
    x, y = (pulp.LpVariable(name, 0, 2**30, cat="Integer") for name in "xy")
    lp.setObjective(7 * 2**33 * x + 5 * 2**33 * y)
    lp += 7 * 2**33 * x + 5 * 2**33 * y >= 2**62 + 1, "least"
    narrow, words = wide_sums.narrowed(lp)
    assert words is not None and (words.unit, words.low) == (2**33, None) and len(narrow.constraints) == 1
    solution = solvers.solve(lp, "cp-sat")
    assert value_of(lp.objective, solution.values) == solution.bound == 2**62 + 2**33


def test_probabilities_of_four_decimals_and_very_large_sums() -> None:
    # 10,000ths of a chance times millionths of a cent of energy, on switches of ten billion dollars. 4 servers take one
    # and 8 take three; three at once cost less than one alone.
    breaks = [{"from": 1, "usd": 10**10}, {"from": 3, "usd": 3 * 10**9}]
    parts = catalog(switches=[{**switch("eight", cage(8, "1x100")), "price_usd": breaks}])
    case = grown(4, 8, objective="tco_usd", finance={"discount_rate": 0.07})
    case["stages"][-1]["probability"] = 0.1237
    design = solved(parts, case)
    assert design.status == "optimal" and [check for check in design.checks if not check.ok] == []
    assert [row.quantity for row in design.bom if row.kind == "switch"] == [3, 0]


@pytest.mark.parametrize(("family", "seed"), [("staged", 1), ("moving", 2), ("staged_three_tier", 3)])
def test_designs_are_the_same_in_two_words(family: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide_sums, "MOST", 10**4)
    parts, wanted = random_growth.generate(family, seed)
    design = solved(parts, {key: value for key, value in wanted.items() if key != "catalog"})
    assert_agrees(design, brute_growth.solve(parts, wanted))
