"""Racks: ids, capacity, heights of devices, and positions on the floor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from string import digits
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabopt.floor.loads import RackLoad, load_of_server, most_in_rack, times_in
from fabopt.schema.case import Floor, Site
from fabopt.schema.server import Server
from fabopt.schema.site import UNIT_M as UNIT_M
from fabopt.units import ceil_div, exact

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Bools = NDArray[np.bool_]

# The lowest unit of common 19-inch racks begins about this high: feet or castors and the frame.
RACK_FOOT_M = 0.1

# Lengths in metres are rounded to so many digits: a nanometre.
DIGITS = 9
_LETTERS = 26


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


def place_of(rack: str) -> tuple[tuple[str, int], int]:
    """The row of a rack, by hall and number, and its number in the row, by its id: to order racks by."""
    hall, _, own = rack.rpartition("-")
    letters = own.rstrip(digits)
    return (hall, row_of_letters(letters)), int(own[len(letters) :])


def rack_id(row: int, position: int) -> str:
    """Return the id of a rack, both from 0: ``A01`` is the first; more than two digits only from 100 on."""
    return f"{row_letters(row)}{position + 1:02d}"


def height_m(unit: ArrayLike, height_u: ArrayLike) -> Floats:
    """Return the height in metres above the floor of the middle of a device, broadcast.

    ``unit``: its lowest unit, from 1; ``height_u``: its height in units.
    """
    units = np.asarray(unit, dtype=np.float64) - 1 + np.asarray(height_u, dtype=np.float64) / 2
    return np.round(RACK_FOOT_M + units * UNIT_M, DIGITS)


def servers_that_fit(floor: Floor, server_units: float, server: RackLoad, keep_units: int = 0) -> int:
    """Return the most servers for what a rack holds and takes, with ``keep_units`` left free.

    A server fills whole units; ``server``: its load.
    """
    fit = (floor.rack_units - keep_units) // ceil(exact(server_units))
    return max(0, min(fit, times_in(server, most_in_rack(floor))))


def servers_per_rack(site: Site, server: Server, keep_units: int = 0) -> int | None:
    """Return the servers in a rack: as stated, else a whole rack's, else the most that fit on the floor, else None.

    ``keep_units``: units of a rack not for servers; a whole rack contains its own.
    """
    if site.servers_per_rack is not None:
        return site.servers_per_rack
    if server.rack is not None:
        return server.rack.servers
    if site.floor is None or server.rack_units is None:
        return None
    return servers_that_fit(site.floor, server.rack_units, load_of_server(server), keep_units)


def racks_needed(servers: int, per_rack: int) -> int:
    """Return the number of racks that servers fill, by rule ``servers_fill_racks``."""
    return ceil_div(servers, per_rack)


@dataclass(frozen=True, eq=False)
class Positions:
    """Positions of the devices of one role in the order of their numbers, each of shape (devices,).

    ``rack``: index; ``unit``: the lowest unit of the device, from 1; ``height_m``: of its ports.
    """

    rack: Ints
    unit: Ints
    height_m: Floats


class _Columns(NamedTuple):
    """Arrays of racks, and of rows (``row_m``), as ``Racks`` has them."""

    row: Ints
    position: Ints
    x_m: Floats
    half_m: Floats
    row_m: Floats


# Ids of racks, names of rows, and their arrays.
_Laid = tuple[tuple[str, ...], tuple[str, ...], _Columns]


class Racks:
    """The racks of a floor as arrays, each of shape (racks,). A rack is named by its index, row after row.

    ids                 rack ids
    row, position       both from 0
    x_m, y_m            along the row from its beginning to the rack's middle; across, from the first row's middle
    half_m              x_m of the middle of its row
    row_m               y_m of every row, shape (rows,)
    row_start           the first rack of every row, and the number of racks, shape (rows + 1,)
    row_names           of every row
    halls               the racks of each of several halls by itself; empty for one

    ``ValueError`` if the floor contradicts itself, as in a damaged design file.
    """

    def __init__(self, floor: Floor) -> None:
        self.floor = floor
        self.halls: tuple[Racks, ...] = () if floor.parts == (floor,) else tuple(map(Racks, floor.parts))
        self.ids, self.row_names, columns = self._joined() if self.halls else self._alone()
        self.row, self.position, self.x_m, self.half_m, self.row_m = columns
        self._index = MappingProxyType({id_: index for index, id_ in enumerate(self.ids)})
        self.y_m: Floats = self.row_m[self.row]
        self.row_start: Ints = np.searchsorted(self.row, np.arange(len(self.row_names) + 1))

    def _alone(self) -> _Laid:
        """The racks of one hall."""
        floor = self.floor
        rows, length = floor.rows, floor.racks_per_row
        if len(floor.aisles_m) != rows - 1 or floor.cross_positions[-1] > length:
            raise ValueError("the floor's aisles are not one fewer than its rows, or a cross tray is outside the rows")
        ids = tuple(f"{floor.prefix}{rack_id(row, position)}" for row in range(rows) for position in range(length))
        position = np.tile(np.arange(length, dtype=np.int64), rows)
        columns = _Columns(
            np.repeat(np.arange(rows, dtype=np.int64), length),
            position,
            np.round((position + 0.5) * floor.rack_pitch_m, DIGITS),
            np.full(len(ids), length * floor.rack_pitch_m / 2),
            _row_middles_m(floor),
        )
        return ids, tuple(f"{floor.prefix}{row_letters(row)}" for row in range(rows)), columns

    def _joined(self) -> _Laid:
        """The racks of several halls, one hall behind the other, the shortest route to it away."""
        laid: list[_Columns] = []
        rows, behind_m = 0, 0.0
        for hall in self.halls:
            routes = [route.m for route in self.floor.ways if hall.floor.prefix[:-1] in route.between]
            behind_m += min(routes, default=0.0) if laid else 0.0
            laid.append(_Columns(hall.row + rows, hall.position, hall.x_m, hall.half_m, hall.row_m + behind_m))
            rows, behind_m = rows + len(hall.row_names), float(laid[-1].row_m[-1])
        columns = _Columns(*map(np.concatenate, zip(*laid, strict=True)))
        names = tuple(name for hall in self.halls for name in hall.row_names)
        return tuple(id_ for hall in self.halls for id_ in hall.ids), names, columns

    @cached_property
    def hall_of(self) -> Ints:
        """Number of the hall of every rack, shape (racks,)."""
        return np.repeat(np.arange(len(self.halls) or 1), [len(hall) for hall in self.halls or (self,)])

    def __len__(self) -> int:
        """Number of racks, usable or not."""
        return len(self.ids)

    def rack_index(self, id_: str) -> int:
        """Return the index of a rack; ``ValueError`` if the floor has none of that name."""
        if id_ not in self._index:
            raise ValueError(f"the floor has no rack {id_}; its racks are {self.ids[0]} to {self.ids[-1]}")
        return self._index[id_]

    def indices(self, ids: Iterable[str]) -> Ints:
        """Return the indices of the racks named ``ids``, in their order, shape (racks named,).

        ``ValueError`` for a name that is unknown.
        """
        return np.array([self.rack_index(id_) for id_ in ids], dtype=np.int64)

    def marked(self, ids: Iterable[str]) -> Bools:
        """Return a mask of the racks named ``ids``, shape (racks,).

        ``ValueError`` for an unknown name.
        """
        marked = np.zeros(len(self), dtype=np.bool_)
        marked[[self.rack_index(id_) for id_ in ids]] = True
        return marked


def _row_middles_m(floor: Floor) -> Floats:
    """Return metres from each row's middle to the first one's: a rack's depth and an aisle for each row between."""
    middles = [Fraction(0)]
    for aisle in floor.aisles_m:
        middles.append(middles[-1] + exact(floor.rack_depth_m) + exact(aisle))
    return np.array([round(float(middle), DIGITS) for middle in middles], dtype=np.float64)
