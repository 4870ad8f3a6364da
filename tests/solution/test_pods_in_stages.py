"""Pods that come in stages: what they join is there from the first one on, and costs nothing at any."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from fabopt.inspect.to_do import WantedCables
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import wiring_at
from tests.oracles.brute_cable_runs import Laying
from tests.oracles.brute_force import structures
from tests.oracles.brute_growth import NEVER, GrowthSpace, Planner, Pricer, plus
from tests.samples.bases import assert_joins, assert_joins_for, assert_stays, designed, gone_on, seen_of
from tests.samples.discoveries import planned_links
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cage, switch
from tests.solution.test_joined_cores import below_cores, of_three_tiers, pod_below
from tests.solution.test_joins import free_of, in_service, joined, parts, pod

Json = dict[str, Any]


def staged(content: Json, *sizes: int) -> Json:
    """A case of so many servers at each stage, all at month 0."""
    stages = [{"name": f"stage-{number}", "month": 0, "servers": size} for number, size in enumerate(sizes, 1)]
    return {**{key: value for key, value in content.items() if key != "servers"}, "stages": stages}


def least_in_stages(given: Json, content: Json, live: Design) -> int | None:
    """The least cents of all stages by brute force: all spines in service from the first one on, at no price, with
    their free cages, and no stage of one leaf.
    """
    spine = switch("free-spine", cage(free_of(given, live), "1x100"), usd=0)
    fabric = content["fabrics"][0] | {"tiers": 2}
    fabric["switches"] = {**fabric["switches"], "spine": ["free-spine"]}
    wanted = {**content, "fabrics": [fabric], "catalog": ["./catalog.yaml"]}
    space = GrowthSpace({**given, "switches": [*given["switches"], spine]}, wanted)
    pricer, number, least = Pricer(space), live.fabrics[0].clos.spines_per_pod, None
    for _, same in groupby(structures(space), key=lambda one: id(one[0])):
        found = list(same)
        structure = found[0][0]
        planner = Planner(space, structure)
        if structure.spines_per_pod != number or planner.groups(0) * planner.rails < 2:
            continue
        still = planner.still()
        if still is None:
            continue
        plan = tuple(stage._replace(spines=number) for stage in still)
        laying = Laying(structure, plan)
        for _, choice in found:
            total = pricer.boxes(laying, laying.moves())
            for cost in pricer.links(laying, choice):
                total = plus(total, cost)
            if total[0] < NEVER[0]:
                spent = sum(total[-len(plan) :])
                least = spent if least is None else min(least, spent)
    return least


def sample(seed: int) -> tuple[Json, Json, Json]:
    dice = Dice(f"stages-{seed}")
    leaves = {"small": dice.number(4, 6), "large": dice.number(7, 10)}
    given = parts(leaves, dice.number(8, 14), dice.number(500, 1500))
    before = in_service(dice.number(3, 5), max_oversubscription=dice.one([2, 3]))
    content = pod(1, [*leaves], max_oversubscription=dice.one([2, 3, 4, 6]))
    first = dice.number(2, 4)
    return given, before, staged(content, first, first + dice.number(1, 4))


@pytest.mark.long(but=("0-1",))
@pytest.mark.parametrize(("first", "last"), [(0, 1), (0, 12), (12, 24), (24, 36)])
def test_stages_of_a_pod_cost_least_by_brute_force(first: int, last: int, tmp_path: Path) -> None:
    """And what the first stage begins with is gone on from as planned."""
    told = Counter[str]()
    for seed in range(first, last):
        given, before, content = sample(seed)
        live = designed(given, before)
        if live.status != "optimal" or not free_of(given, live):
            continue
        folders = [tmp_path / f"{seed}-{name}" for name in ("plan", "base")]
        for folder in folders:
            folder.mkdir()
        expected, design = least_in_stages(given, content, live), joined(given, content, live, folders[0])
        assert_joins_for(expected, design, live, seed)
        told[design.status] += 1
        if design.totals is None:
            continue
        later = {**content, "stages": content["stages"][1:]}
        base = gone_on(given, later, design, folders[1], "stage-1")
        assert [stage.capex_usd for stage in base.stages] == [0, design.stages[1].capex_usd], seed
        assert_stays(base, design, 0)
        assert_joins(base, live)
    assert told["optimal"], told


def test_cables_of_a_stage_are_looked_at_beside_what_it_joins(tmp_path: Path) -> None:
    given = parts({"small": 6}, 12)
    live = designed(given, in_service(4, max_oversubscription=2))
    design = joined(given, staged(pod(1, ["small"], max_oversubscription=4), 3, 6), live, tmp_path)
    assert_joins(design, live)
    old, first, last = (planned_links(one) for one in (
        wiring_of(live), wiring_at(wiring_of(design), 0), wiring_of(design)))  # fmt: skip
    for stage, there in enumerate((first, last)):
        wanted = WantedCables(design, wiring_of(design), stage)
        before, after = seen_of(wanted, old), seen_of(wanted, [*old, *there])
        assert before.ok and before.cables_to_do == {"new": len(there)}
        assert after.ok and after.right == len(old) + len(there) and not after.to_do


def test_a_pod_below_cores_comes_in_stages(tmp_path: Path) -> None:
    """With all its spines from the first stage on; a further pod joins what the first stage left."""
    given = of_three_tiers({"small": 6}, 10, {"wide": 8})
    live = designed(given, below_cores(8))
    design = joined(given, staged(pod_below(1, ["small"], ["wide"]), 4, 8), live, tmp_path)
    assert design.status == "optimal"
    assert_joins(design, live)
    spines = [grown.spines // grown.pods for grown in design.fabrics[0].growth]
    assert len(set(spines)) == 1 and design.stages[1].capex_usd > 0
    (tmp_path / "further").mkdir()
    content = pod_below(2, ["small"], ["wide"]) | {"name": "further"}
    further = joined(given, content, design, tmp_path / "further", "stage-1")
    assert further.status == "optimal"
    assert_joins(further, design, 0)
