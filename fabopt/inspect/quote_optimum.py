"""The cheapest design of a case on the prices of a quote, to hold the quote against.

The inputs of a design's case, to solve it again and prove optimality, which no check can.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fabopt.design.bill import KIND_OF
from fabopt.errors import refusal
from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.io.library import is_path
from fabopt.parts.price_books import with_price_books
from fabopt.problem.rules_kept import purchased
from fabopt.program.settings import Clock
from fabopt.schema.catalog import KINDS, Catalog
from fabopt.schema.design import Design
from fabopt.schema.price_book import PriceBook
from fabopt.schema.product import Product
from fabopt.solution import optimize
from fabopt.wiring.design_file import Embedded


def with_parts_of(design: Design, catalog: Catalog) -> Catalog:
    """A catalog with the products that a design embeds in place of its own: at the prices that they were chosen at."""
    embedded = Embedded(design)
    own: dict[str, dict[str, Product]] = {kind: {} for kind in KINDS}
    for kind, word in KIND_OF.items():
        for part, body in design.parts.items():
            if body.get("kind") == word:
                own[kind][part] = embedded.product(part)
    taken = {part for parts in own.values() for part in parts}
    update = {
        kind: (*own[kind].values(), *(other for other in getattr(catalog, kind) if other.id not in taken))
        for kind in KINDS
    }
    return catalog.model_copy(update=update)


def best_on_prices(
    design: Design,
    catalog: Catalog,
    book: PriceBook,
    engine: str,
    clock: Clock,
    progress: Callable[[str], None] | None,
) -> Design:
    """The design's case solved again, for the least purchase price, with the prices of a book over its own.

    ``catalog``: all products that may be chosen, those of the design at its prices. Terms of sale stay as they were.
    """
    priced = with_price_books(catalog, [book.model_copy(update={"terms": {}, "vendor": None})])
    embedded = Embedded(design)
    case = purchased(embedded.asked or embedded.case)
    return optimize.solve(
        Inputs(case, priced, design.case.name), engine=engine, clock=clock, progress=progress, alternatives_s=0
    )


def inputs_again(design: Design, catalog: Catalog, file: str) -> Inputs:
    """The case that a design was asked for, on a catalog with the design's own parts.

    Price books are looked up beside ``file``, that of the design, else in the working folder. Raises ``InputError``
    where the file does not say how the case was written.
    """
    asked = Embedded(design).asked
    if asked is None:
        raise refusal(
            file,
            "case.asked",
            "is not there: points of studies, and files of before 0.3.0, do not say how their case was written",
            hint="solve the case itself with `fabopt solve`",
        )
    books = filter(is_path, (*asked.prices, *asked.only_priced_by))
    beside = Path(file).parent
    base = beside if all((beside / book).exists() for book in books) else Path()
    return inputs_from_objects(asked, with_parts_of(design, catalog), base=base)
