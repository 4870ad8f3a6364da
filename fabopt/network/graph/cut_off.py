"""Servers that a loss cuts off: those outside the largest part of a network that stays joined."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fabopt.network.graph.distances import components
from fabopt.network.graph.network import Ints, Network
from fabopt.network.graph.symmetry import Kinds

NOWHERE = -1


def outside(part: Ints, switch_of: Ints) -> NDArray[np.bool_]:
    """Mask of the servers that are not in the largest part, shape (servers,).

    ``part``: number of the part that each switch is in, shape (switches,), ``NOWHERE`` for a lost one. ``switch_of``:
    switches of every server, shape (servers, ports), ``NOWHERE`` for a lost port.
    """
    reached = np.sort(np.where(switch_of >= 0, part[switch_of], NOWHERE), axis=1)
    first = np.concatenate([np.ones((len(switch_of), 1), dtype=np.bool_), reached[:, 1:] != reached[:, :-1]], axis=1)
    counts = np.bincount(reached[first & (reached >= 0)], minlength=1)
    return np.asarray(~(reached == counts.argmax()).any(axis=1))


def cut_off(part: Ints, switch_of: Ints) -> int:
    """Number of servers outside the largest part.

    Arrays have the shapes of ``outside``: (switches,) and (servers, ports).
    """
    return int(outside(part, switch_of).sum())


def cut_off_by_switch(network: Network, kinds: Kinds, switch_of: Ints, some: Ints | None = None) -> int:
    """The most servers that the loss of one switch cuts off.

    ``some``: numbers of the switches that may be lost, shape (some,), else all. ``switch_of``: switches of every
    server, shape (servers, ports).
    """
    tried = np.arange(network.switches) if some is None else some
    if all(_is_joined(_without_switch(network, switch)) for switch in np.intersect1d(kinds.switches, tried).tolist()):
        alone = switch_of[(switch_of == switch_of[:, :1]).all(axis=1), 0]
        return int(np.bincount(alone, minlength=network.switches)[tried].max(initial=0))
    return max(cut_off(_without_switch(network, switch), switch_of) for switch in tried.tolist())


def cut_off_by_link(network: Network, kinds: Kinds, switch_of: Ints, mbps: int | Ints) -> int:
    """The most servers that the loss of one link cuts off.

    ``mbps``: speed of a link, of every row or by row, shape (rows,). ``switch_of``: switches of every server, shape
    (servers, ports).
    """
    if all(_is_joined(part) for part in _without_links(network, kinds.rows, mbps)):
        return 0
    return max(cut_off(part, switch_of) for part in _without_links(network, np.arange(len(network.a)), mbps))


def _without_switch(network: Network, switch: int) -> Ints:
    part = components(network.without(np.flatnonzero((network.a == switch) | (network.b == switch))))
    part[switch] = NOWHERE
    return part


def _without_links(network: Network, rows: Ints, mbps: int | Ints) -> Iterator[Ints]:
    alone = network.mbps <= mbps
    for row in rows.tolist():
        if alone[row]:
            yield components(network.without(np.array([row])))


def _is_joined(part: Ints) -> bool:
    parts: NDArray[np.int64] = np.unique(part[part >= 0])
    return len(parts) <= 1
