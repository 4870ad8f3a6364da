"""Lower bounds on the cost of links between two devices, by length class of their run, before parts are chosen.

A link bears its share of shared parts: a transceiver is shared by the links of its cage, a cable by the links that it
carries. So the sum over all links, each with its cheapest parts, never exceeds their joint cost.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import ClosNumbers
from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.problem.problem import Problem
from fabopt.topology.clos.cabling import KindKey, LinkType, links_of
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import Ints
from fabopt.topology.clos.stage_links import assemblies_over
from fabopt.topology.link_parts import Floats
from fabopt.units import ceil_of


class _Fill(NamedTuple):
    """Links in the cages at both ends of a link, its own among them."""

    near: int
    far: int


class Pairs:
    """Pairs of devices that links of a kind join, the upper device's together: ``a`` below, ``b`` above.

    Shape (pairs,). ``cost``: of all links of a pair by length class, shape (pairs, classes + 1); infinite past all.
    ``apart``: whether each cage has links to one device only, so that equal devices may be exchanged, (a, b).
    """

    def __init__(self, a: Ints, b: Ints, cost: Floats, apart: tuple[bool, bool]) -> None:
        self.a, self.b, self.cost, self.apart = a, b, cost, apart
        self.first_of_b = np.flatnonzero(np.diff(b, prepend=-1))

    @cached_property
    def least(self) -> Floats:
        """Cost of the links of a pair if their runs are of a class or a longer one, shape (pairs, classes + 1)."""
        return np.asarray(np.minimum.accumulate(self.cost[:, ::-1], axis=1)[:, ::-1])

    def alike(self, upper: bool) -> list[bool]:
        """Whether a device has the same links at the same costs as its predecessor, by device."""
        switch, peer = (self.b, self.a) if upper else (self.a, self.b)
        order = np.lexsort((peer, switch))
        starts = [*np.flatnonzero(np.diff(switch[order], prepend=-1)).tolist(), len(order)]
        rows = [order[first:last] for first, last in pairwise(starts)]
        return [False] + [
            np.array_equal(peer[one], peer[two]) and np.array_equal(self.cost[one], self.cost[two])
            for one, two in pairwise(rows)
        ]


def pairs_of(problem: Problem, clos: ClosNetwork, numbers: ClosNumbers, kind: LinkType, weights: Floats) -> Pairs:
    """The pairs of a kind of links, at weights of the items, shape (items,): the same wherever switches are."""
    key = _PairsKey(weights.tobytes(), kind.key, numbers)
    return _PAIRS.of(problem.links, key, _pairs, problem, clos, numbers, kind, weights)


class _PairsKey(NamedTuple):
    """Key of the pairs of a kind of links; ``weights``: of the items, as bytes."""

    weights: bytes
    kind: KindKey
    numbers: ClosNumbers


_PAIRS: Lookup[LinkTable, _PairsKey, Pairs] = Lookup()


def _pairs(problem: Problem, clos: ClosNetwork, numbers: ClosNumbers, kind: LinkType, weights: Floats) -> Pairs:
    joints, near_device = links_of(numbers, kind, 1)
    near, far = kind.ports
    fills, fill = np.unique(
        np.stack([_fill(near_device, joints.a_slot // near.ports), _fill(joints.b, joints.b_slot // far.ports)]),
        axis=1,
        return_inverse=True,
    )
    table = np.stack([_by_class(problem, clos, kind, _Fill(*one), weights) for one in fills.T.tolist()])
    joined, pair = np.unique(np.stack([joints.b, joints.a]), axis=1, return_inverse=True)
    cost = np.zeros((joined.shape[1], table.shape[1]))
    np.add.at(cost, np.ravel(pair), table[np.ravel(fill)])
    return Pairs(joined[1], joined[0], cost, (far.ports == 1, near.ports == 1))


def _fill(device: Ints, cage: Ints) -> Ints:
    """Number of links in each link's cage."""
    _, which, counts = np.unique(np.stack([device, cage]), axis=1, return_inverse=True, return_counts=True)
    return np.asarray(counts[np.ravel(which)])


def _by_class(problem: Problem, clos: ClosNetwork, kind: LinkType, fill: _Fill, weights: Floats) -> Floats:
    """The least share of a link by length class; infinite past all."""
    key = _ShareKey(weights.tobytes(), kind.key, fill)
    return _SHARES.of(problem.links, key, _shares, problem, clos, kind, fill, weights)


class _ShareKey(NamedTuple):
    """Key of the shares of a link; ``weights``: of the items, as bytes."""

    weights: bytes
    kind: KindKey
    fill: _Fill


_SHARES: Lookup[LinkTable, _ShareKey, Floats] = Lookup()


def _shares(problem: Problem, clos: ClosNetwork, kind: LinkType, fill: _Fill, weights: Floats) -> Floats:
    costs = [
        min((_share(problem, join, fill, weights) for join in joins), default=np.inf)
        for run_m in problem.item_table.lengths_m.tolist()
        for joins in (assemblies_over(problem, clos, kind, run_m, True),)
    ]
    return np.array([*costs, np.inf])


def _share(problem: Problem, assembly: Assembly, fill: _Fill, weights: Floats) -> float:
    def weight(item: Item | None) -> float:
        return 0.0 if item is None else float(weights[item.index])

    ends = weight(assembly.near) / fill.near + weight(assembly.far) / fill.far
    if assembly.mode is Mode.LINK:
        return ends + weight(assembly.cable)
    # its other links may be longer, and a longer length may be the cheaper one
    lengths = [
        item for item in problem.item_table.lengths(assembly.cable.id) if (item.length_m or 0.0) >= assembly.length_m
    ]
    cable = min(weight(item) for item in lengths)
    if assembly.mode in (Mode.PAIR, Mode.CROSS):
        return ends + cable / assembly.ports_per_cable
    links = fill.far if assembly.mode is Mode.FAR else fill.near
    return ends + cable * float(ceil_of(links, assembly.ports_per_cable)) / links
