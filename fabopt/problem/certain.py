"""Faults of commands that need growth to be certain, or cables that no search beside the solver chooses."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, fault
from fabopt.rules.defaults import FILL_RULES
from fabopt.schema.case import Case
from fabopt.schema.stages import is_certain


def limited_cables(case: Case, file: str, what: str) -> Iterator[Fault]:
    """Faults where lengths of cables, or what they fill, are limited, which only ``fabopt solve`` keeps; ``what``: what
    is refused.
    """
    if case.length_limits.are_set:
        hint = "leave it out, or use `fabopt solve`"
        yield fault(file, "max_lengths", f"{what} where lengths of cables are limited", hint=hint)
    for of, fill in case.fill_limits.items():
        off = f", write `rules: {{{FILL_RULES[of]}: false}}`" if of in FILL_RULES else ""
        problem = f"{what} where the fill of {of}s is limited"
        yield fault(file, case.fill_keys[of], problem, fill, hint=f"leave it out{off}, or use `fabopt solve`")


def uncertain_stages(case: Case, file: str, what: str, takes_limits: bool = False) -> Iterator[Fault]:
    """A fault for scenarios and for each stage of a probability below 1; ``what``: the answer that is refused.

    Limits of lengths and of what they fill are faults too, but where ``takes_limits``.
    """
    hint = "leave it out, or use `fabopt solve`"
    what = f"{what} where growth may end"
    if case.scenarios:
        yield fault(file, "scenarios", what, len(case.scenarios), hint=hint)
    if not takes_limits:
        yield from limited_cables(case, file, what.partition(" where ")[0])
    for number, stage in enumerate(case.stages or ()):
        if not is_certain(stage.probability):
            yield fault(file, f"stages.{number}.probability", what, stage.probability, hint=hint)
