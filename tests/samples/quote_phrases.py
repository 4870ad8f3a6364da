"""Lines of quotes from what vendors write beside part numbers, by kind and language, each with what is right."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Literal, NamedTuple

import yaml

from tests.paths import TESTS
from tests.samples.quote_traps import PARTS, quote_of

PHRASES = TESTS / "samples" / "vendor_phrases.yaml"
# Where the price holds and nothing is to be asked, or something is to be known of the part all the same.
Outcome = Literal["not the price", "noted", "plain"]
# What only a switch has.
_OF_SWITCHES = (
    "suppl", "psu", "netzteil", "alim", "電源", "电源", "fans", "rail", "rack", "port", "power", "air", "luft", "riel",
    "导轨", "レール", "montage", "ポート", "端口",
)  # fmt: skip
_JOINED = ("ja", "zh")


class PhraseLine(NamedTuple):
    """A quote of one line, the product and the dollars that its part number and price name."""

    name: str
    outcome: Outcome
    text: str
    id: str
    usd: float


def phrase_lines() -> Iterator[PhraseLine]:
    """Every phrase in each of its places, on parts in turn."""
    parts = cycle(PARTS)
    for kind, texts in yaml.safe_load(PHRASES.read_text(encoding="utf-8")).items():
        outcome: Outcome = kind if kind in ("noted", "plain") else "not the price"
        for place in texts.pop("where"):
            for language, phrases in texts.items():
                for phrase in phrases:
                    part = next(parts)
                    if outcome == "plain" and any(word in phrase.lower() for word in _OF_SWITCHES):
                        part = "MQM9790-NS2F"
                    id_, usd, called = PARTS[part]
                    between = " " if language in _JOINED else ", "
                    described = {"d": phrase, "t": f"{called[language]}{between}{phrase}", "r": called[language]}[place]
                    text = quote_of(language, part, described, usd, phrase if place == "r" else "")
                    yield PhraseLine(f"{kind}, {language}, {place}: {phrase}", outcome, text, id_, usd)
