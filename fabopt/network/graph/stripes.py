"""Leaves whose uplinks do not divide evenly over spines: the worst cut into halves, and the links that two leaves
share.

For a set X of leaves and a set Y of spines on one side, the halves of the endpoints that are cut least with these sets
take the side of their leaf as far as they can: ``v |H(X) - E/2|`` for the ports of those that cannot, and the links
between X, Y and the others. With Y given the best X is found by sorting; so sets of spines are tried, in which spines
with the same links take the same side. Proof: docs/formulation/clos.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
# Classes of equal spines whose sets are all looked at; of more, the sets without a gap in their order.
MOST_CLASSES = 14
_TOGETHER = 1024


def round_robin(leaves: int, spines: int, uplinks: int, rails: int = 0) -> Ints:
    """Links of every leaf of a pod to every spine, shape (leaves, spines): extra links go round from leaf to leaf.

    ``rails``: number of leaves after which they begin anew; 0: never.
    """
    base, extra = divmod(uplinks, spines)
    place = np.arange(leaves)[:, np.newaxis] % (rails or leaves)
    return np.asarray(base + ((np.arange(spines) - place * extra) % spines < extra), dtype=np.int64)


def fewest_shared(spines: int, uplinks: int) -> int:
    """Fewest links that two leaves of a pod have to the same spines, counted where the one has fewer."""
    base, extra = divmod(uplinks, spines)
    return base * spines + max(0, 2 * extra - spines)


@lru_cache(maxsize=4096)
def least_half(
    leaves: int, last: int, hosts: tuple[int, int], spines: int, uplinks: int, mbps: tuple[int, int], rails: int
) -> Fraction:
    """``worst_half`` of ``leaves`` leaves, the ``last`` of which have the second number of ``hosts``.

    ``mbps``: of an endpoint's port and of a link; ``rails``: see ``round_robin``.
    """
    of_leaf = np.array([hosts[0]] * (leaves - last) + [hosts[1]] * last)
    return worst_half(round_robin(leaves, spines, uplinks, rails), of_leaf, *mbps)


def worst_half(links: Ints, hosts: Ints, port_mbps: int, link_mbps: int) -> Fraction:
    """Mb/s of every endpoint of the smaller half across the worst cut of the endpoints into halves.

    ``links``: of leaves and spines, shape (leaves, spines); ``hosts``: endpoints of a leaf, shape (leaves,). Exact for
    up to ``MOST_CLASSES`` kinds of spines; of more, never above the worst cut, if sets of spines without a gap are the
    worst for equal leaves. At most the port's speed, the rate of a single endpoint.
    """
    endpoints = int(hosts.sum())
    half = endpoints // 2
    if not half:
        return Fraction(port_mbps)
    kinds, spines = _kinds_of_spines(links)
    exact = len(spines) <= MOST_CLASSES
    sizes = [np.flatnonzero(hosts == number) for number in np.unique(hosts)]
    least = half * port_mbps
    for sides in _sets(len(spines), exact):
        inside = (sides * spines) @ kinds.T
        crossing = inside.sum(axis=1)
        moved = links.sum(axis=1) - 2 * inside
        if exact:
            crossed, below = _by_size(crossing, moved, hosts, sizes)
        else:
            crossed, below = _by_number(crossing, moved, hosts, sizes)
        apart = np.minimum(abs(below - half), abs(below - endpoints + half))
        least = min(least, int((crossed * link_mbps + apart * port_mbps).min()))
    return Fraction(least, half)


def _kinds_of_spines(links: Ints) -> tuple[Ints, Ints]:
    """Links of leaves to spines of every kind, in the order of the first of a kind, and the number of spines of
    each.
    """
    _, first, counts = np.unique(links, axis=1, return_index=True, return_counts=True)
    order = np.argsort(first)
    return links[:, first[order]], counts[order]


def _sets(kinds: int, exact: bool) -> Iterator[Ints]:
    """Sets of kinds of spines, rows of 0 and 1: one of every two complements."""
    if exact:
        rows = np.arange(1 << (kinds - 1))
        whole = rows[:, np.newaxis] >> np.arange(kinds) & 1
    else:
        first, length = (axis.ravel() for axis in np.indices((kinds, kinds)))
        whole = ((np.arange(kinds) - first[:, np.newaxis]) % kinds < length[:, np.newaxis]).astype(np.int64)
    for start in range(0, len(whole), _TOGETHER):
        yield whole[start : start + _TOGETHER]


def _by_size(crossing: Ints, moved: Ints, hosts: Ints, sizes: list[Ints]) -> tuple[Ints, Ints]:
    """Links across, by the number of leaves of every size on the side of a set, the best of each size first."""
    crossed, below = crossing[:, np.newaxis], np.zeros(1, dtype=np.int64)
    for leaves in sizes:
        joined = _running_sums(moved[:, leaves])
        crossed = (crossed[:, :, np.newaxis] + joined[:, np.newaxis, :]).reshape(len(crossing), -1)
        below = (below[:, np.newaxis] + np.arange(len(leaves) + 1) * hosts[leaves[0]]).ravel()
    return crossed, below


def _by_number(crossing: Ints, moved: Ints, hosts: Ints, sizes: list[Ints]) -> tuple[Ints, Ints]:
    """Links across, by the number of leaves on the side of a set, with all endpoints that such leaves may have."""
    number, below = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for leaves in sizes:
        more = np.arange(len(leaves) + 1)
        number = (number[:, np.newaxis] + more).ravel()
        below = (below[:, np.newaxis] + more * hosts[leaves[0]]).ravel()
    return (crossing[:, np.newaxis] + _running_sums(moved))[:, number], below


def _running_sums(moved: Ints) -> Ints:
    """Sums of the least 0, 1, 2 and so on of every row, shape (rows, columns + 1)."""
    sums = np.zeros((len(moved), moved.shape[1] + 1), dtype=np.int64)
    np.cumsum(np.sort(moved, axis=1), axis=1, out=sums[:, 1:])
    return sums
