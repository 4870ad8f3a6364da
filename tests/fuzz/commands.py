"""Running an item of the fuzzer, and what must hold of how each of its commands ends."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tests.fuzz.given import LINES
from tests.fuzz.items import DESIGN, FRONT, LIMIT_S, item

# Over the limit: what is promised.
LATE_S = 1.0
# Commands without a limit of their own end within this.
PATIENCE_S = 30.0
# What a command may take of memory beside what is imported.
MOST_MB = 500
# No command gets more beside what it began with, but for those that write pages: what draws their charts has addresses
# for many times as much, and takes none of it.
ROOM_BYTES = 2**32
# What a process that only computes is given, to see how much of a core it gets.
SPIN_S = 0.02


@dataclass(frozen=True)
class Ending:
    """How a command ended.

    ``elapsed_s``: of the clock; ``load``: how much longer than alone a process takes then; ``more_mb``: the most memory
    that it had beside what it began with.
    """

    words: Sequence[str]
    code: int
    out: str
    err: str
    elapsed_s: float
    load: float = 1.0
    more_mb: float = 0.0


# -- running --------------------------------------------------------------------------------------------------------


def outcomes(seed: int, folder: Path) -> Iterator[tuple[Ending, list[str]]]:
    """Run the commands of a seed in an empty folder; of each how it ended, and what does not hold."""
    what = item(seed)
    for name, data in what.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    for words in what.runs:
        before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
        load = load_now()
        ending = ended(words, folder)
        if ending.elapsed_s > allowed_s(words):
            ending = replace(ending, load=max(load, load_now()))
        yield ending, faults(ending, folder, before)
        if ending.code:
            return


def load_now() -> float:
    """How much longer than alone a process takes that only computes: 1 on a machine with a core to spare."""
    started, used = time.monotonic(), time.process_time()
    while time.process_time() - used < SPIN_S:
        pass
    return max(1.0, (time.monotonic() - started) / SPIN_S)


@dataclass(frozen=True)
class Running:
    """A command in a process that is a copy of this one, which has everything imported."""

    words: Sequence[str]
    child: int
    started: float
    out: Path
    err: Path
    resident_mb: float

    def end(self) -> Ending:
        """Wait until it ends."""
        status, most_mb = _waited(self.child, self.started)
        out, err = (path.read_text(errors="replace") for path in (self.out, self.err))
        return Ending(
            self.words,
            os.waitstatus_to_exitcode(status),
            out,
            err,
            time.monotonic() - self.started,
            more_mb=most_mb - self.resident_mb,
        )


def started(words: Sequence[str], folder: Path, first: Callable[[], None] = lambda: None, number: int = 0) -> Running:
    """Start a command in a folder. ``first``: done in its process before; ``number``: of those that run at once."""
    begun = time.monotonic()
    out, err = (folder.parent / f"{folder.name}-{number}.{what}" for what in ("out", "err"))
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _become(words, folder, out, err, first)
    return Running(words, child, begun, out, err, resident_mb())


def resident_mb() -> float:
    """What this process has in memory, as a copy of it has when it begins; 0 where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0.0


def ended(words: Sequence[str], folder: Path, first: Callable[[], None] = lambda: None) -> Ending:
    """Run a command until it ends."""
    return started(words, folder, first).end()


def _become(words: Sequence[str], folder: Path, out: Path, err: Path, first: Callable[[], None]) -> None:
    """Be the command: never returns."""
    code = 70
    with suppress(BaseException):
        os.setsid()
        os.chdir(folder)
        for path, number in ((out, 1), (err, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        from fabopt.cli import main

        if not any(word.endswith((".html", ".png", ".svg")) for word in words):
            _limit_memory()
        first()
        code = main(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _limit_memory() -> None:
    begun_with = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (begun_with + ROOM_BYTES, resource.RLIM_INFINITY))


def _waited(child: int, started: float) -> tuple[int, float]:
    """The status of a process that has ended, and the most memory that it had, in MB."""
    while True:
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            return status, usage.ru_maxrss * 1024 / 1e6
        if time.monotonic() - started > 2 * PATIENCE_S:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.01)


# -- what must hold -------------------------------------------------------------------------------------------------


def faults(ending: Ending, folder: Path, before: Mapping[str, int]) -> list[str]:
    """What does not hold of an ending, in words."""
    written = {path.name for path in folder.iterdir() if before.get(path.name) != path.stat().st_mtime_ns}
    return [problem for rule in RULES if (problem := rule(ending, folder, written))]


def _code_is_known(ending: Ending, folder: Path, written: set[str]) -> str:
    return "" if ending.code in range(5) else f"exit code {ending.code}"


def _no_internal_error(ending: Ending, folder: Path, written: set[str]) -> str:
    shown = ending.out + ending.err
    return next((f"says {word!r}" for word in ("Traceback", "internal error", "AssertionError") if word in shown), "")


def _a_refusal_says_why(ending: Ending, folder: Path, written: set[str]) -> str:
    return "nothing is said" if ending.code and not (ending.out + ending.err).strip() else ""


def _a_refusal_writes_nothing(ending: Ending, folder: Path, written: set[str]) -> str:
    """Nothing but the lines of a quote, which say what became of each."""
    if list(ending.words[:2]) == ["quote", "import"]:
        written = written - {LINES}
    return f"writes {sorted(written)} with exit code 2" if ending.code == 2 and written else ""


def _files_are_whole(ending: Ending, folder: Path, written: set[str]) -> str:
    for name in written:
        if name.endswith((".tmp", "~")) or name.startswith("."):
            return f"leaves {name}"
        if name.endswith(".json"):
            try:
                json.loads((folder / name).read_text())
            except ValueError as error:
                return f"{name} is no JSON: {error}"
    return ""


def _an_answer_is_written(ending: Ending, folder: Path, written: set[str]) -> str:
    words = list(ending.words)
    wanted = words[words.index("--json") + 1] if "--json" in words[:-1] else None
    if wanted is None or ending.code not in (0, 3, 4) or wanted not in (DESIGN, FRONT):
        return ""
    return "" if wanted in written else f"{wanted} is not written with exit code {ending.code}"


def allowed_s(words: Sequence[str]) -> float:
    """How long a command may take on a machine that has a core for it."""
    words = list(words)
    limited = "--time-limit" in words and words[words.index("--time-limit") + 1 :][:1] == [str(LIMIT_S)]
    return LIMIT_S + LATE_S if limited and words.count("--time-limit") == 1 else PATIENCE_S


def _in_time(ending: Ending, folder: Path, written: set[str]) -> str:
    allowed = allowed_s(ending.words) * ending.load
    late = ending.elapsed_s > allowed
    return f"took {ending.elapsed_s:.1f} s, allowed {allowed:.1f} s (load {ending.load:.1f})" if late else ""


def _memory_is_bounded(ending: Ending, folder: Path, written: set[str]) -> str:
    return f"took {ending.more_mb:.0f} MB, allowed {MOST_MB} MB" if ending.more_mb > MOST_MB else ""


RULES: tuple[Callable[[Ending, Path, set[str]], str], ...] = (
    _code_is_known,
    _no_internal_error,
    _a_refusal_says_why,
    _a_refusal_writes_nothing,
    _files_are_whole,
    _an_answer_is_written,
    _in_time,
    _memory_is_bounded,
)
