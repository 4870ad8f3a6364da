"""Pods that join what is in service one after the other: free ports of spines go down by what each took."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.inspect.to_do import WantedCables
from fabopt.io.case import inputs_from_objects
from fabopt.operate.build import plan_of
from fabopt.output.bought import beside
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.samples.bases import (
    assert_joins,
    assert_joins_for,
    assert_stays,
    designed,
    gone_on,
    in_use,
    saved,
    seen_of,
    whole_of,
)
from tests.samples.discoveries import planned_links
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cage, switch
from tests.solution.test_in_service import least_after
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


@pytest.mark.long(but=("1-2",))
@pytest.mark.parametrize(("first", "last"), [(1, 2), (0, 14), (14, 26), (26, 38)])
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
            assert_joins_for(expected, design, there, seed, number)
            if design.totals is None:
                break
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


# -- a pod that grows -------------------------------------------------------------------------------------------------


def grown(content: Json, servers: int) -> Json:
    return {**content, "servers": servers}


def least_more(given: Json, content: Json, first: Design, before: Design) -> int | None:
    """The least cents for more servers of a pod by brute force, in the ports that were free before it."""
    spine = switch("live-spine", cage(free_of(given, before), "1x100"), usd=0)
    switches = [spine if one["id"] == "live-spine" else one for one in given["switches"]]
    stages = {"stages": [{"name": "all", "month": 0, "servers": content["servers"]}]}
    fabric = content["fabrics"][0] | {"tiers": 2}
    fabric["switches"] = {**fabric["switches"], "spine": ["live-spine"]}
    wanted = {key: value for key, value in content.items() if key != "servers"} | stages | {"fabrics": [fabric]}
    return least_after({**given, "switches": switches}, wanted, first, first.stages[-1].servers, of_spines=True)


@pytest.mark.long(but=("3-4",))
@pytest.mark.parametrize(("first", "last"), [(3, 4), (0, 14), (14, 28), (28, 42)])
def test_no_pod_grows_for_less_by_brute_force(first: int, last: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(first, last):
        dice = Dice(f"grows-{seed}")
        leaves = {"small": dice.number(4, 6), "large": dice.number(7, 10)}
        given = parts(leaves, dice.number(8, 14), dice.number(500, 1500))
        live = designed(given, in_service(dice.number(3, 5), max_oversubscription=dice.one([2, 3])))
        ratio, servers = dice.one([2, 3, 4, 6]), dice.number(2, 4)
        content = pod(servers, ["small", "large"], max_oversubscription=ratio)
        if live.status != "optimal":
            continue
        before, after = tmp_path / f"{seed}", tmp_path / f"{seed}-after"
        before.mkdir()
        after.mkdir()
        pod_now = joined(given, content, live, before)
        if pod_now.status != "optimal":
            continue
        content = grown(content, servers + dice.number(0, 5))
        expected = least_more(given, content, pod_now, live)
        design = gone_on(given, content, pod_now, after)
        assert_joins_for(expected, design, live, seed)
        told[design.status] += 1
        if design.totals is not None:
            assert_stays(design, pod_now, 0)
    assert told["optimal"], told


@pytest.mark.long
def test_a_pod_that_grew_is_beside_what_it_joins(tmp_path: Path) -> None:
    """As for names, ports, addresses, cables and what is told; a further pod joins it, on what is left."""
    live, first, _ = in_turn(tmp_path)
    given, content = parts({"small": 6}, 8), pod(4, ["small"], max_oversubscription=4) | {"name": "pod-0"}
    (tmp_path / "more").mkdir()
    design = gone_on(given, content, first, tmp_path / "more")
    assert_stays(design, first, 0)
    assert_joins(design, live)
    before, after = (plan_of(one, wiring_of(one)) for one in (live, design))
    there = {device.management for device in before.devices if device.role != "spine"}
    assert there.isdisjoint(device.management for device in after.devices)
    links = [planned_links(whole_of(first)), planned_links(whole_of(design))]
    wanted = WantedCables(design, wiring_of(design), 1)
    at_first, at_last = seen_of(wanted, links[0]), seen_of(wanted, links[1])
    assert at_first.ok and at_first.cables_to_do == {"new": len(links[1]) - len(links[0])}
    assert at_last.ok and not at_last.to_do and at_last.right == len(links[1])
    told = beside(design)
    assert told is not None and str(told.said[0]).startswith("7 servers and 5 switches before; ")
    (tmp_path / "further").mkdir()
    further = joined(given, pod(2, ["small"], max_oversubscription=4) | {"name": "last"}, design, tmp_path / "further")
    assert_joins(further, design)


def test_a_pod_with_more_links_than_are_in_service_grows(tmp_path: Path) -> None:
    """The cages that its own links take are not those of what it joins."""
    given = parts({"small": 6}, 12)
    live = designed(given, in_service(4, max_oversubscription=2))
    content = pod(4, ["small"], max_oversubscription=2)
    first = joined(given, content, live, tmp_path)
    cages = [len([port for name, port in set(in_use(wiring_of(one))) if "spine" in name]) for one in (live, first)]
    assert cages[0] < cages[1]
    (tmp_path / "more").mkdir()
    design = gone_on(given, grown(content, 5), first, tmp_path / "more")
    assert design.status == "optimal"
    assert_stays(design, first, 0)
    assert_joins(design, live)


def test_moves_do_not_go_with_a_pod(tmp_path: Path) -> None:
    _, first, _ = in_turn(tmp_path)
    content = pod(4, ["small"], max_oversubscription=4) | {"name": "pod-0"}
    said = {"base": {"file": str(saved(first, tmp_path)), "move": {"cable": 10}}}
    with pytest.raises(InputError, match="does not go with `base"):
        inputs_from_objects({**content, **said}, parts({"small": 6}, 8))
