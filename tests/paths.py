"""Where the repository's folders are, for tests of every room."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
ERRORS = TESTS / "errors"
PUBLISHED = TESTS / "published"
INPUTS = TESTS / "inputs"
# Names the folder that all processes of a run share.
SHARED = "FABOPT_TESTS_SHARED"
