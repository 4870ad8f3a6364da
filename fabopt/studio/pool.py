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
from fabopt.studio.worker import LONGEST_LINE, STOP, Message, line_of

# Seconds that a stopped job has to end by itself before its process is ended.
PATIENCE_S = 2.0
# Seconds after which it is told again: it may not have begun.
AGAIN_S = 0.2
# Workers that stay warm, and those that there are at most: at one more the one that began longest ago ends.
MOST_WORKERS, MOST_BUSY = 3, 8
# Bytes that are read at once of what an ended process has left.
MOST_READ = 1_000_000
ENDED = "the process that worked on it has ended; was memory short?"
TOO_MANY = "too much is asked at a time, and this was begun first; ask again"
PROGRAM = ("-m", "fabopt.studio.worker")
# The worker that reads and shows, and the one that writes files, which takes seconds.
READER, WRITER = "reader", ".writer"
Take = Callable[[Message], None]


class Worker:
    """A process that does one job at a time; one that was ended is replaced at the next job, until the worker leaves.

    ``used``: when it was last given a job; ``asked``: jobs that it has and that wait for it.
    """

    def __init__(self, folder: Path, answers: Path) -> None:
        self.folder, self.answers = folder, answers
        self.used, self.asked = 0.0, 0
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        # jobs begun, whether the process hears signals, whether it was told to end, and why it is not started again
        self._jobs = 0
        self._is_ready = self._is_ending = False
        self._left = ""

    async def start(self) -> asyncio.subprocess.Process:
        """Start the process where there is none, in a session of its own: Ctrl-C in a terminal is not for it."""
        if self._process is not None and (self._is_ending or self._process.returncode is not None):
            await self._closed()
        if self._process is None:
            command = (sys.executable, *PROGRAM, str(self.folder), str(self.answers))
            self._is_ready = False
            pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
            self._process = await asyncio.create_subprocess_exec(
                *command, str(os.getpid()), stdin=pipe, stdout=pipe, stderr=nothing, start_new_session=True,
                limit=LONGEST_LINE,
            )  # fmt: skip
        return self._process

    async def run(self, job: str, content: Message, take: Take | None = None) -> Message:
        """Do a job: its result or faults; ``take`` gets its events as they come. Jobs wait for each other."""
        self.used = time.monotonic()
        self.asked += 1
        try:
            async with self._turn:
                return await self._done(job, content, take) or {"code": EXIT_NO_ANSWER, "words": self._left or ENDED}
        finally:
            self.asked -= 1

    async def _done(self, job: str, content: Message, take: Take | None) -> Message | None:
        """Return what came of a job; None if the process has ended."""
        if self._left:
            return None
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
        await self._closed()
        return None

    async def stop(self) -> None:
        """Stop the job at hand: by its clock, and ``PATIENCE_S`` after it was first told so with its process."""
        end, job = inf, self._jobs
        while self._turn.locked() and self._jobs == job:
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
        async with self._turn:
            pass

    def end(self) -> None:
        """End the process at once, with all that it has started."""
        self._is_ending = True
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if sys.platform == "win32":
                    self._process.kill()
                else:
                    os.killpg(self._process.pid, signal.SIGKILL)

    async def leave(self, words: str) -> None:
        """End for good: jobs that wait are answered with some words. Nothing of the process is open then."""
        self._left = self._left or words
        self.end()
        async with self._turn:
            await self._closed()

    async def _closed(self) -> None:
        """Wait until a process that ends has ended and all its pipes are closed."""
        process = self._process
        if process is not None:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()
            while await process.stdout.read(MOST_READ):
                pass
            await process.wait()
            with contextlib.suppress(OSError):
                await process.stdin.wait_closed()
        self._process, self._is_ending, self._is_ready = None, False, False


class Workers:
    """Workers by what they are for; of more than ``MOST_WORKERS`` the one that has been idle for longest ends."""

    def __init__(self, folder: Path, answers: Path) -> None:
        self._folder, self._answers = folder, answers
        self._workers: dict[str, Worker] = {}
        self._spare: Worker | None = None
        self._leaving: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """Have a worker ready for the first desk, and one to read and show with."""
        await self.of(READER).start()
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
        others = {name: worker.used for name, worker in self._workers.items() if name != READER}
        idle = [name for name in others if not self._workers[name].asked]
        if len(others) >= MOST_WORKERS and (idle or len(others) >= MOST_BUSY):
            self._leave(min(idle or others, key=others.__getitem__), TOO_MANY)

    def _leave(self, purpose: str, words: str) -> None:
        task = asyncio.create_task(self._workers.pop(purpose).leave(words))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def end(self) -> None:
        """End all workers, and wait until they have."""
        if self._spare is not None:
            self._workers[".spare"] = self._spare
        for purpose in list(self._workers):
            self._leave(purpose, ENDED)
        await asyncio.gather(*self._leaving)
