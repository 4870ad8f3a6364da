"""``fabopt check --solve``: the case of a design is solved again, and the design held against what that gives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.schema.hashes import sha256_of
from tests.samples.cli_samples import Run
from tests.solution.test_redundancy import three_ports

pytestmark = pytest.mark.usefixtures("folder")
Json = dict[str, Any]


def write(design: Json) -> None:
    Path("design.json").write_text(json.dumps(design))


@pytest.fixture
def design(run: Run) -> Json:
    """A saved design that is without a rule, as no design keeps it; its catalog is a file beside it."""
    parts, wanted = three_ports(rules={"lengths": False})
    Path("parts.yaml").write_text(yaml.safe_dump(parts))
    Path("case.yaml").write_text(yaml.safe_dump(wanted | {"catalog": ["parts.yaml"]}))
    assert run("solve", "case.yaml", "--json", "design.json", "--alternatives", "0")[0] == 0
    saved: Json = json.loads(Path("design.json").read_text())
    return saved


def test_it_proves_the_optimum_and_what_no_design_keeps(run: Run, design: Json) -> None:
    code, out, err = run("check", "design.json", "--solve")
    assert (code, err) == (0, "")
    told = " ".join(out.split())
    assert "the case is solved again below" in told
    assert told.endswith(
        "tiny: solved again: no design of its space has less than $3,480, and none keeps rules.two-spines of compute, "
        "whatever its limits"
    )
    code, out, err = run("check", "design.json")
    assert code == 0 and "--solve proves status and bound again" in " ".join(out.split())
    assert "solved again:" not in out


def test_a_rule_that_some_design_keeps_is_found(run: Run, design: Json) -> None:
    """The file says of a case with larger switches that nothing keeps the rule: only solving tells."""
    parts = yaml.safe_load(Path("parts.yaml").read_text())
    larger = json.loads(json.dumps(parts["switches"][0])) | {"id": "larger"}
    larger["cages"][0]["count"] = 8
    parts["switches"].append(larger | {"price_usd": 1500})
    Path("parts.yaml").write_text(yaml.safe_dump(parts))
    assert run("check", "design.json")[0] == 0
    code, _, err = run("check", "design.json", "--solve")
    assert code == 1 and "rules.two-spines of compute is listed as left out, and some design keeps it" in err


def test_a_cheaper_design_is_found(run: Run, design: Json) -> None:
    parts = yaml.safe_load(Path("parts.yaml").read_text())
    parts["cables"].append(parts["cables"][0] | {"id": "cheaper", "lengths": [{"m": 50, "price_usd": 1}]})
    Path("parts.yaml").write_text(yaml.safe_dump(parts))
    code, _, err = run("check", "design.json", "--solve")
    assert code == 1 and "capex_usd is $3,480, and solving it again gives $3,406" in err


def test_a_catalog_that_is_not_there_is_named(run: Run, design: Json) -> None:
    Path("parts.yaml").rename("moved.yaml")
    code, _, err = run("check", "design.json", "--solve")
    assert code == 2 and "--catalog" in err
    assert run("check", "design.json", "--solve", "--catalog", "moved.yaml")[0] == 0


def test_a_file_that_does_not_hold_is_not_solved(run: Run, design: Json) -> None:
    design["case"]["content"]["name"] = "other"
    design["case"]["sha256"] = sha256_of(design["case"]["content"])
    write(design)
    code, out, _ = run("check", "design.json", "--solve")
    assert code == 1 and "FAILED" in out and "solved again:" not in out


def test_a_case_that_is_not_as_it_was_asked_is_found(run: Run, design: Json) -> None:
    """A limit that the file says was asked for, and was not: no check without solving knows what demands come to."""
    design["case"]["asked"]["fabrics"][0]["max_oversubscription"] = 3
    write(design)
    assert run("check", "design.json")[0] == 0
    code, _, err = run("check", "design.json", "--solve")
    assert (
        code == 1 and "`case.content.fabrics` is not what the case as it was asked for, `case.asked`, comes to" in err
    )


def test_a_file_that_does_not_say_what_was_asked_is_not_solved(run: Run, design: Json) -> None:
    del design["case"]["asked"]
    write(design)
    code, _, err = run("check", "design.json", "--solve")
    assert code == 2 and err.startswith("design.json: case.asked: is not there")


@pytest.mark.long
@pytest.mark.parametrize("name", [
    "roce-lab-200g",
    *(pytest.param(name, marks=pytest.mark.long) for name in (
        "nvl72-rack", "l40s-inference-256",
        "llama3-405b-in-pods", "four-fabrics-1024-gpus", "h100-growth-128", "procurement-128-gpus", "b300-xdr-576",
        "gb200-nvl72-576", "hall-1024-gpus", "dgx-h200-two-fabrics", "torus-216-gpus", "twin-plane-1024-gpus",
    )),
])  # fmt: skip
def test_shipped_cases_are_proven_again(run: Run, name: str) -> None:
    """Demands of models, fabrics that share ports, counted ports of management, hosts: filled in, and solved again."""
    assert run("solve", name, "--json", "design.json", "--alternatives", "0")[0] == 0
    code, out, err = run("check", "design.json", "--solve")
    assert code == 0 and "solved again: no design of its space has less than" in " ".join(out.split())
    # A case of minutes says how far it is.
    assert all(re.fullmatch(r"[0-9,]+ s · .*", line) for line in err.splitlines()), err
