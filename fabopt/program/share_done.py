"""Progress of the work that a user watches, as far as its size is known: nested loops over known numbers of items."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import TypeVar

Thing = TypeVar("Thing")


def _to_nobody() -> None:
    """Report to no one."""


class ProgressShare:
    """Progress of a search: steps, whose number is known; parts of a step, whose number is not; and the share of a
    part.

    Each rises until the one before does. ``heard``: is called at a change.
    """

    def __init__(self, heard: Callable[[], None] = _to_nobody) -> None:
        self.heard = heard
        self._step, self._steps, self._part = 0, 0, 0
        # done and all of each loop, the innermost last
        self._loops: list[tuple[int, int]] = []
        self._done: float | None = None

    @property
    def done(self) -> float | None:
        """The share of the part at hand that is done, from 0 to 1; None where its size is not known."""
        return self._done

    def begin_step(self, number: int, of: int) -> None:
        """A step begins."""
        self._step, self._steps, self._part, self._done = number, of, 0, None
        self._loops.clear()
        self.heard()

    def begin_part(self) -> None:
        """Begin a part without a known size; within a loop there are no parts."""
        if not self._loops:
            self._part, self._done = self._part + 1, None
            self.heard()

    def over(self, items: Sequence[Thing]) -> Iterator[Thing]:
        """Iterate over items and report the share done; a single one reports nothing."""
        depth = len(self._loops)
        if len(items) < 2:
            yield from items
            return
        if self._done is not None or not self._part:
            self.begin_part()
        try:
            for number, item in enumerate(items):
                self._count(depth, number, len(items))
                yield item
            self._count(depth, len(items), len(items))
        finally:
            del self._loops[depth:]

    def _count(self, depth: int, done: int, of: int) -> None:
        self._loops[depth:] = [(done, of)]
        share, unit = 0.0, 1.0
        for number, size in self._loops:
            share, unit = share + unit * number / size, unit / size
        self._done = max(self._done or 0.0, share)
        self.heard()

    def __str__(self) -> str:
        """Progress in words; empty without steps."""
        if not self._steps:
            return ""
        share = "share unknown" if self._done is None else f"{floor(100 * self._done + 1e-9)} % done"
        return f"step {self._step} of {self._steps}, part {max(1, self._part)}: {share}"


@dataclass(frozen=True)
class Progress:
    """How far a solve is.

    ``doing``: the work at hand, in words; ``best``, ``bound``: the objective of the best design met, and the least that
    any can have, in the objective's unit (dollars, watts); ``share``: of this work, 0 to 1, and ``step``: the same in
    words. None or empty: not known.
    """

    doing: str = "reading"
    best: float | None = None
    bound: float | None = None
    share: float | None = None
    step: str = ""


class ProgressWatch:
    """Passes progress on to whoever asked for it, once for each change, but not within ``between_s`` of the last."""

    def __init__(self, progress: Callable[[Progress], None], between_s: float = 0) -> None:
        self._progress, self._between_s = progress, between_s
        self._now, self._told = Progress(), -between_s
        self.share = ProgressShare(lambda: self._tell(replace(self._now, share=self.share.done, step=str(self.share))))

    def say(self, doing: str) -> None:
        """Take words for the work at hand."""
        self._tell(replace(self._now, doing=doing))
        self.share.begin_part()

    def bracket(self, best: float | None, bound: float | None) -> None:
        """Take the objective of the best design met, and its bound."""
        self._tell(replace(self._now, best=best, bound=bound))

    def _tell(self, now: Progress) -> None:
        before, self._now = self._now, now
        if now != before and time.monotonic() - self._told >= self._between_s:
            self._told = time.monotonic()
            self._progress(now)
