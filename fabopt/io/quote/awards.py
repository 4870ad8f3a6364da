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
    return tuple(map(_with_award, lines))


def _with_award(line: QuoteLine) -> QuoteLine:
    """A line by its award: none is no offer; one that cannot be bought, or at no price, is doubted."""
    if not line.awarded:
        line = replace(line, doubts=())
        if line.status != "matched":
            return line
        reason = "nothing of it is awarded"
        return replace(line, status="unpriced", reason=reason, id="", length_m=None, suggestion=line.id)
    said = [f"{line.awarded:,} are awarded: no more is bought there"] if line.status == "matched" else []
    doubts = [f"{line.awarded:,} are awarded, and no price is stated"] if line.status == "unpriced" else []
    if line.status == "matched" and line.minimum_order is not None and line.awarded < line.minimum_order:
        doubts.append(f"its smallest order, {line.minimum_order:,}, is more than the {line.awarded:,} that are awarded")
    return replace(line, remarks=(*line.remarks, *said, *doubts), doubts=(*line.doubts, *doubts))
