"""Prices of a quote compared with known ones: those far off are marked, as they may be prices of other parts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from fabopt.parts.price_basis import source_of_price
from fabopt.parts.price_books import products
from fabopt.parts.quotes import Quote, QuoteLine
from fabopt.schema.catalog import Cable, Catalog, Fibre
from fabopt.schema.product import Price
from fabopt.units import exact

Key = tuple[str, float | None]


class Believed(NamedTuple):
    """The lowest and the highest share of a known price at which a quoted price is believed."""

    low: Fraction
    high: Fraction

    def __str__(self) -> str:
        return f"{float(100 * self.low):g} to {float(100 * self.high):g} %"


class PriceBand(NamedTuple):
    """Believed shares of paid prices (street prices, quotes, estimates), and of list prices."""

    paid: Believed
    listed: Believed


BAND = PriceBand(Believed(Fraction(1, 2), Fraction(2)), Believed(Fraction(1, 5), Fraction(6, 5)))
WIDTHS = "50:200,20:120"
NO_BAND = "none"
_SPAN = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,3})?):([0-9]{1,6}(?:\.[0-9]{1,3})?)")


def band_in(text: str) -> PriceBand | None:
    """The band of an option such as ``50:200,20:120``, in percent; of one span that of list prices stays.

    ``ValueError`` for another text; None for ``none``.
    """
    if text.strip().lower() == NO_BAND:
        return None
    spans = []
    for part in text.split(","):
        match = _SPAN.fullmatch(part.strip())
        if match is None or exact(match[1]) >= exact(match[2]):
            raise ValueError(text)
        spans.append(Believed(exact(match[1]) / 100, exact(match[2]) / 100))
    if len(spans) > len(BAND):
        raise ValueError(text)
    return PriceBand(*spans, *BAND[len(spans) :])


class KnownPrice(NamedTuple):
    """Known dollars of a part, at the least and the most quantity, the kind of price, and its source in words."""

    least: float
    most: float
    kind: str
    whose: str

    @property
    def is_listed(self) -> bool:
        """Whether it is a list price, which nobody pays."""
        return self.kind == "list"


def known_prices(catalog: Catalog, planned: Collection[str] = ()) -> dict[Key, KnownPrice]:
    """Prices of a catalog, by product and length; those of ``planned`` ids are the plan's."""
    known: dict[Key, KnownPrice] = {}
    for product in products(catalog):
        lengths = product.lengths if isinstance(product, Cable | Fibre) else ()
        prices: list[tuple[float | None, Price | None]] = [(length.m, length.price_usd) for length in lengths]
        prices = prices or [(None, getattr(product, "price_usd", None))]
        for length_m, price in prices:
            amounts = [step.usd for step in price] if isinstance(price, tuple) else [price] if price else []
            if amounts and min(amounts) > 0:
                source = source_of_price(product, length_m)
                kind = (source and source.kind) or "price"
                whose = "the plan" if product.id in planned else "the catalog"
                known[product.id, length_m] = KnownPrice(
                    min(amounts), max(amounts), "price" if kind == "datasheet" else kind, whose
                )
    return known


def with_band(quote: Quote, known: Mapping[Key, KnownPrice], band: PriceBand | None) -> Quote:
    """The quote with doubts about prices outside of the band, which stay unchanged."""
    if band is None:
        return quote
    return replace(quote, lines=tuple(_marked(quote, line, known, band) for line in quote.lines))


def _marked(quote: Quote, line: QuoteLine, known: Mapping[Key, KnownPrice], band: PriceBand) -> QuoteLine:
    reference = known.get(line.key)
    if line.status != "matched" or reference is None:
        return line
    span = band.listed if reference.is_listed else band.paid
    own = [quote.unit_usd(line) or 0.0] if line.tier_from is not None else quote.prices_usd(line)
    for dollars in own:
        near = reference.least if dollars < reference.least else min(dollars, reference.most)
        if not span.low * exact(near) <= exact(dollars) <= span.high * exact(near):
            share = float(100 * exact(dollars) / exact(near))
            kind = "list price" if reference.is_listed else reference.kind
            doubt = (
                f"{_money(dollars)} is {share:,.3g} % of the {kind} of {_money(near)} that {reference.whose} has, "
                f"outside of {span}: is it the price of one part?"
            )
            return replace(line, remarks=(*line.remarks, doubt), doubts=(*line.doubts, doubt))
    return line


def _money(dollars: float) -> str:
    return f"${dollars:,.2f}".removesuffix(".00")
