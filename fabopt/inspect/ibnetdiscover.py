"""Text of ``ibnetdiscover``: a record for each switch and each adapter, a line for each port that is up.

A switch or adapter describes itself by a text; adapters as ``host mlx5_0`` or ``host HCA-1``, managed switches as
``MF0;name:product/U1``. Aggregation nodes (SHARP) sit inside switches, behind a port without a cage, and have no cable.
"""

from __future__ import annotations

import io
import re
from typing import NamedTuple

from fabopt.errors import InputError, refusal
from fabopt.inspect.sightings import Discovery, SeenEnd, Sighting, cut_off
from fabopt.units import some

_HEAD = re.compile(r'(Switch|Ca|Rt)\s+(\d{1,15})\s+"([A-Za-z]-[0-9a-f]+)"\s*(?:#\s*"(.*)".*)?')
_PLACE = r"\[(\d{1,15})\](?:\[ext \d+\])?(?:\(([0-9a-f]+)\))?"
_PORT = re.compile(rf'{_PLACE}\s+"([A-Za-z]-[0-9a-f]+)"{_PLACE}\s*(?:#(.*))?')
_FIELD = re.compile(
    r"(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=\S+(?:\s*#.*)?|#.*|Chassis\s.*"
    r"|(?:Spine|Line|Non-Chassis) Nodes.*|\s*"
)
_SPEED = re.compile(r"(\d{1,15})x([A-Z]+\d*)\s*$")
_MANAGED = re.compile(r"[A-Z]+\d*;([^:;]+):.*")
_ADAPTER = re.compile(r"(?:[a-z]+\d*_\d+|HCA-\d+)")
_AGGREGATION = "Aggregation Node"
# Gb/s of a lane, as the InfiniBand architecture counts them.
LANE_GBPS = {"SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.0, "FDR": 14.0, "EDR": 25.0, "HDR": 50.0, "NDR": 100.0,
             "XDR": 200.0}  # fmt: skip


class _Node(NamedTuple):
    """A record: kind, number of ports, description."""

    kind: str
    ports: int
    description: str


class _PortLine(NamedTuple):
    """A line of a port: line number, both nodes and port numbers, both GUIDs, and the comment after ``#``."""

    line: int
    node: str
    port: int
    guid: str
    peer: str
    peer_port: int
    peer_guid: str
    rest: str


def discovered(text: str, file: str) -> Discovery:
    """The cables of a fabric; ``InputError`` for a line that ``ibnetdiscover`` does not write, or a file cut off."""
    nodes, lines = _records(text, file)
    _require_end(text, file)
    _require_all_records(nodes, lines, file)
    sightings = [
        Sighting(_end(nodes, line.node, line.port, line.guid), _end(nodes, line.peer, line.peer_port, line.peer_guid),
                 gbps_of(line.rest))
        for line in lines
        if not any(_AGGREGATION in nodes[node].description for node in (line.node, line.peer))
    ]  # fmt: skip
    switches = (
        device_of_description(node.description, "Switch")[0] for node in nodes.values() if node.kind == "Switch"
    )
    return Discovery(file, sightings, frozenset(filter(None, switches)), is_whole=True)


def _records(text: str, file: str) -> tuple[dict[str, _Node], list[_PortLine]]:
    """All records and lines of ports of a file, in its order."""
    nodes: dict[str, _Node] = {}
    lines: list[_PortLine] = []
    current = ""
    for number, line in enumerate(io.StringIO(text), 1):
        line = line.rstrip()
        if line.startswith("["):
            match = _PORT.fullmatch(line)
            if match and current:
                port, guid, peer, peer_port, peer_guid, rest = match.groups()
                lines.append(_PortLine(number, current, int(port), guid or "", peer, int(peer_port), peer_guid or "",
                                   rest or ""))  # fmt: skip
                continue
        elif match := _HEAD.fullmatch(line):
            kind, ports, current, description = match.groups()
            nodes[current] = _Node(kind, int(ports), description or "")
            continue
        elif _FIELD.fullmatch(line):
            continue
        raise _strange(text, file, number, line)
    return nodes, lines


def _strange(text: str, file: str, number: int, line: str) -> InputError:
    """The error for a line that is not of ``ibnetdiscover``; the last line of a file counts as cut off."""
    if not text.endswith("\n") and number == text.count("\n") + 1:
        return cut_off(file, number, "its last line has no end")
    return refusal(
        file,
        f"line {number}",
        "not a line of ibnetdiscover",
        line,
        allowed='records of `Switch` and `Ca`, and `[port] "node"[port]` lines',
    )


def _require_end(text: str, file: str) -> None:
    """Raise ``InputError`` if the last line neither has an end nor is that of a port with its speed."""
    last = text[text.rfind("\n") + 1 :]
    if last and (gbps_of(last) is None or not last.startswith("[")):
        raise cut_off(file, text.count("\n") + 1, "its last line has no end")


def _require_all_records(nodes: dict[str, _Node], lines: list[_PortLine], file: str) -> None:
    """Raise ``InputError`` if a connected node has no record, or there is no record at all."""
    missing = list(dict.fromkeys(line.peer for line in lines if line.peer not in nodes))
    if missing:
        what = f"{some(len(missing), 'node')} that others are joined to without a record, first {missing[0]}"
        raise cut_off(file, lines[-1].line, what)
    if not nodes:
        raise cut_off(file, 1, "no switch and no adapter is in it")


def _end(nodes: dict[str, _Node], name: str, port: int, guid: str) -> SeenEnd:
    node = nodes[name]
    own = name.partition("-")[2]
    device, adapter = device_of_description(node.description, node.kind)
    if node.kind == "Switch":
        return SeenEnd(device or node.description, (), port, "", own)
    names = (f"{adapter}/{port}",) if node.ports > 1 and adapter else ()
    return SeenEnd(device or node.description, (*names, *filter(None, [adapter])), None, guid or own, own)


def device_of_description(description: str, kind: str) -> tuple[str, str]:
    """The name of a device, and of the adapter in it, from its description."""
    if kind == "Switch":
        match = _MANAGED.fullmatch(description)
        return (match[1] if match else description), ""
    host, _, adapter = description.rpartition(" ")
    if host and (_ADAPTER.fullmatch(adapter) or " " not in host.strip()):
        return host.strip(), adapter
    return description, ""


def gbps_of(text: str) -> float | None:
    """The speed at the end of a text, as ``4xNDR``, in Gb/s; None without one."""
    match = _SPEED.search(text)
    if match is None or match[2] not in LANE_GBPS:
        return None
    return int(match[1]) * LANE_GBPS[match[2]]
