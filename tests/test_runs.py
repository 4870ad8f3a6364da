"""How tests are chosen: a run that was asked for and has none is an error, but for a share of what takes long."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.paths import ROOT

NO_LONG_ONE, NOT_THERE = "tests/paths.py", "tests/not_there.py"


def exit_code(*words: str) -> int:
    """Of a run of pytest on some files."""
    return subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True).returncode


def test_a_share_may_be_empty_and_a_file_may_not_be_missing() -> None:
    assert exit_code("--long", "--share", "0/16", NO_LONG_ONE) == pytest.ExitCode.OK
    assert exit_code("--long", "--share", "0/16", NOT_THERE) == pytest.ExitCode.USAGE_ERROR


@pytest.mark.long("3")
@pytest.mark.long(but_every=6)
@pytest.mark.parametrize("share", ["3", "", "3/", "/16", "3/0", "-1/16", "3/16/2", "a/b", "3.5/16"])
def test_a_share_that_is_none_is_refused_once(share: str) -> None:
    words = ["-n", "2", "--long", f"--share={share}", NO_LONG_ONE]
    ran = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    (told,) = ran.stderr.strip().splitlines()
    assert told == f"ERROR: --share {share}: allowed is K/N in whole numbers, K counted from 0, such as 3/16"


@pytest.mark.long
@pytest.mark.parametrize("processes", [(), ("-n", "2")])
def test_what_is_asked_for_and_not_there_is_an_error(processes: tuple[str, ...]) -> None:
    assert exit_code(*processes, "--long", "--share", "0/16", NO_LONG_ONE) == pytest.ExitCode.OK
    assert exit_code(*processes, "--long", NO_LONG_ONE) == pytest.ExitCode.NO_TESTS_COLLECTED
    assert exit_code(*processes, "--long", NOT_THERE) == pytest.ExitCode.USAGE_ERROR
    assert exit_code(*processes, NOT_THERE) == pytest.ExitCode.USAGE_ERROR
    assert exit_code(*processes, "--long", "--share", "0/16", f"{NO_LONG_ONE}::test_none") != pytest.ExitCode.OK
