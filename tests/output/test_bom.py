"""The bill of materials in three formats: complete, safe to open, the same bytes every time."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import chain
from typing import Any

import openpyxl
import pytest
import yaml

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.bill import SOME_COLUMNS, bill_bytes, bill_format
from fabopt.output.export.marks import REPRICED
from fabopt.output.export.workbook import workbook_bytes
from fabopt.parts.price_basis import price_source
from fabopt.schema.design import Alternative, BomRow, Design
from fabopt.schema.left_out import RuleLeftOut
from fabopt.solution import optimize
from tests.paths import ERRORS

TINY = ERRORS / "_tiny.yaml"
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://example.org")', "=cmd|' /C calc'!A0"]


@pytest.fixture(scope="module")
def design() -> Design:
    """Three leaves and spines of the tiny catalog: switches, NICs, cables, optics and fibres are bought."""
    case = {"name": "pod", "server": "acme-gpu2", "servers": 6, "fabrics": [{"name": "compute", "tiers": 2}]}
    return optimize.solve(inputs_from_objects(case, yaml.safe_load(TINY.read_text())), alternatives_s=0)


def renamed(design: Design, text: str) -> Design:
    """Return the design with ``text`` where a catalog or case may put text."""
    rows = tuple(row.model_copy(update={"part_number": text, "description": text}) for row in design.bom)
    source = {"url": text, "note": text}
    parts = {id_: {**part, "vendor": text, "part_number": text, "source": source} for id_, part in design.parts.items()}
    return design.model_copy(update={"bom": rows, "parts": parts, "notes": (text,)})


def sheets(data: bytes, **options: Any) -> dict[str, list[list[Any]]]:
    book = openpyxl.load_workbook(io.BytesIO(data), **options)
    return {sheet.title: [[cell.value for cell in row] for row in sheet.iter_rows()] for sheet in book}


def test_the_design_buys_every_kind(design: Design) -> None:
    assert {row.kind for row in design.bom} == {"switch", "nic", "transceiver", "cable", "fibre"}


# -- formats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "ending"), [("a.csv", ".csv"), ("b.XLSX", ".xlsx"), ("c/d.json", ".json"), ("-", ".csv")]
)
def test_the_ending_says_the_format(target: str, ending: str) -> None:
    assert bill_format(target) == ending


@pytest.mark.parametrize("target", ["bill", "bill.xls", ".csv", "csv"])
def test_other_endings_are_refused(target: str) -> None:
    with pytest.raises(InputError, match=r"allowed: \.csv, \.xlsx, \.json"):
        bill_format(target)


def test_csv_has_the_columns_of_a_row(design: Design) -> None:
    rows = list(csv.DictReader(io.StringIO(bill_bytes(design, ".csv").decode())))
    own = [name for name in BomRow.model_fields if name not in chain(*SOME_COLUMNS)]
    issue = ["project", "date", "revision"]
    assert list(rows[0]) == [*own, "maker", "vendor", "currency", "price_basis", "price_date", *issue]
    assert {(row["project"], row["date"], row["revision"]) for row in rows} == {
        (design.case.name, max(row["price_date"] for row in rows), design.case.sha256[:12])
    }
    assert {row["maker"] for row in rows if row["kind"] == "switch"} == {"Acme"} and {
        row["currency"] for row in rows
    } == {"USD"}
    assert {(row["price_basis"], row["price_date"]) for row in rows if row["kind"] == "switch"} == {("list", "2026-01")}
    assert len(rows) == len(design.bom)
    assert design.totals is not None
    assert sum(float(row["total_usd"]) for row in rows) == design.totals.capex_usd


def test_json_has_case_and_rows(design: Design) -> None:
    content = json.loads(bill_bytes(design, ".json"))
    assert content["case"] == {"name": "pod", "sha256": design.case.sha256}
    assert [{key: row[key] for key in row if key in BomRow.model_fields} for row in content["rows"]] == [
        row.model_dump() for row in design.bom
    ]


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".json"])
def test_the_same_design_gives_the_same_bytes(design: Design, ending: str) -> None:
    assert bill_bytes(design, ending) == bill_bytes(design, ending)


# -- workbook ---------------------------------------------------------------------------------------------------


def test_the_workbook_has_its_sheets(design: Design) -> None:
    assert list(sheets(bill_bytes(design, ".xlsx"))) == [
        "Summary",
        "Bill",
        "Orders",
        "RFQ",
        "Offers",
        "Prices & sources",
        "Basis",
    ]


def test_what_else_there_is_has_a_sheet(design: Design) -> None:
    rival = Alternative(
        what="switches", value="3", summary="3 x large", objective=10, objective_delta=1, capex_usd=10,
        capex_delta_usd=1, power_w=5, power_delta_w=-2,
    )  # fmt: skip
    beside = design.model_copy(update={"alternatives": (rival,)})
    rows = sheets(bill_bytes(beside, ".xlsx"))["Alternatives"]
    assert [row[:7] for row in rows[1:]] == [["switches", "3", "3 x large", 5, 10, 1, -2]]
    sheet = openpyxl.load_workbook(io.BytesIO(bill_bytes(beside, ".xlsx")))["Alternatives"]
    assert all(sheet.cell(2, column).alignment.wrap_text for column in (1, 2, 3)), "long ones are not cut off"
    marks = {REPRICED: "at other prices"}
    assert "Alternatives" not in sheets(workbook_bytes(beside, marks))


def test_every_formula_has_its_value(design: Design) -> None:
    data = bill_bytes(design, ".xlsx")
    formulas, values = sheets(data)["Bill"], sheets(data, data_only=True)["Bill"]
    checked = 0
    for formula_row, value_row in zip(formulas, values, strict=True):
        for formula, value in zip(formula_row, value_row, strict=True):
            if isinstance(formula, str) and formula.startswith("="):
                assert isinstance(value, int | float)
                checked += 1
    assert checked == len(design.bom) + 3 * (len({row.kind for row in design.bom}) + 1)


def test_the_workbook_adds_up(design: Design) -> None:
    assert design.totals is not None
    values = sheets(bill_bytes(design, ".xlsx"), data_only=True)["Bill"]
    header, rows = values[0], values[1 : 1 + len(design.bom)]
    total, kind = header.index("Total USD"), header.index("Kind")
    assert sum(row[total] for row in rows) == design.totals.capex_usd
    subtotals = {row[kind]: row[total] for row in values[1 + len(design.bom) :] if row[kind]}
    assert subtotals.pop("total") == design.totals.capex_usd
    for name, value in subtotals.items():
        assert value == sum(row[total] for row in rows if row[kind] == name)


def test_the_workbook_can_be_worked_with(design: Design) -> None:
    bill = openpyxl.load_workbook(io.BytesIO(bill_bytes(design, ".xlsx")))["Bill"]
    assert bill.freeze_panes == "A2"
    assert bill.auto_filter.ref == f"A1:W{len(design.bom) + 1}"
    assert bill.print_title_rows == "$1:$1"
    assert bill["L2"].number_format == "$#,##0.00"


def test_the_workbook_says_where_prices_come_from(design: Design) -> None:
    rows = sheets(bill_bytes(design, ".xlsx"))["Prices & sources"]
    switch = next(row for row in rows if row[0] == "acme-t4")
    assert switch[1:8] == ["Acme", "T4-8", None, 4000, "example", "2026-01", "list"]


def test_the_first_sheet_is_what_a_manager_reads(design: Design) -> None:
    """Project, revision, date, currency, answer, money, power, lead times and stages, on one page."""
    rows = sheets(bill_bytes(design, ".xlsx"))["Summary"]
    said = {row[0]: row[1] for row in rows if row[0]}
    assert {"Project", "Answer", "Network", "Cost", "Power", "Proof", "Lead time", "Size"} <= set(said)
    assert said["Revision"] == f"design {design.case.sha256[:12]}, proven" and said["Currency"] == "USD"
    assert said["Date"] == "prices of 2026-01" and len(rows) < 40
    issued = {row[0]: row[1] for row in sheets(bill_bytes(design, ".xlsx", date="7 May", revision="C"))["Summary"]}
    assert issued["Date"] == "7 May, prices of 2026-01" and issued["Revision"] == f"C, {said['Revision']}"
    assert said["all"].startswith("month 0: ") and "to buy $" in said["all"]
    hurried = [row.model_copy(update={"lead_time_weeks": 26.0, "order_by": "2026-03-01"}) for row in design.bom[:1]]
    later = design.model_copy(update={"bom": (*hurried, *design.bom[1:])})
    said = {row[0]: row[1] for row in sheets(bill_bytes(later, ".xlsx"))["Summary"] if row[0]}
    assert said["Lead time"] == "up to 26 weeks: T4-8" and said["First order"] == "by 2026-03-01"
    left_out = RuleLeftOut(rule="spread", part="rules.spread", why="no switch has the ports")
    off = design.model_copy(update={"rules_left_out": (left_out,)})
    assert any(
        row[0] == "Left out" and "no switch has the ports" in row[1]
        for row in sheets(bill_bytes(off, ".xlsx"))["Summary"]
    )


def test_the_last_sheet_has_proof_checks_and_assumptions(design: Design) -> None:
    rows = sheets(bill_bytes(design, ".xlsx"))["Basis"]
    labels = [row[0] for row in rows]
    assert {"Proof", "Totals", "Checks", "Assumptions", "server", "finance.pue"} <= set(labels)
    assert all(check.name in labels for check in design.checks)


def test_the_bill_says_who_makes_each_part(design: Design) -> None:
    head, *rows = sheets(bill_bytes(design, ".xlsx"))["Bill"]
    makers = {row[head.index("Id")]: row[head.index("Maker")] for row in rows}
    assert makers["acme-t4"] == "Acme"


def test_what_prices_rest_on_stands_below_the_answer(design: Design) -> None:
    """As it does in the terminal, and not among the notes alone, far below."""
    note = "prices: the bill is 60 % estimates, 40 % list prices"
    rows = sheets(bill_bytes(design.model_copy(update={"notes": ("compute: a note", note)}), ".xlsx"))["Summary"]
    answer = next(number for number, row in enumerate(rows) if row[0] == "Answer")
    assert rows[answer + 1][:2] == ["Prices", "the bill is 60 % estimates, 40 % list prices"]


# -- text is never a formula --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", FORMULAS)
def test_text_is_no_formula_in_csv(design: Design, text: str) -> None:
    row = next(csv.DictReader(io.StringIO(bill_bytes(renamed(design, text), ".csv").decode(), newline="")))
    assert row["part_number"] == row["description"] == f"'{text}"


# A product of two cells of a row, or one of the functions of sums and offers, over cells.
OWN_FORMULA = re.compile(r"=(I\d+\*K\d+|(IF|SUM|SUMIF|SUMPRODUCT|COUNT|COUNTIF)\((COUNT\()?(\$|RFQ!|[A-Z]\$?\d))")


@pytest.mark.parametrize("text", FORMULAS)
def test_text_is_no_formula_in_the_workbook(design: Design, text: str) -> None:
    book = openpyxl.load_workbook(io.BytesIO(bill_bytes(renamed(design, text), ".xlsx")))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    formulas = [cell for cell in cells if cell.data_type == "f"]
    assert all(OWN_FORMULA.match(str(cell.value)) and text not in str(cell.value) for cell in formulas)
    of_bill = [cell for cell in formulas if cell.parent.title == "Bill"]
    assert len(of_bill) == len(design.bom) + 3 * (len({row.kind for row in design.bom}) + 1)
    assert any(cell.value is not None and text.strip() in str(cell.value) for cell in cells)
    assert not any(cell.hyperlink for cell in cells)


def test_long_text_fits_a_cell(design: Design) -> None:
    assert bill_bytes(renamed(design, "x" * 40_000), ".xlsx").startswith(b"PK")


def test_prices_of_lengths_are_not_called_data_sheets() -> None:
    cable = {"lengths": [{"m": 1}], "source": {"kind": "datasheet"}, "provenance": {"lengths": {"kind": "estimate"}}}
    assert price_source(cable, 1) == {"kind": "estimate"}
    quoted = {**cable, "provenance": {**cable["provenance"], "price_usd": {"kind": "quote"}}}
    assert price_source(quoted, 1) == {"kind": "quote"}
    by_rule = {**quoted, "lengths": [{"m": 1}, {"m": 3, "source": {"kind": "derived"}}]}
    assert [price_source(by_rule, m)["kind"] for m in (1, 3)] == ["quote", "derived"]
    assert price_source({"source": {"kind": "list"}}, None) == {"kind": "list"}
