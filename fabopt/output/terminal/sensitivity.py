"""Price ranges on a terminal: a sentence and a table."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from fabopt.output.terminal.answer import metric_name, metric_value
from fabopt.output.terminal.summary import table
from fabopt.output.words import money, printable
from fabopt.schema.sensitivity import PriceRange, Sensitivity, Takeover
from fabopt.units import some

# Changes of a takeover that are shown; the file has them all.
MOST_CHANGES_SHOWN = 2
NOT_KNOWN = "not known"


def sensitivity_summary(found: Sensitivity) -> RenderableType:
    """Return the ranges at a glance."""
    return Group(*_blocks(found))


def sensitivity_headline(found: Sensitivity) -> str:
    """Say in one sentence what the answer is, and how many ranges are known."""
    known = some(len(found.ranges), "price range")
    proven = ", proven" if all(one.proven for one in found.ranges) else ", not all proven"
    proven = proven if found.ranges else ""
    value = metric_value(found.objective.metric, found.objective.value or 0)
    stopped = "" if found.complete else "; stopped before all were known"
    return f"{found.case.name}: {metric_name(found.objective.metric)} {value}, {known}{proven}{stopped}."


def _blocks(found: Sensitivity) -> Iterator[RenderableType]:
    yield Text(printable(sensitivity_headline(found)), style="bold")
    yield Text(printable(f"  {found.summary}"))
    yield Text()
    if found.ranges:
        columns = [("prices of", False), ("now", True), ("stays from", True), ("to", True), ("beyond", False)]
        yield table(columns, [_row(found, one) for one in found.ranges])
    yield Text(f"  Each row moves its prices alone; none: up to {found.most_factor:g} times today's.")
    for note in found.notes:
        yield Text(printable(f"note: {note}"))


def _row(found: Sensitivity, one: PriceRange) -> list[str]:
    name = f"every {one.kind}" if one.kind is not None else one.part or ""
    now = "" if one.unit_price_usd is None else money(one.unit_price_usd)
    low = "not known" if not one.low_known else "free" if one.low is None else _limit(one.factor_low, one.price_low_usd)
    high = (
        "not known"
        if not one.high_known
        else "none"
        if one.factor_high is None
        else _limit(one.factor_high, one.price_high_usd)
    )
    beyond = [_beyond(found, word, end) for word, end in (("below", one.low), ("above", one.high)) if end is not None]
    if not one.proven:
        beyond.append("not proven")
    return [name, now, low, high, "\n".join(beyond) or "nothing else"]


def _limit(factor: float, price: float | None) -> str:
    change = round(100 * (factor - 1), 1)
    words = f"{change:+,.1f} %" if change else "0 %"
    return words if price is None else f"{words}\n{money(price)}"


def _beyond(found: Sensitivity, word: str, end: Takeover) -> str:
    """What takes over, and what it costs more or less than today's answer."""
    if end.objective is None:
        return f"{word}: {end.summary}"
    shown = list(end.changes[:MOST_CHANGES_SHOWN])
    more = len(end.changes) - len(shown)
    shown += [f"{more} more changes"] if more > 0 else []
    return f"{word}: {'; '.join(shown)}, {metric_value(found.objective.metric, end.objective)}"
