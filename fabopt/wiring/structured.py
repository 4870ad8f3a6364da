"""Which leg of which trunk every link takes, and the ports of panels at both of its ends.

Links between two racks are dealt to the trunks of their route in turn, by stage, near device and port: those of one
device are spread, on D equal trunks at most ceil(u / D) of its u links on one. Trunks are dealt to the panels of a rack
in turn; the legs of one stay together as far as links of a device are spread over panels too. Later links come after,
so that what is plugged in stays where it is. Legs that carry no link are dark.
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
    """Legs of a trunk, or ports of a panel, and the stage from which on it is there."""

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


def dealt(
    devices: Sequence[int], stages: Sequence[int], trunks: Sequence[TrunkRoom], together: Sequence[int] | None = None
) -> list[tuple[int, int]]:
    """Trunk (index) and leg (from 1) of every link, whose near devices and stages are given in the order of dealing;
    or panel and port.

    In turn, over trunks that are there at the stage; of the u links of a device at most ceil(u x legs of a trunk / legs
    of all) on one, and fewer than u > 1 where the others have room. Rule ``trunks_spread_leaves``; of panels
    rule ``panels_spread_leaves``. What earlier stages have stays. ``together``: a number for each link; those of one
    are where the one before is, if they may. ``ValueError``: a link has no leg.
    """
    dealing, home = _Dealing(devices, stages, trunks), dict[int, int]()
    for link in range(len(devices)):
        if together is not None:
            dealing.turn = home.get(together[link], len(home))
        dealing.deal(link)
        if together is not None:
            home[together[link]] = dealing.trunk_of[link]
    used = [0] * len(trunks)
    places = list[tuple[int, int]]()
    for trunk in dealing.trunk_of:
        used[trunk] += 1
        places.append((trunk, used[trunk]))
    return places


def _most_of(numbers: Mapping[int, int], rooms: Sequence[int]) -> dict[int, list[int]]:
    """Most links of each device in each of some rooms, by the number of its links in all."""
    whole = max(1, sum(rooms))
    most = {device: [-(-number * room // whole) for room in rooms] for device, number in numbers.items()}
    several = [device for device, number in numbers.items() if number > 1]
    for index, room in enumerate(rooms):
        # with one of each device elsewhere, and all that its share leaves there
        if sum(max(1, numbers[device] - most[device][index]) for device in several) <= whole - room:
            for device in several:
                most[device][index] = min(most[device][index], numbers[device] - 1)
    return most


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
            self.most = _most_of(Counter(self.devices[: bisect_right(self.stages, self.stage)]), there)
        self.trunk_of.append(-1)
        if not self._finds(link, set()) and not self._takes_any(link):
            raise ValueError(f"no trunk or panel has room for link {link + 1}")
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


# A trunk (index) and one of its legs, from 1; and the link (row) of those in use, None of spare ones.
Leg = tuple[int, int]
Carried = Mapping[Leg, int | None]
_Pulled = tuple[TrunkRoute, TrunkRow]


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

    def trunks(self, wiring: Wiring, before: int) -> Iterator[PulledTrunk]:
        """All trunks, numbered after those before. Legs that are needed are plugged in first, by the stage of their
        link, then others as far as ports of both racks go.
        """
        pulled: list[_Pulled] = []
        carried: dict[Leg, int | None] = {}
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
        ports = self._ports(wiring, pulled, carried)
        for number, (route, row) in enumerate(pulled):
            legs = list[TrunkLeg]()
            for leg in range(1, self.embedded.part(row.id, Trunk).legs + 1):
                near, far = ports.get((number, leg), (None, None))
                legs.append(TrunkLeg(leg, near, far, carried.get((number, leg))))
            name, racks = f"T{before + number + 1:04d}", (route.a, route.b)
            about = row.id, row.length_m, self._stage(row), self.fabric, self.kind.kind, self.kind.jumper
            yield PulledTrunk(name, *about, racks, tuple(legs))

    def _ports(
        self, wiring: Wiring, pulled: Sequence[_Pulled], carried: Carried
    ) -> dict[Leg, tuple[RackPort, RackPort]]:
        """Ports of panels at both ends of every leg that has them."""
        links, racks_of = wiring.links, defaultdict[int, set[str]](set)
        needed: dict[str, list[Leg]] = defaultdict(list)
        lit = {leg: len(self.stage_of) if link is None else int(links.stage[link]) for leg, link in carried.items()}
        for leg in sorted(carried, key=lambda leg: (lit[leg], leg)):
            route, link = pulled[leg[0]][0], carried[leg]
            needed[route.a].append(leg)
            needed[route.b].append(leg)
            if link is not None:
                racks_of[int(links.a[link])].add(wiring.devices.rack[links.b[link]])
        ports, free = dict[tuple[str, Leg], RackPort](), dict[str, list[RackPort]]()
        for rack, legs in needed.items():
            devices = list[int]()
            for number, leg in enumerate(legs):
                link = carried[leg]
                near = -1 if link is None else int(links.a[link])
                # links of a device that end in several racks are spread over the panels of these as they are
                is_spread = link is not None and (wiring.devices.rack[near] == rack or len(racks_of[near]) == 1)
                devices.append(near if is_spread else -1 - number)
            panels = sorted((panel for panel in self.panels if panel.rack == rack), key=lambda panel: panel.stage)
            rooms = [TrunkRoom(panel.ports, panel.stage) for panel in panels]
            taken = dealt(devices, [lit[leg] for leg in legs], rooms, [trunk for trunk, _ in legs])
            for leg, (panel, port) in zip(legs, taken, strict=True):
                ports[rack, leg] = RackPort(panels[panel].name, port)
            used = Counter(panel for panel, _ in taken)
            free[rack] = [RackPort(panel.name, port) for number, panel in enumerate(panels)
                          for port in range(used[number] + 1, panel.ports + 1)][::-1]  # fmt: skip
        for number, (route, row) in enumerate(pulled):
            for leg in ((number, leg) for leg in range(1, self.embedded.part(row.id, Trunk).legs + 1)):
                if leg not in carried and free[route.a] and free[route.b]:
                    ports[route.a, leg], ports[route.b, leg] = free[route.a].pop(), free[route.b].pop()
        routes = {leg: pulled[leg[0]][0] for _, leg in ports}
        return {leg: (ports[route.a, leg], ports[route.b, leg]) for leg, route in routes.items()}

    def _stage(self, row: TrunkRow | PanelPlace) -> int:
        return self.stage_of.get(row.stage or "", 0)
