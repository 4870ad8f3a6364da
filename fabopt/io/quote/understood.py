"""What a line of a quote says that is not understood: words that nobody has called harmless beside a part number.

Known are the words of the catalog's products, figures with their units, and the plain words of the trade in the
languages of ``understood_words.yaml``. What is left of a clause when these are taken away may say anything of the
price, so it is told.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache, lru_cache

from fabopt.io.quote.currencies import REMEMBERED, pattern, understood_file

_CLAUSES = re.compile(r"[,;:|()\[\]{}!?\n、，；：（）。！？•*]+|\s[-–—/+]\s|(?<=\w{4})\.\s|\s[-–—](?=\w)")
_JOINED = re.compile(r"[\u3005\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
# Words of other letters; one with a figure in it is a number, a unit or a name.
_WORD = re.compile(r"[^\W_](?:[\w.+&-]|['’](?=\w))*")
_PARTS, _MODEL = re.compile(r"[^-_.&+]+"), re.compile(r"[0-9]")
_APOSTROPHE = re.compile(r"^(?:[dlsnjcmt]|qu|jusqu)['’]|['’]s$", re.IGNORECASE)
_ENDINGS = ("s", "es", "n", "en", "e", "er", "em", "r")
# One letter of a syllable that is left of Japanese says nothing.
_SYLLABLE = re.compile(r"[\u3041-\u30ff]?")
_LEAST_PART, _LONGEST_SHORT = 4, 6
# Keys of line_words.yaml whose meaning on a line is told, or known to be harmless, before.
_TOLD = (
    "price_plain", "minimum", "option", "end", "mounting_kit", "line_named", "loose", "bundled", "variant",
    "with_terms",
)  # fmt: skip


def not_understood(text: str, vocabulary: Collection[str], is_named: bool) -> str:
    """The words of the first clause of a text that are not understood; empty where all are.

    ``vocabulary``: words of the catalog, in small letters; ``is_named``: the text begins with the name of a product,
    in which names of families and abbreviations may stand.
    """
    clauses = (clause for clause in _CLAUSES.split(_without_phrases(text)) if clause and clause.strip())
    for index, clause in enumerate(clauses):
        if left := " ".join(_left(clause, vocabulary, is_named and index == 0)):
            return left
    return ""


@lru_cache(maxsize=REMEMBERED)
def _without_phrases(text: str) -> str:
    """A text without the phrases that are harmless as a whole."""
    for key in _TOLD:
        text = pattern(key).sub(" ", text)
    return _phrases().sub(" ", text)


@lru_cache(maxsize=REMEMBERED)
def is_aside(heading: str) -> bool:
    """Whether a column is headed as one that says nothing of a price, as of places and references."""
    return not _known("aside").isdisjoint(re.findall(r"\w+", heading.lower()))


def _left(clause: str, vocabulary: Collection[str], is_named: bool) -> Iterator[str]:
    is_loud = clause.upper() == clause
    for run in _JOINED.findall(clause):
        yield from (piece for piece in _joined().sub("\0", run).split("\0") if not _SYLLABLE.fullmatch(piece))
    for match in _WORD.finditer(_JOINED.sub(" ", clause)):
        for word in _PARTS.findall(match[0]):
            bare = _APOSTROPHE.sub("", word)
            if len(bare) < 2 or _MODEL.search(match[0]):
                continue
            is_name = is_named and not is_loud and bare[1:] != bare[1:].lower() and len(bare) <= 2 * _LONGEST_SHORT
            if not is_name and not _is_known(bare.lower(), vocabulary):
                yield word


def _is_known(word: str, vocabulary: Collection[str]) -> bool:
    known = _known("words")
    if word in _known("limits"):
        return False
    stems = [word, *(word.removesuffix(end) for end in _ENDINGS if word.endswith(end) and len(word) > len(end) + 2)]
    if any(stem in known or stem in vocabulary for stem in stems):
        return True
    return any(
        word[:cut] in known and any(stem[cut:].removeprefix("s") in known for stem in stems)
        for cut in range(_LEAST_PART, len(word) - _LEAST_PART + 1)
    )


@cache
def _known(key: str) -> frozenset[str]:
    """The words of a key; under `words` those of all languages, and names of places."""
    file = understood_file()
    texts = (*file["words"].values(), file["countries"], file["cities"]) if key == "words" else (file[key],)
    return frozenset(word for text in texts for word in text.split())


@cache
def _joined() -> re.Pattern[str]:
    return re.compile("|".join(sorted(_known("joined"), key=len, reverse=True)))


@cache
def _phrases() -> re.Pattern[str]:
    """Phrases that are harmless as a whole, with the pieces `<name>` and `<place>` written out."""
    file = understood_file()
    written = "|".join(rf"(?<!\w)(?:{one})(?!\w)" for one in file["phrases"])
    for piece in ("toward", "goal", "after", "names", "name", "place", "state"):
        written = written.replace(f"<{piece}>", file[piece])
    return re.compile(written, re.IGNORECASE)
