"""`fabopt compare`: what may be named, exit codes, what is printed, and what is refused with which words."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fabopt.output.export.design import design_bytes
from tests.samples.cli_samples import Run, write_case
from tests.samples.designs_of_families import designed
from tests.samples.page_samples import outside
from tests.samples.quote_samples import write_csv
from tests.samples.shipped import in_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.usefixtures("folder")
WIDTHS = (80, 100, 140)


@pytest.fixture
def files(folder: Path, run: Run) -> None:
    """``a.json`` of four servers, ``b.json`` of eight."""
    for name, servers in (("a", 4), ("b", 8)):
        case = write_case(f"{name}.yaml", servers=servers)
        made(run, f"{name}.json", "solve", case, "--alternatives", "0")


def made(run: Run, file: str, *words: str) -> None:
    """Let a command write a file, or what it wrote for another test."""

    def work() -> bytes:
        assert run(*words, "--json", file).code == 0
        return Path(file).read_bytes()

    Path(file).write_bytes(in_run(work, f"compare {words}"))


@pytest.fixture
def front(folder: Path, run: Run) -> None:
    """``front.json`` of two points: four servers, eight."""
    made(run, "front.json", "sweep", "case.yaml", "--over", "servers=4,8")


def said(file: str = "out.json") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(file).read_text())
    return content


@pytest.mark.usefixtures("files")
def test_a_file_with_itself(run: Run) -> None:
    code, out, err = run("compare", "a.json", "a.json", "--exit-code")
    assert (code, err) == (0, "")
    assert out.startswith("A (a.json) and B (a.json) are equal")
    assert run("compare", "a.json", "b.json", "--exit-code").code == 1
    assert run("compare", "a.json", "b.json").code == 0


@pytest.mark.usefixtures("files")
def test_json_says_what_the_terminal_says(run: Run) -> None:
    out = run("compare", "a.json", "b.json", "--json", "out.json").out
    content = said()
    assert " ".join(out.split()).startswith(content["verdict"])
    costs = [side["capex_usd"] for side in content["sides"]]
    assert round(sum(step["usd"] for step in content["waterfall"]), 2) == round(costs[1] - costs[0], 2)
    rows = {row["what"]: row for row in content["differences"]}
    assert (rows["servers"]["values"], rows["servers"]["better"]) == ([4, 8], [])
    assert (rows["purchase price"]["values"], rows["purchase price"]["better"]) == (costs, ["A"])
    assert rows["servers"]["group"] == "network"
    assert [row["what"] for row in content["differences"] if row["group"] == "case"] == ["stages.all.servers"]
    assert set(content["against"][0]["cables"][0]) == {"where", "stay", "move", "go", "come"}
    piped = run("compare", "a.json", "b.json", "--json", "-")
    assert json.loads(piped.out) == content
    assert piped.err.strip() == content["verdict"]


@pytest.mark.usefixtures("files", "front")
def test_points_cases_and_designs_beside_each_other(run: Run) -> None:
    """The points are the designs of their sizes; a case is solved."""
    for names in (("a.json", "a.yaml"), ("a.json", "front.json#1"), ("front.json#2", "b.json")):
        assert run("compare", *names, "--json", "out.json", "--exit-code").code == 0, names
    assert run("compare", "a.json", "front.json#1", "front.json#2", "case.yaml", "--json", "out.json").code == 0
    content = said()
    assert [side["side"] for side in content["sides"]] == ["A", "B", "C", "D"]
    assert content["waterfall"] == content["against"][0]["waterfall"] == []
    assert content["against"][1]["waterfall"] and not content["against"][2]["waterfall"]


def test_stages(run: Run) -> None:
    design = designed("growth")
    Path("grown.json").write_bytes(design_bytes(design))
    first, last = (design.stages[place].name for place in (0, -1))
    assert run("compare", "grown.json", f"grown.json@{last}", "--exit-code").code == 0
    assert run("compare", f"grown.json@{first}", "grown.json", "--json", "out.json").code == 0
    content, totals = said(), design.totals
    assert totals is not None
    assert [side["capex_usd"] for side in content["sides"]] == [design.stages[0].capex_usd, totals.capex_usd]
    power = next(row for row in content["differences"] if row["what"] == "power of the network")
    assert power["values"] == [design.stages[0].power_w, totals.power_w]
    cables = content["against"][0]["cables"]
    assert sum(row["go"] for row in cables) == 0
    assert sum(row["move"] for row in cables) == sum(stage.moved_cables for stage in design.stages)
    wrong = run("compare", "grown.json@never", "grown.json")
    assert wrong.code == 2
    assert wrong.err.strip() == (
        f"grown.json@never: the design has no such stage; found 'never'; allowed: {first}, {last}"
    )


@pytest.mark.usefixtures("files")
def test_a_quote(run: Run) -> None:
    """One NIC dearer by $3.50, one line missing: both are causes, and nothing else is."""
    rows = [row for row in json.loads(Path("a.json").read_text())["bom"] if row["quantity"]]
    nic, gone = (next(row for row in rows if row["kind"] == kind) for kind in ("nic", "cable"))
    lines = ["Id,Length m,Quantity,Unit price USD"]
    for row in rows:
        price = row["unit_price_usd"] + 3.5 * (row is nic)
        if row is not gone:
            lines.append(f"{row['id']},{row['length_m'] or ''},{row['quantity']},{price}")
    write_csv("\n".join(lines))
    assert run("compare", "a.json", "quote.csv", "--json", "out.json").code == 0
    content = said()
    causes = {(step["what"], step["usd"]) for step in content["waterfall"]}
    assert causes == {("prices: NICs", 3.5 * nic["quantity"]), ("design: cables", -gone["total_usd"])}
    [note] = content["sides"][1]["notes"]
    assert "missing" in note and content["verdict"].startswith(f"B (quote.csv) is not what was asked for: {note}. B c")
    assert [row["what"] for row in content["differences"]] == ["purchase price"]
    assert run("compare", "quote.csv", "a.json").err.strip() == (
        "quote.csv: a quote is held against the bill of the first design; "
        "name a design first: `fabopt compare DESIGN.json QUOTE.xlsx`"
    )


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a.json"], "compare: a comparison is of two designs or more; found 1; allowed: 2 to 4 names"),
        (["a.json"] * 5, "compare: a comparison is of two designs or more; found 5; allowed: 2 to 4 names"),
        (["front.json", "a.json"],
         "front.json: this is a sweep of 2 points; `front.json#1` takes the design of one"),
        (["front.json#3", "a.json"], "front.json#3: front.json is a sweep of 2 points; found 3; allowed: 1 to 2"),
        (["front.json#0", "a.json"], "front.json#0: front.json is a sweep of 2 points; found 0; allowed: 1 to 2"),
        (["front.json#x", "a.json"], "front.json#x: not the number of a point; found 'x'; allowed: as in FRONT.json#3"),
        (["a.json#1", "a.json"], "a.json#1: a.json is one design, not a sweep or front; found 1; leave #1 out"),
        (["a.json", "b.yaml#1"], "b.yaml#1: this is a case; found 1; a point is of a sweep or front, FRONT.json#3"),
        (["a.json", "none.json"], "none.json: no such file"),
    ],
)  # fmt: skip
def test_what_is_refused(run: Run, files: None, front: None, names: list[str], words: str) -> None:
    code, out, err = run("compare", *names, "--json", "out.json")
    assert (code, out, err.strip()) == (2, "", words)
    assert not Path("out.json").exists()


@pytest.mark.usefixtures("files")
def test_a_design_that_fails_its_checks(run: Run) -> None:
    content = said("b.json")
    content["bom"][0]["total_usd"] += 1
    Path("b.json").write_text(json.dumps(content))
    assert run("compare", "a.json", "b.json").code == 1
    assert run("compare", "a.json", "b.json", "--unchecked", "--json", "out.json").code == 0
    assert "fails" in said()["unproven"]


def test_a_case_without_a_design(run: Run) -> None:
    write_case("poor.yaml", limits={"budget_usd": 10})
    code, out, err = run("compare", "case.yaml", "poor.yaml", "--json", "out.json")
    assert (code, out) == (3, "")
    assert "no design meets this case" in err
    content = said()
    assert (content["status"], content["differences"], content["waterfall"]) == ("infeasible", [], [])
    assert content["conflicts"][0]["limit"] == "limits.budget_usd"
    assert run("solve", "poor.yaml", "--json", "poor.json").code == 3
    wrong = run("compare", "case.yaml", "poor.json")
    assert wrong.code == 2
    assert "poor.json: status: there is no design here" in wrong.err
    unasked = run("quote", "request", "poor.json", "-o", "rfq")
    assert unasked.code == 2 and "here to ask for; found 'infeasible'; allowed: a design that was found" in unasked.err


@pytest.mark.long("100", "140")
@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_is_cut(run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """All words at a width are words without one, in one order or another; no line is longer."""
    for name, kind in enumerate(("clos, two tiers", "several fabrics", "growth", "torus")):
        Path(f"{name}.json").write_bytes(design_bytes(designed(kind)))
    names = [f"{name}.json" for name in range(4)]
    for sides in (names[:2], names):
        monkeypatch.setenv("COLUMNS", "1000")
        words = set(run("compare", *sides).out.split())
        monkeypatch.setenv("COLUMNS", str(width))
        out = run("compare", *sides).out
        assert max(map(len, out.splitlines())) <= width
        assert {word for word in out.split() if "─" not in word} <= words


# -- the page -------------------------------------------------------------------------------------------------------


def test_the_page_stands_alone_and_says_what_the_terminal_says(run: Run) -> None:
    for name, kind in enumerate(("clos, two tiers", "several fabrics", "torus")):
        Path(f"{name}.json").write_bytes(design_bytes(designed(kind)))
    names = [f"{name}.json" for name in range(3)]
    assert run("compare", *names, "--json", "out.json", "--html", "page.html").code == 0
    page, content = Path("page.html").read_text(), said()
    assert outside(page) == []
    text = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert html.unescape(text).count("Why ") == 2
    for against in content["against"]:
        assert all(html.escape(step["what"]) in page for step in against["waterfall"])
    marked = re.findall(r'<td class="good">([^<]*)</td>', page)
    assert marked and all(cell.endswith(" *") for cell in marked)
    assert len(marked) == sum(len(row["better"]) for row in content["differences"])
    pictures = page.split("<svg")[1:]
    assert " other" not in pictures[0]
    assert re.search(r'class="box \w+ other"', page)
    assert run("compare", names[0], names[0], "--html", "same.html").code == 0
    assert not re.search(r'class="box \w+ other"', Path("same.html").read_text())
    assert run("compare", *names, "--html", "page.txt").err.strip() == (
        "page.txt: a page is not written like this; allowed: .html, .htm"
    )


def test_bars_end_where_the_next_begin(run: Run) -> None:
    for name, kind in enumerate(("clos, two tiers", "procurement")):
        Path(f"{name}.json").write_bytes(design_bytes(designed(kind)))
    assert run("compare", "0.json", "1.json", "--html", "page.html").code == 0
    drawn = re.findall(r'<rect class="(\w+)" x="([\d.]+)" y="0" width="([\d.]+)"', Path("page.html").read_text())
    bars = [(look, float(x), float(x) + float(width)) for look, x, width in drawn]
    level = bars[0][2]
    for look, start, end in bars[1:-1]:
        assert (start if look == "more" else end) == pytest.approx(level, abs=0.35)
        level = end if look == "more" else start
    assert bars[-1][2] == pytest.approx(level, abs=0.35)


@pytest.mark.long
@pytest.mark.parametrize("width", [420, 1280])
def test_the_page_fits_its_window(run: Run, browser: Browser, width: int) -> None:
    kinds = ("clos, two tiers", "several fabrics", "torus", "growth")
    for name, kind in enumerate(kinds):
        Path(f"{name}.json").write_bytes(design_bytes(designed(kind)))
    assert run("compare", *(f"{name}.json" for name in range(4)), "--html", "page.html").code == 0
    page = browser.new_page(viewport={"width": width, "height": 900})
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.goto(Path("page.html").absolute().as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert errors == []
    page.close()
