"""Patterns of what words on a quote mean, by the keys of ``line_words.yaml``, and what its columns are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

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
