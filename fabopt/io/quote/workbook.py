"""Workbooks (.xlsx) of strangers, read as a stream: values, number formats, merged cells, and nothing else.

A workbook is a ZIP file of XML (ECMA-376 part 1, 18.2 to 18.9). Sizes are looked at before anything is unpacked;
document types, macros and encryption are refused; formulas are never computed.
"""

from __future__ import annotations

import io
import math
import posixpath
import re
import zipfile
import zlib
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Protocol
from xml.parsers import expat

from fabopt.errors import InputError, refusal
from fabopt.io.quote.values import MOST_CELLS, MOST_ROWS, MOST_SHEETS, Cell, Merge, Sheet, plain_text

MOST_PART_BYTES = 100_000_000
MOST_BYTES = 400_000_000
MOST_PARTS = 5_000
MOST_TEXTS = 300_000
MOST_MERGES = 5_000
MOST_COLUMNS = 16_384
# Of a row in points, of a column in digits: what is less is a line at most.
LEAST_SHOWN = 0.5
# Rows that are in merges, each counted as often as it is.
MOST_MERGED_ROWS = 2_000_000
# How an OLE file begins: an encrypted workbook, or one of before 2007; what it has inside if it is encrypted.
OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
ZIP = b"PK\x03\x04"
_PLACE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_IN_QUOTES = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_DATE_LETTERS = re.compile(r"[dmyDMY]")
# Number formats that are not written down, by their number (ECMA-376 part 1, 18.8.30).
_DATES = frozenset({*range(14, 18), 22, *range(27, 37), *range(50, 59)})
_BUILT_IN = {9: "0%", 10: "0.00%"}
_SAVE_AGAIN = "open it in a spreadsheet program and save it as a workbook (.xlsx) without password and macros"


class _Handler(Protocol):
    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, tag: str, text: str) -> None:
        """Handle the end of an element. ``text``: its text since the last element began."""


def read_workbook(data: bytes, file: str) -> list[Sheet]:
    """Return the sheets of a workbook in their order; ``InputError`` for other files."""
    if data.startswith(OLE):
        raise refusal(
            file,
            "",
            "the workbook is encrypted" if _ENCRYPTED in data else "this is a workbook of before 2007 (.xls)",
            hint=_SAVE_AGAIN,
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _Workbook(archive, file).sheets()
    except (zipfile.BadZipFile, zlib.error, expat.ExpatError, EOFError, LookupError, ValueError, RuntimeError) as error:
        reason = str(error.args[0]) if error.args else type(error).__name__
        raise refusal(file, "", f"not a workbook that can be read: {plain_text(reason)}") from None


class _Workbook:
    def __init__(self, archive: zipfile.ZipFile, file: str) -> None:
        self.archive = archive
        self.file = file
        self.cells = 0
        self.rows = 0
        self._check_parts(archive.infolist())

    def refusal(self, problem: str, *value: object, allowed: str = "", hint: str = "") -> InputError:
        return refusal(self.file, "", problem, *value, allowed=allowed, hint=hint)

    def _check_parts(self, parts: list[zipfile.ZipInfo]) -> None:
        names = [part.filename.lower() for part in parts]
        if any(part.flag_bits & 1 for part in parts):
            raise self.refusal("the workbook is encrypted", hint=_SAVE_AGAIN)
        if any("vbaproject" in name or "macrosheet" in name for name in names):
            raise self.refusal("the workbook has macros", hint=_SAVE_AGAIN)
        if len(parts) > MOST_PARTS:
            raise self.refusal("the workbook has too many parts", len(parts), allowed=f"up to {MOST_PARTS:,}")
        large = max((part.file_size for part in parts), default=0)
        if large > MOST_PART_BYTES or sum(part.file_size for part in parts) > MOST_BYTES:
            raise self.refusal(
                "the workbook is too large when it is unpacked",
                allowed=f"{MOST_PART_BYTES:,} bytes in one part, {MOST_BYTES:,} in all",
            )
        if "xl/workbook.xml" not in names:
            raise self.refusal("this is not a workbook (.xlsx)", hint=_SAVE_AGAIN)

    def parse(self, name: str, handler: _Handler) -> None:
        """Hand the elements of a part to a handler, by their local names."""
        parser = expat.ParserCreate(namespace_separator=" ")
        texts: list[str] = []

        def start(tag: str, attributes: dict[str, str]) -> None:
            texts.clear()
            handler.start(tag.rpartition(" ")[2], attributes)

        def end(tag: str) -> None:
            handler.end(tag.rpartition(" ")[2], "".join(texts))
            texts.clear()

        def doctype(*_: object) -> None:
            raise self.refusal("the workbook declares a document type, which none needs")

        parser.buffer_text = True
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = texts.append
        parser.StartDoctypeDeclHandler = doctype
        with self.archive.open(name) as stream:
            parser.ParseFile(stream)

    def sheets(self) -> list[Sheet]:
        outline = _Outline()
        self.parse("xl/workbook.xml", outline)
        links = _Links()
        self.parse("xl/_rels/workbook.xml.rels", links)
        if len(outline.sheets) > MOST_SHEETS:
            raise self.refusal("too many sheets", len(outline.sheets), allowed=f"up to {MOST_SHEETS}")
        names = set(self.archive.namelist())
        texts, looks = _Texts(self), _Looks()
        for target in links.of_type("sharedStrings") & names:
            self.parse(target, texts)
        for target in links.of_type("styles") & names:
            self.parse(target, looks)
        return [
            self._sheet(name, links.targets[link], hidden, _Cells(self, name, texts, looks, outline.epoch))
            for name, link, hidden in outline.sheets
            if links.types.get(link) == "worksheet"
        ]

    def _sheet(self, name: str, target: str, hidden: bool, cells: _Cells) -> Sheet:
        self.parse(target, cells)
        return Sheet(name, cells.rows, tuple(cells.merges), hidden, cells.hidden_rows, cells.hidden_columns)

    def count(self, is_row: bool) -> None:
        """Count a row or a cell that is not empty."""
        self.rows += is_row
        self.cells += not is_row
        if self.rows > MOST_ROWS or self.cells > MOST_CELLS:
            raise self.refusal(
                "the workbook is too long for a quote",
                allowed=f"{MOST_ROWS:,} rows and {MOST_CELLS:,} cells that are not empty",
            )


class _Outline:
    """Names of the sheets with their links, and the day that dates count from."""

    def __init__(self) -> None:
        self.sheets: list[tuple[str, str, bool]] = []
        self.epoch = date(1899, 12, 30)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "sheet":
            link = next((value for key, value in attributes.items() if key.endswith(" id")), "")
            self.sheets.append(
                (plain_text(attributes.get("name", "")), link, attributes.get("state", "visible") != "visible")
            )
        elif tag == "workbookPr" and attributes.get("date1904") in ("1", "true"):
            self.epoch = date(1904, 1, 1)

    def end(self, tag: str, text: str) -> None:
        pass


class _Links:
    """Parts of the workbook by link, and the kind of each."""

    def __init__(self) -> None:
        self.targets: dict[str, str] = {}
        self.types: dict[str, str] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "Relationship":
            link = attributes["Id"]
            self.targets[link] = posixpath.normpath(posixpath.join("/xl", attributes["Target"])).lstrip("/")
            self.types[link] = attributes["Type"].rpartition("/")[2]

    def end(self, tag: str, text: str) -> None:
        pass

    def of_type(self, kind: str) -> set[str]:
        return {self.targets[link] for link, own in self.types.items() if own == kind}


class _Texts:
    """Texts that cells name by number, and which are struck through; what says how they sound is left out."""

    def __init__(self, workbook: _Workbook) -> None:
        self.all: list[str] = []
        self.struck: set[int] = set()
        self._workbook = workbook
        self._pieces: list[str] = []
        self._is_sound = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "si":
            self._pieces = []
        elif tag == "strike" and _is_on(attributes):
            self.struck.add(len(self.all))
        self._is_sound = self._is_sound or tag == "rPh"

    def end(self, tag: str, text: str) -> None:
        if tag == "t" and not self._is_sound:
            self._pieces.append(text)
        elif tag == "rPh":
            self._is_sound = False
        elif tag == "si":
            self.all.append(plain_text("".join(self._pieces)))
            if len(self.all) > MOST_TEXTS:
                raise self._workbook.refusal("the workbook is too long for a quote", allowed=f"{MOST_TEXTS:,} texts")


class _Looks:
    """Number formats by style, and whether it strikes through."""

    def __init__(self) -> None:
        self._codes: dict[int, str] = dict(_BUILT_IN)
        self._styles: list[tuple[int, int]] = []
        self._struck: list[bool] = []
        self._within = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "numFmt":
            self._codes[int(attributes["numFmtId"])] = attributes.get("formatCode", "")
        elif tag in ("fonts", "cellXfs"):
            self._within = tag
        elif tag == "font" and self._within == "fonts":
            self._struck.append(False)
        elif tag == "strike" and self._within == "fonts" and _is_on(attributes):
            self._struck[-1] = True
        elif tag == "xf" and self._within == "cellXfs":
            self._styles.append((int(attributes.get("numFmtId", "0")), int(attributes.get("fontId", "0"))))

    def end(self, tag: str, text: str) -> None:
        if tag == self._within:
            self._within = ""

    def strikes(self, style: str | None) -> bool:
        """Whether cells of a style are struck through."""
        font = self._style(style)[1]
        return 0 <= font < len(self._struck) and self._struck[font]

    def _style(self, style: str | None) -> tuple[int, int]:
        number = int(style or "0")
        return self._styles[number] if 0 <= number < len(self._styles) else (0, 0)

    def of(self, style: str | None) -> tuple[str, bool]:
        """The number format of a style, and whether it is one of dates."""
        kind, _ = self._style(style)
        code = self._codes.get(kind, "")
        first = _IN_QUOTES.sub("", code.partition(";")[0])
        return code, kind in _DATES or _DATE_LETTERS.search(first) is not None


class _Cells:
    """The cells of a sheet."""

    def __init__(self, workbook: _Workbook, name: str, texts: _Texts, looks: _Looks, epoch: date) -> None:
        self.rows: dict[int, dict[int, Cell]] = {}
        self.merges: list[Merge] = []
        self.hidden_rows: set[int] = set()
        self.hidden_columns: set[int] = set()
        self._workbook, self._name, self._texts, self._looks, self._epoch = workbook, name, texts, looks, epoch
        self._row = self._column = self._merged_rows = 0
        self._cell: Mapping[str, str] = {}
        self._value: str | None = None
        self._pieces: list[str] = []
        self._has_formula = self._is_sound = self._is_hidden = self._is_struck = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "row":
            self._row, self._column = int(attributes.get("r", self._row + 1)), 0
            self._is_hidden = _is_hidden(attributes, "ht")
        elif tag == "c":
            self._column = _place(attributes["r"])[1] if "r" in attributes else self._column + 1
            self._cell, self._value, self._pieces, self._has_formula = attributes, None, [], False
            self._is_struck = self._looks.strikes(attributes.get("s"))
        elif tag == "strike" and _is_on(attributes):
            self._is_struck = True
        elif tag == "col" and _is_hidden(attributes, "width"):
            first_column, last_column = int(attributes["min"]), int(attributes["max"])
            self.hidden_columns.update(range(first_column, min(last_column, MOST_COLUMNS) + 1))
        elif tag == "mergeCell":
            first, _, last = attributes["ref"].partition(":")
            merge = Merge(*_place(first), *_place(last or first))
            self.merges.append(merge)
            self._merged_rows += merge.last_row - merge.first_row
            if len(self.merges) > MOST_MERGES or self._merged_rows > MOST_MERGED_ROWS:
                raise self._workbook.refusal("too many merged cells", allowed=f"up to {MOST_MERGES:,}")
        self._is_sound = self._is_sound or tag == "rPh"

    def end(self, tag: str, text: str) -> None:
        if tag == "v":
            self._value = text
        elif tag == "t" and not self._is_sound:
            self._pieces.append(text)
        elif tag == "f":
            self._has_formula = True
        elif tag == "rPh":
            self._is_sound = False
        elif tag == "c":
            self._keep()

    def _keep(self) -> None:
        cell = self._made()
        if cell is None:
            return
        if self._row not in self.rows:
            self._workbook.count(is_row=True)
            self.rows[self._row] = {}
            if self._is_hidden:
                self.hidden_rows.add(self._row)
        self._workbook.count(is_row=False)
        self.rows[self._row][self._column] = cell._replace(struck=True) if self._is_struck else cell

    def _made(self) -> Cell | None:
        kind = self._cell.get("t", "n")
        if self._has_formula and (self._value is None or (self._value == "" and kind == "n")):
            return Cell(None)
        if kind == "s":
            number = int(self._value or "")
            text = self._texts.all[number]
            self._is_struck = self._is_struck or number in self._texts.struck
            return Cell(text) if text else None
        if kind in ("n", "") and self._value:
            return self._number(float(self._value))
        text = plain_text("".join(self._pieces) or self._value or "")
        return Cell(text) if text else None

    def _number(self, number: float) -> Cell:
        if not math.isfinite(number):
            raise ValueError(f"{self._name} has a number that is not finite")
        code, is_date = self._looks.of(self._cell.get("s"))
        if is_date and 1 <= number < 2_000_000:
            return Cell(self._epoch + timedelta(days=int(number)), code)
        return Cell(number, code)


def _is_on(attributes: Mapping[str, str]) -> bool:
    """Whether an element that is there switches something on."""
    return attributes.get("val", "1") not in ("0", "false")


def _is_hidden(attributes: Mapping[str, str], size: str) -> bool:
    """Whether a row or columns are not shown: by a filter, a group that is folded, or a height or width of nothing."""
    return attributes.get("hidden") in ("1", "true") or float(attributes.get(size, "1")) < LEAST_SHOWN


def _place(text: str) -> tuple[int, int]:
    """Row and column, from 1, of a cell's name."""
    match = _PLACE.fullmatch(text)
    if match is None:
        raise ValueError(f"no cell has the name {text[:20]}")
    column = 0
    for letter in match.group(1):
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(match.group(2)), column
