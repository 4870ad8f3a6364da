"""Which parts of the default rules of racks an answer keeps."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.floor.rack_rules import keys_without_racks, parts_of, rule_of
from fabopt.schema.case import Case
from fabopt.schema.default_rules import DEFAULT_RULES, RACK_RULES, RACK_SPREAD


def rack_notes(asked: Case, answered: Case) -> Iterator[str]:
    """Each rule that a case keeps, with its keys that hold in what is answered."""
    kept = parts_of(answered)
    for name in (RACK_RULES, RACK_SPREAD):
        keys = ", ".join(f"`{key}`" for key in kept if rule_of(key) == name)
        if keys:
            rule = DEFAULT_RULES[name]
            yield f"rule `{name}`: {rule.sentence}: {keys} ({rule.anchor})"
    if without := keys_without_racks(asked):
        keys = ", ".join(f"`{key}`" for key in without)
        yield f"`site.rack_rules`: without a floor {keys} has no effect: racks are those of `site.floor`"
