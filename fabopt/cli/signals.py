"""Ctrl-C and SIGTERM: the first one stops the clock of what is under way, the second one ends the process.

Where no clock is kept, the first one is a ``KeyboardInterrupt`` too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from fabopt.errors import EXIT_NO_ANSWER

if TYPE_CHECKING:
    from fabopt.program.settings import Clock

# Nanoseconds for which this process has run, and for which it has waited for a processor.
SCHEDULED = Path("/proc/self/schedstat")


def gone_by_s(scheduled: Path = SCHEDULED) -> float:
    """Seconds since this process began, at least: for which it has worked and, where the system tells, waited to."""
    worked_s = time.process_time()
    with suppress(OSError, ValueError, IndexError):
        return worked_s + int(scheduled.read_text().split()[1]) / 1e9
    return worked_s


STARTED = time.monotonic() - gone_by_s()
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# What is under way has so long to put its files and children away once the process is to end.
LEAVE_S = 1.0


class Attendant:
    """Hears the signals of this process for the command that is under way. ``started``: when that began."""

    def __init__(self) -> None:
        self.started = STARTED
        self._heard = 0
        # whether a signal was raised as an exception where the command was
        self.has_raised = False
        # whether the first signal is kept for a clock that is to come
        self._waits = True
        self._clock: Clock | None = None
        self._end: threading.Timer | None = None

    @contextmanager
    def listening(self, started: float) -> Iterator[None]:
        """Hear signals, from before anything large is imported; only the main thread does."""
        self.started, self._heard, self._waits, self._clock, self.has_raised = started, 0, True, None, False
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._hear) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                if signal.getsignal(number) == self._hear:
                    signal.signal(number, handler)
            if self._end is not None:
                self._end.cancel()

    @property
    def keeps_clock(self) -> bool:
        """Whether the clock of a search is kept."""
        return self._clock is not None

    def begin(self, keeps_clock: bool) -> None:
        """The command is known: one that keeps a clock will have it stopped, any other one is left."""
        self._waits = keeps_clock
        if self._heard and not keeps_clock:
            self._raise()

    def attend(self, clock: Clock) -> None:
        """Stop this clock at the first signal, and at once if that has been heard."""
        self._clock = clock
        if self._heard:
            clock.stop()

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._heard += 1
        if self._heard > 1:
            self._end_soon()
        if self._heard > 1 or (self._clock is None and not self._waits):
            self._raise()
        if self._clock is not None:
            self._clock.stop()

    def _raise(self) -> NoReturn:
        self.has_raised = True
        raise KeyboardInterrupt

    def _end_soon(self) -> None:
        """End the process even if something holds on to it while it puts things away."""
        if self._end is None:
            self._end = threading.Timer(LEAVE_S, os._exit, (EXIT_NO_ANSWER,))
            self._end.daemon = True
            self._end.start()


ATTENDANT = Attendant()


def end_process(code: int) -> None:
    """The command of this process is over: a signal that comes now changes nothing.

    It is ignored rather than handled, for Python puts handlers away before the process has gone. The process ends at
    once if an engine that was stopped is still at work, which an ordinary end waits for, and after an exception of a
    signal: an ordinary end may then be one by SIGINT, whatever the code, as Python notes interrupts of text that is run
    as code.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
    if ATTENDANT.has_raised or any(thread.daemon for thread in threading.enumerate()):
        os._exit(code)
