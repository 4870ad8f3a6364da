"""Cases that several tests ask about: each is solved by the first, and the others are given that answer.

A test that asks twice has the case solved again, as it may ask whether two answers are alike; and one that patches the
package solves for itself.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
# Set while a test runs that may have patched the package.
PATCHED = "FABOPT_TESTS_PATCHED"
# Answers that are kept, the oldest of which goes: tests of one case stand near each other.
MOST = 400
# Answers of this process by what was asked, as a hash, and what the test that runs has asked.
_ANSWERS: dict[str, bytes] = {}
_ASKED: dict[str, set[str]] = {}


def once(work: Callable[[], T], *asked: object) -> T:
    """What ``work`` gives; ``asked``: all that it depends on, as objects whose ``repr`` says all of them."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if not test or PATCHED in os.environ:
        return work()
    if test not in _ASKED:
        _ASKED.clear()
    question = hashlib.sha256(repr(asked).encode()).hexdigest()
    again = question in _ASKED.setdefault(test, set())
    _ASKED[test].add(question)
    if again or question not in _ANSWERS:
        made = work()
        _ANSWERS.setdefault(question, pickle.dumps(made))
        if len(_ANSWERS) > MOST:
            del _ANSWERS[next(iter(_ANSWERS))]
        return made
    found: T = pickle.loads(_ANSWERS[question])
    return found
