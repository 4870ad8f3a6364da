"""Fronts that are listed at once are those that are found point by point, design for design."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.output.terminal.front import front_headline
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.solution import optimize
from fabopt.study.front import mixes, pareto
from fabopt.study.front.finder import Finder, GradedDesign
from fabopt.study.front.fronts import objectives_of, pareto_front
from fabopt.study.front.listed import can_be_listed
from fabopt.study.front.measures import MEASURES
from fabopt.study.front.points import Place, points_of
from fabopt.verify import verify
from tests.samples.random_cases import generate
from tests.samples.small import Json, case, catalog, inputs

SMALL = {"switches": {"leaf": ["lean", "small"], "spine": ["small"]}, "nics_per_server": [2, 4]}


def problem(content: Json, parts: Json | None = None) -> Problem:
    found = inputs(content, parts)
    return problem_of(found.case, found.catalog)


def place(one: Problem) -> Place:
    return Place(Inputs(one.asked, one.catalog, "case"), "capex_usd", "cp-sat")


def finder(one: Problem) -> Finder:
    return Finder(one, Settings(), Clock(None))


def one_by_one(one: Problem, pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> pareto.FoundFront:
    with monkeypatch.context() as patch:
        patch.setattr(pareto, "can_be_listed", lambda *given: False)
        return pareto.front(finder(one), [MEASURES[name] for name in pair], None, lambda graded: None)


def points(one: Problem, found: tuple[GradedDesign, ...]) -> list[Any]:
    return [point.model_dump() for point in points_of(one, found, place(one), Settings(), Clock(None))]


@pytest.mark.long("linear-8", "linear-17")
@pytest.mark.parametrize(("family", "seed"), [("linear", 8), ("linear", 17), ("attached", 0), ("three_tier", 6)])
def test_listed_designs_are_those_found_one_by_one(family: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, wanted = generate(family, seed)
    read = inputs_from_objects(wanted, parts)
    one = problem_of(read.case, read.catalog)
    pair = (("capex_usd", "power_w"), ("tco_usd", "cables"), ("power_w", "tco_usd"), ("switches", "capex_usd"))[
        seed % 4
    ]
    assert can_be_listed(one, *(MEASURES[name] for name in pair))
    whole = pareto.front(finder(one), [MEASURES[name] for name in pair], None, lambda graded: None)
    slow = one_by_one(one, pair, monkeypatch)
    assert whole.is_whole and slow.is_whole
    assert points(one, whole.points) == points(one, slow.points)


@pytest.mark.parametrize("pair", [("capex_usd", "power_w"), ("power_w", "cables")])
def test_two_fabrics_share_slots(pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Four cards of eight slots each: a fabric that takes five leaves three for the other."""
    fabrics = [{"name": "compute", **SMALL}, {"name": "storage", "role": "storage", **SMALL, "nics_per_server": [1, 2]}]
    one = problem(case(servers=3) | {"fabrics": fabrics})
    whole = pareto.front(finder(one), [MEASURES[name] for name in pair], None, lambda graded: None)
    assert points(one, whole.points) == points(one, one_by_one(one, pair, monkeypatch).points)


@pytest.mark.long
def test_stages_at_falling_prices_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = [{"name": "day-1", "servers": 2}, {"name": "later", "month": 12, "servers": 4}]
    one = problem(case(SMALL, stages=stages, finance={"price_decline": {"transceiver": 0.2}, "discount_rate": 0.08}))
    pair = ("tco_usd", "power_w")
    whole = pareto.front(finder(one), [MEASURES[name] for name in pair], None, lambda graded: None)
    assert points(one, whole.points) == points(one, one_by_one(one, pair, monkeypatch).points)
    assert not can_be_listed(one, MEASURES["capex_usd"], MEASURES["tco_usd"])


def test_what_costs_less_in_bulk_is_not_listed() -> None:
    parts = catalog()
    parts["switches"][0]["price_usd"] = [{"from": 1, "usd": 1000}, {"from": 4, "usd": 900}]
    pair = MEASURES["capex_usd"], MEASURES["power_w"]
    assert can_be_listed(problem(case()), *pair) and not can_be_listed(problem(case(), parts), *pair)


@pytest.mark.parametrize(
    ("pair", "limits", "listed_"),
    [
        (("capex_usd", "power_w"), {"budget_usd": 10**6, "power_w": 10**6, "rack_units": 99}, True),
        (("rack_units", "power_w"), {"budget_usd": 10**6}, False),
        (("capex_usd", "gbps_per_gpu"), {}, False),
    ],
)
def test_limits_on_what_is_not_traded_are_left_to_the_program(
    pair: tuple[str, str], limits: Json, listed_: bool
) -> None:
    assert can_be_listed(problem(case(limits=limits)), *(MEASURES[name] for name in pair)) is listed_


@pytest.mark.long
def test_limits_hold_on_a_listed_front(monkeypatch: pytest.MonkeyPatch) -> None:
    free = pareto.front(
        finder(problem(case(servers=6))), [MEASURES["capex_usd"], MEASURES["power_w"]], None, lambda graded: None
    )
    middle = free.points[len(free.points) // 2].grades
    limits = {"budget_usd": middle["capex_usd"] / 100, "rack_units": middle["rack_units"] / 1000}
    one = problem(case(servers=6, limits=limits))
    held = pareto.front(finder(one), [MEASURES["capex_usd"], MEASURES["power_w"]], None, lambda graded: None)
    slow = one_by_one(one, ("capex_usd", "power_w"), monkeypatch)
    assert held.points and points(one, held.points) == points(one, slow.points)


@pytest.mark.long
def test_too_much_to_list_is_found_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    one = problem(case(servers=6))
    pair = [MEASURES["capex_usd"], MEASURES["power_w"]]
    whole = pareto.front(finder(one), pair, None, lambda graded: None)
    monkeypatch.setattr(mixes, "MOST_ROWS", 3)
    assert points(one, pareto.front(finder(one), pair, None, lambda graded: None).points) == points(one, whole.points)


@pytest.mark.long
def test_a_front_that_is_too_long_is_thinned_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pareto_front(
        inputs(case(servers=6)), objectives_of(["capex_usd", "power_w"], [], None), None, Settings(), Clock(None),
        lambda graded: None,
    )  # fmt: skip
    monkeypatch.setattr(pareto, "MOST_POINTS", 12)
    thin = pareto_front(
        inputs(case(servers=6)), objectives_of(["capex_usd", "power_w"], [], None), None, Settings(), Clock(None),
        lambda graded: None,
    )  # fmt: skip
    assert whole.complete and whole.size is None and len(whole.points) > 12 >= len(thin.points) > 6
    assert (thin.complete, thin.size) == (False, len(whole.points))
    values = [point.values for point in whole.points]
    assert [point.values for point in thin.points] == [one for one in values if one in [p.values for p in thin.points]]
    assert [thin.points[0].values, thin.points[-1].values] == [values[0], values[-1]]
    assert [p.values for p in thin.points if p.knee] == [p.values for p in whole.points if p.knee]
    assert front_headline(thin).endswith(f"proven: {len(thin.points)} of its {len(whole.points)} points.")
    assert thin.notes[-1].startswith(f"the front has {len(whole.points)} points, all found and proven")


@pytest.mark.long
def test_ends_of_what_differs_in_numbers_only_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other point is the sum of what is on it, and its bill is worked out."""
    one = problem(case(servers=6))
    found = pareto.front(finder(one), [MEASURES["capex_usd"], MEASURES["power_w"]], None, lambda graded: None).points
    checked: list[float] = []

    def noted(design: Any, wiring: Any = None) -> Any:
        checked.append(design.totals.capex_usd)
        return verify(design, wiring)

    monkeypatch.setattr(optimize, "verify", noted)
    made = points_of(one, found, place(one), Settings(), Clock(None))
    kinds = {tuple((row.from_, part.id) for row in point.fabrics[0].links for part in row.parts) for point in made}
    assert len(kinds) <= len(checked) < len(made)
    assert made[0].totals is not None and made[0].totals.capex_usd in checked
