"""Results of solving the case of a design again: no design is less, and no design keeps the rules left out."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.terminal.answer import metric_value
from fabopt.schema.design import Design


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
