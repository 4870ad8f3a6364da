"""How prices are known: which may be used, and what a bill rests on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, Cable, CableLength, Catalog, Fibre, PriceBook
from fabopt.schema.product import PriceSource, Product, Source

# How the note on a bill of mixed prices begins, which is shown on top.
PRICES = "prices:"
# Of a price whose source does not say what it is.
UNKNOWN = "unknown"
# What somebody judged or a rule made, where the others were read.
GUESSED = ("estimate", "derived")
_OF_PRICES = frozenset(("list", "street", "quote", "paper", *GUESSED))
# A price: the id of its product, and the length where it is sold by length.
Priced = tuple[str, float | None]


def price_source(part: Mapping[str, object]) -> Mapping[str, object]:
    """Where an embedded part's price comes from: its own source, or its lengths', else the product's."""
    provenance = _said(part.get("provenance"))
    own = provenance.get("price_usd") or (provenance.get("lengths") if part.get("lengths") else None)
    return _said(own or part.get("source"))


def _said(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def basis_of(part: Mapping[str, object]) -> str:
    """How an embedded part's price is known: a kind of source, or ``unknown``."""
    return _word(price_source(part).get("kind"))


def _word(kind: object) -> str:
    return kind if isinstance(kind, str) and kind in _OF_PRICES else UNKNOWN


def _own_source(product: Product) -> Source | None:
    lengths = product.provenance.get("lengths") if isinstance(product, Cable | Fibre) else None
    return product.provenance.get("price_usd") or lengths or product.source


def usable(
    before: Catalog, booked: Catalog, books: Sequence[PriceBook], case: Case, only: Mapping[str, PriceBook]
) -> Catalog:
    """A catalog with the prices of ``books`` without those that a case does not allow: they are then listed only.

    ``before``: the catalog's own prices; ``only``: books by the names under which the case says that nothing else
    prices anything. The server and what is built into it keep their prices.
    """
    if case.price_basis == "any" and not only:
        return booked
    sources = _sources(before, books)
    allowed = None if case.price_basis == "any" else frozenset(case.price_basis)
    named = {price: name for name, book in only.items() for price in _prices_of(book)}
    kept = {
        price: source if price not in named else _of_book(source, named[price])
        for price, source in sources.items()
        if (allowed is None or _word(source and source.kind) in allowed) and (not only or price in named)
    }
    server = next((one for one in booked.servers if one.id == case.server), None)
    exempt = {nic.id for nic in server.nics} if server else set()
    return booked.model_copy(
        update={
            kind: tuple(one if one.id in exempt else _without(one, kept) for one in getattr(booked, kind))
            for kind in KINDS[:-1]
        }
    )


def _of_book(source: Source | None, name: str) -> PriceSource:
    said = {} if source is None else source.model_dump()
    return PriceSource(**{**said, "book": name})


def _prices_of(book: PriceBook) -> Collection[Priced]:
    return [(id_, m) for id_, price in book.prices.items() for m in (price if isinstance(price, dict) else (None,))]


def _sources(catalog: Catalog, books: Sequence[PriceBook]) -> dict[Priced, Source | None]:
    """The source of every price, length by length: of the last book that has it and says its source."""
    sources: dict[Priced, Source | None] = {}
    for kind in KINDS[:-1]:
        for product in getattr(catalog, kind):
            lengths = product.lengths if isinstance(product, Cable | Fibre) else None
            for m in [None] if lengths is None else [length.m for length in lengths]:
                sources[product.id, m] = _own_source(product)
    for book in books:
        sources.update((price, book.source) for price in _prices_of(book) if book.source is not None)
    return sources


def _without(product: Product, kept: Mapping[Priced, Source | None]) -> Product:
    """The product without the prices that are not kept, and with the source of those that are."""
    if not isinstance(product, Cable | Fibre):
        if (product.id, None) not in kept:
            return product.model_copy(update={"price_usd": None})
        return _sourced(product, kept[product.id, None])

    def of_length(length: CableLength) -> CableLength:
        return length if (product.id, length.m) in kept else length.model_copy(update={"price_usd": None})

    sources = [kept[product.id, one.m] for one in product.lengths if one.price_usd and (product.id, one.m) in kept]
    known = next((source for source in sources if source is not None), None)
    return _sourced(product.model_copy(update={"lengths": tuple(map(of_length, product.lengths))}), known)


def _sourced(product: Product, source: Source | None) -> Product:
    if source is None or source == _own_source(product):
        return product
    own = source if isinstance(source, PriceSource) else PriceSource(**source.model_dump())
    return product.model_copy(update={"provenance": {**product.provenance, "price_usd": own}})
