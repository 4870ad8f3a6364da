"""A chassis is a switch of many ports: as a core it takes the place of several boxes, and its power and units count.

16 servers at 1:1 on three tiers of 4-port switches (1000 USD, 100 W, 1 unit; cables 10, 20, 30 USD, as in
``tests.solution.test_brute_force``): 8 leaves of 2 down and 2 up, 4 pods of 2 leaves and 2 spines of 2 down and 2 up.
The 16 links above the spines take 4 cores of 4 ports, or one chassis of 16: q = 2 spines of each pod with m2 = 2 links
each.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.samples.small import assert_proven, solved
from tests.solution.test_brute_force import cage, case, catalog, switch, usd

Json = dict[str, Any]
BELOW = 16 * 1000 + 16 * 100 + 16 * 10 + 16 * 20 + 16 * 30
FABRIC: Json = {"tiers": 3, "switches": {"leaf": ["switch"], "spine": ["switch"]}}


def parts(price_usd: float) -> Json:
    chassis = switch("chassis", cage(16, "1x100"), usd=price_usd, watts=600, rack_units=8)
    return catalog(switches=[*catalog()["switches"], chassis])


@pytest.mark.parametrize(("price_usd", "cores", "core_usd"), [(3000, 1, 3000), (5000, 4, 4000)])
def test_a_chassis_core_wins_by_its_price(price_usd: float, cores: int, core_usd: float) -> None:
    assert usd(parts(price_usd), case(16, FABRIC)) == BELOW + core_usd
    made = solved(case(16, FABRIC), parts(price_usd))
    assert_proven(made)
    assert made.fabrics[0].tiers[2].count == cores


def test_its_power_and_units_count() -> None:
    made = solved(case(16, FABRIC), parts(3000))
    assert made.totals is not None
    # 16 switches and 16 cards of 10 W beside it
    assert (made.totals.rack_units, made.totals.power_w) == (16 + 8, 1600 + 600 + 160)
    structure = made.fabrics[0].structure
    assert (structure.pods, structure.spines_per_core_group, structure.links_per_core_pair) == (4, 2, 2)


@pytest.mark.parametrize("limits", [{"rack_units": 23}, {"power_w": 2359}])
def test_a_limit_keeps_fixed_cores(limits: Json) -> None:
    # 4 fixed cores take 4 units and 400 W.
    assert usd(parts(3000), case(16, FABRIC, limits=limits)) == BELOW + 4000


def test_a_chassis_spine_wins_and_the_floor_stays_under_it() -> None:
    """16 leaves of 2 down and 2 up for 32 servers: 32 links are the 16 of each of two chassis, or all of one of 32."""
    for ports, price_usd, spines in ((16, 3000, 2), (32, 5000, 1)):
        chassis = switch("chassis", cage(ports, "1x100"), usd=price_usd, watts=600, rack_units=8)
        made = solved(
            case(32, {"tiers": "any", "switches": {"leaf": ["switch"]}}),
            catalog(switches=[*catalog()["switches"], chassis]),
        )
        assert_proven(made)
        spine = made.fabrics[0].tiers[1]
        assert (len(made.fabrics[0].tiers), spine.id, spine.count) == (2, "chassis", spines)
        assert made.objective.floor is not None and made.objective.value is not None
        assert made.objective.floor <= made.objective.value
