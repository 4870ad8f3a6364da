"""Shares of the stock on hand that a bound counts: no design is below it, and none that is cheaper is left out."""

from __future__ import annotations

import numpy as np
import pytest

from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.search.expansion import Expansion
from fabopt.search.stock_shares import with_stock_shared
from tests.samples.small import Json, assert_proven, case, catalog, comparable, inputs, product, solved

ONE_CARD: Json = {"nics": ["nic-400"], "nics_per_server": 2}
SPARES: tuple[Json, ...] = ({}, {"procurement": {"spares": {"switch": {"minimum": 2, "per": "site"}}}})


def stocked(**stock: int) -> Json:
    parts = catalog()
    for name, units in stock.items():
        product(parts, name)["stock"] = units
    return parts


def bounds(content: Json, parts: Json) -> tuple[float, float, int]:
    """The bound that takes off the whole stock, that with the best shares, and the optimum, the servers aside."""
    given = inputs(content, parts)
    problem = problem_of(given.case, given.catalog)
    expansion = Expansion(problem, Settings(), Clock(None), {})
    whole = expansion.expand(np.zeros(0))
    shared = with_stock_shared(expansion, whole)
    assert shared.bound == pytest.approx(expansion.expand(np.zeros(0)).bound)
    optimum = search_of(problem, Settings(), Clock(None)).run()
    assert optimum.verdict == "optimal" and optimum.value is not None
    return whole.bound, shared.bound, optimum.value - problem.fixed_objective


@pytest.mark.long
@pytest.mark.parametrize("beside", SPARES, ids=["plain", "spares"])
@pytest.mark.parametrize(
    "stock",
    [{"large": 1}, {"large": 2, "lean": 1}, {"dr4": 30}, {"large": 1, "dr4": 8}, {"lean": 2, "small": 1}],
    ids=lambda stock: "-".join(f"{units}-{name}" for name, units in stock.items()),
)
@pytest.mark.parametrize("objective", ["capex_usd", "tco_usd"])
def test_no_design_is_below_the_bound_and_none_is_lost(stock: dict[str, int], beside: Json, objective: str) -> None:
    content, parts = case(ONE_CARD, servers=4, objective=objective, **beside), stocked(**stock)
    whole, shared, best = bounds(content, parts)
    assert whole <= shared <= best + 0.5
    pruned, unpruned = solved(content, parts), solved(content, parts, prune=False)
    assert_proven(pruned)
    assert comparable(pruned) == comparable(unpruned)


@pytest.mark.parametrize("stock", [{"large": 10}, {"dr4": 200}, {"large": 2, "dr4": 100}], ids=str)
def test_stock_that_no_design_can_use_up_is_not_taken_off_whole(stock: dict[str, int]) -> None:
    """The whole stock is worth more than any design; with the best shares the bound is the optimum."""
    whole, shared, best = bounds(case(ONE_CARD, servers=4), stocked(**stock))
    assert whole < 0 < best and shared == pytest.approx(best)
