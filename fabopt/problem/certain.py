"""Faults of commands that need growth to be certain."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, fault
from fabopt.schema.case import Case
from fabopt.schema.stages import is_certain


def limited_lengths(case: Case, file: str, what: str) -> Iterator[Fault]:
    """A fault where lengths are limited, which only ``fabopt solve`` chooses from; ``what``: what is refused."""
    if case.length_limits.are_set:
        hint = "leave it out, or use `fabopt solve`"
        yield fault(file, "max_lengths", f"{what} where lengths of cables are limited", hint=hint)


def uncertain_stages(case: Case, file: str, what: str) -> Iterator[Fault]:
    """A fault for scenarios and for each stage of a probability below 1; ``what``: the answer that is refused."""
    hint = "leave it out, or use `fabopt solve`"
    what = f"{what} where growth may end"
    if case.scenarios:
        yield fault(file, "scenarios", what, len(case.scenarios), hint=hint)
    yield from limited_lengths(case, file, what.partition(" where ")[0])
    for number, stage in enumerate(case.stages or ()):
        if not is_certain(stage.probability):
            yield fault(file, f"stages.{number}.probability", what, stage.probability, hint=hint)
