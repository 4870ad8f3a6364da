"""How full trays and the sides of racks are: cables, cross-sections and weights, segment by segment.

Copper and glass are told apart, as what lies below is pressed by what lies above.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from fabopt.errors import InputError, fault
from fabopt.floor.fill import PER_MM2, SIDES, room_of, section_of
from fabopt.floor.routes import TrayRoutes
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.sheets import csv_file
from fabopt.schema.catalog import Cable, Fibre
from fabopt.schema.design import Design
from fabopt.schema.floor import Floor
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.legs import legs_of
from fabopt.wiring.model import Wiring

if TYPE_CHECKING:
    import pandas as pd

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


@dataclass(frozen=True)
class Leg:
    """A cable between two connectors: racks of its ends (indices), their devices and cages, and the product."""

    racks: tuple[int, int]
    ends: tuple[tuple[int, int], tuple[int, int]]
    product: Cable | Fibre

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


def tray_table(design: Design, wiring: Wiring) -> pd.DataFrame:
    """One row a segment of a tray, and a side of a rack, with any cable, with ``TRAY_COLUMNS``.

    ``InputError`` without a floor plan.
    """
    import pandas as pd

    embedded = Embedded(design)
    if not embedded.case.site.has_floor:
        problem = "there are no trays: the case has no floor plan"
        hint = "`site.floor` in the case says where racks and trays are; solve it again with one"
        raise InputError([fault(design.case.name, "site.floor", problem, hint=hint)])
    legs = list(placed_legs(embedded, wiring))
    rows = [
        section.row(embedded.plan.floor, rank)
        for sections in (list(_in_trays(embedded, legs)), list(_at_sides(embedded, legs)))
        for section, rank in _ranked(sections)
    ]
    return pd.DataFrame(rows, columns=list(TRAY_COLUMNS))


def placed_legs(embedded: Embedded, wiring: Wiring) -> Iterator[Leg]:
    """Legs between two racks, or within one, with their products; what has no place is nowhere. ``racks`` and ``ends``
    of a leg are in the same order.
    """
    links, racks = wiring.links, wiring.devices.rack
    for link in legs_of(wiring).tolist():
        a, b = int(links.a[link]), int(links.b[link])
        if racks[a] and racks[b]:
            product = embedded.product(wiring.cables.part[int(links.cable[link])])
            assert isinstance(product, Cable | Fibre)
            places = embedded.plan.rack_index(racks[a]), embedded.plan.rack_index(racks[b])
            yield Leg(places, ((a, int(links.a_cage[link])), (b, int(links.b_cage[link]))), product)


def _in_trays(embedded: Embedded, legs: Iterable[Leg]) -> Iterator[_Section]:
    """The segments that any leg passes, in the order of the floor."""
    routes = TrayRoutes(embedded.plan)
    passing: dict[int, list[Leg]] = defaultdict(list)
    for leg in legs:
        for passed in routes.of(*leg.racks):
            passing[passed].append(leg)
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
        for place, (device, cage) in enumerate(leg.ends):
            is_again = place == 1 and leg.racks[0] == leg.racks[1]
            at_devices[leg.racks[place]][device].append((cage, is_again, leg))
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
