"""Distances between switches: breadth-first search from many switches at once, one bit each."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.network.components import first_joined
from fabopt.network.graph.network import Ints, Network

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
