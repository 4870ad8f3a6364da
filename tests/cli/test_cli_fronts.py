"""The commands sweep and pareto: exit codes, files, what is told; no traceback ever."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fabopt.io import library
from fabopt.io.design import read_front
from fabopt.output.terminal.front import _needs
from fabopt.schema.design import Conflict, Front
from fabopt.units import some
from tests.paths import ROOT
from tests.samples.cli_samples import Run, write_case

pytestmark = pytest.mark.usefixtures("folder")


def front_in(path: str) -> Front:
    return Front.model_validate_json(Path(path).read_text())


def test_a_sweep_prints_a_table(run: Run) -> None:
    """One switch of 8 ports costs 12,000; a card 300 and its DAC 180: 4 servers of two cards are 17,440 (test_cli)."""
    code, out, err = run("sweep", "case.yaml", "--budget", "10K,20K")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "pod: 2 points over limits.budget_usd, 1 without a design, proven."
    assert lines[4].split("  ")[-1].strip() == "no design: limits.budget_usd needs $17,440"
    assert lines[5].split()[:2] == ["$20,000", "$17,440"]


def test_a_sweep_writes_what_was_asked_for(run: Run) -> None:
    code, out, _ = run("sweep", "case.yaml", "--over", "servers=1:4:4", "--json", "s.json", "--csv", "s.csv")
    front = front_in("s.json")
    assert code == 0 and front.complete and out.startswith("pod: 4 points over servers")
    assert [point.over["servers"] for point in front.points] == [1, 2, 3, 4]
    assert len(Path("s.csv").read_text().splitlines()) == 5


def test_standard_output_is_for_one_file(run: Run) -> None:
    code, out, err = run("sweep", "case.yaml", "--budget", "20K", "--json", "-")
    assert code == 0 and json.loads(out)["points"][0]["totals"]["capex_usd"] == 17440
    assert err == "pod: 1 point over limits.budget_usd, proven.\n"
    assert run("sweep", "case.yaml", "--budget", "20K", "--json", "-", "--csv", "-").code == 2


def test_a_front_prints_its_points(run: Run) -> None:
    code, out, err = run("pareto", "case.yaml", "--minimize", "capex_usd", "--minimize", "power_w", "--json", "p.json")
    assert (code, err) == (0, "")
    assert out.startswith("pod: ") and "of the front of capex_usd and power_w, proven." in out
    assert front_in("p.json").kind == "pareto"


def test_exit_3_only_if_every_point_is_infeasible(run: Run) -> None:
    assert run("sweep", "case.yaml", "--budget", "10K,20K").code == 0
    assert run("sweep", "case.yaml", "--budget", "10K,11K", "--json", "s.json").code == 3
    assert [point.status for point in front_in("s.json").points] == ["infeasible"] * 2
    write_case("poor.yaml", limits={"budget_usd": 10})
    code, out, _ = run("pareto", "poor.yaml", "--minimize", "capex_usd", "--minimize", "power_w")
    assert code == 3 and "no design: limits.budget_usd needs $17,440" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "20K", "--json", "gone/s.json"], "gone/s.json: there is no folder"),
        (["--budget", "20K", "--csv", "."], ".: is a folder; name a file"),
        (
            ["--budget", "20K", "--plot", "s.pdf"],
            "s.pdf: a plot is not written like this; allowed: .html, .png, .svg",
        ),
        (["--budget", "20K", "--jobs", "0"], "--jobs: not a number of processes; found 0; allowed: 1 or more"),
        (
            ["--budget", "20K", "--jobs", "2", "--dask", "tcp://x:1"],
            "--jobs: the Dask cluster has workers of its own; found 2; leave --jobs out",
        ),
        (["--budget", "20K", "--resume", "gone.json"], "gone.json: no such file"),
        (["--budget", "20K", "--time-limit", "0"], "--time-limit: not a time; found 0.0"),
        ([], "sweep: nothing to sweep; give --budget, --over, or both"),
    ],
)
def test_what_is_wrong_is_found_before_work(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run("sweep", "case.yaml", *arguments)
    assert (code, out) == (2, "") and err.startswith(message)


def test_a_file_that_is_no_sweep_is_not_resumed(run: Run) -> None:
    Path("x.json").write_text("{")
    code, _, err = run("sweep", "case.yaml", "--budget", "20K", "--resume", "x.json")
    assert code == 2 and err.startswith("x.json: line 1, column 2: not JSON") and "fabopt sweep --json" in err


def test_a_resumed_file_is_the_whole_file(run: Run) -> None:
    grid = ["sweep", "case.yaml", "--over", "servers=1:4:4"]
    assert run(*grid, "--json", "whole.json").code == 0
    content: dict[str, Any] = json.loads(Path("whole.json").read_text())
    content["points"], content["complete"] = content["points"][:1], False
    Path("part.json").write_text(json.dumps(content))
    assert run(*grid, "--resume", "part.json", "--json", "rest.json").code == 0
    assert Path("rest.json").read_bytes() == Path("whole.json").read_bytes()


@pytest.mark.long
@pytest.mark.parametrize(("limit", "share"), [("MAX_FRONT_BYTES", 3), ("MAX_VALUES", 2)])
def test_no_file_is_written_that_is_not_read(limit: str, share: int, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more points than fit, some that are spread over all; the table has all."""
    words = ["sweep", "case.yaml", "--over", "servers=1:4:4", "--over", "fabrics.compute.max_oversubscription=1:4:4"]
    assert run(*words, "--json", "whole.json").code == 0
    data = Path("whole.json").read_bytes()
    most = {"MAX_FRONT_BYTES": len(data), "MAX_VALUES": sum(map(data.count, (b"[", b"{", b",")))}[limit] // share
    monkeypatch.setattr(library, limit, most)
    code, out, err = run(*words, "--json", "part.json", "--csv", "all.csv")
    front = read_front("part.json")
    assert (code, front.size, front.complete) == (0, 16, False) and 2 <= len(front.points) < 16
    assert (front.points[0].over, front.points[-1].over) == (
        front_in("whole.json").points[0].over, front_in("whole.json").points[-1].over
    )  # fmt: skip
    assert f"there are 16 points; the file has {len(front.points)} that are spread evenly over them" in err
    assert out.startswith("pod: 16 points") and len(Path("all.csv").read_text().splitlines()) == 17


def test_answers_of_points_that_are_not_there_are_refused(run: Run) -> None:
    assert run("pareto", "case.yaml", "--minimize", "capex_usd", "--minimize", "power_w", "--json", "p.json").code == 0
    content = json.loads(Path("p.json").read_text())
    content["answers"] = [{"number": 99}]
    Path("p.json").write_text(json.dumps(content))
    code, _, err = run("check", "p.json")
    assert code == 2 and "`answers[0].number` is 99: there are" in err


@pytest.mark.long
def test_a_plot_is_written(run: Run) -> None:
    pytest.importorskip("fabopt.output.plot")
    for name in ("s.svg", "s.html"):
        assert run("sweep", "case.yaml", "--over", "servers=1:4:4", "--plot", name).code == 0
        assert Path(name).stat().st_size > 0


@pytest.mark.long
@pytest.mark.slow
def test_ctrl_c_writes_what_is_done(folder: Path) -> None:
    """A grid of some minutes, interrupted once some of its points are in the journal."""
    command = [sys.executable, "-m", "fabopt", "sweep", str(ROOT / "cases" / "two-tier-example.yaml")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command += ["--over", "finance.years=1:20:400", "--json", "s.json"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    journal, end = Path("s.json.journal"), time.monotonic() + 120
    while time.monotonic() < end and not (journal.exists() and len(journal.read_bytes().splitlines()) > 2):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    front = front_in("s.json")
    assert not front.complete and 0 < len(front.points) < 400
    done = some(len(front.points), "point")
    assert err.endswith(f"stopped after {done}, kept in s.json; --resume goes on from there\n")
    assert process.returncode == 4


def test_a_base_that_is_in_the_way_would_have_to_go() -> None:
    assert _needs(Conflict(limit="base", value="a.json", needed="null", detail="")) == "base would have to go"
