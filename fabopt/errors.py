"""Every way in which fabopt can refuse, and the exit code that each one ends in.

``FaboptError``
 ├─ ``InputError``       exit 2: a case, catalog, price book, design file or option is wrong
 ├─ ``CheckError``       exit 1: a design does not hold, so nothing is made of it
 ├─ ``OutputError``      exit 2: a file cannot be written
 │   └─ ``LostOutputError``  exit 4: it could be when work began; what was done by then is kept elsewhere
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

# Of a value or a key of a file, which may be a secret that was named by mistake; of the name of a file.
LONGEST_SHOWN = 40
LONGEST_FILE_NAME = 200
_CUT = "..."
# No word that is allowed anywhere is as long; comparing takes time that grows with the length.
_LONGEST_MISSPELT = 200
# A shorter word is in too many others; the share of letters that a word has in common with one misspelt.
_SHORTEST_PART, _ALIKE = 4, 0.6


def bare(text: str) -> str:
    """A word's small letters and digits, equal for two spellings of it."""
    return "".join(filter(str.isalnum, text.lower()))


def misspelt(word: str, words: Iterable[str], most: int = 1) -> list[str]:
    """The allowed words that ``word`` is most likely a misspelling of, the best first."""
    return difflib.get_close_matches(word[:_LONGEST_MISSPELT], list(words), n=most, cutoff=_ALIKE)


def guesses(word: str, words: Iterable[str], most: int = 1) -> list[str]:
    """The allowed words that ``word`` is most likely meant to be, the best first; none where none is close.

    Close are other spellings of it, then words that have it in them, the shortest first, then misspellings.
    """
    allowed, wanted = list(words), bare(word[:_LONGEST_MISSPELT])
    spelt = [known for known in allowed if wanted and bare(known) == wanted]
    longer = [known for known in allowed if len(wanted) >= _SHORTEST_PART and wanted in bare(known)]
    return list(dict.fromkeys([*spelt, *sorted(longer, key=len), *misspelt(word, allowed, most)]))[:most]


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The allowed word that ``word`` is most likely meant to be, if one is close."""
    return next(iter(guesses(word, words)), None)


def did_you_mean(word: str, words: Iterable[str], form: str = "{}") -> str:
    """A hint with the nearest allowed word, or none. ``form``: how it is written where it is meant."""
    close = nearest(word, words)
    return f"did you mean `{form.format(close)}`?" if close else ""


def legible(text: str) -> str:
    """Return text on one line: what cannot be printed, or would turn its direction, as an escape such as ``\\x1b``."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def cut(text: str, longest: int = LONGEST_SHOWN) -> str:
    """Return the legible start of a text from a file, with ``...`` at the end if that is not all of it."""
    if len(text) <= longest and len(shown := legible(text)) <= longest:
        return shown
    shown = ""
    for letter in text:
        if len(shown) + len(legible(letter)) > longest - len(_CUT):
            break
        shown += legible(letter)
    return shown + _CUT


def file_name(name: str) -> str:
    """Return how messages name a file: legible, the end of a name that is longer than anyone reads."""
    shown = legible(name)
    return shown if len(shown) <= LONGEST_FILE_NAME else _CUT + shown[len(_CUT) - LONGEST_FILE_NAME :]


def as_written(value: object) -> str:
    """Return a value as it would stand in a file (``null``, ``true``, ``'text'``), long ones cut or counted."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return _quoted(value)
    shown = repr(value)
    if len(shown) <= LONGEST_SHOWN:
        return shown
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'mapping'} of {len(value)}"
    return cut(shown)


def _quoted(text: str) -> str:
    """Return a text in quotation marks, with a backslash before those of its kind that it holds itself."""
    start = text[:LONGEST_SHOWN]
    while len(repr(start)) - len("''") > LONGEST_SHOWN - len(_CUT) * (start != text):
        start = start[:-1]
    shown = repr(start)
    return shown if start == text else shown[:-1] + _CUT + shown[-1]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: where, what was found, what is allowed, what to do. As text it is one line."""

    file: str
    path: str
    problem: str
    value: object = None
    has_value: bool = False
    allowed: str = ""
    hint: str = ""

    def __str__(self) -> str:
        file = file_name(self.file)
        where = f"{file}: {self.path}: " if self.path else f"{file}: "
        parts = [where + self.problem]
        if self.has_value:
            parts.append(f"found {as_written(self.value)}")
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if self.hint:
            parts.append(self.hint)
        return legible("; ".join(parts))


class FaboptError(Exception):
    """Base of all errors that a user can cause or meet."""

    exit_code = EXIT_INPUT


class InputError(FaboptError):
    """The input is wrong; carries all faults of the stage that found them."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class CheckError(FaboptError):
    """A design fails its checks, and is not written for others."""

    exit_code = EXIT_CHECK_FAILED


class OutputError(FaboptError):
    """A file could not be written."""


class LostOutputError(OutputError):
    """A file that could be written when work began no longer can be; what was done by then is kept elsewhere."""

    exit_code = EXIT_NO_ANSWER


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


def refusal(file: str, path: str, problem: str, *value: object, allowed: str = "", hint: str = "") -> InputError:
    """The error of one ``fault``."""
    return InputError([fault(file, path, problem, *value, allowed=allowed, hint=hint)])
