"""A fixed part of ``make fuzz``: the same items every time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.paths import ROOT

ITEMS = 20
# Of ``make test``, most of whose time is that of the designs that are changed.
FEW_ITEMS = 1
DISK_COMMANDS = ("sweep", "export")
# First seeds: of the fixed part, and of single items that broke a promise once.
SEEDS = (0, 1000, 2000, 3000)
FOUND: tuple[int, ...] = ()


@pytest.mark.parametrize(("seeds", "items"), [
    (SEEDS[:1], FEW_ITEMS), pytest.param(SEEDS, ITEMS, marks=pytest.mark.long), *([(FOUND, 1)] if FOUND else [])
])  # fmt: skip
def test_commands_keep_their_promises(seeds: tuple[int, ...], items: int) -> None:
    """In one process for all seeds, which solves the designs that are changed once."""
    words = [sys.executable, "-m", "tests.fuzz", "--seed", *map(str, seeds), "--items", str(items), "--cores", "1"]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=2400)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.long
def test_files_are_whole_on_disks_that_fail() -> None:
    """Full, read-only, killed at every write, cut off in the middle, two writers; all commands are in ``make fuzz``."""
    words = [sys.executable, "-m", "tests.fuzz.broken_disk", *DISK_COMMANDS]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stdout + run.stderr
