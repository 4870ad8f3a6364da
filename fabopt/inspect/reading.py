"""Reading of cabling files: their kind is recognized by content, not by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from fabopt.errors import refusal
from fabopt.inspect.cabling_csv import cabled
from fabopt.inspect.ibnetdiscover import LANE_GBPS, device_of_description, discovered
from fabopt.inspect.lldp_json import neighbours
from fabopt.inspect.lldp_text import blocks, key_values, table
from fabopt.inspect.sightings import Discovery, SeenEnd, Sighting, cut_off
from fabopt.io.library import (
    MAX_LINES,
    STANDARD_STREAM,
    check_lines,
)
from fabopt.io.tables import COLUMNS, text_given
from fabopt.units import some

# -- links of InfiniBand as ``iblinkinfo`` and ``ibnetdiscover -p`` list them -----------------------------------------


_GUID: Final = r"0x([0-9a-f]{16})"
_NUMBER: Final = r"(\d{1,15})"
_HEAD: Final = re.compile(rf"(CA|Switch|Router):\s+(?:{_GUID}\s+)?(.*?):?\s*")
_NEAR: Final = re.compile(rf'\s*(?:{_GUID}\s+)?(?:"\s*(?P<name>[^"]*?)\s*"\s+)?\d+\s+(?P<port>\d{{1,9}})\[[\s\d]*\]\s*')
_FAR: Final = re.compile(rf'\s*(?:{_GUID}\s+)?\d+\s+(?P<port>\d{{1,9}})\[[\s\d]*\]\s*"\s*(?P<name>[^"]*?)\s*".*')
_STATE: Final = re.compile(r"\(\s*(?:(\d{1,15})X\s+(\d{1,9}(?:\.\d{1,9})?)\s+Gbps\s+)?(\w+)/\s*(\w+)\s*\)")
_PORTS: Final = re.compile(
    rf"(CA|SW|RT)\s+\d+\s+{_NUMBER}\s+{_GUID}\s+{_NUMBER}x\s*(\w+)(?:\s+-\s+(CA|SW|RT)\s+\d+\s+{_NUMBER}\s+{_GUID}\s+"
    rf"\(\s*'(.*?)'\s*-\s*'(.*?)'\s*\))?.*"
)
_DARK: Final = re.compile(r"(?:CA|SW|RT)\s+\d+\s+\d+\s+0x[0-9a-f]{16}\s.*")
# What a lane is said to signal at, Gb/s, by what it carries.
_SIGNALS: Final = {
    2.5: 2.5,
    5.0: 5.0,
    10.0: 10.0,
    14.0625: 14.0,
    25.78125: 25.0,
    53.125: 50.0,
    106.25: 100.0,
    212.5: 200.0,
}
_WORDS: Final = {"CA": "Ca", "SW": "Switch", "Switch": "Switch", "RT": "Rt", "Router": "Rt"}


class _ListedNode(NamedTuple):
    """A node: kind, description and GUID."""

    kind: str
    description: str
    guid: str


def are_links(head: str) -> bool:
    """Whether the beginning of a text is of a list of links."""
    return (
        "]==(" in head.replace(" ", "") or re.search(r"^(?:CA|SW|RT)\s+\d+\s+\d+\s+0x", head, re.MULTILINE) is not None
    )


def listed_links(text: str, file: str) -> Discovery:
    """The links of a list; ``InputError`` for a line that neither program writes, or a file cut off."""
    sightings: list[Sighting] = []
    switches: set[str] = set()
    current: _ListedNode | None = None
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if head := _HEAD.fullmatch(line):
            current = _ListedNode(_WORDS[head[1]], head[3].strip(), head[2] or "")
            continue
        told = _of_port_line(line) if line[:2] in ("CA", "SW", "RT") else _of_link_line(line, current)
        if told is None:
            if number == len(lines) and not text.endswith("\n"):
                raise cut_off(file, number, "its last line has no end")
            raise refusal(
                file,
                f"line {number}",
                "not a line of a list of links",
                line,
                allowed="lines of iblinkinfo, or of ibnetdiscover -p",
            )
        sightings += told
    for sighting in sightings:
        switches |= {end.device for end in (sighting.near, sighting.far) if end.number is not None and end.device}
    return Discovery(file, sightings, frozenset(switches), is_whole=True)


def _of_link_line(line: str, current: _ListedNode | None) -> list[Sighting] | None:
    """The sightings of a line of ``iblinkinfo``; empty for a port that is down, None for another line."""
    before, arrow, rest = line.partition("==(")
    state, closing, after = rest.partition(")==>")
    near = _NEAR.fullmatch(before)
    told = _STATE.fullmatch(f"({state})")
    if not arrow or not closing or near is None or told is None:
        return None
    if told[4] != "LinkUp" and told[3] == "Down":
        return []
    far = _FAR.fullmatch(after)
    if far is None:
        return None
    own = _ListedNode("", near["name"], near[1] or "") if near["name"] is not None else current
    if own is None:
        return None
    rate = int(told[1]) * _SIGNALS.get(float(told[2]), float(told[2])) if told[1] else None
    near_end = _end(own._replace(guid=near[1] or own.guid), int(near["port"]))
    return [Sighting(near_end, _end(_ListedNode("", far["name"], far[1] or ""), int(far["port"])), rate)]


def _of_port_line(line: str) -> list[Sighting] | None:
    """The sightings of a line of ``ibnetdiscover -p``; empty for an unconnected port, None for another line."""
    match = _PORTS.fullmatch(line)
    if match is None or match[6] is None:
        return [] if _DARK.fullmatch(line) else None
    kind, port, guid, width, speed, far_kind, far_port, far_guid, name, far_name = match.groups()
    rate = int(width) * LANE_GBPS[speed] if speed in LANE_GBPS else None
    near = _end(_ListedNode(_WORDS[kind], name, guid), int(port))
    return [Sighting(near, _end(_ListedNode(_WORDS[far_kind], far_name, far_guid), int(far_port)), rate)]


def _end(node: _ListedNode, port: int) -> SeenEnd:
    """An end: of a switch its number, of a host the adapter in its description. A kind that is not said follows."""
    kind = node.kind or ("Ca" if device_of_description(node.description, "Ca")[1] else "Switch")
    device, adapter = device_of_description(node.description, kind)
    if kind == "Switch":
        return SeenEnd(device, (), port, "", node.guid or device)
    names = tuple(filter(None, [f"{adapter}/{port}" if adapter and port > 1 else "", adapter]))
    return SeenEnd(device, names, None, node.guid, node.guid or device)


# -- reading of cabling files: their kind is recognized by content, not by name ---------------------------------------


MOST_FILES = 20_000
# Endings that are no part of the name of a device; others are, as in ``leaf-1.example.com``.
_ENDINGS = re.compile(r"(?:\.(?:json0?|txt|log|out|lldp|keyvalue|csv|table))+$", re.IGNORECASE)
# A line of a device among those of others, and what ansible writes above the output of one.
_TAGGED = re.compile(r"([\w.-]+)(?: *(\|)| *:(?=\s|$)) ?(.*)")
_ANSIBLE = re.compile(r"([\w.-]+) \| (?:CHANGED|SUCCESS|FAILED)(?:!| \| rc=\d+ >>| => .*)\s*")
_DASHES, _NAME = re.compile(r"-{3,}\s*"), re.compile(r"[\w.-]*\w\s*")
# Lines above the first device among which a line of one is looked for.
_HEADINGS = 20
# What a shell writes before and after what a command does, as in `leaf-1#show lldp neighbors | json`.
_PROMPT = re.compile(r"(?:[\w.-]+@)?[\w.-]+(?:\([^)]*\)|:\S*)?[#>$](?:\s.*|(?:show|nv)\s.*)?")
_TITLES = re.compile(r"^\s*(?:LocalPort\s+RemoteDevice|Interface\s.*Remote Host|Port\s+Neighbor Device)", re.MULTILINE)
_ALLOWED = (
    "text of `ibnetdiscover` or `iblinkinfo`; `lldpctl`, also `-f json`, `-f json0` or `-f keyvalue`; `show lldp "
    "table` (SONiC); `nv show interface lldp` (Cumulus Linux), also as JSON; `show lldp neighbors` (EOS), also as JSON "
    "or from its API; a table with the columns " + ", ".join(COLUMNS)
)


def read(paths: Sequence[str]) -> Iterator[Discovery]:
    """The discoveries of files in order; a folder stands for its files. ``InputError`` for other files."""
    for path in paths:
        for file in _files(path):
            yield from collected(*text_given(file), device_of(file))


def _files(path: str) -> list[str]:
    """A file, or those of a folder in the order of their names, hidden ones left out."""
    if path == STANDARD_STREAM or not os.path.isdir(path):
        return [path]
    files = sorted(entry.path for entry in os.scandir(path) if entry.is_file() and not entry.name.startswith("."))
    if not 0 < len(files) <= MOST_FILES:
        raise refusal(
            path,
            "",
            f"a folder of {some(len(files), 'file')}",
            allowed=f"a file for each device, {MOST_FILES:,} at most",
        )
    return files


def device_of(file: str) -> str:
    """The device that a file is of, where only its name says so: ``lldp/leaf-1.json`` is of ``leaf-1``."""
    return _ENDINGS.sub("", Path(file).name)


def collected(text: str, file: str, device: str) -> Iterator[Discovery]:
    """The discoveries of a file: of one device, or of several whose lines or blocks begin with their names."""
    parts = _by_host(text)
    if not parts:
        yield recognised(text, file, device)
    for host, own in parts.items():
        yield recognised(own, f"{file} ({host})", host)


def _by_host(text: str) -> dict[str, str]:
    """The text of each device in a collection of several; empty for a file of one device.

    Ansible heads the output of a host with ``host | CHANGED | rc=0 >>``, clush and dshbak with its name between two
    lines of dashes; others put ``host | `` or ``host: `` before each line, and headings between hosts.
    """
    lines = text.splitlines()
    texts: dict[str, list[str]] = {}
    heads = {row: match[1] for row, line in enumerate(lines) if (match := _ANSIBLE.fullmatch(line))}
    dashed = [row for row, line in enumerate(lines) if _DASHES.fullmatch(line)]
    named = [row + 1 for row, after in pairwise(dashed) if after == row + 2 and _NAME.fullmatch(lines[row + 1])]
    if heads or named:
        heads |= {row: lines[row].strip() for row in named}
        left_out = {other for row in named for other in (row - 1, row + 1)}
        host = ""
        for row, line in enumerate(lines):
            if row in heads:
                host = heads[row]
                texts.setdefault(host, [])
            elif host and row not in left_out:
                texts[host].append(line)
        return {host: "\n".join(own) + "\n" for host, own in texts.items() if any(line.strip() for line in own)}
    if lines[0].lstrip()[:1] in "{[":
        return {}
    host, is_heading = "", False
    bars = any(match and match[2] for match in map(_TAGGED.fullmatch, lines[:_HEADINGS]))
    for row, line in enumerate(filter(str.strip, lines)):
        match = _TAGGED.fullmatch(line)
        if match is None or (bars and not match[2]):
            is_heading = True
            if not host and row >= _HEADINGS:
                return {}
            continue
        if is_heading and match[1] == host:
            return {}
        host, is_heading = match[1], False
        texts.setdefault(host, []).append(match[3])
    if is_heading:
        return {}
    return {host: "\n".join(own) + "\n" for host, own in texts.items()}


def recognised(text: str, file: str, device: str) -> Discovery:
    """The discovery of a text, by its kind. ``device``: its name if the text has none."""
    text = _without_prompts(text)
    start = text.lstrip()
    head = start[:4096]
    if head[0] in "{[":
        return neighbours(text, file, device)
    if re.search(r'^(?:(?:vendid|switchguid|caguid)=|# Topology file|(?:Switch|Ca)\s+\d+\s+")', head, re.MULTILINE):
        return discovered(text, file)
    check_lines(text, file, MAX_LINES)
    if re.search(r"^lldp\.", head, re.MULTILINE):
        return key_values(text, file, device)
    if are_links(head):
        return listed_links(text, file)
    if re.search(r"^Interface:\s+\S+?, via: ", head, re.MULTILINE):
        return blocks(text, file, device)
    if re.search(
        r"^\s*(?:LocalPort\s+RemoteDevice|Interface\s.*Remote Host|Port\s+Neighbor Device)", head, re.MULTILINE
    ):
        return table(text, file, device)
    titles = next((line.lower() for line in head.splitlines() if not line.startswith("#")), "")
    if any(column.lower() in titles for column in COLUMNS):
        return cabled(text, file)
    raise refusal(file, "", "this is none of the kinds of files that say what is cabled", allowed=_ALLOWED)


def _without_prompts(text: str) -> str:
    """The text without the lines of a shell above and below."""
    lines = text.splitlines(keepends=True)
    while lines and _PROMPT.fullmatch(lines[0].rstrip()):
        del lines[0]
    while len(lines) > 1 and _PROMPT.fullmatch(lines[-1].rstrip()):
        del lines[-1]
    return "".join(lines) or text
