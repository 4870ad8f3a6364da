"""What the page of a design says, its form, and the command that writes it; no browser is needed."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fabopt.cli import main
from fabopt.floor.rack_rules import KeptUnits
from fabopt.io.case import inputs_from_objects
from fabopt.io.design import read_design
from fabopt.output.charts.style import FILE_PALETTE, KINDS
from fabopt.output.export.design import design_bytes
from fabopt.output.export.elevation import Elevation, Rack, RackDevice, RackRow
from fabopt.output.html import racks
from fabopt.output.html.alternatives import alternative_rows
from fabopt.output.html.answer import answer
from fabopt.output.html.assumptions import assumptions, confidence_sentence, price_rows
from fabopt.output.html.bill import kind_rows, slices
from fabopt.output.html.build import page_bytes
from fabopt.output.sheet.pages import in_column
from fabopt.output.sheet.svg import svg
from fabopt.output.space import space_line
from fabopt.output.statements import growth_rows
from fabopt.output.terminal.families import links_of
from fabopt.output.words import run
from fabopt.schema.design import Alternative, Design, Placement
from fabopt.solution import optimize
from fabopt.units import some
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples import small
from tests.samples.designs_of_families import designed
from tests.samples.export_samples import placed, solved
from tests.samples.growth_samples import sample
from tests.samples.page_samples import (
    DARK,
    LIGHT,
    MOST_BYTES,
    MOST_ELEMENTS,
    PRINT,
    ROOT,
    TEMPLATES,
    contrast,
    grown,
    hopeless,
    outside,
    trade,
)
from tests.samples.shipped import shipped

STATED = "this was proven when the file was made, and is stated by it"


class Outline(HTMLParser):
    """Headings, ids, landmarks and attributes of a page, without a browser."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def values(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.tags if name in attributes]


def text_of(design: Design, **more: Any) -> str:
    return page_bytes(design, verify(design) if design.fabrics else (), **more).decode()


def test_links_of_a_cage_that_run_differently_say_both_lengths() -> None:
    """A table with `7 m` twice tells nobody why there are two lines."""
    fabric = solved("plain").fabrics[0]
    rows = [fabric.links[0].model_copy(update={"length_m": 7, "runs_m": runs}) for runs in (None, (7, 7), (7, 5))]
    assert [run(fabric, row) for row in rows] == ["7 m", "7 m", "5 and 7 m"]


def test_runs_on_a_floor_are_told_from_the_length_that_covers_them() -> None:
    """The file has the length on sale: links of 2.6 m were said to run 3 m."""
    fabric = (
        solved("plain")
        .fabrics[0]
        .model_copy(update={"placement": Placement(policy="anywhere", leaf=(), spine=(), core=())})
    )
    rows = [fabric.links[0].model_copy(update=keys) for keys in ({"length_m": 3}, {"length_m": 3, "attachment": "ufm"})]
    assert [run(fabric, row) for row in rows] == ["up to 3 m", "3 m"]


# -- what it says -----------------------------------------------------------------------------------------------------


def test_answer_is_one_sentence_and_its_proof() -> None:
    # Four servers of four GPUs with four 400G cards each on leaves and spines of 8 ports.
    design = solved("plain")
    totals = design.totals
    assert totals is not None
    assert answer(design) == (
        f"Buy {totals.switches} switches, {totals.nics} NICs, {totals.transceivers} transceivers and "
        f"{totals.cables} cables for ${totals.capex_usd:,} to join 16 GPUs in 4 servers. "
        f"No other {space_line(design)} costs less: {STATED}."
    )


def test_what_prices_rest_on_stands_below_the_answer() -> None:
    note = "prices: the bill is 60 % estimates, 40 % list prices"
    text = page_bytes(solved("plain").model_copy(update={"notes": (note,)}), ()).decode()
    assert '<p class="note">Prices: the bill is 60 % estimates, 40 % list prices.</p>' in text.partition("</header>")[0]


def test_answer_claims_no_more_than_is_proven() -> None:
    design = solved("plain")
    stopped = design.model_copy(update={"status": "feasible"})
    gap = stopped.model_copy(update={"objective": design.objective.model_copy(update={"gap": 0.125})})
    better = f"no other {space_line(design)} can be more than 12.5 % better"
    assert answer(gap).endswith(f"It is the best that was found; {better}: {STATED}.")
    none = stopped.model_copy(update={"objective": design.objective.model_copy(update={"gap": None})})
    assert answer(none).endswith("how much better another could be is not known.")
    watts = design.model_copy(update={"objective": design.objective.model_copy(update={"metric": "power_w"})})
    assert f"uses less power: {STATED}" in answer(watts)


def test_kinds_add_up_to_the_totals() -> None:
    design = solved("two fabrics")
    rows = list(kind_rows(design))
    assert design.totals is not None
    assert sum(row.usd for row in rows) == design.totals.capex_usd
    assert sum(row.usd_share for row in rows) == pytest.approx(1)
    assert all(sum(row.usd_by_fabric) == row.usd and len(row.usd_by_fabric) == 2 for row in rows)


def test_slices_fill_the_bar_and_leave_out_nothing() -> None:
    found = list(slices([("switch", 0.5, "$2"), ("nic", 0.0, "$0"), ("cable", 0.5, "$2")]))
    assert [(one.kind, one.begin, one.length) for one in found] == [("switch", 0, 50), ("cable", 50, 50)]


def test_price_sources_are_those_of_the_price() -> None:
    parts = small.catalog()
    dac = small.product(parts, "dac")
    dac["source"] = {"url": "sheet", "kind": "datasheet"}
    dac["provenance"] = {"lengths": {"url": "shop", "kind": "list", "confidence": "high", "date": "2026-01"}}
    nic = small.product(parts, "nic-400")
    nic.update(source={"url": "paper", "kind": "paper"}, confidence="low")
    rows = {row.id: row for row in price_rows(small.solved(small.case(servers=4), parts))}
    assert (rows["dac"].source, rows["dac"].kind, rows["dac"].confidence, rows["dac"].date) == (
        "shop",
        "list",
        "high",
        "2026-01",
    )
    assert (rows["nic-400"].source, rows["nic-400"].confidence, rows["nic-400"].date) == ("paper", "low", "not stated")
    spent = [row.usd for row in rows.values()]
    assert spent == sorted(spent, reverse=True)


def test_confidence_is_by_money() -> None:
    [row, *_] = price_rows(solved("plain"))
    shares = [
        dataclasses.replace(row, usd=usd, confidence=word) for usd, word in ((25, "low"), (50, "high"), (25, "low"))
    ]
    sentence = "Of the purchase price, 50.0 % on prices of high confidence and 50.0 % on prices of low confidence."
    assert confidence_sentence(shares) == sentence
    assert confidence_sentence([]) == ""


def test_every_fabric_is_drawn_from_its_wiring() -> None:
    design = solved("two fabrics")
    found = in_column(design, wiring_of(design))
    assert list(found) == ["compute", "storage"]
    for fabric in design.fabrics:
        picture = svg(found[fabric.name], is_inline=True)
        for tier in fabric.tiers:
            assert tier.id in picture
        links = sum(row.count for row in fabric.links if row.from_ == "server")
        assert f">{links} × {fabric.links[0].gbps:g}G to servers<" in picture


def test_pairs_are_linked_where_they_have_links() -> None:
    design = shipped("four-fabrics-1024-gpus")
    in_band = next(fabric for fabric in design.fabrics if fabric.name == "in-band")
    assert in_band.peer_links is not None
    assert "a pair, linked to each other" in links_of(in_band.structure, in_band)
    alone = in_band.model_copy(update={"peer_links": None})
    assert "a pair, with no link between them" in links_of(alone.structure, alone)


@pytest.mark.long
@pytest.mark.slow
def test_many_boxes_are_drawn_as_few() -> None:
    design = shipped("pretraining-16384-gpus")
    [sheet] = in_column(design, wiring_of(design)).values()
    assert any(box.stacked for box in sheet.boxes)
    assert len(sheet.boxes) <= 40
    assert ">2,048 servers<" in svg(sheet, is_inline=True)
    page = page_bytes(design, verify(design))
    assert len(page) < MOST_BYTES
    assert page.count(b"<") < 2 * MOST_ELEMENTS


def test_damaged_designs_have_a_page_that_says_so() -> None:
    design = solved("plain")
    damaged = design.model_copy(update={"parts": {}})
    checks = verify(damaged)
    page = page_bytes(damaged, checks).decode()
    assert "Do not buy from this design" in page
    assert "There is no drawing" in page


def test_nothing_to_buy_is_still_a_page() -> None:
    design = solved("plain")
    assert '<h2 id="bill">' in page_bytes(design.model_copy(update={"bom": ()}), ()).decode()


def test_infeasible_designs_have_a_page_that_says_why() -> None:
    page = text_of(hopeless())
    assert "No design exists: proven when it was looked for" in page
    for conflict in hopeless().conflicts:
        assert conflict.limit in page
    assert '<h2 id="bill">' not in page


def test_unknown_designs_have_a_page_that_says_why() -> None:
    design = solved("plain")
    unknown = Design(
        fabopt=design.fabopt, case=design.case, status="unknown", objective=design.objective, notes=("interrupted",)
    )
    page = text_of(unknown)
    assert "The search stopped before any design was found." in page
    assert "<p>interrupted</p>" in page


def test_same_design_same_page() -> None:
    assert text_of(solved("plain"), front=trade()) == text_of(solved("plain"), front=trade())


def test_front_of_another_version_is_marked() -> None:
    design = solved("plain")
    same = trade().model_copy(update={"case": design.case})
    assert "another version of this case" in text_of(design, front=trade())
    assert "another version of this case" not in text_of(design, front=same)


def test_growth_is_bought_stage_by_stage() -> None:
    design = grown()
    page = page_bytes(design, ()).decode()
    bought = [sum(row.total_usd for row in design.bom if row.stage == stage.name) for stage in design.stages]
    table = page.partition('<caption class="hidden">Growth, table</caption>')[2].partition("</table>")[0]
    for usd in bought:
        assert f'<td class="number">${usd:,.0f}</td>' in table


def test_free_ports_and_ratios_of_stages_are_told_fabric_by_fabric() -> None:
    design = sample("moved")
    first = design.fabrics[0]
    changes = {"oversubscription": {"leaf": 4}, "free_leaf_ports": 0, "free_spine_ports": 5}
    other = first.model_copy(
        update={"name": "storage", "growth": tuple(one.model_copy(update=changes) for one in first.growth)}
    )
    alone = [row[-2:] for row in growth_rows(design)]
    both = [row[-2:] for row in growth_rows(design.model_copy(update={"fabrics": (first, other)}))]
    assert alone[0] == ["none", "1:1"]
    assert both == [
        [f"{first.name}: {ports}; storage: 5 spine", f"{first.name}: {ratio}; storage: 4:1"] for ports, ratio in alone
    ]


def test_large_halls_stay_small() -> None:
    """12,800 servers in 3,200 racks: data of a rack is its boxes' names and little else."""
    boxes = [
        tuple(
            RackDevice(1 + 8 * place, 8, f"server-{4 * rack + place:05d}", "server", "", "gpu-8", 10200.0)
            for place in range(4)
        )
        for rack in range(3200)
    ]
    rows = tuple(
        RackRow(f"R{row}", tuple(Rack(f"R{row}-{rack:02d}", "", boxes[64 * row + rack]) for rack in range(64)))
        for row in range(50)
    )
    data = racks.rack_data(Elevation(rows, 48))
    assert len(data["racks"]) == 3200
    assert data["kinds"] == [["server", "gpu-8", "10.2 kW", ""]]
    assert len(json.dumps(data)) < MOST_BYTES / 2


def test_links_of_several_kinds_are_told_apart() -> None:
    """Links within a group of a dragonfly and those between groups, though they are alike in all else."""
    design = designed("dragonfly")
    (fabric,) = design.fabrics
    local = next(row for row in fabric.links if row.scope == "local")
    links = (*(row for row in fabric.links if row.scope is None), local, local.model_copy(update={"scope": "global"}))
    alike = design.model_copy(update={"fabrics": (fabric.model_copy(update={"links": links}),)})
    page = page_bytes(alike, ()).decode()
    assert ">leaf - leaf, local<" in page and ">leaf - leaf, global<" in page


def test_a_rack_shows_what_is_kept_in_it() -> None:
    """The page as the list of racks: a unit with a cable manager is not free."""
    leaves = tuple(RackDevice(unit, 1, f"leaf-{unit}", "leaf", "compute", "switch", 900.0) for unit in (48, 46))
    rack = Rack("A01", "", leaves, (KeptUnits(47, 1, "cable manager"), KeptUnits(1, 2, "PDU")))
    data = racks.rack_data(Elevation((RackRow("A", (rack,)),), 48))
    words, shown = data["racks"]["A01"]
    assert words == "2 of 48 U, 3 U kept, 1.8 kW"
    assert [entry[:3] for entry in shown] == [
        [48, 1, "leaf-48"], [47, 1, "cable manager"], [46, 1, "leaf-46"], [1, 2, "PDU"]
    ]  # fmt: skip
    assert [data["kinds"][entry[3]][0] for entry in shown] == ["leaf", "kept", "leaf", "kept"]


def test_gear_of_later_stages_is_told_from_what_stands_already() -> None:
    devices = tuple(
        RackDevice(unit, 1, f"leaf-{unit}", "leaf", "c", "x", 900.0, later=stage)
        for unit, stage in ((2, "s2"), (1, ""))
    )
    data = racks.rack_data(Elevation((RackRow("A", (Rack("A01", "", devices),)),), 12))
    assert [data["kinds"][entry[3]] for entry in data["racks"]["A01"][1]] == [
        ["leaf", "x", "900 W", "s2"], ["leaf", "x", "900 W", ""]
    ]  # fmt: skip


@pytest.mark.parametrize("deltas", [(-50, 150, 0), (-50, -200), (10, 20), (0,)])
def test_bars_of_alternatives_run_from_the_most_saved_to_the_most_added(deltas: tuple[int, ...]) -> None:
    """A bar that saves ends where one that adds begins; the words have the sign."""
    others = tuple(Alternative(what="rails", value="any", summary="", capex_delta_usd=usd) for usd in deltas)
    rows = alternative_rows(solved("plain").model_copy(update={"alternatives": others}))
    low, high = min(0, *deltas, 0), max(0, *deltas, 0)
    for row, usd in zip(rows, deltas, strict=True):
        ends = row.start, row.start + row.length
        assert (row.look, row.cells[1][0]) == (("less", "-") if usd < 0 else ("more", "+" if usd else "s"))
        expected = [100 * (one - low) / (high - low or 1) for one in sorted((0, usd))]
        assert ends == pytest.approx(expected, abs=0.02)


# -- form -------------------------------------------------------------------------------------------------------------


@pytest.mark.long("front")
@pytest.mark.parametrize("name", ["plain", "floor", "infeasible", "front", "grown"])
def test_page_is_well_formed(name: str) -> None:
    """Landmarks, one first heading and no level left out, unique ids, named tables, heads with a scope."""
    design = {"floor": placed(), "infeasible": hopeless(), "grown": grown()}.get(name, solved("plain"))
    page = text_of(design, front=trade() if name == "front" else None)
    outline = Outline(page)
    names = [tag for tag, _ in outline.tags]
    assert [names.count(one) for one in ("h1", "main", "header", "footer", "nav")] == [1] * 5
    assert [tag for tag, _ in Outline(page.partition("</head>")[0]).tags].count("title") == 1  # those of SVG come later
    assert all(below - above <= 1 for above, below in zip([0, *outline.headings], outline.headings, strict=False))
    ids = outline.values("id")
    assert len(set(ids)) == len(ids)
    assert set(outline.values("aria-labelledby")) <= set(ids)
    assert outside(page) == []
    assert all("scope" in attributes for tag, attributes in outline.tags if tag == "th")
    labelled = [a for tag, a in outline.tags if tag == "table" and {"aria-label", "aria-labelledby"} & set(a)]
    assert names.count("caption") + len(labelled) == names.count("table")
    regions = [a["aria-label"] for _, a in outline.tags if a.get("role") == "region"]
    assert len(set(regions)) == len(regions) and not any(f">{one}</h" in page for one in regions)
    assert not outline.values("style") and not any(one.startswith("on") for _, a in outline.tags for one in a)


# -- colours ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("light", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_is_enough(light: dict[str, str]) -> None:
    """WCAG 2.2 AA: text 4.5 (1.4.3), parts of charts 3 (1.4.11)."""
    texts = [(word, "ground") for word in ("ink", "faded", "accent", "alarm", "good", "warn")]
    texts += [("ink", "raised"), ("on-accent", "accent")]
    texts += [("on-box", role) for role in ("core", "spine", "leaf", "servers", "attachment")]
    assert [pair for pair in texts if contrast(light[pair[0]], light[pair[1]]) < 4.5] == []
    assert [kind for kind in KINDS if contrast(light[kind], light["ground"]) < 3] == []


def test_pages_print_in_the_light() -> None:
    assert PRINT == LIGHT


def test_files_and_pages_have_the_same_colours() -> None:
    assert [LIGHT[kind] for kind in KINDS] == list(FILE_PALETTE.kinds)
    names = ("ink", "faded", "accent", "alarm", "ground")
    assert [LIGHT[name] for name in names] == [getattr(FILE_PALETTE, name) for name in names]


# -- nothing gets out -------------------------------------------------------------------------------------------------


def test_policy_allows_only_the_page_itself() -> None:
    page = text_of(solved("plain"))
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy and "http" not in policy
    strays = ("<a href='#nowhere'>", '<img src="https://x.example/a.png">', '<a href="more.html">', "url(x.woff)")
    assert [len(outside(page + one.replace("'", '"'))) for one in strays] == [1, 1, 1, 1]


def test_control_characters_are_not_passed_on() -> None:
    design = solved("plain").model_copy(update={"notes": ("right\u202eleft\x00",)})
    assert "<li>right?left?</li>" in text_of(design)


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "design.json").write_bytes(design_bytes(solved("plain")))
    return tmp_path


def test_report_writes_a_page(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "design.json", "-o", "page.html"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (desk / "page.html").read_bytes() == text_of(read_design("design.json")).encode()


def test_report_goes_to_standard_output(desk: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["report", "design.json", "-o", "-"]) == 0
    out, err = capfdbinary.readouterr()
    assert (out.startswith(b"<!DOCTYPE html>"), out.rstrip().endswith(b"</html>"), err) == (True, True, b"")


def test_report_shows_a_front(desk: Path) -> None:
    (desk / "front.json").write_text(trade().model_dump_json(by_alias=True))
    assert main(["report", "design.json", "-o", "page.html", "--front", "front.json"]) == 0
    assert '<h2 id="front">Front</h2>' in (desk / "page.html").read_text()


def test_a_front_that_does_not_hold_together_is_the_fault_of_its_file(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    front = json.loads(trade().model_dump_json(by_alias=True))
    record = solved("plain").case.model_dump(mode="json")
    record["content"]["fabrics"] = record["content"]["stages"] = 3
    for point in front["points"]:
        point["case"] = record
    (desk / "front.json").write_text(json.dumps(front))
    assert main(["report", "design.json", "-o", "page.html", "--front", "front.json"]) == 2
    assert capsys.readouterr().err.startswith("front.json: the front does not hold together: ")
    assert not (desk / "page.html").exists()


def test_report_of_no_design_says_why(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (desk / "none.json").write_bytes(design_bytes(hopeless()))
    assert main(["report", "none.json", "-o", "page.html"]) == 3
    assert capsys.readouterr().err == "small: no design meets this case (proven).\n"
    assert "limits.budget_usd" in (desk / "page.html").read_text()


def test_report_of_a_search_that_was_stopped_ends_like_it(desk: Path) -> None:
    (desk / "none.json").write_bytes(design_bytes(hopeless().model_copy(update={"status": "unknown"})))
    assert main(["report", "none.json", "-o", "page.html"]) == 4
    assert (desk / "page.html").exists()


def test_report_refuses_half_a_design(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads((desk / "design.json").read_text()) | {"totals": None, "stages": []}
    (desk / "design.json").write_text(json.dumps(content))
    assert main(["report", "design.json", "-o", "page.html"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[:2] for line in lines] == [["design.json", "totals"], ["design.json", "stages"]]


def test_report_checks_again(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the file says of its checks is not believed."""
    content = json.loads((desk / "design.json").read_text())
    content["totals"]["capex_usd"] += 1
    (desk / "design.json").write_text(json.dumps(content))
    assert main(["report", "design.json", "-o", "page.html"]) == 1
    assert "check totals_add_up FAILED" in capsys.readouterr().err
    assert not (desk / "page.html").exists()
    assert main(["report", "design.json", "-o", "page.html", "--unchecked"]) == 0
    assert "Do not buy from this design" in (desk / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["design.json", "-o", "page.pdf"], "page.pdf: a report is not written like this; allowed: .html, .htm"),
        (["none.json", "-o", "page.html"], "none.json: no such file"),
        (["design.json", "-o", "no/page.html"], "no/page.html: there is no folder"),
        (["design.json", "-o", "page.html", "--front", "none.json"], "none.json: no such file"),
        (["text.json", "-o", "page.html"], "text.json: line 1, column 1: not JSON"),
        (["list.json", "-o", "page.html"], "list.json: "),
        (["design.json", "-o", "page.html", "--front", "text.json"], "such a file is what `fabopt sweep"),
        (["design.json", "-o", "page.html", "--front", "design.json"], "design.json: "),
        (["design.json", "-o", "page.html", "--front", "other.json"], "another case; found 'other'; allowed: small"),
        (["-", "-o", "page.html", "--front", "-"], "--front: only one input can come from standard input"),
    ],
)  # fmt: skip
def test_report_refuses(desk: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    (desk / "text.json").write_text("name: pod\n")
    (desk / "list.json").write_text("[]")
    other = trade().model_copy(update={"case": trade().case.model_copy(update={"name": "other"})})
    (desk / "other.json").write_text(other.model_dump_json(by_alias=True))
    assert main(["report", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err and "Traceback" not in err
    assert not (desk / "page.html").exists()


# -- documentation ----------------------------------------------------------------------------------------------------


def test_picture_of_the_page_is_small() -> None:
    data = (ROOT / "docs" / "img" / "report.png").read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) < 300_000


def test_documentation_names_every_section() -> None:
    """Titles of the sections of the templates are those in docs/report.md."""
    named = re.findall(r"^\| ([A-Z][\w ]+) \|", (ROOT / "docs" / "report.md").read_text(), re.MULTILINE)
    templates = "".join(path.read_text() for path in TEMPLATES.glob("report*.html"))
    # the statements of a design have their titles from it
    titles = [*re.findall(r"<h2 id=\"(\w+)\">", templates), "single", "workload", "growth", "cash"]
    assert len(named) == len(set(titles) - {"why"})
    assert [title for title in named if title.split()[0].lower() not in titles] == []


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (1, "leaf", "1 leaf"),
        (2, "leaf", "2 leaves"),
        (0, "switch", "0 switches"),
        (1024, "server", "1,024 servers"),
        (3, "assembly", "3 assemblies"),
        (1.0, "unit", "1 unit"),
        (8.0, "unit", "8 units"),
        (1.5, "unit", "1.5 units"),
    ],
)
def test_counts_read_right(number: float, noun: str, words: str) -> None:
    assert some(number, noun) == words


def test_limits_of_stages_are_among_those_of_the_page() -> None:
    stages = [
        {"name": "day-1", "servers": 2, "limits": {"budget_usd": 300_000, "power_w": 20_000}},
        {"name": "day-2", "month": 12, "servers": 4},
    ]
    content = {key: value for key, value in small.case().items() if key not in ("servers", "gpus")} | {"stages": stages}
    design = optimize.solve(inputs_from_objects(content, small.catalog()), alternatives_s=0)
    assert dict(assumptions(design))["Limits"] == "day-1: budget $300,000; power 20 kW"
