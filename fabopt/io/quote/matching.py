"""The product and length of a line of a quote; else the reason why unknown, with a suggestion."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fabopt.io.quote.currencies import alternatives, pattern
from fabopt.io.quote.facts import doubts_on, remarks_on, why_another
from fabopt.io.quote.line_words import why_not_the_part, word_doubts
from fabopt.io.quote.names import NameMatch, QuotedNames
from fabopt.io.quote.values import lengths_in
from fabopt.io.recognition import bare
from fabopt.schema.catalog import ByLength, Cable, Nic, Switch, Transceiver
from fabopt.schema.product import Product
from fabopt.units import first_of

# -- further products named on a line, by other part numbers or by kind -----------------------------------------------


# Words before the name of a device that the part goes into, or of one that comes apart from it.
_GOES_WITH = re.compile(
    r"(?<!\w)(?:for|with|to|of|in|into|on|from|and|fits?|supports?|between|requires?|needs?|see|like|vs|"
    r"not incl\w*|excl\w*|without|f[üu]r|mit|zu[mr]?|in|von|auf|und|ohne|passend|pour|avec|sur|dans|entre|sans|et|"
    r"para|con|en|sin|y|per)\W+(?:(?:the|an?|nvidia|mellanox|arista|cisco|dell|juniper|edgecore|supermicro|fs|use|die|den|dem|der|les?|la|el|[0-9]+\s?x?)\W+)*$|"
    r"(?:対応|用|/)\s*$",
    re.IGNORECASE,
)
_AFTER = re.compile(r"^\s*(?:用|対応|向け|适用|兼容)")
_CODE = re.compile(r"[^\s,;()\[\]+、，]{5,}")
# A name of speeds and forms alone is said of any maker's parts.
_GENERIC = re.compile(
    r"(?:(?>[oq]?sfp(?:-?dd|28|56|112|\+)?|[0-9.]+[gt](?:be|b)?|[0-9]?x?[sdflvez]r[0-9]{0,2}|ihs|rhs|flt|fin|mpo|apc|upc|[am]oc|dac|"
    r"[0-9]+m?|ndr|hdr|xdr|edr|eth|ib)[-_/ .]*)+",
    re.IGNORECASE,
)
_OPTICS = re.compile(r"(?<![A-Za-z])(SR|VR|DR|FR|LR|ER|ZR)[0-9]{0,2}(?:\.[0-9])?(?![A-Za-z0-9])", re.IGNORECASE)
# Families of cards and switches.
_CARDS = re.compile(r"(?<![A-Za-z])(ConnectX|BlueField|Pollara|Thor)(?![A-Za-z])", re.IGNORECASE)
_ASICS = re.compile(r"(?<![A-Za-z])(Quantum|Spectrum|Tomahawk|Jericho|Trident)(?![A-Za-z])", re.IGNORECASE)
_MEDIA = re.compile(r"(?<![A-Za-z])(DAC|AOC|ACC|AEC)(?![A-Za-z])", re.IGNORECASE)


def why_it_names_another(description: str, others: Sequence[str], product: Product, names: QuotedNames) -> str:
    """The reason why the price of a line may be that of another product in its texts; else empty."""
    for text in (description, *others):
        for code, ids in _named(text, names):
            if product.id not in ids:
                return f"`{code}` stands on the line, which is another product: {', '.join(sorted(ids)[:4])}"
    for model, words in ((Transceiver, _OPTICS), (Cable, _MEDIA), (Nic, _CARDS), (Switch, _ASICS)):
        said = {word.upper(): match for match in words.finditer(description) for word in match.groups()}
        own = {word.upper() for text in _texts_of(product) for word in words.findall(text)}
        if isinstance(product, model) and said and own and not said.keys() & own:
            match = next(iter(said.values()))
            return f"`{match.group(0)}` stands on the line, which {product.id} is not"
    return ""


def _named(text: str, names: QuotedNames) -> Iterator[tuple[str, set[str]]]:
    """Part numbers in a text of which it does not say that the part goes with them, and the products that have them."""
    for match in _CODE.finditer(text):
        code = match.group(0).strip(".:")
        if not any(map(str.isdigit, code)) or len(bare(code)) < 5 or _GENERIC.fullmatch(code):
            continue
        if _GOES_WITH.search(text[: match.start()]) or _AFTER.match(text[match.end() :]):
            continue
        ids = {other.id for other in names.called(code)}
        if ids:
            yield code, ids


def _texts_of(product: Product) -> Iterator[str]:
    """The catalog's texts on a part."""
    yield from (product.id, product.description or "", product.part_number or "")
    if isinstance(product, Transceiver):
        yield from (str(product.standard or ""), *map(str, (product.standards or {}).values()))
    if isinstance(product, Cable):
        yield product.medium
    if isinstance(product, Switch):
        yield product.asic or ""


# -- the product and length of a line of a quote; else the reason why unknown, with a suggestion ----------------------


# What is sold together; what comes with a device to put it into a rack does not make it a kit.
KIT = "a kit"
CHARGE = "a charge or a discount, not a product of the catalog"
# What else is in the price of a line, by its part number: `incl. 4x MMA4Z00-NS`.
_WITH = re.compile(
    r"(?<!not )(?<!nicht )(?<!non )(?:\b(?:incl\w*|inkl\w*|plus|bundled with)|\+|&|"
    r"\b(?:with|mit|avec|con)\s+(?=[0-9]))"
    r"[\s.:]*(?:[0-9]+\s?(?:x|×|pcs|stk)?\s*)?([^\s,;()]{5,})",
    re.IGNORECASE,
)
_SERVICE = re.compile(
    rf"^\W*(?:[0-9]+[\s-]?(?:years?|yrs?|y|months?)[\s-]+)?(?:extended[\s-]+)?(?:{alternatives('service_line')})\b",
    re.IGNORECASE,
)
_CHARGE = re.compile(
    rf"^\W*(?:less\W+)?(?:(?:{alternatives('charge_kind')}) )*(?:{alternatives('charge')})"
    r"(?!\s*[0-9/-](?![0-9.,]*\s?%))",
    re.IGNORECASE,
)
# Words after a part number by which the price is, or may be, for something else than that part, new and alone.
_ELSE = re.compile(
    r"\b(?:option(?:al)?|or|oder|ou|alt|alternat\w*|substitut\w*|equiv\w*|equal|compat\w*|kompat\w*|replac\w*|instead|"
    r"for|für|pour|para|refurb\w*|renewed|used|spares?|demo|without|w/o|only|fans?|psu|supply|supplies|rails?|brackets?|"
    r"ears|bezel|cap|caps|accessor\w*|upgrade|support|service|warranty|maintenance|licen\w*|subscription|years?|"
    r"months?|x\s?[0-9]+|[0-9]+\s?x)\b",
    re.IGNORECASE,
)
# What says before a part number that it is one, as `Mfg. Part#: ` and `Hersteller-Nr.: ` do.
_LABEL = re.compile(
    r"(?:\bpart\s?(?:#\s?:?|(?:no|nr|number|num)\b\.?\s?[:#])|"
    r"\b(?:mpn|pn|p/n|herst(?:eller)?\W{0,2}(?:artikel)?(?:nr|nummer)\b\.?)\s?[:#])\s*([^\s,;]*[0-9][^\s,;]*)",
    re.IGNORECASE,
)
# Words before a label by which the part number is that of a device which something goes with.
_OF_ANOTHER = re.compile(
    r"\b(?:with|for|to|of|mit|für|zu|von|avec|pour|con|para|replaces|ersetzt|requires?|needs?|see|siehe)\b",
    re.IGNORECASE,
)
_WHOSE_PART = re.compile(r"\W*(?:(?:mfg|mfr|manufacturer|vendor|oem)\W*)?", re.IGNORECASE)
# How Cisco ends the part number of what is sold alone.
_CISCO, _SPARE = "cisco", "="
_MOST_SHOWN = 4


@dataclass(frozen=True)
class NamedLine:
    """The names of a product on a line.

    ``names``: cells of part numbers and ids; ``length_m``: of a column of its own, ``unread_length``: what stands there
    and is none; ``texts``: all that the row says; ``beside``: those in columns of remarks, ``prices``: those in place
    of prices; ``labelled``: part numbers after a label, on the line or right below.
    """

    names: Sequence[str] = ()
    description: str = ""
    vendor: str = ""
    length_m: float | None = None
    unread_length: str = ""
    texts: Sequence[str] = ()
    beside: Sequence[str] = ()
    prices: Sequence[str] = ()
    labelled: Sequence[str] = ()
    said: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class MatchedLine:
    """The product that a line is for; where ``id`` is empty a ``reason``, and a ``suggestion`` of what is near.

    ``doubts``: those of the remarks by which the price may be of something else too.
    """

    id: str = ""
    length_m: float | None = None
    reason: str = ""
    suggestion: str = ""
    remarks: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def matched(line: NamedLine, names: QuotedNames) -> MatchedLine:
    """The only product named by the line, with the only length that agrees with all its texts."""
    called = [matches for text in line.names if (matches := names.called(text))]
    texts = [text for text in line.names if text]
    if not called and (described := names.described(texts[0] if texts else line.description)):
        called = [described]
    if not called and not texts and (described := names.called(line.description)):
        called = [described]
    if (labelled := _labelled(line, names, bool(called))) and not called:
        line = replace(line, description=" ".join((*texts, line.description)))
    called += [labelled] if labelled else []
    if not called and not line.labelled and (begun := _begun(line, names)):
        return begun
    if not called:
        return _unknown(line, names)
    ids = set.intersection(*({match.id for match in matches} for matches in called))
    if not ids:
        return MatchedLine(
            reason=f"its names are of different products: {_listed({m.id for ms in called for m in ms})}"
        )
    vendor = line.vendor or (_CISCO if any(name.strip().endswith(_SPARE) for name in line.names) else "")
    matches = names.of_vendor({match for one in called for match in one if match.id in ids}, vendor)
    ids = {match.id for match in matches}
    if len(ids) > 1:
        return MatchedLine(reason=f"several products have this name: {_listed(ids)}", suggestion=_listed(ids))
    return _told(line, names, names.products[ids.pop()], matches)


def _told(line: NamedLine, names: QuotedNames, product: Product, matches: set[NameMatch]) -> MatchedLine:
    """The product of a line, unless its words are on another subject, with remarks on the price."""
    own_words = product.description or ""
    # numbers alone say nothing of a part
    line = replace(line, texts=[text for text in line.texts if any(map(str.isalpha, text))])
    is_compatible = product.vendor in names.makers_of_compatibles
    aside = (*line.names, line.description, *line.prices)
    description, *others = (
        text.replace(own_words, " ") if own_words else text
        for text in (line.description, *(text for text in line.texts if text not in aside))
    )
    if (
        reason := _why_more(line, own_words)
        or _why_another_too(line, names, product.id)
        or why_another(line.texts, own_words, is_compatible)
        or why_not_the_part(description, others, line.beside, product)
        or why_it_names_another(description, others, product, names)
    ):
        return MatchedLine(reason=reason, suggestion=product.id)
    known = _with_length(line, names, product.id, matches)
    ended = ("the catalog has it as no longer sold",) if product.end_of_life else ()
    doubts = (*doubts_on(line.texts, own_words), *word_doubts(description, line.said, product, names.vocabulary))
    return replace(known, remarks=(*known.remarks, *remarks_on(line.texts, own_words), *doubts, *ended), doubts=doubts)


def labelled_in(texts: Iterable[str], below: Iterable[str]) -> list[str]:
    """Part numbers of a line's texts that a label stands before, and of texts right below it that begin with one."""
    own, under = ([(text[: label.start()], label[1]) for text in part for label in _LABEL.finditer(text)]
                  for part in (texts, below))  # fmt: skip
    codes = [code for before, code in own if not _OF_ANOTHER.search(before)]
    return codes + [code for before, code in under if _WHOSE_PART.fullmatch(before)]


def _labelled(line: NamedLine, names: QuotedNames, is_called: bool) -> set[NameMatch]:
    """The product of the part numbers with a label; none where other words are of something else, or they differ."""
    matches = {match for code in line.labelled for match in names.called(code)}
    ids = {match.id for match in matches}
    text = " ".join((*line.names, line.description))
    others = {match.id for word in names.within(text) for match in names.called(word)} - ids
    is_alone = not others and not _ELSE.search(_LABEL.sub(" ", text))
    return matches if len(ids) == 1 and (is_called or is_alone) else set()


def _begun(line: NamedLine, names: QuotedNames) -> MatchedLine | None:
    """The product whose part number begins the only text of a line, followed by its description in the catalog."""
    texts = [text for text in line.names if text]
    code, rest = names.begun(texts[0] if texts else line.description) if len(texts) < 2 else ("", "")
    if not code or _ELSE.search(rest) or names.within(rest):
        return None
    description = f"{rest} {line.description}" if line.names else rest
    known = matched(replace(line, names=[code], description=description), names)
    if not known.id or not names.is_described(known.id, rest):
        return None
    remark = f"`{code}` at the beginning of its cell is the part number; the other words are as the catalog has them"
    return replace(known, remarks=(remark, *known.remarks))


def _why_another_too(line: NamedLine, names: QuotedNames, id_: str) -> str:
    """The reason why the price of a line may also be for another product that it names; else empty."""
    for match in (match for text in line.texts for match in _WITH.finditer(text)):
        called = {other.id for other in names.called(match[1].rstrip("."))}
        if called and id_ not in called:
            return f"`{match[0].strip()}` stands on the line: its price may be for that too"
    return ""


def _why_more(line: NamedLine, described: str) -> str:
    """The reason why the price of a line may not be for one unit of its product alone;
    ``described``: in the catalog.
    """
    text = line.description
    if _SERVICE.search(text):
        return "a service for a product, not the product"
    if _is_kit(text):
        return f"{KIT}: its price is for more than the one product"
    texts = (part.replace(described, " ") if described else part for part in (text, *line.texts))
    packed = any(map(pattern("pack").search, texts))
    return "the price may be of a pack, not of one" if packed else ""


def _is_kit(text: str) -> bool:
    """Whether a text names what is sold together; what puts a device into a rack is none."""
    return pattern("kit").search(pattern("mounting_kit").sub("", text)) is not None


def _unknown(line: NamedLine, names: QuotedNames) -> MatchedLine:
    text = " ".join((*line.names, line.description))
    codes = names.within(text)
    ids = sorted({match.id for word in codes for match in names.called(word)})
    if _SERVICE.search(line.description) or _SERVICE.search(text):
        return MatchedLine(reason="a service, not a product of the catalog")
    if _CHARGE.search(line.description) or _CHARGE.search(text):
        return MatchedLine(reason=CHARGE)
    if _is_kit(text) or len(ids) > 1:
        named = f" ({_listed(ids)})" if ids else ""
        return MatchedLine(reason=f"{KIT} of several products{named}: what each of them costs is not said")
    if not any(line.names):
        return MatchedLine(reason="no part number, and no product has this description", suggestion=_listed(ids))
    if len(ids) == 1 and len(codes) > 1:
        return MatchedLine(reason=f"several part numbers of {ids[0]}: what each of them costs is not said")
    if len(ids) == 1:
        return MatchedLine(reason="other words stand in the cell of its part number", suggestion=ids[0])
    nearest = next((near for name in line.names if name and (near := names.nearest(name))), "")
    return MatchedLine(reason="the catalog has no product with this part number", suggestion=nearest or _listed(ids))


def _with_length(line: NamedLine, names: QuotedNames, id_: str, matches: set[NameMatch]) -> MatchedLine:
    product = names.products[id_]
    if not isinstance(product, ByLength):
        return MatchedLine(id_)
    sold = sorted(length.m for length in product.lengths)
    shown = ", ".join(f"{m:g}" for m in sold)
    if line.unread_length:
        return MatchedLine(reason=f"its length is not clear: `{line.unread_length}`", suggestion=id_)
    said = {match.length_m for match in matches if match.length_m is not None}
    said |= {line.length_m} if line.length_m is not None else set()
    written = lengths_in(line.description)
    remarks: tuple[str, ...] = ()
    if not said and len(written) == 1:
        said = written
        remarks = (f"the length of {next(iter(written)):g} m is that of the description",)
    if not said:
        return MatchedLine(reason=f"its length is missing: {id_} is sold in {shown} m", suggestion=id_)
    length_m = next(iter(said))
    if len(said) > 1 or (len(written) == 1 and written != said):
        lengths = ", ".join(f"{m:g}" for m in sorted(said | written))
        return MatchedLine(reason=f"it names different lengths: {lengths} m", suggestion=id_)
    if length_m not in sold:
        reason = (
            f"{id_} is not sold in {length_m:g} m in the catalog, but in {shown} m; a catalog of your own may add it"
        )
        return MatchedLine(reason=reason)
    return MatchedLine(id_, length_m, remarks=remarks)


def _listed(ids: set[str] | Sequence[str]) -> str:
    return first_of(sorted(ids), _MOST_SHOWN)
