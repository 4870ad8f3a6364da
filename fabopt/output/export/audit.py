"""An audit of a design made by hand as files: JSON whole, CSV with a row for each finding."""

from __future__ import annotations

from dataclasses import asdict

from fabopt.inspect.audit.audit import Audit
from fabopt.inspect.audit.tables import RULES
from fabopt.output.export.spreadsheet import printable_csv
from fabopt.output.words import json_bytes
from fabopt.schema.design import Design

AUDIT_COLUMNS = ("kind", "severity", "where", "value", "allowed", "line", "usd", "text")


def audit_json(audit: Audit, best: Design | None) -> bytes:
    """Return everything as JSON. ``best``: the best design of the case; None where none was looked for."""
    content = {
        "ok": audit.ok,
        "file": audit.hand.file,
        "as": audit.hand.kind,
        "findings": [
            {**asdict(finding), "severity": finding.severity, "rule": RULES[finding.kind]} for finding in audit.findings
        ],
        "numbers": dict(audit.numbers),
        "cost": _cost(audit),
        "best": None if best is None else _best(best),
        "notes": list(audit.notes),
    }
    return json_bytes(content)


def _cost(audit: Audit) -> dict[str, object] | None:
    cost = audit.cost
    if cost is None:
        return None
    sums = {"usd": cost.usd, "best_usd": cost.best_usd, "above_usd": cost.above_usd}
    return sums | {"rows": [row._asdict() for row in cost.rows], "reasons": cost.reasons()}


def _best(best: Design) -> dict[str, object]:
    capex = None if best.totals is None else best.totals.capex_usd
    return {"status": best.status, "capex_usd": capex, "bound": best.objective.bound}


def audit_csv(audit: Audit) -> bytes:
    """Return a table with ``AUDIT_COLUMNS``, a row for each finding."""
    return printable_csv(
        AUDIT_COLUMNS, ([getattr(finding, name) for name in AUDIT_COLUMNS] for finding in audit.findings)
    )
