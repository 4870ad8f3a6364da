"""Tables with a title row, and the text of files that other programs write."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabopt.errors import refusal
from fabopt.io.library import (
    MAX_LIST_BYTES,
    MAX_LIST_LINES,
    STANDARD_STREAM,
    check_lines,
    check_values,
    read_bytes,
    read_standard_input,
    shown,
)
from fabopt.units import some

# The columns of point-to-point.csv that say what is joined; its others are of no account.
COLUMNS = ("A-Node Name", "A-Port", "Z-Node Name", "Z-Port")
_DELIMITERS = ",;\t"
# What colours a line of a terminal.
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")


def text_given(path: str) -> tuple[str, str]:
    """The text of a file (``-``: standard input), and its name in messages; ``InputError`` as of ``text_of``."""
    is_stream = path == STANDARD_STREAM
    file = "<standard input>" if is_stream else shown(Path(path))
    return text_of(read_standard_input() if is_stream else read_bytes(Path(path), MAX_LIST_BYTES), file), file


def text_of(data: bytes, file: str) -> str:
    """The text of a file; ``InputError`` if it is empty, not UTF-8, of too many lines, or JSON of too many values."""
    if data.lstrip()[:1] in (b"{", b"["):
        check_values(data, file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:200].count(0) > len(data[:200]) // 4
        line = data.count(b"\n", 0, error.start) + 1
        raise refusal(
            file,
            "",
            "this is UTF-16" if wide else f"not UTF-8 text (line {line})",
            allowed="UTF-8",
            hint="save it as UTF-8",
        ) from None
    if "\0" in text:
        raise refusal(file, "", "the file has zero bytes in it", allowed="text in UTF-8")
    if not text.strip():
        raise refusal(file, "", "the file is empty")
    check_lines(text, file, MAX_LIST_LINES)
    return _COLOUR.sub("", text) if "\x1b" in text else text


class TitledTable:
    """A table with a title row, of which the others are read one by one; lines before it with ``#`` are comments.

    ``titles``: as they are written, ``line``: of the title row, from 1.
    """

    def __init__(self, text: str, file: str) -> None:
        self.file, self.line = file, 1
        stream = io.StringIO(text, newline="")
        while (position := stream.tell()) is not None and (line := stream.readline()).startswith("#"):
            self.line += 1
        stream.seek(position)
        self._reader = csv.reader(stream, delimiter=max(_DELIMITERS, key=line.count))
        self.titles = [title.strip() for title in next(self._read(), (0, []))[1]]

    def _read(self) -> Iterator[tuple[int, list[str]]]:
        try:
            yield from ((self.line - 1 + self._reader.line_num, row) for row in self._reader)
        except csv.Error as error:
            raise refusal(self.file, f"line {self.line - 1 + self._reader.line_num}", f"not a table: {error}") from None

    def rows(self, is_whole: bool = True) -> Iterator[tuple[int, list[str]]]:
        """Rows that are not empty, without outer spaces, each with its line in the file.

        ``InputError`` where ``is_whole`` and a row has other than as many values as there are titles.
        """
        for line, row in self._read():
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if is_whole and len(cells) != len(self.titles):
                raise refusal(
                    self.file,
                    f"line {line}",
                    f"a row of {some(len(cells), 'value')} under {some(len(self.titles), 'title')}",
                    hint="is the file cut off?",
                )
            yield line, cells


def rows_of(text: str, file: str, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Each row with its line in the file: the values of some columns, whatever their order and letter case.

    Raises ``InputError`` where a column is missing, or a row has other than as many values as the title row.
    """
    table = TitledTable(text, file)
    titles = [title.lower() for title in table.titles]
    missing = [column for column in columns if column.lower() not in titles]
    if missing:
        raise refusal(
            file,
            f"line {table.line}",
            f"no column {', '.join(missing)}",
            allowed=f"a title row with {', '.join(columns)}",
        )
    places = [titles.index(column.lower()) for column in columns]
    yield from ((line, [row[place] for place in places]) for line, row in table.rows())
