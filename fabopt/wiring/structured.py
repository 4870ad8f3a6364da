"""Which leg of which trunk every link takes, and the ports of panels at both of its ends.

Links between two racks are dealt to the trunks of their route in turn, by stage, near device and port: those of one
device are spread, on D equal trunks at most ceil(u / D) of its u links on one. Later links come after, so that what is
plugged in stays where it is. Legs that carry no link are dark.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from fabopt.schema.design import Design
from fabopt.schema.passive import Panel, Trunk
from fabopt.schema.structured import PanelPlace, StructuredKind, TrunkRoute, TrunkRow
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS, Wiring

FAR = "F"


class TrunkRoom(NamedTuple):
    """Legs of a trunk, and the stage from which on it is there."""

    legs: int
    stage: int = 0


class RackPort(NamedTuple):
    """A port of a panel, from 1."""

    panel: str
    port: int


@dataclass(frozen=True)
class RackPanel:
    """A panel in a rack: its name, place and product, the links that it is for, and its stage, from 0."""

    name: str
    rack: str
    unit: int
    product: str
    ports: int
    fabric: str
    kind: str
    stage: int = 0


@dataclass(frozen=True)
class TrunkLeg:
    """A leg of a trunk, from 1, with its ports at both racks of the route (None: not plugged in), and the link (row of
    the wiring) that it carries; None: dark.
    """

    number: int
    a: RackPort | None
    b: RackPort | None
    link: int | None = None


@dataclass(frozen=True)
class PulledTrunk:
    """A trunk between two racks, pulled at a stage (from 0), with all its legs."""

    name: str
    product: str
    length_m: float
    stage: int
    fabric: str
    kind: str
    jumper: str
    racks: tuple[str, str]
    legs: tuple[TrunkLeg, ...]


class PatchedLink(NamedTuple):
    """The trunk and the leg of a link, and the ports of panels at its end nearer the servers and at the other."""

    trunk: PulledTrunk
    leg: TrunkLeg
    near: RackPort
    far: RackPort


@dataclass(frozen=True)
class StructuredCabling:
    """The panels and trunks of a design, in the order of the file."""

    panels: tuple[RackPanel, ...]
    trunks: tuple[PulledTrunk, ...]

    def patched(self, wiring: Wiring) -> dict[int, PatchedLink]:
        """Where every link through a trunk is patched, by its row of the wiring, trunk by trunk."""
        links, rack = wiring.links, wiring.devices.rack
        by_link = dict[int, PatchedLink]()
        for trunk in self.trunks:
            for leg in trunk.legs:
                if leg.link is not None and leg.a is not None and leg.b is not None:
                    is_turned = rack[links.a[leg.link]] != trunk.racks[0]
                    ports = (leg.b, leg.a) if is_turned else (leg.a, leg.b)
                    by_link[leg.link] = PatchedLink(trunk, leg, *ports)
        return by_link


def far_cord(cable: str) -> str:
    """The label of the jumper at the far end of a link whose other one has this label."""
    return f"{cable}{FAR}"


def near_cord(cable: str) -> str:
    """The label of the jumper at the near end of the link of one at the far end; any other label as it is."""
    return cable.removesuffix(FAR)


def dealt(devices: Sequence[int], stages: Sequence[int], trunks: Sequence[TrunkRoom]) -> list[tuple[int, int]]:
    """Trunk (index) and leg (from 1) of every link, whose near devices and stages are given in the order of dealing.

    In turn, over trunks that are there at the stage; of the u links of a device at most ceil(u x legs of a trunk / legs
    of all) on one, rule ``trunks_spread_leaves``. What earlier stages have stays. ``ValueError``: a link has no leg.
    """
    dealing = _Dealing(devices, stages, trunks)
    for link in range(len(devices)):
        dealing.deal(link)
    used = [0] * len(trunks)
    places = list[tuple[int, int]]()
    for trunk in dealing.trunk_of:
        used[trunk] += 1
        places.append((trunk, used[trunk]))
    return places


class _Dealing:
    """Links dealt to the trunks of a route. A link that finds no trunk with room for its device moves others of its
    stage to other trunks, which succeeds wherever a dealing exists (augmenting paths).
    """

    def __init__(self, devices: Sequence[int], stages: Sequence[int], trunks: Sequence[TrunkRoom]) -> None:
        self.devices, self.stages, self.trunks, self.turn = devices, stages, trunks, 0
        self.trunk_of = list[int]()
        # links of each trunk in order, and of each device on it
        self.links: list[list[int]] = [[] for _ in trunks]
        self.on: Counter[tuple[int, int]] = Counter()
        self.most: dict[int, list[int]] = {}
        self.stage = -1

    def deal(self, link: int) -> None:
        """Give the next link its trunk."""
        if self.stages[link] != self.stage:
            self.stage = self.stages[link]
            there = [trunk.legs if trunk.stage <= self.stage else 0 for trunk in self.trunks]
            until = bisect_right(self.stages, self.stage)
            numbers = Counter(self.devices[:until])
            self.most = {
                device: [-(-number * legs // max(1, sum(there))) for legs in there]
                for device, number in numbers.items()
            }
        self.trunk_of.append(-1)
        if not self._finds(link, set()) and not self._takes_any(link):
            raise ValueError(f"no trunk has a leg for link {link + 1}")
        self.turn = self.trunk_of[link] + 1

    def _finds(self, link: int, seen: set[int]) -> bool:
        """Whether a trunk takes a link, when others move where they may; ``seen``: trunks that were asked."""
        device = self.devices[link]
        order = [(self.turn + step) % len(self.trunks) for step in range(len(self.trunks))]
        open_to = [one for one in order if one not in seen and self.on[device, one] < self.most[device][one]]
        for trunk in open_to:
            if len(self.links[trunk]) < self.trunks[trunk].legs:
                self._put(link, trunk)
                return True
        for trunk in open_to:
            if trunk in seen:
                continue
            seen.add(trunk)
            for other in list(self.links[trunk]):
                if self.stages[other] == self.stage and self.devices[other] != device:
                    self._take(other, trunk)
                    if self._finds(other, seen):
                        self._put(link, trunk)
                        return True
                    self._put(other, trunk)
        return False

    def _takes_any(self, link: int) -> bool:
        """Whether a trunk takes a link that is one too many of its device, as legs of earlier stages are taken."""
        for step in range(len(self.trunks)):
            trunk = (self.turn + step) % len(self.trunks)
            if self.trunks[trunk].stage <= self.stage and len(self.links[trunk]) < self.trunks[trunk].legs:
                self._put(link, trunk)
                return True
        return False

    def _put(self, link: int, trunk: int) -> None:
        self.links[trunk].append(link)
        self.on[self.devices[link], trunk] += 1
        self.trunk_of[link] = trunk

    def _take(self, link: int, trunk: int) -> None:
        self.links[trunk].remove(link)
        self.on[self.devices[link], trunk] -= 1


def panel_name(place: PanelPlace) -> str:
    """The name of a panel, by its rack and lowest unit."""
    return f"panel-{place.rack}-u{place.unit}"


def structured_of(design: Design, wiring: Wiring) -> StructuredCabling:
    """The trunks of a design with what every leg carries; both empty where all is cabled directly."""
    panels, trunks = list[RackPanel](), list[PulledTrunk]()
    for index, fabric in enumerate(design.fabrics):
        for kind in fabric.structured:
            laid = _PulledKind(Embedded(design), kind, fabric.name, _links(wiring, index, kind.kind))
            panels += laid.panels
            trunks += laid.trunks(wiring, len(trunks))
    return StructuredCabling(tuple(panels), tuple(trunks))


def _links(wiring: Wiring, fabric: int, kind: str) -> Mapping[frozenset[str], list[int]]:
    """Links of a kind by the racks of their ends, in the order of dealing."""
    links, rack = wiring.links, wiring.devices.rack
    rows = np.flatnonzero((links.fabric == fabric) & (links.kind == KINDS.index(kind)))
    order = np.lexsort((links.a_lane[rows], links.a_cage[rows], links.a[rows], links.stage[rows]))
    by_racks: dict[frozenset[str], list[int]] = defaultdict(list)
    for row in rows[order].tolist():
        by_racks[frozenset((rack[links.a[row]], rack[links.b[row]]))].append(row)
    return by_racks


class _PulledKind:
    """One kind of links of a fabric, as its trunks are pulled and plugged in."""

    def __init__(
        self, embedded: Embedded, kind: StructuredKind, fabric: str, links: Mapping[frozenset[str], list[int]]
    ) -> None:
        self.embedded, self.kind, self.fabric, self.links = embedded, kind, fabric, links
        self.stage_of = {stage.name: number for number, stage in enumerate(embedded.design.stages)}
        self.panels = [
            RackPanel(panel_name(place), place.rack, place.unit, place.id,
                      embedded.part(place.id, Panel).ports, fabric, kind.kind, self._stage(place))
            for place in kind.panels
        ]  # fmt: skip
        self.free: dict[str, list[RackPort]] = defaultdict(list)
        for panel in sorted(self.panels, key=lambda panel: panel.stage)[::-1]:
            self.free[panel.rack] += [RackPort(panel.name, port) for port in range(panel.ports, 0, -1)]

    def trunks(self, wiring: Wiring, before: int) -> Iterator[PulledTrunk]:
        """All trunks, numbered after those before. Legs that are needed are plugged in first, by the stage of their
        link, then others as far as ports of both racks go.
        """
        pulled: list[tuple[TrunkRoute, TrunkRow]] = []
        carried: dict[tuple[int, int], int | None] = {}
        for route in self.kind.routes:
            rows = [row for row in route.trunks for _ in range(row.count)]
            links = self.links.get(frozenset((route.a, route.b)), [])
            rooms = [TrunkRoom(self.embedded.part(row.id, Trunk).legs, self._stage(row)) for row in rows]
            spare = range(route.legs - len(links))
            stages = [int(wiring.links.stage[link]) for link in links] + [len(self.stage_of) for _ in spare]
            devices = [int(wiring.links.a[link]) for link in links] + [-1 - number for number in spare]
            places = dealt(devices, stages, rooms)
            for (trunk, leg), link in zip_longest(places, links):
                carried[len(pulled) + trunk, leg] = link
            pulled += [(route, row) for row in rows]
        every = [(number, leg) for number, (_, row) in enumerate(pulled)
                 for leg in range(1, self.embedded.part(row.id, Trunk).legs + 1)]  # fmt: skip
        ports: dict[tuple[int, int], tuple[RackPort, RackPort]] = {}
        later, stage = len(self.stage_of), wiring.links.stage.tolist()
        lit = {place: later if link is None else stage[link] for place, link in carried.items()}
        for place in sorted(every, key=lambda place: lit.get(place, later + 1)):
            route = pulled[place[0]][0]
            if self.free[route.a] and self.free[route.b]:
                ports[place] = self.free[route.a].pop(), self.free[route.b].pop()
        for number, (route, row) in enumerate(pulled):
            legs = list[TrunkLeg]()
            for leg in range(1, self.embedded.part(row.id, Trunk).legs + 1):
                near, far = ports.get((number, leg), (None, None))
                legs.append(TrunkLeg(leg, near, far, carried.get((number, leg))))
            name, racks = f"T{before + number + 1:04d}", (route.a, route.b)
            about = row.id, row.length_m, self._stage(row), self.fabric, self.kind.kind, self.kind.jumper
            yield PulledTrunk(name, *about, racks, tuple(legs))

    def _stage(self, row: TrunkRow | PanelPlace) -> int:
        return self.stage_of.get(row.stage or "", 0)
