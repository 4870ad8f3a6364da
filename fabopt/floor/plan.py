"""The floor plan: where racks stand, and how long a cable between two of them runs.

Racks stand in parallel rows. A tray runs above each row and is cut where a rack is blocked; cross trays run over all
rows at their positions. A cable between two racks goes up from its box to the tray, along the shortest way of trays,
and down again; within a rack it goes straight. Lengths are in metres; they are rounded to a nanometre, so that equal
runs are equal numbers in whatever order they were added up.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabopt.schema.case import Floor, Site
from fabopt.schema.catalog import Server
from fabopt.units import ceil_div, exact

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# EIA-310-D (IEC 60297-3-100): a rack unit is 1.75 in = 44.45 mm.
UNIT_M = 0.04445
# The lowest unit of common 19-inch racks begins about this high: feet or castors and the frame.
RACK_FOOT_M = 0.1

_DIGITS = 9
_LETTERS = 26
_LEFT, _RIGHT = 0, 1


def row_letters(row: int) -> str:
    """Return the name of a row, from 0: ``A`` to ``Z``, then ``AA``, ``AB``, ..."""
    letters = ""
    row += 1
    while row:
        row, digit = divmod(row - 1, _LETTERS)
        letters = chr(ord("A") + digit) + letters
    return letters


def row_of_letters(letters: str) -> int:
    """Return the row, from 0, that capital letters name."""
    row = 0
    for letter in letters:
        row = row * _LETTERS + ord(letter) - ord("A") + 1
    return row - 1


def rack_id(row: int, position: int) -> str:
    """Return the id of a rack, both from 0: ``A01`` is the first; more than two digits only from 100 on."""
    return f"{row_letters(row)}{position + 1:02d}"


def height_m(unit: ArrayLike, height_u: ArrayLike) -> Floats:
    """Return how high above the floor the middle of a box is whose lowest unit is ``unit`` (from 1)."""
    units = np.asarray(unit, dtype=np.float64) - 1 + np.asarray(height_u, dtype=np.float64) / 2
    return np.round(RACK_FOOT_M + units * UNIT_M, _DIGITS)


def servers_that_fit(
    floor: Floor, server_units: float, server_power_w: float | None, keep_units: float = 0, keep_power_w: float = 0
) -> int:
    """Return the most servers for which a rack has units and power, with some of both kept free for switches.

    A server fills whole units.

    ``server_power_w`` may be None only on a floor without ``rack_power_w``.
    """
    fit = int((floor.rack_units - exact(keep_units)) // ceil(exact(server_units)))
    if floor.rack_power_w is not None and server_power_w:
        fit = min(fit, int((exact(floor.rack_power_w) - exact(keep_power_w)) // exact(server_power_w)))
    return max(0, fit)


def servers_per_rack(site: Site, server: Server) -> int | None:
    """Return how many servers share a rack: as given, else the most that fit the floor's racks, else None."""
    if site.servers_per_rack is not None or site.floor is None or server.rack_units is None:
        return site.servers_per_rack
    return servers_that_fit(site.floor, server.rack_units, server.power_w)


def racks_needed(servers: int, per_rack: int) -> int:
    """Return how many racks servers fill; compare with ``FloorPlan.usable_racks``."""
    return ceil_div(servers, per_rack)


# Racks of a floor whose distances are kept in a table: 32 MB at this many.
_MOST_IN_TABLE = 2000


class FloorPlan:
    """Racks as arrays, and the distances between them. A rack is named by its index, row after row.

    ids                 rack ids
    row, position       both from 0
    x_m, y_m            along the row from its beginning to the rack's middle; across, from the first row's middle
    blocked, reserved   nothing stands there and the row's tray is cut; somebody else's, the tray passes
    usable              neither of both, and not one of ``taken``, in which something else stands

    ``ValueError`` if the floor contradicts itself; one of a case file does not, but a design file may be damaged.
    """

    def __init__(self, floor: Floor, taken: Iterable[str] = ()) -> None:
        self.floor = floor
        rows, length = floor.rows, floor.racks_per_row
        if len(floor.aisles_m) != rows - 1 or floor.cross_positions[-1] > length:
            raise ValueError("the floor's aisles are not one fewer than its rows, or a cross tray is outside the rows")
        self.ids = tuple(rack_id(row, position) for row in range(rows) for position in range(length))
        self._index = {id_: index for index, id_ in enumerate(self.ids)}
        self.row: Ints = np.repeat(np.arange(rows, dtype=np.int64), length)
        self.position: Ints = np.tile(np.arange(length, dtype=np.int64), rows)
        self._row_m = _row_middles_m(floor)
        self.x_m: Floats = np.round((self.position + 0.5) * floor.rack_pitch_m, _DIGITS)
        self.y_m: Floats = self._row_m[self.row]
        self.blocked = self._marked(floor.blocked)
        self.reserved = self._marked(floor.reserved)
        self.usable: Bools = ~(self.blocked | self.reserved | self._marked(taken))

    def __len__(self) -> int:
        """How many racks, usable or not."""
        return len(self.ids)

    @property
    def usable_racks(self) -> int:
        """How many racks are neither blocked nor reserved."""
        return int(self.usable.sum())

    def rack_index(self, id_: str) -> int:
        """Return the index of a rack; ``ValueError`` if the floor has none of that name."""
        if id_ not in self._index:
            raise ValueError(f"the floor has no rack {id_}; its racks are {self.ids[0]} to {self.ids[-1]}")
        return self._index[id_]

    # -- cable runs ---------------------------------------------------------------------------------------------------

    def run_m(self, rack_a: ArrayLike, height_a_m: ArrayLike, rack_b: ArrayLike, height_b_m: ArrayLike) -> Floats:
        """Return the cable needed between boxes at these heights (see ``height_m``) in these racks, broadcast.

        Infinite where no tray leads from one rack to the other.
        """
        floor = self.floor
        a, b = np.asarray(rack_a, dtype=np.int64), np.asarray(rack_b, dtype=np.int64)
        up = np.asarray(height_a_m, dtype=np.float64)
        down = np.asarray(height_b_m, dtype=np.float64)
        ends = (floor.tray_height_m - up) + (floor.tray_height_m - down) + 2 * floor.drop_m
        run = np.where(a == b, np.abs(up - down), ends + self.tray_m(a, b)) + floor.slack_m
        return np.round(run, _DIGITS)

    def tray_m(self, rack_a: ArrayLike, rack_b: ArrayLike) -> Floats:
        """Return the shortest way along trays between the middles of racks, broadcast; infinite if there is none.

        Without a cut between them, racks of one row are joined directly. All other ways pass the cross tray next to
        each rack on one of its two sides: a cross tray runs over every row, so no way leaves a row and comes back
        to it through a farther one for less.
        """
        a, b = np.asarray(rack_a, dtype=np.int64), np.asarray(rack_b, dtype=np.int64)
        if len(self) <= _MOST_IN_TABLE:
            return np.asarray(self._all_trays_m[a, b])
        return self._measured_tray_m(*np.broadcast_arrays(a, b))

    @cached_property
    def _all_trays_m(self) -> Floats:
        """Tray distances between all racks: a floor of ordinary size is asked for them again and again."""
        racks = np.arange(len(self))
        return self._measured_tray_m(*np.broadcast_arrays(racks[:, None], racks[None, :]))

    def _measured_tray_m(self, a: Ints, b: Ints) -> Floats:
        best: Floats = np.asarray(
            np.where(self._stretch[a] == self._stretch[b], np.abs(self.x_m[a] - self.x_m[b]), np.inf)
        )
        for out in (_LEFT, _RIGHT):
            for back in (_LEFT, _RIGHT):
                way = self._crossing_ways_m[self._crossing[out, a], self._crossing[back, b]]
                way += self._to_crossing_m[out, a]
                way += self._to_crossing_m[back, b]
                best = np.minimum(best, way)
        return np.round(best, _DIGITS)

    def cut_off(self) -> tuple[str, ...]:
        """Return the usable racks that no tray joins to the most others; empty if trays join all."""
        usable = np.flatnonzero(self.usable)
        if not usable.size:
            return ()
        labels, sizes = np.unique(self._island[usable], return_counts=True)
        lost = usable[self._island[usable] != labels[np.argmax(sizes)]]
        return tuple(self.ids[rack] for rack in lost)

    # -- orders of racks, for placement -------------------------------------------------------------------------------

    def racks_of(self, row: int) -> Ints:
        """Return the usable racks of a row, in order."""
        length = self.floor.racks_per_row
        return row * length + np.flatnonzero(self.usable[row * length : (row + 1) * length])

    def from_centre(self, served: ArrayLike | None = None) -> Ints:
        """Return the usable racks by rising distance from the middle (median) of the racks served; None: of all usable.

        Distances are |x| + |y|, whatever way the trays take; equally near racks stay in order of index.
        """
        usable = np.flatnonzero(self.usable)
        around = usable if served is None else np.asarray(served, dtype=np.int64)
        if not around.size:
            return usable
        away = np.abs(self.x_m - np.median(self.x_m[around])) + np.abs(self.y_m - np.median(self.y_m[around]))
        return self._ordered(usable, away)

    def middle(self, rows: Iterable[int] | None = None) -> Ints:
        """Return the usable racks of rows (None: of all), those nearest the middles of their rows first."""
        return self._ordered(self._racks_of(rows), self._from_middle_m)

    def ends(self, rows: Iterable[int] | None = None) -> Ints:
        """Return the usable racks of rows (None: of all), those nearest the ends of their rows first."""
        return self._ordered(self._racks_of(rows), -self._from_middle_m)

    def network_racks(self) -> Ints:
        """Return the usable racks in which racks of switches may stand, in the order that ``network_racks`` asks for.

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
        listed = np.array([self.rack_index(id_) for id_ in wanted], dtype=np.int64)
        return listed[self.usable[listed]]

    def _racks_of(self, rows: Iterable[int] | None) -> Ints:
        chosen = range(self.floor.rows) if rows is None else sorted(set(rows))
        return np.concatenate([np.empty(0, dtype=np.int64), *(self.racks_of(row) for row in chosen)])

    def _ordered(self, racks: Ints, key: Floats) -> Ints:
        return racks[np.argsort(np.round(key[racks], _DIGITS), kind="stable")]

    @cached_property
    def _from_middle_m(self) -> Floats:
        return np.abs(self.x_m - self.floor.racks_per_row * self.floor.rack_pitch_m / 2)

    def _marked(self, ids: Iterable[str]) -> Bools:
        marked = np.zeros(len(self), dtype=np.bool_)
        marked[[self.rack_index(id_) for id_ in ids]] = True
        return marked

    # -- tables of the trays ------------------------------------------------------------------------------------------

    @cached_property
    def _cross(self) -> Ints:
        """Positions of the cross trays. A *crossing* is where one meets a row's tray: cross tray x rows + row."""
        return np.array(self.floor.cross_positions, dtype=np.int64)

    @cached_property
    def _cuts_before(self) -> Ints:
        """Blocked racks of a row (first index) before a position."""
        cuts = self.blocked.reshape(self.floor.rows, self.floor.racks_per_row).cumsum(axis=1)
        return np.pad(cuts, ((0, 0), (1, 0)))

    @cached_property
    def _stretch(self) -> Ints:
        """A number that racks share if one uncut tray joins them; a blocked rack has one of its own."""
        begins = self.blocked | (self.position == 0)
        return np.where(self.blocked, -1 - np.arange(len(self)), begins.cumsum())

    @cached_property
    def _next_cross(self) -> Ints:
        """For each side and rack the next cross tray that the row's tray leads to, as an index; -1 if none."""
        left = np.searchsorted(self._cross, self.position, side="right") - 1
        right = np.searchsorted(self._cross, self.position + 1, side="left")
        there = np.stack([left >= 0, right < len(self._cross)])
        sides = np.clip(np.stack([left, right]), 0, len(self._cross) - 1)
        cuts = self._cuts_before
        uncut = np.stack(
            [
                cuts[self.row, self._cross[sides[_LEFT]]] == cuts[self.row, self.position + 1],
                cuts[self.row, self._cross[sides[_RIGHT]]] == cuts[self.row, self.position],
            ]
        )
        return np.where(there & uncut, sides, -1)

    @cached_property
    def _crossing(self) -> Ints:
        """For each side and rack the next crossing; any where there is none, for it is infinitely far."""
        return np.maximum(self._next_cross, 0) * self.floor.rows + self.row

    @cached_property
    def _to_crossing_m(self) -> Floats:
        """For each side and rack the way to the next crossing; infinite if there is none."""
        away = np.abs(self._cross[self._next_cross] * self.floor.rack_pitch_m - self.x_m)
        return np.where(self._next_cross < 0, np.inf, away)

    @cached_property
    def _passes(self) -> Bools:
        """For each two neighbouring cross trays (first index) the rows whose tray joins them."""
        cuts = self._cuts_before[:, self._cross].T
        passes: Bools = cuts[1:] == cuts[:-1]
        return passes

    @cached_property
    def _island(self) -> Ints:
        """A number that racks share if trays join them; of no meaning for blocked racks."""
        joined = np.concatenate([[0], (~self._passes.any(axis=1)).cumsum()])
        cross = self._next_cross.max(axis=0)
        return np.where(cross < 0, -self._stretch, joined[cross])

    @cached_property
    def _crossing_ways_m(self) -> Floats:
        """The shortest ways between all crossings: the distance along the rows, and the least way across them.

        A shortest way never turns back along the rows, as cross trays run over every row. So the way across is found
        cross tray by cross tray: between two of them it must be in a row whose tray joins them.
        """
        rows, trays = self.floor.rows, len(self._cross)
        across = np.full((trays, rows, trays, rows), np.inf)
        for tray in range(trays):
            across[tray, :, tray, :] = np.abs(self._row_m[:, None] - self._row_m)
            across[tray, :, :tray, :] = across[:tray, :, tray, :].transpose(2, 0, 1)
            if tray + 1 < trays:
                passing = np.where(self._passes[tray], across[: tray + 1, :, tray, :], np.inf)
                across[: tray + 1, :, tray + 1, :] = _spread(passing, self._row_m)
        along = self._cross * self.floor.rack_pitch_m
        across += np.abs(along[:, None] - along)[:, None, :, None]
        return across.reshape(trays * rows, trays * rows)


def _row_middles_m(floor: Floor) -> Floats:
    """Return how far each row's middle is from the first one's: a rack's depth and an aisle from row to row."""
    middles = [Fraction(0)]
    for aisle in floor.aisles_m:
        middles.append(middles[-1] + exact(floor.rack_depth_m) + exact(aisle))
    return np.array([round(float(middle), _DIGITS) for middle in middles], dtype=np.float64)


def _spread(ways_m: Floats, row_m: Floats) -> Floats:
    """Return the least way to each row (last index), over ways that end in any row and a walk from there."""
    down: Floats = np.minimum.accumulate(ways_m - row_m, axis=-1) + row_m
    up: Floats = np.minimum.accumulate((ways_m + row_m)[..., ::-1], axis=-1)[..., ::-1] - row_m
    least: Floats = np.minimum(down, up)
    return np.round(least, _DIGITS)
