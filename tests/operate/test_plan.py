"""The plan: names, ports, numbers and addresses, stage by stage, and the proof of its file."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from fabopt.cli import main
from fabopt.errors import InputError
from fabopt.operate.model import OperationPlan
from fabopt.operate.proof import design_check, plan_checks
from fabopt.schema.operate import SonicPorts
from fabopt.schema.plan import PlanFile
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.port_names import eos, infiniband, sonic
from tests.samples import small
from tests.samples.export_samples import CASES, solved
from tests.samples.operate import changed, export_of, grown, plan_file, planned, with_operate

POOLS: dict[str, Any] = {"links": "10.2.0.0/16", "host_addresses": "rails"}


def failed(plan: PlanFile) -> list[str]:
    return [check.name for check in plan_checks(plan) if not check.ok]


@pytest.mark.long(
    but=(
        "attachments-numbered",
        "one tier-numbered",
        "plain-unnumbered",
        "splitters-unnumbered",
        "two fabrics-numbered",
    )
)
@pytest.mark.parametrize("operate", [{}, POOLS], ids=["unnumbered", "numbered"])
@pytest.mark.parametrize("name", CASES)
def test_every_plan_holds_and_is_its_designs(name: str, operate: dict[str, Any], tmp_path: Path) -> None:
    design = with_operate(name, **operate)
    plan = plan_file(planned(design), tmp_path)
    assert failed(plan) == []
    check = design_check(plan, design.case.name, design.case.sha256, wiring_of(design))
    assert check.ok, check.detail


def test_both_ends_of_a_link_are_in_its_subnet() -> None:
    """Of two addresses the even one is the switch's; of a leaf's subnet the first."""
    for operate, switch in (({}, 0), ({"host_addresses": "rails"}, 1)):
        plan = planned(with_operate("plain", **operate))
        for link in plan.links:
            if link.subnet:
                near, far = IPv4Interface(link.a.address), IPv4Interface(link.b.address)
                subnet = IPv4Network(link.subnet)
                assert near.network == far.network == subnet and far.ip == subnet[switch] and near.ip > far.ip


def test_a_later_stage_changes_nothing_that_an_earlier_one_gave() -> None:
    design = grown()
    for operate in ({}, POOLS):
        record = design.case.model_copy(update={"content": {**design.case.content, "operate": operate}})
        own = design.model_copy(update={"case": record})
        first, last = planned(own, 0), planned(own, 1)
        assert len(first.devices) < len(last.devices)
        later = {device.device: device for device in last.devices}
        assert all(later[device.device] == device for device in first.devices)
        ends = {(link.a, link.subnet) for link in last.links}
        assert all((link.a, link.subnet) in ends for link in first.links)


def test_systems_are_numbered_as_the_rfc_has_it() -> None:
    """A leaf has a number of its own, all spines share one; servers have none. RFC 7938, section 5.2."""
    plan = planned(solved("plain"))
    leaves = [device.asn for device in plan.devices if device.role == "leaf"]
    spines = {device.asn for device in plan.devices if device.role == "spine"}
    assert len(set(leaves)) == len(leaves) and len(spines) == 1 and not spines & set(leaves)
    assert all(device.asn == 0 for device in plan.servers)


def test_templates_name_devices() -> None:
    names = {"server": "{site}-h{number:03d}", "leaf": "{site}-{fabric}-l{rail:02d}g{group}"}
    plan = planned(with_operate("plain", site="ams1", names=names))
    called = {device.device: device.name for device in plan.devices}
    assert called["server-0002"] == "ams1-h002" and called["compute-leaf-001"] == "ams1-compute-l01g1"
    assert called["compute-spine-001"] == "compute-spine-001"


@pytest.mark.parametrize(
    ("operate", "message"),
    [
        ({"names": {"server": "host"}}, "operate.names: 1 name of 4 devices collide: host is server-0001, server-0002"),
        ({"names": {"server": "r{rack}"}}, "4 devices have no rack: server-0001, server-0002, server-0003 and 1 more"),
        ({"management": "10.0.0.0/30"}, "operate.management: too small: it has 1 place for"),
        ({"hosts": "10.128.0.0/29"}, "operate.hosts: too small: it has 4 places for 8 links"),
        ({"loopbacks": "10.1.0.0/31"}, "operate.loopbacks: too small: it has 1 place for"),
        ({"links": "10.2.0.0/30"}, "operate.links: too small: it has 2 places for"),
        ({"asns": "64512-64513"}, "operate.asns: too small: it has 2 numbers for"),
        ({"hcas": {"compute": ["mlx5_0"]}}, "operate.hcas.compute: a server has 2 ports there, so as many names"),
        ({"hcas": {"compute": ["mlx5_0"] * 2}}, "1 name of RDMA devices twice on a server: mlx5_0"),
    ],
)
def test_what_cannot_be_given_is_refused_with_its_count(operate: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match="operate") as refused:
        planned(with_operate("plain", **operate))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("operate", "message"),
    [
        ({"names": {"leaf": "{shelf}"}}, "there is no field {shelf}"),
        ({"names": {"leaf": "a_b"}}, "letters, digits, - and . only"),
        ({"names": {"leaf": "{name:02d}"}}, "is a word"),
        ({"management": "10.0.0.1/8"}, "a pool of addresses is written as in 10.0.0.0/16"),
        ({"management": "10.1.0.0/16"}, "have addresses in common"),
        ({"asns": "9-1"}, "FIRST-LAST"),
        ({"vlans": "1-10"}, "numbers of VLANs are from 2 to 4094"),
        ({"queues": {"cnp_priority": 3}}, "a priority of their own"),
    ],
)
def test_keys_that_mean_nothing_are_refused(operate: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        small.inputs(small.case(operate=operate))
    assert message in str(refused.value)


def test_a_case_that_says_nothing_writes_nothing() -> None:
    assert "operate" not in solved("plain").case.content


def test_a_case_from_before_vrfs_had_a_pool_is_whole() -> None:
    """Its content has no such key, and is still written out in full."""
    design = small.solved(small.case(servers=4, operate={"site": "ams1"}))
    assert "vrf_links" not in design.case.content["operate"]
    (check,) = [check for check in verify(design) if check.name == "case_is_resolved"]
    assert check.ok


def test_names_of_ports_by_hand() -> None:
    """SN5600 and Micas 64OC by their device folders; an OSFP cage of EOS has eight lanes; twin cages count double."""
    nvidia, micas = SonicPorts(first=0, step=8, alias="etp1"), SonicPorts(first=1, step=8, index_from=0)
    assert [sonic(nvidia, 1, lane, 2) for lane in (0, 1)] == [("Ethernet0", "etp1a"), ("Ethernet4", "etp1b")]
    assert [sonic(micas, cage, 0, 1).name for cage in (1, 2, 3)] == ["Ethernet1", "Ethernet9", "Ethernet17"]
    assert [eos({1: 8}, 1, lane, 2).name for lane in (0, 1)] == ["Ethernet1/1", "Ethernet1/5"]
    assert infiniband(2, 17, 0, 2).name == "33"
    with pytest.raises(ValueError, match="3 ports of a cage in steps of 8"):
        sonic(nvidia, 1, 0, 3)


def systems(parts: dict[str, Any]) -> OperationPlan:
    return planned(small.solved(small.case(servers=4), parts))


def test_ports_are_called_as_their_system_does(tmp_path: Path) -> None:
    """The same design with other systems: the names go both ways, and what is not known is a note."""
    for nos, keys, start in (
        ("eos", {}, "Ethernet"),
        ("sonic", {"sonic_ports": {"first": 0, "step": 8}}, "Ethernet"),
        ("sonic", {}, "swp"),
        ("cumulus", {}, "swp"),
    ):
        parts = small.catalog()
        for switch in parts["switches"]:
            switch.update(nos=[nos], **keys)
        plan = systems(parts)
        switches = {device.row for device in plan.devices if device.system == nos}
        own = [port.name for row in switches for port, _ in plan.ports_at[row]]
        assert own and all(name.startswith(start) for name in own)
        assert ("SONiC's numbers" in " ".join(plan.notes)) == (nos == "sonic" and not keys)
        assert failed(plan_file(plan, tmp_path)) == []


def test_a_system_that_does_not_run_there_is_refused() -> None:
    parts = small.catalog()
    for switch in parts["switches"]:
        switch["nos"] = ["sonic"]
    content = small.case(servers=4, operate={"systems": {switch["id"]: "eos" for switch in parts["switches"]}})
    with pytest.raises(InputError, match="the catalog does not say that this runs there; found 'eos'; allowed: sonic"):
        planned(small.solved(content, parts))


@pytest.mark.parametrize(
    ("table", "row", "values", "rule"),
    [
        ("devices", 0, {"name": "server-0002"}, "names_differ"),
        ("devices", 0, {"management": "10.0.0.3"}, "addresses_differ"),
        ("devices", 0, {"management": "192.168.0.1"}, "addresses_differ"),
        ("devices", 0, {"stage": 3}, "stages_are_done"),
        ("devices", -1, {"asn": 4200000000}, "systems_are_apart"),
        ("devices", -1, {"asn": 7}, "systems_are_apart"),
        ("ports", 0, {"address": "10.128.0.9/31"}, "subnets_are_apart"),
        ("ports", 0, {"port": "nic2p1"}, "ports_are_invertible"),
        ("ports", -1, {"cage": 7}, "ports_are_invertible"),
        ("links", 0, {"subnet": "10.128.0.2/31"}, "subnets_are_apart"),
        ("links", 0, {"a": {"device": "server-0002", "port": "nic1p1"}}, "ends_agree"),
    ],
)
def test_a_plan_with_one_thing_broken_is_refused(
    table: str, row: int, values: dict[str, Any], rule: str, tmp_path: Path
) -> None:
    plan = plan_file(planned(solved("plain")), tmp_path)
    broken = plan.links[0].model_copy(update=values) if table == "links" else None
    if broken is not None and "a" in values:
        values = {"a": plan.links[0].a.model_copy(update=values["a"])}
    assert rule in failed(changed(plan, table, row, **values))


def test_the_command_writes_a_plan_that_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, files = export_of(grown(), tmp_path, "--to", "plan", "--stage", "day-1")
    assert (code, list(files)) == (0, ["plan.yaml"])
    assert main(["check", str(files["plan.yaml"]), "--design", str(tmp_path / "design.json")]) == 0
    assert "all 9 checks hold" in capsys.readouterr().out
    files["plan.yaml"].write_text(files["plan.yaml"].read_text().replace('"server-0001"', '"server-0002"'))
    assert main(["check", str(files["plan.yaml"])]) == 1
    files["plan.yaml"].write_text("plan: 1\n")
    assert main(["check", str(files["plan.yaml"])]) == 2


def test_what_is_for_one_stage_is_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export_of(grown(), tmp_path, "--to", "plan", "--stage", "day-9") == (2, {})
    assert "--stage: no such stage; found 'day-9'; allowed: day-1, day-2" in capsys.readouterr().err
    assert export_of(grown(), tmp_path, "--to", "acceptance", "--stage", "day-1") == (2, {})
    assert "acceptance is what to run when all is there" in capsys.readouterr().err
    assert export_of(grown(), tmp_path, "--to", "plan", "--guids", str(tmp_path / "design.json")) == (2, {})
    assert "--guids: only `--to opensm` takes GUIDs" in capsys.readouterr().err
    code, files = export_of(grown(), tmp_path, "--to", "acceptance,plan", "--stage", "day-1", "--skip")
    assert (code, list(files)) == (0, ["plan.yaml"])
