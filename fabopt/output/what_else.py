"""The columns of alternatives, in words, for every output that has a table of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from fabopt.output.terminal.answer import metric_name
from fabopt.output.terminal.workload import duration
from fabopt.output.words import count, money, percent, signed_money, signed_power
from fabopt.schema.design import Alternative, Design, Number

# Where there is no figure.
NONE = "-"
# Columns of what is bought; those after them are of what it does.
BOUGHT = 3


class RowFigure(NamedTuple):
    """A figure of every row: its title, value, wording, and format in a workbook."""

    title: str
    figure: Callable[[Alternative], Number | None]
    words: Callable[[Number], str]
    format: str = "money"

    def cell(self, row: Alternative) -> str:
        """The figure of a row in words."""
        figure = self.figure(row)
        return NONE if figure is None else self.words(figure)


def columns_of(design: Design) -> list[RowFigure]:
    """Cost and power; the objective where it is neither; time of a step, tokens a second, utilization and cost per
    effective GPU for a case with a model; of a served one what users wait for; of several jobs the tokens of each, and
    the utilization of all.
    """
    metric = design.objective.metric
    jobs = [] if design.workload is None else [job.name for job in design.workload.jobs]
    bought = [
        RowFigure("cost", lambda row: row.capex_usd, money),
        RowFigure("more cost", lambda row: row.capex_delta_usd, signed_money),
        RowFigure("more power", lambda row: row.power_delta_w, signed_power, "number"),
    ]
    if metric not in ("capex_usd", "power_w"):
        bought.append(RowFigure(f"more {metric_name(metric)}", lambda row: row.objective_delta, signed_money))
    done = [
        RowFigure("step", lambda row: row.step_s, duration, "number"),
        RowFigure("first token", lambda row: row.ttft_s, duration, "number"),
        RowFigure("each further", lambda row: row.tpot_s, duration, "number"),
        RowFigure("tokens/s", lambda row: row.tokens_per_s, _whole, "number"),
        *(RowFigure(f"tokens/s of {name}", partial(_tokens_per_s, name), _whole, "number") for name in jobs),
        RowFigure(f"utilization{' of all jobs' if jobs else ''}", lambda row: row.gpu_utilization, percent, "number"),
        RowFigure("cost per effective GPU", lambda row: row.usd_per_effective_gpu, money),
    ]
    return bought + [column for column in done if any(column.figure(row) is not None for row in design.alternatives)]


def _tokens_per_s(name: str, row: Alternative) -> Number | None:
    return row.jobs[name].tokens_per_s if name in row.jobs else None


def _whole(amount: Number) -> str:
    return count(round(amount))


def name_of(row: Alternative) -> str:
    """The choice that an alternative changes, and its value there."""
    return f"{row.what}: {row.value}" if row.value else row.what
