"""Where the repository's folders are, for tests of every room."""

from __future__ import annotations

import os
from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
ERRORS = TESTS / "errors"
PUBLISHED = TESTS / "published"
INPUTS = TESTS / "inputs"
# Names the folder that all processes of a run share.
SHARED = "FABOPT_TESTS_SHARED"
# Set where what takes long is run: tests marked ``drawn_longer`` draw more inputs then.
LONG = "FABOPT_TESTS_LONG"


def few_or_many(few: int, many: int) -> int:
    """How many inputs a test draws that is run both times, marked ``drawn_longer``."""
    return many if LONG in os.environ else few
