"""Bounds that fabrics share are those of each: worked out anew for every changed case of *what else*."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.solution import optimize
from tests.paths import ROOT
from tests.samples.shared_bounds import compare_shared_bounds

# Larger ones take minutes without shared bounds.
LARGE = (
    "b300-131072-gpus",
    "pretraining-16384-gpus",
    "roce-24576-gpus",
    "llama3-405b-8192-gpus",
    "llama3-405b-in-pods",
)
CASES = sorted(path.stem for path in (ROOT / "cases").glob("*.yaml") if path.stem not in LARGE)
# Takes two seconds, and found the least cost of a fabric kept for one with other NICs.
QUICK = "single-switch-64-gpus"


@pytest.mark.long(*(name for name in CASES if name != QUICK))
@pytest.mark.parametrize("name", CASES, ids=str)
def test_bounds_that_are_shared_follow_from_their_keys(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compare_shared_bounds(monkeypatch, wrong := tmp_path / "wrong")
    optimize.solve(inputs_from_objects(ROOT / "cases" / f"{name}.yaml"))
    assert not wrong.exists(), sorted(set(wrong.read_text().split()))
