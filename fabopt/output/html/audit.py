"""The page of an audit of a design made by hand: findings by rule, and its cost beside the best design's."""

from __future__ import annotations

from fabopt.inspect.audit.audit import Audit
from fabopt.inspect.audit.tables import RULES, verdict
from fabopt.output.html.rendering import render
from fabopt.output.terminal.audit import COST_COLUMNS, cost_rows, kind_words, numbers_words
from fabopt.schema.version import VERSION


def audit_page(audit: Audit) -> bytes:
    """Return the page as HTML, the same bytes for the same input."""
    return render(
        "audit.html",
        version=VERSION,
        audit=audit,
        verdict=verdict(audit.findings),
        numbers=numbers_words(audit),
        findings=[
            (kind_words(finding.kind, finding.severity), RULES[finding.kind], finding.text)
            for finding in audit.findings
        ],
        costs=list(cost_rows(audit)),
        titles=[title for title, _ in COST_COLUMNS],
        reasons=audit.cost.reasons() if audit.cost is not None else [],
    )
