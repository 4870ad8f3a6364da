"""The floor plan: usable racks, their orders, and runs of cables between them.

Racks are in parallel rows, with trays above (``fabopt.floor.plan``). A cable between two racks goes up from its device
to the tray, along the shortest way of trays, and down again; within a rack it goes straight. Lengths are in metres;
they are rounded to a nanometre, so that equal runs are equal numbers in whatever order they were added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from fabopt.floor.loads import UNLIMITED, RackLoad, most_in_rack
from fabopt.floor.rack_rules import NO_LIMITS, RackLimits
from fabopt.floor.racks import DIGITS, Bools, Floats, Ints, Racks, height_m
from fabopt.floor.ways import ways_on
from fabopt.schema.case import Floor
from fabopt.schema.site import longest_in_rack_m
from fabopt.units import ceil_decimetres, milliwatts

# -- the floor plan: usable racks, their orders, and runs of cables between them --------------------------------------


NOTHING_TAKEN: Final[Mapping[str, int]] = MappingProxyType({})


class FloorPlan(Racks):
    """Racks as arrays, each of shape (racks,), and the distances between them.

    blocked, reserved   no device, and the row's tray is cut; not for this cluster, the tray passes
    usable              neither blocked nor reserved, nor one of ``taken``, which hold attachments
    pinned              switches are pinned to it

    ``limits``: of every rack; ``most_in_rack``: what devices may load any with; ``most_with_servers``,
    ``most_without_servers``: any that has servers, or none. ``row_air_mw``: heat to air, in
    milliwatts, that each row takes beside that of attachments in racks of their own, shape (rows,); None: any.
    ``server_racks``: named by the case for servers, in its order, shape (racks named,);
    None: any.

    Arrays that list racks hold their indices and have shape (racks listed,).
    """

    def __init__(
        self,
        floor: Floor,
        taken: Iterable[str] = (),
        limits: RackLimits = NO_LIMITS,
        pinned: Iterable[str] = (),
        row_taken_mw: Mapping[str, int] = NOTHING_TAKEN,
    ) -> None:
        super().__init__(floor)
        self.limits = limits
        self.most_with_servers, self.most_without_servers = most_in_rack(floor), most_in_rack(floor.without_servers)
        self.most_in_rack = RackLoad(*map(min, zip(self.most_with_servers, self.most_without_servers, strict=True)))
        self.row_air_mw: Ints | None = None
        if floor.row_air_w is not None:
            most_w = [part.row_air_w for part in floor.parts for _ in range(part.rows)]
            most_mw = [UNLIMITED if one is None else milliwatts(one) for one in most_w]
            taken_mw = [row_taken_mw.get(row, 0) for row in self.row_names]
            self.row_air_mw = np.array(most_mw, dtype=np.int64) - np.array(taken_mw, dtype=np.int64)
        self.pinned = self.marked(pinned)
        self.server_racks = None if floor.server_racks is None else self.indices(floor.server_racks)
        self.blocked = self.marked(floor.blocked)
        self.reserved = self.marked(floor.reserved)
        self.usable: Bools = ~(self.blocked | self.reserved | self.marked(taken))
        self._trays = ways_on(self, self.blocked)

    @cached_property
    def most_by_rack(self) -> Ints:
        """What the devices of each rack with servers may load it with, of each quantity of a load, shape (quantities,
        racks).
        """
        return self._by_rack([most_in_rack(part.floor) for part in self._parts])

    @cached_property
    def most_by_rack_alone(self) -> Ints:
        """What the devices of each rack without servers may load it with, shape (quantities, racks)."""
        return self._by_rack([most_in_rack(part.floor.without_servers) for part in self._parts])

    @property
    def _parts(self) -> Sequence[Racks]:
        return self.halls or (self,)

    def _by_rack(self, most: Sequence[RackLoad]) -> Ints:
        return np.repeat(np.array(most).T, [len(part) for part in self._parts], 1)

    @cached_property
    def of_halls(self) -> tuple[tuple[int, FloorPlan], ...]:
        """Each of several halls as a floor of its own, behind the first of its racks; none of one hall."""
        plans: list[tuple[int, FloorPlan]] = []
        start = 0
        for hall in self.halls:
            end, plan = start + len(hall), FloorPlan(hall.floor.alone, (), self.limits)
            plan.usable, plan.pinned = self.usable[start:end], self.pinned[start:end]
            named = self.server_racks
            plan.server_racks = None if named is None else named[(named >= start) & (named < end)] - start
            plans.append((start, plan))
            start = end
        return tuple(plans)

    @property
    def usable_racks(self) -> int:
        """Number of usable racks."""
        return int(self.usable.sum())

    # -- cable runs ---------------------------------------------------------------------------------------------------

    def run_m(self, rack_a: ArrayLike, height_a_m: ArrayLike, rack_b: ArrayLike, height_b_m: ArrayLike) -> Floats:
        """Return metres of cable between devices by rack and height (see ``height_m``), broadcast.

        Infinite where no tray leads from one rack to the other.
        """
        a, b = np.asarray(rack_a, dtype=np.int64), np.asarray(rack_b, dtype=np.int64)
        return run_m(self.floor, a == b, height_a_m, height_b_m, self.tray_m(a, b), self.limits)

    def spared_m(self, way_m: ArrayLike) -> Floats:
        """Return the length of cable in metres for ways of ``way_m``, slack included; shape of ``way_m``."""
        return self.limits.spared_m(way_m, self.floor.slack_m)

    @property
    def least_m(self) -> float:
        """A run that no cable on the floor is shorter than, in metres."""
        return float(self.spared_m(0))

    @cached_property
    def farthest_m(self) -> float:
        """A run, in whole decimetres, that none is longer than between two devices in racks that trays join."""
        racks = np.flatnonzero(~(self.blocked | self.reserved))
        lowest_m, highest_m = float(height_m(1, 0)), float(height_m(self.floor.rack_units + 1, 0))
        across = self.run_m(racks[:, None], lowest_m, racks[None, :], lowest_m)
        within = self.run_m(racks, lowest_m, racks, highest_m)
        runs_m = np.concatenate([across[np.isfinite(across)], within, [self.least_m]])
        return ceil_decimetres(float(runs_m.max()))

    @cached_property
    def longest_in_rack_m(self) -> float:
        """A run that no cable within a rack is longer than, in metres: as long as jumpers to panels anywhere are."""
        limits = self.limits
        return longest_in_rack_m(self.floor, limits.side_m, limits.spare_m, limits.spare_fraction)

    def trunks_m(self, rack_a: ArrayLike, rack_b: ArrayLike) -> Floats:
        """Return metres of trunk between panels anywhere in two racks, broadcast: from lowest unit to lowest unit."""
        lowest_m = height_m(1, 0)
        return self.run_m(rack_a, lowest_m, rack_b, lowest_m)

    def to_panels_m(self, rack: ArrayLike, up_m: ArrayLike, zone: ArrayLike) -> Floats:
        """Return metres of jumper from devices ``up_m`` high to the lowest unit of racks of panels, broadcast."""
        return self.run_m(rack, up_m, zone, height_m(1, 0))

    @property
    def least_in_rack_m(self) -> float:
        """A run that no cable within a rack is shorter than, in metres."""
        return float(self.spared_m(self.limits.side_m))

    def tray_m(self, rack_a: ArrayLike, rack_b: ArrayLike) -> Floats:
        """Return the shortest way along trays between the middles of racks, in metres, broadcast.

        Infinite if there is none.
        """
        return self._trays.way_m(np.asarray(rack_a, dtype=np.int64), np.asarray(rack_b, dtype=np.int64))

    def cut_off(self) -> tuple[str, ...]:
        """Return the usable racks outside the largest set that trays join; empty if trays join all."""
        usable = np.flatnonzero(self.usable)
        if not usable.size:
            return ()
        labels, sizes = np.unique(self._trays.island[usable], return_counts=True)
        lost = usable[self._trays.island[usable] != labels[np.argmax(sizes)]]
        return tuple(self.ids[rack] for rack in lost)

    # -- orders of racks, for placement -------------------------------------------------------------------------------

    def racks_of(self, row: int) -> Ints:
        """Return the usable racks of a row, in order."""
        start, end = self.row_start[row : row + 2]
        return np.asarray(start + np.flatnonzero(self.usable[start:end]))

    def from_centre(self, served: ArrayLike | None = None) -> Ints:
        """Return the usable racks by rising distance from the middle (median) of the racks served; None: of all usable.

        Distances are |x| + |y| regardless of trays; equally near racks stay in order of index.
        """
        usable = np.flatnonzero(self.usable)
        around = usable if served is None else np.asarray(served, dtype=np.int64)
        if not around.size:
            return usable
        away = np.abs(self.x_m - np.median(self.x_m[around])) + np.abs(self.y_m - np.median(self.y_m[around]))
        return self._ordered(usable, away)

    def middle(self, rows: Iterable[int] | None = None) -> Ints:
        """Return the usable racks of rows (None: of all), the nearest to the middles of their rows first."""
        return self._ordered(self._racks_of(rows), self._from_middle_m)

    def ends(self, rows: Iterable[int] | None = None) -> Ints:
        """Return the usable racks of rows (None: of all), the nearest to the ends of their rows first."""
        return self._ordered(self._racks_of(rows), -self._from_middle_m)

    def network_racks(self) -> Ints:
        """Return the usable racks that may hold switches, in the order that ``network_racks`` of the case asks for.

        ``any`` and ``row``: from the centre of the floor; ``middle`` and ``end``: from there in every row, row by row
        among those equally far; a list: as it is.
        """
        wanted = self.floor.network_racks
        if wanted == "middle":
            return self.middle()
        if wanted == "end":
            return self.ends()
        if wanted in ("any", "row"):
            return self.from_centre()
        listed = self.indices(wanted)
        return listed[self.usable[listed]]

    def _racks_of(self, rows: Iterable[int] | None) -> Ints:
        chosen = range(self.floor.rows) if rows is None else sorted(set(rows))
        return np.concatenate([np.empty(0, dtype=np.int64), *(self.racks_of(row) for row in chosen)])

    def _ordered(self, racks: Ints, key: Floats) -> Ints:
        return racks[np.argsort(np.round(key[racks], DIGITS), kind="stable")]

    @cached_property
    def _from_middle_m(self) -> Floats:
        return np.abs(self.x_m - self.half_m)


def run_m(
    floor: Floor,
    in_rack: ArrayLike,
    height_a_m: ArrayLike,
    height_b_m: ArrayLike,
    way_m: ArrayLike,
    limits: RackLimits = NO_LIMITS,
) -> Floats:
    """Return the cable needed between devices at these heights, broadcast: straight within a rack (out to its side and
    back, where the rule of racks says so), else up to the trays, along them for ``way_m``, and down again.
    """
    up, down, way = (np.asarray(metres, dtype=np.float64) for metres in (height_a_m, height_b_m, way_m))
    ends = (floor.tray_height_m - up) + (floor.tray_height_m - down) + 2 * floor.drop_m
    laid = np.where(in_rack, np.abs(up - down) + limits.side_m, ends + way)
    return np.round(limits.spared_m(laid, floor.slack_m), DIGITS)
