"""What can be bought: every product (and length of one) that has a price and a power figure, as exact integers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from fabopt.schema.catalog import CableLength, Catalog, Nic, PriceBreak, Purchasable, Server, Switch, Transceiver
from fabopt.units import cents, milliwatts


@dataclass(frozen=True, eq=False)
class Item:
    """One thing to order. ``breaks``: (from quantity, cents each), rising in quantity, falling in price.

    ``stock`` units are there already and free; at most ``supply`` can be bought (None: any number).
    """

    index: int
    kind: str
    id: str
    length_m: float | None
    breaks: tuple[tuple[int, int], ...]
    power_mw: int
    rack_milliunits: int = 0
    stock: int = 0
    supply: int | None = None

    @cached_property
    def first_cents(self) -> int:
        """Price of a single one."""
        return self.breaks[0][1]

    @property
    def least_cents(self) -> int:
        """The least price that any break allows."""
        return self.breaks[-1][1]

    @cached_property
    def varies(self) -> bool:
        """Whether what one more costs depends on how many are taken."""
        return len(self.breaks) > 1 or self.stock > 0 or self.supply is not None

    @property
    def key(self) -> tuple[str, float]:
        """Sort key: id, then length."""
        return self.id, self.length_m or 0.0


def _breaks(price: float | tuple[PriceBreak, ...]) -> tuple[tuple[int, int], ...]:
    if isinstance(price, tuple):
        return tuple((one.from_, cents(one.usd)) for one in price)
    return ((1, cents(price)),)


@dataclass
class Goods:
    """All items of a catalog, by product id (and length)."""

    items: list[Item] = field(default_factory=list)
    _single: dict[str, Item] = field(default_factory=dict)
    _lengths: dict[str, list[Item]] = field(default_factory=lambda: defaultdict(list))

    def item(self, product_id: str) -> Item | None:
        """The item of a product that has no lengths; None if it has no price or no power figure."""
        return self._single.get(product_id)

    def lengths(self, product_id: str) -> list[Item]:
        """Items of a cable or fibre, shortest first; only priced ones."""
        return self._lengths.get(product_id, [])

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
        item = Item(
            index=len(self.items),
            kind=kind,
            id=product_id,
            length_m=length_m,
            breaks=_breaks(sold.price_usd),
            power_mw=power_mw,
            rack_milliunits=units,
            stock=sold.stock or 0,
            supply=sold.supply,
        )
        self.items.append(item)
        return item

    def add_boxes(self, kind: str, products: Iterable[Switch | Nic | Transceiver | Server]) -> None:
        """Add what is bought by the piece."""
        for product in products:
            if product.price_usd is None or product.power_w is None:
                continue
            units = milliwatts(product.rack_units) if isinstance(product, Switch) else 0
            self._single[product.id] = self._new(kind, product.id, product, milliwatts(product.power_w), units)

    def add_length(self, kind: str, product_id: str, length: CableLength, power_mw: int) -> None:
        """Add one length of a cable or fibre; call in rising length."""
        item = self._new(kind, product_id, length, power_mw, length_m=length.m)
        self._lengths[product_id].append(item)


def goods_of(catalog: Catalog) -> Goods:
    """Everything in a catalog that can be chosen."""
    goods = Goods()
    goods.add_boxes("switch", catalog.switches)
    goods.add_boxes("nic", catalog.nics)
    goods.add_boxes("transceiver", catalog.transceivers)
    for cable in catalog.cables:
        if cable.power_w is not None:
            _add_lengths(goods, "cable", cable.id, cable.lengths, milliwatts(cable.power_w))
    for fibre in catalog.fibres:
        _add_lengths(goods, "fibre", fibre.id, fibre.lengths, 0)
    goods.add_boxes("server", catalog.servers)
    return goods


def _add_lengths(goods: Goods, kind: str, product_id: str, lengths: Iterable[CableLength], power_mw: int) -> None:
    for length in sorted(lengths, key=lambda one: one.m):
        if length.price_usd is not None:
            goods.add_length(kind, product_id, length, power_mw)
