"""Alternatives to the answer, as rows of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabopt.output.what_else import columns_of, name_of
from fabopt.schema.design import Design


@dataclass(frozen=True)
class AlternativeRow:
    """An alternative with its figures.

    ``cells``: column by column; ``change``: the keys that give it; ``length``: extra cost in percent of the largest; 0
    where it is cheaper.
    """

    what: str
    change: str
    summary: str
    cells: Sequence[str]
    length: float


def alternative_rows(design: Design) -> list[AlternativeRow]:
    """Return the alternatives, in the order of the design file."""
    columns, deltas = columns_of(design), [row.capex_delta_usd or 0 for row in design.alternatives]
    most = max(deltas, default=0)
    return [
        AlternativeRow(
            name_of(row),
            ", ".join(row.change),
            row.summary,
            [column.cell(row) for column in columns],
            round(max(0.0, 100 * delta / most), 2) if most > 0 else 0.0,
        )
        for row, delta in zip(design.alternatives, deltas, strict=True)
    ]


def alternative_titles(design: Design) -> list[str]:
    """Return the titles of the columns of figures."""
    return [f"{column.title[0].upper()}{column.title[1:]}" for column in columns_of(design)]
