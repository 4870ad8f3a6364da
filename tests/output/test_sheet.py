"""Drawings on paper: nothing is cut or written over, nothing that is wired is left out, and the same bytes again."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.output.export.formats import Options, export
from fabopt.output.sheet.canvas import Canvas
from fabopt.output.sheet.model import SMALL, Box, DrawnSheet, Stroke, Text
from fabopt.output.sheet.pages import A3, HALF_COLUMN, TitleBlock, draw, in_column, sheets
from fabopt.output.sheet.pdf import pdf_bytes
from fabopt.output.sheet.svg import svg
from fabopt.output.sheet.tree import FabricTree
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring
from tests.paths import ROOT
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.shipped import shipped

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BLOCK = TitleBlock("2026-11-28", "A")
CASES = [path.stem for path in sorted((ROOT / "cases").glob("*.yaml"))]
QUICK = ("four-fabrics-1024-gpus", "h100-growth-128", "hall-1024-gpus", "torus-216-gpus", "roce-24576-gpus")
# Some 20 switches to some thousands.
GPUS = ("512", "6144", "32768", "98304")
NEAR = 0.01


def generated(gpus: int) -> Design:
    """A leaf-spine or three-tier network for many GPUs, of the shipped catalog."""
    case = yaml.safe_load((ROOT / "cases" / "pretraining-16384-gpus.yaml").read_text())
    case |= {"name": f"of-{gpus}", "gpus": gpus, "fabrics": [{"name": "compute", "tiers": "any"}]}
    return optimize.solve(inputs_from_objects(case), alternatives_s=0)


@cache
def drawn(name: str) -> list[DrawnSheet]:
    """The pages of a design and its drawings in a web page: of a shipped case, a kind of case, or of so many GPUs."""
    design = designed(name) if name in MAKERS else generated(int(name)) if name.isdigit() else shipped(name)
    wiring = wiring_of(design)
    halves = in_column(design, wiring, HALF_COLUMN).values()
    return [*sheets(design, wiring, BLOCK), *in_column(design, wiring).values(), *halves]


def faults(sheet: DrawnSheet) -> list[str]:
    """What is wrong with a sheet: texts over each other, out of their box or off the sheet, boxes over each other."""
    texts = [(text, None) for text in sheet.texts] + [(text, box) for box in sheet.boxes for text in box.texts]
    found = [f"small: {text.words}" for text, _ in texts if text.size < SMALL]
    found += [f"off: {text.words}" for text, _ in texts if not within(text, 0, 0, sheet.width, sheet.height)]
    found += [
        f"out of {box.name}: {text.words}"
        for text, box in texts
        if box is not None and not within(text, box.x, box.y, box.width, box.height)
    ]
    found += [f"cut: {box.about}" for box in sheet.boxes if box.texts and box.texts[0].words.endswith("…")]
    places = np.array([(text.left, text.y - text.size * 0.75, text.left + text.width, text.y) for text, _ in texts])
    for left, right in crossing(places):
        found.append(f"over each other: {texts[left][0].words} | {texts[right][0].words}")
    for left, right in crossing(np.array([edges(box) for box in sheet.boxes]).reshape(-1, 4)):
        found.append(f"boxes: {sheet.boxes[left].name} | {sheet.boxes[right].name}")
    for text in sheet.texts:
        found += [f"across an edge: {text.words}" for box in sheet.holders if box.layer == "holder" and cuts(box, text)]
    for line in sheet.lines:
        ends = ((line.a, line.points[0]), (line.b, line.points[-1]))
        found += [
            f"not at {sheet.boxes[node].name}: {end}"
            for node, end in ends
            if node >= 0 and not is_at(sheet.boxes[node], end)
        ]
        found += [f"a line runs behind {box.name}" for box in sheet.boxes if box.layer != "fold" and hides(box, line)]
    # no text of the sheet is hidden by a box
    for text in sheet.texts:
        found += [f"under {box.name}: {text.words}" for box in sheet.boxes if covers(box, text)]
    return found


def edges(box: Box) -> tuple[float, float, float, float]:
    return box.x, box.y, box.x + box.width, box.y + box.height


def within(text: Text, x: float, y: float, width: float, height: float) -> bool:
    across = x - NEAR <= text.left and text.left + text.width <= x + width + NEAR
    return across and y <= text.y - text.size * 0.72 and text.y <= y + height


def covers(box: Box, text: Text) -> bool:
    across = box.x < text.left + text.width - NEAR and text.left < box.x + box.width - NEAR
    return across and box.y < text.y - NEAR and text.y - text.size * 0.72 < box.y + box.height - NEAR


def cuts(box: Box, text: Text) -> bool:
    """Whether an edge of a box runs through a text."""
    return covers(box, text) and not within(text, box.x, box.y, box.width, box.height)


def is_at(box: Box, point: tuple[float, float]) -> bool:
    """Whether a line that ends there ends at a box."""
    x, y = point
    return box.x - NEAR <= x <= box.x + box.width + NEAR and box.y - NEAR <= y <= box.y + box.height + NEAR


def hides(box: Box, line: Stroke) -> bool:
    """Whether a line that joins two boxes runs behind another one."""
    if min(line.a, line.b) < 0 or box.node in (line.a, line.b):
        return False
    return any(
        box.x < x < box.x + box.width and box.y < y < box.y + box.height
        for (left, top), (right, bottom) in pairwise(line.points)
        for share in np.linspace(0, 1, 200)
        for x, y in [(left + share * (right - left), top + share * (bottom - top))]
    )


def crossing(places: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of rectangles that lie over each other; ``places``: left, top, right, bottom, shape (rectangles, 4)."""
    if len(places) < 2:
        return []
    left, top, right, bottom = places.T
    across = (left[:, None] < right[None] - NEAR) & (left[None] < right[:, None] - NEAR)
    down = (top[:, None] < bottom[None] - NEAR) & (top[None] < bottom[:, None] - NEAR)
    return [(a, b) for a, b in zip(*np.nonzero(across & down), strict=True) if a < b]


@pytest.mark.long("growth", "torus")
@pytest.mark.long("four-fabrics-1024-gpus", "roce-24576-gpus", "6144", "512")
@pytest.mark.long(*(case for case in CASES if case not in QUICK), *GPUS[2:])
@pytest.mark.parametrize("name", [*CASES, *MAKERS, *GPUS])
def test_nothing_lies_over_another(name: str) -> None:
    assert [fault for sheet in drawn(name) for fault in faults(sheet)] == []


@pytest.mark.parametrize("name", [*MAKERS, "four-fabrics-1024-gpus", "torus-216-gpus"])
def test_every_device_and_link_is_in_a_box(name: str) -> None:
    """Every switch is in a box of its fabric's page, and so are the links of each two boxes."""
    design = designed(name) if name in MAKERS else shipped(name)
    wiring = wiring_of(design)
    for fabric in design.fabrics:
        canvas = Canvas(FabricTree(design, wiring, fabric))
        draw(canvas, 0, 0, *A3)
        own = [row for row, of in enumerate(wiring.devices.fabric) if of == fabric.name and is_switch(wiring, row)]
        lattice = fabric.structure.is_direct and fabric.structure.kind in ("torus", "hyperx")
        first = [row for row in own if not lattice or wiring.devices.plane[row] == 1]
        assert (canvas.box_of[first] >= 0).all()
        inside = sum(len(node.devices) for row in canvas.tree.root.rows for node in row)
        assert inside == len(canvas.tree.devices)


@pytest.mark.parametrize("width", [HALF_COLUMN, 262.0, A3[0]])
def test_a_box_names_a_product_that_all_its_devices_are_of(width: float) -> None:
    """Two leaves of another product are in one box with others where there is little room."""
    design = shipped("four-fabrics-1024-gpus")
    wiring = wiring_of(design)
    for fabric in design.fabrics:
        tree = FabricTree(design, wiring, fabric)
        canvas = Canvas(tree)
        draw(canvas, 0, 0, width, 120)
        for index, box in enumerate(canvas.boxes):
            products = {tree.product(row) for row in np.flatnonzero(canvas.box_of == index).tolist()}
            if len(products) > 1:
                assert not {text.words for text in box.texts} & products, box.name


def test_an_attachment_says_its_links() -> None:
    design = shipped("four-fabrics-1024-gpus")
    wiring = wiring_of(design)
    for sheet in drawn("four-fabrics-1024-gpus"):
        for box in sheet.boxes:
            if box.layer == "attachment":
                row = wiring.devices.name.index(box.name.partition(" to ")[0])
                number = int(((wiring.links.a == row) | (wiring.links.b == row)).sum())
                assert box.texts[1].words.startswith(f"{number} ×")


def is_switch(wiring: Wiring, row: int) -> bool:
    return wiring.devices.role[row] not in ("server", "attachment")


def test_links_of_a_box_are_those_of_the_wiring() -> None:
    """``about`` of all boxes names every link between boxes twice, once at each end."""
    design = shipped("hall-1024-gpus")
    [sheet] = in_column(design, wiring_of(design)).values()
    numbers = [int(found.replace(",", "")) for box in sheet.boxes for found in re.findall(r"([\d,]+) × ", box.about)]
    assert sum(numbers) == 2 * sum(row.count for row in design.fabrics[0].links)


# -- files ------------------------------------------------------------------------------------------------------------


def test_files_of_a_page_for_each_fabric(tmp_path: Path) -> None:
    design = shipped("four-fabrics-1024-gpus")
    for folder in ("one", "two"):
        export(design, wiring_of(design), ["drawing"], tmp_path / folder, Options(date="2026-11-28", revision="B"))
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    pages = sum(sheet.width == A3[0] for sheet in drawn(design.case.name))
    assert files == ["drawing-2.svg", *[f"drawing-{n}.svg" for n in range(3, pages + 1)], "drawing.pdf", "drawing.svg"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    export(designed("hyperx"), wiring_of(designed("hyperx")), ["drawing"], tmp_path / "one", Options())
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["drawing.pdf", "drawing.svg"]


def test_svg_is_text_on_a3() -> None:
    root = ElementTree.fromstring(svg(drawn("hall-1024-gpus")[0]))
    assert (root.attrib["width"], root.attrib["height"]) == ("420mm", "297mm")
    words = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"hall-1024-gpus", "2026-11-28", "A", "1 of 1", "proven optimal", "spine-001", "rail 8"} <= words
    assert "1,024 × 400G to servers" in words


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler is not installed")
def test_pdf_has_a_page_for_each_sheet(tmp_path: Path) -> None:
    pages = [sheet for sheet in drawn("four-fabrics-1024-gpus") if sheet.width == A3[0]]
    path = tmp_path / "drawing.pdf"
    path.write_bytes(pdf_bytes(pages))
    for number, sheet in enumerate(pages, start=1):
        asked = ["pdftotext", "-f", str(number), "-l", str(number), str(path), "-"]
        read = subprocess.run(asked, capture_output=True, text=True, check=True)
        assert read.stderr == ""
        assert f"{number} of {len(pages)}" in read.stdout and sheet.texts[0].words in read.stdout
    info = subprocess.run(["pdfinfo", str(path)], capture_output=True, text=True, check=True).stdout
    assert re.search(r"Page size: +1190\.\d+ x 841\.\d+ pts \(A3\)", info)


def test_a_mark_is_on_every_page(tmp_path: Path) -> None:
    design = designed("several fabrics")
    export(design, wiring_of(design), ["drawing"], tmp_path, Options(mark="Not proven: do not buy"))
    for path in tmp_path.glob("*.svg"):
        assert path.read_text().count("Not proven: do not buy") == 1
    block = TitleBlock("2026-11-28", "a revision with a long name", "UNCHECKED: the design fails 4 checks. " * 9)
    assert [fault for sheet in sheets(design, wiring_of(design), block) for fault in faults(sheet)] == []


@pytest.mark.long("roce-24576-gpus")
@pytest.mark.parametrize("name", ["roce-24576-gpus", "four-fabrics-1024-gpus"])
def test_letters_are_no_wider_than_thought(browser: Browser, name: str) -> None:
    """Words of a drawing, as a browser sets them in the fonts that drawings name."""
    texts = [text for sheet in drawn(name) for box in sheet.boxes for text in box.texts]
    texts += [text for sheet in drawn("hall-1024-gpus") for text in sheet.texts]
    page = browser.new_page()
    page.set_content(svg(DrawnSheet("", *A3, (), (), (), tuple(replace(text, ground="") for text in texts))))
    widths = page.evaluate("[...document.querySelectorAll('text')].map((text) => text.getComputedTextLength())")
    page.close()
    assert [text.words for text, width in zip(texts, widths, strict=True) if width > text.width] == []
