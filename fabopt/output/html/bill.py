"""The bill as a table that can be searched and sorted, and as the file that ``fabopt bom`` writes."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabopt.output.charts.style import KINDS
from fabopt.output.export.bill import bill_bytes
from fabopt.output.export.marks import MARK, NO_MARKS
from fabopt.output.export.orders import body_of, orderable, seller_of
from fabopt.output.purchased import has_any, share_titles
from fabopt.output.words import KIND_NAMES, count, money, plain, power
from fabopt.schema.design import BomRow, Design, Number
from fabopt.units import cents, usd

# Columns that a narrow screen shows too.
ALWAYS = ("Quantity", "Unit price", "Total")


@dataclass(frozen=True)
class BillCell:
    """A cell after the part's: its column, whether that holds numbers, its words, and its sort key."""

    column: str
    is_number: bool
    words: str
    order: Number | str


@dataclass(frozen=True)
class BillRow:
    """A line of the bill; ``usd`` is its total."""

    id: str
    part_number: str
    description: str
    cells: tuple[BillCell, ...]
    usd: Number


def bill_view(design: Design) -> list[BillRow]:
    """Return the lines of the bill, in its order. Fabric and stage are columns where there are several, vendors where
    offers are bought.
    """
    fabrics, stages = (len({getattr(row, name) for row in design.bom}) > 1 for name in ("fabric", "stage"))
    rows = orderable(design)
    beside = {
        name: title for name, title in (("spares", "Spares"), *share_titles(design).items()) if has_any(rows, (name,))
    }
    offered = has_any(rows, ("sold_by",))
    sellers = [[seller_of(body_of(design, row) or {}) or ""] if offered else [] for row in rows]
    return [_row(row, fabrics, stages, beside, sold_by) for row, sold_by in zip(rows, sellers, strict=True)]


def bill_link(design: Design, mark: str = "") -> str:
    """Return the bill as CSV in a link that holds it: byte for byte what ``fabopt bom`` writes."""
    data = bill_bytes(design, ".csv", {MARK: mark} if mark else NO_MARKS)
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(data).decode()}"


def _row(
    row: BomRow, with_fabric: bool, with_stage: bool, beside: Mapping[str, str], sellers: Sequence[str]
) -> BillRow:
    """A line as cells; ``beside``: titles of columns of spares, stock and surplus, by their names."""
    length = "" if row.length_m is None else f"{plain(row.length_m)} m"
    cells = [BillCell("Kind", False, KIND_NAMES[row.kind], row.kind)]
    if with_fabric:
        cells.append(BillCell("Fabric", False, row.fabric, row.fabric))
    if with_stage:
        cells.append(BillCell("Stage", False, row.stage, row.stage))
    cells += [BillCell("Vendor", False, seller, seller) for seller in sellers]
    cells += [
        BillCell("Length", True, length, -1 if row.length_m is None else row.length_m),
        BillCell("Quantity", True, count(row.quantity), row.quantity),
        *(BillCell(title, True, count(getattr(row, name)), getattr(row, name)) for name, title in beside.items()),
        BillCell("Unit price", True, money(row.unit_price_usd), row.unit_price_usd),
        BillCell("Total", True, money(row.total_usd), row.total_usd),
        BillCell("Power", True, power(row.power_w) if row.power_w else "-", row.power_w),
    ]
    number = row.part_number if row.part_number != row.id else ""
    return BillRow(row.id, number, row.description, tuple(cells), row.total_usd)


# -- dollars and watts by kind of part --------------------------------------------------------------------------------


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


def kind_rows(design: Design) -> Iterator[KindRow]:
    """Return a row for each kind of part that is on the bill."""
    usd_sum = sum_usd(design.bom)
    power_sum = sum(row.power_w for row in design.bom)
    for kind in KINDS:
        rows = [row for row in design.bom if row.kind == kind]
        if rows:
            cost, watts = sum_usd(rows), sum(row.power_w for row in rows)
            by_fabric = tuple(sum_usd(row for row in rows if row.fabric == name) for name in fabric_names(design))
            shares = cost / usd_sum if usd_sum else 0.0, watts / power_sum if power_sum else 0.0
            bought = sum(row.quantity for row in rows)
            yield KindRow(kind, KIND_NAMES[kind], bought, cost, by_fabric, shares[0], watts, shares[1])


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
