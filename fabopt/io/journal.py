"""Journals: partial results of a file not yet written, a line at a time, each on disk before the next.

A journal has one writer. An incomplete last line, after a crash of process, machine or disk, is ignored.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Sequence
from io import FileIO
from pathlib import Path

from fabopt.errors import LostOutputError, OutputError
from fabopt.io.library import DEVICE, shown

if sys.platform != "win32":
    import fcntl

SUFFIX = ".journal"
_HELD = (errno.EACCES, errno.EAGAIN)


def journal_path(path: Path) -> Path:
    """The journal of a file that is to come."""
    return path.with_name(path.name + SUFFIX)


class Journal:
    """A journal that this process writes, created if missing. ``lines``: existing ones, without their ends."""

    def __init__(self, path: Path) -> None:
        """Raises ``OutputError`` if it cannot be written, or another process writes it."""
        self.path = path
        try:
            self._stream = _locked(path)
            self._stream.seek(0)
            self.lines = whole_lines(self._stream.readall())
        except OSError as error:
            raise OutputError(_not_written(path, error)) from None
        self.forget_after(len(self.lines))

    def append(self, lines: Sequence[bytes]) -> None:
        """Write lines at the end, on disk when this returns; ``LostOutputError`` if that fails, with none written."""
        data = b"".join(line + b"\n" for line in lines)
        try:
            self._stream.truncate(self._end)
            _write(self._stream, data)
            os.fsync(self._stream.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                self._stream.truncate(self._end)
            raise LostOutputError(_not_written(self.path, error)) from None
        self._end += len(data)

    def forget_after(self, number: int) -> None:
        """Drop all lines after the first ``number``; the next line is written after these."""
        self.lines = self.lines[:number]
        self._end = sum(len(line) + 1 for line in self.lines)

    def close(self) -> None:
        """Release the journal to other writers; an empty one is deleted."""
        if not os.fstat(self._stream.fileno()).st_size:
            self.remove()
        self._stream.close()

    def remove(self) -> None:
        """Take it away. Where open files can go, it goes before others may write it."""
        if sys.platform == "win32":
            self._stream.close()
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        self._stream.close()


def whole_lines(data: bytes) -> list[bytes]:
    """Complete lines, without their ends."""
    return data.split(b"\n")[:-1]


def _locked(path: Path) -> FileIO:
    """The file, locked by this process. The system unlocks it at any end of the process."""
    while True:
        stream = FileIO(path, "a+")
        try:
            _lock(stream, path)
            if os.path.samestat(os.fstat(stream.fileno()), os.stat(path)):
                return stream
        except FileNotFoundError:
            # whoever wrote it was done, and removed it, before it was locked here
            pass
        except BaseException:
            stream.close()
            raise
        stream.close()


def _lock(stream: FileIO, path: Path) -> None:
    """Raise ``OutputError`` if another process has the file. File systems without locks have none."""
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        raise OutputError(f"{shown(path)}: {DEVICE}")
    if sys.platform != "win32":
        try:
            # not inherited by the processes that solve points, unlike flock
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _HELD:
                file = shown(path.with_name(path.name.removesuffix(SUFFIX)))
                raise OutputError(f"{file}: another fabopt is at work on this file; wait, or name another") from None


def _write(stream: FileIO, data: bytes) -> None:
    """Write all bytes, nearly always at once; what stops a write half-way is said by the next one."""
    left = memoryview(data)
    while left:
        left = left[stream.write(left) :]


def _not_written(path: Path, error: OSError) -> str:
    return f"{shown(path)}: cannot be written: {error.strerror or error}"
