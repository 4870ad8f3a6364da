"""``fabopt new``: six questions, or options for each; every case it writes can be solved, or it says why not."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

from fabopt.cli import newcomer
from fabopt.cli.newcomer import GpusInTime, Reading
from fabopt.errors import InputError
from fabopt.io.case import read_inputs
from fabopt.io.catalog import read_catalog
from fabopt.io.library import names
from fabopt.problem.problem import problem_of
from fabopt.schema.workload import PROFILES
from fabopt.solution import optimize
from tests.conftest import Ran, Run

CATALOG = read_catalog(["reference"], Path())
SERVERS = [server.id for server in CATALOG.servers]
READING = Reading(CATALOG)
Talk = Callable[..., Ran]


@pytest.fixture
def talk(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Runs ``fabopt new`` on the tiny catalog as in a terminal, where this is answered."""

    def talk(*answers: str, arguments: tuple[str, ...] = ()) -> Ran:
        monkeypatch.setattr(newcomer, "in_terminal", lambda: True)
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))
        return run("new", *arguments, "--catalog", "./acme.yaml")

    return talk


def test_six_questions_lead_to_a_design_and_its_page(talk: Talk) -> None:
    ran = talk("acme gpu2", "4 servers then 8 servers in 6 months", "mixed", "RoCE", "none", "2M", "yes")
    assert ran.code == 0
    content = yaml.safe_load(Path("pod-8.yaml").read_text())
    assert (content["server"], content["workload"]) == ("acme-gpu2", {"profile": "mixed"})
    assert [(stage["month"], stage["servers"]) for stage in content["stages"]] == [(0, 4), (6, 8)]
    assert content["fabrics"][0]["protocol"] == "ethernet" and content["limits"] == {"budget_usd": 2000000}
    assert all(f"{number}/6" in ran.err for number in range(1, 7))
    assert "16 GPUs in 8 servers" in ran.out
    assert json.loads(Path("pod-8-design.json").read_text())["status"] == "optimal"
    assert "<svg" in Path("pod-8.html").read_text()


def test_enter_takes_the_usual_and_a_page_is_written_only_if_wanted(talk: Talk) -> None:
    ran = talk("", "8", "", "", "", "", "no")
    assert ran.code == 0 and not Path("pod-8.html").exists()
    content = yaml.safe_load(Path("pod-8.yaml").read_text())
    assert content["server"] == "acme-gpu2" and content["workload"] == {"profile": "pretraining"}
    talk("", "8", "", "", "", "", "no")
    assert Path("pod-8-2.yaml").exists()


def test_a_wrong_answer_is_asked_again(talk: Talk) -> None:
    ran = talk(
        *(
            "acme-gqu2",
            "acme-gpu2",
            "seven",
            "7",
            "8",
            "pretrain",
            "pretraining",
            "ibx",
            "roce",
            "3",
            "",
            "much",
            "",
            "n",
        )
    )
    assert [f"{number}/6" for number in range(1, 7) for _ in range(ran.err.count(f"{number}/6") - 1)] == [
        *("1/6", "2/6", "2/6", "3/6", "4/6", "5/6", "6/6")
    ]
    told = " ".join(ran.err.split())
    assert "did you mean `acme-gpu2`?" in told and "did you mean `pretraining`?" in told


def test_an_answer_that_does_not_go_with_the_others_is_asked_again(talk: Talk) -> None:
    ran = talk("", "8", "llama3-405b", "", "", "", "9", "", "mixed", "no")
    told = " ".join(ran.err.split())
    assert ran.code == 0 and "the server acme-gpu2 does not say its speed" in told and "allowed: 1 to 6" in told
    assert [ran.err.count(f"{number}/6") for number in range(1, 7)] == [1, 1, 2, 1, 1, 1]
    assert yaml.safe_load(Path("pod-8.yaml").read_text())["workload"] == {"profile": "mixed"}


def test_gpus_that_no_plan_of_the_model_fits_are_asked_again(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newcomer, "in_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("\n8\nllama3-405b\n\n\n\n\n"))
    told = " ".join(run("new").err.split())
    assert "another number of GPUs, such as 112" in told
    assert "Which answer is to change? [2]" in told and told.count("2/6") == 2


def test_only_what_is_not_given_is_asked(talk: Talk) -> None:
    ran = talk("", "", "", "", "", "no", arguments=("lab", "--gpus", "8"))
    assert "2/6" not in ran.err and Path("lab.yaml").exists()


def test_an_input_that_ends_writes_nothing(talk: Talk) -> None:
    ran = talk("acme-gpu2", "8")
    assert ran.code == 2 and "nothing is written" in ran.err and not list(Path().glob("pod-*"))


def test_without_a_terminal_it_says_what_to_give(run: Run, folder: Path) -> None:
    assert run("new").err == (
        "new: say --server ID, --gpus N, --workload PROFILE; in a terminal, `fabopt new` asks for them\n"
    )
    ran = run("new", "pod", "--server", "acme-gpu2")
    assert (ran.code, ran.out) == (2, "") and "say --gpus N, --workload PROFILE" in ran.err
    assert not Path("pod.yaml").exists()


def test_all_wrong_options_are_told(run: Run, folder: Path) -> None:
    options = ["--server", "h100x", "--gpus", "60", "--workload", "pretrain", "--protocol", "ethernot"]
    ran = run("new", "pod", *options, "--racks", "many", "--budget", "-1", "--later", "8")
    assert ran.code == 2
    told = [line.partition(":")[0] for line in ran.err.splitlines()]
    assert told == ["--server", "--gpus", "--later", "--workload", "--protocol", "--racks", "--budget"]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("256", GpusInTime(256)),
        ("1,024 GPUs", GpusInTime(1024)),
        ("32 servers", GpusInTime(256)),
        ("256 then 1024 in 18 months", GpusInTime(256, 1024, 18)),
        ("256 now, 1024 later", GpusInTime(256, 1024)),
        ("32 servers now, then 128 servers after 24 months", GpusInTime(256, 1024, 24)),
        ("256 and 512 at month 6", GpusInTime(256, 512, 6)),
        ("256, 256", GpusInTime(256)),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, size: GpusInTime) -> None:
    assert READING.size(text, "nvidia-dgx-h100") == size


@pytest.mark.parametrize("text", ["", "many", "256 512 1024", "512 then 256", "0", "-8", "12", "8 then 16 in 0 months"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        READING.size(text, "nvidia-dgx-h100")


def test_halls_and_budgets_are_read_as_people_write_them() -> None:
    assert {READING.racks(text) for text in ("2x16", "2 x 16", "2 rows of 16 racks", "2*16")} == {(2, 16)}
    assert {READING.budget(text) for text in ("5M", "$5,000,000", "5 million", "5000000")} == {5000000}
    assert READING.racks("none") is READING.budget("") is None


OPTIONS = st.fixed_dictionaries(
    {
        "--server": st.sampled_from(SERVERS),
        "--gpus": st.sampled_from(["8 servers", "16 servers", "100 servers", "1000 servers", "5000 servers"]),
        "--workload": st.sampled_from([*PROFILES, *names("models")]),
    },
    optional={
        "--later": st.sampled_from(["5000 servers", "6000 servers in 36 months"]),
        "--protocol": st.sampled_from(["any", "roce", "ib"]),
        "--racks": st.sampled_from(["1x4", "2 x 16", "40x40"]),
        "--budget": st.sampled_from(["1", "250K", "$1,000,000,000"]),
    },
)


FEW = ("8 servers", "16 servers")


def written(run: Run, options: dict[str, str]) -> bool:
    """Whether a case could be written; else it is said in sentences what is wrong, none of the file itself."""
    ran = run("new", "pod", "--force", *(word for option in options.items() for word in option))
    if ran.code == 0:
        return True
    assert ran.code == 2 and ran.err and "internal error" not in ran.err and "unknown key" not in ran.err
    return False


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(options=OPTIONS)
def test_what_is_written_can_be_solved(run: Run, folder: Path, options: dict[str, str]) -> None:
    if written(run, options):
        inputs = read_inputs("pod.yaml")
        assert problem_of(inputs.case, inputs.catalog).servers >= 8
        assert (inputs.case.site.floor is not None) == ("--racks" in options)
        assert (inputs.case.limits.budget_usd is not None) == ("--budget" in options)
        assert len(inputs.case.stages or ()) == 2 * ("--later" in options)


@pytest.mark.long
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(options=OPTIONS)
def test_much_of_what_is_written_can_be_solved(run: Run, folder: Path, options: dict[str, str]) -> None:
    if written(run, options):
        inputs = read_inputs("pod.yaml")
        assert problem_of(inputs.case, inputs.catalog).servers >= 8


@pytest.mark.long
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(options=OPTIONS.filter(lambda options: options["--gpus"] in FEW and "--later" not in options))
def test_what_is_written_solves_or_says_why_not(run: Run, folder: Path, options: dict[str, str]) -> None:
    if written(run, options):
        design = optimize.solve(read_inputs("pod.yaml"), alternatives_s=0)
        assert design.status == "optimal" or (design.status == "infeasible" and design.conflicts)
        assert all(check.ok for check in design.checks)
