"""Destinations: answers go to standard output, messages to standard error, files are written whole or not at all."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TextIO

from fabopt.errors import Fault, OutputError, fault, refusal
from fabopt.io.library import STANDARD_STREAM, check_writable, write_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

# Without a terminal there is no width to keep to; this one fits the tables.
PLAIN_WIDTH = 120
_STDOUT = 1
PAGES = (".html", ".htm")
Heard = Callable[[], contextlib.AbstractContextManager[None]]


def check_targets(targets: Sequence[str | None]) -> None:
    """Raise, before any work, if an output file cannot be written or two outputs want standard output."""
    given = [target for target in targets if target is not None]
    if given.count(STANDARD_STREAM) > 1:
        raise refusal("-", "", "only one output can go to standard output")
    for target in given:
        if target != STANDARD_STREAM:
            check_writable(Path(target))


def page_faults(target: str | None) -> list[Fault]:
    """What is wrong with the name of a file for a page: anything but HTML."""
    if target in (None, STANDARD_STREAM) or PurePath(str(target)).suffix.lower() in PAGES:
        return []
    return [fault(str(target), "", "a page is not written like this", allowed=", ".join(PAGES))]


def deliver(target: str, data: bytes) -> None:
    """Write a result to a file, or to standard output for ``-``."""
    if target != STANDARD_STREAM:
        write_whole(Path(target), data)
        return
    wipe()
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        _lost(error)


def deliver_all(
    files: Iterable[tuple[str | None, Callable[[], bytes]]], report: Callable[[], RenderableType], headline: str = ""
) -> None:
    """Write the files asked for and print the report; its headline aside, if any, where standard output is taken."""
    given = [(target, content) for target, content in files if target is not None]
    for target, content in given:
        deliver(target, content())
    if STANDARD_STREAM not in dict(given):
        say(report())
    elif headline:
        tell(headline)


def say(*blocks: RenderableType) -> None:
    """Print an answer to standard output: coloured on a terminal, plain elsewhere."""
    try:
        _print(sys.stdout, blocks)
    except OSError as error:
        _lost(error)


def say_aside(*blocks: RenderableType) -> None:
    """Print what is no answer to standard error, in the same way."""
    try:
        _print(sys.stderr, blocks)
    except OSError:
        sys.stderr = nowhere()


def _print(stream: TextIO, blocks: Sequence[RenderableType]) -> None:
    from rich.console import Console

    wipe()
    coloured = stream.isatty()
    width = None if coloured or "COLUMNS" in os.environ else PLAIN_WIDTH
    console = Console(width=width, file=stream, markup=False, emoji=False, highlight=False)
    with console.capture() as capture:
        console.print(*blocks, sep="\n")
    text = capture.get()
    stream.write(text if coloured else "".join(f"{line.rstrip()}\n" for line in text.splitlines()))
    stream.flush()


class _FirstWords:
    """Words on a terminal from before anything large is imported, until the first others."""

    there = False


def announce(words: str) -> None:
    """Say on a terminal at once what is begun; ``wipe`` takes it away."""
    if sys.stderr.isatty() and not _FirstWords.there:
        print(words, end="", file=sys.stderr, flush=True)
        _FirstWords.there = True


def wipe() -> None:
    """Take away what was announced."""
    if _FirstWords.there:
        _FirstWords.there = False
        print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def nowhere() -> TextIO:
    """A stream that discards everything, in place of a closed one."""
    return open(os.devnull, "w")


def tell(message: str) -> None:
    """Print a message to standard error."""
    from fabopt.output.words import printable

    wipe()
    try:
        print(printable(message), file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = nowhere()


@contextlib.contextmanager
def engines_silenced() -> Iterator[Heard]:
    """Keep standard output for answers while an engine runs: some print a banner from C, below Python's streams.

    Yields a context within which standard output is heard.
    """
    kept, nothing = os.dup(_STDOUT), os.open(os.devnull, os.O_WRONLY)

    @contextlib.contextmanager
    def heard() -> Iterator[None]:
        _point_stdout(kept)
        try:
            yield
        finally:
            _point_stdout(nothing)

    _point_stdout(nothing)
    try:
        yield heard
    finally:
        _point_stdout(kept)
        os.close(kept)
        os.close(nothing)


def _point_stdout(target: int) -> None:
    """Point standard output at a file, once all that was written has gone where it pointed before."""
    sys.stdout.flush()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)
    os.dup2(target, _STDOUT)


def _lost(error: OSError) -> None:
    """Point standard output at nothing. A reader that has gone is no error; other failures are."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
    if not isinstance(error, BrokenPipeError):
        raise OutputError(f"standard output: cannot be written: {error.strerror or error}") from None
