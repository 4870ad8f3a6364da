"""``make trust``: what the promises of docs/trust.md came to, counted by one run, and written there.

python -m tests.trust [--items N] [--changes N] [--kills N]
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from fabopt import __version__
from tests.fuzz.__main__ import prepare, run
from tests.mutations import changes, document_of, outcome
from tests.paths import ROOT
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.kills import cluster, kill_until_done, unbroken

PAGE = ROOT / "docs" / "trust.md"
FIGURES = re.compile(r"(<!-- figures -->\n).*?(<!-- end of figures -->)", re.DOTALL)
# A sweep of 64 points of a small case.
SWEEP = ["sweep", "cases/finetuning-1024-gpus.yaml", "--over", "limits.budget_usd=2000000:8000000:64"]


def fuzzed(items: int) -> str:
    """Whole commands on wrong inputs."""
    prepare()
    codes, broken = run(range(items), float("inf"), os.cpu_count() or 1)
    exits = ", ".join(f"{name} {number:,}" for name, number in sorted(codes.items()))
    return f"{items:,} wrong inputs, {codes.total():,} commands ({exits}) | {broken} broken promises"


def changed(number: int) -> str:
    """Single changes of designs of every family."""
    dice, came, each = random.Random(0), Counter[str](), number // len(MAKERS)
    for kind in MAKERS:
        document = document_of(designed(kind))
        every = list(changes(document))
        for change in dice.sample(every, min(len(every), each)):
            came[outcome(change.applied(document), designed(kind))] += 1
    words = ", ".join(f"{number:,} {how}" for how, number in sorted(came.items()))
    return f"{came.total():,} single changes of designs of {len(MAKERS)} kinds, hashes worked out again | {words}"


def killed(kills: int, with_cluster: bool) -> str:
    """A sweep that is killed at random moments and taken up."""
    with TemporaryDirectory() as folder:
        words = [SWEEP[0], str(ROOT / SWEEP[1]), *SWEEP[2:]]
        whole, alone_s = unbroken(words, Path(folder))
        if with_cluster:
            with cluster() as address:
                tally = kill_until_done([*words, "--dask", address], Path(folder), kills, whole, alone_s / 2)
        else:
            tally = kill_until_done(words, Path(folder), kills, whole, alone_s / 2)
    where = "on a Dask cluster" if with_cluster else "alone"
    came = f"{tally.rounds} whole runs, all bytes equal; {tally.lost} points lost"
    return f"{tally.kills} kills of a sweep of 64 points {where} | {came}"


def lines(items: int, number: int, kills: int) -> Iterator[str]:
    """The table."""
    yield f"fabopt {__version__}, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}:"
    yield ""
    yield "| what was done | what came of it |"
    yield "| --- | --- |"
    for line in (fuzzed(items), changed(number), killed(kills, False), killed(kills, True)):
        print(line, flush=True)
        yield f"| {line} |"


def main() -> None:
    """Write the figures into the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=60)
    given = parser.parse_args()
    table = "\n".join(lines(given.items, given.changes, given.kills))
    PAGE.write_text(FIGURES.sub(lambda match: f"{match[1]}{table}\n{match[2]}", PAGE.read_text()))


if __name__ == "__main__":
    sys.exit(main())
