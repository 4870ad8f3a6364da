"""Items of the fuzzer whose files come from elsewhere: quotes, designs made by hand, cabling, results, plans."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

import openpyxl

from fabopt.output.export.bill import bill_bytes
from fabopt.output.export.formats import Options, export
from fabopt.wiring.build import wiring_of
from tests.fuzz.mutants import mutant, spoilt
from tests.inspect.test_acceptance import BANDWIDTH, nccl_text, perftest_text, report
from tests.samples.designs_of_families import designed
from tests.samples.hand_fabrics import FORMS, HandFabric, drawn
from tests.samples.round_trips import FORMS as LLDP_FORMS, Told

# File, and what an audit takes it for.
HAND_MADE = MappingProxyType(
    {"point-to-point.csv": "p2p", "cables.csv": "p2p", "cables.dot": "dot", "bill.csv": "counts"}
)
OUTPUTS = ("--json", "audit.json", "--findings", "findings.csv", "--html", "audit.html")
PLAN, RESULTS, LINES = "plan.yaml", "results.txt", "lines.json"
# Fabrics in forms of other programs are drawn by seeds below this.
FABRICS = 40
# What stands in a workbook where a number or the name of a cell should.
XML_VALUES = (
    "-1", "0", "1e9", "1e999", "nan", "9" * 30, "1.5", "x", "", "A0", "XFD1048576", "XFE1", "A1:XFD1048576", "#REF!",
    "&#27;[31m", "&#x202e;", "&#x1F600;", "_x001B_", "2026-01-01T00:00:00",
)  # fmt: skip
PERFTEST = {
    "test_info": {"test": "RDMA_Write_BW_Test"},
    "results": {"MsgSize": 1048576, "n_iterations": 5000, "BW_peak": 392.0, "BW_average": 391.0, "MsgRate": 0.05},
}
Form = Callable[[HandFabric], str | dict[str, str]]
RATE_GBPS, SIZES = 375.0, (2**29, 2**33)


@cache
def written(kind: str) -> Mapping[str, str]:
    """What is exported of a design, by the name of its file."""
    design = designed(kind)
    with tempfile.TemporaryDirectory() as folder:
        export(design, wiring_of(design), ["cables", "dot", "plan"], Path(folder), Options())
        texts = {path.name: path.read_text() for path in Path(folder).iterdir() if path.suffix != ".xlsx"}
    return MappingProxyType({**texts, "bill.csv": bill_bytes(design, ".csv").decode()})


def wrong(dice: Random, text: str) -> bytes:
    """The text spoilt, with something else in its values or in cells of its table, or with lines of it many times."""
    how = dice.choice(["spoilt"] * 9 + ["values"] * 10 + ["long"])
    if how == "spoilt":
        return spoilt(dice, text)
    if how == "long":
        lines = text.splitlines(keepends=True)
        first = dice.randrange(len(lines))
        some = lines[first : first + dice.choice([1, 1, 10])]
        count = dice.choice([1_000, 1_000_000]) // len("".join(some)) + 1
        return "".join([*lines[:first], *some * count, *lines[first:]]).encode("utf-8", "replace")
    if text.lstrip()[:1] in ("{", "["):
        return json.dumps(mutant(dice, json.loads(text)), indent=dice.choice([None, 1])).encode()
    rows: Any = mutant(dice, list(csv.reader(io.StringIO(text))))
    stream = io.StringIO()
    csv.writer(stream).writerows(row if isinstance(row, list) else [row] for row in rows)
    return stream.getvalue().encode("utf-8", "replace")


def workbook(dice: Random, text: str) -> bytes:
    """A table as a workbook with something else in its cells, in a file of its archive, or in its bytes."""
    how = dice.choice(["cells", "file", "file", "bytes"])
    rows: Any = list(csv.reader(io.StringIO(text)))
    book = openpyxl.Workbook()
    for row in mutant(dice, rows) if how == "cells" else rows:
        book.active.append([_cell(value) for value in row] if isinstance(row, list) else [_cell(row)])
    stream = io.BytesIO()
    book.save(stream)
    data = stream.getvalue()
    if how == "file":
        with zipfile.ZipFile(stream) as archive:
            texts = {name: archive.read(name).decode() for name in archive.namelist()}
        changed = dice.choice([name for name in texts if "theme" not in name and "docProps" not in name])
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, own in texts.items():
                archive.writestr(name, _xml(dice, own) if name == changed else own)
        data = stream.getvalue()
    if how == "bytes":
        start = dice.randrange(len(data))
        data = data[:start] + dice.choice([b"", bytes(8), data[:40]]) + data[start + dice.choice([1, 40, 10**6]) :]
    return data


def _cell(value: Any) -> Any:
    """A value as a cell can hold it: numbers as numbers."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return "".join(letter for letter in str(value) if letter.isprintable())[:32_000]


def _xml(dice: Random, text: str) -> bytes:
    """The text of a file of a workbook with a number of it, or any stretch, replaced."""
    numbers = list(re.finditer(r'(?<=[">])[A-Z]*[0-9]+(?=["<])', text))
    if not numbers or dice.random() < 0.3:
        return spoilt(dice, text)
    place = dice.choice(numbers)
    return f"{text[: place.start()]}{dice.choice(XML_VALUES)}{text[place.end() :]}".encode()


def hand_made(dice: Random, kind: str, limit: Sequence[str], case: str, catalog: str) -> tuple[str, bytes, list[str]]:
    """A file that somebody made, and the words of its audit."""
    texts = written(kind)
    name = dice.choice(list(HAND_MADE))
    against = dice.choice([["--case", case, *limit], ["--catalog", f"./{catalog}"]])
    words = ["--as", HAND_MADE[name], *against, *OUTPUTS]
    if name.endswith(".csv") and dice.random() < 0.2:
        return "book.xlsx", workbook(dice, texts[name]), ["audit", "book.xlsx", *words]
    return name, wrong(dice, texts[name]), ["audit", name, *words]


def of_others(dice: Random) -> tuple[Mapping[str, bytes], list[str]]:
    """A fabric in a form that other programs write, something wrong in a file, and the words of its audit."""
    kind, form = dice.choice(list(OTHER_FORMS.values()))
    written_by = form(drawn(dice.randrange(FABRICS)))
    texts = written_by if isinstance(written_by, dict) else {"fabric": written_by}
    wrong_one = dice.choice(sorted(texts))
    files = {name: wrong(dice, text) if name == wrong_one else text.encode() for name, text in texts.items()}
    return {f"given/{name}": data for name, data in files.items()}, [
        "audit", "given" if isinstance(written_by, dict) else "given/fabric", "--as", kind, *OUTPUTS,
    ]  # fmt: skip


def as_api(fabric: HandFabric) -> str:
    """What /api/dcim/cables/ of NetBox gives, on one page."""

    def ends(device: str, port: str) -> list[dict[str, object]]:
        return [{"object_type": "dcim.interface", "object": {"name": port, "device": {"id": 1, "name": device}}}]

    cables = [
        {"type": {"value": "smf"}, "length": 10.0, "length_unit": {"value": "m"}, "label": "",
         "a_terminations": ends(a.device, a.port), "b_terminations": ends(b.device, b.port)}
        for a, b in fabric.links
    ]  # fmt: skip
    return json.dumps({"count": len(cables), "next": None, "results": cables})


def neighbours(number: int) -> Form:
    """A writer of what each device is told by its neighbours, in one of the forms of systems."""
    write = [form for forms in LLDP_FORMS.values() for form in forms][number]

    def files(fabric: HandFabric) -> dict[str, str]:
        told: dict[str, list[Told]] = {}
        for link in fabric.links:
            for near, far in (link, link[::-1]):
                told.setdefault(near.device, []).append(Told(near.port, far.device, far.port, "", 400.0))
        return {device: write(rows) for device, rows in told.items()}

    return files


# Forms of other programs, with what an audit takes them for.
OTHER_FORMS: Mapping[str, tuple[str, Form]] = {
    **FORMS, "netbox API": ("netbox", as_api),
    **{f"lldp {number}": ("lldp", neighbours(number)) for number in range(sum(map(len, LLDP_FORMS.values())))},
}  # fmt: skip


def quoted(dice: Random, kind: str, design: str, catalog: str) -> tuple[str, bytes, list[str]]:
    """A bill as a quote, and the words that read it."""
    at = ["--catalog", f"./{catalog}", "--json", LINES]
    text = written(kind)["bill.csv"]
    name, data = dice.choice([("bill.csv", wrong), ("bill.xlsx", workbook)])
    words = dice.choice([["import", name, "-o", "quoted.yaml"], ["audit", name, "--design", design]])
    return name, data(dice, text), ["quote", *words, *at]


def found(dice: Random, kind: str, design: str) -> tuple[str, bytes, list[str]]:
    """Cabling that was found, and the words that compare it."""
    words = ["as-built", design, "--csv", "point-to-point.csv", "--json", "found.json", "--html", "found.html"]
    return "point-to-point.csv", wrong(dice, written(kind)["point-to-point.csv"]), words


def measured(dice: Random, design: str) -> tuple[str, bytes, list[str]]:
    """Results of a test, and the words that judge them."""
    results = (
        nccl_text([(size, RATE_GBPS, 0) for size in SIZES], dice.choice([1, 2, 4])),
        json.dumps(report()), json.dumps(PERFTEST), perftest_text("BW", "1048576 5000 391.21 390.87 0.04", BANDWIDTH),
    )  # fmt: skip
    return RESULTS, wrong(dice, dice.choice(results)), ["accept", design, RESULTS, "--json", "accepted.json"]


def planned(dice: Random, kind: str, design: str) -> tuple[str, bytes, list[str]]:
    """A plan, and the words that prove it."""
    return PLAN, spoilt(dice, written(kind)[PLAN]), ["check", PLAN, "--design", design]
