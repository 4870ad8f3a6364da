"""Rules of buying: orders cover use, in time, within supply, in legal sizes, and economically."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from fractions import Fraction

from fabopt.parts.names import order_code
from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.catalog import ByLength
from fabopt.schema.procurement import Spares
from fabopt.units import ceil_div, exact, plain_fraction, some
from fabopt.verify.charges import order_charges_cents
from fabopt.verify.evidence import Evidence
from fabopt.verify.futures import ways_to_grow
from fabopt.verify.proof import FIRST, Proof, named_edition, since, where
from fabopt.verify.purchases import MOVES, BilledItem, BilledOrder, expedite_cents, item_of, offer_of, order_cents
from fabopt.verify.terms_of_sale import (
    is_allowed,
    is_late,
    of_kind,
    order_month,
    supply_by,
    vendor_may_sell,
    weeks_taken,
)

MONTH_DIGITS = 2
# Of each stage, in one future.
Months = Sequence[int | None]
KINDS_UNDER_RULES = ("switch", "nic", "transceiver", "cable", "fibre")


def _stock(evidence: Evidence, item: BilledItem) -> int:
    return 0 if item in MOVES else offer_of(evidence, item).stock or 0


def _stages(evidence: Evidence) -> range:
    return range(len(evidence.stage_names))


def _units_left(evidence: Evidence, order: BilledOrder, item: BilledItem, stage: int) -> int:
    """Units at a stage beyond those used and kept by then; negative if some lack."""
    needed = order.by(order.in_use, item, stage) + order.by(order.spares, item, stage)
    return _stock(evidence, item) + order.by(order.bought, item, stage) - needed


def purchases_cover_use(proof: Proof, evidence: Evidence) -> None:
    """At every stage, purchases so far and the stock cover units in use and spares; no smaller order costs less.

    stock + sum of quantity up to s >= sum of in_use and spares up to s; every order is the cheapest that leaves enough,
    all other orders unchanged. Of each row quantity + from_stock + from_earlier = in_use + spares + beyond_need; units
    that a stage does not order are left of earlier orders, or else from stock. Source: docs/formulation/procurement.md.
    """
    order = BilledOrder(evidence)
    for item in order.items:
        for stage in _stages(evidence):
            left = _units_left(evidence, order, item, stage)
            bought, used = order.by(order.bought, item, stage), order.by(order.in_use, item, stage)
            stock = _stock(evidence, item)
            proof.holds(left >= 0, f"{bought} x {item} bought, {used} in use, {stock} in stock, {-left} lack")
        for stage in _stages(evidence):
            _no_smaller_order(proof, evidence, order, item, stage)
    for row in evidence.goods:
        proof.holds(row.quantity >= 0 and row.spares >= 0, f"{row.quantity} x {row.id} bought, {row.spares} kept")
    if named_edition(evidence.design) != FIRST:  # whose rows do not say where their units come from
        _units_are_told_apart(proof, evidence, order)
    proof.note(f"{some(sum(order.bought.values()), 'unit')} bought, {sum(order.in_use.values())} in use")


def _units_are_told_apart(proof: Proof, evidence: Evidence, order: BilledOrder) -> None:
    """Every row states its units from stock, from earlier orders, and beyond need."""
    told: Counter[tuple[int, BilledItem, str]] = Counter()
    for row in evidence.goods:
        if item_of(row) in MOVES:
            continue
        need, there = row.in_use + row.spares, row.quantity + row.from_stock + row.from_earlier
        words = f"{row.id} for {row.stage}: {there} come, {need} are needed and {row.beyond_need} beyond"
        proof.holds(there == need + row.beyond_need and min(row.from_stock, row.from_earlier) >= 0, words)
        counts = (row.from_stock, row.from_earlier, row.beyond_need)
        for key, units in zip(("stock", "earlier", "beyond"), counts, strict=True):
            told[evidence.stage_names.index(row.stage), item_of(row), key] += units
    for item in (item for item in order.items if item not in MOVES):
        ahead = 0
        for stage in _stages(evidence):
            lack = order.in_use[stage, item] + order.spares[stage, item] - order.bought[stage, item]
            earlier = min(ahead, max(0, lack))
            wanted = {"stock": max(0, lack) - earlier, "earlier": earlier, "beyond": max(0, -lack)}
            for key, units in wanted.items():
                proof.equal(f"{item} at stage {stage + 1}, {key}", told[stage, item, key], units)
            ahead += wanted["beyond"] - earlier


def _no_smaller_order(proof: Proof, evidence: Evidence, order: BilledOrder, item: BilledItem, stage: int) -> None:
    """Only a price break, a smallest order or a pack is a reason to buy more than needed."""
    quantity = order.bought[stage, item]
    spare = min(_units_left(evidence, order, item, at) for at in _stages(evidence) if at >= stage)
    for months in _ways(evidence):
        late = _late(evidence, item, months)
        if stage in late:
            spare = min(spare, *(_left_of_late(evidence, order, item, late, at) for at in late if at >= stage))
    if quantity <= 0 or spare <= 0:
        return
    present = evidence.case.objective == "tco_usd"
    cost = _paid_cents(evidence, item, stage, quantity, present)
    for smaller in _order_sizes(evidence, item, max(0, quantity - spare)):
        if smaller < quantity:
            cheaper = _paid_cents(evidence, item, stage, smaller, present) < cost
            proof.holds(not cheaper, f"{quantity} x {item} bought where {smaller} would do for less")


def _paid_cents(evidence: Evidence, item: BilledItem, stage: int, quantity: int, present: bool) -> int:
    """Cents of an order of ``quantity`` units with the charges on it."""
    charges = order_charges_cents(evidence, item, stage, quantity, present)
    return order_cents(evidence, item, stage, quantity, present) + charges


def _order_sizes(evidence: Evidence, item: BilledItem, least: int) -> Iterator[int]:
    """Sizes of orders of at least ``least`` units that could be the cheapest: none at all, and the smallest of each
    break.
    """
    if least == 0:
        yield 0
    offer = offer_of(evidence, item)
    pack, price = offer.pack_size or 1, offer.price_usd
    for start in [step.from_ for step in price] if isinstance(price, tuple) else [1]:
        yield ceil_div(max(least, start, offer.minimum_order or 1), pack) * pack


def orders_are_whole(proof: Proof, evidence: Evidence) -> None:
    """Every order is of whole packs, and not below the smallest order.

    quantity(i, s) = 0 or >= minimum_order; pack_size | quantity(i, s). Source: catalog.
    """
    ruled = 0
    for (_, item), quantity in BilledOrder(evidence).bought.items():
        if item in MOVES or not quantity:
            continue
        least, pack = offer_of(evidence, item).minimum_order or 1, offer_of(evidence, item).pack_size or 1
        ruled += max(least, pack) > 1
        proof.holds(quantity >= least, f"{quantity} x {item} bought, the smallest order is {least}")
        proof.holds(quantity % pack == 0, f"{quantity} x {item} bought, packs are of {pack}")
    proof.note(f"{some(ruled, 'order')} with a smallest size or packs")


def supply_lasts(proof: Proof, evidence: Evidence) -> None:
    """At every stage no more has been bought than the supply by then, whichever future comes. sum of quantity(i) up to
    s <= supply(i) by the month of s, where an item states one. Source: catalog, ``supply``.
    """
    order, limited = BilledOrder(evidence), 0
    for item in order.items:
        supply = None if item in MOVES else offer_of(evidence, item).supply
        if supply is None:
            continue
        limited += 1
        for stage, month in ((at, month) for months in _ways(evidence) for at, month in enumerate(months)):
            bought, most = order.by(order.bought, item, stage), None if month is None else supply_by(supply, month)
            proof.holds(most is None or bought <= most, f"{bought} x {item} bought, {most} can be had")
    proof.note(f"{some(limited, 'item')} with a limited supply")


def orders_arrive_in_time(proof: Proof, evidence: Evidence) -> None:
    """No order comes too late for its stage; stages too late for an order use stock.

    A stage is late for an item if its month less the lead time is before the first month of orders; at it only the
    vendor's stock is bought, or, at a surcharge, units that are in time with the weeks saved; sum of in_use and spares
    over late stages, up to each of them, <= stock and such purchases; in every future. Order dates in the bill follow,
    with no lead time for the vendor's stock. Source: catalog, ``lead_time_weeks``, ``in_stock``, ``expedite``; case
    file, ``procurement.order_from_month``.
    """
    order = BilledOrder(evidence)
    for item in order.items:
        ready = 0 if item in MOVES else offer_of(evidence, item).in_stock or 0
        for months in _ways(evidence):
            late = _late(evidence, item, months)
            bought = sum(
                order.bought[stage, item] for stage in late if not _is_expedited(evidence, item, months[stage])
            )
            proof.equal(f"{item} bought too late", max(0, bought - ready), 0)
            used = sum(order.in_use[stage, item] + order.spares[stage, item] for stage in late)
            left = min((_left_of_late(evidence, order, item, late, stage) for stage in late), default=0)
            proof.holds(left >= 0, f"{used} x {item} used where none can be ordered any more")
    for row in evidence.goods:
        item = item_of(row)
        stage = evidence.stage_names.index(row.stage)
        month, weeks = evidence.months[stage], None if item in MOVES else offer_of(evidence, item).lead_time_weeks
        if row.quantity and item not in MOVES:
            weeks = weeks_taken(month, offer_of(evidence, item), evidence.case.procurement.order_from_month)
        due = order_month(month, weeks)
        for name, claimed, recounted in (
            ("lead_time_weeks", row.lead_time_weeks, weeks),
            ("order_by_month", row.order_by_month, plain_fraction(due, MONTH_DIGITS)),
            ("order_by", row.order_by, _date(evidence, month, weeks)),
        ):
            if claimed is not None:
                proof.equal(f"{name} of {item}", claimed, recounted)
    proof.note(f"{some(len(order.items), 'item')} at {some(len(evidence.months), 'stage')}")


def _ways(evidence: Evidence) -> list[Months]:
    """The month of each stage in the case's plan, and in every future (None: it does not come)."""
    return [evidence.months, *(months for months in ways_to_grow(evidence) if months != evidence.months)]


def _late(evidence: Evidence, item: BilledItem, months: Months) -> list[int]:
    """Stages for which an item can no longer be ordered."""
    weeks = None if item in MOVES else offer_of(evidence, item).lead_time_weeks
    first = evidence.case.procurement.order_from_month
    return [stage for stage, month in enumerate(months) if month is not None and is_late(month, weeks, first)]


def _is_expedited(evidence: Evidence, item: BilledItem, month: int | None) -> bool:
    """Whether an order of an item for a month is delivered sooner at a surcharge."""
    return month is not None and expedite_cents(evidence, item, month) is not None


def _left_of_late(evidence: Evidence, order: BilledOrder, item: BilledItem, late: Sequence[int], stage: int) -> int:
    """Units left by late stages up to one, of own stock and of their purchases."""
    until = [at for at in late if at <= stage]
    added = (order.bought[at, item] - order.in_use[at, item] - order.spares[at, item] for at in until)
    return _stock(evidence, item) + sum(added)


def _date(evidence: Evidence, month: int, weeks: float | None) -> str | None:
    """The day by which to order for the first day of a month."""
    if evidence.case.start is None:
        return None
    year, first = evidence.case.start.split("-")
    months = 12 * int(year) + int(first) - 1 + month
    return (date(months // 12, months % 12 + 1, 1) - timedelta(weeks=weeks or 0)).isoformat()


def spares_are_kept(proof: Proof, evidence: Evidence) -> None:
    """At every stage, as many spares are kept as the case asks for, of parts that are in use.

    per sku: spares(i) = max(minimum, ceil(fraction x in_use(i))) where i is in use; per site: the same of all items of
    the kind together. Counts are of all stages up to s. Source: case file, ``procurement.spares``.
    """
    order, kept = BilledOrder(evidence), 0
    for kind in dict.fromkeys(item.kind for item in order.items):
        rule = of_kind(evidence.case.procurement.spares, kind)
        items = [item for item in order.items if item.kind == kind]
        for group in _groups(items, rule):
            for stage in _stages(evidence):
                used = sum(order.by(order.in_use, item, stage) for item in group)
                spares = sum(order.by(order.spares, item, stage) for item in group)
                wanted = 0 if rule is None else _wanted(rule, used)
                proof.equal(f"spares of {kind} {'' if len(group) > 1 else group[0]}", spares, wanted)
        for item in items:
            kept += order.by(order.spares, item, _stages(evidence)[-1])
            for stage in _stages(evidence):
                has, used = order.by(order.spares, item, stage), order.by(order.in_use, item, stage)
                proof.holds(has == 0 or used > 0, f"{some(has, 'spare')} of {item}, which is not in use")
    proof.note(f"{some(kept, 'spare')}")


def _groups(items: list[BilledItem], rule: Spares | None) -> list[list[BilledItem]]:
    return [items] if rule is not None and rule.per == "site" else [[item] for item in items]


def _wanted(rule: Spares, used: int) -> int:
    share = Fraction(exact(rule.fraction)) * used
    return max(rule.minimum, ceil_div(share.numerator, share.denominator)) if used else 0


def part_numbers_are_few(proof: Proof, evidence: Evidence) -> None:
    """No kind has more part numbers in use than the case allows.

    items of a kind with in_use > 0 <= max_part_numbers. Source: case file, ``procurement.max_part_numbers``.
    """
    order, last = BilledOrder(evidence), _stages(evidence)[-1]
    for kind, most in evidence.case.procurement.max_part_numbers.items():
        used = [item for item in order.items if item.kind == kind and order.by(order.in_use, item, last)]
        names = ", ".join(map(str, used))
        proof.holds(len(used) <= most, f"{len(used)} part numbers of kind {kind}, at most {most}: {names}")
        proof.note(f"{len(used)} of {most} part numbers of kind {kind}")
    if not proof.noted:
        proof.note("any number of part numbers")


@since("0.3.0", "case.content.max_lengths")
@where(lambda evidence: evidence.case.length_limits.are_set)
def lengths_are_few(proof: Proof, evidence: Evidence) -> None:
    """Cables and fibres come in no more lengths than the case allows, over all stages, and spares among them.

    Different metres of all lines but those of trunks, made to order, <= ``max_lengths`` (``site``); of those of each
    product, whoever sells it, <= its ``product``. Source: case file, ``max_lengths``.
    """
    limits, lengths = evidence.case.length_limits, set[tuple[str, float]]()
    for row in evidence.goods:
        if row.length_m is not None and row.kind != "trunk" and (row.quantity or row.in_use):
            lengths.add((evidence.product(row.id).base_id, row.length_m))
    metres = sorted({length_m for _, length_m in lengths})
    told = ", ".join(f"{length_m:g} m" for length_m in metres)
    proof.holds(limits.site is None or len(metres) <= limits.site, f"{len(metres)} lengths: {told}")
    most = Counter(product for product, _ in lengths)
    for product, number in most.items():
        proof.holds(limits.product is None or number <= limits.product, f"{number} lengths of {product}")
    proof.note(f"{some(len(metres), 'length')} ({told}), at most {max(most.values(), default=0)} of a product")


def parts_are_approved(proof: Proof, evidence: Evidence) -> None:
    """Every product bought or in use is allowed, by vendor and by part, and so is its price.

    Source: case file, ``procurement``, ``price_basis``, ``only_priced_by`` and ``only_orderable``; servers and their
    built-in parts are not under its rules, nor prices of what nobody bought.
    """
    rules = evidence.case.procurement
    named = {evidence.kind(part) for part in rules.approved_parts or ()}
    ids = {row.id for row in evidence.goods if row.kind in KINDS_UNDER_RULES}
    for part in sorted(ids):
        allowed = is_allowed(rules, evidence.kind(part), evidence.product(part), evidence.kind(part) in named)
        proof.holds(allowed, f"{part} of {evidence.product(part).vendor} is not allowed")
    paid = {(row.id, row.length_m) for row in evidence.goods if row.kind in KINDS_UNDER_RULES and row.quantity}
    for part, length_m in sorted(paid, key=str):
        _price_may_be_used(proof, evidence, part, length_m)
    _places_are_approved(proof, evidence)
    for item in BilledOrder(evidence).items:
        units = evidence.case.owned.get(item.id)
        held = units.get(item.length_m or 0.0) if isinstance(units, dict) else units
        proof.holds(held is None or held == _stock(evidence, item), f"{item}: the case has {held} of them")
    proof.note(f"{some(len(ids), 'product')}")


def _places_are_approved(proof: Proof, evidence: Evidence) -> None:
    """Switches of every tier and fabric, and NICs bought for it, are of vendors allowed there."""
    rules = evidence.case.procurement
    for fabric in evidence.fabrics:
        name, nic = fabric.designed.name, fabric.designed.nic
        used: list[tuple[str, tuple[str, ...]]] = [(tier.id, (tier.role, name)) for tier, _ in fabric.switch_types]
        used += [] if nic.built_in else [(id_, (name,)) for id_ in (nic.id, *(offer.id for offer in nic.stand_ins))]
        for part, places in used:
            vendor = evidence.product(part).vendor
            proof.holds(vendor_may_sell(rules, evidence.product(part), places), f"{name}: {part} of {vendor}")


def _price_may_be_used(proof: Proof, evidence: Evidence, part: str, length_m: float | None) -> None:
    """A price is of a kind that the case allows, of one of the books that alone may set prices, and of a part that can
    be ordered where all must be.
    """
    case, product = evidence.case, evidence.product(part)
    of_price, of_length, of_lengths = product.provenance.get("price_usd"), None, None
    if isinstance(product, ByLength):
        of_length = next((length.source for length in product.lengths if length.m == length_m), None)
        of_lengths = product.provenance.get("lengths")
    source = of_length or of_price or of_lengths or product.source
    kind, book = (None, None) if source is None else (source.kind, getattr(source, "book", None))
    proof.holds(case.price_basis == "any" or kind in case.price_basis, f"{part}: a price of kind {kind}")
    proof.holds(not case.only_priced_by or book in case.only_priced_by, f"{part}: a price of no book that may price it")
    if case.only_orderable:
        proof.holds(kind in ("list", "street", "quote"), f"{part}: a price of kind {kind}, at which nobody sells it")
        wanted = case.site.rack_rules.airflow if is_kept(case.rules, RACK_RULES) else None
        body = {"kind": evidence.kind(part), **product.model_dump(mode="json", by_alias=True)}
        code = order_code(body, length_m, wanted)
        proof.holds(bool(code.code), f"{part}: {code.remark}")
