"""How to search, and how long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

# What a program is given when time is over, so that candidates that were found become a design.
LAST_SECONDS = 2.0


class StoppedError(Exception):
    """The clock ran out, or somebody stopped, before a question was answered or a point was proven."""


@dataclass(frozen=True)
class Settings:
    """How to search: engine, seconds (None: no limit), whether to prune, where to report.

    ``most_candidates``: without a floor, a proof that takes more of them is not wanted; the likeliest will do.
    """

    engine: str = "cp-sat"
    time_limit_s: float | None = None
    prune: bool = True
    progress: Callable[[str], None] = lambda text: None
    most_candidates: int | None = None


class Clock:
    """Seconds left of a time limit, and whether somebody wants to stop."""

    def __init__(self, time_limit_s: float | None) -> None:
        self._start = time.monotonic()
        self._end = None if time_limit_s is None else self._start + time_limit_s
        self._stopped = False

    def spent_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def stop(self) -> None:
        """End the search as if its time were over: what has been found is kept."""
        self._stopped = True

    def left(self) -> float | None:
        """Seconds left for a program, None without a limit: enough to make a design of what has been found."""
        if self._stopped:
            return LAST_SECONDS
        return None if self._end is None else max(LAST_SECONDS, self._end - time.monotonic())

    def is_over(self) -> bool:
        """Whether the limit has passed."""
        return self._stopped or (self._end is not None and time.monotonic() >= self._end)
