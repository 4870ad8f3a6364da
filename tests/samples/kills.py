"""Commands that are killed at random moments, and taken up until they are done.

``python -m tests.samples.kills FOLDER KILLS WORDS...`` does it with a command of fabopt, in a folder, and prints what
came of it; ``--dask-cluster`` among the words is a cluster of two workers that outlives the kills.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.paths import ROOT


@dataclass
class Tally:
    """What has been killed. ``rounds``: how often it was done; ``torn``: how often a line was cut in the middle."""

    kills: int = 0
    rounds: int = 0
    torn: int = 0
    lost: int = 0


def started(words: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    """A command of fabopt in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "fabopt", *words], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def unbroken(words: Sequence[str], folder: Path) -> tuple[bytes, float]:
    """What a command writes when it is left alone, and how long it takes."""
    begun = time.monotonic()
    process = started([*words, "--json", "whole.json"], folder)
    _, err = process.communicate()
    assert process.returncode == 0, err
    return (folder / "whole.json").read_bytes(), time.monotonic() - begun


def journaled_points(folder: Path) -> int:
    """How many points the journal of ``part.json`` has; 0 if it is not there."""
    with suppress(FileNotFoundError):
        return max(0, (folder / "part.json.journal").read_bytes().count(b"\n") - 1)
    return 0


def kill_until_done(words: Sequence[str], folder: Path, kills: int, whole: bytes, patience_s: float) -> Tally:
    """Kill a command so many times, each at a moment up to ``patience_s`` from its start, and take it up every time.

    Whenever it is done nevertheless, its file must be that of the unbroken run, ``whole``, and it starts anew.
    """
    chance, tally = random.Random(kills), Tally()
    part, journal = folder / "part.json", folder / "part.json.journal"
    while tally.kills < kills or not part.exists():
        before = journaled_points(folder)
        process = started([*words, "--json", "part.json", "--resume", "part.json"], folder)
        if tally.kills < kills:
            try:
                process.wait(chance.uniform(0, patience_s))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
        _, err = process.communicate()
        if process.returncode == -signal.SIGKILL and not (part.exists() and not journal.exists()):
            tally.kills += 1
            tally.lost += journaled_points(folder) < before
            tally.torn += journal.exists() and not journal.read_bytes().endswith(b"\n")
            continue
        assert process.returncode in (0, -signal.SIGKILL), err
        assert part.read_bytes() == whole and not journal.exists()
        tally.rounds += 1
        if tally.kills < kills:
            part.unlink()
    return tally


@contextmanager
def cluster() -> Iterator[str]:
    """The address of a Dask cluster of two workers, in processes of their own."""
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as here:
        yield here.scheduler_address


def main(folder: Path, kills: int, words: list[str]) -> None:
    """Do it, and print figures."""
    alone = [word for word in words if word != "--dask-cluster"]
    whole, alone_s = unbroken(alone, folder)
    print(f"unbroken: {alone_s:.1f} s", flush=True)
    with cluster() if alone != words else nullcontext() as address:
        there = [] if address is None else ["--dask", address]
        print(kill_until_done([*alone, *there], folder, kills, whole, alone_s / 2))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
