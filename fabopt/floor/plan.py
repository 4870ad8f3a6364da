"""The floor plan: usable racks, their orders, and runs of cables between them.

Racks are in parallel rows, with trays above (``fabopt.floor.plan``). A cable between two racks goes up from its device
to the tray, along the shortest way of trays, and down again; within a rack it goes straight. Lengths are in metres;
they are rounded to a nanometre, so that equal runs are equal numbers in whatever order they were added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from fabopt.floor.loads import most_in_rack
from fabopt.floor.rack_rules import NO_LIMITS, RackLimits
from fabopt.floor.racks import DIGITS, Bools, Floats, Ints, Racks, height_m
from fabopt.schema.case import Floor
from fabopt.units import ceil_decimetres, milliwatts

# -- trays: the shortest way along them from rack to rack -------------------------------------------------------------


# Racks of a floor whose distances are kept in a table: 32 MB at this many.
_MOST_IN_TABLE = 2000
_LEFT, _RIGHT = 0, 1
NOTHING_TAKEN: Final[Mapping[int, int]] = MappingProxyType({})


class Trays:
    """The trays of a floor. ``blocked``: racks above which a row's tray is cut, shape (racks,)."""

    def __init__(self, racks: Racks, blocked: Bools) -> None:
        self._racks = racks
        self._blocked = blocked

    def way_m(self, rack_a: Ints, rack_b: Ints) -> Floats:
        """Return the shortest way along trays between the middles of racks, in metres, broadcast.

        Infinite if there is none. Without a cut between them, racks of one row are joined directly. All other ways pass
        the cross tray next to each rack on one of its two sides: a cross tray runs over every row, so no way leaves a
        row and comes back to it through a farther one for less.
        """
        if len(self._racks) <= _MOST_IN_TABLE:
            return np.asarray(self._all_ways_m[rack_a, rack_b])
        return self._measured_m(*np.broadcast_arrays(rack_a, rack_b))

    @cached_property
    def _all_ways_m(self) -> Floats:
        """Ways between all racks, shape (racks, racks): a floor of ordinary size is asked for them again and again."""
        racks = np.arange(len(self._racks))
        return self._measured_m(*np.broadcast_arrays(racks[:, None], racks[None, :]))

    def _measured_m(self, a: Ints, b: Ints) -> Floats:
        best: Floats = np.asarray(
            np.where(self._stretch[a] == self._stretch[b], np.abs(self._racks.x_m[a] - self._racks.x_m[b]), np.inf)
        )
        for out in (_LEFT, _RIGHT):
            for back in (_LEFT, _RIGHT):
                way = self._crossing_ways_m[self._crossing[out, a], self._crossing[back, b]]
                way += self._to_crossing_m[out, a]
                way += self._to_crossing_m[back, b]
                best = np.minimum(best, way)
        return np.round(best, DIGITS)

    @cached_property
    def _cross(self) -> Ints:
        """Positions of the cross trays. A *crossing*, of a cross tray and a row's tray, is numbered cross tray x rows +
        row.
        """
        return np.array(self._racks.floor.cross_positions, dtype=np.int64)

    @cached_property
    def _cuts_before(self) -> Ints:
        """Blocked racks of a row (first index) before a position."""
        cuts = self._blocked.reshape(self._racks.floor.rows, self._racks.floor.racks_per_row).cumsum(axis=1)
        return np.pad(cuts, ((0, 0), (1, 0)))

    @cached_property
    def _stretch(self) -> Ints:
        """A number shared by the racks along one uncut tray; a blocked rack has its own."""
        begins = self._blocked | (self._racks.position == 0)
        return np.where(self._blocked, -1 - np.arange(len(self._racks)), begins.cumsum())

    @cached_property
    def _next_cross(self) -> Ints:
        """Index of the next cross tray along the row's tray by side and rack; -1 if none."""
        left = np.searchsorted(self._cross, self._racks.position, side="right") - 1
        right = np.searchsorted(self._cross, self._racks.position + 1, side="left")
        there = np.stack([left >= 0, right < len(self._cross)])
        sides = np.clip(np.stack([left, right]), 0, len(self._cross) - 1)
        cuts = self._cuts_before
        uncut = np.stack(
            [
                cuts[self._racks.row, self._cross[sides[_LEFT]]] == cuts[self._racks.row, self._racks.position + 1],
                cuts[self._racks.row, self._cross[sides[_RIGHT]]] == cuts[self._racks.row, self._racks.position],
            ]
        )
        return np.where(there & uncut, sides, -1)

    @cached_property
    def _crossing(self) -> Ints:
        """The next crossing by side and rack; arbitrary where there is none, as its distance is infinite."""
        return np.maximum(self._next_cross, 0) * self._racks.floor.rows + self._racks.row

    @cached_property
    def _to_crossing_m(self) -> Floats:
        """Metres to the next crossing by side and rack; infinite if there is none."""
        away = np.abs(self._cross[self._next_cross] * self._racks.floor.rack_pitch_m - self._racks.x_m)
        return np.where(self._next_cross < 0, np.inf, away)

    @cached_property
    def _passes(self) -> Bools:
        """Whether a row's tray joins two neighbouring cross trays, shape (neighbours, rows)."""
        cuts = self._cuts_before[:, self._cross].T
        passes: Bools = cuts[1:] == cuts[:-1]
        return passes

    @cached_property
    def island(self) -> Ints:
        """A number that racks share if trays join them, shape (racks,); of no meaning for blocked racks."""
        joined = np.concatenate([[0], (~self._passes.any(axis=1)).cumsum()])
        cross = self._next_cross.max(axis=0)
        return np.where(cross < 0, -self._stretch, joined[cross])

    @cached_property
    def _crossing_ways_m(self) -> Floats:
        """The shortest ways between all crossings: the distance along the rows, and the least way across them.

        A shortest way never turns back along the rows, as cross trays run over every row. So the way across is found
        cross tray by cross tray: between two of them it must be in a row whose tray joins them.
        """
        rows, trays = self._racks.floor.rows, len(self._cross)
        across = np.full((trays, rows, trays, rows), np.inf)
        for tray in range(trays):
            across[tray, :, tray, :] = np.abs(self._racks.row_m[:, None] - self._racks.row_m)
            across[tray, :, :tray, :] = across[:tray, :, tray, :].transpose(2, 0, 1)
            if tray + 1 < trays:
                passing = np.where(self._passes[tray], across[: tray + 1, :, tray, :], np.inf)
                across[: tray + 1, :, tray + 1, :] = _spread(passing, self._racks.row_m)
        along = self._cross * self._racks.floor.rack_pitch_m
        across += np.abs(along[:, None] - along)[:, None, :, None]
        return across.reshape(trays * rows, trays * rows)


def _spread(ways_m: Floats, row_m: Floats) -> Floats:
    """Return the least way to each row (last index), over ways that end in any row and a walk from there."""
    down: Floats = np.minimum.accumulate(ways_m - row_m, axis=-1) + row_m
    up: Floats = np.minimum.accumulate((ways_m + row_m)[..., ::-1], axis=-1)[..., ::-1] - row_m
    least: Floats = np.minimum(down, up)
    return np.round(least, DIGITS)


# -- the floor plan: usable racks, their orders, and runs of cables between them --------------------------------------


class FloorPlan(Racks):
    """Racks as arrays, each of shape (racks,), and the distances between them.

    blocked, reserved   no device, and the row's tray is cut; not for this cluster, the tray passes
    usable              neither blocked nor reserved, nor one of ``taken``, which hold attachments
    pinned              switches are pinned to it

    ``limits``: of every rack; ``most_in_rack``: what its devices may load it with. ``row_air_mw``: heat to air, in
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
        row_taken_mw: Mapping[int, int] = NOTHING_TAKEN,
    ) -> None:
        super().__init__(floor)
        self.limits, self.most_in_rack = limits, most_in_rack(floor)
        self.row_air_mw: Ints | None = None
        if floor.row_air_w is not None:
            most_mw = milliwatts(floor.row_air_w)
            self.row_air_mw = np.array([most_mw - row_taken_mw.get(row, 0) for row in range(floor.rows)])
        self.pinned = self.marked(pinned)
        self.server_racks = None if floor.server_racks is None else self.indices(floor.server_racks)
        self.blocked = self.marked(floor.blocked)
        self.reserved = self.marked(floor.reserved)
        self.usable: Bools = ~(self.blocked | self.reserved | self.marked(taken))
        self._trays = Trays(self, self.blocked)

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
        length = self.floor.racks_per_row
        return row * length + np.flatnonzero(self.usable[row * length : (row + 1) * length])

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
        return np.abs(self.x_m - self.floor.racks_per_row * self.floor.rack_pitch_m / 2)


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
