"""An engine at work: in a thread or a process of its own, so that signals and the clock are handled meanwhile."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from fabopt.program.bell import BELL
from fabopt.program.settings import LAST_SECONDS, Clock, unbroken

# How often the clock is looked at, and how long an engine has to end once it was told to.
POLL_S = 0.05
LEAVE_S = 0.5
# Signals that ask a command to end, and the one by which a clock rings.
HEARD_IN_MAIN_THREAD = {
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGUSR1", "SIGALRM") if hasattr(signal, name)
}

Returned = TypeVar("Returned")

# Engines of this process that are programs.
_at_work: set[subprocess.Popen[bytes]] = set()


class EngineThread(threading.Thread, Generic[Returned]):
    """A call of an engine, which runs outside of Python."""

    def __init__(self, run: Callable[[], Returned]) -> None:
        super().__init__(daemon=True)
        self._run = run
        self.returned: list[Returned] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        """Call the engine, and keep its result or error. Signals are left to the main thread: Python would hear one
        that arrives in native code only once another thread asks for its turn.
        """
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, HEARD_IN_MAIN_THREAD)
        try:
            self.returned.append(self._run())
        except BaseException as error:
            self.error = error


def in_thread(run: Callable[[], Returned], stop: Callable[[], object], clock: Clock | None) -> Returned | None:
    """The result of an engine; once the clock is over it is stopped. None if it does not stop: it is left behind."""
    thread = EngineThread(run)
    # a thread that is left while it starts is forgotten by some of Python and not by all of it
    with BELL.within(None):
        thread.start()
    with _attended(clock) as turns:
        try:
            for ends in turns:
                if not thread.is_alive():
                    break
                if ends:
                    stop()
                thread.join(POLL_S)
        except BaseException:
            stop()
            thread.join(LEAVE_S)
            raise
    if thread.error is not None:
        raise thread.error
    return thread.returned[0] if thread.returned else None


def in_process(command: Sequence[str], log: int, clock: Clock | None) -> int | None:
    """The exit code of an engine that is a program; once the clock is over it is interrupted. None if it was killed.

    ``log``: the file descriptor of its output.
    """
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    _at_work.add(process)
    try:
        with _attended(clock) as turns:
            for ends in turns:
                if ends and process.poll() is None:
                    # it writes the best that it has
                    process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.wait(POLL_S)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        _at_work.discard(process)
    return None


def kill_programs() -> None:
    """Kill the engines that are programs, in a process that ends at once."""
    for process in list(_at_work):
        process.kill()


@contextlib.contextmanager
def _attended(clock: Clock | None) -> Iterator[Iterator[bool]]:
    """Turns in which to look at an engine, True in those in which it should end; none are left when its time to end is
    over.

    With a clock nothing else ends the work; without, the caller may be interrupted.
    """
    if clock is None:
        yield iter(lambda: False, True)
        return
    with unbroken():
        yield _turns(clock)


def _turns(clock: Clock) -> Iterator[bool]:
    earliest, told_at = time.monotonic() + LAST_SECONDS, None
    while told_at is None or time.monotonic() < told_at + LEAVE_S:
        ends = clock.is_over() and time.monotonic() >= earliest
        if ends and told_at is None:
            told_at = time.monotonic()
            yield True
        else:
            yield False
