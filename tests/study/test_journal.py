"""Sweeps that are cut short: every point that was done is on disk, and the resumed file is that of an unbroken run."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from fabopt.cli.ends import cut_off
from fabopt.design.points import spread
from fabopt.io.case import Inputs
from fabopt.io.library import MAX_INPUT_BYTES
from fabopt.output.export.front import front_bytes
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Front, FrontAnswer, FrontPoint
from fabopt.study.front.journal import journaled
from fabopt.study.sweep.sweep import CutShortError, Execution, grid_of, sweep
from tests.paths import ROOT
from tests.samples.cli_samples import Run, write_case
from tests.samples.front_samples import unlabelled
from tests.samples.kills import journaled_points, kill_until_done, started, unbroken
from tests.samples.small import Json, case, inputs

GRID = ["sweep", "case.yaml", "--over", "servers=1:4:4"]
SIXTEEN = ["sweep", "case.yaml", "--over", "servers=1:4:4", "--over", "finance.years=1:4:4"]
WHOLE, PART, JOURNAL = Path("whole.json"), Path("part.json"), Path("part.json.journal")
TO_PART = [*GRID, "--json", "part.json"]


def front_in(path: Path) -> Front:
    return Front.model_validate_json(path.read_text())


@pytest.fixture
def whole(folder: Path, run: Run) -> Front:
    """The file of an unbroken run, its points whole."""
    assert run(*GRID, "--json", "whole.json").code == 0
    return spread(front_in(WHOLE))


def empty(front: Front) -> Front:
    """A file before any point is done."""
    return front.model_copy(update={"points": (), "complete": False})


def leave_journal(front: Front, points: int, path: Path = PART) -> bytes:
    """The journal that a run leaves when it is killed after so many points; labels come with the whole front."""
    with journaled(path, None, empty(front)) as journal:
        for point in unlabelled(front.points[:points]):
            journal.keep([point])
    return path.with_name(path.name + ".journal").read_bytes()


def test_a_journal_has_a_line_for_each_point(whole: Front) -> None:
    header, *lines = leave_journal(whole, 3).splitlines()
    assert Front.model_validate_json(header) == empty(whole)
    points = tuple(FrontPoint.model_validate_json(line) for line in lines)
    assert spread(empty(whole).model_copy(update={"points": points})).points == unlabelled(whole.points[:3])
    told = [part for point in points for part in point.parts]
    assert len(told) == len(set(told)) and points[0].parts


def test_what_was_written_leaves_no_journal(whole: Front) -> None:
    assert not Path("whole.json.journal").exists()


def test_without_a_file_there_is_no_journal(folder: Path, run: Run) -> None:
    before = set(Path().iterdir())
    assert run(*GRID).code == run(*GRID, "--json", "-").code == run(*GRID, "--json", "/dev/null").code == 0
    assert set(Path().iterdir()) == before


# -- what --resume takes ----------------------------------------------------------------------------------------------


@pytest.mark.long("2-part.json", "2-part.json.journal")
@pytest.mark.parametrize("named", ["part.json", "part.json.journal"])
@pytest.mark.parametrize("in_file", [0, 2])
def test_a_file_and_its_journal_are_taken_up(whole: Front, run: Run, named: str, in_file: int) -> None:
    """The journal alone, or beside the file of an earlier stop; whichever of the two is named."""
    if in_file:
        PART.write_bytes(front_bytes(whole.model_copy(update={"points": whole.points[:in_file], "complete": False})))
    leave_journal(whole, 3)
    assert run(*TO_PART, "--resume", named).code == 0
    assert PART.read_bytes() == WHOLE.read_bytes() and not JOURNAL.exists()


def test_a_long_file_is_taken_up(whole: Front, run: Run) -> None:
    """Thousands of points are more than any other file may be."""
    part = front_bytes(whole.model_copy(update={"points": whole.points[:2], "complete": False}))
    PART.write_bytes(part + b" " * MAX_INPUT_BYTES)
    assert run(*TO_PART, "--resume", "part.json").code == 0
    assert PART.read_bytes() == WHOLE.read_bytes()


def test_points_of_another_file_are_kept_too(whole: Front, run: Run) -> None:
    """The new journal has what was taken up from elsewhere, so that it stands alone."""
    leave_journal(whole, 2, Path("other.json"))
    with journaled(PART, "other.json", empty(whole)):
        pass
    assert len(JOURNAL.read_bytes().splitlines()) == 3 and Path("other.json.journal").exists()


def test_a_run_that_did_nothing_yet_starts_with_the_first_point(whole: Front, run: Run) -> None:
    code, _, err = run(*TO_PART, "--resume", "part.json")
    assert (code, err) == (0, "part.json: no point is there yet; starting with the first\n")
    assert PART.read_bytes() == WHOLE.read_bytes()


@pytest.mark.parametrize("tail", [b'{"budget_usd":nu', b"\0\0\0\n"])
def test_a_line_that_was_torn_is_done_again(whole: Front, run: Run, tail: bytes) -> None:
    JOURNAL.write_bytes(leave_journal(whole, 2) + tail)
    with journaled(PART, "part.json", empty(whole)) as journal:
        assert journal.known is not None and journal.known.points == unlabelled(whole.points[:2])
        journal.keep(unlabelled(whole.points[2:3]))
    assert JOURNAL.read_bytes() == leave_journal(whole, 3, Path("three.json"))


def test_a_journal_that_is_broken_in_the_middle_is_refused(whole: Front, run: Run) -> None:
    header, first, *_ = leave_journal(whole, 2).splitlines(keepends=True)
    JOURNAL.write_bytes(header + b"{\n" + first)
    code, _, err = run(*TO_PART, "--resume", "part.json")
    assert code == 2 and err.startswith("part.json.journal: line 2: line 1, column 2: not JSON")
    assert JOURNAL.read_bytes() == header + b"{\n" + first


def test_a_journal_of_another_case_is_refused(whole: Front, run: Run) -> None:
    before = leave_journal(whole, 2)
    write_case(limits={"power_w": 100_000})
    code, _, err = run(*TO_PART, "--resume", "part.json")
    assert code == 2 and err.startswith("part.json.journal: case.sha256: another case, or the case has changed")
    assert JOURNAL.read_bytes() == before


def test_what_is_no_journal_is_not_written_over(folder: Path, run: Run) -> None:
    JOURNAL.write_text("Dear diary,\ntoday I swept.\n")
    for resume in ([], ["--resume", "part.json"]):
        code, _, err = run(*TO_PART, *resume)
        assert code == 2 and err.startswith("part.json.journal: line 1, column 1: not JSON")
    assert JOURNAL.read_text().startswith("Dear diary")


def test_points_that_were_kept_are_not_written_over(whole: Front, run: Run) -> None:
    before = leave_journal(whole, 2)
    code, _, err = run(*TO_PART)
    assert (code, err) == (
        2,
        "part.json.journal: 2 points of a run that was cut short; "
        "go on from there with --resume part.json.journal, or remove the file\n",
    )
    assert JOURNAL.read_bytes() == before and not PART.exists()


# -- what can go wrong ------------------------------------------------------------------------------------------------


def test_one_run_at_a_time_writes_a_file(folder: Path, run: Run) -> None:
    """The lock of a process that was killed is gone with it."""
    script = "import sys; from pathlib import Path; from fabopt.io.journal import Journal; "
    script += "mine = Journal(Path('part.json.journal')); print(flush=True); sys.stdin.read()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script], env=environment, stdin=pipe, stdout=pipe) as other:
        assert other.stdout is not None and other.stdout.readline()
        code, _, err = run(*TO_PART)
        assert (code, err) == (2, "part.json: another fabopt is at work on this file; wait, or name another\n")
        other.kill()
    assert run(*TO_PART).code == 0 and not JOURNAL.exists()


@contextmanager
def full_at(size: int) -> Iterator[None]:
    """No file can grow larger, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.long
def test_a_full_disk_keeps_what_is_done(whole: Front, run: Run) -> None:
    """There is room for the second point but not for all of the third; later, for all but the file."""
    room = len(leave_journal(whole, 2)) + 100
    JOURNAL.unlink()
    with full_at(room):
        code, out, err = run(*TO_PART)
    kept = "2 points kept in part.json.journal; --resume part.json.journal goes on from there"
    assert (code, out, err) == (4, "", f"part.json.journal: cannot be written: File too large; {kept}\n")
    assert JOURNAL.read_bytes() == leave_journal(whole, 2, Path("two.json")) and not PART.exists()
    with full_at(WHOLE.stat().st_size - 1):
        code, out, err = run(*TO_PART, "--resume", "part.json")
    assert (code, out, err) == (4, "", f"part.json: cannot be written: File too large; {kept.replace('2', '4', 1)}\n")
    assert run(*TO_PART, "--resume", "part.json").code == 0 and PART.read_bytes() == WHOLE.read_bytes()


def test_of_a_run_that_was_cut_off_the_file_is_made_of_its_journal(whole: Front, run: Run) -> None:
    """By the process that watches over it, whatever ended it; where there is no journal the file is whole."""
    leave_journal(whole, 3)
    assert cut_off(4, "part.json", b"", 4) == 4
    part = front_in(PART)
    assert not JOURNAL.exists() and not part.complete and spread(part).points == whole.points[:3]
    assert run(*TO_PART, "--resume", "part.json").code == 0 and PART.read_bytes() == WHOLE.read_bytes()
    assert cut_off(4, "part.json", b"", 4) == 4 and PART.read_bytes() == WHOLE.read_bytes()
    with journaled(Path("none.json"), None, empty(whole)):
        cut_off(4, "none.json", b"", 4)
    assert front_in(Path("none.json")) == empty(whole)


def test_of_a_front_that_was_cut_off_the_best_points_are_kept(folder: Path, run: Run) -> None:
    front = ["pareto", "case.yaml", "--minimize", "capex_usd", "--minimize", "power_w", "--json"]
    assert run(*front, "whole.json").code == 0
    found = spread(front_in(WHOLE))
    worse = found.points[0].model_copy(
        update={"values": {key: value + 1 for key, value in found.points[0].values.items()}}
    )
    with journaled(PART, None, empty(found)) as journal:
        for point in unlabelled((*found.points, worse)):
            grades = {"capex_usd": int(point.values["capex_usd"])}
            journal.keep([FrontAnswer(best=("capex_usd",), grades=grades, point=point)])
    assert cut_off(4, "part.json", b"", 4) == 4
    kept = [point.values for point in front_in(PART).points]
    assert len(kept) == len(found.points) and worse.values not in kept


@pytest.mark.long
def test_a_process_that_is_killed_costs_no_point_that_was_done(whole: Front, run: Run) -> None:
    """As by a machine whose memory is short. What was done is in the file, and the exit code is 4."""
    killed: list[int] = []

    def kill(points: Sequence[FrontPoint], done: int, new: int) -> None:
        if not killed:
            killed.extend(process.pid for process in multiprocessing.active_children())
            os.kill(killed[0], signal.SIGKILL)

    read = inputs(case({"nics_per_server": 2}))
    grid = grid_of(read, None, ["servers=1:9:9"])
    with pytest.raises(CutShortError) as caught:
        sweep(read, grid, Execution(2), None, Settings(), Clock(None), kill)
    front = caught.value.front
    assert killed and str(caught.value) == "a process that solved points ended unexpectedly; was memory short?"
    assert not front.complete and 0 < len(front.points) < 9
    whole_grid = sweep(read, grid, Execution(), None, Settings(), Clock(None), lambda *new: None)
    assert sweep(read, grid, Execution(2), front, Settings(), Clock(None), lambda *new: None) == whole_grid


# -- budgets ----------------------------------------------------------------------------------------------------------

BUDGETS = "20K,60K,90K,120K,200K,300K,1M"


def budget_front(content: Inputs, before: Front | None = None, jobs: int = 1) -> Front:
    grid = grid_of(content, BUDGETS, ["fabrics.compute.max_oversubscription=1,2"])
    return sweep(content, grid, Execution(jobs), before, Settings(), Clock(None), lambda *new: None)


KNOWN = [slice(3, 9), *(pytest.param(slice(*some), marks=pytest.mark.long) for some in ((1,), (5,), (0, None, 3)))]


@pytest.mark.long
@pytest.mark.parametrize("known", KNOWN, ids=str)
@pytest.mark.parametrize("maximize", ["gbps_per_gpu", pytest.param("servers", marks=pytest.mark.long)])
def test_budgets_go_on_from_any_that_are_known(maximize: str, known: slice) -> None:
    content: Json = case({"nics_per_server": "any", "min_gbps_per_gpu": 100}, maximize=maximize)
    read = inputs(content)
    whole = budget_front(read)
    assert len({point.values.get(maximize) for point in whole.points}) > 3
    assert front_bytes(budget_front(read, jobs=2)) == front_bytes(whole)
    before = whole.model_copy(update={"points": whole.points[known]})
    assert front_bytes(budget_front(read, before)) == front_bytes(whole)


# -- kills ------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "kills"), [("1", 1), ("1", 4), ("2", 4)])
def test_a_sweep_survives_being_killed(folder: Path, jobs: str, kills: int) -> None:
    """At moments up to the length of a whole run."""
    words = [*SIXTEEN, "--jobs", jobs]
    tally = kill_until_done(words, folder, kills, *unbroken(words, folder))
    assert tally.kills == kills and tally.lost == 0


@pytest.mark.slow
def test_processes_end_with_the_one_that_started_them(folder: Path) -> None:
    """Where that alone is killed, and cannot tell them."""
    many = ["--over", "finance.energy_usd_per_kwh=1:50:50", "--jobs", "2", "--json", "part.json"]
    process = started([*SIXTEEN, *many], folder)
    while process.poll() is None and journaled_points(folder) < 2:
        time.sleep(0.01)
    # itself, the copy of it that watches the points, and two that solve them
    assert len(members(process.pid)) == 4
    process.kill()
    # what they say goes the same way as what it says, so that they too must be gone
    process.communicate(timeout=60)
    ended = time.monotonic()
    while members(process.pid) and time.monotonic() - ended < 20:
        time.sleep(0.05)
    assert not members(process.pid)


def members(group: int) -> list[str]:
    """Processes of a group that are at work."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,pid="], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [pid for pgid, stat, pid in rows if int(pgid) == group and not stat.startswith("Z")]


SCHEDULER = """
import asyncio, distributed
async def main():
    options = {"dashboard": False, "dashboard_address": None}
    async with distributed.Scheduler(host="127.0.0.1", port=0, **options) as scheduler:
        async with distributed.Worker(scheduler.address, nthreads=1, dashboard=False):
            print(scheduler.address, flush=True)
            await scheduler.finished()
asyncio.run(main())
"""


@pytest.mark.long
@pytest.mark.slow
def test_a_sweep_survives_its_scheduler(folder: Path) -> None:
    """Twice the scheduler is killed when some points are done."""
    pytest.importorskip("distributed")
    words = [*SIXTEEN, "--json", "part.json", "--resume", "part.json"]
    whole, _ = unbroken(SIXTEEN, folder)
    before = 0
    for _ in range(2):
        with subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT)}) as scheduler:  # fmt: skip
            assert scheduler.stdout is not None
            address = scheduler.stdout.readline().strip()
            process = started([*words, "--dask", address], folder)
            while process.poll() is None and journaled_points(folder) < before + 3:
                time.sleep(0.002)
            scheduler.send_signal(signal.SIGKILL)
        _, err = process.communicate(timeout=60)
        front = front_in(PART)
        assert process.returncode == 4 and f"the Dask scheduler at {address} is gone" in err
        assert "Traceback" not in err and not front.complete and before < len(front.points) < 16
        before = len(front.points)
    started(words, folder).communicate()
    assert PART.read_bytes() == whole and not JOURNAL.exists()
