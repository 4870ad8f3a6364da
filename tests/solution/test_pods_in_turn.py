"""Pods that join what is in service one after the other: free ports of spines go down by what each took."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.inspect.to_do import WantedCables
from fabopt.operate.build import plan_of
from fabopt.output.bought import beside
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.samples.bases import assert_joins, designed, seen_of, whole_of
from tests.samples.discoveries import planned_links
from tests.samples.random_cases import Dice
from tests.solution.test_joined_managers import managed, most_of, nodes_of, of_infiniband
from tests.solution.test_joins import free_of, in_service, joined, least, parts, pod

Json = dict[str, Any]
PODS = 3


def sample(seed: int) -> tuple[Json, Json, list[Json]]:
    """A catalog, a case of what is in service, and those of pods; of InfiniBand in every other sample."""
    dice = Dice(f"turns-{seed}")
    given = parts({"small": dice.number(4, 6), "large": dice.number(7, 10)}, dice.number(8, 14), dice.number(500, 1500))
    before = in_service(dice.number(3, 5), max_oversubscription=dice.one([2, 3]))
    pods = [
        pod(dice.number(2, 5), ["small", "large"], max_oversubscription=dice.one([2, 3, 4])) | {"name": f"pod-{number}"}
        for number in range(PODS)
    ]
    if seed % 2:
        return given, before, pods
    said = {"managed": True, "max_managed_nodes": dice.number(8, 16)}
    twin = {"managed": False, "managed_twin": "twin"}
    return of_infiniband(given, live_leaf=said, large=twin), managed(before), [managed(one) for one in pods]


@pytest.mark.long(but=("0-2",))
@pytest.mark.parametrize(("first", "last"), [(0, 2), (2, 14), (14, 26), (26, 38)])
def test_pods_in_turn_cost_least_by_brute_force(first: int, last: int, tmp_path: Path) -> None:
    told = Counter[int]()
    for seed in range(first, last):
        given, before, pods = sample(seed)
        there = designed(given, before)
        for number, content in enumerate(pods if there.status == "optimal" else ()):
            spine = {"protocol": "infiniband", "managed": False} if seed % 2 == 0 else {}
            managers = {"there": (nodes_of(there), most_of(there))} if spine else {}
            free, expected = free_of(given, there), least(given, content | managers, there, spine)
            folder = tmp_path / f"{seed}-{number}"
            folder.mkdir()
            try:
                design = joined(given, content, there, folder)
            except InputError as refusal:
                assert not free and "no cage is free" in str(refusal), seed
                break
            assert design.status == ("infeasible" if expected is None else "optimal"), (seed, number)
            if design.totals is None:
                break
            assert round(design.totals.capex_usd * 100) == expected, (seed, number)
            assert_joins(design, there)
            there = design
            told[number] += 1
    assert told[1], told


def in_turn(folder: Path) -> list[Design]:
    """What is in service, and two pods of which the second joins the first."""
    given = parts({"small": 6}, 8)
    designs = [designed(given, in_service(4, max_oversubscription=2) | {"operate": {"asns": "65000-65100"}})]
    for number, servers in enumerate((3, 2)):
        (folder / str(number)).mkdir()
        content = pod(servers, ["small"], max_oversubscription=4) | {"name": f"pod-{number}"}
        designs.append(joined(given, content, designs[-1], folder / str(number)))
    return designs


def test_names_ports_and_addresses_of_all_are_given_once(tmp_path: Path) -> None:
    designs = in_turn(tmp_path)
    whole = whole_of(designs[-1])
    assert len(set(whole.devices.name)) == len(whole.devices) and len(set(whole.cables.name)) == len(whole.cables)
    assert whole.devices.role.count("server") == 9
    owner: dict[str, str] = {}
    plans = [plan_of(design, wiring_of(design)) for design in designs]
    for device in (device for plan in plans for device in plan.devices):
        for value in filter(None, (device.name, device.management, device.loopback)):
            assert owner.setdefault(value, device.device) == device.device
    subnets = [link.subnet for plan in plans for link in plan.links if link.subnet]
    assert len(set(subnets)) == len(subnets) > 0
    told = beside(designs[-1])
    assert told is not None and str(told.said[0]).startswith("7 servers and 5 switches before; ")


def test_one_list_of_cables_is_of_all(tmp_path: Path) -> None:
    designs = in_turn(tmp_path)
    links = [planned_links(wiring_of(design)) for design in designs]
    wanted = WantedCables(designs[-1], wiring_of(designs[-1]), 0)
    before, after = seen_of(wanted, [*links[0], *links[1]]), seen_of(wanted, [*links[0], *links[1], *links[2]])
    assert before.ok and before.cables_to_do == {"new": len(links[2])} and not before.notes
    assert after.ok and after.right == sum(map(len, links)) and not after.to_do
    lost = seen_of(wanted, [*links[0][1:], *links[1], *links[2]])
    assert [finding.kind for finding in lost.findings] == ["missing"]
