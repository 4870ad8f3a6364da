"""The acceptance plan: tests in order, expected results and pass marks, as a table and as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, fields

from fabopt.inspect.acceptance.plan import AcceptanceTest, acceptance_plan
from fabopt.inspect.acceptance.verdicts import Acceptance, Verdict
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.spreadsheet import csv_bytes, printable_csv
from fabopt.output.words import json_bytes

PLAN_COLUMNS = tuple(field.name for field in fields(AcceptanceTest))
FINDING_COLUMNS = ("kind", "file", "line", "test", "servers", "size", "value", "expected", "pass_mark", "unit", "text")


def files_of(asked: Exported) -> Files:
    """Return ``acceptance.csv`` and ``acceptance.json``."""
    plan = acceptance_plan(asked.design)
    rows = ([getattr(test, name) for name in PLAN_COLUMNS] for test in plan.tests)
    content = {"tests": [asdict(test) for test in plan.tests], "notes": list(plan.notes)}
    return {"acceptance.csv": csv_bytes(PLAN_COLUMNS, rows), "acceptance.json": json_bytes(content)}


def acceptance_json(acceptance: Acceptance) -> bytes:
    """Return verdicts as JSON: ``findings`` are the failed tests, ``measurements`` are all."""
    content = {
        "ok": acceptance.ok,
        "findings": [verdict_row(verdict) for verdict in acceptance.faults],
        "measurements": [verdict_row(verdict) for verdict in acceptance.verdicts],
        "notes": list(acceptance.notes),
    }
    return json_bytes(content)


def verdict_row(verdict: Verdict) -> dict[str, object]:
    """A verdict with ``FINDING_COLUMNS``."""
    own = asdict(verdict.measurement) | {"kind": verdict.kind, "text": verdict.text}
    own |= {"expected": verdict.expected, "pass_mark": verdict.pass_mark}
    return {name: _written(own[name]) for name in FINDING_COLUMNS}


def _written(value: object) -> object:
    """A number to four places; infinity and NaN as words, as JSON has no numbers for them."""
    if not isinstance(value, float):
        return value
    return round(value, 4) if math.isfinite(value) else str(value)


def acceptance_csv(acceptance: Acceptance) -> bytes:
    """Return a table with ``FINDING_COLUMNS``, a row for each measurement that fails."""
    return printable_csv(FINDING_COLUMNS, (list(verdict_row(verdict).values()) for verdict in acceptance.faults))
