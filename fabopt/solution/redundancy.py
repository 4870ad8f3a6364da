"""Which parts of the default rule of resilience could not be kept."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.schema.design import Design
from fabopt.solution.question import Question

NO_DESIGN = "no design keeps it beside the rest"
NOT_IN_TIME = "the time was over before a design was found that keeps it beside the rest"


def redundancy_notes(question: Question, design: Design) -> Iterator[str]:
    """Each part of the rule that a fabric does not keep, and why."""
    why = NOT_IN_TIME if question.clock.is_over() else NO_DESIGN
    for fabric in design.fabrics:
        for row in fabric.redundancy:
            if row.kept is False:
                yield f"{fabric.name}: rule `{row.rule}` is not kept ({row.detail}): {why}"
