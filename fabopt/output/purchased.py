"""Units bought but not in use: spares, own stock, leftovers of packs and breaks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fabopt.design.shares import Part, part_of, with_shares
from fabopt.schema.design import BomRow, Design

# Titles of the columns on sources and surplus of a line's units, by name.
SHARES = {"from_stock": "From own stock", "from_earlier": "From earlier orders", "beyond_need": "Beyond need"}


class Beside(NamedTuple):
    """Units of a part over all stages: ``spares`` and ``left_over`` are among those ``bought``, but not in use;
    ``from_stock`` come besides.
    """

    bought: int = 0
    spares: int = 0
    from_stock: int = 0
    left_over: int = 0


def shared_rows(design: Design) -> tuple[BomRow, ...]:
    """The rows of a bill with the sources of their units, which files of 0.1.0 do not state."""
    return with_shares(design.bom) if design.rules is None else design.bom


def beside_use(design: Design) -> dict[Part, Beside]:
    """Units bought of every part, by kind, id and length, and those of them not in use: sums over the bill's rows."""
    sums: dict[Part, Beside] = {}
    for row in shared_rows(design):
        if row.kind != "other":
            so_far = sums.get(part_of(row), Beside())
            sums[part_of(row)] = Beside(
                so_far.bought + row.quantity,
                so_far.spares + max(0, row.spares - row.from_stock - row.from_earlier),
                so_far.from_stock + row.from_stock,
                so_far.left_over + row.beyond_need - row.from_earlier,
            )
    return sums


def has_any(rows: Sequence[BomRow], columns: Iterable[str]) -> bool:
    """Whether any row has a value in some columns."""
    return any(getattr(row, name) != BomRow.model_fields[name].default for row in rows for name in columns)
