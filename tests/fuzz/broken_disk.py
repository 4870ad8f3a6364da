"""``python -m tests.fuzz.broken_disk``: commands on disks that fail, at every write, and beside others that write.

Files must be whole or not there, the exit code that of the contract, and no traceback told. Exit code 1 where not.
"""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.commands import Ending, started
from tests.fuzz.items import CASE, CATALOG, DESIGN
from tests.fuzz.mutants import as_text
from tests.mutations import document_of
from tests.samples.designs_of_families import MAKERS, designed

# What is asked of the system when a file is written.
CALLS = ((tempfile, "mkstemp"), (os, "write"), (os, "fsync"), (os, "chmod"), (os, "replace"))
KILLED = -signal.SIGKILL
# Seconds that a search took are of no account.
SECONDS = re.compile(rb'"solve_s": [0-9.]+')
# What files of the commands are cut off at.
ROOM_BYTES = (0, 700, 2_000, 6_000)
MOST_WRITES = 400
KIND = "clos, one tier"
COMMANDS: tuple[Sequence[str], ...] = (
    ("solve", CASE, "--json", "new.json", "--bom", "new.csv"),
    ("sweep", CASE, "--budget", "10K:90K:3", "--json", "new.json", "--csv", "new.csv"),
    ("pareto", CASE, "--minimize", "capex_usd", "--minimize", "power_w", "--json", "new.json"),
    ("report", DESIGN, "-o", "new.html"),
    ("export", DESIGN, "--to", "cables,dot", "-o", "new"),
    ("bom", DESIGN, "-o", "new.xlsx"),
)
Files = dict[str, bytes]


@dataclass
class FailingCalls:
    """Lets so many calls work; the next ones fail with an error, or the process is killed (``error`` None)."""

    working: int
    error: int | None

    def install(self) -> None:
        """Stand between the process and its disk."""
        for module, name in CALLS:
            setattr(module, name, self._guarded(getattr(module, name)))

    def _guarded(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*arguments: Any, **options: Any) -> Any:
            self.working -= 1
            if self.working >= 0:
                return call(*arguments, **options)
            if self.error is None:
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(self.error, os.strerror(self.error or 0))

        return guarded


def cut_short(room_bytes: int) -> Callable[[], None]:
    """No file may be longer: writes stop in the middle, as on a disk that is nearly full."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room_bytes, room_bytes))


def inputs() -> Files:
    """A case, its catalog and its design."""
    catalog, case = MAKERS[KIND]()
    return {
        CASE: as_text({"name": "disk", **case, "catalog": [f"./{CATALOG}"]}),
        CATALOG: as_text({"name": "parts", **(catalog or {})}),
        DESIGN: as_text(document_of(designed(KIND))),
    }


def files_in(folder: Path) -> Files:
    """All files below a folder by their path in it."""
    found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: SECONDS.sub(b"", path.read_bytes()) for name, path in found.items()}


@dataclass(frozen=True)
class Desk:
    """A command with its files; each run has a folder of its own."""

    words: Sequence[str]
    files: Files
    folder: Path

    def run(self, name: str, first: Callable[[], None] = lambda: None, writers: int = 1) -> tuple[list[Ending], Files]:
        """Run it as often as there are writers, all at once; how each ended, and the files then."""
        inside = self.folder / name
        inside.mkdir()
        for file, data in self.files.items():
            (inside / file).write_bytes(data)
        running = [started(self.words, inside, first, number) for number in range(writers)]
        return [command.end() for command in running], files_in(inside)

    def whole(self) -> Files:
        """What it leaves when nothing is in its way."""
        endings, files = self.run("whole")
        assert endings[0].code == 0, endings[0].err
        return files

    def problems(self) -> Iterator[str]:
        """What does not hold, in words."""
        whole = self.whole()
        for what, error in (("full", errno.ENOSPC), ("read-only", errno.EROFS), ("killed", None)):
            yield from self._of_each_write(whole, what, error)
        for room in ROOM_BYTES:
            (ending,), left = self.run(f"room-{room}", cut_short(room))
            # nothing can be told where even the message finds no room
            yield from _problems(f"{room} bytes", ending, left, whole)
        endings, left = self.run("two", writers=2)
        yield from (problem for ending in endings for problem in _problems("two writers", ending, left, whole))
        if any(ending.code == 0 for ending in endings) and left != whole:
            yield "two writers: the file of the one that was done is not there"

    def _of_each_write(self, whole: Files, what: str, error: int | None) -> Iterator[str]:
        for working in range(MOST_WRITES):
            (ending,), left = self.run(f"{what}-{working}", FailingCalls(working, error).install)
            if ending.code == 0 and left == whole:
                return
            yield from _problems(f"{what} at write {working + 1}", ending, left, whole, error is None)
        yield f"{what}: it never ends well"


def _problems(what: str, ending: Ending, left: Files, whole: Files, killed: bool = False) -> Iterator[str]:
    allowed = (KILLED,) if killed else (0, 2, 4)
    if ending.code not in allowed:
        yield f"{what}: exit code {ending.code}: {ending.err[-300:]}"
    if "Traceback" in ending.err or "internal error" in ending.err:
        yield f"{what}: {ending.err[-300:]}"
    if ending.code == 0 and left != whole:
        yield f"{what}: exit code 0 without all files: {sorted(set(whole) - set(left))}"
    for name, data in left.items():
        # a process that is killed cannot take its temporary files away; a journal is to stay
        leftover = killed and ".fabopt-" in name
        if not leftover and not name.endswith(".journal") and data != whole.get(name):
            yield f"{what}: {name} is not whole"


def main(names: Sequence[str]) -> int:
    """Print what was found with commands, all if none is named."""
    from tests.fuzz.__main__ import prepare

    prepare([KIND])
    broken = 0
    for words in COMMANDS:
        if names and words[0] not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            problems = list(Desk(words, inputs(), Path(folder)).problems())
        broken += len(problems)
        print(f"{words[0]}: {len(problems)} broken promises", *problems, sep="\n  ", flush=True)
    return broken > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
