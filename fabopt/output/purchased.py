"""Units bought but not in use, and units owned already: spares, leftovers of packs and breaks, in service, in stock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fabopt.design.shares import Part, in_service, part_of, with_shares
from fabopt.schema.design import BomRow, Design
from fabopt.schema.in_service import live_in

# Titles of the columns on sources and surplus of a line's units, by name.
SHARES = {"from_stock": "From own stock", "from_earlier": "From earlier orders", "beyond_need": "Beyond need"}


class Beside(NamedTuple):
    """Units of a part over all stages: ``spares`` and ``left_over`` are among those ``bought``, but not in use;
    ``from_stock`` and those ``in_service`` come besides.
    """

    bought: int = 0
    spares: int = 0
    from_stock: int = 0
    left_over: int = 0
    in_service: int = 0


def share_titles(design: Design) -> dict[str, str]:
    """Titles of the columns on sources and surplus, by name; what is owned may be in service, or in stock, or both."""
    case = design.case.content
    live = ["In service"] if live_in(case) else []
    owned = [*live, *(["From own stock"] if case.get("have") else [])]
    return {**SHARES, "from_stock": " or ".join(owned).capitalize()} if owned else SHARES


def delivered_rows(design: Design) -> tuple[BomRow, ...]:
    """The rows of a bill, of which ``from_stock`` counts what comes out of stock; what is in service is there."""
    rows = shared_rows(design)
    return tuple(
        row.model_copy(update={"from_stock": row.from_stock - live}) if live else row
        for row, live in zip(rows, _in_service(design, rows), strict=True)
    )


def _in_service(design: Design, rows: Sequence[BomRow]) -> Iterator[int]:
    live = live_in(design.case.content)
    return in_service(rows, {} if live is None else live.owned)


def shared_rows(design: Design) -> tuple[BomRow, ...]:
    """The rows of a bill with the sources of their units, which files of 0.1.0 do not state."""
    return with_shares(design.bom) if design.rules is None else design.bom


def beside_use(design: Design) -> dict[Part, Beside]:
    """Units bought of every part, by kind, id and length, and those of them not in use: sums over the bill's rows."""
    sums: dict[Part, Beside] = {}
    rows = shared_rows(design)
    for row, live in zip(rows, _in_service(design, rows), strict=True):
        if row.kind != "other":
            so_far = sums.get(part_of(row), Beside())
            sums[part_of(row)] = Beside(
                so_far.bought + row.quantity,
                so_far.spares + max(0, row.spares - row.from_stock - row.from_earlier),
                so_far.from_stock + row.from_stock - live,
                so_far.left_over + row.beyond_need - row.from_earlier,
                so_far.in_service + live,
            )
    return sums


def has_any(rows: Sequence[BomRow], columns: Iterable[str]) -> bool:
    """Whether any row has a value in some columns."""
    return any(getattr(row, name) != BomRow.model_fields[name].default for row in rows for name in columns)
