"""Facts of a quote on all its lines, above or below them: date, last day, currency.

Words on a line that its price is not for one new part, such as a used or a substitute one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from fabopt.errors import cut
from fabopt.io.quote.currencies import DOLLAR, REMEMBERED, SoughtWords, agreed_sign, alternatives, pattern, signs_in
from fabopt.io.quote.times import date_in, days_of_unit

_VALID = re.compile(
    r"(?:\b(?:valid(?:ity|ité)?|expir(?:y|es|ation)|gültig(?:keit)?|bindefrist|valable|válid[oa]|validez|vigencia|validità|geldig|"
    r"preisbindung|(?:good|firm|honou?red|open)(?= (?:until|till?|through|thru|for)\b))\b|有效期)(?P<rest>.*)",
    re.IGNORECASE,
)
# What stands before the day from which, and before the one until which a quote holds.
_FROM = re.compile(r"\b(?:from|as of|since|starting|ab|vom|von|dès le|à (?:partir|compter) du|du)\b", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till?|to|through|thru|bis|au|jusqu'au|hasta(?: el)?)\b|\s[-–—]\s", re.IGNORECASE)
_DAYS = re.compile(r"([0-9]{1,3})\s*([^\W\d_]+)")
_DATED = re.compile(
    r"^(?:(?:quote|quotation|offer|offerte|proposal|issue|angebots?|rfq|devis|cotización|presupuesto)"
    r"(?:(?!valid|expir|gültig|vig|deliver|liefer|entrega).){0,40}?)?\b"
    r"(?:date|dated|datum|(?:angebots|offert)datum|fecha|issued|issued on|prepared|vom|(?:报价)?日期)\b\s*[:.：]?\s*"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
_PRICED = re.compile(
    r"\b(?:currency|währung|devise|moneda|valuta|币种|货币|(?:prices?|amounts?|preise|prix|beträge|montants|tarifs|precios|"
    r"importes|prezzi|importi|prijzen|bedragen|figures|all)\b.{0,40}?\b(?:in|en|are))\b"
    r"(?P<rest>.{0,40})",
    re.IGNORECASE,
)


_RATES = (
    r"\b(?:prices?|rates?|amounts?|fees?|preise|beträge|raten|prix|tarifs|precios|importes|cuotas|prezzi|prijzen)\b"
)
# Between a word for prices and what is said of them, in the same sentence.
_SAID_OF_THEM = (
    r"[\s,:(]+(?:(?:are|is|in|all|shown|quoted|stated|sind|verstehen|sich|netto|net|en|sont|son|us\$|[a-z]{3}|[$€£])"
    r"[\s,:(]+){0,5}"
)
_ENDS = r"(?=\W*(?:(?:in|en|of|excl\w*|ex|net|netto|usd|eur)\b|$|[-–—:.,;(]))"
_RECURRING_PRICES = re.compile(
    rf"(?:{pattern('time').pattern}|{pattern('rent').pattern})[\s-]+{_RATES}{_ENDS}|"
    rf"{_RATES}{_SAID_OF_THEM}(?:{pattern('time').pattern})",
    re.IGNORECASE,
)
_OF_PRICES = re.compile(
    r"\b(?:prices?|amounts?|preise|beträge|prix|montants|precios|importes|prezzi|importi|prijzen|preços|valores|ceny)\b|价格|価格|가격|报价|金額|金额",
    re.IGNORECASE,
)
_BULK_PRICES = re.compile(
    rf"{_RATES}\s(?:(?:are|is|shown|quoted|stated|sind|gelten|verstehen|sich|in|us\$|[a-z]{{3}}|[$€£])\s){{0,4}}"
    rf"(?:per|pro|je|par|por|for|für|pour)\s(?:{alternatives('many')})\s?(?:{alternatives('piece')})",
    re.IGNORECASE,
)
# A text that says nothing but what prices are in, and words there that are none of money.
_ALL_IN = re.compile(
    r"(?:(?:all|alle|tous les|todos los) )?(?:prices?|amounts?|preise|beträge|prix|montants|precios|importes)"
    r"(?: (?:are|is|sind|sont|son|shown|quoted|stated|angegeben|exprimés|expresados))*(?: in| en)"
    r" ([^\W\d_]{3,}(?: [^\W\d_]{3,})?)",
    re.IGNORECASE,
)
_NO_CURRENCY = re.compile(
    r"(?:effect|force|bold|brackets|parentheses|full|bulk|total|table|list\w*|vigueur|gras|firme|vigor|kraft|"
    r"the|this|our|your|der|den|dieser|unserer|gris|negrita)\b.*",
    re.IGNORECASE,
)
# A short text on its own, such as `in thousands of USD`.
_UNIT_OF_ALL = re.compile(r"^\W*(?:in\b|us\$|[$€£]|(?:usd|eur)\b)(?P<rest>.{0,40})$", re.IGNORECASE)
_SENTENCE = re.compile(r"[.;]\s")


class FactRow(NamedTuple):
    """A row that is no line of the quote: its sheet, its place in messages, and the texts of its cells.

    ``is_above``: it stands above all tables of its sheet, as titles do.
    """

    sheet: str
    place: str
    texts: tuple[str, ...]
    is_above: bool = False


@dataclass(frozen=True)
class QuoteFacts:
    """``currency``: of prices beside which none stands, empty where none is said; ``currencies``: several of which the
    quote does not say which is meant; ``is_aside``: it is named below the prices alone; ``notes``: how it was read.
    """

    dated: date | None = None
    valid_until: date | None = None
    currency: str = ""
    notes: tuple[str, ...] = ()
    currencies: tuple[str, ...] = ()
    is_aside: bool = False


def recurring(text: str) -> re.Match[str] | None:
    """Words in a text of a price for a period, as of rents and leases; else None."""
    return pattern("time").search(text) or pattern("rent").search(text)


def facts_of(rows: Iterable[FactRow], sheets: Iterable[str] = ()) -> QuoteFacts:
    """Facts in rows outside of the table and in names of sheets; the first date and the earliest end count."""
    rows = list(rows)
    notes: list[str] = []
    dated = next((day for row in rows for text in _texts(row) if (day := _day_of(_DATED.match(text)))), None)
    ends = [end for row in rows if (end := _end_of(row, dated, notes)) is not None]
    named, is_aside, said = [sign for row in rows for text in _texts(row) for sign in _signs_of(text)], False, ""
    if not named:
        named = [sign for text in (*_titles(rows), *sheets) for sign in _strong_signs(text)]
        said = "the currency is that of the titles"
    if not named:
        named, is_aside = [sign for row in rows for text in row.texts for sign in _strong_signs(text)], True
        said = "the currency is the only one that is named"
    several: tuple[str, ...] = ()
    if (currency := agreed_sign(named)) is None:
        several = tuple(dict.fromkeys(named))
        notes.append(f"the quote names several currencies ({', '.join(several)}) for all of its prices")
    elif named and said:
        notes.append(f"{said}: {currency}")
    return QuoteFacts(dated, min(ends, default=None), currency or "", tuple(notes), several, is_aside)


def _titles(rows: Iterable[FactRow]) -> list[str]:
    return [text for row in rows if row.is_above for text in row.texts]


def _strong_signs(text: str) -> list[str]:
    """Currencies of a text without a plain dollar sign, which is used for any dollar."""
    return [sign for sign in signs_in(text) if sign != DOLLAR]


def unknown_currencies(rows: Iterable[FactRow]) -> list[str]:
    """Doubts: short texts that name an unknown currency of prices."""
    said = ((row, _ALL_IN.fullmatch(text.strip(" .:;"))) for row in rows for text in row.texts)
    return [
        f"{row.place} says `{match[0]}`: which currency is `{match[1]}`?"
        for row, match in said
        if match and not signs_in(match[0]) and not _is_scaled(match[0]) and not _NO_CURRENCY.fullmatch(match[1])
    ]


def scales_of(rows: Iterable[FactRow]) -> dict[str, str]:
    """By sheet, the text that says of its prices that they are in thousands or millions."""
    said = ((row.sheet, text) for row in rows for text in row.texts if _is_scaled(text))
    return dict(reversed(list(said)))


def taxed_of(rows: Iterable[FactRow]) -> dict[str, str]:
    """By sheet, the text that says of its prices that tax is in them."""
    texts = ((row.sheet, text) for row in rows for text in row.texts)
    said = ((sheet, text) for sheet, text in texts if _OF_PRICES.search(text) and pattern("taxed").search(text))
    return dict(reversed(list(said)))


def bulk_of(rows: Iterable[FactRow]) -> dict[str, str]:
    """By sheet, the text that says of its prices that they are for more than one."""
    said = ((row.sheet, text) for row in rows for text in row.texts if _BULK_PRICES.search(text))
    return dict(reversed(list(said)))


def recurring_of(rows: Iterable[FactRow]) -> dict[str, str]:
    """By sheet, the text that says of its prices that they are for a month or a year."""
    said = ((row.sheet, text) for row in rows for text in row.texts if _RECURRING_PRICES.search(text))
    return dict(reversed(list(said)))


def _is_scaled(text: str) -> bool:
    match = _PRICED.search(text) or _UNIT_OF_ALL.search(text)
    return match is not None and pattern("scaled").search(_SENTENCE.split(match.group("rest"))[0]) is not None


def _texts(row: FactRow) -> list[str]:
    """The texts of a row, each with the next one, which may be the answer to it."""
    return [" ".join(row.texts[index : index + 2]) for index in range(len(row.texts))]


def _day_of(match: re.Match[str] | None) -> date | None:
    return date_in(match.group("rest")) if match else None


def _signs_of(text: str) -> list[str]:
    match = _PRICED.search(text)
    return signs_in(match.group("rest")) if match else []


def _end_of(row: FactRow, dated: date | None, notes: list[str]) -> date | None:
    """The last day of which a row speaks: a day, or so long from the date of the quote."""
    match = _VALID.search(" ".join(row.texts))
    if match is None:
        return None
    before, *after = _FROM.split(match.group("rest"), maxsplit=1)
    later = _UNTIL.split(before)[1:] + [text for rest in after for text in _UNTIL.split(rest)[1:]]
    end = next((day for text in (*later, before) if (day := date_in(text)) is not None), None)
    if end is not None:
        return end
    start = next((day for rest in after if (day := date_in(rest)) is not None), None)
    dated = start or dated
    span = _DAYS.search(before)
    days = days_of_unit(span.group(2)) if span else None
    if span is None or days is None:
        if any(letter.isdigit() for letter in match.group("rest")):
            notes.append(f"{row.place}: until when the quote holds cannot be read: `{cut(match.group(0), 60)}`")
        return None
    if dated is None:
        notes.append(f"{row.place}: the quote holds for {span.group(0)}, but it has no date to count from")
        return None
    try:
        end = dated + timedelta(days=int(int(span.group(1)) * days))
    except OverflowError:
        notes.append(f"{row.place}: until when the quote holds cannot be read: `{cut(match.group(0), 60)}`")
        return None
    notes.append(f"{row.place}: {span.group(0)} from {dated.isoformat()} is read as valid until {end.isoformat()}")
    return end


# Of a genuine part; what is compatible *with* a device is said of genuine parts too.
_COMPATIBLE = re.compile(
    r"\b(?:compatibles?|kompatib(?:el|le[nrs]?))\b(?! (?:with|to|zu|mit|avec|con|für|for)\b)", re.IGNORECASE
)
# Words of columns for it. Not new are also its letters of trade: NOB (new, open box), REF, RFB, USD.
_NEW = re.compile(
    r"(?:brand |factory )?new(?:[\s,-]+(?:in box|sealed|factory sealed|oem))?|factory sealed|sealed|nib|nis|"
    r"n|neu(?:ware)?|neuf|neuve|nuev[oa]|"
    r"nov[oa]|nuov[oa]|nieuw|nowy|ny|全新|新品|新|신품",
    re.IGNORECASE,
)
# Of all prices: what comes off them or on top in the end.
_ON_ALL = re.compile(
    r"\b(?:{0})\b.{{0,60}}[0-9]\s?%|[0-9]\s?%.{{0,40}}\b(?:{0})\b|\b(?:bundle|package|paket)[\s-]?(?:price|preis)|"
    r"(?:折扣|优惠|値引)".format(alternatives("on_all")),
    re.IGNORECASE,
)
_YES = re.compile(r"\W*(?:y|yes|x|j|ja|o|oui|s|sí|si|true|1|是|✓|optional|option)\W*", re.IGNORECASE)
# What a column for the time that a price is for says of one that is paid once.
_ONCE = re.compile(
    r"\W*(?:0|n\W?a|none|no|once|one[\s-]?(?:time|off)|up[\s-]?front|prepaid|perpetual|purchase|hardware|nrc|einmalig|"
    r"unique|único|una tantum|kauf|achat)?(?: (?:charge|fee|payment))?\W*",
    re.IGNORECASE,
)
# What words mean that leave a price what it is, or make it doubtful.
_OF_WORDS = {
    "option": "its quantity may be no part of what is offered", "end": "ask how long the part is sold",
    "bundled": "its price is for that too", "with_terms": "its price has that in it",
    "loose": "ask whether the price holds",
    "variant": "its quantity may be no part of what is offered, where one of several is chosen",
}  # fmt: skip
_ONE = re.compile(rf"\W*(?:{alternatives('one_piece')})\W*", re.IGNORECASE)
# Columns that say what a price is for: of a basis, a number of units; other words are how it is known, or delivered.
OF_ONE = ("measure", "per", "basis", "condition", "term")


def why_not_of_one(said: Mapping[str, str]) -> str:
    """The reason why a price is not that of one new unit; empty without one. ``said``: texts of columns, by role."""
    if (measure := said["measure"]) and not is_one_piece(measure):
        return f"its price is for a unit of `{measure}`, not for one"
    basis = said["basis"] if any(map(str.isdigit, said["basis"])) else ""
    if not all(is_one_piece(word) for word in f"{said['per']} {basis}".split()):
        return f"its price is for `{said['per'] or basis}`, not for one"
    if (condition := said["condition"]) and not is_new(condition):
        return f"its condition is `{condition}`: its price may not be that of a new part"
    return "" if _ONCE.fullmatch(said["term"]) else f"its price may be for a time: `{said['term']}`"


def why_another(texts: Iterable[str], described: str, is_compatible: bool) -> str:
    """The reason why a price is not, or may not be, that of the line's part, new; empty without one.

    ``described``: the product's description in the catalog, whose words are ignored; ``is_compatible``: whether it is
    known to be made for another maker's device.
    """
    whys = (why for text in _without(texts, described) if (why := _why_another(text, is_compatible)))
    return next(whys, "")


@lru_cache(maxsize=REMEMBERED)
def _why_another(text: str, is_compatible: bool) -> str:
    if match := pattern("used").search(text):
        return f"`{match.group(0)}` stands on the line: its price is not that of a new part"
    if match := recurring(text):
        return f"`{match.group(0)}` stands on the line: its price may be for a time, as rents are"
    if match := pattern("taxed").search(text):
        return f"`{match.group(0)}` stands on the line: its price is with tax; ask for the one without it"
    if (match := pattern("instead").search(text)) or (not is_compatible and (match := _COMPATIBLE.search(text))):
        return f"`{match.group(0)}` stands on the line: what is offered may be another part"
    return ""


def is_one_piece(measure: str) -> bool:
    """Whether a unit of measure is one piece."""
    return _ONE.fullmatch(measure) is not None


def is_new(condition: str) -> bool:
    """Whether a stated condition of a part is new."""
    return _NEW.fullmatch(condition.strip()) is not None


def is_yes(text: str) -> bool:
    """Whether a cell of a column for that says yes."""
    return _YES.fullmatch(text) is not None


def remarks_on(texts: Iterable[str], described: str) -> tuple[str, ...]:
    """Remarks on a line with a valid price: an option, the part's end of life, a warranty or freight in its price."""
    return _said(_without(texts, described), ("option", "end", "with_terms"))


def without_remarks(text: str) -> str:
    """A text without the words that ``remarks_on`` tells: of an option, or of the end of a part."""
    return pattern("end").sub(" ", pattern("option").sub(" ", text))


def doubts_on(texts: Iterable[str], described: str) -> tuple[str, ...]:
    """Doubts on a line: a service in its price, no firm price, or one of several to choose from."""
    return _said(_without(texts, described), ("bundled", "loose", "variant"))


def _said(texts: Iterable[str], keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(said for text in texts for said in _said_in(text, keys)))


@lru_cache(maxsize=REMEMBERED)
def _said_in(text: str, keys: tuple[str, ...]) -> tuple[str, ...]:
    matches = ((key, pattern(key).search(text)) for key in keys)
    return tuple(f"`{match.group(0)}` stands on the line: {_OF_WORDS[key]}" for key, match in matches if match)


def said_of_all(text: str) -> str:
    """What a text outside of the lines may say of all of them, as of used parts or of a discount; else empty."""
    keys = ("used", "instead", "option", "loose")
    patterns: tuple[SoughtWords | re.Pattern[str], ...] = (*map(pattern, keys), _ON_ALL)
    return next((match.group(0) for words in patterns if (match := words.search(text))), "")


def is_option(text: str) -> bool:
    """Whether a text marks its line as an option."""
    return any(pattern(key).search(text) for key in ("option", "variant"))


def is_doubtful(text: str) -> bool:
    """Whether a text on all lines makes their prices doubtful; options and ends of sale do not."""
    return any(pattern(key).search(text) for key in ("used", "instead")) or is_of_prices(text)


def is_of_prices(text: str) -> bool:
    """Whether a text says that prices are not firm, or that something comes off or on them in the end."""
    return bool(pattern("loose").search(text) or _ON_ALL.search(text))


def _without(texts: Iterable[str], described: str) -> list[str]:
    return [text.replace(described, " ") if described else text for text in texts]
