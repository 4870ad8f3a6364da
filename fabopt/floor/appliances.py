"""Boxes of attachments that stand in racks: storage and management nodes.

Their racks are decided before anything else stands on the floor, and are theirs alone. See docs/formulation.md, "Boxes
of attachments".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from math import ceil
from typing import NamedTuple

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.schema.case import Attachment, Case, Floor
from fabopt.units import milliwatts

# The name of a fabric, and of an attachment of it.
NodeKey = tuple[str, str]
Place = tuple[str, int]


class Node(NamedTuple):
    """An attachment of a fabric whose boxes stand in racks."""

    fabric: str
    attachment: Attachment

    @property
    def key(self) -> NodeKey:
        """Its name, unique in a case."""
        return self.fabric, self.attachment.name

    @property
    def units(self) -> int:
        """Whole units that a box blocks."""
        return max(1, ceil(self.attachment.rack_units or 0))

    @property
    def power_mw(self) -> int:
        """What a box draws; 0 where nobody asks."""
        return milliwatts(self.attachment.power_w or 0)


def nodes_of(case: Case) -> Iterator[Node]:
    """Attachments with a height, fabric by fabric; those of a shared fabric are the compute fabric's last ones."""
    shared = [one for fabric in case.fabrics if fabric.separation == "shared" for one in fabric.attachments]
    for fabric in case.fabrics:
        if fabric.separation != "shared":
            for one in (*fabric.attachments, *(shared if fabric.role == "compute" else ())):
                if one.rack_units is not None:
                    yield Node(fabric.name, one)


class Lodging:
    """Racks and units of the boxes of attachments on the floor of a case; empty without a floor.

    places      of every box of an attachment that has found one: (rack, lowest unit), rack by rack from the bottom up
    missing     boxes that have found none, by attachment
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.places: dict[NodeKey, tuple[Place, ...]] = {}
        self.missing: dict[NodeKey, int] = {}
        if case.site.floor is not None:
            rooms = _Rooms(case.site.floor)
            for node in self.nodes:
                found = tuple(rooms.put(node, node.attachment.racks or self.free))
                self.places[node.key] = found
                if len(found) < node.attachment.boxes:
                    self.missing[node.key] = node.attachment.boxes - len(found)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All attachments whose boxes stand in racks."""
        return tuple(nodes_of(self.case))

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Racks that attachments name as theirs."""
        return tuple(dict.fromkeys(rack for node in self.nodes for rack in node.attachment.racks or ()))

    @cached_property
    def free(self) -> tuple[str, ...]:
        """Racks for those that name none, from the end of the floor: nobody has named them, and trays reach them."""
        floor = self.case.site.floor
        assert floor is not None
        asked = floor.network_racks if isinstance(floor.network_racks, tuple) else ()
        plan = FloorPlan(floor, {*self.listed, *asked})
        lost = set(plan.cut_off())
        usable = [plan.ids[rack] for rack in np.flatnonzero(plan.usable)[::-1].tolist()]
        return tuple(rack for rack in usable if rack not in lost)

    @property
    def taken(self) -> tuple[str, ...]:
        """Racks that are for attachments alone: those that are named, and those in which a box stands."""
        return tuple(sorted({*self.listed, *racks_in_use(self.places.values())}))


class _Rooms:
    """What is left of racks while boxes are put in, from the bottom up."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._used: dict[str, tuple[int, int]] = {}

    def put(self, node: Node, racks: tuple[str, ...]) -> Iterator[Place]:
        """Places of the boxes of an attachment, each in the first rack with room; fewer where the racks end."""
        left = node.attachment.boxes
        for rack in racks:
            units, power_mw = self._used.get(rack, (0, 0))
            number = min(left, self._fit(node, units, power_mw))
            yield from ((rack, units + 1 + index * node.units) for index in range(number))
            self._used[rack] = units + number * node.units, power_mw + number * node.power_mw
            left -= number
            if not left:
                return

    def _fit(self, node: Node, units: int, power_mw: int) -> int:
        most = (self._floor.rack_units - units) // node.units
        if self._floor.rack_power_w is not None and node.power_mw:
            most = min(most, (milliwatts(self._floor.rack_power_w) - power_mw) // node.power_mw)
        return most


def racks_in_use(places: Iterable[tuple[Place, ...]]) -> set[str]:
    """Racks in which boxes of attachments stand."""
    return {rack for found in places for rack, _ in found}
