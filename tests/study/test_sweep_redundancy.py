"""Sweeps and fronts keep the default rule of resilience as far as their points can."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from fabopt.inspect.decisions.decide import Wanted, decided
from fabopt.output.export.front import front_csv
from fabopt.output.steps import cut_off
from fabopt.output.terminal.front import front_summary
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Front, FrontPoint
from fabopt.solution import optimize
from fabopt.solution.formulation_text import formulation_text
from fabopt.study.front import fronts
from fabopt.study.sensitivity import ranges
from fabopt.study.sensitivity.ranges import Asked
from fabopt.study.sweep import sweep as sweeps
from tests.samples import small
from tests.samples.lengths import USUAL
from tests.solution.test_brute_force import cage, card, case, switch
from tests.solution.test_redundancy import ONE_UPLINK, TWO_SPINES, catalog, pair, three_ports
from tests.solution.test_subnet_manager import too_small

Json = dict[str, Any]


def points(budgets: str, **keys: Any) -> tuple[FrontPoint, ...]:
    return swept(*pair(**keys), budgets)


def swept(parts: Json, wanted: Json, budgets: str) -> tuple[FrontPoint, ...]:
    return front_of(parts, wanted, budgets).points


def front_of(parts: Json, wanted: Json, budgets: str) -> Front:
    inputs = small.inputs(wanted, parts)
    grid = sweeps.grid_of(inputs, budgets, [])
    execution = sweeps.Execution()
    return sweeps.sweep(inputs, grid, execution, None, Settings(), Clock(None), lambda *told: None)


def spines(point: FrontPoint) -> int:
    return next(tier.count for tier in point.fabrics[0].tiers if tier.role == "spine")


def test_budgets_that_do_not_buy_it_buy_nothing() -> None:
    between, whole = points(f"{TWO_SPINES - 1},{TWO_SPINES}")
    assert between.status == "infeasible" and between.conflicts[0].needed == TWO_SPINES
    assert spines(whole) == 2 and whole.rules_left_out == ()


def test_budgets_buy_what_no_design_keeps_it_with() -> None:
    parts, wanted = three_ports()
    below, bare = swept(parts, wanted, f"{ONE_UPLINK - 1},{ONE_UPLINK}")
    assert below.status == "infeasible" and below.conflicts[0].needed == ONE_UPLINK
    assert spines(bare) == 1 and [row.part for row in bare.rules_left_out] == ["rules.two-spines"]


def test_budgets_for_servers_buy_as_well() -> None:
    (point,) = points(str(TWO_SPINES), maximize="servers", fabric={"tiers": 2, "switches": {"leaf": ["switch"]}})
    assert point.totals is not None and point.totals.capex_usd <= TWO_SPINES and point.rules_left_out == ()


@pytest.mark.long
def test_fronts_are_of_what_some_design_keeps() -> None:
    def front(parts: Json, wanted: Json) -> Any:
        objectives = fronts.objectives_of(["capex_usd", "power_w"], [], None)
        return fronts.pareto_front(
            small.inputs(wanted, parts), objectives, None, Settings(), Clock(None), lambda some: None
        )

    assert [point.values["capex_usd"] for point in front(*pair()).points] == [TWO_SPINES]
    (point,) = front(*three_ports()).points
    assert (point.values["capex_usd"], spines(point)) == (ONE_UPLINK, 1)
    assert [row.part for row in point.rules_left_out] == ["rules.two-spines"]
    short = catalog(switches=[switch("switch", cage(4, "1x100"), supply=3)])
    assert [point.status for point in front(*pair(None, short)).points] == ["infeasible"]


def unmanaged() -> tuple[Json, Json]:
    """A subnet that no switch manages; hosts that do need a spine more."""
    return too_small(), case(4, {"tiers": 2}) | {"rules": {}, "resilience": "none", "site": {"distances_m": USUAL}}


@pytest.mark.long("1-managers", "1-kept", "1-left-out", "0-managers", "0-kept")
@pytest.mark.parametrize(
    ("given", "least"),
    ((pair(), TWO_SPINES), (three_ports(), ONE_UPLINK), (unmanaged(), TWO_SPINES + 20)),
    ids=("kept", "left-out", "managers"),
)
@pytest.mark.parametrize("less", (0, 1))
def test_every_study_agrees_with_solving(given: tuple[Json, Json], least: int, less: int) -> None:
    """At a budget of the least that keeps the rules, and a dollar below it."""
    parts, wanted = given
    budget = least - less
    limited = wanted | {"limits": {"budget_usd": budget}}
    inputs = small.inputs(limited, parts)
    alone = optimize.solve(inputs, alternatives_s=0)
    assert alone.status == ("infeasible" if less else "optimal")
    objectives = fronts.objectives_of(["capex_usd", "power_w"], [], None)
    front = fronts.pareto_front(inputs, objectives, None, Settings(), Clock(None), lambda some: None)
    by_key = sweeps.grid_of(small.inputs(wanted, parts), None, [f"limits.budget_usd={budget}"])
    told = sweeps.sweep(
        small.inputs(wanted, parts), by_key, sweeps.Execution(), None, Settings(), Clock(None), lambda *some: None
    )
    points = (*swept(parts, wanted, str(budget)), *told.points, front.points[0])
    for point in points:
        assert point.status == alone.status and point.rules_left_out == alone.rules_left_out
        assert (point.totals, point.bom) == (alone.totals, alone.bom)
        if less:
            assert alone.nearest is not None and point.nearest is not None
            assert point.nearest.capex_usd == alone.nearest.capex_usd == least
    best = decided(inputs, lambda some: optimize.solve(some, alternatives_s=0), Wanted()).best
    assert (best.status, best.bom, best.rules_left_out) == (alone.status, alone.bom, alone.rules_left_out)


def test_prices_and_programs_are_of_what_some_design_keeps() -> None:
    parts, wanted = three_ports()
    inputs = small.inputs(wanted, parts)
    found = ranges.sensitivity(inputs, Asked(kinds=("switch",), parts=()), Settings(), Clock(None))
    assert found.status == "optimal" and found.objective.value == ONE_UPLINK and found.complete
    assert "Minimize" in formulation_text(inputs, "lp")
    assert problem_of(inputs.case, inputs.catalog).fabrics[0].rules.kept[:2] == ("two-spines", "two-cores")


def text_of(front: Front) -> str:
    console = Console(width=200, file=StringIO())
    console.print(front_summary(front))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_points_say_what_the_worst_switch_cuts_off() -> None:
    """A single switch has all four servers; of two leaves each has two, whatever is above them."""
    parts, wanted = pair({"tiers": 1})
    alone = front_of(parts, wanted, "10K")
    tall = front_of(*pair(), f"{TWO_SPINES}")
    assert [cut_off(point) for front in (alone, tall) for point in front.points] == [4, 2]
    assert [cut_off(point) for point in front_of(*pair(), "1K").points] == [None]
    paired = catalog(nics=[card("twin", cage(2, "1x100"))])
    both = front_of(*pair({"name": "storage", "role": "storage", "tiers": 1}, paired), "10K")
    assert [cut_off(point) for point in both.points] == [0] and "cut off" not in text_of(both)
    assert "cut off" in text_of(alone) and b",4," in front_csv(alone)
