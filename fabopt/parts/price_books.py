"""Prices over the catalog's: price books by id, then percentage changes by kind or id.

Prices stay in dollars; a changed price is rounded to the cent, half up. A product without a price stays without one
under a percentage change; a price book can give it one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple, TypeVar

from fabopt.errors import Fault, did_you_mean, fault
from fabopt.parts.price_basis import IN_DOUBT, with_sources
from fabopt.schema.base import Strict
from fabopt.schema.catalog import KINDS, ByLength, CableLength, Catalog
from fabopt.schema.finance import KIND_WORDS
from fabopt.schema.price_book import OrderTerms, OrderTermsByLength, PriceBook, PriceByLength
from fabopt.schema.product import Price, PriceBreak, PriceSource, Product, Purchasable, check_expedite, check_packs
from fabopt.units import CENTS_PER_USD, as_name, exact, rounded, usd

KIND_OF_WORD: dict[str, str] = dict(zip(KIND_WORDS, KINDS, strict=True))
Sold = TypeVar("Sold", bound=Strict)
_CHANGE = re.compile(r"([^=\s]+)=([+-]?[0-9]{1,6}(?:\.[0-9]{1,6})?)%")
_OPTION = "--price-change"
# Comparing a word with a whole catalog takes time, and no more faults of a file are listed.
_MOST_HINTS = 100


class PriceChange(NamedTuple):
    """Prices of a kind (``switch``) or of one product id, times ``factor``."""

    target: str
    factor: Fraction


def parse_price_change(text: str, catalog: Catalog) -> PriceChange | Fault:
    """Read ``KIND=+20%``: KIND is a word of ``KIND_OF_WORD`` or a product id; down to -100%."""
    match = _CHANGE.fullmatch(text)
    if match is None:
        without_sign = _CHANGE.fullmatch(f"{text}%")
        hint = f"write {without_sign.group(1)}={float(without_sign.group(2)):+g}%" if without_sign else ""
        return fault(_OPTION, "", "not a price change", text, allowed="KIND=+20% or ID=-5%", hint=hint)
    target, factor = match.group(1), 1 + exact(match.group(2)) / 100
    if factor < 0:
        return fault(_OPTION, "", "a price cannot fall by more than 100 %", text)
    if target not in KIND_OF_WORD and all(product.id != target for product in products(catalog)):
        words = [*KIND_OF_WORD, *(product.id for product in products(catalog))]
        hint = did_you_mean(target, words)
        allowed = ", ".join(KIND_OF_WORD) + ", or a product id of the catalog"
        return fault(_OPTION, "", "neither a kind of product nor an id", target, allowed=allowed, hint=hint)
    return PriceChange(target, factor)


def products(catalog: Catalog) -> list[Product]:
    """Return every product of a catalog, kind by kind."""
    return [product for kind in KINDS for product in getattr(catalog, kind)]


def changed(catalog: Catalog, changes: Iterable[PriceChange]) -> Catalog:
    """Return the catalog with the changes applied one after the other, each rounded to the cent."""
    for target, factor in changes:
        kind = KIND_OF_WORD.get(target)
        ids = {product.id for product in (getattr(catalog, kind) if kind else products(catalog))}
        named = {product.id for product in products(catalog) if product.base_id == target}
        catalog = _mapped(catalog, ids if kind else named, partial(_scaled, factor=factor))
    return catalog


def _scaled(product: Product, factor: Fraction) -> Product:
    product = _repriced(product, lambda price, _: _times(price, factor))
    lengths = tuple(_expedited(length, factor) for length in getattr(product, "lengths", ()))
    return product.model_copy(update={"lengths": lengths}) if lengths else _expedited(product, factor)


def _expedited(sold: Sold, factor: Fraction) -> Sold:
    """A product or length with its surcharge for sooner delivery times a factor."""
    expedite = getattr(sold, "expedite", None)
    if expedite is None:
        return sold
    dearer = expedite.model_copy(update={"price_usd": _to_cent(expedite.price_usd, factor)})
    return sold.model_copy(update={"expedite": dearer})


def check_price_book(book: PriceBook, file: str, prefix: str, catalog: Catalog) -> list[Fault]:
    """Faults of a price book for this catalog: unknown ids, lengths that are not sold."""
    known = {product.id: product for product in products(catalog)}
    faults: list[Fault] = []
    for id_, price in book.prices.items():
        path = f"{prefix}{id_}"
        product = known.get(id_)
        if product is None:
            hint = did_you_mean(id_, known) if len(faults) < _MOST_HINTS else ""
            faults.append(fault(file, path, "the catalog has no such product", id_, hint=hint))
        elif isinstance(product, ByLength):
            faults += _check_lengths(product, price, file, path)
        elif isinstance(price, dict):
            faults.append(fault(file, path, "this product is not sold by length", allowed="one price, or price breaks"))
    return faults or _check_terms(book, file, known)


def _check_terms(book: PriceBook, file: str, known: Mapping[str, Product]) -> list[Fault]:
    """Faults of terms of sale together with those of the catalog that they leave."""
    faults: list[Fault] = []
    for id_, terms in book.terms.items():
        product = _with_terms(known[id_], terms)
        for sold in getattr(product, "lengths", (product,)):
            if not isinstance(sold, Purchasable):
                continue
            try:
                check_packs(sold.minimum_order, sold.pack_size)
                check_expedite(sold.expedite, sold.lead_time_weeks, sold.in_stock)
            except ValueError as error:
                faults.append(fault(file, f"terms.{id_}", str(error)))
    return faults


def _check_lengths(product: ByLength, price: Price | PriceByLength, file: str, path: str) -> list[Fault]:
    sold = [length.m for length in product.lengths]
    allowed = "a price for each length in metres: " + ", ".join(f"{m:g}" for m in sold)
    if not isinstance(price, dict):
        return [fault(file, path, "this product is sold by length", allowed=allowed)]
    return [fault(file, path, f"the length {m:g} m is not sold", allowed=allowed) for m in price if m not in sold]


def with_price_books(catalog: Catalog, books: Sequence[PriceBook]) -> Catalog:
    """Return the catalog with the books' prices in place of its own; of two books, the later one wins.

    Books of vendors are offers: a product that any of them prices has no other price, and those of several vendors
    stand side by side, as products of their own; of one vendor the later one wins.
    """
    for book in books:
        if book.vendor is None:
            catalog = _mapped(catalog, set(book.prices), partial(_booked, book=book))
    offers: dict[str, dict[str, list[PriceBook]]] = {}
    for book in books:
        for id_ in book.prices if book.vendor is not None else ():
            offers.setdefault(id_, {}).setdefault(book.vendor or "", []).append(book)
    return with_offers(catalog, offers) if offers else catalog


def with_offers(catalog: Catalog, offers: Mapping[str, Mapping[str, Sequence[PriceBook]]]) -> Catalog:
    """The catalog with the offers for its products, by id and vendor, in place of their prices and earlier offers."""
    taken = {product.id for product in products(catalog) if product.offer_of not in offers}
    update: dict[str, tuple[Product, ...]] = {}
    for kind in KINDS:
        old: tuple[Product, ...] = getattr(catalog, kind)
        if any(product.id in offers for product in old):
            update[kind] = tuple(
                offered
                for product in old
                if product.offer_of not in offers
                for offered in (_offered(product, offers[product.id], taken) if product.id in offers else (product,))
            )
    return catalog.model_copy(update=update)


def _offered(product: Product, by_vendor: Mapping[str, Sequence[PriceBook]], taken: set[str]) -> Iterator[Product]:
    """A product as each vendor offers it; the first one keeps its id and its stock."""
    bare = _repriced(product, lambda price, m: None)
    for number, (vendor, books) in enumerate(by_vendor.items()):
        sold = bare
        for book in books:
            sold = _booked(_without_terms(sold, bare, book.prices[product.id]), book)
        update: dict[str, object] = {"sold_by": vendor}
        if number:
            update |= {"id": _free_id(product.id, vendor, taken), "offer_of": product.id}
            sold = _without_stock(sold)
        yield sold.model_copy(update=update)


def _without_terms(sold: Product, bare: Product, given: Price | PriceByLength) -> Product:
    """An offer without the terms of earlier books for what a later one prices: a product, or lengths of it."""
    if not (isinstance(sold, ByLength) and isinstance(bare, ByLength) and isinstance(given, dict)):
        return bare
    pairs = zip(sold.lengths, bare.lengths, strict=True)
    return sold.model_copy(update={"lengths": tuple(fresh if fresh.m in given else old for old, fresh in pairs)})


def _free_id(id_: str, vendor: str, taken: set[str]) -> str:
    """An unused id for a vendor's offer of a product."""
    stem = f"{id_}.{as_name(vendor) or 'offer'}"
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


def _without_stock(product: Product) -> Product:
    if isinstance(product, ByLength):
        lengths = tuple(length.model_copy(update={"stock": None}) for length in product.lengths)
        return product.model_copy(update={"lengths": lengths})
    return product.model_copy(update={"stock": None}) if isinstance(product, Purchasable) else product


def _booked(product: Product, book: PriceBook) -> Product:
    given, terms = book.prices[product.id], book.terms.get(product.id)
    if book.source is not None:
        doubts = book.doubts.get(product.id)
        note = f"{IN_DOUBT}{'; '.join(doubts)}"[:4000] if doubts else book.source.note
        source = book.source.model_copy(update={"note": note})
        sources = {m: _until(source, terms, m) for m in (given if isinstance(given, dict) else (None,))}
        product = with_sources(product, sources)
    product = _firm(_repriced(product, lambda old, m: _for_length(given, m, old)), given, book.firm_until)
    return product if terms is None else _with_terms(product, terms)


def _firm(product: Product, given: Price | PriceByLength, day: str | None) -> Product:
    """The product, or the lengths that a book prices, with the day until which prices are firm."""
    if not isinstance(product, ByLength):
        return product.model_copy(update={"firm_until": day}) if isinstance(product, Purchasable) else product
    lengths = (
        length.model_copy(update={"firm_until": day}) if isinstance(given, dict) and length.m in given else length
        for length in product.lengths
    )
    return product.model_copy(update={"lengths": tuple(lengths)})


def _until(source: PriceSource, terms: OrderTerms | OrderTermsByLength | None, m: float | None) -> PriceSource:
    """The source of a price, at a length of a cable or fibre, with the day on which it ends."""
    own = terms.get(m) if isinstance(terms, dict) and m is not None else terms
    if not isinstance(own, OrderTerms) or own.valid_until is None:
        return source
    return source.model_copy(update={"valid_until": own.valid_until})


def _with_terms(product: Product, terms: OrderTerms | OrderTermsByLength) -> Product:
    """The product, or its lengths, with the terms of sale that are given."""
    if not isinstance(terms, dict):
        return product.model_copy(update=_said(terms))
    assert isinstance(product, ByLength)
    lengths = (length.model_copy(update=_said(terms.get(length.m))) for length in product.lengths)
    return product.model_copy(update={"lengths": tuple(lengths)})


def _said(terms: OrderTerms | None) -> dict[str, object]:
    said = {} if terms is None else {key: getattr(terms, key) for key in OrderTerms.model_fields}
    return {key: value for key, value in said.items() if key != "valid_until" and value is not None}


def _for_length(given: Price | PriceByLength, m: float | None, old: Price | None) -> Price | None:
    if not isinstance(given, dict):
        return given
    return old if m is None else given.get(m, old)


def _mapped(catalog: Catalog, ids: set[str], change: Callable[[Product], Product]) -> Catalog:
    update: dict[str, tuple[Product, ...]] = {}
    for kind in KINDS:
        old: tuple[Product, ...] = getattr(catalog, kind)
        if any(product.id in ids for product in old):
            update[kind] = tuple(change(product) if product.id in ids else product for product in old)
    return catalog.model_copy(update=update)


def _repriced(product: Product, price: Callable[[Price | None, float | None], Price | None]) -> Product:
    """Return the product with ``price(old, length in metres or None)`` in place of every price of it."""
    if not isinstance(product, ByLength):
        return product.model_copy(update={"price_usd": price(getattr(product, "price_usd", None), None)})

    def repriced_length(length: CableLength) -> CableLength:
        return length.model_copy(update={"price_usd": price(length.price_usd, length.m)})

    return product.model_copy(update={"lengths": tuple(repriced_length(length) for length in product.lengths)})


def _times(price: Price | None, factor: Fraction) -> Price | None:
    if price is None:
        return None
    if isinstance(price, tuple):
        return tuple(PriceBreak.model_construct(from_=step.from_, usd=_to_cent(step.usd, factor)) for step in price)
    return _to_cent(price, factor)


def _to_cent(price: float, factor: Fraction) -> float:
    return float(usd(rounded(exact(price) * CENTS_PER_USD * factor)))
