"""NetBox files: every design, in every release, is taken by a NetBox and is there the same network."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from fabopt.errors import InputError
from fabopt.inspect.audit import panels
from fabopt.inspect.audit.netbox import netbox_of
from fabopt.inspect.audit.tables import HandMade
from fabopt.io.catalog import read_catalog
from fabopt.output.export.formats import Options, export
from fabopt.output.export.netbox.check import check
from fabopt.output.export.netbox.files import tables_of
from fabopt.output.export.netbox.interfaces import Interfaces
from fabopt.output.export.netbox.objects import Objects
from fabopt.output.export.netbox.ports import Ports
from fabopt.output.export.netbox.table import CsvTable
from fabopt.output.export.netbox.words import VERSIONS, cable_type, interface_type, slugs, text, version_of
from fabopt.output.export.ports import RESERVED, port_map
from fabopt.output.export.trunks import trunk_table
from fabopt.schema.base import parse_split
from fabopt.schema.design import Design
from fabopt.schema.product import Cage
from fabopt.units import gbps
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import NOTHING, Wiring
from fabopt.wiring.structured import structured_of
from tests.samples import export_samples, small, trunked, verify_fixtures
from tests.samples.netbox_facts import CABLE_TYPES, INTERFACE_TYPES
from tests.samples.netbox_import import NetBox, detected_format, guessed_rows
from tests.solution.test_shuffles import SIZES, shuffled

Made = tuple[Design, Wiring]
RELEASES = tuple(VERSIONS)
SMALL_CATALOG = {part["id"]: part for kind in small.CATALOG.values() for part in kind}

# Two heads of two ports at servers, one of four at the leaf: no profile of NetBox is like it.
QUAD = verify_fixtures.SPLITTER | {
    "id": "quad",
    "ends": [{"form_factor": "OSFP", "split": "4x100"}, {"form_factor": "OSFP", "split": "2x100", "count": 2}],
}


def no_profile() -> small.Json:
    """3 servers with a card of 2x100, one leaf: a cage of 4x100 for two of them, another for the third."""
    links = [verify_fixtures.row(6, (3, 2), verify_fixtures.of("quad", 2), medium="DAC")]
    return verify_fixtures.star(3, "2x100", "4x100", links, QUAD)


def cabled(document: small.Json) -> Made:
    design = verify_fixtures.read(document)
    return design, wiring_of(design)


def by_hand() -> Made:
    design, _ = export_samples.on_floor("plain")
    parts = design.parts | {name: {"kind": "cable"} | SMALL_CATALOG[name] for name in ("splitter", "aoc")}
    return design.model_copy(update={"parts": parts}), export_samples.by_hand()


def sample(name: str) -> Made:
    design = export_samples.solved(name)
    return design, wiring_of(design)


def through_shuffles(*size: int) -> Made:
    design = shuffled(*size)
    return design, wiring_of(design)


def through_trunks() -> Made:
    design = trunked.solved(trunked.hall({"leaf-spine": "structured", "spare_legs": 0.5}))
    return design, wiring_of(design)


def between_rows() -> Made:
    design = trunked.solved(trunked.in_rows({"spare_legs": 0.5}))
    return design, wiring_of(design)


def through_cassettes() -> Made:
    design = trunked.solved(*trunked.BROKEN_OUT["reversed"])
    return design, wiring_of(design)


def shuffles_of(pair: Made) -> int:
    cables = pair[1].cables
    return int((np.minimum(cables.a_connectors, cables.b_connectors) > 1).sum())


SAMPLES: dict[str, Callable[[], Made]] = {
    **{name: lambda make=make: cabled(make()) for name, make in verify_fixtures.DESIGNS.items()},
    **{name: lambda one=one: cabled(one) for name, one in verify_fixtures.joinings().items()},
    **{f"small {name}": lambda name=name: sample(name) for name in export_samples.CASES},
    "on a floor": export_samples.on_floor,
    "by hand": by_hand,
    "no profile": lambda: cabled(no_profile()),
    "trunks": lambda: through_trunks(),
    "cassettes": lambda: through_cassettes(),
    "in rows": lambda: between_rows(),
    **{f"shuffles {size}": lambda size=size: through_shuffles(*size) for size in (SIZES[0], SIZES[1], *SIZES[2:5:2])},
}


@cache
def made(name: str) -> Made:
    return SAMPLES[name]()


def written(pair: Made, folder: Path, release: str = "4.7") -> dict[str, Path]:
    paths = export(*pair, ["netbox"], folder, Options(netbox=release))
    return {path.relative_to(folder).as_posix(): path for path in paths}


def rows(path: Path) -> list[dict[str, str]]:
    header, *found = guessed_rows(path)
    return [dict(zip(header, row, strict=True)) for row in found]


def read_back(pair: Made, folder: Path, release: str) -> HandMade:
    """A design as ``fabopt audit --as netbox`` reads it from its tables, with as many links between its devices."""
    files = written(pair, folder, release)
    hand = panels.traced(
        netbox_of({name: path.read_text() for name, path in files.items() if name.endswith(".csv")}, "it")
    )
    devices, links = pair[1].devices, pair[1].links
    ends = zip(links.a.tolist(), links.b.tolist(), strict=True)
    joined = Counter(frozenset((devices.name[near], devices.name[far])) for near, far in ends)
    assert Counter(frozenset((link.a, link.b)) for link in hand.links) == joined
    assert set(hand.devices) == set(devices.name)
    return hand


def tables(pair: Made, release: str = "4.7") -> dict[str, CsvTable]:
    objects = Objects(*pair)
    return tables_of(objects, Ports(objects, version_of(release)))


# -- every design, every release ------------------------------------------------------------------------------------


@pytest.mark.long(
    "breakout-4.4",
    "bundles mixed-4.7",
    "by hand-4.7",
    "cages mixed-4.4",
    "connectors mixed-4.4",
    "one_tier-4.4",
    "shuffles (2, 7, 2, 2)-4.6",
    "shuffles (4, 9, 1, 4)-4.4",
    "shuffles (8, 9, 1, 8)-4.4",
    "small attachments-4.4",
    "small one tier-4.4",
    "small plain-4.4",
    "three_tiers-4.4",
    "trunks-4.4",
    "cassettes-4.6",
    "twin copper-4.4",
)
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", SAMPLES)
def test_netbox_takes_it_and_has_the_same_links(name: str, release: str, tmp_path: Path) -> None:
    pair = made(name)
    written(pair, tmp_path, release)
    netbox = NetBox(release)
    netbox.import_folder(tmp_path)
    wiring = pair[1]
    devices, links = wiring.devices, wiring.links
    near = [(devices.name[row], port) for row, port in zip(links.a.tolist(), wiring.a_port, strict=True)]
    far = [(devices.name[row], port) for row, port in zip(links.b.tolist(), wiring.b_port, strict=True)]
    # Order does not matter: side A of a splitter is the end that splits.
    expected = {frozenset(ends) for ends in zip(near, far, strict=True)}
    traced = {frozenset(ends) for ends in netbox.traced}
    assert expected <= traced
    # What else is traced joins ports that lie idle at both ends of a cable with ports to spare.
    assert not frozenset().union(*(traced - expected)) & {*near, *far}
    assert len(netbox.rows["devices"]) == len(devices) + shuffles_of(pair) + len(structured_of(*pair).panels)
    assert len(netbox.rows.get("inventory-items", [])) == len(wiring.modules)


@pytest.mark.parametrize("name", ["on a floor", "two_tiers"])
def test_netbox_detects_the_format_of_every_file(name: str, tmp_path: Path) -> None:
    """A file of types is refused ("Unable to detect data format") unless it begins with three hyphens."""
    files = written(made(name), tmp_path)
    del files["README.txt"]
    found = {file: detected_format(path.read_text()) for file, path in files.items()}
    assert found == {file: Path(file).suffix[1:] for file in files}


@pytest.mark.parametrize("name", SAMPLES)
def test_one_cable_is_one_row_from_4_7_on_and_one_a_link_before(name: str) -> None:
    pair = made(name)
    links, cables = pair[1].links, pair[1].cables
    # Of the two cables of "no profile", the one with two heads at servers is the four links that it carries.
    more = 3 if name == "no profile" else 0
    boxes, jumpers = jumpers_of(pair)
    laid = structured_of(*pair)
    legs = sum(leg.a is not None for trunk in laid.trunks for leg in trunk.legs)
    far = len(laid.patched(pair[1]))
    rows_of_47 = len(cables) - boxes + jumpers + int((links.cable == NOTHING).sum()) + more + legs + far
    assert len(tables(pair)["09-cables.csv"].rows) == rows_of_47
    # A lane of a shuffle is a cable to it and one from it.
    crossed = int((links.cable != NOTHING).sum()) if boxes else 0
    assert len(tables(pair, "4.6")["09-cables.csv"].rows) == len(links) + crossed + legs + far


def jumpers_of(pair: Made) -> tuple[int, int]:
    """Shuffles, and their connectors in use; all links of a sample go through them, or none."""
    if not shuffles_of(pair):
        return 0, 0
    plugs = {row[:3] for row in plugged(pair[1])}
    return shuffles_of(pair), len(plugs)


def plugged(wiring: Wiring) -> list[tuple[int, int, int, int]]:
    """Device, cage, connector and cable at both ends of every link."""
    links, sizes = wiring.links, np.minimum(wiring.cables.a_connectors, wiring.cables.b_connectors)
    ends = ((links.a, links.a_cage, links.a_lane), (links.b, links.b_cage, links.b_lane))
    columns = [np.concatenate(pair) for pair in zip(*ends, strict=True)]
    cable = np.concatenate([links.cable, links.cable])
    return list(
        zip(
            columns[0].tolist(), columns[1].tolist(), (columns[2] // sizes[cable]).tolist(), cable.tolist(), strict=True
        )
    )


@pytest.mark.parametrize("release", RELEASES)
def test_same_design_same_bytes(release: str, tmp_path: Path) -> None:
    first = written(made("small splitters"), tmp_path / "a", release)
    second = written(made("small splitters"), tmp_path / "b", release)
    assert {name: path.read_bytes() for name, path in first.items()} == {
        name: path.read_bytes() for name, path in second.items()
    }


@pytest.mark.parametrize("size", [SIZES[1], SIZES[2]])
@pytest.mark.parametrize("release", RELEASES)
def test_a_shuffle_is_a_device_whose_front_ports_cross_to_rear_ports(
    size: tuple[int, int, int, int], release: str, tmp_path: Path
) -> None:
    """n x n lanes: each has a front port, which leads to a position of the connector at the other end."""
    pair, n = made(f"shuffles {size}"), size[0]
    written(pair, tmp_path, release)
    boxes = [row for row in rows(tmp_path / "06-devices.csv") if row["role"] == "Shuffle"]
    first = boxes[0]["name"]
    rears = [row for row in rows(tmp_path / "07-rear-ports.csv") if row["device"] == first]
    fronts = [row for row in rows(tmp_path / "08-front-ports.csv") if row["device"] == first]
    lanes = {f"A{near}-B{far}" for near in range(1, n + 1) for far in range(1, n + 1)}
    assert len(boxes) == shuffles_of(pair) and {row["name"] for row in fronts} == lanes
    assert {row["name"] for row in rears} == ({f"B{far}" for far in range(1, n + 1)} if release == "4.7" else lanes)
    assert len({(row["rear_port"], row["rear_port_position"]) for row in fronts}) == n * n
    assert all(row["rear_port"].endswith(row["name"].partition("-")[2]) for row in fronts)
    cables = [row for row in rows(tmp_path / "09-cables.csv") if first in (row["side_a_device"], row["side_b_device"])]
    kinds = {(row["side_a_type"], row["side_b_type"]) for row in cables}
    assert kinds == {("dcim.interface", "dcim.frontport"), ("dcim.rearport", "dcim.interface")}
    if release == "4.7":
        assert {row["profile"] for row in cables} == {f"breakout-1c{n}p-{n}c1p", f"single-1c{n}p"}
        assert {row["label"].split()[1][0] for row in cables} == {"A", "B"}


@pytest.mark.parametrize("release", ["4.6", "4.7"])
@pytest.mark.parametrize("size", [SIZES[1], SIZES[2]])
def test_links_through_shuffles_are_read_back(size: tuple[int, int, int, int], release: str, tmp_path: Path) -> None:
    """``fabopt audit --as netbox`` follows front ports to rear ports: the same devices are joined as often."""
    pair = made(f"shuffles {size}")
    assert not read_back(pair, tmp_path, release).half


@pytest.mark.parametrize(("name", "release"), [*(("trunks", release) for release in RELEASES), ("in rows", "4.7")])
def test_each_link_through_trunks_is_traced_through_the_planned_panels(name: str, release: str, tmp_path: Path) -> None:
    """Over the written tables alone: cord, front port, rear port, leg, rear port, front port, cord, as ``trunks.csv``
    has them; no cable ends at nothing, and none where another one does.
    """
    pair = made(name)
    written(pair, tmp_path, release)
    ends = [
        [(row[f"side_{side}_device"], row[f"side_{side}_name"], row[f"side_{side}_type"]) for side in "ab"]
        for row in rows(tmp_path / "09-cables.csv")
    ]
    beyond = {end: other for near, far in ends for end, other in ((near, far), (far, near))}
    assert len(beyond) == 2 * len(ends)
    behind = {
        (row["device"], row["name"]): (row["device"], row["rear_port"]) for row in rows(tmp_path / "08-front-ports.csv")
    }
    before = {rear: front for front, rear in behind.items()}
    assert len(before) == len(behind)
    known = {
        type_: {(row["device"], row["name"]) for row in rows(tmp_path / file)}
        for type_, file in (
            ("dcim.interface", "07-interfaces.csv"),
            ("dcim.rearport", "07-rear-ports.csv"),
            ("dcim.frontport", "08-front-ports.csv"),
        )
    }
    assert all((device, name) in known[type_] for device, name, type_ in beyond)

    trunks = trunk_table(*pair)
    planned = {row.link: {row[3], row[4]} for row in trunks[trunks["state"] == "lit"].itertuples()}
    links, devices = pair[1].links, pair[1].devices
    for near, port, far, far_port in zip(links.a, pair[1].a_port, links.b, pair[1].b_port, strict=True):
        here, there = (devices.name[near], port), (devices.name[far], far_port)
        passed = list[str]()
        at = beyond[(*here, "dcim.interface")]
        while at[2] == "dcim.frontport":
            passed.append(f"{at[0]} {at[1]}")
            leg = beyond[(*behind[at[:2]], "dcim.rearport")]
            front = before[leg[:2]]
            passed.append(f"{front[0]} {front[1]}")
            at = beyond[(*front, "dcim.frontport")]
        assert at == (*there, "dcim.interface")
        assert set(passed) == planned.get(f"{' '.join(here)} > {' '.join(there)}", set())
    assert planned


@pytest.mark.parametrize(("name", "release"), [*(("trunks", release) for release in RELEASES), ("cassettes", "4.7")])
def test_links_through_trunks_are_read_back(name: str, release: str, tmp_path: Path) -> None:
    """``fabopt audit --as netbox`` follows the panels, too, by the positions behind cassettes."""
    pair = made(name)
    read_back(pair, tmp_path, release)


def test_panels_stand_at_their_units_and_trunks_say_their_leg(tmp_path: Path) -> None:
    pair = made("trunks")
    files = written(pair, tmp_path)
    (kind,) = pair[0].fabrics[0].structured
    placed = {
        (row["rack"], row["position"], row["device_type"])
        for row in rows(tmp_path / "06-devices.csv")
        if row["role"] == "Patch panel"
    }
    assert {place[:2] for place in placed} == {(one.rack, str(one.unit)) for one in kind.panels}
    labels = [row["label"] for row in rows(tmp_path / "09-cables.csv")]
    assert len(set(labels)) == len(labels)
    assert "T0001 leg 1 of 4" in labels or "T0001 leg 1 of 12" in labels
    assert sum(label.endswith("F") for label in labels) == kind.far_jumpers
    assert "A trunk is one cable for each leg that is plugged in" in " ".join(files["README.txt"].read_text().split())


# -- how things are told --------------------------------------------------------------------------------------------


def test_splitter_in_4_7(tmp_path: Path) -> None:
    written(made("small splitters"), tmp_path)
    assert rows(tmp_path / "09-cables.csv")[0] == {
        "side_a_device": "compute-leaf-001",
        "side_a_type": "dcim.interface",
        "side_a_name": "swp1",
        "side_b_device": "server-0001",
        "side_b_type": "dcim.interface",
        "side_b_name": "nic1p1,nic2p1",
        "type": "dac-passive",
        "status": "planned",
        "profile": "breakout-1c2p-2c1p",
        "label": "C00001",
        "length": "3",
        "length_unit": "m",
        "description": "generic splitter DAC",
    }
    interfaces = [row for row in rows(tmp_path / "07-interfaces.csv") if row["device"] == "compute-leaf-001"]
    names = ("name", "type", "parent", "channels", "channel_id", "speed")
    assert [tuple(row[name] for name in names) for row in interfaces[:3]] == [
        ("swp1", "400gbase-x-qsfpdd", "", "2", "", "400000000"),
        ("swp1s0", "channel", "swp1", "", "1", "200000000"),
        ("swp1s1", "channel", "swp1", "", "2", "200000000"),
    ]


def test_splitter_before_4_7(tmp_path: Path) -> None:
    files = written(made("small splitters"), tmp_path, "4.6")
    cables = rows(tmp_path / "09-cables.csv")
    names = ("side_a_device", "side_a_name", "side_b_device", "side_b_name", "profile", "label")
    assert [tuple(row[name] for name in names) for row in cables[:2]] == [
        ("server-0001", "nic1p1", "compute-leaf-001", "swp1s0", "", "C00001 breakout end 1 of 2"),
        ("server-0001", "nic2p1", "compute-leaf-001", "swp1s1", "", "C00001 breakout end 2 of 2"),
    ]
    assert "'C00012 breakout end 1 of 2': C00012 is laid and bought once" in " ".join(
        files["README.txt"].read_text().split()
    )
    assert "profile" not in rows(written(made("small splitters"), tmp_path / "b", "4.4")["09-cables.csv"])[0]


def test_twin_cage_with_two_fibres_is_two_interfaces_and_two_cables(tmp_path: Path) -> None:
    written(made("two_tiers"), tmp_path)
    cables = [row for row in rows(tmp_path / "09-cables.csv") if row["side_b_device"] == "compute-leaf-001"]
    assert [(row["side_b_name"], row["label"]) for row in cables[:2]] == [("1/1", "C00001"), ("1/2", "C00005")]
    items = [row for row in rows(tmp_path / "08-inventory-items.csv") if row["device"] == "compute-leaf-001"]
    assert (items[0]["name"], items[0]["component_name"]) == ("transceiver 1", "1/1")


def test_cable_without_a_profile_is_a_cable_for_each_link(tmp_path: Path) -> None:
    """As one cable without a profile it would join each of its ports with all four at the other side."""
    files = written(made("no profile"), tmp_path)
    names = ("profile", "side_a_device", "side_a_name", "side_b_name", "label")
    assert [tuple(row[name] for name in names) for row in rows(tmp_path / "09-cables.csv")[:4]] == [
        ("", "server-0001", "nic1p1", "swp1s0", "C00001 breakout end 1 of 4"),
        ("", "server-0001", "nic1p2", "swp1s1", "C00001 breakout end 2 of 4"),
        ("", "server-0002", "nic1p1", "swp1s2", "C00001 breakout end 3 of 4"),
        ("", "server-0002", "nic1p2", "swp1s3", "C00001 breakout end 4 of 4"),
    ]
    readme = " ".join(files["README.txt"].read_text().split())
    assert "NetBox 4.7 has no profile for some cables of several links" in readme


def test_unused_cages_are_whole_interfaces_without_a_speed(tmp_path: Path) -> None:
    written(made("one_tier"), tmp_path)
    leaf = [row for row in rows(tmp_path / "07-interfaces.csv") if row["device"] == "compute-leaf-001"]
    assert [row["name"] for row in leaf] == [f"swp{cage}" for cage in range(1, 17)]
    assert [row["speed"] for row in leaf] == ["400000000"] * 8 + [""] * 8
    assert {row["type"] for row in leaf} == {"400gbase-x-qsfpdd"}


@pytest.mark.parametrize("release", RELEASES)
def test_ports_that_are_kept_free_have_the_names_of_the_port_map(release: str) -> None:
    """Ports of split cages, half of which are kept free: those of cages that nothing uses too."""
    content = copy.deepcopy(export_samples.CASES["splitters"])
    content["fabrics"][0]["reserve_ports"] = 0.5
    design = small.solved(content)
    wiring = wiring_of(design)
    mapped = port_map(design, wiring)
    reserved = mapped[mapped["state"] == RESERVED]
    objects = Objects(design, wiring)
    table = Interfaces(Ports(objects, version_of(release))).table()
    names = {(row[0], row[1]) for row in table.rows}
    wanted = set(zip(reserved["device"], reserved["port"], strict=True))
    used = mapped[mapped["state"] == "used"]
    idle = set(zip(reserved["device"], reserved["cage"], strict=True)) - set(
        zip(used["device"], used["cage"], strict=True)
    )
    assert idle and wanted <= names


def test_attachments_are_devices_with_ports(tmp_path: Path) -> None:
    files = written(made("small attachments"), tmp_path)
    devices = {row["name"]: row for row in rows(tmp_path / "06-devices.csv")}
    manager = devices["compute-manager"]
    assert (manager["role"], manager["manufacturer"], manager["device_type"]) == ("Attachment", "generic", "manager")
    interfaces = [(row["device"], row["name"], row["type"]) for row in rows(tmp_path / "07-interfaces.csv")]
    assert ("compute-storage", "port2", "400gbase-x-qsfp112") in interfaces
    # Nothing is said of the manager's cage.
    assert ("compute-manager", "port1", "other") in interfaces
    firewall = next(row for row in rows(tmp_path / "09-cables.csv") if row["side_a_device"] == "compute-firewall")
    assert (firewall["type"], firewall["label"], firewall["length"]) == ("", "", "")
    assert "links for which the design buys no cable" in files["README.txt"].read_text()


def test_on_a_floor(tmp_path: Path) -> None:
    written(made("on a floor"), tmp_path)
    racks = rows(tmp_path / "04-racks.csv")
    assert [(row["name"], row["u_height"], row["width"]) for row in racks] == [
        ("A01", "12", "19"),
        ("A02", "12", "19"),
        ("B01", "12", "19"),
    ]
    places = {row["name"]: (row["rack"], row["position"], row["face"]) for row in rows(tmp_path / "06-devices.csv")}
    assert places["server-0002"] == ("A01", "5", "front")
    assert places["compute-leaf-001"] == ("B01", "12", "front")


def test_without_a_floor(tmp_path: Path) -> None:
    files = written(made("small plain"), tmp_path)
    assert "04-racks.csv" not in files
    assert not {"rack", "position", "face"} & set(rows(tmp_path / "06-devices.csv")[0])
    assert "The case has no floor plan: there is no 04-racks.csv" in files["README.txt"].read_text()


def test_files_of_another_design_are_removed(tmp_path: Path) -> None:
    """Racks of a floor, transceivers, and types that are no more; what somebody else put there stays."""
    first = written(made("on a floor"), tmp_path)
    others = {"device-types/mine.yaml": "manufacturer: Mine\n", "10-mine.csv": "name\n", "04-racks.csv.bak": "name\n"}
    for name, content in others.items():
        (tmp_path / name).write_text(content)
    second = written(made("one_tier"), tmp_path)
    assert "04-racks.csv" in first.keys() - second.keys()
    assert any(name.startswith("device-types/") for name in first.keys() - second.keys())
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == second.keys() | others.keys()
    assert all((tmp_path / name).read_text() == content for name, content in others.items())


def test_a_file_that_the_form_refuses_is_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are in order, each with the first line and short enough; those of before are removed."""
    whole = written(made("on a floor"), tmp_path)
    all_rows = rows(whole["07-interfaces.csv"])
    monkeypatch.setattr("fabopt.output.export.netbox.files.MOST_BYTES", 1500)
    parts = written(made("on a floor"), tmp_path)
    names = sorted(name for name in parts if name.startswith("07-interfaces-"))
    assert len(names) > 1 and "07-interfaces.csv" not in parts and not (tmp_path / "07-interfaces.csv").exists()
    assert [row for name in names for row in rows(parts[name])] == all_rows
    assert max(parts[name].stat().st_size for name in names) < 2 * 1500
    assert f"{names[0]} " in parts["README.txt"].read_text()
    monkeypatch.undo()
    assert not {names[0]} & {path.name for path in written(made("on a floor"), tmp_path).values()}
    assert not (tmp_path / names[0]).exists()


def test_height_is_rounded_up_to_halves_and_said(tmp_path: Path) -> None:
    document = verify_fixtures.one_tier()
    document["parts"]["t16"]["rack_units"] = 1.3
    files = written(cabled(document), tmp_path)
    assert {row["model"]: row["u_height"] for row in rows(tmp_path / "05-device-types.csv")}["T-16"] == "1.5"
    readme = " ".join(files["README.txt"].read_text().split())
    assert "Acme T-16 is 1.3 rack units high; NetBox knows halves, so it is entered with 1.5." in readme


def test_long_files_are_pasted_because_a_background_job_cannot_read_an_upload(tmp_path: Path) -> None:
    """The form has read an uploaded file to its end before the job gets it, which then fails: ``StopIteration``."""
    files = written(made("one_tier"), tmp_path)
    readme = " ".join(files["README.txt"].read_text().split())
    assert "Upload short files. Paste the text of a long one into the form and let a background job do it" in readme
    assert "RQ_DEFAULT_TIMEOUT" in readme


def test_device_type_library_files(tmp_path: Path) -> None:
    document = verify_fixtures.one_tier()
    document["parts"]["t16"]["weight_kg"] = 14.8
    files = written(cabled(document), tmp_path)
    content = yaml.safe_load(files["device-types/acme-t-16.yaml"].read_text())
    bays = content.pop("module-bays")
    assert content == {
        "manufacturer": "Acme",
        "model": "T-16",
        "slug": "acme-t-16",
        "part_number": "T-16",
        "u_height": 1.0,
        "is_full_depth": True,
        "weight": 14.8,
        "weight_unit": "kg",
        "description": "16 ports of 400G",
    }
    # Keys that the form takes; no interfaces, which the CSV file makes.
    assert bays[0] == {"name": "swp1", "position": "1"}
    assert len(bays) == 16


def test_two_fabrics_do_not_share_names_of_ports(tmp_path: Path) -> None:
    written(made("small two fabrics"), tmp_path)
    names = [row["name"] for row in rows(tmp_path / "07-interfaces.csv") if row["device"] == "server-0001"]
    assert names == ["nic1p1", "nic2p1"]


# -- text -----------------------------------------------------------------------------------------------------------


def test_formulas_become_text_everywhere(tmp_path: Path) -> None:
    document = verify_fixtures.one_tier()
    document["parts"]["t16"] |= {"vendor": "=1+1", "description": '@SUM(A1), 19" wide'}
    written(cabled(document), tmp_path)
    assert rows(tmp_path / "01-manufacturers.csv")[-1]["name"] == "'=1+1"
    kind = rows(tmp_path / "05-device-types.csv")[-1]
    assert (kind["manufacturer"], kind["description"]) == ("'=1+1", "'@SUM(A1), 19' wide")
    assert rows(tmp_path / "06-devices.csv")[-1]["manufacturer"] == "'=1+1"


def test_text_fits_a_cell() -> None:
    assert text('19" rack,\n  "deep"') == "19' rack, 'deep'"
    assert text("x" * 300) == "x" * 197 + "..."
    assert text(None) == ""


def test_slugs_differ() -> None:
    assert slugs(["NVIDIA", "Nvidia", "a.b", "a b", "!"]) == {
        "NVIDIA": "nvidia",
        "Nvidia": "nvidia-2",
        "a.b": "a-b",
        "a b": "a-b-2",
        "!": "unnamed",
    }


def test_makers_that_differ_in_case_only_are_two(tmp_path: Path) -> None:
    document = verify_fixtures.one_tier()
    document["parts"]["box2"]["vendor"] = "ACME"
    written(cabled(document), tmp_path)
    assert [row["slug"] for row in rows(tmp_path / "01-manufacturers.csv")] == ["acme", "acme-2"]


def test_long_part_number_moves_to_the_description(tmp_path: Path) -> None:
    document = verify_fixtures.one_tier()
    document["parts"]["t16"]["part_number"] = "P" * 60
    written(cabled(document), tmp_path)
    kind = rows(tmp_path / "05-device-types.csv")[-1]
    assert (kind["part_number"], kind["description"]) == ("", "P" * 60 + ": 16 ports of 400G")


# -- choices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form_factor", "speed", "expected"),
    [
        ("QSFP28", 100, "100gbase-x-qsfp28"),
        ("QSFP56", 200, "200gbase-x-qsfp56"),
        ("QSFP112", 400, "400gbase-x-qsfp112"),
        ("QSFP-DD", 400, "400gbase-x-qsfpdd"),
        ("QSFP-DD800", 800, "800gbase-x-qsfpdd"),
        ("QSFP112-DD", 400, "400gbase-x-qsfpdd"),
        ("OSFP-IHS", 400, "400gbase-x-osfp"),
        ("OSFP-RHS", 400, "400gbase-x-osfp-rhs"),
        ("OSFP", 800, "800gbase-x-osfp"),
        ("OSFP224-IHS", 1600, "1.6tbase-x-osfp1600"),
        ("OSFP224-RHS", 1600, "1.6tbase-x-osfp1600-rhs"),
        ("SFP28", 25, "25gbase-x-sfp28"),
        ("RJ45", 1, "1000base-t"),
        ("OSFP-IHS", 200, "other"),
        ("CXP9", 100, "other"),
    ],
)
def test_interface_types(form_factor: str, speed: float, expected: str) -> None:
    cage = Cage(count=1, form_factor=form_factor, splits=("1x400",))
    assert interface_type(VERSIONS["4.7"], "ethernet", cage, speed) == expected


@pytest.mark.parametrize(
    ("lane", "split", "expected"),
    [
        (50, "1x200", "infiniband-hdr"),
        (None, "1x200", "infiniband-hdr"),
        (100, "1x200", "infiniband-ndr"),
        (None, "2x400", "infiniband-ndr"),
        (200, "2x800", "infiniband-xdr"),
        (None, "1x100", "infiniband-edr"),
    ],
)
def test_infiniband_types(lane: float | None, split: str, expected: str) -> None:
    cage = Cage(count=1, form_factor="OSFP-IHS", splits=(split,), lane_gbps=lane)
    assert interface_type(VERSIONS["4.4"], "infiniband", cage, 200) == expected


def test_4_4_has_no_word_for_1600g() -> None:
    cage = Cage(count=1, form_factor="OSFP224-IHS", splits=("2x800",))
    assert interface_type(VERSIONS["4.4"], "ethernet", cage, 1600) == "other"


def shipped_cages() -> list[tuple[str, Cage]]:
    catalog = read_catalog(["reference"], Path())
    switches = [(one.protocol, cage) for one in catalog.switches for cage in one.cages]
    return [*switches, *((protocol, cage) for one in catalog.nics for protocol in one.protocols for cage in one.cages)]


@pytest.mark.parametrize("release", RELEASES)
def test_every_port_of_the_shipped_catalog_has_a_type_that_exists(release: str) -> None:
    unknown = set()
    for protocol, cage in shipped_cages():
        for split in map(parse_split, cage.splits):
            for speed in (gbps(split.port_mbps), gbps(split.ports * split.port_mbps)):
                type_ = interface_type(VERSIONS[release], protocol, cage, speed)
                assert type_ in INTERFACE_TYPES[release], (cage, speed)
                if type_ == "other" and split.ports == 1:
                    unknown.add((cage.form_factor, speed))
    # NetBox knows whole cages at their own speed; what they split into, or are slowed down to, need not be, and optics
    # beside the ASIC are not.
    assert unknown == {("OSFP-RHS", 200), ("CPO-MMC-12", 800)}


def test_every_cable_of_the_shipped_catalog_has_a_type() -> None:
    catalog = read_catalog(["reference"], Path())
    made = {cable_type(one.medium, f"{one.part_number} {one.description}") for one in catalog.cables}
    made |= {cable_type(one.fibre, "") for one in catalog.fibres}
    assert made <= CABLE_TYPES


def test_unknown_release(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--netbox: no files for this release; found '4.5'; allowed: 4.4, 4.6, 4.7"):
        written(made("one_tier"), tmp_path, "4.5")


# -- what NetBox would refuse ---------------------------------------------------------------------------------------

MISTAKES: dict[str, tuple[str, int, dict[str, Any], str]] = {
    "device name too long": ("06-devices.csv", -1, {"name": "d" * 65}, "up to 64 characters, found 65"),
    "no name": ("03-device-roles.csv", 0, {"name": ""}, "a row has no text here"),
    "model too long": ("05-device-types.csv", 0, {"model": "m" * 101}, "up to 100 characters, found 101"),
    "interface name too long": ("07-interfaces.csv", 0, {"name": "i" * 65}, "up to 64 characters, found 65"),
    "two manufacturers of a slug": ("01-manufacturers.csv", 1, {"slug": "generic"}, "is in 2 rows"),
    "two devices of a name": ("06-devices.csv", 1, {"name": "SERVER-0001"}, "'server-0001'"),
    "two interfaces of a name": ("07-interfaces.csv", 1, {"name": "nic1p1"}, "is in 2 rows"),
    "unknown type": ("06-devices.csv", 0, {"device_type": "nothing"}, "is not in 05-device-types.csv"),
    "unknown role": ("06-devices.csv", 0, {"role": "nothing"}, "is not in 03-device-roles.csv"),
    "unknown rack": ("06-devices.csv", 0, {"rack": "Z99"}, "is not in 04-racks.csv"),
    "unknown parent": ("07-interfaces.csv", 0, {"parent": "nothing"}, "is not in 07-interfaces.csv"),
    "odd height": ("05-device-types.csv", 0, {"u_height": "4.3"}, "no height in halves of a rack unit; found '4.3'"),
    "high rack": ("04-racks.csv", 0, {"u_height": 101}, "allowed: 1 to 100"),
    "no position": ("06-devices.csv", 0, {"position": ""}, "is in a rack without position and face"),
    "no rack": ("06-devices.csv", 0, {"rack": ""}, "has a place, but no rack"),
    "above the rack": ("06-devices.csv", 0, {"position": 10}, "does not fit into rack A01; found 'U10, 4 units high'"),
    "occupied": ("06-devices.csv", 1, {"position": 4}, "is where server-0001 is; found 'A01 U4, 4 units high'"),
    "unknown interface": ("09-cables.csv", 0, {"side_a_name": "swp99"}, "'compute-leaf-001 swp99'"),
    "channel cabled": ("09-cables.csv", 0, {"side_a_name": "swp1s0"}, "is plugged into a channel"),
    "port used twice": ("09-cables.csv", 1, {"side_a_name": "swp1", "side_a_device": "compute-leaf-001"}, "C00001"),
    "comma in a name": ("09-cables.csv", 0, {"side_b_device": "a,b,c"}, "leads to an interface that is not in"),
}


def changed(table: CsvTable, row: int, change: dict[str, Any]) -> CsvTable:
    cells = dict(zip(table.columns, table.rows[row], strict=True)) | change
    rows = list(table.rows)
    rows[row] = tuple(cells.values())
    return CsvTable(table.columns, rows)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_refused(mistake: str) -> None:
    file, row, change, message = MISTAKES[mistake]
    good = tables(made("on a floor"))
    if mistake == "two manufacturers of a slug":
        good["01-manufacturers.csv"].rows.append(("Acme", "acme"))
    check(good)
    with pytest.raises(InputError) as refused:
        check(good | {file: changed(good[file], row, change)})
    assert message in str(refused.value)


def test_faults_of_a_kind_are_counted() -> None:
    good = tables(made("on a floor"))
    table = good["07-interfaces.csv"]
    bad = CsvTable(table.columns, [("nowhere" + str(number), *row[1:]) for number, row in enumerate(table.rows)])
    with pytest.raises(InputError) as refused:
        check(good | {"07-interfaces.csv": bad})
    shown = [one for one in refused.value.faults if one.problem == "is not in 06-devices.csv"]
    assert len(shown) <= 10
    assert "more like this" in str(refused.value)


def test_refusal_writes_nothing(tmp_path: Path) -> None:
    document = copy.deepcopy(verify_fixtures.one_tier())
    name = "f" * 64
    document["fabrics"][0]["name"] = document["case"]["content"]["fabrics"][0]["name"] = name
    with pytest.raises(InputError, match=r"06-devices\.csv: name: the text is too long"):
        written(cabled(document), tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_labels_are_the_names_of_the_cable_schedule(tmp_path: Path) -> None:
    """Of active copper too: what it is stands in the description."""
    parts = small.catalog()
    small.product(parts, "aoc")["medium"] = "AEC"
    for transceiver in parts["transceivers"]:
        transceiver["price_usd"] *= 100
    design = small.solved(small.case(servers=4), parts)
    wiring = wiring_of(design)
    written((design, wiring), tmp_path)
    cables = rows(tmp_path / "09-cables.csv")
    assert "AEC" in wiring.cables.medium and {row["label"] for row in cables} == set(wiring.cables.name)
    assert any(row["description"].endswith("AEC") for row in cables)
