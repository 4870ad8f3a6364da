"""Words on a line that its price is not for one new part, such as a used or a substitute one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from fabopt.io.quote.facts import recurring
from fabopt.io.quote.words import REMEMBERED, SoughtWords, alternatives, pattern

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
