"""The command sensitivity: exit codes, files, what is told; no traceback ever."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from fabopt.schema.sensitivity import Sensitivity
from tests.samples.cli_samples import Run, write_case


@pytest.fixture(autouse=True)
def budget(folder: Path) -> None:
    write_case(limits={"budget_usd": 20000})


def test_a_table_is_printed(run: Run) -> None:
    """One switch of 4,000, eight cards of 1,500 and their DACs of 180 are 17,440: 2,560 below the budget.

    So the switch may cost 6,560, 1.64 times as much.
    """
    code, out, err = run("sensitivity", "case.yaml", "--kind", "switch", "--part", "acme-t4")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert out.startswith("pod: purchase price $17,440, 2 price ranges, proven.\n  1 x acme-t4, ")
    assert " ".join(lines[5]) == "every switch free +64.0 % above: no design is within the budget"
    assert " ".join(lines[6]) == "acme-t4 $4,000 free +64.0 % above: no design is within the budget"
    assert lines[7] == ["$6,560"]


def test_files_hold_all_ranges(run: Run) -> None:
    code, _, err = run("sensitivity", "case.yaml", "--json", "s.json", "--csv", "s.csv")
    assert (code, err) == (0, "")
    found = Sensitivity.model_validate_json(Path("s.json").read_text())
    assert found.complete and found.objective.value == 17440
    assert [one.kind for one in found.ranges if one.kind] == ["switch", "nic", "cable"]
    rows = list(csv.DictReader(Path("s.csv").read_text().splitlines()))
    assert [row["kind"] or row["part"] for row in rows] == [one.kind or one.part for one in found.ranges]
    assert rows[0]["factor_high"] == "1.64" and rows[0]["high_summary"] == "no design is within the budget"


def test_standard_output_is_for_one_file(run: Run) -> None:
    code, out, err = run("sensitivity", "case.yaml", "--kind", "nic", "--json", "-")
    assert code == 0 and json.loads(out)["ranges"][0]["kind"] == "nic"
    assert err == "pod: purchase price $17,440, 1 price range, proven.\n"


def test_the_same_file_on_every_run(run: Run) -> None:
    texts = []
    for engine in ("cp-sat", "highs"):
        assert run("sensitivity", "case.yaml", "--engine", engine, "--json", "s.json").code == 0
        content = json.loads(Path("s.json").read_text())
        del content["objective"]
        texts.append(content)
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--json", "gone/s.json"], "gone/s.json: there is no folder"),
        (["--csv", "."], ".: is a folder; name a file"),
        (["--kind", "cabel"], "--kind: no such kind of product; found 'cabel'; allowed: switch, nic"),
        (["--part", "acme-t5"], "--part: no such product of the catalog; found 'acme-t5'"),
        (["--time-limit", "0"], "--time-limit: not a time; found 0.0"),
    ],
)
def test_what_is_wrong_is_found_before_work(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run("sensitivity", "case.yaml", *arguments)
    assert (code, out) == (2, "") and err.startswith(message)


def test_exit_3_where_nothing_meets_the_case(run: Run) -> None:
    write_case("poor.yaml", limits={"budget_usd": 10})
    code, out, err = run("sensitivity", "poor.yaml", "--json", "s.json")
    assert (code, out) == (3, "") and "limits.budget_usd: is $10; needs $17,440" in err
    found = Sensitivity.model_validate_json(Path("s.json").read_text())
    assert found.status == "infeasible" and found.conflicts[-1].needed == 17440 and found.ranges == ()


def test_exit_4_where_the_time_is_over_before_an_answer(run: Run) -> None:
    code, out, err = run("sensitivity", "case.yaml", "--time-limit", "1e-9", "--json", "s.json")
    assert (code, out) == (4, "") and err.startswith("pod: stopped before any design was found.")
    assert json.loads(Path("s.json").read_text())["status"] == "unknown"
