"""What is made of a saved design: nothing of one that fails its checks, unless every file says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from fabopt.cli import main
from fabopt.errors import InputError
from fabopt.io.design import read_design
from fabopt.output.export import FORMATS
from fabopt.output.export.marks import beside, marked
from fabopt.schema.design import Design
from tests.mutations import document_of
from tests.samples import bases, trunked
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.growth_samples import eight, grown
from tests.samples.page_samples import pages_of_pdf

Json = dict[str, Any]
Edit = Callable[[Json], object]
# Each was taken for granted by ``bom`` and ``export``.
FAULTS: dict[str, Edit] = {
    "a quantity": lambda document: document["bom"][0].update(quantity=document["bom"][0]["quantity"] + 1),
    "a count of leaves": lambda document: document["fabrics"][0]["tiers"][0].update(count=9),
    "a price": lambda document: document["bom"][0].update(unit_price_usd=1),
}


def run(system: str) -> Edit:
    """Let a system run on every switch of a design, with eight lanes behind each cage."""

    def edit(document: Json) -> None:
        switches = [part for part in document["parts"].values() if isinstance(part, dict) and "protocol" in part]
        for switch in switches:
            cages = sum(cage["count"] for cage in switch["cages"])
            ports = {"first": 0, "step": 8, "lanes": [8 * cage for cage in range(cages)]}
            switch.update(nos=[system], sonic_ports=ports)

    return edit


# What some formats want of a design, which then is wrong in more ways.
LABOUR = {"usd_per_hour": 60, "minutes": {"rack": 20}}
SUITABLE: dict[str, tuple[Edit, ...]] = {
    "sonic": (run("sonic"),),
    "eos": (run("eos"),),
    "opensm": (lambda document: document["fabrics"][0].update(protocol="infiniband"),),
    "labour": (lambda document: document["case"]["content"]["site"].update(labour=LABOUR),),
}
# The sample of a format that not every design can be written in.
SAMPLES = {"htsim": "several fabrics", "simai": "rail-only", "trunks,panels": "trunks", "migration": "in service"}
WRITES = {
    "bom": ["bom", "design.json", "-o", "bill.csv"],
    "export": ["export", "design.json", "--to", "cables,dot", "-o", "out"],
    "report": ["report", "design.json", "-o", "page.html"],
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of_kind(kind: str) -> Design:
    if kind == "trunks":
        return trunked.solved(trunked.hall())
    if kind == "in service":
        base = bases.designed(eight(), grown(4, fabric={"tiers": [1, 2]}))
        return bases.gone_on(eight(), grown(8, fabric={"tiers": [1, 2]}), base, Path.cwd())
    return designed(kind)


def save(kind: str = "clos, two tiers", *edits: Edit) -> None:
    document = document_of(of_kind(kind))
    for edit in edits:
        edit(document)
    Path("design.json").write_text(json.dumps(document))


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.long(but_every=4)
@pytest.mark.parametrize("command", WRITES)
@pytest.mark.parametrize("what", FAULTS)
def test_refuses_what_fails_its_checks(desk: Path, capsys: pytest.CaptureFixture[str], command: str, what: str) -> None:
    save("clos, two tiers", FAULTS[what])
    assert main(WRITES[command]) == 1
    err = capsys.readouterr().err
    assert main(["check", "design.json"]) == 1
    failed = [line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("FAIL")]
    assert [line.split()[1] for line in err.splitlines() if line.startswith("check ")] == failed
    assert err.splitlines()[-1].startswith(f"design.json: {len(failed)} of ") and "--unchecked" in err
    assert files_of(desk) == [desk / "design.json"]


@pytest.mark.parametrize("command", WRITES)
def test_what_holds_is_written_without_a_mark(desk: Path, command: str) -> None:
    save()
    assert main(WRITES[command]) == 0
    written = [path for path in files_of(desk) if path.suffix in (".csv", ".dot", ".html")]
    assert written and not any("UNCHECKED" in path.read_text() for path in written)


def text_of(path: Path) -> str:
    if path.suffix == ".pdf":
        pages = pages_of_pdf(path)
        assert all("UNCHECKED" in page for page in pages)
        return pages[0]
    if path.suffix != ".xlsx":
        return path.read_text()
    book = openpyxl.load_workbook(path)
    assert book.sheetnames[0] == "UNCHECKED"
    return str(book.worksheets[0]["A1"].value)


# The formats that can be written of one design, together; one alone would not say which of them wrote no file.
APART = {*",".join(SAMPLES).split(","), *SUITABLE}
TOGETHER = [",".join(name for name in FORMATS if name not in APART), *SAMPLES, *SUITABLE]
ALONE = [name for name in FORMATS if name not in APART]


@pytest.mark.long("names0")
@pytest.mark.parametrize("names", [*TOGETHER, *(pytest.param(name, marks=pytest.mark.long) for name in ALONE)])
def test_every_file_of_an_unchecked_design_says_so(desk: Path, capsys: pytest.CaptureFixture[str], names: str) -> None:
    edits = SUITABLE.get(names, ())
    save(SAMPLES.get(names, "floor"), lambda document: document["totals"].update(capex_usd=1), *edits)
    assert main(["export", "design.json", "--to", names, "-o", "out", "--unchecked"]) == 0
    assert "check totals_add_up FAILED" in capsys.readouterr().err
    written = files_of(desk / "out")
    assert written
    for path in written:
        said = beside(path) if beside(path) in written else path
        assert "UNCHECKED: the design fails " in text_of(said) and "totals_add_up" in text_of(said), path.name


def test_a_marked_table_is_one_with_a_column_more(desk: Path) -> None:
    save("clos, two tiers")
    main(["export", "design.json", "--to", "cables", "-o", "out"])
    plain = pd.read_csv("out/cables.csv", dtype=str)
    save("clos, two tiers", FAULTS["a quantity"])
    main(["export", "design.json", "--to", "cables", "-o", "out", "--unchecked"])
    found = pd.read_csv("out/cables.csv", dtype=str)
    assert found.drop(columns="UNCHECKED").equals(plain)
    assert found["UNCHECKED"].str.startswith("UNCHECKED: the design fails").all()


@pytest.mark.parametrize("ending", ["csv", "json", "xlsx"])
def test_every_unchecked_bill_says_so(desk: Path, ending: str) -> None:
    save("clos, two tiers", FAULTS["a price"])
    assert main(["bom", "design.json", "-o", f"bill.{ending}", "--unchecked"]) == 0
    assert "UNCHECKED: the design fails " in text_of(Path(f"bill.{ending}"))
    if ending == "json":
        assert json.loads(Path("bill.json").read_text())["unchecked"].startswith("UNCHECKED")


def test_an_unchecked_page_has_a_banner(desk: Path) -> None:
    save("clos, two tiers", FAULTS["a price"])
    assert main([*WRITES["report"], "--unchecked"]) == 0
    page = Path("page.html").read_text()
    assert page.index("UNCHECKED: the design fails") < page.index("<h1>")


def test_a_design_that_was_not_asked_for_its_proof_is_marked_too(desk: Path) -> None:
    save()
    assert main([*WRITES["bom"], "--unchecked"]) == 0
    assert Path("bill.csv").read_text().count("UNCHECKED: written without") > 3


def test_a_file_whose_format_has_no_room_has_its_mark_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "device.bin"
    path.write_text("{}")
    assert marked(path, "UNCHECKED: why") == [path, beside(path)]
    assert (path.read_text(), beside(path).name) == ("{}", "device.bin.UNCHECKED.txt")
    assert beside(path).read_text() == "UNCHECKED: why\n"


def test_a_file_that_claims_a_design_and_has_none_is_no_answer(desk: Path) -> None:
    save("clos, two tiers", lambda document: document.update(fabrics=[]))
    assert main(WRITES["bom"]) == 1
    assert not Path("bill.csv").exists()


@pytest.mark.long(but=("clos, two tiers", "planes", "hyperx", "growth", "floor", "procurement"))
@pytest.mark.parametrize("kind", MAKERS)
def test_an_embedded_case_that_is_invalid_is_wrong_input(desk: Path, kind: str) -> None:
    """An internal error of 48 among 1,350 mutations."""
    for edit in (
        lambda document: document["case"]["content"].update(server=7),
        lambda document: document["case"]["content"].update(fabrics=[]),
        lambda document: document["case"]["content"]["fabrics"][0].update(tiers="many"),
        lambda document: document["case"]["content"]["site"].update(servers_per_rack=-1),
    ):
        save(kind, edit)
        with pytest.raises(InputError) as error:
            read_design("design.json")
        assert all(fault.path.startswith("case.content") for fault in error.value.faults)
    assert main(["check", "design.json"]) == 2


def test_a_list_is_marked_in_a_file_beside_it(tmp_path: Path) -> None:
    """Whoever reads it takes all its items for what they are."""
    path = tmp_path / "targets.json"
    path.write_text('["leaf-1"]')
    assert marked(path, "UNCHECKED: not proven") == [path, beside(path)]
    assert path.read_text() == '["leaf-1"]' and beside(path).read_text() == "UNCHECKED: not proven\n"
