"""Words on a line by which its price is for something else than one new part: a used one, or another in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable

_USED = re.compile(
    r"\b(?:refurb\w*|renewed|recertified|reconditioned|re-?manufactured|pre-?owned|second[\s-]hand|"
    r"used(?! (?:for|in|with|as|to|by|on|at|where|when)\b)|open[\s-]box|ex[\s-]demo|demo (?:units?|stock|gear)|"
    r"gebraucht\w*|(?:general)?überholt\w*|aufgearbeitet\w*|aufbereitet\w*|b-ware|d'occasion|reconditionn\w+|reacondicionad\w+|usad[oa]s?|"
    r"segunda mano|ricondizionat\w+|usat[oaie]|gereviseerd\w*|tweedehands)\b|翻新|二手",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\b(?:(?:or|oder|ou|o|of|und|/) (?:an? )?(?:equal|equiv\w*|similar|better|gleichwertig\w*|vergleichbar\w*|"
    r"ähnlich\w*|équivalent\w*|similaire\w*|similar(?:es)?|equivalente\w*|gelijkwaardig\w*)|substitut\w+|equivalents?|"
    r"(?:alternative|replacement|alternativ[aeo]?|alternativpos\w*|ersatz|replaces|remplace|"
    r"sustituye)(?: (?:to|for|zu|für|à|a))?|"
    r"(?:3rd|third)[\s-]party|aftermarket|no[\s-]name|nachbau)\b|或同等|等同|替代|兼容",
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
    r"\bopt\.|\b(?:option(?:al\w*|nel\w*|en)?|opci(?:ón|onal)|opzional\w*|eventualpos\w*|bedarfspos\w*)\b|可选|选配",
    re.IGNORECASE,
)
_END = re.compile(
    r"\b(?:end[\s-]of[\s-](?:life|sales?)|eo[ls]|discontinued|last[\s-](?:time[\s-])?buy|abgekündigt|auslauf\w*|"
    r"fin de (?:vie|vida)|fuori produzione)\b|停产",
    re.IGNORECASE,
)  # fmt: skip


def why_another(texts: Iterable[str], described: str, is_compatible: bool) -> str:
    """Why a price is not, or may not be, that of the new part that a line names; empty where nothing says so.

    ``described``: the product's description in the catalog, whose words say nothing more; ``is_compatible``: it is
    known to be made for another maker's device.
    """
    for text in _without(texts, described):
        if match := _USED.search(text):
            return f"`{match.group(0)}` stands on the line: its price is not that of a new part"
        if (match := _INSTEAD.search(text)) or (not is_compatible and (match := _COMPATIBLE.search(text))):
            return f"`{match.group(0)}` stands on the line: what is offered may be another part"
    return ""


def is_new(condition: str) -> bool:
    """Whether the condition of a part, as a column for it says, is that of a new one."""
    return _NEW.fullmatch(condition.strip()) is not None


def remarks_on(texts: Iterable[str], described: str) -> tuple[str, ...]:
    """What a buyer must know of a line whose price holds all the same: an option, or the end of the part."""
    remarks: dict[str, None] = {}
    for text in _without(texts, described):
        if match := _OPTION.search(text):
            remarks[f"`{match.group(0)}` stands on the line: its quantity may be no part of what is offered"] = None
        if match := _END.search(text):
            remarks[f"`{match.group(0)}` stands on the line: ask how long the part is sold"] = None
    return tuple(remarks)


def said_of_all(text: str) -> str:
    """What a text outside of the lines may say of all of them, as a title over used parts; empty where nothing."""
    match = _USED.search(text) or _INSTEAD.search(text) or _OPTION.search(text)
    return match.group(0) if match else ""


def _without(texts: Iterable[str], described: str) -> list[str]:
    return [text.replace(described, " ") if described else text for text in texts]
