"""Power of a rack: servers with their NICs and all modules, counted alike by search, check and elevations."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import fabopt
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.elevation import elevation_of, is_over_power
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from tests.samples import random_sites
from tests.samples.bare import bare

Json = dict[str, Any]
# Of the first forty seeds those that take little, with a given number of servers a rack and without.
QUICK = (1, 4, 5, 9, 12, 34, 35)


def keeps_its_limit(design: Design) -> None:
    assert all(check.ok for check in design.checks)
    elevation = elevation_of(design, wiring_of(design))
    assert not [rack.id for row in elevation.rows for rack in row.racks if is_over_power(rack)]


def fullest_w(design: Design) -> float:
    elevation = elevation_of(design, wiring_of(design))
    return max(rack.power_w for row in elevation.rows for rack in row.racks)


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long("12")
@pytest.mark.long("34", "5", "35", "9")
@pytest.mark.long(*(str(seed) for seed in range(40) if seed not in QUICK))
@pytest.mark.parametrize("seed", range(40), ids=str)
def test_no_rack_of_a_random_floor_is_over_its_limit(seed: int) -> None:
    """Limits just below what the fullest rack used without one, and just above what its servers use alone."""
    catalog, case = random_sites.generate(seed)
    floor: Json = case["site"].setdefault("floor", {"rows": 2, "racks_per_row": 8})
    floor["racks_per_row"] *= 2
    for part in (case["site"], floor, *case["fabrics"]):
        for key in ("distances_m", "rack_power_w", "topologies", *(("servers_per_rack",) if seed % 2 else ())):
            part.pop(key, None)

    def solved() -> Design:
        return fabopt.solve(bare(case), catalog=catalog, alternatives_s=0, time_limit_s=10).design

    free = solved()
    if free.floor is None:
        return
    server_w = Embedded(free).server.power_w
    assert server_w is not None
    for limit in (fullest_w(free) - 0.5, free.floor.servers_per_rack * server_w + 1):
        floor["rack_power_w"] = max(limit, free.floor.servers_per_rack * server_w)
        limited = solved()
        if limited.floor is not None:
            keeps_its_limit(limited)


@cache
def dgx(rack_power_w: float, **site: int) -> Design:
    """Sixteen DGX H100, 10.2 kW each: four of them and their optics need 40.8 kW and some hundred watts."""
    floor = {"rows": 2, "racks_per_row": 8, "rack_power_w": rack_power_w}
    case = {"name": "power", "server": "nvidia-dgx-h100", "servers": 16, "site": {"floor": floor, **site}}
    fabrics = [{"name": "compute", "protocol": "infiniband"}]
    return optimize.solve(inputs_from_objects({**case, "fabrics": fabrics}), alternatives_s=0)


def test_a_rack_takes_as_many_servers_as_it_has_power_for_with_their_modules() -> None:
    design = dgx(41_000)
    assert design.floor is not None and design.floor.servers_per_rack == 3
    assert any(note.startswith("`site.servers_per_rack`: 3 servers") for note in design.notes)
    keeps_its_limit(design)
    roomy = dgx(42_000)
    assert roomy.floor is not None and roomy.floor.servers_per_rack == 4
    keeps_its_limit(roomy)


@pytest.mark.long
def test_a_given_number_that_is_too_large_is_told_with_the_one_that_fits() -> None:
    design = dgx(41_000, servers_per_rack=4)
    found = next(one for one in design.conflicts if one.limit == "site.servers_per_rack")
    assert design.status == "infeasible" and (found.value, found.needed) == (4, 3)


def test_a_rack_that_its_modules_take_over_the_limit_is_noticed() -> None:
    """Four servers in a rack of 42 kW, in a file that says 40.9 kW."""
    design = dgx(42_000)
    content = design.case.content
    floor = {**content["site"]["floor"], "rack_power_w": 40_900}
    record = design.case.model_copy(update={"content": {**content, "site": {**content["site"], "floor": floor}}})
    failed = {check.name for check in verify(design.model_copy(update={"case": record})) if not check.ok}
    assert {"boxes_fit_racks", "racks_keep_rules"} <= failed
