"""Copies of the process: they tell what they find, end with the clock, and take nothing with them that goes wrong."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

import pytest

from fabopt.errors import NoAnswerError
from fabopt.program.copies import Job, Tell, beside_each_other, can_fork
from fabopt.program.settings import Clock, StoppedError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")


@pytest.fixture(params=[1, 2, 4])
def at_once(request: pytest.FixtureRequest) -> int:
    """In this process, in copies of which some wait, and in copies all at once."""
    number: int = request.param
    return number


def counting(name: str, most: int) -> Job[object]:
    """A job that tells numbers."""

    def count(tell: Tell[object]) -> None:
        for number in range(most):
            tell((name, number, os.getpid()))

    return count


def test_all_is_told_in_the_order_of_each_job(at_once: int) -> None:
    told: list[Any] = []
    beside_each_other([counting("a", 3), counting("b", 0), counting("c", 40)], Clock(60), told.append, at_once)
    assert [number for name, number, _ in told if name == "a"] == [0, 1, 2]
    assert [number for name, number, _ in told if name == "c"] == list(range(40))
    assert ({process for *_, process in told} == {os.getpid()}) == (at_once == 1)


def test_what_a_job_raises_is_raised_here(at_once: int) -> None:
    def fail(tell: Tell[object]) -> None:
        tell("begun")
        raise NoAnswerError("there is none")

    told: list[object] = []
    with pytest.raises(NoAnswerError, match="there is none"):
        beside_each_other([fail], Clock(60), told.append, at_once)
    assert told == ["begun"]


@pytest.mark.long(but=("1",))
def test_a_clock_that_is_over_ends_them(at_once: int) -> None:
    def wait(tell: Tell[object]) -> None:
        tell(os.getpid())
        while not clock.is_over():
            time.sleep(0.01)
        clock.look()

    clock, told = Clock(0.5), list[Any]()
    with pytest.raises(StoppedError):
        beside_each_other([wait, wait, wait], clock, told.append, at_once)
    assert len(told) == min(at_once, 3)
    for process in set(told) - {os.getpid()}:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_one_that_is_lost_takes_only_its_own_with_it() -> None:
    """As where memory is short: what the others tell is kept, and it is said that something is missing."""

    def die(tell: Tell[object]) -> None:
        tell("last words")
        os.kill(os.getpid(), signal.SIGKILL)

    told: list[object] = []
    with pytest.raises(StoppedError):
        beside_each_other([die, counting("a", 2)], Clock(60), told.append, 2)
    assert told.count("last words") == 1 and len(told) == 3


def test_there_are_none_while_threads_run() -> None:
    """A lock that a thread holds would stay shut in a copy."""
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        assert not can_fork()
    finally:
        done.set()
        other.join()
