"""`fabopt quote audit`: a quote against a design's bill and the best design on the same prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path, PurePath

from rich.text import Text

from fabopt.cli.evidence import proven, require_found, saved_design
from fabopt.cli.output import check_targets, deliver_all, engines_silenced, say
from fabopt.cli.progress import progress_shown
from fabopt.cli.quotes import catalog_of_design
from fabopt.cli.solving import WITHOUT_DESIGN, SolveRequest
from fabopt.errors import EXIT_CHECK_FAILED, EXIT_DONE, NoAnswerError, fault, refusal
from fabopt.inspect.quote_audit import QuoteComparison, QuoteFinding, compared
from fabopt.inspect.quote_optimum import best_on_prices
from fabopt.io.faults import refuse, refuse_any
from fabopt.io.library import STANDARD_STREAM, make_folder, write_whole
from fabopt.io.quote.reading import QuoteOptions, read_quote
from fabopt.output.export.redline import findings_csv, redline_bytes
from fabopt.output.export.requests import RequestTerms, requests_of
from fabopt.output.terminal.quotes import (
    QuoteAudit,
    audit_bytes,
    audit_report,
    headline_of_audit,
    proof_of,
    summary_lines,
)
from fabopt.output.words import money, printable
from fabopt.parts.quotes import LineStatus, Quote, book_of, known_prices, with_band
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Design
from fabopt.solution.quotes import ends_early
from fabopt.units import some


@dataclass(frozen=True)
class AuditRequest:
    """An audit of a quote, and its output files.

    ``solve``: how the best design is looked for; its case is the design file. ``point``: of a sweep or front, from 1.
    """

    quote: str
    options: QuoteOptions
    solve: SolveRequest
    point: int | None = None
    redline: str | None = None
    json: str | None = None
    findings: str | None = None


def audit_quote(request: AuditRequest) -> int:
    """Compare a quote with a design, write the files asked for; the exit code says whether there are faults."""
    _check_targets(request)
    path = request.solve.case
    design = proven(_designed(path, request.point), path, unchecked=False).design
    catalog, found_whole = catalog_of_design(design, request.solve.catalogs)
    quote, faults = read_quote(request.quote, catalog, request.options)
    if faults and not quote.with_status("matched"):
        raise refuse(faults)
    quote = with_band(quote, known_prices(catalog, design.parts), request.options.band)
    comparison = compared(quote, design, catalog)
    notes = [*quote.notes, *_left_out(quote)]
    best = _best(request.solve, design, catalog, quote) if found_whole else None
    if not found_whole:
        notes.append("the best design was not looked for: not all catalogs of the case are found; --catalog names them")
    elif not quote.with_status("matched"):
        notes.append("the best design was not looked for: no line of the quote has a price that is taken")
    elif best is None:
        notes.append("the best design on the same prices is not known: none was found in time")
    comparison = replace(comparison, findings=(*comparison.findings, *_ends_early(quote, design),
                                               *_above_best(comparison, best)))  # fmt: skip
    audit = QuoteAudit(quote.file, path, comparison.findings, comparison.sums, best, tuple(notes))
    _deliver(request, audit, quote, comparison)
    return EXIT_DONE if audit.ok else EXIT_CHECK_FAILED


def _check_targets(request: AuditRequest) -> None:
    if request.redline is not None and PurePath(request.redline).suffix.lower() != ".xlsx":
        raise refusal(request.redline, "", "a redlined quote is a workbook", allowed=".xlsx")
    check_targets([request.redline, request.json, request.findings])


def _designed(path: str, point: int | None) -> Design:
    design = saved_design(path, point)
    require_found(design, path, " to hold a quote against")
    return design


def _best(request: SolveRequest, design: Design, catalog: Catalog, quote: Quote) -> Design | None:
    """The cheapest design on the quote's prices; None if none was found in time."""
    clock = request.clock()
    if not quote.with_status("matched"):
        return None
    book = book_of(quote, None, quote.file)
    try:
        with progress_shown(limit_s=request.time_limit_s) as progress, engines_silenced():
            best = best_on_prices(design, catalog, book, request.engine, clock, progress.say)
    except (NoAnswerError, KeyboardInterrupt):
        return None
    return best if best.totals is not None else None


def _above_best(comparison: QuoteComparison, best: Design | None) -> list[QuoteFinding]:
    """The finding that the quote costs more than the best design on its prices, if it does."""
    if best is None or best.totals is None:
        return []
    completed = comparison.sums.completed_usd
    above = round(completed - best.totals.capex_usd, 2)
    if above <= 0:
        return []
    what = "this quote with what is missing" if comparison.sums.missing_usd else "this quote"
    text = (
        f"{what} is {money(above)} above the best design on the same prices "
        f"({money(completed)} against {money(best.totals.capex_usd)}, {proof_of(best)})"
    )
    return [QuoteFinding("above-best", text, usd=above)]


def _ends_early(quote: Quote, design: Design) -> list[QuoteFinding]:
    """Remarks on parts that have to be ordered after their prices have ended."""
    days = {line.id: line.valid_until or quote.valid_until for line in quote.with_status("matched")}
    warnings = (
        ends_early("the quote", end, [row for row in design.bom if row.quantity and days.get(row.id) == end])
        for end in sorted({end for end in days.values() if end is not None})
    )
    return [QuoteFinding("ends-early", text, "remark") for text in warnings if text]


def _left_out(quote: Quote) -> Iterator[str]:
    """Notes on the sum of priced lines that are in no total."""
    kinds: tuple[tuple[LineStatus, str, str], ...] = (
        ("left over", "not matched, and in no sum", "line"),
        ("charge", "charges, which are in no sum", "charge"),
    )
    for status, what, line_name in kinds:
        dollars = [usd for line in quote.with_status(status) if (usd := quote.line_usd(line)) is not None]
        if dollars:
            yield f"{what}: {some(len(dollars), line_name)} with {money(round(sum(dollars), 2))} in all"


def _deliver(request: AuditRequest, audit: QuoteAudit, quote: Quote, comparison: QuoteComparison) -> None:
    files = (
        (request.redline, lambda: redline_bytes(quote, comparison, summary_lines(audit))),
        (request.findings, partial(findings_csv, audit.findings)),
        (request.json, partial(audit_bytes, audit)),
    )
    deliver_all(files, partial(audit_report, audit), headline_of_audit(audit))


# -- `fabopt quote request` -------------------------------------------------------------------------------------------
# `fabopt quote request`: the purchases of a design, as files that ask its makers or other vendors for quotes.


def request_quotes(path: str, folder: str, vendors: Sequence[str], terms: RequestTerms, point: int | None) -> int:
    """Write the requests for quotes of a proven design into a folder."""
    _check_request(folder, vendors, terms)
    design = proven(saved_design(path, point), path, unchecked=False).design
    if design.status in WITHOUT_DESIGN or not design.bom:
        raise refusal(
            path,
            "status",
            "there is no bill here to ask for",
            design.status,
            allowed="a design that was found (status optimal or feasible), with something to buy",
        )
    target = make_folder(Path(folder))
    requests = list(requests_of(design, vendors, terms))
    for request in requests:
        write_whole(target / request.name, request.data)
    asked = (f"  {request.name}: {request.vendor}, {some(request.lines, 'line')}" for request in requests)
    say(
        Text(printable("\n".join((f"{some(len(requests), 'request')} in {folder}, revision {terms.revision}", *asked))))
    )
    return EXIT_DONE


def _check_request(folder: str, vendors: Sequence[str], terms: RequestTerms) -> None:
    faults = []
    if folder == STANDARD_STREAM:
        faults.append(fault("-o", "", "requests are several files; name a folder", folder))
    faults += [fault("--vendor", "", "a vendor has a name", name) for name in vendors if not name.strip()]
    if len(set(vendors)) < len(vendors):
        faults.append(fault("--vendor", "", "a vendor is asked once", ", ".join(vendors)))
    if terms.due is not None:
        try:
            date.fromisoformat(terms.due)
        except ValueError:
            faults.append(fault("--due", "", "not a day", terms.due, allowed="a day such as 2026-12-31"))
    refuse_any(faults)
