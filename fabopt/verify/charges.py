"""Rules of charges: computed again, unit by unit, from the purchases of the bill."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from fabopt.schema.catalog import Switch
from fabopt.schema.design import BomRow
from fabopt.schema.finance import PARTS, Charge, charge_words
from fabopt.schema.product import ProductCharge
from fabopt.units import cents, exact, rounded, some, usd
from fabopt.verify.evidence import Evidence
from fabopt.verify.labour import labour_of_bill
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.purchases import MOVES, BilledItem, BilledOrder, breaks_of, is_incremental, item_of, product_of
from fabopt.verify.terms_of_sale import over_months, worth


class Due(NamedTuple):
    """Cents of one unit's charge: with its order, in every year from then on, and both at month 0."""

    once: int
    yearly: int
    present: int


@dataclass
class _Owing:
    """A charge's dues of a stage and fabric: units by dues of each."""

    units: Counter[Due]


# By number of the stage, fabric, and name, kind and words of the charge.
Key = tuple[int, str, str, str, str]
Ledgers = Mapping[Key, _Owing]


def owes_charges(evidence: Evidence) -> bool:
    """Whether the case or a part has charges, or the bill a line of any."""
    owed = any(body.get("charges") for body in evidence.design.parts.values())
    return owed or bool(evidence.case.charges) or any(row.charge is not None for row in evidence.design.bom)


@since("0.2.0", "case.content.charges", "bom.charge")
@where(owes_charges)
def charges_are_counted(proof: Proof, evidence: Evidence) -> None:
    """The bill has a line for every charge of every stage and fabric, to the cent, and no other.

    Per unit bought: usd, or percent x (price at its break and stage + charges in its base), rounded to the cent; per
    fabric: usd once at the first stage; per server of a fabric: usd x servers that the stage adds; none of what is in
    service (``base``); labour on what the
    lines put to use (``labour_is_counted``). Yearly sums are paid ahead until ``finance.years`` have passed, and are in
    the present value only. Source: case file, ``charges`` and ``site.labour``; catalog, ``charges``.
    """
    claimed = [row for row in evidence.design.bom if row.charge is not None]
    expected = charge_rows(evidence)
    key = [(row.stage, row.fabric, row.id) for row in claimed]
    proof.equal("lines of charges", key, [(row.stage, row.fabric, row.id) for row in expected])
    for row, recounted in zip(claimed, expected, strict=False):
        for name in BomRow.model_fields:
            what = f"{name} of {row.id} in {row.fabric or 'all'}"
            proof.equal(what, getattr(row, name), getattr(recounted, name))
    once = sum(cents(row.total_usd) for row in expected)
    proof.note(f"{some(len(expected), 'line')} of charges, {usd(once)} USD" if expected else "no charges")


def charge_rows(evidence: Evidence) -> list[BomRow]:
    """The lines of charges of a bill with these parts, in its order."""
    ledgers = _ledgers(evidence)
    order = [*dict.fromkeys(_fabric_names(evidence)), ""]
    keys = sorted(ledgers, key=lambda key: (key[0], order.index(key[1]), *key[2:]))
    rows = (_row(evidence.stage_names[key[0]], key, ledgers[key]) for key in keys)
    return [row for row in rows if row.total_usd or row.yearly_usd]


def with_charges(evidence: Evidence) -> tuple[BomRow, ...]:
    """The bill with its lines of charges computed again, each after the parts of its stage and fabric."""
    names = [*dict.fromkeys(_fabric_names(evidence)), ""]
    rows = [*evidence.goods, *charge_rows(evidence)]
    are_other = [row.kind == "other" for row in rows]
    keys = [
        (
            evidence.stage_names.index(row.stage),
            names.index(row.fabric),
            row.spares > 0,
            is_other,
            row.id if is_other else "",
        )
        for row, is_other in zip(rows, are_other, strict=True)
    ]
    order = sorted(range(len(rows)), key=keys.__getitem__)
    return tuple(rows[place] for place in order)


def _fabric_names(evidence: Evidence) -> Iterator[str]:
    for fabric in evidence.design.fabrics:
        yield fabric.name
        yield from (logical.name for logical in fabric.logical)


def charges_cents(evidence: Evidence, stage: int | None = None) -> int:
    """Cents of the charges of a stage (None: of all) at month 0."""
    return sum(
        due.present * units
        for (at, *_), ledger in _ledgers(evidence).items()
        for due, units in ledger.units.items()
        if stage in (None, at)
    )


def order_charges_cents(evidence: Evidence, item: BilledItem, stage: int, quantity: int, present: bool) -> int:
    """Cents of charges on an order of ``quantity`` units, with the order or (``present``) at month 0."""
    total = 0
    for price, units in _prices_paid(evidence, item, stage, (0, quantity, quantity)):
        for _, due in _owed(evidence, item, stage, price):
            total += units * (due.present if present else due.once)
    return total


def _ledgers(evidence: Evidence) -> Ledgers:
    ledgers: dict[Key, _Owing] = {}

    def owe(stage: int, fabric: str, charge: _Rule, due: Due, units: int) -> None:
        ledger = ledgers.setdefault((stage, fabric, charge.name, charge.what, charge.words), _Owing(Counter()))
        ledger.units[due] += units

    order = BilledOrder(evidence)
    before: Counter[tuple[int, BilledItem]] = Counter()
    for row in evidence.goods:
        item, stage = item_of(row), evidence.stage_names.index(row.stage)
        span = before[stage, item], row.quantity, order.bought[stage, item]
        for price, units in _prices_paid(evidence, item, stage, span):
            for rule, due in _owed(evidence, item, stage, price):
                owe(stage, row.fabric, rule, due, units)
        before[stage, item] += row.quantity
    for stage, name_of_fabric, name, words, unit, units in labour_of_bill(evidence):
        work = _Rule(name, "installation", words, 0, 0, frozenset(), False)
        due = Due(unit, 0, worth(unit, evidence.case.finance, evidence.months[stage]))
        owe(stage, name_of_fabric, work, due, units)
    for fabric in evidence.design.fabrics:
        for lump in evidence.case.charges:
            if lump.per != "unit" and _is_for(lump, fabric.name, fabric.protocol):
                rules = [
                    _rule(charge) for charge in evidence.case.charges if charge is lump or charge.percent is not None
                ]
                for stage, number in enumerate(_lump_units(evidence, lump)):
                    for rule, due in _dues(rules, {}, evidence, stage) if number else ():
                        owe(stage, fabric.name, rule, due, number)
    return ledgers


def _is_for(lump: Charge, fabric: str, protocol: str) -> bool:
    return (lump.fabrics is None or fabric in lump.fabrics) and lump.protocol in (None, protocol)


def _lump_units(evidence: Evidence, lump: Charge) -> list[int]:
    """Units of a charge on a fabric or its servers at every stage."""
    servers, base = evidence.servers_by_stage, evidence.case.base
    if lump.per == "fabric":
        return [int(base is None)] + [0] * (len(servers) - 1)
    there = 0 if base is None else base.servers
    return [now - before for before, now in pairwise([there, *servers])]


def _prices_paid(
    evidence: Evidence, item: BilledItem, stage: int, span: tuple[int, int, int]
) -> Iterator[tuple[int, int]]:
    """(cents of a unit, units) of some units of an order. ``span``: units before them, theirs, the whole order's."""
    before, units, ordered = span
    breaks = breaks_of(evidence, item, stage)
    if units and not is_incremental(evidence, item):
        yield [price for start, price in breaks if start <= max(1, ordered)][-1], units
    elif units:
        by_price: dict[int, int] = defaultdict(int)
        for number, (start, price) in enumerate(breaks):
            end = breaks[number + 1][0] - 1 if number + 1 < len(breaks) else before + units
            by_price[price] += max(0, min(end, before + units) - max(start, before + 1) + 1)
        yield from ((price, count) for price, count in by_price.items() if count)


class _Rule(NamedTuple):
    """A charge of the case, or of a product, in common form."""

    name: str
    what: str
    words: str
    dollars: float
    percent: float
    on: frozenset[str]
    yearly: bool


def _rule(charge: Charge | ProductCharge) -> _Rule:
    if isinstance(charge, ProductCharge):
        words = charge_words(charge.what, charge.yearly)
        return _Rule(charge.name, charge.what, words, charge.usd, 0, frozenset(), charge.yearly)
    on = frozenset(charge.of) if charge.percent is not None else frozenset[str]()
    return _Rule(charge.name, charge.what, charge.words, charge.usd or 0, charge.percent or 0, on, charge.yearly)


def _owed(evidence: Evidence, item: BilledItem, stage: int, price: int) -> Iterator[tuple[_Rule, Due]]:
    """Charges on a unit bought at a price; moving cables has none."""
    if item in MOVES:
        return
    product, named = product_of(evidence, item), {charge.name for charge in evidence.case.charges}
    rules = [_rule(charge) for charge in product.charges if charge.name not in named]
    for charge in evidence.case.charges:
        said = (
            (charge.kinds, item.kind),
            (charge.vendors, product.vendor),
            (charge.asics, product.asic if isinstance(product, Switch) else None),
            (charge.parts, product.id),
        )
        concerned = all(allowed is None or own in allowed for allowed, own in said)
        runs = charge.protocol is None or (isinstance(product, Switch) and product.protocol == charge.protocol)
        if charge.per == "unit" and concerned and runs:
            rules.append(_rule(charge))
    yield from _dues(rules, {PARTS: (price, 0)}, evidence, stage)


def _dues(
    rules: Sequence[_Rule], bases: Mapping[str, tuple[int, int]], evidence: Evidence, stage: int
) -> Iterator[tuple[_Rule, Due]]:
    """Dues of rules one after the other; percentages of absent charges are left out."""
    known = dict(bases)
    for rule in rules:
        on = [known[name] for name in rule.on if name in known]
        if rule.percent and not on:
            continue
        share = exact(rule.percent) / 100
        once = cents(rule.dollars) + rounded(share * sum(now for now, _ in on))
        yearly = rounded(share * sum(later for _, later in on))
        once, yearly = (0, once) if rule.yearly else (once, yearly)
        known[rule.name] = once, yearly
        finance, month = evidence.case.finance, evidence.months[stage]
        yield rule, Due(once, yearly, worth(once, finance, month) + _years_worth(evidence, yearly, month))


def _years_worth(evidence: Evidence, yearly: int, month: int) -> int:
    """Cents at month 0 of a sum paid ahead for every year from a month until the years of the case have passed."""
    finance = evidence.case.finance
    end = evidence.months[0] + 12 * exact(finance.years)
    total = Fraction(0)
    for payment in range(math.ceil((end - month) / 12)):
        due = month + 12 * payment
        total += min(Fraction(1), (end - due) / 12) * yearly * over_months(1 / (1 + exact(finance.discount_rate)), due)
    return rounded(total)


def _row(stage: str, key: Key, ledger: _Owing) -> BomRow:
    _, fabric, name, what, words = key
    once, yearly, present = (sum(getattr(due, key) * n for due, n in ledger.units.items()) for key in Due._fields)
    prices = {(due.once, due.yearly) for due in ledger.units}
    is_one_price = len(prices) == 1
    unit = prices.pop()[0] if is_one_price else once
    return BomRow.model_validate(
        {
            "stage": stage, "fabric": fabric, "kind": "other", "id": name, "part_number": "",
            "description": words, "quantity": sum(ledger.units.values()) if is_one_price else 1, "in_use": 0,
            "unit_price_usd": usd(unit), "total_usd": usd(once), "power_w": 0, "single_price_usd": usd(unit),
            "present_value_usd": usd(present), "charge": what, "yearly_usd": usd(yearly) if yearly else None,
        }
    )  # fmt: skip
