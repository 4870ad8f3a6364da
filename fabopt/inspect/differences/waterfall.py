"""Why one side costs more than another: causes that add up to the cent, and the lines of the bill that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from fabopt.design.shares import Part, part_of
from fabopt.inspect.differences.sides import Compared, Ordered, parts_of
from fabopt.schema.design import BomRow
from fabopt.units import cents, rounded

Cause = Literal["prices", "terms", "case", "design", "charges"]
ORDER: tuple[Cause, ...] = ("prices", "terms", "case", "design", "charges")
NOTHING = Ordered()
# What keys of a case add to a bill beside its design, and the key.
STOCK, SPARES, SERVERS = "have", "procurement.spares", "include_servers"


class Reason(NamedTuple):
    """A cause of a difference in purchase price: ``what`` is a kind of part, a key of the case or the name of a
    charge; empty for terms.
    """

    cause: Cause
    what: str
    cents: int


class BillChange(NamedTuple):
    """A part of which two bills have different units or prices; ``row``: a line that has it."""

    part: Part
    row: BomRow
    before: Ordered
    after: Ordered


def waterfall(a: Compared, b: Compared) -> tuple[Reason, ...]:
    """Causes of the price of ``b`` less that of ``a``, which add up to it exactly.

    Of a part that both buy: the change of its price times the units of ``a``; the rest is due to its units. Of those,
    spares, units from stock and servers are due to the case where its key for them differs; what price breaks and
    surcharges add is due to terms.
    """
    keys = {key for key in (STOCK, SPARES, SERVERS) if _value(a, key) != _value(b, key)}
    at_orders = a.offer is not None or b.offer is not None
    sums: Counter[tuple[Cause, str]] = Counter()
    for part in parts_of((a, b)):
        before, after = (side.bought.get(part, NOTHING) for side in (a, b))
        for step in _of_part(part[0], before, after, keys, at_orders):
            sums[step.cause, step.what] += step.cents
    for side, sign in ((a, -1), (b, 1)):
        for row in side.rows:
            if row.kind == "other":
                sums["charges", row.id] += sign * cents(row.total_usd)
    steps = (Reason(*key, amount) for key, amount in sums.items() if amount)
    return tuple(sorted(steps, key=lambda step: ORDER.index(step.cause)))


def _value(side: Compared, key: str) -> Any:
    content: Any = side.design.case.content
    for word in key.split("."):
        content = (content or {}).get(word)
    return content or None


def _of_part(kind: str, before: Ordered, after: Ordered, keys: Collection[str], at_orders: bool) -> Iterator[Reason]:
    """The causes of a part.

    ``keys``: those of the case that differ; ``at_orders``: prices of whole orders are compared, as a quote has no
    other.
    """
    if at_orders:
        before, after = (bought._replace(list_cents=bought.cents) for bought in (before, after))
    old, new = (Fraction(bought.list_cents, bought.units) if bought.units else None for bought in (before, after))
    prices = Fraction(0) if old is None or new is None else before.units * (new - old)
    yield Reason("prices", kind, rest := rounded(prices))
    yield Reason("terms", "", terms := (after.cents - after.list_cents) - (before.cents - before.list_cents))
    rest += terms
    price = (new if new is not None else old) or Fraction(0)
    of_case = {SPARES: after.spares - before.spares, STOCK: before.from_stock - after.from_stock}
    for key, units in of_case.items():
        if key in keys:
            yield Reason("case", key, amount := rounded(units * price))
            rest += amount
    is_of_case = kind == "server" and SERVERS in keys
    yield Reason("case" if is_of_case else "design", SERVERS if is_of_case else kind, after.cents - before.cents - rest)


def bill_changes(a: Compared, b: Compared) -> tuple[BillChange, ...]:
    """The parts of which two bills have different units or prices, in the bill's order."""
    rows = {part_of(row): row for side in (b, a) for row in side.rows}
    pairs = ((part, a.bought.get(part, NOTHING), b.bought.get(part, NOTHING)) for part in parts_of((a, b)))
    return tuple(
        BillChange(part, rows[part], before, after)
        for part, before, after in pairs
        if (before.units, before.cents, before.from_stock) != (after.units, after.cents, after.from_stock)
    )
