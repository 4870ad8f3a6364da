"""Plans of networks that go on from what is in service: each name, number and address there is what it was."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.io.design import read_plan
from fabopt.operate.model import OperationPlan
from fabopt.operate.proof import plan_checks
from fabopt.schema.design import Design
from fabopt.schema.plan import PlanFile
from fabopt.solution import optimize
from tests.samples.bases import designed, gone_on, gone_on_if_it_may, saved
from tests.samples.growth_samples import eight
from tests.samples.operate import export_of, plan_file, planned
from tests.samples.random_cases import Dice
from tests.solution.test_in_service import in_stages
from tests.solution.test_random_bases import SEEDS, a_base

Json = dict[str, Any]
Rows = dict[object, object]
ROUTED = {"links": "10.2.0.0/16", "names": {"leaf": "{site}-p{plane}-l{number:03d}"}, "site": "ams"}
RAILS = {"host_addresses": "rails"}


def told(plan: OperationPlan, renumbered: Collection[str] = ()) -> Rows:
    """All that a plan says of devices, ports, links and networks, by the design's names, but for numbers of ports of
    switches that are renumbered.
    """
    devices = plan.device_at
    rows: Rows = {
        one.device: (one.name, one.system, one.management, one.loopback, one.asn, one.rack, one.unit)
        for one in plan.devices
    }
    for link in plan.links:
        a, b = ((devices[port.device].device, port.port) for port in (link.a, link.b))
        ends = (port[3:] if devices[port.device].device in renumbered else port[2:] for port in (link.a, link.b))
        rows[a, b] = (*ends, link.network, link.subnet, link.cable)
    for network in plan.networks:
        rows["network", network.name] = network.vlan, network.vrf
        rows |= {
            ("leaf", network.name, devices[row].device): subnet
            for row, subnet in network.subnets.items()
            if row in devices
        }
    return rows


def other_numbers(was: OperationPlan, now: OperationPlan) -> set[str]:
    """Devices whose ports in service have other names than before."""
    old, new = (
        {(plan.device_at[port.device].device, port.port): port.name for link in plan.links for port in (link.a, link.b)}
        for plan in (was, now)
    )
    return {device for device, port in old if new.get((device, port)) != old[device, port]}


def assert_kept(design: Design, base: Design, folder: Path, stage: int | None = None) -> None:
    """The plan of a design has all that the plan of its base has, and passes every check."""
    was, now = planned(base, stage), planned(design)
    renumbered = other_numbers(was, now)
    assert {device.system for device in now.devices if device.device in renumbered} <= {"infiniband"}
    assert renumbered == set(re.findall(r"in service on (\S+) get other numbers", " ".join(now.notes)))
    before, after = told(was, renumbered), told(now, renumbered)
    assert {key: after.get(key) for key in before} == before
    assert told(planned(design, 0), renumbered) == before
    assert [check for check in plan_checks(plan_file(planned(design), folder)) if not check.ok] == []


@pytest.mark.long(but=("operate1",))
@pytest.mark.parametrize("operate", [{}, ROUTED, RAILS])
def test_what_has_grown_keeps_names_and_addresses(operate: Json, tmp_path: Path) -> None:
    """From all of a plan in stages, from its day 1, and from what went on from that."""
    case = in_stages(5, 8) | {"operate": operate}
    base = designed(eight(), case)
    for servers, stage in ((8, 1), (6, 0)):
        design = gone_on(eight(), in_stages(servers), base, tmp_path, f"stage-{stage + 1}")
        assert_kept(design, base, tmp_path, stage)
    assert_kept(gone_on(eight(), in_stages(8), design, tmp_path), design, tmp_path)


@pytest.mark.long(but=("11",))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_is_live_keeps_names_and_addresses(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"run-{seed}")
    parts, before, after = a_base(seed)
    wider = [{**fabric, "tiers": "any", "max_oversubscription": 12} for fabric in after["fabrics"]]
    after |= {"fabrics": wider, "servers": after["servers"] + dice.number(0, 3)}
    base = designed(parts, before | {"operate": dice.one([{}, ROUTED, RAILS, {**RAILS, **ROUTED}])})
    for _ in range(2):
        design = gone_on_if_it_may(parts, after, base, tmp_path)
        if design is None or design.status == "infeasible":
            return
        assert_kept(design, base, tmp_path)
        base, after = design, after | {"servers": after["servers"] + dice.number(1, 3)}


def test_fabrics_are_counted_as_in_service(tmp_path: Path) -> None:
    parts = eight()
    parts["servers"][0]["nic_slots"] = 2
    content = in_stages(5, 8) | {"operate": RAILS}
    compute = content["fabrics"][0]
    content["fabrics"] = [compute, {**compute, "name": "storage", "role": "storage", "homing": "single"}]
    base = designed(parts, content)
    turned = in_stages(8) | {"fabrics": content["fabrics"][::-1]}
    design = gone_on(parts, turned, base, tmp_path, "stage-1")
    assert [check for check in design.checks if not check.ok] == []
    assert_kept(design, base, tmp_path, 0)


@pytest.mark.parametrize(
    ("operate", "key"),
    [
        ({"names": {"leaf": "leaf{number}"}}, "operate.names"),
        ({"links": "10.2.0.0/16"}, "operate.links"),
        ({"management": "10.5.0.0/16"}, "operate.management"),
        ({"management": "10.0.0.0/17"}, "operate.management"),
        ({"asns": "4200000001-4294967294"}, "operate.asns"),
        ({"host_addresses": "rails"}, "operate.host_addresses"),
    ],
)
def test_what_would_rename_what_is_live_is_refused(operate: Json, key: str, tmp_path: Path) -> None:
    base = {"file": str(saved(designed(eight(), in_stages(5, 8)), tmp_path))}
    with pytest.raises(InputError) as refusal:
        inputs_from_objects(in_stages(8) | {"base": base, "operate": operate}, eight())
    (fault,) = refusal.value.faults
    assert fault.path == key and "names and addresses in service" in fault.problem


def test_pools_may_be_larger(tmp_path: Path) -> None:
    case = in_stages(5, 8) | {"operate": {"management": "10.0.0.0/28"}}
    base = designed(eight(), case)
    more = {"management": "10.0.0.0/24", "queues": {"mtu": 9000}}
    design = gone_on(eight(), in_stages(8) | {"operate": more}, base, tmp_path, "stage-1")
    assert_kept(design, base, tmp_path, 0)


# -- a plan file as base ----------------------------------------------------------------------------------------------


def exported(design: Design, folder: Path, *words: str) -> Path:
    """The file of the plan of a design, beside the file of the design."""
    code, files = export_of(design, folder, "--to", "plan", *words)
    assert code == 0
    return files["plan.yaml"]


def from_plan(plan: Path, servers: int, key: str = "base") -> Design:
    content = in_stages(servers) | {key: {"file": str(plan)}}
    return optimize.solve(inputs_from_objects(content, eight()), alternatives_s=0)


def test_a_plan_is_gone_on_from_as_its_design_at_its_stage(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(5, 8) | {"operate": ROUTED})
    design = from_plan(exported(base, tmp_path, "--stage", "stage-1"), 6)
    assert_kept(design, base, tmp_path, 0)
    same = gone_on(eight(), in_stages(6), base, tmp_path, "stage-1")
    assert told(planned(design)) == told(planned(same))


def test_what_a_plan_says_stays_as_it_says(tmp_path: Path) -> None:
    """A plan with names and addresses by hand; the next one goes on from it, and from what went on from it."""
    base = designed(eight(), in_stages(5, 8) | {"operate": ROUTED})
    path = exported(base, tmp_path, "--stage", "stage-1")
    text = path.read_text()
    by_hand = {"ams-p1-l001": "old-leaf", "10.0.0.3": "10.0.9.9", "10.128.0.4/31": "10.128.9.4/31",
               "10.128.0.5/31": "10.128.9.5/31"}  # fmt: skip
    for own, other in by_hand.items():
        assert f'"{own}"' in text
        text = text.replace(f'"{own}"', f'"{other}"')
    path.write_text(text)
    before = rows_of(read_plan(str(path)))
    design = from_plan(path, 6)
    for one in (design, gone_on(eight(), in_stages(8), design, tmp_path)):
        plan = plan_file(planned(one), tmp_path)
        assert before <= rows_of(plan)
        assert [check for check in plan_checks(plan) if not check.ok] == []


def rows_of(plan: PlanFile) -> set[object]:
    """Names and addresses of devices and of their ports."""
    devices = {(row.device, row.name, row.management, row.loopback, row.asn) for row in plan.devices}
    return {*devices, *((row.device, row.name, row.port, row.address) for row in plan.ports)}


def test_a_plan_of_another_design_is_refused(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(5, 8))
    path = exported(base, tmp_path)
    text = path.read_text()
    for wrong, keys in (
        (text.replace(base.case.sha256, "0" * 64), ["base.file", "joins.file"]),
        (without_design(text), ["design", "design"]),
    ):
        path.write_text(wrong)
        for key, at in zip(("base", "joins"), keys, strict=True):
            with pytest.raises(InputError) as refusal:
                from_plan(path, 8, key)
            (fault,) = refusal.value.faults
            assert fault.path == at
    path.write_text(text)
    with pytest.raises(InputError, match="this plan is of another stage; found 'stage-2'"):
        from_plan(Path(f"{path}@stage-1"), 8)
    lines = text.splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "server-0004" not in line))
    with pytest.raises(InputError) as refusal:
        planned(from_plan(path, 8))
    assert {fault.path for fault in refusal.value.faults} == {"base.file"}


def without_design(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("design:"))
