"""Which parts of the default rule of racks could not be kept."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.floor.rack_rules import parts_of
from fabopt.schema.case import Case
from fabopt.schema.default_rules import DEFAULT_RULES, RACK_RULES
from fabopt.solution.rules_kept import NO_DESIGN, NOT_IN_TIME

RULE = DEFAULT_RULES[RACK_RULES]


def rack_notes(asked: Case, answered: Case, is_over: bool) -> Iterator[str]:
    """The rule, if a case keeps it, and each key of it that holds in what was asked and not in what is answered."""
    kept = parts_of(answered)
    if kept:
        told = ", ".join(f"`{key}`" for key in kept)
        yield f"rule `{RACK_RULES}`: {RULE.sentence}: {told} ({RULE.anchor})"
    for key in parts_of(asked):
        if key not in kept:
            why = NOT_IN_TIME if is_over else NO_DESIGN
            yield f"rule `{RACK_RULES}`: `site.rack_rules.{key}` is not kept: {why}"
