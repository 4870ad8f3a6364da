"""What goes where: answers to standard output, messages to standard error, files whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from fabopt.errors import InputError, fault
from fabopt.files import STANDARD_STREAM, check_writable, write_whole

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# Without a terminal there is no width to keep to; this one fits the tables.
PLAIN_WIDTH = 120


def check_targets(targets: Sequence[str | None]) -> None:
    """Raise, before any work, if an output file cannot be written or two outputs want standard output."""
    given = [target for target in targets if target is not None]
    if given.count(STANDARD_STREAM) > 1:
        raise InputError([fault("-", "", "only one output can go to standard output")])
    for target in given:
        if target != STANDARD_STREAM:
            check_writable(Path(target))


def deliver(target: str, data: bytes) -> None:
    """Write a result to a file, or to standard output for ``-``."""
    if target != STANDARD_STREAM:
        write_whole(Path(target), data)
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _silence()


def say(*blocks: RenderableType) -> None:
    """Print an answer to standard output: coloured on a terminal, plain elsewhere."""
    try:
        console = _console(sys.stdout)
        for block in blocks:
            console.print(block, highlight=False)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence()


def tell(message: str) -> None:
    """Print a message to standard error."""
    from fabopt.report.words import printable

    try:
        print(printable(message), file=sys.stderr, flush=True)
    except BrokenPipeError:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - lives as long as the process


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    fixed = None if stream.isatty() or "COLUMNS" in os.environ else PLAIN_WIDTH
    return Console(file=stream, width=fixed, soft_wrap=False, markup=False, emoji=False)


def _silence() -> None:
    """Point standard output at nothing: its reader has gone, which is no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
