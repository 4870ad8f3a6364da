"""Faults that SONiC's own models accept, and faults they refuse: found before a file is written.

``src/sonic-yang-models`` of sonic-net/sonic-buildimage 086b03bd accept speeds that do not exist, classes above 7,
neighbours on unknown ports, an underscore in the name of a host, and lanes of two ports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from fabopt.wiring.port_names import LONGEST

Config: TypeAlias = Mapping[str, Mapping[str, Mapping[str, object]]]
SPEEDS_MBPS = frozenset((1000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000))
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_LENGTH = re.compile(r"[0-9]+m")
_MOST_M, _MOST_MTU, _MOST_PRIORITY = 2000, 9216, 7
# Tables whose keys begin with a port, and other beginnings of their keys.
_OF_PORTS: Mapping[str, tuple[str, ...]] = {
    "DEVICE_NEIGHBOR": (), "BUFFER_PG": (), "BUFFER_QUEUE": (), "QUEUE": (), "PORT_QOS_MAP": ("global",),
    "PFC_WD": ("GLOBAL",), "INTERFACE": (),
}  # fmt: skip
# Fields that name a row of a table, of a table.
_NAMED: Mapping[str, Mapping[str, str]] = {
    "BUFFER_PROFILE": {"pool": "BUFFER_POOL"},
    "BUFFER_PG": {"profile": "BUFFER_PROFILE"},
    "BUFFER_QUEUE": {"profile": "BUFFER_PROFILE"},
    "VLAN_SUB_INTERFACE": {"vrf_name": "VRF"}, "INTERFACE": {"vrf_name": "VRF"}, "VLAN_INTERFACE": {"vrf_name": "VRF"},
    "QUEUE": {"scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE"},
    "PORT_QOS_MAP": {
        "dscp_to_tc_map": "DSCP_TO_TC_MAP", "tc_to_queue_map": "TC_TO_QUEUE_MAP",
        "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP", "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    },
}  # fmt: skip
_MAPS = ("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE")


def faults_of(config: Config) -> Iterator[tuple[str, str]]:
    """Yield place and fault; none for a file that can be loaded."""
    yield from _host(config)
    yield from _ports(config)
    yield from _references(config)
    yield from _lengths(config)
    yield from _queues(config)


def _rows(config: Config, table: str) -> Mapping[str, Mapping[str, object]]:
    return config.get(table, {})


def _host(config: Config) -> Iterator[tuple[str, str]]:
    name = str(_rows(config, "DEVICE_METADATA").get("localhost", {}).get("hostname", ""))
    if not _HOST.fullmatch(name):
        yield "DEVICE_METADATA", f"{name!r} is no name of a host"


def _ports(config: Config) -> Iterator[tuple[str, str]]:
    owners: dict[str, str] = {}
    for name, port in _rows(config, "PORT").items():
        if int(str(port["speed"])) not in SPEEDS_MBPS:
            yield f"PORT|{name}", f"there is no speed of {port['speed']} Mb/s"
        if int(str(port.get("mtu", _MOST_MTU))) > _MOST_MTU:
            yield f"PORT|{name}", f"an MTU of {port['mtu']} is more than {_MOST_MTU}"
        lanes = str(port["lanes"]).split(",")
        taken = [lane for lane in lanes if owners.setdefault(lane, name) != name]
        if taken:
            yield f"PORT|{name}", f"lane {taken[0]} is of {owners[taken[0]]} too"


def _references(config: Config) -> Iterator[tuple[str, str]]:
    ports = _rows(config, "PORT")
    for table, others in _OF_PORTS.items():
        for key in _rows(config, table):
            name = key.partition("|")[0]
            if name not in ports and name not in others:
                yield f"{table}|{key}", f"there is no port {name}"
    for key in _rows(config, "VLAN_SUB_INTERFACE"):
        name = key.partition("|")[0]
        if name.partition(".")[0] not in {other for port in ports for other in (port, port.replace("Ethernet", "Eth"))}:
            yield f"VLAN_SUB_INTERFACE|{key}", f"there is no port of {name}"
        if len(name) > LONGEST:
            yield f"VLAN_SUB_INTERFACE|{key}", f"{name} has more than {LONGEST} letters"
    for table, fields in _NAMED.items():
        for key, row in _rows(config, table).items():
            for field, other in fields.items():
                if field in row and row[field] not in _rows(config, other):
                    yield f"{table}|{key}", f"there is no {other} {row[field]}"


def _lengths(config: Config) -> Iterator[tuple[str, str]]:
    for name, ports in _rows(config, "CABLE_LENGTH").items():
        for port, length in ports.items():
            if port not in _rows(config, "PORT"):
                yield f"CABLE_LENGTH|{name}", f"there is no port {port}"
            if not _LENGTH.fullmatch(str(length)) or int(str(length)[:-1]) > _MOST_M:
                yield f"CABLE_LENGTH|{name}", f"{port}: {length} is no length in whole metres up to {_MOST_M}"


def _queues(config: Config) -> Iterator[tuple[str, str]]:
    for table in _MAPS:
        for name, classes in _rows(config, table).items():
            for key, priority in classes.items():
                if int(str(priority)) > _MOST_PRIORITY:
                    yield f"{table}|{name}", f"{key}: there is no class {priority}"
    for name, row in _rows(config, "WRED_PROFILE").items():
        if int(str(row["green_min_threshold"])) >= int(str(row["green_max_threshold"])):
            yield f"WRED_PROFILE|{name}", "the lower threshold is not below the upper one"
