"""Rule ``optic-loss``: it decides which optics are bought, is proven again, told, and named if in the way."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from fabopt.errors import InputError
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.samples.small import Json, assert_proven, bought, case, catalog, inputs, solved, usd

OPTICS: Json = {
    "budgets": [
        {"standard": "400G-SR4", "connections_db": 1.5}, {"standard": "400G-DR4", "budget_db": 3.0},
        {"standard": "400G-FR4"},
    ],
    "pairs": [
        {"connector": "MPO-12-APC", "fibre": "om4", "grade": "low-loss", "largest_db": 0.35, "typical_db": 0.15},
        {"connector": "MPO-12-APC", "fibre": "om4", "grade": "standard", "largest_db": 0.6, "typical_db": 0.2},
        {"connector": "MPO-12-APC", "fibre": "smf", "largest_db": 0.75, "typical_db": 0.3},
    ],
    "glass": [{"fibre": "om4", "db_per_km": 3.0}, {"fibre": "smf", "db_per_km": 0.4}],
}  # fmt: skip

GLASS_OF_60_DB = {"fibre": "om4", "db_per_km": 60.0}


def parts(grade: str | None = None) -> Json:
    """The small catalog with cheap multimode between switches, whose plugs have a grade, and without active cables."""
    content = catalog()
    content["facts"] = {"optics": copy.deepcopy(OPTICS)}
    content["cables"] = [cable for cable in content["cables"] if cable["id"] != "aoc"]
    optic = {"form_factor": "QSFP-DD", "split": "1x400", "standard": "400G-SR4", "fibre": "om4"}
    content["transceivers"].append({"id": "sr4", "connector": "MPO-12-APC", "reach_m": 50, "power_w": 8,
                                    "price_usd": 300, **optic})  # fmt: skip
    lead: Json = {"id": "lead", "fibre": "om4", "connectors": ["MPO-12-APC"] * 2}
    lead |= {"lengths": [{"m": 10, "price_usd": 50}, {"m": 50, "price_usd": 90}]}
    content["fibres"].append(lead if grade is None else {**lead, "grade": grade})
    return content


def wanted(margin_db: object = 0.0, **keys: object) -> Json:
    content = case(**keys)
    content["site"] = {"distances_m": {"server-leaf": 3, "leaf-spine": 30}, "optical_margin_db": margin_db}
    return content


def optics(design: Design) -> set[str]:
    return {one for one in bought(design) if one in ("sr4", "dr4", "dr4-hot")}


# 50 m of multimode lose 0.15 dB, two plugs 0.7 or 1.2: of 1.65 dB 0.80 or 0.30 are left. Single-mode: 3.0 - 1.52.
@pytest.mark.long(but=("low-loss-0.8-bought_optics1",))
@pytest.mark.parametrize(
    ("grade", "margin_db", "bought_optics"),
    [("low-loss", 0.0, {"sr4"}), ("low-loss", 0.8, {"sr4"}), ("low-loss", 0.81, {"dr4-hot"}),
     ("standard", 0.3, {"sr4"}), ("standard", 0.31, {"dr4-hot"}), (None, 0.3, {"sr4"}), (None, 0.31, {"dr4-hot"}),
     (None, 1.48, {"dr4-hot"})],
)  # fmt: skip
def test_the_margin_decides_which_optics_are_bought(
    grade: str | None, margin_db: float, bought_optics: set[str]
) -> None:
    design = solved(wanted(margin_db), parts(grade))
    assert_proven(design)
    assert optics(design) == bought_optics
    unpruned = solved(wanted(margin_db), parts(grade), prune=False)
    assert usd(unpruned) == usd(design)
    assert [check.ok for check in design.checks if check.name == "channels_fit_budgets"] == [True]
    assert any(note.startswith("rule `optic-loss`: ") for note in design.notes)


def test_a_margin_that_nothing_keeps_is_named_and_so_is_the_rule() -> None:
    """3.0 - 2 x 0.75 - 50 m x 0.4 dB/km = 1.48."""
    design = solved(wanted(1.6), parts())
    assert design.status == "infeasible"
    told = {conflict.limit: conflict for conflict in design.conflicts}
    margin = told["site.optical_margin_db"]
    assert (margin.value, margin.needed, margin.direction, margin.minimal) == (1.6, 1.48, "down", True)
    assert margin.capex_usd == usd(solved(wanted(1.48), parts()))
    assert told["rules.optic-loss"].capex_usd == usd(solved(wanted(rules={"optic-loss": False}), parts()))


def test_without_the_rule_the_margin_decides_nothing() -> None:
    off = solved(wanted(1.6, rules={"optic-loss": False}), parts())
    assert_proven(off)
    assert optics(off) == {"sr4"} and "optics" not in off.parts["facts"]
    assert "channels_fit_budgets" not in {check.name for check in off.checks}
    assert not any("optic-loss" in note for note in off.notes)


def test_a_larger_margin_never_costs_less() -> None:
    costs = [usd(solved(wanted(margin / 10), parts("low-loss"))) for margin in range(0, 15, 2)]
    assert costs == sorted(costs) and costs[0] < costs[-1]


def test_what_is_not_known_rules_nothing_out_and_is_told() -> None:
    content = parts()
    content["facts"]["optics"] = {"budgets": [{"standard": "400G-SR4"}]}
    design = solved(wanted(50.0), content)
    assert_proven(design)
    assert any("the budget of 400G-SR4 is not known" in note for note in design.notes)


@pytest.mark.parametrize(
    "breaks",
    [
        lambda facts, parts: facts["budgets"][0].update(connections_db=0.7),
        lambda facts, parts: facts["pairs"][0].update(largest_db=0.8),
        lambda facts, parts: facts["budgets"].insert(0, {"standard": "400G-SR4", "budget_db": 1.4}),
        lambda facts, parts: facts.update(
            budgets=[{"standard": "400G-SR4", "budget_db": 1.65}], glass=[GLASS_OF_60_DB]
        ),
        lambda facts, parts: parts["sr4"].update(loss_budget_db=0.8),
        lambda facts, parts: parts["lead"].update(loss_db=0.9),
        lambda facts, parts: parts["lead"].update(grade="standard"),
    ],
)
def test_a_file_whose_links_lose_too_much_is_refused(breaks: Callable[[Json, Json], object]) -> None:
    design = solved(wanted(0.8), parts("low-loss"))
    embedded = copy.deepcopy(design.parts)
    breaks(embedded["facts"]["optics"], embedded)
    failed = {check.name for check in verify(design.model_copy(update={"parts": embedded})) if not check.ok}
    assert "channels_fit_budgets" in failed


@pytest.mark.parametrize("margin_db", [-0.1, 101, float("nan"), float("inf"), "much"])
def test_a_margin_is_a_number_of_decibels(margin_db: object) -> None:
    with pytest.raises(InputError, match="optical_margin_db"):
        inputs(wanted(margin_db))


@pytest.mark.parametrize("row", [{"budget_db": -1.0}, {"budget_db": 0}, {"budget_db": 1, "connections_db": 1}])
def test_a_budget_is_above_zero_and_said_once(row: Json) -> None:
    content = parts()
    content["facts"]["optics"]["budgets"][0] = {"standard": "400G-SR4", **row}
    with pytest.raises(InputError, match="budget"):
        optimize.solve(inputs(wanted(), content), alternatives_s=0)
