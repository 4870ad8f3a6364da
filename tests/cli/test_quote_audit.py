"""`fabopt quote audit`: what a quote lacks, has too much of or otherwise, and what it costs beyond the best."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import yaml
from openpyxl.worksheet.worksheet import Worksheet

from fabopt.output.export.bill import bill_bytes
from fabopt.output.export.design import design_bytes
from tests.samples.cli_samples import Ran, Run, write_case
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.quote_samples import write_csv

HEAD = ["Id", "Length m", "Quantity", "Unit price USD"]
Line = list[object]
# Modules that the catalog has besides: one that fits in place of the planned one, one with other optics, one with other
# ends.
OTHERS = [
    {"id": "other-dr4", "standard": "400G-DR4", "form_factor": "QSFP-DD"},
    {"id": "other-sr4", "standard": "400G-SR4", "form_factor": "QSFP-DD"},
    {"id": "other-osfp", "standard": "400G-DR4", "form_factor": "OSFP-IHS"},
]


@pytest.fixture
def desk(folder: Path, run: Run) -> Path:
    """A design of switches, NICs, modules and fibre, and a catalog with other modules that nobody would pay for."""
    catalog = yaml.safe_load(Path("acme.yaml").read_text())
    module = catalog["transceivers"][0] | {"price_usd": 100}
    catalog["transceivers"] = [module, {**module, "id": "acme-nic-dr4", "form_factor": "QSFP112"}]
    catalog["transceivers"] += [{**module, **other, "price_usd": 9999} for other in OTHERS]
    catalog["cables"] = []
    Path("acme.yaml").write_text(yaml.safe_dump(catalog))
    write_case(start="2027-03")
    assert run("solve", "case.yaml", "--json", "design.json", "--alternatives", "0").code == 0
    return folder


def bill() -> list[Line]:
    """Lines of a quote that is the bill."""
    rows = json.loads(Path("design.json").read_text())["bom"]
    return [
        [row["id"], row["length_m"] or "", row["quantity"], row["unit_price_usd"]] for row in rows if row["quantity"]
    ]


def audited(run: Run, lines: list[Line], *options: str, before: str = "") -> tuple[Ran, dict[str, Any]]:
    rows = [",".join(map(str, line)) for line in [HEAD, *lines]]
    write_csv("\n".join([before, *rows]))
    ran = run("quote", "audit", "quote.csv", "--design", "design.json", "--json", "audit.json", *options)
    return ran, json.loads(Path("audit.json").read_text()) if ran.code < 2 else {}


def kinds(audit: dict[str, Any]) -> list[tuple[str, str]]:
    return [(finding["kind"], finding["id"]) for finding in audit["findings"]]


def of(lines: list[Line], id_: str) -> Line:
    return next(line for line in lines if line[0] == id_)


@pytest.mark.usefixtures("desk")
def test_a_quote_that_is_the_bill_has_no_findings(run: Run) -> None:
    ran, audit = audited(run, bill())
    assert ran.code == 0 and audit["ok"] and audit["findings"] == []
    capex = json.loads(Path("design.json").read_text())["totals"]["capex_usd"]
    assert audit["sums"] == {
        "bill_usd": capex, "bill_at_quote_usd": capex, "quoted_usd": capex, "missing_usd": 0, "completed_usd": capex,
        "best_usd": capex, "above_best_usd": 0,
    }  # fmt: skip
    assert audit["best"]["status"] == "optimal"
    assert "0 faults, 0 remarks" in ran.out and "proven optimal" in ran.out
    assert run("bom", "design.json", "-o", "bill.csv").code == 0
    assert run("quote", "audit", "bill.csv", "--design", "design.json").code == 0


@pytest.mark.usefixtures("desk")
def test_missing_surplus_and_wrong_lengths(run: Run) -> None:
    lines = bill()
    of(lines, "acme-t4")[2] = 1
    lines.remove(of(lines, "acme-nic"))
    of(lines, "acme-dr4")[2] = int(str(of(lines, "acme-dr4")[2])) + 5
    fibre = of(lines, "acme-mpo")
    planned = fibre[1]
    fibre[1] = 50 if planned == 10 else 10
    lines.append(["acme-tall", "", 2, 300])
    ran, audit = audited(run, lines)
    assert ran.code == 1 and not audit["ok"]
    found = {finding["kind"]: finding for finding in audit["findings"] if finding["kind"] != "surplus"}
    assert found["wrong-length"]["id"] == "acme-mpo" and found["wrong-length"]["length_m"] == fibre[1]
    assert f"of {planned} m are planned, {fibre[1]} m is quoted" in found["wrong-length"]["text"]
    surplus = [finding["text"] for finding in audit["findings"] if finding["kind"] == "surplus"]
    assert surplus[0].startswith("5 x acme-dr4 too many")
    assert surplus[1] == "2 x acme-tall too many: 2 quoted, not on the bill"
    missing = [finding for finding in audit["findings"] if finding["kind"] == "missing"]
    number = of(bill(), "acme-nic")[2]
    texts = {finding["id"]: finding["text"] for finding in missing}
    assert texts["acme-nic"] == f"{number} x acme-nic missing: {number} planned, none quoted"
    switches = of(bill(), "acme-t4")[2]
    assert texts.get("acme-t4", "").endswith(f"missing: {switches} planned, 1 quoted") or switches == 1
    assert audit["sums"]["missing_usd"] > 0
    assert (("missing", "acme-mpo") in kinds(audit)) == (fibre[1] == 10)


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("other", "kind", "words"),
    [
        ("other-dr4", "stand-in", "they fit, but are not what was planned"),
        ("other-sr4", "does-not-mate", "standard of acme-nic-dr4 is 400G-DR4, not 400G-SR4"),
        ("other-osfp", "does-not-mate", "other-osfp is OSFP-IHS, QSFP-DD needed"),
    ],
)
def test_modules_in_place_of_planned_ones(run: Run, other: str, kind: str, words: str) -> None:
    lines = bill()
    of(lines, "acme-dr4")[0] = other
    ran, audit = audited(run, lines)
    assert ran.code == 1
    (finding,) = [finding for finding in audit["findings"] if finding["kind"] == kind]
    assert finding["id"] == other and words in finding["text"]
    reasons = finding["text"].split("; ")
    assert len(set(reasons)) == len(reasons)
    is_missing = ("missing", "acme-dr4") in kinds(audit)
    assert is_missing == (kind == "does-not-mate")


@pytest.mark.usefixtures("desk")
def test_freight_without_a_quantity_is_counted_once(run: Run) -> None:
    ran, audit = audited(run, [*bill(), ["Freight", "", "", 4500]])
    (finding,) = audit["findings"]
    assert (finding["kind"], finding["usd"]) == ("not-matched", 4500)
    assert "not matched, and in no sum: 1 line with $4,500 in all" in ran.out


@pytest.mark.long("port-side-exhaust", "port-side-intake")
@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("wanted", [None, "port-side-intake", "port-side-exhaust"])
def test_a_switch_that_blows_the_other_way(run: Run, wanted: str | None) -> None:
    """The part number of the other airflow is the right product, and not what the bill orders."""
    catalog = yaml.safe_load(Path("acme.yaml").read_text())
    (switch,) = (switch for switch in catalog["switches"] if switch["id"] == "acme-t4")
    switch |= {"part_number": "T4-F", "airflows": {"port-side-exhaust": "T4-F", "port-side-intake": "T4-R"}}
    Path("acme.yaml").write_text(yaml.safe_dump(catalog))
    write_case(start="2027-03", **({"site": {"rack_rules": {"airflow": wanted}}} if wanted else {}))
    assert run("solve", "case.yaml", "--json", "design.json", "--alternatives", "0").code == 0
    for code, blows in (("Acme T4-F", "port-side-exhaust"), ("T4-R", "port-side-intake")):
        lines = bill()
        of(lines, "acme-t4")[0] = code
        ran, audit = audited(run, lines)
        is_other = blows != (wanted or "port-side-exhaust")
        assert (ran.code, [kind for kind, _ in kinds(audit)]) == (int(is_other), ["wrong-airflow"] * is_other)
        for finding in audit["findings"]:
            assert finding["id"] == "acme-t4" and finding["row"] and finding["usd"] > 0
            assert f"is quoted as {code.split()[-1]}, {blows}: planned is T4-" in finding["text"]


@pytest.mark.usefixtures("desk")
def test_lines_that_are_not_matched_and_lines_without_a_price(run: Run) -> None:
    lines = [*bill(), ["acme-t5", "", 2, 250], ["Freight", "", 1, 90]]
    of(lines, "acme-nic")[3] = "TBD"
    ran, audit = audited(run, lines)
    assert ran.code == 1
    assert [name for name, _ in kinds(audit)] == ["missing", "unpriced", "not-matched", "not-matched"]
    assert audit["findings"][0]["text"].endswith(" planned, none quoted with a price")
    assert "not matched, and in no sum: 2 lines with $590 in all" in audit["notes"]


@pytest.mark.usefixtures("desk")
def test_a_dearer_quote_is_held_against_the_best_design_on_its_prices(run: Run) -> None:
    """The other module is offered at $1, so that another design than the planned one is the cheapest."""
    lines = bill()
    module = of(lines, "acme-dr4")
    number = int(str(module[2]))
    module[3] = 150
    ran, audit = audited(run, [*lines, ["other-dr4", "", 1, 1]])
    assert ran.code == 1
    above = next(finding for finding in audit["findings"] if finding["kind"] == "above-best")
    planned = next(finding for finding in audit["findings"] if finding["kind"] == "above-planned")
    assert planned["severity"] == "remark" and planned["usd"] == 50 * number
    sums = audit["sums"]
    assert sums["bill_at_quote_usd"] == sums["bill_usd"] + 50 * number
    assert sums["best_usd"] == sums["bill_usd"] - 99 * number
    assert above["usd"] == sums["above_best_usd"] == sums["completed_usd"] - sums["best_usd"]
    assert f"${above['usd']:,.0f} above the best design on the same prices" in " ".join(ran.out.split())


@pytest.mark.usefixtures("desk")
def test_rows_of_several_sheets_are_told_apart(run: Run) -> None:
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet("Options")):
        for row in (HEAD, ["gone-part", None, 4, 80]):
            sheet.append(row)
    book.active.title = "Main"
    book.save("quote.xlsx")
    ran = run("quote", "audit", "quote.xlsx", "--design", "design.json")
    assert "Main 2 " in ran.out and "Options 2 " in ran.out


@pytest.mark.usefixtures("desk")
def test_a_quote_that_ends_too_early_is_a_remark(run: Run) -> None:
    ran, audit = audited(run, bill(), before="Valid until 2027-02-15")
    assert ran.code == 0 and [name for name, _ in kinds(audit)] == ["ends-early"]
    assert "the quote ends on 2027-02-15, before what it prices is ordered (2027-03-01)" in audit["findings"][0]["text"]


def _lines_that_show(sheet: Worksheet, column: str) -> bool:
    """Whether every row is as high as its longest text needs in the width of the column, of which some need more."""
    width = sheet.column_dimensions[column].width
    needed = {cell.row: math.ceil(len(str(cell.value)) / width) for cell in sheet[column][1:]}
    heights = {row: sheet.row_dimensions[row].height or 15 for row in needed}
    return max(needed.values()) > 1 and all(heights[row] >= 11 * lines for row, lines in needed.items())


@pytest.mark.usefixtures("desk")
def test_the_redlined_workbook_and_the_table_of_findings(run: Run) -> None:
    unknown = "a part of another maker whose name is as long as that of some catalogues"
    lines = [*bill(), ["acme-t5", "", 2, 250], [unknown, "", 1, 10]]
    lines.remove(of(lines, "acme-nic"))
    ran, audit = audited(run, lines, "-o", "red.xlsx", "--findings", "findings.csv")
    assert ran.code == 1
    book = openpyxl.load_workbook("red.xlsx")
    assert book.sheetnames == ["Summary", "Redlined quote", "Findings"]
    rows = list(book["Redlined quote"].iter_rows(min_row=2))
    struck = [row for row in rows if row[2].font.strike]
    added = [row for row in rows if row[2].font.underline]
    assert [row[2].value for row in struck] == ["acme-t5", unknown]
    assert [(row[4].value, row[10].value.startswith("add: ")) for row in added] == [("acme-nic", True)]
    assert len(rows) == len(lines) + 1 and not rows[0][2].font.strike
    assert not any(row[10].font.strike for row in rows), "what is said of a line can be read"
    assert _lines_that_show(book["Redlined quote"], "K") and _lines_that_show(book["Findings"], "J")
    with open("findings.csv", newline="") as stream:
        table = list(csv.DictReader(stream))
    assert [(row["kind"], row["text"]) for row in table] == [(one["kind"], one["text"]) for one in audit["findings"]]
    assert [cell.value for cell in book["Findings"]["A"][1:]] == [row["kind"] for row in table]
    assert book["Summary"]["B1"].value.startswith("quote.csv against design.json: ")


@pytest.mark.usefixtures("desk")
def test_what_is_to_be_added_has_the_code_that_orders_it(run: Run) -> None:
    """A family of fibres by its code of that length, in the design as in the redlined quote."""
    catalog = yaml.safe_load(Path("acme.yaml").read_text())
    fibre = catalog["fibres"][0]
    fibre.update(vendor="NVIDIA", part_number="MFP7E10-Nxxx")
    Path("acme.yaml").write_text(yaml.safe_dump(catalog))
    assert run("solve", "case.yaml", "--json", "design.json", "--alternatives", "0").code == 0
    lines = bill()
    length_m = of(lines, fibre["id"])[1]
    lines.remove(of(lines, fibre["id"]))
    audited(run, lines, "-o", "red.xlsx")
    rows = openpyxl.load_workbook("red.xlsx")["Redlined quote"].iter_rows(min_row=2)
    assert [row[2].value for row in rows if row[2].font.underline] == [f"MFP7E10-N{length_m:03}"]


@pytest.mark.usefixtures("desk")
def test_a_part_without_a_price_is_asked_for_in_its_own_line(run: Run) -> None:
    lines = bill()
    of(lines, "acme-nic")[3] = "TBD"
    _, audit = audited(run, lines, "-o", "red.xlsx")
    assert {("missing", "acme-nic"), ("unpriced", "acme-nic")} <= set(kinds(audit))
    rows = openpyxl.load_workbook("red.xlsx")["Redlined quote"].iter_rows(min_row=2)
    assert not any(row[2].font.underline for row in rows), "nothing is added that is there"


@pytest.mark.usefixtures("desk")
def test_how_lines_were_read_is_a_remark(run: Run) -> None:
    lines = [[*line, ""] for line in bill()]
    of(lines, "acme-nic")[4] = "optional"
    rows = [",".join(map(str, line)) for line in [[*HEAD, "Note"], *lines]]
    write_csv("\n".join(rows))
    ran = run("quote", "audit", "quote.csv", "--design", "design.json", "-o", "red.xlsx")
    assert ran.code == 0 and "0 faults, 1 remark" in ran.out
    assert "acme-nic: `optional` stands on the line: its quantity may be no part of what is" in " ".join(
        ran.out.split()
    )
    (row,) = (row for row in openpyxl.load_workbook("red.xlsx")["Redlined quote"].iter_rows(min_row=2) if row[10].value)
    assert row[0].fill.start_color.rgb == "FFFFF2CC"


@pytest.mark.usefixtures("desk")
def test_an_rfq_that_came_back_without_prices(run: Run) -> None:
    assert run("bom", "design.json", "-o", "rfq.xlsx").code == 0
    ran = run("quote", "import", "rfq.xlsx", "-o", "book.yaml", "--catalog", "./acme.yaml")
    assert ran.code == 2 and "name the vendor of an RFQ sheet whose columns have them (`--asked 2`)" in ran.err
    assert "Summary" not in ran.out, "nothing is said of the sheets that are not the vendor's"
    assert "not read" not in ran.out, "nor of columns that are not for a vendor to fill in"
    ran = run("quote", "audit", "rfq.xlsx", "--design", "design.json")
    assert ran.code == 1
    assert "the best design was not looked for: no line of the quote has a price that is taken" in ran.out


@pytest.mark.usefixtures("desk")
def test_without_the_catalog_only_the_bill_is_compared(run: Run) -> None:
    Path("acme.yaml").rename("elsewhere.yaml")
    ran, audit = audited(run, bill())
    assert ran.code == 0 and audit["best"] is None and audit["sums"]["above_best_usd"] is None
    assert any(note.startswith("the best design was not looked for") for note in audit["notes"])
    assert audited(run, bill(), "--catalog", "./elsewhere.yaml")[1]["best"]["status"] == "optimal"


@pytest.mark.usefixtures("desk")
def test_what_cannot_be_audited_is_refused(run: Run) -> None:
    assert run("quote", "audit", "nothing.csv", "--design", "design.json").code == 2
    assert audited(run, bill(), "-o", "red.csv")[0].code == 2
    twice = [*bill(), ["acme-t4", "", 1, 1]]
    ran, _ = audited(run, twice)
    assert ran.code == 1 and "several prices for it" in " ".join(ran.out.split())
    content = json.loads(Path("design.json").read_text())
    content["bom"][0]["quantity"] += 1
    Path("design.json").write_text(json.dumps(content))
    ran = run("quote", "audit", "quote.csv", "--design", "design.json", "--json", "never.json")
    assert ran.code == 1 and "FAILED" in ran.err and not Path("never.json").exists()


@pytest.mark.long(*(kind for kind in MAKERS if kind != "uncertain growth"))
@pytest.mark.parametrize("kind", MAKERS)
def test_bills_of_all_designs_are_audited_at_their_purchase_price(
    kind: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the case of a design minimizes, and however likely its growth is."""
    monkeypatch.chdir(tmp_path)
    design = designed(kind)
    Path("design.json").write_bytes(design_bytes(design))
    Path("bill.csv").write_bytes(bill_bytes(design, ".csv"))
    Path("catalog.yaml").write_text(json.dumps({"name": "parts", **(MAKERS[kind]()[0] or {})}))
    words = ["quote", "audit", "bill.csv", "--design", "design.json", "--json", "audit.json", "--time-limit", "20"]
    ran = run(*words, *(["--catalog", "./catalog.yaml"] if MAKERS[kind]()[0] else []))
    assert ran.code in (0, 1), ran.err
    best = json.loads(Path("audit.json").read_text())["best"]
    assert best is None or best["capex_usd"] <= design.totals.capex_usd
