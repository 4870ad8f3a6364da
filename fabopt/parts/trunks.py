"""Trunks between the panels of racks: the cheapest that hold the legs of every route, and panels with ports for these.

Legs of a route are those of its links, and spare ones. A leg that a trunk has beyond them needs no port, so every route
and every rack is decided by itself: by dynamic programming over stages and the number of legs (ports), exactly in whole
cents. What a stage installs stays, and is there for later stages. See docs/formulation/growth.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup
from fabopt.schema.growth import PulledWord


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


class TrunkedKind(NamedTuple):
    """Links of one kind through trunks and panels.

    ``jumper``: at both ends of every link between zones, and all of one within a zone; ``zones``: rows with the rack of
    their panels, none where these are in racks of devices; ``far``: links between zones that each stage adds;
    ``panels``: of every rack, by its id.
    """

    kind: str
    connector: str
    fibre: str
    jumper: Item
    zones: tuple[tuple[str, str], ...]
    far: tuple[int, ...]
    routes: tuple[TrunkedRoute, ...]
    panels: tuple[tuple[str, Pieces], ...]

    @property
    def further_m(self) -> float:
        """Metres of the longest way beyond one jumper: a trunk, and the other jumper."""
        trunks = (item for route in self.routes for _, item, _ in route.trunks)
        return (self.jumper.length_m or 0.0) + max((item.length_m or 0.0 for item in trunks), default=0.0)

    @property
    def uses(self) -> dict[tuple[int, Item], int]:
        """Jumpers at far ends, trunks and panels, by (number of the stage, item)."""
        uses = Counter({(stage, self.jumper): far for stage, far in enumerate(self.far)})
        for pieces in (*(route.trunks for route in self.routes), *(panels for _, panels in self.panels)):
            for stage, item, count in pieces:
                uses[stage, item] += count
        return dict(uses)


class RackRoute(NamedTuple):
    """Legs between two racks, as indices of a floor, by each stage, and the trunks that are long enough."""

    a: int
    b: int
    legs: tuple[int, ...]
    trunks: tuple[TrunkPiece, ...]


class Trunking(NamedTuple):
    """Trunks of every route, and panels of every rack by its index."""

    routes: tuple[Pieces, ...]
    panels: Mapping[int, Pieces]


def least_trunking(routes: Sequence[RackRoute], panels: tuple[TrunkPiece, ...], pulled: PulledWord) -> Trunking | None:
    """The cheapest trunks and panels of some routes; None if no trunk is long enough for a route, or no panel is there.

    Rules ``trunks_hold_legs`` and ``panels_hold_trunks``: by every stage legs of a route <= those of its trunks; legs
    of the routes that end in a rack <= ports of its panels.
    """
    ports: dict[int, tuple[int, ...]] = {}
    # most routes are like others
    alike = {(route.legs, id(route.trunks)): route for route in routes}
    known = {key: cover_of(route.legs, route.trunks, pulled) for key, route in alike.items()}
    for route in routes:
        for rack in (route.a, route.b):
            ports[rack] = tuple(map(sum, zip(route.legs, ports.get(rack, (0,) * len(route.legs)), strict=True)))
    trunks = [known[route.legs, id(route.trunks)] for route in routes]
    held = {rack: cover_of(counts, panels, pulled) for rack, counts in sorted(ports.items())}
    if None in trunks or None in held.values():
        return None
    return Trunking(
        tuple(pieces for pieces in trunks if pieces is not None),
        {rack: pieces for rack, pieces in held.items() if pieces is not None},
    )


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
