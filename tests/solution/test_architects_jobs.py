"""Jobs of a network architect, each with what would be signed off: proven, every rule kept, nothing left out."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from fabopt.design.points import design_at
from fabopt.io.case import inputs_from_objects
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from fabopt.study.front.fronts import objectives_of, pareto_front
from fabopt.verify import verify
from tests.samples.shipped import in_run, shipped
from tests.samples.small import assert_proven, counts

Json = dict[str, Any]

FULL: Json = {"min_gbps_per_gpu": 400, "max_oversubscription": 1}
UFM: Json = {
    "name": "ufm", "kind": "management", "ports": 4, "boxes": 2, "rack_units": 1, "power_w": 700,
    "form_factor": "OSFP", "split": "1x400", "buys": "both",
}  # fmt: skip
HALL: Json = {"floor": {"rows": 3, "racks_per_row": 14, "rack_power_w": 60_000}}


def fabric(name: str = "compute", **keys: Any) -> Json:
    return {"name": name, **({} if name == "compute" else {"role": name}), **keys}


def b200(*attachments: Json) -> Json:
    compute = fabric(protocol="infiniband", attachments=list(attachments), **FULL)
    return {"server": "nvidia-dgx-b200", "servers": 96, "fabrics": [compute], "site": HALL}


def h100(gpus: int, **keys: Any) -> Json:
    return {"server": "nvidia-dgx-h100", "gpus": gpus, "fabrics": [fabric(**keys)]}


MI300X: Json = {
    "server": "supermicro-as-8125gs-tnmr2", "servers": 256, "site": {"servers_per_rack": 4},
    "fabrics": [
        fabric(protocol="ethernet", **FULL),
        # One switch with 512 ports of 100G would do for all of it, and be a single point of failure.
        fabric("storage", min_gbps_per_gpu=20, max_oversubscription=2,
               resilience={"survive": "1 leaf", "min_gbps_per_gpu": 10}),
        fabric("in-band", min_gbps_per_server=50), fabric("oob"),
    ],
}  # fmt: skip
GROWTH: Json = {
    "server": "nvidia-dgx-h100", "fabrics": [fabric(**FULL)],
    "stages": [{"name": f"month-{month}", "month": month, "servers": servers}
               for month, servers in ((0, 32), (12, 128), (24, 256))],
}  # fmt: skip
NVL72: Json = {
    "server": "nvidia-gb200-nvl72-tray", "servers": 16 * 18, "fabrics": [fabric(group_by="rack", **FULL)],
    "site": {"floor": {"rows": 2, "racks_per_row": 16, "rack_power_w": 140_000}},
}  # fmt: skip
LAB: Json = {
    "server": "generic-hgx-a100", "servers": 16,
    "fabrics": [fabric(protocol="ethernet", min_gbps_per_gpu=200, max_oversubscription=1, tiers=2)],
}  # fmt: skip
H200: Json = {
    "server": "nvidia-dgx-h200", "servers": 32,
    "site": {"servers_per_rack": 4, "floor": {"rows": 2, "racks_per_row": 8, "rack_power_w": 45_000}},
    "fabrics": [
        fabric(protocol="infiniband", **FULL),
        fabric("storage", protocol="ethernet", min_gbps_per_gpu=25, max_oversubscription=2, tiers=2),
        fabric("in-band", protocol="ethernet", min_gbps_per_server=100, tiers=2), fabric("oob"),
    ],
}  # fmt: skip
NODES: Json = {
    "name": "storage-nodes", "kind": "storage", "ports": 8, "boxes": 4, "form_factor": "QSFP112", "split": "1x200",
    "buys": "both",
}  # fmt: skip
STORAGE: Json = {
    "server": "nvidia-dgx-h100", "servers": 8,
    "fabrics": [fabric(tiers=2, **FULL),
                fabric("storage", protocol="ethernet", min_gbps_per_gpu=25, tiers=2, attachments=[NODES])],
}  # fmt: skip

FIREWALLS: Json = {
    "name": "firewalls", "ports": 4, "boxes": 2, "rack_units": 1, "power_w": 600, "form_factor": "QSFP112",
    "split": "1x200", "racks": ["B07", "B08"],
}  # fmt: skip
DOORS: Json = {
    **H200, "servers": 16,
    "fabrics": [fabric(protocol="infiniband"),
                fabric("in-band", protocol="ethernet", min_gbps_per_server=100, tiers=2, attachments=[FIREWALLS])],
}  # fmt: skip

JOBS: dict[str, Json] = {
    "96 DGX B200": b200(),
    "96 DGX B200 with UFM": b200(UFM),
    "256 MI300X, four fabrics": MI300X,
    "256 to 2,048 GPUs": GROWTH,
    "16 NVL72": NVL72,
    "4,096 GPUs, Clos": h100(4096, **FULL),
    "4,096 GPUs, rail-only": h100(4096, topologies=["rail-only"], **FULL),
    "4,096 GPUs, dragonfly": h100(4096, topologies=["dragonfly"], max_oversubscription=2),
    "lab of 16 nodes": LAB,
    "512 H100 for Llama 3 70B": {**h100(512), "workload": {"model": "llama3-70b"}},
    "32 DGX H200, four fabrics": H200,
    "eight servers with storage": STORAGE,
    "16 DGX H200 with doors": DOORS,
}
# Servers whose NICs are chosen, so that bandwidth has its price.
FRONT: Json = {"server": "generic-hgx-h100", "gpus": 1024, "fabrics": [fabric(min_gbps_per_gpu=100)]}
# Roles whose switches may each cut servers off: a server has one management port.
MAY_CUT_OFF = {"oob"}
# Families without a second way by their nature, which the answer lists.
EXEMPT = {"4,096 GPUs, rail-only", "4,096 GPUs, dragonfly"}

_designs: dict[str, Design] = {}


def design_of(job: str) -> Design:
    if job not in _designs:
        inputs = inputs_from_objects({"name": "job", "catalog": ["reference"], **JOBS[job]}, None)
        _designs[job] = in_run(lambda: solve(inputs, alternatives_s=0), f"job {job}")
    return _designs[job]


@pytest.mark.long(but=("lab of 16 nodes",))
@pytest.mark.parametrize("job", JOBS)
def test_a_job_can_be_signed(job: str) -> None:
    """Proven, all rules of the check hold (every cable at least its run, no rack over its rules), and no switch cuts
    servers off where a second way was to be had.
    """
    design = design_of(job)
    assert_proven(design)
    assert roles_cut_off(design) <= MAY_CUT_OFF or job in EXEMPT
    assert not any("is not kept" in note or "nothing measures" in note for note in design.notes)


def roles_cut_off(design: Design) -> set[str]:
    """Roles of the fabrics in which a switch cuts servers off if it fails."""
    roles = {fabric.name: fabric.role for fabric in design.fabrics}
    return {
        roles[point.fabric]
        for point in design.single_points_of_failure or ()
        if point.device in ("leaf", "spine", "core") and not point.degraded
    }


@pytest.mark.long
def test_every_point_of_a_front_can_be_signed() -> None:
    """Cost against bandwidth of 1,024 GPUs: each point is proven as a design of its own, none is like another one, and
    more bandwidth costs more. Cards that the servers are sold with give a GPU 100, 200 and 400 Gb/s.
    """
    inputs = inputs_from_objects({"name": "job", "catalog": ["reference"], **FRONT}, None)
    objectives = objectives_of(["capex_usd"], ["gbps_per_gpu"], None)
    front = pareto_front(inputs, objectives, None, Settings(), Clock(None), lambda found: None)
    assert front.complete and len(front.points) == 3
    assert len({point.label for point in front.points}) == len(front.points)
    assert all(point.status == "optimal" for point in front.points)
    designs = [design_at(front, number + 1) for number in range(len(front.points))]
    for design in designs:
        assert all(check.ok for check in verify(design))
        assert design.single_points_of_failure is not None and not roles_cut_off(design)
        assert all(row.kept for row in design.fabrics[0].redundancy if row.kept is not None)
        assert not any("is not kept" in note for note in design.notes)
    totals = [(one.totals, one.fabrics[0].metrics.injection_gbps_per_gpu) for one in designs]
    figures = [(total.capex_usd, gbps) for total, gbps in totals if total is not None]
    assert all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(figures))


@pytest.mark.long
def test_managers_cost_no_leaf_and_no_spine() -> None:
    plain, managed = (counts(design_of(job)) for job in ("96 DGX B200", "96 DGX B200 with UFM"))
    assert (plain["leaf"], plain["spine"]) == (managed["leaf"], managed["spine"]) == (24, 16)
    assert managed["attachment_spine"] == 4


def test_a_rack_takes_half_of_the_ports_of_managers() -> None:
    fabric = design_of("96 DGX B200 with UFM").fabrics[0]
    racks = [fabric.places.spine[number][0] for _, number in fabric.free_ports["ufm"]]
    assert sorted(Counter(racks).values()) == [2, 2]


@pytest.mark.long
def test_no_leaf_and_no_rack_takes_a_firewall() -> None:
    """The pair is in two racks, each with its two ports on two leaves, and cables that are measured."""
    design = design_of("16 DGX H200 with doors")
    in_band = design.fabrics[1]
    assert [rack for rack, _ in in_band.places.attachments["firewalls"]] == ["B07", "B08"]
    assert not any("firewalls" in point.loses for point in design.single_points_of_failure or ())
    assert sum(row.count for row in in_band.links if row.attachment == "firewalls") == 4
    assert not any("nothing measures" in note for note in design.notes)


@pytest.mark.long("32 DGX H200, four fabrics")
@pytest.mark.parametrize("job", ["96 DGX B200", "32 DGX H200, four fabrics"])
def test_infiniband_has_a_subnet_manager(job: str) -> None:
    managers = design_of(job).fabrics[0].subnet_manager
    assert managers is not None and managers.kept


@pytest.mark.long("16 NVL72")
@pytest.mark.parametrize("job", ["16 NVL72", "gb200-nvl72-576"])
def test_groups_of_nvl72_are_racks(job: str) -> None:
    design = design_of(job) if job in JOBS else shipped(job)
    assert design.fabrics[0].structure.servers_per_group == 18
    assert not any("cut racks" in note for note in design.notes)
