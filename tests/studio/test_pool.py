"""Whichever way a worker ends, its process is gone and nothing of it stays open; jobs that wait are answered."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fabopt.studio import pool
from fabopt.studio.pool import ENDED, MOST_BUSY, MOST_WORKERS, READER, TOO_MANY, Workers

# Speaks as a worker does; `dies` ends its process, `sleeps` hears no signal, `floods` has more to say than is read.
PROGRAM = """
import json, os, signal, sys, time
signal.signal(signal.SIGUSR1, lambda number, frame: None)
def say(message):
    print(json.dumps(message), flush=True)
say({"event": "ready"})
for line in sys.stdin:
    job = json.loads(line)["job"]
    if job == "dies":
        os._exit(1)
    if job == "floods":
        os.write(1, b"x" * 200_000)
    while job == "sleeps":
        time.sleep(1)
    say({"result": {"pid": os.getpid()}})
"""
Way = Callable[[Workers], Awaitable[Any]]


async def begun(workers: Workers, purpose: str, job: str) -> asyncio.Task[dict[str, Any]]:
    task = asyncio.create_task(workers.of(purpose).run(job, {}))
    await asyncio.sleep(0)
    return task


async def crash_at_rest(workers: Workers) -> None:
    said = await workers.of("a").run("echo", {})
    os.kill(said["result"]["pid"], signal.SIGKILL)
    await asyncio.sleep(0.2)
    assert (await workers.of("a").run("echo", {}))["result"]["pid"] != said["result"]["pid"]


async def crash_at_work(workers: Workers) -> None:
    assert (await workers.of("a").run("dies", {}))["words"] == ENDED
    assert "result" in await workers.of("a").run("echo", {})


async def say_too_much(workers: Workers) -> None:
    assert (await workers.of("a").run("floods", {}))["words"] == ENDED
    assert "result" in await workers.of("a").run("echo", {})


async def stop_what_does_not_hear(workers: Workers) -> None:
    job = asyncio.create_task(workers.of("a").run("sleeps", {}))
    await asyncio.sleep(0.1)
    await workers.of("a").stop()
    assert (await job)["words"] == ENDED


async def give_up_a_job(workers: Workers) -> None:
    job = asyncio.create_task(workers.of("a").run("sleeps", {}))
    await asyncio.sleep(0.1)
    job.cancel()
    with suppress(asyncio.CancelledError):
        await job
    assert "result" in await workers.of("a").run("echo", {})


async def take_the_place_of_one_at_rest(workers: Workers) -> None:
    for number in range(MOST_WORKERS + 2):
        assert "result" in await workers.of(f"a{number}").run("echo", {})


async def take_the_place_of_one_at_work(workers: Workers) -> None:
    jobs = [await begun(workers, f"a{number}", "sleeps") for number in range(MOST_BUSY)]
    waiting = await begun(workers, "a0", "echo")
    assert "result" in await workers.of("b").run("echo", {})
    assert (await jobs[1])["words"] == TOO_MANY
    assert not waiting.done()


async def end_with_jobs_that_wait(workers: Workers) -> None:
    jobs = [asyncio.create_task(workers.of(READER).run("sleeps", {})) for _ in range(3)]
    await asyncio.sleep(0.1)
    await workers.end()
    assert [said["words"] for said in await asyncio.gather(*jobs)] == [ENDED] * 3


async def end_at_once(workers: Workers) -> None:
    job = asyncio.create_task(workers.of("a").run("echo", {}))
    await asyncio.sleep(0)
    await workers.end()
    assert (await job)["words"] == ENDED


WAYS: list[Way] = [
    crash_at_rest, crash_at_work, say_too_much, stop_what_does_not_hear, give_up_a_job, take_the_place_of_one_at_rest,
    take_the_place_of_one_at_work, end_with_jobs_that_wait, end_at_once,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_nothing_of_a_worker_stays(way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    start = asyncio.create_subprocess_exec

    async def watched(*command: Any, **options: Any) -> Any:
        process: Any = await start(*command, **options)
        started.append((process, process._transport))
        return process

    async def run() -> None:
        workers = Workers(tmp_path, tmp_path)
        await workers.begin()
        await way(workers)
        await workers.end()
        for process, transport in started:
            assert process.returncode is not None
            assert transport.is_closing()
            assert all(transport.get_pipe_transport(number).is_closing() for number in (0, 1))

    monkeypatch.setattr(pool, "PROGRAM", ("-S", "-c", PROGRAM))
    monkeypatch.setattr(pool, "LONGEST_LINE", 50_000)
    monkeypatch.setattr(pool, "PATIENCE_S", 0.3)
    monkeypatch.setattr(asyncio, "create_subprocess_exec", watched)
    # in a thread of its own: the browser of other tests has a loop in this one
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, run()).result()
    assert started
