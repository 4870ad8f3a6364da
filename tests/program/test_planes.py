"""Numbers of planes that cost the same: more left without the worst switch decides, and the answer says so.

Eight servers with one card of two ports: one switch of sixteen ports, or one of eight for each of two planes, which
cost as much together. Without a switch one plane leaves nothing, and two leave a port of each server.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.program.solvers import ENGINES
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.samples.bare import bare
from tests.solution.test_brute_force import cage, card, case, catalog, switch

LARGE = switch("large", cage(16, "1x100"), usd=2000, watts=200)
SMALL = switch("small", cage(8, "1x100"), usd=1000, watts=100)


def given(
    resilience: str = "default", small_usd: float = 1000, small_w: float = 100, keys: Any = None, **fabric: Any
) -> Inputs:
    small = {**SMALL, "price_usd": small_usd, "power_w": small_w}
    parts = catalog(switches=[LARGE, small], nics=[card("card", cage(2, "1x100"))])
    wanted = {"min_gbps_per_gpu": 200, "tiers": 1, "planes": "any"} | fabric
    content = bare({**case(8, wanted), "resilience": resilience, **(keys or {})})
    del content["catalog"]
    return inputs_from_objects(content, parts)


def planes(design: Design) -> tuple[int, Any]:
    assert design.totals is not None and all(check.ok for check in design.checks)
    return design.fabrics[0].planes, design.totals.capex_usd


def told(design: Design) -> list[str]:
    return [note for note in design.notes if "planes cost the same" in note]


@pytest.mark.parametrize("engine", ENGINES)
def test_of_equal_cost_the_planes_win_that_leave_more(engine: str) -> None:
    design = optimize.solve(given(), engine=engine, alternatives_s=0)
    assert planes(design) == (2, planes(optimize.solve(given(planes=1), alternatives_s=0))[1])
    words = "with 2 there are 100 Gb/s per GPU without the worst switch"
    assert told(design) == [f"compute: 1 and 2 planes cost the same; {words}"]


def test_without_resilience_the_fewest_switches_win() -> None:
    design = optimize.solve(given("none"), alternatives_s=0)
    assert planes(design)[0] == 1
    assert told(design) == [
        "compute: 1 and 2 planes cost the same; with 1 there are 0 Gb/s per GPU without the worst switch"
    ]


@pytest.mark.parametrize(("small_usd", "number"), [(999, 2), (1001, 1)])
def test_a_dollar_decides_before_what_is_left(small_usd: float, number: int) -> None:
    design = optimize.solve(given(small_usd=small_usd), alternatives_s=0)
    assert planes(design)[0] == number and not told(design)


OTHERS: dict[str, Any] = {
    "power": {"objective": "power_w"},
    "tco": {"objective": "tco_usd"},
    "budget": {"limits": {"budget_usd": 100_000}},
    "orders": {"procurement": {"spares": {"switch": {"minimum": 1}}}},
}


@pytest.mark.parametrize("keys", OTHERS.values(), ids=OTHERS)
def test_so_it_is_whatever_is_minimized_limited_or_ordered(keys: Any) -> None:
    design = optimize.solve(given(keys=keys), alternatives_s=0)
    if "procurement" in keys:  # a spare of the larger switch costs more than one of the smaller
        assert planes(design)[0] == 2 and not told(design)
        return
    assert planes(design)[0] == 2 and told(design)[0].startswith("compute: 1 and 2 planes cost the same; with 2")


@pytest.mark.parametrize(("small_w", "small_usd", "number"), [(99, 1001, 2), (100, 1001, 1), (100, 999, 2)])
def test_of_equal_power_the_price_decides_before_what_is_left(small_w: float, small_usd: float, number: int) -> None:
    inputs = given(small_w=small_w, small_usd=small_usd, keys={"objective": "power_w"})
    design = optimize.solve(inputs, alternatives_s=0)
    assert planes(design)[0] == number and not told(design)


def test_each_of_two_fabrics_says_what_costs_the_same() -> None:
    inputs = given()
    (fabric,) = inputs.case.fabrics
    other = fabric.model_copy(update={"name": "other", "planes": 1})
    third = fabric.model_copy(update={"name": "third"})
    fabrics = {"fabrics": (fabric, other, third)}
    catalog = inputs.catalog.model_copy(update={"servers": tuple(
        one.model_copy(update={"nic_slots": 3 * max(1, one.nic_slots)}) for one in inputs.catalog.servers
    )})  # fmt: skip
    case = inputs.case.model_copy(update=fabrics)
    design = optimize.solve(replace(inputs, case=case, catalog=catalog), alternatives_s=0)
    assert [one.planes for one in design.fabrics] == [2, 1, 2]
    assert [note.partition(":")[0] for note in told(design)] == ["compute", "third"]
