"""What a desk is asked again, and asked to stop: without a solver."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fabopt.design.points import _with_demand
from fabopt.schema.design import Design
from fabopt.studio import trading
from fabopt.studio.desks import Desks
from fabopt.studio.worker import Bench, Message
from tests.samples import small

TEXT = "name: small\nserver: nvidia-dgx-h100\nservers: {}\n"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Cases that are looked at anew: their answers are proven, and then compared with nothing."""
    names, design = list[str](), small.solved(small.case(servers=2))

    def solve(inputs: Any, reached: Any, **more: Any) -> Design:
        names.append(f"{inputs.case.servers} servers")
        reached(design)
        return design.model_copy(update={"alternatives_complete": inputs.case.servers != 7})

    monkeypatch.setattr("fabopt.studio.trading.optimize.solve", solve)
    return names


def test_what_was_proven_is_not_looked_for_again(asked: list[str], tmp_path: Path) -> None:
    """Until others took its place; not with other prices, nor where its comparisons were cut short."""
    told: list[Message] = []
    bench = Bench(tmp_path, tmp_path, told.append)
    for servers in (2, 4, 2):
        result = trading.solve(bench, TEXT.format(servers))
    answers = [message["answer"] for message in told if message["event"] == "answer"]
    assert asked == ["2 servers", "4 servers"] and answers == [result["answer"]] * 5
    trading.solve(bench, TEXT.format(2), prices={"switch": 5})
    assert asked[2:] == ["2 servers"]
    for _ in range(2):
        trading.solve(bench, TEXT.format(7))
    assert asked[3:] == ["7 servers"] * 2
    for servers in range(8, 8 + trading.MOST_KNOWN):
        trading.solve(bench, TEXT.format(servers))
    trading.solve(bench, TEXT.format(2))
    assert asked[-1] == "2 servers" and len(bench.known) == trading.MOST_KNOWN


def test_what_was_proven_stays_so_where_its_comparisons_are_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Asked for again, it is searched again for the sake of its comparisons; a stop finds less than was known."""
    design, told = small.solved(small.case(servers=2)), list[Message]()
    changes: list[dict[str, object]] = [{"alternatives_complete": False}, {"status": "feasible"}]
    ends = iter([design.model_copy(update=change) for change in changes])
    monkeypatch.setattr("fabopt.studio.trading.optimize.solve", lambda inputs, **more: next(ends))
    bench = Bench(tmp_path, tmp_path, told.append)
    for _ in changes:
        trading.solve(bench, TEXT.format(2))
    assert {message["status"] for message in told if message["event"] == "answer"} == {"optimal"}


class _Slow:
    """A worker whose job takes a while to stop; all desks have it."""

    def __init__(self) -> None:
        self.jobs: list[str] = []

    def of(self, purpose: str) -> _Slow:
        return self

    async def stop(self) -> None:
        await asyncio.sleep(0.02)

    async def run(self, job: str, content: Message, take: Any) -> Message:
        self.jobs.append(job)
        return {"result": {"code": 0}}


def test_what_is_cancelled_before_it_begins_does_not_begin() -> None:
    """A cancel while the run before still ends is of the run that waits for it; the next one is not cancelled."""

    async def asks(worker: Any) -> list[int]:
        desks = Desks(worker)
        runs = [desks.begin("desk", "first", {})]
        await desks.cancel("desk")
        await asyncio.sleep(0.05)
        runs.append(desks.begin("desk", "second", {}))
        await asyncio.sleep(0.05)
        return runs

    worker = _Slow()
    # in a thread of its own: the browser of other tests has a loop in this one
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, asks(worker)).result() == [1, 2]
    assert worker.jobs == ["second"]


@pytest.mark.parametrize(
    ("workload", "is_asked"),
    [(None, True), ({"profile": "inference"}, True), ({"profile": None, "model": {"name": "one"}}, False)],
)
def test_points_are_asked_for_by_hand_unless_a_model_sets_the_demand(workload: Any, is_asked: bool) -> None:
    content = {"workload": workload, "stages": None, "fabrics": [{"role": "compute"}, {"role": "storage"}]}
    wanted = [{"role": "compute", "min_gbps_per_gpu": 200.0}, {"role": "storage"}]
    asked = _with_demand(content, "min_gbps_per_gpu", 200)
    assert asked == ({**content, "fabrics": wanted} if is_asked else None)
