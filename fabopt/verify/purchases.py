"""Rules of what is ordered: everything in use is bought or in stock, at the embedded prices."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from fabopt.schema.catalog import (
    Cable,
    CableLength,
    Fibre,
    Nic,
    Price,
    Product,
    Purchasable,
    Server,
    Switch,
    Transceiver,
)
from fabopt.schema.design import BomRow, FabricDesign
from fabopt.units import cents, milliwatts, usd, watts
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof

KIND_ORDER = ("switch", "nic", "transceiver", "cable", "fibre", "server")
NO_FABRIC = ""


@dataclass(frozen=True)
class Item:
    """What is ordered under one price: a product, or one length of it."""

    kind: str
    id: str
    length_m: float | None = None

    def __str__(self) -> str:
        return self.id if self.length_m is None else f"{self.id} {self.length_m:g} m"


def items_in_use(evidence: Evidence) -> dict[tuple[str, Item], int]:
    """Units built in, by fabric and item, counted from tiers, cards and rows of links."""
    used: Counter[tuple[str, Item]] = Counter()
    for fabric in evidence.fabrics:
        for item, units in _fabric_items(evidence, fabric.made, bool(fabric.built_in)).items():
            used[fabric.made.name, item] += units
    if evidence.case.include_servers:
        used[NO_FABRIC, Item("server", evidence.case.server)] += evidence.servers
    return dict(used)


def _fabric_items(evidence: Evidence, made: FabricDesign, built_in: bool) -> Counter[Item]:
    used: Counter[Item] = Counter()
    for tier in made.tiers:
        used[Item("switch", tier.id)] += tier.count
    if not built_in:
        used[Item("nic", made.nic.id)] += made.nic.per_server * evidence.servers
    for part in (part for row in made.links for part in row.parts):
        used[Item(evidence.kind(part.id), part.id, part.length_m)] += part.quantity
    return used


@dataclass(frozen=True, eq=False)
class Order:
    """The bill of materials, added up by item over all fabrics."""

    evidence: Evidence

    @cached_property
    def bought(self) -> Counter[Item]:
        """Units bought of every item."""
        total: Counter[Item] = Counter()
        for row in self.evidence.design.bom:
            total[item_of(row)] += row.quantity
        return total

    @cached_property
    def in_use(self) -> Counter[Item]:
        """Units in use of every item."""
        total: Counter[Item] = Counter()
        for row in self.evidence.design.bom:
            total[item_of(row)] += row.in_use
        return total


def item_of(row: BomRow) -> Item:
    """The item of a line of the bill."""
    return Item(row.kind, row.id, row.length_m)


def product_of(evidence: Evidence, item: Item) -> Product:
    """The embedded product of an item."""
    product = evidence.product(item.id)
    if evidence.kind(item.id) != item.kind:
        raise LookupError(f"{item.id} is a {evidence.kind(item.id)}, not a {item.kind}")
    return product


def offer_of(evidence: Evidence, item: Item) -> Purchasable:
    """What carries the price: the product, or its length."""
    product = product_of(evidence, item)
    if isinstance(product, Cable | Fibre):
        for length in product.lengths:
            if length.m == item.length_m:
                return length
        raise LookupError(f"{item.id} has no length {item.length_m}")
    if item.length_m is not None or not isinstance(product, Switch | Nic | Transceiver | Server):
        raise LookupError(f"{item} is not sold by length")
    return product


def unit_cents(price: Price | None, quantity: int) -> int:
    """Cents of one unit when ``quantity`` are bought at once: every unit costs what the break says."""
    if price is None:
        raise ValueError("a product without a price is bought")
    if not isinstance(price, tuple):
        return cents(price)
    reached = [step for step in price if step.from_ <= max(quantity, 1)]
    return cents(reached[-1].usd)


def unit_milliwatts(product: Product) -> int:
    """Milliwatts of one unit; nothing for fibres."""
    power = getattr(product, "power_w", None)
    return milliwatts(power) if power is not None else 0


def bom_covers_parts(proof: Proof, evidence: Evidence) -> None:
    """The bill has one line for everything in use, and none for anything else.

    in_use(fabric, item) = sum over tiers, cards, rows of links (and servers, if they count) of their units. Source:
    design file, ``bom``.
    """
    used = items_in_use(evidence)
    listed = {(row.fabric, item_of(row)): row.in_use for row in evidence.design.bom}
    proof.equal("lines of the bill", len(evidence.design.bom), len(used))
    for (fabric, item), units in used.items():
        proof.equal(f"in_use of {item} in {fabric or 'all'}", listed.get((fabric, item)), units)
    for fabric, item in listed.keys() - used.keys():
        proof.holds(False, f"{item} in {fabric or 'all'} is not in use")
    proof.note(f"{len(used)} lines, {sum(used.values())} units in use")


def purchases_cover_use(proof: Proof, evidence: Evidence) -> None:
    """What is bought, with the stock on hand, covers what is in use; more is bought only for a price break.

    need(i) = max(0, sum of in_use - stock); sum of quantity = need, or a break's first quantity above it that costs no
    more in all. Source: docs/formulation.md, purchases.
    """
    order = Order(evidence)
    for item, used in order.in_use.items():
        offer, bought = offer_of(evidence, item), order.bought[item]
        need = max(0, used - (offer.stock or 0))
        proof.holds(bought >= need, f"{bought} x {item} bought, {used} in use, {offer.stock or 0} in stock")
        if bought > need:
            worth = bought * unit_cents(offer.price_usd, bought) <= need * unit_cents(offer.price_usd, need)
            breaks = offer.price_usd if isinstance(offer.price_usd, tuple) else ()
            starts = any(step.from_ == bought for step in breaks)
            proof.holds(worth and starts, f"{bought} x {item} bought, {need} needed, and no price break earns it")
    for row in evidence.design.bom:
        proof.holds(row.quantity >= 0, f"{row.quantity} x {row.id} bought")
    proof.note(f"{sum(order.bought.values())} units bought, {sum(order.in_use.values())} in use")


def supply_lasts(proof: Proof, evidence: Evidence) -> None:
    """No more is bought than can be supplied.

    sum over fabrics of quantity(i) <= supply(i) where an item states one. Source: catalog, ``supply``.
    """
    limited = 0
    for item, bought in Order(evidence).bought.items():
        supply = offer_of(evidence, item).supply
        if supply is not None:
            limited += 1
            proof.holds(bought <= supply, f"{bought} x {item} bought, {supply} can be had")
    proof.note(f"{limited} items with a limited supply")


def prices_are_applied(proof: Proof, evidence: Evidence) -> None:
    """Every line is charged at the embedded price of the whole order's quantity, to the cent.

    unit(i) = price of the break that sum of quantity(i) reaches; total = quantity x unit. Source: catalog, prices.
    """
    order = Order(evidence)
    for row in evidence.design.bom:
        item = item_of(row)
        price = unit_cents(offer_of(evidence, item).price_usd, order.bought[item])
        where = f"{item} in {row.fabric or 'all'}"
        proof.equal(f"unit_price_usd of {where}", row.unit_price_usd, usd(price))
        proof.equal(f"total_usd of {where}", row.total_usd, usd(price * row.quantity))
    proof.note(f"{len(evidence.design.bom)} lines")


def power_adds_up(proof: Proof, evidence: Evidence) -> None:
    """Every line draws what its units in use draw.

    power_w = in_use x power of one unit; fibres draw nothing. Source: catalog, ``power_w``.
    """
    for row in evidence.design.bom:
        power = row.in_use * unit_milliwatts(product_of(evidence, item_of(row)))
        proof.equal(f"power_w of {item_of(row)} in {row.fabric or 'all'}", row.power_w, watts(power))
    proof.note(f"{len(evidence.design.bom)} lines")


def bom_names_products(proof: Proof, evidence: Evidence) -> None:
    """Every line says what to order, in the bill's order and for the stage that is designed.

    Order: fabrics as in the case, then servers; kinds from switch to fibre; id; length. Part number: the length's, else
    the product's. Description: the product's, else vendor and part number or id. Source: design file, ``bom``.
    """
    names = [fabric.name for fabric in evidence.case.fabrics] + [NO_FABRIC]
    keys = []
    for row in evidence.design.bom:
        keys.append((names.index(row.fabric), KIND_ORDER.index(row.kind), row.id, row.length_m or 0))
        item = item_of(row)
        product, offer = product_of(evidence, item), offer_of(evidence, item)
        own = offer.part_number if isinstance(offer, CableLength) else None
        number = own or product.part_number or ""
        proof.equal(f"part_number of {item}", row.part_number, number)
        spelled = " ".join(word for word in (product.vendor, product.part_number or product.id) if word)
        proof.equal(f"description of {item}", row.description, product.description or spelled)
        proof.equal(f"stage of {item}", row.stage, evidence.stage.name)
    proof.equal("order of the lines", keys, sorted(keys))
    proof.note(f"{len(keys)} lines of stage {evidence.stage.name}")
