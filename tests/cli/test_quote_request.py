"""`fabopt quote request`: one file for each maker or vendor, without planned prices; what comes back is read."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import openpyxl
import pytest
import yaml

from tests.output.test_recalculated import high_rows
from tests.samples.cli_samples import Run

ASKED = ("quote", "request", "design.json", "-o", "rfq")


@pytest.fixture
def design(run: Run, folder: Path) -> None:
    case = yaml.safe_load(Path("case.yaml").read_text())
    case["charges"] = [{"name": "nos", "what": "licence", "usd": 1200, "kinds": ["switch"]}]
    case["start"] = "2027-03"
    Path("case.yaml").write_text(yaml.safe_dump(case))
    assert run("solve", "case.yaml", "--json", "design.json", "--alternatives", "0").code == 0


def sheet_of(name: str) -> list[dict[str, object]]:
    rows = list(openpyxl.load_workbook(name)["RFQ"].iter_rows(values_only=True))
    return [dict(zip(map(str, rows[0]), row, strict=True)) for row in rows[1:]]


@pytest.mark.usefixtures("design")
def test_every_maker_gets_its_lines_and_no_planned_price(run: Run) -> None:
    ran = run(*ASKED, "--revision", "B", "--due", "2026-12-15")
    assert ran.code == 0, ran.err
    files = sorted(Path("rfq").iterdir())
    asked = [row for file in files for row in sheet_of(str(file))]
    bill = json.loads(Path("design.json").read_text())["bom"]
    assert {row["Id"] for row in asked} == {row["id"] for row in bill if row["quantity"] and row.get("charge") != "tax"}
    assert all(len({row["Vendor"] for row in sheet_of(str(file))}) == 1 for file in files)
    assert not any("Planned" in title or title.endswith(")") for row in asked for title in row)
    planned = {row["unit_price_usd"] for row in bill}
    assert not planned & {value for row in asked for value in row.values() if isinstance(value, int | float)} - {1}
    assert {row["Kind"] for row in asked if row["Id"] == "nos"} == {"licence"}
    assert {row["Needed by"] for row in asked} == {f"{bill[0]['stage']}, 2027-03-01"}
    request = openpyxl.load_workbook(files[0])["Request"]
    said = {str(row[0]): str(row[1]) for row in request.iter_rows(values_only=True)}
    assert said["Revision"].startswith("B, of design ") and said["Answer due"] == "2026-12-15"
    assert high_rows(request), "how to answer is a text of several lines"


@pytest.mark.usefixtures("design")
def test_vendors_that_are_named_are_asked_for_all_and_awards_read_back(run: Run) -> None:
    """Of what is awarded no more is offered than that; a charge is a charge; the book names the vendor."""
    assert run(*ASKED, "--vendor", "Reseller One", "--vendor", "Reseller Two").code == 0
    assert sorted(file.name for file in Path("rfq").iterdir()) == ["rfq-reseller-one.xlsx", "rfq-reseller-two.xlsx"]
    assert sheet_of("rfq/rfq-reseller-one.xlsx") == sheet_of("rfq/rfq-reseller-two.xlsx")
    book = openpyxl.load_workbook("rfq/rfq-reseller-one.xlsx")
    heads = [cell.value for cell in book["RFQ"][1]]
    price, award = heads.index("Quoted unit price USD"), heads.index("Awarded quantity")
    bill = {row["id"]: row for row in json.loads(Path("design.json").read_text())["bom"]}
    for row in book["RFQ"].iter_rows(min_row=2):
        id_ = row[heads.index("Id")].value
        row[price].value = bill[id_]["unit_price_usd"]
        row[award].value = 3 if id_ == "acme-t4" else None
    book.save("filled.xlsx")
    command = ("quote", "import", "filled.xlsx", "--catalog", "./acme.yaml", "-o", "book.yaml", "--json", "lines.json")
    ran = run(*command)
    assert ran.code == 0, ran.out
    content = yaml.safe_load(Path("book.yaml").read_text())
    assert content["vendor"] == "Reseller One"
    assert content["prices"].keys() == {"acme-t4"} and content["terms"]["acme-t4"]["supply"] == 3
    assert {line["status"] for line in json.loads(Path("lines.json").read_text())["lines"]} == {
        "matched",
        "unpriced",
        "charge",
    }
    assert run(*command, "--vendor", "Another").code == 0
    assert yaml.safe_load(Path("book.yaml").read_text())["vendor"] == "Another"


@pytest.mark.usefixtures("design")
@pytest.mark.parametrize(
    ("award", "price", "minimum", "code", "said"),
    [
        (3, 4000, None, 0, "3 are awarded: no more is bought there"),
        (3, None, None, 1, "3 are awarded, and no price is stated"),
        (3, 4000, 5, 1, "its smallest order, 5, is more than the 3 that are awarded"),
        (None, 4000, None, 2, "no line could be priced"),
    ],
)  # fmt: skip
def test_what_awards_say(
    award: int | None, price: int | None, minimum: int | None, code: int, said: str, run: Run
) -> None:
    """Of a line that may say a smallest order; a charge is awarded in each case, so that all others are no offers."""
    assert run(*ASKED, "--vendor", "One").code == 0
    workbook = openpyxl.load_workbook("rfq/rfq-one.xlsx")
    heads = [cell.value for cell in workbook["RFQ"][1]]
    workbook["RFQ"].cell(1, len(heads) + 1, "MOQ")
    for row in workbook["RFQ"].iter_rows(min_row=2):
        values = {"nos": (900, 1, None), "acme-t4": (price, award, minimum), "acme-nic": (1450, None, 9)}
        values |= {"acme-dac": (150, 1, None)} if price is None else {}
        cells = (row[heads.index("Quoted unit price USD")], row[heads.index("Awarded quantity")], row[len(heads)])
        for cell, value in zip(cells, values.get(row[heads.index("Id")].value, (None, None, None)), strict=True):
            cell.value = value
    workbook.save("filled.xlsx")
    ran = run("quote", "import", "filled.xlsx", "--catalog", "./acme.yaml", "-o", "book.yaml")
    assert (ran.code, said in ran.out + ran.err) == (code, True), ran.out + ran.err
    assert ("In doubt" in ran.out) == (code == 1)  # not of the card, whose smallest order is more than is asked for


@pytest.mark.usefixtures("design")
def test_a_part_that_two_vendors_sell_is_one_line(run: Run) -> None:
    """A design with offers asks for each product once, with all its units; vendors in any letters have files of their
    own, and what the buyer wrote on the sheet, such as the name of a stage, is no word of the vendor's.
    """
    case = yaml.safe_load(Path("case.yaml").read_text())
    for vendor, usd in (("Süd & Söhne", 1300), ("東京電線", 1400)):
        terms = {"acme-nic": {"supply": 5}} if usd == 1300 else {}
        book = {"vendor": vendor, "firm_until": "2027-12-31", "prices": {"acme-nic": usd}, "terms": terms}
        Path(f"book-{usd}.yaml").write_text(yaml.safe_dump(book))
    case |= {"prices": ["./book-1300.yaml", "./book-1400.yaml"]}
    del case["servers"]
    case["stages"] = [{"name": "trial", "month": 0, "servers": 4}]
    Path("case.yaml").write_text(yaml.safe_dump(case))
    assert run("solve", "case.yaml", "--json", "design.json", "--bom", "bill.csv", "--alternatives", "0").code == 0
    with open("bill.csv", newline="") as file:
        bought = {row["id"]: row for row in csv.DictReader(file) if row["kind"] == "nic"}
    assert {row["vendor"] for row in bought.values()} == {"Süd & Söhne", "東京電線"} and len(bought) == 2
    vendors = ("--vendor", "Süd & Söhne", "--vendor", "東京電線", "--vendor", "北京")
    assert run(*ASKED, *vendors).code == 0
    names = ["rfq-sud-sohne.xlsx", "rfq-vendor-2.xlsx", "rfq-vendor.xlsx"]
    assert sorted(file.name for file in Path("rfq").iterdir()) == names
    (line,) = [row for row in sheet_of("rfq/rfq-vendor.xlsx") if row["Kind"] == "nic"]
    assert line["Id"] == "acme-nic" and line["Quantity"] == sum(int(row["quantity"]) for row in bought.values())
    workbook = openpyxl.load_workbook("rfq/rfq-sud-sohne.xlsx")
    heads = [cell.value for cell in workbook["RFQ"][1]]
    for row in workbook["RFQ"].iter_rows(min_row=2):
        if row[heads.index("Id")].value == "acme-nic":
            row[heads.index("Quoted unit price USD")].value = 1350
    workbook.save("filled.xlsx")
    ran = run("quote", "import", "filled.xlsx", "--catalog", "./acme.yaml", "-o", "again.yaml")
    assert ran.code == 0 and "not read" not in ran.out, ran.out
    assert yaml.safe_load(Path("again.yaml").read_text())["prices"] == {"acme-nic": 1350}


@pytest.mark.usefixtures("design")
@pytest.mark.parametrize(
    ("options", "said"),
    [(("--due", "soon"), "not a day"), (("--vendor", "A", "--vendor", "A"), "a vendor is asked once"),
     (("--vendor", " "), "a vendor has a name")],
)  # fmt: skip
def test_what_cannot_be_asked(run: Run, options: tuple[str, ...], said: str) -> None:
    ran = run(*ASKED, *options)
    assert ran.code == 2 and said in ran.err and not Path("rfq").exists()


@pytest.mark.usefixtures("design")
def test_a_bill_as_a_table_reads_back(run: Run) -> None:
    """Parts at their prices, charges and taxes as what they are: none is doubted, nor left over."""
    case = yaml.safe_load(Path("case.yaml").read_text())
    case["charges"].append({"name": "tax", "what": "tax", "percent": 8, "kinds": ["switch"]})
    Path("case.yaml").write_text(yaml.safe_dump(case))
    assert run("solve", "case.yaml", "--json", "design.json", "--bom", "bill.csv", "--alternatives", "0").code == 0
    run("quote", "import", "bill.csv", "--catalog", "./acme.yaml", "-o", "book.yaml", "--json", "read.json")
    read = json.loads(Path("read.json").read_text())
    bill = json.loads(Path("design.json").read_text())["bom"]
    assert read["doubts"] == [] and read["counts"].get("left over", 0) == 0
    charges = {line["part"] for line in read["lines"] if line["status"] == "charge"}
    assert charges == {"nos", "tax"} and len(read["lines"]) == len(bill)
