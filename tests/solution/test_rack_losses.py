"""Losses of a rack and of a feed of power: what is bought for them, what is said of them, and what they contradict."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from fabopt.schema.design import Design, Failure
from fabopt.solution.optimize import solve
from fabopt.verify import verify
from tests.samples.small import Json, assert_proven, case as small_case, catalog, inputs, product

ONE_FEED: Json = {"survive": "1 feed"}


def parts() -> Json:
    content = catalog()
    product(content, "gpu-4")["rack_units"] = 4
    return content


def rack_case(losses: list[Any], racks: int = 6, power_w: float | None = None, **changes: Any) -> Json:
    """Servers of 4 units, two a rack of 12."""
    floor: Json = {"rows": 1, "racks_per_row": racks, "rack_units": 12, "slack_m": 0.2}
    if power_w is not None:
        floor["rack_power_w"] = power_w
    site = {"floor": floor, "servers_per_rack": 2}
    return small_case(**{"servers": 6, "site": site, "rules": {}, "resilience": losses, **changes})


def without_rack(gbps: float) -> Json:
    return {"survive": "1 rack", "min_gbps_per_gpu": gbps}


def solved(content: Json, given: Json | None = None) -> Design:
    return _solved(json.dumps(content), json.dumps(given or parts()))


@cache
def _solved(content: str, given: str) -> Design:
    """Solved once for all tests that look at the same design."""
    return solve(inputs(json.loads(content), json.loads(given)), alternatives_s=0)


def left(design: Design, failed: str = "rack") -> Failure:
    return next(row for row in design.fabrics[0].failures if row.failed == failed)


def broken(design: Design) -> set[str]:
    return {check.name for check in verify(design) if not check.ok}


@pytest.mark.long("9")
@pytest.mark.parametrize("racks", [6, 9])
def test_what_is_asked_for_is_left_without_any_rack(racks: int) -> None:
    """In any rack of a small floor, and in layouts of a larger one; it is no cheaper than not to ask."""
    free = solved(rack_case([without_rack(1)], racks))
    more = left(free).gbps_per_gpu + 1
    design = solved(rack_case([without_rack(more)], racks))
    for answer in (free, design):
        assert_proven(answer)
    assert left(design).gbps_per_gpu >= more
    assert free.totals is not None and design.totals is not None
    assert free.totals.capex_usd <= design.totals.capex_usd


def test_the_worst_rack_is_named_with_its_servers() -> None:
    design = solved(rack_case([without_rack(1)]))
    row = left(design)
    in_rack = {"rack": row.worst, "servers": row.servers_lost}
    assert row.worst in {rack for rack, _ in (*design.fabrics[0].places.leaf, *design.fabrics[0].places.spine)}
    assert in_rack["servers"] in (0, 2)


@pytest.mark.long
def test_more_than_any_design_has_left_is_named() -> None:
    """The ask is named, not the floor, though no NIC on sale gives so much."""
    design = solved(rack_case([without_rack(100_000)], racks=3, servers=4))
    assert design.status == "infeasible"
    assert any(conflict.limit == "resilience.0.min_gbps_per_gpu" for conflict in design.conflicts)


@pytest.mark.parametrize(
    "update", [{"gbps_per_gpu": 399}, {"worst": "A06"}, {"servers_lost": 5}, {"servers_cut_off": 4}]
)
def test_other_claims_fail(update: Json) -> None:
    design = solved(rack_case([without_rack(1)]))
    fabric = design.fabrics[0]
    rows = tuple(row.model_copy(update=update) if row.failed == "rack" else row for row in fabric.failures)
    changed = fabric.model_copy(update={"failures": rows})
    assert "racks_leave_bandwidth" in broken(design.model_copy(update={"fabrics": (changed,)}))


def test_all_in_one_rack_fails() -> None:
    """Switches that stand in for each other are where the worst rack takes them all."""
    design = solved(rack_case([without_rack(1)]))
    fabric = design.fabrics[0]
    assert fabric.placement is not None
    racks = {role: tuple(("A01", unit) for _, unit in getattr(fabric.places, role)) for role in ("leaf", "spine")}
    changed = fabric.model_copy(update={"placement": fabric.placement.model_copy(update=racks)})
    assert "racks_leave_bandwidth" in broken(design.model_copy(update={"fabrics": (changed,)}))


def test_a_feed_takes_nothing_where_one_carries_every_rack() -> None:
    design = solved(rack_case([ONE_FEED], power_w=20_000))
    assert_proven(design)
    assert left(design, "feed").servers_cut_off == 0
    assert left(design, "feed").gbps_per_gpu == design.fabrics[0].metrics.bisection_gbps_per_gpu
    assert any("`survive: 1 feed`: the catalog does not say" in note for note in design.notes)
    assert "feeds_carry_racks" in {check.name for check in design.checks}


def test_devices_with_one_power_supply_are_not_used() -> None:
    """What is cheapest is what has one; the file fails that says so of what it uses."""
    free, given = solved(rack_case([ONE_FEED], power_w=20_000)), parts()
    cheapest = {tier.id for tier in free.fabrics[0].tiers}
    for one in cheapest:
        product(given, one)["power_supplies"] = 1
    design = solved(rack_case([ONE_FEED], power_w=20_000), given)
    assert not cheapest & {tier.id for tier in design.fabrics[0].tiers}
    said = {**free.parts, **{one: {**free.parts[one], "power_supplies": 1} for one in cheapest}}
    assert "feeds_carry_racks" in broken(free.model_copy(update={"parts": said}))


@pytest.mark.long
@pytest.mark.usefixtures("unadvised")
def test_power_is_not_left_out() -> None:
    """A rack holds its servers and no switch beside what makers state, whether or not the loss of a feed is asked."""
    given = parts()
    for switch in given["switches"]:
        switch["power_max_w"] = 50_000
    asked, free = (solved(rack_case(one, racks=4, power_w=20_000, servers=4), given) for one in ([ONE_FEED], []))
    assert asked.status == free.status == "infeasible"
