"""Devices that stand with switches, such as hosts of managers: their racks and units once all switches have theirs.

Arrays have shape (racks,): indices of racks of the plan. See docs/formulation/floor.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from fabopt.floor.appliances import Appliance
from fabopt.floor.placement import FreeSpace
from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import FEWEST_RACKS
from fabopt.floor.racks import Ints
from fabopt.schema.design import Place
from fabopt.units import ceil_div


class StandingDevices(NamedTuple):
    """The devices of an attachment, and for each of them the racks of the switches that it has ports on."""

    appliance: Appliance
    switches: Sequence[Ints]


def may_hold(plan: FloorPlan, space: FreeSpace, racks: Ints, appliances: Iterable[Appliance]) -> bool:
    """Whether the racks hold the devices of each attachment alone; other arguments as of ``place_hosts``."""
    racks = np.unique(racks)
    for appliance in appliances:
        boxes = appliance.attachment.boxes
        room = np.minimum(space.units[racks] // appliance.units, space.power_mw[racks] // max(1, appliance.power_mw))
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
    units, power_mw, top_unit = space.units.copy(), space.power_mw.copy(), space.top_unit.copy()
    places: dict[str, tuple[Place, ...]] = {}
    for appliance, switches in hosts:
        attachment = appliance.attachment
        most = _most_in_rack(plan, racks, attachment.boxes)
        there: Counter[int] = Counter()
        of_devices: list[Place] = []
        for own in switches:
            has_room = (units[racks] >= appliance.units) & (power_mw[racks] >= appliance.power_mw)
            fitting = [rack for rack in racks[has_room].tolist() if there[rack] < most]
            if not fitting:
                return None
            away = np.round(plan.tray_m(np.array(fitting)[:, None], own[None, :]).max(axis=1), 6)
            rack = fitting[int(np.argmin(away))]
            there[rack] += 1
            of_devices.append((plan.ids[rack], int(top_unit[rack]) - appliance.units + 1))
            units[rack] -= appliance.units
            top_unit[rack] -= appliance.units
            power_mw[rack] -= appliance.power_mw
        places[attachment.name] = tuple(of_devices)
    return places
