"""How a rule reports: what it counted, and what did not agree."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from fabopt.errors import cut
from fabopt.schema.design import Check

_MOST_SHOWN = 6
_LONGEST_MESSAGE = 300

# The file may hold anything: whatever a rule trips over, it has not been proven.
UNPROVABLE = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RuntimeError, StopIteration, TypeError,
    ValueError,
)  # fmt: skip

Given = ParamSpec("Given")
Question = Callable[Given, bool]


class Proof:
    """The running record of one rule: it holds as long as nothing was found broken."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.broken: list[str] = []

    def equal(self, what: str, written: object, recomputed: object) -> None:
        """Demand that a number (or word) of the file is exactly the recomputed one."""
        if written != recomputed:
            self.broken.append(f"{what} is {written}, recomputed {recomputed}")

    def holds(self, condition: bool, otherwise: str) -> None:
        """Demand a relation; ``otherwise`` says with numbers how it fails."""
        if not condition:
            self.broken.append(otherwise)

    def note(self, text: str) -> None:
        """Name the numbers that were counted, for the reader of a check that holds."""
        self.noted.append(text)

    @property
    def detail(self) -> str:
        """The faults if there are any, each on one line and cut where the file makes it long, else what was counted."""
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


def if_unprovable(answer: bool) -> Callable[[Question[Given]], Question[Given]]:
    """Mark a question whether rules apply; what is answered where the file does not let it be told."""

    def marked(question: Question[Given]) -> Question[Given]:
        @wraps(question)
        def answered(*given: Given.args, **named: Given.kwargs) -> bool:
            try:
                return question(*given, **named)
            except UNPROVABLE:
                return answer

        return answered

    return marked


def as_check(name: str, proof: Proof, subject: str = "") -> Check:
    """The check that is shown for a rule; ``subject`` (a fabric's name) goes before the detail."""
    detail = f"{subject}: {proof.detail}" if subject and proof.detail else proof.detail or subject
    return Check(name=name, ok=not proof.broken, detail=detail)
