"""The parts into which links cut a set of things, kept up to date as links come and go."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

Thing = TypeVar("Thing", bound=Hashable)


class PartChange(NamedTuple, Generic[Thing]):
    """Things that came from one part to another."""

    things: frozenset[Thing]
    before: int
    now: int


class ChangingParts(Generic[Thing]):
    """Things and links between them, of which two may have several. Parts are numbered, a new one by the next number.

    A link that joins two parts, or parts one, costs as many steps as the smaller has links; others cost a few.
    """

    def __init__(self) -> None:
        self._beside: dict[Thing, Counter[Thing]] = {}
        self._part: dict[Thing, int] = {}
        self._members: dict[int, set[Thing]] = {}
        self._parts = 0

    def part_of(self, thing: Thing) -> int:
        """The number of the part that a thing is in; one without links is a part of its own."""
        if thing not in self._part:
            self._beside[thing] = Counter()
            self._number({thing})
        return self._part[thing]

    def join(self, a: Thing, b: Thing) -> PartChange[Thing] | None:
        """Add a link; what it brings to another part, the one with fewer things to the other."""
        less, more = sorted((self.part_of(a), self.part_of(b)), key=lambda part: len(self._members[part]))
        self._beside[a][b] += 1
        self._beside[b][a] += 1
        if less == more:
            return None
        come = self._members.pop(less)
        self._members[more] |= come
        self._part.update(dict.fromkeys(come, more))
        return PartChange(frozenset(come), less, more)

    def cut(self, a: Thing, b: Thing) -> PartChange[Thing] | None:
        """Take a link away, which has to be there; what it parts from the rest."""
        for near, far in ((a, b), (b, a)):
            self._beside[near][far] -= 1
            if not self._beside[near][far]:
                del self._beside[near][far]
        gone = frozenset() if b in self._beside[a] else self._cut_off(a, b)
        if not gone:
            return None
        before = self._part[a]
        self._members[before] -= gone
        return PartChange(gone, before, self._number(set(gone)))

    def _number(self, things: set[Thing]) -> int:
        self._parts += 1
        self._members[self._parts] = things
        self._part.update(dict.fromkeys(things, self._parts))
        return self._parts

    def _cut_off(self, a: Thing, b: Thing) -> frozenset[Thing]:
        """What is joined to one of two things alone, whichever is found to be all first; nothing where both are one."""
        own, other = ({a}, deque([a])), ({b}, deque([b]))
        while own[1]:
            further = self._beside[own[1].popleft()].keys() - own[0]
            if not further.isdisjoint(other[0]):
                return frozenset()
            own[0].update(further)
            own[1].extend(further)
            own, other = other, own
        return frozenset(own[0])
