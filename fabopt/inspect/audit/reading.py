"""Files of designs made by hand, as the kind that they are said to be."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from fabopt.errors import InputError, fault
from fabopt.inspect.audit.counts import counts_of
from fabopt.inspect.audit.graphs import links_of_dot, links_of_hedgehog
from fabopt.inspect.audit.hand_made import HandMade
from fabopt.inspect.audit.netbox import netbox_of
from fabopt.inspect.audit.running import configured_fabric, discovered_fabric, links_of_clab, links_of_topology
from fabopt.inspect.audit.tables import has_both_ends, links_of_table
from fabopt.inspect.sightings import text_of
from fabopt.io.files import MAX_LIST_BYTES, STANDARD_STREAM, read_bytes, read_standard_input, shown, too_large
from fabopt.io.quote.sheets import Sheet
from fabopt.io.quote.workbook import OLE, ZIP, read_workbook

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
        raise InputError([fault("--as", "", "no such kind of file", kind, allowed=", ".join(KINDS))])
    if path == STANDARD_STREAM:
        return hand_made_of(text_of(read_standard_input(), "<standard input>"), "<standard input>", kind)
    if os.path.isdir(path):
        return _of_folder(path, kind)
    return hand_made_of(_text(path, kind), shown(Path(path)), kind)


def _of_folder(path: str, kind: str) -> HandMade:
    if kind not in _FOLDERS:
        allowed = f"a file; a folder as {', '.join(_FOLDERS)}"
        raise InputError([fault(path, "", f"a folder is not read as {kind}", allowed=allowed)])
    reader, endings, most = _FOLDERS[kind]
    entries = [entry for entry in os.scandir(path) if entry.is_file() and not entry.name.startswith(".")]
    files = sorted(entry.path for entry in entries if entry.name.endswith(endings))
    if not 0 < len(files) <= most:
        kinds = f" ({', '.join(endings)})" if any(endings) else ""
        raise InputError([fault(path, "", f"{len(files):,} files{kinds} are in it", allowed=f"1 to {most:,}")])
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
    raise InputError([fault(file, "", "no sheet of the workbook has titles of such columns", hint="see docs/audit.md")])


def _cells(sheet: Sheet, row: int) -> list[str]:
    cells = sheet.spread(row)
    return [cells[column].text if column in cells else "" for column in range(1, max(cells, default=0) + 1)]


# Kinds that workbooks are read as, and what tells the first row of their table.
_TITLED: Mapping[str, Callable[[Iterable[str]], bool]] = {"p2p": has_both_ends, "counts": any}
