"""What is joined to what, however far: the parts into which links cut a set of things."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Thing = TypeVar("Thing", bound=Hashable)


def components(things: Iterable[Thing], links: Iterable[tuple[Thing, Thing]]) -> dict[Thing, Thing]:
    """By thing: the first of all that links join it to. Raises ``KeyError`` for an end that is no such thing."""
    root = {thing: thing for thing in things}
    place = {thing: number for number, thing in enumerate(root)}

    def find(thing: Thing) -> Thing:
        while root[thing] != thing:
            root[thing] = thing = root[root[thing]]
        return thing

    for a, b in links:
        first, later = sorted((find(a), find(b)), key=place.__getitem__)
        root[later] = first
    return {thing: find(thing) for thing in root}


def first_joined(number: int, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first of all devices that links join each device to, shape (devices,); ``a``, ``b``: their ends, (links,)."""
    first = np.arange(number)
    while True:
        lowest, before = np.minimum(first[a], first[b]), first.copy()
        np.minimum.at(first, a, lowest)
        np.minimum.at(first, b, lowest)
        first = first[first]
        if (first == before).all():
            return first


def apart_from_first(near: NDArray[np.int64], far: NDArray[np.int64], stage: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask of the links that no cages join to a link of the first stage, shape (links,).

    ``near``, ``far``: the cage of each at either end, from 0; ``stage``: of each.
    """
    cages = int(near.max(initial=-1)) + 1
    first = first_joined(cages + int(far.max(initial=-1)) + 1, near, cages + far)[near]
    return ~np.isin(first, first[stage == 0])
