"""What a server has left of its ports when leaves, planes or cables fail: the worst way in which they can."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

# Ways in which leaves of a server can fail that are all looked at, where its slots deliver less than its ports.
_MOST_WAYS = 5_000


class ServerPorts(NamedTuple):
    """The ports of a server: ``ports`` of each of its ``cards``, evenly over ``planes``; ``per_leaf`` on each leaf.

    ``top``: what a card moves, in ports' speed; less than its ports where its slot delivers less. ``dual``: the first
    ports of all cards in a plane come before the second ones. ``apart``: a leaf has ports of one card, its rail, only;
    ``own_planes``: so has a plane.
    """

    cards: int
    ports: int
    planes: int
    per_leaf: int
    top: Fraction
    dual: bool = False
    apart: bool = False
    own_planes: bool = False

    @property
    def leaves(self) -> int:
        """Leaves that a server is on, over all planes."""
        return self.cards * self.ports // self.per_leaf

    def without_planes(self, failed: int) -> Fraction:
        """Share of its injection that is left."""
        if self.own_planes:
            return self.without_cables(failed * (self.cards * self.ports // self.planes))
        left = self.ports - min(failed, self.planes) * (self.ports // self.planes)
        return min(Fraction(left), self.top) / self.top

    def without_cables(self, failed: int) -> Fraction:
        """Share of its injection that is left if as many of its own cables fail, card by card: the worst there is."""
        full, rest = divmod(min(failed, self.cards * self.ports), self.ports)
        partly = min(Fraction(self.ports - rest), self.top) if rest else Fraction(0)
        return ((self.cards - full - (rest > 0)) * self.top + partly) / (self.cards * self.top)

    def without_leaves(self, failed: int) -> Fraction:
        """Share of its injection that is left in the worst case.

        Exact where cards move all that their ports do, leaves are of one card each (those of one card are the worst),
        or there are some thousand ways at most; else a lower bound.
        """
        count = min(failed, self.leaves)
        if self.apart or self.top == self.ports or comb(self.leaves, count) > _MOST_WAYS:
            return self.without_cables(count * self.per_leaf)
        return min(self._shares(count))

    def _shares(self, count: int) -> Iterator[Fraction]:
        each = self.ports // self.planes
        place = np.arange(self.cards * each)
        lost = np.zeros((self.planes, len(place) // self.per_leaf, self.cards), dtype=np.int64)
        for plane in lost:
            np.add.at(plane, (place // self.per_leaf, place % self.cards if self.dual else place // each), 1)
        by_leaf = lost.reshape(-1, self.cards)
        for failed in combinations(range(len(by_leaf)), count):
            left = self.ports - by_leaf[list(failed)].sum(axis=0)
            yield sum(min(Fraction(one), self.top) for one in left.tolist()) / (self.cards * self.top)
