"""Pins: designs kept with a name below the folder of the studio, and compared; and files of answers saved there."""

from __future__ import annotations

import re
from pathlib import Path

from fabopt.errors import InputError, refusal
from fabopt.inspect.differences.compare import contrast
from fabopt.inspect.differences.sides import whole
from fabopt.io.design import read_design
from fabopt.io.library import is_device, read_bytes, write_whole
from fabopt.output.differences import cell, name_of, step_words, verdict
from fabopt.output.export.design import design_bytes
from fabopt.output.terminal.answer import headline
from fabopt.output.words import money
from fabopt.schema.design import Design
from fabopt.studio.folder import DESIGNS, PAGES, below, kept_in
from fabopt.studio.showing import design_of, file
from fabopt.studio.trading import kept
from fabopt.studio.worker import Bench, Message
from fabopt.units import usd

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,59}")
PIN = "pin:"


def _pin(bench: Bench, name: str) -> Path:
    if NAME.fullmatch(name) is None or name.endswith((".", " ")):
        raise refusal(
            "name",
            "",
            "a pin has no such name",
            name,
            allowed="up to 60 letters, digits, spaces, dots, _ and -, the first a letter or digit",
        )
    path = kept_in(bench.folder, "pins") / f"{name}.json"
    if any(one.is_symlink() or is_device(one) for one in (path, path.with_suffix(".yaml"))):
        raise refusal("name", "", "this pin is a link or a device", name)
    return path


def pins(bench: Bench) -> list[Message]:
    """Return all pins; those that cannot be read are told with why."""
    rows: list[Message] = []
    for path in sorted(kept_in(bench.folder, "pins").glob("*.json")):
        if path.is_symlink():
            continue
        try:
            design = read_design(path)
        except InputError as error:
            rows.append({"name": path.stem, "answer": None, "summary": str(error), "capex_usd": None, "text": ""})
            continue
        text = path.with_suffix(".yaml")
        rows.append(
            {
                "name": path.stem,
                "answer": kept(bench, design),
                "summary": headline(design),
                "capex_usd": design.totals.capex_usd if design.totals is not None else None,
                "text": read_bytes(text).decode("utf-8", "replace") if text.is_file() else "",
            }
        )
    return rows


def pin(bench: Bench, name: str, answer: str, text: str = "") -> Message:
    """Keep an answer and the text of its case under a name; one of this name is replaced."""
    path = _pin(bench, name)
    design = design_bytes(design_of(bench, answer))
    # the design last: what has none is no pin
    write_whole(path.with_suffix(".yaml"), text.encode("utf-8", "replace"))
    write_whole(path, design)
    return {}


def unpin(bench: Bench, name: str) -> Message:
    """Forget a pin."""
    path = _pin(bench, name)
    if not path.is_file():
        raise refusal("pin", "", "there is no such pin", name)
    path.unlink()
    path.with_suffix(".yaml").unlink(missing_ok=True)
    return {}


def compare(bench: Bench, **names: str) -> Message:
    """Return all that differs between two answers or pins, and why the second costs what it costs."""
    sides = [whole(name.removeprefix(PIN), _named(bench, name)) for name in names.values()]
    result = contrast(sides, lambda side: None)
    return {
        "verdict": verdict(result),
        "heads": ["", *(side.name for side in sides)],
        "rows": [
            [name_of(row.name), *map(cell, row.figures), len(set(map(cell, row.figures))) > 1] for row in result.rows
        ],
        "waterfall": [[step_words(step), money(usd(step.cents))] for step in result.against[0].steps],
    }


def _named(bench: Bench, name: str) -> Design:
    design = read_design(_pin(bench, name.removeprefix(PIN))) if name.startswith(PIN) else design_of(bench, name)
    if not design.fabrics:
        raise refusal("answer", "", "there is no design here to compare", name)
    return design


def save(bench: Bench, answer: str, path: str) -> Message:
    """Save an answer below the folder: its design file (.json), or its page (.html)."""
    target = below(bench.folder, path, (*DESIGNS, *PAGES))
    written = file(bench, answer, "page" if target.suffix.lower() in PAGES else "design")
    write_whole(target, Path(written["path"]).read_bytes())
    return {"path": path}
