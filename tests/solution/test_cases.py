"""Every shipped case solves, its answer is proven, and it is the answer that its comments promise."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml

from fabopt.io.design import read_design
from fabopt.io.library import data_folder, names
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS, wiring_at
from tests.samples.bases import assert_joins, assert_stays
from tests.samples.shipped import shipped
from tests.samples.small import assert_proven, bought, counts

CASES = names("cases")
SCHEMA_LINE = "# yaml-language-server: $schema=../docs/schemas/case.json"

# Switches by tier of the first fabric. Those of dgx-superpod and two-tier-example are published; others are what the
# catalog's prices of this day give, and were looked at by eye.
SWITCHES: dict[str, dict[str, int]] = {
    "b300-131072-gpus": {"leaf": 2048, "spine": 1024},
    "b300-four-planes-1024": {"leaf": 32, "spine": 16},
    "b300-xdr-576": {"leaf": 8, "spine": 4},
    "boxes-or-racks-1152": {"leaf": 62, "spine": 9},
    "cluster-256-infiniband": {"leaf": 8, "spine": 4},
    "cluster-256-roce": {"leaf": 10, "spine": 2},
    "deepseek-v3-serving-256": {"leaf": 8, "spine": 4},
    "dgx-h200-two-fabrics": {"leaf": 16, "spine": 8},
    "dgx-superpod-127": {"leaf": 32, "spine": 16},
    "dgx-superpod-128": {"leaf": 32, "spine": 16},
    "dgx-superpod-32": {"leaf": 8, "spine": 4},
    "dgx-superpod-512": {"leaf": 128, "spine": 128, "core": 64},
    "finetuning-1024-gpus": {"leaf": 18, "spine": 2},
    "floor-b300-xdr-64": {"leaf": 1},
    "floor-four-fabrics-32": {"leaf": 1},
    "floor-gb300-144": {"leaf": 8, "spine": 3},
    "floor-growth-128": {"leaf": 4, "spine": 2},
    "floor-mi355x-64": {"leaf": 1},
    "floor-rail-only-64": {"leaf": 8},
    "floor-three-tier-256": {"leaf": 16, "spine": 16, "core": 8},
    "floor-trunks-256": {"leaf": 8, "spine": 4},
    "floor-two-tier-128": {"leaf": 4, "spine": 2},
    "four-fabrics-1024-gpus": {"leaf": 32, "spine": 16},
    "gb200-nvl72-576": {"leaf": 30, "spine": 9},
    "h100-growth-128": {"leaf": 32, "spine": 16},
    "hall-1024-gpus": {"leaf": 8, "spine": 8},
    "l40s-inference-256": {"leaf": 2, "spine": 2},
    "live-four-fabrics-64": {"leaf": 16, "spine": 8},
    "live-h100-64": {"leaf": 16, "spine": 8},
    "live-pod-1536": {"leaf": 48, "spine": 32},
    "live-roce-64": {"leaf": 8, "spine": 4},
    "live-two-makers-128": {"leaf": 16, "spine": 8},
    "live-xdr-1536": {"leaf": 12, "spine": 32},
    "llama3-405b-8192-gpus": {"leaf": 192, "spine": 78, "core": 52},
    "llama3-405b-in-pods": {"leaf": 256, "spine": 160, "core": 4},
    "mi300x-inference-2048": {"leaf": 11, "spine": 2},
    "mi355x-two-makers": {"leaf": 64, "spine": 16},
    "nvl72-rack": {"leaf": 4, "spine": 2},
    "pretraining-16384-gpus": {"leaf": 256, "spine": 256, "core": 128},
    "procurement-128-gpus": {"leaf": 4, "spine": 2},
    "rail-only-1024-gpus": {"leaf": 8},
    "roce-24576-gpus": {"leaf": 876, "spine": 220, "core": 16},
    "roce-lab-200g": {"leaf": 4, "spine": 2},
    "single-switch-64-gpus": {"leaf": 1},
    "torus-216-gpus": {},
    "trainer-rollout-1024": {"leaf": 24, "spine": 7},
    "twin-plane-1024-gpus": {"leaf": 64, "spine": 32},
    "two-halls-320": {"leaf": 16, "spine": 12, "core": 6},
    "two-tier-example": {"leaf": 4, "spine": 4},
}


def file_of(name: str) -> Path:
    return data_folder("cases") / f"{name}.yaml"


def test_there_is_enough_to_choose_from() -> None:
    assert len(CASES) >= 10
    assert set(SWITCHES) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_file_says_what_it_is(name: str) -> None:
    lines = file_of(name).read_text().splitlines()
    assert lines[0] == SCHEMA_LINE
    assert any(line.startswith("# Source") for line in lines)
    assert f"name: {name}" in lines
    assert any(line.startswith("description: ") for line in lines)


@pytest.mark.long(
    but=(
        "dgx-superpod-32",
        "floor-three-tier-256",
        "floor-two-tier-128",
        "four-fabrics-1024-gpus",
        "h100-growth-128",
        "hall-1024-gpus",
        "nvl72-rack",
        "rail-only-1024-gpus",
        "single-switch-64-gpus",
        "torus-216-gpus",
        "twin-plane-1024-gpus",
        "two-tier-example",
    )
)
@pytest.mark.parametrize("name", CASES)
def test_answer(name: str) -> None:
    design = shipped(name)
    assert_proven(design)
    found = counts(design)
    assert {tier: found[tier] for tier in ("leaf", "spine", "core") if tier in found} == SWITCHES[name]


def test_superpod_with_subnet_managers() -> None:
    """NVIDIA RA-11333-001 V11, tables 4 and 8: 48 switches, 2,040 cables and 4, 1,536 and 508 twin-port modules."""
    design = shipped("dgx-superpod-127")
    found = counts(design)
    assert (found["server_leaf"], found["leaf_spine"], found["attachment_leaf"]) == (1016, 1024, 4)
    assert design.totals is not None
    assert (design.totals.switches, design.totals.cables) == (48, 2040 + 4)
    parts = bought(design)
    assert (parts["nvidia-mma4z00-ns"], parts["nvidia-mma4z00-ns-flt"], parts["nvidia-mma4z00-ns400"]) == (1536, 508, 4)


def test_worked_example() -> None:
    """By hand: 32 down and 32 up a leaf, eight links from each leaf to each spine."""
    fabric = shipped("two-tier-example").fabrics[0]
    assert (fabric.tiers[0].down_ports, fabric.tiers[0].up_ports) == (32, 32)
    assert fabric.structure.links_per_pair == 8


def test_protocol_is_the_only_difference_of_the_256() -> None:
    infiniband, ethernet = (shipped(f"cluster-256-{word}") for word in ("infiniband", "roce"))
    assert (infiniband.fabrics[0].protocol, ethernet.fabrics[0].protocol) == ("infiniband", "ethernet")
    for figure in ("injection", "bisection"):
        one, other = (getattr(design.fabrics[0].metrics, f"{figure}_gbps_per_gpu") for design in (infiniband, ethernet))
        assert one == other


def test_two_fabrics_share_one_bill() -> None:
    design = shipped("dgx-h200-two-fabrics")
    assert [fabric.protocol for fabric in design.fabrics] == ["infiniband", "ethernet"]
    assert {row.fabric for row in design.bom} == {"compute", "storage"}
    assert design.fabrics[1].oversubscription["leaf"] <= 1.34


def test_growth_keeps_every_cable() -> None:
    """By hand: 8 leaves with 32 + 32 links a unit; at 1:1 a leaf needs all of its 2 links to each of 16 spines."""
    growth = shipped("h100-growth-128").fabrics[0].growth
    assert [(one.leaves, one.spines, one.cables, one.moved_cables) for one in growth] == [
        (8, 16, 512, 0), (16, 16, 1024, 0), (24, 16, 1536, 0), (32, 16, 2048, 0)
    ]  # fmt: skip
    assert [one.free_spine_ports for one in growth] == [16 * 64 - 256 * units for units in (1, 2, 3, 4)]


# -- beside what is in service ----------------------------------------------------------------------------------------

POD = "live-xdr-1536"
LIVE = [name for name in CASES if name.startswith("live-") and name != POD]


def base_of(name: str) -> Design:
    return read_design(data_folder("cases") / f"{name}.base.json")


@pytest.mark.parametrize("name", LIVE)
def test_what_a_case_goes_on_from_is_beside_it_and_proven(name: str) -> None:
    said = yaml.safe_load(file_of(name).read_text())["base"]["file"]
    assert said.partition("@")[0] == f"{name}.base.json"
    assert [check for check in verify(base_of(name)) if not check.ok] == []


def test_full_spines_are_relieved_by_moving_half_of_the_uplinks() -> None:
    """By hand: eight leaves with eight links to each of four spines keep four to each, so 8 x 4 x 4 move; new are
    eight leaves, four spines, 256 links of servers and the other 256 links up.
    """
    design, base = shipped("live-h100-64"), base_of("live-h100-64")
    assert counts(base) == {"leaf": 8, "spine": 4, "server_leaf": 256, "leaf_spine": 256}
    moves = design.fabrics[0].moves
    assert moves is not None and (moves.cables, moves.devices) == ({"leaf-spine": 128}, {})
    parts = {row.id: row.in_use - row.from_stock for row in design.bom}
    assert (parts["nvidia-qm9700"], parts["moved-cable"]) == (12, 128)
    assert set(wiring_of(base).cables.name) <= set(wiring_of(design).cables.name)


NEW_OF_FOUR = {"leaf": 14, "server": 32, "server-leaf": 416, "leaf-spine": 342, "attachment-leaf": 30}


@pytest.mark.long("live-four-fabrics-64-new0", "live-two-makers-128-new3")
@pytest.mark.parametrize(
    ("name", "new"),
    [
        ("live-four-fabrics-64", NEW_OF_FOUR),
        ("live-pod-1536", {"leaf": 16, "leaf-spine": 16 * 32, "server": 64, "server-leaf": 8 * 64}),
        ("live-roce-64", {"spine": 1, "leaf-spine": 8 * 8, "server": 16, "server-leaf": 8 * 16}),
        ("live-two-makers-128", {"leaf": 8, "leaf-spine": 8 * 32, "server": 64, "server-leaf": 8 * 64}),
    ],
)
def test_what_comes_beside_what_is_in_service_by_hand(name: str, new: dict[str, int]) -> None:
    """Of four fabrics 8 + 2 + 2 + 2 leaves with 32, 27, 12 and 4 uplinks, 8 + 2 + 2 + 1 ports of 32 servers, and ports
    of management for two strips in each of eight racks and for 14 switches; 16 leaves with a link to each of 32 spines
    that have as many free; a spine with eight links to each of eight
    leaves of 64 cages, 24 of them uplinks and 24 for two servers each; eight leaves of another maker with four links to
    each of eight spines, which have 32 of 64 ports free.
    """
    design, base = shipped(name), base_of(name)
    assert_stays(design, base, 0)
    before, after = (
        Counter([*wiring.devices.role, *(KINDS[kind] for kind in wiring.links.kind.tolist())])
        for wiring in (wiring_at(wiring_of(base), 0), wiring_of(design))
    )
    assert after - before == new


@pytest.mark.long
def test_a_pod_of_other_servers_takes_the_free_ports_of_what_is_in_service() -> None:
    """By hand: at 1:1 a leaf has two uplinks of 400 for each link of 800 down, three ports in one cage and a half. So
    48 servers on a leaf of each rail fill its 72 cages, with three links to each of 32 spines; of the last 16, two
    ports each are on one of four leaves, with two links to each. 8 x 3 + 4 x 2 are the 32 ports that a spine has free.
    """
    design, base = shipped(POD), base_of("live-pod-1536")
    assert_joins(design, base, stage=0)
    found = Counter(KINDS[kind] for kind in wiring_of(design).links.kind.tolist())
    assert found == {"server-leaf": 64 * 8, "leaf-spine": 32 * (8 * 3 + 4 * 2)}
    speeds = {(row.from_, row.to): row.gbps for row in design.fabrics[0].links}
    assert speeds == {("server", "leaf"): 800, ("leaf", "spine"): 400}
    spines = next(row for row in design.bom if row.id == "nvidia-qm9700")
    assert (spines.in_use, spines.from_stock, spines.quantity, spines.total_usd) == (32, 32, 0, 0)
    assert design.fabrics[0].oversubscription == {"leaf": 1}
    managers = design.fabrics[0].subnet_manager
    assert managers is not None and managers.kept
    assert (managers.nodes, managers.managers, managers.in_service) == (128 * 8 + 64 * 8, 64, 64)


@pytest.mark.long
def test_a_model_needs_less_than_the_rule_of_thumb() -> None:
    """The Llama 3 Herd of Models, table 4: 8 tensor x 16 pipeline x 64 data; data binds, at less than 400 Gb/s."""
    use = shipped("llama3-405b-8192-gpus").workload
    assert use is not None
    assert (use.plan.data, use.needs.binding) == (64, "data")
    assert 100 < use.needs.min_gbps_per_gpu < 200
    assert use.exposed_communication <= 0.05


def test_planes_and_speeds() -> None:
    assert shipped("twin-plane-1024-gpus").fabrics[0].planes == 2
    assert shipped("b300-xdr-576").fabrics[0].nic.gbps == 800
    assert shipped("gb200-nvl72-576").fabrics[0].structure.servers_per_group == 18


@pytest.mark.long
def test_far_more_than_one_to_seven_above_pods_follows_from_the_model() -> None:
    """Ratios above pods are open: servers anywhere in a pod bear what was built and more, scattered ones do not."""
    design = shipped("llama3-405b-in-pods")
    use = design.workload
    assert use is not None and "max_oversubscription.spine" in use.needs.sets
    built = design.fabrics[0].oversubscription["spine"]
    assert 7 < built <= use.allowed_oversubscription["spine"]
    packed, scattered = (one.exposed_communication for one in use.ends)
    assert packed <= use.exposed_communication <= 0.05 < scattered
