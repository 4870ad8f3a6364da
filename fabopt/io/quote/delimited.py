"""CSV files of vendors: encoding, delimiter and cells."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice

from fabopt.errors import refusal
from fabopt.io.quote.values import CSV_SHEET, MOST_CELLS, MOST_ROWS, Cell, Sheet, plain_text

_DELIMITERS = (",", ";", "\t", "|")
# Lines by which the delimiter is told.
_SAMPLE = 200
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def read_delimited(data: bytes, file: str) -> list[Sheet]:
    """Return a CSV file as a sheet named ``CSV``; ``InputError`` for other files."""
    text, note = _decoded(data, file)
    if "\0" in text:
        raise refusal(file, "", "this is not a text file", allowed=".csv or .xlsx")
    rows: dict[int, dict[int, Cell]] = {}
    number = 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        for row, words in enumerate(reader, start=1):
            cells = {column: Cell(text) for column, word in enumerate(words, start=1) if (text := plain_text(word))}
            if not cells:
                continue
            rows[row] = cells
            number += len(cells)
            if len(rows) > MOST_ROWS or number > MOST_CELLS:
                raise refusal(
                    file,
                    "",
                    "the file is too long for a quote",
                    allowed=f"{MOST_ROWS:,} rows and {MOST_CELLS:,} cells that are not empty",
                )
    except csv.Error as error:
        raise refusal(file, f"line {reader.line_num}", f"not CSV: {error}") from None
    return [Sheet(CSV_SHEET, rows, encoding_note=note)]


def _decoded(data: bytes, file: str) -> tuple[str, str]:
    """The text of a file, and how it was read where it is not UTF-8."""
    if data.startswith(_WIDE):
        try:
            return data.decode("utf-16"), ""
        except UnicodeDecodeError:
            raise refusal(file, "", "not UTF-16 text, as its start says") from None
    if len(data) % 2 == 0 and not any(data[1 : _SAMPLE // 10 : 2]):
        return data.decode("utf-16-le", errors="replace"), "the file is read as UTF-16, which its start does not say"
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace"), "the file is not UTF-8 and was read as Windows-1252"


def _delimiter(text: str) -> str:
    """The delimiter: the one with which the most lines have the same number of columns, more than one."""
    best, chosen = (0, 0), _DELIMITERS[0]
    for delimiter in _DELIMITERS:
        try:
            lines = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), _SAMPLE))
        except csv.Error:
            continue
        widths = Counter(len(words) for words in lines if len(words) > 1)
        width, number = max(widths.items(), key=lambda entry: (entry[1], entry[0]), default=(0, 0))
        best, chosen = max((best, chosen), ((number, width), delimiter), key=lambda entry: entry[0])
    return chosen
