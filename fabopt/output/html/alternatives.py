"""Alternatives to the answer, as rows of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabopt.output.what_else import columns_of, name_of
from fabopt.schema.design import Design


@dataclass(frozen=True)
class AlternativeRow:
    """An alternative with its figures.

    ``cells``: column by column; ``change``: the keys that give it. The bar of its difference in cost begins at
    ``start`` and is ``length`` long, in percent of the way from the most that one saves to the most that one adds:
    towards the left, ``look`` less, where it saves.
    """

    what: str
    change: str
    summary: str
    cells: Sequence[str]
    look: str
    start: float
    length: float


def alternative_rows(design: Design) -> list[AlternativeRow]:
    """Return the alternatives, in the order of the design file."""
    columns, deltas = columns_of(design), [row.capex_delta_usd or 0 for row in design.alternatives]
    low, high = min(0, *deltas, 0), max(0, *deltas, 0)
    percent = 100 / (high - low or 1)
    return [
        AlternativeRow(
            name_of(row),
            ", ".join(row.change),
            row.summary,
            [column.cell(row) for column in columns],
            "less" if delta < 0 else "more",
            round(percent * (min(delta, 0) - low), 2),
            round(percent * abs(delta), 2),
        )
        for row, delta in zip(design.alternatives, deltas, strict=True)
    ]


def alternative_titles(design: Design) -> list[str]:
    """Return the titles of the columns of figures."""
    return [f"{column.title[0].upper()}{column.title[1:]}" for column in columns_of(design)]
