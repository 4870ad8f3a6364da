"""The sheet of alternatives: what else there is, against the answer."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.output.export.quotes import QuoteTable
from fabopt.output.terminal.answer import metric_name
from fabopt.schema.design import Design


def alternative_table(design: Design) -> QuoteTable:
    """A row for every design of another kind, in the order of the design file; the objective where it is no other
    column.
    """
    columns = [
        ("Instead", 24, "wrap"), ("Which", 40, "wrap"), ("Design", 80, "wrap"), ("Cost USD", 16, "money"),
        ("More cost USD", 16, "money"), ("Power W", 14, "number"), ("More power W", 14, "number"),
    ]  # fmt: skip
    rows: list[Sequence[object]] = [
        (one.what, one.value, one.summary, one.capex_usd, one.capex_delta_usd, one.power_w, one.power_delta_w)
        for one in design.alternatives
    ]
    if design.objective.metric not in ("capex_usd", "power_w"):
        columns.append((f"More {metric_name(design.objective.metric)} USD", 16, "money"))
        rows = [(*row, one.objective_delta) for row, one in zip(rows, design.alternatives, strict=True)]
    return QuoteTable(columns, rows)
