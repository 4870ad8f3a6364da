"""Sweeps and fronts as files: JSON whole, CSV with a row for each point."""

from __future__ import annotations

from typing import Any

from fabopt.io.library import share_read
from fabopt.output.export.spreadsheet import csv_bytes
from fabopt.output.slots import slots_at
from fabopt.output.steps import cut_off, gpus_of, marginal_unit, ratio_of
from fabopt.output.words import left_out_cell, limit_name
from fabopt.schema.design import Front

# The share of the largest readable file that points may fill.
_ROOM = 0.95
# Columns that come last, in whatever order others come up.
LAST = ("gpus", "ratio", "limited_by", "marginal", "marginal_unit", "knee",
        "worst_switch_cuts_off", "rules_left_out", "conflicts")  # fmt: skip


def front_bytes(front: Front) -> bytes:
    """Return a sweep or front file: JSON in the order of the schema, the same bytes for the same points."""
    return front.model_dump_json(by_alias=True, indent=2).encode() + b"\n"


def readable(front: Front) -> tuple[Front, bytes]:
    """Return a front that is small enough to be read again, and its file; a larger one is thinned to points spread
    evenly over all.
    """
    data, shown = front_bytes(front), front
    count = kept = len(front.points)
    while (share := share_read(data)) < 1 and kept > 2:
        kept = max(2, int(kept * share * _ROOM))
        places = {round(place * (count - 1) / (kept - 1)) for place in range(kept)}
        places |= {place for place, point in enumerate(front.points) if point.knee}
        note = (
            f"there are {count:,} points; the file has {len(places):,} that are spread evenly over them, as no larger "
            "file is read; --csv has all"
        )
        points = tuple(front.points[place] for place in sorted(places))
        on_inputs = front.notes if front.notes_on_inputs is None else front.notes_on_inputs
        update = {"points": points, "answers": (), "complete": False, "size": count, "notes_on_inputs": on_inputs}
        shown = front.model_copy(update=update | {"notes": (*front.notes, note)})
        data = front_bytes(shown)
    return shown, data


def front_csv(front: Front) -> bytes:
    """Return a table: keys, status, the design in a line, all metrics, cost by kind; conflicts where there is no
    design.
    """
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
        "conflicts": "; ".join(f"{limit_name(conflict.limit)}: {conflict.detail}" for conflict in point.conflicts),
    }
