"""Sightings of cables in files: pairs of devices and ports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabopt.errors import InputError, fault
from fabopt.io.files import MAX_LIST_LINES, check_lines, check_values

# How devices are called before anybody names them.
_DEFAULT_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ubuntu", "debian", "linux", "switch", "sonic",
                            "cumulus", "(none)"})  # fmt: skip
_OF_A_VENDOR = re.compile(r"\bMellanox Technologies\b|^MT\d{4,}\b|^Quantum\b|\bConnectX")
_ADDRESS = re.compile(r"(?:0x)?(?:[0-9a-f]{2}[:.-]?){5,7}[0-9a-f]{2}|(?:[0-9a-f]{4}[.:]){2,3}[0-9a-f]{4}")
# What colours a line of a terminal.
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")


class SeenEnd(NamedTuple):
    """An end of a cable as a file has it.

    device   name; empty where the file gives none
    ports    names of the port, the most exact first
    number   of a port of an InfiniBand switch
    guid     GUID or MAC of the port, 16 or 12 hexadecimal digits; empty where not known
    node     GUID of the NIC or switch
    """

    device: str
    ports: tuple[str, ...] = ()
    number: int | None = None
    guid: str = ""
    node: str = ""


class Sighting(NamedTuple):
    """A cable as one end sees the other. ``gbps``: None if not stated."""

    near: SeenEnd
    far: SeenEnd
    gbps: float | None = None


@dataclass(frozen=True)
class Discovery:
    """The cables in a file.

    reporters   names of the devices that report all their neighbours; their ports without one are dark
    is_whole    the file has all cables of its fabric, whoever reports
    """

    file: str
    sightings: Sequence[Sighting]
    reporters: frozenset[str]
    is_whole: bool


def address(text: str) -> str:
    """The digits of a GUID or MAC address, small; empty for any other text."""
    text = text.strip().lower()
    return re.sub(r"^0x|[^0-9a-f]", "", text) if _ADDRESS.fullmatch(text) else ""


def is_unnamed(device: str) -> bool:
    """Whether a name is not one given by an operator: a default, a vendor's text, an address."""
    return device.lower() in _DEFAULT_NAMES or bool(_OF_A_VENDOR.search(device) or address(device))


def text_of(data: bytes, file: str) -> str:
    """The text of a file; ``InputError`` if it is empty, not UTF-8, of too many lines, or JSON of too many values."""
    if data.lstrip()[:1] in (b"{", b"["):
        check_values(data, file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:200].count(0) > len(data[:200]) // 4
        line = data.count(b"\n", 0, error.start) + 1
        what = "this is UTF-16" if wide else f"not UTF-8 text (line {line})"
        raise InputError([fault(file, "", what, allowed="UTF-8", hint="save it as UTF-8")]) from None
    if "\0" in text:
        raise InputError([fault(file, "", "the file has zero bytes in it", allowed="text in UTF-8")])
    if not text.strip():
        raise InputError([fault(file, "", "the file is empty")])
    check_lines(text, file, MAX_LIST_LINES)
    return _COLOUR.sub("", text) if "\x1b" in text else text


def cut_off(file: str, line: int, what: str) -> InputError:
    """The error for a file without its end."""
    hint = "run the command that wrote it again, to its end"
    return InputError([fault(file, f"line {line}", f"the file is cut off: {what}", hint=hint)])
