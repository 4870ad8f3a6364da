"""Trunks between the panels of racks: the cheapest that hold the legs of every route, and panels with ports for these.

Legs of a route are those of its links, and spare ones. A leg that a trunk has beyond them needs no port, so every route
and every rack is decided by itself: by dynamic programming over stages and the number of legs (ports), exactly in whole
cents. What a stage installs stays, and is there for later stages. See docs/formulation/growth.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup
from fabopt.schema.growth import PulledWord
from fabopt.units import summed

Ints = NDArray[np.int64]


class TrunkPiece(NamedTuple):
    """A type of trunk in one length, or of panel: what one costs at each stage, and the legs or ports that it has."""

    costs: tuple[int, ...]
    holds: int
    item: Item


# Pieces by the number of the stage that installs them and item, and how many.
Pieces = tuple[tuple[int, Item, int], ...]


class TrunkedRoute(NamedTuple):
    """Links between two racks, by their ids in the order of the floor, their legs, and the trunks that hold these; of
    the last stage.
    """

    a: str
    b: str
    links: int
    legs: int
    trunks: Pieces


class Routes(NamedTuple):
    """Routes between the panels of two racks.

    ``racks``: of both ends, as indices of a floor, shape (2, routes); ``links``, ``legs``: there by every stage, shape
    (routes, stages).
    """

    racks: Ints
    links: Ints
    legs: Ints


class Covers(NamedTuple):
    """The cheapest pieces for the numbers of some rows, most of which are like others: each once, and which of them a
    row has, shape (rows,).
    """

    pieces: tuple[Pieces, ...]
    of_row: Ints

    @property
    def by_row(self) -> Iterator[Pieces]:
        """The pieces of every row."""
        return (self.pieces[number] for number in self.of_row.tolist())

    @property
    def uses(self) -> Iterator[tuple[tuple[int, Item], int]]:
        """How many of all rows, by number of the stage and item."""
        rows: list[int] = np.bincount(self.of_row, minlength=len(self.pieces)).tolist()
        for pieces, number in zip(self.pieces, rows, strict=True):
            yield from (((stage, item), count * number) for stage, item, count in pieces)


class Trunking(NamedTuple):
    """Trunks of every route, and panels of ``racks``, indices of a floor in rising order, shape (racks,)."""

    trunks: Covers
    panels: Covers
    racks: Ints


@dataclass(frozen=True, eq=False)
class TrunkedKind:
    """Links of one kind through trunks and panels.

    ``jumper``: at both ends of every link between zones, and all of one within a zone; ``zones``: rows with the rack of
    their panels, none where these are in racks of devices; ``far``: links between zones that each stage adds;
    ``ids``: of the racks of the floor.
    """

    kind: str
    connector: str
    fibre: str
    jumper: Item
    zones: tuple[tuple[str, str], ...]
    far: tuple[int, ...]
    ids: Sequence[str]
    between: Routes
    trunking: Trunking

    @property
    def routes(self) -> Iterator[TrunkedRoute]:
        """The routes in the order of the floor."""
        ends, (_, links, legs) = self.between.racks.tolist(), self.between
        numbers = zip(*ends, links[:, -1].tolist(), legs[:, -1].tolist(), self.trunking.trunks.by_row, strict=True)
        for a, b, *others in numbers:
            yield TrunkedRoute(self.ids[a], self.ids[b], *others)

    @property
    def panels(self) -> Iterator[tuple[str, Pieces]]:
        """The panels of every rack, by its id."""
        racks = (self.ids[rack] for rack in self.trunking.racks.tolist())
        return zip(racks, self.trunking.panels.by_row, strict=True)

    @property
    def further_m(self) -> float:
        """Metres of the longest way beyond one jumper: a trunk, and the other jumper."""
        trunks = (item for (_, item), _ in self.trunking.trunks.uses)
        return (self.jumper.length_m or 0.0) + max((item.length_m or 0.0 for item in trunks), default=0.0)

    @cached_property
    def uses(self) -> Mapping[tuple[int, Item], int]:
        """Jumpers at far ends, trunks and panels, by (number of the stage, item)."""
        jumpers = (((stage, self.jumper), far) for stage, far in enumerate(self.far))
        return summed(chain(jumpers, self.trunking.trunks.uses, self.trunking.panels.uses))


def least_trunking(
    routes: Routes,
    trunks: Sequence[Sequence[TrunkPiece]],
    of_route: Ints,
    panels: Sequence[TrunkPiece],
    pulled: PulledWord,
) -> Trunking | None:
    """The cheapest trunks and panels of some routes; None if no trunk is long enough for a route, or no panel is there.

    Rules ``trunks_hold_legs`` and ``panels_hold_trunks``: by every stage legs of a route <= those of its trunks; legs
    of the routes that end in a rack <= ports of its panels. ``of_route``: which of ``trunks`` are long enough, shape
    (routes,).
    """
    racks, of_end = np.unique(routes.racks, return_inverse=True)
    ports = np.zeros((len(racks), routes.legs.shape[1]), dtype=np.int64)
    for ends in of_end.reshape(routes.racks.shape):
        np.add.at(ports, ends, routes.legs)
    held = _covers(routes.legs, trunks, of_route, pulled), _covers(ports, [panels], 0 * racks, pulled)
    return None if held[0] is None or held[1] is None else Trunking(held[0], held[1], racks)


def _covers(needs: Ints, pieces: Sequence[Sequence[TrunkPiece]], of_row: Ints, pulled: PulledWord) -> Covers | None:
    """The cheapest pieces that hold so much by each stage, shape (rows, stages), row by row; None if there are none for
    one. ``of_row``: which of ``pieces`` do, shape (rows,).
    """
    code = of_row
    for added in needs.T:
        code = np.unique(code * (int(added.max(initial=0)) + 1) + added, return_inverse=True)[1]
    first, place = np.unique(code, return_index=True, return_inverse=True)[1:]
    alike = zip(of_row[first].tolist(), needs[first].tolist(), strict=True)
    every = [cover_of(tuple(numbers), tuple(pieces[which]), pulled) for which, numbers in alike]
    covers = tuple(cover for cover in every if cover is not None)
    return Covers(covers, place) if len(covers) == len(every) else None


def cover_of(needs: tuple[int, ...], pieces: tuple[TrunkPiece, ...], pulled: PulledWord = "when_lit") -> Pieces | None:
    """The cheapest pieces that hold so much by each stage; None if there are none. Of equally cheap ones the fewest,
    then the latest. ``needs`` never fall.

    ``when_lit``: without any piece of a stage, what is there by then would hold too little; ``ahead``: the first stage
    installs all as the last one needs it; ``any``: whatever costs least, these two among it.
    """
    if not pieces:
        return None
    return _COVERS.of(pieces[0].item, (needs, pieces, pulled), _cover_of, needs, pieces, pulled)


_COVERS: Lookup[Item, tuple[tuple[int, ...], tuple[TrunkPiece, ...], PulledWord], Pieces] = Lookup()


class _Cover(NamedTuple):
    """Pieces in the order in which they are taken, the last one with those before: their cost, number, stages to go."""

    cost: int
    number: int
    early: int
    last: tuple[int, TrunkPiece] | None = None
    before: _Cover | None = None

    def is_below(self, other: _Cover | None) -> bool:
        return other is None or self[:3] < other[:3]

    def pieces(self) -> Iterator[tuple[int, TrunkPiece]]:
        cover: _Cover | None = self
        while cover is not None and cover.last is not None:
            yield cover.last
            cover = cover.before


def _cover_of(needs: tuple[int, ...], pieces: tuple[TrunkPiece, ...], pulled: PulledWord) -> Pieces:
    most = needs[-1]
    # the best of all that hold exactly so much, or what is needed at last and more
    best: list[_Cover | None] = [_Cover(0, 0, 0), *(None for _ in range(most))]
    for stage, needed in enumerate((most,) * len(needs) if pulled == "ahead" else needs):
        # from the largest on: what is taken last is the smallest, without which there was too little
        for piece in sorted(pieces, key=lambda piece: -piece.holds):
            for held in range(most if pulled == "any" else needed):
                if (cover := best[held]) is not None:
                    sums = cover.cost + piece.costs[stage], cover.number + 1, cover.early + len(needs) - stage
                    more = _Cover(*sums, (stage, piece), cover)
                    if more.is_below(best[to := min(most, held + piece.holds)]):
                        best[to] = more
        best[:needed] = [None] * needed
    cover = best[most]
    assert cover is not None
    counts = Counter((stage, pieces.index(piece)) for stage, piece in cover.pieces())
    return tuple((stage, pieces[place].item, counts[stage, place]) for stage, place in sorted(counts))
