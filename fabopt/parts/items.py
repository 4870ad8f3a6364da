"""What can be bought: every product (and length of one) that has a price and a power figure, as exact integers."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from fabopt.parts.finance import present_cents, price_cents
from fabopt.parts.procurement import Terms, is_late, spares_of, supply_by
from fabopt.schema.catalog import CableLength, Catalog, Nic, Purchasable, Server, Switch, Transceiver
from fabopt.schema.design import MOVED_CABLE
from fabopt.schema.procurement import Spares
from fabopt.units import ceil_div, cents, exact, milliwatts


class Offer(NamedTuple):
    """What an item costs at one stage: cents of a unit at each break, then their present values.

    ``most``: can have been bought by then (None: any number); ``late``: nothing can be ordered for it any more.
    """

    cents: tuple[int, ...]
    present: tuple[int, ...]
    most: int | None = None
    late: bool = False


class Piece(NamedTuple):
    """Orders of one break: number of the break, fewest and most packs (None: any number)."""

    tier: int
    fewest: int
    most: int | None


@dataclass(frozen=True, eq=False)
class Item:
    """One thing to order. ``starts``: first quantity of each break; ``offers``: one a stage, falling in price.

    ``incremental``: a break's price is paid for the units from its first on, not for all. ``stock`` units are there
    already and free; an order has ``minimum_order`` units at least, in whole packs. ``spares``: how they are kept;
    ``counted``: the kind may have so many part numbers only.
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
    incremental: bool = False
    minimum_order: int = 1
    pack_size: int = 1
    lead_time_weeks: float | None = None
    spares: Spares | None = None
    counted: bool = False

    @cached_property
    def unit_cents(self) -> tuple[int, ...]:
        """Price of a single one at each stage."""
        return tuple(offer.cents[0] for offer in self.offers)

    @cached_property
    def is_ordered(self) -> bool:
        """Whether what one more costs depends on how many are bought, or when."""
        return (
            len(self.starts) > 1
            or self.stock > 0
            or max(self.minimum_order, self.pack_size) > 1
            or self.spares is not None
            or any(offer.most is not None or offer.late for offer in self.offers)
        )

    @cached_property
    def varies(self) -> bool:
        """Whether something else than price and power of a single one can make it win or lose."""
        return self.is_ordered or self.counted

    @property
    def can_be_had(self) -> bool:
        """Whether there is any in stock, or any can be ordered at some stage."""
        return self.stock > 0 or any(not offer.late and offer.most != 0 for offer in self.offers)

    @property
    def key(self) -> tuple[str, float]:
        """Sort key: id, then length."""
        return self.id, self.length_m or 0.0

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The breaks at which an order can be, in packs."""
        return tuple(self._pieces())

    def _pieces(self) -> Iterator[Piece]:
        ends = [start - 1 for start in self.starts[1:]]
        for tier, start in enumerate(self.starts):
            fewest = ceil_div(max(start, self.minimum_order), self.pack_size)
            most = ends[tier] // self.pack_size if tier < len(ends) else None
            if most is None or most >= fewest:
                yield Piece(tier, fewest, most)

    def base(self, stage: int, tier: int, present: bool = False) -> int:
        """What an order at a break costs on top of its units at that break's price; 0 unless breaks are incremental."""
        if not self.incremental:
            return 0
        prices = self._prices(stage, present)
        steps = zip(pairwise(self.starts[: tier + 1]), prices[:tier], strict=True)
        before = sum((end - start) * price for (start, end), price in steps)
        return before - (self.starts[tier] - 1) * prices[tier]

    def _prices(self, stage: int, present: bool) -> tuple[int, ...]:
        offer = self.offers[stage]
        return offer.present if present else offer.cents

    def price(self, stage: int, tier: int, present: bool = False) -> int:
        """Cents of a unit at a break, or their present value."""
        return self._prices(stage, present)[tier]

    def tier_of(self, units: int) -> int:
        """The break that an order of so many units reaches."""
        return bisect_right(self.starts, max(1, units)) - 1

    def cost(self, stage: int, units: int, present: bool = False) -> int:
        """Cents of one order at a stage."""
        if units == 0:
            return 0
        tier = self.tier_of(units)
        return self.base(stage, tier, present) + units * self._prices(stage, present)[tier]

    def least_cents(self, stage: int, present: bool = False, most: int | None = None) -> int:
        """The least price that any break allows at a stage; ``most``: without orders that cost more than that."""
        prices = self._prices(stage, present)
        if most is None:
            return prices[-1]
        within = [tier for tier, start in enumerate(self.starts) if self.cost(stage, start, present) <= most]
        return prices[max(within, default=0)]

    def spares_for(self, in_use: int) -> int:
        """Spares kept of this part number for so many in use, if they are counted by part number."""
        return 0 if self.spares is None or self.spares.per == "site" else spares_of(self.spares, in_use)


def order_at_once(item: Item, need: int) -> int:
    """Units to buy in one order at the first stage so that ``need`` are there beside the stock, at least cost.

    More than needed where a break, the smallest order or a pack asks for it. If it cannot be had: what is needed.
    """
    need = max(0, need - item.stock)
    if need == 0:
        return 0
    packs = ceil_div(need, item.pack_size)
    most = item.offers[0].most
    sizes = [max(packs, piece.fewest) * item.pack_size for piece in item.pieces if packs <= (piece.most or packs)]
    possible = [(item.cost(0, units), units) for units in sizes if most is None or units <= most]
    return min(possible)[1] if possible else need


@dataclass
class ItemTable:
    """All items of a catalog, by product id (and length), under the terms of a case."""

    terms: Terms = field(default_factory=Terms)
    items: list[Item] = field(default_factory=list)
    _single: dict[str, Item] = field(default_factory=dict)
    _lengths: dict[str, list[Item]] = field(default_factory=lambda: defaultdict(list))

    def item(self, product_id: str) -> Item | None:
        """The item of a product that has no lengths; None if it has no price, no power figure, or cannot be had."""
        return self._single.get(product_id)

    def lengths(self, product_id: str) -> list[Item]:
        """Items of a cable or fibre, shortest first; only priced ones."""
        return self._lengths.get(product_id, [])

    def leave_out(self, product_id: str) -> None:
        """Offer a product no more; its items keep their numbers."""
        self._single.pop(product_id, None)
        self._lengths.pop(product_id, None)

    def _new(
        self,
        kind: str,
        product_id: str,
        sold: Purchasable,
        power_mw: int,
        units: int = 0,
        length_m: float | None = None,
    ) -> Item:
        assert sold.price_usd is not None
        price = sold.price_usd
        steps = [(one.from_, cents(one.usd)) for one in price] if isinstance(price, tuple) else [(1, cents(price))]
        item = Item(
            index=len(self.items),
            kind=kind,
            id=product_id,
            length_m=length_m,
            starts=tuple(start for start, _ in steps),
            offers=tuple(self._offers(kind, sold, [price for _, price in steps])),
            power_mw=power_mw,
            rack_milliunits=units,
            stock=sold.stock or 0,
            incremental=sold.price_breaks == "incremental",
            minimum_order=sold.minimum_order or 1,
            pack_size=sold.pack_size or 1,
            lead_time_weeks=sold.lead_time_weeks,
            spares=self.terms.spares(kind),
            counted=self.terms.most_part_numbers(kind) is not None,
        )
        self.items.append(item)
        return item

    def _offers(self, kind: str, sold: Purchasable, prices: list[int]) -> Iterator[Offer]:
        terms = self.terms
        rate = exact(terms.finance.discount_rate)
        for month in terms.months:
            now = tuple(price_cents(price, terms.decline(kind), month) for price in prices)
            yield Offer(
                now,
                tuple(present_cents(price, rate, month) for price in now),
                supply_by(sold.supply, month),
                is_late(month, sold.lead_time_weeks, terms.rules.order_from_month),
            )

    def add_boxes(self, kind: str, products: Iterable[Switch | Nic | Transceiver | Server]) -> None:
        """Add what is bought by the piece."""
        for product in products:
            if product.price_usd is None or product.power_w is None:
                continue
            units = milliwatts(product.rack_units) if isinstance(product, Switch) else 0
            item = self._new(kind, product.id, product, milliwatts(product.power_w), units)
            if item.can_be_had or kind == "server":
                self._single[product.id] = item

    def add_length(self, kind: str, product_id: str, length: CableLength, power_mw: int) -> None:
        """Add one length of a cable or fibre; call in rising length."""
        item = self._new(kind, product_id, length, power_mw, length_m=length.m)
        self._lengths[product_id].append(item)

    def add_moves(self) -> None:
        """Add the moving of a cable, which is paid like something bought."""
        price = self.terms.move_cents
        self._single[MOVED_CABLE] = self._new("other", MOVED_CABLE, Purchasable(price_usd=price / 100), 0)

    def repriced(self, price: Callable[[Item, int], int]) -> ItemTable:
        """The same goods at other prices: ``price(item, cents)`` of every break at every stage, and of its worth."""

        def offer(item: Item, one: Offer) -> Offer:
            now, present = (tuple(price(item, cents) for cents in old) for old in (one.cents, one.present))
            return one._replace(cents=now, present=present)

        made = [replace(item, offers=tuple(offer(item, one) for one in item.offers)) for item in self.items]
        lengths = {key: [made[item.index] for item in items] for key, items in self._lengths.items()}
        single = {key: made[item.index] for key, item in self._single.items()}
        return ItemTable(self.terms, made, single, defaultdict(list, lengths))


def item_table_of(catalog: Catalog, terms: Terms | None = None) -> ItemTable:
    """Everything in a catalog that can be chosen; where a cluster grows, the moving of cables too."""
    item_table = ItemTable(terms or Terms())
    item_table.add_boxes("switch", catalog.switches)
    item_table.add_boxes("nic", catalog.nics)
    item_table.add_boxes("transceiver", catalog.transceivers)
    for cable in catalog.cables:
        if cable.power_w is not None:
            _add_lengths(item_table, "cable", cable.id, cable.lengths, milliwatts(cable.power_w))
    for fibre in catalog.fibres:
        _add_lengths(item_table, "fibre", fibre.id, fibre.lengths, 0)
    item_table.add_boxes("server", catalog.servers)
    if len(item_table.terms.months) > 1:
        item_table.add_moves()
    return item_table


def _add_lengths(
    item_table: ItemTable, kind: str, product_id: str, lengths: Iterable[CableLength], power_mw: int
) -> None:
    for length in sorted(lengths, key=lambda one: one.m):
        if length.price_usd is not None:
            item_table.add_length(kind, product_id, length, power_mw)
