"""Points of sweeps and fronts as designs: `--point N` of check, bom, report and export; parts are in a file once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabopt.cli import main
from fabopt.design.points import design_at, gathered, spread
from fabopt.io.case import inputs_from_objects
from fabopt.io.design import read_front
from fabopt.output.export.design import design_bytes
from fabopt.solution import optimize
from tests.samples import small

Json = dict[str, Any]
CASE = {"name": "pod", **small.case(servers=4)}
STUDIES = {
    "servers": ["sweep", "case.json", "--over", "servers=2,4"],
    "ratios": ["sweep", "case.json", "--over", "fabrics.compute.max_oversubscription=1,2"],
    "budgets": ["sweep", "case.json", "--budget", "1000,20K,90K"],
    "front": ["pareto", "case.json", "--minimize", "capex_usd", "--minimize", "power_w", "--points", "3"],
}
WRITTEN = (
    ["bom", "-o", "bill.csv"],
    ["bom", "-o", "bill.xlsx"],
    ["report", "-o", "page.html"],
    ["export", "--to", "cables,ports,dot", "-o", "out"],
)
# What of a design comes from its point, or is of the search alone.
# what the search of one case alone says
SEARCHED = {"solve_s", "candidates", "candidates_in_program", "floor"}
SAME = (
    "parts", "parts_sha256", "rules", "status", "totals", "fabrics", "stages", "bom", "notes",
    "single_points_of_failure",
)  # fmt: skip


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("parts.json").write_text(json.dumps({"name": "parts", **small.catalog()}))
    Path("case.json").write_text(json.dumps({**CASE, "catalog": ["./parts.json"]}))
    return tmp_path


def studied(name: str) -> Json:
    assert main([*STUDIES[name], "--json", "study.json"]) == 0
    content: Json = json.loads(Path("study.json").read_text())
    return content


def written(file: str, *words: str) -> dict[str, bytes]:
    """All that commands make of a file, by name; workbooks have a time of their own."""
    for command, *options in WRITTEN:
        assert main([command, file, *options, *words]) == 0
    paths = [path for path in Path().rglob("*") if path.is_file() and path.suffix not in (".json", ".xlsx")]
    return {str(path): path.read_bytes() for path in paths}


@pytest.mark.parametrize("name", STUDIES)
def test_labels_tell_points_apart(name: str) -> None:
    content = studied(name)
    labels = [point["label"] for point in content["points"]]
    assert len(set(labels)) == len(labels) > 1
    values = content["points"][-1]["values"]
    traded = f"capex_usd={values['capex_usd']}, power_w={values['power_w']}"
    last = {
        "servers": "servers=4",
        "ratios": "fabrics.compute.max_oversubscription=2",
        "budgets": "limits.budget_usd=90000",
    }
    assert labels[-1] == last.get(name, traded)


@pytest.mark.parametrize(("name", "values"), [("servers", (2, 4)), ("ratios", (1, 2))])
def test_points_of_a_sweep_are_what_solve_answers(name: str, values: tuple[int, ...]) -> None:
    studied(name)
    front = read_front("study.json")
    for number, value in enumerate(values, 1):
        changed = small.case(servers=value) if name == "servers" else small.case({"max_oversubscription": value})
        content = {**CASE, **{key: body for key, body in changed.items() if key in ("servers", "fabrics")}}
        content["servers"] = value if name == "servers" else 4
        inputs = inputs_from_objects({key: body for key, body in content.items() if key != "catalog"}, small.catalog())
        solved = optimize.solve(inputs, alternatives_s=0)
        point = design_at(front, number)
        assert point.objective.model_dump(exclude=SEARCHED) == solved.objective.model_dump(exclude=SEARCHED)
        assert point.case.content == {**solved.case.content, "catalog": ["./parts.json"]}
        assert {key: getattr(point, key) for key in SAME} == {key: getattr(solved, key) for key in SAME}


@pytest.mark.parametrize("name", STUDIES)
def test_what_is_made_of_a_point_is_what_is_made_of_its_design(name: str) -> None:
    number = str(len(studied(name)["points"]))
    of_point = written("study.json", "--point", number)
    Path("design.json").write_bytes(design_bytes(design_at(read_front("study.json"), int(number))))
    assert len(of_point) > 8 and written("design.json") == of_point


@pytest.mark.parametrize("name", STUDIES)
def test_every_point_is_proven_again(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for number, point in enumerate(studied(name)["points"], 1):
        capsys.readouterr()
        assert main(["check", "study.json", "--point", str(number)]) == (0 if point["fabrics"] else 2)
        told = capsys.readouterr()
        assert "checks hold" in told.out if point["fabrics"] else "no design here" in told.err


CHANGED = {"servers": {"servers", "stages"}, "ratios": {"fabrics"}, "budgets": {"limits"}, "front": set()}


@pytest.mark.parametrize("name", STUDIES)
def test_parts_are_in_the_file_once(name: str) -> None:
    content = studied(name)
    assert {"facts", "switch", "nic"} <= {body["kind"] for body in content["parts"].values()}
    assert not any(point["parts"] for point in content["points"])
    assert all(point["case"]["content"].keys() <= CHANGED[name] for point in content["points"])


def test_a_changed_point_fails_and_is_refused() -> None:
    content = studied("servers")
    content["points"][1]["bom"][0]["quantity"] += 1
    Path("study.json").write_text(json.dumps(content))
    assert main(["check", "study.json", "--point", "2"]) == 1
    assert main(["bom", "study.json", "--point", "2", "-o", "bill.csv"]) == 1 and not Path("bill.csv").exists()
    assert main(["check", "study.json", "--point", "1"]) == 0


def test_a_part_that_was_changed_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    content = studied("servers")
    next(body for body in content["parts"].values() if body["kind"] == "switch")["description"] = "another"
    Path("study.json").write_text(json.dumps(content))
    assert main(["check", "study.json", "--point", "1"]) == 1
    assert "facts of parts were changed" in capsys.readouterr().out


def test_parts_that_differ_from_point_to_point_stay_theirs() -> None:
    studied("servers")
    front = spread(read_front("study.json"))
    cheaper = {part: {**body, "notes": "second"} for part, body in front.points[1].parts.items() if part != "facts"}
    second = front.points[1].model_copy(update={"parts": {**front.points[1].parts, **cheaper}})
    changed = front.model_copy(update={"points": (front.points[0], second)})
    together = gathered(changed)
    assert not together.points[0].parts and set(together.points[1].parts) <= set(cheaper)
    assert spread(together) == changed


REFUSED = {
    ("check", "study.json"): "--point N takes the design of one",
    ("bom", "study.json", "-o", "x.csv"): "a sweep of 2 points",
    ("export", "study.json", "--to", "dot", "-o", "out"): "a sweep of 2 points",
    ("check", "study.json", "--point", "3"): "allowed: 1 to 2",
    ("check", "study.json", "--point", "0"): "allowed: 1 to 2",
    ("check", "design.json", "--point", "1"): "not a sweep or front",
    ("report", "study.json", "--front", "study.json", "-o", "page.html"): "--front: study.json is no design",
    ("bom", "study.json", "--point", "1", "-o", "x.csv", "--price-change", "switch=+1%"): "not solved again",
    ("check", "old.json", "--point", "1"): "points[0].bom: this point has no bill of materials",
}


@pytest.mark.parametrize("words", REFUSED)
def test_points_that_are_not_there_are_refused(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    content = studied("servers")
    Path("design.json").write_bytes(design_bytes(design_at(read_front("study.json"), 1)))
    for point in content["points"]:
        del point["case"], point["parts"], point["bom"]
    del content["parts"]
    Path("old.json").write_text(json.dumps(content))
    before = sorted(Path().iterdir())
    assert main(words) == 2
    assert REFUSED[words] in capsys.readouterr().err and sorted(Path().iterdir()) == before


def test_a_front_has_a_page_of_its_own() -> None:
    studied("front")
    assert main(["report", "study.json", "-o", "page.html"]) == 0
    page = Path("page.html").read_text()
    assert "<svg" in page and page.count("<tr") >= 3
