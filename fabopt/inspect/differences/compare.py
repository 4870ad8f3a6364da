"""Sides held against the first: differences of all, and what separates each from the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from fabopt.design.shares import Part, part_of, units_of
from fabopt.inspect.differences.cables import Changes, cable_changes
from fabopt.inspect.differences.figures import Difference, Fact, Name, differences
from fabopt.inspect.differences.sides import Compared, Ordered, parts_of
from fabopt.schema.design import BomRow
from fabopt.units import cents, rounded
from fabopt.verify.wiring import MOST_LINKS
from fabopt.wiring.model import Wiring, wiring_at

# -- why one side costs more than another -----------------------------------------------------------------------------
# Why one side costs more than another: causes that add up to the cent, and the lines of the bill that differ.


Cause = Literal["prices", "terms", "case", "design", "charges"]
ORDER: tuple[Cause, ...] = ("prices", "terms", "case", "design", "charges")
NOTHING = Ordered()
# What keys of a case add to a bill beside its design, and the key.
STOCK, IN_SERVICE, SPARES, SERVERS = "have", "base", "procurement.spares", "include_servers"


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
    spares, units from stock or in service, and servers are due to the case where its key for them differs; what price
    breaks and surcharges add is due to terms.
    """
    keys = {key for key in (STOCK, IN_SERVICE, SPARES, SERVERS) if _value(a, key) != _value(b, key)}
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
    of_case = {SPARES: after.spares - before.spares, STOCK: before.from_stock - after.from_stock,
               IN_SERVICE: before.in_service - after.in_service}  # fmt: skip
    for key, units in of_case.items():
        if key in keys:
            yield Reason("case", key, amount := rounded(units * price))
            rest += amount
    is_of_case = kind == "server" and SERVERS in keys
    yield Reason("case" if is_of_case else "design", SERVERS if is_of_case else kind, after.cents - before.cents - rest)


def bill_changes(a: Compared, b: Compared) -> tuple[BillChange, ...]:
    """The parts of which two bills have different units or prices, in the bill's order.

    What ``b`` goes on from is paid: its units are in service.
    """
    rows = {part_of(row): row for side in (b, a) for row in side.rows}
    before = a.bought
    if b.base is not None and b.goes_on_from(a):
        before = {part: Ordered(in_service=units_of(b.base.owned, part)) for part in before}
    pairs = ((part, before.get(part, NOTHING), b.bought.get(part, NOTHING)) for part in parts_of((a, b)))
    return tuple(BillChange(part, rows[part], old, new) for part, old, new in pairs if _counted(old) != _counted(new))


def _counted(bought: Ordered) -> tuple[int, ...]:
    return bought.units, bought.cents, bought.from_stock, bought.in_service


# -- sides held against the first -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Against:
    """A side against the first one: causes of its price, lines of the bill, and cables by place.

    ``cables`` is None where they cannot be listed: of a quote, or of a fabric with too many links.
    """

    side: Compared
    steps: tuple[Reason, ...]
    bill: tuple[BillChange, ...]
    cables: Mapping[str, Changes] | None


@dataclass(frozen=True)
class Contrast:
    """Two to four sides; ``rows``: what is not the same on all."""

    sides: tuple[Compared, ...]
    rows: tuple[Difference, ...]
    against: tuple[Against, ...]

    @property
    def is_equal(self) -> bool:
        """Whether no two sides differ."""
        return not self.rows and not any(other.steps or other.bill for other in self.against)


def contrast(sides: Sequence[Compared], wired: Callable[[Compared], Wiring | None]) -> Contrast:
    """Compare sides with the first of them. ``wired``: the wiring of all stages of a side; None of a file that
    does not hold together.
    """
    first = sides[0]
    against = tuple(
        Against(side, waterfall(first, side), bill_changes(first, side), _cables(first, side, wired))
        for side in sides[1:]
    )
    result = Contrast(tuple(sides), differences(sides), against)
    others = _of_wiring(sides) if result.is_equal else None
    return result if others is None else Contrast(result.sides, (others,), against)


def _cables(a: Compared, b: Compared, wired: Callable[[Compared], Wiring | None]) -> Mapping[str, Changes] | None:
    if a.offer is not None or b.offer is not None or not all(map(_can_be_listed, (a, b))):
        return None
    before, after = wired(a), wired(b)
    if before is None or after is None:
        return None
    pays_moves = b.goes_on_from(a) and any(fabric.moves is not None for fabric in b.design.fabrics)
    return cable_changes(wiring_at(before, a.stage), wiring_at(after, b.stage), pays_moves)


def _can_be_listed(side: Compared) -> bool:
    return sum(row.count for fabric in side.design.fabrics for row in fabric.links) <= MOST_LINKS


def _of_wiring(sides: Sequence[Compared]) -> Difference | None:
    """What no figure tells: other links or places at equal figures, of files by the same rules."""
    if len({side.design.rules for side in sides}) > 1:
        return None
    facts = [side.design.model_dump(mode="json", include={"fabrics", "floor", "single_points_of_failure"})
             for side in sides]  # fmt: skip
    alike = [facts.index(own) for own in facts]
    figures = tuple(Fact("as in A" if number == 0 else "others", "text", "") for number in alike)
    return Difference(Name("network", "", "links and places"), figures, ()) if any(alike) else None
