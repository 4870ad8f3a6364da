"""What ends Python code that does not look at its clock: a timer that rings in the main thread.

The timer of the process and its signal are taken only while a clock within bounds is to ring, and given back as they
were. Without such timers, or outside of the main thread, nothing rings: code ends when it looks at its clock.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple, Protocol

# How long what is under way may look for an end by itself once time is over, and how often it is told again.
PATIENCE_S = 0.6
AGAIN_S = 0.25
# A timer that is given back late rings at once, which 0 would not.
AT_ONCE_S = 0.001

Handler = Callable[[int, FrameType | None], object] | int | None


class Ends(Protocol):
    """Something that is over at some time, by ``time.monotonic``, and then raises when it is looked at."""

    def over_at(self) -> float | None:
        """When it is over; None: not by itself."""

    def look(self) -> None:
        """Raise if it is over."""


class _Taken(NamedTuple):
    """Who had the timer before: the handler of its signal, and when it was to ring."""

    handler: Handler
    due: float | None


class Bell:
    """The timer of the process, and whose bounds are entered in the main thread, the innermost last."""

    def __init__(self) -> None:
        # None: nothing within may be left
        self._entered: list[Ends | None] = []
        self._taken: _Taken | None = None

    @contextmanager
    def within(self, ends: Ends | None) -> Iterator[None]:
        """Ring for ``ends`` while what is within goes on; None: for nobody."""
        if not _can_ring():
            yield
            return
        depth = len(self._entered)
        self._entered.append(ends)
        self.arm()
        try:
            try:
                yield
            finally:
                self._leave(depth)
        finally:
            # it may have rung while it was left
            self._leave(depth)

    def arm(self) -> None:
        """Ring a while after the innermost is over."""
        if not _can_ring():
            return
        end = self._entered[-1].over_at() if self._entered and self._entered[-1] is not None else None
        if end is not None:
            if self._taken is None:
                due = time.monotonic() + signal.getitimer(signal.ITIMER_REAL)[0]
                had = signal.getitimer(signal.ITIMER_REAL)[0] > 0
                self._taken = _Taken(signal.signal(signal.SIGALRM, self._ring), due if had else None)
            signal.setitimer(signal.ITIMER_REAL, max(AGAIN_S, end + PATIENCE_S - time.monotonic()), AGAIN_S)
        elif not self._entered:
            self._give_back()

    def _leave(self, depth: int) -> None:
        if len(self._entered) > depth:
            del self._entered[depth:]
            self.arm()

    def _give_back(self) -> None:
        if self._taken is None:
            return
        handler, due = self._taken
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        self._taken = None
        if due is not None:
            signal.setitimer(signal.ITIMER_REAL, max(AT_ONCE_S, due - time.monotonic()))

    def _ring(self, number: int, frame: FrameType | None) -> None:
        """Leave what is under way if its clock is over."""
        innermost = self._entered[-1] if self._entered else None
        if innermost is not None:
            innermost.look()


def _can_ring() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


BELL = Bell()
