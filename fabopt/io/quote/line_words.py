"""The subject of a line's price by its words, if it is not the part of its part number.

In English, German, French, Spanish, Japanese and Chinese, in part in others. A text is cut into clauses; the subject
of a clause is its noun before *with*, *for* and the like, as in `Network operating system licence for SN2201`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Literal

from fabopt.io.quote.currencies import REMEMBERED, pattern
from fabopt.io.quote.facts import without_remarks
from fabopt.io.quote.understood import not_understood
from fabopt.schema.catalog import Cable, Fibre, Nic, Switch, Transceiver
from fabopt.schema.product import Product
from fabopt.schema.server import Server

Kind = Literal["switch", "transceiver", "cable", "card", "server"]


_KINDS: tuple[tuple[type[Product], Kind], ...] = (
    (Switch, "switch"), (Transceiver, "transceiver"), (Cable, "cable"), (Fibre, "cable"), (Nic, "card"),
    (Server, "server"),
)  # fmt: skip
# What a clause may be of, and what words anywhere on a line say of its price.
_SERVICES = {
    "labour": "labour or a service", "licence": "a licence", "support": "support", "fee": "a fee",
    "logistics": "freight or duty", "rental": "a rental or a trial", "warranty": "a warranty",
    "credit": "a credit or a discount",
}  # fmt: skip
_ANYWHERE = {
    "adder": "a difference or an addition, not a price", "cancelled": "not offered any more",
    "set": "of several, or of a set",
}  # fmt: skip
# Of these a part may have something beside it.
_ASIDE = ("logistics", "warranty")
_NAMED: dict[Kind, str] = {
    "switch": "a switch", "transceiver": "a transceiver", "cable": "a cable", "card": "a card", "server": "a server",
}  # fmt: skip
_IN_TOTAL = re.compile(
    r"\W*(?:in|im|dans|en) (?:the |der |dem |le |el )?(?:(?:grand|gesamt)\W?)?(?:total|sum|summe)", re.IGNORECASE
)
_CLAUSES = re.compile(r"[,;:|()\[\]{}、，；：（）]+|\s[-–—/+]\s|(?<=\w{5})\.\s|[/](?=\s)|(?<=[^\W\d_])/(?=[^\W\d_]{4})")
_WITH = re.compile(
    r"(?<!\w)(?:incl\w*|inkl\w*|incluye\w*|compris|comprend|with(?!out)|w/|mit|avec|con)(?!\w)|含",
    re.IGNORECASE,
)
# What Japanese says before it that something is with it.
_WITH_BEFORE = re.compile(r"[^\s、，,]+(?:付き|付(?!金)|込み?)")
_RELATION = re.compile(
    r"(?<!\w)(?:for|of|on|to|per|by|from|in|at|via|as|f[üu]r|zu[mr]?|auf|von|pro|je|pour|sur|par|para|"
    r"sobre|por|des?|du|à|d['’])(?!\w)",
    re.IGNORECASE,
)
# In remarks, without what joins two nouns of one matter.
_RELATION_OF_REMARKS = re.compile(
    r"(?<!\w)(?:for|on|to|per|by|from|in|at|via|as|f[üu]r|zu[mr]?|auf|von|vom|durch|bei|nach|pro|pour|sur|par|chez|para|"
    r"sobre|requires?|required|after|before|upon|needed|needs|"
    r"available|applies|apply|may|can|must|is|are|not|erforderlich|nötig|requise?)(?!\w)",
    re.IGNORECASE,
)
_NEGATED_AFTER = re.compile(r"\s*(?:不要|無し|なし|フリー)|[\s-]free\b", re.IGNORECASE)
# A number with its unit at the end of a phrase.
_AMOUNT = re.compile(
    r"\s*[0-9][0-9.,]*\s*(?:%|years?|yrs?|months?|jahre?|monate?|ans?|mois|años?|meses|年|ヶ月|个月)?\s*$",
    re.IGNORECASE,
)
# Words of a phrase that a service may begin.
_MOST_WORDS = 4
_NEGATED = re.compile(
    r"(?:\b(?:no|not|non|without|w/o|free of|zero|exempt from|ohne|kein\w*|nicht|sans|pas de|aucune?|sin|"
    r"ning[uú]n\w*|senza)\b|無|无|免|无需|無需|不需要?)"
    r"\W*(?:\w+\W+)?$",
    re.IGNORECASE,
)
_FOR = re.compile(
    r"^\W*(?:(?:price |preis |prix |precio )?(?:is |ist |est |es )?(?:for|für|pour|para)|only|nur|"
    r"uniquement|s[oó]lo)\b\W*(?:the |die |das |la |le |el )?",
    re.IGNORECASE,
)
_ONLY = re.compile(r"(?:\b(?:only|alone|nur|allein|uniquement|seule?|s[oó]lo|solamente)\b|のみ|仅|只)", re.IGNORECASE)
_INCLUDED = re.compile(
    r"\b(?:incl\w*|inkl\w*|compris\w*|enthalten|inbegriffen|free|gratis|kostenlos|gratuit\w*|offert\w*)\b|込|付|含|免费",
    re.IGNORECASE,
)
_PLAIN_WARRANTY = re.compile(
    r"\b(?:lifetime|life[\s-]long|limited|standard|manufacturer\w*|hersteller\w*|constructeur|fabricante|"
    r"1|one|2|two|3|three|5|five|12|24|36|60|lebenslang\w*|à vie|de por vida)\b|[1-5]\s?[年个]|終身|终身",
    re.IGNORECASE,
)
# Letters after a word, within which *included* is said of it.
_NEAR = 12
# What a text says of a part in any language: speed, height, form, standard, length, place in a network.
_TECHNICAL = re.compile(
    r"[0-9]\s?(?:g|t|gb|gbe|gbit/s|gb/s|u|he|m|port|w|core|x)\b|[0-9]+x[0-9]+|[oq]?sfp|\b(?:mpo|mtp|lc|om[345]|os2|smf|mmf|[sdflv]r[0-9]?|"
    r"p2c|c2p|ndr|hdr|xdr|edr|ib|infiniband|ethernet|roce|leaf|spine|core|tor|fabric|compute|storage|switching|network\w*|"
    r"netzwerk\w*|r[ée]seau|red|gen[3-6]|pcie|quantum|spectrum|connectx|bluefield|linkx)\b|ポート|端口|网络|ネットワーク|포트",
    re.IGNORECASE,
)
_LETTERS, _WORD = re.compile(r"[^\W\d_]"), re.compile(r"[^\W\d_][\w-]*[^\W_]")
_LEAST_LETTERS = 3
_SEVERAL = re.compile(r"[0-9]|\b(?:dual|two|redundant|redundante?s?|zwei|deux|dos|spare)\b", re.IGNORECASE)


def kind_of(product: Product) -> Kind:
    """The kind of a product, as used by words for kinds."""
    return next(kind for model, kind in _KINDS if isinstance(product, model))


@lru_cache(maxsize=REMEMBERED)
def is_of_service(heading: str) -> bool:
    """Whether a column is headed as one of terms beside the part, such as `Warranty`."""
    return any(pattern(key).search(heading) for key in _SERVICES)


def why_not_the_part(description: str, others: Sequence[str], beside: Sequence[str], product: Product) -> str:
    """The reason why the price of a line may not be for the part, by its description and other texts; else empty.

    ``beside``: those of them in columns of words, as remarks are.
    """
    kind = kind_of(product)
    if said := next((why for text in (description, *others) if (why := _anywhere(text, kind))), ""):
        return said
    return _in_description(description, kind) or next((why for text in beside if (why := _in_remark(text, kind))), "")


@lru_cache(maxsize=REMEMBERED)
def _anywhere(text: str, kind: Kind) -> str:
    """The subject of a price by any text of a line; else empty."""
    for key, what in _ANYWHERE.items():
        match = next((word for word in pattern(key).finditer(text) if not _is_negated(text, word)), None)
        is_beside = match and key != "set" and _INCLUDED.search(text[match.end() : match.end() + _NEAR])
        if match and not is_beside:
            return f"`{match.group(0).strip()}` stands on the line: its price may be {what}"
    if match := next((match for clause in _clauses(text) if (match := pattern("basis").search(clause))), None):
        return f"`{match.group(0).strip()}` stands on the line: its price may not be that of one {kind}"
    if kind != "cable" and (match := pattern("with_optics").search(text)):
        return f"`{match.group(0).strip()}` stands on the line: its price is for that too"
    if said := _absent(text, kind):
        return f"`{said}` stands on the line: it may be no part of what is offered"
    return ""


@lru_cache(maxsize=REMEMBERED)
def _in_description(text: str, kind: Kind) -> str:
    """The subject of a price by the description: its first clause, or a service in a later one."""
    clauses = list(_clauses(text))
    for index, clause in enumerate(clauses):
        clause = _WITH_BEFORE.sub(" ", clause)
        head, before = _head(clause), _WITH.split(clause, maxsplit=1)[0]
        if not pattern(kind).search((head.split() or [""])[-1]):
            for key, what in _SERVICES.items():
                match = pattern(key).search(before)
                if (
                    match is None
                    or match.start() >= len(head)
                    or _is_negated(clause, match)
                    or (index and _INCLUDED.search(clause))
                ):
                    continue
                if key in _ASIDE and (index or _is_after_noun(clause, match, kind)):
                    continue
                return f"`{match.group(0).strip()}` stands on the line: its price may be that of {what}"
        if index == 0 and (accessory := _accessory(before, len(head), kind)):
            return f"`{accessory}` stands on the line: its price may be that of an accessory"
    first = next(iter(clauses), "")
    first = head if _WORD.search(head := _head(first)) else first
    if not pattern(kind).search(text):
        for other in _NAMED:
            if other != kind and (match := pattern(other).search(first)):
                return f"`{match.group(0)}` stands on the line, which its part is not: {_NAMED[kind]}"
    return ""


@lru_cache(maxsize=REMEMBERED)
def _in_remark(text: str, kind: Kind) -> str:
    """The subject of a price by another text than the description: a service as its only subject."""
    for clause in _clauses(text):
        bare = _AMOUNT.sub("", _ONLY.sub(" ", _FOR.sub("", clause))).strip()
        said_so = bool(_FOR.match(clause) or _ONLY.search(clause))
        relation = _RELATION_OF_REMARKS.search(bare)
        if relation and not said_so and not pattern(kind).search(bare[relation.end() :]):
            continue
        phrase = bare[: relation.start()].strip() if relation else bare
        for key, what in _SERVICES.items():
            matches = list(pattern(key).finditer(phrase))
            if not matches or _INCLUDED.search(clause) or _is_negated(phrase, matches[0]):
                continue
            count = len(phrase.split())
            is_head = matches[-1].end() == len(phrase) or (matches[0].start() == 0 and count <= _MOST_WORDS)
            if is_head and (said_so or key not in _ASIDE) and count <= 2 * _MOST_WORDS:
                return f"`{matches[-1].group(0).strip()}` stands on the line: its price may be that of {what}"
        if said_so and (accessory := pattern("accessory").search(bare)):
            return f"`{accessory.group(0)}` stands on the line: its price may be that of an accessory"
    return ""


def why_of_title(title: str) -> str:
    """The subject of the lines below a title, if they are no offered parts; else empty."""
    for words in (_ANYWHERE, _SERVICES):
        for key, what in words.items():
            match = pattern(key).search(title)
            if match and not _is_negated(title, match) and not _INCLUDED.search(title):
                return what
    return ""


def word_doubts(
    description: str, said: Sequence[tuple[str, str]], product: Product, vocabulary: Collection[str]
) -> Iterator[str]:
    """What makes a price doubtful that is taken all the same: no word of the part, a warranty of years beside it, and
    what is said that is not understood.

    ``said``: texts in other columns, each after its heading; ``vocabulary``: words that the catalog has for parts, in
    small letters.
    """
    if not _speaks_of(description, product, vocabulary):
        yield f"`{description.strip()}` says nothing of {product.id}: is its price that of one?"
    for clause in list(_clauses(description))[1:]:
        match = pattern("warranty").search(clause)
        if match and not _PLAIN_WARRANTY.search(clause) and not _INCLUDED.search(clause):
            yield f"`{clause.strip()}` stands on the line: its price may be for that too, or for that alone"

    for heading, text in dict.fromkeys((("", description), *said)):
        if match := pattern("price_said").search(text) or _another_line(text):
            yield f"`{text.strip()}` is not understood: what does `{match.group(0).strip()}` say of the price?"
        elif left := not_understood(text, vocabulary, not heading and _speaks_of(text, product, vocabulary)):
            place = f"column `{heading}`: " if heading else ""
            yield f"{place}`{left}` is not understood in `{text.strip()}`: check that the price is of this part"


def _another_line(text: str) -> re.Match[str] | None:
    """Where a text refers to another line of the quote, and does not only number its own."""
    match = pattern("line_named").search(text)
    return match if match and _LETTERS.search(text.replace(match.group(0), "")) else None


def _speaks_of(text: str, product: Product, vocabulary: Collection[str]) -> bool:
    """Whether a text names a part's kind, speed, form or place, or nothing that can be told."""
    text = without_remarks(text).replace("-", " ")
    if (
        len(_LETTERS.findall(text)) < _LEAST_LETTERS
        or pattern(kind_of(product)).search(text)
        or _TECHNICAL.search(text)
    ):
        return True
    return any(word.lower() in vocabulary for word in _WORD.findall(text))


def _absent(text: str, kind: Kind) -> str:
    """Words that the line's part is not offered; else empty."""
    for match in pattern("absent").finditer(text):
        clauses = list(_clauses(text))
        index = next((i for i, clause in enumerate(clauses) if match.group(0) in clause), 0)
        clause = clauses[index]
        beside = (part for part in clauses[max(0, index - 1) : index + 2] if not pattern(kind).search(part))
        near = " ".join((clause, *beside))
        if _IN_TOTAL.match(text[match.end() :]) or pattern("absent_others").search(near):
            continue
        rest = clause.replace(match.group(0), " ").strip(" .!*-")
        nouns = [other for other in _NAMED if pattern(other).search(rest)]
        if not nouns or kind in nouns:
            return match.group(0)
    return ""


def _is_after_noun(clause: str, match: re.Match[str], kind: Kind) -> bool:
    """Whether words of languages without spaces stand apart after what the part is called."""
    before = clause[: match.start()]
    return not match.group(0).isascii() and before.endswith(" ") and pattern(kind).search(before) is not None


def _accessory(head: str, end: int, kind: Kind) -> str:
    """The accessory that a phrase is of, which begins before ``end``; a number before it tells what a part has."""
    match = pattern("accessory").search(head)
    if match is None or match.start() >= end:
        return ""
    before = head[: match.start()]
    noun = list(pattern(kind).finditer(before))
    if noun and _SEVERAL.search(before[noun[-1].end() :]):
        return ""
    return "" if pattern(kind).search(head[match.end() : end]) else match.group(0)


def _is_negated(text: str, match: re.Match[str]) -> bool:
    """Whether a word stands after *no* or *without*, or before what says so in Japanese."""
    return bool(_NEGATED.search(text[: match.start()]) or _NEGATED_AFTER.match(text, match.end()))


def _clauses(text: str) -> Iterator[str]:
    return (clause for clause in _CLAUSES.split(text) if clause.strip())


def _head(clause: str) -> str:
    """The head of a clause: its words before *with*, *for* and the like."""
    before = _WITH.split(clause, maxsplit=1)[0]
    parts = _RELATION.split(before, maxsplit=1)
    return parts[0] if parts[0].strip() else before
