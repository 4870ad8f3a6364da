"""How several fabrics share racks: the parts make a whole, and by need every fabric has room for its switches."""

from __future__ import annotations

import numpy as np
import pytest

from fabopt.floor.loads import RackLoad
from fabopt.floor.plan import FloorPlan
from fabopt.floor.policies import Part, SwitchSize, away_from_servers, equal_share, racks_by_need, shares_by_need
from fabopt.floor.rack_rules import RackLimits
from fabopt.schema.case import Floor
from fabopt.units import ceil_div

# Leaves and spines of a large fabric, leaves of two small ones; all of one unit and 1 kW.
ONE = SwitchSize(1.0, RackLoad(1_000_000), 64)
NEEDS = (((32, ONE), (16, ONE)), ((1, ONE),), ((4, ONE), (2, ONE)))


def plan(switches: int) -> FloorPlan:
    return FloorPlan(Floor(rows=2, racks_per_row=10, rack_units=42), limits=RackLimits(switches=switches))


@pytest.mark.parametrize("amount", [0, 1, 7, 42, 1000])
def test_parts_make_a_whole(amount: int) -> None:
    """Without gaps, in their order, whatever is shared."""
    for whole, own in ((3, (1, 1, 1)), (43, (28, 4, 11)), (5, (0, 5, 0))):
        start = 0
        for before, parts in zip(np.cumsum([0, *own]).tolist(), own, strict=False):
            part = Part(before, parts, whole)
            assert int(part.start(np.array(amount))) == start
            start += int(part.of(np.array(amount)))
        assert start == amount


def test_an_only_fabric_has_everything() -> None:
    share = equal_share(0, 1)
    assert int(share.alone.units.of(np.array(42))) == int(share.beside.switches.of(np.array(42))) == 42


def test_racks_by_need_are_the_fewest_that_hold_all() -> None:
    """55 switches in racks of 20 at most: three racks hold 60, but a switch each of 16 + 1 + 3 is 11 + 6 + 1 + 2 + 1 of
    a rack, 21; four racks have 8 + 4 + 1 + 1 + 1.
    """
    assert racks_by_need(plan(20), NEEDS) == 4
    assert racks_by_need(plan(21), NEEDS) == 3


@pytest.mark.parametrize("with_servers", [(False,) * 3, (True,) * 3, (False, True, True)])
def test_every_fabric_has_room_by_need(with_servers: tuple[bool, ...]) -> None:
    """In an empty rack for its part of the switches, above servers for its part of the leaves that are there."""
    floor = plan(20)
    shares = shares_by_need(floor, NEEDS, with_servers, 4, 8)
    away = away_from_servers(NEEDS, with_servers)
    for share, tiers, above, own in zip(shares, NEEDS, away, with_servers, strict=True):
        needed = sum(ceil_div(count, 4) for count, _ in above)
        assert int(share.alone.units.of(np.array(42))) >= needed
        assert int(share.alone.switches.of(np.array(20))) >= needed
        if own:
            assert int(share.beside.units.of(np.array(10))) >= ceil_div(tiers[0][0], 8)
        elif any(with_servers):
            assert int(share.beside.switches.of(np.array(20))) == 0
