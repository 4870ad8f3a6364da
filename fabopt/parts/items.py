"""An item: a product, or one length of it, with its price, power and terms of sale as exact integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from fabopt.parts.finance import BorneCharge, Calendar, UnitCharge, amounts_of
from fabopt.parts.order_terms import IN_TIME, ItemSupply, LeadTimes, OrderSizes, OrderTime, Piece, SoldBy
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
    any number). ``futures``: where growth may end, prices and present values in every future (None: the stage does not
    come); then ``present`` is the sum of theirs, each times the chance of the future, and ``worth`` the present value
    at the month of the stage.
    """

    cents: tuple[int, ...]
    present: tuple[int, ...]
    most: int | None = None
    time: OrderTime = IN_TIME
    worth: tuple[int, ...] = ()
    futures: tuple[FuturePrices | None, ...] = ()
    bare: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    @property
    def is_limited(self) -> bool:
        """Whether some quantity cannot be had by then."""
        return self.most is not None or self.time.late

    @property
    def without_charges(self) -> Offer:
        """The offer of the part without charges, at the month of the stage."""
        if self.bare is None:
            return self
        cents, present = self.bare
        return self._replace(cents=cents, present=present, worth=(), futures=(), bare=None)


class ItemLabour(NamedTuple):
    """The labour on a unit that is installed (None: none is paid), and on one ``beyond`` those that its fabric has in
    service, where these may move.
    """

    unit: Item | None = None
    beyond: Item | None = None


ANY_SIZE, NO_STOCK, NO_LEAD_TIMES, BY_ANYONE, NO_WORK = OrderSizes(), ItemSupply(), LeadTimes(), SoldBy(), ItemLabour()


@dataclass(frozen=True, eq=False)
class Item:
    """An item to order. ``offers``: one a stage, falling in price but for surcharges.

    ``spares``: rule of its spares. ``borne``: charges on each unit that is bought; ``is_lump``: it is no part, but a
    charge on a fabric or its servers, or labour. ``calendar``: where any item bears a charge. ``labour``: of installing
    a unit, an item of its own.
    """

    index: int
    kind: str
    id: str
    length_m: float | None
    offers: tuple[Offer, ...]
    power_mw: int
    rack_milliunits: int = 0
    orders: OrderSizes = ANY_SIZE
    supply: ItemSupply = NO_STOCK
    lead: LeadTimes = NO_LEAD_TIMES
    spares: Spares | None = None
    sold_by: SoldBy = BY_ANYONE
    borne: tuple[BorneCharge, ...] = ()
    is_lump: bool = False
    calendar: Calendar | None = None
    labour: ItemLabour = NO_WORK

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
        work = self.labour.unit
        return costs if work is None else tuple(map(sum, zip(costs, work.unit_costs, strict=True)))

    def worked_on(self, work_of: Callable[[Item], Item]) -> Item:
        """The item with the labour that ``work_of`` gives for its own."""
        if self.labour == NO_WORK:
            return self
        return replace(self, labour=ItemLabour(*(None if one is None else work_of(one) for one in self.labour)))

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
        by_size = len(self.orders.starts) > 1 or not self.orders.are_any
        is_limited = self.supply.stock > 0 or any(offer.is_limited for offer in self.offers)
        return by_size or is_limited or self.spares is not None

    def stands_in_for(self, shorter: Item) -> bool:
        """Whether this length may be bought in place of a shorter one of the product: to have fewer part numbers where
        these are limited, and never because it is the cheaper one.
        """
        if not self.sold_by.counted or self.is_ordered or shorter.is_ordered or self.lead.weeks != shorter.lead.weeks:
            return False
        return all(price >= other for price, other in zip(self.unit_costs, shorter.unit_costs, strict=True))

    @cached_property
    def varies(self) -> bool:
        """Whether more than the price and power of a single unit decides whether it wins."""
        return self.is_ordered or self.sold_by.counted or self.sold_by.sourced or self.lead.matters

    @cached_property
    def is_short(self) -> bool:
        """Whether its quantity is limited at some stage: its supply or its maker's is, an order for a stage comes too
        late, or units are in stock.
        """
        return self.supply.stock > 0 or self.supply.rationed or any(offer.is_limited for offer in self.offers)

    @cached_property
    def can_be_had(self) -> bool:
        """Whether any units are in stock, or can be ordered at some stage."""
        stock, ready, _ = self.supply
        return stock > 0 or any((ready > 0 or not offer.time.closed) and offer.most != 0 for offer in self.offers)

    def most_by(self, stage: int) -> int | None:
        """Most units that can be installed by a stage, those in stock included; None: any number."""
        caps = [
            self.offers[stage].most,
            self.supply.in_stock if all(offer.time.closed for offer in self.offers[: stage + 1]) else None,
        ]
        return min((self.supply.stock + cap for cap in caps if cap is not None), default=None)

    @property
    def key(self) -> tuple[str, float]:
        """Sort key: id, then length."""
        return self.id, self.length_m or 0.0

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The breaks at which an order can be, in packs: rule ``orders_are_whole``."""
        return tuple(self.orders.pieces())

    def base(self, stage: int, price_break: int, present: bool = False) -> int:
        """Cents of an order at a break on top of its units at that break's price; 0 unless breaks are incremental."""
        return self.orders.base_at(self._prices(stage, present), price_break)

    def _prices(self, stage: int, present: bool) -> tuple[int, ...]:
        offer = self.offers[stage]
        return offer.present if present else offer.cents

    def price(self, stage: int, price_break: int, present: bool = False) -> int:
        """Cents of a unit at a break, or their present value."""
        return self._prices(stage, present)[price_break]

    def cost(self, stage: int, units: int, present: bool = False) -> int:
        """Cents of one order at a stage."""
        return self.orders.cost_at(self._prices(stage, present), units)

    def work_cents(self, stage: int, present: bool = False) -> int:
        """Cents of the labour on one unit that a stage installs."""
        return 0 if self.labour.unit is None else self.labour.unit.cost(stage, 1, present)

    def worth_cents(self, stage: int, units: int) -> int:
        """Present value of one order at the month of a stage, in cents."""
        return self.orders.cost_at(self.offers[stage].worth or self.offers[stage].present, units)

    def future_cents(self, future: int, stage: int, units: int, present: bool) -> int:
        """Cents of one order in a future, or their present value; 0 where the stage does not come."""
        prices = self.offers[stage].futures[future]
        return 0 if prices is None else self.orders.cost_at(prices[present], units)

    def lead_weeks(self, stage: int, units: int) -> float | None:
        """Lead time in weeks of an order of ``units``: 0 for the vendor's stock where a stage is late."""
        offer = self.offers[stage]
        if units and offer.time.expedite_cents is not None:
            return self.lead.soonest
        return 0 if units and offer.time.from_stock else self.lead.weeks

    def least_cents(self, stage: int, present: bool = False, most: int | None = None) -> int:
        """Least unit price over the breaks at a stage; ``most``: without orders that cost more than that."""
        prices = self._prices(stage, present)
        if most is None:
            return prices[-1]
        within = [index for index, start in enumerate(self.orders.starts) if self.cost(stage, start, present) <= most]
        return prices[max(within, default=0)]

    def least_ever(self, present: bool = False, most: int | None = None) -> int:
        """Least unit price at any stage; ``most`` as in ``least_cents``."""
        return min(self.least_cents(stage, present, most) for stage in range(len(self.offers)))

    def stock_value(self, present: bool = False, most: int | None = None) -> int:
        """Upper bound of the cents that the stock on hand saves; ``most`` as in ``least_cents``."""
        stages = range(len(self.offers)) if self.supply.stock else ()
        return self.supply.stock * max((self.least_cents(stage, present, most) for stage in stages), default=0)

    def spares_for(self, in_use: int) -> int:
        """Spares of this part number for ``in_use`` units, if spares are counted by part number."""
        return 0 if self.spares is None or self.spares.per == "site" else spares_of(self.spares, in_use)


def order_at_once(item: Item, need: int) -> int:
    """Units to buy in one order at the first stage, beside the stock, for ``need`` units at least cost.

    More than needed where a break, the smallest order or a pack asks for it. If it cannot be had: the need.
    """
    need = max(0, need - item.supply.stock)
    if need == 0:
        return 0
    packs = ceil_div(need, item.orders.pack)
    most = item.offers[0].most
    sizes = [max(packs, piece.fewest) * item.orders.pack for piece in item.pieces if packs <= (piece.most or packs)]
    possible = [(item.cost(0, units), units) for units in sizes if most is None or units <= most]
    return min(possible)[1] if possible else need
