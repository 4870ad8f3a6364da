"""Readers of what is cabled: a kind is told by what it holds; files that are cut off or something else are refused."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from fabopt.errors import InputError
from fabopt.inspect.ibnetdiscover import gbps_of
from fabopt.inspect.planned import (
    HostPorts,
    PlannedDevice,
    adapter_order,
    likeliest_ports,
    planned_by_way,
    ports_by_way,
    switch_port,
)
from fabopt.inspect.reading import collected, device_of, read, recognised
from fabopt.inspect.sightings import Discovery, SeenEnd, address, is_unnamed
from fabopt.io.library import MAX_LIST_BYTES
from fabopt.io.tables import text_of
from fabopt.schema.catalog import Switch
from fabopt.wiring.port_names import spelled_out

DISCOVERY = """#
# Topology file: generated on Sun Nov 22 12:00:00 2026
#
# Initiated from node 00000000000000a1 port 00000000000000a1

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x00000000000000b1
switchguid=0x00000000000000b1(00000000000000b1)
Switch\t65 "S-00000000000000b1"\t\t# "MF0;leaf-1:MQM9701/U1" enhanced port 0 lid 73 lmc 0
[1]\t"H-00000000000000a1"[1](00000000000000a1) \t\t# "host-1 mlx5_5" lid 647 4xNDR
[2]\t"H-00000000000000a2"[1](00000000000000a2) \t\t# "MT4129 ConnectX7   Mellanox Technologies" lid 515 2xNDR
[33]\t"S-00000000000000b2"[1]\t\t# "spine-1" lid 236 4xHDR
[65]\t"H-00000000000000c1"[1](00000000000000c1) \t\t# "Mellanox Technologies Aggregation Node" lid 193 4xNDR

switchguid=0x00000000000000b2(00000000000000b2)
Switch\t64 "S-00000000000000b2"\t\t# "spine-1" base port 0 lid 2 lmc 0
[1]\t"S-00000000000000b1"[33]\t\t# "MF0;leaf-1:MQM9701/U1" lid 73 4xHDR

caguid=0x00000000000000c1
Ca\t1 "H-00000000000000c1"\t\t# "Mellanox Technologies Aggregation Node"
[1](00000000000000c1) \t"S-00000000000000b1"[65]\t\t# lid 193 lmc 0 "MF0;leaf-1:MQM9701/U1" lid 73 4xNDR

caguid=0x00000000000000a1
Ca\t1 "H-00000000000000a1"\t\t# "host-1 mlx5_5"
[1](00000000000000a1) \t"S-00000000000000b1"[1]\t\t# lid 647 lmc 0 "MF0;leaf-1:MQM9701/U1" lid 73 4xNDR

caguid=0x00000000000000a2
Ca\t2 "H-00000000000000a2"\t\t# "MT4129 ConnectX7   Mellanox Technologies"
[1](00000000000000a2) \t"S-00000000000000b1"[2]\t\t# lid 515 lmc 0 "MF0;leaf-1:MQM9701/U1" lid 73 2xNDR
"""
LEAF = SeenEnd("leaf-1", (), 1, "", "00000000000000b1")


def test_discovery() -> None:
    report = recognised(DISCOVERY, "file", "file")
    assert report.is_whole
    assert report.reporters == {"leaf-1", "spine-1"}
    host, unnamed, spine, *again = report.sightings
    assert host == (LEAF, SeenEnd("host-1", ("mlx5_5",), None, "00000000000000a1", "00000000000000a1"), 400)
    assert (unnamed.far.device, unnamed.far.ports, unnamed.gbps) == (
        "MT4129 ConnectX7   Mellanox Technologies",
        (),
        200,
    )
    assert is_unnamed(unnamed.far.device)
    assert (spine.far, spine.gbps) == (SeenEnd("spine-1", (), 1, "", "00000000000000b2"), 200)
    assert len(again) == 3


@pytest.mark.parametrize(
    ("text", "gbps"),
    [
        ("4xNDR", 400),
        ("lid 7 4xXDR", 800),
        ("1xSDR", 2.5),
        ("4xFDR10", 40),
        ("2xHDR", 100),
        ("4x???", None),
        ("", None),
    ],
)
def test_speeds(text: str, gbps: float | None) -> None:
    assert gbps_of(text) == gbps


# -- LLDP -----------------------------------------------------------------------------------------------------------


def entry(device: str = "spine-1", port: str = "swp33", kind: str = "ifname") -> dict[str, object]:
    return {
        "via": "LLDP",
        "rid": "2",
        "chassis": {device: {"id": {"type": "mac", "value": "aa:00:00:00:00:01"}}},
        "port": {"id": {"type": kind, "value": port}, "descr": port, "ttl": "4"},
    }


def seen(report: Discovery) -> list[tuple[str, str, str]]:
    return [(own.near.ports[0], own.far.device, next(iter(own.far.ports), "")) for own in report.sightings]


def test_lldpctl_of_several_neighbours() -> None:
    text = json.dumps({"lldp": {"interface": [{"swp1": entry()}, {"swp2": entry(port="swp34")}]}})
    report = recognised(text, "leaf-1.json", "leaf-1")
    assert seen(report) == [("swp1", "spine-1", "swp33"), ("swp2", "spine-1", "swp34")]
    assert (report.reporters, report.is_whole) == ({"leaf-1"}, False)


def test_lldpctl_of_one_neighbour_and_of_none() -> None:
    one = json.dumps({"lldp": {"interface": {"swp1": entry()}}})
    assert seen(recognised(one, "file", "leaf-1")) == [("swp1", "spine-1", "swp33")]
    none = recognised('{"lldp": {}}', "file", "leaf-1")
    assert (seen(none), none.reporters) == ([], {"leaf-1"})


def test_lldpctl_of_a_mac_and_of_a_device_without_a_name() -> None:
    mac = "b8:ce:f6:00:00:01"
    nameless = {"chassis": {"id": {"type": "mac", "value": mac}}, "port": {"id": {"type": "mac", "value": mac}}}
    text = json.dumps({"lldp": {"interface": [{"swp1": entry("server-1", mac, "mac")}, {"swp2": nameless}]}})
    first, second = recognised(text, "file", "leaf-1").sightings
    assert (first.far.ports, first.far.guid) == ((), "b8cef6000001")
    assert is_unnamed(second.far.device)


def test_lldpctl_with_lists_only() -> None:
    interface = {
        "name": "swp1",
        "chassis": [{"id": [{"type": "mac", "value": "x"}], "name": [{"value": "spine-1"}]}],
        "port": [{"id": [{"type": "ifname", "value": "swp33"}], "descr": [{"value": "uplink"}]}],
    }
    text = json.dumps({"lldp": [{"interface": [interface, {**interface, "name": "swp2"}]}]})
    assert seen(recognised(text, "file", "leaf-1")) == [("swp1", "spine-1", "swp33"), ("swp2", "spine-1", "swp33")]


KEY_VALUES = """lldp.swp1.via=LLDP
lldp.swp1.chassis.name=spine-1
lldp.swp1.chassis.descr=a text
of two lines
lldp.swp1.port.ifname=swp33
lldp.swp1.via=LLDP
lldp.swp1.chassis.name=spine-2
lldp.swp1.port.mac=aa:00:00:00:00:02
lldp.swp2.via=LLDP
lldp.swp2.chassis.mac=aa:00:00:00:00:03
lldp.swp2.unknown-tlvs.unknown-tlv.oui=00,01
"""


def test_key_values() -> None:
    report = recognised(KEY_VALUES, "file", "leaf-1")
    assert [(near, far) for near, far, _ in seen(report)] == [
        ("swp1", "spine-1"), ("swp1", "spine-2"), ("swp2", "aa:00:00:00:00:03"),
    ]  # fmt: skip
    assert report.sightings[1].far.guid == "aa0000000002"


SONIC = """Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet0    spine-1         40:14:82:8a:16:00  BR            Ethernet8
Ethernet8    spine-2         etp2a              BR            Interface   8
eth0         oob             swp6               BR
--------------------------------------------------
Total entries displayed:  3
"""


def test_table_of_sonic() -> None:
    first, second, third = recognised(SONIC, "file", "leaf-1").sightings
    assert (first.far.device, first.far.ports, first.far.guid) == ("spine-1", ("Ethernet8",), "4014828a1600")
    assert second.far.ports == ("etp2a", "Interface   8")
    assert third.near.ports == ("eth0",)


CUMULUS = """Interface  Speed  Type  Remote Host      Remote Port
---------  -----  ----  ---------------  -----------------
eth0       1G     eth   oob-mgmt-switch  swp10
swp1s0     200G   swp   server-0001      44:38:39:00:00:32
swp49      400G   swp   spine-1          swp1
"""


def test_table_of_cumulus() -> None:
    _, server, spine = recognised(CUMULUS, "file", "leaf-1").sightings
    assert (server.far.device, server.far.guid, server.gbps) == ("server-0001", "443839000032", 200)
    assert (spine.near.ports, spine.far.ports, spine.gbps) == (("swp49",), ("swp1",), 400)


EOS = """Last table change time   : 0:12:03 ago
Number of table inserts  : 2

Port          Neighbor Device ID       Neighbor Port ID    TTL
------------- ------------------------ ------------------- ---
Et1/1         spine-1                  Ethernet3/1         120
Et2/1         server-0001              4438.3900.0032      120
"""


def test_table_of_eos() -> None:
    spine, server = recognised(EOS, "file", "leaf-1").sightings
    assert (spine.near.ports, spine.far.device, spine.far.ports) == (("Et1/1",), "spine-1", ("Ethernet3/1",))
    assert (server.far.device, server.far.guid) == ("server-0001", "443839000032")


DASHES = "-" * 79
BLOCKS = f"""{DASHES}
LLDP neighbors:
{DASHES}
Interface:    swp49, via: LLDP, RID: 3, Time: 0 day, 02:58:28
  Chassis:
    ChassisID:    mac 44:38:39:00:00:01
    SysName:      spine-1
    SysDescr:     Cumulus Linux
  Port:
    PortID:       ifname swp1
    PortDescr:    to leaf-1
    TTL:          120
{DASHES}
Interface:    swp1s0, via: LLDP, RID: 4, Time: 0 day, 02:58:28
  Chassis:
    ChassisID:    mac 44:38:39:00:00:32
  Port:
    PortID:       mac 44:38:39:00:00:32
    TTL:          120
{DASHES}
"""


def test_blocks_of_lldpctl() -> None:
    spine, server = recognised(BLOCKS, "file", "leaf-1").sightings
    assert (spine.near.ports, spine.far.device, spine.far.ports) == (("swp49",), "spine-1", ("swp1", "to leaf-1"))
    assert (server.far.device, server.far.guid) == ("44:38:39:00:00:32", "443839000032")
    for rows in range(5, BLOCKS.count("\n")):
        if rows != 13:
            with pytest.raises(InputError, match="cut off"):
                recognised("\n".join(BLOCKS.splitlines()[:rows]) + "\n", "file", "leaf-1")


def test_eos() -> None:
    brief = {"lldpNeighbors": [{"port": "Ethernet1/1", "neighborDevice": "spine-1", "neighborPort": "Ethernet3/1"}]}
    info = {
        "systemName": "spine-1",
        "neighborInterfaceInfo": {"interfaceId": '"Ethernet3/1"', "interfaceId_v2": "Ethernet3/1"},
    }
    detail = {"lldpNeighbors": {"Ethernet1/1": {"lldpNeighborInfo": [info]}, "Ethernet2/1": {"lldpNeighborInfo": []}}}
    for content in (brief, detail):
        assert seen(recognised(json.dumps(content), "file", "leaf-1")) == [("Ethernet1/1", "spine-1", "Ethernet3/1")]


# -- tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_tables_of_cables(delimiter: str) -> None:
    text = "# by hand\nz-node name,Z-Port,A-Node Name,A-Port,note\nleaf-1,17/1,server-1,nic1p1,x\n\n".replace(
        ",", delimiter
    )
    report = recognised(text, "file", "file")
    assert [(own.near.device, own.far.ports) for own in report.sightings] == [("server-1", ("17/1",))]
    assert report.is_whole


# -- names of ports -------------------------------------------------------------------------------------------------


def leaf(lanes: int) -> PlannedDevice:
    ports = {
        (cage, lane): f"swp{cage}s{lane}" if lanes > 1 else f"swp{cage}" for cage in (1, 2, 3) for lane in range(lanes)
    }
    return PlannedDevice("leaf", 1, "ethernet", 0, ports, dict.fromkeys((1, 2, 3), lanes))


@pytest.mark.parametrize(
    ("lanes", "seen_names", "form_factor", "name", "planned"),
    [
        (1, ["Ethernet0", "Ethernet8"], "OSFP", "Ethernet16", "swp3"),
        (2, ["Ethernet0", "Ethernet4"], "OSFP", "Ethernet12", "swp2s1"),
        (2, ["Ethernet1", "Ethernet5"], "QSFP-DD", "Ethernet13", "swp2s1"),
        (1, ["Ethernet0", "Ethernet4"], "QSFP28", "Ethernet8", "swp3"),
        (2, [], "OSFP", "etp2b", "swp2s1"),
        (1, [], "OSFP", "etp2", "swp2"),
        (2, ["Ethernet1/1"], "OSFP", "Ethernet3/2", "swp3s1"),
        (2, ["Ethernet1/1"], "OSFP", "Ethernet3/5", "swp3s1"),
        (4, ["Et1/1", "Et1/5"], "QSFP-DD", "Et3/3", "swp3s1"),
        (4, ["Et1/1", "Et1/2"], "QSFP-DD", "Et3/3", "swp3s2"),
        (4, ["Et1/1"], "QSFP28", "Et3/4", "swp3s3"),
        (1, ["Ethernet1/1"], "OSFP", "Et2/1", "swp2"),
        (1, ["Ethernet1", "Ethernet2", "Ethernet3"], "OSFP", "Ethernet3", "swp3"),
        (2, [], "OSFP", "swp1", "swp1"),
        (2, [], "OSFP", "swp9s1", "swp9s1"),
        (1, [], "OSFP", "eth0", ""),
    ],
)
def test_names_of_ports(lanes: int, seen_names: list[str], form_factor: str, name: str, planned: str) -> None:
    device = leaf(lanes)
    cages = [{"count": 32, "form_factor": form_factor, "splits": ["1x400", "2x200", "4x100"]}]
    switch = Switch.model_validate_json(json.dumps({"id": "leaf", "protocol": "ethernet", "cages": cages}))
    ways, names = ports_by_way(device, switch, "", lanes), [spelled_out(text) for text in (*seen_names, name)]
    ports = likeliest_ports(ways, names, planned_by_way(ways, device, names))
    assert switch_port(name, device, ports) == planned


COMPUTE = tuple(f"nic{number}p1" for number in range(3, 7))
STORAGE = ("nic7p1", "nic8p1")


@pytest.mark.parametrize(
    ("of_networks", "numbers", "first", "last"),
    [
        ((*COMPUTE, *STORAGE), range(6), "nic3p1", "nic8p1"),
        (COMPUTE, range(4), "nic3p1", "nic6p1"),
        (COMPUTE, (0, 3, 5, 9), "nic3p1", "nic6p1"),
        (STORAGE, (4, 5), "nic7p1", "nic8p1"),
        (STORAGE, (7, 8), "nic7p1", "nic8p1"),
        (COMPUTE, (0, 3, 9), "", ""),
    ],
)
def test_adapters_are_ports_in_order(of_networks: tuple[str, ...], numbers: range, first: str, last: str) -> None:
    """A host with two Ethernet ports, four of a compute fabric and two of a storage fabric, both InfiniBand."""
    ports = HostPorts((*COMPUTE, *STORAGE), of_networks)
    order = adapter_order((ports, f"mlx5_{number}") for number in numbers)
    assert [order.port(f"mlx5_{number}", ports) for number in (min(numbers), max(numbers))] == [first, last]
    assert order.port("mlx5_77", ports) == order.port("eth0", ports) == ""


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0xe09d7303007a4bd8", "e09d7303007a4bd8"), ("AA:BB:cc:00:11:22", "aabbcc001122"),
     ("001c.730b.d943", "001c730bd943"), ("nic1p1", ""), ("swp33", ""), ("1/1", "")],
)  # fmt: skip
def test_addresses(text: str, digits: str) -> None:
    assert address(text) == digits


# -- files that cannot be read --------------------------------------------------------------------------------------


def fails(text: str, match: str) -> None:
    with pytest.raises(InputError, match=match):
        recognised(text, "file", "file")


def test_a_discovery_that_is_cut_off() -> None:
    whole = len(DISCOVERY)
    for end in range(0, whole - 1, 7):
        text = DISCOVERY[:end]
        if text.strip() and end < DISCOVERY.rindex("[1]") - 40:
            with pytest.raises(InputError):
                recognised(text, "file", "file")
    fails(DISCOVERY[: DISCOVERY.index("caguid")], "2 nodes that others are joined to without a record|3 nodes")
    fails(DISCOVERY[:-30], "line 30: the file is cut off: its last line has no end")
    fails("# Topology file: generated\n", "cut off: no switch and no adapter is in it")


def test_a_line_that_is_none_of_a_discovery() -> None:
    fails(
        DISCOVERY.replace("caguid=0x00000000000000a1", "hello"), "line 24: not a line of ibnetdiscover; found 'hello'"
    )


def test_a_table_of_sonic_that_is_cut_off() -> None:
    """Where the last line is not there, what is not in the table may be joined to something all the same."""
    short = recognised(SONIC.replace("eth0", "#", 1).partition("#")[0], "file", "leaf-1")
    whole = recognised(SONIC, "file", "leaf-1")
    assert list(short.sightings) == list(whole.sightings)[: len(short.sightings)]
    assert (short.reporters, whole.reporters) == (frozenset(), frozenset({"leaf-1"}))
    without_end = recognised(SONIC.partition("-----\nTotal")[0].rpartition("\n")[0] + "\n", "file", "leaf-1")
    assert (list(without_end.sightings), without_end.reporters) == (list(whole.sightings), frozenset())
    fails(SONIC.replace("displayed:  3", "displayed:  4"), "4 entries are said to be displayed, and 3 are there")


def test_key_values_that_are_cut_off() -> None:
    fails("lldp.swp1.via=LLDP\nlldp.swp1.chas", "line 2: the file is cut off")


def test_json_of_something_else() -> None:
    fails('{"lldp": {"interface": [{"swp1"', "not JSON")
    fails('{"hosts": []}', "this is not a report of LLDP neighbours")
    fails('{"lldp": {"interface": ["swp1"]}}', "the neighbours are not as `lldpctl`, EOS or NVUE writes them")


def test_tables_of_something_else() -> None:
    fails("A-Node Name,Z-Node Name\n", "no column A-Port, Z-Port; allowed: a title row")
    fails("A-Node Name,A-Port,Z-Node Name,Z-Port\na,1,b\n", "line 2: a row of 3 values under 4 titles")
    fails("Interface Remote Host\n--- --- ---\n", "a table without Interface, Remote Host, Remote Port")
    fails("hello\n" * 9, "none of the kinds of files")


def test_other_encodings() -> None:
    for data, match in (
        (DISCOVERY.encode("utf-16"), "UTF-16; allowed: UTF-8; save it as UTF-8"),
        ("caf\u00e9\n".encode("latin-1"), r"not UTF-8 text \(line 1\)"),
        (b" \n", "the file is empty"),
        (b"a\0b", "zero bytes"),
    ):
        with pytest.raises(InputError, match=match):
            text_of(data, "file")
    assert text_of(b"\xef\xbb\xbfa", "file") == "a"


def test_whatever_is_read_is_read_or_refused() -> None:
    """Files with random pieces cut, doubled, exchanged for those of others: no other error comes of them."""
    interface = {"name": "swp1", "chassis": [{"name": [{"value": "spine-1"}]}], "port": [{"id": [{"value": "swp33"}]}]}
    texts = [
        DISCOVERY,
        SONIC,
        CUMULUS,
        json.dumps({"lldp": {"interface": [{"swp1": entry()}, {"swp2": entry()}]}}),
        json.dumps({"lldp": [{"interface": [interface]}]}),
        json.dumps(
            {"lldpNeighbors": [{"port": "Ethernet1", "neighborDevice": "spine-1", "neighborPort": "Ethernet3"}]}
        ),
        json.dumps({"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [{"systemName": "spine-1"}]}}}),
        "lldp.swp1.via=LLDP\nlldp.swp1.chassis.name=spine-1\nlldp.swp1.port.ifname=x\n",
        "A-Node Name,A-Port,Z-Node Name,Z-Port\na,1,b,2\n",
    ]
    draw = random.Random(0)
    refused = 0
    for _ in range(3000):
        text = draw.choice(texts)
        for _ in range(draw.randrange(1, 5)):
            start, other = draw.randrange(len(text)), draw.choice(texts)
            end, piece = start + draw.randrange(12), draw.randrange(len(other))
            text = text[:start] + draw.choice(["", text[start:end] * 2, other[piece : piece + 9], "[]"]) + text[end:]
            text = text or "x"
        try:
            assert list(recognised(text, "file", "leaf-1").sightings) is not None
        except InputError:
            refused += 1
    assert 1000 < refused < 3000


def test_folders_and_sizes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder of 0 files"):
        list(read([str(tmp_path)]))
    (tmp_path / "leaf-1.example.com.json").write_text('{"lldp": {}}')
    (tmp_path / ".hidden").write_text("x")
    assert [report.reporters for report in read([str(tmp_path)])] == [{"leaf-1.example.com"}]
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(MAX_LIST_BYTES + 1)
    with pytest.raises(InputError, match="too large; allowed: up to 32,000,000 bytes"):
        list(read([str(tmp_path / "large")]))
    with pytest.raises(InputError, match="no such file"):
        list(read([str(tmp_path / "none")]))
    assert device_of("a/leaf-1.lldp.txt") == "leaf-1"


# -- what else people have ------------------------------------------------------------------------------------------

LINES = (Path(__file__).parent / "logs" / "iblinkinfo.txt").read_text()


def named_ends(report: Discovery) -> set[tuple[object, ...]]:
    return {(end.device, end.ports, end.number) for own in report.sightings for end in (own.near, own.far)}


def test_link_lists_of_infiniband() -> None:
    """Both forms of iblinkinfo and that of ibnetdiscover -p, of the same three links; ports that are down are none."""
    parts = [recognised(text.lstrip("\n"), "file", "x") for text in LINES.split("# --\n")]
    wanted = {("leaf-1", (), 1), ("leaf-1", (), 33), ("leaf-2", (), 33), ("spine-1", (), 1), ("spine-1", (), 2),
              ("server-1", ("mlx5_0",), None)}  # fmt: skip
    for part in parts:
        assert named_ends(part) == wanted
        assert {own.gbps for own in part.sightings} == {400.0}
        assert (part.is_whole, part.reporters) == (True, {"leaf-1", "leaf-2", "spine-1"})
    fails(LINES.split("# --\n")[0] + "hello\n", "not a line of a list of links; found 'hello'")


def test_groups_of_a_discovery_are_passed_over() -> None:
    grouped = DISCOVERY.replace("switchguid=", "\nNon-Chassis Nodes\n\nswitchguid=", 1)
    grouped = re.sub(r"(switchguid=\S+)", r"\1\t# ", grouped)
    assert list(recognised(grouped, "file", "x").sightings) == list(recognised(DISCOVERY, "file", "x").sightings)


def test_nvue() -> None:
    """Ports of ``nv show interface --view lldp -o json``, one without a neighbour."""
    far = {
        "chassis": {"system-name": "spine-1", "chassis-id": "aa:00:00:00:00:01"},
        "port": {"name": "swp33", "type": "ifname"},
    }
    content = {
        "swp1": {"link": {"speed": "400G"}, "lldp": {"neighbor": {"spine-1": far}}},
        "swp2": {"lldp": {"neighbor": {"spine-1": {"port": "swp34"}}}},
        "swp3": {"lldp": {"dcbx-ets-config-tlv": "off"}},
    }
    report = recognised(json.dumps(content), "leaf-1.json", "leaf-1")
    assert seen(report) == [("swp1", "spine-1", "swp33"), ("swp2", "spine-1", "swp34")]
    assert [own.gbps for own in report.sightings] == [400.0, None]
    assert recognised(json.dumps({"interface": content}), "x", "leaf-1").sightings == report.sightings


def test_the_api_of_eos() -> None:
    neighbour = {"port": "Ethernet1/1", "neighborDevice": "spine-1", "neighborPort": "Ethernet5/1", "ttl": 120}
    content = {
        "jsonrpc": "2.0",
        "id": "1",
        "result": [{"hostname": "leaf-7", "fqdn": "leaf-7"}, {"lldpNeighbors": [neighbour]}],
    }
    report = recognised(json.dumps(content), "file", "x")
    assert (seen(report), report.reporters) == ([("Ethernet1/1", "spine-1", "Ethernet5/1")], {"leaf-7"})
    content["result"] = content["result"][1:]
    assert recognised(json.dumps(content), "file", "leaf-2").reporters == {"leaf-2"}
    (reply,) = content["result"]
    for other in ({"changed": False, "stdout": [reply]}, [reply], [{"command": "x", "result": reply}]):
        assert seen(recognised(json.dumps(other), "file", "leaf-2")) == seen(report)


@pytest.mark.parametrize("head", ["{0} | {1}", "{0}: {1}", "{0} |{1}"])
def test_lines_of_several_hosts(head: str) -> None:
    lines = [head.format(host, line) for line in SONIC.splitlines() for host in ("leaf-1", "leaf-2")]
    reports = list(collected("\n".join(lines) + "\n", "all.txt", "all"))
    assert [report.reporters for report in reports] == [{"leaf-1"}, {"leaf-2"}]
    whole = recognised(SONIC, "x", "x")
    assert all([own.far for own in report.sightings] == [own.far for own in whole.sightings] for report in reports)


def test_headings_between_hosts_are_no_lines_of_theirs() -> None:
    rule, tagged = "=" * 40, "".join(f"leaf-1 | {line}\n" for line in CUMULUS.splitlines())
    other = tagged.replace("leaf-1", "leaf-2")
    text = f"{rule}\nRunning: nv show interface lldp\n{rule}\n{tagged}{rule}\n\x1b[1;92mleaf-2\x1b[0m{other[6:]}"
    reports = list(collected(text_of(text.encode(), "all.txt"), "all.txt", "all"))
    assert [(*report.reporters, len(report.sightings)) for report in reports] == [("leaf-1", 3), ("leaf-2", 3)]
    first, *rest = tagged.splitlines(keepends=True)
    for torn in (f"{first}swp3 400G\n{''.join(rest)}", f"{tagged}swp3 400G\n", f"{tagged}{first}{rule}\n{rest[0]}"):
        with pytest.raises(InputError, match="none of the kinds"):
            list(collected(torn, "all.txt", "all"))


def test_blocks_of_several_hosts() -> None:
    """What ansible prints of a command on all switches."""
    text = "".join(f"{host} | CHANGED | rc=0 >>\n{SONIC}\n" for host in ("leaf-1", "leaf-2"))
    assert [report.reporters for report in collected(text, "all.txt", "all")] == [{"leaf-1"}, {"leaf-2"}]
    assert [report.reporters for report in collected(SONIC, "leaf-9.txt", "leaf-9")] == [{"leaf-9"}]


@pytest.mark.parametrize("table", [SONIC, CUMULUS, KEY_VALUES])
def test_blocks_below_a_name_between_dashes(table: str) -> None:
    """What clush and dshbak print of a command on all switches."""
    text = "".join(f"----------------\n{host}\n----------------\n{table}" for host in ("leaf-1", "leaf-2"))
    reports = list(collected(text, "all.txt", "all"))
    assert [report.reporters for report in reports] == [{"leaf-1"}, {"leaf-2"}]
    alone = recognised(table, "x", "x")
    assert all([own.far for own in report.sightings] == [own.far for own in alone.sightings] for report in reports)


NEIGHBOURS = json.dumps({"lldpNeighbors": [{"port": "Et1", "neighborDevice": "a", "neighborPort": "Et2"}]}, indent=1)


@pytest.mark.parametrize("prompt", ["admin@leaf-1:~$ ", "leaf-1#", "leaf-1(config)# "])
@pytest.mark.parametrize("told", [SONIC, CUMULUS, EOS, BLOCKS, NEIGHBOURS, DISCOVERY])
def test_prompts_above_and_below_are_no_lines(told: str, prompt: str) -> None:
    whole = f"{prompt}show lldp neighbors | json \n{told}\n{prompt}\n"
    for text in (whole, f"{told}\n{prompt}\n"):
        assert recognised(text, "x", "x").sightings == recognised(told, "x", "x").sightings


def test_spaces_at_the_ends_of_lines() -> None:
    for text in (SONIC, CUMULUS, KEY_VALUES, *LINES.split("# --\n")):
        spaced = text.lstrip("\n").replace("\n", "  \r\n")
        assert recognised(spaced, "x", "x").sightings == recognised(text.lstrip("\n"), "x", "x").sightings
