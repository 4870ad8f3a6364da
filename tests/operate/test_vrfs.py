"""VRFs of logical fabrics: joined over every link between switches, with sessions of their own, and nowhere else."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.operate.model import SWITCHES, OperationPlan
from fabopt.operate.proof import plan_checks
from fabopt.operate.sonic_proof import faults_of
from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.port_names import LONGEST, tagged_port
from tests.operate.test_eos import pyavd
from tests.problem.test_separation import case, parts
from tests.samples.operate import changed, plan_file, planned
from tests.samples.small import solved
from tests.samples.sonic_models import refused
from tests.samples.system_parts import require

LONG = "in-band-management"
LANES = [1 + 8 * cage for cage in range(64)]


@cache
def design(system: str, rails: bool = False, name: str = "storage", servers: int = 8, **operate: Any) -> Design:
    """A fabric of two tiers that carries another network."""
    catalog = parts()
    for switch in catalog["switches"]:
        cages = sum(cage["count"] for cage in switch["cages"])
        ports = {"first": 0, "step": 8, "lanes": LANES[:cages]}
        switch |= {"nos": [system], "asic": "Tomahawk 4", "sonic_ports": ports}
    content = {**case(name=name), "servers": servers}
    content["operate"] = {**({"host_addresses": "rails", "links": "10.2.0.0/16"} if rails else {}), **operate}
    return solved(content, catalog)


def files(of_design: Design, name: str, folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in export(of_design, wiring_of(of_design), [name], folder, Options())}


def between_switches(plan: OperationPlan) -> Counter[int]:
    """How many links to other switches each switch has, by its row."""
    return Counter(
        end.device for link in plan.links for end in (link.a, link.b)
        if {plan.device_at[link.a.device].role, plan.device_at[link.b.device].role} <= set(SWITCHES)
    )  # fmt: skip


@pytest.mark.long("rails")
@pytest.mark.parametrize("rails", [False, True], ids=["routed", "rails"])
def test_frr_has_a_session_of_the_vrf_on_every_link(rails: bool, tmp_path: Path) -> None:
    """The address of each neighbour is that of an interface of the same VRF at the other end of the link."""
    of_design = design("cumulus", rails)
    plan, texts = planned(of_design), {}
    for name, path in files(of_design, "frr", tmp_path).items():
        texts[name] = path.read_text()
        require(["vtysh"])
        done = subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    own = {name: set(re.findall(r"^interface (?:swp|br-)\S+ vrf storage\n .*\n ip address (\S+)/\d+$", text, re.M))
           for name, text in texts.items()}  # fmt: skip
    counts = between_switches(plan)
    for device in plan.devices:
        if device.asn:
            rest, _, of_vrf = texts[device.name].partition(f"router bgp {device.asn} vrf storage\n")
            sessions = set(re.findall(r"neighbor (\S+) peer-group fabric$", of_vrf, re.M))
            assert len(sessions) == counts[device.row] > 0
            far = {plan.device_at[other.device].name for _, other, _ in plan.vrf_ports_at[device.row]}
            assert sessions <= set().union(*(own[name] for name in far)) and not sessions & own[device.name]
            # nothing of the VRF is in the table of no VRF, and no route of it is looked up there
            plain = set(re.findall(r"^interface \S+\n .*\n ip address (\S+)/\d+$", rest, re.M))
            assert not plain & own[device.name] and " ip route 0.0.0.0/0 reject 254\nexit-vrf" in rest


@pytest.mark.long(but=("rails",))
@pytest.mark.parametrize("rails", [False, True], ids=["routed", "rails"])
def test_eos_has_a_session_of_the_vrf_on_every_link(rails: bool, tmp_path: Path) -> None:
    of_design = design("eos", rails)
    plan, avd = planned(of_design), pyavd()
    counts = between_switches(plan)
    configs = {name: yaml.safe_load(path.read_text()) for name, path in files(of_design, "eos", tmp_path).items()}
    for device in plan.devices:
        if device.asn:
            config = configs[device.name]
            assert avd.validate_structured_config(config).validation_result.violations == []
            lines = avd.get_device_config(config)
            tagged = [port for port in config["ethernet_interfaces"] if "encapsulation_dot1q" in port]
            assert len(tagged) == counts[device.row] > 0 and all(port["vrf"] == "storage" for port in tagged)
            for port in tagged:
                assert f"interface {port['name']}\n" in lines
            of_vrf = lines.partition("\n   vrf storage\n")[2]
            assert len(re.findall(r"^      neighbor \S+ remote-as \d+$", of_vrf, re.M)) == counts[device.row]
            assert "redistribute connected route-map fabric" in of_vrf


@pytest.mark.parametrize("rails", [False, True], ids=["routed", "rails"])
def test_sonic_has_a_session_of_the_vrf_on_every_link(rails: bool, tmp_path: Path) -> None:
    of_design = design("sonic", rails)
    plan = planned(of_design)
    counts = between_switches(plan)
    configs = {name: json.loads(path.read_text()) for name, path in files(of_design, "sonic", tmp_path).items()}
    assert not [problem for config in configs.values() for problem in refused(config)]
    addresses = {
        name: {key.partition("|")[2].partition("/")[0] for key in config["VLAN_SUB_INTERFACE"] if "|" in key}
        for name, config in configs.items()
    }
    for device in plan.devices:
        if device.asn:
            config = configs[device.name]
            assert not list(faults_of(config)) and set(config["VRF"]) == {"Vrf-storage"}
            assert {row["vrf_name"] for key, row in config["VLAN_SUB_INTERFACE"].items() if "|" not in key} == {
                "Vrf-storage"
            }
            sessions = {key: row for key, row in config["BGP_NEIGHBOR"].items() if key.startswith("Vrf-storage|")}
            assert len(sessions) == counts[device.row] == len(config["BGP_NEIGHBOR"]) - len(sessions)
            assert all(key.partition("|")[2] in addresses[row["name"]] for key, row in sessions.items())
            assert "Vrf-storage|connected|bgp|ipv4" in config["ROUTE_REDISTRIBUTE"]


def test_sonic_refuses_what_its_models_would(tmp_path: Path) -> None:
    config = json.loads(next(iter(files(design("sonic"), "sonic", tmp_path).values())).read_text())
    name = next(key for key in config["VLAN_SUB_INTERFACE"] if "|" not in key)
    config["VLAN_SUB_INTERFACE"] |= {name: {"vrf_name": "Vrf-other"}, "Ethernet999.1000": {}}
    assert [problem for _, problem in faults_of(config)] == [
        "there is no port of Ethernet999.1000",
        "Ethernet999.1000 has more than 15 letters",
        "there is no VRF Vrf-other",
    ]


def test_the_plan_proves_that_vrfs_are_joined_and_apart(tmp_path: Path) -> None:
    plan = plan_file(planned(design("cumulus")), tmp_path)
    assert all(check.ok for check in plan_checks(plan))
    row = plan.vrf_links[0]
    broken = [
        (plan.model_copy(update={"vrf_links": plan.vrf_links[1:]}), "vrfs_are_joined"),
        (changed(plan, "vrf_links", 0, vlan=row.vlan + 1), "vrfs_are_joined"),
        (changed(plan, "networks", 0, vrf="storage"), "vrfs_are_joined"),
        (changed(plan, "vrf_links", 0, a_address=plan.vrf_links[1].a_address), "subnets_are_apart"),
        (changed(plan, "vrf_links", 0, a_address=row.b_address), "addresses_differ"),
    ]
    for wrong, name in broken:
        assert name in [check.name for check in plan_checks(wrong) if not check.ok]


def test_a_pool_that_is_too_small_is_counted() -> None:
    links = len(planned(design("cumulus")).vrf_links)
    with pytest.raises(InputError, match=f"operate.vrf_links: too small: it has 2 places for {links} VRF links"):
        planned(design("cumulus", vrf_links="10.3.0.0/30"))


def test_names_have_the_letters_that_systems_have(tmp_path: Path) -> None:
    """By hand: VRFs of SONiC have `Vrf-` before their name, and fifteen letters in all."""
    of_design = design("sonic", True, LONG)
    (network,) = (network for network in planned(of_design).networks if network.vrf)
    assert (network.name, network.vrf) == (LONG, "in-ban-100")
    assert tagged_port("sonic", "Ethernet504", 100) == "Ethernet504.100"
    assert tagged_port("sonic", "Ethernet504", 1000) == "Eth504.1000"
    for name, path in files(of_design, "frr", tmp_path).items():
        assert "leaf" not in name or "\ninterface br-in-ban-100 vrf in-ban-100\n" in path.read_text()
        words = re.findall(r"^(?:interface|vrf) (\S+)", path.read_text(), re.M)
        assert max(map(len, words)) <= LONGEST
