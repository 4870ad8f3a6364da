"""Settings of a search, and its clock.

One clock holds for all work: it is over when its limit has passed or when somebody stopped it. Loops look at it
(``is_over``, ``look``) and end with the best so far. Code that does not look in time is left all the same: within
``bounded`` the clock rings, and the code under way ends with ``StoppedError``.

Progress of the work that a user watches, as far as its size is known: nested loops over known numbers of items.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from math import floor, inf
from typing import Protocol, TypeVar

from fabopt.program.bell import BELL, PATIENCE_S, Ringing
from fabopt.schema.design import Alternative, Conflict, Design, Number

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


# What a program is given when time is over, so that candidates that were found become a design.
LAST_SECONDS = 0.4
# Most of a limit that is kept for the work after the search, as a share; more where others use the processor.
MOST_RESERVED = 0.25
MOST_RESERVED_WHERE_SLOW = 0.35
# Less work than this, in processor seconds, does not tell how long the processor takes for it.
LEAST_WORK_S = 0.05
# Bounds that are held against a cutoff in the time of a deterministic second of CP-SAT, and while a variable is made.
BOUNDS_PER_EFFORT = 10_000
BOUNDS_PER_VARIABLE = 2


class StoppedError(Exception):
    """The clock ran out, or somebody stopped, before a question was answered or a point was proven."""


@dataclass(eq=False)
class Work:
    """Work of searches, counted in bounds that are held against a cutoff: equal on every machine.

    ``variables``: of programs, each counted as the bounds that take as long; ``exerted``: CP-SAT's effort for them, no
    other engine counts it. ``most``: limit of work, at which a search ends with the best that it has met, or, if
    ``or_nothing``, at once with ``StoppedError``.
    """

    done: int = 0
    most: float = inf
    variables: int = 0
    exerted: int = 0
    or_nothing: bool = False

    @property
    def on_any_engine(self) -> int:
        """Work in bounds and variables, equal for all engines."""
        return self.done + self.variables

    @property
    def in_all(self) -> int:
        """All work."""
        return self.on_any_engine + self.exerted

    @property
    def is_spent(self) -> bool:
        """Whether the work exceeded its limit, so that a search ended early."""
        return self.in_all > self.most

    @property
    def effort_left(self) -> float:
        """CP-SAT's effort left, in its deterministic seconds."""
        return (self.most - self.in_all) / BOUNDS_PER_EFFORT

    def is_enough_with(self, more: int) -> bool:
        """Count ``more`` bounds, and return whether the work exceeds its limit."""
        self.done += more
        if self.or_nothing and self.is_spent:
            raise StoppedError
        return self.is_spent

    def make(self, variables: int) -> None:
        """Count the variables of a program."""
        self.variables += BOUNDS_PER_VARIABLE * variables

    def exert(self, effort: float) -> None:
        """Count CP-SAT's effort; where it was all the effort left, the limit is exceeded."""
        reached = effort >= self.effort_left
        self.exerted += int(effort * BOUNDS_PER_EFFORT) + reached


@dataclass(frozen=True)
class Settings:
    """Settings of a search: engine, seconds (None: no limit), whether to prune, callbacks for reports.

    ``progress``: takes the step under way, in words; ``bracket`` the objective of the best design met and a lower bound
    of all, in dollars or watts (None: not known); ``met``: takes the best design met, as its problem and its optimum,
    each time that more is known. ``share``: is told the progress. ``still``: is entered where this process is copied;
    no thread of an observer may run within. ``told``: takes, where there is no design, first None and then each
    conflict, as it is found. ``reached``: takes the answer, before other designs are compared with it;
    ``compared`` each design of another kind, as it is found beside an answer.
    ``work``: the work of all searches with these settings together, and its limit. ``alike_places``: on a small floor,
    places of switches that need the same parts are a candidate each.
    """

    engine: str = "cp-sat"
    time_limit_s: float | None = None
    prune: bool = True
    progress: Callable[[str], None] = lambda text: None
    told: Callable[[Conflict | None], None] = lambda conflict: None
    reached: Callable[[Design], None] = lambda design: None
    compared: Callable[[Alternative], None] = lambda alternative: None
    bracket: Callable[[Number | None, Number | None], None] = lambda best, bound: None
    met: Callable[..., None] = lambda problem, optimum: None
    share: ProgressShare = field(default_factory=ProgressShare)
    still: Callable[[], AbstractContextManager[None]] = nullcontext
    work: Work = field(default_factory=Work)
    alike_places: bool = False

    @property
    def quiet(self) -> Settings:
        """These settings for a second search, without progress reports."""
        return replace(
            self, progress=lambda text: None, bracket=lambda best, bound: None, met=lambda problem, optimum: None,
            share=ProgressShare(), reached=lambda design: None,
        )  # fmt: skip


class Cancel(Protocol):
    """Something that another thread sets to stop a search, such as a ``threading.Event``."""

    def is_set(self) -> bool:
        """Whether the search is to stop."""


class Clock:
    """Seconds left of a time limit, and whether somebody wants to stop."""

    def __init__(self, time_limit_s: float | None, started: float | None = None, cancel: Cancel | None = None) -> None:
        """``started``: since when the limit runs, by ``time.monotonic``; None: since now."""
        self._cancel = cancel
        self._made = time.monotonic()
        self._start = self._made if started is None else started
        self._end = None if time_limit_s is None else self._start + time_limit_s
        # asked of the system only where it counts, which takes a millisecond where a process has many threads
        self._worked_before = None if self._end is None else time.process_time()
        self._reserved_s = 0.0
        self._stopped_at: float | None = None

    def spent_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def reserve(self, seconds: float) -> None:
        """Keep ``seconds`` of the limit for the work after the search: it is over that much earlier.

        ``seconds``: of a processor of one's own; where others use it too, that takes as much longer as all work has by
        now.
        """
        if self._end is not None:
            slowness = self._slowness()
            share = min(MOST_RESERVED * slowness, MOST_RESERVED_WHERE_SLOW)
            self._reserved_s = max(self._reserved_s, min(seconds * slowness, share * (self._end - self._start)))

    def _slowness(self) -> float:
        """Seconds that have gone by for each processor second of this process since the clock was made.

        1 of a clock that was made without a limit.
        """
        if self._worked_before is None:
            return 1.0
        worked = time.process_time() - self._worked_before
        return max(1.0, (time.monotonic() - self._made) / worked) if worked >= LEAST_WORK_S else 1.0

    def stop(self) -> None:
        """End the search as if its time were over, with the best so far."""
        if self._stopped_at is None:
            self._stopped_at = time.monotonic()
            BELL.arm()

    @contextmanager
    def shortened(self, seconds: float) -> Iterator[None]:
        """A context in which the clock is over after ``seconds``, if not before."""
        before = self._end
        end = time.monotonic() + seconds + self._reserved_s
        self._end = end if before is None else min(before, end)
        try:
            yield
        finally:
            self._end = before

    @property
    def is_stopped(self) -> bool:
        """Whether somebody stopped it before its time was over."""
        return self._stopped_at is not None

    @property
    def reason(self) -> str:
        """Why it is over, in words."""
        if self._cancel is not None and self._cancel.is_set():
            return "it was cancelled"
        return "stopped by a signal" if self.is_stopped else "the time limit was over"

    def over_at(self) -> float | None:
        """The moment when it is over, by ``time.monotonic``; None: not by itself."""
        if self._cancel is not None and self._stopped_at is None and self._cancel.is_set():
            self.stop()
        ends = [self._stopped_at, None if self._end is None else self._end - self._reserved_s]
        return min((end for end in ends if end is not None), default=None)

    def left(self) -> float | None:
        """Seconds left for a program, None without a limit: at least enough to make a design of the candidates met."""
        end = self.over_at()
        return None if end is None else max(LAST_SECONDS, end - time.monotonic())

    def is_over(self) -> bool:
        """Whether the limit has passed, or somebody stopped it."""
        end = self.over_at()
        return end is not None and time.monotonic() >= end

    def is_past(self) -> bool:
        """Whether it has been over for so long that nothing new is begun."""
        end = self.over_at()
        return end is not None and time.monotonic() >= end + PATIENCE_S

    def look(self) -> None:
        """Raise ``StoppedError`` if it is over."""
        if self.is_over():
            raise StoppedError

    def bounded(self) -> Ringing:
        """A context that is left by ``StoppedError``, wherever its code is, if it goes on after the clock is over.

        In the main thread of a system with timers; elsewhere code ends when it looks at the clock. The innermost one is
        left: the caller that catches the error there returns the result so far. Raises ``StoppedError`` at once if the
        clock is past its time.
        """
        if self.is_past():
            raise StoppedError
        return BELL.within(self)


def unbroken() -> Ringing:
    """A context that no clock ends: its code ends by itself."""
    return BELL.within(None)
