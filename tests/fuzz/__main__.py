"""``python -m tests.fuzz``: run items from a seed on until the time is over, on all cores.

What breaks a promise is printed with its seed, its input is kept in ``fuzz-findings/``, and the exit code is 1. One
item again: ``python -m tests.fuzz --seed SEED --items 1``. After several seeds, so many items are run of each. A run is
done in blocks, each told with the seed at which it goes on.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.commands import outcomes
from tests.fuzz.items import item, swept
from tests.samples.designs_of_families import MAKERS, designed

FINDINGS = Path("fuzz-findings")
# What commands import when they run: processes that are copies of this one have it.
# Items of a block for each core.
BLOCK = 25
IMPORTED = ("app", "export", "fronts", "report", "solving")


def prepare(kinds: Iterable[str] = MAKERS) -> None:
    """Import what commands import, and solve the designs that are changed, once for all items."""
    for name in IMPORTED:
        import_module(f"fabopt.cli.{name}")
    for kind in kinds:
        designed(kind)
    swept()


def findings(seeds: Iterable[int]) -> tuple[Counter[str], int]:
    """Run the items of these seeds; print what does not hold.

    Returns how many commands ended with which exit code, and the number of broken promises.
    """
    codes: Counter[str] = Counter()
    broken = 0
    for seed in seeds:
        with TemporaryDirectory() as folder:
            inside = Path(folder) / "run"
            inside.mkdir()
            for ending, problems in outcomes(seed, inside):
                codes[f"exit {ending.code}"] += 1
                broken += len(problems)
                for problem in problems:
                    told = f"seed {seed}, {item(seed).what}: fabopt {' '.join(ending.words)}: {problem}"
                    print(f"{told}: {ending.err[-300:]}", flush=True)
                if problems:
                    shutil.copytree(inside, FINDINGS / str(seed), dirs_exist_ok=True)
    return codes, broken


def run(seeds: range, cores: int) -> tuple[Counter[str], int]:
    """Run the items of the seeds, each core its share of them; what came of it as for ``findings``."""
    with ProcessPoolExecutor(cores, multiprocessing.get_context("fork")) as pool:
        turns = [pool.submit(findings, seeds[core::cores]) for core in range(cores)]
        ends = [turn.result() for turn in turns]
    return sum((codes for codes, _ in ends), Counter[str]()), sum(broken for _, broken in ends)


def main() -> int:
    """Print what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="stop after the block in which they end")
    parser.add_argument("--commands", type=int, default=sys.maxsize, help="stop after so many")
    parser.add_argument("--items", type=int, default=sys.maxsize // 2, help="stop after so many")
    now = int(time.time()) * 1000
    parser.add_argument("--seed", type=int, nargs="+", default=[now], help="of the first items; else the time")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    prepare()
    faults = 0
    for seed in given.seed:
        until = time.monotonic() + given.seconds
        codes, broken, cores = Counter[str](), 0, min(given.cores, given.items)
        for first in range(seed, seed + given.items, BLOCK * cores):
            block = range(first, min(first + BLOCK * cores, seed + given.items))
            new_codes, new_broken = run(block, cores)
            codes, broken = codes + new_codes, broken + new_broken
            exits = ", ".join(f"{name} {number:,}" for name, number in sorted(codes.items()))
            told = f"from seed {seed}: {codes.total():,} commands ({exits}), {broken} broken promises"
            print(f"{told}; --seed {block.stop} goes on", flush=True)
            if time.monotonic() >= until or codes.total() >= given.commands:
                break
        faults += broken
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
