"""What is no quote, or hostile, is refused with one clear message; nothing is unpacked or kept that has no end."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from fabopt.errors import InputError
from fabopt.io.catalog import read_catalog
from fabopt.io.quote.reading import quote_options, read_quote
from fabopt.io.quote.workbook import OLE
from tests.paths import ROOT
from tests.samples.quote_samples import Book, write_catalog, write_csv

HEAD = ("Part number", "Qty", "Unit price USD")
MOST_MEGABYTES = 500
SHEET = "xl/worksheets/sheet1.xml"
NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def faults_of(name: str) -> list[str]:
    """What is wrong with a quote, as it is told."""
    catalog = read_catalog([write_catalog()], Path())
    try:
        return [str(fault) for fault in read_quote(name, catalog, quote_options((), None, 1))[1]]
    except InputError as error:
        return [str(fault) for fault in error.faults]


def plain_quote() -> str:
    return Book().rows(HEAD, ["MQM9700-NS2F", 2, 30000]).saved()


def changed(change: Callable[[dict[str, bytes]], None], flags: int = 0) -> str:
    """A quote whose parts are changed; ``flags``: set in the directory of each."""
    with zipfile.ZipFile(plain_quote()) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    change(parts)
    with zipfile.ZipFile("changed.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        for name, data in parts.items():
            book.writestr(name, data)
            book.getinfo(name).flag_bits |= flags
    return "changed.xlsx"


def with_sheet(text: str) -> Callable[[dict[str, bytes]], None]:
    return lambda parts: parts.update({SHEET: text.encode()})


def sheet(rows: str) -> str:
    return f'<?xml version="1.0"?><worksheet xmlns="{NAMESPACE}"><sheetData>{rows}</sheetData></worksheet>'


def merged(cells: str, times: int) -> str:
    merges = f'<mergeCell ref="{cells}"/>' * times
    return f'<worksheet xmlns="{NAMESPACE}"><sheetData/><mergeCells>{merges}</mergeCells></worksheet>'


def many_rows(number: int) -> str:
    row = '<row><c t="inlineStr"><is><t>MQM9700-NS2F</t></is></c><c><v>2</v></c><c><v>30000</v></c></row>'
    return changed(with_sheet(sheet(row * number)))


def test_plain_quote_is_none_of_these() -> None:
    assert faults_of(plain_quote()) == []
    assert faults_of(changed(lambda parts: None)) == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (OLE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"), "the workbook is encrypted"),
        (OLE + b"\0" * 600, "this is a workbook of before 2007 (.xls)"),
        (b"Part number,Unit price\n", "this is not a workbook (.xlsx)"),
        (b"PK\x03\x04 and no more", "not a workbook that can be read: File is not a zip file"),
        (b"", "the file is empty"),
    ],
)
def test_files_under_a_wrong_name(data: bytes, message: str) -> None:
    Path("quote.xlsx").write_bytes(data)
    assert [fault.split(": ", 1)[1].split(";")[0] for fault in faults_of("quote.xlsx")] == [message]


DAMAGE = (b"", b"<", b">", b'"', b"-1", b"1e308", b"9" * 40, b"&#0;", b't="s"', b't="e"', b'r="A0"', b"NaN", b"\xff")
UNREADABLE = "not a workbook that can be read"
HOSTILE: list[tuple[Callable[[], str], str]] = [
    (lambda: changed(lambda parts: parts.update({"xl/vbaProject.bin": b"x"})), "the workbook has macros"),
    (lambda: changed(lambda parts: None, flags=1), "the workbook is encrypted"),
    (lambda: changed(lambda parts: parts.pop("xl/workbook.xml") and None), "this is not a workbook (.xlsx)"),
    (lambda: changed(with_sheet("<worksheet><oops></worksheet>")), f"{UNREADABLE}: mismatched tag"),
    (lambda: changed(with_sheet('<!DOCTYPE a [<!ENTITY b "c">]><a/>')), "the workbook declares a document type"),
    (lambda: changed(with_sheet(sheet('<row><c r="A1" t="s"><v>999</v></c></row>'))), UNREADABLE),
    (lambda: changed(with_sheet(sheet('<row><c r="A1"><v>1e999</v></c></row>'))), UNREADABLE),
    (lambda: changed(with_sheet(sheet('<row><c r="A1"><v>many</v></c></row>'))), UNREADABLE),
    (lambda: changed(lambda parts: parts.update({"xl/a.xml": b"0" * 100_000_001})), "too large when it is unpacked"),
    (lambda: changed(with_sheet(merged("A1:A1048576", 2))), "too many merged cells"),
    (lambda: changed(with_sheet(merged("A1:B1", 5_001))), "too many merged cells"),
    (lambda: many_rows(25_000), "the workbook is too long for a quote"),
]


@pytest.mark.parametrize(("make", "message"), HOSTILE)
def test_hostile_workbooks(make: Callable[[], str], message: str) -> None:
    (fault,) = faults_of(make())
    assert message in fault


# What the process that was started has of memory itself: figures of children count what their parent had.
WITH_PEAK = """
import sys
from fabopt.cli import main
code = main(sys.argv[1:])
print(open("/proc/self/status").read())
sys.exit(code)
"""


@pytest.mark.long
def test_a_million_rows_take_little_memory() -> None:
    """Of a workbook and of text; the process is one of its own, so that only its own memory counts."""
    write_catalog()
    Path("quote.csv").write_text("Part number,Unit price\n" + "A,1\n" * 1_000_000)
    many_rows(1_000_000)
    for name in ("changed.xlsx", "quote.csv"):
        words = ["quote", "import", name, "-o", "book.yaml", "--catalog", "./quoted.yaml"]
        command = [sys.executable, "-c", WITH_PEAK, *words]
        done = subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
        assert done.returncode == 2 and "is too long for a quote; allowed: 20,000 rows" in done.stderr
        peak = re.search(r"VmHWM:\s+(\d+) kB", done.stdout)
        assert peak is not None and int(peak[1]) < MOST_MEGABYTES * 1000


def test_formulas_count_as_what_they_were_saved_with() -> None:
    book = Book().rows(HEAD, ["MQM9700-NS2F", 2, "=1+1"], ["MMA4Z00-NS", 3, 700], [None, None, "=SUM(C2:C3)"])
    (fault,) = faults_of(book.saved())
    assert fault.startswith("quote.xlsx: Quote!C2: a formula without its value, which is not computed here")
    kept = sheet(
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in HEAD) + "</row>"
        '<row><c t="inlineStr"><is><t>MQM9700-NS2F</t></is></c><c><v>2</v></c><c><f>1+1</f><v>31000</v></c></row>'
    )
    name = changed(with_sheet(kept))
    catalog = read_catalog([write_catalog()], Path())
    quote, faults = read_quote(name, catalog, quote_options((), None, 1))
    assert faults == [] and [quote.unit_usd(line) for line in quote.lines] == [31000]


def test_prices_that_are_none() -> None:
    book = Book().rows(
        ("Part number", "Unit price", "Currency"),
        ["MQM9700-NS2F", -5, "USD"],
        ["MMA4Z00-NS", 700, "Quatloos"],
        ["DCS-7060X6-64PE", 50000, "USD"],
        ["DCS 7060X6 64PE", 49000, "USD"],
    )
    faults = faults_of(book.saved())
    assert faults[0] == "quote.xlsx: Quote!B2: no price of a unit is so low or high; found -5.0; allowed: 0 to 1e+12"
    assert faults[1].startswith("quote.xlsx: Quote!C3: unknown currency; found 'Quatloos'; allowed: AED, ARS,")
    assert sorted(fault.split(";")[0] for fault in faults) == [
        "quote.xlsx: Quote row 5: a second price for arista-64: USD 50,000 in row 4 of Quote, USD 49,000 here",
        "quote.xlsx: Quote!B2: no price of a unit is so low or high",
        "quote.xlsx: Quote!C3: unknown currency",
    ]


@pytest.mark.parametrize("name", ["quote.xlsm", "quote.xls", "quote.pdf", "quote"])
def test_other_endings(name: str) -> None:
    Path(name).write_bytes(b"x")
    assert "a quote is not read from such a file" in faults_of(name)[0]


def test_a_workbook_named_as_text_and_text_without_a_table() -> None:
    Path("quote.csv").write_bytes(Path(plain_quote()).read_bytes())
    assert "this is a workbook under another name" in faults_of("quote.csv")[0]
    assert "no table of prices was found" in faults_of(write_csv("a,b\n1,2\n"))[0]
    assert "this is not a text file" in faults_of(write_csv("a\0b"))[0]
    assert "no such file" in faults_of("nothing.csv")[0]


def test_options_are_told_all_at_once() -> None:
    """``XXX`` is what ISO 4217 writes where there is no currency, so it has no rate."""
    with pytest.raises(InputError) as refusal:
        quote_options(["EUR", "EUR=1.1", "EUR=1.2", "XXX=3", "USD=2"], "QQQ", 9)
    values = [fault.value for fault in refusal.value.faults]
    assert values == ["EUR", "EUR=1.2", "XXX=3", "USD=2", "QQQ", 9]


def test_openpyxl_is_for_tests_only() -> None:
    """Workbooks are read without it: it keeps no value beside a formula, and unpacks before it looks at sizes."""
    assert openpyxl.__name__ not in "".join(path.read_text() for path in (ROOT / "fabopt").rglob("*.py"))


@pytest.mark.long
def test_many_unknown_names_are_listed_and_few_are_compared() -> None:
    lines = "".join(f"UNKNOWN-{number:05d} with words that are in no catalog,1\n" for number in range(15_000))
    name = write_csv("Part number,Unit price\nMMA4Z00-N5,1\n" + lines)
    quote, faults = read_quote(name, read_catalog([write_catalog()], Path()), quote_options((), None, 1))
    assert faults == [] and len(quote.with_status("left over")) == 15_001
    assert quote.lines[0].suggestion.startswith("MMA4Z00-NS") and quote.lines[-1].suggestion == ""


@pytest.mark.long(but=("28", "51"))
@pytest.mark.parametrize("seed", range(60))
def test_damaged_workbooks_are_read_or_refused(seed: int) -> None:
    """Bytes of any part are replaced; nothing else than ``InputError`` comes of it."""
    chance = random.Random(seed)

    def damage(parts: dict[str, bytes]) -> None:
        name = chance.choice(sorted(parts))
        data = bytearray(parts[name])
        for _ in range(chance.randint(1, 3)):
            start = chance.randrange(len(data) + 1)
            data[start : start + chance.randint(0, 6)] = chance.choice(DAMAGE)
        parts[name] = bytes(data)

    assert isinstance(faults_of(changed(damage)), list)


def test_a_cell_beyond_the_headings_is_read_as_a_remark() -> None:
    """Also where it is the description once more."""
    rows = "Part number,Description,Qty,Unit price USD\nMQM9700-NS2F,{0},2,30000,,{0}\n"
    assert faults_of(write_csv(rows.format("Quantum-2 switch"))) == []
