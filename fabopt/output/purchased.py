"""What is bought beside what is used: spares, what comes out of one's own stock, what packs and breaks leave over."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from fabopt.schema.design import Design

Part = tuple[str, str, float | None]


class Beside(NamedTuple):
    """Units of a part over all stages: ``bought`` and those ``from_stock`` are in use, ``spares`` or ``left_over``."""

    bought: int = 0
    spares: int = 0
    from_stock: int = 0
    left_over: int = 0


def beside_use(design: Design) -> dict[Part, Beside]:
    """What is bought of every part, by kind, id and length, and what of it is not in use.

    What is not bought by a stage was there before; a later stage uses what is left over of an earlier one first.
    """
    sums: dict[Part, Beside] = {}
    short: dict[Part, int] = {}
    for _, rows in groupby(design.bom, key=lambda row: row.stage):
        touched = set()
        for row in rows:
            if row.kind != "other":
                part = row.kind, row.id, row.length_m
                so_far = sums.get(part, Beside())
                sums[part] = so_far._replace(bought=so_far.bought + row.quantity, spares=so_far.spares + row.spares)
                short[part] = short.get(part, 0) + row.in_use + row.spares - row.quantity
                touched.add(part)
        for part in touched:
            sums[part] = sums[part]._replace(from_stock=max(sums[part].from_stock, short[part]))
    return {part: one._replace(left_over=one.from_stock - short[part]) for part, one in sums.items()}
