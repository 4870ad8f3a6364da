"""A hall whose racks are farther apart than every part is long: that run is named, and what makes it shorter."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.io.keys import with_change
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.samples.bare import NICS
from tests.samples.small import Json, case, catalog, product

SERVERS = 600


def parts() -> Json:
    """Switches for hundreds of servers, and fibres of 30 m at most."""
    content = catalog()
    product(content, "gpu-4").update(gpus=1, nic_slots=1, rack_units=12, power_w=1000)
    product(content, "large")["cages"][0]["count"] = 400
    content["cables"] = [one for one in content["cables"] if one["id"] != "aoc"]
    product(content, "mpo")["lengths"] = [{"m": 10, "price_usd": 60}, {"m": 30, "price_usd": 110}]
    return content


def hall(tiers: Any, **changes: Any) -> Json:
    """Servers in a rack of their own each."""
    rules = {**dict.fromkeys(NICS, False), "subnet-manager": False}
    fabric = {"tiers": tiers, "min_gbps_per_gpu": 400, "max_oversubscription": 4, "groups": "equal"}
    content = case(fabric, servers=SERVERS, rules=rules, resilience="none", site={"servers_per_rack": 1})
    return {**content, **changes}


def solved(content: Json, **levers: Any) -> Design:
    return optimize.solve(with_change(inputs_from_objects(content, parts()), levers), alternatives_s=0)


@pytest.fixture(scope="module")
def design() -> Design:
    return solved(hall(2))


def test_only_the_run_that_no_part_covers_is_a_conflict_of_runs(design: Design) -> None:
    assert design.status == "infeasible"
    first = design.conflicts[0]
    assert (first.limit, first.needed, first.direction) == ("site.distances_m.leaf-spine", 30, "down")
    assert isinstance(first.value, float) and first.value > 30
    assert f"about {first.value:g} m, as 600 servers fill 600 racks" in first.detail
    assert "(mpo, 30 m)" in first.detail
    runs = [one.limit for one in design.conflicts if one.limit.startswith("site.distances_m")]
    assert runs == [first.limit]


def test_what_makes_it_shorter_does(design: Design) -> None:
    levers = {one.limit: one for one in design.conflicts}
    assert levers["rules.lengths"].needed == "false"
    assert {"site.distances_m.leaf-spine", "rules.lengths", "site.servers_per_rack", "servers"} <= set(levers)
    for limit, lever in levers.items():
        if not limit.startswith("catalog."):
            needed = False if limit == "rules.lengths" else lever.needed
            assert solved(hall(2), **{limit: needed}).status == "optimal", limit
    for limit, step in (("site.servers_per_rack", -1), ("servers", 1)):
        needed = levers[limit].needed
        assert isinstance(needed, int) and levers[limit].minimal
        assert solved(hall(2), **{limit: needed + step}).status == "infeasible", limit


def test_a_hall_that_parts_cross_has_no_such_conflict() -> None:
    design = solved(hall(2, servers=20, limits={"budget_usd": 1000}))
    limits = {one.limit for one in design.conflicts}
    assert limits and not limits & {"rules.lengths", "site.servers_per_rack", "site.distances_m.leaf-spine"}
