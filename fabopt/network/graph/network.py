"""The graph of a network: switches, links between them, endpoints on them.

All figures of an explicit graph are worked out on this, for every family.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
# A path over one link between groups is l-g-l at most, 1 + 3 + 1; over two of them it is longer, however short.
GLOBAL_LENGTH = 3
LONGEST = np.iinfo(np.int64).max


class Arcs(NamedTuple):
    """Links as arcs, one each way, sorted by tail: columns of shape (arcs,).

    ``tails``: switches with arcs, and ``first``: the first arc of each, both of shape (switches with arcs,). ``mbps``:
    capacity; ``length``: as in ``Network``.
    """

    tail: Ints
    head: Ints
    mbps: Ints
    length: Ints
    tails: Ints
    first: Ints

    @property
    def size(self) -> int:
        """Number of arcs."""
        return len(self.tail)


class Twins(NamedTuple):
    """Classes of switches with equal endpoints and equal links to the same switches: symmetries exchange them.

    place    class of every switch of ``Network.with_hosts``, shape (switches with endpoints,)
    first    a switch of every class; other: another one, or the same if there is none; each of shape (classes,)
    size     number of switches, shape (classes,)
    """

    place: Ints
    first: Ints
    other: Ints
    size: Ints

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.first)


@dataclass(frozen=True, eq=False)
class Network:
    """Switches 0 .. n-1. All links of two switches are one row.

    a, b       the switches, a < b; shape (rows,)
    mbps       capacity of the row's links together, each way
    hosts      endpoints (ports of servers) on every switch; shape (switches,)
    port_mbps  speed of the link of an endpoint
    length     length of a row's links in minimal routing: 1, but more for the global links of a dragonfly, of which
               a path has one; shape (rows,)
    """

    a: Ints
    b: Ints
    mbps: Ints
    hosts: Ints
    port_mbps: int
    length: Ints

    @property
    def switches(self) -> int:
        """Number of switches."""
        return len(self.hosts)

    @property
    def endpoints(self) -> int:
        """Endpoints of all switches."""
        return int(self.hosts.sum())

    @property
    def capacity(self) -> int:
        """Mb/s of all links one way."""
        return int(self.mbps.sum())

    @cached_property
    def with_hosts(self) -> Ints:
        """The switches that have endpoints, as numbers in rising order, shape (switches with endpoints,)."""
        return np.flatnonzero(self.hosts)

    @cached_property
    def arcs(self) -> Arcs:
        """The links of the network as arcs, one each way."""
        tail, head = np.concatenate([self.a, self.b]), np.concatenate([self.b, self.a])
        order = np.lexsort((head, tail))
        tails, first = np.unique(tail[order], return_index=True)
        mbps, length = np.tile(self.mbps, 2)[order], np.tile(self.length, 2)[order]
        return Arcs(tail[order], head[order], mbps, length, tails, first)

    @cached_property
    def twins(self) -> Twins:
        """The classes of switches with endpoints."""
        arcs, with_hosts = self.arcs, self.with_hosts
        ends = np.searchsorted(arcs.tail, np.stack([with_hosts, with_hosts + 1]))
        known: dict[tuple[int, bytes], int] = {}
        place = [
            known.setdefault((hosts, _links_of(arcs, start, end)), len(known))
            for hosts, start, end in zip(self.hosts[with_hosts].tolist(), *ends.tolist(), strict=True)
        ]
        by_class = np.argsort(place, kind="stable")
        size = np.bincount(place, minlength=len(known))
        start = np.cumsum(size) - size
        return Twins(
            np.array(place), with_hosts[by_class[start]], with_hosts[by_class[start + np.minimum(1, size - 1)]], size
        )

    def without(self, rows: Ints) -> Network:
        """The network without some rows of links; ``rows``: their indices, shape (rows taken,)."""
        is_kept = np.ones(len(self.a), dtype=np.bool_)
        is_kept[rows] = False
        kept = np.flatnonzero(is_kept)
        return self._of_rows(kept, self.mbps[kept])

    def _of_rows(self, kept: Ints, mbps: Ints) -> Network:
        return Network(self.a[kept], self.b[kept], mbps, self.hosts, self.port_mbps, self.length[kept])


def _links_of(arcs: Arcs, start: int, end: int) -> bytes:
    """A switch's links as bytes, equal for equal links."""
    return np.stack([arcs.head[start:end], arcs.mbps[start:end], arcs.length[start:end]]).tobytes()


def network_of(
    a: ArrayLike, b: ArrayLike, mbps: ArrayLike, hosts: ArrayLike, port_mbps: int, length: ArrayLike = 1
) -> Network:
    """A network of links in any order, several of two switches allowed; the shortest of these gives their length.

    ``a``, ``b``, ``mbps``, ``length``: by link, broadcast; ``hosts``: shape (switches,). Raises ``ValueError`` for
    links that lead nowhere, or from a switch to itself.
    """
    ends_a, ends_b, speed, long = (
        column.ravel()
        for column in np.broadcast_arrays(*(np.asarray(given, dtype=np.int64) for given in (a, b, mbps, length)))
    )
    of_switch = np.asarray(hosts, dtype=np.int64)
    ends = np.concatenate([ends_a.ravel(), ends_b.ravel()])
    if len(ends) and not 0 <= ends.min() <= ends.max() < len(of_switch):
        raise ValueError("a link leads to a switch that is not there")
    if (ends_a == ends_b).any():
        raise ValueError("a link leads from a switch to itself")
    low, high = np.minimum(ends_a, ends_b), np.maximum(ends_a, ends_b)
    pair, place = np.unique(low * len(of_switch) + high, return_inverse=True)
    merged, shortest = np.zeros(len(pair), dtype=np.int64), np.full(len(pair), LONGEST)
    np.add.at(merged, place.ravel(), speed)
    np.minimum.at(shortest, place.ravel(), long)
    return Network(
        pair // max(1, len(of_switch)), pair % max(1, len(of_switch)), merged, of_switch, port_mbps, shortest
    )
