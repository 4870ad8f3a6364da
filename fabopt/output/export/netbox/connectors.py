"""Connectors of cables by the cage that they are in: the sides of a cable in NetBox.

A *connector* of a cable is in one cage and holds the links that leave through it. From NetBox 4.7 on a connector with
several links is one channelized interface; before, every link is a cable of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fabopt.output.export.netbox.words import BREAKOUTS, SINGLES
from fabopt.schema.catalog import Transceiver
from fabopt.units import grouped
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import NOTHING, Ints, Wiring

STRAIGHT = "single-1c1p"


class CageKey(NamedTuple):
    """A cage: device, fabric that uses it, number from 1."""

    device: int
    fabric: int
    cage: int


class LaneEnd(NamedTuple):
    """An end of a link: lane (from 0) of a cage that is split into ``lanes`` ports."""

    cage: CageKey
    lane: int
    lanes: int


@dataclass(frozen=True)
class Plug:
    """Ends of links that share a connector, by lane. ``capacity``: lanes of the connector, used or not."""

    ends: tuple[LaneEnd, ...]
    capacity: int

    @property
    def place(self) -> tuple[CageKey, int]:
        """The cage, and which of its connectors, from 0."""
        first = self.ends[0]
        return first.cage, first.lane // self.capacity

    @property
    def fills_cage(self) -> bool:
        """True if the cage has no other connector."""
        return self.capacity >= self.ends[0].lanes


@dataclass(frozen=True)
class JoinedCable:
    """A cable with its connectors and links; ``cable`` is ``NOTHING`` for a link without a cable on the bill.

    profile     NetBox's cable profile; empty where none describes it
    channels    channels of each side's interfaces: N for a channelized connector, else 0
    turned      True if side A of the cable (the one that splits) is the end farther from the servers
    jumper      of a shuffle, which of the jumpers that lead to it, as labels have it: ``A2`` to its second connector
                nearer the servers; its own end alone is in ``near`` or ``far``
    """

    cable: int
    links: tuple[int, ...]
    near: tuple[Plug, ...]
    far: tuple[Plug, ...]
    profile: str
    channels: tuple[int, int]
    turned: bool = False
    jumper: str = ""

    @property
    def splits(self) -> bool:
        """True if the cable has several connectors on one side, used or not, or carries several links."""
        return self.profile != STRAIGHT


class LaneEnds:
    """The ends of every link."""

    def __init__(self, wiring: Wiring) -> None:
        links = wiring.links
        fabric = links.fabric.tolist()
        self.near = _ends(links.a, fabric, links.a_cage, links.a_lane, links.a_lanes)
        self.far = _ends(links.b, fabric, links.b_cage, links.b_lane, links.b_lanes)


def _ends(device: Ints, fabric: list[int], cage: Ints, lane: Ints, lanes: Ints) -> list[LaneEnd]:
    cages = map(CageKey, device.tolist(), fabric, cage.tolist())
    return list(map(LaneEnd, cages, lane.tolist(), lanes.tolist()))


def joined_cables(wiring: Wiring, embedded: Embedded, ends: LaneEnds) -> Iterator[JoinedCable]:
    """Yield every cable, those on the bill first; its links are in the order of lanes at the end with a single cage."""
    cables, cable = wiring.cables, wiring.links.cable
    order = np.lexsort((wiring.links.a_lane, wiring.links.a_cage, wiring.links.a, cable))
    start = np.searchsorted(cable[order], np.arange(len(cables) + 1)).tolist()
    rows = order.tolist()
    counts = _ConnectorCounts(embedded)
    for number in range(len(cables)):
        links = rows[start[number] : start[number + 1]]
        if len({ends.far[link].cage for link in links}) == 1:
            links.sort(key=lambda link: ends.far[link].lane)
        if (size := min(int(cables.a_connectors[number]), int(cables.b_connectors[number]))) > 1:
            yield from _jumpers(number, links, ends, size)
        elif links:
            near = _plugs(links, ends.near, counts.of(cables.part[number], cables.a_module[number]))
            far = _plugs(links, ends.far, counts.of(cables.part[number], cables.b_module[number]))
            yield _shaped(number, links, near, far)
    for link in np.flatnonzero(cable == NOTHING).tolist():
        yield _straight(NOTHING, [link], (Plug((ends.near[link],), 1),), (Plug((ends.far[link],), 1),))


def _jumpers(cable: int, links: Sequence[int], ends: LaneEnds, size: int) -> Iterator[JoinedCable]:
    """Yield the jumpers at the connectors of a shuffle in use: nearer the servers they end in a port for each lane."""
    channels = size if size in BREAKOUTS else 0
    profiles = (f"breakout-1c{size}p-{size}c1p", f"single-1c{size}p") if channels else ("", "")
    for side, (own, other) in enumerate(((ends.near, ends.far), (ends.far, ends.near))):
        for leg in sorted({other[link].lane % size for link in links}):
            of_leg = sorted((link for link in links if other[link].lane % size == leg), key=lambda link: own[link].lane)
            plugs = (Plug(tuple(own[link] for link in of_leg), size),)
            near, far, counts = ((), plugs, (0, channels)) if side else (plugs, (), (channels, 0))
            name = f"{'AB'[side]}{leg + 1}"
            yield JoinedCable(cable, tuple(of_leg), near, far, profiles[side], counts, jumper=name)


class _ConnectorCounts:
    """Connectors of a cage's module, by cable and module; 0 where neither is known."""

    def __init__(self, embedded: Embedded) -> None:
        self.embedded = embedded
        self.known: dict[tuple[str, str], int] = {}

    def of(self, part: str, module: str) -> int:
        if (part, module) not in self.known:
            self.known[part, module] = self._count(part, module)
        return self.known[part, module]

    def _count(self, part: str, module: str) -> int:
        if module:
            return self.embedded.part(module, Transceiver).connectors
        return 1 if self.embedded.kind(part) == "cable" else 0


def _plugs(links: Sequence[int], ends: Sequence[LaneEnd], connectors: int) -> tuple[Plug, ...]:
    by_cage = grouped((ends[link].cage, ends[link]) for link in links)
    return tuple(Plug(tuple(many), _capacity(many, connectors)) for many in by_cage.values())


def _capacity(ends: Sequence[LaneEnd], connectors: int) -> int:
    return max(1, ends[0].lanes // connectors) if connectors else len(ends)


def _shaped(cable: int, links: Sequence[int], near: tuple[Plug, ...], far: tuple[Plug, ...]) -> JoinedCable:
    """Find the profile of a cable by the connectors at its ends."""
    most = max(plug.capacity for plug in (*near, *far))
    if most == 1 and len(links) == 1:
        return _straight(cable, links, near, far)
    ordered = tuple(links)
    if len(near) == len(far) == 1 and most in SINGLES and near[0].capacity > 1 and far[0].capacity > 1:
        return JoinedCable(cable, ordered, near, far, f"single-1c{most}p", (most, most))
    for turned, single, others in ((False, near, far), (True, far, near)):
        size = single[0].capacity
        splits = len(single) == 1 and len(others) == len(links) <= size and size in BREAKOUTS
        if splits:
            channels = (0, size) if turned else (size, 0)
            return JoinedCable(cable, ordered, near, far, f"breakout-1c{size}p-{size}c1p", channels, turned)
    return JoinedCable(cable, ordered, near, far, "", (0, 0))


def _straight(cable: int, links: Sequence[int], near: tuple[Plug, ...], far: tuple[Plug, ...]) -> JoinedCable:
    return JoinedCable(cable, tuple(links), near, far, STRAIGHT, (0, 0))
