"""Files of designs made by hand, as the kind that they are said to be."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from fabopt.errors import InputError, fault
from fabopt.inspect.audit.counts import counts_of
from fabopt.inspect.audit.graphs import links_of_dot, links_of_hedgehog
from fabopt.inspect.audit.hand_made import HandMade
from fabopt.inspect.audit.tables import links_of_table, netbox_of
from fabopt.inspect.sightings import text_of
from fabopt.io.files import DEVICE, STANDARD_STREAM, is_device, read_bytes, read_standard_input, shown

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
    return READERS[kind](_text(path), shown(Path(path)))


def _of_folder(path: str, kind: str) -> HandMade:
    files = sorted(entry.path for entry in os.scandir(path) if entry.is_file() and entry.name.endswith(".csv"))
    if kind != "netbox":
        raise InputError([fault(path, "", f"a folder is not read as {kind}", allowed="a file; a folder as netbox")])
    if not 0 < len(files) <= MOST_FILES:
        raise InputError([fault(path, "", f"{len(files)} tables (.csv) are in it", allowed=f"1 to {MOST_FILES}")])
    return netbox_of({shown(Path(file)): _text(file) for file in files}, shown(Path(path)))


def _text(path: str) -> str:
    if is_device(Path(path)):
        raise InputError([fault(shown(Path(path)), "", DEVICE)])
    return text_of(read_bytes(Path(path), MAX_BYTES), shown(Path(path)))
