"""The work of the crew as a table: a row for each task of a stage, fabric and kind."""

from __future__ import annotations

from fabopt.design.bill import order_date
from fabopt.errors import refusal
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import frame_as_is
from fabopt.output.export.sheets import csv_file
from fabopt.output.labour import CREWS, work_rows
from fabopt.schema.labour import VISIT
from fabopt.units import plain_fraction

FILE = "labour.csv"
COLUMNS = ("stage", "month", "day", "crew", "fabric", "kind", "task", "count", "minutes_each", "hours", "usd")
HOUR_DIGITS = 4


def files_of(asked: Exported) -> Files:
    """Return ``labour.csv``; of a stage if one is asked for. ``InputError`` where the case counts no labour."""
    design = asked.design
    rows = work_rows(design)
    if not rows:
        raise refusal(
            "--to",
            "",
            "the case has no `site.labour`, so there are no tasks to list",
            hint="add `site.labour` with `usd_per_hour` and `minutes` to the case, and solve it again",
        )
    start = design.case.content.get("start")
    table: list[tuple[object, ...]] = []
    for row in rows:
        if asked.options.stage not in (None, row.stage):
            continue
        stage = design.stages[row.stage]
        known = [None, None] if row.hours is None or row.minutes is None else [row.minutes, row.hours]
        minutes, hours = (None if value is None else plain_fraction(value, HOUR_DIGITS) for value in known)
        table.append((
            stage.name, stage.month, order_date(start, stage.month, 0), CREWS[row.task], row.fabric,
            "" if row.kind == VISIT else row.kind, row.task, row.times, minutes, hours, row.usd,
        ))  # fmt: skip
    return {FILE: csv_file(frame_as_is(COLUMNS, table))}
