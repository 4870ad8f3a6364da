"""Forked copies of this process that work in parallel: files read and results worked out before are in all of them.

They leave Ctrl-C to the process that they are copies of, which ends them, and end with it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait as wait_for
from multiprocessing.process import BaseProcess
from typing import TypeVar

from fabopt.errors import NoAnswerError
from fabopt.program.engine_run import kill_programs
from fabopt.program.settings import Clock, StoppedError

# How often somebody's wish to stop is looked at while copies work, and how long they have to end by themselves.
POLL_S = 0.2
LEAVE_S = 2.0
_STDOUT = 1
# Jobs beside an answer with less work, in units of ``program.settings.Work``, are faster than forking the process.
LEAST_WORK_TO_FORK = 100

Told = TypeVar("Told")
Task = TypeVar("Task")
Result = TypeVar("Result")
Given = TypeVar("Given")
# Takes a job's messages as they come; those of a copy have to be objects that can be sent.
Tell = Callable[[Told], None]
Job = Callable[[Tell[Told]], None]


@dataclass(frozen=True)
class _Ended:
    """The end of a job in a copy; ``error``: the error that it raised."""

    error: BaseException | None = None


def can_fork() -> bool:
    """Whether processes can start as copies of this one: all is imported and read, and no thread holds a lock."""
    return sys.platform == "linux" and threading.active_count() == 1


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def copies_beside(work: int) -> int:
    """Jobs to do at once beside an answer with so much work."""
    return processors() if work > LEAST_WORK_TO_FORK and can_fork() else 1


def start_as_copy() -> None:
    """Prepare a copied process: it leaves Ctrl-C to its parent, ends with it, and leaves standard output."""
    leave_interrupts()
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)


def leave_interrupts() -> None:
    """Hear Ctrl-C and do nothing: engines that this process starts would inherit that it is ignored, and never end."""
    signal.signal(signal.SIGINT, lambda number, frame: None)


def _leave(number: int, frame: object) -> None:
    """End this process at once, and its engines."""
    kill_programs()
    os._exit(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        kill_programs()
        os._exit(1)


def end(copies: Collection[BaseProcess]) -> None:
    """End processes, and their engines with them."""
    for copy in copies:
        copy.terminate()
    last = time.monotonic() + LEAVE_S
    for copy in copies:
        copy.join(max(0.0, last - time.monotonic()))
        copy.kill()


def beside_each_other(jobs: Sequence[Job[Told]], clock: Clock, take: Tell[Told], at_once: int) -> None:
    """Do jobs, ``at_once`` in parallel, and hand on their messages; each begins with the state of this process.

    One at a time they are done in this process, else in copies, for which it has to be one that can be copied
    (``can_fork``). Raises ``StoppedError`` once the clock is over, and if a copy was lost; and any error of a job.
    """
    if at_once < 2:
        for job in jobs:
            job(take)
        return
    waiting, is_whole = list(reversed(jobs)), True
    working: dict[Connection, BaseProcess] = {}
    try:
        while waiting or working:
            while waiting and len(working) < at_once:
                pipe, copy = _started(waiting.pop(), clock)
                working[pipe] = copy
            ready = wait_for(list(working), POLL_S)
            for pipe in [pipe for pipe in working if pipe in ready]:
                try:
                    told = pipe.recv()
                except EOFError:
                    # it was ended from outside, as where memory is short
                    told = _Ended(StoppedError())
                if not isinstance(told, _Ended):
                    take(told)
                    continue
                working.pop(pipe).join()
                pipe.close()
                if told.error is not None and not isinstance(told.error, StoppedError):
                    raise told.error
                is_whole &= told.error is None
            clock.look()
    finally:
        end(working.values())
    if not is_whole:
        raise StoppedError


def _started(job: Job[Told], clock: Clock) -> tuple[Connection, BaseProcess]:
    """A copy at work, and the pipe of its messages."""
    here, there = multiprocessing.Pipe(duplex=False)
    copy = multiprocessing.get_context("fork").Process(target=_work, args=(job, clock, there), daemon=True)
    copy.start()
    there.close()
    return here, copy


def _work(job: Job[Told], clock: Clock, pipe: Connection) -> None:
    """Do a job in a copy."""
    start_as_copy()
    try:
        with clock.bounded():
            job(pipe.send)
    except StoppedError as error:
        pipe.send(_Ended(error))
    except Exception as error:
        error.add_note(traceback.format_exc())
        pipe.send(_Ended(error))
    else:
        pipe.send(_Ended())


def in_processes(
    processes: int,
    start: Callable[[Given], None],
    given: Given,
    work: Callable[[Task], Result],
    more: Callable[[int], Sequence[Task] | None],
    take: Callable[[Task, Result], None],
    clock: Clock,
) -> bool:
    """Work on tasks in processes of a pool; False if the clock stopped it. What is under way then is given up.

    ``start``: makes a process ready with what is ``given``; ``more``: as many tasks as there is room for, or fewer, of
    which some wait in front of the processes; None once no further result is wanted. ``take`` gets each result.
    """
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("fork" if can_fork() else "spawn")
    pending: dict[Future[Result], Task] = {}
    with ProcessPoolExecutor(processes, context, start, (given,)) as pool:
        try:
            while (tasks := more(len(pending))) is not None:
                pending |= {pool.submit(work, task): task for task in tasks}
                if not pending:
                    return True
                for future in wait(pending, POLL_S, FIRST_COMPLETED).done:
                    take(pending.pop(future), future.result())
                if pending and clock.is_over():
                    return False
        except BrokenProcessPool:
            # a signal may be meant for all processes, and reach this one last
            time.sleep(POLL_S)
            if clock.is_over():
                return False
            raise NoAnswerError("a process that solved points ended unexpectedly; was memory short?") from None
        finally:
            if pending:
                pool.shutdown(wait=False, cancel_futures=True)
                end(set(multiprocessing.active_children()) - before)
    return True
