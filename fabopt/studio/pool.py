"""Workers of the studio as the server sees them: started, given one job at a time, stopped, ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from math import inf
from pathlib import Path

from fabopt.errors import EXIT_NO_ANSWER
from fabopt.studio.wire import LONGEST_LINE, Message, line_of
from fabopt.studio.worker import STOP

# Seconds that a stopped job has to end by itself before its process is ended.
PATIENCE_S = 2.0
# Seconds after which it is told again: it may not have begun.
AGAIN_S = 0.2
MOST_WORKERS = 3
Take = Callable[[Message], None]


class Worker:
    """A process that does one job at a time; one that was ended is replaced at the next job."""

    def __init__(self, folder: Path, answers: Path) -> None:
        self.folder, self.answers = folder, answers
        self.used = 0.0
        self.lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        # jobs begun, and whether the process hears signals
        self._jobs = 0
        self._is_ready = False

    async def start(self) -> asyncio.subprocess.Process:
        """Start the process where there is none, in a session of its own: Ctrl-C in a terminal is not for it."""
        if self._process is None or self._process.returncode is not None:
            command = (sys.executable, "-m", "fabopt.studio.worker", str(self.folder), str(self.answers))
            self._is_ready = False
            pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
            self._process = await asyncio.create_subprocess_exec(
                *command, str(os.getpid()), stdin=pipe, stdout=pipe, stderr=nothing, start_new_session=True,
                limit=LONGEST_LINE,
            )  # fmt: skip
        return self._process

    async def run(self, job: str, content: Message, take: Take | None = None) -> Message:
        """Do a job: its result or faults; ``take`` gets its events as they come. Jobs wait for each other."""
        async with self.lock:
            self.used = time.monotonic()
            self._jobs += 1
            process = await self.start()
            assert process.stdin is not None and process.stdout is not None
            try:
                process.stdin.write(line_of({"job": job, **content}))
                await process.stdin.drain()
                while line := await process.stdout.readline():
                    message: Message = json.loads(line)
                    if "event" not in message:
                        return message
                    self._is_ready = True
                    if take is not None:
                        take(message)
            except (OSError, ValueError):
                pass
            except asyncio.CancelledError:
                # what is left of the job would be taken for the next one's
                self.end()
                raise
            self.end()
            self._process = None
        return {"code": EXIT_NO_ANSWER, "words": "the process that worked on it has ended; was memory short?"}

    async def stop(self) -> None:
        """Stop the job at hand: by its clock, and ``PATIENCE_S`` after it was first told so with its process."""
        end, job = inf, self._jobs
        while self.lock.locked() and self._jobs == job:
            if self._is_ready and self._process is not None:
                end = min(end, time.monotonic() + PATIENCE_S)
                if STOP is None or time.monotonic() >= end:
                    self.end()
                else:
                    with contextlib.suppress(ProcessLookupError):
                        self._process.send_signal(STOP)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._idle(), AGAIN_S)
                return

    async def _idle(self) -> None:
        async with self.lock:
            pass

    def end(self) -> None:
        """End the process at once, with all that it has started."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if sys.platform == "win32":
                    self._process.kill()
                else:
                    os.killpg(self._process.pid, signal.SIGKILL)

    async def ended(self) -> None:
        """Wait until the process has ended."""
        if self._process is not None:
            await self._process.wait()


class Workers:
    """Workers by what they are for; of more than ``MOST_WORKERS`` the one that has been idle for longest ends."""

    def __init__(self, folder: Path, answers: Path) -> None:
        self._folder, self._answers = folder, answers
        self._workers: dict[str, Worker] = {}
        self._spare: Worker | None = None

    async def begin(self) -> None:
        """Have a worker ready for the first desk, and one to read and show with."""
        await self.of("reader").start()
        self._spare = Worker(self._folder, self._answers)
        await self._spare.start()

    def of(self, purpose: str) -> Worker:
        """Return the worker for a purpose."""
        if purpose not in self._workers:
            self._make_room()
            self._workers[purpose] = self._spare or Worker(self._folder, self._answers)
            self._spare = None
        return self._workers[purpose]

    def _make_room(self) -> None:
        idle = [name for name, worker in self._workers.items() if name != "reader" and not worker.lock.locked()]
        if len(self._workers) > MOST_WORKERS and idle:
            self._workers.pop(min(idle, key=lambda name: self._workers[name].used)).end()

    async def end(self) -> None:
        """End all workers, and wait until they have."""
        workers = [*self._workers.values(), *([self._spare] if self._spare else [])]
        for worker in workers:
            worker.end()
        for worker in workers:
            await worker.ended()
