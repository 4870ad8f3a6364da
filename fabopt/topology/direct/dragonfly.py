"""Dragonfly: groups of a switches, all joined within a group by m links a pair, and every two groups by n global links.

A group has t = n (G - 1) global links, dealt round its switches, so a switch has h = floor or ceil of t / a of them,
and G <= a h + 1. Routes are local, global, local over any global link of the two groups: a global link is loaded by
a^2 / n ordered pairs of switches, a local one by at most ``1 + 2 a ceil(t / a) / n``. Source: Kim, Dally, Scott and
Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, section 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from fabopt.network.direct_links import Dragonfly, Mesh
from fabopt.schema.structure import DragonflyStructure
from fabopt.topology.direct.networks import DirectNetworks, Floats, Ints, Load, merged, moore_mean, rounded_up
from fabopt.units import ceil_of

# Switches of a local, a global and a local link; of the farthest two of a network whose pairs of groups have a links.
LONGEST_PATH = 4
SHORTEST_PATH = 3


class DragonflyTopology:
    """How switches of a dragonfly are joined.

    Arrays ``numbers`` of a network hold a, G, the local links of a pair, and the global links of a group: shape (4,).
    """

    name = "dragonfly"
    slack_ports = 1

    def nets(self, leaves: int, load: Load, most_ports: int, ports_per_cable: tuple[int, ...]) -> DirectNetworks:
        """Groups of any size, no more than needed; global links as the load asks, or more to save local ones or hops.

        With a global links of two groups every switch has one to each other group, and the longest path has three
        switches.
        """
        hops = LONGEST_PATH if load.most_hops is None else load.most_hops
        a = np.arange(2, (min(most_ports + 1, leaves) if hops >= SHORTEST_PATH else 1) + 1)
        groups = ceil_of(leaves, a)
        a, groups = a[groups >= 2], groups[groups >= 2]
        switches = a * groups
        n = load.links(switches, a**2, 1)
        fewest = _local(load, a, groups, n)
        nearer = hops < LONGEST_PATH
        tries = np.where(fewest > 1, a, 1)
        rows, n = _more_global(a, groups, n, np.maximum(tries, a + 1 - n) if nearer else tries)
        a, groups, fewest = a[rows], groups[rows], fewest[rows]
        local = _local(load, a, groups, n)
        first = np.concatenate([[True], rows[1:] != rows[:-1]]) if len(rows) else np.empty(0, dtype=np.bool_)
        useful = first | (local < fewest) | nearer
        kept = np.flatnonzero(useful & (n * (groups - 1) < most_ports * a + a))
        a, groups, n, local = a[kept], groups[kept], n[kept], local[kept]
        parts = [_net(a, groups, links, n) for links in rounded_up(local, ports_per_cable)]
        return merged(parts, most_ports)

    def thicker(self, leaves: int, load: Load, most_ports: int) -> Iterator[DirectNetworks]:
        """Groups of any size with all numbers of local and global links that fit."""
        for a in range(2, min(most_ports + 1, leaves) + 1):
            groups = int(ceil_of(leaves, a))
            if groups < 2:
                continue
            few = int(load.links(np.array([a * groups]), np.array([a**2]), np.array([1]))[0])
            most = min(most_ports, most_ports - (a - 1) + 1) * a // (groups - 1)
            n, local = (
                grid.ravel() for grid in np.meshgrid(np.arange(few, most + 1), np.arange(1, most_ports // (a - 1) + 1))
            )
            enough = local >= _local(load, np.full_like(n, a), np.full_like(n, groups), n) if n.size else n > 0
            n, local = n[enough], local[enough]
            net = _net(np.full_like(n, a), np.full_like(n, groups), local, n)
            yield net.take(np.flatnonzero(net.most_ports.sum(axis=1) <= most_ports))

    def scopes(self, numbers: Ints) -> tuple[str, ...]:
        """Two kinds of links: ``local`` within groups, ``global`` between them."""
        return ("local", "global")

    def mesh(self, numbers: Ints) -> Dragonfly:
        """The links of one network."""
        a, groups, local, outside = (int(number) for number in numbers)
        return Dragonfly(a, groups, local, outside)

    def flow(self, numbers: Ints) -> Fraction:
        """The pair flow: the lesser of n / a^2 and of the local links of a pair over their load."""
        a, groups, local, outside = (int(number) for number in numbers)
        n = outside // (groups - 1)
        return min(Fraction(n, a * a), Fraction(local * n, n + 2 * a * int(ceil_of(outside, a))))

    def hops(self, numbers: Ints, used: int) -> int:
        """Most switches on a shortest path: local, global and local make four; fewer where shorter paths exist."""
        return _most_hops(tuple(int(number) for number in numbers), used)

    def steps(self, numbers: Ints, sources: Ints, targets: Ints) -> None:
        """Always None: paths of one length take local or global links."""

    def structure(self, numbers: Ints, servers: dict[str, int]) -> DragonflyStructure:
        """Groups and links as the design file has them."""
        a, groups, local, outside = (int(number) for number in numbers)
        return DragonflyStructure(
            family="dragonfly",
            switches_per_group=a,
            switch_groups=groups,
            links_per_local_pair=local,
            global_links_per_group=outside,
            **servers,
        )

    def mean_distance(self, switches: Ints, ports: Ints) -> Floats:
        """A lower bound of the mean distance in links, that of any graph; shape as of both broadcast."""
        return moore_mean(switches, ports)

    def most_switches(self, most_ports: int) -> int:
        """Upper bound of the switches: a (a h + 1) with a - 1 + h ports for each other, a being two thirds of these."""
        return max(a * (a * (most_ports + 1 - a) + 1) for a in range(1, most_ports + 2))


def _local(load: Load, a: Ints, groups: Ints, n: Ints) -> Ints:
    """Fewest local links of a pair."""
    return load.links(a * groups, n + 2 * a * ceil_of(n * (groups - 1), a), n)


def _more_global(a: Ints, groups: Ints, n: Ints, tries: Ints) -> tuple[Ints, Ints]:
    """Row and global links of a pair of groups: the fewest, and up to a more.

    Within a more there is a multiple at which every switch has equally many, and more do not help local links.
    """
    rows = np.repeat(np.arange(len(a)), tries)
    step = np.arange(len(rows)) - np.repeat(np.cumsum(tries) - tries, tries)
    return rows, n[rows] + step


def _net(a: Ints, groups: Ints, local: Ints, n: Ints) -> DirectNetworks:
    """Networks of ``a`` switches a group, ``groups``, ``local`` links of a pair and ``n`` global links of two
    groups.
    """
    outside = n * (groups - 1)
    low = outside // a
    none = np.zeros_like(a)
    return DirectNetworks(
        np.column_stack([a, groups, local, outside]),
        a * groups,
        np.column_stack([(a - 1) * local, low]),
        np.column_stack([none, (outside - low * a) * groups]),
        np.column_stack([local, none + 1]),
    )


@lru_cache(maxsize=1024)
def _most_hops(numbers: tuple[int, ...], used: int) -> int:
    """Switches on the longest shortest path between used ones: 3 or 4, by search of the graph where need be.

    The n links of two groups X and Y are at n switches of each, in turn. With n >= a there is always a path over a
    local and a global link; one link alone joins a switch of X to one of Y at most. With n < a, switches without one
    reach only those of Y that have one, or over a third group: h (h - 1) switches in all, h being their global links.
    """
    a, groups, _, outside = numbers
    n, most = outside // (groups - 1), int(ceil_of(outside, a))
    if n >= a:
        return SHORTEST_PATH
    if groups == 2:
        return SHORTEST_PATH if used - a <= n else LONGEST_PATH
    # of the groups that a switch has no link to, the last one may be partly used
    if most * (most - 1) < (groups - 2 - most) * (a - n):
        return LONGEST_PATH
    # all groups are alike, and without the last one, three or more have two at every distance in their ring
    return longest_path(Dragonfly(a, groups, 1, outside), range(a), used)


def longest_path(mesh: Mesh, sources: range, used: int) -> int:
    """Switches on the longest shortest path from some switches to the first ``used``, by breadth-first search."""
    ends, _ = mesh.all_pairs()
    a, b = np.concatenate(ends), np.concatenate(ends[::-1])
    longest = 1
    for source in sources:
        seen = np.zeros(mesh.switches, dtype=np.bool_)
        seen[source] = True
        steps = 1
        while not seen[:used].all():
            before = int(seen.sum())
            seen[b[seen[a]]] = True
            steps += 1
            if int(seen.sum()) == before:
                raise ValueError("the switches are not all joined")
        longest = max(longest, steps)
    return longest
