"""The checks of a design, one line each."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fabopt.output.words import printable
from fabopt.schema.design import Check
from fabopt.units import some


def check_report(name: str, checks: Sequence[Check]) -> RenderableType:
    """Return every check with ok or FAIL and what was compared, and the verdict."""
    grid = Table.grid(padding=(0, 2))
    for check in checks:
        mark = Text("ok", style="green") if check.ok else Text("FAIL", style="bold red")
        grid.add_row(mark, Text(check.name), Text(printable(check.detail)))
    failed = sum(not check.ok for check in checks)
    if not checks:
        verdict = Text(f"{printable(name)}: nothing could be checked", style="bold red")
    elif failed:
        verdict = Text(f"{printable(name)}: {failed} of {some(len(checks), 'check')} FAILED", style="bold red")
    else:
        verdict = Text(f"{printable(name)}: all {some(len(checks), 'check')} hold", style="bold green")
    return Group(grid, verdict)
