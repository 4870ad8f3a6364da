"""Ports of attachments that are dealt over all leaves of a Clos, one a leaf and round: the leaf of every port."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.network.clos_links import ClosNumbers
from fabopt.network.free_ports import Exchange

LEAVES_OF_PAIR = 2


class AttachedPort(NamedTuple):
    """A port of an attachment: the attachment's index, the stage that adds it, and its leaf."""

    owner: int
    stage: int
    leaf: int


def dealt_over_leaves(
    n: ClosNumbers, adds: Sequence[Sequence[int]], racks: Sequence[Hashable] = (), in_pairs: bool = False
) -> list[AttachedPort]:
    """Ports in the order in which they are dealt: stage by stage, of each in the order of the attachments.

    ``adds``: ports of each attachment by the stage that adds them. ``racks``: the rack of every leaf where rule
    ``rack-spread`` holds: leaves with equal servers at every stage then change places, so that neighbouring ports are
    in different racks; ``in_pairs``: with the other leaf of their pair, where groups have an even number of leaves.
    """
    owners = [
        (owner, stage)
        for stage in range(max(map(len, adds), default=0))
        for owner, ports in enumerate(adds)
        for _ in range(ports[stage] if stage < len(ports) else 0)
    ]
    of_stage = np.bincount(np.array([stage for _, stage in owners], dtype=np.int64), minlength=1).tolist()
    leaves = _as_it_grows(n, of_stage) if n.sizes else _in_turn(n, len(owners))
    if len(racks):
        together = LEAVES_OF_PAIR if in_pairs and not (n.rails % LEAVES_OF_PAIR or n.last_rails % LEAVES_OF_PAIR) else 1
        exchange = Exchange({"leaf": racks}, {"leaf": _servers_of_leaves(n)}, together)
        leaves = [exchange.next(("leaf", leaf), owner)[1] for leaf, (owner, _) in zip(leaves, owners, strict=True)]
    return [AttachedPort(*owner, leaf) for owner, leaf in zip(owners, leaves, strict=True)]


def _servers_of_leaves(n: ClosNumbers) -> list[tuple[int, ...]]:
    """Servers of each leaf's group at each stage, and whether that is a differing last one."""
    group = n.group_of_leaf(np.arange(n.planes * n.leaves))
    servers = [n.servers_of_groups(group, size) for size in n.sizes or (n.servers,)]
    return list(zip(*(of_stage.tolist() for of_stage in servers), _of_own_last(n, group).tolist(), strict=True))


def _of_own_last(n: ClosNumbers, group: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask of the leaves of a differing last group; both of shape (leaves,)."""
    return np.asarray((group == n.before_own) & n.has_own_last)


def _in_turn(n: ClosNumbers, ports: int) -> list[int]:
    """The leaf of each port, one port a leaf a round, leaves with the fewest ports of servers first; of equals, those
    of a differing last group last.
    """
    group = n.group_of_leaf(np.arange(n.planes * n.leaves))
    in_last = group == n.groups - 1
    comes_later = ~in_last if n.last_group * n.last_k < n.g * n.k else _of_own_last(n, group)
    order = np.argsort(comes_later, kind="stable").tolist()
    return [order[place % len(order)] for place in range(ports)]


def _as_it_grows(n: ClosNumbers, attached: Sequence[int]) -> list[int]:
    """The leaf of each port, stage by stage (``attached``: number of ports), each at the emptiest leaf of the stage,
    the first of equals; leaves that come later are empty.
    """
    leaves: list[int] = []
    queue: list[tuple[int, int]] = []
    there = 0
    for size, ports in zip(n.sizes, attached, strict=False):
        settled = int(n.first_leaves(n.group_of_server(np.array([size - 1])) + 1)[0])
        for plane in range(n.planes):
            for leaf in range(there, settled):
                heapq.heappush(queue, (0, plane * n.leaves + leaf))
        there = settled
        for _ in range(ports):
            load, leaf = queue[0]
            heapq.heapreplace(queue, (load + 1, leaf))
            leaves.append(leaf)
    return leaves
