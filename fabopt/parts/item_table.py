"""Items of a catalog under the terms of a case: every product that has a price and a power figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import inf
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.finance import BorneCharge, Calendar, amounts_of, borne_by, borne_by_lump, present_cents, price_cents
from fabopt.parts.items import FuturePrices, Item, ItemLabour, Offer
from fabopt.parts.labour import ends_of, visit_of, work_on
from fabopt.parts.order_terms import ItemSupply, LeadTimes, OrderSizes, OrderTime, SoldBy
from fabopt.parts.procurement import FutureTerms, Terms, expedite_cents, is_late, soonest_weeks, supply_by
from fabopt.schema.catalog import KINDS, ByLength, Cable, Catalog, Fibre, Nic, Panel, Switch, Transceiver, Trunk
from fabopt.schema.design import MOVED_CABLE, MOVED_DEVICE
from fabopt.schema.labour import JUMPER, MOVED, Labour
from fabopt.schema.product import Product, Purchasable
from fabopt.schema.server import Server
from fabopt.units import cents, exact, milliwatts, rounded


@dataclass(frozen=True, eq=False)
class ItemTable:
    """All items of a catalog under the terms of a case, and those on offer, by the product's id.

    ``items``: all, each at its ``index``, products that are not offered included; ``single``: of products that have no
    lengths; ``by_length``: of a cable or fibre, shortest first.
    """

    items: tuple[Item, ...]
    single: Mapping[str, Item]
    by_length: Mapping[str, tuple[Item, ...]]

    def item(self, product_id: str) -> Item | None:
        """The item of a product that has no lengths; None if it has no price, no power figure, or cannot be had."""
        return self.single.get(product_id)

    def lengths(self, product_id: str) -> tuple[Item, ...]:
        """Items of a cable or fibre, shortest first; only priced ones."""
        return self.by_length.get(product_id, ())

    @cached_property
    def lengths_m(self) -> NDArray[np.float64]:
        """The lengths on sale, rising, in metres, shape (lengths,), a read-only array.

        Lengths of products that are not offered are among them.
        """
        leads = {item.length_m for item in self.items if item.length_m and item.kind != "trunk"}
        # trunks that reach farther than any lead, so that runs of leads count as they do without trunks
        farther = {item.length_m for item in self.items if item.length_m and item.length_m > max(leads, default=0.0)}
        lengths_m = np.array(sorted(leads | farther))
        lengths_m.flags.writeable = False
        return lengths_m

    def without(self, product_ids: Collection[str]) -> ItemTable:
        """The table without the offer of some products; items keep their numbers."""
        return _table(
            self.items,
            {product_id: item for product_id, item in self.single.items() if product_id not in product_ids},
            {product_id: items for product_id, items in self.by_length.items() if product_id not in product_ids},
        )

    def repriced(self, price: Callable[[Item, int], int]) -> ItemTable:
        """These items at other prices: ``price(item, cents)`` of every break at every stage, and of its present
        value.
        """

        def repriced(item: Item, offer: Offer) -> Offer:
            paid, present = (tuple(price(item, cents) for cents in old) for old in (offer.cents, offer.present))
            bare = offer.bare
            if bare is not None:
                bare = tuple(price(item, cents) for cents in bare[0]), tuple(price(item, cents) for cents in bare[1])
            return offer._replace(cents=paid, present=present, bare=bare)

        items = tuple(
            replace(item, offers=tuple(repriced(item, offer) for offer in item.offers)) for item in self.items
        )
        return self._with_items([item.worked_on(lambda work: items[work.index]) for item in items])

    def with_work(self, work: Mapping[int, Item], installed: Collection[tuple[str, float | None]]) -> ItemTable:
        """The table with the labour on items, by their number; of parts ``installed`` on units beyond those."""
        items = (
            item if own is None
            else replace(item, labour=ItemLabour(beyond=own)) if (item.id, item.length_m) in installed
            else replace(item, labour=ItemLabour(own))
            for item in self.items
            for own in (work.get(item.index),)
        )  # fmt: skip
        return self._with_items(list(items))

    def _with_items(self, items: Sequence[Item]) -> ItemTable:
        return _table(
            items,
            {product_id: items[item.index] for product_id, item in self.single.items()},
            {product_id: [items[item.index] for item in lengths] for product_id, lengths in self.by_length.items()},
        )


def _table(items: Iterable[Item], single: Mapping[str, Item], by_length: Mapping[str, Sequence[Item]]) -> ItemTable:
    return ItemTable(
        tuple(items),
        MappingProxyType(dict(single)),
        MappingProxyType({product_id: tuple(lengths) for product_id, lengths in by_length.items()}),
    )


def item_table_of(catalog: Catalog, terms: Terms | None = None) -> ItemTable:
    """Items of everything in a catalog that can be chosen; where a cluster grows, the moving of cables too.

    Rule ``parts_are_offered``: a product without a price or a power figure cannot.
    """
    builder = _Numbering(terms or Terms())
    labour = builder.terms.labour
    if builder.terms.charges or labour or any(p.charges for kind in KINDS for p in getattr(catalog, kind)):
        builder.calendar = Calendar(builder.terms.finance, builder.terms.months)
    builder.add_pieces("switch", catalog.switches)
    builder.add_pieces("nic", catalog.nics)
    builder.add_pieces("transceiver", catalog.transceivers)
    for cable in catalog.cables:
        if cable.power_w is not None:
            builder.add_lengths("cable", cable, milliwatts(cable.power_w))
    for fibre in catalog.fibres:
        builder.add_lengths("fibre", fibre, 0)
    for trunk in catalog.trunks:
        builder.add_lengths("trunk", trunk, 0)
    builder.add_passive_pieces("panel", catalog.panels)
    builder.add_pieces("server", catalog.servers)
    builder.add_moves()
    builder.add_lumps()
    work = {} if labour is None else builder.add_work(labour, catalog)
    table = _table(builder.items, builder.single, builder.by_length)
    return table.with_work(work, builder.terms.installed) if work else table


def _order_sizes(sold: Purchasable, breaks: Sequence[tuple[int, int]]) -> OrderSizes:
    starts = tuple(start for start, _ in breaks)
    return OrderSizes(starts, sold.price_breaks == "incremental", sold.minimum_order or 1, sold.pack_size or 1)


class _Sold(NamedTuple):
    """The sale of an item: its list price in cents at each break, and the charges on it."""

    kind: str
    part: Purchasable
    prices: Sequence[int]
    borne: tuple[BorneCharge, ...]


class _Numbering:
    """The items of a table while they are numbered."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._sourced, self._quotas = cache(terms.rules.counts_vendors_of), terms.rules.quotas
        self.calendar: Calendar | None = None
        self.items: list[Item] = []
        self.single: dict[str, Item] = {}
        self.by_length: dict[str, list[Item]] = defaultdict(list)

    def add_pieces(self, kind: str, products: Iterable[Switch | Nic | Transceiver | Server]) -> None:
        """Add products sold by the piece."""
        for product in products:
            if product.price_usd is None or product.power_w is None:
                continue
            rack_milliunits = milliwatts(product.rack_units) if isinstance(product, Switch) else 0
            borne = borne_by(kind, product, self.terms.charges)
            draws = milliwatts(product.power_w), rack_milliunits
            item = self._new(kind, product.id, product, *draws, borne=borne, product=product)
            if item.can_be_had or kind == "server":
                self.single[product.id] = item

    def add_passive_pieces(self, kind: str, products: Iterable[Panel]) -> None:
        """Add products sold by the piece that use no power."""
        for product in products:
            if product.price_usd is not None:
                borne = borne_by(kind, product, self.terms.charges)
                item = self._new(kind, product.id, product, 0, borne=borne, product=product)
                if item.can_be_had:
                    self.single[product.id] = item

    def add_lengths(self, kind: str, product: ByLength, power_mw: int) -> None:
        """Add the lengths of a cable, fibre or trunk that have a price."""
        borne = borne_by(kind, product, self.terms.charges)
        for length in sorted(product.lengths, key=lambda length: length.m):
            if length.price_usd is not None:
                item = self._new(kind, product.id, length, power_mw, length_m=length.m, borne=borne, product=product)
                self.by_length[product.id].append(item)

    def add_moves(self) -> None:
        """Add the moving of a cable and of a device, which are paid like items, where any may move."""
        for name, price in zip((MOVED_CABLE, MOVED_DEVICE), self.terms.move_cents, strict=False):
            self.single[name] = self._new("other", name, Purchasable(price_usd=price / 100), 0)

    def add_lumps(self) -> None:
        """Add charges on fabrics and servers, each as an item whose only cost is the charge."""
        for charge in self.terms.charges:
            if charge.is_lump:
                self.single[charge.name] = self._lump(charge.name, borne_by_lump(charge, self.terms.charges))

    def add_work(self, labour: Labour, catalog: Catalog) -> dict[int, Item]:
        """Add the labour on a unit of each item as an item, equal ones once, and that on servers and of visits.

        Returns it by the number of the item. Servers are racked whoever buys them (``fabopt.problem.labour``).
        """
        laid: tuple[Cable | Fibre | Trunk, ...] = (*catalog.cables, *catalog.fibres, *catalog.trunks)
        ends = {part.id: ends_of(part) for part in laid}
        jumpers, since = self._jumpers(catalog), self.terms.labour_since
        known: dict[str, Item] = {}
        work: dict[int, Item] = {}
        for item in [item for item in self.items if item.kind not in ("server", "other") or item.id == MOVED_CABLE]:
            kind = MOVED if item.id == MOVED_CABLE else JUMPER if item in jumpers else item.kind
            borne = work_on(labour, kind, ends.get(item.id, 1), since)
            if borne is not None:
                name = f"{borne.name}-{borne.usd_cents}"
                known[name] = work[item.index] = known.get(name) or self._lump(name, (borne,))
        for fixed in (work_on(labour, "server", 1, since), visit_of(labour, since)):
            if fixed is not None:
                self.single[fixed.name] = self._lump(fixed.name, (fixed,))
        return work

    def _jumpers(self, catalog: Catalog) -> set[Item]:
        """Fibres no longer than the shortest listed length that covers any run within a rack of the floor."""
        run_m = self.terms.jumper_run_m
        jumpers: set[Item] = set()
        for fibre in catalog.fibres if run_m is not None else ():
            longest = min((length.m for length in fibre.lengths if length.m >= (run_m or 0.0)), default=inf)
            jumpers.update(item for item in self.by_length[fibre.id] if (item.length_m or 0.0) <= longest)
        return jumpers

    def _lump(self, name: str, borne: tuple[BorneCharge, ...]) -> Item:
        self._new("other", name, Purchasable(price_usd=0.0), 0, borne=borne)
        self.items[-1] = replace(self.items[-1], is_lump=True)
        return self.items[-1]

    def _new(
        self,
        kind: str,
        product_id: str,
        sold: Purchasable,
        power_mw: int,
        rack_milliunits: int = 0,
        length_m: float | None = None,
        borne: tuple[BorneCharge, ...] = (),
        product: Product | None = None,
    ) -> Item:
        assert sold.price_usd is not None
        price, vendor = sold.price_usd, (product and product.vendor) or ""
        breaks = [(step.from_, cents(step.usd)) for step in price] if isinstance(price, tuple) else [(1, cents(price))]
        of_part = _Sold(kind, sold, [price for _, price in breaks], borne)
        item = Item(
            index=len(self.items),
            kind=kind,
            id=product_id,
            length_m=length_m,
            offers=tuple(self._offers(of_part)),
            power_mw=power_mw,
            rack_milliunits=rack_milliunits,
            orders=_order_sizes(sold, breaks),
            supply=ItemSupply(
                sold.stock or 0, sold.in_stock or 0, any(one.holds(kind, vendor) for one in self._quotas)
            ),
            lead=LeadTimes(sold.lead_time_weeks, soonest_weeks(sold), self.terms.dated and bool(sold.lead_time_weeks)),
            spares=self.terms.spares(kind),
            sold_by=SoldBy(
                vendor,
                (product and product.seller) or "",
                sourced=self._sourced(kind),
                counted=self.terms.most_part_numbers(kind) is not None,
            ),
            borne=borne,
            calendar=self.calendar,
        )
        self.items.append(item)
        return item

    def _offers(self, sold: _Sold) -> Iterator[Offer]:
        terms, first = self.terms, self.terms.rules.order_from_month
        rate = exact(terms.finance.discount_rate)
        for stage, month in enumerate(terms.months):
            surcharge = expedite_cents(month, sold.part, first)
            closed = is_late(month, soonest_weeks(sold.part), first)
            paid = tuple(
                price_cents(price, terms.decline(sold.kind, sold.part.firm_until, month), month) + (surcharge or 0)
                for price in sold.prices
            )
            offer = Offer(
                paid,
                tuple(present_cents(price, rate, month) for price in paid),
                supply_by(sold.part.supply, month),
                OrderTime(is_late(month, sold.part.lead_time_weeks, first), closed, closed, surcharge),
            )
            offer = self._with_charges(offer, stage, sold.borne)
            yield self._in_futures(offer, stage, sold) if terms.futures else offer

    def _in_futures(self, offer: Offer, stage: int, sold: _Sold) -> Offer:
        """An offer with its prices in every future that comes to the stage, and their weighted present value."""
        terms, futures = self.terms, [self._in_future(future, stage, sold) for future in self.terms.futures]
        first = terms.rules.order_from_month
        for future in terms.futures:
            month = future.months[stage]
            if month is not None:
                supply = [most for most in (offer.most, supply_by(sold.part.supply, month)) if most is not None]
                late = is_late(month, sold.part.lead_time_weeks, first)
                closed = is_late(month, soonest_weeks(sold.part), first)
                time = offer.time._replace(late=offer.time.late or late, closed=offer.time.closed or closed)
                offer = offer._replace(most=min(supply, default=None), time=time)
        weighed = [
            sum(
                future.chance * prices[1][index]
                for future, prices in zip(terms.futures, futures, strict=True)
                if prices is not None
            )
            for index in range(len(offer.cents))
        ]
        return offer._replace(present=tuple(weighed), worth=offer.present, futures=tuple(futures))

    def _in_future(self, future: FutureTerms, stage: int, sold: _Sold) -> FuturePrices | None:
        """Prices and present values, charges included, in a future; charges are on the prices without its changes.

        Surcharges do not change either; they are paid where the stage comes too soon in that future.
        """
        month, finance = future.months[stage], self.terms.finance
        if month is None:
            return None
        calendar = Calendar(finance, tuple(month or 0 for month in future.months))
        decline = self.terms.decline(sold.kind, sold.part.firm_until, month)
        usual = [price_cents(price, decline, month) for price in sold.prices]
        surcharge = expedite_cents(month, sold.part, self.terms.rules.order_from_month) or 0
        paid = [rounded(future.factor(sold.kind, stage) * price) + surcharge for price in usual]
        charges = [amounts_of(sold.borne, price + surcharge, stage, calendar) for price in usual]
        rate = exact(finance.discount_rate)
        return (
            tuple(price + sum(amount.once for amount in of) for price, of in zip(paid, charges, strict=True)),
            tuple(
                present_cents(price, rate, month) + sum(amount.present for amount in of)
                for price, of in zip(paid, charges, strict=True)
            ),
        )

    def _with_charges(self, offer: Offer, stage: int, borne: tuple[BorneCharge, ...]) -> Offer:
        """An offer with the charges on every unit in its prices."""
        if not borne or self.calendar is None:
            return offer
        amounts = [amounts_of(borne, price, stage, self.calendar) for price in offer.cents]
        return offer._replace(
            cents=tuple(
                price + sum(amount.once for amount in of) for price, of in zip(offer.cents, amounts, strict=True)
            ),
            present=tuple(
                worth + sum(amount.present for amount in of) for worth, of in zip(offer.present, amounts, strict=True)
            ),
            bare=(offer.cents, offer.present),
        )
