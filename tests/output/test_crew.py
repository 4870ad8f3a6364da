"""Pages and labels for those who pull cables: each cable once, in order, nothing outside its place, labels differ."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st

from fabopt.cli import main
from fabopt.output.export import LABEL_SHEETS, labels, paper
from fabopt.output.export.cables import moves, schedule
from fabopt.output.export.crew import TEST_COLUMNS, links_to_test
from fabopt.output.export.formats import Exported, Options, export
from fabopt.output.export.labels import LETTERS, SHEETS, CableLabel, labels_of, letter_size, lines_of
from fabopt.output.export.pulls import Visit, visits
from fabopt.output.sheet.svg import svg
from fabopt.output.terminal.floor import PASSIVE, class_of, floor_lines
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring
from tests.paths import few_or_many
from tests.samples import qr, small
from tests.samples.designs_of_families import designed
from tests.samples.export_samples import CASES, on_floor, placed, solved, text_table
from tests.samples.page_samples import outside, pages_of_pdf
from tests.samples.shipped import shipped

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SVG = "{http://www.w3.org/2000/svg}"
POINT = 25.4 / 72
# Letters of DejaVu Sans Mono, the widest of the fonts that pages name.
WIDTH = 0.603
SAMPLES = (*CASES, "floor", "placed", "moves", "attachments that grow")


def sample(name: str) -> tuple[Design, Wiring]:
    if name == "floor":
        return on_floor()
    grown = {"moves": "growth", "attachments that grow": "growth with attachments"}
    design = placed() if name == "placed" else designed(grown[name]) if name in grown else solved(name)
    return design, wiring_of(design)


def written(name: str, folder: Path, *formats: str, **options: Any) -> dict[str, Path]:
    design, wiring = sample(name)
    paths = export(design, wiring, formats, folder, replace(Options(), **options))
    return {path.name: path for path in paths}


FILES_OF_PULLS = ["pulls-a4.html", "pulls-a4.pdf", "pulls-letter.html", "pulls-letter.pdf"]


def pages(path: Path) -> list[ElementTree.Element]:
    """The sheets of a file."""
    found = re.findall(r"<svg .*?</svg>", path.read_text(), re.DOTALL)
    assert found
    return [ElementTree.fromstring(text) for text in found]


def texts(sheet: ElementTree.Element) -> Iterator[tuple[float, float, float, str]]:
    """Left and right end, base line and words of each text of a sheet of a table."""
    for text in sheet.iter(f"{SVG}text"):
        words, size = text.text or "", float(text.attrib["font-size"])
        x, width = float(text.attrib["x"]), len(words) * size * WIDTH
        left = x - width if text.get("text-anchor") == "end" else x
        yield left, left + width, float(text.attrib["y"]), words


# -- pages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_every_end_of_the_schedule_is_pulled_once(name: str) -> None:
    """At the stage at which it comes; in a pair each cable between the two places that it joins."""
    design, wiring = sample(name)
    keys = ["cable", "leg", "from_device", "from_port"]
    pulled = [
        tuple(row)
        for visit in visits(design, wiring)
        for pair in visit.pairs
        for row in pair.rows[[*keys, "stage"]].itertuples(index=False)
    ]
    assert Counter(pulled) == Counter(schedule(design, wiring)[[*keys, "stage"]].itertuples(index=False, name=None))


@pytest.mark.parametrize("name", SAMPLES)
def test_pairs_come_by_the_rule(name: str) -> None:
    """Within a rack last, before that the longest run first; in a pair copper first; a pair is of two places."""
    design, wiring = sample(name)
    for visit in visits(design, wiring):
        order = []
        for pair in visit.pairs:
            rows = pair.rows
            within = bool((rows["from_rack"] == rows["to_rack"]).all() and (rows["from_rack"] != "").all())
            runs = [run for run in rows["run_m"] if run == run]
            order.append((within, -max(runs, default=0.0)))
            glass = [part not in design.parts or design.parts[part]["kind"] == "fibre" or medium == "AOC"
                     for part, medium in zip(rows["part"], rows["medium"], strict=True)]  # fmt: skip
            assert glass == sorted(glass)
            if name in ("floor", "placed"):
                racks = {rack for side in ("from", "to") for rack in rows[f"{side}_rack"] if rack}
                assert racks == set(re.split(r" - |\+", pair.name)) - {"?"}
        assert order == sorted(order)


@pytest.mark.long("attachments", "moves")
@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_stands_outside_its_place(name: str, tmp_path: Path) -> None:
    """All texts are on the sheet, none over another one, and none of a table smaller than 9 points."""
    files = written(name, tmp_path, "crew", mark="UNCHECKED: " + "a sentence that is long " * 8)
    assert sorted(files.keys() - {"tests.csv"}) == FILES_OF_PULLS
    for path in (files["pulls-a4.html"], files["pulls-letter.html"]):
        sheets = pages(path)
        for number, sheet in enumerate(sheets, start=1):
            width, height = (float(side) for side in sheet.attrib["viewBox"].split()[2:])
            assert sorted((width, height)) in ([210, 297], [215.9, 279.4])
            lines = defaultdict(list)
            for left, right, y, words in texts(sheet):
                assert left >= 5 and right <= width - 5 and 3 < y < height - 5, words
                lines[y].append((left, right, words))
            for found in lines.values():
                found.sort()
                assert all(one[1] <= other[0] for one, other in pairwise(found)), found
            words = {words for *_, words in texts(sheet)}
            assert f"page {number} of {len(sheets)}" in words and any("UNCHECKED" in line for line in words)
            sizes = {float(text.attrib["font-size"]) / POINT for text in sheet.iter(f"{SVG}text")}
            assert min(sizes) > 6.99 and sorted(sizes)[1] > 8.99


def test_a_page_says_what_a_crew_needs(tmp_path: Path) -> None:
    """Two servers of A01 on the splitters from B01, by hand."""
    text = written("floor", tmp_path, "crew")["pulls-a4.html"].read_text()
    shown = re.findall(r">([^<>]+)</text>", text)
    assert shown.count("A01 - B01") == 2, "in the list of pairs, and on its own page"
    at = len(shown) - shown[::-1].index("A01 - B01") - 1
    page = shown[at : at + 60]
    assert {"no.", "label", "from", "to", "device", "part", "m", "in", "ok"} <= set(page)
    row = page[page.index("1") :]
    assert row[:3] == ["1", "C00002 1 of 2", "A01-U1-nic3p1"]
    assert row[3:6] == ["server-0001", "B01-U11-swp1s0", "compute-leaf-002"]
    assert any(words.startswith("pulled by") for words in shown[at:])
    assert text.count("<rect") > 12


def test_a_long_table_goes_on_under_its_headings(tmp_path: Path) -> None:
    rows = [(str(number), "x" * (number % 150)) for number in range(300)]
    table = paper.Table("Many", "about", ("no.", "what"), rows, ("in",), right=(0,))
    laid = paper.lay_out(paper.PAPERS[0], [table])
    assert sum(len(part.rows) for parts in laid for part in parts) == 300 and len(laid) > 5
    drawn = [svg(sheet) for sheet in paper.drawn(paper.PAPERS[0], laid, "document", "")]
    assert all(">what</text>" in page and ">in</text>" in page for page in drawn)
    assert sum("(continued)" in page for page in drawn) == len(drawn) - 1
    cells = "".join(re.findall(r">(x+)</text>", "".join(drawn)))
    assert len(cells) == sum(number % 150 for number in range(300)), "cells are folded, not cut"


def test_many_pages_are_several_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(paper, "MOST_PAGES", 2)
    files = written("plain", tmp_path, "crew")
    assert "pulls-a4-2.html" in files and "pulls-a4-2.pdf" in files and "pulls-a4.html" not in files
    monkeypatch.undo()
    written("plain", tmp_path, "crew")
    assert sorted({path.name for path in (tmp_path / "crew").iterdir()} - {"tests.csv"}) == FILES_OF_PULLS


def test_moved_cables_come_first_with_new_labels(tmp_path: Path) -> None:
    design, wiring = sample("moves")
    first, second = visits(design, wiring)
    moved = moves(design, wiring, None)
    assert not len(first.moves) and len(second.moves) == len(moved) > 0
    assert set(second.moved["cable"]) == set(moved["cable"])
    ends = {(row.cable, f"{row.to_device} {row.to_port}") for row in moved.itertuples()}
    labelled = {(label.cells[2], label.near) for label in labels_of(design, [second])}
    assert ends <= labelled
    # at the first stage a cable goes where it is then
    before = {(row.cable, f"{row.from_device} {row.from_port}") for row in moved.itertuples()}
    assert before <= {(label.cells[2], label.near) for label in labels_of(design, [first])}
    text = written("moves", tmp_path, "crew", stage=1)["pulls-a4.html"].read_text()
    assert ">Moves</text>" in text and first.stage not in re.findall(r">([^<>:]+): \d+ cables", text)


@pytest.mark.long(but=("5167.html",))
@pytest.mark.parametrize("sheet", ["pulls-a4.html", "pulls-letter.html", "L7651.html", "5167.html"])
def test_a_browser_prints_each_page_on_one_sheet(browser: Browser, tmp_path: Path, sheet: str) -> None:
    path = written("attachments", tmp_path, "crew", "labels")[sheet]
    assert outside(path.read_text()) == []
    tab = browser.new_page()
    failures: list[str] = []
    tab.on("console", lambda message: failures.append(message.text))
    tab.goto(path.as_uri())
    assert tab.locator("main > h1").count() == 1
    printed = tab.pdf(prefer_css_page_size=True)
    tab.close()
    assert not failures
    assert len(re.findall(rb"/Type /Page\b", printed)) == len(pages(path))


# -- labels ---------------------------------------------------------------------------------------------------------


def all_labels(name: str) -> list[CableLabel]:
    design, wiring = sample(name)
    return list(labels_of(design, visits(design, labels.called(design, wiring))))


def are_told_apart(found: list[CableLabel]) -> None:
    """All labels differ: by cable and end, by their lines, by their codes; each end names its port."""
    for words in (
        [(label.cells[1], label.title) for label in found],
        [(label.cells[1], tuple(lines_of(label)[1:])) for label in found],
        [(label.cells[1], label.code) for label in found],
    ):
        assert len(set(words)) == len(words)
    for label in found:
        lines = lines_of(label)
        assert max(map(len, lines)) <= LETTERS
        assert "".join("".join(lines[1:]).split()) == "".join(f"{label.near}{label.far}".split()), "nothing is cut"


@pytest.mark.parametrize("name", SAMPLES)
def test_labels_differ(name: str) -> None:
    design, wiring = sample(name)
    found = all_labels(name)
    are_told_apart(found)
    cables = {cable for cable in schedule(design, wiring)["cable"] if cable}
    assert {label.cells[2] for label in found} == cables
    for cable in cables:
        ends = {str(label.cells[3])[0] for label in found if label.cells[2] == cable}
        assert ends == {"A", "B"}


NAMES = st.text("abc-0123456789.", min_size=1, max_size=63)


@pytest.mark.drawn_longer
@settings(max_examples=few_or_many(12, 60), deadline=None)
@given(st.data())
def test_labels_differ_whatever_devices_are_called(data: st.DataObject) -> None:
    """Long names that differ at one letter only, too."""
    design, wiring = sample("splitters")
    count = len(wiring.devices)
    stem = data.draw(NAMES)
    names = data.draw(
        st.one_of(
            st.lists(NAMES, min_size=count, max_size=count, unique=True),
            st.just([f"{stem}-{number}" for number in range(count)]),
            st.just([f"{number}{stem}" for number in range(count)]),
        )
    )
    named = replace(wiring, devices=replace(wiring.devices, name=names))
    are_told_apart(list(labels_of(design, visits(design, named))))


def test_labels_have_the_names_of_the_case() -> None:
    design = small.solved(small.case(servers=4, operate={"names": {"leaf": "lf{number}", "server": "gpu{number:03d}"}}))
    found = list(labels_of(design, visits(design, labels.called(design, wiring_of(design)))))
    near = {label.near.split()[0] for label in found}
    assert {"gpu001", "lf1"} <= near and not any(name.startswith("server") for name in near)
    assert all(len(lines_of(label)) == 3 for label in found if "gpu" in label.near and "lf" in label.far)


@pytest.mark.parametrize("name", ["plain", "splitters"])
def test_labels_of_the_only_fabric_are_two_lines(name: str) -> None:
    """But for far ends on several ports, of which each has a line."""
    for label in all_labels(name):
        assert label.near in lines_of(label) and len(label.near) <= LETTERS, label.near
        assert len(lines_of(label)) == 3 or ", " in label.far


def test_labels_on_a_floor_say_rack_unit_and_port_in_two_lines() -> None:
    design, wiring = on_floor("plain")
    for label in labels_of(design, visits(design, labels.called(design, wiring))):
        assert re.fullmatch(r"[AB]\d\d-U\d+ (nic\d+p\d+|swp\d+(s\d)?)", label.near), label.near
        assert len(lines_of(label)) == 3


@pytest.mark.long(but=("L7651", "L7654"))
@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.code))
def test_labels_are_within_theirs(sheet: labels.LabelSheet, tmp_path: Path) -> None:
    """Codes and texts are on their label, labels on the paper, two lines of 20 letters have six points at least."""
    assert sheet.left + (sheet.across - 1) * sheet.step_x + sheet.width <= sheet.paper.width
    assert sheet.top + (sheet.down - 1) * sheet.step_y + sheet.height <= sheet.paper.height
    assert sheet.step_x >= sheet.width and sheet.step_y >= sheet.height - 0.001
    assert letter_size(sheet, 3) / POINT > 6
    found = all_labels("splitters")
    files = written("splitters", tmp_path, "labels", sheets=[sheet.code])
    on_pages = [codes_and_texts(page, sheet) for page in pages(files[f"{sheet.code}.html"])]
    assert [label for labels in on_pages for label in labels] == [(lines_of(label), label.code) for label in found]
    printed = [code for page in pages_of_pdf(files[f"{sheet.code}.pdf"]) for code in codes_of_pdf(page)]
    assert printed == [label.code for label in found]


def codes_and_texts(page: ElementTree.Element, sheet: labels.LabelSheet) -> list[tuple[list[str], str]]:
    """Lines and code of each label of a page, all of them within it and beside each other."""
    lines, codes = defaultdict[tuple[int, int], list[str]](list), {}
    right_of_code = {}
    for path in page.findall(f"{SVG}path"):
        x, y, scale = map(float, re.findall(r"[\d.]+", path.attrib["transform"]))
        place, left, top = label_at(sheet, x, y)
        size = max(float(row) for row in re.findall(r"M0 ([\d.]+)", path.attrib["d"])) + 0.5
        grid = qr.grid_of(round(size), path.attrib["d"])
        assert scale > 0.3 and left > 0 and top > 0 and top + scale * size < sheet.height
        codes[place], right_of_code[place] = qr.read(grid), left + scale * size
    for text in page.findall(f"{SVG}text"):
        place, left, base = label_at(sheet, float(text.attrib["x"]), float(text.attrib["y"]))
        size = float(text.attrib["font-size"])
        assert right_of_code[place] < left and left + LETTERS * size * WIDTH <= sheet.width
        assert base - size > 0 and base < sheet.height
        lines[place].append(str(text.text))
    return [(lines[place], code) for place, code in codes.items()]


def label_at(sheet: labels.LabelSheet, x: float, y: float) -> tuple[tuple[int, int], float, float]:
    """Row and column of the label at a place of a sheet, and the place on it."""
    row, column = int((y - sheet.top) / sheet.step_y), int((x - sheet.left) / sheet.step_x)
    return (row, column), x - sheet.left - column * sheet.step_x, y - sheet.top - row * sheet.step_y


def codes_of_pdf(page: str) -> Iterator[str]:
    """The QR codes of a page, from the rectangles that are filled."""
    for drawn in re.findall(r"cm 0 g ((?:\d+ \d+ \d+ 1 re )+)f Q", page):
        runs = [tuple(map(int, run)) for run in re.findall(r"(\d+) (\d+) (\d+) 1 re", drawn)]
        size = max(y for _, y, _ in runs) + 1
        dark = {(y, at) for x, y, length in runs for at in range(x, x + length)}
        yield qr.read([[int((y, x) in dark) for x in range(size)] for y in range(size)])


@pytest.mark.long(but=("L7651",))
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler is not installed")
@pytest.mark.parametrize("name", ["pulls-a4", "pulls-letter", "L7651", "5167"])
def test_a_pdf_says_what_its_pages_say(name: str, tmp_path: Path) -> None:
    """A4 and Letter, in Courier, each text of a page on that page of the PDF."""
    files = written("attachments", tmp_path, "crew", "labels", mark="UNCHECKED: the design was not proven")
    shown, path = pages(files[f"{name}.html"]), files[f"{name}.pdf"]
    read = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, text=True, check=True)
    assert read.stderr == "" and read.stdout.count("\f") == len(shown)
    for page, words in zip(shown, read.stdout.split("\f"), strict=False):
        found = Counter("".join(words.split()))
        assert found == Counter("".join("".join(text.text or "" for text in page.iter(f"{SVG}text")).split()))
    info = subprocess.run(["pdffonts", str(path)], capture_output=True, text=True, check=True).stdout
    assert "Courier" in info
    about = subprocess.run(["pdfinfo", str(path)], capture_output=True, text=True, check=True).stdout
    assert re.search(r"Page size: .*\((A4|letter)\)", about), about


def test_list_of_labels(tmp_path: Path) -> None:
    files = written("floor", tmp_path, "labels")
    assert set(files) == {"labels.csv", "L7651.html", "L7651.pdf", "5167.html", "5167.pdf"}
    table = text_table(files["labels.csv"])
    assert tuple(table.columns) == labels.COLUMNS
    sha = sample("floor")[0].case.sha256[:8].upper()
    assert table.iloc[0].tolist()[1:] == [
        *("all", "C00002", "A1", "A01", "1", "A01-U1 nic3p1", ">B01-U11 swp1s0", f"C00002/A1/{sha}")
    ]
    pulled = [cable for visit in visits(*sample("floor")) for pair in visit.pairs for cable in pair.rows["cable"]]
    assert list(dict.fromkeys(table["cable"])) == list(dict.fromkeys(pulled)), "labels come in the order of pulling"


def test_sheets_are_those_that_can_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert {sheet.code for sheet in SHEETS} == set(LABEL_SHEETS)
    path = tmp_path / "design.json"
    path.write_text(solved("plain").model_dump_json(by_alias=True))
    to = ["export", str(path), "-o", str(tmp_path / "out")]
    assert main([*to, "--to", "labels", "--sheet", "5160", "--sheet", "L7654"]) == 0
    sheets = {f"{code}.{ending}" for code in ("L7654", "5160") for ending in ("html", "pdf")}
    assert {path.name for path in (tmp_path / "out" / "labels").iterdir()} == {"labels.csv", *sheets}
    capsys.readouterr()
    assert main([*to, "--to", "labels", "--sheet", "L7652"]) == 2
    assert "--sheet: no such sheet of labels; found 'L7652'; allowed: L7651, 5167" in capsys.readouterr().err
    assert main([*to, "--to", "crew", "--sheet", "5160"]) == 2
    assert "only `--to labels` has sheets" in capsys.readouterr().err


def test_a_visit_without_work_is_none() -> None:
    design, wiring = sample("plain")
    assert [type(visit) for visit in visits(design, wiring, 0)] == [Visit]


@pytest.mark.long
def test_copper_of_management_is_copper() -> None:
    """Cat6, whose medium is called copper in the catalog, or anything else by users, comes before glass."""
    design = shipped("nvl72-rack")
    (cat6,) = {part for part, body in design.parts.items() if body["kind"] == "cable" and body["medium"] == "copper"}
    assert class_of(design, cat6) == PASSIVE
    parts = {**design.parts, cat6: {**design.parts[cat6], "medium": "Cat6A"}}
    assert class_of(design.model_copy(update={"parts": parts}), cat6) == PASSIVE
    counts = Counter(class_of(design, part) for part in wiring_of(design).cables.part)
    assert any(f"{counts[PASSIVE]} passive copper" in line for line in floor_lines(design))


@pytest.mark.long("attachments", "two fabrics", "floor", "moves")
@pytest.mark.parametrize("name", SAMPLES)
def test_every_optical_link_that_is_pulled_is_tested_against_its_limit(name: str, tmp_path: Path) -> None:
    """What a tester may read is what `channel-loss` says; columns to fill in are empty."""
    design, wiring = sample(name)
    files = written(name, tmp_path, "crew", "channel-loss")
    pulled = {cable for visit in visits(design, wiring) for pair in visit.pairs for cable in pair.rows["cable"]}
    limits = text_table(files["channel-loss.csv"])
    limits = limits[limits["cable"].isin(pulled)]
    if not len(limits):
        assert "tests.csv" not in files
        return
    sheet = text_table(files["tests.csv"])
    assert tuple(sheet.columns) == TEST_COLUMNS
    assert sheet["cable"].tolist() == limits["cable"].tolist()
    known = [
        budget != "" or lacks == "budget"
        for budget, lacks in zip(limits["budget_db"], limits["not_known"], strict=True)
    ]
    assert sheet["pass_db"].tolist() == [
        limit if is_known else "" for limit, is_known in zip(limits["limit_db"], known, strict=True)
    ]
    assert (sheet[["read_db_there", "read_db_back", "polarity", "by"]] == "").all(axis=None)


def test_a_link_of_known_standard_has_a_limit() -> None:
    """VR4, 50 m: 1.5 dB of connections and 3 dB a kilometre are 1.65 dB, less the margin of the case."""
    design = shipped("floor-two-tier-128")
    content = {**design.case.content, "site": {**design.case.content["site"], "optical_margin_db": 0.3}}
    case = design.case.model_copy(update={"content": content})
    for limit_db, made in ((1.65, design), (1.35, design.model_copy(update={"case": case}))):
        wiring = wiring_of(made)
        table = links_to_test(Exported(made, wiring, Options()), list(visits(made, wiring)))
        assert set(table["pass_db"]) == {limit_db}
