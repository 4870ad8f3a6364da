"""What sellers ask of an order of a part: how many units at which price, from where, by when, and for what work."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from fabopt.units import ceil_div


class Piece(NamedTuple):
    """Orders of one break: number of the break, fewest and most packs (None: any number)."""

    price_break: int
    fewest: int
    most: int | None


class OrderSizes(NamedTuple):
    """Sizes of orders. ``starts``: first quantity of each break; ``incremental``: a break's price is paid for the units
    from its first on, not for all; an order has ``minimum`` units at least, in whole packs of ``pack``.
    """

    starts: tuple[int, ...] = (1,)
    incremental: bool = False
    minimum: int = 1
    pack: int = 1

    @property
    def are_any(self) -> bool:
        """Whether any number of units is sold."""
        return max(self.minimum, self.pack) == 1

    def pieces(self) -> Iterator[Piece]:
        """The breaks at which an order can be, in packs: rule ``orders_are_whole``."""
        ends = [start - 1 for start in self.starts[1:]]
        for price_break, start in enumerate(self.starts):
            fewest = ceil_div(max(start, self.minimum), self.pack)
            most = ends[price_break] // self.pack if price_break < len(ends) else None
            if most is None or most >= fewest:
                yield Piece(price_break, fewest, most)

    def break_of(self, units: int) -> int:
        """The break that an order of ``units`` reaches."""
        return bisect_right(self.starts, max(1, units)) - 1

    def base_at(self, prices: Sequence[int], price_break: int) -> int:
        """Cents of an order at a break on top of its units, at unit ``prices`` by break; 0 unless breaks are
        incremental.
        """
        if not self.incremental:
            return 0
        steps = zip(pairwise(self.starts[: price_break + 1]), prices[:price_break], strict=True)
        before = sum((end - start) * price for (start, end), price in steps)
        return before - (self.starts[price_break] - 1) * prices[price_break]

    def cost_at(self, prices: Sequence[int], units: int) -> int:
        """Cents of one order at unit ``prices`` by break."""
        if units == 0:
            return 0
        price_break = self.break_of(units)
        return self.base_at(prices, price_break) + units * prices[price_break]


class ItemSupply(NamedTuple):
    """Where units are. ``stock``: there already and free; ``in_stock``: the vendor's, for which it is never too late;
    ``rationed``: its maker's supply a quarter is limited.
    """

    stock: int = 0
    in_stock: int = 0
    rationed: bool = False


class LeadTimes(NamedTuple):
    """Weeks from an order to its delivery, None where they are not known. ``soonest``: of an expedited order;
    ``matters``: the date of an order does.
    """

    weeks: float | None = None
    soonest: float | None = None
    matters: bool = False


class SoldBy(NamedTuple):
    """Of whom a part is. ``vendor``: its maker, if one is named; ``seller``: the vendor of the offer, else the maker;
    ``sourced``: a rule distinguishes makers of the kind; ``counted``: part numbers of the kind are limited.
    """

    vendor: str = ""
    seller: str = ""
    sourced: bool = False
    counted: bool = False


class OrderTime(NamedTuple):
    """Whether an order for a stage comes in time: it is ``late``, or ``closed`` even to an expedited one, in some
    future; ``from_stock``: closed as the stages are planned, so that any order is of the vendor's stock.
    ``expedite_cents``: the surcharge in its prices (None: there is none).
    """

    late: bool = False
    closed: bool = False
    from_stock: bool = False
    expedite_cents: int | None = None


IN_TIME = OrderTime()
