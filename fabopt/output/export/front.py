"""Sweeps and fronts as files: JSON whole, CSV with a row for each point."""

from __future__ import annotations

from typing import Any

from fabopt.output.export.spreadsheet import csv_bytes
from fabopt.output.left_out import left_out_cell
from fabopt.output.slots import slots_at
from fabopt.output.steps import gpus_of, marginal_unit, ratio_of
from fabopt.output.words import limit_name
from fabopt.output.worst_switch import cut_off
from fabopt.schema.front import Front

# Columns that come last, in whatever order others come up.
LAST = ("gpus", "ratio", "limited_by", "marginal", "marginal_unit", "knee",
        "worst_switch_cuts_off", "rules_left_out", "conflicts")  # fmt: skip


def front_bytes(front: Front) -> bytes:
    """Return a sweep or front file: JSON in the order of the schema, the same bytes for the same points."""
    return front.model_dump_json(by_alias=True, indent=2).encode() + b"\n"


def front_csv(front: Front) -> bytes:
    """Return a table: keys, status, the design in a line, all metrics, cost by kind; why there is none."""
    rows = [_row(front, number) for number in range(1, len(front.points) + 1)]
    columns = [*dict.fromkeys(key for row in rows for key in row if key not in LAST), *LAST]
    return csv_bytes(columns, ([row.get(column, "") for column in columns] for row in rows))


def _row(front: Front, number: int) -> dict[str, Any]:
    point = front.points[number - 1]
    swept: dict[str, Any] = {key: point.over.get(key, point.budget_usd) for key in front.keys}
    return {
        "label": point.label,
        **swept,
        "status": point.status,
        "summary": point.summary,
        **point.values,
        **{f"capex_usd_{kind}": value for kind, value in point.capex_by_kind.items()},
        "gpus": gpus_of(point),
        "ratio": ratio_of(point),
        "limited_by": slots_at(front, number),
        "marginal": point.marginal,
        "marginal_unit": "" if point.marginal is None else f"USD per {marginal_unit(front)}",
        "knee": point.knee,
        "worst_switch_cuts_off": cut_off(point),
        "rules_left_out": left_out_cell(point.rules_left_out),
        "conflicts": "; ".join(f"{limit_name(one.limit)}: {one.detail}" for one in point.conflicts),
    }
