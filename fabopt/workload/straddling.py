"""Groups of ranks that straddle the blocks of a network: scale-up domains, groups of leaves, pods.

Ranks fill GPUs in the order in which they are dealt, block after block, so that a group that does not tile its block
lies in two of them. Crossing traffic is counted for the worst block. Nothing loops over ranks: blocks repeat with the
groups, and groups that a block cuts alike are counted together. Symbols: a group has w members at a stride of s in each
dimension, and groups repeat every L = w s GPUs of the outermost one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.workload.ranks import Group, Ranks

Ints = NDArray[np.int64]
Dimensions = tuple[tuple[int, int], ...]


class Crossing(NamedTuple):
    """Traffic over the boundary of the worst block, for each of its GPUs.

    ``cut``: groups with members on both sides; ``apart``: the share of a member's data that is for members elsewhere:
    in a group of n of which k are here (n-k)/n.
    """

    cut: Fraction = Fraction(0)
    apart: Fraction = Fraction(0)


class Crossings:
    """Traffic of groups of ranks out of blocks of neighbouring GPUs; each group and block is computed once."""

    def __init__(self, gpus: int) -> None:
        self.gpus = gpus
        self._known: dict[tuple[Dimensions, int, bool], Crossing] = {}

    def of_domain(self, group: Group, block: int) -> Crossing:
        """Traffic out of scale-up domains of ``block`` GPUs: of the worst one, shared by its NICs, and of all-to-all
        the worst GPU's own.
        """
        return self._of(group, block, True)

    def of_leaves(self, group: Group, block: int) -> Crossing:
        """Traffic out of blocks of leaves, all of which have the uplinks of a full one: the last may have
        fewer GPUs.
        """
        return self._of(group, block, False)

    def _of(self, group: Group, block: int, of_domain: bool) -> Crossing:
        dimensions = merged(group)
        key = dimensions, block, of_domain
        if key not in self._known:
            counts = _BlockMembers(dimensions, block, self.gpus) if dimensions and block < self.gpus else None
            self._known[key] = Crossing() if counts is None else counts.worst(of_domain)
        return self._known[key]


@lru_cache(maxsize=8)
def crossings_on(gpus: int) -> Crossings:
    """Crossings of groups of ranks on a cluster of ``gpus`` GPUs."""
    return Crossings(gpus)


def merged(group: Group) -> Dimensions:
    """(members, stride) of a group's dimensions, innermost first; dimensions of which one continues the
    other are one.
    """
    dimensions: list[tuple[int, int]] = []
    for ways, stride in sorted(
        (dimension for dimension in group.dimensions if dimension[0] > 1), key=lambda dimension: dimension[1]
    ):
        if dimensions and dimensions[-1][0] * dimensions[-1][1] == stride:
            ways, stride = ways * dimensions[-1][0], dimensions.pop()[1]
        dimensions.append((ways, stride))
    return tuple(dimensions)


def most_domains(group: Group, domain: int) -> int:
    """An upper bound on the domains of ``domain`` GPUs that one group lies in.

    Where a stride is a domain or longer, members of that dimension are in domains of their own. Others lie in those on
    the way from a group's first GPU to its last.
    """
    dimensions = merged(group)
    near = tuple(dimension for dimension in dimensions if dimension[1] < domain)
    apart = group.size // int(np.prod([ways for ways, _ in near]))
    return min(apart * _domains_on_the_way(near, domain), _domains_on_the_way(dimensions, domain))


def domains_of_each(group: Group, domain: int, gpus: int) -> int | None:
    """The domains of every group, with as many members in each; None where some groups straddle."""
    dimensions = merged(group)
    if not dimensions or domain >= gpus:
        return 1
    return _BlockMembers(dimensions, domain, gpus).even_blocks()


# Communicators that wait for each other in every layer.
OF_LAYERS = ("tensor", "context", "expert")
_ALL = (*OF_LAYERS, "pipeline", "data")


def straddlers(ranks: Ranks, domain: int, names: Sequence[str] = _ALL) -> list[str]:
    """Communicators of which some groups straddle domains of ``domain`` GPUs, others do not."""
    return [name for name in names if domains_of_each(ranks.group(name), domain, ranks.gpus) is None]


def domain_in_use(ranks: Ranks, domain: int, server_gpus: int) -> int:
    """GPUs of each scale-up domain that a plan takes, in whole servers.

    All of them, unless its GPUs are no whole domains anyhow and groups of ranks would straddle: then the most, over
    half, that the GPUs come out in and no group straddles (64 of 72).
    """
    if ranks.gpus <= domain or ranks.gpus % domain == 0 or not straddlers(ranks, domain):
        return domain
    fewer = range(domain - server_gpus, domain // 2, -max(1, server_gpus))
    return next((few for few in fewer if ranks.gpus % few == 0 and not straddlers(ranks, few)), domain)


def _domains_on_the_way(dimensions: Dimensions, domain: int) -> int:
    """The most domains from a group's first GPU to its last.

    The first is D - gcd(L, D) past the start of a domain at most, and as far as others are interleaved.
    """
    if not dimensions:
        return 1
    period, span = dimensions[-1][0] * dimensions[-1][1], sum((ways - 1) * stride for ways, stride in dimensions)
    first = min(domain - 1, domain - gcd(period, domain) + period - 1 - span)
    return 1 + (first + span) // domain


class _BlockMembers:
    """Members of groups in blocks, shape (blocks, groups that are cut alike), and the number of groups of each kind."""

    def __init__(self, dimensions: Dimensions, block: int, gpus: int) -> None:
        period = dimensions[-1][0] * dimensions[-1][1]
        starts = np.arange(0, gpus, block, dtype=np.int64)
        full = np.unique(starts[: gpus // block] % period)
        last = starts[gpus // block :] % period
        self.size = int(np.prod([ways for ways, _ in dimensions]))
        self.lengths = np.concatenate([np.full(full.shape, block), np.full(last.shape, gpus % block)])
        low = np.concatenate([full, last])
        high = low + self.lengths
        # a block has whole periods, which cut nothing, between the rest of one and the beginning of another
        head = _members(dimensions, low, np.minimum(high, period))
        tail = _members(dimensions, 0 * low, np.where(high > period, high % period, 0))
        self.members = np.concatenate([head[0], tail[0]], axis=1)
        self.groups = np.concatenate([head[1], tail[1]], axis=1)
        self.block = block
        self.holds_whole = bool((high >= 2 * period).any())

    def even_blocks(self) -> int | None:
        """Blocks of a group where all groups have as many members in each; None where they do not."""
        members = set(self.members[(self.members > 0) & (self.groups > 0)].tolist())
        members |= {self.size} if self.holds_whole else set()
        return self.size // members.pop() if len(members) == 1 else None

    def worst(self, of_domain: bool) -> Crossing:
        """Of all blocks; see ``Crossings``."""
        cut = (self.members > 0) & (self.members < self.size) & (self.groups > 0)
        if not cut.any():
            return Crossing()
        rings = (cut * self.groups).sum(axis=1)
        sizes = self.lengths if of_domain else np.full(self.lengths.shape, self.block)
        if of_domain:
            apart = Fraction(self.size - int(self.members[cut].min()), self.size)
        else:
            pairs = (cut * self.groups * self.members * (self.size - self.members)).sum(axis=1)
            apart = Fraction(int(pairs.max()), self.block * self.size)
        return Crossing(max(Fraction(int(rings[sizes == size].max()), int(size)) for size in set(sizes)), apart)


def _members(dimensions: Dimensions, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Members of groups from ``low`` up to ``high`` of a period, and the number of groups with each count.

    The first member of a group has a place between the members of others in every dimension; groups whose places are on
    the same side of both ends' places have as many members between them.
    """
    first, groups = np.zeros((*low.shape, 1), dtype=np.int64), np.ones((*low.shape, 1), dtype=np.int64)
    unit = 1
    for ways, stride in dimensions:
        places = stride // unit
        ends = [end for edge in (low, high) for end in (edge // unit % places, edge // unit % places + 1)]
        edges = np.sort(np.stack([0 * low, *ends, 0 * low + places], axis=1), axis=1)
        shape = (*low.shape, -1)
        first = (first[:, :, None] + unit * edges[:, None, :-1]).reshape(shape)
        groups = (groups[:, :, None] * np.diff(edges, axis=1)[:, None, :]).reshape(shape)
        unit = ways * stride
    return _members_within(dimensions, high[:, None] - first) - _members_within(
        dimensions, low[:, None] - first
    ), groups


def _members_within(dimensions: Sequence[tuple[int, int]], distance: Ints) -> Ints:
    """Members of a group at less than a distance from its first one."""
    total, open_ = np.zeros(distance.shape, dtype=np.int64), distance > 0
    inner = int(np.prod([ways for ways, _ in dimensions]))
    for ways, stride in reversed(dimensions):
        inner //= ways
        before = np.where(open_, (distance - 1) // stride, 0)
        total += np.minimum(before, ways) * inner
        open_ = open_ & (before < ways)
        distance = distance - before * stride
    return np.asarray(total + open_)
