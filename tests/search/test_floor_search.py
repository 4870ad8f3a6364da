"""Small floors against brute force over all places, and what is told of floors on which nothing was found."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.output.space import pages_line, space_line
from fabopt.problem import site
from fabopt.problem.problem import Problem, estimating, problem_of
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.floor import tree
from fabopt.search.floor.apart import too_far_apart
from fabopt.solution.optimize import solve
from tests.oracles.brute_floor import cheapest, rules_of, toy, toy_with_rules, toy_without_rack
from tests.samples.small import Json, assert_proven, case, catalog, inputs, product, solved_as, value_of

# One and two tiers, one and two ports a cage, blocked racks, racks with limits on power, racks for switches listed, at
# the ends and in rows of their own.
SEEDS = (3, 5, 6, 11, 16, 24, 26, 27, 28, 31, 33, 35)
# Rules that bind, that do not, and that leave no design.
RULE_SEEDS = (5, 13, 16, 20, 27, 28, 31, 35)
# Of these seed 28 has one rack for spines.
SPREAD_SEEDS = (5, 6, 13, 16, 28, 33, 35)
# Asks for 25, 50 and 75 of 100 Gb/s without any one rack that cost nothing, cost something, and leave no design.
RACK_LOSS_SEEDS = (6, 8, 17, 19, 23, 46, 47, 48, 53, 57)
# Where the last group of two tiers is unlike the others: on leaves of its own size, with uplinks of its own, or both.
Draw = Callable[[int], tuple[Json, Json]]
OWN_LAST_GROUPS: tuple[tuple[Draw, int], ...] = (
    (toy, 22), (toy, 33), (toy, 45), (toy, 50), (toy_with_rules, 45), (toy, 4042),
)  # fmt: skip
# With five servers the last one's leaf has a whole cage of uplinks, where one link would carry its demand.
WHOLE_CAGES = 4042
# One and two tiers, with and without a cable that may fail.
TWO_FABRIC_SEEDS = (9, 1, 6, 7, 3, 8, 13)
# Floors on which a rack takes a server more without its rules, and the links of servers run farther for it.
DEARER_WITHOUT = (8, 21, 39)
NO_RULES_OF_RACKS = {"rack-rules": False, "rack-spread": False}
# Few enough switches to count their orders in a rack too.
ORDER_SEEDS = (5, 13, 16, 20, 26)


def toy_design(seed: int) -> Design:
    content, parts = toy(seed)
    return solve(inputs(content, parts), alternatives_s=0)


@pytest.mark.long(but=("33", "6"))
@pytest.mark.parametrize("seed", SEEDS)
def test_small_floors_equal_brute_force(seed: int) -> None:
    """Every set of racks for servers, every rack for every switch, every part for every cage."""
    design = solved_as(cheapest(*toy(seed)), *toy(seed))
    assert design is not None
    assert design.fabrics[0].placement is not None and design.fabrics[0].placement.policy == "anywhere"


@pytest.mark.long(but=("5",))
@pytest.mark.parametrize("seed", RULE_SEEDS)
def test_small_floors_with_rules_of_racks_equal_brute_force(seed: int) -> None:
    """Units at the top and for cable managers, switches and cable ends; on these floors never cheaper than without."""
    design = solved_as(cheapest(*toy_with_rules(seed)), *toy_with_rules(seed))
    assert design is None or value_of(toy_design(seed)) <= value_of(design)


@pytest.mark.long(but=("8",))
@pytest.mark.parametrize("seed", DEARER_WITHOUT)
def test_rules_of_racks_are_never_cheaper_with_as_many_servers_in_a_rack(seed: int) -> None:
    """Where a floor is dearer without them, that is for the servers that a rack takes then: said, they cost the same or
    less.
    """
    content, parts = toy_with_rules(seed)
    without = {**content, "rules": {**content["rules"], "rack-rules": False}}
    kept, free = (solve(inputs(one, parts), alternatives_s=0) for one in (content, without))
    assert value_of(free) > value_of(kept)
    of_rack = (content["site"]["floor"]["rack_units"] - rules_of(content).kept) // parts["servers"][0]["rack_units"]
    said = solve(inputs({**without, "site": {**content["site"], "servers_per_rack": of_rack}}, parts), alternatives_s=0)
    assert_proven(said)
    assert value_of(said) <= value_of(kept)


@pytest.mark.long(but=("6",))
@pytest.mark.parametrize("seed", SPREAD_SEEDS)
def test_small_floors_with_devices_spread_equal_brute_force(seed: int) -> None:
    """The same racks for servers and switches, so nothing is cheaper for the rule."""
    content, parts = toy(seed)
    free = toy_design(seed)
    content = {**content, "rules": {"rack-rules": False, "rack-spread": True}}
    design = solved_as(cheapest(content, parts), content, parts)
    if design is None:
        given_up = solve(inputs({**content, "rules": {"rack-rules": False}}, parts), alternatives_s=0)
        assert_proven(given_up)
        # leaves are in three racks all the same
        assert [row.part for row in given_up.rules_left_out] == ["site.rack_rules.spread_spines"]
    else:
        assert value_of(free) <= value_of(design)


def two_fabrics(seed: int) -> tuple[Json, Json]:
    """A toy with a second fabric, of which one cable may fail, and slots for the cards of both."""
    (content, given), dice = toy(seed), random.Random(f"two {seed}")
    compute = content["fabrics"][0]
    storage = {"name": "storage", "role": "storage", "homing": "any", "pairing": "none", "min_gbps_per_gpu": 100}
    storage |= {"max_oversubscription": dice.choice([1, 2, 3]), "rails": compute["rails"], "tiers": compute["tiers"]}
    if dice.random() < 0.5:
        storage["resilience"] = [{"survive": "1 cable", "min_gbps_per_gpu": 10}]
    content["servers"] = min(content["servers"], 4)
    return {**content, "fabrics": [compute, storage]}, given


@pytest.mark.long
@pytest.mark.parametrize("seed", TWO_FABRIC_SEEDS)
def test_two_fabrics_on_small_floors_are_those_of_all_candidates(seed: int) -> None:
    """What costs more than a design that was met, or has more uplinks than one that was placed, changes no answer."""
    content, given = two_fabrics(seed)
    pruned, whole = (solve(inputs(content, given), prune=prune, alternatives_s=0) for prune in (True, False))
    assert pruned.status == "optimal" and (pruned.status, value_of(pruned)) == (whole.status, value_of(whole))


def wide(draw: Draw, seed: int) -> tuple[Json, Json]:
    """A toy on a floor of more racks than all places are looked at for."""
    dice, (content, parts) = random.Random(f"large {seed}"), draw(seed)
    floor, rows = content["site"]["floor"], dice.choice([1, 2])
    floor |= {"rows": rows, "racks_per_row": dice.choice([4, 5, 7, 8] if rows == 2 else [7, 9, 12])}
    for key in ("blocked", "network_racks"):
        floor.pop(key, None)
    content["servers"] = dice.choice([4, 6, 8, 12, 16])
    content["site"]["servers_per_rack"] = dice.choice([1, 2, 3])
    return content, parts


@pytest.mark.long(but=("rack-spread-toy-53",))
@pytest.mark.parametrize(
    ("rule", "draw", "seed"),
    [("rack-spread", toy, 38), ("rack-spread", toy, 53), ("rack-spread", toy, 143), ("rack-rules", toy_with_rules, 3)],
)
def test_a_rule_of_racks_never_lowers_the_cost(rule: str, draw: Draw, seed: int) -> None:
    """In layouts that nobody would look at but for the rule the design is cheaper: without it they are there too."""
    content, parts = wide(draw, seed)
    costs = [
        value_of(solve(inputs({**content, "rules": {**NO_RULES_OF_RACKS, rule: kept}}, parts), alternatives_s=0))
        for kept in (False, True)
    ]
    assert costs[0] <= costs[1]


@pytest.mark.long("toy-45", "toy_with_rules-45")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize(("draw", "seed"), OWN_LAST_GROUPS)
def test_small_floors_with_a_last_group_of_its_own_equal_brute_force(draw: Draw, seed: int) -> None:
    """Every k, g, u, S, m beside every k' and m' of the last group, in every place; cheaper than equal groups."""
    content, parts = draw(seed)
    if seed == WHOLE_CAGES:
        content["servers"] = 5
    content["fabrics"][0] |= {"groups": "any", "tiers": [2]}
    design = solved_as(cheapest(content, parts), content, parts)
    assert design is not None and design.fabrics[0].clos.last_group is not None
    content["fabrics"][0]["groups"] = "equal"
    assert value_of(design) < value_of(solve(inputs(content, parts), alternatives_s=0))


@pytest.mark.long("23", "6")
@pytest.mark.long(but_every=4)
@pytest.mark.parametrize("seed", RACK_LOSS_SEEDS)
def test_small_floors_without_any_one_rack_equal_brute_force(seed: int) -> None:
    """The worst rack depends on where switches are: every place is counted, and never cheaper than without the ask."""
    content, parts = toy_without_rack(seed)
    design = solved_as(cheapest(content, parts), content, parts)
    if design is None:
        return
    free = solve(inputs({**content, "resilience": "none"}, parts), alternatives_s=0)
    assert value_of(free) <= value_of(design)
    (row,) = (row for row in design.fabrics[0].failures if row.failed == "rack")
    assert row.gbps_per_gpu >= content["resilience"][0]["min_gbps_per_gpu"]
    assert row.worst is not None and row.servers_lost is not None and row.servers_lost < content["servers"]


@pytest.mark.long("16")
@pytest.mark.parametrize("seed", ORDER_SEEDS)
def test_order_in_a_rack_changes_nothing(seed: int) -> None:
    """Switches stand in a rack in the order of their numbers; on these floors no other order costs less."""
    assert cheapest(*toy(seed), orders=True) == cheapest(*toy(seed))


def parts(longest_m: float = 30) -> Json:
    """The small catalog with servers that stand in racks, and no part longer than that."""
    content = catalog()
    for server in content["servers"]:
        server["rack_units"] = 8
    for kind in ("cables", "fibres"):
        for part in content[kind]:
            kept = [one for one in part["lengths"] if one["m"] <= longest_m]
            part["lengths"] = kept or [{"m": longest_m, "price_usd": 100}]
    return content


def on_floor(floor: Json, **changes: Any) -> Json:
    content = case(**changes)
    content["site"] = {"floor": {"rack_units": 24, **floor}}
    return content


def resolved(content: Json, given: Json) -> Problem:
    made = inputs(content, given)
    return problem_of(made.case, made.catalog)


def test_servers_stand_where_that_is_cheapest() -> None:
    """Six servers, three a rack, and two racks of three: A01 and A05 come first on the floor, but are 6 m apart.

    A05 and A06 are 1.5 m apart, so the links between them, of about 5.4 m, need 10 m of fibre; between A01 and A05 they
    run more than 10 m, and the next length on sale is that of a dearer cable of 30 m.
    """
    floor = {"rows": 1, "racks_per_row": 6, "rack_pitch_m": 1.5, "rack_units": 28, "reserved": ["A02", "A03", "A04"]}
    design = solve(inputs(on_floor(floor, servers=6), parts()), alternatives_s=0)
    assert_proven(design)
    assert design.floor is not None and design.floor.server_racks == ("A05", "A06")


def test_too_many_places_fall_back_to_layouts(monkeypatch: pytest.MonkeyPatch) -> None:
    content = on_floor({"rows": 1, "racks_per_row": 5}, servers=6)
    anywhere = solve(inputs(content, parts()), alternatives_s=0)
    monkeypatch.setattr(tree, "MOST_STEPS", 3)
    ruled = solve(inputs(content, parts()), alternatives_s=0)
    assert_proven(ruled)
    assert anywhere.objective.value is not None and ruled.objective.value is not None
    assert anywhere.objective.value <= ruled.objective.value
    assert ruled.fabrics[0].placement is not None and ruled.fabrics[0].placement.policy != "anywhere"
    assert space_line(anywhere).endswith("one switch type a tier, in any place")
    assert space_line(ruled).endswith("one switch type a tier, placed by the rule of a layout")
    assert "docs/formulation/floor.md" in pages_line(ruled)


@pytest.mark.long
def test_none_in_layouts_is_no_proof_where_places_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A floor with a design in no layout but elsewhere; and one whose budget is too low wherever its switches are."""
    content, given = toy(5)
    poor = on_floor({"rows": 1, "racks_per_row": 5}, servers=6, limits={"budget_usd": 1000})
    assert_proven(toy_design(5))
    monkeypatch.setattr(tree, "MOST_STEPS", 0)
    design = solve(inputs(content, given), alternatives_s=0)
    assert design.status == "unknown"
    assert {conflict.limit for conflict in design.conflicts} == {"site.floor"}
    assert solve(inputs(poor, parts()), alternatives_s=0).status == "infeasible"


def test_what_else_there_is_a_design_with_is_told_where_places_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve servers on one switch are too many; that two tiers would do is found in layouts."""
    content = on_floor({"rows": 1, "racks_per_row": 5}, fabric={"tiers": 1}, servers=12)
    monkeypatch.setattr(tree, "MOST_STEPS", 3)
    design = solve(inputs(content, parts()), alternatives_s=0)
    assert design.status == "infeasible"
    assert ("fabrics.compute.tiers", "any") in [(conflict.limit, conflict.needed) for conflict in design.conflicts]


@pytest.mark.long
def test_longer_lengths_that_cost_less_are_in_the_bound() -> None:
    """A run of 2 m takes the cable of 2 m even if that of 3 m is cheaper; nothing may be cut for that."""
    given = parts()
    product(given, "dac")["lengths"] = [{"m": m, "price_usd": usd} for m, usd in ((1, 50), (2, 900), (3, 60))]
    content = on_floor({"rows": 2, "racks_per_row": 5}, servers=6)
    cut = solve(inputs(content, given), alternatives_s=0)
    whole = solve(inputs(content, given), alternatives_s=0, prune=False)
    assert_proven(cut)
    assert cut.objective.value == whole.objective.value


def storage_case(attached_m: float, **size: Any) -> Json:
    """A storage fabric of 200G InfiniBand, whose ports at the leaves are all of breakouts, with four boxes."""
    boxes = {"name": "boxes", "ports": 4, "boxes": 4, "form_factor": "QSFP112", "split": "1x200"}
    fabric = {"name": "storage", "role": "storage", "protocol": "infiniband", "min_gbps_per_server": 200}
    site = {"servers_per_rack": 2, "distances_m": {"attachment-leaf": attached_m}}
    floor = {"floor": {"rows": 1, "racks_per_row": 5, "rack_units": 48}}
    fabrics = [fabric | {"attachments": [boxes]}]
    return {"name": "storage", "server": "nvidia-dgx-h100", "fabrics": fabrics, "site": site | floor, **size}


STAGES = [{"name": "now", "servers": 5}, {"name": "then", "month": 6, "servers": 8}]


@pytest.mark.long(but=("2-size2",))
@pytest.mark.parametrize("size", [{"servers": 8}, {"servers": 7}, {"stages": STAGES}])
@pytest.mark.parametrize("attached_m", [2, 20])
def test_breakouts_at_leaves_carry_servers_and_attachments(attached_m: float, size: Json) -> None:
    """There is nothing but breakouts at this speed, so without them there would be no design; flat runs of 20 m cost
    no less. A breakout that is shared is as long as the longest of its links.
    """
    content = storage_case(attached_m, **size)
    design = solve(inputs_from_objects(content), alternatives_s=0)
    assert_proven(design)
    flat = {"distances_m": {"server-leaf": 20, "leaf-spine": 20, "spine-core": 20, "attachment-leaf": attached_m}}
    alike = solve(inputs_from_objects(content | {"site": flat | {"servers_per_rack": 2}}), alternatives_s=0)
    assert design.objective.value is not None and alike.objective.value is not None
    assert design.objective.value <= alike.objective.value


# -- floors on which nothing is found ---------------------------------------------------------------------------------


def test_racks_further_apart_than_all_parts() -> None:
    """Two racks of servers 6 m apart, all parts 3 m long: 2 tiers need links over some rack border of 6 m and descents.

    Descents: the tray is 2.6 m high, the topmost unit of 24 at 0.1 + 23.5 * 0.04445 = 1.1446 m; twice that, two drops
    of 0.3 m, 6 m of tray and 0.5 m of slack: 2 * 1.4554 + 0.6 + 6 + 0.5 = 10.0109 m.
    """
    content = on_floor({"rows": 1, "racks_per_row": 2, "rack_pitch_m": 6}, servers=6)
    found = too_far_apart(resolved(content, parts(3)))
    assert found is not None
    assert (found.kind, found.reach_m, found.racks) == ("leaf-spine", 3, ("A01", "A02"))
    assert found.run_m == pytest.approx(10.0109, abs=1e-3)
    assert too_far_apart(resolved(content, parts(10.1))) is None


def test_tiers_that_a_path_is_too_short_for_are_no_matter_of_racks() -> None:
    content = on_floor({"rows": 1, "racks_per_row": 2}, servers=6)
    content["fabrics"][0] |= {"tiers": 2, "max_switch_hops": 1}
    assert too_far_apart(resolved(content, parts(30))) is None


def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every floor count as too large for proofs."""
    for most in ("MOST_SERVERS_PROVEN_ON_FLOOR", "MOST_SERVERS_OF_SEVERAL_FABRICS", "MOST_SERVERS_ANYWHERE"):
        monkeypatch.setattr(site, most, 0)


def test_a_large_floor_out_of_reach_is_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    large(monkeypatch)
    content = on_floor({"rows": 1, "racks_per_row": 8, "rack_pitch_m": 6}, servers=6)
    design = solve(inputs(content, parts(3)))
    assert design.status == "infeasible"
    (conflict,) = design.conflicts
    assert conflict.limit == "site.floor" and conflict.needed == 3
    assert "leaf-spine run is 10.0 m or more (as from A01 to A02)" in conflict.detail


def test_a_large_floor_that_is_not_ruled_out_names_the_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Racks with units for a server and nothing else: no switch fits, but that is not proven of all places."""
    large(monkeypatch)
    content = on_floor({"rows": 1, "racks_per_row": 4, "rack_units": 8}, servers=4)
    design = solve(inputs(content, parts()))
    assert design.status == "unknown"
    assert design.conflicts and design.conflicts[0].limit == "site.floor"
    assert design.conflicts[0].detail.startswith("compute, ")


@pytest.mark.long
@pytest.mark.parametrize("roles", [(), ("storage",), ("storage", "in-band")])
def test_no_more_is_proven_on_a_large_floor_than_was_looked_at(roles: tuple[str, ...]) -> None:
    """A search that ends at any count of work says nothing that one without an end does not."""
    content = on_floor({"rows": 2, "racks_per_row": 6, "rack_units": 32}, servers=12)
    small = {"min_gbps_per_gpu": 25, "nics_per_server": 1, "tiers": 1, "max_oversubscription": 4}
    content["fabrics"] += [{"name": role, "role": role, **small} for role in roles]
    problem = estimating(resolved(content, parts()))

    def searched(most: float) -> Optimum:
        settings = Settings()
        settings.work.most = most
        return search_of(problem, settings, Clock(60.0)).run(ties=False)

    best = searched(inf).value
    assert best is not None
    for most in (0, 1, 4, 16, 64, 128, 256, 512):
        cut = searched(most)
        assert cut.verdict in ("unknown", "feasible", "optimal")
        assert cut.bound is None or cut.bound <= best
        assert cut.value is None or cut.value >= best


def test_fabrics_on_a_large_floor_share_racks_by_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """Racks with six switches: two for each of three fabrics are too few where one has six and the others one each."""
    large(monkeypatch)
    content = on_floor({"rows": 1, "racks_per_row": 7, "rack_units": 32}, servers=12, rules={"rack-rules": True})
    content["site"]["rack_rules"] = {"switches": 6}
    content["fabrics"][0] |= {"nics_per_server": 2, "tiers": 2}
    small = {"min_gbps_per_gpu": 25, "nics_per_server": 1, "tiers": 1, "max_oversubscription": 4}
    content["fabrics"] += [{"name": role, "role": role, **small} for role in ("storage", "in-band")]
    design = solve(inputs(content, parts()), alternatives_s=0)
    assert design.status == "feasible" and all(check.ok for check in design.checks)
    switches = [sum(tier.count for tier in fabric.tiers) for fabric in design.fabrics]
    assert switches == [6, 1, 1]


@pytest.mark.long
@pytest.mark.parametrize(("share", "status"), [(0.05, "infeasible"), (0.999, "infeasible"), (1.0, "optimal")])
def test_budgets_on_a_large_floor(monkeypatch: pytest.MonkeyPatch, share: float, status: str) -> None:
    """Below and at what the best takes, whose bound is no less: proven."""
    large(monkeypatch)
    floor = {"rows": 2, "racks_per_row": 6}
    free = solve(inputs(on_floor(floor, servers=6), parts()), alternatives_s=0)
    assert free.objective.value is not None and free.objective.bound is not None
    assert free.objective.bound <= free.objective.value
    budget = float(np.floor(free.objective.value * share))
    design = solve(inputs(on_floor(floor, servers=6, limits={"budget_usd": budget}), parts()), alternatives_s=0)
    assert design.status == status
    if status == "optimal":
        return
    found = {one.limit: one for one in design.conflicts}["limits.budget_usd"]
    assert found.needed == free.objective.value == free.objective.bound
    assert f"the cheapest design costs ${free.objective.bound:,}" in found.detail


def test_a_power_limit_is_met_by_what_draws_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheapest candidates draw too much; those that draw least are looked at before nothing is found."""
    large(monkeypatch)
    floor = {"rows": 2, "racks_per_row": 6}
    lean = solve(inputs(on_floor(floor, servers=6, objective="power_w"), parts()), alternatives_s=0)
    assert lean.totals is not None
    limits = {"power_w": lean.totals.power_w}
    design = solve(inputs(on_floor(floor, servers=6, limits=limits), parts()), alternatives_s=0)
    assert design.totals is not None and design.totals.power_w <= lean.totals.power_w


def test_bounds_on_large_floors_know_how_far_servers_are_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three servers a rack on a pitch of 6 m: a leaf is near three servers only, wherever it is.

    On a pitch of 0.3 m copper reaches the racks beside the leaf's, so that the bound is lower.
    """
    large(monkeypatch)
    bounds = []
    for pitch in (0.3, 6):
        content = on_floor({"rows": 1, "racks_per_row": 6, "rack_pitch_m": pitch, "tray_height_m": 1.2}, servers=6)
        design = solve(inputs(content, parts(50)), alternatives_s=0)
        assert design.objective.bound is not None and design.objective.value is not None
        assert design.objective.bound <= design.objective.value
        bounds.append(design.objective.bound)
    assert bounds[0] < bounds[1]


@pytest.mark.long
def test_a_bound_on_a_large_floor_is_below_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is proven of the layouts of a small floor is not below the bound that a large floor would get."""
    for seed in SEEDS:
        best = cheapest(*toy(seed))
        with monkeypatch.context() as patch:
            patch.setattr(site, "MOST_SERVERS_ANYWHERE", 0)
            in_layouts = toy_design(seed)
            large(patch)
            bound = toy_design(seed).objective.bound
        assert best is not None
        if bound is not None and in_layouts.objective.value is not None:
            assert in_layouts.status == "optimal" and bound <= in_layouts.objective.value
        # what is cheaper than the answer is looked for only where that bound leaves it open
        given = inputs(*toy(seed))
        search = search_of(estimating(problem_of(given.case, given.catalog)), Settings(), Clock(None))
        assert search.may_be_below(int(best) + 1) and not search.may_be_below(1)


def test_a_large_floor_with_too_few_racks(monkeypatch: pytest.MonkeyPatch) -> None:
    large(monkeypatch)
    design = solve(inputs(on_floor({"rows": 1, "racks_per_row": 2}, servers=8), parts()))
    assert design.status == "infeasible"
    assert (design.conflicts[0].limit, design.conflicts[0].value, design.conflicts[0].needed) == ("site.floor", 2, 3)


@pytest.mark.long("3", "4", "5")
@pytest.mark.parametrize("seed", range(6))
def test_where_a_search_begins_changes_no_answer(seed: int) -> None:
    """As far above the bound as another design was proven, or far beyond that: the same design, ties included."""
    problem = resolved(*wide(toy_with_rules, seed))
    assert problem.site.method == "layouts"
    plain = search_of(problem, Settings(), Clock(None)).run()
    for share in (0.0001, 0.01, 1):
        context = Context(proven_within={"layouts": share * (plain.value or 1)})
        other = search_of(problem, Settings(), Clock(None), context=context).run()
        assert (other.verdict, other.value, other.bound) == (plain.verdict, plain.value, plain.bound)
        ours, theirs = ([one.design.file_part() for one, _ in optimum.picked] for optimum in (plain, other))
        assert ours == theirs
