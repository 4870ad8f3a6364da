"""``shared_port``: whether what a fabric takes of the NICs of another is part of what these give, or on top.

Servers have four GPUs and four slots; the fastest NIC has one port of 400 Gb/s, so a GPU has 400 at the most.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.answer import leading_notes
from fabopt.problem.problem import problem_of
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.paths import ROOT
from tests.samples import small
from tests.samples.small import assert_proven, inputs, solved, usd

Json = dict[str, Any]
CARDS = ROOT / "tests" / "samples" / "cards"


def case(gbps: float = 400, separation: str = "shared", compute: Json | None = None, **storage: Any) -> Json:
    """Compute at 2:1 and storage of 100 Gb/s per GPU at 1:1, one on the NICs of the other."""
    shared = {"name": "storage", "role": "storage", "separation": separation, "min_gbps_per_gpu": 100,
              "max_oversubscription": 1, **storage}  # fmt: skip
    content = small.case({"min_gbps_per_gpu": gbps, "max_oversubscription": 2, **(compute or {})}, servers=4)
    return {**content, "fabrics": [*content["fabrics"], shared]}


def host(content: Json) -> Any:
    asked = inputs(content)
    return problem_of(asked.case, asked.catalog).case.fabrics[0]


@pytest.mark.parametrize(
    ("said", "gbps", "ratio"),
    [({}, 200, 1.333333), ({"shared_port": "reserved"}, 200, 1.333333), ({"shared_port": "added"}, 300, 1.5)],
)
def test_a_part_of_the_port_or_more_of_it(said: Json, gbps: float, ratio: float) -> None:
    """Of 200 Gb/s 100 are left to GPUs at 2:1: 200 / (100/2 + 100/1); on top: 300 / (200/2 + 100/1)."""
    fabric = host(case(200, **said))
    assert (fabric.min_gbps_per_gpu, fabric.max_oversubscription.leaf) == (gbps, ratio)
    assert fabric.carries[0].shared_port == said.get("shared_port", "reserved")


def test_only_this_decides_which_nics_will_do() -> None:
    reserved = solved(case(400))
    assert_proven(reserved)
    assert reserved.fabrics[0].nic.id == "nic-400" and reserved.fabrics[0].metrics.injection_gbps_per_gpu == 400
    assert solved(case(400, shared_port="added")).status == "infeasible"
    assert solved(case(300, shared_port="added")).status == "optimal"


def test_the_file_and_the_lines_below_the_headline_say_how_much() -> None:
    design = solved(case(400))
    (told,) = [one.model_dump() for one in design.fabrics[0].carries]
    assert told == {"name": "storage", "role": "storage", "shared_port": "reserved", "gbps_per_gpu": 100}
    shown = "compute asks for 400 Gb/s per GPU, of which are 100 for storage (`shared_port: reserved`)"
    assert leading_notes(design)[-1] == f"shared ports: {shown}"
    added = leading_notes(solved(case(300, shared_port="added")))[-1]
    assert "compute asks for 400 Gb/s per GPU, with, on top, 100 for storage (`shared_port: added`)" in added


def broken(design: Design, **changes: Any) -> set[str]:
    fabric = design.fabrics[0]
    carried = tuple(one.model_copy(update=changes) for one in fabric.carries) if changes else ()
    fabric = fabric.model_copy(update={"carries": carried})
    return {check.name for check in verify(design.model_copy(update={"fabrics": (fabric,)})) if not check.ok}


def test_what_a_file_says_of_it_is_held_against_its_case() -> None:
    design = solved(case(400))
    for changes in ({}, {"gbps_per_gpu": 50}, {"shared_port": "added"}, {"name": "other"}):
        assert broken(design, **changes) == {"shared_ports_are_told"}, changes


@pytest.mark.long("None")
@pytest.mark.parametrize("port", (None, "reserved", "added"))
def test_any_separation_is_no_dearer_at_the_same_port(port: str | None) -> None:
    """Where the case leaves the separation to cost, what is shared is on top, unless it says otherwise."""
    said = {} if port is None else {"shared_port": port}
    wide = solved(case(100, "any", min_gbps_per_gpu=50, **said))
    narrow = solved(case(100, "shared", min_gbps_per_gpu=50, shared_port=port or "added"))
    assert usd(wide) <= usd(narrow)
    shared = [one["shared_port"] for one in wide.case.content["fabrics"][0]["carries"] if one["separation"] == "shared"]
    assert set(shared) <= {port or "added"}


def test_a_settled_case_is_settled_again_as_it_is() -> None:
    asked = inputs(case(400))
    once = problem_of(asked.case, asked.catalog).case
    assert problem_of(once, asked.catalog).case == once


def refused(content: Json) -> list[str]:
    with pytest.raises(InputError) as error:
        inputs(content)
    return [str(fault) for fault in error.value.faults]


@pytest.mark.parametrize("gbps", (100, 60))
def test_nothing_may_be_left_of_a_port(gbps: float) -> None:
    (fault,) = refused(case(gbps))
    assert "fabrics[1].shared_port" in fault and f"100 of the {gbps} Gb/s of a GPU of `compute` are reserved" in fault
    assert "`shared_port: added`" in fault and solved(case(gbps, shared_port="added")).status == "optimal"


def test_nics_of_its_own_are_not_shared() -> None:
    (fault,) = refused(case(400, "physical", shared_port="added"))
    assert "fabrics[1].shared_port" in fault and "`separation` is physical" in fault


# -- whole cases ------------------------------------------------------------------------------------------------------


def whole(name: str, **storage: Any) -> Design:
    asked = inputs_from_objects(CARDS / name)
    if storage:
        fabrics = (*asked.case.fabrics[:-1], asked.case.fabrics[-1].model_copy(update=storage))
        asked = inputs_from_objects(json.loads(asked.case.model_copy(update={"fabrics": fabrics}).model_dump_json()))
    design = optimize.solve(asked, alternatives_s=0)
    assert_proven(design)
    return design


@pytest.mark.long
@pytest.mark.slow
def test_storage_on_the_nics_of_compute_needs_no_faster_ones() -> None:
    """It was $1,600,600 on cards of 800G in slots of 504 Gb/s, for 425 Gb/s that nobody asked for."""
    reserved, added = whole("shared-storage.yaml"), whole("shared-storage.yaml", shared_port="added")
    assert reserved.fabrics[0].nic.gbps == 400 and not reserved.rules_left_out
    assert usd(added) > 1.5 * usd(reserved) and added.fabrics[0].nic.id == "nvidia-c8180"
    # storage there is on two switches, and a pair of ports is under no rule of one port
    assert [row.rule for row in added.rules_left_out] == ["slot-speed", "tested-nics"]


@pytest.mark.long
@pytest.mark.slow
def test_512_gpus_have_cards_that_their_servers_are_sold_with() -> None:
    """It was one switch with two 800G cards a server in Gen5 slots, and no subnet manager."""
    design = whole("one-switch-512-gpus.yaml")
    fabric, server = design.fabrics[0], design.parts["generic-hgx-h100"]
    assert fabric.nic.id in {one["id"] for one in server["nics_tested"]} and not design.rules_left_out
    assert fabric.nic.per_server * fabric.nic.gbps / 8 >= 113 and sum(tier.count for tier in fabric.tiers) > 1
