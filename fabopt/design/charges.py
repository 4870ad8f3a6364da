"""The lines of a bill for charges beside parts: licences, support, freight, installation, tax."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fabopt.parts.charges import UnitCharge
from fabopt.parts.items import Item
from fabopt.schema.design import BomRow
from fabopt.schema.product import ChargeWord
from fabopt.units import usd


class ChargedUnits(NamedTuple):
    """Units of an item that a line buys of an order: those from ``first`` on, of ``ordered`` in all."""

    item: Item
    stage: int
    first: int
    units: int
    ordered: int


class ChargeLine(NamedTuple):
    """Key of charges that share a line of a stage and fabric: name, kind and words."""

    name: str
    what: ChargeWord
    words: str


class ChargeLines:
    """The charges of a stage and fabric, added up charge by charge."""

    def __init__(self) -> None:
        self._amounts: dict[ChargeLine, list[tuple[UnitCharge, int]]] = {}

    def add(self, bought: ChargedUnits) -> None:
        """Add the charges on some units."""
        for price_break, units in _by_break(bought):
            for amount in bought.item.amounts(bought.stage, price_break) if units else ():
                line = ChargeLine(amount.charge.name, amount.charge.what, amount.charge.words)
                self._amounts.setdefault(line, []).append((amount, units))

    def rows(self, stage: str, fabric: str) -> Iterator[BomRow]:
        """The lines, by name: with a number of units where all cost the same, else one for all of them."""
        for line, amounts in sorted(self._amounts.items()):
            once, yearly = (sum(getattr(of_unit, key) * units for of_unit, units in amounts) for key in _SUMS)
            if not once and not yearly:
                continue
            alike = len({(of_unit.once, of_unit.yearly) for of_unit, _ in amounts}) == 1
            quantity = sum(units for _, units in amounts) if alike else 1
            yield BomRow(
                stage=stage,
                fabric=fabric,
                kind="other",
                id=line.name,
                part_number="",
                description=line.words,
                quantity=quantity,
                in_use=0,
                unit_price_usd=usd(amounts[0][0].once if alike else once),
                total_usd=usd(once),
                power_w=0,
                single_price_usd=usd(amounts[0][0].once if alike else once),
                present_value_usd=usd(sum(of_unit.present * units for of_unit, units in amounts)),
                charge=line.what,
                yearly_usd=usd(yearly) if yearly else None,
            )


_SUMS = ("once", "yearly")


def _by_break(bought: ChargedUnits) -> Iterator[tuple[int, int]]:
    """Number of the units by the price break that they pay."""
    item = bought.item
    if not item.incremental:
        yield item.break_of(bought.ordered), bought.units
        return
    ends = [start - 1 for start in item.starts[1:]] + [bought.ordered]
    for price_break, (start, end) in enumerate(zip(item.starts, ends, strict=True)):
        first = max(start, bought.first + 1)
        yield price_break, max(0, min(end, bought.first + bought.units) - first + 1)
