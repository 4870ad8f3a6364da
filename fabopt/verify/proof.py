"""The record of a rule; marks of rules, by which files are asked for them; and codes of rows, by which rules find equal
ones.

Arrays of columns and of their numbers have shape (rows,).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from fabopt.errors import cut
from fabopt.schema.design import Check, Design
from fabopt.wiring.model import Ints

_MOST_SHOWN = 6
_LONGEST_MESSAGE = 300

# The file may hold anything: whatever a rule trips over, it has not been proven.
UNPROVABLE = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RuntimeError, StopIteration, TypeError,
    ValueError,
)  # fmt: skip

Given = ParamSpec("Given")
AnyRule = TypeVar("AnyRule", bound=Callable[..., None])
Question = Callable[[Any], bool]
# Questions whether a design has the subject of a rule, asked of its evidence; rules without one apply to all.
QUESTIONS: dict[Callable[..., None], Question] = {}


class Proof:
    """The running record of one rule: it holds as long as no contradiction was found."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.broken: list[str] = []

    def equal(self, what: str, written: object, recomputed: object) -> None:
        """Demand that a number (or word) of the file is exactly the recomputed one."""
        if written != recomputed:
            self.broken.append(f"{what} is {written}, recomputed {recomputed}")

    def holds(self, condition: bool, otherwise: str) -> None:
        """Demand a relation; ``otherwise`` states with numbers how it fails."""
        if not condition:
            self.broken.append(otherwise)

    def shows(self, condition: bool, text: str) -> None:
        """Demand a relation whose numbers are for the reader, whether it holds or not."""
        self.holds(condition, text)
        self.note(text)

    def note(self, text: str) -> None:
        """Add counts to the record, for the reader of a check that holds."""
        self.noted.append(text)

    @property
    def detail(self) -> str:
        """The faults if there are any, each on one line and cut where the file makes it long, else the counts."""
        lines = [cut(line, _LONGEST_MESSAGE) for line in self.broken] or self.noted
        shown = lines[:_MOST_SHOWN]
        if len(lines) > len(shown):
            shown.append(f"and {len(lines) - len(shown)} more")
        return "; ".join(shown)


def prove(rule: Callable[Concatenate[Proof, Given], None], *given: Given.args, **named: Given.kwargs) -> Proof:
    """Evaluate one rule; a relation that cannot be evaluated is broken, never an error."""
    proof = Proof()
    try:
        rule(proof, *given, **named)
    except UNPROVABLE as error:
        first_line = " ".join(str(error).split())[:_LONGEST_MESSAGE]
        proof.broken.append(f"cannot be evaluated: {first_line or type(error).__name__}")
    return proof


def where(question: Question) -> Callable[[AnyRule], AnyRule]:
    """Mark a rule with the question whether a design (a fabric) has its subject; rules without a mark apply to all."""

    def marked(rule: AnyRule) -> AnyRule:
        QUESTIONS[rule] = question
        return rule

    return marked


def applies(rule: Callable[..., None], evidence: object) -> bool:
    """Whether a rule applies. Never raises: where the file makes the question fail, the rule applies, and fails."""
    try:
        return rule not in QUESTIONS or QUESTIONS[rule](evidence)
    except UNPROVABLE:
        return True


def as_check(name: str, proof: Proof, subject: str = "") -> Check:
    """The check of a rule for the reader; ``subject`` (a fabric's name) goes before the detail."""
    detail = f"{subject}: {proof.detail}" if subject and proof.detail else proof.detail or subject
    return Check(name=name, ok=not proof.broken, detail=detail)


# -- versions: a rule is asked of files of the version that brought it, and of later ones ----------------------------


# Versions whose files may be judged by rules of their own, the last one being this version.
EDITIONS = ("0.1.0", "0.2.0", "0.3.0")
FIRST = EDITIONS[0]
# Names of rules by the version that brought them, as ``since`` marks them; all others are of the first.
BROUGHT: dict[str, set[str]] = {version: set() for version in EDITIONS[1:]}
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})")
# Keys of a design file, and of its case below ``case.content``, that a rule is about: by the name of the rule.
SUBJECTS: dict[str, tuple[str, ...]] = {}


def since(version: str, *subjects: str) -> Callable[[AnyRule], AnyRule]:
    """Mark a rule with the version that brings it: files of earlier ones are not judged by it.

    ``subjects``: keys of the file that the version brings too; a file with any of them is judged by the rule whatever
    version it names. Raises ``KeyError`` for a version that is not one of ``EDITIONS``, or the first.
    """

    def marked(rule: AnyRule) -> AnyRule:
        BROUGHT[version].add(rule.__name__)
        SUBJECTS[rule.__name__] = subjects
        return rule

    return marked


def number_of(version: str) -> tuple[int, ...]:
    """A version as numbers that can be compared; raises ``ValueError`` for other words."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"{version} is no version of fabopt")
    return tuple(map(int, match.groups()))


def named_edition(design: Design) -> str:
    """The rules that a file names; before files named any, those of the first version."""
    return FIRST if design.rules is None else design.rules


def has_rules_of(design: Design, version: str) -> bool:
    """Whether a file names the rules of a version, or of a later one."""
    return number_of(named_edition(design)) >= number_of(version)


# -- integer codes of rows and words, so that equal ones are found at once --------------------------------------------
# Arrays of columns and of their numbers have shape (rows,).


_MOST_NUMBERS = 2**31  # two factors below it have a product that still fits
Word = TypeVar("Word", bound=Hashable)


def combined(*columns: Ints) -> Ints:
    """A number for each row of columns of whole numbers; equal rows, and only they, have equal numbers."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns if len(code) else ():
        low, high = int(column.min()), int(column.max())
        if high - low >= _MOST_NUMBERS:
            column, low, high = _ranked(column), 0, len(column)
        if int(code.max()) >= _MOST_NUMBERS:
            code = _ranked(code)
        code = code * (high - low + 1) + (column - low)
    return code


def _ranked(column: Ints) -> Ints:
    """Ranks of a column's values: equal for equal values, from 0."""
    return np.unique(column, return_inverse=True)[1].ravel().astype(np.int64)


def distinct(code: Ints) -> Ints:
    """The different numbers in rising order, by sorting: many times as fast as the hash table of ``np.unique``."""
    ordered: Ints = np.sort(code)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]


def repeated(code: Ints) -> int:
    """Rows that repeat an earlier one."""
    return len(code) - len(distinct(code))


def counts_of(code: Ints) -> Ints:
    """Counts of each different number, shape (different numbers,)."""
    return np.unique(code, return_counts=True)[1]


def coded(words: Iterable[Word]) -> tuple[Ints, list[Word]]:
    """(Number of every word, the words by number)."""
    number: dict[Word, int] = {}
    numbers = [number.setdefault(word, len(number)) for word in words]
    return np.array(numbers, dtype=np.int64), list(number)
