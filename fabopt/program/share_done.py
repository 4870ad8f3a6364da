"""How much is done of what somebody watches, as far as that is known: loops over so many things, one within another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import floor
from typing import TypeVar

Thing = TypeVar("Thing")


def _to_nobody() -> None:
    """Nobody is told."""


class ShareDone:
    """Steps, of which it is known how many there are; parts of a step, of which it is not; and the share of a part.

    Each rises until the one before does. ``heard``: is told of a change.
    """

    def __init__(self, heard: Callable[[], None] = _to_nobody) -> None:
        self.heard = heard
        self._step, self._steps, self._part = 0, 0, 0
        # done and all of each loop, the innermost last
        self._loops: list[tuple[int, int]] = []
        self._done: float | None = None

    def begin_step(self, number: int, of: int) -> None:
        """A step begins."""
        self._step, self._steps, self._part, self._done = number, of, 0, None
        self._loops.clear()
        self.heard()

    def begin_part(self) -> None:
        """A part begins, of which nothing is known; what is done within a loop is none."""
        if not self._loops:
            self._part, self._done = self._part + 1, None
            self.heard()

    def over(self, things: Sequence[Thing]) -> Iterator[Thing]:
        """Things that are done one after the other; a single one tells nothing."""
        depth = len(self._loops)
        if len(things) < 2:
            yield from things
            return
        if self._done is not None or not self._part:
            self.begin_part()
        try:
            for number, thing in enumerate(things):
                self._count(depth, number, len(things))
                yield thing
            self._count(depth, len(things), len(things))
        finally:
            del self._loops[depth:]

    def _count(self, depth: int, done: int, of: int) -> None:
        self._loops[depth:] = [(done, of)]
        share, unit = 0.0, 1.0
        for number, things in self._loops:
            share, unit = share + unit * number / things, unit / things
        self._done = max(self._done or 0.0, share)
        self.heard()

    def __str__(self) -> str:
        """In words; nothing where there are no steps."""
        if not self._steps:
            return ""
        share = "share unknown" if self._done is None else f"{floor(100 * self._done + 1e-9)} % done"
        return f"step {self._step} of {self._steps}, part {max(1, self._part)}: {share}"
