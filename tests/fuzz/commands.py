"""One item of the fuzzer: files in a folder, the words of a command, and what must hold of how it ends."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.mutants import ODD_VALUES, as_text, mutant, spoilt
from tests.samples.designs_of_families import MAKERS, designed

LIMIT_S = 2.0
# Over the limit: what is promised, and what other processes take of a core that is shared.
LATE_S = 1.0
# Commands without a limit of their own end within this.
PATIENCE_S = 30.0
CASE, CATALOG, DESIGN, FRONT = "case.yaml", "catalog.yaml", "design.json", "front.json"
EXPORTS = ("cables", "links", "netbox", "topology", "racks", "dot", "graphml", "rfq", "ports", "nonsense", "cables,dot")
ENDS = (["--maximize", "gbps_per_gpu"], ["--minimize", "power_w"])
TIMED = ("solve", "pareto", "sweep", "sensitivity")
OPTIONS = ("--engine", "--time-limit", "--points", "--jobs", "--price-change", "--catalog", "--over", "--budget")


@dataclass(frozen=True)
class Item:
    """What is run: ``files`` by name, then every command in ``runs`` as long as they end well."""

    what: str
    files: Mapping[str, bytes]
    runs: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Ending:
    """How a command ended. ``cpu_s``: its own and its children's time on a core; ``elapsed_s``: of the clock."""

    words: Sequence[str]
    code: int
    out: str
    err: str
    cpu_s: float
    elapsed_s: float


# -- items ----------------------------------------------------------------------------------------------------------


def item(seed: int) -> Item:
    """The item of a seed."""
    dice = Random(seed)
    makers = [_changed_case] * 4 + [_changed_catalog] * 3 + [_changed_design] * 3 + [_spoilt, _odd_words]
    return dice.choice(makers)(dice)


def _inputs(dice: Random) -> tuple[str, Any, Any]:
    kind = dice.choice([kind for kind in MAKERS if kind != "model"])
    catalog, case = MAKERS[kind]()
    return kind, {"name": "fuzz", **case, "catalog": [f"./{CATALOG}"]}, {"name": "parts", **(catalog or {})}


def _solving(dice: Random) -> Iterator[list[str]]:
    words = dice.choice([["solve"]] * 4 + [["pareto"], ["sweep", "--budget", "10K:90K:3"], ["sensitivity"]])
    limit = ["--time-limit", str(LIMIT_S)]
    if words == ["solve"]:
        yield [*words, CASE, *limit, "--json", DESIGN, "--bom", dice.choice(["bom.csv", "bom.xlsx", "bom.json"])]
        yield from _reading(dice, DESIGN)
    elif words == ["pareto"]:
        ends = ["--minimize", "capex_usd", *dice.choice(ENDS)]
        yield [*words, CASE, *ends, *limit, "--points", "3", "--json", FRONT, "--csv", "front.csv"]
    else:
        yield [words[0], CASE, *words[1:], *limit, "--json", FRONT]


def _reading(dice: Random, file: str) -> Iterator[list[str]]:
    reading = [
        ["check", file],
        ["bom", file, "-o", "bill.csv"],
        ["report", file, "-o", "page.html"],
        ["export", file, "--to", dice.choice(EXPORTS), "-o", "out"],
    ]
    yield from dice.sample(reading, 2)


def _changed_case(dice: Random) -> Item:
    kind, case, catalog = _inputs(dice)
    files = {CASE: as_text(mutant(dice, case)), CATALOG: as_text(catalog)}
    return Item(f"case of {kind}", files, list(_solving(dice)))


def _changed_catalog(dice: Random) -> Item:
    kind, case, catalog = _inputs(dice)
    files = {CASE: as_text(case), CATALOG: as_text(mutant(dice, catalog))}
    return Item(f"catalog of {kind}", files, list(_solving(dice)))


def _changed_design(dice: Random) -> Item:
    kind = dice.choice(list(MAKERS))
    content = json.loads(designed(kind).model_dump_json(by_alias=True))
    return Item(f"design of {kind}", {DESIGN: as_text(mutant(dice, content))}, list(_reading(dice, DESIGN)))


def _spoilt(dice: Random) -> Item:
    kind, case, catalog = _inputs(dice)
    texts = {CASE: as_text(case), CATALOG: as_text(catalog)}
    name = dice.choice([CASE, CATALOG])
    texts[name] = spoilt(dice, texts[name].decode())
    return Item(f"text of {kind}", texts, list(_solving(dice)))


def _odd_words(dice: Random) -> Item:
    kind, case, catalog = _inputs(dice)
    others = [["formulation", CASE, "-o", "program.lp"], ["catalog", "check", CATALOG]]
    words = list(dice.choice([*_solving(dice), *_reading(dice, CASE), *others]))
    for _ in range(dice.randint(1, 3)):
        odd = str(dice.choice(ODD_VALUES))[:200].replace("\x00", "0").encode("utf-8", "replace").decode()
        place = dice.randint(1, len(words))
        how = dice.choice(["drop", "replace", "insert", "option"])
        if how == "drop" and len(words) > 1:
            del words[min(place, len(words) - 1)]
        elif how == "replace" and place < len(words):
            words[place] = odd
        else:
            words[place:place] = [odd] if how == "insert" else [dice.choice(OPTIONS), odd]
    if "--time-limit" not in words and words[0] in TIMED:
        words += ["--time-limit", str(LIMIT_S)]
    return Item(f"options of {kind}", {CASE: as_text(case), CATALOG: as_text(catalog)}, [words])


# -- running --------------------------------------------------------------------------------------------------------


def outcomes(seed: int, folder: Path) -> Iterator[tuple[Ending, list[str]]]:
    """Run the commands of a seed in an empty folder; of each how it ended, and what does not hold."""
    what = item(seed)
    for name, data in what.files.items():
        (folder / name).write_bytes(data)
    for words in what.runs:
        before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
        ending = ended(words, folder)
        yield ending, faults(ending, folder, before)
        if ending.code:
            return


@dataclass(frozen=True)
class Running:
    """A command in a process that is a copy of this one, which has everything imported."""

    words: Sequence[str]
    child: int
    started: float
    out: Path
    err: Path

    def end(self) -> Ending:
        """Wait until it ends."""
        status, usage = _waited(self.child, self.started)
        texts = [path.read_text(errors="replace") for path in (self.out, self.err)]
        cpu_s, elapsed_s = usage.ru_utime + usage.ru_stime, time.monotonic() - self.started
        return Ending(self.words, os.waitstatus_to_exitcode(status), texts[0], texts[1], cpu_s, elapsed_s)


def started(words: Sequence[str], folder: Path, first: Callable[[], None] = lambda: None, number: int = 0) -> Running:
    """Start a command in a folder. ``first``: done in its process before; ``number``: of those that run at once."""
    begun = time.monotonic()
    out, err = (folder.parent / f"{folder.name}-{number}.{what}" for what in ("out", "err"))
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _become(words, folder, out, err, first)
    return Running(words, child, begun, out, err)


def ended(words: Sequence[str], folder: Path, first: Callable[[], None] = lambda: None) -> Ending:
    """Run a command until it ends."""
    return started(words, folder, first).end()


def _become(words: Sequence[str], folder: Path, out: Path, err: Path, first: Callable[[], None]) -> None:
    """Be the command: never returns."""
    code = 70
    with suppress(BaseException):
        os.setsid()
        os.chdir(folder)
        for path, number in ((out, 1), (err, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        from fabopt.cli import main

        first()
        code = main(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _waited(child: int, started: float) -> tuple[int, resource.struct_rusage]:
    while True:
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            return status, usage
        if time.monotonic() - started > 2 * PATIENCE_S:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.01)


# -- what must hold -------------------------------------------------------------------------------------------------


def faults(ending: Ending, folder: Path, before: Mapping[str, int]) -> list[str]:
    """What does not hold of an ending, in words."""
    written = {path.name for path in folder.iterdir() if before.get(path.name) != path.stat().st_mtime_ns}
    return [problem for rule in RULES if (problem := rule(ending, folder, written))]


def _code_is_known(ending: Ending, folder: Path, written: set[str]) -> str:
    return "" if ending.code in range(5) else f"exit code {ending.code}"


def _no_internal_error(ending: Ending, folder: Path, written: set[str]) -> str:
    shown = ending.out + ending.err
    return next((f"says {word!r}" for word in ("Traceback", "internal error", "AssertionError") if word in shown), "")


def _a_refusal_says_why(ending: Ending, folder: Path, written: set[str]) -> str:
    return "nothing is said" if ending.code and not (ending.out + ending.err).strip() else ""


def _a_refusal_writes_nothing(ending: Ending, folder: Path, written: set[str]) -> str:
    return f"writes {sorted(written)} with exit code 2" if ending.code == 2 and written else ""


def _files_are_whole(ending: Ending, folder: Path, written: set[str]) -> str:
    for name in written:
        if name.endswith((".tmp", "~")) or name.startswith("."):
            return f"leaves {name}"
        if name.endswith(".json"):
            try:
                json.loads((folder / name).read_text())
            except ValueError as error:
                return f"{name} is no JSON: {error}"
    return ""


def _an_answer_is_written(ending: Ending, folder: Path, written: set[str]) -> str:
    words = list(ending.words)
    wanted = words[words.index("--json") + 1] if "--json" in words[:-1] else None
    if wanted is None or ending.code not in (0, 3, 4) or wanted not in (DESIGN, FRONT):
        return ""
    return "" if wanted in written else f"{wanted} is not written with exit code {ending.code}"


def _in_time(ending: Ending, folder: Path, written: set[str]) -> str:
    words = list(ending.words)
    limited = "--time-limit" in words and words[words.index("--time-limit") + 1 :][:1] == [str(LIMIT_S)]
    allowed_s = LIMIT_S + LATE_S if limited and words.count("--time-limit") == 1 else PATIENCE_S
    late = min(ending.cpu_s, ending.elapsed_s) > allowed_s
    return f"took {ending.elapsed_s:.1f} s ({ending.cpu_s:.1f} s of a core), allowed {allowed_s:g} s" if late else ""


RULES: tuple[Callable[[Ending, Path, set[str]], str], ...] = (
    _code_is_known,
    _no_internal_error,
    _a_refusal_says_why,
    _a_refusal_writes_nothing,
    _files_are_whole,
    _an_answer_is_written,
    _in_time,
)
