"""Sources of prices: those that a case allows, and those that a bill rests on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from fabopt.parts.names import order_code
from fabopt.schema.base import Strict
from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, ByLength, Catalog
from fabopt.schema.finance import KIND_WORDS
from fabopt.schema.product import PriceSource, Product, Source

# First word of the note on a bill of mixed prices, which is shown on top.
PRICES = "prices:"
# First words of the note on a switch whose price is derived, which is shown below that.
RESTS_ON = "rests on"
# How a note begins on what speaks against prices or parts, and that of a price's source that its quote's reader doubts.
IN_DOUBT = "in doubt: "
# The basis of a price whose source has no kind.
UNKNOWN = "unknown"
# What somebody judged or a rule made, where the others were read.
GUESSED = ("estimate", "derived")
_OF_PRICES = frozenset(("list", "street", "quote", "compatible", "paper", *GUESSED))
# Kinds of prices at which a part can be ordered by its own number.
ORDERED_AT = ("list", "street", "quote")
_A_PRICE = {"list": "of a list", "street": "of the street", "quote": "of a quote", "paper": "of a paper",
            "compatible": "of a compatible part", "estimate": "that is an estimate",
            "derived": "derived from those of like parts", UNKNOWN: "of unknown source"}  # fmt: skip
# The changed keys of what is sold: of a product of a kind (its word), itself or a length of it, in metres.
Change = Callable[[str, Product, Strict, float | None], dict[str, object]]


def price_source(part: Mapping[str, object], length_m: float | None) -> Mapping[str, object]:
    """The source of an embedded part's price: the length's own, the price's, all lengths', else the product's; empty
    without one.
    """
    provenance = said(part.get("provenance"))
    of_price = _length_of(part, length_m).get("source") or provenance.get("price_usd")
    return said(of_price or (part.get("lengths") and provenance.get("lengths")) or part.get("source"))


def firm_until(part: Mapping[str, object], length_m: float | None) -> str | None:
    """The last day on which the price of an embedded part, or of a length of it, does not fall; None: it may."""
    day = _length_of(part, length_m).get("firm_until") or part.get("firm_until")
    return day if isinstance(day, str) else None


def _length_of(part: Mapping[str, object], length_m: float | None) -> Mapping[str, object]:
    """A length of an embedded part; empty where it is not sold by length."""
    lengths = part.get("lengths")
    sold = map(said, lengths) if isinstance(lengths, Sequence) else ()
    return next((length for length in sold if length.get("m") == length_m), {})


def said(value: object) -> Mapping[str, object]:
    """A mapping of an embedded part; empty where it has none there."""
    return value if isinstance(value, Mapping) else {}


def basis_of(part: Mapping[str, object], length_m: float | None) -> str:
    """The kind of source of an embedded part's price, or ``unknown``."""
    return _word(price_source(part, length_m).get("kind"))


def _word(kind: object) -> str:
    return kind if isinstance(kind, str) and kind in _OF_PRICES else UNKNOWN


def source_of_price(product: Product, length_m: float | None) -> Source | None:
    """The source of a product's price, at one length of a cable or fibre, in the order of ``price_source``."""
    if not isinstance(product, ByLength):
        return product.provenance.get("price_usd") or product.source
    own = next((length.source for length in product.lengths if length.m == length_m), None)
    return own or product.provenance.get("price_usd") or product.provenance.get("lengths") or product.source


def is_guessed(product: Product, length_m: float | None) -> bool:
    """Whether a product's price, at one length of a cable or fibre, is an estimate or derived by a rule."""
    source = source_of_price(product, length_m)
    return source is not None and source.kind in GUESSED


class PriceRules(NamedTuple):
    """What a case asks of the prices of what it buys.

    ``kinds``: kinds of their sources, and ``books`` that alone give prices (None and none: any). ``orderable``: whether
    an order code is asked for, and a price at which that orders.
    """

    kinds: frozenset[str] | None = None
    books: tuple[str, ...] = ()
    orderable: bool = False

    @property
    def are_set(self) -> bool:
        """Whether they leave anything out."""
        return self != ANY_PRICE


ANY_PRICE = PriceRules()


def price_rules_of(case: Case) -> PriceRules:
    """The price rules of a case."""
    kinds = None if case.price_basis == "any" else frozenset(case.price_basis)
    return PriceRules(kinds, case.only_priced_by, case.only_orderable)


def why_not_paid(
    rules: PriceRules, word: str, product: Product, length_m: float | None, airflow: str | None = None
) -> str:
    """Why a price of a product of a kind, at a length of a cable or fibre, may not be paid; empty if it may.

    In words that go on after its id.
    """
    source = source_of_price(product, length_m)
    kind, book = _word(source and source.kind), getattr(source, "book", None)
    if rules.books and book not in rules.books:
        return f"has no price in {' or '.join(rules.books)}, and `only_priced_by` lets nothing else price it"
    if rules.kinds is not None and kind not in rules.kinds:
        return f"has a price {_A_PRICE[kind]}, which `price_basis` leaves out"
    if rules.orderable and kind not in ORDERED_AT:
        return f"has a price {_A_PRICE[kind]}, at which nobody sells it, and `only_orderable` asks for one"
    if rules.orderable:
        body = {"kind": word, **product.model_dump(mode="json", by_alias=True)}
        code = order_code(body, length_m, airflow)
        return "" if code.code else f"has no order code ({code.remark}), and `only_orderable` asks for one"
    return ""


def with_each_sold(catalog: Catalog, change: Change) -> Catalog:
    """The catalog with all that is sold changed, servers apart."""

    def changed(word: str, product: Product) -> Product:
        if not isinstance(product, ByLength):
            return product.model_copy(update=change(word, product, product, None))
        lengths = (length.model_copy(update=change(word, product, length, length.m)) for length in product.lengths)
        return product.model_copy(update={"lengths": tuple(lengths)})

    words = dict(zip(KINDS[:-1], KIND_WORDS, strict=False))
    return catalog.model_copy(
        update={kind: tuple(changed(word, one) for one in getattr(catalog, kind)) for kind, word in words.items()}
    )


def payable(catalog: Catalog, rules: PriceRules, exempt: Collection[str], airflow: str | None = None) -> Catalog:
    """The catalog without the prices that may not be paid, whose products are then listed only.

    What is in stock can be had as long as it lasts. ``exempt``: ids of parts built into the case's server, which is
    exempt itself. Rule ``parts_are_approved``.
    """

    def paid(word: str, product: Product, sold: Strict, length_m: float | None) -> dict[str, object]:
        if product.id in exempt or getattr(sold, "price_usd", None) is None:
            return {}
        if not why_not_paid(rules, word, product, length_m, airflow):
            return {}
        return {"price_usd": 0.0, "supply": 0} if getattr(sold, "stock", None) else {"price_usd": None}

    return with_each_sold(catalog, paid) if rules.are_set else catalog


def with_sources(product: Product, sources: Mapping[float | None, Source | None]) -> Product:
    """The product with these sources of its price, or of the prices at its lengths in metres; None: unchanged."""
    given = {
        m: source if isinstance(source, PriceSource) else PriceSource(**source.model_dump())
        for m, source in sources.items()
        if source is not None
    }
    if None in given:
        return product.model_copy(update={"provenance": {**product.provenance, "price_usd": given[None]}})
    if not given or not isinstance(product, ByLength):
        return product
    lengths = (
        length.model_copy(update={"source": given[length.m]}) if length.m in given else length
        for length in product.lengths
    )
    return product.model_copy(update={"lengths": tuple(lengths)})
