"""A fixed part of ``make fuzz``: the same items every time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.paths import ROOT

ITEMS = 40
DISK_COMMANDS = ("sweep", "export")
# First seeds: of the fixed part, and of single items that broke a promise once.
SEEDS = (0, 1000, 2000, 3000)
FOUND: tuple[int, ...] = ()


@pytest.mark.parametrize(("seed", "items"), [*((seed, ITEMS) for seed in SEEDS), *((seed, 1) for seed in FOUND)])
def test_commands_keep_their_promises(seed: int, items: int) -> None:
    words = [sys.executable, "-m", "tests.fuzz", "--seed", str(seed), "--items", str(items), "--cores", "1"]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stdout + run.stderr


def test_files_are_whole_on_disks_that_fail() -> None:
    """Full, read-only, killed at every write, cut off in the middle, two writers; all commands are in ``make fuzz``."""
    words = [sys.executable, "-m", "tests.fuzz.broken_disk", *DISK_COMMANDS]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stdout + run.stderr
