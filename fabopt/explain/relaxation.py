"""Search for the nearest value of a limit that gives a design, by bisection between a working and a failing value."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from fabopt.program.settings import StoppedError

Works = TypeVar("Works")
Fails = TypeVar("Fails")


def nearest(
    works: Works,
    fails: Fails,
    ask: Callable[[Fails], Works | None],
    between: Callable[[Works, Fails], Fails | None],
) -> Works:
    """The working value nearest to a failing one.

    ``between``: the next value to ask for, None where the two are near enough. ``ask``: the value that a design takes,
    which may be nearer to the failing one than the argument; None if there is no design.
    """
    while (value := between(works, fails)) is not None:
        answer = ask(value)
        if answer is None:
            fails = value
        else:
            works = answer
    return works


def closest(
    works: Works,
    fails: Fails,
    ask: Callable[[Fails], Works | None],
    between: Callable[[Works, Fails], Fails | None],
) -> tuple[Works, bool]:
    """The working value nearest to a failing one found in time, and whether none is nearer; see ``nearest``."""
    known = works

    def kept(value: Fails) -> Works | None:
        nonlocal known
        answer = ask(value)
        known = known if answer is None else answer
        return answer

    with suppress(StoppedError):
        return nearest(works, fails, kept, between), True
    return known, False


def halfway(works: int, fails: int) -> int | None:
    """The whole number halfway between two; None where there is none between them."""
    return (works + fails) // 2 if abs(fails - works) > 1 else None
