"""What can be bought of a catalog under the terms of a case: every product that has a price and a power figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.finance import present_cents, price_cents
from fabopt.parts.items import Item, Offer
from fabopt.parts.procurement import Terms, is_late, supply_by
from fabopt.schema.catalog import CableLength, Catalog, Nic, Switch, Transceiver
from fabopt.schema.design import MOVED_CABLE
from fabopt.schema.product import Purchasable
from fabopt.schema.server import Server
from fabopt.units import cents, exact, milliwatts


@dataclass(frozen=True, eq=False)
class ItemTable:
    """All items of a catalog under the terms of a case, and which of them are offered, by the product's id.

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
        """The lengths on sale, rising, in metres, shape (lengths,), which cannot be written to.

        Lengths of products that are not offered are among them.
        """
        lengths_m = np.array(sorted({item.length_m for item in self.items if item.length_m}))
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
        """These items at other prices: ``price(item, cents)`` of every break at every stage, and of its worth."""

        def repriced(item: Item, offer: Offer) -> Offer:
            paid, present = (tuple(price(item, cents) for cents in old) for old in (offer.cents, offer.present))
            return offer._replace(cents=paid, present=present)

        items = tuple(
            replace(item, offers=tuple(repriced(item, offer) for offer in item.offers)) for item in self.items
        )
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
    """Everything in a catalog that can be chosen; where a cluster grows, the moving of cables too.

    Rule ``parts_are_offered``: what has no price or no power figure cannot.
    """
    builder = _Numbering(terms or Terms())
    builder.add_pieces("switch", catalog.switches)
    builder.add_pieces("nic", catalog.nics)
    builder.add_pieces("transceiver", catalog.transceivers)
    for cable in catalog.cables:
        if cable.power_w is not None:
            builder.add_lengths("cable", cable.id, cable.lengths, milliwatts(cable.power_w))
    for fibre in catalog.fibres:
        builder.add_lengths("fibre", fibre.id, fibre.lengths, 0)
    builder.add_pieces("server", catalog.servers)
    if len(builder.terms.months) > 1:
        builder.add_moves()
    return _table(builder.items, builder.single, builder.by_length)


class _Numbering:
    """The items of a table while they are numbered."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.items: list[Item] = []
        self.single: dict[str, Item] = {}
        self.by_length: dict[str, list[Item]] = defaultdict(list)

    def add_pieces(self, kind: str, products: Iterable[Switch | Nic | Transceiver | Server]) -> None:
        """Add what is bought by the piece."""
        for product in products:
            if product.price_usd is None or product.power_w is None:
                continue
            rack_milliunits = milliwatts(product.rack_units) if isinstance(product, Switch) else 0
            item = self._new(kind, product.id, product, milliwatts(product.power_w), rack_milliunits)
            if item.can_be_had or kind == "server":
                self.single[product.id] = item

    def add_lengths(self, kind: str, product_id: str, lengths: Iterable[CableLength], power_mw: int) -> None:
        """Add the lengths of a cable or fibre that have a price."""
        for length in sorted(lengths, key=lambda one: one.m):
            if length.price_usd is not None:
                self.by_length[product_id].append(self._new(kind, product_id, length, power_mw, length_m=length.m))

    def add_moves(self) -> None:
        """Add the moving of a cable, which is paid like something bought."""
        price = self.terms.move_cents
        self.single[MOVED_CABLE] = self._new("other", MOVED_CABLE, Purchasable(price_usd=price / 100), 0)

    def _new(
        self,
        kind: str,
        product_id: str,
        sold: Purchasable,
        power_mw: int,
        rack_milliunits: int = 0,
        length_m: float | None = None,
    ) -> Item:
        assert sold.price_usd is not None
        price = sold.price_usd
        breaks = [(one.from_, cents(one.usd)) for one in price] if isinstance(price, tuple) else [(1, cents(price))]
        item = Item(
            index=len(self.items),
            kind=kind,
            id=product_id,
            length_m=length_m,
            starts=tuple(start for start, _ in breaks),
            offers=tuple(self._offers(kind, sold, [price for _, price in breaks])),
            power_mw=power_mw,
            rack_milliunits=rack_milliunits,
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

    def _offers(self, kind: str, sold: Purchasable, prices: Sequence[int]) -> Iterator[Offer]:
        terms = self.terms
        rate = exact(terms.finance.discount_rate)
        for month, chance in zip(terms.months, terms.chances or (1,) * len(terms.months), strict=True):
            paid = tuple(price_cents(price, terms.decline(kind), month) for price in prices)
            yield Offer(
                paid,
                tuple(chance * present_cents(price, rate, month) for price in paid),
                supply_by(sold.supply, month),
                is_late(month, sold.lead_time_weeks, terms.rules.order_from_month),
                chance,
            )
