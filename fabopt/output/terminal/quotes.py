"""The lines of a quote, on a terminal: matched ones, others with the reasons, and how the columns were read.

The findings of an audit of a quote, in words for a terminal and a workbook, and as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from rich.console import RenderableType, group
from rich.text import Text

from fabopt.inspect.quote_audit import QuoteFinding, QuoteSums, verdict
from fabopt.output.terminal.summary import left_out, table
from fabopt.output.words import json_bytes, listed, money, plain, printable
from fabopt.parts.quotes import LineStatus, Quote, QuoteLine
from fabopt.schema.design import Design, Number
from fabopt.units import some

_MATCHED = (
    ("row", True),
    ("part", False),
    ("product", False),
    ("m", True),
    ("quantity", True),
    ("unit price", True),
    ("weeks", True),
)
_OTHERS = (("row", True), ("part", False), ("quantity", True), ("price", True), ("why", False))
# Lines and sentences of a kind that a terminal shows; files have all.
MOST_LINES = 1_000
_TITLES: tuple[tuple[LineStatus, str], ...] = (
    ("left over", "Left over: a price that is not in the book"),
    ("unpriced", "Without a price"),
    ("charge", "Charges: what a case's `charges` hold, and no price book"),
)


@group()
def quote_report(quote: Quote) -> Iterator[RenderableType]:
    """A quote's lines, columns not read, doubts and notes."""
    yield Text(printable(headline_of_quote(quote)), style="bold")
    several = len({line.sheet for line in quote.lines}) > 1
    if lines := quote.with_status("matched"):
        yield table(_MATCHED, [_matched_row(quote, line, several) for line in lines[:MOST_LINES]])
        yield from left_out(len(lines), MOST_LINES, "line", "--json has all")
    for status, title in _TITLES:
        if lines := quote.with_status(status):
            yield _title(title)
            yield table(_OTHERS, [_other_row(line, several) for line in lines[:MOST_LINES]])
            yield from left_out(len(lines), MOST_LINES, "line", "--json has all")
    doubts = [f"{_place(line, several)}: {doubt}" for line in quote.lines for doubt in line.doubts]
    yield from _paragraphs("In doubt: ask before you rely on it", [*doubts, *quote.doubts])
    remarks = [f"{_place(line, several)}: {remark}" for line in quote.lines for remark in line.remarks
               if remark not in line.doubts]  # fmt: skip
    yield from _paragraphs("How lines were read", remarks)
    yield from _paragraphs("Notes", [*quote.notes, *_columns_not_read(quote)])


def headline_of_quote(quote: Quote) -> str:
    """Counts of lines by status; the day until which they are valid."""
    counts = {status: len(quote.with_status(status)) for status in ("matched", "left over", "unpriced")}
    charges = len(quote.with_status("charge"))
    lines = sum(counts.values()) + charges
    ends = f"; valid until {quote.valid_until}" if quote.valid_until else ""
    said = [f"{number} {status}" for status, number in counts.items() if number or status == "matched"]
    said += [some(charges, "charge")] if charges else []
    return f"{quote.file}: {some(lines, 'line')}, {listed(said)}{ends}"


def _title(title: str) -> Text:
    return Text(f"\n{title}", style="bold cyan")


def _paragraphs(title: str, lines: Iterable[str]) -> Iterator[RenderableType]:
    lines = list(lines)
    if lines:
        yield _title(title)
        yield from (Text(printable(f"  {line}")) for line in lines[:MOST_LINES])
        yield from left_out(len(lines), MOST_LINES, "line", "--json has all")


def _place(line: QuoteLine, several: bool) -> str:
    return f"{line.sheet} row {line.row}" if several else f"row {line.row}"


def _row_name(line: QuoteLine, several: bool) -> str:
    return f"{line.sheet} {line.row}" if several else str(line.row)


def _matched_row(quote: Quote, line: QuoteLine, several: bool) -> list[str]:
    return [
        _row_name(line, several),
        printable(line.part or line.description),
        line.id,
        "" if line.length_m is None else plain(line.length_m),
        "" if line.quantity is None else f"{line.quantity:,}",
        money(quote.unit_usd(line) or 0),
        "" if line.lead_time_weeks is None else plain(line.lead_time_weeks),
    ]


def _other_row(line: QuoteLine, several: bool) -> list[str]:
    price = "" if line.unit_price is None else f"{line.currency} {plain(float(line.unit_price))}".strip()
    hint = f"; did you mean {line.suggestion}?" if line.suggestion and line.suggestion not in line.reason else ""
    return [
        _row_name(line, several),
        printable(line.part or line.description),
        "" if line.quantity is None else f"{line.quantity:,}",
        price,
        printable(line.reason + hint),
    ]


def _columns_not_read(quote: Quote) -> Iterator[str]:
    for columns in quote.tables:
        if columns.not_read:
            yield f"columns of {columns.sheet} row {columns.row} that are not read: {', '.join(columns.not_read)}"


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


@group()
def audit_report(audit: QuoteAudit) -> Iterator[RenderableType]:
    """An audit for a terminal."""
    yield Text(printable(headline_of_audit(audit)), style="bold")
    yield from (Text(printable(f"  {label}: {text}")) for label, text in summary_lines(audit)[1:])
    if audit.findings:
        several = len({finding.sheet for finding in audit.findings if finding.row is not None}) > 1
        yield table(_COLUMNS, [_row(finding, several) for finding in audit.findings])


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
