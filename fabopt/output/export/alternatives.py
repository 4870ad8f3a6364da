"""The sheet of alternatives: changes to the case, with their cost against the answer."""

from __future__ import annotations

import json
from collections.abc import Sequence

from fabopt.output.export.orders import QuoteTable
from fabopt.output.what_else import columns_of
from fabopt.schema.design import Design


def alternative_table(design: Design) -> QuoteTable:
    """A row for every case that differs, in the order of the design file, with the keys that give it."""
    figures = columns_of(design)
    columns = [
        ("Instead", 24.0, "wrap"), ("Which", 40.0, "wrap"), ("Design", 80.0, "wrap"), ("Power W", 14.0, "number"),
        *((_title(column.title, column.format), 16.0, column.format) for column in figures),
        ("Keys", 60.0, "wrap"),
    ]  # fmt: skip
    rows: list[Sequence[object]] = [
        (
            *(row.what, row.value, row.summary, row.power_w),
            *(column.figure(row) for column in figures),
            json.dumps(row.change),
        )
        for row in design.alternatives
    ]
    return QuoteTable(columns, rows)


def _title(title: str, kind: str) -> str:
    unit = {"more power": " W", "step": " s", "first token": " s", "each further": " s", "utilization": ""}.get(
        title, " USD" if kind == "money" else ""
    )
    return f"{title[0].upper()}{title[1:]}{unit}"
