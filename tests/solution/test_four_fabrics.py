"""Four fabrics of one cluster in a hall: proven together, and no dearer than each alone where all find room."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from fabopt.floor.arrangements import InLayout
from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.search.floor.expansion import FloorExpansion
from fabopt.search.floor.search import FloorSearch
from fabopt.topology.family import Restriction
from tests.samples.bases import designed
from tests.samples.small import assert_proven

Json = dict[str, Any]
# Rows and racks of the hall, by servers, four in a rack.
HALLS = {32: (2, 8), 128: (3, 16), 256: (6, 16)}
# Power of a rack in W, by server.
SERVERS = {"nvidia-dgx-h200": 45_000, "nvidia-dgx-b200": 60_000, "supermicro-as-8125gs-tnmr2": 45_000}
QUICK = (("nvidia-dgx-h200", 32, "infiniband"), ("nvidia-dgx-b200", 128, "infiniband"))
# All of them, the larger ones in up to a minute each, with ``FABOPT_ORACLE_SEEDS=10``.
ALL = tuple(
    (server, servers, protocol) for server in SERVERS for servers in HALLS for protocol in ("infiniband", "ethernet")
)
CASES = QUICK if os.environ.get("FABOPT_ORACLE_SEEDS", "1") == "1" else ALL


def case(server: str, servers: int, protocol: str) -> Json:
    (rows, racks), power_w = HALLS[servers], SERVERS[server]
    fabrics: list[Json] = [
        {"name": "compute", "protocol": protocol, "min_gbps_per_gpu": 400, "max_oversubscription": 1},
        {"name": "storage", "role": "storage", "protocol": "ethernet", "min_gbps_per_gpu": 25,
         "max_oversubscription": 2, "tiers": [1, 2]},
        {"name": "in-band", "role": "in-band", "protocol": "ethernet", "min_gbps_per_server": 100, "tiers": [1, 2]},
        {"name": "oob", "role": "oob", "tiers": [1, 2]},
    ]  # fmt: skip
    floor = {"rows": rows, "racks_per_row": racks, "rack_power_w": power_w}
    return {
        "name": "four", "catalog": ["reference"], "server": server, "servers": servers,
        "fabrics": fabrics,
        "site": {"servers_per_rack": 4, "floor": floor},
    }  # fmt: skip


def solved(content: Json) -> Design:
    return designed(None, content)


@pytest.mark.long("nvidia-dgx-b200-128-infiniband", "nvidia-dgx-h200-32-infiniband")
@pytest.mark.parametrize(("server", "servers", "protocol"), CASES)
def test_four_fabrics_are_proven_together(server: str, servers: int, protocol: str) -> None:
    """Every rule kept; InfiniBand of one generation, that is of one speed of ports on all switches of the fabric."""
    design = solved(case(server, servers, protocol))
    assert_proven(design)
    assert not any("is not kept" in note for note in design.notes)
    for fabric in design.fabrics:
        assert len({row.gbps for row in fabric.links if row.attachment is None}) == 1 or fabric.protocol == "ethernet"


def test_ports_of_management_are_bounded_by_the_floor_beside_devices_in_racks() -> None:
    """Cables of devices in racks may be as short as any; those of devices in no rack reach across the floor, and a
    search that bounds them by less looks at thousands of designs of a fabric that is one in a thousand of the cost.
    """
    content = case("nvidia-dgx-h200", 32, "infiniband")
    doors = {"name": "doors", "ports": 4, "boxes": 2, "form_factor": "QSFP28", "split": "1x100"}
    content["fabrics"][2]["attachments"] = [doors | {"rack_units": 1, "power_w": 500}]
    inputs = inputs_from_objects(content)
    problem = problem_of(inputs.case, inputs.catalog)
    across_m = problem.site.given["attachment-leaf"]
    in_band, out_of_band = (fabric.runs.m["attachment-leaf"] for fabric in problem.fabrics[2:])
    assert in_band < across_m == out_of_band
    assert problem.fabrics[3].runs.m["attachment-spine"] < across_m
    content["fabrics"][2]["attachments"].append(doors | {"name": "campus"})
    inputs = inputs_from_objects(content)
    assert problem_of(inputs.case, inputs.catalog).fabrics[2].runs.m["attachment-leaf"] == across_m


@pytest.mark.long
def test_nothing_is_looked_at_that_is_dearer_than_a_design_that_was_met() -> None:
    """In some layouts three tiers reach no core: no end of what may cost anything, and nothing up to a cost."""
    fabrics = [{"name": "compute", "tiers": 3}, {"name": "storage", "role": "storage"}]
    content = {
        "name": "three", "server": "nvidia-dgx-h200", "servers": 16, "fabrics": fabrics,
        "site": {"floor": {"rows": 1, "racks_per_row": 10}},
    }  # fmt: skip
    inputs = inputs_from_objects(content)
    problem = problem_of(inputs.case, inputs.catalog)
    expansion = FloorExpansion(problem, Settings(), Clock(None), {"compute": Restriction(layout=1)})
    costs, (compute, _) = expansion.costs_of(0), problem.fabrics
    free = expansion.space(expansion.wanted(compute, costs)[0], costs).search()
    for most, is_any in ((free.least * 1.5, True), (free.least * 0.9, False)):
        expansion.most = most
        others = sum(expansion.anywhere(one, costs).least for one in problem.fabrics if one is not compute)
        found = expansion._bounded(costs, compute, 0.0)
        assert found.least == free.least or most - others <= found.least <= (most - others) * 33 / 32
        assert bool(found.batches) == (found.least == free.least) == is_any


@pytest.mark.long
def test_first_rise_is_little_of_the_fabric_that_counts_switches() -> None:
    """Where the first design met has the cheapest of each fabric, with ports for switches that suit them badly, another
    one is a little above the bound, and there is no end of designs of a fabric up to twice its cost.
    """
    inputs = inputs_from_objects(case("nvidia-dgx-h200", 32, "infiniband"))
    search = FloorSearch(problem_of(inputs.case, inputs.catalog), Settings(), Clock(None))
    expanded = min((part.expansion.expand(np.zeros(0)) for part in search.parts()), key=lambda one: one.bound)
    out_of_band = expanded.sizings[3].least
    rise = search._next_slack(0.0, np.inf, expanded.bound)
    assert 0 < rise < out_of_band / 5, (rise, out_of_band)


def test_leaves_of_computing_are_apart_from_those_of_others() -> None:
    """Some layouts have those with the spines and these with the servers, which are where they are for all fabrics."""
    inputs = inputs_from_objects(case("nvidia-dgx-h200", 32, "ethernet"))
    problem = problem_of(inputs.case, inputs.catalog)
    expansion = FloorExpansion(problem, Settings(), Clock(None), {})
    costs, policies = expansion.costs_of(0), []
    for number in zip(*(expansion.variants(fabric, costs) for fabric in problem.fabrics), strict=True):
        places = [fabric.on_floor.arrangement for fabric in number]
        layouts = [place.layout for place in places if isinstance(place, InLayout)]
        assert len({tuple(layout.server_racks.tolist()) for layout in layouts}) == 1
        units = sum(layout.free_units for layout in layouts)
        assert (units <= problem.floor.plan.floor.rack_units).all()
        policies.append(tuple(layout.policy for layout in layouts))
    assert ("end-of-row", *["top-of-rack"] * 3) in policies and ("top-of-rack",) * 4 in policies


@pytest.mark.long
def test_together_is_no_dearer_than_alone() -> None:
    """In equal parts of every rack, 128 DGX H200 cost $4,059,282, 6 % more than each fabric alone."""
    content = case("nvidia-dgx-h200", 128, "infiniband")
    alone, switches = 0.0, 0
    for fabric in content["fabrics"]:
        ports = {"oob": {"pdus": switches}} if fabric["name"] == "oob" else {}
        design = solved({**content, "fabrics": [{**fabric, **ports}]})
        alone += design.objective.value or 0.0
        switches += sum(tier.count for tier in design.fabrics[0].tiers)
    together = solved(content)
    assert together.objective.value is not None and together.objective.value <= alone


def test_layouts_that_are_left_open_have_the_bound_of_any_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one layout is proven and the others are not, what the fabrics cost at least anywhere bounds them."""
    in_layouts, searched = FloorSearch._in_layouts, []

    def proven_at_first(self: FloorSearch, ties: bool) -> Optimum:
        searched.append(self)
        return in_layouts(self, ties) if len(searched) == 1 else Optimum("unknown")

    monkeypatch.setattr(FloorSearch, "_in_layouts", proven_at_first)
    monkeypatch.setattr(FloorSearch, "least_bound", lambda self: -float("inf"))
    content = case("nvidia-dgx-h200", 32, "infiniband")
    objective = solved({**content, "fabrics": content["fabrics"][1:3]}).objective
    assert objective.value is not None and objective.bound is not None
    assert 0 < objective.bound < objective.value
