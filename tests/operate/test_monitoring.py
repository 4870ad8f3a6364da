"""Rules of Prometheus: promtool runs their tests; an alarm for each planned link that is down, and only then."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.operate.test_opensm import infiniband
from tests.samples import small
from tests.samples.export_samples import CASES, solved
from tests.samples.operate import grown, planned, with_operate
from tests.samples.system_parts import require

ALARM = "FabricLinkDown"


def written(design: Design, folder: Path, stage: int | None = None) -> dict[str, Path]:
    paths = export(design, wiring_of(design), ["monitoring"], folder, Options(stage=stage))
    return {path.name: path for path in paths}


def promtool(folder: Path, *words: str) -> tuple[int, str]:
    require(["promtool"])
    done = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def running(system: str) -> Design:
    """A small design whose switches all run a system."""
    parts = small.catalog()
    for switch in parts["switches"]:
        switch |= {"nos": [system], "sonic_ports": {"first": 0, "step": 8}}
    return small.solved(small.case(servers=4), parts)


def designs() -> dict[str, Any]:
    made = {name: (lambda name=name: solved(name)) for name in CASES}
    made |= {name: (lambda name=name: infiniband(name)) for name in ("clos, two tiers", "planes", "torus of servers")}
    made["adapters"] = lambda: with_operate("plain", hcas={"compute": ["mlx5_0", "mlx5_1"]})
    return made | {name: (lambda name=name: running(name)) for name in ("cumulus", "sonic", "eos")} | {"grown": grown}


@pytest.mark.long(but=("planes", "splitters"))
@pytest.mark.parametrize("name", designs())
def test_promtool_passes_rules_and_their_tests(name: str, tmp_path: Path) -> None:
    """The tests take every link to be down once: there are as many alarms as planned links."""
    design = designs()[name]()
    folder = written(design, tmp_path)["rules.yml"].parent
    tests = yaml.safe_load((folder / "rules.test.yml").read_text())["tests"]
    expected = next(case for case in tests if case["name"] == "every link is down")
    assert len(expected["alert_rule_test"][0]["exp_alerts"]) == len(planned(design).links)
    for words in (["check", "config", "prometheus.yml"], ["test", "rules", "rules.test.yml"]):
        code, said = promtool(folder, *words)
        assert code == 0, said


@pytest.mark.long("sonic")
@pytest.mark.long("clos, two tiers")
@pytest.mark.parametrize("name", ["adapters", "sonic", "eos", "clos, two tiers"])
def test_a_link_alone_raises_its_own_alarm_alone(name: str, tmp_path: Path) -> None:
    """Each link in turn is down and all others up, by what the exporters say."""
    folder = written(designs()[name](), tmp_path)["rules.yml"].parent
    whole = yaml.safe_load((folder / "rules.test.yml").read_text())
    by_name = {case["name"]: case for case in whole["tests"]}
    up, down = (by_name[f"every link is {state}"] for state in ("up", "down"))
    alarms = down["alert_rule_test"][0]["exp_alerts"]
    fixed = [row for row in up["input_series"] if row["series"].startswith("up{")]
    states = [row for row in up["input_series"] if not row["series"].startswith("up{")]
    ends = len(states) // len(alarms)
    assert len(states) == ends * len(alarms)
    cases = []
    for number, alarm in enumerate(alarms):
        near = [{**row, "values": "0+0x2"} for row in states[number * ends : (number + 1) * ends]]
        kept = near if ends == 2 else []
        series = [*fixed, *states[: number * ends], *kept, *states[(number + 1) * ends :]]
        test = {"eval_time": "2m", "alertname": ALARM, "exp_alerts": [alarm]}
        cases.append({"interval": "1m", "input_series": series, "alert_rule_test": [test]})
    (folder / "own.test.yml").write_text(
        json.dumps({"rule_files": ["rules.yml"], "evaluation_interval": "2m", "tests": cases})
    )
    code, said = promtool(folder, "test", "rules", "own.test.yml")
    assert code == 0, said


def test_promtool_is_no_blind_judge(tmp_path: Path) -> None:
    """Rules that raise an alarm for what is up fail their tests; so do rules without one link."""
    files = written(solved("plain"), tmp_path)
    text = files["rules.yml"].read_text()
    folder = files["rules.yml"].parent
    lines = text.splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if ALARM in line)
    for broken in (text.replace(") == 0", ") == 1"), "".join([*lines[:last], *lines[last + 1 :]])):
        files["rules.yml"].write_text(broken)
        assert promtool(folder, "test", "rules", "rules.test.yml")[0] == 1


def test_targets_are_servers_and_switches_with_linux(tmp_path: Path) -> None:
    for system, switches in (("sonic", True), ("eos", False)):
        design = running(system)
        files = written(design, tmp_path / system)
        rows = json.loads(files["targets.json"].read_text())
        plan = planned(design)
        asked = [device for device in plan.devices if device.role == "server" or switches]
        assert [row["targets"] for row in rows] == [[f"{device.management}:9100"] for device in asked]
        assert [row["labels"]["node"] for row in rows] == [device.name for device in asked]
        told = yaml.safe_load(files["gnmic.yml"].read_text())
        port = {"sonic": 8080, "eos": 6030}[system]
        spoken = {device.name: f"{device.management}:{port}" for device in plan.devices if device.role != "server"}
        assert {name: target["address"] for name, target in told["targets"].items()} == spoken
        assert set(told["outputs"]["prometheus"]["event-processors"]) == set(told["processors"])


def test_a_switch_of_which_nothing_is_known_is_named(tmp_path: Path) -> None:
    files = written(solved("plain"), tmp_path)
    assert "gnmic.yml" not in files
    assert "is not known: record fabric_port_up{node, port} of its ports." in files["rules.yml"].read_text()


def test_a_stage_has_alarms_for_its_links(tmp_path: Path) -> None:
    for stage in (0, 1):
        text = written(grown(), tmp_path, stage)["rules.yml"].read_text()
        assert text.count(ALARM) == len(planned(grown(), stage).links)
