"""Configuration of SONiC: counts and names are the plan's, and what its models would refuse or miss is found."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.catalog import named_catalogs
from fabopt.operate.sonic_proof import faults_of
from fabopt.output.export.formats import Options, export
from fabopt.parts.switches import lanes_in_use
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import LAST_OF_ENDPOINTS
from tests.samples import small
from tests.samples.export_samples import CASES
from tests.samples.operate import planned
from tests.samples.sonic_models import refused

POOL = {"size": 113_620_296, "shared_headroom": 50_653_696}
NUMBERED: dict[str, Any] = {"links": "10.2.0.0/16", "host_addresses": "rails"}
Edit = Callable[[dict[str, Any]], object]


def catalog(**keys: Any) -> small.Json:
    """The small catalog with SONiC on its switches, as on one whose cages have their lanes in another order."""
    parts = small.catalog()
    for switch in parts["switches"]:
        lanes = [1 + 8 * cage for cage in range(sum(cage["count"] for cage in switch["cages"]))]
        ports = {"first": 0, "step": 8, "alias": "etp1", "lanes": lanes[::-1]}
        switch |= {"nos": ["sonic"], "asic": "Tomahawk 4", "sonic_ports": ports, "buffer_pool": POOL, **keys}
    return parts


@cache
def design(name: str, numbered: bool = False) -> Design:
    content = {**CASES[name], "operate": NUMBERED} if numbered else CASES[name]
    return small.solved(content, catalog())


def configs(design: Design, folder: Path, stage: int | None = None) -> dict[str, Any]:
    paths = export(design, wiring_of(design), ["sonic"], folder, Options(stage=stage))
    return {path.stem: json.loads(path.read_text()) for path in paths}


@pytest.mark.long(
    but=("attachments-unnumbered", "one tier-numbered", "plain-numbered", "splitters-numbered", "two fabrics-numbered")
)
@pytest.mark.parametrize("numbered", [False, True], ids=["unnumbered", "numbered"])
@pytest.mark.parametrize("name", CASES)
def test_every_port_and_session_is_the_plans(name: str, numbered: bool, tmp_path: Path) -> None:
    """Both ends of a link between switches have a session, with the autonomous system of the other end."""
    of_design = design(name, numbered)
    plan, files = planned(of_design), configs(of_design, tmp_path)
    wiring = wiring_of(of_design)
    assert len(files) == sum(device.asn > 0 for device in plan.devices)
    sessions = sum(len(config.get("BGP_NEIGHBOR", {})) for config in files.values())
    assert sessions == 2 * int((wiring.links.kind > LAST_OF_ENDPOINTS).sum())
    numbers = {device.loopback: device.asn for device in plan.devices}
    for device in plan.devices:
        if not device.asn:
            continue
        config = files[device.name]
        ports = {port.name: link for port, link in plan.ports_at[device.row]}
        assert config["PORT"].keys() == config["PORT_QOS_MAP"].keys() == ports.keys()
        assert {name: int(port["speed"]) for name, port in config["PORT"].items()} == {
            name: link.gbps * 1000 for name, link in ports.items()
        }
        assert config["CABLE_LENGTH"]["AZURE"] == {
            name: f"{ceil(link.length_m)}m" for name, link in ports.items() if link.length_m
        }
        assert int(config["BGP_GLOBALS"]["default"]["local_asn"]) == numbers[device.loopback]


def test_lanes_are_those_behind_the_cage(tmp_path: Path) -> None:
    """Eight cages whose lanes run backwards: cage 1 is behind lanes 57 to 64; halves of a cage have four each."""
    config = next(iter(configs(design("splitters"), tmp_path).values()))
    assert config["PORT"]["Ethernet0"]["lanes"] == ",".join(map(str, range(57, 61)))
    assert config["PORT"]["Ethernet4"]["lanes"] == ",".join(map(str, range(61, 65)))
    assert (config["PORT"]["Ethernet4"]["alias"], config["PORT"]["Ethernet4"]["index"]) == ("etp1b", "1")


@pytest.mark.parametrize(("ports", "gbps", "lanes"), [(1, 800, 8), (1, 400, 4), (1, 200, 2), (2, 400, 4), (2, 200, 2)])
def test_a_slower_port_has_fewer_lanes(ports: int, gbps: int, lanes: int) -> None:
    """Lanes of an 800G cage run at 100G: a module of four lanes does not come up on eight of half the speed."""
    switch = next(one for one in named_catalogs(["reference"]).switches if one.id == "micas-m2-w6940-64oc")
    assert lanes_in_use(switch, 1, ports, gbps * 1000) == lanes


def test_a_port_keeps_what_its_cable_needs(tmp_path: Path) -> None:
    """Rows of the table of Tomahawk 4: 400G up to 5 m; the pool is the catalog's."""
    config = configs(design("plain"), tmp_path)["compute-leaf-001"]
    groups = config["BUFFER_PG"]
    profile = config["BUFFER_PROFILE"][groups["Ethernet0|3"]["profile"]]
    assert {key: profile[key] for key in ("xon", "xoff", "size")} == {"xon": "9144", "xoff": "371348", "size": "9144"}
    assert config["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] == "50653696"
    assert config["DSCP_TO_TC_MAP"]["AZURE"]["26"] == "3" and config["DSCP_TO_TC_MAP"]["AZURE"]["48"] == "6"
    assert config["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "3"
    assert config["SCHEDULER"][config["QUEUE"]["Ethernet0|6"]["scheduler"]] == {"type": "STRICT"}
    marks = config["WRED_PROFILE"][config["QUEUE"]["Ethernet0|3"]["wred_profile"]]
    assert int(marks["green_min_threshold"]) < int(marks["green_max_threshold"]) < POOL["size"]


def test_a_fabric_may_have_two_lossless_priorities(tmp_path: Path) -> None:
    """That of RDMA and the next one; both have the profile, and together they take twice as much."""
    content = copy.deepcopy(CASES["plain"])
    content["fabrics"][0]["roce"] = {"lossless_priorities": 2, "mtu": 9000}
    config = configs(small.solved(content, catalog()), tmp_path)["compute-leaf-001"]
    assert config["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "3,4"
    assert config["BUFFER_PG"]["Ethernet0|3"] == config["BUFFER_PG"]["Ethernet0|4"]
    assert [config["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"][tc] for tc in "2345"] == ["0", "3", "4", "0"]


def test_a_pool_that_is_not_known_is_left_to_the_platform(tmp_path: Path) -> None:
    unknown = small.solved(CASES["plain"], catalog(buffer_pool=None))
    for config in configs(unknown, tmp_path).values():
        assert (
            not any(table.startswith("BUFFER") for table in config)
            and config["PORT_QOS_MAP"]
            and config["CABLE_LENGTH"]
        )


def test_leaves_have_the_address_of_their_subnet(tmp_path: Path) -> None:
    of_design = design("plain", True)
    plan, files = planned(of_design), configs(of_design, tmp_path)
    (network,) = plan.networks
    assert network.vlan == 100
    for row, subnet in network.subnets.items():
        config = files[plan.device_at[row].name]
        (address,) = [key.partition("|")[2] for key in config["VLAN_INTERFACE"] if "|" in key]
        assert address.split("/")[1] == subnet.split("/")[1] and config["VLAN"] == {
            "Vlan100": {"vlanid": "100", "description": "compute"}
        }
        hosts = [port.name for port, link in plan.ports_at[row] if link.kind == "server-leaf"]
        assert [key.partition("|")[2] for key in config["VLAN_MEMBER"]] == hosts


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"nos": ["eos"]}, "no switch of this design runs SONiC"),
        ({"sonic_ports": None}, "how SONiC numbers the ports of [0-9]+ switch(es)? is not known"),
        (
            {"sonic_ports": {"first": 0, "step": 8}},
            "which lanes are behind the cages of [0-9]+ switch(es)? is not known",
        ),
        ({"sonic_ports": {"first": 0, "step": 8, "lanes": [1]}}, "has 1 numbers, one for each cage"),
        ({"sonic_ports": {"first": 0, "step": 8, "lanes": [1] * 8}}, "lane 1 is of Ethernet0 too"),
    ],
)
def test_what_is_not_known_is_refused(keys: small.Json, message: str, tmp_path: Path) -> None:
    parts = catalog(**keys)
    parts["switches"] = [switch for switch in parts["switches"] if switch["id"] != "large"]
    with pytest.raises(InputError, match=message):
        configs(small.solved(CASES["plain"], parts), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("most", [1, 2])
def test_a_cage_is_parted_as_the_platform_does(most: int, tmp_path: Path) -> None:
    parts = catalog()
    for switch in parts["switches"]:
        switch["sonic_ports"]["most_per_cage"] = most
    split = small.solved(CASES["splitters"], parts)
    if most == 2:
        assert configs(split, tmp_path)
        return
    with pytest.raises(
        InputError, match=r"does not part a cage of [0-9]+ switch(es)? into 2 ports .*allowed: up to 1;"
    ):
        configs(split, tmp_path)


@pytest.mark.parametrize("numbered", [False, True], ids=["unnumbered", "numbered"])
@pytest.mark.parametrize("name", CASES)
def test_sonics_models_take_every_file(name: str, numbered: bool, tmp_path: Path) -> None:
    for device, config in configs(design(name, numbered), tmp_path).items():
        assert not list(refused(config)), device


def test_sonics_models_take_the_buffers_of_spectrum(tmp_path: Path) -> None:
    of_spectrum = small.solved(CASES["plain"], catalog(asic="Spectrum-4", buffer_pool={"size": 158_229_504}))
    files = configs(of_spectrum, tmp_path)
    assert "egress_lossy_pool" in files["compute-leaf-001"]["BUFFER_POOL"]
    assert not [problem for config in files.values() for problem in refused(config)]


REFUSED: dict[str, Edit] = {
    "an unknown field": lambda config: config["PORT"]["Ethernet0"].update(colour="red"),
    "no lanes": lambda config: config["PORT"]["Ethernet0"].pop("lanes"),
    "another code": lambda config: config["PORT"]["Ethernet0"].update(fec="reed"),
    "a type of no device": lambda config: config["DEVICE_METADATA"]["localhost"].update(type="Boss"),
    "a VLAN of another number": lambda config: config["VLAN"]["Vlan100"].update(vlanid="101"),
    "a member of no port": lambda config: config["VLAN_MEMBER"].update({"Vlan100|x": {"tagging_mode": "tagged"}}),
    "a VRF that is not there": lambda config: config["VLAN_INTERFACE"]["Vlan100"].update(vrf_name="Vrf-none"),
    "a neighbour of no VRF": lambda config: config["BGP_NEIGHBOR"].update({"Vrf-x|10.0.0.1": {"asn": "1"}}),
    "an autonomous system of 0": lambda config: config["BGP_GLOBALS"]["default"].update(local_asn="0"),
    "a map of no class": lambda config: config["PORT_QOS_MAP"]["Ethernet0"].update(dscp_to_tc_map="none"),
    "a watchdog in no time": lambda config: config["PFC_WD"]["Ethernet0"].update(detection_time="99"),
    "an unknown table": lambda config: config.update(NOTHING={}),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_sonics_models_refuse_is_seen(what: str, tmp_path: Path) -> None:
    config = copy.deepcopy(configs(design("plain", True), tmp_path)["compute-leaf-001"])
    REFUSED[what](config)
    assert len(list(refused(config))) >= 1


# Every one of these is accepted or refused by SONiC's models; none may pass here.
BROKEN: dict[str, Edit] = {
    "speed": lambda config: config["PORT"]["Ethernet0"].update(speed="401000"),
    "mtu": lambda config: config["PORT"]["Ethernet0"].update(mtu="9217"),
    "lanes twice": lambda config: config["PORT"]["Ethernet8"].update(lanes=config["PORT"]["Ethernet0"]["lanes"]),
    "class": lambda config: config["DSCP_TO_TC_MAP"]["AZURE"].update({"26": "9"}),
    "neighbour": lambda config: config["DEVICE_NEIGHBOR"].update(Ethernet999={"name": "x", "port": "y"}),
    "host": lambda config: config["DEVICE_METADATA"]["localhost"].update(hostname="leaf_1"),
    "length": lambda config: config["CABLE_LENGTH"]["AZURE"].update(Ethernet0="2500m"),
    "half a metre": lambda config: config["CABLE_LENGTH"]["AZURE"].update(Ethernet0="3.5m"),
    "length of no port": lambda config: config["CABLE_LENGTH"]["AZURE"].update(Ethernet999="3m"),
    "profile": lambda config: config["BUFFER_PG"]["Ethernet0|3"].update(profile="none"),
    "pool": lambda config: config["BUFFER_PROFILE"]["ingress_lossy_profile"].update(pool="none"),
    "scheduler": lambda config: config["QUEUE"]["Ethernet0|3"].update(scheduler="none"),
    "thresholds": lambda config: next(iter(config["WRED_PROFILE"].values())).update(green_min_threshold="99999999"),
    "watchdog": lambda config: config["PFC_WD"].update(Ethernet999={"action": "drop"}),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_sonic_misses_is_found(what: str, tmp_path: Path) -> None:
    config = copy.deepcopy(configs(design("plain"), tmp_path)["compute-leaf-001"])
    assert list(faults_of(config)) == []
    BROKEN[what](config)
    assert len(list(faults_of(config))) == 1
