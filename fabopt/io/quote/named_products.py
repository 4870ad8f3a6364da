"""Further products named on a line, by other part numbers or by kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fabopt.io.quote.names import QuotedNames
from fabopt.io.recognition import bare
from fabopt.schema.catalog import Cable, Nic, Switch, Transceiver
from fabopt.schema.product import Product

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
