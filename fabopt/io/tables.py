"""Tables with a title row, and the text of files that other programs write."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from fabopt.errors import InputError, fault
from fabopt.io.library import MAX_LIST_LINES, check_lines, check_values

# The columns of point-to-point.csv that say what is joined; its others are of no account.
COLUMNS = ("A-Node Name", "A-Port", "Z-Node Name", "Z-Port")
_DELIMITERS = ",;\t"
# What colours a line of a terminal.
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")


def text_of(data: bytes, file: str) -> str:
    """The text of a file; ``InputError`` if it is empty, not UTF-8, of too many lines, or JSON of too many values."""
    if data.lstrip()[:1] in (b"{", b"["):
        check_values(data, file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:200].count(0) > len(data[:200]) // 4
        line = data.count(b"\n", 0, error.start) + 1
        what = "this is UTF-16" if wide else f"not UTF-8 text (line {line})"
        raise InputError([fault(file, "", what, allowed="UTF-8", hint="save it as UTF-8")]) from None
    if "\0" in text:
        raise InputError([fault(file, "", "the file has zero bytes in it", allowed="text in UTF-8")])
    if not text.strip():
        raise InputError([fault(file, "", "the file is empty")])
    check_lines(text, file, MAX_LIST_LINES)
    return _COLOUR.sub("", text) if "\x1b" in text else text


def rows_of(text: str, file: str, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Each row with its line in the file: the values of some columns, whatever their order and letter case.

    Lines that begin with ``#`` before the title row are comments.
    Raises ``InputError`` where a column is missing, or a row has other than as many values as the title row.
    """
    lines = text.splitlines(keepends=True)
    comments = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    delimiter = max(_DELIMITERS, key="".join(lines[comments : comments + 1]).count)
    reader = csv.reader(lines[comments:], delimiter=delimiter)
    try:
        titles = [title.strip().lower() for title in next(reader, [])]
        places = [titles.index(column.lower()) for column in columns if column.lower() in titles]
        if len(places) < len(columns):
            missing = [column for column in columns if column.lower() not in titles]
            allowed = f"a title row with {', '.join(columns)}"
            raise InputError([fault(file, f"line {comments + 1}", f"no column {', '.join(missing)}", allowed=allowed)])
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(titles):
                what = f"a row of {len(row)} values under {len(titles)} titles"
                raise InputError([fault(file, f"line {comments + reader.line_num}", what)])
            yield comments + reader.line_num, [row[place].strip() for place in places]
    except csv.Error as error:
        raise InputError([fault(file, f"line {comments + reader.line_num}", f"not a table: {error}")]) from None
