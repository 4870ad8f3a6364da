"""The proof of servers joined without switches: every number and every link that is changed breaks a rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from fabopt.io.design import read_design
from fabopt.schema.design import Design
from fabopt.verify import verify, verify_wiring
from fabopt.verify.rules import DIRECT, DIRECT_WIRING, SWITCHLESS, SWITCHLESS_WIRING
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import NOTHING, Wiring
from tests.mutations import rehashed
from tests.samples import small
from tests.topology.test_server_torus import case, catalog
from tests.verify.test_verify_direct import numbers

Json = dict[str, Any]


@cache
def design(servers: int = 12) -> Design:
    return small.solved(case(servers, torus_nodes="servers"), catalog())


@cache
def wiring() -> Wiring:
    return wiring_of(design())


def changed(path: tuple[str | int, ...], change: Callable[[Any], Any]) -> Design:
    content: Any = json.loads(design().model_dump_json(by_alias=True))
    node = content
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = change(node[path[-1]])
    return Design.model_validate_json(json.dumps(content))


def names(file: Design) -> set[str]:
    return {check.name for check in verify(file) if not check.ok}


def broken(made: Wiring) -> set[str]:
    return {check.name for check in verify_wiring(design(), made) if not check.ok}


def test_what_is_designed_is_proven() -> None:
    small.assert_proven(design())
    assert [check for check in verify_wiring(design(), wiring()) if not check.ok] == []


@pytest.mark.long
@pytest.mark.parametrize("more", [1, -1])
def test_every_number_is_proven(more: int) -> None:
    """One more or one less of any number of the fabric breaks some rule."""
    content = json.loads(design().model_dump_json(by_alias=True))["fabrics"]
    for path in numbers(content):
        assert names(changed(("fabrics", *path), lambda value: value + more)), path


def test_a_file_is_read_back(tmp_path: Any) -> None:
    path = tmp_path / "design.json"
    path.write_text(design().model_dump_json(by_alias=True))
    assert read_design(path) == design()


def test_a_card_that_passes_nothing_on_is_found() -> None:
    document = json.loads(design().model_dump_json(by_alias=True))
    del document["parts"]["nic-through"]["forwards"]
    assert names(Design.model_validate_json(json.dumps(rehashed(document)))) == {"cards_pass_on"}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"torus_nodes": "switches"}, "tiers_match_case"),
        ({"reserve_ports": 0.5}, "servers_form_torus"),
        ({"resilience": {"survive": "1 cable", "min_gbps_per_gpu": 1}}, "servers_form_torus"),
        ({"max_switch_hops": 1, "min_bisection_gbps_per_gpu": 101}, "figures_meet_demand"),
        ({"max_oversubscription": {"leaf": 1.25, "spine": 1}}, "flow_carries_demand"),
    ],
)
def test_another_case_is_found(change: Json, rule: str) -> None:
    """The same design for a case that asks for something else."""
    content = dict(design().case.content)
    record = design().case.model_copy(update={"content": {**content, "fabrics": [{**content["fabrics"][0], **change}]}})
    assert rule in names(design().model_copy(update={"case": record}))


def test_claims_beyond_the_graph_are_found() -> None:
    metrics = ("fabrics", 0, "metrics")
    more = names(changed((*metrics, "bisection_gbps_per_gpu"), lambda value: 1.2 * value))
    assert {"figures_are_recomputed", "cuts_carry_claim", "halves_carry_claim"} <= more
    fewer = names(changed((*metrics, "max_nic_hops"), lambda value: value - 1))
    assert fewer == {"servers_form_torus", "paths_are_as_long", "figures_hold_on_graph"}


def with_links(**columns: Any) -> Wiring:
    return replace(wiring(), links=replace(wiring().links, **columns))


def test_a_link_to_another_server_is_found() -> None:
    """The far ends of two links of one dimension swapped: all ports are used once still, but others are joined."""
    links, found = wiring().links, 0
    for other in range(1, len(links)):
        ends = {int(links.a[row]) for row in (0, other)} | {int(links.b[row]) for row in (0, other)}
        if links.kind[other] != links.kind[0] or len(ends) < 4:
            continue
        columns = {name: getattr(links, name).copy() for name in ("b", "b_cage", "b_lane", "b_nic", "b_nic_port")}
        for column in columns.values():
            column[[0, other]] = column[[other, 0]]
        assert "switches_are_joined" in broken(with_links(**columns)), other
        found += 1
    assert found


def test_a_missing_link_is_found() -> None:
    made = wiring()
    kept = np.arange(1, len(made.links))
    links = type(made.links)(*(getattr(made.links, name)[kept] for name in made.links.__dataclass_fields__))
    missing = broken(replace(made, links=links))
    assert {"switches_are_joined", "links_join_tiers", "server_ports_are_joined"} <= missing


@pytest.mark.parametrize(
    ("column", "value", "rule"),
    [
        ("b_nic_port", 1, "server_ports_are_joined"),
        ("b_nic", 2, "server_ports_are_joined"),
        ("a_nic", NOTHING, "server_ports_are_joined"),
        ("b_cage", 3, "cages_keep_one_kind"),
        ("b_cage", 7, "cages_keep_one_use"),
        ("b_lanes", 2, "cages_keep_one_use"),
        ("gbps", 200.0, "ends_run_at_one_speed"),
        ("cable", 1, "wires_join_cages"),
    ],
)
def test_another_end_is_found(column: str, value: Any, rule: str) -> None:
    """One entry of the first link: its port, card, cage, split, speed or wire."""
    entries = getattr(wiring().links, column).copy()
    entries[0] = value
    assert rule in broken(with_links(**{column: entries}))


def test_every_rule_in_place_of_another_is_proven_once() -> None:
    assert set(SWITCHLESS) & set(DIRECT) and set(SWITCHLESS_WIRING) & set(DIRECT_WIRING)
    proven = [check.name for check in verify(design())]
    for rule in (one for rules in (*SWITCHLESS.values(), *SWITCHLESS_WIRING.values()) for one in rules):
        assert proven.count(rule.__name__) == 1
