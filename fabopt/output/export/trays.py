"""How full trays and the sides of racks are: cables, cross-sections and weights, segment by segment.

Copper and glass are told apart, as what lies below is pressed by what lies above.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fabopt.errors import refusal
from fabopt.floor.fill import PER_MM2, SIDES, room_of, section_of
from fabopt.floor.racks import height_m
from fabopt.floor.routes import TrayRoutes
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of
from fabopt.output.export.sheets import csv_file
from fabopt.output.export.trunks import cabling_of
from fabopt.schema.catalog import Cable, Fibre, Panel, Trunk
from fabopt.schema.design import Design
from fabopt.schema.floor import Floor
from fabopt.units import grouped
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.legs import legs_of
from fabopt.wiring.model import Wiring
from fabopt.wiring.structured import RackPort

TRAY_COLUMNS = (
    *("segment", "cables", "mm2", "fill", "kg_m", "kind", "limit", "rank"),
    *("copper_cables", "copper_mm2", "copper_kg_m", "fibre_cables", "fibre_mm2", "fibre_kg_m"),
    *("unknown_diameter", "unknown_weight", "bend_radius_mm"),
)
# The fullest segments of trays, and the fullest sides of racks, have a rank.
MOST_RANKED = 10


def files_of(asked: Exported) -> Files:
    """Return ``trays.csv``."""
    return {"trays.csv": csv_file(tray_table(asked.design, asked.wiring))}


class LegEnd(NamedTuple):
    """Where a cable ends: rack (index), device (row; then come panels), its cage or port, height in metres."""

    rack: int
    device: int
    cage: int
    height_m: float


@dataclass(frozen=True)
class Leg:
    """A cable between two connectors, or a whole trunk: its ends, and the product."""

    ends: tuple[LegEnd, LegEnd]
    product: Cable | Fibre | Trunk

    @property
    def racks(self) -> tuple[int, int]:
        """The racks of both ends."""
        return self.ends[0].rack, self.ends[1].rack

    @property
    def is_copper(self) -> bool:
        """Whether it is no glass."""
        return isinstance(self.product, Cable) and self.product.medium != "AOC"


@dataclass
class _Section:
    """What lies at a place: legs, the cables of which the section counts, and cable ends at the side of a rack."""

    name: str
    kind: str
    ends: int = 0
    legs: list[Leg] = field(default_factory=list)

    @property
    def milli_mm2(self) -> int:
        return _section(self.legs)

    def row(self, floor: Floor, rank: int | str) -> tuple[object, ...]:
        """The row of the table. ``rank``: among the fullest."""
        what = "manager" if self.kind == "side" else "tray"
        room, limit = (None, None) if self.kind == "route" else (room_of(floor, what), floor.sections[what][2])
        if room is not None and what == "manager":
            room /= len(SIDES)
        copper = [leg for leg in self.legs if leg.is_copper]
        glass = [leg for leg in self.legs if not leg.is_copper]
        fill = "" if room is None else round(float(Fraction(self.milli_mm2) / room), 4)
        bends = [leg.product.bend_radius_mm for leg in self.legs if leg.product.bend_radius_mm is not None]
        return (
            *(self.name, self.ends or len(self.legs), _mm2(self.legs), fill, _kg_m(self.legs), self.kind),
            *("" if limit is None else limit, rank),
            *(value for of_kind in (copper, glass) for value in (len(of_kind), _mm2(of_kind), _kg_m(of_kind))),
            sum(leg.product.diameter_mm is None for leg in self.legs),
            sum(leg.product.weight_kg_m is None for leg in self.legs),
            max(bends, default=""),
        )


def tray_table(design: Design, wiring: Wiring) -> Frame:
    """One row a segment of a tray, and a side of a rack, with any cable, with ``TRAY_COLUMNS``.

    ``InputError`` without a floor plan.
    """
    embedded = Embedded(design)
    if not embedded.case.site.has_floor:
        raise refusal(
            design.case.name,
            "site.floor",
            "there are no trays: the case has no floor plan",
            hint="`site.floor` in the case says where racks and trays are; solve it again with one",
        )
    legs = list(placed_legs(embedded, wiring))
    rows = [
        section.row(embedded.plan.floor, rank)
        for sections in (list(_in_trays(embedded, legs)), list(_at_sides(embedded, legs)))
        for section, rank in _ranked(sections)
    ]
    return frame_of(TRAY_COLUMNS, rows)


def placed_legs(embedded: Embedded, wiring: Wiring) -> Iterator[Leg]:
    """Legs between two racks, or within one, with their products: jumpers of links through trunks in their racks, then
    the trunks; what has no place is nowhere.
    """
    links, devices, plan = wiring.links, wiring.devices, embedded.plan
    laid = cabling_of(embedded.design, wiring)
    patched, heights = laid.patched(wiring), height_m(devices.unit, devices.height_u).tolist()
    panels = {panel.name: (len(devices) + number, panel) for number, panel in enumerate(laid.panels)}

    def at_panel(port: RackPort) -> LegEnd:
        number, panel = panels[port.panel]
        height = height_m(panel.unit, embedded.part(panel.product, Panel).rack_units)
        return LegEnd(plan.rack_index(panel.rack), number, port.port, float(height))

    for link in legs_of(wiring).tolist():
        a, b = int(links.a[link]), int(links.b[link])
        if devices.rack[a] and devices.rack[b]:
            product = embedded.product(wiring.cables.part[int(links.cable[link])])
            assert isinstance(product, Cable | Fibre)
            near, far = (
                LegEnd(plan.rack_index(devices.rack[row]), row, int(cages[link]), heights[row])
                for row, cages in ((a, links.a_cage), (b, links.b_cage))
            )
            if link in patched:
                yield Leg((near, at_panel(patched[link].near)), product)
                yield Leg((at_panel(patched[link].far), far), product)
            else:
                yield Leg((near, far), product)
    for trunk in laid.trunks:
        first = next((leg.a, leg.b) for leg in trunk.legs if leg.a is not None and leg.b is not None)
        yield Leg((at_panel(first[0]), at_panel(first[1])), embedded.part(trunk.product, Trunk))


def _in_trays(embedded: Embedded, legs: Iterable[Leg]) -> Iterator[_Section]:
    """The segments that any leg passes, in the order of the floor."""
    routes = TrayRoutes(embedded.plan)
    passing = grouped((passed, leg) for leg in legs for passed in routes.of(*leg.racks))
    for index, segment in enumerate(routes.segments):
        if index in passing:
            kind = "cross tray" if segment.is_cross else "tray" if segment.route is None else "route"
            yield _Section(segment.name, kind, legs=passing[index])


def _at_sides(embedded: Embedded, legs: Iterable[Leg]) -> Iterator[_Section]:
    """The sides of racks. Half of a device's cable ends go up each side, by its cages; an odd one where fewer are.

    A cable within a rack is in the manager at its end nearer the servers.
    """
    at_devices: dict[int, dict[int, list[tuple[int, bool, Leg]]]] = defaultdict(lambda: defaultdict(list))
    for leg in legs:
        for place, end in enumerate(leg.ends):
            is_again = place == 1 and leg.racks[0] == leg.racks[1]
            at_devices[end.rack][end.device].append((end.cage, is_again, leg))
    for rack in sorted(at_devices):
        sides = [_Section(f"{embedded.plan.ids[rack]} {side}", "side") for side in SIDES]
        for device in sorted(at_devices[rack]):
            ends = sorted(at_devices[rack][device], key=lambda end: end[0])
            left = len(ends) // 2 + (len(ends) % 2 if sides[0].ends <= sides[1].ends else 0)
            for side, own in zip(sides, (ends[:left], ends[left:]), strict=True):
                side.ends += len(own)
                side.legs += [leg for _, is_again, leg in own if not is_again]
        yield from sides


def _ranked(sections: list[_Section]) -> Iterator[tuple[_Section, int | str]]:
    """Each section with its rank among the fullest, from 1; equal ones in the order of the floor."""
    order = np.argsort([-section.milli_mm2 for section in sections], kind="stable").tolist()
    ranks = {place: rank for rank, place in enumerate(order[:MOST_RANKED], start=1)}
    for place, section in enumerate(sections):
        yield section, ranks.get(place, "")


def _section(legs: Iterable[Leg]) -> int:
    return sum(section_of(leg.product.diameter_mm) for leg in legs)


def _mm2(legs: Iterable[Leg]) -> float:
    return round(_section(legs) / PER_MM2, 1)


def _kg_m(legs: Iterable[Leg]) -> float:
    return round(sum(leg.product.weight_kg_m or 0.0 for leg in legs), 3)
