"""Price books: prices over the catalog's, as a vendor quotes them, with their terms of sale."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from fabopt.schema.base import BookName, Count, Identifier, Strict, Text
from fabopt.schema.product import (
    Day,
    Expedite,
    LeadTime,
    Price,
    PriceSource,
    Supply,
    check_breaks,
    check_terms,
)

PriceByLength = dict[float, Price]


class OrderTerms(Strict):
    """Terms of sale that come with a price; those that are not said stay the catalog's.

    Attributes:
        lead_time_weeks: Weeks from order to delivery.
        minimum_order: Smallest order, in units.
        pack_size: Units of a pack.
        in_stock: Units that the vendor has, which take no lead time.
        expedite: What a shorter lead time costs.
        supply: Units that can be had in all, or by month.
        valid_until: Last day on which it can be ordered at this price, where that is not the book's.
    """

    lead_time_weeks: LeadTime | None = None
    minimum_order: Count | None = None
    pack_size: Count | None = None
    in_stock: Annotated[int, Field(ge=0)] | None = None
    expedite: Expedite | None = None
    supply: Supply | None = None
    valid_until: Day | None = None

    @model_validator(mode="after")
    def _terms_agree(self) -> Self:
        check_terms(self.minimum_order, self.pack_size, self.supply)
        return self


OrderTermsByLength = dict[float, OrderTerms]


class PriceBook(Strict):
    """Prices that replace the catalog's.

    Attributes:
        name: Name of the book.
        description: Free text.
        vendor: Whose offer it is; it then stands beside those of other vendors.
        firm_until: Last day on which its prices do not fall with `price_decline`.
        source: Where the prices come from.
        prices: Price by id, in US dollars; for what is sold by length, by length in metres.
        doubts: What speaks against a price, by id, for a person to settle.
        terms: Other terms of sale of what has a price here, written in the same way.
    """

    name: BookName | None = None
    description: Text | None = None
    vendor: Annotated[Text, Field(min_length=1)] | None = None
    firm_until: Day | None = None
    source: PriceSource | None = None
    prices: dict[Identifier, Price | PriceByLength]
    doubts: dict[Identifier, tuple[Text, ...]] = {}
    terms: dict[Identifier, OrderTerms | OrderTermsByLength] = {}

    @model_validator(mode="after")
    def _breaks_fall(self) -> Self:
        for part, price in self.prices.items():
            for of_length in price.values() if isinstance(price, dict) else [price]:
                try:
                    check_breaks(of_length)
                except ValueError as error:
                    raise ValueError(f"`prices` of {part}: {error}") from None
        return self

    @model_validator(mode="after")
    def _terms_are_of_prices(self) -> Self:
        for id_, terms in self.terms.items():
            price = self.prices.get(id_)
            if price is None or isinstance(terms, dict) != isinstance(price, dict):
                raise ValueError(f"`terms` of {id_} need a price of it in `prices`, and are by length where that is")
            if isinstance(terms, dict) and isinstance(price, dict) and not terms.keys() <= price.keys():
                raise ValueError(f"`terms` of {id_} are of lengths that have no price in `prices`")
        return self
