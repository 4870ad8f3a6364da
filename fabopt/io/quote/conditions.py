"""Words on a line by which its price is for something else than one new part: a used one, or another in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from fabopt.io.quote.facts import RECURRING, TAXED
from fabopt.io.quote.row_words import ONE

_USED = re.compile(
    r"\b(?:refurb\w*|renewed|recertified|reconditioned|re-?manufactured|pre-?owned|(?:second|2nd)[\s-]hand|"
    r"(?:oem |working |system )pulls?|pulled|unboxed|not new|ex[\s-]lease|rückläufer|aussteller|vorführ\w*|"
    r"trade[\s-]?ins?|buy[\s-]?back|inzahlungnahme|for evaluation|evaluation units?|"
    r"used(?! (?:for|in|with|as|to|by|on|at|where|when)\b)|open(?:ed)?[\s-]box|ex[\s-]demo|demo (?:units?|stock|gear)|"
    r"gebraucht\w*|(?:general)?überholt\w*|aufgearbeitet\w*|aufbereitet\w*|b-(?:ware|stock)|d'occasion|reconditionn\w+|reacondicionad\w+|usad[oa]s?|"
    r"segunda mano|ricondizionat\w+|usat[oaie]|gereviseerd\w*|tweedehands)\b|翻新|二手|中古",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\b(?:(?:or|oder|ou|o|of|und|/) (?:an? )?(?:equal|equiv\w*|similar|better|gleichwertig\w*|vergleichbar\w*|"
    r"ähnlich\w*|équivalent\w*|similaire\w*|similar(?:es)?|equivalente\w*|gelijkwaardig\w*)|substitut\w+|equivalents?|"
    r"(?:alternative|replacement|alternativ[aeo]?|alternativpos\w*|ersatz|replaces|remplace|"
    r"sustituye)(?: (?:to|for|zu|für|à|a))?|"
    r"alternates?|instead of|anstelle(?: von)?|anstatt|au lieu de|en lugar de|in plaats van|"
    r"(?:3rd|third)[\s-]party|aftermarket|no[\s-]name|nachbau)\b|^\W*alt\W*$|或同等|等同|替代|兼容|备选|代替",
    re.IGNORECASE,
)
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
_OPTION = re.compile(
    r"\bopt\.|\b(?:option(?:al\w*|nel\w*|en)?|opci(?:ón|onal)|opzional\w*|eventualpos\w*|bedarfspos\w*|variante|"
    r"not (?:included )?in (?:the )?(?:total|sum)|nicht in (?:der )?(?:gesamt)?summe)\b|\bn\.i\.t\.|可选|选配|"
    r"オプション",
    re.IGNORECASE,
)
_END = re.compile(
    r"\b(?:end[\s-]of[\s-](?:life|sales?)|eo[ls]|discontinued|last[\s-](?:time[\s-])?buy|abgekündigt|auslauf\w*|"
    r"fin de (?:vie|vida)|fuori produzione)\b|停产",
    re.IGNORECASE,
)  # fmt: skip
# Of a price that may not hold.
_LOOSE = re.compile(
    r"\b(?:budgetary|indicative|non-binding|to be confirmed|tbc|price subject to change|estimated price|price estimate|"
    r"richtpreis\w*|unverbindlich\w*|indicatif|orientativo)\b",
    re.IGNORECASE,
)
# What is in the price beside the part.
_WITH_SERVICE = re.compile(
    r"(?<!not )\b(?:incl\w*|inkl\w*)\W.{0,20}?\b(?:support|service|warranty|maintenance|licen[cs]es?|freight|shipping|"
    r"installation|wartung|garantie|lizenz(?:en)?|versand|fracht|montage)\b",
    re.IGNORECASE,
)
# Of all prices: what comes off them or on top in the end.
_ON_ALL = re.compile(
    r"\b(?:discount|rebate|surcharge|tariffs?|uplift|\w*(?:rabatt|nachlass|zuschlag)|skonto|remise|rabais|ristourne|escompte|"
    r"descuento|recargo|sconto|korting|desconto)\b.{0,60}[0-9]\s?%|"
    r"[0-9]\s?%.{0,40}\b(?:discount|rebate|surcharge|tariffs?|uplift|\w*(?:rabatt|nachlass|zuschlag)|skonto|remise|rabais|"
    r"ristourne|escompte|descuento|recargo|sconto|korting|desconto)\b|\b(?:bundle|package|paket)[\s-]?(?:price|preis)|"
    r"(?:折扣|优惠|値引)",
    re.IGNORECASE,
)
_YES = re.compile(r"\W*(?:y|yes|x|j|ja|o|oui|s|sí|si|true|1|是|✓|optional|option)\W*", re.IGNORECASE)
# What a column for the time that a price is for says of one that is paid once.
_ONCE = re.compile(
    r"\W*(?:0|n\W?a|none|no|once|one[\s-]?(?:time|off)|up[\s-]?front|prepaid|perpetual|purchase|hardware|nrc|einmalig|"
    r"unique|único|una tantum|kauf|achat)?(?: (?:charge|fee|payment))?\W*",
    re.IGNORECASE,
)


# Columns that say what a price is for: of a basis, a number of units; other words are how it is known, or delivered.
OF_ONE = ("measure", "per", "basis", "condition", "term")


def why_not_of_one(said: Mapping[str, str]) -> str:
    """Why a price is not that of one new unit; ``said``: what columns for that say, by role."""
    if (measure := said["measure"]) and not ONE.fullmatch(measure):
        return f"its price is for a unit of `{measure}`, not for one"
    basis = said["basis"] if any(map(str.isdigit, said["basis"])) else ""
    if not all(ONE.fullmatch(word) for word in f"{said['per']} {basis}".split()):
        return f"its price is for `{said['per'] or basis}`, not for one"
    if (condition := said["condition"]) and not is_new(condition):
        return f"its condition is `{condition}`: its price may not be that of a new part"
    return "" if _ONCE.fullmatch(said["term"]) else f"its price may be for a time: `{said['term']}`"


def why_another(texts: Iterable[str], described: str, is_compatible: bool) -> str:
    """Why a price is not, or may not be, that of the new part that a line names; empty where nothing says so.

    ``described``: the product's description in the catalog, whose words say nothing more; ``is_compatible``: it is
    known to be made for another maker's device.
    """
    for text in _without(texts, described):
        if match := _USED.search(text):
            return f"`{match.group(0)}` stands on the line: its price is not that of a new part"
        if match := RECURRING.search(text):
            return f"`{match.group(0)}` stands on the line: its price may be for a time, as rents are"
        if match := TAXED.search(text):
            return f"`{match.group(0)}` stands on the line: its price is with tax; ask for the one without it"
        if (match := _INSTEAD.search(text)) or (not is_compatible and (match := _COMPATIBLE.search(text))):
            return f"`{match.group(0)}` stands on the line: what is offered may be another part"
    return ""


def is_new(condition: str) -> bool:
    """Whether the condition of a part, as a column for it says, is that of a new one."""
    return _NEW.fullmatch(condition.strip()) is not None


def is_yes(text: str) -> bool:
    """Whether a cell of a column for that says yes."""
    return _YES.fullmatch(text) is not None


def remarks_on(texts: Iterable[str], described: str) -> tuple[str, ...]:
    """What a buyer must know of a line whose price holds all the same: an option, or the end of the part."""
    remarks: dict[str, None] = {}
    for text in _without(texts, described):
        if match := _OPTION.search(text):
            remarks[f"`{match.group(0)}` stands on the line: its quantity may be no part of what is offered"] = None
        if match := _END.search(text):
            remarks[f"`{match.group(0)}` stands on the line: ask how long the part is sold"] = None
    return tuple(remarks)


def without_remarks(text: str) -> str:
    """A text without the words that ``remarks_on`` tells: of an option, or of the end of a part."""
    return _END.sub(" ", _OPTION.sub(" ", text))


def doubts_on(texts: Iterable[str], described: str) -> tuple[str, ...]:
    """What makes the price of a line doubtful: a service that is in it, or that it is no firm one."""
    doubts: dict[str, None] = {}
    for text in _without(texts, described):
        if match := _WITH_SERVICE.search(text):
            doubts[f"`{match.group(0)}` stands on the line: its price is for that too"] = None
        if match := _LOOSE.search(text):
            doubts[f"`{match.group(0)}` stands on the line: ask whether the price holds"] = None
    return tuple(doubts)


def said_of_all(text: str) -> str:
    """What a text outside of the lines may say of all of them, as of used parts or of a discount; else empty."""
    patterns = (_USED, _INSTEAD, _OPTION, _LOOSE, _ON_ALL)
    return next((match.group(0) for pattern in patterns if (match := pattern.search(text))), "")


def is_option(text: str) -> bool:
    """Whether a text says that what it is of is an option."""
    return _OPTION.search(text) is not None


def is_doubtful(text: str) -> bool:
    """Whether what a text says of all lines makes their prices doubtful; options and ends of sale do not."""
    return any(pattern.search(text) for pattern in (_USED, _INSTEAD, _LOOSE, _ON_ALL))


def is_of_prices(text: str) -> bool:
    """Whether a text says that prices are not firm, or that something comes off or on them in the end."""
    return any(pattern.search(text) for pattern in (_LOOSE, _ON_ALL))


def _without(texts: Iterable[str], described: str) -> list[str]:
    return [text.replace(described, " ") if described else text for text in texts]
