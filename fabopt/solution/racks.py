"""Which parts of the default rules of racks could not be kept."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.floor.rack_rules import keys_without_racks, parts_of, rule_of
from fabopt.schema.case import Case
from fabopt.schema.default_rules import DEFAULT_RULES, RACK_RULES, RACK_SPREAD
from fabopt.solution.rules_kept import NO_DESIGN, NOT_IN_TIME


def rack_notes(asked: Case, answered: Case, is_over: bool) -> Iterator[str]:
    """Each rule that a case keeps, and each key of them that holds in what was asked and not in what is answered."""
    kept = parts_of(answered)
    for name in (RACK_RULES, RACK_SPREAD):
        keys = ", ".join(f"`{key}`" for key in kept if rule_of(key) == name)
        if keys:
            rule = DEFAULT_RULES[name]
            yield f"rule `{name}`: {rule.sentence}: {keys} ({rule.anchor})"
    if without := keys_without_racks(asked):
        keys = ", ".join(f"`{key}`" for key in without)
        yield f"`site.rack_rules`: without a floor {keys} has no effect: racks are those of `site.floor`"
    for key in parts_of(asked):
        if key not in kept:
            why = NOT_IN_TIME if is_over else NO_DESIGN
            yield f"rule `{rule_of(key)}`: `site.rack_rules.{key}` is not kept: {why}"
