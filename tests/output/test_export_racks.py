"""Rack elevations: every box where it stands, power as the design counts it, drawings to scale."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from math import ceil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

import fabopt
from fabopt.cli import main
from fabopt.errors import InputError, OutputError
from fabopt.io.case import inputs_from_objects, read_inputs
from fabopt.output.export import formats, racks
from fabopt.output.export.design import design_bytes
from fabopt.output.export.elevation import device_power_w, elevation_of, loose_power_w
from fabopt.output.export.paper import POINT
from fabopt.output.export.racks import FRAME, PANEL, RACK_COLUMNS, UNIT, elevation_lines, pages, rack_list
from fabopt.output.sheet.model import WIDEST_MONO
from fabopt.output.sheet.pages import A3
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from tests.paths import INPUTS, ROOT
from tests.samples import random_sites
from tests.samples.bare import bare
from tests.samples.export_samples import CASES, exported, on_floor, placed, shown, solved, text_table
from tests.samples.shipped import shipped

SVG = "{http://www.w3.org/2000/svg}"


def boxes(drawn: ElementTree.Element) -> Iterator[tuple[str, ElementTree.Element]]:
    """Tip and rectangle of every box of a drawing."""
    for group in drawn.iter(f"{SVG}g"):
        title, shape = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        if title is not None and shape is not None:
            yield str(title.text), shape


# -- power ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_power_of_all_boxes_and_of_what_is_in_none_is_the_cluster(name: str) -> None:
    """Boxes, cards bought for them and modules in them; cables, and modules in somebody else's boxes, are in none."""
    design = solved(name)
    loose = loose_power_w(design, wiring_of(design))
    total = device_power_w(Embedded(design), wiring_of(design)).sum()
    assert design.totals is not None and design.totals.cluster_power_w is not None
    assert total + sum(loose.values()) == pytest.approx(design.totals.cluster_power_w)


def sums_are_totals(design: Design) -> None:
    """Of the list of racks: watts of all but attachments, heights of all but panels and what is kept, racks, devices by
    role.
    """
    wiring, totals = wiring_of(design), design.totals
    assert totals is not None
    table = rack_list(design, elevation_of(design, wiring), loose_power_w(design, wiring).items())
    assert table[table["role"] != "attachment"]["power_w"].sum() == pytest.approx(totals.cluster_power_w, abs=0.001)
    assert table[~table["role"].isin(["kept", "panel"])]["height_u"].sum() == pytest.approx(totals.cluster_rack_units)
    devices = table[~table["role"].isin(["kept", "rack", "loose"])]
    assert devices["rack"].nunique() == totals.racks
    assert devices["role"].isin(["leaf", "spine", "core"]).sum() == totals.switches
    assert (devices["role"] == "server").sum() == Embedded(design).servers
    units = [(row.rack, unit) for row in table.itertuples() for unit in range(row.unit, row.unit + ceil(row.height_u))]
    assert len(units) == len(set(units)), "two things in one unit"


@pytest.mark.long("hall-1024-gpus")
@pytest.mark.parametrize("name", ["hall-1024-gpus", "nvl72-rack"])
def test_sums_of_a_shipped_floor_are_its_totals(name: str) -> None:
    sums_are_totals(optimize.solve(read_inputs(ROOT / "cases" / f"{name}.yaml"), alternatives_s=0))


@pytest.mark.long(but=("46",))
@pytest.mark.parametrize("seed", range(60), ids=str)
def test_sums_of_a_random_floor_are_its_totals(seed: int) -> None:
    catalog, case = random_sites.generate(seed)
    case["site"].setdefault("floor", {"rows": 2, "racks_per_row": 6})
    case["site"].pop("distances_m", None)
    for fabric in case["fabrics"]:
        fabric.pop("topologies", None)
    design = fabopt.solve(bare(case), catalog=catalog, alternatives_s=0).design
    if design.floor is not None:
        sums_are_totals(design)


@pytest.mark.long("20")
@pytest.mark.parametrize("servers", [36, 20])
def test_a_rack_scale_system_has_the_power_of_its_rack_once(servers: int, tmp_path: Path) -> None:
    """Two racks of NVL72, the second of which may hold two trays alone: 132 kW each, and sums are the totals."""
    content = yaml.safe_load((INPUTS / "two-nvl72.yaml").read_text()) | {"servers": servers}
    design = optimize.solve(inputs_from_objects(content), alternatives_s=0)
    assert design.totals is not None and design.totals.cluster_power_w is not None
    table = text_table(exported(design, tmp_path, "racks", wiring=wiring_of(design))["racks.csv"])
    watts = table["power_w"].astype(float)
    assert watts[table["role"] != "attachment"].sum() == pytest.approx(design.totals.cluster_power_w, abs=0.001)
    of_racks = watts[table["role"] == "server"].groupby(table["rack"]).sum()
    assert len(of_racks) == 2 and all(132_000 <= power < 135_000 for power in of_racks)
    drawn = [rack for row in elevation_of(design, wiring_of(design)).rows for rack in row.racks if rack.devices]
    assert max(rack.power_w for rack in drawn) < 135_000
    assert "over the limit" not in (tmp_path / "racks.txt").read_text()


def test_power_of_a_switch_has_its_modules() -> None:
    """By hand: leaf ``small`` draws 500 W, the ``dr4-hot`` of each of its 3 uplinks 14 W; a card 12 W."""
    design, wiring = on_floor("splitters")
    power = dict(zip(wiring.devices.name, device_power_w(Embedded(design), wiring).tolist(), strict=True))
    assert power["compute-leaf-001"] == 500 + 3 * 14
    assert power["compute-spine-001"] == 500 + 6 * 14
    assert power["server-0001"] == 4000 + 4 * 12


def test_unknown_power_is_not_zero() -> None:
    design, wiring = on_floor("splitters")
    parts = {**design.parts, "gpu-4": {**design.parts["gpu-4"], "power_w": None}}
    elevation = elevation_of(design.model_copy(update={"parts": parts}), wiring)
    rack = elevation.rows[0].racks[0]
    assert rack.id == "A01" and math.isnan(rack.power_w)
    lines = list(elevation_lines(elevation, "pod"))
    assert "A01  8 of 12 U, ? W of 9 kW" in lines


# -- files ----------------------------------------------------------------------------------------------------------


def test_list_has_every_box(tmp_path: Path) -> None:
    design, wiring = on_floor("splitters")
    table = text_table(exported(design, tmp_path, "racks", wiring=wiring)["racks.csv"])
    assert tuple(table.columns) == RACK_COLUMNS
    assert table[["rack", "unit", "height_u", "device", "power_w"]].to_numpy().tolist() == [
        ["A01", "5", "4", "server-0002", "4048"],
        ["A01", "1", "4", "server-0001", "4048"],
        ["A02", "1", "4", "server-0003", "4048"],
        ["B01", "12", "1", "compute-leaf-001", "542"],
        ["B01", "11", "1", "compute-leaf-002", "542"],
        ["B01", "10", "1", "compute-spine-001", "584"],
        ["", "0", "0", "active cables", "1.2"],
    ]


def test_text_shows_racks_from_the_top_down(tmp_path: Path) -> None:
    design, wiring = on_floor("splitters")
    text = exported(design, tmp_path, "racks", wiring=wiring)["racks.txt"].read_text()
    assert (
        text
        == """\
small: 6 devices in 3 racks, front view

Row A

A01  8 of 12 U, 8.1 kW of 9 kW
  U9-12    -
  U5-8     server-0002        gpu-4  4.05 kW
  U1-4     server-0001        gpu-4  4.05 kW

A02  4 of 12 U, 4.05 kW of 9 kW
  U5-12    -
  U1-4     server-0003        gpu-4  4.05 kW

A03  empty

A04  blocked

Row B

B01  3 of 12 U, 1.67 kW of 9 kW
  U12      compute-leaf-001   small    542 W
  U11      compute-leaf-002   small    542 W
  U10      compute-spine-001  small    584 W
  U1-9     -

B02  empty

B03  empty

B04  reserved
"""
    )


def test_a_rack_over_its_limit_is_marked(tmp_path: Path) -> None:
    design, wiring = on_floor("splitters", rack_power_w=5000)
    files = exported(design, tmp_path, "racks", wiring=wiring)
    assert "A01  8 of 12 U, 8.1 kW of 5 kW, over the limit" in files["racks.txt"].read_text()
    assert "8.1 kW of 5 kW, over the limit" in files["racks.svg"].read_text()
    design, wiring = on_floor("splitters", rack_power_w=None)
    assert "A01  8 of 12 U, 8.1 kW\n" in exported(design, tmp_path, "racks", wiring=wiring)["racks.txt"].read_text()


def test_drawing_is_to_scale(tmp_path: Path) -> None:
    """A unit is 44.45 mm, a front panel 482.6 mm wide, a frame 600 mm."""
    design, wiring = on_floor("splitters")
    drawn = ElementTree.parse(exported(design, tmp_path, "racks", wiring=wiring)["racks.svg"]).getroot()
    assert (pytest.approx(10.857, abs=0.01), pytest.approx(13.498, abs=0.01)) == (PANEL / UNIT, FRAME / UNIT)
    found = {tip.partition(":")[0]: shape for tip, shape in boxes(drawn)}
    assert set(found) == {
        *("U1 server-0001", "U5 server-0002", "U1 server-0003"),
        *("U12 compute-leaf-001", "U11 compute-leaf-002", "U10 compute-spine-001"),
    }
    server, leaf, spine = found["U5 server-0002"], found["U12 compute-leaf-001"], found["U10 compute-spine-001"]
    assert float(server.attrib["height"]) == pytest.approx(4 * UNIT) and float(leaf.attrib["height"]) == UNIT
    assert float(spine.attrib["y"]) - float(leaf.attrib["y"]) == pytest.approx(2 * UNIT)
    assert float(leaf.attrib["width"]) == pytest.approx(PANEL, abs=0.01)
    assert server.attrib["fill"] != leaf.attrib["fill"] != found["U10 compute-spine-001"].attrib["fill"]
    words = [text.text for text in drawn.iter(f"{SVG}text")]
    assert {"Row A", "Row B", "A01", "B01", "8 of 12 U", "8.1 kW of 9 kW", "reserved", "blocked", "12", "1"} <= set(
        words
    )


def test_racks_of_a_row_stand_side_by_side(tmp_path: Path) -> None:
    design, wiring = on_floor("splitters")
    text = exported(design, tmp_path, "racks", wiring=wiring)["racks.svg"].read_text()
    frames = re.findall(rf'<rect x="([\d.]+)" y="([\d.]+)" width="{FRAME:.2f}"', text)
    places = [(float(x), float(y)) for x, y in frames]
    rows = {y for _, y in places}
    assert len(places) == 7 and len(rows) == 2, "all but the blocked one"
    for y in rows:
        xs = sorted(x for x, height in places if height == y)
        assert all(after - before > FRAME for before, after in pairwise(xs))


def test_many_racks_get_a_file_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(racks, "MOST_RACKS_A_DRAWING", 7)
    design, wiring = on_floor("splitters")
    files = exported(design, tmp_path, "racks", wiring=wiring)
    assert list(files) == [
        *("racks.csv", "racks.txt", "racks-A.svg", "racks-A-rear.svg", "racks-B.svg", "racks-B-rear.svg", "racks.pdf")
    ]
    tips = {name: [tip for tip, _ in boxes(ElementTree.parse(files[name]).getroot())] for name in list(files)[2:6]}
    assert [len(found) for found in tips.values()] == [3, 3, 3, 3]


def test_half_units_are_drawn_as_they_are(tmp_path: Path) -> None:
    design, wiring = on_floor("splitters")
    heights = wiring.devices.height_u.copy()
    heights[0] = 1.5
    wiring = replace(wiring, devices=replace(wiring.devices, height_u=heights))
    files = exported(design, tmp_path, "racks", wiring=wiring)
    found = dict(boxes(ElementTree.parse(files["racks.svg"]).getroot()))
    shape, above = found["U1 server-0001: gpu-4, 4.05 kW"], found["U5 server-0002: gpu-4, 4.05 kW"]
    assert float(shape.attrib["height"]) == pytest.approx(1.5 * UNIT)
    assert float(shape.attrib["y"]) - float(above.attrib["y"]) == pytest.approx(6.5 * UNIT, abs=0.02)
    assert "  U1-2     server-0001" in files["racks.txt"].read_text()


def test_any_text_is_valid_xml(tmp_path: Path) -> None:
    design, wiring = on_floor("splitters")
    names = [f"<&\"'{name}\x01" for name in wiring.devices.name]
    wiring = replace(wiring, devices=replace(wiring.devices, name=names))
    drawn = ElementTree.parse(exported(design, tmp_path, "racks", wiring=wiring)["racks.svg"]).getroot()
    assert "U1 <&\"'server-0001?: gpu-4, 4.05 kW" in dict(boxes(drawn))


def test_the_same_design_gives_the_same_bytes(tmp_path: Path) -> None:
    design, wiring = on_floor("attachments")
    first, second = (exported(design, tmp_path / one, "racks", wiring=wiring) for one in "ab")
    assert [path.read_bytes() for path in first.values()] == [path.read_bytes() for path in second.values()]


def test_what_was_solved_on_a_floor_stands_in_every_export_where_the_design_says(tmp_path: Path) -> None:
    design, path, out = placed(), tmp_path / "design.json", tmp_path / "out"
    path.write_bytes(design_bytes(design))
    assert main(["export", str(path), "--to", "racks,cables,netbox", "-o", str(out)]) == 0
    places = {
        name: (rack, str(unit)) for name, (rack, unit) in zip(wiring_of(design).devices.name, told(design), strict=True)
    }
    listed = text_table(out / "racks.csv")
    assert dict(zip(listed["device"], zip(listed["rack"], listed["unit"], strict=True), strict=True)) == places
    cables = text_table(out / "cables.csv")
    assert len(cables) == sum(row.count for row in design.fabrics[0].links)
    for end in ("from", "to"):
        ends = zip(cables[f"{end}_device"], cables[f"{end}_rack"], cables[f"{end}_unit"].astype(float), strict=True)
        assert {(name, (rack, f"{unit:g}")) for name, rack, unit in ends} <= set(places.items())
    assert (cables["length_m"].astype(float) >= cables["run_m"].astype(float)).all()
    assert {rack for rack, _ in places.values()} == set(text_table(out / "04-racks.csv")["name"])
    devices = text_table(out / "06-devices.csv")
    assert dict(zip(devices["name"], zip(devices["rack"], devices["position"], strict=True), strict=True)) == places


def told(design: Design) -> Iterator[tuple[str, int]]:
    """Rack and unit of servers, leaves and spines as the file says, in this order."""
    floor, places = design.floor, design.fabrics[0].placement
    assert floor is not None and places is not None
    for number in range(Embedded(design).servers):
        yield floor.server_racks[number // floor.servers_per_rack], 1 + number % floor.servers_per_rack * 4
    yield from (*places.leaf, *places.spine)


# -- what an earlier export left ------------------------------------------------------------------------------------


def test_drawings_of_another_design_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design, wiring = on_floor("splitters")
    kept = {"racks-a.svg", "racks-A.svg.bak", "my-racks-A.svg", "racks-A1.svg"}
    for name in kept | {"racks-Z.svg"}:
        (tmp_path / name).write_text("mine")
    monkeypatch.setattr(racks, "MOST_RACKS_A_DRAWING", 1)
    names = {path.name for path in exported(design, tmp_path, "racks", wiring=wiring).values()}
    assert {"racks-A.svg", "racks-B.svg"} < names
    assert {path.name for path in tmp_path.iterdir()} == names | kept
    monkeypatch.undo()
    exported(design, tmp_path, "cables", wiring=wiring)
    assert (tmp_path / "racks-A.svg").exists()
    exported(design, tmp_path, "racks", wiring=wiring)
    svg = {path.name for path in tmp_path.glob("*.svg")}
    assert svg == {"racks.svg", "racks-rear.svg"} | kept - {"racks-A.svg.bak"}


def test_a_move_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design, wiring = on_floor("splitters")
    (tmp_path / "racks-A.svg").write_text("old")

    def move(source: Path, target: Path) -> None:
        if target.name == "racks.csv":
            raise PermissionError(13, "Permission denied")
        source.rename(target)

    monkeypatch.setattr(formats.os, "replace", move)
    with pytest.raises(OutputError, match="Permission denied"):
        exported(design, tmp_path, "racks", wiring=wiring)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"racks-A.svg": "old"}


# -- refusals -------------------------------------------------------------------------------------------------------


def test_without_a_floor_plan_there_is_nothing_to_draw(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "design.json"
    path.write_bytes(design_bytes(solved("plain")))
    assert main(["export", str(path), "--to", "racks", "-o", str(tmp_path / "out")]) == 2
    assert capfd.readouterr().err == (
        "small: site.floor: there are no racks to draw: the case has no floor plan; "
        "`site.floor` in the case says where racks are; solve it again with one\n"
    )
    assert not (tmp_path / "out").exists()


def test_a_floor_on_which_nothing_was_placed() -> None:
    design, _ = on_floor("plain")
    flat: Design = solved("plain")
    with pytest.raises(InputError, match="no racks to draw"):
        elevation_of(design, wiring_of(flat))


# -- documentation --------------------------------------------------------------------------------------------------


def test_documentation_shows_what_is_written(tmp_path: Path) -> None:
    design, wiring = on_floor("splitters")
    files = exported(design, tmp_path, "racks", wiring=wiring)
    assert [block in files["racks.txt"].read_text() for block in shown("text")] == [True]
    (excerpt,) = (block.splitlines() for block in shown("csv") if block.startswith("rack,"))
    assert set(excerpt) <= set(files["racks.csv"].read_text().splitlines())


def test_the_rear_view_is_the_front_view_from_behind(tmp_path: Path) -> None:
    """The racks of a row in the other order, with the same in every unit."""
    design, wiring = on_floor("splitters")
    files = exported(design, tmp_path, "racks", wiring=wiring)
    front, rear = (ElementTree.parse(files[name]).getroot() for name in ("racks.svg", "racks-rear.svg"))
    ids = [
        [text.text for text in drawn.iter(f"{SVG}text") if text.text in ("A01", "A02", "A03")]
        for drawn in (front, rear)
    ]
    assert ids == [["A01", "A02", "A03"], ["A03", "A02", "A01"]]
    heights = [{tip: shape.attrib["y"] for tip, shape in boxes(drawn)} for drawn in (front, rear)]
    assert heights[0] == heights[1] and len(heights[0]) == 6
    assert "rear view" in files["racks-rear.svg"].read_text()


@pytest.mark.parametrize(("rules", "strips"), [({}, 2), ({"feeds": 1}, 1), ({"pdu_units": 1}, 0)])
def test_power_strips_stand_beside_the_units_from_behind(rules: dict[str, int], strips: int) -> None:
    """Clear of unit numbers; said to be of no known model. Strips that take units are drawn in these."""
    design = placed(**rules)
    for sheet in pages(elevation_of(design, wiring_of(design)), design.case.name):
        upright = [box for box in sheet.holders if box.layer == "strip" and box.height > UNIT]
        racks = {box.x for box in sheet.holders if box.layer == "rack" and box.width == FRAME}
        is_rear = "rear" in sheet.title
        assert len(upright) == strips * is_rear * len(racks)
        assert any("not in the catalog" in text.words for text in sheet.texts) == bool(strips and is_rear)
        for text in sheet.texts:
            left = text.inked_left(mono=True)
            right = left + len(text.words) * WIDEST_MONO * text.size
            assert not any(left < box.x + box.width and box.x < right for box in upright if box.y < text.y)


def test_long_names_stand_whole_within_their_panel(tmp_path: Path) -> None:
    design, wiring = on_floor("splitters")
    names = [f"{'a-very-long-name-' * 3}{number}" for number in range(len(wiring.devices))]
    longer = replace(wiring, devices=replace(wiring.devices, name=names))
    drawn = ElementTree.parse(exported(design, tmp_path, "racks", wiring=longer)["racks.svg"]).getroot()
    sizes = {text.text: float(text.attrib["font-size"]) for text in drawn.iter(f"{SVG}text")}
    for name in names:
        assert 0 < len(name) * sizes[name] * 0.6 <= PANEL - 2


def test_what_a_later_stage_installs_is_an_outline(tmp_path: Path) -> None:
    design, wiring = on_floor("splitters")
    stages = (*design.stages, design.stages[0].model_copy(update={"name": "day-2"}))
    later = replace(wiring.devices, stage=(np.arange(len(wiring.devices)) == 0).astype(int))
    files = exported(
        design.model_copy(update={"stages": stages}), tmp_path, "racks", wiring=replace(wiring, devices=later)
    )
    shapes = dict(boxes(ElementTree.parse(files["racks.svg"]).getroot()))
    outlined = {tip for tip, shape in shapes.items() if shape.get("stroke-dasharray")}
    assert outlined == {"U1 server-0001: gpu-4, 4.05 kW, of stage day-2"}
    assert "later: day-2" in files["racks.svg"].read_text()
    lines = files["racks.txt"].read_text().splitlines()
    assert [line.split()[1] for line in lines if line.endswith("  day-2")] == ["server-0001"]


@pytest.mark.long("hall")
@pytest.mark.parametrize("name", ["floor", "placed", "hall"])
def test_pages_of_racks_can_be_read_on_a3(name: str) -> None:
    """Each device stands once on a page from the front and once on one from behind, in letters of seven points."""
    design = shipped("hall-1024-gpus") if name == "hall" else placed() if name == "placed" else on_floor()[0]
    wiring = on_floor()[1] if name == "floor" else wiring_of(design)
    mark = "UNCHECKED: written without a proof"
    sheets = pages(elevation_of(design, wiring), design.case.name, mark)
    stands = Counter(box.name for sheet in sheets for box in sheet.boxes if box.layer != "kept")
    assert set(stands.values()) == {2} and len(stands) == sum(map(bool, wiring.devices.rack))
    for sheet in sheets:
        assert (sheet.width, sheet.height) == A3 and mark in {text.words for text in sheet.texts}
        within = [(text, (0.0, sheet.width)) for text in sheet.texts]
        within += [(text, (box.x, box.x + box.width)) for box in sheet.boxes for text in box.texts]
        for text, edges in within:
            left = text.inked_left(mono=True)
            assert edges[0] <= left <= edges[1] - len(text.words) * WIDEST_MONO * text.size, text.words
            assert text.size / POINT > 6.99 and 0 < text.y < sheet.height
        for box, other in combinations(sheet.boxes, 2):
            beside = abs(box.x - other.x) >= PANEL - 0.01
            assert beside or box.y + box.height <= other.y + 0.01 or other.y + other.height <= box.y + 0.01
