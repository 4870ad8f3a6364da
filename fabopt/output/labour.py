"""The work of the crew: tasks, hours and dollars by stage, the dollars as on the bill."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from fabopt.output.stated import StatedTable, Statement, statement_of
from fabopt.output.words import money
from fabopt.schema.design import Design
from fabopt.schema.labour import KINDS_OF_TASK, LABOUR, MINUTES_PER_HOUR, VISIT, TaskMinutes, times_of
from fabopt.units import cents, grouped, plain_fraction, usd, whole_shares
from fabopt.verify.evidence import Evidence
from fabopt.verify.labour import installed, used_on_bill

CREWS: Final = {
    "rack": "racking", "pull": "cabling", "dress": "cabling", "label": "cabling", "plug": "cabling",
    "clean": "testing", "inspect": "testing", "test": "testing", "visit": "all crews",
}  # fmt: skip


class WorkRow(NamedTuple):
    """A task of a stage on one kind: how often, minutes of one time (None: not known), and dollars."""

    stage: int
    fabric: str
    kind: str
    task: str
    times: int
    minutes: Fraction | None
    usd: float | None

    @property
    def hours(self) -> Fraction | None:
        """Hours of one person, all times together."""
        return None if self.minutes is None else self.times * self.minutes / MINUTES_PER_HOUR


def work_rows(design: Design) -> list[WorkRow]:
    """The tasks of all stages in the order of the bill, those without minutes too; none without labour."""
    evidence = Evidence(design)
    labour = evidence.case.site.labour
    if labour is None:
        return []
    times: dict[tuple[int, str, str], dict[str, int]] = {}
    for stage, fabric, kind, ends, units in installed(evidence, used_on_bill(evidence)):
        tasks = times.setdefault((stage, fabric, kind), defaultdict(int))
        for task in ["visit"] if kind == VISIT else _tasks(labour.minutes, kind):
            tasks[task] += units * times_of(task, kind, ends)
    billed: dict[tuple[int, str, str], int] = defaultdict(int)
    for row in design.bom:
        if row.id.startswith(LABOUR):
            kind = row.id if row.id == VISIT else row.id.removeprefix(LABOUR)
            billed[evidence.stage_names.index(row.stage), row.fabric, kind] += cents(row.total_usd)
    order = [*dict.fromkeys(row.fabric for row in design.bom if row.fabric), ""]
    keys = sorted(times, key=lambda key: (key[0], order.index(key[1]), key[2]))
    return [row for key in keys for row in _rows(key, times[key], billed[key], labour.minutes)]


def _tasks(minutes: TaskMinutes, kind: str) -> list[str]:
    """Tasks on a kind, with those whose minutes are not given and that a number would be for."""
    known = [task.task for task in minutes.tasks_of(kind)]
    return [task for task, of in KINDS_OF_TASK.items() if task in known or (kind in of and task not in minutes.known)]


def _rows(key: tuple[int, str, str], times: dict[str, int], billed: int, minutes: TaskMinutes) -> Iterator[WorkRow]:
    """The rows of a kind; dollars are shared by minutes, and add up to those of the bill."""
    kind = key[2]
    if kind == VISIT:
        yield WorkRow(*key, "visit", times["visit"], Fraction(0), usd(billed))
        return
    known = {task.task: task.minutes for task in minutes.tasks_of(kind)}
    total = sum((known[task] * times[task] for task in known), Fraction(0))
    shares = whole_shares([known[task] * times[task] * billed / total for task in known], 1) if total else []
    amounts = dict(zip(known, shares, strict=True))
    for task, number in times.items():
        yield WorkRow(*key, task, number, known.get(task), usd(amounts[task]) if task in known else None)


LABOUR_COLUMNS = (("stage", False), ("crew", False), ("tasks", False), ("hours", True), ("cost", True))


def labour(design: Design) -> Statement | None:
    """Hours and dollars of each crew at each stage; None without labour."""
    rows = work_rows(design)
    if not rows:
        return None
    table = []
    for (stage, crew), of in grouped(((row.stage, CREWS[row.task]), row) for row in rows).items():
        known = [row for row in of if row.minutes is not None]
        hours = plain_fraction(sum((row.hours or Fraction(0) for row in known), Fraction(0)), 1)
        tasks = ", ".join(dict.fromkeys(row.task for row in known))
        if known:
            paid = money(round(sum(row.usd or 0 for row in known), 2))
            table.append([design.stages[stage].name, crew, tasks, f"{hours:,}", paid])
    unknown = [task for task in KINDS_OF_TASK if any(row.task == task and row.minutes is None for row in rows)]
    without = f"in no sum, for their minutes are not given: {', '.join(unknown)}" if unknown else None
    return statement_of("labour", "Labour", "", StatedTable(LABOUR_COLUMNS, table), without)
