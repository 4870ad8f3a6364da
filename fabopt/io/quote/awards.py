"""Awards in a returned request for quotes: the vendors asked, and the units bought of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fabopt.io.quote.sheets import Sheet
from fabopt.parts.quotes import REQUEST_SHEET, VENDOR_ASKED, QuoteLine


def vendor_asked(sheets: Iterable[Sheet]) -> str:
    """Whom a request asked, by its sheet of facts; empty where that is not said."""
    facts = next((sheet for sheet in sheets if sheet.name == REQUEST_SHEET), None)
    rows = facts.rows.values() if facts else ()
    texts = ([cell.text for _, cell in sorted(row.items())] for row in rows)
    return next((row[1] for row in texts if len(row) > 1 and row[0] == VENDOR_ASKED), "")


def with_awards(lines: Sequence[QuoteLine]) -> tuple[QuoteLine, ...]:
    """The lines with awarded units, if any were awarded: other lines are then no offers."""
    if not any(line.awarded for line in lines):
        return tuple(replace(line, awarded=None) for line in lines)
    return tuple(
        replace(line, status="unpriced", reason="nothing of it is awarded", id="", length_m=None, suggestion=line.id)
        if line.status == "matched" and not line.awarded
        else line
        for line in lines
    )
