"""The first process watches over a forked copy of itself, which runs the command.

Native code hears no signal while it works, and ends its process where memory ends. So the command runs in a copy, and
the first process only waits: it passes signals on to the copy, ends it with all its processes where it does not end in
time, and says in words how native code ended it. Nothing large is imported before signals are blocked for it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from math import inf

SCHEDULED = "/proc/self/schedstat"
TASKS = "/proc/self/task"


def gone_by_s(scheduled: str | os.PathLike[str] = SCHEDULED) -> float:
    """Seconds since this process began, at least: its processor time and, where the system tells, its waiting time.

    ``scheduled``: the file with nanoseconds of both.
    """
    worked_s = time.process_time()
    try:
        with open(scheduled) as stream:
            return worked_s + int(stream.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return worked_s


STARTED = time.monotonic() - gone_by_s()
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# What the copy is told with: a terminal or a group sends the signals themselves to both processes.
TOLD_BY = getattr(signal, "SIGUSR1", signal.SIGTERM)
# Seconds for a command to end after the first signal, and after the second; signals within the third count as one.
END_S, END_AT_ONCE_S, ECHO_S = 3.8, 1.0, 0.05
# Seconds after the first signal from which what writes files for the copy is made ready, while there is time.
READY_S = 1.0
# What a copy notes: that the input has been read, that pictures are drawn, and that it ends by itself.
READ, DRAWS, DONE = b"r", b"p", b"d"
_SUBREAPER, _DEATH_SIGNAL = 36, 1


# Blocked signals.
Mask = set[int | signal.Signals]


class Copy:
    """A copy's link to the process that watches over it: notes in memory, which outlive the copy."""

    def __init__(self, notes: int, mask: Mask) -> None:
        """``notes``: a file in memory; ``mask``: the signals blocked when the process began."""
        self._notes, self._mask = notes, mask

    def hear(self) -> None:
        """Unblock signals that have waited since the copy was made."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def note(self, state: bytes) -> None:
        """Note ``READ``, ``DRAWS`` or ``DONE``."""
        os.pwrite(self._notes, state, 0)

    def leave(self, target: str, data: bytes, code: int) -> None:
        """Note that the input has been read, and a file's content to be written, and the exit code, if the copy does
        not end by itself; no file: cancel that.
        """
        os.ftruncate(self._notes, len(DONE))
        os.pwrite(self._notes, READ + bytes([code]) + os.fsencode(target) + b"\0" + data, 0)


def supervised(before: Mask | None = None) -> Copy | int | None:
    """In the copy, which runs the command: its link to this process; in this one the exit code.

    None where there is no copy: on systems without, or in a process that has threads already. ``before``: the signals
    blocked when the process began; None: those blocked now.
    """
    if sys.platform == "win32":
        return None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ()) if before is None else before
    if sys.platform != "linux" or not _is_alone():
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return None
    awaited = {*SIGNALS, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, {*awaited, TOLD_BY})
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    own = os.getpid()
    try:
        notes = os.memfd_create("fabopt")
        worker = os.fork()
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return None
    if worker:
        _control(_SUBREAPER, 1)
        return _code(*_ended(worker, awaited, notes), notes)
    _control(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != own:
        os._exit(1)
    return Copy(notes, mask)


def _is_alone() -> bool:
    """Whether this process has one thread, so that a fork copies all of it."""
    try:
        return len(os.listdir(TASKS)) == 1
    except OSError:
        return False


def _control(option: int, value: int) -> None:
    """Set an option of the process: that a copy ends with its parent, or that orphans of the copy become this one's."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def _ended(worker: int, awaited: set[signal.Signals], notes: int) -> tuple[int, bool]:
    """Wait until the copy has ended: its status, and whether it was killed as it did not end in time."""
    end, last, ready, was_late = inf, -inf, inf, False
    while True:
        left_s = min(end, ready) - time.monotonic()
        heard = signal.sigwaitinfo(awaited) if left_s == inf else signal.sigtimedwait(awaited, max(0.0, left_s))
        statuses = _statuses()
        if worker in statuses:
            _end_children()
            return statuses[worker], was_late
        now = time.monotonic()
        if now >= end:
            os.kill(worker, signal.SIGKILL)
            end, was_late = inf, True
        elif heard is not None and heard.si_signo in SIGNALS and now > last + ECHO_S:
            os.kill(worker, TOLD_BY)
            end, ready = min(end, now + (END_S if last == -inf else END_AT_ONCE_S)), min(ready, now + READY_S)
            last = now
        elif now >= ready:
            ready = inf
            _get_ready(notes)


def _statuses() -> dict[int, int]:
    """Children of this process that have ended, with the status of each."""
    statuses: dict[int, int] = {}
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            statuses.update([ended])
    except ChildProcessError:
        pass
    return statuses


def _end_children() -> None:
    """End the processes left behind by the copy."""
    try:
        while True:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                for child in _children():
                    os.kill(child, signal.SIGKILL)
                os.waitpid(-1, 0)
    except (ChildProcessError, ProcessLookupError):
        pass


def _children() -> list[int]:
    """Children of this process."""
    children = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stream:
                if int(stream.read().rsplit(")", 1)[1].split()[1]) == os.getpid():
                    children.append(int(name))
        except OSError:
            pass
    return children


def _get_ready(notes: int) -> None:
    """Import what writes the file that the copy has left; where that fails, it is tried again when it is written."""
    try:
        from fabopt.cli.ends import import_writers

        import_writers(*_noted(notes)[2:])
    except (ImportError, MemoryError, OSError):
        pass


def _noted(notes: int) -> tuple[bytes, bytes, bytes, bytes]:
    """What a copy has noted: its state; the exit code, the name and the content of a file that it has left."""
    noted = os.pread(notes, os.fstat(notes).st_size, 0)
    target, _, data = noted[2:].partition(b"\0")
    return noted[:1], noted[1:2], target, data


def _code(status: int, was_late: bool, notes: int) -> int:
    """The exit code of a status; for a copy that did not end by itself, with a message on how it ended."""
    state, left, target, data = _noted(notes)
    code = os.waitstatus_to_exitcode(status)
    if state == DONE or "FABOPT_DEBUG" in os.environ:
        return code
    from fabopt.cli.ends import cut_off, interrupted, memory_ended

    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    code = interrupted() if was_late else memory_ended(state == READ, how, state == DRAWS)
    return cut_off(code, os.fsdecode(target), data, int.from_bytes(left))
