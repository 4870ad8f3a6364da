"""What leaves of one half can send to the other in a dragonfly+, path by path, whole and without a box or link.

All shortest paths are listed and every link is tried, in fractions; nothing of fabopt is imported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import prod
from typing import Any

import networkx as nx

Pair = tuple[int, int]
# of two switches: links between them, speed of each, and how long a path over one counts
Rows = dict[Pair, tuple[int, int, int]]
# of an ordered pair of leaves: its share of every direction of a link
Shares = dict[Pair, dict[Pair, Fraction]]


def rows_of(numbers: tuple[int, int, int, int, int], speeds: tuple[int, int]) -> tuple[list[int], Rows]:
    """Leaves, and links: every leaf to its spines; global ones go round the spines, to the next group first."""
    size, spines, groups, m, n = numbers
    leaves = size * groups
    rows: Rows = {}
    for leaf in range(leaves):
        for spine in range(spines):
            rows[leaf, leaves + leaf // size * spines + spine] = (m, speeds[0], 1)
    for x, y in combinations(range(groups), 2):
        for link in range(n):
            near = leaves + x * spines + ((y - x - 1) * n + link) % spines
            far = leaves + y * spines + (((x - y) % groups - 1) * n + link) % spines
            rows[near, far] = (rows.get((near, far), (0, 0, 0))[0] + 1, speeds[1], 3)
    return list(range(leaves)), rows


def shares_of(leaves: Sequence[int], rows: Rows) -> Shares | None:
    """None if some leaves have no way to others."""
    graph = nx.Graph()
    graph.add_nodes_from(leaves)
    graph.add_weighted_edges_from((a, b, length) for (a, b), (_, _, length) in rows.items())
    found: Shares = {}
    for one, other in permutations(leaves, 2):
        if not nx.has_path(graph, one, other):
            return None
        paths = [list(pairwise(path)) for path in nx.all_shortest_paths(graph, one, other, weight="weight")]
        weights = [prod(capacity(rows, way) for way in path) for path in paths]
        share: dict[Pair, Fraction] = defaultdict(Fraction)
        for path, weight in zip(paths, weights, strict=True):
            for way in path:
                share[way] += Fraction(weight, sum(weights))
        found[one, other] = share
    return found


def capacity(rows: Rows, way: Pair) -> int:
    links, speed, _ = rows[min(way), max(way)]
    return links * speed


def rate(leaves: Sequence[int], rows: Rows) -> Fraction | None:
    """What is promised to a leaf; None if there is no other."""
    shares = shares_of(leaves, rows)
    if shares is None:
        return Fraction(0)
    found = []
    for way in [(a, b) for pair in rows for a, b in (pair, pair[::-1])]:
        all_of_it = {pair: share[way] for pair, share in shares.items() if way in share}
        limits = [Fraction(2, len(leaves)) * sum(all_of_it.values(), Fraction(0))]
        for end in set(way) & set(leaves):
            own = [share for pair, share in all_of_it.items() if end == (pair[0] if way[0] == end else pair[1])]
            through = sum(all_of_it.values(), Fraction(0)) - sum(own)
            limits.append(max(own, default=Fraction(0)) + Fraction(2, len(leaves)) * through)
        if min(limits):
            found.append(capacity(rows, way) / min(limits))
    return min(found, default=None)


def rate_of_all_halves(leaves: Sequence[int], rows: Rows) -> Fraction:
    """What a leaf has at the worst way to part leaves in two, links being filled as far as they go."""
    shares = shares_of(leaves, rows)
    assert shares is not None
    found = []
    for size in range(1, len(leaves)):
        for half in combinations(leaves, size):
            load: dict[Pair, Fraction] = defaultdict(Fraction)
            for (one, other), share in shares.items():
                if one in half and other not in half:
                    for way, part in share.items():
                        load[way] += part
            flow = min(capacity(rows, way) / part for way, part in load.items())
            found.append(flow * max(size, len(leaves) - size))
    return min(found)


def losses(leaves: Sequence[int], rows: Rows, failed: str) -> Iterator[tuple[list[int], Rows]]:
    """All that can be left without a ``leaf``, a ``spine`` or a link ``between`` switches."""
    if failed == "between":
        for pair, (links, speed, length) in rows.items():
            others = {other: row for other, row in rows.items() if other != pair}
            yield list(leaves), others | ({pair: (links - 1, speed, length)} if links > 1 else {})
        return
    for gone in sorted({end for pair in rows for end in pair}):
        if (gone in leaves) == (failed == "leaf"):
            yield [one for one in leaves if one != gone], {pair: row for pair, row in rows.items() if gone not in pair}


def worst(numbers: tuple[int, int, int, int, int], speeds: tuple[int, int], failed: str) -> Any:
    """The least that a leaf is promised over all losses."""
    leaves, rows = rows_of(numbers, speeds)
    return min(made for left in losses(leaves, rows, failed) if (made := rate(*left)) is not None)
