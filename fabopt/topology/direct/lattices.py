"""Sides of boxes of switches: what HyperX and torus have in common."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from fabopt.topology.direct.networks import Ints, rounded_up

# No side of a torus is longer; of a HyperX ports forbid it first.
LONGEST_SIDE = 1024


@lru_cache(maxsize=4096)
def boxes(switches: int, dimensions: int, shortest: int, longest: int) -> Ints:
    """Sides that rise, of boxes with at least so many switches, none of which would have them with a shorter side.

    Shape (boxes, dimensions). The longest side follows from the others; as a slice across it is the smallest, no other
    side can be shorter either.
    """
    if longest**dimensions < switches:
        return np.empty((0, dimensions), dtype=np.int64)
    rows = np.empty((1, 0), dtype=np.int64)
    for at in range(dimensions - 1):
        lowest = rows[:, -1] if at else np.full(len(rows), shortest)
        before = rows.prod(axis=1)
        # the sides that follow are no shorter
        highest = np.minimum(longest, _root(-(-switches // before) + 0, dimensions - at))
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
    """Links of a pair in every dimension that may be best, shape (boxes, dimensions) each."""
    choices = rounded_up(fewest, ports_per_cable)
    columns = fewest.shape[1]
    return [
        np.column_stack([choices[pick][:, at] for at, pick in enumerate(picks)])
        for picks in product(range(len(choices)), repeat=columns)
    ]


def volume(sides: Ints) -> int:
    """Switches of a box."""
    return prod(int(side) for side in sides)
