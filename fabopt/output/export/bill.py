"""The bill of materials as rows, CSV and JSON; ``fabopt.output.export.workbook`` writes the spreadsheet.

Text that a spreadsheet would take for a formula is marked as text, so that a catalog cannot make a buyer's
spreadsheet compute anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from fabopt.errors import InputError, fault
from fabopt.output.export.marks import NO_MARKS, Marks, marked_csv
from fabopt.output.export.order_codes import body_of, orderable, seller_of
from fabopt.output.export.spreadsheet import csv_bytes
from fabopt.output.purchased import SHARES, has_any
from fabopt.parts.price_basis import basis_of, price_source
from fabopt.parts.quotes import BILL_COLUMNS
from fabopt.schema.design import BomRow, Design
from fabopt.schema.finance import DOLLAR

PRICE_COLUMNS = ("maker", "vendor", "currency", "price_basis", "price_date")
# Columns that a bill has only if any row has a value in them.
SOME_COLUMNS = (BILL_COLUMNS, ("expedite_usd",), ("sold_by",), tuple(SHARES))
ENDINGS = (".csv", ".xlsx", ".json")


def bill_format(target: str) -> str:
    """Return the ending that says in which format to write a bill to ``target``; standard output (``-``) is CSV."""
    ending = ".csv" if target == "-" else PurePath(target).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            [fault(target, "", "a bill of materials is not written like this", allowed=", ".join(ENDINGS))]
        )
    return ending


def bill_bytes(design: Design, ending: str, marks: Marks = NO_MARKS, *, date: str = "", revision: str = "") -> bytes:
    """Return the bill of materials in the format of ``ending``, the same bytes for the same design.

    ``marks``: sentences by the word that marks a bill as not proven, or as priced by other books. ``date``: without one
    that of the newest price; ``revision``: without one the first digits of the hash of the case.
    """
    if ending == ".xlsx":
        from fabopt.output.export.workbook import workbook_bytes

        return workbook_bytes(design, marks, date, revision)
    issue = {
        "project": design.case.name,
        "date": date or max((str(row["price_date"] or "") for row in bill_rows(design)), default=""),
        "revision": revision or design.case.sha256[:12],
    }
    return _csv(design, marks, issue) if ending == ".csv" else _json(design, marks, issue)


def bill_rows(design: Design) -> list[dict[str, Any]]:
    """Return the bill's rows: the columns of ``BomRow`` in use, in its order, then source and date of each price.

    Part numbers are those to order by.
    """
    columns = [name for name in bill_columns(design) if name not in PRICE_COLUMNS]
    return [{**{name: getattr(row, name) for name in columns}, **_price(design, row)} for row in orderable(design)]


def bill_columns(design: Design) -> list[str]:
    """Return the titles of the bill's columns.

    Columns of charges, surcharges and shares of stock are there only where a row has a value.
    """
    rows = orderable(design)
    absent = {name for names in SOME_COLUMNS if not has_any(rows, names) for name in names}
    return [*(name for name in BomRow.model_fields if name not in absent), *PRICE_COLUMNS]


def _price(design: Design, row: BomRow) -> dict[str, object]:
    """Maker, vendor, currency, basis and date of a row's price, as its product states them."""
    part = body_of(design, row)
    if not part:
        return dict(zip(PRICE_COLUMNS, (None, None, DOLLAR, None, None), strict=True))
    source = price_source(part, row.length_m)
    maker = part.get("vendor") if row.charge is None else None
    known = maker, seller_of(part), DOLLAR, basis_of(part, row.length_m), source.get("date")
    return dict(zip(PRICE_COLUMNS, known, strict=True))


def _csv(design: Design, marks: Marks, issue: Mapping[str, str]) -> bytes:
    columns = [*bill_columns(design), *issue]
    rows = ({**row, **issue} for row in bill_rows(design))
    data = csv_bytes(columns, ([row.get(column) for column in columns] for row in rows))
    for title, mark in marks.items():
        data = marked_csv(data.decode(), mark, title).encode()
    return data


def _json(design: Design, marks: Marks, issue: Mapping[str, str]) -> bytes:
    case = {"name": design.case.name, "sha256": design.case.sha256}
    content = {
        **{title.lower(): mark for title, mark in marks.items()},
        "case": case,
        **issue,
        "status": design.status,
        "rows": bill_rows(design),
    }
    return json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n"
