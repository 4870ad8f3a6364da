"""What is joined to what, however far: the parts into which links cut a set of things."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

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
