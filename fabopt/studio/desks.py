"""Desks: what each tab of the page has asked for, what is known of it, and those who listen."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from fabopt.errors import EXIT_NO_ANSWER
from fabopt.studio.pool import Workers
from fabopt.studio.worker import Message

# Events of which each counts; of others the newest replaces the one before.
COUNTED = ("compared", "point")
# Work that goes on beside that of a desk, by the end of its worker's name; its last event has a name of its own.
SOLVES, TRADES = "", ".front"
ENDS = {SOLVES: "ended", TRADES: "front-ended"}
# Seconds after which a listener hears that the server is there.
BEAT_S = 15.0
MOST_DESKS = 64


@dataclass(eq=False)
class Desk:
    """A tab: its runs, one at a time, and the newest state of the last one."""

    name: str
    run: dict[str, int] = field(default_factory=dict)
    stopped: dict[str, int] = field(default_factory=dict)
    used: float = field(default_factory=time.monotonic)
    _serial: int = 0
    _state: dict[str, tuple[int, Message]] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    turns: dict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    is_closed: bool = False

    def begin(self, lane: str) -> int:
        """Begin a run of a lane: its number. What was known of the last one is forgotten."""
        self.run[lane] = self.run.get(lane, 0) + 1
        self.used = time.monotonic()
        self._state = {key: told for key, told in self._state.items() if not key.startswith(f"{lane} ")}
        return self.run[lane]

    def take(self, lane: str, run: int, message: Message) -> None:
        """Take an event of a run; one of an earlier run is dropped."""
        if run != self.run[lane] or message["event"] == "ready":
            return
        self._serial += 1
        kind = str(message["event"])
        key = f"{lane} {kind} {self._serial if kind in COUNTED else ''}"
        self._state[key] = self._serial, {**message, "run": run}
        self.wake()

    def wake(self) -> None:
        """Tell all who listen that there is news."""
        self._news.set()
        self._news = asyncio.Event()

    def close(self) -> None:
        """Let all who listen go."""
        self.is_closed = True
        self.wake()

    async def events(self) -> AsyncIterator[bytes]:
        """Server-Sent Events from the newest state on; who reads slowly gets the newest of each kind."""
        seen = 0
        yield b"retry: 1000\n\n"
        while not self.is_closed:
            news = self._news
            untold = sorted((pair for pair in self._state.values() if pair[0] > seen), key=lambda pair: pair[0])
            for serial, message in untold:
                seen = max(seen, serial)
                content = {key: value for key, value in message.items() if key != "event"}
                yield f"event: {message['event']}\ndata: {json.dumps(content)}\n\n".encode()
            if untold:
                continue
            try:
                await asyncio.wait_for(news.wait(), BEAT_S)
            except TimeoutError:
                yield b": still here\n\n"


class Desks:
    """All desks, by the random name that a tab gives itself."""

    def __init__(self, pool: Workers) -> None:
        self._pool = pool
        self._desks: dict[str, Desk] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def of(self, name: str) -> Desk:
        """Return a desk, which is made if need be; of too many the one that was used longest ago goes."""
        if name not in self._desks:
            if len(self._desks) >= MOST_DESKS:
                eldest = min(self._desks.values(), key=lambda desk: desk.used)
                eldest.close()
                del self._desks[eldest.name]
            self._desks[name] = Desk(name)
        return self._desks[name]

    def all(self) -> list[Desk]:
        """Return all desks."""
        return list(self._desks.values())

    def begin(self, name: str, job: str, content: Message, lane: str = SOLVES) -> int:
        """Begin a run of a desk in place of the one of its lane that is under way: its number, at once."""
        desk = self.of(name)
        run = desk.begin(lane)
        task = asyncio.create_task(self._run(desk, lane, run, job, content))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return run

    async def _run(self, desk: Desk, lane: str, run: int, job: str, content: Message) -> None:
        await self._pool.of(desk.name + lane).stop()
        async with desk.turns[lane]:
            if run != desk.run[lane]:
                return
            outcome: Message = {"code": EXIT_NO_ANSWER, "words": "stopped"}
            if desk.stopped.get(lane) != run:
                # another worker where the first one left
                worker = self._pool.of(desk.name + lane)
                outcome = await worker.run(job, content, lambda message: desk.take(lane, run, message))
        code = outcome.get("code", (outcome.get("result") or {}).get("code", 0))
        desk.take(lane, run, {"event": ENDS[lane], **outcome, "code": code})

    async def cancel(self, name: str, lane: str = SOLVES) -> None:
        """Stop the run of a desk; it ends with the best so far, or does not begin where the one before still ends."""
        desk = self.of(name)
        desk.stopped[lane] = desk.run.get(lane, 0)
        await self._pool.of(name + lane).stop()

    async def close(self) -> None:
        """End all runs, and let all listeners go."""
        for desk in self.all():
            desk.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._pool.end()
