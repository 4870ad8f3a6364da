"""Routes of cables along the trays of a floor, segment by segment.

A *segment* is a piece of a tray between two neighbouring points: middles of racks, and crossings of a row's tray with a
cross tray. A cable takes the shortest way; of equally short ones that whose points come first, from left to right and
then row by row, seen from the rack that comes first on the floor. Between two racks that a route between halls lists,
it takes that route, and the shortest ways to it in both halls. A cable within a rack is in no tray.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from math import inf
from typing import NamedTuple

from fabopt.floor.plan import FloorPlan

_NANOMETRES = 10**9


class Segment(NamedTuple):
    """A piece of a tray: ``A03-A04``; from a rack to the cross tray after the fourth ``A04-A:X4``; ``X4 A-B``; or a
    route between two halls, by its ``number``: ``EAST-A01 to WEST-A01, north duct``.
    """

    name: str
    is_cross: bool = False
    route: int | None = None


class _Point(NamedTuple):
    """A rack's middle or a crossing; the order in which equally short ways are taken."""

    x_nm: int
    row: int
    name: str


class _Crossing(NamedTuple):
    """Where a cross tray of a hall meets a row's tray."""

    hall: int
    position: int
    row: int
    x_m: float


class TrayRoutes:
    """The routes between the racks of a floor, each worked out when it is first asked for."""

    def __init__(self, plan: FloorPlan) -> None:
        self._plan = plan
        self._known: dict[tuple[int, int], tuple[int, ...]] = {}
        self._away: dict[tuple[int, bool], tuple[int | float, ...]] = {}

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """All segments, row by row and then cross tray by cross tray."""
        return tuple(segment for _, _, segment in self._pieces)

    def of(self, rack_a: int, rack_b: int) -> tuple[int, ...]:
        """Indices of the segments between two racks, from the first on the floor; empty within one rack.

        Raises ``ValueError`` where no tray leads.
        """
        first, last = sorted((rack_a, rack_b))
        if (first, last) not in self._known:
            route = self._own_routes.get((first, last))
            self._known[first, last] = tuple(
                self._walk(first, last) if route is None else self._over(route, first, last)
            )
        return self._known[first, last]

    def names_between(self, rack_a: str, rack_b: str) -> str:
        """The routes between halls that a cable between two racks takes, in turn; empty within a hall, and where an end
        has no rack.
        """
        if not rack_a or not rack_b:
            return ""
        passed = (self.segments[index] for index in self.of(*map(self._plan.rack_index, (rack_a, rack_b))))
        return " + ".join(segment.name for segment in passed if segment.route is not None)

    @cached_property
    def _own_routes(self) -> dict[tuple[int, int], int]:
        """Numbers of the routes of pairs of racks that have one of their own, the first on the floor first."""
        index = self._plan.rack_index
        ways = enumerate(self._plan.floor.ways)
        pairs = ((number, sorted(map(index, pair))) for number, route in ways for pair in route.full_pairs)
        return {(first, last): number for number, (first, last) in pairs}

    def _over(self, number: int, first: int, last: int) -> Iterator[int]:
        """Over a route of their own: trays within either hall, and the route."""
        ends = [self._plan.rack_index(end) for end in self._plan.floor.ways[number].ends]
        near, far = ends if self._plan.hall_of[ends[0]] == self._plan.hall_of[first] else ends[::-1]
        yield from self._walk(first, near, stays=True)
        yield next(index for index, segment in enumerate(self.segments) if segment.route == number)
        yield from self._walk(far, last, stays=True)

    def _walk(self, first: int, last: int, stays: bool = False) -> Iterator[int]:
        away = self._distances(last, stays)
        if away[first] == inf:
            raise ValueError(f"no tray leads from {self._plan.ids[first]} to {self._plan.ids[last]}")
        here = first
        while here != last:
            onward = (
                (self._points[there], there, index)
                for there, index, length in self._neighbours[here]
                if away[there] + length == away[here] and not (stays and self.segments[index].route is not None)
            )
            _, here, index = min(onward)
            yield index

    def _distances(self, target: int, stays: bool) -> tuple[int | float, ...]:
        """Nanometres of tray from every point to a rack; ``stays``: over no route."""
        if (target, stays) not in self._away:
            away: list[int | float] = [inf] * len(self._points)
            away[target] = 0
            queue: list[tuple[int | float, int]] = [(0, target)]
            while queue:
                so_far, here = heappop(queue)
                for there, index, length in self._neighbours[here] if so_far == away[here] else ():
                    if so_far + length < away[there] and not (stays and self.segments[index].route is not None):
                        away[there] = so_far + length
                        heappush(queue, (so_far + length, there))
            self._away[target, stays] = tuple(away)
        return self._away[target, stays]

    @cached_property
    def _points(self) -> tuple[_Point, ...]:
        """Racks by their index, then crossings, cross tray by cross tray."""
        plan = self._plan
        racks = zip(plan.x_m.tolist(), plan.row.tolist(), plan.ids, strict=True)
        crossings = ((cross.x_m, cross.row, f"X{cross.position}") for cross in self._crossings)
        return tuple(_Point(_nm(x_m), row, name) for x_m, row, name in (*racks, *crossings))

    @cached_property
    def _crossings(self) -> tuple[_Crossing, ...]:
        """Every crossing, hall by hall and cross tray by cross tray."""
        crossings: list[_Crossing] = []
        before = 0
        for hall, part in enumerate(self._plan.floor.parts):
            for position in part.cross_positions:
                rows = range(before, before + part.rows)
                crossings += (_Crossing(hall, position, row, position * part.rack_pitch_m) for row in rows)
            before += part.rows
        return tuple(crossings)

    @cached_property
    def _pieces(self) -> tuple[tuple[int, int, Segment], ...]:
        """The points at both ends of every segment, with it."""
        return (*self._of_rows(), *self._of_cross_trays(), *self._of_routes())

    def _of_rows(self) -> Iterator[tuple[int, int, Segment]]:
        points, blocked = self._points, {index for index, cut in enumerate(self._plan.blocked.tolist()) if cut}
        order = sorted(range(len(points)), key=lambda index: (points[index].row, points[index]))
        for near, far in pairwise(order):
            if points[near].row == points[far].row and not blocked & {near, far}:
                yield near, far, Segment(f"{self._name(near)}-{self._name(far)}")

    def _name(self, point: int) -> str:
        name, letters = self._points[point].name, self._plan.row_names[self._points[point].row]
        return name if point < len(self._plan) else f"{letters}:{name}"

    def _of_cross_trays(self) -> Iterator[tuple[int, int, Segment]]:
        names = self._plan.row_names
        for index, (near, far) in enumerate(pairwise(self._crossings), start=len(self._plan)):
            if near[:2] == far[:2]:
                yield index, index + 1, Segment(f"X{near.position} {names[near.row]}-{names[far.row]}", True)

    def _of_routes(self) -> Iterator[tuple[int, int, Segment]]:
        for number, route in enumerate(self._plan.floor.ways):
            near, far = (self._plan.rack_index(end) for end in route.ends)
            yield near, far, Segment(route.name, route=number)

    @cached_property
    def _neighbours(self) -> tuple[tuple[tuple[int, int, int], ...], ...]:
        """For every point those next to it, with the segment between and its nanometres."""
        row_nm = [_nm(row_m) for row_m in self._plan.row_m.tolist()]
        joined: list[list[tuple[int, int, int]]] = [[] for _ in self._points]
        for index, (near, far, segment) in enumerate(self._pieces):
            a, b = self._points[near], self._points[far]
            length = abs(a.x_nm - b.x_nm) + abs(row_nm[a.row] - row_nm[b.row])
            if segment.route is not None:
                length = _nm(self._plan.floor.ways[segment.route].m)
            joined[near].append((far, index, length))
            joined[far].append((near, index, length))
        return tuple(map(tuple, joined))


def _nm(metres: float) -> int:
    return round(metres * _NANOMETRES)
