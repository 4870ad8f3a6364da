"""What a reader must know of the default rule of resilience: what holds, what could not be kept, what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.losses import RuleStanding
from fabopt.solution.question import Question

ANCHOR = "docs/bandwidth.md#redundancy-by-default"
NO_DESIGN = "no design keeps it beside the rest"
NOT_IN_TIME = "the time was over before a design was found that keeps it beside the rest"


def redundancy_notes(question: Question, design: Design) -> Iterator[str]:
    """Which parts of the rule hold for which fabric, where none applies, and which are not kept."""
    held = [words for fabric in design.fabrics if (words := _held(fabric))]
    if held:
        yield f"redundancy: {'; '.join(held)} ({ANCHOR})"
    why = NOT_IN_TIME if question.clock.is_over() else NO_DESIGN
    for fabric in design.fabrics:
        for row in fabric.redundancy:
            if row.kept is False:
                yield f"{fabric.name}: rule `{row.rule}` is not kept ({row.detail}): {why}"


def _held(fabric: FabricDesign) -> str:
    """A fabric with the parts that it keeps; with why none applies, where that is so."""
    kept = [_told(row) for row in fabric.redundancy if row.kept]
    if kept:
        return f"{fabric.name} {', '.join(kept)}"
    if fabric.redundancy and all(row.kept is None for row in fabric.redundancy):
        return f"{fabric.name} exempt, {fabric.redundancy[0].detail}"
    return ""


def _told(row: RuleStanding) -> str:
    return f"`{row.rule}` ({row.detail})"
