"""What a case says of buying: whose parts, which, how many kinds, how many spares, from when on."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Count, Identifier, Strict, Word
from fabopt.schema.finance import KindWord

Vendors = Annotated[tuple[Word, ...], Field(min_length=1)]
Parts = Annotated[tuple[Identifier, ...], Field(min_length=1)]


class Spares(Strict):
    """How many spares of a kind are kept: ``fraction`` of what is in use, rounded up, and at least ``minimum``.

    ``per``: ``sku`` counts each part number on its own, ``site`` all of the kind together.
    """

    fraction: Annotated[float, Field(ge=0, le=1)] = 0
    minimum: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    per: Literal["sku", "site"] = "sku"

    @model_validator(mode="after")
    def _keeps_some(self) -> Self:
        if self.fraction == 0 and self.minimum == 0:
            raise ValueError("give a `fraction` or a `minimum` above 0")
        return self


class Procurement(Strict):
    """Rules of buying; see docs/formulation/procurement.md. Absent lists forbid nothing.

    ``order_from_month``: the first month in which orders can be placed (null: month 0, while what stands at month 0 has
    been ordered in time).
    """

    approved_vendors: Vendors | None = None
    forbidden_vendors: Vendors | None = None
    approved_parts: Parts | None = None
    forbidden_parts: Parts | None = None
    max_part_numbers: dict[KindWord, Count] = {}
    spares: dict[KindWord, Spares] = {}
    order_from_month: Annotated[int, Field(ge=-1200, le=1200)] | None = None
