"""Patch panels: cables that meet in a panel are one link between the devices at its ends."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fabopt.inspect.audit.tables import HandCable, HandLink, HandMade
from fabopt.units import sets, some

_PANEL = re.compile(r"patch|panel|\bodf\b|\bfdp\b|cassette|\blgx\b|(?:^|[^a-z])pp(?![a-z])", re.IGNORECASE)
# What says which side of a panel a port is on; the rest is which port it is.
_SIDE = re.compile(r"front|rear|back|(?<![a-z])[fbr](?=[-_ ]?\d)|(?<=\d)[-_ ]?[fbr](?![a-z])", re.IGNORECASE)
_MARKS = re.compile(r"[^a-z0-9]+")
# By panel and front port: its rear port, and its position there.
_Mapped = Mapping[tuple[str, str], tuple[str, int]]


class PanelPort(NamedTuple):
    """Key of both sides of a panel's port. ``position``: of the fibres at its rear, from 1."""

    panel: str
    port: str
    position: int


class _Piece(NamedTuple):
    """A cable, or fibres of a trunk, as a part of a link; ``link`` is the row of the file, from ``a`` to ``b``."""

    link: HandLink
    a: PanelPort | None
    b: PanelPort | None


def traced(hand: HandMade) -> HandMade:
    """A design by hand with links traced through panels: links join devices, and dead-end cables lack an end."""
    unsaid = {name: device for name, device in hand.devices.items() if device.is_host is None and not device.role}
    panels = {name for name, device in unsaid.items() if _PANEL.search(f"{name} {device.product}")}
    panels |= {panel for panel, _ in hand.panel_ports}
    panels &= {name for link in hand.links for name in (link.a, link.b)}
    if not panels:
        return hand
    positions = _positions(hand.panel_ports)
    pieces = [piece for link in hand.links for piece in _pieces(link, panels, hand.panel_ports, positions)]
    pieces_at: dict[PanelPort, list[_Piece]] = defaultdict(list)
    for piece in pieces:
        for port in {piece.a, piece.b} - {None}:
            assert port is not None
            pieces_at[port].append(piece)
    links = [piece.link for piece in pieces if piece.a is None and piece.b is None]
    chains: list[HandLink] = []
    half: list[int] = []
    # Rows of the file that lead somewhere; where others of their lanes do not, these are dark.
    leads: set[int] = set()
    followed: set[int] = set()
    for piece in pieces:
        if (piece.a is None) != (piece.b is None) and id(piece) not in followed:
            path = _path(piece, pieces_at)
            followed |= {id(part) for part in path}
            ends = [part for part in (path[0], path[-1]) if None in (part.a, part.b)]
            if len(path) > 1 and len(ends) == 2:
                chains.append(_joined(path))
                leads |= {path[0].link.line, path[-1].link.line}
            else:
                half.append(path[-1].link.line)
    half = [line for line in half if line not in leads]
    half += sorted({piece.link.line for piece in pieces if piece.a and piece.b and id(piece) not in followed})
    devices = {name: device for name, device in hand.devices.items() if name not in panels}
    note = f"{some(len(panels), 'panel')}: {some(len(chains), 'link')} followed from one device to the other"
    return replace(hand, devices=devices, links=[*links, *chains], half=[*hand.half, *half], notes=(*hand.notes, note))


def _positions(mapped: _Mapped) -> dict[tuple[str, str], list[int]]:
    """By panel and rear port the positions of it that front ports have."""
    positions = sets(((panel, rear), place) for (panel, _), (rear, place) in mapped.items())
    return {rear: sorted(places) for rear, places in positions.items()}


def _pieces(
    link: HandLink, panels: set[str], mapped: _Mapped, positions: Mapping[tuple[str, str], Sequence[int]]
) -> Iterator[_Piece]:
    """A cable as one piece; a trunk between rears of panels as one for each position in use."""
    near, far = (
        _ports(device, port, panels, mapped, positions)
        for device, port in ((link.a, link.a_port), (link.b, link.b_port))
    )
    count = max(len(near), len(far))
    for place in range(count):
        yield _Piece(link, near[min(place, len(near) - 1)], far[min(place, len(far) - 1)])


def _ports(
    device: str,
    port: str,
    panels: set[str],
    mapped: _Mapped,
    positions: Mapping[tuple[str, str], Sequence[int]],
) -> Sequence[PanelPort | None]:
    """Where an end is in a panel: a front is at its position of its rear, a rear at all of its positions."""
    if device not in panels:
        return [None]
    if (device, port) in mapped:
        rear, position = mapped[device, port]
        return [PanelPort(device, rear, position)]
    rear, _, lane = port.rpartition("/")  # a lane of a connector, as tables of cables with profiles are read
    if (device, rear) in positions and lane.isdecimal():
        return [PanelPort(device, rear, int(lane))]
    own = positions.get((device, port), ())
    return [PanelPort(device, port, place) for place in own] or [PanelPort(device, _bare(port), 1)]


def _bare(port: str) -> str:
    """The number of a port, whichever side its name is of."""
    return _MARKS.sub(" ", _SIDE.sub(" ", port).lower()).strip()


def _path(first: _Piece, pieces_at: Mapping[PanelPort, Sequence[_Piece]]) -> list[_Piece]:
    """The pieces from a device to the other device, or to the last known piece."""
    path, port = [first], first.a or first.b
    while port is not None:
        others = [piece for piece in pieces_at[port] if piece is not path[-1]]
        if len(others) != 1 or others[0] in path:
            break
        path.append(others[0])
        port = others[0].b if others[0].a == port else others[0].a
    return path


def _joined(path: Sequence[_Piece]) -> HandLink:
    """One link of several cables: the devices at its ends, the total length, and the cables' common facts."""
    first, last = path[0], path[-1]
    a, a_port, near = _device_end(first)
    b, b_port, far = _device_end(last)
    cables = [piece.link.cable for piece in path]
    lengths, runs = ([cable.length_m for cable in cables], [cable.run_m for cable in cables])
    parts, media = ({cable.part for cable in cables}, {cable.medium for cable in cables})
    cable = HandCable(
        "", parts.pop() if len(parts) == 1 else "", media.pop() if len(media) == 1 else "",
        _sum(lengths), _sum(runs), (near, far),
    )  # fmt: skip
    return HandLink(first.link.line, a, a_port, b, b_port, cable)


def _device_end(piece: _Piece) -> tuple[str, str, str]:
    """The device, port and module at the end of a piece that is in no panel."""
    link = piece.link
    if piece.a is None:
        return link.a, link.a_port, link.cable.optics[0]
    return link.b, link.b_port, link.cable.optics[1]


def _sum(metres: Sequence[float | None]) -> float | None:
    known = [length for length in metres if length is not None]
    return round(sum(known), 3) if len(known) == len(metres) else None
