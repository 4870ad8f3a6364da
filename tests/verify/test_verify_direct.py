"""The proof of direct networks: accepts what is designed, rejects every number and every link that is changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from fabopt.io.design import read_design
from fabopt.schema.design import Design
from fabopt.verify import verified_in_turn, verify, verify_wiring
from fabopt.verify.rules import DIRECT, DIRECT_WIRING, FABRIC_RULES, WIRING_RULES
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS, Wiring
from tests.samples import small

Json = dict[str, Any]
MANAGERS: Json = {"name": "ufm", "kind": "management", "ports": 3, "form_factor": "QSFP56", "split": "1x200"}
FAMILIES = {
    "hyperx": {"servers": 14, "fabric": {"max_oversubscription": 2, "attachments": [MANAGERS]}},
    "torus": {"servers": 9, "fabric": {"max_oversubscription": 3, "attachments": [MANAGERS]}},
    "dragonfly": {"servers": 8, "fabric": {"max_oversubscription": 4, "attachments": [MANAGERS]}},
    "dragonfly+": {"servers": 15, "fabric": {"max_oversubscription": 2}},
}


@cache
def design(family: str) -> Design:
    given = FAMILIES[family]
    fabric = {"topologies": [family], "tiers": "any", "planes": 1, **given["fabric"]}
    return small.solved(small.case(fabric, servers=given["servers"]))


@cache
def wiring(family: str) -> Wiring:
    return wiring_of(design(family))


def numbers(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Paths of all numbers of a file's part."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from numbers(value, (*path, key))
    elif isinstance(node, list):
        for at, value in enumerate(node):
            yield from numbers(value, (*path, at))
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield path


def changed(family: str, path: tuple[str | int, ...], change: Callable[[Any], Any]) -> Design:
    content: Any = json.loads(design(family).model_dump_json(by_alias=True))
    node = content["fabrics"]
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = change(node[path[-1]])
    return Design.model_validate_json(json.dumps(content))


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_designed_is_proven(family: str) -> None:
    made = design(family)
    small.assert_proven(made)
    assert made.fabrics[0].topology == family
    assert [check for check in verify_wiring(made, wiring(family)) if not check.ok] == []


@pytest.mark.long(but=("hyperx-1",))
@pytest.mark.parametrize(
    ("family", "more"),
    [
        pytest.param(family, more, marks=pytest.mark.long if at % 2 != number else [])
        for at, family in enumerate(FAMILIES)
        for number, more in enumerate((1, -1))
    ],
)
def test_every_number_is_proven(family: str, more: int) -> None:
    """One more or one less of any number of the fabric breaks some rule."""
    content = json.loads(design(family).model_dump_json(by_alias=True))["fabrics"]
    for path in numbers(content):
        file = changed(family, path, lambda value: value + more)
        assert any(not check.ok for check in verified_in_turn(file)), path


@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_is_read_back(family: str, tmp_path: Any) -> None:
    path = tmp_path / "design.json"
    path.write_text(design(family).model_dump_json(by_alias=True))
    assert read_design(path) == design(family)


def broken(family: str, made: Wiring) -> set[str]:
    return {check.name for check in verify_wiring(design(family), made) if not check.ok}


def between(made: Wiring) -> Any:
    """Rows of links between switches."""
    return np.flatnonzero(made.links.kind > KINDS.index("attachment-spine"))


@pytest.mark.long("dragonfly+")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_link_to_another_switch_is_found(family: str) -> None:
    """The far ends of two links swapped: both ports are used once still, but others are joined."""
    made = wiring(family)
    rows = between(made)
    found = 0
    for other in rows[1:].tolist():
        first = int(rows[0])
        if made.links.b[other] == made.links.b[first] or made.links.kind[other] != made.links.kind[first]:
            continue
        columns = {name: getattr(made.links, name).copy() for name in ("b", "b_cage", "b_lane")}
        for column in columns.values():
            column[[first, other]] = column[[other, first]]
        near = {made.links.a[first], made.links.a[other]}
        if len(near) < 2 or near & {columns["b"][first], columns["b"][other]}:
            continue
        names = broken(family, replace(made, links=replace(made.links, **columns)))
        assert "switches_are_joined" in names, other
        found += 1
    assert found


@pytest.mark.parametrize("family", FAMILIES)
def test_a_missing_link_is_found(family: str) -> None:
    made = wiring(family)
    kept = np.delete(np.arange(len(made.links)), between(made)[0])
    links = type(made.links)(*(getattr(made.links, name)[kept] for name in made.links.__dataclass_fields__))
    assert {"switches_are_joined", "links_join_tiers"} <= broken(family, replace(made, links=links))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_cage_of_two_kinds_is_found(family: str) -> None:
    """A link between switches in a cage that servers use."""
    made = wiring(family)
    row = int(between(made)[0])
    cage = made.links.b_cage.copy()
    cage[made.links.kind == 0] = made.links.a_cage[row]
    names = broken(family, replace(made, links=replace(made.links, b_cage=cage)))
    assert {"cages_keep_one_use", "cages_keep_one_kind"} <= names


@pytest.mark.parametrize("family", FAMILIES)
def test_switches_out_of_order_are_found(family: str) -> None:
    made = wiring(family)
    group = made.devices.group.copy()
    leaves = np.flatnonzero(np.array(made.devices.role) == "leaf")
    group[leaves] = group[leaves][::-1]
    names = broken(family, replace(made, devices=replace(made.devices, group=group)))
    assert "switches_are_numbered" in names or (group == made.devices.group).all()


def test_claims_beyond_the_graph_are_found() -> None:
    """More bisection than the links between halves, and shorter paths than there are."""
    more = changed("torus", (0, "metrics", "bisection_gbps_per_gpu"), lambda value: 4 * value)
    assert {"figures_are_recomputed", "cuts_carry_claim", "bisection_carries_claim"} <= {
        check.name for check in verify(more) if not check.ok
    }
    shorter = changed("torus", (0, "metrics", "max_switch_hops"), lambda value: value - 1)
    names = {check.name for check in verify(shorter) if not check.ok}
    assert names == {"paths_are_as_long", "figures_hold_on_graph"}


@pytest.mark.parametrize("sides", [(2, 4), (1, 8), (10**12, 3)])
def test_rings_are_neither_too_short_nor_endless(sides: tuple[int, ...]) -> None:
    """The rule is said, and said at once."""
    changed_sides = changed("torus", (0, "structure", "sides"), lambda value: sides)
    (check,) = (check for check in verify(changed_sides) if check.name == "ports_fit_radix")
    assert not check.ok and f"sides {sides}: 3 to 1024; a ring of two joins one pair twice" in check.detail


def test_demand_is_proven_again() -> None:
    """The same design for a case that asks for twice the bandwidth."""
    made = design("hyperx")
    content = dict(made.case.content)
    fabric = {**content["fabrics"][0], "max_oversubscription": {"leaf": 0.5, "spine": 1}}
    case = made.case.model_copy(update={"content": {**content, "fabrics": [fabric]}})
    names = {check.name for check in verify(made.model_copy(update={"case": case})) if not check.ok}
    assert "flow_carries_demand" in names


def test_every_rule_of_a_clos_has_its_counterpart() -> None:
    """What is left out is a rule, and is about leaves and spines; what takes its place is listed nowhere else."""
    assert set(DIRECT) <= set(FABRIC_RULES) and set(DIRECT_WIRING) <= set(WIRING_RULES)
    names = [check.name for check in verify(design("hyperx"))]
    for rule in (one for rules in (*DIRECT.values(), *DIRECT_WIRING.values()) for one in rules):
        assert names.count(rule.__name__) == 1
