"""What racks and rows take: limits on heat to air and weight against brute force, and by themselves."""

from __future__ import annotations

import pytest

from fabopt.solution import optimize
from tests.oracles.brute_floor import cheapest, toy_with_halls
from tests.samples.small import assert_proven, inputs, solved_as, value_of

# Limits that bind, that do not, and that leave no design.
SEEDS = (2, 3, 4, 7, 8, 10, 14, 15, 16)
KEYS = ("rack_air_w", "row_air_w", "rack_kg", "floor_kg_m2")


@pytest.mark.long(but=("14",))
@pytest.mark.parametrize("seed", SEEDS)
def test_small_floors_with_limits_of_halls_equal_brute_force(seed: int) -> None:
    """Every set of racks for servers, every rack for every switch; none cheaper with each limit than without it."""
    content, parts = toy_with_halls(seed)
    design = solved_as(cheapest(content, parts), content, parts)
    floor = content["site"]["floor"]
    for key in (key for key in KEYS if key in floor):
        free = {**content, "site": {**content["site"], "floor": {one: floor[one] for one in floor if one != key}}}
        relaxed = optimize.solve(inputs(free, parts), alternatives_s=0)
        if design is not None:
            assert_proven(relaxed)
            assert value_of(relaxed) <= value_of(design)
