"""Which leg of which trunk every link takes, and the ports of panels at both of its ends.

Links between two zones, racks or rows with panels at their ends, are dealt to the trunks of their route in turn, by
stage, near device and port: those of one device are spread, on D equal trunks at most ceil(u / D) of its u links on
one. Trunks are dealt to the panels of a rack in turn; the legs of one stay together as far as links of a device are
spread over panels too. Later links come after, so that what is plugged in stays where it is. Legs that carry no link
are dark. A leg between cassettes carries several links: legs are dealt to trunks in turn, as few as links fill, then
links to these, and legs to panels by the first one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from fabopt.parts.polarity import far_ports
from fabopt.schema.design import Design
from fabopt.schema.passive import Panel, Trunk
from fabopt.schema.structured import PanelPlace, StructuredKind, TrunkRoute, TrunkRow
from fabopt.wiring.dealing import TrunkRoom, dealt, dealt_together
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS, Wiring

FAR, BEHIND = "F", "R"


class RackPort(NamedTuple):
    """A port of a panel, from 1; ``behind``: one of those of legs behind cassettes, which are fewer than in front."""

    panel: str
    port: int
    behind: bool = False

    @property
    def name(self) -> str:
        """The number of the port, after an R where ports in front have other numbers."""
        return f"{BEHIND}{self.port}" if self.behind else str(self.port)


@dataclass(frozen=True)
class RackPanel:
    """A panel in a rack: its name, place and product, the links that it is for, and its stage, from 0.

    ``legs``: those that it has room for behind, each of as many of its ports in front.
    """

    name: str
    rack: str
    unit: int
    product: str
    ports: int
    legs: int
    fabric: str
    kind: str
    stage: int = 0

    @property
    def has_cassettes(self) -> bool:
        """Whether a leg behind it has several ports in front."""
        return self.legs < self.ports


@dataclass(frozen=True)
class TrunkLeg:
    """A leg of a trunk, from 1, with the ports behind panels at both racks of the route (None: not plugged in), and the
    links (rows of the wiring) that it carries, one for each port in front; None: dark.
    """

    number: int
    a: RackPort | None
    b: RackPort | None
    links: tuple[int | None, ...]

    @property
    def lit(self) -> tuple[tuple[int, int], ...]:
        """The links of the leg, each behind its place among them, from 0."""
        return tuple((place, link) for place, link in enumerate(self.links) if link is not None)


@dataclass(frozen=True)
class PulledTrunk:
    """A trunk between two racks, pulled at a stage (from 0), with all its legs.

    ``of``: its links; ``cassette``: id of those that it ends in, None: feed-through; ``far_ports``: of each port of one
    at the first rack that which its light goes to in one at the second.
    """

    name: str
    product: str
    length_m: float
    stage: int
    fabric: str
    of: StructuredKind
    racks: tuple[str, str]
    legs: tuple[TrunkLeg, ...]
    cassette: str | None = None
    far_ports: tuple[int, ...] = (1,)

    @property
    def kind(self) -> str:
        """The kind of links that it carries."""
        return self.of.kind

    def fronts(self, leg: TrunkLeg, place: int) -> tuple[RackPort | None, RackPort | None]:
        """The ports in front at both racks of a place of a leg."""
        a, b = (
            port and RackPort(port.panel, (port.port - 1) * len(leg.links) + number)
            for port, number in ((leg.a, place + 1), (leg.b, self.far_ports[place]))
        )
        return a, b

    @property
    def places(self) -> Iterator[tuple[TrunkLeg, int]]:
        """The legs of the trunk with each of their places for links, from 0."""
        return ((leg, place) for leg in self.legs for place in range(len(leg.links)))


class PatchedLink(NamedTuple):
    """The trunk and the leg of a link, and the ports in front of panels at its end nearer the servers and at the other;
    ``place``: of the link in its leg, from 0.
    """

    trunk: PulledTrunk
    leg: TrunkLeg
    near: RackPort
    far: RackPort
    place: int


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
                for place, link in leg.lit:
                    a, b = trunk.fronts(leg, place)
                    if a is not None and b is not None:
                        is_turned = trunk.of.zone(rack[links.a[link]]) != trunk.racks[0]
                        by_link[link] = PatchedLink(trunk, leg, *((b, a) if is_turned else (a, b)), place)
        return by_link


def far_cord(cable: str) -> str:
    """The label of the jumper at the far end of a link whose other one has this label."""
    return f"{cable}{FAR}"


def near_cord(cable: str) -> str:
    """The label of the jumper at the near end of the link of one at the far end; any other label as it is."""
    return cable.removesuffix(FAR)


def panel_name(place: PanelPlace) -> str:
    """The name of a panel, by its rack and lowest unit."""
    return f"panel-{place.rack}-u{place.unit}"


def structured_of(design: Design, wiring: Wiring) -> StructuredCabling:
    """The trunks of a design with what every leg carries; both empty where all is cabled directly."""
    panels, trunks = list[RackPanel](), list[PulledTrunk]()
    for index, fabric in enumerate(design.fabrics):
        for kind in fabric.structured:
            laid = _PulledKind(Embedded(design), kind, fabric.name, _links(wiring, index, kind))
            panels += laid.panels
            trunks += laid.trunks(wiring, len(trunks))
    return StructuredCabling(tuple(panels), tuple(trunks))


def _links(wiring: Wiring, fabric: int, kind: StructuredKind) -> Mapping[frozenset[str], list[int]]:
    """Links of a kind by the racks of the panels of their ends, in the order of dealing."""
    links, rack = wiring.links, list(map(kind.zone, wiring.devices.rack))
    rows = np.flatnonzero((links.fabric == fabric) & (links.kind == KINDS.index(kind.kind)))
    order = np.lexsort((links.a_lane[rows], links.a_cage[rows], links.a[rows], links.stage[rows]))
    by_racks: dict[frozenset[str], list[int]] = defaultdict(list)
    for row in rows[order].tolist():
        by_racks[frozenset((rack[links.a[row]], rack[links.b[row]]))].append(row)
    return by_racks


class _LegInUse(NamedTuple):
    """A leg that is plugged in for links, from a stage on, with them (rows) by their place; spare: after all stages."""

    stage: int
    links: tuple[int | None, ...]

    @property
    def first(self) -> int | None:
        """The link by which it is spread over panels; None of a spare one."""
        return next((link for link in self.links if link is not None), None)


# A trunk (index) and one of its legs, from 1; and those in use, spare ones too.
Leg = tuple[int, int]
Carried = Mapping[Leg, _LegInUse]
_Pulled = tuple[TrunkRoute, TrunkRow]


class _PulledKind:
    """One kind of links of a fabric, as its trunks are pulled and plugged in."""

    def __init__(
        self, embedded: Embedded, kind: StructuredKind, fabric: str, links: Mapping[frozenset[str], list[int]]
    ) -> None:
        self.embedded, self.kind, self.fabric, self.links = embedded, kind, fabric, links
        self.stage_of = {stage.name: number for number, stage in enumerate(embedded.design.stages)}
        self.product = embedded.part(kind.panels[0].id, Panel) if kind.panels else None
        self.per_leg = 1 if self.product is None else self.product.links_per_leg
        self.panels = [self._panel(place, embedded.part(place.id, Panel)) for place in kind.panels]

    def _panel(self, place: PanelPlace, part: Panel) -> RackPanel:
        own, sizes = (place.rack, place.unit, place.id), (part.ports, part.legs)
        return RackPanel(panel_name(place), *own, *sizes, self.fabric, self.kind.kind, self._stage(place))

    def trunks(self, wiring: Wiring, before: int) -> Iterator[PulledTrunk]:
        """All trunks, numbered after those before. Legs that are needed are plugged in first, by the stage of their
        link, then others as far as ports of both racks go.
        """
        pulled: list[_Pulled] = []
        carried: dict[Leg, _LegInUse] = {}
        for route in self.kind.routes:
            rows = [row for row in route.trunks for _ in range(row.count)]
            links = self.links.get(frozenset((route.a, route.b)), [])
            rooms = [TrunkRoom(self.embedded.part(row.id, Trunk).legs, self._stage(row)) for row in rows]
            in_use = self._alone(wiring, route, links, rooms) if self.per_leg == 1 else (
                self._together(wiring, route, links, rooms)
            )  # fmt: skip
            carried.update({(len(pulled) + trunk, leg): used for (trunk, leg), used in in_use.items()})
            pulled += [(route, row) for row in rows]
        ports = self._ports(wiring, pulled, carried)
        for number, (route, row) in enumerate(pulled):
            legs, part = list[TrunkLeg](), self.embedded.part(row.id, Trunk)
            for leg in range(1, part.legs + 1):
                near, far = ports.get((number, leg), (None, None))
                used = carried.get((number, leg))
                legs.append(TrunkLeg(leg, near, far, (None,) * self.per_leg if used is None else used.links))
            name, racks = f"T{before + number + 1:04d}", (route.a, route.b)
            about = row.id, row.length_m, self._stage(row), self.fabric, self.kind
            yield PulledTrunk(name, *about, racks, tuple(legs), *self._cassette(part))

    def _cassette(self, part: Trunk) -> tuple[str | None, tuple[int, ...]]:
        """Id of cassettes, and where each port of one leads to over a leg; as it is where light does not cross."""
        if self.product is None or self.product.back is None:
            return None, (1,)
        return self.product.id, far_ports(self.product.back, part.polarity) or tuple(range(1, self.per_leg + 1))

    def _alone(
        self, wiring: Wiring, route: TrunkRoute, links: Sequence[int], rooms: Sequence[TrunkRoom]
    ) -> dict[Leg, _LegInUse]:
        """Legs of a route that carry a link each, and spare ones."""
        spare = range(route.legs - len(links))
        stages = [int(wiring.links.stage[link]) for link in links] + [len(self.stage_of) for _ in spare]
        devices = [int(wiring.links.a[link]) for link in links] + [-1 - number for number in spare]
        places = zip_longest(dealt(devices, stages, rooms), stages, links)
        return {leg: _LegInUse(stage, (link,)) for leg, stage, link in places}

    def _together(
        self, wiring: Wiring, route: TrunkRoute, links: Sequence[int], rooms: Sequence[TrunkRoom]
    ) -> dict[Leg, _LegInUse]:
        """Legs of a route that carry several links each: as few as these fill by each stage, and spare ones."""
        stages = [int(wiring.links.stage[link]) for link in links]
        devices = [int(wiring.links.a[link]) for link in links]
        in_use = dict[Leg, _LegInUse]()
        for leg, own in dealt_together(devices, stages, rooms, self.per_leg, route.legs).items():
            since = min((stages[at] for at in own if at is not None), default=len(self.stage_of))
            in_use[leg] = _LegInUse(since, tuple(None if at is None else links[at] for at in own))
        return in_use

    def _ports(
        self, wiring: Wiring, pulled: Sequence[_Pulled], carried: Carried
    ) -> dict[Leg, tuple[RackPort, RackPort]]:
        """Ports behind panels at both ends of every leg that has them."""
        links, racks_of = wiring.links, defaultdict[int, set[str]](set)
        rack_of = list(map(self.kind.zone, wiring.devices.rack))
        needed: dict[str, list[Leg]] = defaultdict(list)
        for leg in sorted(carried, key=lambda leg: (carried[leg].stage, leg)):
            route = pulled[leg[0]][0]
            needed[route.a].append(leg)
            needed[route.b].append(leg)
            for link in carried[leg].links:
                if link is not None:
                    racks_of[int(links.a[link])].add(rack_of[links.b[link]])
        ports, free = dict[tuple[str, Leg], RackPort](), dict[str, list[RackPort]]()
        for rack, legs in needed.items():
            devices = list[int]()
            for number, leg in enumerate(legs):
                link = carried[leg].first
                near = -1 if link is None else int(links.a[link])
                # links of a device that end in several racks are spread over the panels of these as they are
                is_spread = link is not None and (rack_of[near] == rack or len(racks_of[near]) == 1)
                devices.append(near if is_spread else -1 - number)
            panels = sorted((panel for panel in self.panels if panel.rack == rack), key=lambda panel: panel.stage)
            rooms = [TrunkRoom(panel.legs, panel.stage) for panel in panels]
            taken = dealt(devices, [carried[leg].stage for leg in legs], rooms, [trunk for trunk, _ in legs])
            for leg, (panel, port) in zip(legs, taken, strict=True):
                ports[rack, leg] = RackPort(panels[panel].name, port, panels[panel].has_cassettes)
            used = Counter(panel for panel, _ in taken)
            free[rack] = [RackPort(panel.name, port, panel.has_cassettes) for number, panel in enumerate(panels)
                          for port in range(used[number] + 1, panel.legs + 1)][::-1]  # fmt: skip
        for number, (route, row) in enumerate(pulled):
            for leg in ((number, leg) for leg in range(1, self.embedded.part(row.id, Trunk).legs + 1)):
                if leg not in carried and free[route.a] and free[route.b]:
                    ports[route.a, leg], ports[route.b, leg] = free[route.a].pop(), free[route.b].pop()
        routes = {leg: pulled[leg[0]][0] for _, leg in ports}
        return {leg: (ports[route.a, leg], ports[route.b, leg]) for leg, route in routes.items()}

    def _stage(self, row: TrunkRow | PanelPlace) -> int:
        return self.stage_of.get(row.stage or "", 0)
