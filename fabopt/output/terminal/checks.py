"""The checks of a design, one line each."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fabopt.output.words import AN_EARLIER_FILE, printable, verdict_on
from fabopt.schema.design import Check, Design
from fabopt.units import some


def stated(design: Design, is_solved_again: bool = False) -> str:
    """Name the statements of a file that only a search can prove, and whether one follows."""
    objective = design.objective
    parts = [f"status {design.status}", f"bound {objective.bound}", f"gap {objective.gap}"]
    parts += [some(len(design.alternatives), "alternative"), some(len(design.notes), "note")]
    again = "the case is solved again below" if is_solved_again else "--solve proves status and bound again"
    return f"stated by the file: {', '.join(parts)}; {again}"


def check_report(
    design: Design, checks: Sequence[Check], is_solved_again: bool = False, spared: int = 0
) -> RenderableType:
    """Return every check with ok or FAIL and its detail, statements that no check proves, and the verdict.

    ``spared``: checks that the file is not asked for, as its version did not have them.
    """
    return checks_report(design.case.name, checks, stated(design, is_solved_again), spared)


def checks_report(case: str, checks: Sequence[Check], unproven: str = "", spared: int = 0) -> RenderableType:
    """Return every check with ok or FAIL, statements that no check proves, and the verdict on a file of a case."""
    name = printable(case)
    grid = Table.grid(padding=(0, 2))
    for check in checks:
        mark = Text("ok", style="green") if check.ok else Text("FAIL", style="bold red")
        grid.add_row(mark, Text(check.name), Text(printable(check.detail)))
    if unproven:
        grid.add_row(Text(""), Text("not proven again"), Text(printable(unproven)))
    failed = sum(not check.ok for check in checks)
    if not checks:
        verdict = Text(f"{name}: nothing could be checked", style="bold red")
    elif failed:
        verdict = Text(f"{name}: {failed} of {some(len(checks), 'check')} FAILED", style="bold red")
    else:
        more = f"; {AN_EARLIER_FILE}" if spared else ""
        verdict = Text(f"{name}: {verdict_on(len(checks), spared)}{more}", style="bold green")
    return Group(grid, verdict)
