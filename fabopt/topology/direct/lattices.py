"""Lattices of devices in up to three dimensions: what HyperX and torus have in common."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from fabopt.topology.direct.loads import Ints
from fabopt.topology.direct.networks import DirectNetworks, rounded_up

MOST_DIMENSIONS = 3
# No side of a torus is longer; of a HyperX ports forbid it first.
LONGEST_SIDE = 1024


@lru_cache(maxsize=4096)
def smallest_sides(switches: int, dimensions: int, shortest: int, longest: int) -> Ints:
    """Sides that rise, of lattices with at least so many switches, none of which would have them with a shorter side.

    Shape (lattices, dimensions). The longest side follows from the others; as a slice across it is the smallest, no
    other side can be shorter either.
    """
    if longest**dimensions < switches:
        return np.empty((0, dimensions), dtype=np.int64)
    rows = np.empty((1, 0), dtype=np.int64)
    for dimension in range(dimensions - 1):
        lowest = rows[:, -1] if dimension else np.full(len(rows), shortest)
        before = rows.prod(axis=1)
        # the sides that follow are no shorter
        highest = np.minimum(longest, _root(-(-switches // before) + 0, dimensions - dimension))
        counts = np.maximum(0, highest - lowest + 1)
        start = np.repeat(np.cumsum(counts) - counts, counts)
        side = np.arange(counts.sum()) - start + np.repeat(lowest, counts)
        rows = np.column_stack([np.repeat(rows, counts, axis=0), side])
    last = -(-switches // rows.prod(axis=1))
    lowest = np.maximum(rows[:, -1] if dimensions > 1 else shortest, shortest)
    rows = np.column_stack([rows, last])
    return np.asarray(rows[(last >= lowest) & (last <= longest)])


def _root(number: Ints, degree: int) -> Ints:
    """The least whole number whose power is not below: no side can be above it and still be no longer than the rest."""
    root = np.ceil(number ** (1 / degree) - 1e-9).astype(np.int64)
    return np.asarray(root + (root**degree < number))


def multiplicities(fewest: Ints, ports_per_cable: tuple[int, ...]) -> list[Ints]:
    """Links of a pair in every dimension that may be best, shape (lattices, dimensions) each."""
    choices = rounded_up(fewest, ports_per_cable)
    columns = fewest.shape[1]
    return [
        np.column_stack([choices[pick][:, at] for at, pick in enumerate(picks)])
        for picks in product(range(len(choices)), repeat=columns)
    ]


def volume(sides: Ints) -> int:
    """Switches of a lattice."""
    return prod(int(side) for side in sides)


def lattice_net(sides: Ints, links: Ints, switches: Ints, ports: Ints) -> DirectNetworks:
    """Lattices as networks; columns of dimensions that a lattice does not have are 0."""
    rows, dimensions = sides.shape
    numbers = np.zeros((rows, 2 * MOST_DIMENSIONS), dtype=np.int64)
    numbers[:, :dimensions] = sides
    numbers[:, MOST_DIMENSIONS : MOST_DIMENSIONS + dimensions] = links
    used = np.zeros((rows, MOST_DIMENSIONS), dtype=np.int64)
    used[:, :dimensions] = ports
    return DirectNetworks(numbers, switches, used, np.zeros_like(used), numbers[:, MOST_DIMENSIONS:])


def thickened(sides: Ints, fewest: Ints, ports: Ints, most_ports: int) -> Iterator[DirectNetworks]:
    """For every lattice all numbers of links from the fewest on; ``ports``: of a switch, for one link of a pair."""
    for own_sides, least, ports_each in zip(sides, fewest, ports, strict=True):
        spare = most_ports - int((least * ports_each).sum())
        if spare >= 0:
            links = np.stack(
                np.meshgrid(*(one + np.arange(spare // of + 1) for one, of in zip(least, ports_each, strict=True)))
            )
            many = links.reshape(len(own_sides), -1).T
            many = many[(many * ports_each).sum(axis=1) <= most_ports]
            repeated = np.repeat(own_sides[np.newaxis, :], len(many), axis=0)
            yield lattice_net(repeated, many, repeated.prod(axis=1), many * ports_each)


def halves(numbers: Ints) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sides and multiplicities of the dimensions that there are."""
    row = [int(one) for one in numbers]
    dimensions = sum(1 for side in row[:MOST_DIMENSIONS] if side)
    return tuple(row[:dimensions]), tuple(row[MOST_DIMENSIONS : MOST_DIMENSIONS + dimensions])
