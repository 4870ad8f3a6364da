"""Every way in which fabopt can refuse, and the exit code that each one ends in.

``FaboptError``
 ├─ ``InputError``       exit 2: a case, catalog, price book, design file or option is wrong
 ├─ ``OutputError``      exit 2: a file cannot be written
 ├─ ``InfeasibleError``  exit 3: there is no design, so what was asked for cannot be made
 └─ ``NoAnswerError``    exit 4: the search stopped without any design

An infeasible case is an answer, not an error: a ``Design`` of status ``infeasible`` with ``conflicts``. Only a command
that cannot do without a design raises ``InfeasibleError``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

EXIT_DONE = 0
EXIT_CHECK_FAILED = 1
EXIT_INPUT = 2
EXIT_INFEASIBLE = 3
EXIT_NO_ANSWER = 4

_LONGEST_VALUE = 80


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the allowed word that ``word`` is most likely a misspelling of, if one is close."""
    matches = difflib.get_close_matches(word, list(words), n=1, cutoff=0.6)
    return matches[0] if matches else None


def as_written(value: object) -> str:
    """Return a value as it would stand in a file (``null``, ``true``, ``'text'``), long ones cut or counted."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    shown = repr(value)
    if len(shown) <= _LONGEST_VALUE:
        return shown
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'mapping'} of {len(value)}"
    return shown[: _LONGEST_VALUE - 3] + "..."


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: where, what was found, what is allowed, what to do."""

    file: str
    path: str
    problem: str
    value: object = None
    has_value: bool = False
    allowed: str = ""
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.file}: {self.path}: " if self.path else f"{self.file}: "
        parts = [where + self.problem]
        if self.has_value:
            parts.append(f"found {as_written(self.value)}")
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if self.hint:
            parts.append(self.hint)
        return "; ".join(parts)


class FaboptError(Exception):
    """Base of all errors that a user can cause or meet."""

    exit_code = EXIT_INPUT


class InputError(FaboptError):
    """The input is wrong; carries all faults of the stage that found them."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class OutputError(FaboptError):
    """A file could not be written."""


class InfeasibleError(FaboptError):
    """What was asked for needs a design, and it is proven that there is none."""

    exit_code = EXIT_INFEASIBLE


class NoAnswerError(FaboptError):
    """The search stopped (time limit, interrupt, engine failure) before any design was found."""

    exit_code = EXIT_NO_ANSWER


def fault(file: str, path: str, problem: str, *value: object, allowed: str = "", hint: str = "") -> Fault:
    """Build a ``Fault``; at most one positional ``value`` is the value found."""
    return Fault(
        file,
        path,
        problem,
        value[0] if value else None,
        bool(value),
        allowed,
        hint,
    )
