"""The checks of a design, one line each.

Results of solving the case of a design again: no design is less, and no design keeps the rules left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fabopt.output.terminal.answer import metric_value
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


def differences(design: Design, again: Design) -> Iterator[str]:
    """Statements of a design that solving its case again contradicts; none where all are proven."""
    if again.status != "optimal":
        yield f"solving it again ended with status {again.status}"
        return
    content, content_again = (solved.case.content for solved in (design, again))
    for key in sorted(content.keys() | content_again.keys()):
        if content.get(key) != content_again.get(key):
            yield f"`case.content.{key}` is not what the case as it was asked for, `case.asked`, comes to"
    metric, value, least = design.objective.metric, design.objective.value, again.objective.value
    if value != least:
        told = [_metric_words(metric, amount) for amount in (value, least)]
        yield f"{metric} is {told[0]}, and solving it again gives {told[1]}"
    listed, again_left_out = (sorted(row.name for row in solved.rules_left_out) for solved in (design, again))
    yield from (
        f"{name} is listed as left out, and some design keeps it" for name in listed if name not in again_left_out
    )
    yield from (
        f"{name} is not listed as left out, and no design keeps it" for name in again_left_out if name not in listed
    )


def proven_again(design: Design) -> str:
    """The proof by solving a case again, in a sentence."""
    objective = design.objective
    claim = f"{design.case.name}: solved again: "
    if objective.bound is not None:
        claim += f"no design of its space has less than {_metric_words(objective.metric, objective.bound)}"
    if objective.decision is not None:
        claim += f"{'' if objective.bound is None else ', and '}the same design is picked"
    names = [row.name for row in design.rules_left_out]
    return f"{claim}, and none keeps {', '.join(names)}, whatever its limits" if names else claim


def _metric_words(metric: str, value: float | None) -> str:
    return "-" if value is None else metric_value(metric, value)
