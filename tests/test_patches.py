"""Recorded changes of a maintainer: how many files of the package each touches, and that its tests pass with it.

A patch here is what has to be written, and no more: schemas and tables of keys are made anew, as `make schemas` does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT, TESTS

# Tests of pages but those that run what they show.
NOT_RUN = "not commands_print and not sessions and not pictures and not short"
# By patch: the most files of the package, and the tests that it has to pass with.
PATCHES = {
    "a-key-with-a-rule": (4, ("tests/program/test_max_switches.py", "tests/explain/test_keys.py",
                              "tests/verify/test_keys.py", "tests/verify/test_proof.py", "tests/test_schema_words.py",
                              "tests/test_structure.py", "tests/test_docs.py", "-k", NOT_RUN)),
    "a-cost-term": (3, ("tests/parts/test_charges_per_gpu.py", "tests/io/test_spellings.py",
                        "tests/test_schema_words.py", "tests/test_structure.py", "tests/test_docs.py", "-k", NOT_RUN)),
    "a-family": (7, ("tests/topology/test_ring.py", "tests/verify/test_keys.py", "tests/output/test_space.py",
                     "tests/test_schema_words.py", "tests/test_structure.py", "tests/test_docs.py", "-k", NOT_RUN)),
    "an-export": (2, ("tests/output/test_export_neighbours.py", "tests/test_structure.py", "tests/test_docs.py",
                      "-k", NOT_RUN)),
}  # fmt: skip
COPIED = ("fabopt", "tests", "docs")


def git(*words: str, folder: Path = ROOT) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def patched(name: str, folder: Path) -> Path:
    """A copy of package, tests and docs with a patch, beside all else of the repository."""
    for path in ROOT.iterdir():
        if path.name in COPIED:
            shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif path.name not in (".git", ".venv"):
            (folder / path.name).symlink_to(path)
    git("apply", "-C1", str(TESTS / "patches" / f"{name}.patch"), folder=folder)
    return folder


@pytest.mark.parametrize("name", PATCHES)
def test_a_change_touches_few_files_of_the_package(name: str) -> None:
    rows = git("apply", "--numstat", str(TESTS / "patches" / f"{name}.patch")).splitlines()
    files = [row.split("\t")[2] for row in rows]
    assert len([file for file in files if file.startswith("fabopt/")]) <= PATCHES[name][0], files
    git("apply", "--check", "-C1", str(TESTS / "patches" / f"{name}.patch"))


@pytest.mark.long
@pytest.mark.parametrize("name", PATCHES)
def test_the_tests_of_a_change_pass(name: str, tmp_path: Path) -> None:
    folder = patched(name, tmp_path)
    own = {**os.environ, "PYTHONPATH": str(folder)}
    made = [["-m", "fabopt.cli.schemas", "docs/schemas"], ["docs/key_tables.py"]]
    for words in (*made, ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *PATCHES[name][1]]):
        run = subprocess.run([sys.executable, *words], cwd=folder, env=own, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
