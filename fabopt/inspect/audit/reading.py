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
from fabopt.inspect.audit.tables import has_both_ends, links_of_table
from fabopt.inspect.sightings import text_of
from fabopt.io.files import DEVICE, STANDARD_STREAM, is_device, read_bytes, read_standard_input, shown
from fabopt.io.quote.sheets import Sheet
from fabopt.io.quote.workbook import OLE, ZIP, read_workbook

# Of one file: a million links as a point-to-point sheet have about 60 MB.
MAX_BYTES = 200_000_000
MOST_FILES = 100
READERS: Mapping[str, Callable[[str, str], HandMade]] = {
    "p2p": lambda text, file: links_of_table(text, file, "p2p"),
    "dot": links_of_dot,
    "netbox": lambda text, file: netbox_of({file: text}, file),
    "hedgehog": links_of_hedgehog,
    "counts": counts_of,
}


def read_hand_made(path: str, kind: str) -> HandMade:
    """What a file says, or a folder of NetBox tables; ``InputError`` for one that is not of its kind."""
    if kind not in READERS:
        raise InputError([fault("--as", "", "no such kind of file", kind, allowed=", ".join(READERS))])
    if path == STANDARD_STREAM:
        return READERS[kind](text_of(read_standard_input(), "<standard input>"), "<standard input>")
    if os.path.isdir(path):
        return _of_folder(path, kind)
    return READERS[kind](_text(path, kind), shown(Path(path)))


def _of_folder(path: str, kind: str) -> HandMade:
    files = sorted(
        entry.path for entry in os.scandir(path) if entry.is_file() and entry.name.endswith((".csv", ".json"))
    )
    if kind != "netbox":
        raise InputError([fault(path, "", f"a folder is not read as {kind}", allowed="a file; a folder as netbox")])
    if not 0 < len(files) <= MOST_FILES:
        raise InputError(
            [fault(path, "", f"{len(files)} tables (.csv, .json) are in it", allowed=f"1 to {MOST_FILES}")]
        )
    return netbox_of({shown(Path(file)): _text(file) for file in files}, shown(Path(path)))


def _text(path: str, kind: str = "") -> str:
    """The text of a file; of a workbook that of the sheet which is of the kind, as a table."""
    file = shown(Path(path))
    if is_device(Path(path)):
        raise InputError([fault(file, "", DEVICE)])
    data = read_bytes(Path(path), MAX_BYTES)
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
