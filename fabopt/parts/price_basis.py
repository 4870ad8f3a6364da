"""How prices are known: which may be used, and what a bill rests on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, Cable, Catalog, Fibre
from fabopt.schema.price_book import PriceBook
from fabopt.schema.product import PriceSource, Product, Source

# How the note on a bill of mixed prices begins, which is shown on top.
PRICES = "prices:"
# How the note of a price's source begins that the reader of its quote has something against.
IN_DOUBT = "in doubt: "
# Of a price whose source does not say what it is.
UNKNOWN = "unknown"
# What somebody judged or a rule made, where the others were read.
GUESSED = ("estimate", "derived")
_OF_PRICES = frozenset(("list", "street", "quote", "paper", *GUESSED))
_UNPRICED = {"price_usd": None}
# A price: the id of its product, and the length where it is sold by length.
Priced = tuple[str, float | None]


def price_source(part: Mapping[str, object], length_m: float | None) -> Mapping[str, object]:
    """Where an embedded part's price comes from: the length's own source, the price's, all lengths', else the
    product's; empty where none is said.
    """
    lengths = part.get("lengths")
    sold = map(_said, lengths) if isinstance(lengths, Sequence) else ()
    of_length = next((length.get("source") for length in sold if length.get("m") == length_m), None)
    provenance = _said(part.get("provenance"))
    of_price = of_length or provenance.get("price_usd") or (lengths and provenance.get("lengths"))
    return _said(of_price or part.get("source"))


def _said(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def basis_of(part: Mapping[str, object], length_m: float | None) -> str:
    """How an embedded part's price is known: a kind of source, or ``unknown``."""
    return _word(price_source(part, length_m).get("kind"))


def _word(kind: object) -> str:
    return kind if isinstance(kind, str) and kind in _OF_PRICES else UNKNOWN


def source_of_price(product: Product, length_m: float | None) -> Source | None:
    """Where a product's price comes from, at one length of a cable or fibre, as ``price_source`` says."""
    if not isinstance(product, Cable | Fibre):
        return product.provenance.get("price_usd") or product.source
    own = next((length.source for length in product.lengths if length.m == length_m), None)
    return own or product.provenance.get("price_usd") or product.provenance.get("lengths") or product.source


def is_guessed(product: Product, length_m: float | None) -> bool:
    """Whether somebody judged a product's price, at one length of a cable or fibre, or a rule made it."""
    source = source_of_price(product, length_m)
    return source is not None and source.kind in GUESSED


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
                sources[product.id, m] = source_of_price(product, m)
    for book in books:
        sources.update((price, book.source) for price in _prices_of(book) if book.source is not None)
    return sources


def _without(product: Product, kept: Mapping[Priced, Source | None]) -> Product:
    """The product without the prices that are not kept, and with the source of those that are."""
    lengths = product.lengths if isinstance(product, Cable | Fibre) else ()
    if lengths:
        left = (
            length if (product.base_id, length.m) in kept else length.model_copy(update=_UNPRICED) for length in lengths
        )
        product = product.model_copy(update={"lengths": tuple(left)})
    elif (product.base_id, None) not in kept:
        product = product.model_copy(update=_UNPRICED)
    priced: tuple[float | None, ...] = tuple(length.m for length in lengths) or (None,)
    sources = {m: kept.get((product.base_id, m)) for m in priced} if product.sold_by is None else {}
    return with_sources(product, {m: source for m, source in sources.items() if source != source_of_price(product, m)})


def with_sources(product: Product, sources: Mapping[float | None, Source | None]) -> Product:
    """The product with these sources of its price, or of the prices at its lengths in metres; None: as before."""
    given = {
        m: source if isinstance(source, PriceSource) else PriceSource(**source.model_dump())
        for m, source in sources.items()
        if source is not None
    }
    if None in given:
        return product.model_copy(update={"provenance": {**product.provenance, "price_usd": given[None]}})
    if not given or not isinstance(product, Cable | Fibre):
        return product
    lengths = (
        length.model_copy(update={"source": given[length.m]}) if length.m in given else length
        for length in product.lengths
    )
    return product.model_copy(update={"lengths": tuple(lengths)})
