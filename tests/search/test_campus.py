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


# Those of the first sixty whose ratio between halls makes the design dearer, and one of more.
WITH_RATIO = [(17, 1), *((seed, 0.5) for seed in (0, 5, 7, 11, 14, 15, 17, 19, 24, 28, 35, 42, 46, 52)), (5, 0.1)]


@pytest.mark.long(but=("5-0.5", "7-0.5", "14-0.5"))
@pytest.mark.parametrize(("seed", "ratio"), WITH_RATIO)
def test_small_halls_with_a_ratio_between_them_equal_brute_force(seed: int, ratio: float) -> None:
    """Every place of every switch whose links that leave each hall are enough."""
    content, parts = toy_campus(seed)
    free, held = cheapest(content, parts), cheapest(content, parts, hall_ratio=ratio)
    fabric = content["fabrics"][0]
    said = {"leaf": fabric["max_oversubscription"], "hall": ratio}
    solved_as(held, {**content, "fabrics": [{**fabric, "max_oversubscription": said}]}, parts)
    assert held is None or (free is not None and held >= free)


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
