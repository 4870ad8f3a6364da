"""The header of a quote's table, and the role of each column: by the headings that vendors use."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from fabopt.io.quote.currencies import DOLLAR, HOME, REMEMBERED, agreed_sign, called, pattern, signs_in
from fabopt.io.quote.facts import recurring
from fabopt.io.quote.values import Cell, Sheet, letters
from fabopt.units import grouped

_CALLED = called()
_ROLES = {name: role for role, names in _CALLED.items() for name in names}
# Words before the name of a column that do not change what it is.
_WHOSE = re.compile(
    r"^(?:(?:mfr|mfg|manufacturers?|vendors?|suppliers?|oem|makers?|herstellers?|our|your|quoted|s|legacy|"
    r"nvidia|mellanox|cisco|arista|dell|juniper|hpe"
    r"|(?:offer|option|alternative|angebot|offre|oferta) \w{1,2})\s)+"
)
_WHOSE_AFTER = re.compile(
    r"\s(?:(?:du|do|del|des|der|vom) )?(?:mfr|mfg|manufacturer|vendor|supplier|oem|maker|hersteller|"
    r"constructeur|fabricant|fournisseur|"
    r"fabricante|proveedor|produttore|fornitore|fornecedor|fabrikant|producenta)$"
)
# Other headings that speak of a price, and those of them that are not what a unit costs.
_OF_PRICE = re.compile(r"\b(?:prices?|prix|precio|prezzo|prijs|preço|pris|cena)\b|\w*preis\b|价$|価格$|単価|단가|가격")
_OF_RATE = re.compile(r"\b(?:rates?|fees?|payments?|costs?)\b", re.IGNORECASE)
_OF_SUM = re.compile(r"\b(?:total\w*|ext\w*|amount|gesamt\w*|summe|betrag|montant|importe?|valor)\b")
_NOT_PAID = re.compile(
    r"\b(?:per|pro|je|par|por|old|previous|last|former|was|alt\w*|historic\w*|budget|target|market|reference|total|ext\w*|line|"
    r"all|lead|valid\w*|date|book|basis|group|class|type|code|level|incl\w*|inkl\w*|list|validity|unit of)\b"
)
# Of these, what is paid in the end, or for so many.
_PAID = re.compile(
    r"[0-9]|\b(?:after|net\w*|final\w*|rebate\w*|discount\w*|promo\w*|special|project|deal|your|our|offer\w*|quoted|less|nach|après)\b|"
    r"\b(?:projekt|aktions|sonder|angebots|end)preis\b"
)
# What a price is for, other than one alone, or what is in it.
_OF_ANOTHER = re.compile(r"\b(?:per|pro|je|par|por)\s")
_WITH_MORE = re.compile(
    r"(?<!not )(?<!nicht )(?<!non )\b(?:incl\w*|inkl\w*)\b"
    r"(?!\W*(?:all |the |[0-9]+\s?%\s?)?(?:discounts?|rabatt|nachlass|remise|rebates?))"
)
# Headings of what is paid for one, without a word for a price.
_NET_OF_ONE = re.compile(
    r"\bnett?o?\b|\b(?:after|less) (?:the )?disc\w*|\bdiscounted\b|"
    r"\b(?:deal|special|project|contract|customer|your|our|final)\b"
    r".*\b(?:each|ea|unit|cost|pc|piece)\b|净价|折后|成交价|仕切|ネット|正味"
)
_NOT_OF_ONE = re.compile(
    r"[0-9%]|\b(?:weight|gewicht|poids|peso|total|sum|amount|ext\w*|gesamt\w*|line|terms?|days?|payment|due|subtotal|value|"
    r"date|rebate|rate|margin|qty|quantity|disc)\b|重|量"
)
# A price that is what one unit costs if no other column is.
_MAYBE_UNIT = "maybe unit"
# A range of quantities, as headings of prices by quantity are: `1-99`, `100+`, `ab 500 Stk`.
_RANGE = re.compile(
    r"(?:(?:qty|quantity|menge|quantité|cantidad|数量)\s*)?(?:(?:from|ab|up to|bis(?: zu)?|jusqu'à|à partir de|dès|"
    r"desde|hasta|a partir de|más de|plus de|über|mehr als|over|above|more than|[<>≥≤]=?)\s*[0-9][0-9,.]*|"
    r"(?:(?:de|von|from|between|entre|zwischen)\s+)?[0-9](?:[0-9,.]*[0-9])?\s*(?:pcs?|stk|uds?|个|個|件|只|本|枚|台)?\s*"
    r"(?:\+|(?:[-–—~～〜]|to|bis|à|a|y|and|und|et|至)\s*(?:[0-9][0-9,.]*|up|more)|(?:et|ou) plus|(?:o|y) más|"
    r"(?:und|oder) mehr|(?:and|or) (?:up|more|above)|(?=[个個件只本枚台]?以)))"
    r"\s*(?:pcs?|pieces?|units?|ea|stk|stück|uds?|unidades|pi[èe]ces?|个|個|件|只|本|枚|台)?(?:以上|以下|以内|起)?\.?",
    re.IGNORECASE,
)
# Of names, those that are of things; the others may be numbers of lines.
_THINGS = ("product", "produkt", "article", "artikel", "model", "modell", "material", "hardware")
# Of several columns, each a part of the quantity: `Qty Berlin`, `Frankfurt qty`.
SHARE = "share"
_IS_SHARE = re.compile(
    r"(?:qty|quantity|menge|anzahl|qté|quantité|cantidad|cant|quantità|qtde|数量)\b.+|.+\b(?:qty|quantity|menge|anzahl|数量)"
)
IDENTITY = ("part", "id", "name")
PRICES = ("unit", "total", "list")
# Of columns of prices that are not what a unit costs.
OTHER_PRICES = ("taxed", "recurring", "bulk")
MONEY = (*PRICES, "discount", *OTHER_PRICES)
_BRACKETS = re.compile(r"[(\[{][^)\]}]*[)\]}]")
_NOT_WORDS = re.compile(r"[^\w\s]")
_MONEY = re.compile(
    r"(?:\bin\s+)?(?:us\$|[$€£]|\b(?:usd|eur|gbp|chf|cny|jpy|cad|aud|sgd|pln|sek|nok|dkk|inr|euros?|dollars?)\b)"
    r"|\b(?:exc|excl|excluding|ex|ohne|without|vat|mwst|ust|tax|netto|ht|hors taxes?)\b"
)
# With the word before it, as in `price in k€`.
_SCALE = re.compile(rf"(?:\b(?:in|en)\s+)?(?:{pattern('scaled').pattern})", re.IGNORECASE)
# Of a sheet that asks for quotes, the columns of the second vendor asked and on.
_OF_ASKED = re.compile(r"\s*\(([2-8])\)$")
QUOTED = "quoted unit price"
# What else such a sheet has, which is not for vendors to fill in, and the role of these columns.
_OF_BUYER = re.compile(
    r"Kind|Quantity .*|Of these spares|Of these left over|From own stock|Planned USD|Order by month|Order by|Needed by"
)
OWN = "own"
_FIGURES = re.compile(r"[0-9][0-9.,' ]*")
# Rows of a table by which a column of part numbers is known.
_SAMPLE = 200


class Heading(NamedTuple):
    """A heading: its role (empty: unknown), its text, and its currency."""

    role: str
    text: str
    currency: str = ""


@dataclass(frozen=True)
class Header:
    """The headings of a table by column; ``first``, ``last``: the rows that they are in."""

    first: int
    last: int
    headings: Mapping[int, Heading]

    def columns(self, role: str) -> list[int]:
        """Columns of a role, from the left."""
        return self._by_role.get(role, [])

    @cached_property
    def _by_role(self) -> dict[str, list[int]]:
        return grouped((heading.role, column) for column, heading in self.headings.items())

    @property
    def is_named(self) -> bool:
        """Whether a column identifies the lines' products."""
        return any(self.columns(role) for role in (*IDENTITY, "description"))

    @property
    def currency(self) -> str:
        """The one currency that headings of prices name; empty where none or several are."""
        return agreed_sign(heading.currency for heading in self.headings.values()) or ""

    @property
    def is_quoted(self) -> bool:
        """Whether this is the sheet that was made to be filled in by vendors."""
        return any(heading.text.lower().startswith(QUOTED) for heading in self.headings.values())

    def as_read(self) -> dict[str, list[str]]:
        """Letters of the columns by role."""
        return {role: [letters(column) for column in self.columns(role)] for role in _CALLED if self.columns(role)}

    def found_parts(self, sheet: str) -> list[str]:
        """Columns of part numbers recognized by their cells, not by a heading."""
        unsaid = [column for column in self.columns("part") if role_of(self.headings[column].text) != "part"]
        what = "has the part numbers by what stands in it"
        return [f"column {letters(column)} of {sheet} {what}: `{self.headings[column].text}`" for column in unsaid]

    def not_read(self, worded: Collection[int]) -> list[str]:
        """Columns that mean nothing here, as headed; ``worded``: columns of which words were read."""
        own = self.is_quoted
        return [f"{letters(column)} `{heading.text}`" for column, heading in self.headings.items()
                if heading.role in ("", "remarks") and column not in worded
                and not (own and _OF_ASKED.search(heading.text))]  # fmt: skip


@lru_cache(maxsize=REMEMBERED)
def role_of(text: str) -> str:
    """The role of a column with this heading; empty where it is none that is known."""
    lower = unicodedata.normalize("NFKC", text).lower().replace("_", " ")
    whole = _BRACKETS.sub(" ", lower)
    plain = _MONEY.sub(" ", _SCALE.sub(" ", whole))
    role = _called(plain) or _called(whole) or (_called(f"{plain} price") if signs_in(whole.upper()) else "")
    if not role:
        roles = [role for part in re.split(r"[/|,]", plain) if (role := _called(part))]
        role = min(roles, key=list(_CALLED).index, default="")
    if (not role and _RANGE.fullmatch(whole.strip())) or (
        not role and _NET_OF_ONE.search(whole) and not _NOT_OF_ONE.search(whole)
    ):
        role = "unit"
    elif not role and _OF_PRICE.search(plain) and not _NOT_PAID.search(whole):
        role = "unit" if _PAID.search(whole) else _MAYBE_UNIT
    if (role in ("unit", "list", _MAYBE_UNIT) or (not role and _OF_PRICE.search(plain))) and (
        pattern("bulk").search(lower) or _WITH_MORE.search(lower) or (not role and _OF_ANOTHER.search(plain))
    ):
        role = "bulk"
    if role in PRICES or _OF_PRICE.search(plain) or _OF_SUM.search(plain):
        role = "taxed" if pattern("taxed").search(text) else role
        role = "recurring" if recurring(text) else role
    elif recurring(text) and _OF_RATE.search(plain):
        role = "recurring"
    return role


def _plain(text: str) -> str:
    """The words of a heading, without punctuation."""
    return " ".join(_NOT_WORDS.sub(" ", text.lower()).split())


def _called(text: str) -> str:
    for words in (_plain(text), _plain(text.replace(".", ""))):
        for named in (words, _WHOSE.sub("", words), _WHOSE_AFTER.sub("", words)):
            if role := _ROLES.get(named):
                return role
    return ""


def header_at(sheet: Sheet, row: int, asked: int) -> Header | None:
    """The header that begins in a row; None if there is none. ``asked``: the vendor whose columns are read."""
    cells = sheet.spread(row)
    if not _are_texts(cells):
        return None
    upper = {column: cell.text for column, cell in cells.items()}
    lower = {column: cell.text for column, cell in sheet.rows.get(row + 1, {}).items()}
    spread = {column for column in upper if column not in sheet.rows.get(row, {})}
    if spread and len(set(upper.values())) > 1 and _are_texts(sheet.rows.get(row + 1, {})):
        below = _header(
            row, row + 1, {**upper, **{c: _joined(upper.get(c, ""), text) for c, text in lower.items()}}, asked
        )
        if below is not None:
            return below
    alone = {column: text for column, text in upper.items() if column not in spread}
    return _header(row, row, alone, asked)


def _joined(upper: str, lower: str) -> str:
    """The heading of a column of two rows: the lower one, with a currency of the upper one, where that says enough."""
    both = f"{upper} {lower}".strip()
    signs = signs_in(upper.upper())
    if not role_of(lower) or (signs and role_of(both)):
        return both
    return f"{lower} ({', '.join(signs)})" if signs else lower


def _are_texts(cells: Mapping[int, Cell]) -> bool:
    return len(cells) > 1 and all(isinstance(cell.value, str) for cell in cells.values())


def _header(first: int, last: int, texts: Mapping[int, str], asked: int) -> Header | None:
    headings = {column: _heading(texts[column], asked) for column in sorted(texts)}
    headings = _with_one_currency(_with_plain_quantity(_with_unit(_without_weak_names(headings))))
    header = Header(first, last, _with_own(_with_shares(_with_other_prices(headings))))
    roles = [heading.role for heading in header.headings.values()]
    has_price = any(role in (*PRICES, *OTHER_PRICES) for role in roles)
    return header if has_price and (header.is_named or "quantity" in roles) else None


@lru_cache(maxsize=REMEMBERED)
def _heading(text: str, asked: int) -> Heading:
    """A heading; without a role in columns of vendors that are not read."""
    match = _OF_ASKED.search(text)
    number = int(match.group(1)) if match else 1
    plain = text[: match.start()] if match else text
    role = role_of(plain)
    is_quoted = plain.lower().startswith("quoted")
    if (match or (is_quoted and asked > 1)) and number != asked:
        return Heading("", text)
    named = agreed_sign(signs_in(text) or signs_in(text.upper())) if role in (*PRICES, _MAYBE_UNIT) else ""
    return Heading(role, plain, named or "")


def _without_weak_names(headings: dict[int, Heading]) -> dict[int, Heading]:
    """Where another column has part numbers, names are no more than words on them, if nothing else describes parts.

    What may be the number of a line or a group of parts is not read.
    """
    roles = [heading.role for heading in headings.values()]
    if "part" not in roles:
        return headings
    instead = "" if "description" in roles else "description"
    return {column: heading._replace(role=instead if _plain(heading.text) in _THINGS else "")
            if heading.role == "name" else heading for column, heading in headings.items()}  # fmt: skip


def _with_unit(headings: dict[int, Heading]) -> dict[int, Heading]:
    """With a column `Unit` as units of measure, where another one has the prices of a unit."""
    has_price = any(heading.role == "unit" for heading in headings.values())
    return {column: heading._replace(role="measure") if has_price and heading == Heading("", heading.text)
            and _plain(heading.text) == "unit" else heading for column, heading in headings.items()}  # fmt: skip


def _with_plain_quantity(headings: dict[int, Heading]) -> dict[int, Heading]:
    """With one column of quantities: the one that is headed with that word alone, where several are."""
    columns = [column for column, heading in headings.items() if heading.role == "quantity"]
    plain = [column for column in columns if headings[column].text.strip().lower() in ("quantity", "qty", "menge")]
    kept = (plain or columns)[:1]
    return {column: heading._replace(role="") if column in columns and column not in kept else heading
            for column, heading in headings.items()}  # fmt: skip


def _with_other_prices(headings: dict[int, Heading]) -> dict[int, Heading]:
    """With columns of other prices as those of a unit where none is headed as that, else not read."""
    role = "" if any(heading.role == "unit" for heading in headings.values()) else "unit"
    return {column: heading._replace(role=role) if heading.role == _MAYBE_UNIT else heading
            for column, heading in headings.items()}  # fmt: skip


def _with_shares(headings: dict[int, Heading]) -> dict[int, Heading]:
    """With columns that each count a part of a quantity, as for several sites, where none counts all."""
    shares = [c for c, heading in headings.items() if not heading.role and _IS_SHARE.fullmatch(_plain(heading.text))]
    if len(shares) < 2 or any(heading.role == "quantity" for heading in headings.values()):
        return headings
    return {c: heading._replace(role=SHARE) if c in shares else heading for c, heading in headings.items()}


def _with_own(headings: dict[int, Heading]) -> dict[int, Heading]:
    """Of a sheet that asks for quotes, what the buyer wrote apart: what stands there says nothing of a price."""
    if not any(heading.text.lower().startswith(QUOTED) for heading in headings.values()):
        return headings
    return {column: heading._replace(role=OWN) if not heading.role and _OF_BUYER.fullmatch(heading.text) else heading
            for column, heading in headings.items()}  # fmt: skip


def _with_one_currency(headings: dict[int, Heading]) -> dict[int, Heading]:
    """With prices in one currency, where they stand in several beside each other: dollars, else the first."""
    named = [heading.currency for heading in headings.values() if heading.currency]
    if len(set(named)) < 2:
        return headings
    kept = next((dollars for dollars in (HOME, DOLLAR) if dollars in named), named[0])
    return {column: heading._replace(role="") if heading.currency not in ("", kept) else heading
            for column, heading in headings.items()}  # fmt: skip


def headers_of(sheet: Sheet, asked: int, is_part: Callable[[str], bool]) -> Sequence[Header]:
    """All headers of a sheet, from the top; a table may begin again below another.

    ``is_part``: whether a text is the name of a product. A column of these has the part numbers, whatever it is called.
    """
    headers: list[Header] = []
    for row in sorted(sheet.rows):
        if headers and (row <= headers[-1].last or _has_figures(sheet.rows[row], headers[-1])):
            continue
        header = header_at(sheet, row, asked)
        if header is not None and not any(map(is_part, (heading.text for heading in header.headings.values()))):
            headers.append(_as_shown(header, sheet))
    ends = [*(header.first for header in headers[1:]), max(sheet.rows, default=0) + 1]
    named = (_with_parts(header, sheet, end, is_part) for header, end in zip(headers, ends, strict=False))
    return [header for header in named if header.is_named]


def _has_figures(cells: Mapping[int, Cell], header: Header) -> bool:
    """Whether a row has plain numbers where a header has quantities or prices: then it is no header."""
    texts = (cells[column].text for role in ("quantity", *PRICES) for column in header.columns(role) if column in cells)
    return any(_FIGURES.fullmatch(text) for text in texts)


def _with_parts(header: Header, sheet: Sheet, end: int, is_part: Callable[[str], bool]) -> Header:
    """The header with a column of part numbers by what stands in it, where none is called so; ``end``: row after it."""
    if header.columns("part") or header.columns("id"):
        return header
    below = (row for row in range(header.last + 1, end) if row in sheet.rows)
    rows = [sheet.rows[row] for row in islice(below, _SAMPLE)]
    for column, heading in header.headings.items():
        texts = [row[column].text for row in rows if column in row]
        parts = sum(map(is_part, texts))
        if not heading.role and parts and 2 * parts >= len(texts):
            return Header(header.first, header.last, {**header.headings, column: heading._replace(role="part")})
    return header


def _as_shown(header: Header, sheet: Sheet) -> Header:
    """The header without roles of hidden columns that have prices: nobody offered these, as one's own costs."""
    headings = {
        column: Heading("", f"{heading.text} (hidden)") if column in sheet.hidden_columns and heading.role in MONEY
        else heading for column, heading in header.headings.items()
    }  # fmt: skip
    return Header(header.first, header.last, headings)
