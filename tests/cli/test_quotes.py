"""`fabopt quote import`: exit codes, the book that it writes, and that the book is what a case is priced with."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest
import yaml

from fabopt.io.case import read_price_books
from fabopt.io.catalog import read_catalog
from fabopt.parts.price_books import with_price_books
from tests.samples.cli_samples import Run, write_case
from tests.samples.quote_samples import Book, write_csv

QUOTED = ("Quoted unit price USD", "Quoted lead time weeks")
COMMAND = ("quote", "import", "quote.csv", "-o", "book.yaml", "--catalog", "./acme.yaml")
HEAD = "Part number,Length m,Qty,Unit price USD,Lead time,MOQ,Pack size,Valid until\n"


def imported(run: Run, lines: str, *options: str) -> int:
    write_csv(HEAD + lines)
    return run(*COMMAND, *options).code


@pytest.mark.usefixtures("folder")
def test_every_line_matched_is_done(run: Run) -> None:
    assert imported(run, "T4-8,,4,3100,6 weeks,4,2,2026-12-31\nACME DAC,3,8,111.5,,,,\nacme-dac,1,8,99,,,,\n") == 0
    book = yaml.safe_load(Path("book.yaml").read_text())
    assert book["prices"] == {"acme-t4": 3100, "acme-dac": {3: 111.5, 1: 99}}
    assert book["terms"] == {
        "acme-t4": {"lead_time_weeks": 6, "minimum_order": 4, "pack_size": 2, "valid_until": "2026-12-31"}
    }
    catalog = read_catalog(["./acme.yaml"], Path())
    priced = with_price_books(catalog, read_price_books(["./book.yaml"], catalog, Path()))
    switch = priced.switches[0]
    assert (switch.price_usd, switch.lead_time_weeks, switch.minimum_order, switch.pack_size) == (3100, 6, 4, 2)
    assert switch.stock is None
    source = switch.provenance["price_usd"]
    assert (source.url, source.kind, source.valid_until) == ("quote quote.csv", "quote", "2026-12-31")
    assert [length.price_usd for length in priced.cables[0].lengths] == [99, 111.5]


@pytest.mark.usefixtures("folder")
def test_what_a_vendor_has_in_stock_is_a_term_of_the_book(run: Run) -> None:
    write_csv("Part number,Qty,Unit price USD,Lead time,In stock\nT4-8,4,3100,6 weeks,7\nacme-nic,4,900,,plenty\n")
    assert run(*COMMAND).code == 0
    assert yaml.safe_load(Path("book.yaml").read_text())["terms"] == {"acme-t4": {"lead_time_weeks": 6, "in_stock": 7}}
    catalog = read_catalog(["./acme.yaml"], Path())
    switch = with_price_books(catalog, read_price_books(["./book.yaml"], catalog, Path())).switches[0]
    assert (switch.in_stock, switch.stock) == (7, None)


@pytest.mark.usefixtures("folder")
def test_a_price_left_over_is_one_and_the_book_is_written(run: Run) -> None:
    write_csv(HEAD + "T4-8,,4,3100,,,,\nT4-9,,4,3200,,,,\nacme-nic,,4,TBD,,,,\n")
    ran = run(*COMMAND, "--json", "lines.json")
    assert ran.code == 1 and Path("book.yaml").exists()
    assert "quote.csv: 3 lines, 1 matched, 1 left over and 1 unpriced" in ran.out
    assert "did you mean T4-8 (acme-t4)?" in " ".join(ran.out.split())
    content = json.loads(Path("lines.json").read_text())
    assert not content["ok"] and content["book"] == "book.yaml"
    assert content["counts"] == {"matched": 1, "left over": 1, "unpriced": 1}
    assert [line["status"] for line in content["lines"]] == ["matched", "left over", "unpriced"]
    assert content["lines"][0] == {
        "sheet": "CSV", "row": 2, "status": "matched", "part": "T4-8", "id": "acme-t4", "quantity": 4,
        "unit_price": 3100.0, "currency": "USD", "unit_price_usd": 3100,
    }  # fmt: skip
    assert content["tables"][0]["columns"]["unit"] == ["D"]


@pytest.mark.usefixtures("folder")
def test_what_is_refused_writes_no_book_and_loses_nothing(run: Run) -> None:
    Path("book.yaml").write_text("mine")
    write_csv(HEAD + "T4-8,,4,3100,,,,\nT4-8,,4,3200,,,,\n")
    ran = run(*COMMAND, "--json", "lines.json")
    assert ran.code == 2 and Path("book.yaml").read_text() == "mine"
    assert "a second price for acme-t4: USD 3,100 in row 2 of CSV, USD 3,200 here" in ran.err
    assert json.loads(Path("lines.json").read_text())["book"] is None
    assert imported(run, "T4-8,,4,,,,,\n") == 2
    assert imported(run, "T4-8,,4,3100,,,,\n", "--rate", "EURO=1") == 2
    assert run("quote", "import", "quote.csv", "-o", "book.csv").code == 2
    assert Path("book.yaml").read_text() == "mine"


@pytest.mark.usefixtures("folder")
def test_the_sheet_that_asks_for_quotes_reads_back(run: Run) -> None:
    """As it is written, with prices filled in: of the first vendor asked, or of another."""
    assert run("bom", "case.yaml", "-o", "bill.xlsx").code == 0
    book = openpyxl.load_workbook("bill.xlsx")
    sheet = book["RFQ"]
    heads = [cell.value for cell in sheet[1]]
    price, weeks = (heads.index(title) + 1 for title in QUOTED)
    remarks = {row[heads.index("Id")].value: row[heads.index("Remarks")].value for row in sheet.iter_rows(min_row=2)}
    assert remarks["acme-t4"] is None and remarks["acme-nic"] == "its part number is not known"
    second = heads.index(f"{QUOTED[0]} (2)") + 1
    assert heads[-1] == f"{QUOTED[1]} (8)"
    wanted = {}
    for row in range(2, sheet.max_row + 1):
        key = sheet.cell(row, heads.index("Id") + 1).value, sheet.cell(row, heads.index("Length m") + 1).value
        wanted[key] = 100.25 + row
        sheet.cell(row, price, wanted[key])
        sheet.cell(row, weeks, row)
        sheet.cell(row, second, 7)
    book.save("filled.xlsx")
    command = ("quote", "import", "filled.xlsx", "--catalog", "./acme.yaml", "--json", "lines.json", "--band", "none")
    command = (*command, "-o")
    assert run(*command, "first.yaml").code == 0
    lines = json.loads(Path("lines.json").read_text())["lines"]
    assert {(line["id"], line.get("length_m")): line["unit_price_usd"] for line in lines} == wanted
    assert [line["lead_time_weeks"] for line in lines] == list(range(2, sheet.max_row + 1))
    assert run(*command, "second.yaml", "--asked", "2").code == 0
    assert {line["unit_price_usd"] for line in json.loads(Path("lines.json").read_text())["lines"]} == {7}
    assert run("quote", "import", "bill.xlsx", "--catalog", "./acme.yaml", "-o", "none.yaml").code == 2


@pytest.mark.usefixtures("folder")
def test_charges_that_were_asked_for_read_back(run: Run) -> None:
    """Two charges of a design are listed with their prices, in no book; dearer than planned, or of another design, they
    are found by the audit.
    """
    case = yaml.safe_load(Path("case.yaml").read_text())
    nos = {"name": "nos", "what": "licence", "usd": 1200, "kinds": ["switch"]}
    case["charges"] = [nos, {"name": "total-care", "what": "support", "usd": 50, "kinds": ["switch"], "yearly": True}]
    Path("case.yaml").write_text(yaml.safe_dump(case))
    assert run("solve", "case.yaml", "--alternatives", "0", "--json", "design.json", "--bom", "bill.xlsx").code == 0
    book = openpyxl.load_workbook("bill.xlsx")
    heads = [cell.value for cell in book["RFQ"][1]]
    for row in book["RFQ"].iter_rows(min_row=2):
        asked = row[heads.index("Id")].value
        quantity, planned = (row[heads.index(title)].value for title in ("Quantity", "Planned USD"))
        row[heads.index(QUOTED[0])].value = planned / quantity + (asked == "nos")
    book.save("filled.xlsx")
    read = run("quote", "import", "filled.xlsx", "--catalog", "./acme.yaml", "--json", "lines.json", "-o", "book.yaml")
    assert read.code == 0 and "2 charges" in read.out
    lines = json.loads(Path("lines.json").read_text())["lines"]
    assert {line["part"]: line["unit_price_usd"] for line in lines if line["status"] == "charge"} == {
        "nos": 1201, "total-care": 50,
    }  # fmt: skip
    assert set(yaml.safe_load(Path("book.yaml").read_text())["prices"]).isdisjoint({"nos", "total-care"})
    audit = ("quote", "audit", "filled.xlsx", "--design", "design.json", "--json", "audit.json")
    done = run(*audit)
    assert done.code == 0, done.out
    found = json.loads(Path("audit.json").read_text())
    assert [(one["kind"], one["planned"] == one["quoted"]) for one in found["findings"]] == [("above-planned", True)]
    case["charges"] = [nos]
    Path("case.yaml").write_text(yaml.safe_dump(case))
    assert run("solve", "case.yaml", "--alternatives", "0", "--json", "design.json").code == 0
    assert run(*audit).code == 1
    assert "total-care: a charge that is not on the bill" in Path("audit.json").read_text()


@pytest.mark.usefixtures("folder")
def test_a_case_is_solved_with_the_book_and_warned_of_its_end(run: Run) -> None:
    assert imported(run, "T4-8,,4,3100,6 weeks,,,2026-12-31\n") == 0

    def notes(**changes: object) -> str:
        write_case(prices=["./book.yaml"], **changes)
        assert run("solve", "case.yaml", "--json", "design.json", "--alternatives", "0").code == 0
        design = json.loads(Path("design.json").read_text())
        switches = [row for row in design["bom"] if row["id"] == "acme-t4"]
        assert [(row["unit_price_usd"], row["lead_time_weeks"]) for row in switches] == [(3100, 6)]
        assert run("check", "design.json").code == 0
        return " ".join(design["notes"])

    late = "quote quote.csv ends on 2026-12-31, before what it prices is ordered (2027-01-18): 1 product, acme-t4"
    assert late in notes(start="2027-03")
    assert "quote quote.csv ends" not in notes(start="2027-01")
    assert "quote quote.csv ends on 2026-12-31; the case has no `start`" in notes()


@pytest.mark.usefixtures("folder")
def test_books_with_terms_that_do_not_fit(run: Run) -> None:
    faults = {
        "{prices: {acme-t4: 1}, terms: {acme-nic: {pack_size: 3}}}": "need a price of it in `prices`",
        "{prices: {acme-dac: {1: 5}}, terms: {acme-dac: {3: {pack_size: 2}}}}": "that have no price in `prices`",
        "{prices: {acme-t4: 1}, terms: {acme-t4: {minimum_order: 3, pack_size: 2}}}": "a whole number of packs of 2",
        "{prices: {acme-t4: 1}, terms: {acme-t4: {valid_until: 2026-02-30}}}": "a day is written as 2026-12-31",
    }
    write_case(prices=["./book.yaml"])
    for text, message in faults.items():
        Path("book.yaml").write_text(text)
        ran = run("solve", "case.yaml")
        assert ran.code == 2 and message in ran.err


@pytest.mark.usefixtures("folder")
def test_answers_can_go_to_standard_output(run: Run) -> None:
    Book().rows(["Part number", "Unit price USD"], ["T4-8", 3100]).saved()
    ran = run("quote", "import", "quote.xlsx", "-o", "-", "--catalog", "./acme.yaml")
    assert ran.code == 0 and yaml.safe_load(ran.out)["prices"] == {"acme-t4": 3100}
    assert "1 line, 1 matched" in ran.err
