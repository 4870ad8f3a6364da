"""Default rules that a design leaves out, in words."""

from __future__ import annotations

from collections.abc import Iterable

from fabopt.rules.defaults import DEFAULT_RULES
from fabopt.schema.left_out import RuleLeftOut
from fabopt.units import some

TITLE = "Default rules left out"
COLUMN = "rules left out"


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
