"""The graph of a network: switches, links between them, endpoints on them.

All figures of an explicit graph are worked out on this, for every family.

Distances between switches: breadth-first search from many switches at once, one bit each.

Classes of switches and links of a graph under its symmetries.

Arrays that renumber switches (``moves``) hold the new number of each and have shape (switches,).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabopt.network.components import first_joined

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
        kept = np.setdiff1d(np.arange(len(self.a)), rows)
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


Hops = NDArray[np.int16]
_WORD = 64
# Switches searched from at a time: the bits of all arcs stay within the cache.
_BLOCK = 512
UNREACHED = -1


def link_counts(network: Network, sources: Ints | None = None) -> Hops:
    """Links on the shortest path from some switches (default: all) to all; ``UNREACHED`` where there is none.

    Shape (sources, switches).
    """
    return _searched(network, sources, np.ones(network.arcs.size, dtype=np.int64))


def path_lengths(network: Network, sources: Ints) -> Hops:
    """Length of the path that minimal routing takes, shape (sources, switches); ``UNREACHED`` where there is none.

    A row of links counts ``Network.length``.
    """
    return _searched(network, sources, network.arcs.length)


def _searched(network: Network, sources: Ints | None, length: Ints) -> Hops:
    start = np.arange(network.switches) if sources is None else sources
    steps = [_step(network, length == long, int(long)) for long in np.unique(length)]
    blocks = [_block(network.switches, steps, start[at : at + _BLOCK]) for at in range(0, len(start), _BLOCK)]
    return np.concatenate(blocks) if blocks else np.zeros((0, network.switches), dtype=np.int16)


class _Step(NamedTuple):
    """Arcs of one length, by tail."""

    length: int
    tails: Ints
    first: Ints
    heads: Ints


def _step(network: Network, as_long: NDArray[np.bool_], length: int) -> _Step:
    tails, first = np.unique(network.arcs.tail[as_long], return_index=True)
    return _Step(length, tails, first, network.arcs.head[as_long])


def _block(switches: int, steps: Sequence[_Step], sources: Ints) -> Hops:
    bits = np.zeros((switches, len(sources)), dtype=np.uint8)
    bits[sources, np.arange(len(sources))] = 1
    seen = _packed(bits)
    counts = np.full((switches, len(sources)), UNREACHED, dtype=np.int16)
    # switches first reached at each of the last lengths, the latest first
    fronts = deque([seen.copy()], maxlen=max((step.length for step in steps), default=1))
    length = 0
    while any(front.any() for front in fronts):
        counts[_unpacked(fronts[0], len(sources))] = length
        reached = np.zeros_like(seen)
        for step in steps:
            if step.length <= len(fronts):
                before = fronts[step.length - 1]
                reached[step.tails] |= np.bitwise_or.reduceat(before[step.heads], step.first, axis=0)
        reached &= ~seen
        seen |= reached
        fronts.appendleft(reached)
        length += 1
    return counts.T


def _packed(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    padded = np.zeros((len(bits), -(-bits.shape[1] // _WORD) * _WORD), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _unpacked(words: NDArray[np.uint64], columns: int) -> NDArray[np.bool_]:
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :columns].astype(np.bool_)


def host_links(network: Network, sources: Ints) -> Hops:
    """Links from some switches to all with endpoints; raises ``ValueError`` where there is no path.

    Shape (sources, switches with endpoints).
    """
    counts = link_counts(network, sources)[:, network.with_hosts]
    if (counts == UNREACHED).any():
        raise ValueError("some endpoints cannot reach each other")
    return counts


class Hopping(NamedTuple):
    """Switches on the longest shortest path between endpoints; ``links``: on shortest paths, summed over all ordered
    pairs.
    """

    most: int
    links: int


def hopping(network: Network) -> Hopping:
    """Distances between endpoints; raises ``ValueError`` if some cannot reach each other."""
    twins, hosts = network.twins, network.hosts
    counts = host_links(network, twins.first).astype(np.int64)
    links = int((twins.size * hosts[twins.first]) @ counts @ hosts[network.with_hosts])
    return Hopping(int(counts.max(initial=0)) + 1, links)


def components(network: Network) -> Ints:
    """The number of the part of the network that each switch is in, from 0 in order of the first switch.

    Shape (switches,).
    """
    first = first_joined(network.switches, network.a, network.b)
    return np.unique(first, return_inverse=True)[1].ravel().astype(np.int64)


class Kinds(NamedTuple):
    """A member of every class: ``switches`` with endpoints or without, and ``rows`` of links, each of shape
    (classes,).
    """

    switches: Ints
    rows: Ints


def lattice_moves(sides: Sequence[int], any_order: bool) -> list[Ints]:
    """Renumberings of a lattice of switches, first coordinate fastest, that may be symmetries of its network.

    A step along each dimension, and exchanges of dimensions of one length; ``any_order``: the first two places of
    a line too, so that all orders can be made.
    """
    number = np.arange(int(np.prod(sides))).reshape(tuple(sides)[::-1])
    axes = [len(sides) - 1 - at for at in range(len(sides))]
    moves = [np.roll(number, -1, axis).ravel() for axis in axes]
    for place, axis in enumerate(axes):
        if any_order:
            order = np.arange(sides[place])
            order[:2] = order[:2][::-1]
            moves.append(np.take(number, order, axis).ravel())
        moves += [
            np.swapaxes(number, axis, axes[other]).ravel() for other in range(place) if sides[other] == sides[place]
        ]
    return moves


def group_moves(groups: int, group: int) -> list[Ints]:
    """Two renumberings of groups of switches: every group by the next one, and all switches in reverse order."""
    number = np.arange(groups * group)
    return [np.roll(number, -group), number[::-1].copy()]


def place_moves(groups: int, group: int) -> list[Ints]:
    """Renumberings that exchange two places next to each other, in all groups at once.

    Together they make all orders of the places.
    """
    number, moves = np.arange(groups * group).reshape(groups, group), []
    for place in range(group - 1):
        order = np.arange(group)
        order[[place, place + 1]] = order[[place + 1, place]]
        moves.append(number[:, order].ravel())
    return moves


def kinds_of(network: Network, moves: Iterable[Ints]) -> Kinds:
    """Classes of switches and rows of links under those of ``moves`` that are symmetries of the graph."""
    code = network.a * network.switches + network.b
    order = np.argsort(code)
    symmetries = [(move, rows) for move in moves if (rows := _moved(network, move, code, order)) is not None]
    return Kinds(
        _first_of_each(network.switches, [move for move, _ in symmetries]),
        _first_of_each(len(network.a), [rows for _, rows in symmetries]),
    )


def _moved(network: Network, move: Ints, code: Ints, order: Ints) -> Ints | None:
    """The row that each becomes; None if the renumbering is no symmetry. ``order``: rows sorted by ``code``."""
    a, b = move[network.a], move[network.b]
    wanted = np.minimum(a, b) * network.switches + np.maximum(a, b)
    place = np.minimum(np.searchsorted(code[order], wanted), max(0, len(code) - 1))
    rows = np.asarray(order[place])
    alike = (code[rows] == wanted) & (network.mbps[rows] == network.mbps) & (network.length[rows] == network.length)
    return rows if alike.all() and (network.hosts[move] == network.hosts).all() else None


def _first_of_each(size: int, moves: Sequence[Ints]) -> Ints:
    label = np.arange(size)
    while True:
        before = label.copy()
        for move in moves:
            lowest = np.minimum(label, label[move])
            label = lowest.copy()
            np.minimum.at(label, move, lowest)
        if (label == before).all():
            return np.unique(label)
        label = label[label]
