"""Places of ports, and their order on a walk."""

from __future__ import annotations

import re
from string import digits
from typing import NamedTuple

from fabopt.floor.racks import row_of_letters
from fabopt.inspect.planned import CablePlan, PortName
from fabopt.wiring.model import Wiring

_NUMBER = re.compile(r"(\d{1,15})")
# Steps between ports: of a device, of a rack, of a row, of the floor.
_OF_DEVICE, _OF_RACK, _OF_ROW, _OF_FLOOR = range(4)


class RackPlace(NamedTuple):
    """The place of a device: rack, empty without a floor plan, and lowest unit, 0 without one."""

    rack: str
    unit: int


NOWHERE = RackPlace("", 0)
# Rack row and number, unit from the top down, device, name of the port with numbers as numbers.
WalkingKey = tuple[int, int, int, int, tuple[tuple[int, int, str], ...]]


class Walk:
    """The racks of a wiring in walking order: row by row, rack by rack, each from the top down."""

    def __init__(self, wiring: Wiring, plan: CablePlan) -> None:
        self._devices, self._plan = wiring.devices, plan

    def place(self, port: PortName) -> RackPlace:
        """The rack and unit of the device of a port; ``NOWHERE`` for a device that is not planned."""
        device = self._plan.devices.get(port.device)
        if device is None:
            return NOWHERE
        return RackPlace(self._devices.rack[device.row], int(self._devices.unit[device.row]))

    def key(self, port: PortName) -> WalkingKey:
        """The sort key of a port in walking order; devices without a place come last, in the order of the plan."""
        device = self._plan.devices.get(port.device)
        row = len(self._devices) if device is None else device.row
        rack, unit = self.place(port)
        name = tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in _NUMBER.split(port.port))
        return (*rack_key(rack), -unit, row, name)

    def steps(self, x: PortName, y: PortName) -> int:
        """The distance of two ports: 0 on one device, 1 in a rack, 2 in a row, 3 elsewhere."""
        if x.device == y.device:
            return _OF_DEVICE
        racks = self.place(x).rack, self.place(y).rack
        if not all(racks):
            return _OF_FLOOR
        if racks[0] == racks[1]:
            return _OF_RACK
        return _OF_ROW if rack_key(racks[0])[0] == rack_key(racks[1])[0] else _OF_FLOOR


def rack_key(rack: str) -> tuple[int, int]:
    """Row and number of a rack, both from 0; beyond all of them for none."""
    if not rack:
        return 1 << 30, 0
    letters = rack.rstrip(digits)
    return row_of_letters(letters), int(rack[len(letters) :] or 0)
