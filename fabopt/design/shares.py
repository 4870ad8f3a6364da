"""Sources of the units of a bill: the order of their stage, units left of earlier orders, what is owned already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from fabopt.schema.design import BomRow
from fabopt.units import summed

Part = tuple[str, str, float | None]


def part_of(row: BomRow) -> Part:
    """Key of a line's item: kind, id and length."""
    return row.kind, row.id, row.length_m


def with_shares(rows: Sequence[BomRow]) -> tuple[BomRow, ...]:
    """The rows of a bill, stage by stage, with their units from stock and earlier orders, and those beyond need.

    Units that a stage lacks are left of earlier orders as far as these go, the rest is stock, which the first lines
    take. One's own work and charges have none of these.
    """
    ahead: Counter[Part] = Counter()
    shared: list[BomRow] = []
    for _, of_stage in groupby(rows, key=lambda row: row.stage):
        shared += _of_stage(list(of_stage), ahead)
    return tuple(shared)


def in_service(rows: Iterable[BomRow], owned: Mapping[str, int | dict[float, int]]) -> Iterator[int]:
    """How many of the owned units of each row are in service, by ``Base.owned``; these come before what is on hand."""
    taken: Counter[Part] = Counter()
    for row in rows:
        part = part_of(row)
        own = min(row.from_stock, units_of(owned, part) - taken[part])
        taken[part] += own
        yield own


def units_of(owned: Mapping[str, int | dict[float, int]], part: Part) -> int:
    """Units of a part among those that are owned."""
    units = owned.get(part[1], 0)
    return units.get(float(part[2] or 0), 0) if isinstance(units, dict) else units


def _of_stage(rows: Sequence[BomRow], ahead: Counter[Part]) -> Iterator[BomRow]:
    """``ahead``: units that earlier orders have left of every part; what this stage takes and leaves is counted."""
    lack = _sums((row, max(0, _need(row) - row.quantity)) for row in rows)
    beyond = _sums((row, max(0, row.quantity - _need(row))) for row in rows)
    earlier = {part: min(ahead[part], units) for part, units in lack.items()}
    stock = {part: units - earlier[part] for part, units in lack.items()}
    for part in lack:
        ahead[part] += beyond[part] - earlier[part]
    for row in rows:
        part, lacking = part_of(row), max(0, _need(row) - row.quantity)
        if row.kind == "other":
            yield row
            continue
        from_stock = min(stock[part], lacking)
        stock[part] -= from_stock
        counts = {"from_stock": from_stock, "from_earlier": lacking - from_stock}
        counts["beyond_need"] = max(0, row.quantity - _need(row))
        yield row.model_copy(update=counts) if any(counts.values()) else row


def _need(row: BomRow) -> int:
    return row.in_use + row.spares


def _sums(units: Iterable[tuple[BomRow, int]]) -> Counter[Part]:
    return summed((part_of(row), number) for row, number in units if row.kind != "other")
