"""What the studio answers: cases read and changed, solved live, shown, broken, pinned, compared, traded."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.api import solve
from fabopt.cli import main
from fabopt.program.copies import processors
from fabopt.studio.folder import folder_of_answers
from fabopt.studio.trading import _in_words
from tests.paths import ROOT
from tests.studio.served import Served, serve, wait_until

CASE = """\
name: small
server: nvidia-dgx-h100
servers: 16  # two racks
workload: {profile: pretraining}
fabrics:
  - name: compute
    protocol: infiniband
site: {floor: {rows: 1, racks_per_row: 8}}
"""
FRONT = (ROOT / "cases" / "l40s-inference-256.yaml").read_text()
# No fabric is named, and its demand is a profile's; slots are open, so that there is a front.
SLOTS = "name: slots\nserver: generic-hgx-h100\nservers: 8\nworkload: {profile: inference}\n"
OF_MODEL = SLOTS.replace("profile: inference", "model: llama3-8b, plan: auto")
INFEASIBLE = CASE + "limits: {budget_usd: 1000}\n"


@pytest.fixture(scope="package")
def solved(studio: Served) -> dict[str, Any]:
    return studio.solved("first", CASE)


def workers_of(folder: Path) -> list[int]:
    """Processes of workers of a folder."""
    own = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"fabopt.studio.worker" in words and str(folder).encode() in words:
            own.append(int(process))
    return own


def copies_of(folder: Path) -> list[int]:
    """Processes that workers of a folder have forked."""
    workers = workers_of(folder)
    stats = {own: Path(f"/proc/{own}/stat").read_text() for own in workers}
    return [own for own, stat in stats.items() if int(stat.rpartition(")")[2].split()[1]) in workers]


def test_answer_is_that_of_solve(studio: Served, solved: dict[str, Any]) -> None:
    result = solve(yaml.safe_load(CASE), alternatives_s=0)
    assert solved["answer"]["status"] == "optimal"
    assert result.design.totals is not None
    assert solved["answer"]["facts"]["capex_usd"] == result.design.totals.capex_usd
    shown = {label: words for label, words, _ in solved["answer"]["screen"]}
    assert {label: words for label, words in result.screen if label}.items() <= shown.items()
    assert solved["ended"]["code"] == 0
    assert solved["compared"]["row"]["what"]
    assert solved["progress"]["share"] is None or 0 <= solved["progress"]["share"] <= 1


@pytest.mark.long
def test_prices_of_kinds_change_the_answer(studio: Served, solved: dict[str, Any]) -> None:
    dearer = studio.solved("prices", CASE, prices={"switch": 50, "cable": 0})
    assert dearer["answer"]["facts"]["capex_usd"] > solved["answer"]["facts"]["capex_usd"]
    assert studio.solved("prices", CASE, prices={"no": 50})["ended"]["code"] == 2
    assert studio.post("/api/solve", desk="prices", text=CASE, prices={"switch": "x"}).status == 400
    for at, asked in (("/api/front", {"metric": "gbps_per_gpu"}), ("/api/sweep", {"over": "servers", "values": [16]})):
        run = studio.post(at, desk="prices", text=CASE, prices={"switch": 50}, **asked).json["run"]
        points = dict(studio.events("prices", until="front-ended", run=run))["front-points"]["points"]
        assert points[0]["capex_usd"] == dearer["answer"]["facts"]["capex_usd"]


def test_newest_state_comes_again(studio: Served, solved: dict[str, Any]) -> None:
    again = dict(studio.events("first"))
    assert again["answer"] == solved["answer"]


def test_answer_is_shown(studio: Served, solved: dict[str, Any]) -> None:
    answer = solved["answer"]["answer"]
    at = f"/api/answer/{answer}"
    assert studio.get(f"{at}/screen").json["screen"] == solved["answer"]["screen"]
    assert b'data-node="0"' in studio.get(f"{at}/drawing?fabric=compute").body
    assert studio.get(f"{at}/drawing?fabric=no").status == 404
    assert studio.get(f"{at}/floor").json["rows"][0][1][0]["id"]
    bill = studio.get(f"{at}/bill").json
    assert len(bill["heads"]) == len(bill["numbers"]) == len(bill["rows"][0])
    parts = studio.get(f"{at}/parts").json
    assert {part["kind"] for part in parts} == {"switches", "nics", "transceivers", "cables"}
    assert any(part["bought"] for part in parts)
    assert studio.get(f"{at}/rules").json["left_out"] == solved["answer"]["facts"]["left_out"]
    assert studio.get(f"{at}/levers").json == []
    assert json.loads(studio.get(f"{at}/design").body)["case"]["name"] == "small"
    page = studio.get(f"{at}/page")
    assert "attachment" in page.headers["content-disposition"]
    assert page.body.startswith(b"<!DOCTYPE html>")
    assert studio.get(f"{at}/bill.csv").body.count(b"\n") > len(bill["rows"])
    assert studio.get(f"{at}/nothing").status == 404
    for other in ("x", "0" * 20, "..%2f..%2fx"):
        assert studio.get(f"/api/answer/{other}/screen").status == 404


def test_pack_has_what_a_crew_needs(studio: Served, solved: dict[str, Any]) -> None:
    """While it is made, which takes minutes for the largest designs, cases are read."""
    packs: list[bytes] = []
    at = f"/api/answer/{solved['answer']['answer']}/pack.zip"
    writing = threading.Thread(target=lambda: packs.append(studio.get(at).body))
    writing.start()
    time.sleep(0.05)
    assert studio.post("/api/read", text=CASE, path=None).json["faults"] == []
    assert not packs
    writing.join()
    pack = zipfile.ZipFile(io.BytesIO(packs[0]))
    names = pack.namelist()
    assert pack.testzip() is None
    assert {"drawing.svg", "plan.yaml", "bill.csv", "bill.xlsx", "page.html", "design.json"} <= set(names)
    assert any("crew" in name for name in names)


def test_faults_stand_at_their_keys(studio: Served) -> None:
    read = studio.post("/api/read", text=CASE.replace("servers: 16", "servers: 0"), path="a.yaml").json
    assert read["faults"][0]["key"] == "servers"
    assert read["values"]["servers"] == 0
    assert studio.post("/api/read", text="a: [", path=None).json["values"] is None
    off = studio.post("/api/read", text=CASE + "rules: {one-generation: false}\n", path=None).json["rules_off"]
    assert [row["rule"] for row in off] == ["one-generation"]
    ended = studio.solved("other", CASE.replace("servers: 16", "servers: 0"))["ended"]
    assert (ended["code"], ended["faults"][0]["key"]) == (2, "servers")


@pytest.mark.long
def test_a_no_has_levers_and_the_nearest_design(studio: Served) -> None:
    answer = studio.solved("no", INFEASIBLE)
    facts = answer["answer"]["facts"]
    assert answer["ended"]["code"] == 3
    assert facts["nearest"]
    key, value = facts["levers"][0]["edits"][0]
    assert key == "limits.budget_usd"
    changed = studio.post("/api/edit", text=INFEASIBLE, key=key, value=value).json["text"]
    assert studio.solved("no", changed)["ended"]["code"] == 0
    assert b"<svg" in studio.get(f"/api/answer/{answer['answer']['answer']}/drawing").body


def test_breaking_says_what_is_lost(studio: Served, solved: dict[str, Any]) -> None:
    answer = solved["answer"]["answer"]
    design = json.loads(studio.get(f"/api/answer/{answer}/design").body)
    points = {point["device"]: point for point in design["single_points_of_failure"] if point["fabric"] == "compute"}
    point = points["leaf"]
    lost = studio.post("/api/break", answer=answer, fabric="compute", kind="leaf", name=point["worst"]).json
    assert (lost["degraded"] if point["degraded"] else lost["cut"]) == point["servers"]
    assert "down" in lost["marks"].values()
    rack = studio.post("/api/break", answer=answer, kind="rack", name=design["worst_rack"]["rack"]).json
    worst = design["worst_rack"]
    assert rack["cut"] == worst["servers"] + worst["servers_cut_off"]
    assert rack["degraded"] == worst["servers_degraded"]
    assert rack["racks"][worst["rack"]] == "down"
    cable = studio.post("/api/break", answer=answer, fabric="compute", kind="cable", name="C00001").json
    assert (cable["cut"], cable["degraded"]) == (0, 1)
    assert "of 400 Gb/s a GPU, of 1 server (8 GPUs), server-0001" in cable["words"]
    for kind, name in (("leaf", "no"), ("rack", "Z9"), ("feed", "C"), ("cable", "C9"), ("plane", "1")):
        assert studio.post("/api/break", answer=answer, kind=kind, name=name).status == 422


@pytest.mark.long
def test_why_not_has_its_price(studio: Served) -> None:
    told = studio.post("/api/why-not", desk="first", text=CASE, part="nvidia-qm9700").json
    assert told["words"].startswith("nvidia-qm9700 (")
    for wrong in ({"part": "no-such"}, {"part": "nvidia-qm9700", "prices": {"no": 5}}):
        assert studio.post("/api/why-not", desk="first", text=CASE, **wrong).status == 422


@pytest.mark.long
def test_sliders_are_answered(studio: Served) -> None:
    ends = studio.post("/api/slider", desk="first", text=CASE, key="fabrics.0.min_gbps_per_gpu", prices={"nic": 5}).json
    assert ends["high"]["value"] == 400
    assert studio.post("/api/slider", desk="first", text=CASE, key="prices.no").status == 422
    for key, value in (("low", "1"), ("high", True), ("prices", ["switch"]), ("prices", {"switch": True})):
        assert studio.post("/api/slider", desk="first", text=CASE, key="servers", **{key: value}).status == 400


def test_pins_have_plain_names(studio: Served, solved: dict[str, Any]) -> None:
    answer = solved["answer"]["answer"]
    for name in ("..", "%2e%2e%2fx", "a%2fb", "-", "x" * 61, "%3Cb%3E", ".x"):
        assert studio.change("PUT", f"/api/pins/{name}", answer=answer, text=CASE).status in (404, 405, 422), name
    assert studio.change("PUT", "/api/pins/first%20one", answer=answer, text=CASE).status == 200
    assert [pin["name"] for pin in studio.get("/api/pins").json] == ["first one"]
    assert studio.change("DELETE", "/api/pins/first%20one").status == 200


@pytest.mark.long
def test_pins_outlive_the_server(studio: Served, solved: dict[str, Any], tmp_path: Path) -> None:
    served, end = serve(tmp_path)
    try:
        answer = served.solved("a", CASE)["answer"]["answer"]
        assert served.change("PUT", "/api/pins/first%20one", answer=answer, text=CASE).status == 200
    finally:
        end()
    assert not workers_of(tmp_path)
    served, end = serve(tmp_path)
    try:
        pin = served.get("/api/pins").json[0]
        assert (pin["name"], pin["text"]) == ("first one", CASE)
        assert served.get(f"/api/answer/{pin['answer']}/screen").status == 200
        assert served.post("/api/save", answer=pin["answer"], path="kept.json").status == 200
        assert main(["check", str(tmp_path / "kept.json")]) == 0
        other = served.solved("b", CASE.replace("16", "32"))["answer"]["answer"]
        compared = served.post("/api/compare", one="pin:first one", other=other).json
        assert compared["verdict"]
        assert any(row[-1] for row in compared["rows"])
        assert served.change("DELETE", "/api/pins/first%20one").status == 200
        assert served.get("/api/pins").json == []
    finally:
        end()


@pytest.mark.long
def test_last_change_wins(studio: Served) -> None:
    runs = [
        studio.post("/api/solve", desk="other", text=CASE.replace("16", str(number)), path=None).json["run"]
        for number in range(7, 17)
    ]
    answered = [content for kind, content in studio.events("other", run=runs[-1]) if kind == "answer"]
    assert answered[-1]["run"] == runs[-1]
    assert answered[-1]["facts"]["gpus"] == 8 * 16


def test_cancel_ends_with_the_best_so_far(studio: Served) -> None:
    run = studio.post("/api/solve", desk="other", text=CASE.replace("16", "2048"), path=None).json["run"]
    begun = time.monotonic()
    next(studio.events("other", until="progress"))
    assert studio.post("/api/cancel", desk="other").status == 200
    ended = [content for kind, content in studio.events("other", run=run) if kind == "ended"]
    assert ended[-1]["code"] in (0, 4)
    assert time.monotonic() - begun < 20


def test_a_case_reads_nothing_outside(studio: Served, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("name: secret\nswitches: []\n")
    (studio.folder / "in.yaml").symlink_to(secret)
    try:
        for name in (str(secret), os.path.relpath(secret, studio.folder), "./in.yaml", "/etc", "/etc/passwd.yaml"):
            read = studio.post("/api/read", text=f"{CASE}catalog: [{name}]\n", path=None).json
            assert read["faults"], name
            assert "secret" not in json.dumps(read["faults"]).replace("secret.yaml", "")
    finally:
        (studio.folder / "in.yaml").unlink()


def test_files_are_kept_below_the_folder(studio: Served) -> None:
    assert studio.change("PUT", "/api/file", path="sub.yaml", text=CASE).status == 200
    assert studio.get("/api/file?path=sub.yaml").json["text"] == CASE
    assert "sub.yaml" in studio.get("/api/start").json["cases"]
    (studio.folder / "sub.yaml").unlink()


def test_questions_make_a_case(studio: Served) -> None:
    start = studio.get("/api/start").json
    keys = [question["key"] for question in start["questions"]]
    assert keys == ["server", "gpus", "workload", "protocol", "racks", "budget"]
    text = studio.post("/api/new", answers={"gpus": "128", "budget": "5M"}).json["text"]
    assert yaml.safe_load(text)["limits"] == {"budget_usd": 5_000_000}
    assert studio.post("/api/read", text=text, path="pod.yaml").json["faults"] == []
    assert not Path(text.splitlines()[0].partition("$schema=")[2]).is_absolute() and "/" not in text.splitlines()[0]
    roce = studio.post("/api/new", answers={"protocol": "ethernet (RoCE)"}).json["text"]
    assert yaml.safe_load(roce)["fabrics"][0]["protocol"] == "ethernet"


@pytest.mark.parametrize(
    ("answers", "keys"),
    [
        ({"gpus": "x", "server": "y", "workload": "z"}, ["server", "gpus", "workload"]),
        ({"protocol": "z", "racks": "0x0", "budget": "-1"}, ["protocol", "racks", "budget"]),
        ({"gpus": "64 then 8"}, ["gpus"]),
        ({"gpus": "8", "workload": "llama3-405b"}, ["gpus"]),
    ],
)
def test_wrong_answers_are_refused_at_their_questions(studio: Served, answers: dict[str, str], keys: list[str]) -> None:
    """In words of the page: no option and no command of the terminal."""
    refused = studio.post("/api/new", answers=answers)
    assert refused.status == 422
    assert [fault["key"] for fault in refused.json["faults"]] == keys
    said = [fault[part] for fault in refused.json["faults"] for part in ("words", "allowed", "todo")]
    assert not any("--" in words or "fabopt " in words for words in said), said


@pytest.mark.long
def test_usual_answers_to_the_questions_are_solved(studio: Served) -> None:
    text = studio.post("/api/new", answers={}).json["text"]
    assert studio.solved("new", text)["ended"]["code"] == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "fewest"), [(CASE, 1), (SLOTS, 4), (OF_MODEL, 3)], ids=["one point", "profile", "model"]
)
def test_points_become_the_design(studio: Served, text: str, fewest: int) -> None:
    run = studio.post("/api/front", desk="f", text=text, metric="gbps_per_gpu").json["run"]
    events = list(studio.events("f", until="front-ended", run=run))
    assert "front-points" in dict(events), dict(events)["front-ended"]
    points = dict(events)["front-points"]["points"]
    assert [point["capex_usd"] for point in points] == sorted(point["capex_usd"] for point in points)
    assert sum(kind == "point" for kind, _ in events) >= len(points) >= fewest
    assert text != OF_MODEL or [point["edits"] is None for point in points] == [False, True, True]
    for point in (points[0], points[-1], points[0]):
        if point["edits"] is None:
            assert "follows from the model" in point["why"]
            continue
        # the text of one point becomes that of any other, and no key is set that no design differs in
        for key, value in point["edits"]:
            text = studio.post("/api/edit", text=text, key=key, value=value).json["text"]
        assert studio.solved("f2", text)["answer"]["facts"]["capex_usd"] == point["capex_usd"]
        assert "month" not in text


@pytest.mark.long
def test_a_sweep_has_a_point_for_each_value(studio: Served) -> None:
    run = studio.post("/api/sweep", desk="f", text=CASE, over="servers", values=[8, 16, 24]).json["run"]
    swept = dict(studio.events("f", until="front-ended", run=run))["front-points"]["points"]
    assert [point["x"] for point in swept] == [8, 16, 24]


@pytest.mark.long
@pytest.mark.parametrize(
    ("at", "asked"),
    [
        ("/api/sweep", {"over": "gpus", "values": [64, 96, 128, 160]}),
        ("/api/front", {"metric": "gbps_per_gpu"}),
    ],
)
def test_what_was_stopped_goes_on(studio: Served, at: str, asked: dict[str, Any]) -> None:
    """It is worked on in several processes, which end with it; what was solved before is told again at once, and not
    solved again.
    """
    asked |= {"desk": f"g{at[5]}", "text": FRONT}
    run = studio.post(at, **asked).json["run"]
    next(content for kind, content in studio.events(asked["desk"], until="point", run=run) if kind == "point")
    assert processors() == 1 or len(copies_of(studio.folder)) > 1
    assert studio.post("/api/front/stop", desk=asked["desk"]).status == 200
    ended = dict(studio.events(asked["desk"], until="front-ended", run=run))["front-ended"]
    assert ended["code"] == 4
    assert not copies_of(studio.folder)
    journals = list((studio.folder / ".fabopt-studio" / "fronts").glob("*.journal"))
    assert journals[0].read_bytes().count(b"\n") > 1
    run = studio.post(at, **asked).json["run"]
    events = list(studio.events(asked["desk"], until="front-ended", run=run))
    assert events[-1][1]["code"] == 0
    told = sum(kind == "point" for kind, _ in events)
    assert told >= len(dict(events)["front-points"]["points"]) > 1
    assert not journals[0].exists()


def test_notes_say_metrics_as_people_do() -> None:
    note = "none of this case has more gbps_per_gpu; limits.budget_usd: null would allow 800"
    assert _in_words(note) == note.replace("gbps_per_gpu", "Gb/s per GPU")


@pytest.mark.long(but=("2",))
@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *(pytest.param(other, marks=pytest.mark.long) for other in (signal.SIGTERM, signal.SIGHUP)),
     signal.SIGKILL],
)  # fmt: skip
def test_command_ends_with_its_workers(tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it could not remove its answers, the next studio does."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    killed = number in (signal.SIGHUP, signal.SIGKILL)
    case = tmp_path / "small.yaml"
    case.write_text(CASE)
    command = [sys.executable, "-m", "fabopt", "studio", str(case), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline()
            assert address.startswith("http://127.0.0.1:")
            wait_until(lambda: len(workers_of(tmp_path)) == 2)
            process.send_signal(number)
            assert process.wait(10) == (-number if killed else 0)
        finally:
            process.kill()
    wait_until(lambda: not workers_of(tmp_path))
    assert len(list(temporary.iterdir())) == killed
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with folder_of_answers() as answers, folder_of_answers() as others:
        assert set(temporary.iterdir()) == {answers, others}


def test_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    assert main(["studio", str(tmp_path / "no.yaml")]) == 2
    assert main(["studio", str(tmp_path), "--port", "99999"]) == 2
    monkeypatch.setattr("fabopt.cli.studio.NEEDED", ("no_such_package",))
    assert main(["studio", str(tmp_path)]) == 2
    assert "pip install 'fabopt[studio]'" in capsys.readouterr().err.splitlines()[-1]
