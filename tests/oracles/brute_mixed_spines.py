"""Every two-tier Clos with spines of two types, beside those of one: links of a leaf to them as two weights are.

What joins leaves to one type joins them to the other. Groups are equal, stripes proportional, attachments on leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from math import gcd
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from tests.oracles import brute_force
from tests.oracles.brute_endpoints import Cards
from tests.oracles.brute_force import (
    Best,
    Box2,
    Division,
    Found,
    Lower,
    Side,
    Space,
    Structure,
    structures_of,
    tiers_of,
)
from tests.oracles.brute_last_group import OnLeaves, modes_on_two
from tests.oracles.brute_parts import Cage, Joiner, Joining, Json, Kind, ceil_div

WEIGHTS = range(1, 5)


@dataclass(frozen=True)
class MixedStructure(Structure):
    """A structure whose last ``other_spines`` of a plane are of another type, with ``m`` links of a leaf to each.

    ``own_m``: links to each of the first ones.
    """

    own_m: int = 0
    other: Box2 | None = None
    other_spines: int = 0

    def boxes(self) -> list[tuple[Box2, int]]:
        assert self.spine is not None and self.other is not None
        own = self.spines_per_pod - self.other_spines
        return [
            (self.leaf, self.planes * self.leaves),
            (self.spine, self.planes * own),
            (self.other, self.planes * self.other_spines),
        ]

    def ids(self) -> tuple[str, ...]:
        assert self.other is not None
        return (*super().ids(), self.other.product["id"])

    def sides(self) -> list[Side | None]:
        assert self.other is not None
        return [*super().sides(), self.other.down]

    def rank(self) -> tuple[Any, ...]:
        return (self.topology, True, *super().rank()[1:], self.other_spines)


@dataclass(frozen=True)
class OneType(Structure):
    """A structure with spines of one type, which come first."""

    def rank(self) -> tuple[Any, ...]:
        return (self.topology, False, *super().rank()[1:])


def solve(catalog: Json, case: Json) -> Best | None:
    """The best design where spines may be of two types."""
    return brute_force.solve(catalog, case, walk=lambda space: chain(_of_one_type(space), mixed(space)))


def _of_one_type(space: Space) -> Found:
    for structure, choice in brute_force.structures(space):
        yield OneType(**structure.__dict__), choice


def mixed(space: Space) -> Found:
    """Structures with spines of two types."""
    return structures_of(space, _with_groups)


def _with_groups(space: Space, cards: Cards, division: Division) -> Found:
    if 2 not in tiers_of(space, division):
        return
    for lower in brute_force.lowers(space, cards, division):
        base = lower.base
        assert base.leaf.up is not None
        speeds = Fraction(base.leaf.down.cage.speed, base.leaf.up.cage.speed)
        for u in range(1, base.leaf.room(base.down + base.reserved) + 1):
            if base.leaves >= 2 and base.counted * speeds / u <= space.leaf_ratio:
                for spine, other in product(space.boxes("spine", base.leaf.up.cage.speed, top=True), repeat=2):
                    for stripes in _stripes(u, spine.product["id"], other.product["id"]):
                        yield from _with_spines(lower, u, spine, other, stripes)


class Stripes(NamedTuple):
    """Spines of both types, and links of a leaf to each of them."""

    own: int
    own_m: int
    other: int
    other_m: int


def _stripes(u: int, own_id: str, other_id: str) -> Iterator[Stripes]:
    for a, b in product(WEIGHTS, repeat=2):
        is_new = own_id < other_id if a == b else a > b
        if gcd(a, b) > 1 or not is_new:
            continue
        for m in range(1, u + 1):
            for own in range(1, u + 1):
                other, rest = divmod(u - own * a * m, b * m)
                if not rest and other > 0:
                    yield Stripes(own, a * m, other, b * m)


def _with_spines(lower: Lower, u: int, spine: Box2, other: Box2, stripes: Stripes) -> Found:
    base, space = lower.base, lower.space
    assert base.leaf.up is not None
    is_alike = spine.product["id"] != other.product["id"] or spine.down == other.down
    if spine.down.cage.ports != other.down.cage.ports or not is_alike:
        return
    loads = base.leaves * stripes.own_m, base.leaves * stripes.other_m
    if loads[0] > spine.max_ports or loads[1] > other.max_ports:
        return
    near = (base.planes * base.leaves, u, ((stripes.own, stripes.own_m), (stripes.other, stripes.other_m)))
    far = tuple(
        (base.planes * count, load, ((base.leaves, links),))
        for count, load, links in ((stripes.own, loads[0], stripes.own_m), (stripes.other, loads[1], stripes.other_m))
    )
    kind = Kind(base.leaf.up.cage, spine.down.cage, space.run("leaf-spine"), (near,), far)
    structure = MixedStructure(
        **base.__dict__ | {
            "tiers": 2, "u": u, "m": stripes.other_m, "spine": spine, "spines_per_pod": stripes.own + stripes.other,
            "own_m": stripes.own_m, "other": other, "other_spines": stripes.other,
        }
    )  # fmt: skip
    for links, cages in _on_spines(space, kind, other.down.cage):
        for servers in lower.server_modes:
            kept = base.down + base.reserved
            holds = base.leaf.holds(
                kept, u, max(servers.far_cages, ceil_div(kept, base.leaf.down.cage.ports)), links.near_cages
            )
            for box, load, own in zip((spine, other), loads, cages, strict=True):
                holds = holds and box.holds(load, 0, max(own, ceil_div(load, box.down.cage.ports)), 0)
            if holds:
                yield structure, (servers, links)


# modes are told apart by their identity, so none is let go
KNOWN: WeakKeyDictionary[Space, dict[Any, OnLeaves]] = WeakKeyDictionary()


def _on_spines(space: Space, kind: Kind, other: Cage) -> OnLeaves:
    """Every mode with the cages that it takes on a spine of either type."""
    known, key = KNOWN.setdefault(space, {}), (space.protocol, kind, other)
    if key not in known:
        known[key] = list(modes_on_two(kind, BothJoin(space.joiner, kind.far, other), False))
    return known[key]


class BothJoin(Joiner):
    """What joins a cage to two others alike."""

    def __init__(self, joiner: Joiner, own: Cage, other: Cage) -> None:
        self.joiner, self.own, self.other = joiner, own, other

    def join(self, near: Cage, far: Cage, run: Fraction) -> list[Joining]:
        assert far == self.own
        others = self.joiner.join(near, self.other, run)
        return [way for way in self.joiner.join(near, far, run) if way in others]
