"""Fabrics on a floor: the search against every size placed, the racks that come out, and what is refused."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from fabopt.floor.layouts import ServerSize, layouts
from fabopt.floor.placement import is_spread, place_leaves
from fabopt.floor.plan import FloorPlan
from fabopt.floor.policies import SwitchSize
from fabopt.floor.rack_rules import RackLimits
from fabopt.network.clos_links import ClosNumbers
from fabopt.schema.case import Floor
from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.floor_bounds import LayoutBounds
from fabopt.topology.clos.floor_runs import NearKey, PlacesKey, links_of_kinds, places_key
from fabopt.topology.clos.leaves import Leaves
from fabopt.topology.clos.run_bounds import LinkRows
from fabopt.topology.family import Cutoff
from fabopt.topology.link_parts import Floats
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.oracles.brute_floor import toy
from tests.samples.once import once
from tests.samples.small import Json, assert_proven, case, catalog, inputs, value_of

LENGTHS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)


def parts(rack_units: float = 8) -> Json:
    """The small catalog with cables in many lengths and servers that stand in racks."""
    content = catalog()
    for server in content["servers"]:
        server["rack_units"] = rack_units
    prices = {"dac": (60, 40), "splitter": (90, 45), "aoc": (900, 12), "mpo": (40, 3)}
    longest = {"dac": 3, "splitter": 3, "aoc": 30, "mpo": 50}
    for kind in ("cables", "fibres"):
        for part in content[kind]:
            base, each = prices[part["id"]]
            part["lengths"] = [{"m": m, "price_usd": base + each * m} for m in LENGTHS if m <= longest[part["id"]]]
    return content


def on_floor(floor: Json, fabric: Json | None = None, **changes: Any) -> Json:
    content = case(fabric, **changes)
    content["site"] = {"floor": floor, **content.get("site", {})}
    return content


def solved(content: Json, given: Json | None = None, prune: bool = True, alternatives: bool = False) -> Design:
    asked = content, given or parts()

    def work() -> Design:
        return solve(inputs(*asked), prune=prune, alternatives_s=60 * alternatives)

    return once(work, *asked, prune, alternatives, "placed")


def a_floor(seed: int) -> Json:
    dice = random.Random(seed)
    floor: Json = {
        "rows": dice.choice([1, 2, 3]),
        "racks_per_row": dice.choice([4, 5, 6]),
        "aisle_m": dice.choice([1.2, 2.4]),
        "rack_units": dice.choice([24, 32, 48]),
        "slack_m": dice.choice([0.3, 0.5, 1.0]),
        "network_racks": dice.choice(["any", "any", "middle", "end", "row"]),
    }
    if dice.random() < 0.4:
        floor["rack_power_w"] = dice.choice([9000, 14000, 20000])
    return floor


@pytest.mark.long
@pytest.mark.parametrize("seed", range(14))
def test_search_finds_what_placing_every_size_finds(seed: int) -> None:
    """Bounds cut nothing that would have won: ``prune=False`` places every size in every layout."""
    dice = random.Random(seed)
    fabric = {
        "rails": dice.choice(["aligned", "any"]),
        "tiers": dice.choice([2, [1, 2]]),
        "max_oversubscription": dice.choice([1, 1.5, 2]),
    }
    content = on_floor(
        a_floor(seed), fabric, servers=dice.choice([4, 6, 7]), objective=dice.choice(["capex_usd", "tco_usd"])
    )
    cut, whole = solved(content), solved(content, prune=False)
    assert cut.status == whole.status
    if cut.status == "optimal":
        assert_proven(cut)
        assert cut.objective.value == whole.objective.value


@pytest.mark.long
@pytest.mark.parametrize("fabric", [{}, {"attachments": [{"name": "monitor", "buys": "none", "ports": 2}]}])
@pytest.mark.parametrize("rules", ["none", {"rack-spread": True, "rack-rules": True}])
@pytest.mark.parametrize(("racks", "servers", "rails"), [(8, 14, "aligned"), (6, 17, "aligned"), (6, 9, "any")])
def test_a_last_group_of_its_own_stands_on_a_floor(
    racks: int, servers: int, rails: str, rules: Any, fabric: Json
) -> None:
    """Never dearer than equal groups, bounds cut nothing that would have won, and some of these have such a group."""
    fabric = {"tiers": 2, "nics": ["nic-400"], "nics_per_server": 2, "rails": rails, **fabric}
    floor = {"rows": 2, "racks_per_row": racks, "rack_units": 32}
    cut, whole, equal = (
        solved(on_floor(floor, {**fabric, "groups": groups}, servers=servers, rules=rules), prune=prune)
        for groups, prune in (("any", True), ("any", False), ("equal", True))
    )
    assert_proven(cut)
    assert value_of(cut) == value_of(whole) <= value_of(equal)
    assert servers != 14 or fabric.get("attachments") or cut.fabrics[0].clos.last_group is not None


@pytest.mark.long("any-3")
@pytest.mark.parametrize(("rails", "tiers"), [("aligned", 2), ("any", 2), ("any", 3)])
def test_links_cost_no_less_once_placed(rails: str, tiers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What links cost at least before any switch is placed is below what they cost then, and not far below."""
    shares: dict[str, list[float]] = {"server_links": [], "uplinks": []}

    def of_servers(self: LayoutBounds, links: LinkRows) -> Floats:
        return self.near_server_links(links.ends, np.atleast_1d(links.shape.g))

    def of_leaves(self: LayoutBounds, links: LinkRows) -> Floats:
        in_pods = self.pod_uplinks(links)
        for row, spines in enumerate(np.atleast_1d(links.shape.spines).tolist()):
            for fewest in range(1, spines + 1):
                anywhere = self.least_uplinks(links.ends, NearKey(fewest, links.sizes[1]))[:, 0]
                assert (anywhere <= in_pods[:, row] * (1 + 1e-9)).all()
        return in_pods

    def beside(name: str, placed: Any, near: Any) -> Any:
        def costs(self: LayoutBounds, links: LinkRows) -> Floats:
            cost, least = placed(self, links), near(self, links)
            assert (least <= cost * (1 + 1e-9)).all()
            shares[name] += (least / cost)[0][np.isfinite(cost[0])].tolist()
            return np.asarray(cost)

        return costs

    for name, near in (("server_links", of_servers), ("uplinks", of_leaves)):
        monkeypatch.setattr(LayoutBounds, name, beside(name, getattr(LayoutBounds, name), near))
    fabric = {"tiers": tiers, "rails": rails, "nics": ["nic-400"], "nics_per_server": 2}
    rules = {"rack-spread": True, "rack-rules": True}
    floor = {"rows": 2, "racks_per_row": 8, "rack_units": 32}
    assert_proven(solved(on_floor(floor, fabric, servers=14, rules=rules)))
    assert all(np.median(of_kind) > 0.7 for of_kind in shares.values())


def test_means_of_uplinks_are_those_of_the_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes that stand in the same places may give leaves of the last group other shares of all uplinks."""
    kinds: dict[PlacesKey, set[tuple[int, int]]] = {}

    def checked(means: Any) -> Any:
        def costs(self: LayoutBounds, links: LinkRows) -> Floats:
            cost = means(self, links)
            for row in range(np.size(links.shape.g)):
                one = links._replace(shape=links.shape.take(np.array([row])))
                alone = means(LayoutBounds(self.problem, self.layout, self._links_by_class), one)
                assert cost[:, row] == pytest.approx(alone[:, 0], rel=1e-12)
                shape = links.shape.row(row)
                kinds.setdefault(places_key(links.nic, shape, links.sizes), set()).add(links_of_kinds(shape))
            return np.asarray(cost)

        return costs

    for name in ("uplinks", "pod_uplinks"):
        monkeypatch.setattr(LayoutBounds, name, checked(getattr(LayoutBounds, name)))
    fabric = {"tiers": 2, "nics": ["nic-400"], "nics_per_server": 2, "groups": "any", "max_oversubscription": 2}
    rules = {"rack-spread": True, "rack-rules": True}
    floor = {"rows": 2, "racks_per_row": 8, "rack_units": 32}
    assert_proven(solved(on_floor(floor, fabric, servers=9, rules=rules)))
    assert any(len(different) > 1 for different in kinds.values())


@pytest.mark.long
@pytest.mark.parametrize("rules", ["none", {"rack-spread": True, "rack-rules": True}])
@pytest.mark.parametrize("rails", ["aligned", "any"])
def test_no_size_is_below_the_bound_of_its_leaves_in_a_layout(
    rails: str, rules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bound on all sizes of a leaf switch counts links by the size of the group, and is near the least of them."""
    expand, offer = Leaves.expand, Cutoff.offer
    bounds, shares = [0.0], []

    def expanded(self: Leaves, block: Block) -> None:
        bounds[0] = float(self.least_in_layout(block)[0]) if block.tiers > 1 and self.bounds.runs.differ else 0.0
        expand(self, block)

    def offered(self: Cutoff, batch: Any) -> None:
        assert bounds[0] <= float(batch.cost[0].min()) * (1 + 1e-9)
        shares.append(bounds[0] / float(batch.cost[0].min()))
        offer(self, batch)

    monkeypatch.setattr(Leaves, "expand", expanded)
    monkeypatch.setattr(Cutoff, "offer", offered)
    fabric = {"tiers": 2, "rails": rails, "nics": ["nic-400"], "nics_per_server": 2, "groups": "any"}
    floor = {"rows": 2, "racks_per_row": 8, "rack_units": 32}
    solved(on_floor(floor, fabric, servers=14, rules=rules), prune=False)
    assert max(shares) > 0.9


@pytest.mark.parametrize("last_k", [1, 2])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("spread", [False, True])
def test_leaves_of_a_last_group_of_its_own_stand_near_its_servers(spread: bool, k: int, last_k: int) -> None:
    """Two planes, groups of 4 and 3 servers, a server in each rack: by plane, group and rail as they are numbered."""
    plan = FloorPlan(Floor(rows=2, racks_per_row=8), limits=RackLimits(spread_leaves=spread))
    numbers = ClosNumbers(
        servers=7, ports=2, planes=2, k=k, g=4, u=4, spines=2, groups_per_pod=2, own_k=last_k, own_u=2,
        nics=1, ports_per_nic=4, shared_cages=False,
    )  # fmt: skip
    size = SwitchSize(1)
    for layout in layouts(plan, 7, 1, ServerSize(8, np.array([1]), 8), 2):
        leaves = place_leaves(layout, numbers, size)
        assert leaves is not None and len(leaves.rack) == 2 * (2 // k + 2 // last_k)
        assert not spread or is_spread(layout, numbers, 0, leaves.rack)
        if layout.policy == "top-of-rack":
            of_last = np.tile(np.arange(2 // k + 2 // last_k) >= 2 // k, 2)
            assert set(leaves.rack[of_last].tolist()) <= set(layout.server_racks[4:].tolist())
            assert set(leaves.rack[~of_last].tolist()) <= set(layout.server_racks[:4].tolist())


@pytest.mark.long
@pytest.mark.parametrize("least", [25, 50])
def test_a_last_group_of_its_own_outlives_a_rack(least: int) -> None:
    """What is left counts each leaf with its own ports and uplinks, in the search and in the checks."""
    kept = [{"survive": "1 rack", "min_gbps_per_gpu": least}]
    fabric = {"tiers": 2, "nics": ["nic-400"], "nics_per_server": 2, "rails": "any", "max_oversubscription": 2}
    floor = {"rows": 2, "racks_per_row": 8, "rack_units": 24}
    own, equal = (
        solved(on_floor(floor, {**fabric, "groups": groups}, servers=11, resilience=kept, rules="none"))
        for groups in ("any", "equal")
    )
    assert_proven(own)
    assert value_of(own) <= value_of(equal)
    (row,) = (row for row in own.fabrics[0].failures if row.failed == "rack")
    assert row.gbps_per_gpu >= least


@pytest.mark.long("cbc", "scip")
@pytest.mark.parametrize("engine", ["highs", "scip", "cbc"])
def test_engines_agree_on_a_floor(engine: str) -> None:
    content = on_floor({"rows": 2, "racks_per_row": 5, "rack_units": 32}, servers=7)
    one = solved(content)
    other = solve(inputs(content, parts()), engine=engine, alternatives_s=0)
    assert one.fabrics == other.fabrics and one.bom == other.bom and one.floor == other.floor


def test_racks_hold_what_stands_in_them() -> None:
    design = solved(on_floor({"rows": 2, "racks_per_row": 6, "rack_units": 24}, servers=8))
    assert_proven(design)
    wiring = wiring_of(design)
    filled: set[tuple[str, int]] = set()
    for rack, unit, height in zip(wiring.devices.rack, wiring.devices.unit, wiring.devices.height_u, strict=True):
        units = {(rack, one) for one in range(int(unit), int(unit) + max(1, int(height)))}
        assert not filled & units
        assert all(1 <= one <= 24 for _, one in units)
        filled |= units


@pytest.mark.long
def test_longer_slack_never_costs_less() -> None:
    costs = []
    for slack in (0.3, 1.0, 2.0, 6.0):
        design = solved(on_floor({"rows": 2, "racks_per_row": 6, "rack_units": 32, "slack_m": slack}, servers=6))
        assert design.totals is not None
        costs.append(design.totals.capex_usd)
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]


@pytest.mark.long
def test_other_placements_and_flat_runs_are_compared() -> None:
    content = on_floor({"rows": 2, "racks_per_row": 8, "rack_units": 32}, servers=8)
    design = solved(content, alternatives=True)
    assert design.totals is not None
    kinds = {one.what for one in design.alternatives}
    assert {"placement", "flat runs"} <= kinds
    assert all(one.capex_delta_usd >= 0 for one in design.alternatives if one.what in ("placement", "flat runs"))


def test_group_by_rack_takes_the_racks_of_the_floor() -> None:
    content = on_floor(
        {"rows": 1, "racks_per_row": 6, "rack_units": 24}, {"group_by": "rack", "rails": "any"}, servers=6
    )
    design = solved(content)
    assert_proven(design)
    assert design.floor is not None and design.floor.servers_per_rack == 3
    assert design.fabrics[0].structure.servers_per_group == 3


def test_a_floor_too_small_names_the_racks_that_it_takes() -> None:
    design = solved(on_floor({"rows": 1, "racks_per_row": 2, "rack_units": 24}, servers=8))
    assert design.status == "infeasible"
    found = {one.limit: one for one in design.conflicts}["site.floor"]
    assert (found.value, found.needed) == (2, 3)


@pytest.mark.long
def test_racks_that_no_tray_reaches_are_named() -> None:
    floor = {"rows": 1, "racks_per_row": 6, "rack_units": 24, "blocked": ["A03"], "cross_trays": [0]}
    design = solved(on_floor(floor, servers=12))
    assert design.status == "infeasible"
    assert "A01, A02" in {one.limit: one for one in design.conflicts}["site.floor"].detail


@pytest.mark.long
def test_fabrics_stand_around_the_same_servers() -> None:
    content = on_floor({"rows": 2, "racks_per_row": 6, "rack_units": 40}, {"nics_per_server": 2}, servers=6)
    content["fabrics"].append(
        {"name": "storage", "role": "storage", "min_gbps_per_gpu": 100, "max_oversubscription": 2, "nics_per_server": 1}
    )
    design = solved(content)
    assert_proven(design)
    assert len({one.placement.policy for one in design.fabrics if one.placement is not None}) == 1


DAMAGE = [
    ("floor", "servers_per_rack", lambda value: value + 1),
    ("floor", "server_racks", lambda value: [value[0], *value[:-1]]),
    ("floor", "length_classes_m", lambda value: [*value, value[-1] + 1]),
    ("placement", "policy", lambda value: "somewhere"),
    ("placement", "leaf", lambda value: [[rack, unit - 1] for rack, unit in value]),
    ("placement", "leaf", lambda value: [[value[0][0], 1], *value[1:]]),
    ("placement", "spine", lambda value: [["A99", unit] for _, unit in value]),
]


@pytest.mark.long("floor-length_classes_m-<lambda>", "placement-policy-<lambda>", "placement-leaf-<lambda>0")
@pytest.mark.parametrize(("where", "key", "change"), DAMAGE)
def test_a_damaged_floor_is_not_proven(where: str, key: str, change: Any) -> None:
    design = solved(on_floor({"rows": 2, "racks_per_row": 6, "rack_units": 24}, {"tiers": 2}, servers=8))
    assert all(check.ok for check in verify(design))
    content = design.model_dump(mode="json", by_alias=True)
    target = content["floor"] if where == "floor" else content["fabrics"][0]["placement"]
    target[key] = change(target[key])
    damaged = Design.model_validate_json(json.dumps(content))
    assert not all(check.ok for check in verify(damaged))


def test_a_cable_cuts_off_a_last_group_only_if_it_has_no_other() -> None:
    """Three servers on two leaves with an uplink each, two on a leaf with two uplinks: no cable joins anyone alone."""
    content, parts = toy(20117)
    content["fabrics"][0] |= {"groups": "any", "tiers": [2]}
    design = solved({**content, "servers": 5}, parts)
    assert_proven(design)
    assert design.fabrics[0].clos.last_group is not None
    (cable,) = (row for row in design.fabrics[0].failures if row.failed == "cable")
    assert cable.servers_cut_off == 0
