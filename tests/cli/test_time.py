"""Time limits and signals of whole commands, each in a process of its own.

Time is the processor's, so that nothing fails because other tests run: a command that waits for nothing takes as long
by the clock of an idle machine.
"""

from __future__ import annotations

import compileall
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fabopt.cli.supervisor import gone_by_s
from fabopt.io.case import read_inputs
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.answer import answer_in
from fabopt.search.context import Context
from fabopt.solution.designs import floor_in_time
from fabopt.solution.question import Question
from tests.paths import ROOT

SLOW = ROOT / "tests" / "samples" / "slow"
PROC = Path("/proc")
LIMIT_S = 2.0
# What a command may take beyond its limit, and what one that is told to end may take.
MORE_S = 1.0
LEAVE_S = 5.0
# No test waits for longer, however much else the machine does.
PATIENCE_S = 150.0
TICKS = os.sysconf("SC_CLK_TCK")
MANY = ("--over", "finance.years=1:20:400")

pytestmark = [
    pytest.mark.usefixtures("folder"),
    pytest.mark.skipif(not (PROC / "self" / "stat").exists(), reason="processes are looked at through /proc"),
]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile the modules, as they are where fabopt is installed: no command is timed that does so first."""
    compileall.compile_dir(ROOT / "fabopt", quiet=2)


class Ended(NamedTuple):
    """How a command ended: seconds of the processor in all and after the signal, and the file that it wrote."""

    code: int
    seconds: float
    after_s: float
    file: dict[str, Any] | None
    error: str


def started(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "fabopt", *arguments, "--json", "answer.json"]
    with open("error.txt", "wb") as error:
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=error, start_new_session=True
        )


def ended(process: subprocess.Popen[bytes], until_signal_s: float = 0.0) -> Ended:
    """Wait for a command."""
    end = time.monotonic() + PATIENCE_S
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            process.kill()
        time.sleep(0.02)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    path = Path("answer.json")
    file = json.loads(path.read_text()) if path.exists() else None
    return Ended(process.returncode, seconds, seconds - until_signal_s, file, Path("error.txt").read_text())


def fields_of(pid: int) -> list[str]:
    """What the system says of a process after its name; nothing if it has gone."""
    try:
        return (PROC / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []


def seconds_of(pid: int) -> float:
    """Seconds that a process, and those that it has started, have used of the processor."""
    processes = (pid, *descendants(pid))
    return sum(int(ticks) for process in processes for ticks in fields_of(process)[11:13]) / TICKS


def descendants(pid: int) -> list[int]:
    """Processes that a process has started, and those that they have."""
    parents = {int(path.name): fields_of(int(path.name)) for path in PROC.iterdir() if path.name.isdigit()}
    children = [child for child, fields in parents.items() if fields and int(fields[1]) == pid]
    return children + [other for child in children for other in descendants(child)]


def is_at_work(pid: int) -> bool:
    fields = fields_of(pid)
    return bool(fields) and fields[0] != "Z"


def signalled(
    arguments: Sequence[str],
    signals: Sequence[signal.Signals],
    at_s: float,
    processes: int = 0,
    send: Callable[[int, int], None] = os.kill,
) -> tuple[Ended, list[int]]:
    """A command that is sent signals once it has used so many seconds and has so many processes beside its own;
    these.
    """
    process = started(arguments)
    end = time.monotonic() + PATIENCE_S
    children: list[int] = []
    while seconds_of(process.pid) < at_s or len(children) < processes:
        assert process.poll() is None and time.monotonic() < end, "it ended before it was sent a signal"
        time.sleep(0.01)
        children = descendants(process.pid)
    used_s = seconds_of(process.pid)
    for number in signals:
        send(process.pid, number)
        time.sleep(0.1)
    return ended(process, used_s), children


@pytest.mark.long(
    "solve hall-of-six-racks",
    "solve dragonflies",
    "solve too-dear",
    "pareto places --minimize capex_usd --maximize gbps_per_gpu --points 3",
    "sensitivity hall-of-500-servers",
)
@pytest.mark.parametrize(
    "arguments",
    [
        ["pareto", "places", "--minimize", "capex_usd", "--maximize", "gbps_per_gpu", "--points", "3"],
        ["solve", "hall-of-six-racks"],
        ["solve", "hall-of-500-servers"],
        ["solve", "dragonflies"],
        ["solve", "too-dear"],
        ["sensitivity", "hall-of-500-servers"],
    ],
    ids=" ".join,
)
def test_a_limit_holds_for_the_whole_command(arguments: list[str]) -> None:
    command, case, *options = arguments
    answer = ended(started([command, str(SLOW / f"{case}.yaml"), *options, "--time-limit", str(LIMIT_S)]))
    assert answer.seconds < LIMIT_S + MORE_S
    assert answer.code in (0, 3, 4) and "internal error" not in answer.error
    assert answer.file is not None


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "send"), [(signal.SIGINT, os.kill), (signal.SIGTERM, os.kill), (signal.SIGTERM, os.killpg)]
)
def test_stopped_before_any_design_the_file_is_written(
    number: signal.Signals, send: Callable[[int, int], None]
) -> None:
    """One that a whole group is sent, as by a terminal, is one signal too."""
    answer, _ = signalled(["solve", str(SLOW / "hall-of-500-servers.yaml")], [number], 1.2, send=send)
    assert answer.code == 4 and answer.after_s < LEAVE_S
    assert answer.file is not None
    assert (answer.file["status"], answer.file["fabrics"], answer.file["conflicts"]) == ("unknown", [], [])


@pytest.mark.long
def test_a_stopped_front_is_kept() -> None:
    options = ["--minimize", "capex_usd", "--maximize", "gbps_per_gpu"]
    answer, _ = signalled(["pareto", str(SLOW / "places.yaml"), *options], [signal.SIGTERM], 2.0)
    assert answer.code == 4 and answer.after_s < LEAVE_S
    assert answer.file is not None and not answer.file["complete"]


@pytest.mark.long
@pytest.mark.parametrize("engine", ["cp-sat", "cbc"])
def test_processes_of_a_stopped_sweep_end_with_it(engine: str) -> None:
    command = ["sweep", str(ROOT / "cases" / "finetuning-1024-gpus.yaml"), *MANY, "--jobs", "2", "--engine", engine]
    # the command, two that solve points, and where the engine is a program that of one of them
    answer, children = signalled(command, [signal.SIGTERM], 0.5, 4 if engine == "cbc" else 3)
    assert answer.code == 4 and answer.file is not None and not answer.file["complete"]
    assert not any(map(is_at_work, children))


def test_a_second_signal_ends_at_once() -> None:
    answer, _ = signalled(["solve", str(SLOW / "hall-of-500-servers.yaml")], [signal.SIGTERM] * 2, 1.5)
    assert answer.code == 4 and answer.after_s < MORE_S


def with_command(folder: Path, work: str, keeps_clock: bool = False) -> subprocess.CompletedProcess[str]:
    """A process that runs this text as its command, with or without a clock."""
    lines = (
        "import os, signal, sys, time",
        "import fabopt.cli",
        "from fabopt.cli import command, main",
        "from fabopt.cli.signals import ATTENDANT",
        "from fabopt.program.settings import Clock",
        "def work(*words, **options):",
        f"    ATTENDANT.{'attend(Clock(None))' if keeps_clock else 'begin(keeps_clock=False)'}",
        f"    {work}",
        "command._commands = lambda: work",
        "sys.exit(main())",
    )
    (folder / "shown.py").write_text("\n".join(lines))
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    command = [sys.executable, "-m", "shown"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)


# What shows a saved file: an error in it is one of the file, unless it is of memory.
TOLD_OF = "__import__('fabopt.cli.evidence').cli.evidence.told_of('front.json')"
NO_THREAD = f'with {TOLD_OF}: raise RuntimeError("can\'t start new thread")'
DEAF = "os.kill(os.getppid(), signal.SIGTERM); signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); time.sleep(1000)"


def after_lines(*lines: str) -> subprocess.CompletedProcess[str]:
    """A process that runs these lines, and then the command `cases`."""
    text = "; ".join(("import os, signal, sys", *lines, "sys.argv[1:] = ['cases']", "sys.exit(entry.main())"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", text]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)


@pytest.mark.long("SIGTERM")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_before_anything_is_imported_is_heard(number: str) -> None:
    told = after_lines("import fabopt.__main__ as entry", f"os.kill(os.getpid(), signal.{number})")
    assert (told.returncode, told.stdout, told.stderr) == (4, "", "interrupted\n")


def test_a_module_that_tells_of_a_signal_in_other_words_is_interrupted(tmp_path: Path) -> None:
    """As native code does that is loaded when the signal comes."""
    heard = "try: time.sleep(100)\n    except KeyboardInterrupt: raise ImportError"
    work = f"os.kill(os.getppid(), signal.SIGTERM)\n    {heard}"
    shown = with_command(tmp_path, work)
    assert (shown.returncode, shown.stderr) == (4, "interrupted\n")


@pytest.mark.long
def test_native_code_that_hears_nothing_is_ended(tmp_path: Path) -> None:
    shown = with_command(tmp_path, f"ATTENDANT.leave('left.json', b'[]'); {DEAF}", keeps_clock=True)
    assert (shown.returncode, shown.stderr) == (4, "interrupted\n")
    assert Path("left.json").read_text() == "[]"


@pytest.mark.long
def test_what_gathers_points_is_imported_while_there_is_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine it takes seconds; it came after the process was ended, and the words with it."""
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    shown = with_command(tmp_path, f"ATTENDANT.leave('left.json'); {DEAF}", keeps_clock=True)
    lines = shown.stderr.splitlines()
    imported = next(row for row, line in enumerate(lines) if line.endswith("fabopt.study.front.journal"))
    assert shown.returncode == 4 and imported < lines.index("interrupted")


@pytest.mark.long("deaf")
@pytest.mark.parametrize("end", [DEAF, "os.kill(os.getpid(), signal.SIGKILL)"], ids=["deaf", "killed"])
def test_a_design_in_hand_is_written_whatever_ends_the_command(end: str, tmp_path: Path) -> None:
    shown = with_command(tmp_path, f"ATTENDANT.leave('left.json', b'[]', 0); {end}", keeps_clock=True)
    assert shown.returncode == 0 and Path("left.json").read_text() == "[]"
    assert shown.stderr.endswith("left.json has the best design that was met by then\n")


@pytest.mark.long(but_every=4)
@pytest.mark.parametrize(
    ("by", "keeps_clock", "code", "told"),
    [
        ("os.abort()", False, 2, "(SIGABRT), while the input was read"),
        ("os.kill(os.getpid(), signal.SIGKILL)", True, 4, "(SIGKILL), before there was an answer"),
        # as OpenBLAS does
        ("os._exit(1)", True, 4, "(exit code 1), before there was an answer"),
        ("ATTENDANT.draw(); os.abort()", True, 4, "(SIGABRT), while a picture was drawn"),
        ("ATTENDANT.draw(); raise MemoryError", True, 4, "while a picture was drawn"),
        (f"with {TOLD_OF}: ATTENDANT.draw(); raise MemoryError", True, 4, "while a picture was drawn"),
        (NO_THREAD, True, 4, "before there was an answer"),
        (f"with {TOLD_OF}: raise MemoryError", False, 2, "while the input was read"),
        ("raise ImportError('x.so: failed to map segment from shared object')", False, 2, "while the input was read"),
        ("raise MemoryError", True, 4, "before there was an answer"),
    ],
)
def test_memory_that_ends_is_told(by: str, keeps_clock: bool, code: int, told: str, tmp_path: Path) -> None:
    shown = with_command(tmp_path, by, keeps_clock)
    (line,) = shown.stderr.splitlines()
    assert shown.returncode == code and line.startswith("memory ended") and told in line


def test_processes_of_a_command_that_is_ended_end_with_it(tmp_path: Path) -> None:
    """One in a session of its own too, as engines are that are programs."""
    start = "import subprocess; child = subprocess.Popen(['sleep', '100'], start_new_session=True)"
    work = f"{start}; print(child.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    shown = with_command(tmp_path, work)
    assert not is_at_work(int(shown.stdout))


@pytest.mark.long("2")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_end_changes_nothing(number: signal.Signals) -> None:
    lines = ("import os, sys", "from fabopt.cli import command, main",
             "number, end = int(sys.argv.pop()), command.end_process",
             "command.end_process = lambda *ends: (os.kill(os.getppid(), number), end(*ends))",
             "sys.exit(main())")  # fmt: skip
    command = [sys.executable, "-c", "; ".join(lines), "cases", str(number.value)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    shown = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE_S)
    assert (shown.returncode, shown.stderr) == (0, b"") and b"finetuning-1024-gpus" in shown.stdout


@pytest.mark.long
def test_a_command_without_a_clock_ends_at_the_first_signal() -> None:
    process = started(["solve", "pretraining-16384-gpus", "--alternatives", "0"])
    assert ended(process).code == 0
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    check = subprocess.Popen([sys.executable, "-m", "fabopt", "check", "answer.json"], env=environment)
    while seconds_of(check.pid) < 0.5:
        time.sleep(0.01)
    check.send_signal(signal.SIGTERM)
    assert check.wait(PATIENCE_S) == 4


def test_a_signal_while_text_is_run_as_code_changes_no_exit_code(tmp_path: Path) -> None:
    """Python notes an interrupt within ``exec``, which makes data classes, and ends by SIGINT even if it is heard."""
    work = r"exec('os.kill(os.getppid(), signal.SIGTERM)\nwhile True: pass')"
    shown = with_command(tmp_path, work)
    assert (shown.returncode, shown.stderr) == (4, "interrupted\n")


@pytest.mark.long
def test_a_front_of_thousands_of_points_is_made_as_far_as_time_allows() -> None:
    """All its 6,381 points are found in a second or two; to make the files' entries of them takes twenty."""
    options = ["--minimize", "capex_usd", "--minimize", "power_w", "--time-limit", str(2 * LIMIT_S)]
    answer = ended(started(["pareto", "twin-plane-1024-gpus", *options]))
    assert answer.seconds < 2 * LIMIT_S + MORE_S and answer.file is not None
    assert not answer.file["complete"]


def test_a_command_counts_what_it_has_waited_for_a_processor(tmp_path: Path) -> None:
    # on a busy machine seconds go by before its first line runs
    scheduled = tmp_path / "schedstat"
    scheduled.write_text("91552622 2500000000 26\n")
    with_waits, alone = gone_by_s(scheduled), gone_by_s(tmp_path / "none")
    assert alone <= time.process_time() and 2.4 < with_waits - alone < 2.6
    scheduled.write_text("\n")
    assert gone_by_s(scheduled) - alone < 0.1


def test_a_floor_that_is_not_known_in_time_is_left_out() -> None:
    inputs = read_inputs(str(ROOT / "cases" / "two-tier-example.yaml"))
    problem = problem_of(inputs.case, inputs.catalog)
    answer = answer_in(problem, Settings(), Clock(None), Context())
    over, ends = Clock(0.0, time.monotonic() - 10), Clock(None)
    assert floor_in_time(Question(inputs, Settings(), ends), answer) is not None
    assert floor_in_time(Question(inputs, Settings(), over), answer) is None
