"""How little a limit has to give: whatever is asked, the nearest value that works is looked for in one way."""

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
    """What works and is nearest to what fails.

    ``between``: the value to ask for next, None where the two are near enough. ``ask``: what a design with that value
    comes to, which may be nearer to what fails than was asked for; None if there is no design.
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
    """What works nearest to what fails, as far as time allows, and whether nothing nearer does; see ``nearest``."""
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
