"""Part numbers to order by, in the rows of a bill and in columns of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabopt.output.purchased import shared_rows
from fabopt.parts.part_numbers import OrderCode, order_code, wanted_airflow
from fabopt.schema.design import BomRow, Design


def body_of(design: Design, row: BomRow) -> dict[str, Any] | None:
    """The embedded product or charge of a line: its seller, and the source of its price."""
    if row.charge is None:
        return design.parts.get(row.id)
    of_case = design.case.content.get("charges") or []
    of_parts = (charge for body in design.parts.values() for charge in body.get("charges") or ())
    return next((charge for charge in (*of_case, *of_parts) if charge.get("name") == row.id), None)


def seller_of(body: Mapping[str, Any]) -> str | None:
    """Seller of a part as a file states it: the vendor of the offer, else the maker."""
    seller: str | None = body.get("sold_by") or body.get("vendor")
    return seller


def product_of(design: Design, part: str) -> str:
    """The product that a part is an offer of, or the part."""
    product: str = design.parts.get(part, {}).get("offer_of") or part
    return product


def code_of(design: Design, part: str, length_m: float | None) -> OrderCode:
    """Order code of a part of the design, in its length and with the airflow that its case wants."""
    return order_code(design.parts.get(part, {}), length_m, wanted_airflow(design.case.content))


def orderable(design: Design) -> list[BomRow]:
    """The bill's rows with a part number for each length and airflow; empty where the number is not known."""
    return [
        row.model_copy(update={"part_number": code_of(design, row.id, row.length_m).code})
        if row.id in design.parts
        else row
        for row in shared_rows(design)
    ]


def order_codes(design: Design, parts: Sequence[str], lengths_m: Sequence[float]) -> list[str]:
    """Return the code to order every part of a column by, in its length (NaN: none); empty where it is not known."""
    pairs = dict.fromkeys(zip(parts, (length if length == length else None for length in lengths_m), strict=True))
    codes = {pair: code_of(design, *pair).code for pair in pairs}
    return [codes[part, length if length == length else None] for part, length in zip(parts, lengths_m, strict=True)]
