"""The traffic of the workload between GPUs, as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.output.terminal.workload import (
    COLUMNS,
    workload_lines,
    workload_rows,
    workload_title,
)
from fabopt.schema.design import Design


@dataclass(frozen=True)
class WorkloadView:
    """The model, a row for every communicator, and sentences on the step."""

    about: str
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...]

    @property
    def titles(self) -> list[str]:
        """Heads of the columns."""
        return [title[:1].upper() + title[1:] for title, _ in COLUMNS]

    @property
    def sides(self) -> list[bool]:
        """Whether each column holds numbers."""
        return [right for _, right in COLUMNS]


def workload_view(design: Design) -> WorkloadView | None:
    """Return the workload's section; None for a case without a model."""
    use = design.workload
    if use is None:
        return None
    rows = tuple(tuple(row) for row in workload_rows(use))
    return WorkloadView(workload_title(use), rows, workload_lines(use))
