"""A timer that rings in the main thread, to end Python code that does not look at its clock.

The timer of the process and its signal are taken only while a clock within bounds is to ring, and given back as they
were. Without such timers, or outside of the main thread, nothing rings: code ends when it looks at its clock.
"""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import NamedTuple, Protocol

# Seconds that code may take to end by itself once time is over, and between further rings.
PATIENCE_S = 0.6
AGAIN_S = 0.25
# Where NumPy asks Python, as for the type that structured arrays have in common; where the library tidies up when
# something is let go of.
NUMPY_ASKS = "numpy._core._internal"
TIDYING = ("weakref", "_weakrefset", "multiprocessing.util")
# A timer that is given back late rings at once, which 0 would not.
AT_ONCE_S = 0.001

Handler = Callable[[int, FrameType | None], object] | int | None


class Ends(Protocol):
    """A limit of time that is over at some moment, by ``time.monotonic``, and then raises when it is looked at."""

    def over_at(self) -> float | None:
        """The moment when it is over; None: not by itself."""

    def look(self) -> None:
        """Raise if it is over."""


class _Taken(NamedTuple):
    """The timer before it was taken: the handler of its signal, and the moment when it was to ring."""

    handler: Handler
    due: float | None


class Bell:
    """The timer of the process, and the limits entered in the main thread, the innermost last."""

    def __init__(self) -> None:
        # None: nothing within may be left
        self._entered: list[Ends | None] = []
        self._taken: _Taken | None = None

    def within(self, ends: Ends | None) -> Ringing:
        """A context that rings for ``ends``; None: for no limit."""
        return Ringing(self, ends)

    def enter(self, ends: Ends | None) -> int | None:
        """Ring for ``ends`` from now on; the number of limits entered before, None where nothing can ring."""
        if not _can_ring():
            return None
        depth = len(self._entered)
        self._entered.append(ends)
        self.arm()
        return depth

    def leave(self, depth: int) -> None:
        """Ring for the first ``depth`` limits only."""
        if len(self._entered) > depth:
            del self._entered[depth:]
            self.arm()

    def arm(self) -> None:
        """Ring a while after the innermost is over."""
        if not _can_ring():
            return
        end = self._entered[-1].over_at() if self._entered and self._entered[-1] is not None else None
        if end is not None:
            if self._taken is None:
                due = time.monotonic() + signal.getitimer(signal.ITIMER_REAL)[0]
                had = signal.getitimer(signal.ITIMER_REAL)[0] > 0
                handler = signal.signal(signal.SIGALRM, self.ring)
                if handler != self.ring:
                    self._taken = _Taken(handler, due if had else None)
            signal.setitimer(signal.ITIMER_REAL, max(AGAIN_S, end + PATIENCE_S - time.monotonic()), AGAIN_S)
        elif not self._entered:
            self._give_back()

    def _give_back(self) -> None:
        if self._taken is None:
            return
        handler, due = self._taken
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        self._taken = None
        if due is not None:
            signal.setitimer(signal.ITIMER_REAL, max(AT_ONCE_S, due - time.monotonic()))

    def ring(self, number: int, frame: FrameType | None) -> None:
        """Raise if the innermost clock is over; not where a context is entered or left: it rings again soon."""
        innermost = self._entered[-1] if self._entered else None
        if innermost is not None and not _at_a_door(frame):
            innermost.look()


class Ringing:
    """A context within which a bell rings for a limit."""

    __slots__ = ("_bell", "_depth", "_ends")

    def __init__(self, bell: Bell, ends: Ends | None) -> None:
        self._bell, self._ends = bell, ends

    def __enter__(self) -> None:
        self._depth = self._bell.enter(self._ends)

    def __exit__(self, *raised: object) -> None:
        if self._depth is not None:
            self._bell.leave(self._depth)


def _at_a_door(frame: FrameType | None) -> bool:
    """Whether a context is being entered or left, where an error would skip the clean-up; or an object deleted or
    garbage collected, where Python prints an error and ignores it; or NumPy asks, which raises a ``TypeError`` instead.
    """
    told_of_garbage = [getattr(told, "__code__", None) for told in gc.callbacks]
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if module in (__name__, NUMPY_ASKS, *TIDYING) or frame.f_code.co_name == "__del__":
            return True
        if frame.f_code in told_of_garbage:
            return True
        if module == "contextlib" and frame.f_code.co_name in ("__enter__", "__exit__"):
            return True
        frame = frame.f_back
    return False


def _can_ring() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


BELL = Bell()
