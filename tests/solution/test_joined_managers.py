"""Subnet managers of a pod and of what it joins, together: those in service count, and others are bought if need be."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.joined import joined_wiring
from fabopt.wiring.model import KINDS
from fabopt.wiring.together import together
from tests.samples.bases import assert_joins, assert_joins_for, assert_stays, designed, gone_on, whole_of
from tests.samples.random_cases import Dice
from tests.solution.test_joins import in_service, joined, least, parts, pod

Json = dict[str, Any]
RULES: Json = {"rules": {"subnet-manager": True}}


def of_infiniband(given: Json, **switches: Json) -> Json:
    """A catalog of InfiniBand; ``switches``: what is said of managers, by id with _ for -. Twins cost $90 more."""
    parts_of = ("nics", "cables", "transceivers")
    given = {key: [{**one, "protocols": ["infiniband"]} if key in parts_of else one for one in rows]
             for key, rows in given.items()}  # fmt: skip
    told = {name.replace("_", "-"): said for name, said in switches.items()}
    products = [{**one, "protocol": "infiniband", **told.get(one["id"], {"managed": False})}
                for one in given["switches"]]  # fmt: skip
    twins = [
        {**{key: value for key, value in one.items() if key != "managed_twin"}, "id": one["managed_twin"],
         "managed": True, "price_usd": one["price_usd"] + 90}
        for one in products if "managed_twin" in one
    ]  # fmt: skip
    return {**given, "switches": [*products, *twins]}


def managed(content: Json) -> Json:
    fabrics = [{**one, "protocol": "infiniband"} for one in content["fabrics"]]
    return {**content, "fabrics": fabrics, "rules": {**content["rules"], "subnet-manager": True}}


def most_of(live: Design) -> list[int]:
    """The most ports that each managing leaf of a design manages, counted in its wiring."""
    devices, embedded = whole_of(live).devices, Embedded(live)
    products = (product for role, product in zip(devices.role, devices.product, strict=True) if role == "leaf")
    leaves = [embedded.switch_there(product).model_dump(exclude_none=True) for product in products]
    return [one.get("max_managed_nodes", 10**6) for one in leaves if one.get("managed")]


def nodes_of(design: Design) -> int:
    """Ports of servers, counted in the wiring."""
    return int((whole_of(design).links.kind == KINDS.index("server-leaf")).sum())


def sample(seed: int) -> tuple[Json, Json, Json]:
    """Leaves and spines in service that manage so many ports, or none; of the pod's one has a managed twin."""
    dice = Dice(f"managers-{seed}")
    leaves = {"small": dice.number(4, 6), "large": dice.number(7, 10)}
    twin = {"managed": False, "managed_twin": "twin"}
    few = {"managed": True, "max_managed_nodes": dice.number(3, 12)}
    said: list[Json] = [few, {"managed": True}, {"managed": False}]
    live_leaf = dice.one([*said, {"managed": False, "managed_twin": "live-twin"}])
    spine = dice.one(said) if live_leaf["managed"] or "managed_twin" in live_leaf else {"managed": True}
    given = of_infiniband(
        parts(leaves, dice.number(8, 12), dice.number(500, 1500)),
        live_leaf=live_leaf, live_spine=spine, **{dice.one(["small", "large"]): twin},
    )  # fmt: skip
    before = in_service(dice.number(3, 6), max_oversubscription=dice.one([1.5, 2, 3]))
    content = pod(dice.number(2, 7), ["small", "large"], max_oversubscription=dice.one([1, 1.5, 2, 3, 4]))
    return given, managed(before), managed(content)


@pytest.mark.long(but=("0-3",))
@pytest.mark.parametrize(("first", "last"), [(0, 3), (3, 20), (20, 35), (35, 50)])
def test_managers_of_both_cost_least_by_brute_force(first: int, last: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(first, last):
        given, before, content = sample(seed)
        live = designed(given, before)
        if live.status != "optimal":
            continue
        there = (nodes_of(live), most_of(live))
        spine = next(one for one in given["switches"] if one["id"] == "live-spine")
        spine = {key: spine[key] for key in ("managed", "max_managed_nodes", "protocol") if key in spine}
        expected = least(given, {**content, "there": there}, live, spine)
        design = joined(given, content, live, tmp_path)
        assert_joins_for(expected, design, live, seed)
        told[design.status] += 1
        if design.totals is None:
            continue
        use = design.fabrics[0].subnet_manager
        assert use is not None and use.nodes == nodes_of(design) and use.kept
        told["bought" if use.twins else "in service"] += 1
    assert told["optimal"] >= 2, told


def of_one_leaf(most: int, resilience: str = "none") -> tuple[Json, Json, Json]:
    """Four servers in service, three that come; one kind of leaf in service manages ``most`` ports, 7 are needed."""
    small = {"managed": False, "managed_twin": "twin"}
    given = of_infiniband(parts({"small": 6}, 8), live_leaf={"managed": True, "max_managed_nodes": most}, small=small)
    before, content = in_service(4, max_oversubscription=2), pod(3, ["small"], max_oversubscription=2, nics=["fast"])
    return given, managed(before), managed({**content, "resilience": resilience})


@pytest.mark.parametrize(("most", "in_service_", "bought"), [(6, 0, 1), (7, 2, 0)])
def test_what_is_in_service_manages_both_or_a_manager_is_bought(
    most: int, in_service_: int, bought: int, tmp_path: Path
) -> None:
    given, before, content = of_one_leaf(most)
    live = designed(given, before)
    design = joined(given, content, live, tmp_path)
    use = design.fabrics[0].subnet_manager
    assert use is not None and use.kept
    assert (use.nodes, use.in_service, sum(twin.count for twin in use.twins)) == (7, in_service_, bought)
    assert_joins(design, live)
    wanted = "1 switch for 7 ports of both, 0 of them in service" if bought else (
        "2 switches for 7 ports of both, 2 of them in service")  # fmt: skip
    assert use.detail == wanted


def test_hosts_manage_both_or_the_answer_says_that_nothing_does(tmp_path: Path) -> None:
    """No switch manages so many ports: a host is attached; where leaves have no port for one the rule is left out."""
    _, before, content = of_one_leaf(6)
    content["rules"].pop("subnet-manager")
    before["fabrics"][0]["max_oversubscription"], content["fabrics"][0]["max_oversubscription"] = 3, 6
    for cages, servers, said in (
        (5, 6, "1 port of hosts for 11 ports of both, 0 of them in service"),
        (4, 6, "no switch of both manages 10 ports, nor can be exchanged for one on sale that does"),
    ):
        few = {"managed": True, "max_managed_nodes": 6}
        given = of_infiniband(parts({"small": cages}, 4), live_leaf=few, small={"managed": False})
        live = designed(given, before)
        design = joined(given, {**content, "servers": servers}, live, tmp_path)
        use = design.fabrics[0].subnet_manager
        assert use is not None and use.detail == said
        left = [(row.rule, row.fabric) for row in design.rules_left_out]
        assert left == ([] if use.kept else [("subnet-manager", "compute")])
        assert_joins(design, live)


def test_hosts_of_a_pod_manage_a_further_one_and_what_it_grows_to(tmp_path: Path) -> None:
    _, before, content = of_one_leaf(6)
    content["rules"].pop("subnet-manager")
    before["fabrics"][0]["max_oversubscription"], content["fabrics"][0]["max_oversubscription"] = 3, 6
    few = {"managed": True, "max_managed_nodes": 6}
    given = of_infiniband(parts({"small": 5}, 8), live_leaf=few, small={"managed": False})
    live = designed(given, before)
    first = joined(given, {**content, "servers": 6}, live, tmp_path)
    folders = [tmp_path / "further", tmp_path / "more"]
    for folder in folders:
        folder.mkdir()
    further = joined(given, {**content, "servers": 3, "name": "further"}, first, folders[0])
    more = gone_on(given, {**content, "servers": 7}, first, folders[1])
    for design, said in (
        (further, "1 port of hosts for 14 ports of both, 1 of them in service"),
        (more, "1 port of hosts for 12 ports of both, 0 of them in service"),
    ):
        use = design.fabrics[0].subnet_manager
        assert use is not None and use.kept and use.detail == said
    assert_joins(further, first)
    assert_joins(more, live)
    assert_stays(more, first, 0)


def test_managers_in_service_are_counted_again(tmp_path: Path) -> None:
    """Said of another number of ports, or of managers that are not there: the file fails, on the wiring of both too."""
    given, before, content = of_one_leaf(7)
    live = designed(given, before)
    design = joined(given, content, live, tmp_path)
    for key, value, rules in (
        ("nodes", 3, {"subnets_are_managed", "subnets_are_cabled"}),
        ("in_service", 1, {"subnets_are_managed"}),
        ("managers", 3, {"subnets_are_managed", "subnets_are_cabled"}),
    ):
        document = json.loads(design.model_dump_json(by_alias=True))
        document["fabrics"][0]["subnet_manager"][key] = value
        failed = {check.name for check in verify(Design.model_validate_json(json.dumps(document))) if not check.ok}
        assert rules <= failed, (key, failed)


def test_both_are_one_wiring(tmp_path: Path) -> None:
    given, before, content = of_one_leaf(7)
    live = designed(given, before)
    design = joined(given, content, live, tmp_path)
    own, there = wiring_of(design), joined_wiring(design, wiring_of)
    assert there is not None
    whole = together(own, there)
    spines = live.fabrics[0].tiers[1].count
    assert len(whole.devices) == len(own.devices) + len(there.devices) - spines == len(set(whole.devices.name))
    assert len(whole.links) == len(own.links) + len(there.links)
    ports = Counter((whole.devices.name[row], port) for row, port in zip(whole.links.b, whole.b_port, strict=True))
    assert max(ports.values()) == 1 and len(set(whole.cables.name)) == len(whole.cables)
