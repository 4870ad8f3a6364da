"""The bill of materials as rows, CSV and JSON; ``fabopt.output.export.workbook`` writes the spreadsheet.

Text that a spreadsheet would take for a formula is marked as text, so that a catalog cannot make a buyer's
spreadsheet compute anything.

The bill of a design at other prices: quantities stay, unit prices and all sums of money are computed anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabopt.design.bill import KIND_OF
from fabopt.design.build import dump
from fabopt.errors import refusal
from fabopt.io.faults import refuse_any
from fabopt.io.library import STANDARD_STREAM, ending_of
from fabopt.output.export.marks import NO_MARKS, REPRICED, Marks, marked_csv
from fabopt.output.export.orders import body_of, orderable, seller_of
from fabopt.output.export.spreadsheet import csv_bytes
from fabopt.output.purchased import SHARES, has_any
from fabopt.output.words import json_bytes
from fabopt.parts.price_basis import basis_of, price_source
from fabopt.parts.price_books import check_price_book, products, with_price_books
from fabopt.parts.quotes import BILL_COLUMNS
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import BomRow, Design, StageDesign, Totals
from fabopt.schema.finance import DOLLAR
from fabopt.schema.hashes import sha256_of
from fabopt.schema.price_book import PriceBook
from fabopt.units import rounded, some, usd
from fabopt.verify.charges import with_charges
from fabopt.verify.evidence import Evidence
from fabopt.verify.purchases import priced_rows
from fabopt.verify.totals import capex_cents, energy_cents, totals_of, usd_per_gpu

PRICE_COLUMNS = ("maker", "vendor", "currency", "price_basis", "price_date")
# Columns that a bill has only if any row has a value in them.
SOME_COLUMNS = (BILL_COLUMNS, ("expedite_usd",), ("sold_by",), tuple(SHARES))
ENDINGS = (".csv", ".xlsx", ".json")


def bill_format(target: str) -> str:
    """Return the ending that says in which format to write a bill to ``target``; standard output (``-``) is CSV."""
    return ".csv" if target == STANDARD_STREAM else ending_of(target, "a bill of materials", ENDINGS)


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
    return json_bytes(content)


@dataclass(frozen=True)
class NamedBook:
    """A price book with the name or path that it was asked for by."""

    name: str
    book: PriceBook

    @property
    def sha256(self) -> str:
        """Hash of the book's content as canonical JSON."""
        return sha256_of(self.book.model_dump(mode="json", by_alias=True))


def repriced(design: Design, books: Sequence[NamedBook]) -> Design:
    """Return a design with the bill and all sums of money at the books' prices; of two books, the later one wins.

    Quantities stay, so the price of a part is that of the break which its order reaches. Status, bound and alternatives
    stay too: they hold at the design's own prices. ``InputError`` if a book has nothing for this bill, or other
    lengths.
    """
    catalog = _catalog_of(design)
    known = {product.id for product in products(catalog)}
    chosen = [_of_design(book, catalog, known) for book in books]
    priced = {product.id: product for product in products(with_price_books(catalog, chosen))}
    ids = {part for book in chosen for part in book.prices}
    parts = {
        part: {"kind": body["kind"], **dump(priced[part])} if part in ids else body
        for part, body in design.parts.items()
    }
    design = design.model_copy(update={"parts": parts})
    rows = tuple(row.model_copy(update=prices) for row, prices in priced_rows(Evidence(design)))
    evidence = Evidence(design.model_copy(update={"bom": rows}))
    evidence = Evidence(design.model_copy(update={"bom": with_charges(evidence)}))
    stages = tuple(_stage(evidence, number, stage) for number, stage in enumerate(design.stages))
    return evidence.design.model_copy(update={"totals": _totals(evidence), "stages": stages})


def mark_of(books: Sequence[NamedBook], design: Design) -> str:
    """The sentence for every format of a repriced bill: the books, their hashes, the share of the bill
    that they price.
    """
    names = ", ".join(f"{book.name} (sha256 {book.sha256[:16]})" for book in books)
    ids = {row.id for row in design.bom}
    priced = len(ids.intersection(part for book in books for part in book.book.prices))
    lines = f"{priced} of {some(len(ids), 'product')} of this bill"
    return f"{REPRICED} with {names}: {lines}. The design was chosen at other prices; at these another may be better"


def _catalog_of(design: Design) -> Catalog:
    """The embedded products as a catalog."""
    evidence = Evidence(design)
    kinds = {part: body.get("kind") for part, body in design.parts.items()}
    of_kind = {
        field: tuple(evidence.product(part) for part, own in kinds.items() if own == kind)
        for field, kind in KIND_OF.items()
    }
    return Catalog().model_copy(update=of_kind)


def _of_design(named: NamedBook, catalog: Catalog, known: set[str]) -> PriceBook:
    """A book's prices for the products of a design, without those of other products."""
    prices = {part: price for part, price in named.book.prices.items() if part in known}
    if not prices:
        raise refusal(named.name, "prices", "none of these products is in the design")
    book = named.book.model_copy(update={"prices": prices, "terms": {}})
    refuse_any(check_price_book(book, named.name, "prices.", catalog))
    return book


def _totals(evidence: Evidence) -> Totals:
    spent, present = capex_cents(evidence), capex_cents(evidence, present=True)
    energy = rounded(energy_cents(evidence, range(len(evidence.stage_names))))
    per_gpu = usd_per_gpu(evidence, spent)
    money = {"capex_usd": usd(spent), "tco_usd": usd(present + energy), "capex_usd_per_gpu": per_gpu}
    return totals_of(evidence).model_copy(update=money)


def _stage(evidence: Evidence, number: int, stage: StageDesign) -> StageDesign:
    spent, present = capex_cents(evidence, number), capex_cents(evidence, number, present=True)
    return stage.model_copy(update={"capex_usd": usd(spent), "present_value_usd": usd(present)})
