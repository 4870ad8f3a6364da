"""Matching of a quote's line with a product of a catalog: by equal names, never by similar ones.

Capitals, spaces and punctuation do not count, nor does the maker's name before a part number.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fabopt.io.recognition import bare
from fabopt.parts.names import FAMILY, HALF, metres_of, writes_metres
from fabopt.parts.price_books import products
from fabopt.schema.catalog import ByLength, Cable, Catalog, Switch, Transceiver
from fabopt.schema.product import Product

# What else makers are called before their part numbers, by how their names begin.
_ALSO_CALLED = {
    "nvidia": ("mellanox", "mlnx", "nvda", "nv", "nvidianetworking", "nvidiamellanox"),
    "arista": ("aristanetworks", "anet"),
    "cisco": ("ciscosystems", "csco"),
    "dell": ("dellemc", "delltechnologies"),
    "edgecore": ("edgecorenetworks", "accton"),
    "juniper": ("junipernetworks", "jnpr", "hpejuniper"),
    "supermicro": ("smci",),
    "fs": ("fscom",),
}
# Endings of Arista's part numbers of switches: front to rear, and rear to front.
_ARISTA_AIRFLOWS = ("-F", "-R")
MOST_HINTS = 100
# Words of so many letters say nothing of a part.
_SHORTEST = 3
_SIMILAR = 0.66
# Letters that are typed, or read from paper, for the digits that they look like.
_LOOK_ALIKE = str.maketrans("oilsz", "01152")
# Where a code of a family says a length.
_LENGTH_AT_END = re.compile(r"(?<=[a-z])[0-9]{2,3}$")
_WORDS = re.compile(r"[^\W_][\w-]*[^\W_]{2}")


class NameMatch(NamedTuple):
    """A product that goes by a name, and its length where the name says it."""

    id: str
    length_m: float | None = None


class QuotedNames:
    """Products of a catalog by everything that a quote may call them."""

    def __init__(self, catalog: Catalog) -> None:
        self.products = {product.id: product for product in products(catalog)}
        self._exact: dict[str, set[NameMatch]] = defaultdict(set)
        self._described: dict[str, set[NameMatch]] = defaultdict(set)
        self._families: list[tuple[re.Pattern[str], Product]] = []
        self._shown: dict[str, str] = {}
        self._hints = 0
        coded = (product for product in self.products.values() if isinstance(product, Cable | Transceiver))
        self.makers_of_compatibles = {part.vendor for part in coded if set(part.coded_for or ()) - {part.vendor}}
        texts = (f"{one.vendor} {one.part_number} {one.description}".lower() for one in self.products.values())
        self.vocabulary = {word for text in texts for word in _WORDS.findall(text) if len(word) > _SHORTEST}
        for product in self.products.values():
            self._take(product)
        self._looking = {shown.translate(_LOOK_ALIKE): shown for shown in self._shown}

    def _take(self, product: Product) -> None:
        for name, length_m in _names(product):
            for called in _with_maker(product, name):
                self._exact[called].add(NameMatch(product.id, length_m))
            self._shown.setdefault(bare(name), name)
        if product.description:
            self._described[bare(product.description)].add(NameMatch(product.id))
        family = _family(product)
        if family is not None:
            self._families += [(re.compile(prefix + family), product) for prefix in _with_maker(product, "")]

    def called(self, name: str) -> set[NameMatch]:
        """All products of a name, with its length; for a family's code, the length in its digits."""
        key = bare(name)
        if key and key not in self._exact:
            self._exact[key] = set(self._of_families(key))
        return set(self._exact.get(key, ()))

    def described(self, text: str) -> set[NameMatch]:
        """All products whose description is this text."""
        return set(self._described.get(bare(text), ())) if bare(text) else set()

    def _of_families(self, key: str) -> Iterator[NameMatch]:
        for pattern, product in self._families:
            if match := pattern.fullmatch(key):
                digits = next(iter(match.groups()), "")
                yield NameMatch(product.id, metres_of(digits) if writes_metres(product.vendor) else None)

    def nearest(self, name: str) -> str:
        """The part number closest to a misspelled name, with its id; empty where none is close.

        The number of such comparisons with a whole catalog is limited, as they are slow.
        """
        self._hints += 1
        if self._hints > MOST_HINTS:
            return ""
        key = bare(name)[:100].translate(_LOOK_ALIKE)
        of_family = _LENGTH_AT_END.sub(lambda digits: "x" * len(digits[0]), key)
        close = {
            near: difflib.SequenceMatcher(None, near, written).ratio()
            for written in dict.fromkeys((key, of_family))
            for near in difflib.get_close_matches(written, list(self._looking), n=1, cutoff=_SIMILAR)
        }
        if not close:
            return ""
        nearest = self._looking[max(close, key=lambda near: close[near])]
        ids = sorted(match.id for match in self._exact[nearest])
        return f"{self._shown[nearest]} ({', '.join(ids)})" if ids != [self._shown[nearest]] else ids[0]

    def within(self, text: str) -> list[str]:
        """Part numbers that a text names among other words, each once, in its order."""
        words = [bare(word) for word in re.split(r"[\s,;()\[\]+]+", text)]
        return list(dict.fromkeys(word for word in words if _may_be_a_code(word) and self.called(word)))

    def begun(self, text: str) -> tuple[str, str]:
        """The part number that a text begins with, after the maker or not, and the rest; empty where it has none."""
        words = text.split()
        for count in (1, 2):
            code = " ".join(words[:count]).rstrip(",;:")
            if len(words) > count and _may_be_a_code(bare(code)) and self.called(code):
                return code, " ".join(words[count:])
        return "", text

    def is_described(self, id_: str, text: str) -> bool:
        """Whether a text has a word of the product's description, other than the maker."""
        product = self.products[id_]
        own = {word for word in _WORDS.findall((product.description or "").lower()) if word not in _makers(product)}
        return bool(own & set(_WORDS.findall(text.lower())))

    def of_vendor(self, matches: Iterable[NameMatch], vendor: str) -> set[NameMatch]:
        """Matches of products by a vendor; all matches if none is."""
        matches = set(matches)
        own = {match for match in matches if bare(vendor) in _makers(self.products[match.id])}
        return own or matches


def _may_be_a_code(word: str) -> bool:
    return len(word) > 4 and any(letter.isdigit() for letter in word)


def _names(product: Product) -> Iterator[tuple[str, float | None]]:
    """Names of a product, and of its lengths with the length."""
    yield product.id, None
    if product.part_number:
        yield product.part_number, None
    yield from ((number, None) for number in product.other_part_numbers)
    if isinstance(product, Switch):
        yield from ((code, None) for code in product.airflows.values() if code)
        if product.part_number and not product.airflows and product.vendor == "Arista":
            yield from ((f"{product.part_number}{ending}", None) for ending in _ARISTA_AIRFLOWS)
    if isinstance(product, ByLength):
        for length in product.lengths:
            yield from ((code, length.m) for code in (length.part_number, *length.other_part_numbers) if code)


def _makers(product: Product) -> Sequence[str]:
    """Names of the maker of a product."""
    maker = bare(product.vendor or "")
    return (maker, *_ALSO_CALLED.get(maker, ())) if maker else ()


def _with_maker(product: Product, name: str) -> Iterator[str]:
    """A name alone and with the maker before it, as they are compared; an id also without the maker in it."""
    key, makers = bare(name), _makers(product)
    yield key
    yield from (maker + key for maker in makers)
    first, _, rest = name.partition("-")
    if name == product.id and rest and bare(first) in makers:
        yield bare(rest)


def _family(product: Product) -> str | None:
    """A pattern of the codes of a family's lengths; None for a product with one part number."""
    if not isinstance(product, ByLength) or not product.part_number or not FAMILY.search(product.part_number):
        return None
    pieces = re.split(f"({FAMILY.pattern})", product.part_number)
    return "".join(_digits(piece) if FAMILY.fullmatch(piece) else re.escape(bare(piece)) for piece in pieces)


def _digits(piece: str) -> str:
    """The pattern of a place in a code: digits of the length are kept."""
    return f"([0-9]{{{len(piece) - 1}}}[0-9{HALF.lower()}])" if piece[0] == "x" else f"[0-9]{{{len(piece)}}}"
