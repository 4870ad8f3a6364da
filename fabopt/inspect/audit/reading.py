"""Files of designs made by hand, as the kind that they are said to be.

Numbers of a design, without its links: a bill with quantities, or a few lines such as ``32 leaves``.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from sys import intern
from typing import Any

import yaml

from fabopt.errors import InputError, refusal
from fabopt.inspect.audit.netbox import netbox_of
from fabopt.inspect.audit.running import configured_fabric, discovered_fabric, links_of_clab, links_of_topology
from fabopt.inspect.audit.tables import (
    CountedPart,
    HandCounts,
    HandDevice,
    HandLink,
    HandMade,
    has_both_ends,
    links_of_table,
    role_of_words,
    with_ends,
)
from fabopt.inspect.sightings import cut_off
from fabopt.io.library import (
    MAX_LIST_BYTES,
    MAX_LIST_LINES,
    STANDARD_STREAM,
    read_bytes,
    shown,
    too_large,
)
from fabopt.io.quote.values import Sheet
from fabopt.io.quote.workbook import OLE, ZIP, read_workbook
from fabopt.io.recognition import bare
from fabopt.io.tables import TitledTable, text_given, text_of
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
    titles = [bare(title) for title in TitledTable(text, file).titles]
    if any(title in _QUANTITY for title in titles) and any(title in _NAMES for title in titles):
        counts = HandCounts(parts=tuple(_bill(text, file)))
    else:
        counts = _numbers(_pairs(text, file), file)
    if not counts.parts and not counts.numbers:
        raise refusal(
            file,
            "",
            "no number of devices or parts is in it",
            allowed="a table with a part number and a quantity in each row, or lines such as `leaf: 32` or `32 leaves`",
        )
    return HandMade(file, "counts", counts=counts)


def _bill(text: str, file: str) -> Iterator[CountedPart]:
    table = TitledTable(text, file)
    titles = [bare(title) for title in table.titles]
    quantity = next(titles.index(name) for name in _QUANTITY if name in titles)
    names = [titles.index(name) for name in _NAMES if name in titles]
    length = next((titles.index(name) for name in _LENGTH if name in titles), None)
    spares = next((titles.index(name) for name in _SPARES if name in titles), None)
    for number, row in table.rows(is_whole=False):
        if len(row) <= max(quantity, *names, -1 if length is None else length, -1 if spares is None else spares):
            raise refusal(file, f"line {number}", "a row that ends early", hint="is the file cut off?")
        name = next((row[place] for place in names if row[place]), "")
        amount = whole(row[quantity])
        if name and amount:
            kept = 0 if spares is None else whole(row[spares]) or 0
            yield CountedPart(number, name, amount, None if length is None else _decimal(row[length]), kept)


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
                raise refusal(file, "", f"{name}: not a ratio", value, allowed="such as 1:1, 2:1 or 1.5")
        elif amount is None and key in _PRODUCTS:
            products[key] = value
        elif amount is not None and word in numbers and word not in _SUMMED and numbers[word] != amount:
            raise refusal(file, "", f"two numbers for {word.replace('_', ' ')}: {numbers[word]:,} and {amount:,}", name)
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


# -- files of graphs --------------------------------------------------------------------------------------------------


_ID = r'(?:"(?:[^"\\]|\\.)*"|[\w.-]*[\w.])'
_ATTRIBUTES = r"\[(?:\"(?:[^\"\\]|\\.)*\"|[^\]\"])*\]"
_STATEMENT = re.compile(
    rf"(?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)"
    rf"|(?P<a>{_ID})\s*(?::\s*(?P<a_port>{_ID}))?\s*(?:--|->)\s*(?P<b>{_ID})\s*(?::\s*(?P<b_port>{_ID}))?"
    rf"(?:\s*{_ATTRIBUTES})?"
    rf"|(?P<node>{_ID})\s*(?P<about>{_ATTRIBUTES})"
    rf"|{_ID}",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(rf"(?P<key>\w+)\s*=\s*(?P<value>{_ID})")
_KEYWORDS = ("graph", "node", "edge", "digraph", "subgraph")
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
MOST_DOCUMENTS = 1_000_000


def links_of_dot(text: str, file: str) -> HandMade:
    """The links of a DOT graph, ``"leaf":"swp1" -- "server":"eth0"``, and the devices of its nodes."""
    if not text.rstrip().endswith("}"):
        raise cut_off(file, text.count("\n") + 1, "the graph has no closing brace")
    devices: dict[str, HandDevice] = {}
    links: list[HandLink] = []
    line, before, bare_edges = 1, 0, 0
    for match in _STATEMENT.finditer(text):
        line, before = line + text.count("\n", before, match.start()), match.start()
        if match["a"] is not None:
            a, a_port, b, b_port = (intern(_plain(match[key] or "")) for key in ("a", "a_port", "b", "b_port"))
            bare_edges += not (a_port and b_port)
            links.append(HandLink(line, a, a_port, b, b_port))
        elif match["node"] is not None and _plain(match["node"]) not in _KEYWORDS:
            devices[intern(_plain(match["node"]))] = _device(match["about"])
        if len(links) + len(devices) > MAX_LIST_LINES:
            raise refusal(file, "", "the graph has too many statements", allowed=f"up to {MAX_LIST_LINES:,}")
    if bare_edges or not links:
        raise refusal(
            file,
            "",
            f"{bare_edges:,} edges name no ports" if bare_edges else "no edge is in it",
            allowed='edges such as "leaf":"swp1" -- "server":"eth0"',
        )
    return HandMade(file, "dot", with_ends(devices, links), links)


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def _device(attributes: str) -> HandDevice:
    said = {match["key"].lower(): _plain(match["value"]) for match in _ATTRIBUTE.finditer(attributes)}
    role = role_of_words(said.get("role", "") or said.get("function", ""))
    word = said.get("type", "").lower()
    is_host = role in ("server", "attachment") if role else {"host": True, "switch": False}.get(word)
    product = said.get("product", "") or said.get("model", "")
    return HandDevice(role, intern(product), intern(said.get("rack", "")), is_host)


# -- Hedgehog -------------------------------------------------------------------------------------------------------


def links_of_hedgehog(text: str, file: str) -> HandMade:
    """The links of objects ``Switch``, ``Server`` and ``Connection`` of a Hedgehog wiring, one document each."""
    devices: dict[str, HandDevice] = {}
    links: list[HandLink] = []
    for number, document in enumerate(_documents(text, file), 1):
        about, spec = document.get("metadata") or {}, document.get("spec") or {}
        if not isinstance(spec, dict) or not isinstance(about, dict):
            raise refusal(file, f"document {number}", "`metadata` and `spec` are mappings")
        name = intern(str(about.get("name") or ""))
        if document.get("kind") == "Switch":
            role = role_of_words(str(spec.get("role") or ""))
            devices[name] = HandDevice(role, intern(str(spec.get("profile") or "")), "", False)
        elif document.get("kind") == "Server":
            devices[name] = HandDevice("server", "", "", True)
        elif document.get("kind") == "Connection":
            links += [HandLink(number, *ends) for ends in _connected(spec, set())]
    if not links:
        raise refusal(file, "", "no Connection with two ports is in it")
    return HandMade(file, "hedgehog", with_ends(devices, links), links)


def _documents(text: str, file: str) -> Iterator[dict[str, Any]]:
    try:
        for number, document in enumerate(yaml.load_all(text, Loader=_Loader), 1):
            if number > MOST_DOCUMENTS:
                raise refusal(file, "", "too many documents", allowed=f"{MOST_DOCUMENTS:,} at most")
            if document is None:
                continue
            if not isinstance(document, dict) or "kind" not in document:
                raise refusal(file, f"document {number}", "no object of a fabric: it has no `kind`")
            yield document
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise refusal(
            file,
            f"line {mark.line + 1}" if mark is not None else "",
            f"not YAML: {getattr(error, 'problem', None) or error}",
        ) from None


def _connected(spec: object, walked: set[int]) -> Iterator[tuple[str, str, str, str]]:
    """The pairs of ports in a connection, however deep: a mapping with two ends that have a ``port`` each is a link.

    ``walked``: ids of visited nodes, as YAML aliases repeat them.
    """
    if id(spec) in walked:
        return
    walked.add(id(spec))
    if isinstance(spec, list):
        for item in spec:
            yield from _connected(item, walked)
    elif isinstance(spec, dict):
        ports = [value["port"] for value in spec.values() if isinstance(value, dict) and "port" in value]
        if len(ports) == 2 and all(isinstance(port, str) and "/" in port for port in ports):
            (a, _, a_port), (b, _, b_port) = (port.partition("/") for port in ports)
            yield intern(a), intern(a_port), intern(b), intern(b_port)
        else:
            for value in spec.values():
                yield from _connected(value, walked)


# -- files of designs made by hand, as the kind that they are said to be ----------------------------------------------


MOST_TABLES, MOST_DEVICES = 100, 20_000
MAX_FOLDER_BYTES = 100_000_000
# Kinds of which a folder may have several files, by the names of these: how they are read, which, and how many.
_FOLDERS: Mapping[str, tuple[Callable[[Mapping[str, str], str], HandMade], tuple[str, ...], int]] = {
    "netbox": (netbox_of, (".csv", ".json"), MOST_TABLES),
    "ibnetdiscover": (lambda texts, file: discovered_fabric(texts, file, "ibnetdiscover"), ("",), MOST_DEVICES),
    "lldp": (lambda texts, file: discovered_fabric(texts, file, "lldp"), ("",), MOST_DEVICES),
    "config_db": (configured_fabric, (".json",), MOST_DEVICES),
}
_FILES: Mapping[str, Callable[[str, str], HandMade]] = {
    "p2p": lambda text, file: links_of_table(text, file, "p2p"),
    "dot": links_of_dot,
    "hedgehog": links_of_hedgehog,
    "counts": counts_of,
    "clab": links_of_clab,
    "topology": links_of_topology,
}
KINDS = ("p2p", "dot", "netbox", "hedgehog", "counts", "ibnetdiscover", "lldp", "config_db", "clab", "topology")


def hand_made_of(text: str, file: str, kind: str) -> HandMade:
    """The design in the text of one file of a kind."""
    return _FILES[kind](text, file) if kind in _FILES else _FOLDERS[kind][0]({file: text}, file)


def read_hand_made(path: str, kind: str) -> HandMade:
    """The design in a file, or in a folder of files of one fabric; ``InputError`` for files of another kind."""
    if kind not in KINDS:
        raise refusal("--as", "", "no such kind of file", kind, allowed=", ".join(KINDS))
    if os.path.isdir(path):
        return _of_folder(path, kind)
    text, file = text_given(path) if path == STANDARD_STREAM else (_text(path, kind), shown(Path(path)))
    return hand_made_of(text, file, kind)


def _of_folder(path: str, kind: str) -> HandMade:
    if kind not in _FOLDERS:
        raise refusal(path, "", f"a folder is not read as {kind}", allowed=f"a file; a folder as {', '.join(_FOLDERS)}")
    reader, endings, most = _FOLDERS[kind]
    entries = [entry for entry in os.scandir(path) if entry.is_file() and not entry.name.startswith(".")]
    files = sorted(entry.path for entry in entries if entry.name.endswith(endings))
    if not 0 < len(files) <= most:
        kinds = f" ({', '.join(endings)})" if any(endings) else ""
        raise refusal(path, "", f"{len(files):,} files{kinds} are in it", allowed=f"1 to {most:,}")
    if sum(os.path.getsize(file) for file in files) > MAX_FOLDER_BYTES:
        raise too_large(path, MAX_FOLDER_BYTES)
    return reader({shown(Path(file)): _text(file) for file in files}, shown(Path(path)))


def _text(path: str, kind: str = "") -> str:
    """The text of a file; of a workbook that of the sheet which is of the kind, as a table."""
    file = shown(Path(path))
    data = read_bytes(Path(path), MAX_LIST_BYTES)
    if kind in _TITLED and data.startswith((ZIP, OLE)):
        return _sheet_text(read_workbook(data, file), file, _TITLED[kind])
    return text_of(data, file)


def _sheet_text(sheets: Sequence[Sheet], file: str, is_titles: Callable[[Iterable[str]], bool]) -> str:
    """The first sheet with a row of titles as a table of which rows keep their numbers; rows above are comments."""
    for sheet in sheets:
        titles = next((row for row in sorted(sheet.rows) if is_titles(_cells(sheet, row))), None)
        if titles is not None:
            stream = io.StringIO(newline="")
            stream.write("#\n" * (titles - 1))
            csv.writer(stream).writerows(_cells(sheet, row) for row in range(titles, max(sheet.rows) + 1))
            return stream.getvalue()
    raise refusal(file, "", "no sheet of the workbook has titles of such columns", hint="see docs/audit.md")


def _cells(sheet: Sheet, row: int) -> list[str]:
    cells = sheet.spread(row)
    return [cells[column].text if column in cells else "" for column in range(1, max(cells, default=0) + 1)]


# Kinds that workbooks are read as, and what tells the first row of their table.
_TITLED: Mapping[str, Callable[[Iterable[str]], bool]] = {"p2p": has_both_ends, "counts": any}
