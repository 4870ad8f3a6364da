"""The findings of an audit of a quote, in words for a terminal and a workbook, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from fabopt.inspect.quote_audit import QuoteFinding, QuoteSums, verdict
from fabopt.output.terminal.summary import table
from fabopt.output.words import json_bytes, money, printable
from fabopt.schema.design import Design, Number

_COLUMNS = (("row", True), ("finding", False), ("USD", True), ("what", False))


@dataclass(frozen=True)
class QuoteAudit:
    """A quote against a design.

    ``best``: the cheapest design on the same prices; None where none was looked for. ``notes``: caveats of the
    comparison.
    """

    quote: str
    design: str
    findings: tuple[QuoteFinding, ...]
    sums: QuoteSums
    best: Design | None
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no finding is a fault."""
        return all(finding.severity == "remark" for finding in self.findings)


def audit_report(audit: QuoteAudit) -> RenderableType:
    """Return an audit for a terminal."""
    blocks: list[RenderableType] = [Text(printable(headline_of_audit(audit)), style="bold")]
    blocks += [Text(printable(f"  {label}: {text}")) for label, text in summary_lines(audit)[1:]]
    if audit.findings:
        several = len({finding.sheet for finding in audit.findings if finding.row is not None}) > 1
        blocks.append(table(_COLUMNS, [_row(finding, several) for finding in audit.findings]))
    return Group(*blocks)


def headline_of_audit(audit: QuoteAudit) -> str:
    """The verdict on a quote against its design, in one line."""
    return f"{audit.quote} against {audit.design}: {verdict(audit.findings)}"


def summary_lines(audit: QuoteAudit) -> Sequence[tuple[str, str]]:
    """Label and text of each result of an audit; the first line is the headline."""
    return [("Audit", headline_of_audit(audit)), *_sums(audit), *(("Note", note) for note in audit.notes)]


def _sums(audit: QuoteAudit) -> Iterator[tuple[str, str]]:
    sums = audit.sums
    yield "Bill as planned", f"{money(sums.bill_usd)}, at the quote's prices {money(sums.bill_at_quote_usd)}"
    missing = f" + {money(sums.missing_usd)} that is missing = {money(sums.completed_usd)}" if sums.missing_usd else ""
    yield "Quoted", f"{money(sums.quoted_usd)}{missing}"
    if audit.best is not None and audit.best.totals is not None:
        best_usd = audit.best.totals.capex_usd
        above = round(sums.completed_usd - best_usd, 2)
        text = f": this quote is {money(above)} above it" if above > 0 else ""
        yield "Best design on the same prices", f"{money(best_usd)}, {proof_of(audit.best)}{text}"


def proof_of(best: Design) -> str:
    """Whether a design is proven to be the best, or its gap."""
    if best.status == "optimal":
        return "proven optimal"
    bound = best.objective.bound
    return "the best found in time" + (f", none costs less than {money(bound)}" if bound is not None else "")


def _row(finding: QuoteFinding, several: bool) -> list[str]:
    """A finding as a row of the table. ``several``: rows of several sheets, each with its sheet's name."""
    where = "" if finding.row is None else f"{finding.sheet} {finding.row}" if several else str(finding.row)
    kind = finding.kind if finding.severity == "fault" else f"{finding.kind} (remark)"
    return [where, kind, "" if finding.usd is None else money(finding.usd), printable(finding.text)]


def audit_bytes(audit: QuoteAudit) -> bytes:
    """Return an audit as JSON."""
    best = audit.best
    best_usd: Number | None = best.totals.capex_usd if best is not None and best.totals is not None else None
    sums = asdict(audit.sums) | {"completed_usd": audit.sums.completed_usd, "best_usd": best_usd}
    sums["above_best_usd"] = None if best_usd is None else round(audit.sums.completed_usd - best_usd, 2)
    content = {
        "ok": audit.ok,
        "quote": audit.quote,
        "design": audit.design,
        "findings": [asdict(finding) for finding in audit.findings],
        "sums": sums,
        "best": None if best is None else {"status": best.status, "capex_usd": best_usd, "bound": best.objective.bound},
        "notes": list(audit.notes),
    }
    return json_bytes(content)
