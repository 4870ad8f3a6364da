"""An audit of a design made by hand for a terminal: findings by rule, cost beside the best design's, the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType, group
from rich.text import Text

from fabopt.inspect.audit.audit import Audit
from fabopt.inspect.audit.tables import verdict
from fabopt.output.terminal.summary import left_out, table
from fabopt.output.words import count, money, printable
from fabopt.units import plural

# Lines of findings that a terminal shows; files have all.
MOST_LINES = 60
COST_COLUMNS = (
    ("parts", False),
    ("by hand", True),
    ("USD", True),
    ("best design", True),
    ("USD", True),
    ("more", True),
)


@group()
def audit_of_hand_made_report(audit: Audit) -> Iterator[RenderableType]:
    """Findings, costs, notes and the verdict."""
    yield Text(printable(f"{audit.hand.file}: {numbers_words(audit)}"))
    if audit.findings:
        rows = [[kind_words(finding.kind, finding.severity), finding.text] for finding in audit.findings[:MOST_LINES]]
        yield table((("rule", False), ("finding", False)), rows)
    yield from left_out(len(audit.findings), MOST_LINES, "finding")
    yield from _cost(audit)
    yield from (Text(f"note: {printable(note)}") for note in audit.notes)
    yield Text(printable(headline_of_hand_made(audit)), style=f"bold {'green' if audit.ok else 'red'}")


def kind_words(kind: str, severity: str) -> str:
    """``A3``; ``A14 (remark)``."""
    return kind if severity == "fault" else f"{kind} ({severity})"


def headline_of_hand_made(audit: Audit) -> str:
    """The verdict on a design made by hand, in one line."""
    return f"{audit.hand.file}: {verdict(audit.findings)}"


def numbers_words(audit: Audit) -> str:
    """``127 servers, 32 leaves, 16 spines, 2,044 links``."""
    return ", ".join(f"{count(number)} {_noun(name, number)}" for name, number in audit.numbers)


def _noun(name: str, number: int) -> str:
    if name not in ("server", "attachment", "leaf", "spine", "core", "links"):
        return name.replace("_", " ")
    word = name.removesuffix("s")
    return word if number == 1 else plural(word)


def _cost(audit: Audit) -> Iterator[RenderableType]:
    cost = audit.cost
    if cost is None:
        return
    rows = [[*cells] for cells in cost_rows(audit)]
    yield table(COST_COLUMNS, rows, total=True)
    for reason in cost.reasons():
        yield Text(f"  why: {printable(reason)}")


def cost_rows(audit: Audit) -> Iterator[tuple[str, ...]]:
    """Rows of ``COST_COLUMNS``, the last the sums."""
    cost = audit.cost
    if cost is None:
        return
    for row in cost.rows:
        numbers = (count(row.quantity), money(row.usd), count(row.best_quantity), money(row.best_usd))
        yield plural(row.kind), *numbers, money(round(row.usd - row.best_usd, 2))
    yield "all", "", money(cost.usd), "", money(cost.best_usd), money(cost.above_usd)
