"""An item: a product, or one length of it, with its price, power and terms of sale as exact integers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from fabopt.parts.finance import BorneCharge, Calendar, UnitCharge, amounts_of
from fabopt.parts.procurement import spares_of
from fabopt.schema.procurement import Spares
from fabopt.units import ceil_div

# Kinds of items that are cables.
CABLE_KINDS = ("cable", "fibre")


# Cents of a unit at each break, and their present values.
FuturePrices = tuple[tuple[int, ...], tuple[int, ...]]


class Offer(NamedTuple):
    """The price of an item at one stage, charges included: cents of a unit at each break, then their present values.

    ``bare``: cents and present values without charges; None: there are none. ``most``: most units bought by then (None:
    any number); ``late``: an order for it comes too late, ``closed``: even an expedited one, all of it in some future;
    ``from_stock``: even as the stages are planned, so that any order is of the vendor's stock. ``expedite_cents``: the
    surcharge in its prices (None: there is none). ``futures``: where growth may end, prices and present values in every
    future (None: the stage does not come); then ``present`` is the sum of theirs, each times the chance of the future,
    and ``worth`` the present value at the month of the stage.
    """

    cents: tuple[int, ...]
    present: tuple[int, ...]
    most: int | None = None
    late: bool = False
    closed: bool = False
    from_stock: bool = False
    expedite_cents: int | None = None
    worth: tuple[int, ...] = ()
    futures: tuple[FuturePrices | None, ...] = ()
    bare: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    @property
    def without_charges(self) -> Offer:
        """The offer of the part without charges, at the month of the stage."""
        if self.bare is None:
            return self
        cents, present = self.bare
        return self._replace(cents=cents, present=present, worth=(), futures=(), bare=None)


class Piece(NamedTuple):
    """Orders of one break: number of the break, fewest and most packs (None: any number)."""

    price_break: int
    fewest: int
    most: int | None


@dataclass(frozen=True, eq=False)
class Item:
    """An item to order. ``starts``: first quantity of each break; ``offers``: one a stage, falling in price but for
    surcharges.

    ``incremental``: a break's price is paid for the units from its first on, not for all. ``stock`` units are there
    already and free; ``in_stock`` are the vendor's, for which it is never too late; an expedited order takes
    ``soonest_weeks``; an order has ``minimum_order`` units at least, in whole packs. ``spares``: rule of its spares;
    ``vendor``: its maker, if one is named, ``seller``: the vendor of the offer, else the maker; ``counted``: part
    numbers of the kind are limited; ``sourced``: a rule distinguishes makers of the kind; ``rationed``: its maker's
    supply a quarter is limited; ``dated``: the date of its order counts. ``borne``: charges on each unit that is
    bought; ``is_lump``: it is no part, but a charge on a fabric or its servers, or labour. ``calendar``: where any item
    bears a charge. ``work``: the labour of installing a unit, an item of its own; None: none is paid.
    ``work_beyond``: that of a unit beyond those that its fabric has in service, where these may move.
    """

    index: int
    kind: str
    id: str
    length_m: float | None
    starts: tuple[int, ...]
    offers: tuple[Offer, ...]
    power_mw: int
    rack_milliunits: int = 0
    stock: int = 0
    in_stock: int = 0
    incremental: bool = False
    minimum_order: int = 1
    pack_size: int = 1
    lead_time_weeks: float | None = None
    soonest_weeks: float | None = None
    spares: Spares | None = None
    vendor: str = ""
    seller: str = ""
    counted: bool = False
    sourced: bool = False
    rationed: bool = False
    dated: bool = False
    borne: tuple[BorneCharge, ...] = ()
    is_lump: bool = False
    calendar: Calendar | None = None
    work: Item | None = None
    work_beyond: Item | None = None

    @cached_property
    def unit_cents(self) -> tuple[int, ...]:
        """Price of a single unit at each stage, in cents."""
        return tuple(offer.cents[0] for offer in self.offers)

    @cached_property
    def unit_costs(self) -> tuple[int, ...]:
        """Cents of a single unit at each stage, installed; with charges its present values too, which need not follow
        from these, and where growth may end those in every future, whose prices may differ by kind (0: the stage does
        not come).

        Of equal length for all items of a table.
        """
        present = () if self.calendar is None else tuple(offer.present[0] for offer in self.offers)
        futures = zip(*(offer.futures for offer in self.offers), strict=True)
        in_futures = (0 if prices is None else prices[1][0] for future in futures for prices in future)
        costs = (*self.unit_cents, *present, *in_futures)
        return costs if self.work is None else tuple(map(sum, zip(costs, self.work.unit_costs, strict=True)))

    def worked_on(self, work_of: Callable[[Item], Item]) -> Item:
        """The item with the labour that ``work_of`` gives for its own."""
        if self.work is None and self.work_beyond is None:
            return self
        work, beyond = (None if one is None else work_of(one) for one in (self.work, self.work_beyond))
        return replace(self, work=work, work_beyond=beyond)

    @cached_property
    def bare(self) -> Item:
        """The part without charges; itself where it bears none."""
        if not self.borne:
            return self
        return replace(self, offers=tuple(offer.without_charges for offer in self.offers), borne=())

    def amounts(self, stage: int, price_break: int) -> tuple[UnitCharge, ...]:
        """The charges on a unit that is bought at a break of a stage."""
        if not self.borne or self.calendar is None:
            return ()
        return amounts_of(self.borne, self.bare.offers[stage].cents[price_break], stage, self.calendar)

    @cached_property
    def is_ordered(self) -> bool:
        """Whether the cost of a further unit depends on the quantity or the date of orders."""
        return (
            len(self.starts) > 1
            or self.stock > 0
            or max(self.minimum_order, self.pack_size) > 1
            or self.spares is not None
            or any(offer.most is not None or offer.late for offer in self.offers)
        )

    def stands_in_for(self, shorter: Item) -> bool:
        """Whether this length may be bought in place of a shorter one of the product: to have fewer part numbers where
        these are limited, and never because it is the cheaper one.
        """
        if not self.counted or self.is_ordered or shorter.is_ordered or self.lead_time_weeks != shorter.lead_time_weeks:
            return False
        return all(price >= other for price, other in zip(self.unit_costs, shorter.unit_costs, strict=True))

    @cached_property
    def varies(self) -> bool:
        """Whether more than the price and power of a single unit decides whether it wins."""
        return self.is_ordered or self.counted or self.sourced or self.dated

    @property
    def is_short(self) -> bool:
        """Whether its quantity is limited at some stage: its supply or its maker's is, an order for a stage comes too
        late, or units are in stock.
        """
        return self.stock > 0 or self.rationed or any(offer.most is not None or offer.late for offer in self.offers)

    @property
    def can_be_had(self) -> bool:
        """Whether any units are in stock, or can be ordered at some stage."""
        ready = self.in_stock > 0
        return self.stock > 0 or any((ready or not offer.closed) and offer.most != 0 for offer in self.offers)

    def most_by(self, stage: int) -> int | None:
        """Most units that can be installed by a stage, those in stock included; None: any number."""
        caps = [
            self.offers[stage].most,
            self.in_stock if all(offer.closed for offer in self.offers[: stage + 1]) else None,
        ]
        return min((self.stock + cap for cap in caps if cap is not None), default=None)

    @property
    def key(self) -> tuple[str, float]:
        """Sort key: id, then length."""
        return self.id, self.length_m or 0.0

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The breaks at which an order can be, in packs: rule ``orders_are_whole``."""
        return tuple(self._pieces())

    def _pieces(self) -> Iterator[Piece]:
        ends = [start - 1 for start in self.starts[1:]]
        for price_break, start in enumerate(self.starts):
            fewest = ceil_div(max(start, self.minimum_order), self.pack_size)
            most = ends[price_break] // self.pack_size if price_break < len(ends) else None
            if most is None or most >= fewest:
                yield Piece(price_break, fewest, most)

    def base(self, stage: int, price_break: int, present: bool = False) -> int:
        """Cents of an order at a break on top of its units at that break's price; 0 unless breaks are incremental."""
        return self.base_at(self._prices(stage, present), price_break)

    def base_at(self, prices: Sequence[int], price_break: int) -> int:
        """Cents of an order at a break on top of its units, at unit ``prices`` by break."""
        if not self.incremental:
            return 0
        steps = zip(pairwise(self.starts[: price_break + 1]), prices[:price_break], strict=True)
        before = sum((end - start) * price for (start, end), price in steps)
        return before - (self.starts[price_break] - 1) * prices[price_break]

    def _prices(self, stage: int, present: bool) -> tuple[int, ...]:
        offer = self.offers[stage]
        return offer.present if present else offer.cents

    def price(self, stage: int, price_break: int, present: bool = False) -> int:
        """Cents of a unit at a break, or their present value."""
        return self._prices(stage, present)[price_break]

    def break_of(self, units: int) -> int:
        """The break that an order of ``units`` reaches."""
        return bisect_right(self.starts, max(1, units)) - 1

    def cost(self, stage: int, units: int, present: bool = False) -> int:
        """Cents of one order at a stage."""
        return self.cost_at(self._prices(stage, present), units)

    def cost_at(self, prices: Sequence[int], units: int) -> int:
        """Cents of one order at unit ``prices`` by break."""
        if units == 0:
            return 0
        price_break = self.break_of(units)
        return self.base_at(prices, price_break) + units * prices[price_break]

    def work_cents(self, stage: int, present: bool = False) -> int:
        """Cents of the labour on one unit that a stage installs."""
        return 0 if self.work is None else self.work.cost(stage, 1, present)

    def worth_cents(self, stage: int, units: int) -> int:
        """Present value of one order at the month of a stage, in cents."""
        return self.cost_at(self.offers[stage].worth or self.offers[stage].present, units)

    def future_cents(self, future: int, stage: int, units: int, present: bool) -> int:
        """Cents of one order in a future, or their present value; 0 where the stage does not come."""
        prices = self.offers[stage].futures[future]
        return 0 if prices is None else self.cost_at(prices[present], units)

    def lead_weeks(self, stage: int, units: int) -> float | None:
        """Lead time in weeks of an order of ``units``: 0 for the vendor's stock where a stage is late."""
        offer = self.offers[stage]
        if units and offer.expedite_cents is not None:
            return self.soonest_weeks
        return 0 if units and offer.from_stock else self.lead_time_weeks

    def least_cents(self, stage: int, present: bool = False, most: int | None = None) -> int:
        """Least unit price over the breaks at a stage; ``most``: without orders that cost more than that."""
        prices = self._prices(stage, present)
        if most is None:
            return prices[-1]
        within = [index for index, start in enumerate(self.starts) if self.cost(stage, start, present) <= most]
        return prices[max(within, default=0)]

    def least_ever(self, present: bool = False, most: int | None = None) -> int:
        """Least unit price at any stage; ``most`` as in ``least_cents``."""
        return min(self.least_cents(stage, present, most) for stage in range(len(self.offers)))

    def stock_value(self, present: bool = False, most: int | None = None) -> int:
        """Upper bound of the cents that the stock on hand saves; ``most`` as in ``least_cents``."""
        stages = range(len(self.offers)) if self.stock else ()
        return self.stock * max((self.least_cents(stage, present, most) for stage in stages), default=0)

    def spares_for(self, in_use: int) -> int:
        """Spares of this part number for ``in_use`` units, if spares are counted by part number."""
        return 0 if self.spares is None or self.spares.per == "site" else spares_of(self.spares, in_use)


def order_at_once(item: Item, need: int) -> int:
    """Units to buy in one order at the first stage, beside the stock, for ``need`` units at least cost.

    More than needed where a break, the smallest order or a pack asks for it. If it cannot be had: the need.
    """
    need = max(0, need - item.stock)
    if need == 0:
        return 0
    packs = ceil_div(need, item.pack_size)
    most = item.offers[0].most
    sizes = [max(packs, piece.fewest) * item.pack_size for piece in item.pieces if packs <= (piece.most or packs)]
    possible = [(item.cost(0, units), units) for units in sizes if most is None or units <= most]
    return min(possible)[1] if possible else need
