"""Bandwidth left when leaves, planes, spines or cables fail in the worst way, of a server and in all.

Arrays of shares, one for each candidate, have shape (candidates,).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# A share of the bandwidth without failures: exact for one candidate, of many in an array.
Share = Fraction | float | NDArray[np.float64]

# The kind that fails at a server, above leaves, and above spines, by the kind that the case names.
PLACES = {
    "leaf": ("leaf", "", ""),
    "spine": ("", "spine", ""),
    "core": ("", "", "core"),
    "plane": ("plane", "", ""),
    "switch": ("leaf", "spine", "core"),
    "cable": ("server-leaf", "leaf-spine", "spine-core"),
}
# Sets of failed leaves of a server up to which all are tried, where its slots deliver less than its ports.
_MOST_WAYS = 5_000


class OtherPlanes(NamedTuple):
    """What is assumed of the planes beside the one that a device fails in.

    ``make_up``: servers deal traffic over planes by what each still carries; else alike, as planes that are routed
    apart know nothing of each other. ``is_out``: one of them is out of service.
    """

    make_up: bool = False
    is_out: bool = False


SAME, MAKING_UP, PLANE_OUT = OtherPlanes(), OtherPlanes(make_up=True), OtherPlanes(is_out=True)


class ServerPorts(NamedTuple):
    """The ports of a server: ``ports`` of each of its ``nics``, evenly over ``planes``; ``per_leaf`` on each leaf.

    ``top``: bandwidth of a NIC in ports' speed; less than its ports where its slot delivers less. ``dual``: the first
    ports of all NICs in a plane come before the second ones. ``apart``: a leaf has ports of one NIC, its rail, only;
    ``own_planes``: so has a plane.
    """

    nics: int
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
        return self.nics * self.ports // self.per_leaf

    @property
    def with_plane_out(self) -> ServerPorts:
        """The ports of a server that are left with a plane out of service."""
        if self.own_planes:
            return self._replace(nics=self.nics - 1, planes=self.planes - 1)
        ports = self.ports // self.planes * (self.planes - 1)
        return self._replace(ports=ports, planes=self.planes - 1, top=min(self.top, Fraction(ports)))

    def without_planes(self, failed: int) -> Fraction:
        """Share of the server's injection that is left if ``failed`` planes fail."""
        if self.own_planes:
            return self.without_cables(failed * (self.nics * self.ports // self.planes))
        left = self.ports - min(failed, self.planes) * (self.ports // self.planes)
        return min(Fraction(left), self.top) / self.top

    def without_cables(self, failed: int) -> Fraction:
        """Share of the server's injection that is left if ``failed`` of its cables fail, NIC by NIC: the worst case."""
        full, rest = divmod(min(failed, self.nics * self.ports), self.ports)
        partly = min(Fraction(self.ports - rest), self.top) if rest else Fraction(0)
        return ((self.nics - full - (rest > 0)) * self.top + partly) / (self.nics * self.top)

    def without_leaves(self, failed: int) -> Fraction:
        """Share of the server's injection that is left if ``failed`` leaves fail, in the worst case.

        Exact where NICs move the bandwidth of all their ports, leaves are of one NIC each (those of one NIC are the
        worst), or there are some thousand combinations at most; else a lower bound.
        """
        count = min(failed, self.leaves)
        if self.apart or self.top == self.ports or comb(self.leaves, count) > _MOST_WAYS:
            return self.without_cables(count * self.per_leaf)
        return min(self._shares(count))

    def _shares(self, count: int) -> Iterator[Fraction]:
        of_plane = self.ports // self.planes
        place = np.arange(self.nics * of_plane)
        lost = np.zeros((self.planes, len(place) // self.per_leaf, self.nics), dtype=np.int64)
        for plane in lost:
            np.add.at(plane, (place // self.per_leaf, place % self.nics if self.dual else place // of_plane), 1)
        by_leaf = lost.reshape(-1, self.nics)
        for failed in combinations(range(len(by_leaf)), count):
            left = self.ports - by_leaf[list(failed)].sum(axis=0)
            yield sum(min(Fraction(ports), self.top) for ports in left.tolist()) / (self.nics * self.top)


def by_number(share: Callable[[int], Share], most: int) -> list[Share]:
    """Shares after 0, 1, 2 failures and so on, up to ``most`` or until nothing is left."""
    by_failures = [share(0)]
    while len(by_failures) <= most and np.any(np.asarray(by_failures[-1] > 0)):
        by_failures.append(share(len(by_failures)))
    return by_failures


def worst_mix(some: Sequence[Share], others: Sequence[Share], count: int) -> list[Share]:
    """The least product of shares over all ways to deal failures to two kinds; shares are by number of failures.

    More failures of a kind than it has shares for change nothing more.
    """
    return dealt(some, others, count, operator.mul)


def over_rails(shares: Sequence[Share], rails: int, count: int) -> list[Share]:
    """Mean share that boundaries carry where rails never meet, after 0 to ``count`` failures; ``shares``: of a rail.

    Inside a server, traffic moves to the rails that carry it. Failures are dealt to the rails in the worst way.
    """
    total: Sequence[Share] = (Fraction(0),)
    for _ in range(rails):
        total = dealt(total, shares, count, operator.add)
    return [share / rails for share in total]


def dealt(some: Sequence[Share], others: Sequence[Share], count: int, join: Callable[[Any, Any], Share]) -> list[Share]:
    """The least joined share, by the number of failures of both kinds together."""
    most = min(count, len(some) + len(others) - 2)
    if any(isinstance(share, np.ndarray) for share in (*some, *others)):
        # a fraction makes an array one of fractions, each of them worked out by itself
        some, others = (
            [share if isinstance(share, np.ndarray) else float(share) for share in kind] for kind in (some, others)
        )
    return [
        least(
            join(some[number - other], others[other])
            for other in range(max(0, number - len(some) + 1), min(number, len(others) - 1) + 1)
        )
        for number in range(most + 1)
    ]


def least(shares: Iterable[Share]) -> Share:
    """The least share of each candidate."""
    all_shares = list(shares)
    if any(isinstance(share, np.ndarray) for share in all_shares):
        return np.asarray(
            np.minimum.reduce(np.broadcast_arrays(*(np.asarray(share, dtype=float) for share in all_shares)))
        )
    return min(all_shares)
