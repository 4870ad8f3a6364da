"""How far a command is, on standard error: a line that changes for who watches, a line a minute for a log."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from rich.console import Console
from rich.live import Live

from fabopt.cli.output import announce, tell
from fabopt.cli.progress import ProgressLine, progress_shown
from fabopt.io.case import read_inputs
from fabopt.program.settings import ProgressShare, StoppedError
from fabopt.schema.design import Number
from fabopt.solution.optimize import solve
from tests.conftest import Run
from tests.paths import ROOT

CASE = str(ROOT / "cases" / "two-tier-example.yaml")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
SIZE = {"COLUMNS": "190", "TERM": "xterm"}
# step, of how many, part, share
SHARE = r"· step ([0-9]+) of ([0-9]+), part ([0-9]+): (?:([0-9]+) % done|share unknown)"


def watched(*arguments: str) -> str:
    """What a terminal of 190 columns is sent."""
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "fabopt", *arguments]
    child = subprocess.Popen(command, stderr=terminal, stdout=subprocess.DEVNULL, env=os.environ | SIZE)
    os.close(terminal)
    sent = b""
    with contextlib.suppress(OSError):  # the command has ended
        while block := os.read(screen, 65536):
            sent += block
    os.close(screen)
    assert child.wait() == 0
    return ESCAPES.sub("\n", sent.decode())


@pytest.mark.long
def test_who_watches_sees_what_is_done_and_known() -> None:
    first, *lines = (line for line in watched("solve", CASE, "--time-limit", "500").splitlines() if " s · " in line)
    assert first == "0 s · reading"
    assert all(re.match(r"[0-9]+ of 500 s · ", line) for line in lines)
    assert any("solving a program of " in line for line in lines)
    assert " · best so far $676,960, bound $676,960, gap 0.00 % · " in lines[-1]
    found = [re.search(SHARE, line) for line in lines]
    shares = [tuple(int(number or 0) for number in one.groups()) for one in found if one is not None]
    assert shares == sorted(shares) and len(shares) >= len(lines) - 1
    assert {step for step, *_ in shares} >= {1, 2, 3} and {steps for _, steps, *_ in shares} == {3}
    # how many looks there are at what else is known
    assert len({share for step, _, _, share in shares if step == 3}) > 3


def told(work: Callable[[ProgressShare], object]) -> list[str]:
    """What is told of a share while something works, each once."""
    words: list[str] = []
    share = ProgressShare(lambda: words.append(str(share)))
    work(share)
    return list(dict.fromkeys(words))


def test_loops_within_loops_are_one_share() -> None:
    def work(share: ProgressShare) -> None:
        share.begin_step(1, 2)
        for _ in share.over("ab"):
            for _ in share.over("abcd"):
                share.begin_part()  # within a loop there is none
        share.begin_part()
        share.begin_step(2, 2)

    percents = ["0", "12", "25", "37", "50", "62", "75", "87", "100"]
    assert told(work) == [
        "step 1 of 2, part 1: share unknown",
        *(f"step 1 of 2, part 1: {percent} % done" for percent in percents),
        "step 1 of 2, part 2: share unknown",
        "step 2 of 2, part 1: share unknown",
    ]


def test_a_share_never_runs_backwards() -> None:
    def work(share: ProgressShare) -> None:
        share.begin_step(1, 1)
        for _ in share.over("ab"):
            for number in share.over("abc"):
                if number == "b":
                    break
            next(iter(share.over("abcdef")))
        for _ in share.over("a"):  # of one alone nothing is known
            pass
        for _ in share.over("ab"):
            pass

    percents = ["0", "16", "50", "66", "100"]
    again = [f"step 1 of 1, part 2: {percent} % done" for percent in ("0", "50", "100")]
    first = [f"step 1 of 1, part 1: {percent} % done" for percent in percents]
    assert told(work) == [
        "step 1 of 1, part 1: share unknown", *first, "step 1 of 1, part 2: share unknown", *again,
    ]  # fmt: skip


def test_what_is_left_early_leaves_its_loop() -> None:
    def left(share: ProgressShare) -> None:
        for _ in share.over("abcd"):
            raise StoppedError

    def work(share: ProgressShare) -> None:
        share.begin_step(1, 1)
        for _ in share.over("ab"):
            with contextlib.suppress(StoppedError):
                left(share)

    assert told(work)[-1] == "step 1 of 1, part 1: 100 % done"


@pytest.mark.long
def test_what_is_found_never_gets_worse_and_ends_at_the_answer() -> None:
    told: list[tuple[Number | None, Number | None]] = []
    design = solve(read_inputs(CASE), bracket=lambda best, bound: told.append((best, bound)))
    best = [one for one, _ in told if one is not None]
    bounds = [one for _, one in told if one is not None]
    assert best == sorted(best, reverse=True) and bounds == sorted(bounds)
    assert best[-1] == bounds[-1] == design.objective.value


@pytest.mark.parametrize(
    ("best", "bound", "words"),
    [
        (None, None, "12 s · sizing"),
        (None, 90, "12 s · bound $90 · sizing"),
        (100, None, "12 s · best so far $100 · sizing"),
        (100, 90.5, "12 s · best so far $100, bound $90.50, gap 9.5 % · sizing"),
        (100, 100, "12 s · best so far $100, bound $100, gap 0.00 % · sizing"),
    ],
)
def test_words(best: Number | None, bound: Number | None, words: str) -> None:
    progress = ProgressLine("capex_usd")
    progress.say("sizing")
    progress.bracket(best, bound)
    assert re.sub("^[0-9,]+ s", "12 s", progress.line) == words


@pytest.mark.parametrize("columns", [40, 80, 100, 140])
def test_a_narrow_screen_cuts_nothing_off(columns: int) -> None:
    progress = ProgressLine("tco_usd", limit_s=600)
    progress.say("expanding candidates up to 1.3% above the bound")
    progress.bracket(22_224_534.77, 21_933_463.74)
    console = Console(width=columns, file=io.StringIO())
    with console.capture() as captured:
        console.print(progress)
    lines = captured.get().splitlines()
    words = [[word for word in text.split() if word != "·"] for text in (captured.get(), progress.line)]
    assert words[0][1:] == words[1][1:]
    assert max(map(len, lines)) <= columns


def test_first_words_make_room_for_others(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    announce("0 s · reading")
    announce("0 s · reading")
    tell("done")
    tell("all")
    assert capfd.readouterr().err == "0 s · reading\r\x1b[2Kdone\nall\n"


def test_a_log_gets_a_line_in_so_long(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    with progress_shown("power_w", limit_s=60) as progress:
        progress.say("too soon")
        monkeypatch.setattr("fabopt.cli.progress.LOG_EVERY_S", 0.0)
        progress.bracket(1000, None)
    assert re.fullmatch(r"[0-9,]+ of 60 s · best so far 1 kW · too soon\n", capfd.readouterr().err)


def test_a_short_command_says_nothing_to_a_log(run: Run) -> None:
    assert run("solve", CASE).err == ""


def test_nothing_turns_while_the_process_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread keeps the seconds on a screen; a process with threads cannot be copied."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress_shown() as progress:
        assert len(turning()) == 1
        with progress.still():
            assert not turning()
            progress.say("beside each other")
        assert len(turning()) == 1


def turning() -> list[threading.Thread]:
    """Threads that keep the seconds."""
    return [one for one in threading.enumerate() if type(one).__module__ == Live.__module__]
