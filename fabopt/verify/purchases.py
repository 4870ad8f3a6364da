"""Rules of the bill: a line for every item in use at its stage, at the embedded prices of then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from fabopt.schema.catalog import ByLength, CableLength, Nic, Panel, Switch, Transceiver
from fabopt.schema.design import MOVED_DESCRIPTION, BomRow, FabricDesign, LogicalUse
from fabopt.schema.product import Product, Purchasable
from fabopt.schema.server import Server
from fabopt.schema.subnet_manager import twins_of
from fabopt.units import cents, milliwatts, rounded, some, summed, usd, watts
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.moves import moves_of, usd_of_a_move
from fabopt.verify.parts_of_trunks import parts_of_trunks
from fabopt.verify.proof import Proof
from fabopt.verify.terms_of_sale import fallen, is_expedited, worth
from fabopt.verify.wiring import CabledDesign

KIND_ORDER = ("switch", "nic", "transceiver", "cable", "fibre", "trunk", "panel", "server", "other")
NO_FABRIC = ""


@dataclass(frozen=True)
class BilledItem:
    """A product, or one length of it: ordered under one price."""

    kind: str
    id: str
    length_m: float | None = None

    def __str__(self) -> str:
        return self.id if self.length_m is None else f"{self.id} {self.length_m:g} m"


Used = dict[tuple[int, str, BilledItem], int]


def items_in_use(evidence: Evidence) -> Used:
    """Units that each stage adds, by stage, fabric and item: from tiers, NICs, rows of links and moves."""
    used: Counter[tuple[int, str, BilledItem]] = Counter()
    for fabric in evidence.fabrics:
        for (stage, item), units in _fabric_items(evidence, fabric.designed, bool(fabric.built_in)).items():
            used[stage, fabric.designed.name, item] += units
        for name, items in _logical_items(fabric).items():
            for item, units in items.items():
                used[0, name, item] += units
                used[0, fabric.designed.name, item] -= units
    if evidence.case.include_servers:
        counts = [sold(evidence.server, servers) for servers in evidence.servers_by_stage]
        for stage, more in enumerate(_added(counts)):
            used[stage, NO_FABRIC, BilledItem("server", evidence.case.server_id)] += more
    return {key: units for key, units in used.items() if units}


def sold(server: Server, servers: int) -> int:
    """Units bought for ``servers`` servers: of a rack-scale system whole racks."""
    in_rack = 1 if server.rack is None else sum(devices.count for devices in server.rack.devices if devices.is_servers)
    return -(-servers // in_rack)


def _logical_items(fabric: FabricEvidence) -> dict[str, Counter[BilledItem]]:
    """Items of every logical fabric on another: its NICs, and the parts of its own links."""
    evidence, networks = fabric.evidence, {logical.name: logical.network for logical in fabric.wanted.attachments}
    items: dict[str, Counter[BilledItem]] = {}
    for logical in fabric.designed.logical:
        items[logical.name] = Counter({BilledItem("nic", logical.nic.id): _bought_nics(evidence, logical)})
    for row in fabric.designed.links:
        name = None if row.attachment is None else networks[row.attachment]
        if name is not None:
            for part in row.parts:
                items[name][BilledItem(evidence.kind(part.id), part.id, part.length_m)] += part.quantity
    return items


def _bought_nics(evidence: Evidence, logical: LogicalUse) -> int:
    return 0 if logical.nic.built_in else logical.nic.per_server * evidence.servers


def _added(counts: Sequence[int]) -> list[int]:
    return [now - before for before, now in pairwise([0, *counts])]


def _fabric_items(evidence: Evidence, designed: FabricDesign, built_in: bool) -> Counter[tuple[int, BilledItem]]:
    used: Counter[tuple[int, BilledItem]] = Counter()
    grown = {stage_of_file.stage: stage_of_file for stage_of_file in designed.growth}
    for tier in designed.tiers:
        counts = [grown[name].switches(tier.role) for name in evidence.stage_names] if grown else [tier.count]
        if counts[-1] != tier.count:
            raise ValueError(f"growth ends with {some(counts[-1], f'{tier.role} switch')}, the tier has {tier.count}")
        for stage, more in enumerate(_added(counts)):
            used[stage, BilledItem("switch", tier.id)] += more
        if tier.other is not None:
            used[0, BilledItem("switch", tier.id)] -= tier.other.count
            used[0, BilledItem("switch", tier.other.id)] += tier.other.count
        for twin in twins_of(designed.subnet_manager, tier.role):
            for stage, more in enumerate(_added([min(twin.count, count) for count in counts])):
                used[stage, BilledItem("switch", tier.id)] -= more
                used[stage, BilledItem("switch", twin.id)] += more
    for logical in designed.logical:
        used[0, BilledItem("nic", logical.nic.id)] += _bought_nics(evidence, logical)
    if not built_in:
        servers = evidence.servers_by_stage if grown else [evidence.servers]
        for stage, more in enumerate(_added(servers)):
            used[stage, BilledItem("nic", designed.nic.id)] += designed.nic.per_server * more
    exchanged = [("nic", designed.nic.id, stand_in) for stand_in in designed.nic.stand_ins]
    exchanged += [("switch", tier.id, stand_in) for tier in designed.tiers for stand_in in tier.stand_ins]
    for kind, id_, other in exchanged:
        for item, more in ((id_, -other.count), (other.id, other.count)):
            used[evidence.stage_names.index(other.stage), BilledItem(kind, item)] += more
    if grown:
        used.update(_link_parts_by_stage(evidence, designed))
    for part in () if grown else (part for row in designed.links for part in row.parts):
        used[0, BilledItem(evidence.kind(part.id), part.id, part.length_m)] += part.quantity
    used.update({(at, BilledItem(*item)): units for (at, item), units in parts_of_trunks(evidence, designed).items()})
    used.update({(at, BilledItem("other", name)): units for (at, name), units in moves_of(evidence, designed).items()})
    return used


def _link_parts_by_stage(evidence: Evidence, designed: FabricDesign) -> Counter[tuple[int, BilledItem]]:
    """Cables and modules of a fabric by the stage that installs them, counted in the explicit wiring."""
    wiring = CabledDesign(evidence).wiring
    index = wiring.fabrics.index(designed.name)
    cables, modules = wiring.cables, wiring.modules
    used = Counter(
        (int(cables.stage[row]), BilledItem(evidence.kind(part := cables.part[row]), part, float(cables.length_m[row])))
        for row in np.flatnonzero(cables.fabric == index).tolist()
    )
    used.update(
        (int(modules.stage[row]), BilledItem("transceiver", modules.part[row]))
        for row in np.flatnonzero(modules.fabric == index).tolist()
    )
    return used


@dataclass(frozen=True, eq=False)
class BilledOrder:
    """The bill of materials, added up by stage and item over all fabrics."""

    evidence: Evidence

    def _sum(self, count: Callable[[BomRow], int]) -> Counter[tuple[int, BilledItem]]:
        return summed(
            ((self.evidence.stage_names.index(row.stage), item_of(row)), count(row)) for row in self.evidence.goods
        )

    @cached_property
    def bought(self) -> Counter[tuple[int, BilledItem]]:
        """Units bought of every item at every stage."""
        return self._sum(lambda row: row.quantity)

    @cached_property
    def in_use(self) -> Counter[tuple[int, BilledItem]]:
        """Units of every item that every stage puts to use."""
        return self._sum(lambda row: row.in_use)

    @cached_property
    def spares(self) -> Counter[tuple[int, BilledItem]]:
        """Spares of every item that every stage adds."""
        return self._sum(lambda row: row.spares)

    @cached_property
    def items(self) -> list[BilledItem]:
        """Every item of the bill, once."""
        return list(dict.fromkeys(item for _, item in self.bought))

    def by(self, counts: Counter[tuple[int, BilledItem]], item: BilledItem, stage: int) -> int:
        """Units of an item over all stages up to one."""
        return sum(counts[at, item] for at in range(stage + 1))


def item_of(row: BomRow) -> BilledItem:
    """The item of a line of the bill."""
    return BilledItem(row.kind, row.id, row.length_m)


def product_of(evidence: Evidence, item: BilledItem) -> Product:
    """The embedded product of an item; ``LookupError`` for an id without a product of the item's kind."""
    product = evidence.product(item.id)
    if evidence.kind(item.id) != item.kind:
        raise LookupError(f"{item.id} is a {evidence.kind(item.id)}, not a {item.kind}")
    return product


def offer_of(evidence: Evidence, item: BilledItem) -> Purchasable:
    """The holder of the price: the product, or its length."""
    product = product_of(evidence, item)
    if isinstance(product, ByLength):
        for length in product.lengths:
            if length.m == item.length_m:
                return length
        raise LookupError(f"{item.id} has no length {item.length_m}")
    if item.length_m is not None or not isinstance(product, Switch | Nic | Transceiver | Panel | Server):
        raise LookupError(f"{item} is not sold by length")
    return product


CABLE_MOVE, DEVICE_MOVE = MOVES = tuple(BilledItem("other", name) for name in MOVED_DESCRIPTION)


def breaks_of(evidence: Evidence, item: BilledItem, stage: int, present: bool = False) -> list[tuple[int, int]]:
    """(first quantity, cents of a unit) of every price break at a stage; ``present``: at month 0."""
    return breaks_in(evidence, item, evidence.months[stage], present)


def breaks_in(
    evidence: Evidence, item: BilledItem, month: int, present: bool, factor: Fraction = Fraction(1)
) -> list[tuple[int, int]]:
    """(first quantity, cents of a unit) of every price break in a month, at ``factor`` times the price.

    With the surcharge of an expedited order, which neither falls nor is multiplied.
    """
    finance = evidence.case.finance
    surcharge = expedite_cents(evidence, item, month)
    firm_until = None
    if item in MOVES:
        steps = [(1, usd_of_a_move(evidence.case, item.id))]
    else:
        offer = offer_of(evidence, item)
        price, firm_until = offer.price_usd, offer.firm_until
        if price is None:
            raise ValueError("a product without a price is bought")
        steps = [(step.from_, step.usd) for step in price] if isinstance(price, tuple) else [(1, price)]
    terms = finance, item.kind, month, firm_until, evidence.case.start
    prices = [
        (start, rounded(factor * fallen(cents(usd_each), *terms)) + (surcharge or 0)) for start, usd_each in steps
    ]
    return [(start, worth(price, finance, month)) for start, price in prices] if present else prices


def expedite_cents(evidence: Evidence, item: BilledItem, month: int) -> int | None:
    """Surcharge in cents of a unit ordered for a month too late for its lead time; None: it is not expedited."""
    offer = None if item in MOVES else offer_of(evidence, item)
    if offer is None or offer.expedite is None:
        return None
    expedited = is_expedited(month, offer, evidence.case.procurement.order_from_month)
    return cents(offer.expedite.price_usd) if expedited else None


def is_incremental(evidence: Evidence, item: BilledItem) -> bool:
    """Whether a break's price is paid from its first unit on only."""
    return item not in MOVES and offer_of(evidence, item).price_breaks == "incremental"


def reached(breaks: Sequence[tuple[int, int]], quantity: int) -> tuple[int, int]:
    """The break that an order of a quantity reaches."""
    return [step for step in breaks if step[0] <= max(quantity, 1)][-1]


def order_cents(evidence: Evidence, item: BilledItem, stage: int, quantity: int, present: bool = False) -> int:
    """Cents of an order of ``quantity`` units at a stage."""
    return cents_at(evidence, item, quantity, breaks_of(evidence, item, stage, present))


def cents_at(evidence: Evidence, item: BilledItem, quantity: int, breaks: Sequence[tuple[int, int]]) -> int:
    """Cents of an order of ``quantity`` units at some price breaks."""
    if not is_incremental(evidence, item):
        return quantity * reached(breaks, quantity)[1]
    ends = [start - 1 for start, _ in breaks[1:]] + [quantity]
    return sum(max(0, min(quantity, end) - start + 1) * price for (start, price), end in zip(breaks, ends, strict=True))


def units_milliwatts(evidence: Evidence, item: BilledItem) -> int:
    """Milliwatts of one unit of an item of the bill."""
    return 0 if item in MOVES else unit_milliwatts(product_of(evidence, item))


def unit_milliwatts(product: Product) -> int:
    """Milliwatts of one unit; 0 for fibres."""
    power = getattr(product, "power_w", None)
    return milliwatts(power) if power is not None else 0


def bom_covers_parts(proof: Proof, evidence: Evidence) -> None:
    """The bill has one line for every item that a stage puts to use, and others only for spares and early purchases.

    in_use(stage, fabric, item) = sum over tiers, NICs, rows of links, moves (and servers, if they count) of the units
    that the stage adds. Lines without use are of no fabric, and keep spares or buy units. Source: design file, ``bom``.
    """
    used = items_in_use(evidence)
    listed: Counter[tuple[int, str, BilledItem]] = Counter()
    for row in evidence.goods:
        key = (evidence.stage_names.index(row.stage), row.fabric, item_of(row))
        if key in used and not row.spares:
            proof.holds(key not in listed, f"{key[2]} in {row.fabric or 'all'} has two lines")
            listed[key] += row.in_use
        else:
            proof.equal(f"in_use of {key[2]} in {row.fabric or 'all'}", row.in_use, 0)
            proof.holds(row.fabric == NO_FABRIC and row.spares + row.quantity > 0, f"{key[2]} is not in use")
    for key, units in used.items():
        proof.equal(f"in_use of {key[2]} in {key[1] or 'all'}", listed.get(key), units)
    keys = [(row.stage, row.fabric, item_of(row), row.spares > 0) for row in evidence.goods]
    proof.equal("different lines of the bill", len(set(keys)), len(keys))
    proof.note(f"{some(len(used), 'line')}, {some(sum(used.values()), 'unit')} in use")


def prices_are_applied(proof: Proof, evidence: Evidence) -> None:
    """Every line is charged at the embedded price of its stage and of the whole order's quantity, to the cent.

    unit(i, s) = price of the break that the quantity of stage s reaches, fallen until then, and the surcharge where the
    order is expedited; total = quantity x unit, or at incremental breaks the increment over the lines above it. Present
    values alike. Source: catalog, prices, ``expedite``; case file, ``finance``.
    """
    for row, prices in priced_rows(evidence):
        where = f"{item_of(row)} in {row.fabric or 'all'}"
        for name, recounted in prices.items():
            claimed = getattr(row, name)
            if claimed is not None:
                proof.equal(f"{name} of {where}", claimed, recounted)
    proof.note(f"{some(len(evidence.goods), 'line')}")


def priced_rows(evidence: Evidence) -> Iterator[tuple[BomRow, dict[str, int | float | None]]]:
    """Every line of the bill with its prices, computed from the embedded ones and the quantities of the bill."""
    order = BilledOrder(evidence)
    before: Counter[tuple[int, BilledItem]] = Counter()
    for row in evidence.goods:
        item, stage = item_of(row), evidence.stage_names.index(row.stage)
        breaks = breaks_of(evidence, item, stage)
        start, price = reached(breaks, order.bought[stage, item])
        surcharge = expedite_cents(evidence, item, evidence.months[stage])
        total, worth = (_line_cents(evidence, order, row, before[stage, item], present) for present in (False, True))
        yield (
            row,
            {
                "unit_price_usd": usd(price),
                "total_usd": usd(total),
                "present_value_usd": usd(worth),
                "single_price_usd": usd(breaks[0][1]),
                "break_from": start if len(breaks) > 1 else None,
                "expedite_usd": None if surcharge is None or not row.quantity else usd(surcharge),
            },
        )
        before[stage, item] += row.quantity


def _line_cents(evidence: Evidence, order: BilledOrder, row: BomRow, before: int, present: bool) -> int:
    item, stage = item_of(row), evidence.stage_names.index(row.stage)
    if is_incremental(evidence, item):
        costs = [order_cents(evidence, item, stage, units, present) for units in (before, before + row.quantity)]
        return costs[1] - costs[0]
    return row.quantity * reached(breaks_of(evidence, item, stage, present), order.bought[stage, item])[1]


def power_adds_up(proof: Proof, evidence: Evidence) -> None:
    """Every line has the power of its units in use. power_w = in_use x power of one unit; fibres use none.

    Source: catalog, ``power_w``.
    """
    for row in evidence.goods:
        power = row.in_use * units_milliwatts(evidence, item_of(row))
        proof.equal(f"power_w of {item_of(row)} in {row.fabric or 'all'}", row.power_w, watts(power))
    proof.note(f"{some(len(evidence.goods), 'line')}")


def bom_names_products(proof: Proof, evidence: Evidence) -> None:
    """Every line names its product, in the bill's order.

    Order: stages; fabrics as in the case, each with the logical ones on it, then lines of no fabric, then spares; kinds
    from switch to other; id; length. Part number: the length's, of a switch that of any airflow, else the product's.
    Vendor: whose offer it is. Description: the product's, else vendor and part number or id. Source: ``bom``.
    """
    logical = {fabric.name: [logical_use.name for logical_use in fabric.logical] for fabric in evidence.design.fabrics}
    names = [name for wanted in evidence.case.fabrics for name in (wanted.name, *logical.get(wanted.name, ()))] + [
        NO_FABRIC
    ]
    keys = []
    for row in evidence.design.bom:
        item = item_of(row)
        where = (evidence.stage_names.index(row.stage), names.index(row.fabric), row.spares > 0)
        keys.append((*where, KIND_ORDER.index(row.kind), row.id, row.length_m or 0))
        if row.charge is not None:
            continue
        number, text = _words(evidence, item)
        if row.kind != "switch" or (row.part_number or None) not in evidence.part(row.id, Switch).airflows.values():
            proof.equal(f"part_number of {item}", row.part_number, number)
        proof.equal(f"description of {item}", row.description, text)
        if item not in MOVES:
            proof.equal(f"vendor of {item}", row.sold_by, product_of(evidence, item).sold_by)
    proof.equal("order of the lines", keys, sorted(keys))
    proof.note(f"{some(len(keys), 'line')} of {some(len(evidence.stage_names), 'stage')}")


def _words(evidence: Evidence, item: BilledItem) -> tuple[str, str]:
    """Part number and description."""
    if item in MOVES:
        return "", MOVED_DESCRIPTION[item.id]
    product, offer = product_of(evidence, item), offer_of(evidence, item)
    own = offer.part_number if isinstance(offer, CableLength) else None
    spelled = " ".join(word for word in (product.vendor, product.part_number or product.id) if word)
    return own or product.part_number or "", product.description or spelled
