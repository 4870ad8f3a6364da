"""Ports of attachments dealt over the leaves of a Clos, leaf by leaf: round by round or stage by stage, then racks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import accumulate, cycle, pairwise
from typing import NamedTuple

LEAF, TWO = "leaf", 2
# The number of an attachment, and the leaf of one of its ports.
AttachedPort = tuple[int, int]


def dealt_round(ends: Sequence[int], place: int, leaves: int) -> tuple[int, ...]:
    """Ports of each attachment on the leaf at a place of the round; ``ends``: 0, and the running total of each
    attachment's ports.
    """
    return tuple(_hits(end, place, leaves) - _hits(start, place, leaves) for start, end in pairwise(ends))


def _hits(ports: int, place: int, leaves: int) -> int:
    """The number of the first ``ports`` ports that fall on the leaf at a place."""
    return max(0, -(-(ports - place) // leaves))


class LeafKind(NamedTuple):
    """A leaf: servers of its group at each stage, their ports on it at last, and whether it is of a last group unlike
    the others. Leaves of equal kind may be exchanged.
    """

    servers: tuple[int, ...]
    ports: int
    is_of_last: bool


def dealt_over_leaves(
    leaves: Sequence[LeafKind], adds: Sequence[Sequence[int]], grows: bool, racks: Sequence[str], in_pairs: bool
) -> Iterator[tuple[int, ...]]:
    """Ports of each attachment on every leaf.

    ``adds``: by attachment, the ports that each stage adds, all at once unless the cluster ``grows``; ``racks``: of
    every leaf, where ports are spread over racks.
    """
    order = sorted(range(len(leaves)), key=lambda number: leaves[number][1:])
    if not (grows or racks):
        ends = list(accumulate(map(sum, adds), initial=0))
        place_of = {number: place for place, number in enumerate(order)}
        yield from (dealt_round(ends, place_of[number], len(leaves)) for number in range(len(leaves)))
        return
    ports = _as_it_grows(leaves, adds) if grows else _in_turn(adds, order)
    other = Exchanged({LEAF: racks} if racks else {}, {LEAF: leaves}, TWO if in_pairs else 1)
    hosted = [[0] * len(adds) for _ in leaves]
    for owner, number in ports:
        hosted[other.of((LEAF, number), owner)[1]][owner] += 1
    yield from map(tuple, hosted)


def _in_turn(adds: Sequence[Sequence[int]], order: Sequence[int]) -> Iterator[AttachedPort]:
    """Every port of the attachments, one a leaf and round; ``order``: of the leaves."""
    owners = (owner for owner, own in enumerate(adds) for _ in range(sum(own)))
    yield from zip(owners, cycle(order), strict=False)


def _as_it_grows(leaves: Sequence[LeafKind], adds: Sequence[Sequence[int]]) -> Iterator[AttachedPort]:
    """Every port of the attachments, stage by stage, in the order of the attachments: each on the existing leaf with
    the fewest ports of all attachments, the first of such.
    """
    hosted = [0] * len(leaves)
    for stage in range(len(leaves[0].servers)):
        there = [number for number, leaf in enumerate(leaves) if leaf.servers[stage]]
        for owner, own in enumerate(adds):
            for number in _emptiest(hosted, there, own[stage] if stage < len(own) else 0):
                hosted[number] += 1
                yield owner, number


def _emptiest(hosted: Sequence[int], hosts: Sequence[int], ports: int) -> Iterator[int]:
    """Leaves for ``ports`` more ports, level by level."""
    level = min((hosted[number] for number in hosts), default=0)
    while ports > 0 and hosts:
        lowest = [number for number in hosts if hosted[number] == level][:ports]
        yield from lowest
        ports -= len(lowest)
        level += 1


class Exchanged:
    """Exchanges of equal switches, so that ports of attachments are in different racks.

    ``racks``, ``kinds``: of every switch of a tier; no racks: no exchange.
    """

    def __init__(
        self, racks: Mapping[str, Sequence[str]], kinds: Mapping[str, Sequence[Hashable]], size: int = 1
    ) -> None:
        self._racks = racks
        self._kinds = kinds
        self._size = size
        # unexchanged switches, in their order
        self._left: dict[tuple[str, Hashable], list[int]] = defaultdict(list)
        for tier, of_tier in kinds.items():
            for number in range(0, len(of_tier), size):
                self._left[tier, of_tier[number]].append(number)
        self._other: dict[tuple[str, int], int] = {}
        self._taken: Counter[str] = Counter()
        self._own: dict[int, Counter[str]] = defaultdict(Counter)

    def of(self, place: tuple[str, int], owner: int) -> tuple[str, int]:
        """The switch of an attachment's next port; ``place``: its switch before exchange.

        The unexchanged switch of its kind in the rack with the fewest ports of the attachment, then of all, then the
        first; the same one for every port at that place.
        """
        tier, number = place
        if not self._racks:
            return place
        racks, own, size = self._racks[tier], self._own[owner], self._size
        lowest = tier, number // size * size
        if lowest not in self._other:
            left = self._left[tier, self._kinds[tier][number]]

            def ports(other: int, of: Counter[str]) -> int:
                return sum(of[rack] for rack in racks[other : other + size])

            self._other[lowest] = min(left, key=lambda other: (ports(other, own), ports(other, self._taken), other))
            left.remove(self._other[lowest])
        other = self._other[lowest] + number % size
        own[racks[other]] += 1
        self._taken[racks[other]] += 1
        return tier, other
