"""Price ranges on a terminal: a sentence and a table."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType, group
from rich.text import Text

from fabopt.output.terminal.answer import metric_name, metric_value
from fabopt.output.terminal.summary import table
from fabopt.output.words import money, printable
from fabopt.schema.sensitivity import PriceRange, Sensitivity, Takeover
from fabopt.units import some

# Changes of a takeover that are shown; the file has them all.
MOST_CHANGES_SHOWN = 2


def sensitivity_headline(sensitivity: Sensitivity) -> str:
    """State the answer and the count of known ranges in one sentence."""
    known = some(len(sensitivity.ranges), "price range")
    proven = ", proven" if all(span.proven for span in sensitivity.ranges) else ", not all proven"
    proven = proven if sensitivity.ranges else ""
    value = metric_value(sensitivity.objective.metric, sensitivity.objective.value or 0)
    stopped = "" if sensitivity.complete else "; stopped before all were known"
    return f"{sensitivity.case.name}: {metric_name(sensitivity.objective.metric)} {value}, {known}{proven}{stopped}."


@group()
def sensitivity_summary(sensitivity: Sensitivity) -> Iterator[RenderableType]:
    """The ranges at a glance."""
    yield Text(printable(sensitivity_headline(sensitivity)), style="bold")
    yield Text(printable(f"  {sensitivity.summary}"))
    yield Text()
    if sensitivity.ranges:
        columns = [("prices of", False), ("now", True), ("stays from", True), ("to", True), ("beyond", False)]
        yield table(columns, [_row(sensitivity, span) for span in sensitivity.ranges])
    yield Text(f"  Each row moves its prices alone; none: up to {sensitivity.most_factor:g} times today's.")
    for note in sensitivity.notes:
        yield Text(printable(f"note: {note}"))


def _row(sensitivity: Sensitivity, span: PriceRange) -> list[str]:
    name = f"every {span.kind}" if span.kind is not None else span.part or ""
    price = "" if span.unit_price_usd is None else money(span.unit_price_usd)
    factor_low = None if span.low is None else span.factor_low
    low = _limit(factor_low, span.price_low_usd, "free") if span.low_known else "not known"
    high = _limit(span.factor_high, span.price_high_usd, "none") if span.high_known else "not known"
    beyond = [
        _beyond(sensitivity, word, end) for word, end in (("below", span.low), ("above", span.high)) if end is not None
    ]
    if not span.proven:
        beyond.append("not proven")
    return [name, price, low, high, "\n".join(beyond) or "nothing else"]


def _limit(factor: float | None, price: float | None, without: str) -> str:
    if factor is None:
        return without
    change = round(100 * (factor - 1), 1)
    words = f"{change:+,.1f} %" if change else "0 %"
    return words if price is None else f"{words}\n{money(price)}"


def _beyond(sensitivity: Sensitivity, word: str, end: Takeover) -> str:
    """The design that takes over, and its cost against today's answer."""
    if end.objective is None:
        return f"{word}: {end.summary}"
    shown = list(end.changes[:MOST_CHANGES_SHOWN])
    more = len(end.changes) - len(shown)
    shown += [f"{more} more changes"] if more > 0 else []
    return f"{word}: {'; '.join(shown)}, {metric_value(sensitivity.objective.metric, end.objective)}"
