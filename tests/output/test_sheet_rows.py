"""Tables that are written as they come are those that the libraries write, to the byte."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fabopt.output.export import sheets
from fabopt.output.export.marks import MARK
from fabopt.output.export.sheets import write_csv, write_workbook
from fabopt.output.export.spreadsheet import are_plain, new_book, safe, write_marks
from fabopt.output.words import printable

AWKWARD = [
    "plain",
    "",
    " before",
    "behind ",
    "two\nlines",
    "a<b & c>\"d'",
    "_x0041_",
    "\x01\u200b",
    "=1+1",
    "caf\u00e9",
]


def table(rows: int) -> pd.DataFrame:
    """Texts and numbers of all kinds, some of them missing, and whole rows without any."""
    chance = np.random.default_rng(rows)
    empty = (np.arange(rows) % 50 >= 30) | (np.arange(rows) == rows - 1)
    texts = chance.choice(AWKWARD, rows)
    names = [f"{text} {row}" if row % 7 else text for row, text in enumerate(texts.tolist())]
    metres = np.where(chance.random(rows) < 0.3, np.nan, chance.choice([1, 2.5, 1e20, -0.1, 1 / 3], rows))
    whole = pd.DataFrame({
        "name": np.where(empty, "", names),
        "metres": np.where(empty, np.nan, metres),
        "again": np.where(empty, "", chance.choice(["A", "", "B"], rows)),
    })  # fmt: skip
    return whole.astype({"name": object, "again": object})


TABLES = {
    "many rows": table(5000),
    "counts": pd.DataFrame({"number": range(40), "name": ["plain"] * 40}),
    "none": table(0),
    "one column": table(17)[["metres"]],
}


def by_the_library(tables: Mapping[str, pd.DataFrame], mark: str) -> bytes:
    """The same workbook, cell by cell."""
    stream = io.BytesIO()
    with new_book(stream, "t", "t") as (book, formats):
        write_marks(book, {MARK: mark} if mark else {})
        for name, rows in tables.items():
            sheet = book.add_worksheet(name)
            sheets._head(sheet, formats["head"], rows)
            for line, row in enumerate(rows.itertuples(index=False, name=None), start=1):
                for column, value in enumerate(row):
                    if isinstance(value, str) and value:
                        sheet.write_string(line, column, value if value.isprintable() else printable(value))
                    elif not isinstance(value, str) and value == value:
                        sheet.write_number(line, column, value)
    return stream.getvalue()


@pytest.mark.long(but=("not proven: x",))
@pytest.mark.parametrize("mark", ["", "not proven: x"])
def test_a_workbook_is_that_of_the_library(tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "_AT_ONCE", 64)
    path = write_workbook(tmp_path / "book.xlsx", "t", TABLES, mark)
    assert path.read_bytes() == by_the_library(TABLES, mark)


@pytest.mark.parametrize("name", TABLES)
def test_a_csv_file_is_that_of_pandas(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "_AT_ONCE", 64)
    marked = TABLES[name].map(safe).to_csv(index=False, lineterminator="\r\n", float_format="%.10g")
    assert write_csv(tmp_path / "table.csv", TABLES[name]).read_bytes() == marked.encode()


def test_what_looks_plain_is_left_as_it_is() -> None:
    for text in (*AWKWARD, "a;=1", "a|+1", "a\t", "-1", "1-", "x\r=1"):
        for cells in ([text], ["a", text], [text, "a"], [text, ""]):
            assert not are_plain(cells) or [safe(cell) for cell in cells] == cells, cells
    assert are_plain(["a", "", "server-0001 nic1p1 > leaf"]) and are_plain([]) and not are_plain(["a", 1])
