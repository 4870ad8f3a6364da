"""Ctrl-C and SIGTERM: the first one stops the clock of the work at hand, the second one ends the process.

Without a clock, the first one is a ``KeyboardInterrupt`` too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn, Protocol

from fabopt.cli.supervisor import DONE, DRAWS, READ, SIGNALS, STARTED, TOLD_BY, Copy
from fabopt.errors import EXIT_NO_ANSWER


class Stops(Protocol):
    """What the first signal stops: a clock, or a server."""

    def stop(self) -> None:
        """End the work as if its time were over."""


class Attendant:
    """The signal handler of this process for the command at hand. ``started``: when it began; ``draws``: pictures."""

    def __init__(self) -> None:
        self.started = STARTED
        self._heard = 0
        # whether the first signal is kept for a clock that is to come
        self._waits = True
        self._is_over = False
        self.draws = False
        self._clock: Stops | None = None
        self._copy: Copy | None = None

    @contextmanager
    def listening(self, started: float, copy: Copy | None = None) -> Iterator[None]:
        """Handle signals, from before anything large is imported; only the main thread does.

        ``copy``: this process's link to the one that watches over it, and passes signals on.
        """
        self.started, self._heard, self._waits, self._clock, self._copy = started, 0, True, None, copy
        self._is_over = self.draws = False
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # not ignored: programs that this process starts would inherit that, and never end
        heard = dict.fromkeys(SIGNALS, self._hear if copy is None else _leave) | ({TOLD_BY: self._hear} if copy else {})
        before = {number: signal.signal(number, handler) for number, handler in heard.items()}
        if copy is not None:
            copy.hear()
        try:
            yield
        finally:
            for number, handler in before.items():
                if signal.getsignal(number) == heard[number]:
                    signal.signal(number, handler)

    @property
    def interrupts(self) -> bool:
        """Whether a signal has been heard that is not for a clock: native code tells of it in other words."""
        return self._heard > 0 and self._clock is None and not self._waits

    @property
    def keeps_clock(self) -> bool:
        """Whether the clock of a search is kept."""
        return self._clock is not None

    def begin(self, keeps_clock: bool) -> None:
        """The command is known: one with a clock will have it stopped, any other one ends."""
        self._waits = keeps_clock
        if self._heard and not keeps_clock:
            raise KeyboardInterrupt

    def attend(self, clock: Stops) -> None:
        """Stop this clock at the first signal, and at once if one has come."""
        self._clock = clock
        if self._copy is not None:
            self._copy.note(READ)
        if self._heard:
            clock.stop()

    def leave(self, target: str, data: bytes = b"", code: int = EXIT_NO_ANSWER) -> None:
        """Have a file written if this process does not end by itself; no file: cancel that.

        ``code``: the exit code then.
        """
        if self._copy is not None:
            self._copy.leave(target, data, code)

    def draw(self) -> None:
        """From now on pictures are drawn, by native code; what was to be left in its place is cancelled."""
        self.draws = True
        self.leave("")
        if self._copy is not None:
            self._copy.note(DRAWS)

    def finish(self) -> None:
        """The command is over: a signal that comes now changes nothing."""
        self._is_over = True

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._heard += 1
        if self._is_over:
            return
        if self._heard > 1 or (self._clock is None and not self._waits):
            raise KeyboardInterrupt
        if self._clock is not None:
            self._clock.stop()


def _leave(number: int, frame: FrameType | None) -> None:
    """Leave a signal to the process that watches over this one."""


ATTENDANT = Attendant()


def end_process(code: int, copy: Copy | None) -> NoReturn:
    """End the process of a command that is over, at once.

    An ordinary end would wait for a stopped engine that still works, and may end by SIGINT, whatever the code, as
    Python remembers interrupts of code run from text.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    if copy is not None:
        copy.note(DONE)
    os._exit(code)
