"""Sites of several halls against brute force, and one hall against its floor."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from tests.oracles.brute_floor import cheapest, toy, toy_campus
from tests.samples.small import inputs, solved_as, value_of

# Two and three halls; switches in one and in both, over routes of every length.
SEEDS = (12, 2, 7, 14, 17, 19, 26, 28)


@pytest.mark.long(but=("12",))
@pytest.mark.parametrize("seed", SEEDS)
def test_small_halls_equal_brute_force(seed: int) -> None:
    """Every set of racks for servers in all halls, every rack for every switch; a longer route is never cheaper."""
    content, parts = toy_campus(seed)
    design = solved_as(cheapest(content, parts), content, parts)
    routes = [{**route, "m": route["m"] + 30} for route in content["site"]["routes"]]
    longer = solve(inputs({**content, "site": {**content["site"], "routes": routes}}, parts), alternatives_s=0)
    if design is None:
        assert longer.status == "infeasible"
    elif longer.status != "infeasible":
        assert value_of(longer) >= value_of(design)


def _without_names(design: Design) -> list[Any]:
    """What each fabric is, and where, by racks without the hall's name."""
    return [
        {
            **fabric.model_dump(include={"structure", "tiers", "links"}),
            "places": fabric.places.model_dump_json().replace("HALL-", ""),
        }
        for fabric in design.fabrics
    ]


@pytest.mark.long(but=("27",))
@pytest.mark.parametrize("seed", [3, 16, 26, 27])
def test_one_hall_is_its_floor(seed: int) -> None:
    content, parts = toy(seed)
    floor = content["site"]["floor"]
    hall = {**content, "site": {"halls": [{"name": "HALL", **floor}]}}
    alone, named = (solve(inputs(one, parts), alternatives_s=0) for one in (content, hall))
    assert alone.status == named.status and alone.objective.value == named.objective.value
    if alone.status == "optimal":
        assert _without_names(alone) == _without_names(named)
        assert [row.model_dump() for row in alone.bom] == [row.model_dump() for row in named.bom]
        assert [check.name for check in named.checks if not check.ok] == []
