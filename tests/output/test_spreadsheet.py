"""CSV files: no text is computed by whatever program opens them, and every writer of such files marks it alike."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from fabopt.output.export.bill import bill_bytes
from fabopt.output.export.front import front_csv
from fabopt.output.export.netbox.table import CsvTable
from fabopt.output.export.sensitivity import sensitivity_csv
from fabopt.output.export.sheets import write_csv
from fabopt.output.export.spreadsheet import csv_bytes, safe
from fabopt.schema.design import Front, FrontPoint
from fabopt.schema.sensitivity import PriceRange, Sensitivity, Takeover
from tests.samples import small

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20\u2212\ufe66\ufe62\ufe63\ufe6b\u207a\u207b\u208c"
FILLERS = "\u034f\u115f\u1160\u2800\u3164\ufe0f\uffa0"
UNSEEN = ("", "   ", "\r\n", " \xad\u200b\ufeff\xa0", *FILLERS)
KINDS_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
BEGINNINGS = ["", "\t", ";", "|", "a;", "a\t", "a|", "a\n", "a\r\n", "a; b;"]
SAID = [
    "",
    "a",
    "a=1",
    "5 - 3",
    "x-y",
    "C00001",
    "a; b",
    "A+B",
    "C00001 > server-0001 nic1p1, swp1",
    "'=1",
    " a",
    "a,=1",
]


def looks_computed(cell: str) -> bool:
    """Whether a program may take a cell for a formula: written anew, character by character."""
    for one in cell:
        if unicodedata.normalize("NFKC", one)[:1] in ("=", "+", "-", "@", "\u2212"):
            return True
        if one.isprintable() and one != " " and one not in FILLERS:
            return False
    return False


@cache
def unseen_texts() -> tuple[str, ...]:
    return *UNSEEN, *(one for one in map(chr, range(0x110000)) if unicodedata.category(one) in KINDS_UNSEEN)


def cells(text: str) -> list[str]:
    """What a program may make of a cell that reads no comma as what separates."""
    for mark in ";|\t\r\n":
        text = text.replace(mark, "\0;\0")
    return text.split("\0;\0")


@pytest.mark.parametrize("sign", SIGNS)
def test_what_could_be_computed_is_marked(sign: str) -> None:
    for beginning, unseen in product(BEGINNINGS, unseen_texts()):
        text = f"{beginning}{unseen}{sign}SUM(A1)"
        marked = str(safe(text))
        assert any(map(looks_computed, cells(text))) and marked.replace("'", "") == text
        assert not any(map(looks_computed, cells(marked))), ascii(text)


@given(st.text(st.sampled_from(f"{SIGNS};|,\t\r\n a1'\"\xa0\u200b")) | st.text())
def test_no_text_is_computed(text: str) -> None:
    marked = str(safe(text))
    assert not any(map(looks_computed, cells(marked)))
    assert not marked.startswith(("\t", "\r", "\n"))


@pytest.mark.parametrize("text", SAID)
def test_what_is_only_read_stays_as_it_is(text: str) -> None:
    assert safe(text) == text


@pytest.mark.parametrize("value", [-5, -0.5, 0, 1e9, None, True])
def test_numbers_stay_numbers(value: Any) -> None:
    assert safe(value) is value
    assert csv_bytes(["n"], [[-5, -0.5]]) == b"n\r\n-5,-0.5\r\n"


@pytest.mark.parametrize("text", ["\n" * 200_000, " " * 2_000_000, "\n " * 200_000, (";" + " " * 1000) * 500])
def test_long_text_takes_no_long_time(text: str) -> None:
    assert str(safe(text)).replace("'", "") == text


# -- every writer -----------------------------------------------------------------------------------------------------

TEXT, MARKED = "\u200b\uff1dHYPERLINK(A1)", "'\u200b\uff1dHYPERLINK(A1)"


def of_bill() -> bytes:
    design = small.solved(small.case())
    rows = tuple(row.model_copy(update={"description": TEXT, "part_number": TEXT}) for row in design.bom)
    return bill_bytes(design.model_copy(update={"bom": rows}), ".csv")


def of_front() -> bytes:
    objective = {"metric": "capex_usd", "value": -5}
    point = FrontPoint(status="optimal", summary=TEXT, values={TEXT: -5}, objective=objective, over={TEXT: TEXT})
    case = {"name": "pod", "sha256": "", "content": {}}
    return front_csv(Front(fabopt="0", case=case, kind="sweep", keys=(TEXT,), points=(point,)))


def of_sensitivity() -> bytes:
    end = Takeover(factor=1, summary=TEXT, changes=("a", TEXT), answer_objective=-5)
    case, objective = {"name": "pod", "sha256": "", "content": {}}, {"metric": "capex_usd"}
    one = PriceRange(part=TEXT, factor_low=1, factor_high=1, low=end, proven=True)
    found = Sensitivity(
        fabopt="0", case=case, status="optimal", objective=objective, step=1, most_factor=1, ranges=(one,)
    )
    return sensitivity_csv(found)


def of_netbox() -> bytes:
    return CsvTable((TEXT, "number"), [(TEXT, -5)]).csv_bytes()


def of_tables() -> bytes:
    return write_csv(Path("table.csv"), pd.DataFrame({TEXT: [TEXT], "number": [-5]})).read_bytes()


@pytest.mark.parametrize("writer", [of_bill, of_front, of_sensitivity, of_netbox, of_tables])
def test_every_writer_marks_text(writer: Callable[[], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = writer()
    assert data.count(b"\r\n") == data.count(b"\n")
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    found = [cell for row in rows for cell in row]
    assert MARKED in found and TEXT not in found
    assert not [cell for cell in found if looks_computed(cell) and cell != "-5"]
    assert writer is of_bill or "-5" in found
    assert writer is not of_sensitivity or f"a; {TEXT}".replace("; ", ";' ") in found
