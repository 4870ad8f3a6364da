"""Ways of cables along the trays of a floor: within a hall, and over routes from hall to hall.

Lengths are in metres, rounded to a nanometre.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fabopt.floor.racks import DIGITS, Bools, Floats, Ints, Racks

# -- trays: the shortest way along them from rack to rack -------------------------------------------------------------


# Racks of a floor whose distances are kept in a table: 32 MB at this many.
_MOST_IN_TABLE = 2000
_LEFT, _RIGHT = 0, 1


class Ways(ABC):
    """What is known of the ways of a floor; of one of ordinary size all lengths are kept in a table."""

    def __init__(self, racks: Racks) -> None:
        self._racks = racks

    @property
    @abstractmethod
    def island(self) -> Ints:
        """A number that racks share if ways join them, shape (racks,); of no meaning for blocked racks."""

    def way_m(self, rack_a: Ints, rack_b: Ints) -> Floats:
        """The shortest way between the middles of racks, in metres, broadcast; infinite if there is none."""
        if len(self._racks) <= _MOST_IN_TABLE:
            return np.asarray(self._all_ways_m[rack_a, rack_b])
        return self._measured_m(*np.broadcast_arrays(rack_a, rack_b))

    @cached_property
    def _all_ways_m(self) -> Floats:
        """Ways between all racks, shape (racks, racks): asked for again and again."""
        racks = np.arange(len(self._racks))
        return self._measured_m(*np.broadcast_arrays(racks[:, None], racks[None, :]))

    @abstractmethod
    def _measured_m(self, a: Ints, b: Ints) -> Floats:
        """The shortest ways, of the shape of both."""


def ways_on(racks: Racks, blocked: Bools) -> Ways:
    """The ways of a floor. ``blocked``: racks above which a row's tray is cut, shape (racks,)."""
    if not racks.halls:
        return Trays(racks, blocked)
    starts = np.cumsum([0, *map(len, racks.halls)])
    trays = [Trays(hall, blocked[start : start + len(hall)]) for hall, start in zip(racks.halls, starts, strict=False)]
    return HallWays(racks, trays, starts)


class Trays(Ways):
    """The trays of a floor. ``blocked``: racks above which a row's tray is cut, shape (racks,)."""

    def __init__(self, racks: Racks, blocked: Bools) -> None:
        super().__init__(racks)
        self._blocked = blocked

    def _measured_m(self, a: Ints, b: Ints) -> Floats:
        """The shortest ways along trays. Without a cut between them, racks of one row are joined directly. All others
        pass the cross tray next to each rack on one of its two sides: a cross tray runs over every row, so no way
        leaves a row and comes back to it through a farther one for less.
        """
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


# -- several halls: over the routes between them ----------------------------------------------------------------------


class HallWays(Ways):
    """The ways of several halls, each with its ``trays``: the shortest, but of racks that a route lists.

    Rule ``routes_join_halls``.

    ``starts``: the first rack of each hall, shape (halls + 1,).
    """

    def __init__(self, racks: Racks, trays: Sequence[Trays], starts: Ints) -> None:
        super().__init__(racks)
        self._trays, self._starts = trays, starts
        self.routes_m = [route.m for route in racks.floor.ways]
        ends = [racks.rack_index(end) for route in racks.floor.ways for end in route.ends]
        self.exits: Ints = np.array(ends, dtype=np.int64).reshape(-1, 2)

    def _measured_m(self, a: Ints, b: Ints) -> Floats:
        best = self._in_halls_m(a, b)
        for near in range(len(self._points)):
            for far in range(len(self._points)):
                if np.isfinite(between_m := self._between_m[near, far]):
                    over_m = self._to_points_m[near, a] + self._to_points_m[far, b]
                    best = np.minimum(best, over_m + between_m)
        for number, (near_rack, far_rack) in self._paired:
            on = ((a == near_rack) & (b == far_rack)) | ((a == far_rack) & (b == near_rack))
            near, far = np.searchsorted(self._points, self.exits[number])
            own_m = self._to_points_m[near, near_rack] + self.routes_m[number] + self._to_points_m[far, far_rack]
            best = np.where(on, own_m, best)
        return np.round(best, DIGITS)

    @cached_property
    def _paired(self) -> list[tuple[int, tuple[int, int]]]:
        """Pairs of racks whose cables take a route of their own, with its number."""
        ways, index = self._racks.floor.ways, self._racks.rack_index
        pairs = ((number, pair) for number, route in enumerate(ways) for pair in route.full_pairs)
        return [(number, (index(near), index(far))) for number, (near, far) in pairs]

    def _in_halls_m(self, a: Ints, b: Ints) -> Floats:
        """The shortest ways that leave no hall."""
        ways = np.full(a.shape, np.inf)
        for number, trays in enumerate(self._trays):
            inside = (self._racks.hall_of[a] == number) & (self._racks.hall_of[b] == number)
            start = self._starts[number]
            ways[inside] = trays.way_m(a[inside] - start, b[inside] - start)
        return ways

    @cached_property
    def _points(self) -> Ints:
        """Racks above which routes end, shape (points,)."""
        return np.unique(self.exits)

    @cached_property
    def _to_points_m(self) -> Floats:
        """Ways within halls from every such point to every rack, shape (points, racks)."""
        racks = np.arange(len(self._racks))
        return self._in_halls_m(*np.broadcast_arrays(self._points[:, None], racks[None, :]))

    @cached_property
    def _between_m(self) -> Floats:
        """The shortest ways between the points, over routes and through halls, shape (points, points)."""
        ways = np.array(self._to_points_m[:, self._points])
        for (a, b), route_m in zip(np.searchsorted(self._points, self.exits).tolist(), self.routes_m, strict=True):
            ways[a, b] = ways[b, a] = min(ways[a, b], route_m)
        for through in range(len(ways)):
            ways = np.minimum(ways, ways[:, through, None] + ways[None, through])
        return ways

    @cached_property
    def island(self) -> Ints:
        """A number that racks share if trays and routes join them, shape (racks,); of no meaning for blocked racks."""
        number = np.empty(len(self._racks), dtype=np.int64)
        for hall, trays in enumerate(self._trays):
            number[self._starts[hall] : self._starts[hall + 1]] = trays.island
        labels = np.unique(np.stack([self._racks.hall_of, number]), axis=1, return_inverse=True)[1].ravel()
        for a, b in self.exits.tolist():
            labels[labels == labels[b]] = labels[a]
        return labels
