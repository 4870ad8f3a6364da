"""Cells solved here, in processes of this machine, or on a Dask cluster: the same points in the same order.

Points are handed on as they come; the collector puts them in order. Cells are independent of each other.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from fabopt.errors import FaboptError, NoAnswerError, refusal
from fabopt.program.copies import POLL_S, can_fork, in_processes, start_as_copy
from fabopt.program.settings import Clock, Settings, StoppedError, unbroken
from fabopt.schema.design import FrontPoint
from fabopt.study.sweep.cells import CellSolver, GridCell, SweepInputs

Take = Callable[[GridCell, Sequence[FrontPoint]], None]
CONNECT_S = 5
# How often a point that failed on a cluster is tried again; points of lost workers are given to others anyway.
RETRIES = 3


def solve_here(shared: SweepInputs, cells: Sequence[GridCell], settings: Settings, clock: Clock, take: Take) -> bool:
    """Solve cells in this process; False if the clock stopped it. Points before that are handed on."""
    solver = CellSolver(shared, settings, clock)
    try:
        with clock.bounded():
            for cell in cells:
                for point in solver.points(cell):
                    with unbroken():
                        take(cell, [point])
    except StoppedError:
        return False
    return True


# -- processes ---------------------------------------------------------------------------------------------------

_own: list[CellSolver] = []


def _start(shared: SweepInputs | CellSolver) -> None:
    """Make a process ready to solve cells."""
    start_as_copy()
    _own.append(shared if isinstance(shared, CellSolver) else _cells(shared))


def _cells(shared: SweepInputs) -> CellSolver:
    return CellSolver(shared, Settings(shared.engine), Clock(None))


def _solve(steps: Sequence[GridCell]) -> tuple[FrontPoint, ...]:
    return tuple(_own[0].points(steps[0]))


def solve_in_processes(shared: SweepInputs, cells: Sequence[GridCell], jobs: int, clock: Clock, take: Take) -> bool:
    """Solve cells in ``jobs`` processes; False if the clock stopped it.

    Where processes can be forked, common work is done here once; elsewhere in each of them.
    """
    given: SweepInputs | CellSolver = shared
    if can_fork():
        given = _cells(shared)
        given.prepare()
    processes = min(jobs, len(cells))
    # budgets of a cell follow one another; where there are none the next cells wait in front of the processes
    at_once = processes if shared.has_budgets else 2 * processes
    waiting = deque(cell.steps() for cell in cells)

    def more(there: int) -> list[list[GridCell]]:
        return [waiting.popleft() for _ in range(min(at_once - there, len(waiting)))]

    def follow(steps: list[GridCell], points: tuple[FrontPoint, ...]) -> None:
        cell, *left = steps
        if left:
            waiting.appendleft([left[0].after(points), *left[1:]])
        take(cell, points)

    return in_processes(processes, _start, given, _solve, more, follow, clock)


# -- a cluster ---------------------------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()


@lru_cache(maxsize=2)
def _cells_of(payload: bytes) -> CellSolver:
    return _cells(pickle.loads(payload))


def _solve_there(payload: bytes, cell: GridCell, before: Sequence[FrontPoint] | None) -> tuple[FrontPoint, ...]:
    """The task of a worker of a cluster; its threads take turns, as they share computed results.

    ``before``: the point of the next lower budget, solved now.
    """
    with _one_at_a_time:
        return tuple(_cells_of(payload).points(cell if before is None else cell.after(before)))


def _kept(payload: bytes) -> bytes:
    """The inputs of all cells, as a task: a cluster that loses it runs it again."""
    return payload


def solve_on_dask(shared: SweepInputs, cells: Sequence[GridCell], address: str, clock: Clock, take: Take) -> bool:
    """Solve cells on a Dask cluster; False if the clock stopped it.

    Raises ``InputError`` if it cannot be reached, ``NoAnswerError`` if it is lost.
    """
    client = _client(address)
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    try:
        pending = _submitted(client, pickle.dumps(shared), cells, done)
        while pending:
            with contextlib.suppress(queue.Empty):
                future = done.get(timeout=POLL_S)
                take(pending.pop(future.key), _result(future))
                future.release()
            if pending and clock.is_over():
                return False
            if pending and done.empty() and client.status == "closed":
                raise NoAnswerError(f"the Dask scheduler at {address} is gone")
    except _LostError as error:
        raise NoAnswerError(f"the Dask scheduler at {address} is gone ({error})") from None
    finally:
        client.close()
    return True


class _LostError(Exception):
    """A cluster that no longer answers."""


def _submitted(
    client: Any, payload: bytes, cells: Sequence[GridCell], done: queue.SimpleQueue[Any]
) -> dict[Any, GridCell]:
    """Submit all cells to a cluster; returns cells by the key of their future, which goes to ``done``."""
    pending: dict[Any, GridCell] = {}
    try:
        shared = client.submit(_kept, payload, pure=False)
        for cell in cells:
            before = None
            for step in cell.steps():
                # a worker likes to go on with what it has
                before = client.submit(_solve_there, shared, step, before, pure=False, retries=RETRIES)
                pending[before.key] = step
                before.add_done_callback(done.put)
    except Exception as error:
        raise _LostError(_said(error)) from None
    return pending


def _client(address: str) -> Any:
    try:
        # an optional extra, which says nothing of its types
        from distributed import Client
    except ImportError:
        raise refusal(
            "--dask", "", "Dask is not installed", address, hint="install it: pip install 'fabopt[dask]'"
        ) from None
    for name in ("distributed", "distributed.client"):
        # what is wrong is said here, in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    connect: Any = Client
    try:
        return connect(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError, TimeoutError):
        raise refusal(
            "--dask",
            "",
            f"no Dask scheduler answered within {CONNECT_S} seconds",
            address,
            allowed="the address of a running scheduler, such as tcp://host:8786",
        ) from None


def _result(future: Any) -> Sequence[FrontPoint]:
    try:
        points: Sequence[FrontPoint] = future.result()
    except FaboptError:
        raise
    except Exception as error:
        if future.status != "error":
            raise _LostError(_said(error)) from None
        raise NoAnswerError(f"the Dask cluster gave a point up: {_said(error)}") from None
    return points


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
