"""Pods whose spines are their own, beneath the cores in service: the usual way in which three tiers grow."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.inspect.to_do import WantedCables
from fabopt.operate.build import plan_of
from fabopt.output.bought import beside
from fabopt.output.space import space_line
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.oracles.brute_force import solve, structures
from tests.samples.bases import assert_joins, assert_joins_for, designed, seen_of, whole_of
from tests.samples.discoveries import planned_links
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cage, switch
from tests.solution.test_joins import free_of, in_service, joined, parts, pod

Json = dict[str, Any]


def of_three_tiers(leaves: dict[str, int], core: int, spines: dict[str, int], price: int = 1000) -> Json:
    """Parts with cores in service of so many cages, and spines that a pod may have."""
    given = parts(leaves, 6, price)
    more = [
        switch("live-core", cage(core, "1x100"), usd=2000),
        *(switch(id_, cage(cages, "1x100"), usd=price + 31 * cages) for id_, cages in spines.items()),
    ]
    return {**given, "switches": [*given["switches"], *more]}


def below_cores(servers: int, ratio: float = 2, **fabric: Any) -> Json:
    """The case of what is in service: three tiers."""
    content = in_service(servers, tiers=3, max_oversubscription=ratio, **fabric)
    content["fabrics"][0]["switches"] |= {"core": ["live-core"]}
    return content


def pod_below(servers: int, leaves: list[str], spines: list[str], ratio: float = 4) -> Json:
    content = pod(servers, leaves, max_oversubscription=ratio)
    content["fabrics"][0]["switches"] |= {"spine": spines}
    return content


def least_below(given: Json, content: Json, live: Design) -> int | None:
    """The least cents of a pod below cores by brute force: as many cores in as many groups as there are, at no price,
    with their free cages.
    """
    free, there = free_of(given, live, "core"), live.fabrics[0]
    if not free:
        return None
    fabric = content["fabrics"][0] | {"tiers": 3}
    fabric["switches"] = {**fabric["switches"], "core": ["free-core"]}
    wanted = {**content, "fabrics": [fabric], "catalog": ["./catalog.yaml"], "below_cores": True}
    groups = there.clos.spines_per_pod // there.clos.spines_per_core_group
    number = (groups, there.tiers[-1].count // there.planes)
    best = solve(
        {**given, "switches": [*given["switches"], switch("free-core", cage(free, "1x100"), usd=0)]}, wanted,
        walk=lambda space: (
            one for one in structures(space) if (one[0].spines_per_pod // max(1, one[0].q), one[0].cores) == number
        ),
    )  # fmt: skip
    return None if best is None else best.capex_cents


def sample(seed: int) -> tuple[Json, Json, list[Json]]:
    """What is in service below cores, and two pods of which the second joins the first."""
    dice = Dice(f"cores-{seed}")
    leaves = {"small": dice.number(4, 6), "large": dice.number(7, 9)}
    spines = {"narrow": dice.number(4, 7), "wide": dice.number(8, 10)}
    given = of_three_tiers(leaves, dice.number(5, 10), spines, dice.number(500, 1500))
    before = below_cores(dice.number(5, 8), dice.one([1, 2, 3]))
    pods = [pod_below(dice.number(2, 5), [*leaves], [*spines], dice.one([2, 3, 4])) for _ in range(2)]
    return given, before, [one | {"name": f"pod-{number}"} for number, one in enumerate(pods)]


@pytest.mark.long(but=("3-4",))
@pytest.mark.parametrize(("first", "last"), [(3, 4), (0, 8), (8, 16), (16, 24), (24, 32)])
def test_no_pod_below_cores_is_cheaper_by_brute_force(first: int, last: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(first, last):
        given, before, pods = sample(seed)
        there = designed(given, before)
        for number, content in enumerate(pods if there.status == "optimal" else ()):
            free, expected = free_of(given, there, "core"), least_below(given, content, there)
            folder = tmp_path / f"{seed}-{number}"
            folder.mkdir()
            try:
                design = joined(given, content, there, folder)
            except InputError as refusal:
                assert not free and "no cage is free on every core" in str(refusal), seed
                break
            told[design.status] += 1
            assert_joins_for(expected, design, there, seed, number)
            if design.totals is None:
                break
            there = design
    assert told["optimal"], told


def a_pod(folder: Path, servers: int = 4) -> tuple[Json, Design, Design]:
    """Parts; eight servers in two pods below a core; a pod of others, below the same core."""
    given = of_three_tiers({"small": 6}, 10, {"wide": 8})
    live = designed(given, below_cores(8))
    return given, live, joined(given, pod_below(servers, ["small"], ["wide"]), live, folder)


def test_one_pod_is_enough_below_cores_in_service(tmp_path: Path) -> None:
    _, live, design = a_pod(tmp_path)
    assert design.fabrics[0].clos.pods == 1 and design.fabrics[0].metrics.max_switch_hops == 3
    assert_joins(design, live)
    told = beside(design)
    cores = live.fabrics[0].tiers[-1].count
    assert told is not None and f"the pod joins all {cores} core of compute with " in str(told.said[0])
    assert "leaves and spines of its own on free ports of all cores in service" in space_line(design)
    bought = {row.id: row.quantity for row in design.bom if row.quantity}
    assert "live-core" not in bought and bought["wide"] == design.fabrics[0].tiers[1].count


def test_names_cables_and_addresses_of_both_are_given_once(tmp_path: Path) -> None:
    _, live, design = a_pod(tmp_path)
    whole = whole_of(design)
    assert len(set(whole.devices.name)) == len(whole.devices) and len(set(whole.cables.name)) == len(whole.cables)
    owner: dict[str, str] = {}
    for plan in (plan_of(live, wiring_of(live)), plan_of(design, wiring_of(design))):
        for device in plan.devices:
            for value in filter(None, (device.name, device.management, device.loopback)):
                assert owner.setdefault(value, device.device) == device.device
    old, new = planned_links(wiring_of(live)), planned_links(wiring_of(design))
    wanted = WantedCables(design, wiring_of(design), 0)
    before, after = seen_of(wanted, old), seen_of(wanted, [*old, *new])
    assert before.ok and before.cables_to_do == {"new": len(new)}
    assert after.ok and after.right == len(old) + len(new) and not after.to_do


def test_cores_of_a_file_are_counted_again(tmp_path: Path) -> None:
    """Free cages that are not there, and another tier than is in service."""
    _, _, design = a_pod(tmp_path)
    for key, value, words in (
        ("cages", [10], "free cages counted on"),
        ("per_plane", 2, "switches that cost nothing"),
        ("role", "spine", "switches in service"),
    ):
        document = json.loads(design.model_dump_json(by_alias=True))
        document["case"]["content"]["joins"]["switches"][0][key] = value
        broken = {check.name: check for check in verify(Design.model_validate_json(json.dumps(document)))}
        assert not broken["pod_joins_spines"].ok, key
        assert words in broken["pod_joins_spines"].detail or key == "role", broken["pod_joins_spines"].detail


def test_what_is_asked_otherwise_below_cores(tmp_path: Path) -> None:
    """Another number of tiers, other cores, or cores that are full, are refused where they are said."""
    given, live, design = a_pod(tmp_path)
    fabric = pod_below(2, ["small"], ["wide"])["fabrics"][0]
    for changes, words in (
        ({"tiers": 2}, "allowed: 3"),
        ({"switches": {**fabric["switches"], "core": ["wide"]}}, "allowed: live-core"),
    ):
        with pytest.raises(InputError, match=words):
            joined(given, {**pod_below(2, ["small"], ["wide"]), "fabrics": [{**fabric, **changes}]}, live, tmp_path)
    full = of_three_tiers({"small": 6}, 2, {"wide": 8})
    there = designed(full, below_cores(8))
    with pytest.raises(InputError, match="no cage is free on every core"):
        joined(full, pod_below(2, ["small"], ["wide"]), there, tmp_path)
    assert design.status == "optimal"
