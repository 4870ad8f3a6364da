"""Cable schedule, its lists, and port maps: right, complete, equal to the bill, and read by their real readers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from fabopt.cli import main
from fabopt.errors import InputError, OutputError
from fabopt.output.export import FORMATS, cables, formats, ports
from fabopt.output.export.cables import BY_OTHERS, POINT_TO_POINT_COLUMNS, SCHEDULE_COLUMNS
from fabopt.output.export.design import design_bytes
from fabopt.output.export.formats import Exported, Files, Options, export, format_names
from fabopt.output.export.sheets import write_workbook
from fabopt.output.export.spreadsheet import safe
from fabopt.schema.base import parse_split
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.samples import small
from tests.samples.export_samples import CASES, by_hand, exported, on_floor, sheets, shown, solved, text_table
from tests.samples.shipped import shipped

CABLE_FILES = [
    *("cables.csv", "cables.xlsx", "cable-pull-list.csv", "cable-bundles.csv", "point-to-point.csv"),
    "transceivers.csv",
]
DESIGNS = pytest.mark.parametrize("name", CASES)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A saved design with attachments and reserved ports."""
    path = tmp_path / "design.json"
    path.write_bytes(design_bytes(solved("attachments")))
    return path


# -- the command ----------------------------------------------------------------------------------------------------


def test_writes_files_into_a_folder_that_it_makes(
    file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    out = tmp_path / "deep" / "out"
    assert main(["export", str(file), "--to", "cables", "--to", "ports,cables", "-o", str(out)]) == 0
    assert {path.name for path in out.iterdir()} == {*CABLE_FILES, "ports.csv", "ports.xlsx"}
    stdout, stderr = capfd.readouterr()
    assert stdout == ""
    assert stderr.splitlines()[0].endswith("cables.csv") and len(stderr.splitlines()) == len(CABLE_FILES) + 2
    assert file.read_bytes() == before


def test_replaces_what_is_there(file: Path, tmp_path: Path) -> None:
    (tmp_path / "ports.csv").write_text("old")
    assert main(["export", str(file), "--to", "ports", "-o", str(tmp_path)]) == 0
    assert (tmp_path / "ports.csv").read_text().startswith("fabric,rack")


def test_names_every_unknown_format(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(file), "--to", "cable,ports", "--to", "svg", "-o", str(tmp_path / "out")]) == 2
    allowed = f"allowed: {', '.join(FORMATS)}, or all"
    assert capfd.readouterr().err.splitlines() == [
        f"--to: unknown format; found 'cable'; {allowed}; did you mean `cables`?",
        f"--to: unknown format; found 'svg'; {allowed}",
    ]
    assert not (tmp_path / "out").exists()


def test_formats_are_asked_for_once() -> None:
    assert format_names(["ports, cables", "ports"]) == ["ports", "cables"]
    assert sorted(format_names(["dot", "all"])) == sorted(FORMATS) and format_names(["dot,all"])[0] == "dot"


def test_a_design_that_was_not_found_has_nothing_to_export(
    file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nor anything else to be of it; each command says what is allowed, and what to do."""
    plain = solved("plain")
    (plan,) = export(plain, wiring_of(plain), ["plan"], tmp_path, Options())
    file.write_bytes(design_bytes(plain.model_copy(update={"status": "infeasible", "fabrics": ()})))
    name, out = str(file), str(tmp_path / "out")
    for words, use in (
        (["export", name, "--to", "cables", "-o", out], " to export"),
        (["check", name], " to check"),
        (["check", str(plan), "--design", name], " to hold a plan against"),
        (["quote", "audit", "quote.csv", "--design", name], " to hold a quote against"),
        (["as-built", name, "--csv", "found.csv"], ""),
        (["accept", name, "results.txt"], ""),
        (["compare", name, name], ""),
    ):
        assert main(words) == 2
        told = f"{name}: status: there is no design here{use}; found 'infeasible'; allowed: a design that was found ("
        said = capfd.readouterr().err
        assert told in said and "; `fabopt show` says why there is none" in said, words


def test_a_design_that_does_not_hold_together(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    parts = {id_: part for id_, part in solved("attachments").parts.items() if id_ != "small"}
    file.write_bytes(design_bytes(solved("attachments").model_copy(update={"parts": parts})))
    arguments = ["export", str(file), "--to", "cables", "-o", str(tmp_path / "out")]
    assert main(arguments) == 1
    assert "check parts_are_known FAILED" in capfd.readouterr().err
    assert main([*arguments, "--unchecked"]) == 2
    assert "the design does not hold together" in capfd.readouterr().err


def test_standard_output_is_no_folder(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(file), "--to", "cables", "-o", "-"]) == 2
    assert "name a folder" in capfd.readouterr().err


def test_unknown_netbox_version(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(file), "--to", "netbox", "-o", str(tmp_path), "--netbox", "4.5"]) == 2
    assert "'4.4', '4.6', '4.7'" in capfd.readouterr().err


def test_a_file_is_no_folder(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(file), "--to", "ports", "-o", str(file)]) == 2
    assert "cannot be written" in capfd.readouterr().err


def half(path: Path) -> None:
    path.write_text("half")
    raise InputError([])


def fail(asked: Exported) -> Files:
    return {"half.csv": half}


def test_a_format_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "files_of", fail)
    design = solved("plain")
    (tmp_path / "cables.csv").write_text("old")
    for folder in (tmp_path, tmp_path / "made" / "new"):
        with pytest.raises(InputError):
            exported(design, folder, "cables", "ports")
    assert [path.name for path in tmp_path.iterdir()] == ["cables.csv"]
    assert (tmp_path / "cables.csv").read_text() == "old"


def test_a_folder_in_the_way_stops_all(tmp_path: Path) -> None:
    (tmp_path / "ports.xlsx").mkdir()
    with pytest.raises(OutputError, match=r"ports\.xlsx: is a folder"):
        exported(solved("plain"), tmp_path, "cables", "ports")
    assert [path.name for path in tmp_path.iterdir()] == ["ports.xlsx"]


@pytest.mark.long("plain", "two fabrics")
@DESIGNS
def test_the_same_design_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    first, second = (exported(solved(name), tmp_path / one, "cables", "ports") for one in ("a", "b"))
    assert {file: path.read_bytes() for file, path in first.items()} == {
        file: path.read_bytes() for file, path in second.items()
    }


# -- quantities -----------------------------------------------------------------------------------------------------


def billed(design: Design, *kinds: str) -> Counter[tuple[str, str, float | None]]:
    """In use by fabric, id and length."""
    found: Counter[tuple[str, str, float | None]] = Counter()
    for row in design.bom:
        if row.kind in kinds and row.in_use:
            found[row.fabric, row.id, row.length_m] += row.in_use
    return found


@DESIGNS
def test_quantities_equal_the_bill(name: str, tmp_path: Path) -> None:
    design = solved(name)
    files = exported(design, tmp_path, "cables")
    cables = billed(design, "cable", "fibre")
    schedule = text_table(files["cables.csv"])
    laid = schedule[schedule["cable"] != ""].drop_duplicates("cable")
    assert Counter(zip(laid["fabric"], laid["part"], laid["length_m"].astype(float), strict=True)) == cables
    pulled: Counter[tuple[str, str, float | None]] = Counter()
    for row in text_table(files["cable-pull-list.csv"]).itertuples():
        pulled[row.fabric, row.part, float(row.length_m)] += int(row.cables)
    assert pulled == cables
    assert pd.read_csv(files["cable-bundles.csv"])["cables"].sum() == cables.total()
    modules = text_table(files["transceivers.csv"])
    assert Counter((fabric, part, None) for fabric, part in modules[["fabric", "part"]].to_numpy()) == billed(
        design, "transceiver"
    )
    assert design.totals is not None
    assert (cables.total(), len(modules)) == (design.totals.cables, design.totals.transceivers)


@DESIGNS
def test_every_link_is_in_the_point_to_point_sheet(name: str, tmp_path: Path) -> None:
    design = solved(name)
    path = exported(design, tmp_path, "cables")["point-to-point.csv"]
    assert path.read_text().splitlines()[0] == "A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port"
    table = text_table(path)
    assert tuple(table.columns) == POINT_TO_POINT_COLUMNS
    assert len(table) == sum(row.count for fabric in design.fabrics for row in fabric.links)
    hosts = {name for side in "AZ" for name in table[f"{side}-Node Name"][table[f"{side}-Type"] == "Host"]}
    wiring = wiring_of(design)
    roles = dict(zip(wiring.devices.name, wiring.devices.role, strict=True))
    assert {roles[host] for host in hosts} <= {"server", "attachment"}
    assert set(table["A-Type"]) | set(table["Z-Type"]) == {"Host", "Switch"}


# -- schedule -------------------------------------------------------------------------------------------------------


def test_one_row_a_leg() -> None:
    """By hand: W1 and W3 are splitters with two legs, W2 is straight and carries two links."""
    table = cables.schedule(solved("plain"), by_hand())
    assert tuple(table.columns) == SCHEDULE_COLUMNS
    assert table[["cable", "leg"]].to_numpy().tolist() == [
        ["W1", "1 of 2"],
        ["W1", "2 of 2"],
        ["W2", "1 of 1"],
        ["W3", "1 of 2"],
        ["W3", "2 of 2"],
    ]
    assert table["length_m"].tolist() == [3, 3, 30, 3, 3]
    assert table["run_m"].tolist() == [2.5, 2.5, 21, 1, 1]


def test_labels_tell_where_both_ends_go() -> None:
    table = cables.schedule(solved("plain"), by_hand())
    leaf, spine = "compute-leaf-001", "compute-spine-001"
    assert table[["from_label", "to_label"]].to_numpy().tolist() == [
        [f"server-0001 nic1p1 > {leaf} swp1s0", f"{leaf} swp1s0+swp1s1 > server-0001 nic1p1, server-0002 nic1p1"],
        [f"server-0002 nic1p1 > {leaf} swp1s1", f"{leaf} swp1s0+swp1s1 > server-0001 nic1p1, server-0002 nic1p1"],
        [f"{leaf} swp3s0+swp3s1 > {spine} swp1s0+swp1s1", f"{spine} swp1s0+swp1s1 > {leaf} swp3s0+swp3s1"],
        [f"{leaf} swp4 > {spine} swp2s0", f"{spine} swp2s0+swp2s1 > {leaf} swp4, swp5"],
        [f"{leaf} swp5 > {spine} swp2s1", f"{spine} swp2s0+swp2s1 > {leaf} swp4, swp5"],
    ]


def test_bundles_are_routes_from_rack_to_rack() -> None:
    """W1 parts: server-0001 is in A01, server-0002 in A02, the switches in B01."""
    design, _ = on_floor("plain")
    whole = cables.schedule(design, by_hand())
    assert whole["bundle"].tolist() == ["A01+A02-B01"] * 2 + ["B01-B01"] * 3
    table = cables.bundles(design, by_hand(), whole)
    columns = ["bundle", "part", "length_m", "cables", "total_m", "bundle_cables", "bundle_m"]
    assert table[columns].to_numpy().tolist() == [
        ["A01+A02-B01", "splitter", 3, 1, 3, 1, 3],
        ["B01-B01", "aoc", 30, 1, 30, 2, 33],
        ["B01-B01", "splitter", 3, 1, 3, 2, 33],
    ]


def test_an_attachment_has_no_place() -> None:
    design, wiring = on_floor("attachments")
    table = cables.schedule(design, wiring)
    attached = table[table["kind"] == "attachment-leaf"]
    assert set(attached["bundle"]) == {"B01-?"}
    assert set(table["bundle"]) == {"A01-B01", "A02-B01", "B01-B01", "B01-?"}


def test_without_a_floor_plan_places_are_empty(tmp_path: Path) -> None:
    table = text_table(exported(solved("plain"), tmp_path, "cables")["cables.csv"])
    assert {*table["from_rack"], *table["from_unit"], *table["to_rack"], *table["to_unit"], *table["bundle"]} == {""}


def test_with_a_floor_plan_places_are_there(tmp_path: Path) -> None:
    design, wiring = on_floor("splitters")
    table = text_table(exported(design, tmp_path, "cables", wiring=wiring)["cables.csv"])
    first = table.iloc[0]
    assert (first["from_rack"], first["from_unit"], first["from_device"]) == ("A01", "1", "server-0001")
    assert (first["to_rack"], first["to_unit"], first["to_device"]) == ("B01", "12", "compute-leaf-001")


def test_links_without_parts_are_not_left_out() -> None:
    table = cables.schedule(solved("attachments"), wiring_of(solved("attachments")))
    last = table.iloc[-1]
    assert (last["cable"], last["leg"], last["description"]) == ("", "", BY_OTHERS)
    assert last["from_label"].startswith("compute-firewall port1 > compute-leaf-")
    assert (table["cable"] == "").sum() == 1


def test_modules_name_the_ports_that_they_serve(tmp_path: Path) -> None:
    table = text_table(exported(solved("plain"), tmp_path, "cables")["transceivers.csv"])
    assert not table.duplicated(["device", "cage"]).any()
    assert {f"swp{cage}" for cage in table["cage"]} == set(table["ports"])


# -- spreadsheets ---------------------------------------------------------------------------------------------------


@DESIGNS
def test_workbook_says_what_the_files_say(name: str, tmp_path: Path) -> None:
    files = exported(solved(name), tmp_path, "cables")
    book = sheets(files["cables.xlsx"])
    assert list(book) == ["schedule", "pull list", "bundles", "transceivers"]
    pairs = zip(book.values(), ("cables", "cable-pull-list", "cable-bundles", "transceivers"), strict=True)
    for rows, stem in pairs:
        table = text_table(files[f"{stem}.csv"])
        assert list(rows[0]) == list(table.columns)
        assert [["" if value is None else f"{value}" for value in row] for row in rows[1:]] == table.to_numpy().tolist()


def test_sheets_are_ready_to_use(tmp_path: Path) -> None:
    book = openpyxl.load_workbook(exported(solved("plain"), tmp_path, "cables")["cables.xlsx"])
    for sheet in book:
        assert sheet.freeze_panes == "A2"
        assert sheet.auto_filter.ref == sheet.dimensions
        assert all(sheet.column_dimensions[cell.column_letter].width >= len(cell.value) for cell in sheet[1])


@pytest.mark.long("-1")
@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\uff1d1+1", "\t=1", "\r=1", "\xad=1"])
def test_text_is_never_computed(text: str, tmp_path: Path) -> None:
    design = solved("plain")
    number = {"part_number": text} if text.isprintable() else {}
    parts = {id_: {**part, **number, "description": text} for id_, part in design.parts.items()}
    for part in parts.values():
        if "lengths" in part:
            part["lengths"] = [{**length, **number} for length in part["lengths"]]
    files = exported(design.model_copy(update={"parts": parts}), tmp_path, "cables", "ports")
    for name, path in files.items():
        if name.endswith(".csv"):
            with path.open(newline="") as stream:
                table = pd.read_csv(stream, dtype=str, keep_default_na=False)
            assert not [cell for cell in table.to_numpy().ravel() if cell.startswith(tuple("=+-@\t\r\xad\uff1d"))]
        else:
            book = openpyxl.load_workbook(path)
            assert {cell.data_type for sheet in book for row in sheet for cell in row} <= {"s", "n"}
    pulled = pd.read_csv(files["cable-pull-list.csv"], dtype=str, lineterminator="\n")
    assert {safe(text)} == set(pulled["description"])
    assert not number or {safe(text)} == set(pulled["part_number"])


def test_a_table_that_one_sheet_cannot_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabopt.output.export.sheets.MOST_ROWS", 3)
    table = pd.DataFrame({"number": range(5)})
    book = sheets(write_workbook(tmp_path / "book.xlsx", "t", {"all": table}))
    assert {name: [row[0] for row in rows] for name, rows in book.items()} == {
        "all": ["number", 0, 1],
        "all 2": ["number", 2, 3],
        "all 3": ["number", 4],
    }


def test_long_sheet_names_keep_their_ends(tmp_path: Path) -> None:
    long = "a-fabric-with-a-long-name-indeed"
    tables = {f"{long}-{leaf}-001": pd.DataFrame({"number": [1]}) for leaf in ("leaf", "LEAF", "spine")}
    names = list(sheets(write_workbook(tmp_path / "book.xlsx", "t", tables)))
    assert [name[-5:] for name in names] == ["f-001", "001 2", "e-001"]
    assert all(len(name) <= 31 for name in names) and len({name.lower() for name in names}) == 3


# -- port maps ------------------------------------------------------------------------------------------------------


@DESIGNS
def test_every_cage_of_every_switch_is_mapped(name: str) -> None:
    design = solved(name)
    wiring = wiring_of(design)
    table = ports.port_map(design, wiring)
    roles = dict(zip(wiring.devices.name, wiring.devices.role, strict=True))
    switches = [device for device, role in roles.items() if role in ("leaf", "spine", "core")]
    assert list(dict.fromkeys(table["device"])) == switches
    assert not table.duplicated(["device", "port"]).any()
    for device, rows in table.groupby("device"):
        product = wiring.devices.product[wiring.devices.name.index(device)]
        cages = sum(group["count"] for group in design.parts[product]["cages"])
        assert sorted(set(rows["cage"])) == list(range(1, cages + 1))


@DESIGNS
def test_used_ports_are_the_ends_of_links(name: str) -> None:
    design = solved(name)
    wiring = wiring_of(design)
    used = ports.port_map(design, wiring).query("state == 'used'")
    links = cables.point_to_point(wiring)
    ends = set()
    for one, other in ("AZ", "ZA"):
        here = links[links[f"{one}-Type"] == "Switch"]
        columns = [f"{one}-Node Name", f"{one}-Port", f"{other}-Node Name", f"{other}-Port"]
        ends |= set(here[columns].itertuples(index=False, name=None))
    assert len(used) == len(ends)
    assert set(used[["device", "port", "peer_device", "peer_port"]].itertuples(index=False, name=None)) == ends


def test_ports_are_used_reserved_or_free() -> None:
    """Leaf ``small``: 8 cages; 2 servers' ports, 1 attachment port and 3 uplinks; a fifth of 4 down ports is kept."""
    design = solved("attachments")
    (tier,) = (tier for tier in design.fabrics[0].tiers if tier.role == "leaf")
    assert (tier.id, tier.down_ports, tier.reserved_ports, tier.up_ports) == ("small", 3, 1, 3)
    table = ports.port_map(design, wiring_of(design))
    for _, rows in table[table["device"].str.contains("leaf")].groupby("device"):
        assert rows["state"].tolist() == ["used", "used", "used", "reserved", "free", "used", "used", "used"]
        assert rows["port"].tolist() == [f"swp{cage}" for cage in range(1, 9)]
    free = table[table["state"] != "used"]
    assert set(free["gbps"]) == {400} and {*free["peer_device"], *free["cable"], *free["module"]} == {""}


def test_a_reserved_cage_is_split_as_its_neighbours() -> None:
    """Down ports 2x200: kept ports come two a cage, after the last one in use; other cages stay whole."""
    design = small.solved(small.case({"nics": ["nic-200"], "nics_per_server": 4, "reserve_ports": 0.25}, servers=3))
    (tier,) = (tier for tier in design.fabrics[0].tiers if tier.role == "leaf")
    assert parse_split(tier.down.split).ports == 2 and tier.reserved_ports > 0
    table = ports.port_map(design, wiring_of(design))
    for device, rows in table[table["state"] == "reserved"].groupby("device"):
        assert len(rows) == tier.reserved_ports and set(rows["gbps"]) == {200}
        down = table[(table["device"] == device) & (table["state"] == "used") & (table["gbps"] == 200)]
        assert rows["cage"].min() >= down["cage"].max()


@pytest.mark.parametrize("switches", [{}, {"leaf": ["large"]}])
def test_leaves_of_a_last_group_keep_what_is_theirs(switches: small.Json) -> None:
    """Two leaves keep 4 or 3 ports each, and that of the last group, of a type of its own or not, 2 or 4."""
    fabric = {"groups": "any", "nics": ["nic-400"], "nics_per_server": 2, "reserve_ports": 0.5, "switches": switches}
    design = small.solved(small.case(fabric, servers=5))
    tier, last = design.fabrics[0].tiers[0], design.fabrics[0].clos.last_group
    assert last is not None and last.reserved_ports != tier.reserved_ports
    table = ports.port_map(design, wiring_of(design))
    kept = table[table["state"] == "reserved"].groupby("device").size().tolist()
    assert kept == [tier.reserved_ports, tier.reserved_ports, last.reserved_ports]


def test_up_to_fifty_switches_have_sheets_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design = solved("plain")
    devices = list(dict.fromkeys(text_table(exported(design, tmp_path, "ports")["ports.csv"])["device"]))
    assert list(sheets(tmp_path / "ports.xlsx")) == devices
    monkeypatch.setattr(ports, "MOST_SHEETS", len(devices) - 1)
    assert list(sheets(exported(design, tmp_path, "ports")["ports.xlsx"])) == ["ports"]


def test_infiniband_ports_are_named_as_printed() -> None:
    wiring = replace(by_hand(), protocols=("infiniband",))
    table = cables.schedule(solved("plain"), wiring)
    assert table["to_port"].tolist() == ["1/1", "1/2", "1/1+1/2", "2/1", "2/2"]


def test_export_returns_paths_in_order(tmp_path: Path) -> None:
    design = solved("plain")
    paths = export(design, wiring_of(design), ["ports", "cables"], tmp_path, Options())
    assert [path.name for path in paths] == ["ports.csv", "ports.xlsx", *CABLE_FILES]
    assert formats.Options().netbox == "4.7"


# -- documentation --------------------------------------------------------------------------------------------------


def test_documentation_shows_what_is_written(tmp_path: Path) -> None:
    """Every excerpt is of one file, its title row and whole rows."""
    design = shipped("twin-plane-1024-gpus")
    files = {
        path.read_text().splitlines()[0]: path
        for path in exported(design, tmp_path, "cables", "ports").values()
        if path.suffix == ".csv"
    }
    blocks = [block.splitlines() for block in shown("csv") if not block.startswith("rack,")]
    assert {head for head, *_ in blocks} == set(files)
    for head, *rows in blocks:
        assert rows and set(rows) <= set(files[head].read_text().splitlines())
