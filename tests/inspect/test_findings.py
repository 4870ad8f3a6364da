"""``fabopt.inspect``: every kind of fault is found and told apart, none is invented, and the repairs give the plan."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from fabopt.errors import InputError
from fabopt.inspect.as_built import AsBuilt
from fabopt.inspect.cabling import Names, proposed_names
from fabopt.inspect.cabling_csv import guids_of, mapped
from fabopt.inspect.planned import PortName
from fabopt.inspect.reading import recognised
from fabopt.inspect.sightings import Discovery
from fabopt.inspect.to_do import WantedCables
from fabopt.output.terminal.as_built import moves_words
from tests.samples.as_built import as_json, looked_at, pairs, repaired, report, wired
from tests.samples.discoveries import Link, discovery_text, is_switch, planned_links, shuffled
from tests.samples.shipped import shipped

IB = "dgx-superpod-32"
LARGE = "dgx-superpod-127"
ETHERNET = "cluster-256-roce"
SPLITTERS = "twin-plane-1024-gpus"


def links(name: str = IB) -> list[Link]:
    return planned_links(wired(name))


def found_of(there: list[Link], name: str = IB, speed: str = "4xNDR") -> AsBuilt:
    return looked_at(name, report(discovery_text(there, speed)))


def kinds(result: AsBuilt) -> list[str]:
    return [finding.kind for finding in result.findings]


def mismatched(planned: list[Link], there: list[Link]) -> set[PortName]:
    """Ports that should be joined to something else than they are: what a comparison of topologies names."""
    wrong = pairs(planned) ^ pairs(there)
    return {port for pair in wrong for port in pair}


def named(result: AsBuilt) -> set[PortName]:
    return {port for finding in result.findings for port in (finding.a, finding.b, *finding.seen)}


@pytest.mark.long(but=("dgx-superpod-32",))
@pytest.mark.parametrize("name", [IB, LARGE])
def test_nothing_is_found_of_what_is_as_planned(name: str) -> None:
    result = found_of(links(name), name)
    assert (result.ok, result.planned, result.right) == (True, len(links(name)), len(links(name)))
    assert list(result.repairs) == list(result.notes) == []


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(40))
def test_ports_are_those_that_differ_and_repairs_give_the_plan(seed: int) -> None:
    """Random exchanges, gaps and cables too many: the ports that are named are those that differ, none more."""
    draw = random.Random(seed)
    name = LARGE if seed % 4 == 0 else IB
    there = shuffled(links(name), draw.randrange(21), draw.randrange(8), draw.randrange(8), draw)
    result = found_of(there, name)
    assert named(result) == mismatched(links(name), there)
    assert result.right == len(pairs(links(name)) & pairs(there))
    assert repaired(there, result.repairs) == pairs(links(name))
    wrong = len(pairs(links(name)) - pairs(there))
    assert sum(move.move != "remove" for move in result.repairs) == wrong


def test_an_exchanged_pair_is_one_finding() -> None:
    there = links()
    (a, b), (c, d) = there[0], there[10]
    there[0], there[10] = (a, d), (c, b)
    result = found_of(there)
    assert kinds(result) == ["swapped"]
    assert result.findings[0][1:4] == (a, b, (d, c))
    assert len(result.repairs) == 2
    content = as_json(IB, result)
    assert content["ok"] is False
    assert content["cables"] == {"planned": 512, "right": 510}
    finding, move = content["findings"][0], content["repairs"][0]
    assert {key: finding["a"][key] for key in ("device", "port")} == {"device": a.device, "port": a.port}
    assert move["move"] == "move"
    assert {"device", "port", "rack", "unit", "label"} <= move["from"].keys() & move["to"].keys() & move[
        "other_end"
    ].keys()
    assert f"{move['to']['device']} {move['to']['port']} > " in move["to"]["label"]


def test_rails_of_a_server_are_crossed() -> None:
    there = links()
    (a, b), (c, d) = there[0], there[1]
    assert a.device == c.device and b.device != d.device
    there[0], there[1] = (a, d), (c, b)
    assert kinds(found_of(there)) == ["crossed-rail"]


def test_a_nic_on_a_free_port_of_another_rail_is_crossed() -> None:
    """Two cables of the second rail are gone; a NIC of the first rail takes the place of one."""
    there = links()
    second = next(index for index, (_, b) in enumerate(there) if b.device == "compute-leaf-002")
    (a, _), free = there[0], there.pop(second)[1]
    there[0] = (a, free)
    result = found_of(there)
    assert "crossed-rail" in kinds(result)
    assert repaired(there, result.repairs) == pairs(links())


def test_a_cable_on_another_port_of_the_right_device() -> None:
    there = links(LARGE)
    used = {port for link in there for port in link}
    row, free = next(
        (row, port)
        for row, (_, b) in enumerate(there)
        for port in (PortName(b.device, f"{cage}/{lane}") for cage in range(1, 33) for lane in (1, 2))
        if is_switch(b) and "leaf" in b.device and port not in used
    )
    a, b = there[row]
    there[row] = (a, free)
    result = found_of(there, LARGE)
    assert [finding[:4] for finding in result.findings] == [("wrong-port", a, b, (free,))]
    assert [move[:3] for move in result.repairs] == [("move", free, b)]


def test_a_cable_that_is_not_there_and_one_too_many() -> None:
    there = links(LARGE)
    free = sorted(
        {PortName(f"compute-leaf-{leaf:03d}", f"{cage}/{lane}") for leaf in range(1, 33) for cage in range(1, 33)
         for lane in (1, 2)} - {port for link in there for port in link}
    )  # fmt: skip
    missing = there.pop(100)
    there.append((free[0], free[1]))
    result = found_of(there, LARGE)
    assert [finding[:3] for finding in result.findings] == [("missing", *missing), ("unexpected", free[0], free[1])]
    assert Counter(move.move for move in result.repairs) == {"lay": 1, "remove": 1}


def test_slow_and_narrow_links() -> None:
    text = discovery_text(links())
    lines = text.splitlines()
    at = next(row for row, line in enumerate(lines) if line.startswith("[1]"))
    lines[at] = lines[at].replace("4xNDR", "2xNDR")
    result = looked_at(IB, report("\n".join(lines) + "\n"))
    assert kinds(result) == ["slow"]
    assert "runs at 200 Gb/s, planned are 400" in result.findings[0].detail
    assert (result.right, list(result.repairs)) == (511, [])


def test_speeds_of_a_simulator_are_compared_with_each_other() -> None:
    text = discovery_text(links(), "4xSDR")
    result = looked_at(IB, report(text))
    assert result.ok
    assert "simulator" in result.notes[0]
    assert kinds(looked_at(IB, report(text.replace("4xSDR", "1xSDR", 1)))) == ["slow"]


# -- names ----------------------------------------------------------------------------------------------------------


def test_an_adapter_without_a_name_is_taken_for_the_one_that_is_seen_nowhere() -> None:
    text = discovery_text(links()).replace('"server-0003 mlx5_2"', '"MT4129 ConnectX7   Mellanox Technologies"')
    result = looked_at(IB, report(text))
    assert kinds(result) == ["unknown-device"]
    assert result.findings[0].a == PortName("server-0003", "nic3p1")
    assert (result.right, list(result.repairs)) == (511, [])


def test_a_guid_names_an_adapter() -> None:
    text = discovery_text(links()).replace('"server-0003 mlx5_2"', '"localhost HCA-3"')
    guid = next(line for line in text.splitlines() if "localhost" in line).split('"')[1].removeprefix("H-")
    table = f"device,port,guid\nserver-0003,nic3p1,0x{guid}\n".encode()
    assert looked_at(IB, report(text), names=Names(ends=guids_of(table, "guids.csv"))).ok
    names = f"found,planned\n{guid},server-0003 nic3p1\n".encode()
    assert looked_at(IB, report(text), names=Names(planned=mapped(names, "names.csv"))).ok


def test_two_styles_of_adapter_names_in_one_fabric() -> None:
    text = discovery_text(links())
    for number in range(8):
        text = text.replace(f'"server-0002 mlx5_{number}"', f'"server-0002 HCA-{number + 1}"')
    assert looked_at(IB, report(text)).ok


def test_numbers_of_adapters_with_gaps_are_in_order() -> None:
    """A server that also has adapters of other fabrics calls the eight of this one 0, 3, 4, 5, 6, 9, 10, 11."""
    text = discovery_text(links(), style="mlx5_#{}#")
    for number, name in enumerate((0, 3, 4, 5, 6, 9, 10, 11)):
        text = text.replace(f"#{number}#", str(name))
    assert looked_at(IB, report(text)).ok


def test_other_names_are_mapped() -> None:
    text = discovery_text(links()).replace("compute-leaf-00", "A09-LEAF-").replace("server-", "dgx-")
    rows = [f"A09-LEAF-{leaf},compute-leaf-00{leaf}" for leaf in range(1, 9)]
    rows += [f"dgx-{server:04d},server-{server:04d}" for server in range(1, 33)]
    names = mapped("\n".join(["found,planned", *rows]).encode(), "names.csv")
    assert looked_at(IB, report(text), names=Names(planned=names)).ok
    in_domain = re.sub(r"A09-LEAF-[0-9]", r"\g<0>.example.com", text)
    assert looked_at(IB, report(in_domain), names=Names(planned=names)).ok
    result = looked_at(IB, report(text.replace("A09-LEAF-", "compute-leaf-00")))
    assert set(kinds(result)) == {"unknown-device"}
    assert "dgx-0001 is where server-0001 is planned, at 8 ports" in result.notes[0]
    assert list(result.repairs) == []


def test_a_file_of_another_fabric_is_refused() -> None:
    text = (
        discovery_text(links())
        .replace("compute-", "x-")
        .replace("server-", "y-")
        .replace("x-leaf-001", "compute-leaf-001")
    )
    with pytest.raises(InputError, match="1 of 44 names match: this is of another fabric"):
        looked_at(IB, report(text))


def test_a_file_without_a_cable_is_refused() -> None:
    alone = 'caguid=0x00000000000000a1\nCa\t1 "H-00000000000000a1"\t\t# "server-0001 HCA-1"\n\n'
    with pytest.raises(InputError, match="nothing is joined to anything here"):
        looked_at(IB, report(alone))


def test_aggregation_nodes_are_no_cables() -> None:
    text = discovery_text(links())
    line = '[65]\t"H-00000000000000aa"[1](00000000000000aa) \t\t# "Mellanox Technologies Aggregation Node" lid 9 4xNDR'
    head, _, rest = text.partition("\n\nvendid")
    head, _, rest = (f"{head}\n\nvendid{rest}").partition("\n\nvendid=0x2c9\ndevid=0x1021")
    about = 'Ca\t1 "H-00000000000000aa"\t\t# "Mellanox Technologies Aggregation Node"'
    node = f"vendid=0x2c9\ndevid=0xcf09\ncaguid=0xaa\n{about}"
    assert looked_at(IB, report(f"{head.rstrip()}\n{line}\n\n{node}\n\nvendid=0x2c9\ndevid=0x1021{rest}")).ok


# -- LLDP -----------------------------------------------------------------------------------------------------------


def seen_by(device: str, there: list[Link]) -> dict[str, PortName]:
    return {own.port: other for link in there for own, other in (link, link[::-1]) if own.device == device}


def key_values(device: str, there: list[Link]) -> str:
    return "".join(
        f"lldp.{port}.via=LLDP\nlldp.{port}.chassis.name={peer.device}\nlldp.{port}.port.ifname={peer.port}\n"
        for port, peer in seen_by(device, there).items()
    )


def lldp(there: list[Link], devices: set[str], name: str = ETHERNET) -> AsBuilt:
    reports = [report(key_values(device, there), device) for device in sorted(devices)]
    return looked_at(name, *reports)


def switches(there: list[Link]) -> set[str]:
    return {port.device for link in there for port in link if is_switch(port)}


def test_lldp_of_switches_is_enough() -> None:
    there = links(ETHERNET)
    result = lldp(there, switches(there))
    assert (result.ok, result.planned, result.right) == (True, 256, 256), (
        "128 splitters of two links, 128 cables of one"
    )


def test_a_splitter_whose_head_is_elsewhere_is_one_move() -> None:
    """Two splitters of a leaf with their heads exchanged: four links are wrong, two moves put them right."""
    there = links(SPLITTERS)
    leaf = "compute-p1-leaf-001"
    renamed = {
        PortName(leaf, f"swp{cage}s{lane}"): PortName(leaf, f"swp{3 - cage}s{lane}")
        for cage in (1, 2)
        for lane in (0, 1)
    }
    there = [(renamed.get(a, a), renamed.get(b, b)) for a, b in there]
    result = lldp(there, switches(there), SPLITTERS)
    assert kinds(result) == ["swapped"]
    assert [(move.source.device, move.target.device) for move in result.repairs] == [(leaf, leaf)] * 2
    assert moves_words(result) == (
        "2 moves; of lists that lay and take away as few cables none is shorter, splitters told by the plan"
    )


def test_no_fewer_moves_do_where_no_splitter_is_moved() -> None:
    """Two cables between leaves and spines are exchanged: no reserve, though there are splitters."""
    there = links(ETHERNET)
    (first, near), (second, far) = [link for link in there if is_switch(link[0])][:2]
    there = [link for link in there if link[0] not in (first, second)] + [(first, far), (second, near)]
    result = lldp(there, switches(there))
    assert moves_words(result) == "2 moves, and no fewer do"


def test_cables_of_a_silent_server_are_not_called_wrong() -> None:
    there = [link for link in links(ETHERNET) if "server-0005" not in {port.device for port in link}]
    result = lldp(there, switches(there))
    assert [(finding.kind, finding.a) for finding in result.findings] == [
        ("silent-device", PortName("server-0005", ""))
    ]
    assert list(result.repairs) == []


def test_a_server_that_is_seen_has_a_missing_cable() -> None:
    there = links(ETHERNET)
    gone = there.pop(0)
    result = lldp(there, switches(there))
    assert [finding[:3] for finding in result.findings] == [("missing", *gone)]


def test_a_leaf_without_a_report_is_said() -> None:
    there = links(ETHERNET)
    result = lldp(there, switches(there) - {"compute-leaf-003"})
    assert [(finding.kind, finding.a.device) for finding in result.findings] == [("silent-device", "compute-leaf-003")]


def test_a_mac_as_port_is_no_fault() -> None:
    there = links(ETHERNET)
    text = key_values("compute-leaf-001", there).replace("port.ifname=nic", "port.mac=aa:bb:cc:dd:ee:0#nic")
    rest = [report(key_values(device, there), device) for device in sorted(switches(there) - {"compute-leaf-001"})]
    macs = "\n".join(line.partition("#")[0] if "port.mac" in line else line for line in text.splitlines())
    result = looked_at(ETHERNET, report(macs, "compute-leaf-001"), *rest)
    assert result.ok
    assert "the host is checked, not the port" in result.notes[0]


def test_several_neighbours_at_a_port() -> None:
    there = links(ETHERNET)
    text = key_values("compute-leaf-001", there)
    text += "lldp.swp1s0.via=LLDP\nlldp.swp1s0.chassis.name=server-0009\nlldp.swp1s0.port.ifname=nic8p2\n"
    rest = [report(key_values(device, there), device) for device in sorted(switches(there) - {"compute-leaf-001"})]
    result = looked_at(ETHERNET, report(text, "compute-leaf-001"), *rest)
    assert "several-neighbours" in kinds(result)
    assert list(result.repairs) == []


def test_fabrics_that_no_file_is_of_are_not_missing() -> None:
    name = "dgx-h200-two-fabrics"
    design, wiring = shipped(name), wired(name)
    own = [row for row in range(len(wiring.links)) if wiring.links.fabric[row] == 0]
    assert len(design.fabrics) == 2
    there = [planned_links(wiring)[row] for row in own]
    table = "A-Node Name,A-Port,Z-Node Name,Z-Port\n" + "".join(
        f"{a.device},{a.port},{b.device},{b.port}\n" for a, b in there
    )
    result = looked_at(name, report(table))
    assert result.ok
    assert "not looked at" in result.notes[0]
    assert replace(result, notes=()).planned < len(wiring.cables)


# -- what names do not tell -----------------------------------------------------------------------------------------


def neighbours_of(there: list[Link], rename: Mapping[str, str], reporters: set[str]) -> list[Discovery]:
    """Reports of LLDP of some devices, each of all that it is joined to, with devices called otherwise."""
    seen: dict[str, list[dict[str, object]]] = {}
    for link in there:
        for near, far in (link, link[::-1]):
            name = rename.get(far.device, far.device)
            about = {"chassis": {name: {"id": {"type": "mac", "value": "aa:00:00:00:00:01"}}},
                     "port": {"id": {"type": "ifname", "value": far.port}}}  # fmt: skip
            if near.device in reporters:
                seen.setdefault(near.device, []).append({near.port: about})
    return [
        recognised(json.dumps({"lldp": {"interface": rows}}), f"{device}.json", rename.get(device, device))
        for device, rows in seen.items()
    ]  # fmt: skip


def switches_of(name: str) -> set[str]:
    return {port.device for link in links(name) for port in link if is_switch(port)}


@pytest.mark.long("")
@pytest.mark.parametrize("shared", ["sonic", "leafswitch", ""])
def test_switches_that_have_one_name_are_told_by_their_ports(shared: str) -> None:
    """Spines that are called alike: no cable is called wrong, none is moved, and a note says it."""
    spines = {name for name in switches_of(ETHERNET) if "spine" in name}
    leaves = switches_of(ETHERNET) - spines
    result = looked_at(ETHERNET, *neighbours_of(links(ETHERNET), dict.fromkeys(spines, shared), leaves))
    assert (result.ok, list(result.repairs)) == (True, [])
    assert any("taken for the planned ones" in note for note in result.notes)
    there = links(ETHERNET)
    swapped = [index for index, link in enumerate(there) if "spine" in link[1].device][:10:9]
    (first, second) = (there[index] for index in swapped)
    assert first[1].port != second[1].port, "ports that are called alike cannot be told"
    there[swapped[0]], there[swapped[1]] = (first[0], second[1]), (second[0], first[1])
    wrong = looked_at(ETHERNET, *neighbours_of(there, dict.fromkeys(spines, shared), leaves))
    assert {finding.a for finding in wrong.findings} == {first[0], second[0]}
    assert list(wrong.repairs) == [], "no move on an end without a name"


@pytest.mark.long(but=("1",))
@pytest.mark.parametrize("seed", range(6))
def test_more_evidence_finds_no_less(seed: int) -> None:
    """One exchange is one finding, whichever files tell of it; what some files find, all files find."""
    draw, planned = random.Random(seed), links(ETHERNET)
    there = shuffled(planned, 3, 2, 0, draw)
    devices = sorted({port.device for link in planned for port in link})
    some_devices = set(draw.sample(sorted(switches_of(ETHERNET)), 6))
    few = looked_at(ETHERNET, *neighbours_of(there, {}, some_devices))
    all_ = looked_at(ETHERNET, *neighbours_of(there, {}, set(devices)))
    wrong = {(finding.kind, finding.a, finding.b) for finding in few.findings if finding.kind != "silent-device"}
    ports = {port for finding in all_.findings for port in (finding.a, finding.b, *finding.seen)}
    assert {port for _, a, b in wrong for port in (a, b)} <= ports
    swapped = {finding.a for finding in few.findings if finding.kind in ("swapped", "swapped-in-cage", "crossed-rail")}
    assert swapped <= ports


def test_one_swap_is_one_finding_with_one_file_and_with_all() -> None:
    there = links(ETHERNET)
    swapped = [index for index, link in enumerate(there) if "spine" in link[1].device][:9:8]
    (first, second) = (there[index] for index in swapped)
    there[swapped[0]], there[swapped[1]] = (first[0], second[1]), (second[0], first[1])
    for reporters in ({first[0].device}, {first[1].device}, switches_of(ETHERNET)):
        result = looked_at(ETHERNET, *neighbours_of(there, {}, reporters))
        told = [finding for finding in result.findings if finding.kind != "silent-device"]
        assert [finding.kind for finding in told] in (["swapped"], ["swapped-in-cage"]), reporters


def test_ends_that_are_exchanged_within_one_cage() -> None:
    there = links(IB)
    cages: dict[tuple[str, str], list[int]] = {}
    for index, (_, b) in enumerate(there):
        if "spine" in b.device:
            cages.setdefault((b.device, b.port.partition("/")[0]), []).append(index)
    pair = next(own for own in cages.values() if len(own) == 2)
    (first, second) = (there[index] for index in pair)
    there[pair[0]], there[pair[1]] = (first[0], second[1]), (second[0], first[1])
    result = found_of(there)
    assert kinds(result) == ["swapped-in-cage"]
    assert "in the same cage" in result.findings[0].detail


def test_names_are_proposed_by_what_devices_are_joined_to() -> None:
    """All spines and half of the leaves have names of their own; the others tell which they are."""
    design, wiring = shipped(ETHERNET), wired(ETHERNET)
    own = {
        name: f"rack-{number}-sw"
        for number, name in enumerate(sorted(switches_of(ETHERNET)))
        if number % 2 or "spine" in name
    }
    reports = neighbours_of(links(ETHERNET), own, switches_of(ETHERNET))
    wanted = WantedCables(design, wiring, len(design.stages) - 1)
    told = proposed_names(wanted.plan, wanted.systems, reports, Names())
    assert dict(told) == {found: planned for planned, found in own.items()}
    names = Names(dict(told))
    assert looked_at(ETHERNET, *reports, names=names).ok
