"""Configuration of EOS: pyavd, which makes its lines, accepts every file, and has every port and session."""

from __future__ import annotations

import importlib
import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.operate.model import SWITCHES
from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import LAST_OF_ENDPOINTS
from tests.samples import small
from tests.samples.export_samples import CASES, solved
from tests.samples.operate import planned
from tests.samples.system_parts import without

NUMBERED: dict[str, Any] = {"links": "10.2.0.0/16", "host_addresses": "rails"}


@cache
def design(name: str, numbered: bool) -> Design:
    parts = small.catalog()
    for switch in parts["switches"]:
        switch |= {"nos": ["eos"], "asic": "Tomahawk 4"}
    return small.solved({**CASES[name], **({"operate": NUMBERED} if numbered else {})}, parts)


def configs(design: Design, folder: Path) -> dict[str, Any]:
    paths = export(design, wiring_of(design), ["eos"], folder, Options())
    return {path.stem: yaml.safe_load(path.read_text()) for path in paths}


def pyavd() -> ModuleType:
    if importlib.util.find_spec("pyavd") is None:
        without("there is no pyavd")
    return importlib.import_module("pyavd")


@pytest.mark.long(
    but=(
        "attachments-unnumbered",
        "one tier-unnumbered",
        "plain-numbered",
        "splitters-numbered",
        "two fabrics-unnumbered",
    )
)
@pytest.mark.parametrize("numbered", [False, True], ids=["unnumbered", "numbered"])
@pytest.mark.parametrize("name", CASES)
def test_every_port_and_session_is_the_plans(name: str, numbered: bool, tmp_path: Path) -> None:
    of_design = design(name, numbered)
    plan, files = planned(of_design), configs(of_design, tmp_path)
    for device in plan.devices:
        if device.asn:
            ports = [port.name for port, _ in plan.ports_at[device.row]]
            assert [port["name"] for port in files[device.name]["ethernet_interfaces"]] == ports
            assert files[device.name]["router_bgp"]["as"] == str(device.asn)
    key = "neighbors" if numbered else "neighbor_interfaces"
    sessions = [session for config in files.values() for session in config["router_bgp"].get(key, ())]
    assert len(sessions) == 2 * int((wiring_of(of_design).links.kind > LAST_OF_ENDPOINTS).sum())
    numbers = {device.name: str(device.asn) for device in plan.devices}
    assert all(session["remote_as"] == numbers[session["description"]] for session in sessions)


@pytest.mark.long("attachments-False")
@pytest.mark.long("splitters-True")
@pytest.mark.long("plain-False")
@pytest.mark.parametrize(
    ("name", "numbered"),
    [
        pytest.param(name, way, marks=[pytest.mark.long] if way != at % 2 else [])
        for at, name in enumerate(CASES)
        for way in (False, True)
    ],
)
def test_pyavd_accepts_and_renders_every_file(name: str, numbered: bool, tmp_path: Path) -> None:
    files = configs(design(name, numbered), tmp_path)
    avd = pyavd()
    for config in files.values():
        checked = avd.validate_structured_config(config).validation_result
        assert [f"{fault.path}: {fault.message}" for fault in checked.violations] == []
        lines = avd.get_device_config(config)
        for port in config["ethernet_interfaces"]:
            assert f"interface {port['name']}\n" in lines
        sessions = re.findall(r"neighbor (?:interface )?\S+ (?:peer-group fabric remote-as|remote-as) \d+", lines)
        assert len(sessions) == len(config["router_bgp"].get("neighbors" if numbered else "neighbor_interfaces", ()))


def test_pyavd_is_no_blind_judge(tmp_path: Path) -> None:
    config = next(iter(configs(design("plain", False), tmp_path).values()))
    config["router_bgp"]["maximum_pathz"] = 4
    assert pyavd().validate_structured_config(config).validation_result.violations


def test_eos_is_for_switches_that_run_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no switch of this design runs EOS"):
        configs(solved("plain"), tmp_path)


def test_ports_that_are_split_or_slow_say_their_speed(tmp_path: Path) -> None:
    """With as many signalling lanes as the speed takes; a whole cage at its full speed says none, and EOS takes it."""
    for name in CASES:
        of_design = design(name, False)
        plan, files = planned(of_design), configs(of_design, tmp_path / name)
        for device in plan.devices:
            if device.role not in SWITCHES:
                continue
            said = {port["name"]: port.get("speed") for port in files[device.name]["ethernet_interfaces"]}
            cages = [cage for cage in switch_of(of_design, device.product)["cages"] for _ in range(cage["count"])]
            for port, link in plan.ports_at[device.row]:
                most = max(
                    int(ports) * float(gbps)
                    for ports, gbps in (split.split("x") for split in cages[port.cage - 1]["splits"])
                )
                assert bool(said[port.name]) == (port.lanes > 1 or link.gbps < most), (name, port)
                if said[port.name]:
                    rate, lanes = said[port.name].split("g-")
                    assert float(rate) == link.gbps
                    assert 1 <= int(lanes) <= 8 // port.lanes


def switch_of(of_design: Design, product: str) -> dict[str, Any]:
    return of_design.model_dump(mode="json")["parts"][product]


def test_fabrics_without_rdma_have_no_queues_of_it(tmp_path: Path) -> None:
    parts = small.catalog()
    for switch in parts["switches"]:
        switch |= {"nos": ["eos"], "asic": "Tomahawk 4"}
    for role, has_queues in (("in-band", False), ("storage", True)):
        content = {**CASES["plain"], "fabrics": [{**CASES["plain"]["fabrics"][0], "role": role}]}
        files = configs(small.solved(content, parts), tmp_path / role)
        for config in files.values():
            text = yaml.safe_dump(config)
            assert ("priority_flow_control" in text, "qos_profiles" in text, "service_profile" in text) == (
                has_queues,
            ) * 3
