"""The cost of a design made by hand, compared with the best design of its case, with reasons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from fabopt.design.shares import in_service
from fabopt.inspect.audit.context import HandContext
from fabopt.inspect.audit.rules_network import LinkSpeeds, ports_of_module
from fabopt.inspect.audit.tables import SWITCH_ROLES, AuditFinding
from fabopt.schema.catalog import Cable, Fibre, Nic, Switch, Transceiver
from fabopt.schema.design import Design
from fabopt.schema.in_service import Base, live_in
from fabopt.schema.product import Price, Product, Purchasable
from fabopt.units import MBPS_PER_GBPS, some, summed

# Kinds of parts that are compared, in order: cables of all kinds are one.
KINDS = ("switch", "nic", "transceiver", "cable")
# Roles from the servers up.
_UP = ("server", "attachment", "leaf", "spine", "core", "")
_KIND_OF: Mapping[type[Product], str] = {
    Switch: "switch", Nic: "nic", Transceiver: "transceiver", Cable: "cable", Fibre: "cable",
}  # fmt: skip


class CostRow(NamedTuple):
    """Units and dollars of a kind of parts, by hand and in the best design; ``note``: source of the first."""

    kind: str
    quantity: int
    usd: float
    best_quantity: int
    best_usd: float
    note: str = ""


@dataclass(frozen=True)
class CostComparison:
    """Costs by kind. ``notes``: on parts without a price, or taken from the best design."""

    rows: Sequence[CostRow]
    notes: Sequence[str]

    @property
    def usd(self) -> float:
        """Dollars of the design by hand."""
        return round(sum(row.usd for row in self.rows), 2)

    @property
    def best_usd(self) -> float:
        """Dollars of the same kinds of parts of the best design."""
        return round(sum(row.best_usd for row in self.rows), 2)

    @property
    def above_usd(self) -> float:
        """Extra cost of the design by hand in USD; negative if cheaper."""
        return round(self.usd - self.best_usd, 2)

    def reasons(self) -> list[str]:
        """Why it costs more, the largest difference first."""
        rows = sorted(self.rows, key=lambda row: row.best_usd - row.usd)
        return [
            f"{row.kind}: {row.quantity:,} for ${row.usd:,.0f}, in the best design {row.best_quantity:,} for "
            f"${row.best_usd:,.0f}: ${row.usd - row.best_usd:,.0f} more"
            for row in rows
            if row.usd - row.best_usd >= 1
        ]


@dataclass
class _Parts:
    """Units of products, by length, while they are counted."""

    units: Counter[tuple[str, float | None]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def compared_cost(context: HandContext) -> CostComparison | None:
    """Costs of a design by hand and of the best design; None without one, or without prices."""
    if context.best is None or context.best.totals is None or not context.best.fabrics:
        return None
    parts = _of_bill(context) if context.hand.counts is not None else _of_links(context)
    best_units, best_usd = _best(context.best)
    units: Counter[str] = Counter()
    dollars: dict[str, float] = defaultdict(float)
    prices = _Prices(context.best)
    notes = list(parts.notes)
    for (id_, length), number in parts.units.items():
        product = context.names.products[id_]
        unit = prices.of(product, length, number)
        kind = _KIND_OF.get(type(product), "")
        if unit is None:
            notes.append(f"{some(number, 'unit')} of {id_} have no price and count nothing")
        if kind:
            units[kind] += number
            dollars[kind] += (unit or 0) * number
    notes += _substitutions(context, parts.units, prices)
    rows = [CostRow(kind, units[kind], round(dollars[kind], 2), best_units[kind], best_usd[kind]) for kind in KINDS]
    return CostComparison(list(_completed(context, rows, notes)), notes)


def _substitutions(context: HandContext, units: Counter[tuple[str, float | None]], prices: _Prices) -> Iterator[str]:
    """Notes on switches that the best design replaces by one with equal cages, such as an unmanaged twin."""
    assert context.best is not None
    rows = zip(context.best.bom, _in_service(context.best), strict=True)
    bought = summed((row.id, row.quantity + live) for row, live in rows if row.kind == "switch")
    for (id_, _), number in units.items():
        own = context.names.products[id_]
        if not isinstance(own, Switch) or bought[id_]:
            continue
        for other in (product for name in bought if isinstance(product := context.names.products.get(name), Switch)):
            unit, instead = prices.of(own, None, number), prices.of(other, None, number)
            if (own.cages, own.protocol, own.asic) == (other.cages, other.protocol, other.asic):
                if unit is None or instead is None:
                    continue
                words = {(True, False): ", managed", (False, True): ", unmanaged"}
                told = words.get((bool(own.managed), bool(other.managed)), "")
                more = (unit - instead) * number
                side = f"${more:,.0f} more" if more >= 0 else f"${-more:,.0f} less"
                yield f"{number:,} {id_} in place of {other.id}: the same ports{told}, {side}"


def _best(best: Design) -> tuple[Counter[str], dict[str, float]]:
    """Units and dollars of the best design by kind, with those in service that it goes on from, as the file has them
    too; servers and work are left out.
    """
    units: Counter[str] = Counter()
    dollars: dict[str, float] = defaultdict(float)
    for row, there in zip(best.bom, _in_service(best), strict=True):
        kind = "cable" if row.kind == "fibre" else row.kind
        units[kind] += row.quantity + there
        dollars[kind] = round(dollars[kind] + row.total_usd + there * row.unit_price_usd, 2)
    return units, dollars


def _in_service(best: Design) -> Iterator[int]:
    """Units of each row of the best design's bill that are in service, which it goes on from."""
    live = live_in(best.case.content)
    return in_service(best.bom, live.owned if isinstance(live, Base) else {})


class _Prices:
    """Prices as the best design pays them, else as the catalog has them."""

    def __init__(self, best: Design) -> None:
        rows = sorted(zip(best.bom, _in_service(best), strict=True), key=lambda one: one[0].quantity > 0)
        self._paid = {(row.id, row.length_m): float(row.unit_price_usd) for row, live in rows if row.quantity or live}

    def of(self, product: Product, length: float | None, number: int) -> float | None:
        """Unit price (USD) at an order quantity; a length that is not sold is priced as the next longer one."""
        if (product.id, length) in self._paid:
            return self._paid[product.id, length]
        if isinstance(product, Cable | Fibre):
            sold = sorted(product.lengths, key=lambda one: one.m)
            fitting = [one for one in sold if length is None or one.m >= length] or sold[-1:]
            return _at(fitting[0].price_usd, number)
        return _at(product.price_usd, number) if isinstance(product, Purchasable) else None


def _at(price: Price | None, number: int) -> float | None:
    """Unit price (USD) at an order quantity, of a price with or without breaks."""
    if isinstance(price, tuple):
        return max((one for one in price if one.from_ <= number), key=lambda one: one.from_).usd
    return price


def _of_bill(context: HandContext) -> _Parts:
    parts, unknown = _Parts(), 0
    assert context.hand.counts is not None
    for part in context.hand.counts.parts:
        product = context.any_product(part.name)
        length = part.length_m
        if product is None:
            unknown += 1
            continue
        if length is None:
            length = next((match.length_m for match in context.names.called(part.name)), None)
        parts.units[product.id, length] += part.quantity
    numbers = context.hand.counts.numbers
    for role in SWITCH_ROLES:
        product = _switch_of(context, role)
        if numbers.get(role) and product is not None:
            parts.units[product.id, None] += numbers[role]
    if unknown:
        parts.notes.append(f"{some(unknown, 'line')} of no known product count nothing")
    return parts


def _switch_of(context: HandContext, role: str) -> Switch | None:
    """The switch of a tier: as the file names it, else as in the best design."""
    assert context.hand.counts is not None and context.best is not None
    named = context.hand.counts.products.get(role) or context.hand.counts.products.get("switch", "")
    ids = [tier.id for fabric in context.best.fabrics[:1] for tier in fabric.tiers if tier.role in (role, "leaf")]
    return context.product(named, Switch) or (context.product(ids[-1], Switch) if ids else None)


def _of_links(context: HandContext) -> _Parts:
    """Switches by name, cables and modules as far as the file names them."""
    parts = _Parts()
    for switch in context.switch_of.values():
        parts.units[switch.id, None] += 1
    labels: set[str] = set()
    for link in context.hand.links:
        product = context.any_product(link.cable.part) if link.cable.part else None
        if isinstance(product, Cable | Fibre) and (not link.cable.label or link.cable.label not in labels):
            labels.add(link.cable.label)
            parts.units[product.id, link.cable.length_m] += 1
    for name, number in _modules(context).items():
        parts.units[name, None] += number
    return parts


def _modules(context: HandContext) -> Counter[str]:
    """Units of transceivers: as listed; else its named ends on a device over its ports."""
    modules: Counter[str] = Counter()
    if context.hand.modules is not None:
        for listed in context.hand.modules:
            product = context.product(listed.part, Transceiver)
            modules.update([product.id] if product is not None else [])
        return modules
    speeds, room = LinkSpeeds(context), defaultdict[tuple[str, str], Fraction](Fraction)
    for link in context.hand.links:
        for device, optic in zip((link.a, link.b), link.cable.optics, strict=True):
            own = context.product(optic, Transceiver) if optic else None
            if own is not None:
                room[device, own.id] += Fraction(1, ports_of_module(own, speeds.of_link(link)))
    for (_, id_), share in room.items():
        modules[id_] += ceil(share)
    return modules


def _completed(context: HandContext, rows: Sequence[CostRow], notes: list[str]) -> Iterator[CostRow]:
    """Rows with missing parts filled in: NICs as in the best design, cables and optics by the file's links.

    Kinds and speeds of links that the best design lacks are priced on neither side.
    """
    for row in rows:
        if not row.quantity and not row.best_quantity:
            continue
        if row.quantity or not row.best_quantity:
            yield row
        elif row.kind in ("transceiver", "cable"):
            priced, why = _of_own_links(context, row.kind)
            if priced is None:
                notes.append(f"{row.kind}s are not priced: the file names none, and {why}")
            else:
                notes.append(f"the file names no {row.kind}s: {priced[0]:,} by its links and their speeds")
                yield row._replace(quantity=priced[0], usd=priced[1])
        elif row.kind == "switch":
            notes.append("switches are not priced: the file names no product")
        else:
            notes.append(f"the file names no {row.kind}s: taken as in the best design")
            yield row._replace(quantity=row.best_quantity, usd=row.best_usd)


class _LinkKind(NamedTuple):
    """The roles at the ends of links, from the servers up, and their speed in Gb/s; None where nobody says it."""

    near: str
    far: str
    gbps: float | None


def _of_own_links(context: HandContext, kind: str) -> tuple[tuple[int, float] | None, str]:
    """Units and dollars of the cables or transceivers of the file's links, priced as links of the same kind and speed
    are in the best design; or None and why they are not.
    """
    assert context.best is not None
    prices = _Prices(context.best)
    units, usd = Fraction(0), Fraction(0)
    for own, number in _kinds_of_links(context).items():
        alike = [
            row for fabric in context.best.fabrics for row in fabric.links
            if (row.from_, row.to) == (own.near, own.far) and own.gbps in (None, float(row.gbps))
        ]  # fmt: skip
        total = sum(row.count for row in alike)
        if not total:
            speed = "" if own.gbps is None else f" at {own.gbps:g} Gb/s"
            return None, f"the best design has no link from {own.near} to {own.far}{speed}"
        for part in (part for row in alike for part in row.parts):
            product = context.names.products.get(part.id)
            if product is None or _KIND_OF.get(type(product), "") != kind:
                continue
            length = None if part.length_m is None else float(part.length_m)
            unit = prices.of(product, length, part.quantity)
            if unit is None:
                return None, f"{part.id} has no price"
            units += Fraction(part.quantity * number, total)
            usd += Fraction(part.quantity * number, total) * Fraction(unit)
    return (ceil(units), round(float(usd), 2)), ""


def _kinds_of_links(context: HandContext) -> Counter[_LinkKind]:
    """Links of the file by their ends and speeds."""
    counts = context.hand.counts
    if counts is not None:
        said = counts.numbers.get("gbps")
        pairs = (("server", "leaf", "server_leaf"), ("leaf", "spine", "leaf_spine"), ("spine", "core", "spine_core"))
        gbps = None if said is None else float(said)
        return Counter(
            {_LinkKind(a, b, gbps): counts.numbers[name] for a, b, name in pairs if counts.numbers.get(name)}
        )
    speeds = LinkSpeeds(context)
    kinds: Counter[_LinkKind] = Counter()
    for link in context.hand.links:
        near, far = sorted((context.roles[link.a], context.roles[link.b]), key=_UP.index)
        rate = speeds.of_link(link)
        kinds[_LinkKind(near, far, None if rate is None else rate / MBPS_PER_GBPS)] += 1
    return kinds


def price_finding(cost: CostComparison | None, best: Design | None) -> Iterator[AuditFinding]:
    """A16: the cost of the design by hand beyond the best one of its case."""
    if cost is None or best is None or cost.above_usd < 1:
        return
    proof = "proven optimal" if best.status == "optimal" else "the best found in time"
    live = ", with what is in service" if any(_in_service(best)) else ""
    text = (
        f"${cost.usd:,.0f} where the best design of the case costs ${cost.best_usd:,.0f}{live} ({proof}): "
        f"${cost.above_usd:,.0f} more"
    )
    yield AuditFinding("A16", "price", f"${cost.usd:,.2f}", f"${cost.best_usd:,.2f}", text, usd=cost.above_usd)
