"""Dollars and watts by kind of part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fabopt.output.charts.style import KINDS
from fabopt.output.words import KIND_NAMES
from fabopt.schema.design import BomRow, Design, Number
from fabopt.units import cents, usd


@dataclass(frozen=True)
class KindRow:
    """One kind of part: quantity, dollars in all and in each fabric, watts, and shares of the sums."""

    kind: str
    name: str
    quantity: int
    usd: Number
    usd_by_fabric: tuple[Number, ...]
    usd_share: float
    power_w: Number
    power_share: float


@dataclass(frozen=True)
class Slice:
    """A piece of a stacked bar of length 100: where it begins, how long it is, and what it says when it is reached."""

    kind: str
    name: str
    words: str
    begin: float
    length: float


def kind_rows(design: Design) -> list[KindRow]:
    """Return a row for each kind of part that is on the bill."""
    usd_sum = sum_usd(design.bom)
    power_sum = sum(row.power_w for row in design.bom)
    kinds = []
    for kind in KINDS:
        rows = [row for row in design.bom if row.kind == kind]
        if rows:
            cost, watts = sum_usd(rows), sum(row.power_w for row in rows)
            by_fabric = tuple(sum_usd(row for row in rows if row.fabric == name) for name in fabric_names(design))
            shares = cost / usd_sum if usd_sum else 0.0, watts / power_sum if power_sum else 0.0
            bought = sum(row.quantity for row in rows)
            kinds.append(KindRow(kind, KIND_NAMES[kind], bought, cost, by_fabric, shares[0], watts, shares[1]))
    return kinds


def fabric_names(design: Design) -> list[str]:
    """Return the fabrics of the bill, in its order."""
    return list(dict.fromkeys(row.fabric for row in design.bom))


def slices(shares: Iterable[tuple[str, float, str]]) -> Iterator[Slice]:
    """Yield the pieces of a bar of kinds, their shares of one and their amounts in words."""
    begin = 0.0
    for kind, share, amount in shares:
        if share:
            name = KIND_NAMES[kind]
            yield Slice(kind, name, f"{name}: {amount}, {100 * share:.1f} %", round(begin, 3), round(100 * share, 3))
        begin += 100 * share


def sum_usd(rows: Iterable[BomRow]) -> Number:
    """Return dollars of rows, exact to the cent."""
    return usd(sum(cents(row.total_usd) for row in rows))
