"""The Launch Kit's topology, read back by what its documentation asks of a file: every host has an address of its own
for each rail and plane, at the leaf that the design has there.
"""

from __future__ import annotations

import copy
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.output.export import launch_kit
from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.samples import small
from tests.samples.designs_of_families import designed
from tests.samples.operate import planned
from tests.samples.shipped import shipped
from tests.solution import test_brute_force as tiny
from tests.topology import test_rails

Json = dict[str, Any]


def in_planes(planes: int, ports: int = 0, servers: int = 9, **fabric: Any) -> Design:
    """Servers with two cards, whose ports are dealt over planes."""
    parts = tiny.catalog(
        switches=[tiny.switch("switch", tiny.cage(16, "1x100"))],
        nics=[tiny.card("card", tiny.cage(ports or planes, "1x100"))],
    )
    number = (ports or planes) * 200
    wanted = {"min_gbps_per_gpu": number, "nics_per_server": 2, "tiers": 2, "planes": planes, **fabric}
    return small.solved(tiny.case(servers, wanted), copy.deepcopy(parts))


def written(design: Design, folder: Path, stage: int | None = None) -> tuple[Json, Json]:
    """The topology and the profile."""
    paths = {
        path.name: path for path in export(design, wiring_of(design), ["launch-kit"], folder, Options(stage=stage))
    }
    name = design.fabrics[0].name
    topology = json.loads(paths[f"{name}-topology.json"].read_text())
    return topology, yaml.safe_load(paths[f"{name}-profile.yaml"].read_text())["profile"]


def read(topology: Json, scheme: str) -> Counter[tuple[str, str, str, int, int, int, int]]:
    """Links as the kit reads them: host, leaf and its port, plane, rail, pod, unit; what it refuses fails."""
    roles = {node["name"]: node["role"] for node in topology["nodes"]}
    assert len(roles) == len(topology["nodes"]) and set(roles.values()) == {"host", "leaf"}
    found: Counter[tuple[str, str, str, int, int, int, int]] = Counter()
    for link in topology["links"]:
        ends = {end["attributes"]["role"]: end for end in link}
        assert len(link) == 2 and set(ends) == {"host", "leaf"}
        host, leaf = ends["host"], ends["leaf"]
        assert all(roles[end["node"]] == role for role, end in ends.items())
        at, above = host["attributes"], leaf["attributes"]
        assert at["rail"] in above["rail_group"] and (at["pod"], at["su"]) == (above["pod"], above["su"])
        assert scheme == "3-tier" or at["pod"] == 0
        place = (above["plane"], at["rail"], at["pod"], at["su"])
        found[(host["node"], leaf["node"], leaf["interface"], *place)] += 1
    return found


DESIGNS: dict[str, Callable[[], Design]] = {
    "one plane": lambda: in_planes(1),
    "two planes": lambda: in_planes(2),
    "four planes": lambda: in_planes(4, servers=17),
    "three tiers": lambda: in_planes(2, servers=40, tiers=3, max_oversubscription=3),
    "several rails a leaf": lambda: in_planes(2, rails="any", servers=12),
    "rails as planes": lambda: test_rails.design(tiny.case(5, {"planes": "rails", "min_gbps_per_gpu": 200})),
    "rail-only": lambda: test_rails.design(tiny.case(5, {"topologies": ["rail-only"], "min_gbps_per_gpu": 200})),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_every_host_has_an_address_a_rail_and_plane(name: str, tmp_path: Path) -> None:
    """By the kit's layout of IPv6, fd02:00PP:RRDD:SSHH: plane, rail, pod, unit, host, a byte each."""
    design = DESIGNS[name]()
    topology, profile = written(design, tmp_path)
    said = profile["spectrumX"]
    assert said["topologyType"] == f"{len(design.fabrics[0].tiers)}-tier" and said["numberOfPlanes"] in (1, 2, 4)
    assert said["multiplaneMode"] == ("none" if said["numberOfPlanes"] == 1 else "swplb")
    assert said["topologyFile"] == "./compute-topology.json" and said["ipVersion"] == "ipv4"
    links = read(topology, said["topologyType"])
    assert set(links.values()) == {1}
    hosts: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    addresses: dict[tuple[int, ...], str] = {}
    for host, _, _, plane, rail, pod, unit in links:
        number = hosts[pod, unit].setdefault(host, len(hosts[pod, unit]))
        address = (plane, rail, pod, unit, number)
        assert max(address) < 128 and addresses.setdefault(address, host) == host
    rails = {rail for *_, rail, _, _ in links}
    wanted = len({host for host, *_ in links}) * len(rails) * said["numberOfPlanes"]
    assert len(links) == len(addresses) == wanted and rails == set(range(len(rails)))


@pytest.mark.parametrize("name", DESIGNS)
def test_links_are_those_of_the_design(name: str, tmp_path: Path) -> None:
    """Host, leaf and its port; leaves of a plane are those of that plane, units the groups of a pod."""
    design = DESIGNS[name]()
    topology, profile = written(design, tmp_path)
    plan, planes = planned(design), profile["spectrumX"]["numberOfPlanes"]
    expected, places = Counter[tuple[str, str, str]](), {}
    for link in plan.links:
        near, far = plan.device_at[link.a.device], plan.device_at[link.b.device]
        if near.role == "server":
            expected[near.name.lower(), far.name, link.b.name] += 1
            places[far.name] = (far.plane - 1 if planes > 1 else 0, far.group)
    links = read(topology, profile["spectrumX"]["topologyType"])
    assert Counter(link[:3] for link in links) == expected
    assert all(places[leaf][0] == plane for _, leaf, _, plane, *_ in links)
    units = {(pod, unit): places[leaf][1] for _, leaf, _, _, _, pod, unit in links}
    assert all(units[pod, unit] == places[leaf][1] for _, leaf, _, _, _, pod, unit in links)


def test_a_stage_has_its_servers(tmp_path: Path) -> None:
    first, last = (written(designed("growth"), tmp_path / str(stage), stage)[0] for stage in (0, None))
    assert len(first["nodes"]) < len(last["nodes"])


def branded(vendor: str) -> Design:
    parts = small.catalog()
    small.product(parts, "nic-400")["vendor"] = vendor
    return small.solved(small.case({"nics": ["nic-400"]}), parts)


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (lambda: branded("Broadcom"), "it sets up NICs of NVIDIA, and nic-400 is of Broadcom"),
        (lambda: in_planes(8, servers=4), "it takes 1, 2 or 4 planes, and there are 8"),
        (lambda: in_planes(2, 4), "it gives a NIC one address a plane, and there are 2 ports in each"),
        (lambda: in_planes(1, tiers=1, servers=6), "its schemes are of two and three tiers"),
        (lambda: designed("dragonfly"), "its schemes are of two and three tiers"),
        (lambda: shipped("dgx-superpod-32"), "its topologies are of Ethernet, and this is InfiniBand"),
    ],
)
def test_what_the_kit_does_not_know_is_refused(design: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        written(design(), tmp_path)


def links_of(scheme: str, rails: int = 1, pods: int = 1, units: int = 1, hosts: int = 1) -> Any:
    """What the format says of the version of addresses for so many of each."""
    link = launch_kit.HostLink("", "leaf", "eth_r0", "swp1", 0, 0, 0, 0)
    largest = link._replace(rail=rails - 1, pod=pods - 1, unit=units - 1)
    return launch_kit.ip_version([largest._replace(host=str(host)) for host in range(hosts)], scheme)


def test_addresses_that_have_no_room() -> None:
    """IPv4: 8 rails, 32 pods, 64 units, 128 hosts of one; IPv6: a byte each."""
    assert links_of("2-tier", rails=8, units=64, hosts=128) == links_of("3-tier", pods=32) == "ipv4"
    assert {links_of("2-tier", rails=9), links_of("2-tier", units=256), links_of("3-tier", pods=33)} == {"ipv6"}
    assert links_of("2-tier", hosts=256) == "ipv6"
    with pytest.raises(launch_kit.LaunchKitError, match="room for 256 servers in a unit, and there are 257"):
        links_of("3-tier", hosts=257)


def test_the_maker_s_own_nics_are_not(tmp_path: Path) -> None:
    assert written(branded("NVIDIA"), tmp_path)[0]["links"]
