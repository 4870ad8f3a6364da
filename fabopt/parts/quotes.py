"""A vendor's quote as it was read, and the price book that it makes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeVar

from fabopt.parts.price_basis import source_of_price
from fabopt.parts.price_books import products
from fabopt.schema.catalog import ByLength, Catalog
from fabopt.schema.price_book import OrderTerms, OrderTermsByLength, PriceBook
from fabopt.schema.product import Price, PriceBreak, PriceSource
from fabopt.units import CENTS_PER_USD, exact, grouped, rounded, usd

# Matched: a product with its price. Unpriced: no price is stated. Left over: a price that is not taken. Charge: a price
# of a charge that a design asks for, which no price book holds. A subtotal or a note is no line of its own.
LineStatus = Literal["matched", "unpriced", "left over", "charge", "subtotal", "note"]
# What an RFQ sheet says of its charges begins so; it is read back by that.
CHARGE_REMARK = "a charge: "
# Columns of a bill as a table: what of its charges is none of parts.
BILL_COLUMNS = ("charge", "yearly_usd")
# Of a request for quotes: its sheet of facts, the key of the vendor there, and the column of awarded quantities.
REQUEST_SHEET, VENDOR_ASKED, AWARDED = "Request", "Vendor asked", "Awarded quantity"
# Sheets of a bill's workbook beside the one that asks for quotes, which no vendor writes.
SHEETS_OF_A_BILL = (
    "Summary", "Bill", "Stages", "Orders", "Deliveries", "Cash flow", "Offers", "Prices & sources", "Alternatives",
    "Basis", REQUEST_SHEET,
)  # fmt: skip
Value = TypeVar("Value")


@dataclass(frozen=True)
class QuoteLine:
    """A row of a quote. Prices are of one unit, net, in ``currency``; ``reason``: why it was not taken.

    ``suggestion``: a possible product, for a person to decide; ``remarks``: how the row was read; ``doubts``: those of
    the remarks by which words, sums or the band question the price. ``awarded``: quantity that the buyer awards to the
    vendor, no more of which is then offered; ``tier_from``: first quantity at which the price holds; ``breaks``: prices
    of a unit by that, from 1, of which ``unit_price`` is the one of this line.
    """

    sheet: str
    row: int
    status: LineStatus
    part: str = ""
    description: str = ""
    id: str = ""
    length_m: float | None = None
    quantity: int | None = None
    unit_price: Fraction | None = None
    currency: str = ""
    lead_time_weeks: float | None = None
    minimum_order: int | None = None
    pack_size: int | None = None
    in_stock: int | None = None
    valid_until: str | None = None
    reason: str = ""
    suggestion: str = ""
    remarks: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    awarded: int | None = None
    tier_from: int | None = None
    breaks: tuple[tuple[int, Fraction], ...] = ()

    @property
    def key(self) -> tuple[str, float | None]:
        """The product, or one length of it, that the line prices."""
        return self.id, self.length_m


@dataclass(frozen=True)
class Quote:
    """All rows of a quote. ``rates``: dollars for a unit of each currency; dates as ISO writes them.

    ``notes``: remarks on all of it; ``tables``: where lines were read, and the columns; ``doubts``: words or sums that
    question its prices, beside those of single lines; ``vendor``: the vendor that was asked.
    """

    file: str
    lines: tuple[QuoteLine, ...]
    rates: Mapping[str, Fraction] = field(default_factory=lambda: MappingProxyType({}))
    date: str | None = None
    valid_until: str | None = None
    notes: tuple[str, ...] = ()
    tables: tuple[QuoteColumns, ...] = ()
    doubts: tuple[str, ...] = ()
    vendor: str = ""

    def with_status(self, status: LineStatus) -> list[QuoteLine]:
        """The lines of a status."""
        return [line for line in self.lines if line.status == status]

    def unit_usd(self, line: QuoteLine) -> float | None:
        """The price of a unit in dollars, to the cent, half up; None where there is none or no rate for it."""
        return None if line.unit_price is None else self._usd(line.unit_price, line.currency)

    def unit_usd_at(self, line: QuoteLine, quantity: int | None) -> float | None:
        """The price of a unit at an order quantity in dollars, by the breaks of a line if it has any."""
        prices = [price for start, price in line.breaks if quantity is not None and start <= quantity]
        return self._usd(prices[-1], line.currency) if prices else self.unit_usd(line)

    def _usd(self, amount: Fraction, currency: str) -> float | None:
        rate = self.rates.get(currency)
        return None if rate is None else usd(rounded(amount * rate * CENTS_PER_USD))

    def prices_usd(self, line: QuoteLine) -> list[float]:
        """All prices of a unit in dollars that a line states, by quantity."""
        amounts = [price for _, price in line.breaks] or ([] if line.unit_price is None else [line.unit_price])
        return [dollars for amount in amounts if (dollars := self._usd(amount, line.currency)) is not None]

    @property
    def is_clear(self) -> bool:
        """Whether no price is withheld or in doubt."""
        return not (self.with_status("left over") or self.doubts or any(line.doubts for line in self.lines))

    def line_usd(self, line: QuoteLine) -> float | None:
        """Total of a line in dollars; an unknown line without a quantity, such as freight, counts once."""
        dollars, once = self.unit_usd(line), None if line.id or line.suggestion else 1
        number = once if line.quantity is None else line.quantity
        return None if dollars is None or number is None else round(dollars * number, 2)


@dataclass(frozen=True)
class QuoteColumns:
    """A table of a quote: the row of its headings, letters of its columns by field, and those not read."""

    sheet: str
    row: int
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    not_read: tuple[str, ...] = ()


def book_of(quote: Quote, name: str | None, url: str) -> PriceBook:
    """The price book of a quote's matched lines; equal lines have equal prices.

    Of several lines for one product, the longest lead time, the largest minimum and pack, the smallest stock and the
    earliest end count.
    """
    prices: dict[str, Price | dict[float, Price]] = {}
    terms: dict[str, OrderTerms | OrderTermsByLength] = {}
    for (id_, length_m), lines in grouped((line.key, line) for line in quote.with_status("matched")).items():
        price, own = _price(quote, lines[0]), terms_of_lines(lines)
        prices[id_] = price if length_m is None else {**_lengths(prices.get(id_)), length_m: price}
        if own != OrderTerms():
            terms[id_] = own if length_m is None else {**_lengths(terms.get(id_)), length_m: own}
    source = PriceSource(url=url, date=quote.date, kind="quote", confidence="high", valid_until=quote.valid_until)
    doubts = {
        id_: _doubts(lines) for id_, lines in grouped((line.id, line) for line in quote.with_status("matched")).items()
    }
    return PriceBook(
        name=name, description=f"Prices of {url}", vendor=quote.vendor or None, source=source, prices=prices,
        terms=terms,
        doubts={id_: said for id_, said in doubts.items() if said},
    )  # fmt: skip


def _price(quote: Quote, line: QuoteLine) -> Price:
    """The price of a line for a book: in dollars, by quantity where it has breaks; equal ones are one."""
    dollars = quote.prices_usd(line)
    steps = [(start, price) for (start, _), price in zip(line.breaks, dollars, strict=False)]
    steps = [step for index, step in enumerate(steps) if not index or step[1] < steps[index - 1][1]]
    return (
        tuple(PriceBreak.model_validate({"from": start, "usd": price}) for start, price in steps)
        if steps
        else dollars[0]
    )


def _doubts(lines: Sequence[QuoteLine]) -> tuple[str, ...]:
    """Doubts about the prices of a product, with their lengths."""
    said = ((line.length_m, doubt) for line in lines for doubt in line.doubts)
    return tuple(dict.fromkeys(doubt if m is None else f"{m:g} m: {doubt}" for m, doubt in said))


def _lengths(of_product: Value | dict[float, Value] | None) -> dict[float, Value]:
    """Values of a product by length so far."""
    return of_product if isinstance(of_product, dict) else {}


def terms_of_lines(lines: Sequence[QuoteLine]) -> OrderTerms:
    """The joint terms of several lines for one product."""
    pack = max((line.pack_size or 1 for line in lines), default=1)
    minimum = max((line.minimum_order or 1 for line in lines), default=1)
    weeks = [line.lead_time_weeks for line in lines if line.lead_time_weeks is not None]
    stocks = [line.in_stock for line in lines if line.in_stock is not None]
    ends = [line.valid_until for line in lines if line.valid_until is not None]
    awards = [line.awarded for line in lines if line.awarded is not None]
    return OrderTerms(
        lead_time_weeks=max(weeks, default=None),
        minimum_order=-(-minimum // pack) * pack if minimum > 1 else None,
        pack_size=pack if pack > 1 else None,
        in_stock=min(stocks, default=None),
        supply=sum(awards) if awards else None,
        valid_until=min(ends, default=None),
    )


# -- the band of prices that others state -----------------------------------------------------------------------------


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
        lengths = product.lengths if isinstance(product, ByLength) else ()
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
