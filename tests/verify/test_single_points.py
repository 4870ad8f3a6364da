"""Single points of failure: derived by hand, against every single failure of every family, and broken files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabopt.network.graph.outage import nothing
from fabopt.schema.design import Design
from fabopt.schema.losses import SinglePoint, WorstRack
from fabopt.solution.single_points import with_single_points
from fabopt.verify import verify
from fabopt.verify.evidence import Evidence
from fabopt.verify.outages import TIERS, Grounds
from fabopt.verify.single_points import PointRows, single_points_of
from fabopt.verify.wiring import CabledDesign
from tests.floor import test_appliances
from tests.samples import small
from tests.samples.designs_of_families import MAKERS, designed

RULE = "single_points_are_listed"


def row(fabric: str, device: Any, count: int, worst: str, loses: str, servers: int, **others: Any) -> SinglePoint:
    values = {"fewest_servers": servers, "degraded": False} | others
    return SinglePoint(fabric=fabric, device=device, count=count, worst=worst, loses=loses, servers=servers, **values)


def faults(design: Design) -> set[str]:
    return {check.name for check in verify(design) if not check.ok}


@pytest.mark.parametrize("kind", MAKERS)
def test_every_single_switch_is_looked_at(kind: str) -> None:
    """Servers cut off are those that ``check --failures`` finds, which takes one switch after the other away."""
    design = designed(kind)
    assert design.single_points_of_failure is not None
    for fabric in design.fabrics:
        plant = Grounds(design).fabrics[fabric.name] if fabric.tiers else None
        for number, tier in enumerate(TIERS if plant is not None else ()):
            lost = [nothing(plant) for _ in np.flatnonzero(plant.tier == number)]
            for losses, switch in zip(lost, np.flatnonzero(plant.tier == number), strict=True):
                losses.switches[switch] = True
            cut = [count for count in (plant.after(losses).cut_off for losses in lost) if count]
            listed = [
                (one.count, one.servers, one.fewest_servers)
                for one in design.single_points_of_failure
                if (one.fabric, one.device, one.loses) == (fabric.name, tier, "every path")
            ]
            assert listed == ([(len(cut), max(cut), min(cut))] if cut else [])


def test_one_switch() -> None:
    """Three servers on the only leaf."""
    design = small.solved(small.case({"tiers": 1, "nics": ["nic-400"]}, servers=3))
    assert design.single_points_of_failure == (row("compute", "leaf", 1, "compute-leaf-001", "every path", 3),)
    assert design.worst_rack is None


def test_planes_have_none() -> None:
    """Every NIC is in every plane, and on another leaf in each."""
    assert designed("planes").single_points_of_failure == ()


def test_rails_degrade() -> None:
    """Two NICs a server, each on a network of its own: a leaf takes one of them from the servers of its group."""
    points = designed("rail-only").single_points_of_failure
    assert points is not None
    assert [(one.device, one.loses, one.degraded) for one in points] == [("leaf", "1 of 2 NICs", True)]


def test_leaves_that_take_other_numbers_of_nics_are_told_apart() -> None:
    """A leaf of the last group has four ports of each of its 24 servers, the others have one of each of 40."""
    listed = PointRows("compute", "leaf", [f"compute-leaf-00{number}" for number in range(1, 5)])
    rows = listed.degraded(np.array([40, 40, 24, 0]), np.array([1, 1, 4, 0]), 8)
    assert list(rows) == [
        row("compute", "leaf", 1, "compute-leaf-003", "4 of 8 NICs", 24, degraded=True, lost=4, of=8),
        row("compute", "leaf", 2, "compute-leaf-001", "1 of 8 NICs", 40, degraded=True, lost=1, of=8),
    ]


def test_fabric_behind_one_leaf_and_logical_ones() -> None:
    physical, logical = (designed(kind).single_points_of_failure or () for kind in ("several fabrics", "logical"))
    assert row("storage", "leaf", 1, "storage-leaf-001", "every path", 6) in physical
    assert [one.loses for one in logical if one.fabric == "storage"] == ["every path"]


def test_attachment_behind_one_leaf() -> None:
    points = designed("growth with attachments").single_points_of_failure or ()
    assert row("compute", "leaf", 1, "compute-leaf-001", "extra-0", 0, attachment="extra-0", lost=1, of=1) in points


def test_rack_with_the_network() -> None:
    """Racks A01 and A02 have two servers each; both leaves are in A01, with the spine in A02."""
    design = designed("floor")
    racks = {rack for place in ("leaf", "spine") for rack, _ in getattr(design.fabrics[0].places, place)}
    assert racks == {"A01", "A02"} and design.racks.server_racks[:2] == ("A01", "A02")
    points = design.single_points_of_failure or ()
    assert row("compute", "rack", 1, "A01", "every path", 2) in points
    assert design.worst_rack == WorstRack(rack="A01", servers=2, servers_cut_off=2, servers_degraded=0)


def test_servers_of_a_lost_rack_are_told_apart() -> None:
    """No rack cuts off more servers than there are elsewhere."""
    parts, case = test_appliances.parts(), test_appliances.case(test_appliances.STORES, floor={"rows": 1})
    design = small.solved({key: value for key, value in case.items() if key != "catalog"}, parts)
    racks, servers = design.racks, design.stages[-1].servers
    for point in design.single_points_of_failure or ():
        if point.device == "rack":
            within = racks.servers_per_rack if point.worst in racks.server_racks else 0
            assert point.servers <= servers - min(within, servers)


@pytest.mark.parametrize(
    "update",
    [
        {"single_points_of_failure": None},
        {"single_points_of_failure": ()},
        {"worst_rack": None},
        {"worst_rack": WorstRack(rack="A02", servers=2, servers_cut_off=2, servers_degraded=0)},
    ],
)
def test_other_claims_fail(update: dict[str, Any]) -> None:
    assert faults(designed("floor").model_copy(update=update)) == {RULE}


@pytest.mark.parametrize("key", ["count", "servers", "fewest_servers"])
def test_other_numbers_fail(key: str) -> None:
    design = designed("floor")
    first, *others = design.single_points_of_failure or ()
    wrong = first.model_copy(update={key: getattr(first, key) + 1})
    assert faults(design.model_copy(update={"single_points_of_failure": (wrong, *others)})) == {RULE}


def test_they_are_of_the_wiring() -> None:
    """The same as on a wiring that is made anew."""
    design = designed("several fabrics")
    bare = design.model_copy(update={"single_points_of_failure": None})
    assert with_single_points(bare).design == design
    assert single_points_of(CabledDesign(Evidence(bare))).points == design.single_points_of_failure


def test_counts_say_what_the_words_say() -> None:
    """Of NICs and devices of attachments, in every family; a file of before has no counts, and none is asked of it."""
    for kind in ("rail-only", "growth with attachments", "floor", "several fabrics"):
        for point in designed(kind).single_points_of_failure or ():
            counted = f"{point.lost} of {point.of}"
            whole = point.attachment is not None and point.lost == point.of
            assert whole or point.loses.startswith(counted) == (point.lost is not None)
            assert point.attachment is None or point.attachment in point.loses
    design = designed("rail-only")
    points = design.single_points_of_failure or ()
    bare = tuple(point.model_copy(update={"lost": None, "of": None}) for point in points)
    without = design.model_copy(update={"single_points_of_failure": bare})
    assert RULE in faults(without)
    assert RULE not in faults(without.model_copy(update={"rules": "0.2.0", "fabopt": "0.2.0"}))
