"""The lines of a quote, on a terminal: matched ones, others with the reasons, and how the columns were read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from fabopt.output.terminal.summary import table
from fabopt.output.words import listed, money, plain, printable
from fabopt.parts.quotes import LineStatus, Quote, QuoteLine
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


def quote_report(quote: Quote) -> RenderableType:
    """Return a quote's lines, columns not read, doubts and notes."""
    return Group(*_blocks(quote))


def _blocks(quote: Quote) -> Iterator[RenderableType]:
    yield Text(printable(headline_of_quote(quote)), style="bold")
    several = len({line.sheet for line in quote.lines}) > 1
    if lines := quote.with_status("matched"):
        yield table(_MATCHED, [_matched_row(quote, line, several) for line in lines[:MOST_LINES]])
        yield from _more(len(lines))
    for status, title in _TITLES:
        if lines := quote.with_status(status):
            yield _title(title)
            yield table(_OTHERS, [_other_row(line, several) for line in lines[:MOST_LINES]])
            yield from _more(len(lines))
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
        yield from _more(len(lines))


def _more(number: int) -> Iterator[RenderableType]:
    if number > MOST_LINES:
        yield Text(f"and {some(number - MOST_LINES, 'line')} more; --json has all", style="dim")


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
