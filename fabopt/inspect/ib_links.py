"""Links of InfiniBand as ``iblinkinfo`` and ``ibnetdiscover -p`` list them: a line for each port."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from fabopt.errors import InputError, fault
from fabopt.inspect.ibnetdiscover import LANE_GBPS, device_of_description
from fabopt.inspect.sightings import Discovery, SeenEnd, Sighting, cut_off

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
            allowed = "lines of iblinkinfo, or of ibnetdiscover -p"
            raise InputError([fault(file, f"line {number}", "not a line of a list of links", line, allowed=allowed)])
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
