"""The rack and unit of every switch of a sized Clos in a layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fabopt.floor.layouts import IN_SERVER_RACKS, Layout
from fabopt.floor.plan import Floats, Ints, height_m
from fabopt.network.clos_links import ClosNumbers


class SwitchBox(NamedTuple):
    """What a switch takes of a rack: its height in units (perhaps a fraction), and the most power with its modules."""

    height_u: float
    power_mw: int

    @property
    def units(self) -> int:
        """Whole units that it blocks."""
        return max(1, int(-(-self.height_u // 1)))


@dataclass(frozen=True, eq=False)
class Stands:
    """Places of the switches of one role, in the order of their numbers: rack, lowest unit, height of the ports."""

    rack: Ints
    unit: Ints
    height_m: Floats


class _Room:
    """What is left of every rack while switches are put in, from the top down."""

    def __init__(self, layout: Layout) -> None:
        self._units = layout.room_units.copy()
        self._mw = layout.room_mw.copy()
        self._next = layout.top_unit.copy()

    def how_many(self, box: SwitchBox) -> Ints:
        """How many more such switches each rack holds."""
        return np.asarray(np.maximum(0, np.minimum(self._units // box.units, self._mw // max(1, box.power_mw))))

    def put(self, racks: Ints, box: SwitchBox) -> Stands | None:
        """Put a switch into each of these racks (one may come again), from the top down; None if one has no room."""
        counts = np.bincount(racks, minlength=len(self._units))
        if not len(racks) or (counts > self.how_many(box)).any():
            return None
        order = np.argsort(racks, kind="stable")
        before = np.empty(len(racks), dtype=np.int64)
        before[order] = np.arange(len(racks)) - np.repeat(np.cumsum(counts) - counts, counts)
        unit = self._next[racks] - (before + 1) * box.units + 1
        self._units -= counts * box.units
        self._mw -= counts * box.power_mw
        self._next -= counts * box.units
        return Stands(racks, unit, np.asarray(height_m(unit, box.height_u)))


def place(layout: Layout, numbers: ClosNumbers, boxes: tuple[SwitchBox, ...]) -> tuple[Stands, ...] | None:
    """Leaves, spines and cores in their racks; ``boxes``: of each tier from the leaves up. None if they do not fit.

    Leaves stand in their servers' racks (top of rack) or in the nearest racks for switches; spines in those nearest
    their leaves, cores in those nearest all spines; every rack is filled from the top down.
    """
    room = _Room(layout)
    leaves = room.put(_leaf_racks(layout, numbers, boxes[0]), boxes[0])
    if leaves is None:
        return None
    stands = [leaves]
    if len(boxes) > 1:
        spines = _spine_racks(layout, numbers, boxes[1], room, leaves.rack)
        if spines is None:
            return None
        stands.append(spines)
    if len(boxes) > 2:
        near = _by_distance(layout, stands[1].rack)
        cores = _fill(room, near, numbers.planes * numbers.cores, boxes[2])
        if cores is None:
            return None
        stands.append(cores)
    return tuple(stands)


def place_leaves(layout: Layout, numbers: ClosNumbers, box: SwitchBox) -> Stands | None:
    """The leaves alone, as ``place`` puts them: their places depend on nothing above them."""
    return _Room(layout).put(_leaf_racks(layout, numbers, box), box)


def _leaf_racks(layout: Layout, numbers: ClosNumbers, box: SwitchBox) -> Ints:
    """Rack of every leaf in the order of numbers; none where they do not fit."""
    if layout.policy in IN_SERVER_RACKS:
        return np.tile(layout.in_server_racks(numbers.group, numbers.rails), numbers.planes)
    room: list[int] = _Room(layout).how_many(box).tolist()
    found = _dealt(layout.nearest_to_groups(numbers.group), numbers.planes * numbers.rails, room)
    if not found:
        return np.array([], dtype=np.int64)
    by_group = np.array(found, dtype=np.int64).reshape(numbers.groups, numbers.planes, numbers.rails)
    return by_group.transpose(1, 0, 2).ravel()


def _dealt(orders: list[list[int]], each: int, room: list[int]) -> list[int]:
    """Racks of so many switches for every order of racks, each rack filled before the next; none if the room ends."""
    found: list[int] = []
    for order in orders:
        missing = each
        for rack in order:
            taken = min(missing, room[rack])
            if taken:
                room[rack] -= taken
                found += [rack] * taken
                missing -= taken
                if not missing:
                    break
        if missing:
            return []
    return found


def _spine_racks(layout: Layout, numbers: ClosNumbers, box: SwitchBox, room: _Room, leaf_racks: Ints) -> Stands | None:
    """Spines of every pod of every plane, in racks nearest to their leaves on average."""
    leaf = np.arange(len(leaf_racks))
    pod = leaf // numbers.leaves * numbers.pods + (numbers.pod_of_leaf(leaf) if numbers.pods > 1 else 0)
    weights = np.zeros((len(layout.plan), numbers.planes * numbers.pods))
    np.add.at(weights, (leaf_racks, pod), 1.0)
    away = layout.tray_from_switches_m @ weights / weights.sum(axis=0)
    orders: list[list[int]] = layout.switch_racks[np.argsort(np.round(away, 6), axis=0, kind="stable")].T.tolist()
    found = _dealt(orders, numbers.spines, room.how_many(box).tolist())
    return room.put(np.array(found, dtype=np.int64), box)


def _by_distance(layout: Layout, served: Ints) -> Ints:
    """Racks for switches, the nearest on average to some racks first."""
    away = layout.tray_from_switches_m @ np.bincount(served, minlength=len(layout.plan)) / len(served)
    return np.asarray(layout.switch_racks[np.argsort(np.round(away, 6), kind="stable")])


def _fill(room: _Room, racks: Ints, count: int, box: SwitchBox) -> Stands | None:
    """So many switches in racks, each filled before the next."""
    chosen = np.repeat(racks, room.how_many(box)[racks])[:count]
    return room.put(chosen, box) if len(chosen) == count else None


__all__ = ["Stands", "SwitchBox", "place", "place_leaves"]
