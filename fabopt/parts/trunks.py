"""Trunks between the panels of racks: the cheapest that hold the legs of every route, and panels with ports for these.

Legs of a route are those of its links, and spare ones. A leg that a trunk has beyond them needs no port, so every route
and every rack is decided by itself: by dynamic programming over the number of legs (ports), exactly in whole cents. See
docs/formulation/floor.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup


class TrunkPiece(NamedTuple):
    """A type of trunk in one length, or of panel: what one costs, and the legs or ports that it has."""

    cost: int
    holds: int
    item: Item


# Pieces by item, and how many.
Pieces = tuple[tuple[Item, int], ...]


class TrunkedRoute(NamedTuple):
    """Links between two racks, by their ids in the order of the floor, their legs, and the trunks that hold these."""

    a: str
    b: str
    links: int
    legs: int
    trunks: Pieces


class TrunkedKind(NamedTuple):
    """Links of one kind through trunks and panels.

    ``jumper``: at both ends of every link between racks, and all of one within a rack; ``far``: links between racks;
    ``panels``: of every rack, by its id.
    """

    kind: str
    connector: str
    fibre: str
    jumper: Item
    far: int
    routes: tuple[TrunkedRoute, ...]
    panels: tuple[tuple[str, Pieces], ...]

    @property
    def uses(self) -> dict[tuple[int, Item], int]:
        """Jumpers at far ends, trunks and panels, by (number of the stage, item)."""
        uses: Counter[tuple[int, Item]] = Counter({(0, self.jumper): self.far})
        for pieces in (*(route.trunks for route in self.routes), *(panels for _, panels in self.panels)):
            for item, count in pieces:
                uses[0, item] += count
        return dict(uses)


class RackRoute(NamedTuple):
    """Legs between two racks, as indices of a floor, and the trunks that are long enough."""

    a: int
    b: int
    legs: int
    trunks: tuple[TrunkPiece, ...]


class Trunking(NamedTuple):
    """Trunks of every route, and panels of every rack by its index."""

    routes: tuple[Pieces, ...]
    panels: Mapping[int, Pieces]


def least_trunking(routes: Sequence[RackRoute], panels: tuple[TrunkPiece, ...]) -> Trunking | None:
    """The cheapest trunks and panels of some routes; None if no trunk is long enough for a route, or no panel is there.

    Rules ``trunks_hold_legs`` and ``panels_hold_trunks``: legs of a route <= those of its trunks; legs of the routes
    that end in a rack <= ports of its panels.
    """
    ports: Counter[int] = Counter()
    for route in routes:
        ports[route.a] += route.legs
        ports[route.b] += route.legs
    trunks = [cover_of(route.legs, route.trunks) for route in routes]
    held = {rack: cover_of(count, panels) for rack, count in sorted(ports.items())}
    if None in trunks or None in held.values():
        return None
    return Trunking(
        tuple(pieces for pieces in trunks if pieces is not None),
        {rack: pieces for rack, pieces in held.items() if pieces is not None},
    )


def cover_of(need: int, pieces: tuple[TrunkPiece, ...]) -> Pieces | None:
    """The cheapest pieces that together hold so much; None if there are none. Of equally cheap ones the fewest, then
    the first ones.
    """
    if not pieces:
        return None
    return _COVERS.of(pieces[0].item, (need, pieces), _cover_of, need, pieces)


_COVERS: Lookup[Item, tuple[int, tuple[TrunkPiece, ...]], Pieces] = Lookup()


def _cover_of(need: int, pieces: tuple[TrunkPiece, ...]) -> Pieces:
    # of each need up to this one: its least cost, the number of pieces, and the place of one of them
    best: list[tuple[int, int, int]] = [(0, 0, 0)]
    for held in range(1, need + 1):
        costs = (
            (best[max(0, held - piece.holds)][0] + piece.cost, best[max(0, held - piece.holds)][1] + 1, place)
            for place, piece in enumerate(pieces)
        )
        best.append(min(costs))
    counts: Counter[int] = Counter()
    while need > 0:
        place = best[need][2]
        counts[place] += 1
        need -= pieces[place].holds
    return tuple((pieces[place].item, counts[place]) for place in sorted(counts))
