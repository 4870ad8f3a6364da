"""Appliances: the devices of attachments that are installed in racks, such as storage and management nodes.

Their racks are chosen before any other device is placed on the floor, and hold no other devices. Those that stand with
switches, such as hosts of managers, are placed after these. See docs/formulation/floor.md.

Devices that stand with switches, such as hosts of managers: their racks and units once all switches have theirs.

Arrays have shape (racks,): indices of racks of the plan. See docs/formulation/floor.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import ceil
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from fabopt.floor.free_space import FreeSpace
from fabopt.floor.loads import NO_LOAD, RackLoad, added, load_of, most_in_rack, times_in
from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import FEWEST_RACKS, spreads_attachments
from fabopt.floor.racks import Ints
from fabopt.floor.row_ends import row_ends
from fabopt.rules.defaults import APPLIANCE_RACKS, is_kept
from fabopt.schema.attachment import WITH_SWITCHES, Attachment
from fabopt.schema.case import Case, Floor
from fabopt.schema.design import Place
from fabopt.schema.installed import base_of, racks_in_service
from fabopt.units import ceil_div, milliwatts

# The name of a fabric, and of an attachment of it.
ApplianceKey = tuple[str, str]


class Appliance(NamedTuple):
    """An attachment of a fabric whose devices are installed in racks."""

    fabric: str
    attachment: Attachment

    @property
    def key(self) -> ApplianceKey:
        """The appliance's name, unique in a case."""
        return self.fabric, self.attachment.name

    @property
    def units(self) -> int:
        """Whole units that a device blocks."""
        return max(1, ceil(self.attachment.rack_units or 0))

    @property
    def load(self) -> RackLoad:
        """RackLoad of a device; 0 where nobody asks. Its heat goes to air."""
        return load_of(milliwatts(self.attachment.power_w or 0), None, self.attachment.weight_kg)


def appliances_of(case: Case) -> Iterator[Appliance]:
    """Attachments with a height, fabric by fabric; a shared fabric's come last among the compute fabric's."""
    shared = [one for fabric in case.fabrics if fabric.separation == "shared" for one in fabric.attachments]
    for fabric in case.fabrics:
        if fabric.separation != "shared":
            for attachment in (*fabric.attachments, *(shared if fabric.role == "compute" else ())):
                if attachment.rack_units is not None:
                    yield Appliance(fabric.name, attachment)


def on_a_floor(case: Case) -> Case:
    """The case with the standing of its attachments said; without a floor the same."""
    if case.site.floor is None:
        return case
    fabrics = tuple(
        fabric.model_copy(update={"attachments": tuple(one.on_a_floor() for one in fabric.attachments)})
        for fabric in case.fabrics
    )
    return case.model_copy(update={"fabrics": fabrics})


class ApplianceRacks:
    """Racks and units of all appliances of a case on its floor.

    ``places``: (rack, lowest unit) of every installed device, by fabric and attachment, each rack from the bottom up;
    ``hosts``: those that stand with switches, which have no place yet; ``movable``: those that leave their places where
    racks of switches have room (rule ``appliance-racks``); ``row_air_mw``: heat to air by name of row.
    """

    def __init__(self, case: Case, floor: Floor) -> None:
        self._floor, self._case = floor, case
        self._others = frozenset({*case.pinned_racks, *floor.named_racks, *row_ends(case).values()})
        of_case = {appliance.key: appliance for appliance in appliances_of(case)}
        with_switches = {key: one for key, one in of_case.items() if one.attachment.stands == WITH_SWITCHES}
        self.hosts: Mapping[ApplianceKey, Appliance] = MappingProxyType(with_switches)
        self.appliances = tuple(one for key, one in of_case.items() if key not in self.hosts)
        space = _SpaceBelow(floor, spreads_attachments(case))
        self.places: Mapping[ApplianceKey, tuple[Place, ...]] = MappingProxyType(
            {
                appliance.key: space.put(appliance, appliance.attachment.racks or self.free)
                for appliance in self.appliances
            }
        )
        self.row_air_mw: Mapping[str, int] = MappingProxyType(space.row_air_mw)
        moves = is_kept(case.rules, APPLIANCE_RACKS)
        self.movable: Mapping[ApplianceKey, Appliance] = MappingProxyType(
            {one.key: one for one in self.appliances if moves and one.attachment.may_stand_anywhere}
        )

    def has_place(self, key: ApplianceKey) -> bool:
        """Whether the devices of an attachment are in racks, or will be once switches are."""
        return key in self.hosts or bool(self.places.get(key))

    def missing(self, appliance: Appliance) -> int:
        """Devices that have found no place."""
        return appliance.attachment.boxes - len(self.places[appliance.key])

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Racks that attachments name as theirs."""
        return tuple(dict.fromkeys(rack for appliance in self.appliances for rack in appliance.attachment.racks or ()))

    @cached_property
    def free(self) -> tuple[str, ...]:
        """Racks for attachments that name none, from the end of the floor: named by no key, with no device in service,
        reached by trays.
        """
        base = base_of(self._case)
        there = set() if base is None else racks_in_service(base)
        plan = FloorPlan(self._floor, {*self.listed, *self._others, *there})
        lost = set(plan.cut_off())
        usable = [plan.ids[rack] for rack in np.flatnonzero(plan.usable)[::-1].tolist()]
        return tuple(rack for rack in usable if rack not in lost)

    @property
    def taken(self) -> tuple[str, ...]:
        """Racks for attachments alone: named by them, or with one of their devices.

        Rule ``attachments_stand_apart``.
        """
        return tuple(sorted({*self.listed, *racks_in_use(self.places.values())}))


_EMPTY: Final = (0, NO_LOAD)


class _SpaceBelow:
    """Racks being filled with appliances from the bottom up. ``spreads``: over two racks at least."""

    def __init__(self, floor: Floor, spreads: bool) -> None:
        self._floor, self._spreads = floor, spreads
        self._used: dict[str, tuple[int, RackLoad]] = {}
        self.row_air_mw: Counter[str] = Counter()

    def put(self, appliance: Appliance, racks: tuple[str, ...]) -> tuple[Place, ...]:
        """Places of an appliance's devices, each in the first rack with space; fewer where the racks end.

        With ``spreads`` a rack has at most half of them, rounded up, if all have space then.
        """
        boxes = appliance.attachment.boxes
        half = self._numbers(appliance, racks, ceil_div(boxes, FEWEST_RACKS)) if self._spreads else {}
        numbers = half if sum(half.values()) == boxes else self._numbers(appliance, racks, boxes)
        places: list[Place] = []
        for rack, number in numbers.items():
            units, load = self._used.get(rack, _EMPTY)
            places += ((rack, units + 1 + index * appliance.units) for index in range(number))
            self._used[rack] = units + number * appliance.units, added((load, appliance.load.times(number)))
            self.row_air_mw[_row(rack)] += number * appliance.load.air_mw
        return tuple(places)

    def _numbers(self, appliance: Appliance, racks: tuple[str, ...], most: int) -> dict[str, int]:
        """Number of devices for each rack, up to ``most`` in one."""
        numbers: dict[str, int] = {}
        in_rows = Counter(self.row_air_mw)
        left = appliance.attachment.boxes
        for rack in racks:
            number = min(left, most, self._fit(appliance, rack))
            row_w = self._floor.part_of(rack).row_air_w
            if row_w is not None and appliance.load.air_mw:
                number = min(number, max(0, milliwatts(row_w) - in_rows[_row(rack)]) // appliance.load.air_mw)
            if number:
                numbers[rack] = number
                in_rows[_row(rack)] += number * appliance.load.air_mw
            left -= number
        return numbers

    def _fit(self, appliance: Appliance, rack: str) -> int:
        units, load = self._used.get(rack, _EMPTY)
        most_of_each = most_in_rack(self._floor.part_of(rack))
        left = RackLoad(*(most - used for most, used in zip(most_of_each, load, strict=True)))
        return min((self._floor.rack_units - units) // appliance.units, times_in(appliance.load, left))


def _row(rack: str) -> str:
    return rack.rstrip("0123456789")


def racks_of_appliances(case: Case) -> int:
    """Number of racks with appliances; 0 without a floor."""
    floor = case.site.floor
    return 0 if floor is None else len(racks_in_use(ApplianceRacks(case, floor).places.values()))


def racks_in_use(places: Iterable[tuple[Place, ...]]) -> set[str]:
    """Racks in which appliances are installed."""
    return {rack for of_one in places for rack, _ in of_one}


class StandingDevices(NamedTuple):
    """The devices of an attachment, and for each of them the racks of the switches that it has ports on."""

    appliance: Appliance
    switches: Sequence[Ints]


def may_hold(plan: FloorPlan, space: FreeSpace, racks: Ints, appliances: Iterable[Appliance]) -> bool:
    """Whether the racks hold the devices of each attachment alone; other arguments as of ``place_hosts``."""
    racks = np.unique(racks)
    for appliance in appliances:
        boxes = appliance.attachment.boxes
        room = np.minimum(space.units // appliance.units, space.times(appliance.load))[racks]
        if np.minimum(room, _most_in_rack(plan, racks, boxes)).sum() < boxes:
            return False
    return True


def _most_in_rack(plan: FloorPlan, racks: Ints, boxes: int) -> int:
    """The most devices of an attachment in a rack: half, rounded up, where attachments are spread over several."""
    is_spread = plan.limits.spread_attachments and len(racks) >= FEWEST_RACKS
    return ceil_div(boxes, FEWEST_RACKS) if is_spread else boxes


def place_hosts(
    plan: FloorPlan, space: FreeSpace, racks: Ints, hosts: Sequence[StandingDevices]
) -> dict[str, tuple[Place, ...]] | None:
    """Rack and lowest unit of every device, by attachment; None if they do not fit.

    ``space``: what the switches of the fabric leave in every rack; ``racks``: those with its switches, in order. Device
    by device, in the rack nearest to the farthest of its switches that has room, the first of equals, below all that is
    there. Where attachments are spread, no rack has more than half of the devices of one, rounded up.
    """
    # Rule ``hosts_stand_with_switches``
    left = space
    places: dict[str, tuple[Place, ...]] = {}
    for appliance, switches in hosts:
        attachment = appliance.attachment
        most = _most_in_rack(plan, racks, attachment.boxes)
        there: Counter[int] = Counter()
        of_devices: list[Place] = []
        for own in switches:
            has_room = (left.units[racks] >= appliance.units) & (left.times(appliance.load)[racks] >= 1)
            fitting = [rack for rack in racks[has_room].tolist() if there[rack] < most]
            if not fitting:
                return None
            away = np.round(plan.tray_m(np.array(fitting)[:, None], own[None, :]).max(axis=1), 6)
            rack = fitting[int(np.argmin(away))]
            there[rack] += 1
            of_devices.append((plan.ids[rack], int(left.top_unit[rack]) - appliance.units + 1))
            left = left.below(rack, appliance.units, appliance.load)
        places[attachment.name] = tuple(of_devices)
    return places
