"""The workbook of a bill as LibreOffice makes it: every formula comes to the value that was written beside it."""

from __future__ import annotations

import io
import re
import subprocess
from pathlib import Path
from textwrap import wrap
from typing import Any

import openpyxl
import pytest

from fabopt.output.export.bill import bill_bytes
from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.units import cents
from fabopt.wiring.build import wiring_of
from tests.output.test_cash import RATES, TERMS, paid
from tests.samples.system_parts import require

Json = dict[str, Any]
OFFICE = "soffice"
# Slow on a machine that does other work, but it does come to an end.
SECONDS = 300


def recalculated(data: bytes, folder: Path) -> bytes:
    """A workbook as LibreOffice writes it again: it computes all formulas anew, for it has not written them itself."""
    require([OFFICE])
    source, made = folder / "book.xlsx", folder / "made"
    source.write_bytes(without_values(data))
    home = f"-env:UserInstallation={(folder / 'home').as_uri()}"
    command = [OFFICE, home, "--headless", "--norestore", "--convert-to", "xlsx", "--outdir", str(made), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    return (made / "book.xlsx").read_bytes()


def without_values(data: bytes) -> bytes:
    """A workbook whose formulas have no values beside them."""
    stream = io.BytesIO()
    openpyxl.load_workbook(io.BytesIO(data)).save(stream)
    return stream.getvalue()


def values_of(data: bytes, **options: bool) -> dict[tuple[str, str], object]:
    """All cells of a workbook, by sheet and place."""
    book = openpyxl.load_workbook(io.BytesIO(data), **options)
    return {
        (sheet.title, cell.coordinate): cell.value
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.value is not None
    }


def design() -> Design:
    """A cluster in two stages, with charges, cash in two currencies and things sold in the end."""
    finance = {"payment": TERMS, "currency": "EUR", "rates": RATES, "residual": 0.1, "depreciation_years": 5}
    licence = {"name": "licence", "what": "licence", "percent": 7.7}
    return paid(finance, charges=[licence], start="2026-11")


def test_every_formula_comes_to_what_is_written(tmp_path: Path) -> None:
    solved = design()
    data = bill_bytes(solved, ".xlsx")
    formulas = {place for place, value in values_of(data).items() if str(value).startswith("=")}
    written, computed = values_of(data, data_only=True), values_of(recalculated(data, tmp_path), data_only=True)
    assert {sheet for sheet, _ in formulas} >= {"Bill", "Orders", "Offers", "Cash flow"}
    differ = {
        place: (written.get(place), computed.get(place))
        for place in formulas
        if not same(written.get(place), computed.get(place))
    }
    assert differ == {}
    sums = [value for (sheet, _), value in computed.items() if sheet == "Bill" and isinstance(value, int | float)]
    assert solved.totals is not None and cents(solved.totals.capex_usd) in {cents(round(value, 2)) for value in sums}


def same(written: object, computed: object) -> bool:
    """Whether two values are the same; nothing is the empty text, and what is written is exact to the cent."""
    if isinstance(written, int | float) and isinstance(computed, int | float):
        return abs(written - computed) < 0.001
    return (written or "") == (computed or "")


def test_what_is_delivered_is_what_is_ordered() -> None:
    rows = list(openpyxl.load_workbook(io.BytesIO(bill_bytes(design(), ".xlsx")))["Deliveries"].values)
    leaves = [row for row in rows if row[6] == "eight"]
    assert [(row[0], row[1], row[2].date().isoformat(), row[8], row[10]) for row in leaves] == [
        ("stage-1", 0, "2026-11-01", 1, 1),
        ("stage-2", 12, "2027-11-01", 2, 3),
    ]


# -- on paper -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [1, 9])
def test_rows_are_as_high_as_what_is_wrapped_in_them(words: int) -> None:
    """In every sheet: else a title is cut, or a text is printed over the next row, as LibreOffice does."""
    plain = design()
    rows = tuple(row.model_copy(update={"description": " ".join([row.description] * words)}) for row in plain.bom)
    book = openpyxl.load_workbook(io.BytesIO(bill_bytes(plain.model_copy(update={"bom": rows}), ".xlsx")))
    high = 0
    for sheet in book:
        setup = sheet.page_setup
        assert setup.paperSize in (None, 1) and (setup.fitToHeight == 0 or setup.scale == 72)
        high += high_rows(sheet)
    assert high
    # all up to what a line costs is on one page of letter paper, 10.2 inches within its margins
    bill = book["Bill"]
    assert bill["L1"].value == "Total USD" and bill.page_setup.scale == 72
    widths = (bill.column_dimensions[letter].width for letter in "ABCDEFGHIJKL" if letter in bill.column_dimensions)
    assert sum((7.42 * width + 5) * 0.75 * 0.72 for width in widths) <= 72 * 10.2


def high_rows(sheet: Any) -> int:
    """Rows of a sheet with texts of several lines; each is as high as those."""
    # columns of one width are kept as a range
    width = {at: kept.width for kept in sheet.column_dimensions.values() for at in range(kept.min, kept.max + 1)}
    high = 0
    for row in sheet.iter_rows():
        texts = [
            wrap(str(cell.value), int(width[cell.column]) - 1)
            for cell in row
            if cell.value is not None and cell.alignment.wrap_text
        ]
        lines = max(map(len, texts), default=1)
        high += lines > 1
        assert lines == 1 or (sheet.row_dimensions[row[0].row].height or 15) >= 15 * lines, (sheet.title, row[0].row)
    return high


def printed(path: Path, paper: int) -> bytes:
    """A workbook as LibreOffice prints it on a paper, by Excel's number."""
    book = openpyxl.load_workbook(path)
    for sheet in book:
        sheet.page_setup.paperSize = paper
    book.save(path)
    home = f"-env:UserInstallation={(path.parent / 'home').as_uri()}"
    command = [OFFICE, home, "--headless", "--norestore", "--convert-to", "pdf", "--outdir", str(path.parent)]
    subprocess.run([*command, str(path)], check=True, capture_output=True, timeout=SECONDS)
    return path.with_suffix(".pdf").read_bytes()


def sizes_and_pages(path: Path) -> tuple[float, list[str]]:
    """The smallest size of a text of a PDF in points, and the words of its pages."""
    command = ["pdftohtml", "-xml", "-i", "-zoom", "3", "-stdout", str(path)]
    text = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    words = subprocess.run(["pdftotext", "-layout", str(path), "-"], check=True, capture_output=True).stdout.decode()
    return min(int(size) for size in re.findall(r'<fontspec [^>]*size="(\d+)"', text)) / 3, words.split("\f")[:-1]


@pytest.mark.long
@pytest.mark.parametrize("paper", [1, 9], ids=["letter", "a4"])
def test_bills_and_schedules_are_printed_so_that_they_can_be_read(tmp_path: Path, paper: int) -> None:
    """In seven points at least, with headings on each page; of the bill what is bought and what it costs on one."""
    require([OFFICE, "pdftotext", "pdftohtml"])
    planned = design()
    (tmp_path / "bill.xlsx").write_bytes(bill_bytes(planned, ".xlsx"))
    cables = export(planned, wiring_of(planned), ["cables"], tmp_path, Options())
    for path in (tmp_path / "bill.xlsx", next(path for path in cables if path.suffix == ".xlsx")):
        printed(path, paper)
        smallest, pages = sizes_and_pages(path.with_suffix(".pdf"))
        assert smallest >= 7, path.name
        assert len(pages) <= 40
        if path.name == "bill.xlsx":
            bill = [page for page in pages if "Part number" in page and "Quantity" in page and "Total USD" in page]
            assert any("total" in page and "Unit price USD" in page for page in bill)
            assert "Currency" in pages[0] and "page 1 of" in pages[0] and "Basis" not in pages[0]
        else:
            schedule = [page for page in pages if ", schedule" in page]
            assert schedule and all(re.search(r"^ *cable\b", page) for page in schedule), "headings and cables repeat"
