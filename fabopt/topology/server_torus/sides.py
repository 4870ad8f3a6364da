"""Sides of a torus of servers, and how the ports of a server are dealt over its dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import ceil, prod

from fabopt.topology.direct.lattices import LONGEST_SIDE
from fabopt.topology.direct.torus import SHORTEST_SIDE


@lru_cache(maxsize=4096)
def sides_of(servers: int, dimensions: int) -> tuple[tuple[int, ...], ...]:
    """Rising sides, ``SHORTEST_SIDE`` at least, of lattices with exactly ``servers`` servers.

    Rule ``servers_form_torus``.
    """
    if servers > LONGEST_SIDE**dimensions:
        return ()
    return tuple(_rising(servers, dimensions, SHORTEST_SIDE))


def _rising(product: int, dimensions: int, shortest: int) -> Iterator[tuple[int, ...]]:
    if dimensions == 1:
        if shortest <= product <= LONGEST_SIDE:
            yield (product,)
        return
    for side in range(shortest, LONGEST_SIDE + 1):
        if side**dimensions > product:
            return
        if product % side == 0:
            yield from ((side, *others) for others in _rising(product // side, dimensions - 1, side))


def lattices_of(servers: int) -> tuple[tuple[int, ...], ...]:
    """Sides of every torus of two or three dimensions with exactly ``servers`` servers; none for some numbers."""
    return tuple(sides for dimensions in (2, 3) for sides in sides_of(servers, dimensions))


def fewest_links(sides: tuple[int, ...], flow: Fraction) -> tuple[int, ...]:
    """Links of a pair in each dimension for a pair flow, in units of a link's speed; one at the least.

    One link is loaded by ``N floor(k^2 / 4) / (2 k m)`` ordered pairs (``fabopt.topology.direct.torus``).
    """
    servers = prod(sides)
    return tuple(max(1, ceil(flow * servers * (side * side // 4) / (2 * side))) for side in sides)


def links_of_ports(fewest: tuple[int, ...], pairs: int, cage_ports: int) -> list[tuple[int, ...]]:
    """Links of a pair in every dimension, ``pairs`` in all, such that every dimension fills its cages."""
    links_so_far: list[tuple[int, ...]] = [()]
    for dimension, least in enumerate(fewest[:-1]):
        later = sum(fewest[dimension + 1 :])
        links_so_far = [
            (*links, more) for links in links_so_far for more in range(least, pairs - sum(links) - later + 1)
        ]
    whole = [(*links, pairs - sum(links)) for links in links_so_far]
    return [links for links in whole if not any(2 * count % cage_ports for count in links)]
