"""Seed faults in the package and count those that tests find.

    python -m tests.faults record RECORD [ARGUMENT OF PYTEST]...   what each test reaches and takes, in one process
    python -m tests.faults run RECORD FOUND [TREE]                 of each fault, whether tests find it
    python -m tests.faults show FOUND...                           what was found, one column a file
    python -m tests.faults draw                                    draw the faults anew

Both go on where they ended: the record has one line a test, the other file one a fault. Tests of a fault are those that
reach its statement, the nearest and cheapest first; they end at the first that fails, or after five minutes of
processor time. A fault is written into a copy of TREE (this one), whose tests run: its own outcome stays as it is.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.faults.plugin import CHOSEN, RECORD
from tests.faults.seeds import DRAWN, MOST, Fault, all_faults, drawn, keys
from tests.paths import ROOT

FAULTS = 60
# Processor seconds of the tests of one fault.
MOST_S = float(os.environ.get("FABOPT_FAULTS_MOST_S", "300"))
# Tests that are asked alone at first: most faults are found by the nearest, without the time to collect all others.
NEAREST = 25
LEFT_OUT = (".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", "__pycache__")

Line = dict[str, Any]


def lines_of(file: Path) -> list[Line]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def record(file: Path, arguments: Sequence[str]) -> int:
    """Run tests that have not been recorded."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "tests.faults.plugin", *arguments]
    return subprocess.run(words, cwd=ROOT, env=os.environ | {RECORD: str(file.absolute())}, check=False).returncode


# -- one fault ------------------------------------------------------------------------------------------------------


def tests_of(number: int, fault: Fault, recorded: Sequence[Line]) -> dict[str, float]:
    """Tests that reach a fault with their processor seconds: those of its room first, the cheapest first."""
    room = f"tests/{fault.path.split('/')[1]}/"
    found = [line for line in recorded if number in line["reached"] and line["outcome"] == "passed"]
    found.sort(key=lambda line: (line["cpu_s"] > 2, not line["test"].startswith(room), line["cpu_s"]))
    return {line["test"]: line["cpu_s"] for line in found}


def asked(tree: Path, tests: dict[str, float], seconds: float) -> str | None:
    """The first test that fails, or ``None``."""
    chosen = tree / "chosen.json"
    chosen.write_text(json.dumps(tests))
    files = sorted({test.partition("::")[0] for test in tests})
    files = [file for file in files if (tree / file).exists()]
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-rfE", "--tb=no", "-p", "tests.faults.plugin", *files]
    unwritten = {"PYTHONPATH": str(tree), CHOSEN: str(chosen), "PYTHONDONTWRITEBYTECODE": ""}
    with subprocess.Popen(
        words, cwd=tree, env=os.environ | unwritten, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1,) * 2),
    ) as run:  # fmt: skip
        try:
            output, _ = run.communicate(timeout=5 * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return None
    # 5: none was collected, where the tests that reach a fault are gone. By a signal: the time is over.
    if run.returncode in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED} or run.returncode < 0:
        return None
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (failed[0] if failed else output.strip().splitlines()[-1])[:200]


def failing(tree: Path, fault: Fault, tests: dict[str, float]) -> str | None:
    """The first test that fails while a fault is there."""
    file = tree / fault.path
    whole = file.read_text()
    file.write_text(fault.applied(whole))
    try:
        return asked(tree, tests, MOST_S)
    finally:
        file.write_text(whole)


def outcome(tree: Path, fault: Fault, tests: dict[str, float]) -> Line:
    """Whether tests find a fault that is written into a tree, by which of them, and after how long."""
    before, left, most, found = used_s(), dict(tests), NEAREST, None
    while left and found is None and used_s() - before < MOST_S:
        some = dict(islice(left.items(), most))
        said = failing(tree, fault, some)
        if said is None:
            left = {test: left[test] for test in left if test not in some}
            most = len(left)
            continue
        test = said.removeprefix("FAILED ").partition(" - ")[0]
        # what fails without the fault too says nothing of it
        if test not in left or asked(tree, {test: left.pop(test)}, MOST_S) is None:
            found = said
    return {"fault": fault.key, "after": fault.after, "killed": found is not None, "by": found, "tests": len(tests),
            "tests_s": round(sum(tests.values()), 1), "took_s": round(used_s() - before, 1)}  # fmt: skip


def used_s() -> float:
    """Processor seconds of the processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(recorded: Path, file: Path, tree: Path, until: float) -> None:
    """Ask tests of a tree for each fault that has no answer yet."""
    record, done = lines_of(recorded), {line["fault"] for line in lines_of(file)}
    reached = {number for line in record for number in line["reached"]}
    wanted = [(number, key) for number, key in enumerate(keys()) if number in reached][:FAULTS]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(tree, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        here = all_faults(copy, keys())
        for number, key in wanted:
            if key in done or time.time() > until:
                continue
            line: Line = {"fault": key, "killed": False, "by": "gone from the package"}
            if key in here:
                line = outcome(copy, here[key], tests_of(number, here[key], record))
            with file.open("a") as out:
                out.write(json.dumps(line) + "\n")
            print("found" if line["killed"] else "NOT found", key, line["by"] or "", flush=True)


def shown(files: Sequence[Path]) -> Iterator[str]:
    """A line a fault: of each file whether it was found."""
    answers = [{line["fault"]: line["killed"] for line in lines_of(file)} for file in files]
    words = {True: "found", False: "not found", None: "not asked"}
    for key in answers[0]:
        yield "  ".join([*(f"{words[answer.get(key)]:9}" for answer in answers), key])
    yield ", ".join(
        f"{file.name}: {sum(each.values())} of {len(each)} found" for file, each in zip(files, answers, strict=True)
    )


def main(words: Sequence[str]) -> int:
    """What the words ask for."""
    match words:
        case ["record", file, *arguments]:
            return record(Path(file), arguments)
        case ["run", recorded, file, *tree]:
            until = float(os.environ.get("FABOPT_FAULTS_END", "inf"))
            run(Path(recorded), Path(file), Path(tree[0]) if tree else ROOT, until)
        case ["draw"]:
            DRAWN.write_text(json.dumps([fault.key for fault in drawn(ROOT, MOST)], indent=0) + "\n")
        case ["show", *files] if files:
            print("\n".join(shown([Path(file) for file in files])))
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
