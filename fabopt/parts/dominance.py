"""Dominated products: another one fits everywhere in their place and never costs more.

If A fits wherever B does, and an order of A costs no more than one of B whatever its size, then buying A in place of
all B never costs more: falling prices make one large order no dearer than two. So this holds with price breaks too,
where products cannot be compared link by link; and with spares and few part numbers, of which there are then fewer. See
``fabopt.program.dominance`` for the dominance that needs candidates.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from fabopt.parts.item_table import ItemTable
from fabopt.parts.items import Item
from fabopt.parts.procurement import Terms
from fabopt.schema.catalog import Cable, Catalog, Fibre, Nic, Switch, Transceiver
from fabopt.schema.product import Product
from fabopt.schema.resilience import FEATURE_OF_PAIRING
from fabopt.units import grouped


def without_dominated_products(
    terms: Terms,
    catalog: Catalog,
    item_table: ItemTable,
    named: frozenset[str],
    qualified: Mapping[str, frozenset[str]],
) -> ItemTable:
    """The offer without dominated products; those that the case names (``named``) stay.

    ``qualified``: by device the parts that may be plugged in; products that it distinguishes are not compared, nor NICs
    that other servers are tested with, nor makers where a rule of buying or a product asks for some.
    """
    alike: dict[Hashable, list[Product]] = {}
    rules = terms.rules
    devices: tuple[Switch | Nic, ...] = (*catalog.switches, *catalog.nics)
    plugged: tuple[Transceiver | Cable, ...] = (*catalog.transceivers, *catalog.cables)
    wanted_of_devices = {vendor for part in plugged for vendor in part.works_with}
    wanted_of_parts = {vendor for device in devices for vendor in device.works_with}
    devices_of = grouped((part, device) for device, parts in qualified.items() for part in parts)
    tested_for = {server.id: server.tested_for("compute") for server in catalog.servers if server.nics_tested}
    for product in (*devices, *plugged, *catalog.fibres):
        items = _items(item_table, product)
        if items and not product.end_of_life:
            lengths = tuple(item.length_m for item in items)
            pairs = qualified.get(product.id), frozenset(devices_of.get(product.id, ()))
            tested = frozenset(server for server, nics in tested_for.items() if product.is_among(nics))
            wanted = wanted_of_devices if isinstance(product, Switch | Nic) else wanted_of_parts
            wanted = set() if isinstance(product, Fibre) else wanted
            by_place = rules.lists_are_by_place and product.is_among(rules.approved_parts or ())
            is_told = rules.tells_vendors_apart(items[0].kind) or (wanted and product.vendor in (None, *wanted))
            vendors = product.vendor if is_told else bool(wanted), product.sold_by, by_place
            looked_at = [getattr(product, key) for key in terms.looked_at if isinstance(product, Switch)]
            in_use = tuple(frozenset(one) if isinstance(one, dict) else one for one in looked_at)
            looks = type(product), vendors, lengths, _fit(product), pairs, tested, in_use
            alike.setdefault(looks, []).append(product)
    dominated = {product_id for products in alike.values() for product_id in _dominated(item_table, products, named)}
    return item_table.without(dominated)


def _items(item_table: ItemTable, product: Product) -> Sequence[Item]:
    single = item_table.item(product.id)
    return item_table.lengths(product.id) if single is None else [single]


def _fit(product: Product) -> Hashable:
    """Key of the properties that decide where a product fits."""
    if isinstance(product, Switch):
        pairs = frozenset(product.features).intersection(FEATURE_OF_PAIRING.values())
        drives = product.max_ports, product.ports_per_cage_pair, pairs
        keeps = product.reduces, product.power_supplies == 1
        return product.protocol, product.cages, drives, product.works_with, product.accepts_coding, keeps
    if isinstance(product, Nic):
        carries = product.pcie, product.forwards
        return product.protocols, product.cages, carries, product.works_with, product.accepts_coding
    if isinstance(product, Transceiver):
        standards = tuple(sorted(product.standard_by_split.items()))
        ends = (product.form_factor, product.fibre, product.connector, product.connectors, product.lane_gbps)
        protocols = product.protocols, tuple(sorted(product.split_protocols.items()))
        needs = product.works_with, product.coded_for, product.power_max_w, product.retiming
        return standards, ends, product.reach_m, product.loss_budget_db, protocols, needs
    if isinstance(product, Cable):
        coding = product.works_with, product.coded_for, product.retiming, product.medium
        return product.protocols, product.ends, product.lane_gbps, product.reach_m, coding
    assert isinstance(product, Fibre)
    plugs = product.both_ends, product.polarity, product.pinned
    return product.fibre, plugs, product.loss_db, product.grade, product.protocols


def _dominated(item_table: ItemTable, products: Sequence[Product], named: frozenset[str]) -> Iterator[str]:
    """Ids of the products that another one dominates, all having the same fit and lengths."""
    kept: list[Sequence[Item]] = []
    cheapest_first = sorted(
        products,
        key=lambda product: ([(item.unit_cents, item.power_mw) for item in _items(item_table, product)], product.id),
    )
    for product in cheapest_first:
        items = _items(item_table, product)
        if product.id not in named and any(_stands_in(other, items) for other in kept):
            yield product.id
        elif product.id not in named and all(is_plain(item) for item in items):
            kept.append(items)


def is_plain(item: Item) -> bool:
    """Whether any quantity can be ordered for any stage."""
    return item.supply.stock == 0 and item.orders.are_any and not any(offer.is_limited for offer in item.offers)


def _stands_in(lengths: Sequence[Item], other: Sequence[Item]) -> bool:
    """Whether ``lengths`` takes no more money and power than ``other``, length by length, and wins ties."""
    if not all(map(_costs_no_more, lengths, other)) or any(item.supply.stock for item in other):
        return False
    if any(item.lead.matters for item in (*lengths, *other)):
        return False
    if any(
        a.power_mw > b.power_mw or a.rack_milliunits > b.rack_milliunits for a, b in zip(lengths, other, strict=True)
    ):
        return False
    wins = all(a.power_mw < b.power_mw or _costs_no_more(a, b, 1) for a, b in zip(lengths, other, strict=True))
    return wins or lengths[0].id < other[0].id


def _costs_no_more(item: Item, other: Item, margin: int = 0) -> bool:
    """Whether an order of ``item`` costs no more than one of ``other``, whatever its size and stage.

    ``margin``: cents a unit by which it has to be cheaper.
    """
    own, theirs = item.orders, other.orders
    if own.incremental != theirs.incremental or (own.incremental and own.starts != theirs.starts):
        return False
    return all(
        offer.cents[own.break_of(size)] + margin <= other_offer.cents[theirs.break_of(size)]
        and offer.present[own.break_of(size)] <= other_offer.present[theirs.break_of(size)]
        for offer, other_offer in zip(item.offers, other.offers, strict=True)
        for size in {*own.starts, *theirs.starts}
    )
