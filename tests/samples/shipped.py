"""Cases that tests of many rooms ask about, each solved once in a run, whichever of its processes asks first."""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.paths import ROOT, SHARED

T = TypeVar("T")
SOLVE = optimize.solve
# By which name it tells what it found.
TOLD = ("told", "reached", "compared")


@cache
def shipped(name: str) -> Design:
    """The design of a shipped case, without a look at alternatives."""
    return shared(ROOT / "cases" / f"{name}.yaml")


def shared(path: Path) -> Design:
    """The design of a case file of the repository."""
    return in_run(lambda: solved(path), path.relative_to(ROOT).as_posix())


def in_run(work: Callable[[], T], name: str) -> T:
    """What ``work`` gave the first process of this run that asked for it by this name."""
    if SHARED not in os.environ:  # no test asks
        return work()
    kept = Path(os.environ[SHARED]) / f"{hashlib.sha256(name.encode()).hexdigest()}.pickle"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(work()))
    found: T = pickle.loads(kept.read_bytes())
    return found


def solved_in_run(inputs: Inputs, **options: Any) -> Design:
    """What ``optimize.solve`` gives of a case, catalog and engine, once in a run; what it tells is told each time."""
    takers = {name: options.pop(name, None) for name in TOLD}

    def work() -> tuple[Design, list[tuple[str, object]]]:
        told: list[tuple[str, object]] = []

        def taker(name: str) -> Callable[[object], None]:
            return lambda news: told.append((name, news))

        return SOLVE(inputs, **options, **{name: taker(name) for name in TOLD}), told

    content = inputs.case.model_dump_json(), inputs.catalog.model_dump_json(), inputs.notes
    design, told = in_run(work, f"{content} {options.get('engine')} {options.get('alternatives_s')}")
    for name, news in told:
        if takers[name] is not None:
            takers[name](news)
    return design


def solved(path: Path) -> Design:
    return optimize.solve(inputs_from_objects(path), alternatives_s=0)
