"""``fabopt as-built``: exit codes, files, the page, and what it refuses before anything is read."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from fabopt.output.export.as_built import FINDING_COLUMNS
from fabopt.output.export.design import design_bytes
from tests.samples.as_built import wired
from tests.samples.cli_samples import Run
from tests.samples.discoveries import discovery_text, planned_links
from tests.samples.shipped import shipped

NAME = "dgx-superpod-32"


@pytest.fixture
def design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A design file in the working folder, with what was found beside it: ``right.txt``, and ``wrong.txt``."""
    monkeypatch.chdir(tmp_path)
    Path("design.json").write_bytes(design_bytes(shipped(NAME)))
    links = planned_links(wired(NAME))
    Path("right.txt").write_text(discovery_text(links))
    (a, b), (c, d) = links[0], links[9]
    Path("wrong.txt").write_text(discovery_text([(a, d), (c, b), *links[1:9], *links[11:]]))
    return "design.json"


def test_nothing_is_found(design: str, run: Run) -> None:
    ran = run("as-built", design, "--ibnetdiscover", "right.txt", "--json", "-")
    assert ran.code == 0
    assert json.loads(ran.out) == {
        "ok": True, "cables": {"planned": 512, "right": 512}, "findings": [], "repairs": [], "notes": [],
    }  # fmt: skip


def test_findings_in_all_files(design: str, run: Run) -> None:
    files = ("--json", "out.json", "--findings", "out.csv", "--html", "out.html")
    ran = run("as-built", design, "--ibnetdiscover", "wrong.txt", *files)
    assert ran.code == 1
    assert "2 findings: 1 swapped, 1 missing" in " ".join(ran.out.split())
    content = json.loads(Path("out.json").read_text())
    assert [finding["kind"] for finding in content["findings"]] == ["swapped", "missing"]
    rows = list(csv.reader(io.StringIO(Path("out.csv").read_text())))
    assert tuple(rows[0]) == FINDING_COLUMNS
    assert [row[0] for row in rows[1:]] == ["swapped", "missing"]
    page = Path("out.html").read_text()
    assert all(finding["detail"] in page for finding in content["findings"])


def test_options_that_are_wrong(design: str, run: Run) -> None:
    for words, message in (
        ((), "no file says what is cabled; allowed: --ibnetdiscover FILE, --lldp FILE or DIR, --csv FILE"),
        (("--csv", "right.txt", "--stage", "day-9"), "no such stage; found 'day-9'; allowed: all"),
        (("--csv", "right.txt", "--html", "out.txt"), "a page is not written like this; allowed: .html, .htm"),
        (("--csv", "-", "--lldp", "-"), "only one input can come from standard input"),
        (("--csv", "none.txt"), "none.txt: no such file"),
    ):
        ran = run("as-built", design, *words)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err


def test_names_that_are_not_planned(design: str, run: Run) -> None:
    Path("names.csv").write_text("found,planned\nx,server-9999\ny,server-0001\nz,server-0002 nic1p1\nmlx5_9,nic1p1\n")
    ran = run("as-built", design, "--ibnetdiscover", "right.txt", "--names", "names.csv")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "this name is not in the design; found 'server-9999'" in ran.err


def test_a_design_that_fails_its_checks(design: str, run: Run) -> None:
    content = json.loads(Path(design).read_text())
    content["totals"]["capex_usd"] += 1
    Path(design).write_text(json.dumps(content))
    assert run("as-built", design, "--ibnetdiscover", "right.txt").code == 1
    ran = run("as-built", design, "--ibnetdiscover", "right.txt", "--unchecked", "--json", "out.json")
    assert ran.code == 0
    assert "UNCHECKED" in json.loads(Path("out.json").read_text())


LAB = """
name: lab
server: generic-hgx-h100
servers: 3
fabrics:
  - {name: compute, protocol: infiniband, nics_per_server: 2, min_gbps_per_gpu: 50, max_oversubscription: 1, tiers: 1}
site: {servers_per_rack: 2, floor: {rows: 1, racks_per_row: 3}}
"""


def test_a_page_with_racks_marks_what_is_touched(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of six cables is missing: the racks of its server and its leaf are marked, and no other."""
    monkeypatch.chdir(tmp_path)
    Path("lab.yaml").write_text(LAB)
    assert run("solve", "lab.yaml", "--json", "lab.json", "--alternatives", "0").code == 0
    run("export", "lab.json", "--to", "cables", "-o", ".")
    table = Path("point-to-point.csv").read_text().splitlines()
    Path("found.csv").write_text("\n".join(table[:-1]))
    ran = run("as-built", "lab.json", "--csv", "found.csv", "--html", "out.html", "--json", "out.json")
    assert ran.code == 1
    page, content = Path("out.html").read_text(), json.loads(Path("out.json").read_text())
    (finding,), (move,) = content["findings"], content["repairs"]
    assert (finding["kind"], move["move"], move["cable"]) == ("missing", "lay", finding["cable"])
    for end in ("a", "b"):
        assert f'faulty" data-rack="{finding[end]["rack"]}"' in page
        assert f'"{finding[end]["device"]}",' in page
    assert page.count('faulty" data-rack') == page.count('"1 finding"') == 2
    assert {move["from"]["label"], move["to"]["label"]} == {
        "server-0003 nic2p1 > compute-leaf-001 6", "compute-leaf-001 6 > server-0003 nic2p1"
    }  # fmt: skip
