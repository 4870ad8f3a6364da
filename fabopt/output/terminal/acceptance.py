"""Measurements of a fabric for a terminal: failures and reasons, passes, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType, group
from rich.text import Text

from fabopt.inspect.acceptance.verdicts import Acceptance
from fabopt.output.terminal.summary import left_out, table
from fabopt.output.words import printable
from fabopt.units import some

MOST_LINES = 80
_COLUMNS = (("", False), ("test", False), ("servers", True), ("size", True), ("what", False))
_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


@group()
def acceptance_report(acceptance: Acceptance) -> Iterator[RenderableType]:
    """A table of verdicts, failed ones first, notes, and the verdict on all."""
    verdicts = sorted(acceptance.verdicts, key=lambda verdict: not verdict.is_fault)
    rows = [
        [
            verdict.kind,
            verdict.measurement.test,
            "" if verdict.measurement.servers is None else str(verdict.measurement.servers),
            size_words(verdict.measurement.size),
            printable(verdict.text),
        ]
        for verdict in verdicts[:MOST_LINES]
    ]
    yield table(_COLUMNS, rows)
    yield from left_out(len(verdicts), MOST_LINES, "measurement", "--json has all")
    yield from (Text(f"note: {printable(note)}") for note in acceptance.notes)
    yield Text(headline_of_acceptance(acceptance), style=f"bold {'green' if acceptance.ok else 'red'}")


def headline_of_acceptance(acceptance: Acceptance) -> str:
    """Counts of measurements that pass, fail, and are not compared."""
    kinds = [verdict.kind for verdict in acceptance.verdicts]
    fails = len(acceptance.faults)
    left = kinds.count("not-compared")
    more = f", {left} not compared" if left else ""
    rows = sum(verdict.measurement.size is not None for verdict in acceptance.verdicts)
    return f"{some(rows, 'measurement')}: {kinds.count('pass')} pass, {fails} fail{more}"


def size_words(size: int | None) -> str:
    """``512 MiB``, ``8 GiB``, ``2 B``; empty for a test without a size."""
    if size is None:
        return ""
    for unit, name in _UNITS:
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size:,} B"
