"""Numbers of a design, without its links: a bill with quantities, or a few lines such as ``32 leaves``."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping

from fabopt.errors import InputError, fault
from fabopt.inspect.audit.hand_made import CountedPart, HandCounts, HandMade
from fabopt.inspect.audit.tables import table_rows
from fabopt.io.recognition import bare
from fabopt.io.text import parse_yaml

_QUANTITY = ("quantityall", "quantity", "qty", "count", "pieces", "units", "menge")
_NAMES = ("partnumber", "id", "part", "model", "product", "item", "description")
_LENGTH = ("lengthm", "length")
_SPARES = ("spares",)
# What numbers count, by the words that call them; the first of which all words are in the name counts.
_NUMBERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("server_leaf", ("server", "leaf")), ("leaf_spine", ("leaf", "spine")), ("spine_core", ("spine", "core")),
    ("server_leaf", ("server", "link")), ("leaf_spine", ("uplink",)),
    ("attachment_links", ("attachment",)), ("attachment_links", ("ufm",)), ("attachment_links", ("manager",)),
    ("server_twin_transceivers", ("server", "twin")), ("switch_twin_transceivers", ("switch", "twin")),
    ("server_transceivers", ("server", "transceiver")), ("switch_transceivers", ("switch", "transceiver")),
    ("server_transceivers", ("nic", "transceiver")), ("transceivers", ("transceiver",)), ("transceivers", ("optic",)),
    ("spare_transceivers", ("spare",)), ("lossless_priorities", ("lossless",)), ("lossless_priorities", ("priorit",)),
    ("radix", ("radix",)), ("radix", ("portsperswitch",)), ("radix", ("switchports",)),
    ("nics_per_server", ("perserver",)), ("gpus", ("gpu",)), ("gbps", ("gbps",)),
    ("core", ("superspine",)), ("leaf", ("leaf",)), ("leaf", ("leaves",)), ("spine", ("spine",)), ("core", ("core",)),
    ("cables", ("cable",)), ("cables", ("fibre",)), ("cables", ("fiber",)), ("switches", ("switch",)),
    ("servers", ("server",)), ("servers", ("node",)), ("servers", ("host",)), ("servers", ("dgx",)),
    ("servers", ("hgx",)),
)  # fmt: skip
_SUMMED = ("cables", "transceivers")
# The role that a product has whose name follows one of these words in a line, as in `32 leaves QM9700`.
_OF_ROLE = {"leaf": "leaf", "spine": "spine", "core": "core", "servers": "server", "switches": "switch"}
_PRODUCTS = ("server", "switch", "leaf", "spine", "core", "nic")
_CLAIMS = ("oversubscription", "ratio", "maxoversubscription", "blocking")
_AFTER = re.compile(r"\s*(?P<name>[^:=,;\t]+?)\s*[:=,;\t]\s*(?P<value>[^,;\t]+?)\s*,?\s*")
_LAST = re.compile(r"(?P<name>[A-Za-z][^:=,;\t]*?)\s+(?P<value>[0-9][0-9.,':]*)")
_BEFORE = re.compile(r"\s*(?P<value>[0-9][0-9.,']*)\s*(?:x\s+)?(?P<name>[A-Za-z].*?)\s*,?\s*")
_RATIO = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(?::\s*([0-9]{1,9}(?:\.[0-9]{1,9})?))?")
_WHOLE = re.compile(r"[0-9]{1,3}(?:[,'.][0-9]{3})+|[0-9]{1,15}")


def counts_of(text: str, file: str) -> HandMade:
    """The numbers of a table with a column of quantities, of YAML, or of lines with a name and a number each."""
    titles, _, _ = table_rows(text, file)
    if any(title in _QUANTITY for title in titles) and any(title in _NAMES for title in titles):
        counts = HandCounts(parts=tuple(_bill(text, file)))
    else:
        counts = _numbers(_pairs(text, file), file)
    if not counts.parts and not counts.numbers:
        allowed = "a table with a part number and a quantity in each row, or lines such as `leaf: 32` or `32 leaves`"
        raise InputError([fault(file, "", "no number of devices or parts is in it", allowed=allowed)])
    return HandMade(file, "counts", counts=counts)


def _bill(text: str, file: str) -> Iterator[CountedPart]:
    titles, rows, line = table_rows(text, file)
    quantity = next(titles.index(name) for name in _QUANTITY if name in titles)
    names = [titles.index(name) for name in _NAMES if name in titles]
    length = next((titles.index(name) for name in _LENGTH if name in titles), None)
    spares = next((titles.index(name) for name in _SPARES if name in titles), None)
    number = line
    try:
        for number, row in enumerate(rows, line + 1):
            if not any(cell.strip() for cell in row):
                continue
            if len(row) <= max(quantity, *names, -1 if length is None else length, -1 if spares is None else spares):
                raise InputError([fault(file, f"line {number}", "a row that ends early", hint="is the file cut off?")])
            name = next((row[place].strip() for place in names if row[place].strip()), "")
            amount = whole(row[quantity])
            if name and amount:
                kept = 0 if spares is None else whole(row[spares]) or 0
                yield CountedPart(number, name, amount, None if length is None else _decimal(row[length]), kept)
    except csv.Error as error:
        raise InputError([fault(file, f"line {number}", f"not a table: {error}")]) from None


def whole(text: str) -> int | None:
    """A whole number, with or without marks between thousands; None for other text."""
    text = text.strip()
    return int(re.sub(r"[,'.]", "", text)) if _WHOLE.fullmatch(text) else None


def _decimal(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _pairs(text: str, file: str) -> Iterator[tuple[str, str]]:
    """Names and values: of YAML, in which names of an outer mapping go before those in it, or line by line."""
    try:
        document = parse_yaml(text.encode(), file)
    except InputError:
        document = None
    if isinstance(document, dict):
        yield from _flat(document, "")
        return
    for line in text.splitlines():
        plain = line.partition("#")[0].strip().lstrip("-* ")
        match = _BEFORE.fullmatch(plain) if plain[:1].isdigit() else _LAST.fullmatch(plain) or _AFTER.fullmatch(plain)
        if match:
            yield match["name"], match["value"]


def _flat(mapping: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in mapping.items():
        if isinstance(value, dict):
            yield from _flat(value, "" if bare(str(key)) in ("bill", "counts", "parts") else f"{prefix}{key} ")
        elif isinstance(value, int | float | str) and not isinstance(value, bool):
            yield f"{prefix}{key}", str(value)


def _numbers(pairs: Iterator[tuple[str, str]], file: str) -> HandCounts:
    numbers: dict[str, int] = {}
    products: dict[str, str] = {}
    parts: list[CountedPart] = []
    claimed = None
    for name, value in pairs:
        key = bare(name)
        amount = whole(value)
        word = next((meant for meant, words in _NUMBERS if all(part in key for part in words)), "")
        if any(key.startswith(claim) for claim in _CLAIMS):
            claimed = ratio_of(value)
            if claimed is None and any(letter.isdigit() for letter in value):
                raise InputError([fault(file, "", f"{name}: not a ratio", value, allowed="such as 1:1, 2:1 or 1.5")])
        elif amount is None and key in _PRODUCTS:
            products[key] = value
        elif amount is not None and word in numbers and word not in _SUMMED and numbers[word] != amount:
            what = f"two numbers for {word.replace('_', ' ')}: {numbers[word]:,} and {amount:,}"
            raise InputError([fault(file, "", what, name)])
        elif amount is not None and word:
            numbers[word] = amount + (numbers.get(word, 0) if word in _SUMMED else 0)
            product = name.strip().partition(" ")[2].strip()
            if word in _OF_ROLE and any(letter.isdigit() for letter in product):
                products.setdefault(_OF_ROLE[word], product)
        elif amount is not None:
            parts.append(CountedPart(0, name, amount))
    return HandCounts(numbers, parts, claimed, products)


def ratio_of(text: str) -> float | None:
    """A ratio such as ``2:1`` or ``1.5``, more than 0 and finite; None for other text, of which no part counts."""
    match = _RATIO.fullmatch(text.strip())
    if match is None or not float(match[1]) or not float(match[2] or 1):
        return None
    return float(match[1]) / float(match[2] or 1)
