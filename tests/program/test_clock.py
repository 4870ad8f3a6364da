"""The clock: what does not look at it is left all the same, what must not be left is not, and timers are given back."""

from __future__ import annotations

import contextlib
import gc
import inspect
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from types import FrameType

import numpy as np
import pytest

from fabopt.cli.supervisor import TOLD_BY
from fabopt.explain.what_if import Watch
from fabopt.program import bell, settings
from fabopt.program.bell import BELL, PATIENCE_S
from fabopt.program.copies import leave_interrupts
from fabopt.program.engine_run import EngineThread, in_process, in_thread
from fabopt.program.settings import MOST_RESERVED, Clock, StoppedError, unbroken

SHORT_S = 0.05
# Far more than any wait of a test, and no wait for ever.
LONG_S = 60.0


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C is heard, as in every command; shells start what runs in the background with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def forever() -> None:
    """Never look at a clock."""
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        pass
    raise AssertionError("nothing ended it")


def test_what_does_not_look_is_left() -> None:
    clock = Clock(SHORT_S)
    with pytest.raises(StoppedError), clock.bounded():
        forever()
    assert clock.is_over() and not clock.is_stopped


def test_what_is_stopped_by_a_signal_is_left() -> None:
    clock = Clock(None)
    before = signal.signal(signal.SIGTERM, lambda number, frame: clock.stop())
    try:
        with pytest.raises(StoppedError), clock.bounded():
            # to this thread: a native one that took it would not tell Python while this one keeps its turn
            signal.raise_signal(signal.SIGTERM)
            forever()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert clock.is_stopped


def test_nothing_is_begun_that_is_past_its_time() -> None:
    clock = Clock(SHORT_S, started=time.monotonic() - SHORT_S - PATIENCE_S)
    with pytest.raises(StoppedError), clock.bounded():
        raise AssertionError("it was begun")


def test_what_is_unbroken_ends_by_itself() -> None:
    clock, ended = Clock(SHORT_S), False
    with pytest.raises(StoppedError), clock.bounded():
        with unbroken():
            time.sleep(2 * PATIENCE_S)
            ended = True
        forever()
    assert ended


@pytest.mark.long
def test_the_innermost_is_left_first_and_the_outer_one_goes_on() -> None:
    outer = Clock(None)
    with outer.bounded():
        with pytest.raises(StoppedError), Watch(SHORT_S, outer).bounded():
            forever()
        time.sleep(2 * PATIENCE_S)
    assert not outer.is_over()


def test_a_watch_is_over_when_the_outer_clock_is() -> None:
    outer = Clock(None)
    watch = Watch(LONG_S, outer)
    outer.stop()
    assert watch.is_over()


def test_a_timer_of_the_caller_is_given_back() -> None:
    """A program that uses fabopt may have an alarm of its own: it rings late, if it was due, and to its own handler."""
    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, SHORT_S)
        with pytest.raises(StoppedError), Clock(SHORT_S).bounded():
            forever()
        end = time.monotonic() + LONG_S
        while not rang and time.monotonic() < end:
            time.sleep(SHORT_S)
        assert rang == [signal.SIGALRM]
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_without_a_limit_the_timer_is_left_alone() -> None:
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    try:
        with Clock(None).bounded():
            assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGALRM, before)


class Ringer:
    """Rings at one step of what enters and leaves, as a timer would."""

    def __init__(self, step: int) -> None:
        self.left = step

    def __call__(self, frame: FrameType, event: str, argument: object) -> Ringer:
        """Be called before each step; in the modules of clock, bell and contexts, and in what they call, count it."""
        callers = [frame]
        while callers[-1].f_back is not None:
            callers.append(callers[-1].f_back)
        if {one.f_globals["__name__"] for one in callers} & {bell.__name__, settings.__name__, contextlib.__name__}:
            self.left -= 1
            if self.left == 0:
                BELL.ring(signal.SIGALRM, frame)
        return self


def test_a_bell_that_rings_at_the_door_leaves_nothing_behind() -> None:
    """Whichever step of entering and leaving it rings at: what was entered is left, timer and limit are as before."""
    handler, before, stopped = signal.getsignal(signal.SIGALRM), sys.gettrace(), 0
    for step in count(1):
        clock, ringer = Clock(LONG_S), Ringer(step)
        end = clock.over_at()
        try:
            sys.settrace(ringer)
            with clock.shortened(0.0), clock.bounded(), unbroken():
                pass
        except StoppedError:
            stopped += 1
        finally:
            sys.settrace(before)
        assert clock.over_at() == end, step
        assert signal.getsignal(signal.SIGALRM) is handler and signal.getitimer(signal.ITIMER_REAL) == (0, 0), step
        if ringer.left > 0:
            break
    assert step > 100 and stopped


class LetGo:
    """What the bell rings at while it is let go of, where Python would print the error and go on."""

    def __del__(self) -> None:
        BELL.ring(signal.SIGALRM, inspect.currentframe())


def test_a_bell_does_not_ring_while_something_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    clock, thing = Clock(LONG_S), LetGo()
    with contextlib.suppress(StoppedError), clock.bounded(), clock.shortened(0.0):
        del thing
    assert ignored == []


def test_a_bell_does_not_ring_while_somebody_is_told_of_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Hypothesis is, which counts the time that collections take."""
    ignored: list[object] = []
    told: list[str] = []

    def ring(phase: str, info: dict[str, int]) -> None:
        told.append(phase)
        BELL.ring(signal.SIGALRM, inspect.currentframe())

    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    gc.callbacks.append(ring)
    try:
        clock = Clock(LONG_S)
        with contextlib.suppress(StoppedError), clock.bounded(), clock.shortened(0.0):
            gc.collect()
    finally:
        gc.callbacks.remove(ring)
    assert told and ignored == []


def test_a_bell_does_not_ring_where_numpy_would_say_something_else() -> None:
    """Comparing structured arrays, numpy asks Python which type is common to them, and hides what that raises."""
    rung: list[str] = []

    def ring(frame: FrameType, event: str, arg: object) -> None:
        if event == "call" and frame.f_code.co_name == "_promote_fields":
            rung.append(event)
            BELL.ring(signal.SIGALRM, frame)

    clock, pairs = Clock(LONG_S), np.zeros(2, dtype=[("rack", "i4"), ("unit", "i8")])
    with clock.bounded(), clock.shortened(0.0):
        sys.setprofile(ring)
        try:
            assert (pairs == pairs.astype([("rack", "i8"), ("unit", "i4")])).all()
        finally:
            sys.setprofile(None)
    assert rung


def test_time_is_kept_for_what_comes_after_but_never_most_of_it() -> None:
    clock = Clock(100.0, started=0.0)
    clock.reserve(10.0)
    assert clock.over_at() == 90.0
    clock.reserve(1000.0)
    assert clock.over_at() == 100.0 * (1 - MOST_RESERVED)


# -- engines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gone_by_s", "worked_s", "kept_s"),
    [
        (1.0, 1.0, 2.0),
        (1.0, 3.0, 2.0),  # threads of an engine
        (3.0, 1.0, 6.0),  # others have two thirds of the processor
        (4.0, 0.5, 16.0),
        (90.0, 1.0, 35.0),  # no more than so much of the limit
        (1.0, 0.01, 2.0),  # too little to tell
    ],
)
def test_more_time_is_kept_where_others_use_the_processor(
    monkeypatch: pytest.MonkeyPatch, gone_by_s: float, worked_s: float, kept_s: float
) -> None:
    now = {"monotonic": 100.0, "process_time": 5.0}
    monkeypatch.setattr(settings.time, "monotonic", lambda: now["monotonic"])
    monkeypatch.setattr(settings.time, "process_time", lambda: now["process_time"])
    clock = Clock(100.0, 99.0)
    now["monotonic"] += gone_by_s
    now["process_time"] += worked_s
    clock.reserve(2.0)
    assert clock.over_at() == pytest.approx(199.0 - kept_s)


def stopped_soon() -> Iterator[Clock]:
    """A clock that is over soon, and one that another thread stops."""
    yield Clock(SHORT_S)
    clock = Clock(None)
    threading.Timer(SHORT_S, clock.stop).start()
    yield clock


def listening() -> tuple[Callable[[], str], Callable[[], None]]:
    """An engine that ends when it is told to, and what tells it."""
    told = threading.Event()
    return lambda: "the best so far" if told.wait(LONG_S) else "all", told.set


def test_an_engine_is_told_to_end_and_what_it_has_is_taken() -> None:
    for clock in stopped_soon():
        run, stop = listening()
        assert in_thread(run, stop, clock) == "the best so far"


def test_an_engine_that_does_not_listen_is_left_behind() -> None:
    told = threading.Event()
    try:
        assert in_thread(lambda: told.wait(LONG_S), lambda: None, Clock(SHORT_S)) is None
    finally:
        told.set()


def test_an_engine_leaves_signals_to_the_main_thread() -> None:
    blocked = in_thread(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, ()), lambda: None, None)
    assert blocked is not None and blocked >= {signal.SIGINT, signal.SIGTERM, TOLD_BY, signal.SIGALRM}


def test_what_an_engine_raises_is_raised() -> None:
    def run() -> str:
        raise ValueError("of the engine")

    with pytest.raises(ValueError, match="of the engine"):
        in_thread(run, lambda: None, None)


def test_an_engine_that_is_a_program_does_not_outlive_its_time(heard: None) -> None:
    started = time.monotonic()
    with open(os.devnull, "wb") as log:
        code = in_process(["sleep", str(LONG_S)], log.fileno(), Clock(SHORT_S))
    assert code == -signal.SIGINT and time.monotonic() - started < LONG_S / 2


def in_a_worker() -> None:
    """Leave with 0 if an engine that a process of a sweep started heard that it should end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_interrupts()
    with open(os.devnull, "wb") as log:
        os._exit(in_process(["sleep", str(LONG_S)], log.fileno(), Clock(SHORT_S)) != -signal.SIGINT)


@pytest.mark.long
def test_engines_of_a_process_that_leaves_interrupts_hear_them() -> None:
    process = multiprocessing.get_context("spawn").Process(target=in_a_worker)
    process.start()
    process.join(LONG_S / 2)
    assert process.exitcode == 0


def test_no_engine_is_left_while_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that rings meanwhile would raise within ``threading``, which then loses the thread with a KeyError."""
    rings: list[bool] = []
    start = EngineThread.start

    def started(thread: EngineThread[int]) -> None:
        time.sleep(2 * SHORT_S)
        signal.raise_signal(signal.SIGALRM)
        rings.append(True)
        start(thread)

    monkeypatch.setattr(EngineThread, "start", started)
    with contextlib.suppress(StoppedError), Clock(SHORT_S).bounded():
        in_thread(lambda: 1, lambda: None, None)
    assert rings == [True]
