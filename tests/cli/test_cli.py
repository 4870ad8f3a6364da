"""The command line: exit codes, what goes to which stream, files whole or not at all, no traceback ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import fabopt
from fabopt.cli import main
from fabopt.cli.schemas import write_schemas
from fabopt.cli.starter import starter_text
from fabopt.io.case import read_inputs
from fabopt.io.design import read_design
from fabopt.output.terminal.schema_keys import SCHEMAS, schema_bytes, schema_file
from fabopt.program.solvers import ENGINES
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.samples.cli_samples import HEAVY, TINY, Run, case_content, write_case

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Design:
    path = tmp_path_factory.mktemp("solved") / "case.yaml"
    path.write_text(yaml.safe_dump(case_content(catalog=[str(TINY)])))
    return optimize.solve(read_inputs(path))


# -- solve ------------------------------------------------------------------------------------------------------


def test_solve_prints_a_summary(run: Run) -> None:
    code, out, err = run("solve", "case.yaml", "--full")
    assert (code, err) == (0, "")
    rest = out.splitlines()
    assert " ".join(out.split("\n\n")[0].split()) == (
        "pod: 1 switch for 8 GPUs in 4 servers, $17,440 and 260 W - "
        "the cheapest Clos with one plane, aligned rails, even stripes, "
        "equal groups but for the last, one switch type a tier (leaves of the last group may be of another "
        "with the same ports); proven. "
        "prices: the bill is 77 % prices of unknown source, 23 % list prices"
    )
    assert any(line.split() == ["leaf", "acme-t4", "1", "8", "x", "400G", "-", "-"] for line in rest)
    assert any(line.split() == ["cables", "8", "$1,440", "8", "%", "-"] for line in rest)
    assert any("proven optimal" in line for line in rest)
    assert not any(line != line.rstrip() for line in rest)


def test_show_prints_what_solve_did(run: Run) -> None:
    solved = run("solve", "case.yaml", "--json", "design.json")
    assert run("show", "design.json") == solved and solved.out.startswith("Cluster")
    content = json.loads(Path("design.json").read_text())
    for key in ("totals", "stages"):
        Path("part.json").write_text(json.dumps({**content, key: []} if key == "stages" else {**content, key: None}))
        told = run("show", "part.json")
        assert told.code == 2 and told.err.startswith(f"part.json: {key}: a design with fabrics has this too")
    whole = run("show", "design.json", "--full")
    assert "Proof" in whole.out and whole.out.startswith("pod: 1 switch")


@pytest.mark.long(but=("80",))
@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_summary_fits_any_width(run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert run("solve", "case.yaml", "--full").code == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_leaves_standard_output_alone(run: Run, engine: str) -> None:
    code, out, err = run("solve", "case.yaml", "--engine", engine, "--json", "-", "--alternatives", "0")
    assert code == 0
    assert json.loads(out)["totals"]["capex_usd"] == 17440
    assert err.startswith("pod: 1 switch")


def test_solve_writes_what_was_asked_for(run: Run, folder: Path) -> None:
    assert run("solve", "case.yaml", "--json", "design.json", "--bom", "bill.xlsx").code == 0
    assert read_design("design.json").status == "optimal"
    assert Path("bill.xlsx").read_bytes().startswith(b"PK")
    assert sorted(path.name for path in folder.iterdir()) == ["acme.yaml", "bill.xlsx", "case.yaml", "design.json"]


def test_bill_to_standard_output(run: Run) -> None:
    code, out, _ = run("solve", "case.yaml", "--bom", "-")
    assert (code, out.splitlines()[0].split(",")[:3]) == (0, ["stage", "fabric", "kind"])


def test_the_same_case_gives_the_same_file(run: Run) -> None:
    files = []
    for _ in range(2):
        content = json.loads(run("solve", "case.yaml", "--json", "-").out)
        del content["objective"]["solve_s"]
        files.append(content)
    assert files[0] == files[1]


def test_catalog_and_prices_from_the_command_line(run: Run) -> None:
    write_case(catalog=["./none.yaml"])
    code, out, _ = run("solve", "case.yaml", "--catalog", "./acme.yaml", "--price-change", "cable=+100%", "--json", "-")
    content = json.loads(out)
    assert code == 0 and content["totals"]["capex_usd"] == 17440 + 1440
    assert content["case"]["content"]["catalog"] == ["./acme.yaml"]
    assert "price change cable=+100%" in content["notes"]


def test_an_example_case_is_solved_by_name(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "cases").mkdir()
    write_case("cases/example.yaml", catalog=["../acme.yaml"])
    monkeypatch.setattr("fabopt.io.library.checkout", lambda: folder)
    assert run("solve", "example").code == 0
    assert "example" in run("cases").out


def test_an_example_is_copied_with_what_it_goes_on_from(run: Run, folder: Path) -> None:
    assert run("cases", "copy", "live-h100-64", "mine").code == 0
    assert sorted(path.name for path in (folder / "mine").iterdir()) == ["live-h100-64.base.json", "live-h100-64.yaml"]
    base = read_inputs("mine/live-h100-64.yaml").case.base
    assert base is not None and base.design is not None
    again = run("cases", "copy", "live-h100-64", "mine")
    assert again.code == 2 and "live-h100-64.base.json: there is such a file already" in again.err


def test_infeasible_is_exit_3_and_still_writes_the_file(run: Run) -> None:
    write_case(limits={"budget_usd": 100})
    code, out, err = run("solve", "case.yaml", "--json", "design.json", "--bom", "bill.csv")
    assert (code, out) == (3, "")
    assert err.startswith("pod: no design meets this case (proven).\nNot met     a budget of $100\n")
    assert "Paste       limits: {budget_usd: 17440}" in err
    assert "limits.budget_usd: is $100; needs $17,440" in run("solve", "case.yaml", "--full").err
    assert run("show", "design.json") == (0, "", err)
    design = json.loads(Path("design.json").read_text())
    assert (design["status"], design["fabrics"]) == ("infeasible", [])
    assert design["conflicts"][0]["needed"] == 17440
    assert not Path("bill.csv").exists()
    assert run("bom", "case.yaml", "-o", "bill.csv").code == 3


def test_nearest_design_is_taken_where_it_is_asked_for(run: Run) -> None:
    write_case(limits={"budget_usd": 100})
    run("solve", "case.yaml", "--json", "none.json")
    refused = run("export", "none.json", "--to", "cables", "-o", "out")
    assert (
        refused.code == 2 and refused.err.endswith("--nearest takes the nearest design\n") and not Path("out").exists()
    )
    assert run("export", "none.json", "--nearest", "--to", "cables", "-o", "out").code == 0
    assert run("check", "none.json", "--nearest", "--solve").code == 0
    assert "the nearest design to a case whose limits" in run("show", "none.json", "--nearest").out
    write_case()
    run("solve", "case.yaml", "--json", "design.json")
    for command in ("bom", "report"):
        ending = {"bom": "csv", "report": "html"}[command]
        assert run(command, "none.json", "--nearest", "-o", f"a.{ending}").code == 0
        assert run(command, "design.json", "--nearest", "-o", f"b.{ending}").code == 2
        assert run(command, "none.json", "--nearest", "--point", "1", "-o", f"b.{ending}").code == 2
    assert run("bom", "design.json", "-o", "b.csv").code == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, fabopt.NoAnswerError("no time left")])
def test_stopped_with_nothing_is_exit_4_and_still_writes_the_file(
    run: Run, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise stop

    monkeypatch.setattr(optimize, "solve", stopped)
    code, out, err = run("solve", "case.yaml", "--json", "design.json")
    assert (code, out) == (4, "")
    assert "stopped before any design was found" in err
    assert json.loads(Path("design.json").read_text())["status"] == "unknown"


def test_an_interrupt_while_reading_is_exit_4(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fabopt.cli.solving.read_inputs", interrupted)
    assert run("solve", "case.yaml") == (4, "", "interrupted\n")


def test_a_fault_of_our_own_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(optimize, "solve", broken)
    code, out, err = run("solve", "case.yaml")
    assert (code, out) == (4, "") and err.startswith(
        "internal error: ZeroDivisionError: division by zero; please report"
    )
    monkeypatch.setenv("FABOPT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["solve", "case.yaml"])


def test_a_failed_check_is_exit_1(run: Run, monkeypatch: pytest.MonkeyPatch, solved: Design) -> None:
    broken = solved.checks[0].model_copy(update={"ok": False})
    design = solved.model_copy(update={"checks": (broken,)})
    monkeypatch.setattr(optimize, "solve", lambda *_, **__: design)
    code, _, err = run("solve", "case.yaml")
    assert code == 1 and f"check {broken.name} FAILED" in err


# -- wrong input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "none.yaml"], "none.yaml: no such file"),
        (["solve", "."], ".: cannot be read"),
        (["solve", "x" * 5000], "cannot be read"),
        (["solve", "case.yaml", "--json", "no/design.json"], "there is no folder"),
        (["solve", "case.yaml", "--json", "."], "is a folder"),
        (["solve", "case.yaml", "--bom", "bill.pdf"], "allowed: .csv, .xlsx, .json"),
        (["solve", "case.yaml", "--json", "-", "--bom", "-"], "only one output"),
        (["solve", "case.yaml", "--engine", "gurobi"], "gurobi"),
        (["solve", "case.yaml", "--time-limit", "0"], "more than 0 seconds"),
        (["solve", "case.yaml", "--time-limit", "inf"], "more than 0 seconds"),
        (["solve", "case.yaml", "--catalog", "nothing"], "--catalog: unknown catalog"),
        (["solve", "case.yaml", "--price-change", "nic"], "KIND=+20%"),
        (["solve"], "CASE"),
        (["sovle"], "solve"),
        (["bom", "case.yaml"], "-o"),
        (["bom", "case.yaml", "-o", "bill"], "allowed: .csv, .xlsx, .json"),
        (["bom", "none.json", "-o", "bill.csv"], "none.json: no such file"),
        (["formulation", "case.yaml", "-o", "program.txt"], "allowed: .lp, .mps"),
        (["check", "case.yaml"], "this is not a design but a case"),
        (["check", "none.json"], "no such file"),
        (["schema", "swich"], "did you mean `switch`?"),
        (["catalog", "list", "swiches"], "did you mean `switches`?"),
        (["catalog", "show", "acme-t5", "--catalog", "./acme.yaml"], "did you mean `acme-t4`?"),
        (["catalog", "check", "none"], "unknown catalog"),
        (["new", "Pod", "--gpus", "8", "--server", "nvidia-dgx-h100", "--workload", "mixed"], "kebab-case"),
        (
            ["new", "pod", "--gpus", "7", "--server", "nvidia-dgx-h100", "--workload", "mixed"],
            "a multiple of the 8 GPUs",
        ),
        (["new", "pod", "--gpus", "8", "--server", "nvidia-dgx-h10", "--workload", "mixed"], "`nvidia-dgx-h100`"),
        (["new", "pod", "--gpus", "8", "--server", "nvidia-dgx-h100", "--workload", "mix"], "`mixed`"),
    ],
)
def test_wrong_input_is_exit_2(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_all_faults_are_told_at_once(run: Run) -> None:
    write_case(server=5, servers="many", fabrik=[])
    assert len(run("solve", "case.yaml").err.splitlines()) == 3


def test_outputs_are_checked_before_solving(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimize, "solve", lambda *_, **__: pytest.fail("solved for nothing"))
    assert run("solve", "case.yaml", "--json", "no/such/folder/design.json").code == 2


def test_control_characters_never_reach_the_terminal(run: Run) -> None:
    assert "\x1b" not in run("solve", "\x1b[31mred.yaml").err


# -- check, bom, formulation --------------------------------------------------------------------------------------


def test_check_proves_a_saved_design(run: Run) -> None:
    run("solve", "case.yaml", "--json", "design.json")
    code, out, err = run("check", "design.json")
    assert (code, err) == (0, "")
    *lines, verdict = out.splitlines()
    assert lines and all(line.startswith(("ok ", "    ")) for line in lines)
    assert verdict.startswith("pod: all ") and verdict.endswith("checks hold")


def test_check_rejects_a_changed_design(run: Run) -> None:
    run("solve", "case.yaml", "--json", "design.json", "--alternatives", "0")
    content = json.loads(Path("design.json").read_text())
    content["totals"]["capex_usd"] -= 1
    Path("design.json").write_text(json.dumps(content))
    code, out, _ = run("check", "design.json")
    assert code == 1 and "FAIL" in out


def test_there_is_nothing_to_check_without_a_design(run: Run) -> None:
    write_case(limits={"budget_usd": 100})
    run("solve", "case.yaml", "--json", "design.json")
    code, _, err = run("check", "design.json")
    assert code == 2 and "no design here to check; found 'infeasible'" in err


@pytest.mark.long("xlsx")
@pytest.mark.parametrize("ending", ["csv", "json", "xlsx"])
def test_the_bill_of_a_case_is_that_of_its_design(run: Run, ending: str) -> None:
    run("solve", "case.yaml", "--json", "design.json", "--bom", f"a.{ending}", "--alternatives", "0")
    assert run("bom", "design.json", "-o", f"b.{ending}").code == 0
    assert run("bom", "case.yaml", "-o", f"c.{ending}").code == 0
    assert Path(f"a.{ending}").read_bytes() == Path(f"b.{ending}").read_bytes()
    if ending != "xlsx":  # the workbook says how long the search took
        assert Path(f"a.{ending}").read_bytes() == Path(f"c.{ending}").read_bytes()


def test_a_bill_looks_at_no_alternatives(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    solve = optimize.solve

    def spied(*args: Any, **keys: Any) -> Design:
        looks.append(keys["alternatives_s"])
        return solve(*args, **keys)

    monkeypatch.setattr(optimize, "solve", spied)
    assert run("bom", "case.yaml", "-o", "bill.csv").code == 0
    assert run("solve", "case.yaml").code == 0
    assert looks[0] == 0 < looks[1]


@pytest.mark.parametrize(("target", "start"), [("a.lp", "\\"), ("a.mps", "*"), ("-", "\\")])
def test_the_formulation_is_written(run: Run, target: str, start: str) -> None:
    code, out, _ = run("formulation", "case.yaml", "-o", target)
    assert code == 0
    text = out if target == "-" else Path(target).read_text()
    assert text.startswith(f'{start} The integer program of the case "pod". See docs/formulation.md.')
    assert ("\nROWS\n" if target.endswith(".mps") else "\nSubject To\n") in text


# -- the shelf --------------------------------------------------------------------------------------------------


def test_the_catalog_is_listed_shown_and_checked(run: Run) -> None:
    assert "reference" in run("catalog", "list").out
    listed = run("catalog", "list", "switches", "--catalog", "./acme.yaml").out
    assert "acme-t4" in listed and "$4,000" in listed
    assert "acme-mpo" in run("catalog", "list", "--catalog", "./acme.yaml").out
    shown = run("catalog", "show", "acme-t4", "--catalog", "./acme.yaml").out
    assert shown.startswith("id: acme-t4") and "url example" in shown
    code, out, _ = run("catalog", "check", "./acme.yaml")
    assert code == 0 and out.startswith("./acme.yaml: 1 switch, 1 nic, 1 transceiver")


def test_a_catalog_check_finds_dangling_ids(run: Run) -> None:
    content = yaml.safe_load(TINY.read_text())
    content["servers"][0]["nics"] = [{"id": "acme-nik", "count": 1}]
    Path("acme.yaml").write_text(yaml.safe_dump(content))
    code, _, err = run("catalog", "check", "./acme.yaml")
    assert code == 2 and "did you mean `acme-nic`?" in err


def test_the_reference_catalog_is_sound(run: Run) -> None:
    assert run("catalog", "check").code == 0


@pytest.mark.long
def test_models_may_be_none(run: Run) -> None:
    assert run("models").code == 0


def test_a_model_says_what_it_takes(run: Run, folder: Path) -> None:
    """A model file of one's own: its size by hand, plans, and where none fits the number of GPUs on which one does."""
    architecture = "{layers: 64, hidden: 8192, heads: 64, feed_forward: 32768, vocabulary: 32768, sequence: 4096}"
    (folder / "mine.yaml").write_text(
        f"architecture: {architecture}\nplan: {{tensor: 8, pipeline: 4, batch: 512}}\n"
        "sources: [{url: none, kind: estimate}]\n"
    )
    code, out, err = run("models", "./mine.yaml")
    billions = (64 * (4 * 8192**2 + 3 * 8192 * 32768 + 2 * 8192) + 2 * 8192 * 32768 + 8192) / 10**9
    assert code == 0 and out.startswith(f"mine: training of {billions:,.4g} billion parameters, in bf16")
    assert "its own: tensor 8, pipeline 4" in out and "none fits, some do on 16" in out
    assert "80 GB a GPU" in err
    assert run("models", "./nothing.yaml").code == 2


@pytest.mark.parametrize("kind", SCHEMAS)
def test_schemas_are_printed_and_current(run: Run, kind: str) -> None:
    code, out, _ = run("schema", kind)
    assert code == 0 and json.loads(out)["title"] == f"fabopt {kind}"
    assert schema_file(kind).read_bytes() == schema_bytes(kind), "run `make schemas`"


def test_schemas_are_written_together(folder: Path) -> None:
    write_schemas(folder / "schemas")
    assert {path.stem for path in (folder / "schemas").iterdir()} == set(SCHEMAS)


# -- new --------------------------------------------------------------------------------------------------------


def new(name: str, *options: str, gpus: int = 8) -> list[str]:
    return ["new", name, "--gpus", str(gpus), "--server", "acme-gpu2", "--workload", "pretraining", *options]


def test_a_new_case_solves_as_it_is(run: Run) -> None:
    code, out, err = run(*new("pod-8", "--catalog", "./acme.yaml"))
    assert (code, out) == (0, "") and "fabopt solve pod-8.yaml" in err
    assert run("solve", "pod-8.yaml").code == 0
    first = Path("pod-8.yaml").read_text().splitlines()[0]
    schema = Path(first.removeprefix("# yaml-language-server: $schema="))
    assert schema.is_absolute() and json.loads(schema.read_text())["title"] == "fabopt case"


@pytest.mark.long("generic-hgx-a100")
@pytest.mark.parametrize("server", ["nvidia-dgx-h100", "generic-hgx-a100"])
def test_a_new_case_of_the_reference_catalog_solves_as_it_is(run: Run, server: str) -> None:
    assert run("new", "pod", "--gpus", "64", "--server", server, "--workload", "pretraining").code == 0
    assert optimize.solve(read_inputs("pod.yaml"), alternatives_s=0).status == "optimal"


def test_a_new_case_names_its_catalog_from_where_it_stands(run: Run, folder: Path) -> None:
    (folder / "deep").mkdir()
    assert run(*new("pod-8", "--catalog", "acme.yaml", "-o", "deep/pod.yaml")).code == 0
    assert run("solve", "deep/pod.yaml").code == 0


def test_a_new_case_in_a_checkout_names_the_schema_relatively(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fabopt.cli.starter import Starter

    monkeypatch.setattr("fabopt.cli.starter.checkout", lambda: folder)
    schema = folder / "docs" / "schemas" / "case.json"
    wanted = Starter("pod", 8, "acme-gpu2", "mixed", ["./acme.yaml"], folder / "cases", schema)
    assert starter_text(wanted).startswith("# yaml-language-server: $schema=../docs/schemas/case.json\n")


@pytest.mark.parametrize("name", ["2027", "1.5", "1e5", "true", "null"])
def test_a_new_case_has_its_name_where_that_could_be_a_number(run: Run, name: str) -> None:
    assert run(*new(name, "--catalog", "./acme.yaml")).code == 0
    assert read_inputs(f"{name}.yaml").case.name == name


def test_a_new_case_replaces_nothing_unasked(run: Run) -> None:
    Path("pod.yaml").write_text("mine")
    code, _, err = run(*new("pod", "--catalog", "./acme.yaml"))
    assert code == 2 and "--force" in err and Path("pod.yaml").read_text() == "mine"
    assert run(*new("pod", "--catalog", "./acme.yaml", "--force")).code == 0


def test_a_new_case_goes_to_standard_output(run: Run) -> None:
    code, out, err = run(*new("pod", "--catalog", "./acme.yaml", "-o", "-"))
    assert (code, err) == (0, "") and yaml.safe_load(out)["name"] == "pod"


def test_a_new_case_asks_no_more_than_the_server_can_give(run: Run) -> None:
    content = yaml.safe_load(TINY.read_text())
    content["servers"][0]["pcie"]["generation"] = 4
    content["nics"][0]["cages"][0]["splits"] = ["1x200"]
    Path("acme.yaml").write_text(yaml.safe_dump(content))
    out = run(*new("pod", "--catalog", "./acme.yaml", "-o", "-")).out
    assert yaml.safe_load(out)["fabrics"][0]["min_gbps_per_gpu"] == 200


# -- the program itself -------------------------------------------------------------------------------------------


def python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(fabopt.__file__).parent.parent)}
    return subprocess.run([sys.executable, *arguments], env=environment, text=True, timeout=120, check=False, **options)


def test_help_imports_nothing_heavy() -> None:
    # Some versions of typer import pydantic themselves for the help of a single command.
    for arguments, heavy in ((["--help"], HEAVY), (["--version"], HEAVY), (["solve", "--help"], HEAVY - {"pydantic"})):
        program = (
            "import sys; from fabopt.cli import main; code = main(sys.argv[1:]); "
            f"print(sorted({heavy!r} & set(sys.modules)), file=sys.stderr); sys.exit(code)"
        )
        ran = python("-c", program, *arguments, capture_output=True)
        assert (ran.returncode, ran.stderr) == (0, "[]\n")
    assert f"fabopt {fabopt.__version__}" in python("-m", "fabopt", "--version", capture_output=True).stdout


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = f"import sys, fabopt; print(sorted({HEAVY!r} & set(sys.modules)))"
    assert python("-c", program, capture_output=True).stdout == "[]\n"


@pytest.mark.long
def test_a_reader_that_leaves_early_is_no_error() -> None:
    program = (
        "import subprocess, sys; run = subprocess.Popen([sys.executable, '-m', 'fabopt', *sys.argv[1:]], "
        "stdout=subprocess.PIPE); run.stdout.read(1); run.stdout.close(); sys.exit(run.wait())"
    )
    for arguments in (["schema", "catalog"], ["catalog", "list", "switches"], ["--help"]):
        ran = python("-c", program, *arguments, capture_output=True)
        assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_a_message() -> None:
    with open("/dev/full", "w") as full:
        ran = python("-m", "fabopt", "schema", "case", stdout=full, stderr=subprocess.PIPE)
    assert (ran.returncode, ran.stderr) == (2, "standard output: cannot be written: No space left on device\n")


def test_links_and_devices_are_not_replaced(run: Run) -> None:
    Path("real.json").write_text("")
    Path("link.json").symlink_to("real.json")
    assert run("schema", "case", "-o", "link.json").code == 0
    assert Path("link.json").is_symlink() and Path("real.json").read_text().startswith("{")
    assert run("schema", "case", "-o", os.devnull).code == 0
    assert not Path(os.devnull).is_file()
