"""``make trust``: what the promises of docs/trust.md came to, counted by one run, and written there.

python -m tests.trust [--items N] [--changes N] [--kills N]
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from fabopt.schema.version import VERSION
from tests.fuzz.__main__ import prepare, run
from tests.mutations import CLASSES, OTHER, survey
from tests.paths import ROOT
from tests.samples.designs_of_families import MAKERS
from tests.samples.kills import cluster, kill_until_done, unbroken

PAGE = ROOT / "docs" / "trust.md"
FIGURES = re.compile(r"(<!-- figures -->\n).*?(<!-- end of figures -->)", re.DOTALL)
MOST_UNNOTICED = Fraction(1, 100)
# A sweep of 64 points of a small case.
SWEEP = ["sweep", "cases/finetuning-1024-gpus.yaml", "--over", "limits.budget_usd=2000000:8000000:64"]


class Found(NamedTuple):
    """A line of the table, and whether what it counts is as promised."""

    line: str
    holds: bool = True


def fuzzed(items: int) -> Found:
    """Whole commands on wrong inputs."""
    prepare()
    codes, broken = run(range(items), os.cpu_count() or 1)
    exits = ", ".join(f"{name} {number:,}" for name, number in sorted(codes.items()))
    line = f"{items:,} wrong inputs, {codes.total():,} commands ({exits}) | {broken} broken promises"
    return Found(line, not broken)


def changed(number: int) -> Found:
    """Single changes of designs of every family."""
    found = survey(MAKERS, number // len(MAKERS), seed=0, whole=True)
    told = ", ".join(f"{number:,} {how}" for how, number in sorted(found.outcomes.items()))
    passing = ", ".join(f"{found.passing[words]:,} {words}" for words in (*CLASSES, OTHER))
    for unnoticed in found.unnoticed:
        print("passes:", *unnoticed, flush=True)
    what = f"{found.outcomes.total():,} single changes of designs of {len(MAKERS)} kinds, hashes worked out again"
    return Found(f"{what} | {told}; of those that pass: {passing}", found.share <= MOST_UNNOTICED)


def killed(kills: int, with_cluster: bool) -> Found:
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
    return Found(f"{tally.kills} kills of a sweep of 64 points {where} | {came}", not tally.lost)


def everything(items: int, number: int, kills: int) -> Iterator[Found]:
    """What is counted, each told when it is done."""
    for count in (
        lambda: fuzzed(items), lambda: changed(number), lambda: killed(kills, False), lambda: killed(kills, True)
    ):  # fmt: skip
        found = count()
        print(found.line, flush=True)
        yield found


def table(found: Sequence[Found], command: str) -> str:
    """The block of the page: by which command it was made and when, and what was found."""
    made = f"fabopt {VERSION}, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}, `{command}`:"
    rows = [f"| {row.line} |" for row in found]
    return "\n".join([made, "", "| what was done | what came of it |", "| --- | --- |", *rows])


def main() -> int:
    """Write the figures into the page; 1 if a promise was not kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=60)
    given = parser.parse_args()
    found = list(everything(given.items, given.changes, given.kills))
    counts = f"--items {given.items} --changes {given.changes} --kills {given.kills}"
    block = table(found, f"python -m tests.trust {counts}")
    PAGE.write_text(FIGURES.sub(lambda match: f"{match[1]}{block}\n{match[2]}", PAGE.read_text()))
    return not all(row.holds for row in found)


if __name__ == "__main__":
    sys.exit(main())
