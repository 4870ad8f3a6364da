"""What tests need of a machine beyond Python: system parts, which a user need not have to run the other tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import NoReturn

import pytest


def without(missing: str) -> NoReturn:
    """Skip a test for what is missing; fail it with ``CI=true``, where ``.ci/run`` has installed it or made it."""
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


def require(programs: Sequence[str]) -> None:
    """Go on only where all programs are there."""
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        without(f"there is no {', '.join(missing)}")
