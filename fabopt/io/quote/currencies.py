"""Currencies in a text: by code, by sign, or in words of six languages.

A sign or a word shared by several currencies stands for all of them until another text decides.

Patterns of what words on a quote mean, by the keys of ``line_words.yaml``, and what its columns are called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

# Texts of cells of which is remembered what they say, as those of a column are often alike.
REMEMBERED = 20_000
_PIECE = re.compile(r"<([a-z_]+)>")
# How the forms of a key are bounded.
_SPACED, _WHOLE = r"(?<![\w-])(?:{})(?!\w)", r"\b(?:{})\b"


class SoughtWords:
    """The words of one meaning in letters of any size. Most texts have none, which is told faster in small letters."""

    def __init__(self, words: str) -> None:
        self.pattern = words
        self._small = re.compile(words)

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        """The first of these words in a text."""
        return self._any.search(text) if self._small.search(text.lower()) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All of these words in a text, from the left."""
        return self._any.finditer(text) if self._small.search(text.lower()) else iter(())

    def sub(self, instead: str, text: str) -> str:
        """The text with something in place of each of these words."""
        return self._any.sub(instead, text)


@cache
def pattern(key: str) -> SoughtWords:
    """The words of one meaning, each bounded as its form says."""
    return SoughtWords("|".join(_bounded(key)))


@cache
def alternatives(key: str) -> str:
    """The words of one meaning, or a piece, as the inside of a group, for a pattern that bounds them itself."""
    if piece := _file()["pieces"].get(key):
        return piece
    return "|".join(words for form in ("spaced", "words", "joined", "bare") if (words := _joined(key, form)))


def called() -> dict[str, list[str]]:
    """Vendors' headings in small letters, by role of the column."""
    return {role: [name.strip() for name in names.split(",")] for role, names in _read("heading_words.yaml").items()}


def _bounded(key: str) -> Iterator[str]:
    for form, bounds in (("spaced", _SPACED), ("words", _WHOLE), ("joined", "{}"), ("bare", "{}")):
        if words := _joined(key, form):
            yield bounds.replace("{}", words)


def _joined(key: str, form: str) -> str:
    """The words of one form with the pieces that they name written out."""
    file = _file()
    return "|".join(
        _PIECE.sub(lambda name: file["pieces"].get(name[1], name[0]), word) for word in file[key].get(form, ())
    )


@cache
def understood_file() -> dict[str, Any]:
    """Words that say nothing against a price, by kind and language."""
    return _read("understood_words.yaml")


@cache
def _file() -> dict[str, dict[str, str]]:
    return _read("line_words.yaml")


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    return content


DOLLAR, HOME = "$", "USD"
# Names of all currencies in use in English, German, French, Spanish, Japanese and Chinese: Unicode CLDR 48 for the
# codes of ISO 4217, and how people shorten them.
_NAMES = Path(__file__).with_name("currency_names.txt")
# What quotes for data centres are written in; messages name these.
COMMON = (
    "AED", "ARS", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR", "GBP", "HKD",
    "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KRW", "KWD", "MAD", "MXN", "MYR", "NGN", "NOK", "NZD", "PEN", "PHP",
    "PKR", "PLN", "QAR", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD", "VND", "ZAR",
)  # fmt: skip
ALLOWED = f"{', '.join(COMMON)} or another code of ISO 4217"
_SYMBOLS = {
    "US$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "CAN$": "CAD", "S$": "SGD", "HK$": "HKD",
    "NT$": "TWD", "NZ$": "NZD", "R$": "BRL", "MX$": "MXN", "€": "EUR", "£": "GBP", "₹": "INR", "₩": "KRW", "zł": "PLN",
    "₺": "TRY", "₪": "ILS", "฿": "THB", "₫": "VND", "₱": "PHP", "₦": "NGN", "₴": "UAH", "₽": "RUB", "Fr.": "franc",
    "SFr.": "CHF", "sFr.": "CHF", DOLLAR: DOLLAR, "¥": "¥", "￥": "¥", "kr": "kr", "Rs": "Rs",
}  # fmt: skip
# Currencies that a plain sign, or a word alone, may stand for.
_OF_SIGN = {
    DOLLAR: ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN", "ARS", "CLP", "COP", "BBD", "BMD", "BND", "BSD",
             "BZD", "FJD", "GYD", "JMD", "KYD", "LRD", "NAD", "SBD", "SRD", "TTD", "XCD"),
    "¥": ("JPY", "CNY"),
    "kr": ("SEK", "NOK", "DKK", "ISK"),
    "Rs": ("INR", "PKR", "LKR", "NPR", "MUR", "SCR"),
    "franc": ("CHF", "XAF", "XOF", "XPF", "BIF", "CDF", "DJF", "GNF", "KMF", "RWF"),
    "peso": ("MXN", "ARS", "CLP", "COP", "CUP", "DOP", "PHP", "UYU"),
    "pound": ("GBP", "EGP", "FKP", "GIP", "LBP", "SDG", "SHP", "SSP", "SYP"),
    "dinar": ("BHD", "DZD", "IQD", "JOD", "KWD", "LYD", "MKD", "RSD", "TND"),
    "dirham": ("AED", "MAD"),
    "riyal": ("IRR", "OMR", "QAR", "SAR", "YER"),
    "shilling": ("KES", "SOS", "TZS", "UGX"),
}  # fmt: skip
_SHARED = {
    "dollar dollars dólar dólares 달러 ドル": DOLLAR, "元": "¥", "franc francs franco francos フラン 法郎": "franc",
    "peso pesos ペソ 比索": "peso", "pound pounds pfund": "pound",
    "krone kroner kronen corona coronas couronne couronnes": "kr",
    "rupee rupees rupie rupien roupie roupies rupia rupias ルピー 卢比": "Rs", "dinar dinars dinare": "dinar",
    "dirham dirhams ディルハム 迪拉姆": "dirham", "riyal riyals rial rials リヤル 里亚尔": "riyal",
    "shilling shillings schilling": "shilling", "円": "JPY", "원": "KRW",
}  # fmt: skip
# Codes that are words too: taken alone, in brackets, beside a number, or after `in`.
_WORDLIKE = frozenset({
    "ALL", "BAM", "BOB", "COP", "CUP", "CVE", "ERN", "GEL", "GIP", "LAK", "MAD", "MOP", "PEN", "SHP", "SOS", "STN",
    "TOP", "TRY",
})  # fmt: skip
_SIGN = re.compile(r"(?:US|AU?|CAN?|S|HK|NT|NZ|R|MX)\$|[€£₹₩₺₪฿₫₱₦₴₽$¥￥]|zł|(?<![^\W\d_])(?:[sS]?Fr\.)|\b(?:kr|Rs)\b")
_CODE = re.compile(r"(?<![A-Za-z])([A-Z]{3})(?![A-Za-z])")
_BEFORE_WORDLIKE = re.compile(
    r"(?:^|[(\[/:]|[0-9]|\b(?:IN|in|In|Currency|CURRENCY)|"
    r"\b(?i:price|precio|preis|prix|total|importe|betrag|montant|amount|cost))\s*$"
)
_AFTER_WORDLIKE = re.compile(r"\s*(?:$|[)\]/]|[0-9])")
# Beside a code: an amount of money. And what weights are said with, which share words with currencies.
_AMOUNT = r"(?:[0-9]{1,3}(?:[.,' ][0-9]{3})+|[0-9]+[.,][0-9]{2}|[0-9]{3,})"
_AMOUNT_BEFORE, _AMOUNT_AFTER = re.compile(rf"(?<![\w.]){_AMOUNT}\s?$"), re.compile(rf"\s?{_AMOUNT}(?![\w.])")
_WEIGHT = re.compile(r"\b(?:kgs?|lbs?|weight|weighs|gewicht|poids|peso (?:neto|bruto)|pounds? each)\b", re.IGNORECASE)
# Alone, delivered free, and no francs.
_FREE = "franco"
_TOKEN = re.compile(r"[^\W\d_]+")
# Endings that words of these languages take in a sentence; both sides are compared without.
_ENDING = re.compile(r"(?<=[^\W\d_]{4})(?:e[nrms]?|n|s)$")
_WIDE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IS_WIDE = re.compile(f"[{_WIDE}]")
_MOST_WORDS = 8
# Chinese is written without spaces: 元 is no part of another currency, nor of tens of thousands (万元).
_ALONE = {"元": r"(?<![千万亿美欧港日])元", "円": r"(?<![千万億])円", "원": r"(?<![천만억])원"}


class Mention(NamedTuple):
    """A currency, or the sign of several, where a text names it."""

    start: int
    end: int
    currency: str


def _stem(word: str) -> str:
    return _ENDING.sub("", word.lower())


@cache
def _words() -> tuple[dict[tuple[str, ...], str], dict[str, str], frozenset[str]]:
    """Names as stems of their words, names without spaces as they are, and all codes."""
    spaced: dict[tuple[str, ...], str] = {}
    joined: dict[str, str] = {}
    codes = []
    shared = [(words, names.split(" ")) for names, words in _SHARED.items()]
    own = [line.partition(": ") for line in _NAMES.read_text(encoding="utf-8").splitlines()]
    codes = [code for code, _, _ in own]
    for currency, names in [*shared, *((code, names.split(", ")) for code, _, names in own)]:
        for name in names:
            if _IS_WIDE.search(name):
                joined[name.replace(" ", "")] = currency
            else:
                spaced[tuple(map(_stem, _TOKEN.findall(name)))] = currency
    return spaced, joined, frozenset(codes)


@cache
def _wide_pattern() -> re.Pattern[str]:
    names = sorted(_words()[1], key=len, reverse=True)
    return re.compile("|".join(_ALONE.get(name, r"\s?".join(map(re.escape, name))) for name in names), re.IGNORECASE)


def is_currency(code: str) -> bool:
    """Whether ISO 4217 has a currency in use with this code."""
    return code in _words()[2]


@lru_cache(maxsize=REMEMBERED)
def mentions_in(text: str) -> tuple[Mention, ...]:
    """All currencies that a text names, as codes, signs or words, from the left; the longest name counts."""
    kept: list[Mention] = []
    for mention in (*_named(text), *_signed(text), *_coded(text)):
        if all(mention.end <= other.start or mention.start >= other.end for other in kept):
            kept.append(mention)
    return tuple(sorted(kept))


def _named(text: str) -> Iterator[Mention]:
    spaced, joined, _ = _words()
    if _IS_WIDE.search(text):
        for match in _wide_pattern().finditer(text):
            name = re.sub(r"\s", "", match.group(0)).lower()
            yield Mention(match.start(), match.end(), joined.get(name, ""))
    tokens = list(_TOKEN.finditer(text))
    stems = [_stem(token.group(0)) for token in tokens]
    index = 0
    while index < len(tokens):
        for count in range(min(_MOST_WORDS, len(tokens) - index), 0, -1):
            currency = spaced.get(tuple(stems[index : index + count]))
            if currency and (count > 1 or tokens[index][0].lower() != _FREE):
                yield Mention(tokens[index].start(), tokens[index + count - 1].end(), currency)
                index += count - 1
                break
        index += 1


def _signed(text: str) -> Iterator[Mention]:
    return (Mention(sign.start(), sign.end(), _SYMBOLS[sign.group(0)]) for sign in _SIGN.finditer(text))


def _coded(text: str) -> Iterator[Mention]:
    for code in _CODE.finditer(text):
        if not is_currency(code[1]):
            continue
        before, after = text[: code.start()], text[code.end() :]
        if code[1] in _WORDLIKE and not (_BEFORE_WORDLIKE.search(before) and _AFTER_WORDLIKE.match(after)):
            continue
        yield Mention(code.start(), code.end(), code[1])


def signs_in(text: str) -> list[str]:
    """Distinct currencies in a text, as codes or as plain signs shared by several."""
    return list(dict.fromkeys(mention.currency for mention in mentions_in(text)))


@lru_cache(maxsize=REMEMBERED)
def signs_in_words(text: str) -> list[str]:
    """Currencies that running text names, each once: rarer codes only beside an amount, and no words for weights."""
    is_weight = _WEIGHT.search(text) is not None
    return list(dict.fromkeys(
        mention.currency for mention in mentions_in(text)
        if not (is_weight and mention.currency in ("pound", "peso", "KGS"))
        and (not _CODE.fullmatch(text, mention.start, mention.end) or mention.currency in COMMON
             or _AMOUNT_BEFORE.search(text[: mention.start]) or _AMOUNT_AFTER.match(text, mention.end))
    ))  # fmt: skip


def without_currencies(text: str) -> str:
    """The text with a space in place of every currency that it names."""
    for mention in reversed(mentions_in(text)):
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return text


def agreed(named: Iterable[str]) -> str | None:
    """The common currency of all names, a plain dollar sign meaning US dollars.

    Empty without names, None where they differ.
    """
    said = agreed_sign(named)
    return HOME if said == DOLLAR else said


def agreed_sign(named: Iterable[str]) -> str | None:
    """The common currency of all names; a plain sign if no code decides among its currencies.

    Empty without names, None where they differ.
    """
    named = set(named)
    codes = {code for code in named if code and code not in _OF_SIGN}
    signs = {sign for sign in named if sign in _OF_SIGN}
    if len(codes) > 1 or len(signs) > 1:
        return None
    if codes:
        code = codes.pop()
        return code if all(may_mean(sign, code) for sign in signs) else None
    return signs.pop() if signs else ""


def is_sign(currency: str) -> bool:
    """Whether this is the sign of several currencies."""
    return currency in _OF_SIGN


def may_mean(sign: str, code: str) -> bool:
    """Whether a currency or a sign may be meant by another one."""
    return sign in ("", code) or code in _OF_SIGN.get(sign, ())
