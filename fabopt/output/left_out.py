"""Default rules that a design is without, in words."""

from __future__ import annotations

from collections.abc import Iterable

from fabopt.schema.left_out import RuleLeftOut
from fabopt.units import some

TITLE = "Default rules left out"
COLUMN = "rules left out"


def left_out_claim(rows: Iterable[RuleLeftOut]) -> str:
    """How many parts of default rules are left out, as the end of a sentence; empty where there are none."""
    number = len(tuple(rows))
    return f", {some(number, 'rule')} left out" if number else ""


def left_out_lines(rows: Iterable[RuleLeftOut]) -> list[str]:
    """Each part that is left out, by the key that turns it off, and why."""
    return [f"{left_out_name(row)}: {row.why}" for row in rows]


def left_out_name(row: RuleLeftOut) -> str:
    """A part that is left out: its key, and the fabric, if it is about one."""
    return f"{row.part} of {row.fabric}" if row.fabric else row.part


def left_out_cell(rows: Iterable[RuleLeftOut]) -> str:
    """What is left out, in a cell of a table."""
    return "; ".join(map(left_out_name, rows))
