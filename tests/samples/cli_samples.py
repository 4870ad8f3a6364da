"""What tests of the command line share: the tiny catalog, cases for it, and what a command leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.paths import ERRORS
from tests.samples.bare import bare

TINY = ERRORS / "_tiny.yaml"

# What takes long to import.
HEAVY = {"ortools", "pulp", "pandas", "numpy", "pydantic", "xlsxwriter", "yaml", "rich"}


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


def case_content(**changes: Any) -> dict[str, Any]:
    """Four servers of two GPUs, with the tiny catalog beside the case, unless changes say otherwise."""
    content = {"name": "pod", "catalog": ["./acme.yaml"], "server": "acme-gpu2", "servers": 4, **changes}
    return bare(content)


def write_case(name: str = "case.yaml", **changes: Any) -> str:
    """Write such a case; returns its name."""
    Path(name).write_text(yaml.safe_dump(case_content(**changes)))
    return name
