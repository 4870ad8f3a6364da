"""Points of sweeps and fronts as designs: `--point N` of check, bom, report and export; parts are in a file once."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from fabopt.cli import main
from fabopt.design.points import design_at, gathered, spread
from fabopt.io.case import inputs_from_objects
from fabopt.io.design import read_front
from fabopt.output.export.design import design_bytes
from fabopt.output.steps import causes_of, step_of
from fabopt.output.words import KIND_NAMES, money, signed_money
from fabopt.schema.design import Front
from fabopt.solution import optimize
from tests.samples import small
from tests.samples.page_samples import outside
from tests.samples.shipped import in_run
from tests.solution import test_pair

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
    ["export", "--to", "cables,ports,dot,plan", "-o", "out"],
)
# What the search of one case alone says.
SEARCHED = {"solve_s", "candidates", "candidates_in_program"}
SAME = (
    "parts", "parts_sha256", "rules", "status", "totals", "fabrics", "stages", "bom", "notes",
    "single_points_of_failure", "rules_left_out",
)  # fmt: skip


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("parts.json").write_text(json.dumps({"name": "parts", **small.catalog()}))
    Path("case.json").write_text(json.dumps({**CASE, "catalog": ["./parts.json"]}))
    return tmp_path


def studied(name: str) -> Json:
    content: Json = json.loads(study_of(STUDIES[name]))
    return content


def study_of(words: Sequence[str]) -> bytes:
    """What a command writes of the case that is there, now in ``study.json``."""

    def work() -> bytes:
        assert main([*words, "--json", "study.json"]) == 0
        return Path("study.json").read_bytes()

    there = [Path(name).read_text() for name in ("case.json", "parts.json")]
    written_of = in_run(work, f"points {words} {there}")
    Path("study.json").write_bytes(written_of)
    return written_of


def written(file: str, *words: str) -> dict[str, bytes]:
    """All that commands make of a file, by name; workbooks have a time of their own."""
    for command, *options in WRITTEN:
        assert main([command, file, *options, *words]) == 0
    paths = [path for path in Path().rglob("*") if path.is_file() and path.suffix not in (".json", ".xlsx")]
    return {str(path): path.read_bytes() for path in paths}


def alike(files: dict[str, bytes]) -> dict[str, bytes]:
    """Files without what they are made from: a plan says which file its design is, which that of a point is not."""
    return {
        name: b"\n".join(line for line in body.splitlines() if not line.startswith(b"design: "))
        if name.endswith("plan.yaml")
        else body
        for name, body in files.items()
    }


@pytest.mark.long("front")
@pytest.mark.parametrize("name", STUDIES)
def test_labels_tell_points_apart(name: str) -> None:
    content = studied(name)
    labels = [point["label"] for point in content["points"]]
    assert len(set(labels)) == len(labels) > 1
    last = {
        "servers": "servers=4",
        "ratios": "fabrics.compute.max_oversubscription=2",
        "budgets": "limits.budget_usd=90000",
    }
    assert name not in last or labels[-1] == last[name]


def test_labels_of_a_front_say_what_differs() -> None:
    """Ports of a server and Gb/s per GPU, where they differ; figures only where designs are alike in words."""
    front = read_front_of("--minimize", "capex_usd", "--maximize", "gbps_per_gpu")
    assert [point.label.split(", ")[:2] for point in front.points] == [
        [
            f"{point.fabrics[0].nic.per_server} x {point.fabrics[0].nic.gbps:g}G",
            f"{point.values['gbps_per_gpu']:g} Gb/s",
        ]
        for point in front.points
    ]
    assert not any("$" in point.label for point in front.points)
    alike = front.points[0].model_copy(update={"values": {**front.points[0].values, "capex_usd": 1}})
    twice = gathered(front.model_copy(update={"points": (front.points[0], alike)}))
    assert twice.points[1].label == f"$1, gbps_per_gpu {front.points[0].values['gbps_per_gpu']}"


def read_front_of(*objectives: str) -> Front:
    study_of(["pareto", "case.json", *objectives])
    return read_front("study.json")


def test_a_budget_takes_the_best_point_that_it_pays() -> None:
    front = read_front_of("--minimize", "capex_usd", "--maximize", "gbps_per_gpu")
    assert len(front.points) > 1
    for number, point in enumerate(front.points, 1):
        assert point.totals is not None
        for words in (["--point", str(number)], ["--budget", str(point.totals.capex_usd + 0.01)]):
            assert main(["bom", "study.json", *words, "-o", f"{words[0]}.csv"]) == 0
        assert Path("--point.csv").read_bytes() == Path("--budget.csv").read_bytes()


def test_a_budget_of_a_sweep_takes_its_largest_budget_within() -> None:
    studied("budgets")
    assert main(["report", "study.json", "--budget", "100K", "-o", "within.html"]) == 0
    assert main(["report", "study.json", "--point", "3", "-o", "third.html"]) == 0
    assert Path("within.html").read_bytes() == Path("third.html").read_bytes()


def test_a_point_at_the_budget_that_the_case_has() -> None:
    """The point's case is the case with that budget, as a fresh answer has it: what is written of it is proven."""
    Path("case.json").write_text(json.dumps({**CASE, "catalog": ["./parts.json"], "limits": {"budget_usd": 90000}}))
    last = studied("budgets")["points"][-1]
    assert main(["bom", "study.json", "--point", "3", "-o", "bill.csv"]) == 0
    fresh = optimize.solve(inputs_from_objects(Path("case.json")), alternatives_s=0)
    assert last["case"]["sha256"] == fresh.case.sha256


WRONG_BUDGETS = {
    ("servers", "20K"): "is not a front, nor a sweep over budgets",
    ("budgets", "2K"): "no point of study.json costs that little",
    ("budgets", "2K,3K"): "a design has one budget",
    ("budgets", "two"): "`two` is not a number",
}


@pytest.mark.parametrize(("name", "budget"), WRONG_BUDGETS)
def test_budgets_that_take_no_point_are_refused(name: str, budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    studied(name)
    assert main(["bom", "study.json", "--budget", budget, "-o", "x.csv"]) == 2
    assert WRONG_BUDGETS[name, budget] in capsys.readouterr().err
    assert main(["bom", "study.json", "--budget", budget, "--point", "1", "-o", "x.csv"]) == 2
    assert not Path("x.csv").exists()


def test_points_open_what_they_are_and_why_they_cost_it() -> None:
    """The page says dollars by kind and parts against the point before; dollars of kinds add up to the step."""
    front = read_front_of("--minimize", "capex_usd", "--maximize", "gbps_per_gpu")
    assert main(["report", "study.json", "-o", "page.html"]) == 0
    page = Path("page.html").read_text()
    assert page.count("<details>") >= len(front.points) and "against point 1" in page
    assert step_of(front, 1) == ""
    before, after = front.points[0], front.points[1]
    assert before.totals is not None and after.totals is not None
    told = step_of(front, 2)
    assert told.startswith(f"+{money(after.totals.capex_usd - before.totals.capex_usd)} against point 1: ")
    for kind in {*before.capex_by_kind, *after.capex_by_kind}:
        change = after.capex_by_kind.get(kind, 0) - before.capex_by_kind.get(kind, 0)
        assert change == 0 or f"{KIND_NAMES[kind]} {signed_money(change)}" in told


@pytest.mark.parametrize("name", ["servers", "ratios"])
def test_what_a_step_is_due_to_adds_up_to_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    studied(name)
    front = read_front(Path("study.json"))
    told = [causes_of(front, number) for number in range(1, len(front.points) + 1)]
    assert told[0] == "" and any(told)
    for before, after, words in zip(front.points, front.points[1:], told[1:], strict=False):
        assert before.totals is not None and after.totals is not None
        amounts = [sign + usd.replace(",", "") for sign, usd in re.findall(r"([+-])\$([\d,]+(?:\.\d\d)?)", words)]
        more, *parts = [round(100 * float(amount)) for amount in amounts] or [0]
        assert more == sum(parts) == round(100 * after.totals.capex_usd) - round(100 * before.totals.capex_usd)


def test_tables_have_gpus_ratio_and_the_unit_of_one_more() -> None:
    words = ["--minimize", "capex_usd", "--maximize", "gbps_per_gpu", "--csv", "front.csv"]
    front = read_front_of(*words)
    rows = list(csv.DictReader(Path("front.csv").read_text().splitlines()))
    assert [row["gpus"] for row in rows] == ["16"] * len(front.points)
    assert [row["label"] for row in rows] == [point.label for point in front.points]
    assert {row["ratio"] for row in rows} <= {"1:1", "0.5:1", "0.25:1", "0.75:1"} and rows[0]["ratio"]
    assert {row["marginal_unit"] for row in rows[1:]} == {"USD per Gb/s per GPU"}


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


@pytest.mark.long(but=("servers",))
@pytest.mark.parametrize("name", STUDIES)
def test_what_is_made_of_a_point_is_what_is_made_of_its_design(name: str) -> None:
    number = str(len(studied(name)["points"]))
    of_point = written("study.json", "--point", number)
    Path("design.json").write_bytes(design_bytes(design_at(read_front("study.json"), int(number))))
    of_design = written("design.json")
    assert len(of_point) > 8 and alike(of_design) == alike(of_point)
    plans = [files["out/plan.yaml"] for files in (of_point, of_design)]
    assert [b'design: "../design.json"' in plan.splitlines() for plan in plans] == [False, True]


# A point, and what a case is asked beside so that its answer is that point.
SOLVED_THERE: dict[str, tuple[int, Callable[[Json], Json]]] = {
    "servers": (1, lambda point: small.case(servers=2)),
    "ratios": (2, lambda point: small.case({"max_oversubscription": 2}, servers=4)),
    "budgets": (3, lambda point: {"limits": {"budget_usd": 90000}}),
    "front": (2, lambda point: {"limits": {"power_w": point["values"]["power_w"]}}),
}
FORMATS = "cables,ports,netbox,acceptance,plan"


def ordered(folder: str, *words: str) -> dict[str, bytes]:
    """All that is bought, built and read of a design, workbooks too, by name."""
    for command in ("bom -o bom.csv", "bom -o bom.xlsx", "bom -o bom.json", "report -o page.html"):
        name, option, output = command.split()
        Path(folder).mkdir(exist_ok=True)
        assert main([name, *words, option, f"{folder}/{output}"]) == 0
    assert main(["export", *words, "--to", FORMATS, "-o", folder]) == 0
    paths = [path for path in Path(folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.long
@pytest.mark.parametrize("name", STUDIES)
def test_the_order_of_a_point_is_that_of_the_design_solved_there(name: str) -> None:
    """Every byte of bill, workbook, page and exports: nothing of them depends on how long a machine took."""
    number, asked = SOLVED_THERE[name]
    point = studied(name)["points"][number - 1]
    of_point = ordered("point", "study.json", "--point", str(number))
    case = {**CASE, **asked(point), "catalog": ["./parts.json"]}
    Path("there.json").write_text(json.dumps(case))
    assert main(["solve", "there.json", "--alternatives", "0", "--json", "design.json"]) == 0
    of_design = ordered("design", "design.json")
    assert {"bom.xlsx", "page.html", "cables.xlsx"} <= of_point.keys()
    assert of_design.keys() == of_point.keys()
    assert b"design: " not in of_point["plan.yaml"]
    of_point, of_design = alike(of_point), alike(of_design)
    assert [file for file in of_design if of_design[file] != of_point[file]] == []
    assert design_at(read_front("study.json"), number).status == "optimal"
    if name == "budgets":
        assert alike(ordered("budget", "study.json", "--budget", "90K")) == of_point


@pytest.mark.long
def test_what_no_case_can_ask_for_is_no_proven_answer_to_it() -> None:
    """Headroom is traded, which no key of a case asks for; bandwidths have keys, and their points ask for them."""
    front = read_front_of("--minimize", "capex_usd", "--maximize", "headroom_servers")
    least, other = design_at(front, 1), design_at(front, len(front.points))
    assert (least.status, other.status) == ("optimal", "feasible") and "no design is better" in other.notes[-1]
    for metric in ("gbps_per_gpu", "bisection_gbps_per_gpu"):
        front = read_front_of("--minimize", "capex_usd", "--maximize", metric)
        fast = design_at(front, len(front.points))
        assert fast.status == "optimal" and len(front.points) > 1
        assert fast.case.content["fabrics"][0][f"min_{metric}"] == front.points[-1].values[metric]
        assert main(["check", "study.json", "--point", str(len(front.points))]) == 0


@pytest.mark.long("front")
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
    ("report", "study.json", "--pages", "-o", "-"): "--pages: pages of points stand beside a file",
    ("report", "study.json", "--pages", "--point", "1", "-o", "page.html"): "--pages: study.json is one design",
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


@pytest.mark.parametrize("study", [["sweep", "--over", "servers=2,4"], ["sweep", "--budget", "1500,9K"]], ids=" ".join)
def test_a_point_leaves_out_what_its_design_leaves_out(study: list[str]) -> None:
    """One port a server is on sale, so that no server is on two switches: each point says so, and is proven."""
    parts, case = test_pair.storage(test_pair.one_slot(test_pair.catalog()))
    Path("parts.json").write_text(json.dumps({"name": "parts", **parts}))
    Path("case.json").write_text(json.dumps({**case, "catalog": ["./parts.json"]}))
    assert main([study[0], "case.json", *study[1:], "--json", "study.json"]) == 0
    for number in range(1, 3):
        design = design_at(read_front(Path("study.json")), number)
        assert [row.name for row in design.rules_left_out] == ["rules.pair of storage"]
        assert main(["check", "study.json", "--point", str(number)]) == 0


@pytest.mark.long(but=("budgets",))
@pytest.mark.parametrize("name", ["budgets", "front"])
def test_pages_of_points_are_a_click_away(name: str) -> None:
    """Each number leads to the page that ``--point`` writes; a page without them leads nowhere."""
    content = studied(name)
    found = [number for number, point in enumerate(content["points"], 1) if point["fabrics"]]
    folder = Path("my front #1-points")
    folder.mkdir()
    (folder / "9.html").write_text("of an earlier front")
    assert main(["report", "study.json", "-o", "my front #1.html", "--pages"]) == 0
    links = re.findall(r'<a href="([^#"]+)">(\d+)</a>', Path("my front #1.html").read_text())
    assert [number for _, number in links] == list(map(str, found)) and links
    assert {path.name for path in folder.iterdir()} == {f"{number}.html" for number in found}
    for link, number in links:
        assert main(["report", "study.json", "--point", number, "-o", "point.html"]) == 0
        assert Path(unquote(link)).read_bytes() == Path("point.html").read_bytes()
    assert main(["report", "study.json", "-o", "alone.html"]) == 0
    assert outside(Path("alone.html").read_text()) == []
