"""Default rules that a design leaves out, in words."""

from __future__ import annotations

from collections.abc import Iterable

from fabopt.output.words import listed
from fabopt.rules.defaults import DEFAULT_RULES, NO_RULES
from fabopt.schema.design import Design
from fabopt.schema.left_out import RuleLeftOut
from fabopt.schema.resilience import NO_RULE
from fabopt.units import some

TITLE = "Default rules left out"
COLUMN = "rules left out"
# Rules switched off that are named; the rest is counted.
MOST_RULES = 6


def left_out_claim(rows: Iterable[RuleLeftOut]) -> str:
    """Count of the parts of default rules left out, as the end of a sentence; empty where there are none."""
    number = len(tuple(rows))
    return f", {some(number, 'rule')} left out" if number else ""


def left_out_lines(rows: Iterable[RuleLeftOut]) -> list[str]:
    """Each part of a rule left out, by the key that turns it off, and why."""
    return [f"{row.name}: {row.why}" for row in rows]


def left_out_cell(rows: Iterable[RuleLeftOut]) -> str:
    """Names of the rules left out, in a cell of a table."""
    return "; ".join(row.name for row in rows)


def kept_with(rule: str) -> str:
    """What would have to change so that a default rule can be kept."""
    known = DEFAULT_RULES.get(rule)
    return (known and known.kept_with) or "racks with more room"


def switched_off(design: Design) -> list[str]:
    """What a case turns off of the default rules, by the keys that do."""
    content = design.case.content
    rules = content.get("rules") or {}
    if rules == NO_RULES:
        words = ["all default rules but those of redundancy"]
    else:
        names = [name for name in DEFAULT_RULES if rules.get(name) is False]
        more = [f"{len(names) - MOST_RULES} more"] if len(names) > MOST_RULES else []
        words = [*names[:MOST_RULES], *more]
        words[:1] = [f"{'rule' if len(names) == 1 else 'rules'} {name}" for name in words[:1]]
    if content.get("resilience") == NO_RULE:
        return [*words, "redundancy"]
    bare = [str(fabric["name"]) for fabric in content.get("fabrics", ()) if fabric.get("resilience") == NO_RULE]
    return [*words, f"redundancy of {listed(bare)}"] if bare else words
