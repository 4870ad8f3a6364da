"""Items of the fuzzer whose files come from elsewhere: quotes, designs made by hand, cabling, results, plans."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from fabopt.output.export.bill import bill_bytes
from fabopt.output.export.formats import Options, export
from fabopt.wiring.build import wiring_of
from tests.fuzz.mutants import mutant, spoilt
from tests.inspect.test_acceptance import nccl_text
from tests.samples.designs_of_families import designed
from tests.samples.hand_fabrics import FORMS, drawn

# File, and what an audit takes it for.
HAND_MADE = MappingProxyType(
    {"point-to-point.csv": "p2p", "cables.csv": "p2p", "cables.dot": "dot", "bill.csv": "counts"}
)
PLAN, RESULTS, LINES = "plan.yaml", "results.txt", "lines.json"
# Fabrics in forms of other programs are drawn by seeds below this.
FABRICS = 40
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
    """The text spoilt, or with something else in cells of its table."""
    if dice.random() < 0.5:
        return spoilt(dice, text)
    rows: Any = mutant(dice, list(csv.reader(io.StringIO(text))))
    stream = io.StringIO()
    csv.writer(stream).writerows(row if isinstance(row, list) else [row] for row in rows)
    return stream.getvalue().encode("utf-8", "replace")


def hand_made(dice: Random, kind: str, limit: Sequence[str], case: str, catalog: str) -> tuple[str, bytes, list[str]]:
    """A file that somebody made, and the words of its audit."""
    texts = written(kind)
    name = dice.choice(list(HAND_MADE))
    against = dice.choice([["--case", case, *limit], ["--catalog", f"./{catalog}"]])
    outputs = ["--json", "audit.json", "--findings", "findings.csv", "--html", "audit.html"]
    return name, wrong(dice, texts[name]), ["audit", name, "--as", HAND_MADE[name], *against, *outputs]


def of_others(dice: Random) -> tuple[Mapping[str, bytes], list[str]]:
    """A fabric in a form that other programs write, something wrong in a file, and the words of its audit."""
    kind, form = dice.choice(list(FORMS.values()))
    written_by = form(drawn(dice.randrange(FABRICS)))
    texts = written_by if isinstance(written_by, dict) else {"fabric": written_by}
    wrong_one = dice.choice(sorted(texts))
    files = {name: wrong(dice, text) if name == wrong_one else text.encode() for name, text in texts.items()}
    outputs = ["--json", "audit.json", "--findings", "findings.csv", "--html", "audit.html"]
    return {f"given/{name}": data for name, data in files.items()}, [
        "audit", "given" if isinstance(written_by, dict) else "given/fabric", "--as", kind, *outputs,
    ]  # fmt: skip


def quoted(dice: Random, kind: str, design: str, catalog: str) -> tuple[str, bytes, list[str]]:
    """A bill as a quote, and the words that read it."""
    at = ["--catalog", f"./{catalog}", "--json", LINES]
    words = dice.choice([["import", "bill.csv", "-o", "quoted.yaml"], ["audit", "bill.csv", "--design", design]])
    return "bill.csv", wrong(dice, written(kind)["bill.csv"]), ["quote", *words, *at]


def found(dice: Random, kind: str, design: str) -> tuple[str, bytes, list[str]]:
    """Cabling that was found, and the words that compare it."""
    words = ["as-built", design, "--csv", "point-to-point.csv", "--json", "found.json", "--html", "found.html"]
    return "point-to-point.csv", wrong(dice, written(kind)["point-to-point.csv"]), words


def measured(dice: Random, design: str) -> tuple[str, bytes, list[str]]:
    """Results of a test, and the words that judge them."""
    text = nccl_text([(size, RATE_GBPS, 0) for size in SIZES], dice.choice([1, 2, 4]))
    return RESULTS, spoilt(dice, text), ["accept", design, RESULTS, "--json", "accepted.json"]


def planned(dice: Random, kind: str, design: str) -> tuple[str, bytes, list[str]]:
    """A plan, and the words that prove it."""
    return PLAN, spoilt(dice, written(kind)[PLAN]), ["check", PLAN, "--design", design]
