"""Designs that go on from what is in service: nothing of it changes, it is no cost, and nothing is cheaper."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.explain.what_if import Inquiry
from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.no_screen import changes_of
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.schema.design import Conflict, Design
from fabopt.search.choice import search_of
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.oracles.brute_cable_runs import Laying, Plan, Stage
from tests.oracles.brute_force import Structure, structures
from tests.oracles.brute_growth import NEVER, GrowthSpace, Planner, Pricer, plus
from tests.samples import random_growth
from tests.samples.bare import bare
from tests.samples.bases import assert_stays, designed, gone_on, live, saved
from tests.samples.growth_samples import eight, grown
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cage, catalog, switch

Json = dict[str, Any]
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def rest(content: Json, first: int = 1) -> Json:
    """A growing case without its first stages, all at month 0."""
    return {**content, "stages": [{**stage, "month": 0} for stage in content["stages"][first:]]}


def in_stages(*sizes: int, **fabric: Any) -> Json:
    """A case in stages, all at month 0."""
    content = grown(*sizes, fabric=fabric)
    return {**content, "stages": [{**stage, "month": 0} for stage in content["stages"]]}


def test_what_a_plan_begins_with_is_gone_on_from_as_planned(tmp_path: Path) -> None:
    planned = designed(eight(), in_stages(5, 8))
    design = gone_on(eight(), rest(in_stages(5, 8)), planned, tmp_path, "stage-1")
    assert design.status == "optimal"
    assert [stage.capex_usd for stage in design.stages] == [0, planned.stages[1].capex_usd]
    assert_stays(design, planned, 0)
    assert live(wiring_of(design)) == live(wiring_of(planned))


@pytest.mark.parametrize("counted", [False, True])
def test_servers_in_service_are_not_bought_again(counted: bool, tmp_path: Path) -> None:
    """Where servers count, those in service cost nothing, whether the bill of what is in service has them or not."""
    planned = designed(eight(), {**in_stages(5, 8), "include_servers": counted})
    content = {**rest(in_stages(5, 8)), "include_servers": True}
    design = gone_on(eight(), content, planned, tmp_path, "stage-1")
    servers = [row.quantity for row in design.bom if row.kind == "server"]
    assert (design.status, servers) == ("optimal", [0, 3])
    network = planned.stages[1].capex_usd - (3 * 5000 if counted else 0)
    assert [stage.capex_usd for stage in design.stages] == [0, network + 3 * 5000]
    assert_stays(design, planned, 0)


def test_with_nothing_new_the_answer_is_the_base_at_no_cost(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8) | {"stages": [{"name": "only", "month": 0, "servers": 8}]})
    design = gone_on(eight(), in_stages(8), base, tmp_path)
    assert design.status == "optimal" and design.totals is not None and design.totals.capex_usd == 0
    assert_stays(design, base, 0)
    assert live(wiring_of(design)) == live(wiring_of(base))


def test_the_bill_orders_what_is_new_only(tmp_path: Path) -> None:
    # one leaf of four servers, with four ports left; then a second leaf, and a spine of eight ports above both
    base = designed(eight(), in_stages(4, tiers=[1, 2]))
    design = gone_on(eight(), in_stages(8), base, tmp_path)
    bought = {row.id: row.quantity for row in design.bom if row.quantity}
    assert bought == {"eight": 2, "card": 4, "cable": 8}
    assert all(row.from_stock == row.in_use for row in design.bom if row.stage == "in-service")


def test_a_ratio_that_the_file_rounds_is_in_service_as_it_is(tmp_path: Path) -> None:
    # four servers on three uplinks: 4/3, which a file writes as 1.333333
    base = designed(eight(), in_stages(8, max_oversubscription=1.4))
    assert base.fabrics[0].oversubscription["leaf"] == 1.333333
    design = gone_on(eight(), in_stages(8, max_oversubscription=1.4), base, tmp_path)
    assert_stays(design, base, 0)


@pytest.mark.parametrize(("per", "units"), [("fabric", 0), ("server", 3)])
def test_charges_are_owed_on_what_is_new(per: str, units: int, tmp_path: Path) -> None:
    planned, after = designed(eight(), in_stages(5, 8)), rest(in_stages(5, 8))
    charges = [{"name": "support", "usd": 70, "per": per}]
    design = gone_on(eight(), {**after, "charges": charges}, planned, tmp_path, "stage-1")
    assert_stays(design, planned, 0)
    assert [stage.capex_usd for stage in design.stages] == [0, planned.stages[1].capex_usd + 70 * units]


@pytest.mark.long
def test_spines_and_cores_keep_their_names_as_pods_get_more_of_them(tmp_path: Path) -> None:
    """Two pods whose spines are counted pod by pod: new ones come after all that are in service."""
    parts = catalog(switches=[switch("eight", cage(8, "1x100"))])
    whole = in_stages(9, 12, 24, tiers=3)
    planned = designed(parts, whole)
    for number in range(2):
        design = gone_on(parts, rest(whole, number + 1), planned, tmp_path, f"stage-{number + 1}")
        assert design.status == "optimal"
        assert_stays(design, planned, number)


@pytest.mark.long
def test_one_goes_on_again_from_what_went_on(tmp_path: Path) -> None:
    first = designed(eight(), in_stages(5, 8))
    second = gone_on(eight(), in_stages(6), first, tmp_path, "stage-1")
    third = gone_on(eight(), in_stages(8), second, tmp_path)
    assert_stays(third, second, 1)
    assert third.status == "optimal"


@pytest.mark.long(but=("2-staged_three_tier",))
@pytest.mark.parametrize("family", ["staged", "staged_three_tier"])
@pytest.mark.parametrize("seed", range(12 * MORE_SEEDS))
def test_growth_with_a_given_first_stage_is_the_plan_in_stages(family: str, seed: int, tmp_path: Path) -> None:
    parts, content = random_growth.generate(family, seed)
    content = bare({key: value for key, value in content.items() if key not in ("catalog", "growth", "finance")})
    content |= {"objective": "capex_usd", "include_servers": False, "rules": "none"}
    content["stages"] = [{**stage, "month": 0} for stage in content["stages"]]
    planned = designed(parts, content)
    if planned.status != "optimal":
        return
    design = gone_on(parts, rest(content), planned, tmp_path, content["stages"][0]["name"])
    assert design.status == "optimal"
    assert [stage.capex_usd for stage in design.stages] == [0, *(one.capex_usd for one in planned.stages[1:])]
    assert_stays(design, planned, 0)


# -- every design of small bases --------------------------------------------------------------------------------------


def least_after(parts: Json, content: Json, base: Design, servers: int, of_spines: bool = False) -> int | None:
    """The least cents that any design spends that goes on from a base; None if there is none.

    Every structure of the last stage whose first servers have the base's numbers; every joining that leaves its parts.
    ``of_spines``: with the spines of the base alone.
    """
    there = base.fabrics[0]
    stages = [{"name": "in-service", "servers": servers, "fabrics": {"compute": {"max_oversubscription": 1000}}}]
    space = GrowthSpace(parts, {**content, "stages": [*stages, *content["stages"]]})
    pricer, least = Pricer(space), None
    for _, same in groupby(structures(space), key=lambda one: id(one[0])):
        found = list(same)
        structure = found[0][0]
        plan = gone_on_plan(space, structure, base, servers)
        if plan is None or (of_spines and structure.spines_per_pod != there.clos.spines_per_pod):
            continue
        laying = Laying(structure, plan)
        for _, choice in found:
            total = pricer.boxes(laying, laying.moves())
            for cost in pricer.links(laying, choice):
                total = plus(total, cost)
            if total[0] < NEVER[0]:
                spent = sum(total[-len(plan) :][1:])
                least = spent if least is None else min(least, spent)
    assert there.name == "compute"
    return least


def gone_on_plan(space: GrowthSpace, s: Structure, base: Design, servers: int) -> Plan | None:
    """The plan of a structure with the base as its first stage; None where that is not the base."""
    there = base.fabrics[0]
    old, tiers = there.clos, there.tiers
    if (s.k, s.planes, s.cards.id, s.cards.number) != (
        old.ports_per_server_per_leaf, there.planes, there.nic.id, there.nic.per_server,
    ):  # fmt: skip
        return None
    if s.g < servers if old.groups == 1 else s.g != old.servers_per_group:
        return None
    boxes = [s.leaf, s.spine, s.core][: len(tiers)]
    for tier, box in zip(tiers, boxes, strict=True):
        if box is None or box.product["id"] != tier.id or box.down.split != tier.down.split:
            return None
    even = s.tiers > 1 and s.m == old.links_per_pair and s.u % s.spines_per_pod == 0
    if len(tiers) > 1 and not (even and s.spines_per_pod >= old.spines_per_pod):
        return None
    if len(tiers) > 1 and (s.leaf.up is None or tiers[0].up is None or s.leaf.up.split != tiers[0].up.split):
        return None
    still = Planner(space, s).still()
    if still is None:
        return None
    first = Stage(servers, old.spines_per_pod if len(tiers) > 1 else 0, 0, s.m)
    others = [stage._replace(spines=max(stage.spines, first.spines)) for stage in still[1:]]
    return (first, *others)


def a_base(dice: Dice) -> tuple[Json, Json, Json]:
    """A catalog of two switch models, a case of up to three groups, and one of up to twelve servers that goes on."""
    sizes = dice.number(4, 6), dice.number(6, 10)
    prices = dice.number(600, 1200), dice.number(900, 2000)
    switches = [
        {**switch(f"model-{at}", cage(size, "1x100")), "price_usd": price}
        for at, (size, price) in enumerate(zip(sizes, prices, strict=True))
    ]
    parts = catalog(switches=switches)
    before = dice.number(2, 9)
    tiers = dice.one([[1, 2], 2, 2])
    content = in_stages(before, tiers=tiers, max_oversubscription=dice.one([1, 1.5, 2, 3]))
    after = in_stages(dice.number(before, 12), tiers=[1, 2], max_oversubscription=dice.one([1, 1.5, 2, 3]))
    return parts, content, after


@pytest.mark.long(but=("20", "4"))
@pytest.mark.parametrize("seed", range(30 * MORE_SEEDS))
def test_nothing_that_goes_on_from_a_small_base_is_cheaper(seed: int, tmp_path: Path) -> None:
    parts, before, after = a_base(Dice(f"base-{seed}"))
    base = designed(parts, before)
    if base.status != "optimal":
        return
    servers = before["stages"][0]["servers"]
    least = least_after(parts, after, base, servers)
    given = inputs_from_objects({**after, "base": {"file": str(saved(base, tmp_path))}}, parts)
    if least is None:
        found = search_of(problem_of(given.case, given.catalog), Settings(), Clock(None)).run(ties=False)
        assert found.verdict == "infeasible"
        return
    design = gone_on(parts, after, base, tmp_path)
    assert design.totals is not None and design.status == "optimal"
    assert Fraction(round(design.totals.capex_usd * 100)) == least
    assert_stays(design, base, 0)


# -- what is not so ---------------------------------------------------------------------------------------------------


def test_a_file_that_owns_more_than_its_base_has_is_refused(tmp_path: Path) -> None:
    planned = designed(eight(), in_stages(5, 8))
    design = gone_on(eight(), rest(in_stages(5, 8)), planned, tmp_path, "stage-1")
    content = design.model_dump(mode="json", by_alias=True)
    content["case"]["content"]["base"]["design"]["bom"][0]["in_use"] += 1
    checks = verify(Design.model_validate_json(json.dumps(content)))
    assert {"base_stays", "content_matches_hash"} <= {check.name for check in checks if not check.ok}


def test_where_nothing_goes_on_the_base_is_named_with_what_it_costs_to_begin_anew(tmp_path: Path) -> None:
    # two leaves of four servers, with four links each to a spine of eight ports: there is no port for a third leaf
    base = designed(eight(), in_stages(8))
    design = gone_on(eight(), in_stages(12), base, tmp_path)
    assert design.status == "infeasible"
    (conflict,) = design.conflicts
    assert (conflict.limit, conflict.needed) == ("base.move", "{cable: 0, device: 0}")
    assert "no spine of compute in service has a free port" in conflict.detail
    # three leaves and two spines, of which three switches are there; 4 cards more; 12 + 12 cables for 8 + 8
    assert conflict.capex_usd == 2 * 1000 + 4 * 100 + 4 * 10 + 4 * 20


def test_a_shape_that_takes_all_the_time_leaves_the_base_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(inquiry: Inquiry) -> Iterator[Conflict]:
        raise StoppedError
        yield

    monkeypatch.setattr("fabopt.explain.in_service.shape_conflicts", endless)
    design = gone_on(eight(), in_stages(12), designed(eight(), in_stages(8)), tmp_path)
    assert [conflict.limit for conflict in design.conflicts] == ["base.move"]


def pasted(content: Json, limit: str, needed: Any) -> Json:
    """A case with the text of a lever in place of a key, as a case would have it."""
    value, (first, *inner) = yaml.safe_load(needed) if isinstance(needed, str) else needed, limit.split(".")
    if first == "fabrics":
        (name, key) = inner
        fabrics = [{**one, key: value} if one["name"] == name else one for one in content["fabrics"]]
        return {**content, "fabrics": fabrics}
    return {**content, first: {**content[first], inner[0]: value} if inner else value}


def assert_pasting_gives_what_is_shown(parts: Json | None, content: Json) -> list[str]:
    """That each lever parses in the case and costs what it says; the limits of all."""
    design = optimize.solve(inputs_from_objects(content, parts), alternatives_s=0)
    assert design.status == "infeasible" and design.conflicts
    for conflict in design.conflicts:
        changed = content
        for change in changes_of(conflict):
            changed = pasted(changed, change.limit, change.needed)
        answer = optimize.solve(inputs_from_objects(changed, parts), alternatives_s=0)
        assert answer.totals is not None and answer.totals.capex_usd == conflict.capex_usd, conflict
    return [conflict.limit for conflict in design.conflicts]


@pytest.mark.long("charges0")
@pytest.mark.parametrize("charges", [[], [{"name": "support", "usd": 7, "per": "fabric"}]])
def test_levers_of_a_base_parse_and_cost_what_they_say(charges: list[Json], tmp_path: Path) -> None:
    """Two leaves whose spine is full; with charges too, of which what is in service owes none."""
    base = {"file": str(saved(designed(eight(), in_stages(8)), tmp_path))}
    kept = base | {"move": {"cable": 10, "device": 10}, "keep": ["leaf-spine"]}
    for said in (base, kept):
        content = {**in_stages(12), "base": said, "charges": charges}
        assert assert_pasting_gives_what_is_shown(eight(), content) == ["base.move"]


def test_rails_that_hinder_what_is_in_service_are_a_lever(tmp_path: Path) -> None:
    """8 DGX on two leaves, four ports of each on either: 12 on aligned rails would have other leaves."""
    content: Json = {
        "name": "live", "server": "nvidia-dgx-h100", "servers": 8, "workload": {"profile": "pretraining"},
        "fabrics": [
            {"name": "compute", "protocol": "infiniband", "tiers": 2,
             "switches": {"leaf": ["nvidia-qm9700"], "spine": ["nvidia-qm9700"]}},
        ],
    }  # fmt: skip
    base = optimize.solve(inputs_from_objects(content), alternatives_s=0)
    grown = {**content, "servers": 12, "base": {"file": str(saved(base, tmp_path))}}
    assert "fabrics.compute.rails" in assert_pasting_gives_what_is_shown(None, grown)


def test_every_fabric_goes_on_from_its_own(tmp_path: Path) -> None:
    parts = eight()
    parts["servers"][0]["nic_slots"] = 2
    content = in_stages(5, 8)
    compute = content["fabrics"][0]
    content["fabrics"] = [compute, {**compute, "name": "storage", "role": "storage", "homing": "single"}]
    planned = designed(parts, content)
    design = gone_on(parts, rest(content), planned, tmp_path, "stage-1")
    assert [fabric.name for fabric in design.fabrics] == ["compute", "storage"]
    assert [stage.capex_usd for stage in design.stages] == [0, planned.stages[1].capex_usd]
    assert_stays(design, planned, 0)
