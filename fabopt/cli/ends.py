"""The end of a command that was stopped or ran out of memory: the words, and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabopt.cli.output import deliver, tell
from fabopt.errors import EXIT_DONE, EXIT_INPUT, EXIT_NO_ANSWER, FaboptError
from fabopt.io.journal import journal_path, whole_lines
from fabopt.io.library import MAX_FRONT_BYTES, read_bytes
from fabopt.units import some

if TYPE_CHECKING:
    from fabopt.schema.design import Front

# What is said by systems, loaders of modules, threads and native code that get no memory.
_OF_MEMORY = ("cannot allocate memory", "failed to map segment", "can't start new thread", "bad_alloc")
_BEFORE_AN_ANSWER = " before there was an answer; `--alternatives 0` and fewer products to choose from take less"
NO_MEMORY = f"memory ended{_BEFORE_AN_ANSWER}"


def interrupted() -> int:
    """Say that a signal ended the command."""
    tell("interrupted")
    return EXIT_NO_ANSWER


def memory_ended(was_read: bool, how: str = "", draws: bool = False) -> int:
    """Say that memory ended: of an input that is too large while it is read, of the search once it was, or of a picture
    of a finished answer where the command ``draws``.

    ``how``: the signal or exit code of native code that got no memory.
    """
    what = f"memory ended, or native code failed ({how})," if how else "memory ended"
    if draws:
        tell(f"{what} while a picture was drawn; files that were written before it stand")
        return EXIT_NO_ANSWER
    if was_read:
        tell(f"{what}{_BEFORE_AN_ANSWER}")
        return EXIT_NO_ANSWER
    tell(f"{what} while the input was read; it is too large for this machine, or what memory it lends")
    return EXIT_INPUT


def cut_off(code: int, target: str, data: bytes, left: int) -> int:
    """Write the file that a command left for the case that it would be cut off; its exit code, ``left`` if the file is
    written.

    ``data``: empty where a journal beside the file has it.
    """
    if target and code == EXIT_NO_ANSWER:
        try:
            if data:
                deliver(target, data)
            else:
                _gather(Path(target))
        except FaboptError as error:
            tell(str(error))
            return code
        if left == EXIT_DONE:
            tell(f"{target} has the best design that was met by then")
        return left
    return code


def import_writers(target: bytes, data: bytes) -> None:
    """Import what ``cut_off`` uses, for which there may be no time on a busy machine once a process is ended."""
    if target and not data:
        _of_fronts()


def _of_fronts() -> tuple[Callable[[Front], tuple[Front, bytes]], Callable[[Sequence[bytes], Path], Front]]:
    """What makes a file of a front, and a front of its journal; imported only now, as it takes half a second."""
    from fabopt.output.export.front import readable
    from fabopt.study.front.journal import cut_off

    return readable, cut_off


def _gather(target: Path) -> None:
    """Make the file of a sweep or front of its journal: at once without points, then with those that are there. Where
    there is no journal the file is whole.
    """
    journal = journal_path(target)
    lines = whole_lines(read_bytes(journal, MAX_FRONT_BYTES)) if journal.is_file() else []
    if lines:
        deliver(str(target), lines[0] + b"\n")
    if lines[1:]:
        readable, front_of = _of_fronts()
        front, data = readable(front_of(lines, journal))
        deliver(str(target), data)
        tell(f"stopped after {some(len(front.points), 'point')}, kept in {target}; --resume goes on from there")
    journal.unlink(missing_ok=True)


def is_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or its cause, is a lack of memory, in whatever words."""
    while error is not None:
        text = str(error).lower()
        if isinstance(error, MemoryError) or any(words in text for words in _OF_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False
