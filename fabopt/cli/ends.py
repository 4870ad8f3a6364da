"""How a command ends that was stopped or had no memory left: the words, and the exit code."""

from __future__ import annotations

from fabopt.cli.output import tell
from fabopt.errors import EXIT_INPUT, EXIT_NO_ANSWER


def interrupted() -> int:
    """Say that a signal ended the command."""
    tell("interrupted")
    return EXIT_NO_ANSWER


def memory_ended(solves: bool, by: str = "") -> int:
    """Say that memory ended: of an input that is too large while it is read, of the search once it has begun.

    ``by``: the name of the signal that native code ended its process with, as it does where it gets no memory.
    """
    how = f"memory ended, or native code failed ({by}),"
    if solves:
        less = "`--alternatives 0` and fewer products to choose from take less"
        tell(f"{how if by else 'memory ended'} before there was an answer; {less}")
        return EXIT_NO_ANSWER
    tell(f"{how if by else 'memory ended'} while the input was read; it is too large for this machine")
    return EXIT_INPUT
