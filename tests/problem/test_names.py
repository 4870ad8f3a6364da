"""Names that could be another's are refused; those that are not give every device a name of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, strategies as st

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.problem.names import LONGEST_DEVICE, alike, confused_names
from fabopt.problem.separation import reasons_against
from fabopt.schema.case import Case
from fabopt.wiring.build import wiring_of
from fabopt.wiring.fabric_plan import numbered
from tests.samples import export_samples, small

Json = dict[str, Any]
FABRICS = st.sampled_from(
    ["a", "b", "a-p1", "a.p1", "a-r2", "a-p1-r2", "a-leaf-1", "server", "a-b", "a-p1-leaf-001", "a-1"]
)
WORDS = st.sampled_from(
    ["b", "B", "leaf", "leaf-001", "p1-leaf-001", "r2.spine_003", "0001", "1", "x", "x-1", "x 01", "X", "p1"]
)


def attachment(name: str, boxes: int = 1) -> Json:
    return {"name": name, "ports": 60, "boxes": boxes, "buys": "none", **({"rack_units": 1} if boxes > 1 else {})}


def case(fabrics: list[Json], **more: Any) -> Case:
    return Case.model_validate_json(
        json.dumps({"name": "pod", "server": "gpu-4", "servers": 2, "fabrics": fabrics, **more})
    )


def confused(fabrics: list[Json], **more: Any) -> list[str]:
    return [f"{one.path}: {one.problem}" for one in confused_names(case(fabrics, **more), "case")]


def device_names(wanted: Case) -> Iterator[tuple[object, str]]:
    """Every name that a device of a case can have, whatever is designed, and what it is."""
    yield from (((), numbered("server", "server", index)) for index in range(3))
    for fabric in wanted.fabrics:
        planes, rails = ["", "-p1", "-p2"], ["", "-r1", "-r2"]
        for plane, rail, tier, index in product(planes, rails, ("leaf", "spine", "core"), range(4)):
            name = numbered(f"{fabric.name}{plane}{rail}-{tier}", tier, index)
            yield (fabric.name, plane, rail, tier, index), name
        for one in fabric.attachments:
            stem = f"{fabric.name}-{one.name}"
            for index in range(one.devices):
                own = stem if one.devices == 1 else numbered(stem, "attachment", index)
                yield (fabric.name, one.name, index), own


@given(st.lists(st.tuples(FABRICS, st.lists(st.tuples(WORDS, st.sampled_from([1, 2, 3])), max_size=3)), max_size=3))
def test_names_that_pass_give_every_device_its_own(drawn: list[tuple[str, list[tuple[str, int]]]]) -> None:
    fabrics = [
        {
            "name": name,
            "attachments": [attachment(*one) for one in {word: (word, boxes) for word, boxes in words}.values()],
        }
        for name, words in {name: (name, words) for name, words in drawn}.values()
    ]
    wanted = case(fabrics or [{"name": "compute"}])
    if not list(confused_names(wanted, "case")):
        names = [alike(name) for _, name in device_names(wanted)]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", export_samples.CASES)
def test_what_the_rule_says_of_device_names_is_what_wiring_calls_them(name: str) -> None:
    design = export_samples.solved(name)
    wanted = Case.model_validate_json(json.dumps(design.case.content))
    assert not list(confused_names(wanted, "case"))
    names = wiring_of(design).devices.name
    stems = tuple(f"{fabric.name}-" for fabric in wanted.fabrics)
    assert all(name.startswith(("server-", *stems)) and len(name) <= LONGEST_DEVICE for name in names)
    assert len({alike(name) for name in names}) == len(names)


def test_names_of_today_are_allowed() -> None:
    names = ["ufm", "UFM", "storage-nodes", "Storage nodes 2", "x_1.a", "my-leaf-001", "p1", "switches", "1"]
    for name in names:
        assert not confused([{"name": "compute", "attachments": [attachment(name)]}])


def test_attachments_of_one_name_on_two_fabrics_are_two() -> None:
    one = [attachment("nodes")]
    assert not confused([{"name": "a", "attachments": one}, {"name": "b", "role": "storage", "attachments": one}])


def test_attachments_of_a_fabric_on_shared_cards_are_its_hosts() -> None:
    def fabrics(separation: str) -> list[Json]:
        own = {"role": "storage", "separation": separation, "attachments": [attachment("nodes")]}
        return [{"name": "compute", "attachments": [attachment("nodes")]}, {"name": "storage", **own}]

    text = "fabrics[1].attachments[0].name: its devices would be called like those of `nodes` of `compute`"
    assert confused(fabrics("shared")) == confused(fabrics("logical")) == [text]
    assert confused(fabrics("physical")) == confused(fabrics("any")) == []
    wanted = case(fabrics("any"))
    server = inputs_from_objects(small.case(), small.catalog()).catalog.servers[0]
    against = {way: reasons_against(wanted.fabrics[1], wanted, server, way) for way in ("physical", "shared")}
    words = "attachment `nodes` its devices would be called like those of `nodes` of `compute`"
    assert against == {"physical": [], "shared": [words]}


@pytest.mark.parametrize(("boxes", "longest"), [(1, 56), (2, 53), (99, 53), (100, 52)])
def test_the_longest_name_fits_the_longest_device(boxes: int, longest: int) -> None:
    for length, faults in ((longest, 0), (longest + 1, 1)):
        one = attachment("n" * length, boxes) | {"ports": boxes}
        found = list(confused_names(case([{"name": "compute", "attachments": [one]}]), "case"))
        assert len(found) == faults
        assert all(one.allowed == f"up to {longest} characters" for one in found)


def test_many_attachments_are_judged_at_once() -> None:
    many = [attachment(f"x{number}-1", 2) for number in range(3000)]
    assert not confused([{"name": "compute", "attachments": many}])


@pytest.mark.parametrize("name", ["switches", "PDUs", "Appliances"])
def test_what_an_out_of_band_fabric_counts_is_not_named_again(name: str) -> None:
    parts = small.catalog()
    fabrics = [{"name": "compute"}, {"name": "management", "role": "oob", "attachments": [attachment(name)]}]
    with pytest.raises(InputError, match="is the name of what an out-of-band fabric counts by itself"):
        inputs_from_objects(small.case() | {"fabrics": fabrics}, parts)
