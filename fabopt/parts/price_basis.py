"""Sources of prices: those that a case allows, and those that a bill rests on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, Cable, Catalog, Fibre
from fabopt.schema.price_book import PriceBook
from fabopt.schema.product import PriceSource, Product, Source

# First word of the note on a bill of mixed prices, which is shown on top.
PRICES = "prices:"
# How the note of a price's source begins that the reader of its quote has something against.
IN_DOUBT = "in doubt: "
# The basis of a price whose source has no kind.
UNKNOWN = "unknown"
# What somebody judged or a rule made, where the others were read.
GUESSED = ("estimate", "derived")
_OF_PRICES = frozenset(("list", "street", "quote", "paper", *GUESSED))
_UNPRICED = {"price_usd": None}
# A price: the id of its product, and the length where it is sold by length.
Priced = tuple[str, float | None]


def price_source(part: Mapping[str, object], length_m: float | None) -> Mapping[str, object]:
    """The source of an embedded part's price: the length's own, the price's, all lengths', else the product's; empty
    without one.
    """
    provenance = _said(part.get("provenance"))
    of_price = _length_of(part, length_m).get("source") or provenance.get("price_usd")
    return _said(of_price or (part.get("lengths") and provenance.get("lengths")) or part.get("source"))


def firm_until(part: Mapping[str, object], length_m: float | None) -> str | None:
    """The last day on which the price of an embedded part, or of a length of it, does not fall; None: it may."""
    day = _length_of(part, length_m).get("firm_until") or part.get("firm_until")
    return day if isinstance(day, str) else None


def _length_of(part: Mapping[str, object], length_m: float | None) -> Mapping[str, object]:
    """A length of an embedded part; empty where it is not sold by length."""
    lengths = part.get("lengths")
    sold = map(_said, lengths) if isinstance(lengths, Sequence) else ()
    return next((length for length in sold if length.get("m") == length_m), {})


def _said(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def basis_of(part: Mapping[str, object], length_m: float | None) -> str:
    """The kind of source of an embedded part's price, or ``unknown``."""
    return _word(price_source(part, length_m).get("kind"))


def _word(kind: object) -> str:
    return kind if isinstance(kind, str) and kind in _OF_PRICES else UNKNOWN


def source_of_price(product: Product, length_m: float | None) -> Source | None:
    """The source of a product's price, at one length of a cable or fibre, in the order of ``price_source``."""
    if not isinstance(product, Cable | Fibre):
        return product.provenance.get("price_usd") or product.source
    own = next((length.source for length in product.lengths if length.m == length_m), None)
    return own or product.provenance.get("price_usd") or product.provenance.get("lengths") or product.source


def is_guessed(product: Product, length_m: float | None) -> bool:
    """Whether a product's price, at one length of a cable or fibre, is an estimate or derived by a rule."""
    source = source_of_price(product, length_m)
    return source is not None and source.kind in GUESSED


def usable(
    before: Catalog, booked: Catalog, books: Sequence[PriceBook], case: Case, only: Mapping[str, PriceBook]
) -> Catalog:
    """A catalog with the prices of ``books`` without those that a case does not allow, whose products are then listed
    only.

    ``before``: the catalog's own prices; ``only``: by name the books that the case makes the only source of prices. The
    server and its built-in parts keep their prices.
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
    server = next((server for server in booked.servers if server.id == case.server), None)
    exempt = {nic.id for nic in server.nics} if server else set()
    return booked.model_copy(
        update={
            kind: tuple(
                product if product.id in exempt else _without(product, kept) for product in getattr(booked, kind)
            )
            for kind in KINDS[:-1]
        }
    )


def _of_book(source: Source | None, name: str) -> PriceSource:
    said = {} if source is None else source.model_dump()
    return PriceSource(**{**said, "book": name})


def _prices_of(book: PriceBook) -> Collection[Priced]:
    return [(id_, m) for id_, price in book.prices.items() for m in (price if isinstance(price, dict) else (None,))]


def _sources(catalog: Catalog, books: Sequence[PriceBook]) -> dict[Priced, Source | None]:
    """The source of every price, length by length: that of the last book that has the price and a source."""
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
    """The product with these sources of its price, or of the prices at its lengths in metres; None: unchanged."""
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
