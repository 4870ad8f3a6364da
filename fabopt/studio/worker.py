"""A process of the studio that works on cases and designs: jobs come as lines, and events and results go as lines.

It is spawned, never forked, so that it shares nothing with the server; it keeps what it has imported and read. A signal
stops the clock of the job at hand; it ends when the server does, however that ends.

Messages between the server and its workers: one JSON value a line.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from fabopt.errors import EXIT_INPUT, EXIT_NO_ANSWER, FaboptError, Fault, InputError, as_written
from fabopt.io.library import checkout
from fabopt.program.settings import Clock, StoppedError

Message = dict[str, Any]
# The longest line that is read, as of a case of 10 MB in JSON.
LONGEST_LINE = 64_000_000


def line_of(message: Message) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def fault_rows(faults: Sequence[Fault]) -> list[Message]:
    """Return faults as the page shows them: key, value, words, what is allowed and what to do."""
    return [
        {
            "file": fault.file,
            "key": fault.path,
            "value": as_written(fault.value) if fault.has_value else None,
            "words": fault.problem,
            "allowed": fault.allowed,
            "todo": fault.hint,
            "line": str(fault),
        }
        for fault in faults
    ]


if TYPE_CHECKING:
    from fabopt.schema.design import Design

# Modules of jobs, the first names of a job's two.
JOBS = {
    "ask": "fabopt.studio.trading",
    "break": "fabopt.studio.breaking",
    "keep": "fabopt.studio.keeping",
    "read": "fabopt.studio.edit",
    "show": "fabopt.studio.showing",
    "slide": "fabopt.studio.sliding",
    "trade": "fabopt.studio.trading",
}
STOP = getattr(signal, "SIGUSR1", None)
# What native libraries and Python's own modules read.
SYSTEM_FOLDERS = ("/dev", "/proc", "/sys", "/usr")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fabopt"
# Of prctl: the signal that a process gets when its parent ends.
_DEATH_SIGNAL = 1


class Bench:
    """What a job works with: the folder of the studio, the one of its answers, its clock, and a way to tell events."""

    def __init__(self, folder: Path, answers: Path, take: Callable[[Message], None]) -> None:
        self.folder, self.answers, self._take = folder, answers, take
        self.clock = Clock(None)
        # proven designs by what was asked, and whether their comparisons are whole
        self.known: dict[str, tuple[Design, bool]] = {}

    def tell(self, kind: str, **content: Any) -> None:
        """Send an event of the job at hand."""
        self._take({"event": kind, **content})

    def begin(self) -> None:
        """A new job has a new clock."""
        self.clock = Clock(None, time.monotonic())


def outcome(bench: Bench, job: str, content: Message) -> Message:
    """Do a job: its result, or its faults with an exit code; never an exception."""
    module, _, name = job.partition(".")
    try:
        return {"result": getattr(importlib.import_module(JOBS[module]), name)(bench, **content)}
    except InputError as error:
        return {"code": error.exit_code, "faults": fault_rows(error.faults)}
    except FaboptError as error:
        return {"code": error.exit_code, "words": str(error)}
    except StoppedError:
        return {"code": EXIT_NO_ANSWER, "words": "stopped"}
    except RecursionError:
        return {"code": EXIT_INPUT, "words": "what was given is nested too deeply"}
    except MemoryError:
        return {"code": EXIT_NO_ANSWER, "words": "memory ended before there was an answer"}
    except Exception as error:
        return {
            "code": EXIT_NO_ANSWER,
            "words": f"internal error: {type(error).__name__}: {' '.join(str(error).split())}",
        }


def work(folder: Path, answers: Path, jobs: BinaryIO, results: BinaryIO) -> None:
    """Do jobs until there are no more."""

    def send(message: Message) -> None:
        results.write(line_of(message))
        results.flush()

    bench = Bench(folder, answers, send)
    if STOP is not None:
        signal.signal(STOP, lambda number, frame: bench.clock.stop())
    send({"event": "ready"})
    for line in iter(jobs.readline, b""):
        content = json.loads(line)
        bench.begin()
        send(outcome(bench, content.pop("job"), content))


def end_with_parent(parent: int) -> None:
    """Have the system end this process with its parent, where it can; elsewhere the pipe of jobs ends it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def keep_within(*folders: Path) -> None:
    """Refuse to open or list what is in none of some folders, whatever a case names; links are resolved.

    What Python itself and fabopt's library are made of stays readable.
    """
    own = [*filter(None, sys.path), *SYSTEM_FOLDERS, str(checkout())]
    roots = [os.path.realpath(root) for root in (*map(str, folders), sys.prefix, sys.base_prefix, *own, str(CACHE))]

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str | bytes):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if not any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots):
                raise PermissionError(errno.EACCES, "it is outside of the folder of the studio", path)

    sys.addaudithook(refuse)


def main() -> None:
    """Work for the server that holds both ends of the pipes; what engines print goes nowhere."""
    end_with_parent(int(sys.argv[3]))
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    importlib.import_module("fabopt.studio.trading")
    folder, answers = Path(sys.argv[1]), Path(sys.argv[2])
    os.chdir(folder)
    tempfile.tempdir = str(answers)
    keep_within(folder, answers)
    work(folder, answers, sys.stdin.buffer, results)


if __name__ == "__main__":
    main()
